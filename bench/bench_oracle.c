/* The oracle and the judgement, each against plain arithmetic on the same data, nanoseconds a
   product of one output element.

     bench_oracle REPETITIONS MILLISECONDS [LARGEST-K]

   Table oracle, rows DTYPE/K, columns
     plain      sum and absolute sum in double, one accumulator each, compiled as the library is
     dot        the same in 16 accumulators, compiled for this machine
     certified  an enclosure of each element by certified arithmetic; by MPFR what that leaves open
     mpfr       an enclosure of each element by MPFR
     rows       the arithmetic of the rows eager, inductor and aot_eager in f32
     judged     the judgement of three such results: enclosures and comparisons
     examined   the whole session on the three rows: the case built, run by one engine, judged */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "bench.h"
#include "check.h"
#include "mpfr_oracle.h"
#include "session.h"

enum { SIDE = 4, OUTPUTS = SIDE * SIDE, ROWS = 3 };

_Static_assert((int)OUTPUTS <= (int)PF_BLOCK, "one block holds them all");

static const char *const row_names[ROWS] = {"eager", "inductor", "aot_eager"};

typedef struct subject {
  bench_case c;
  pf_plan plan[ROWS];
  pf_ask ask[ROWS];
  const double *got[ROWS];
  pf_arena work;           /* for enclosers */
  pf_session session;
  float *x, *y, bias[OUTPUTS];
  float split;             /* rounds an f32 to the operands' precision */
  volatile double sink;    /* or the compiler would leave the sums out */
} subject;

/* --- arithmetic ---------------------------------------------------------------------------- */

static void run_plain(void *state)
{
  subject *s = state;
  const int64_t k = s->c.problem.shape.k;
  for (int64_t i = 0; i < OUTPUTS; i++) {
    const double *x = bench_x(&s->c.problem, i), *y = bench_y(&s->c.problem, i);
    double sum = 0, absolute = 0;
    for (int64_t j = 0; j < k; j++) {
      const double p = x[j] * y[j];
      sum += p;
      absolute += fabs(p);
    }
    s->sink = sum + absolute;
  }
}

static void run_dot(void *state)
{
  subject *s = state;
  for (int64_t i = 0; i < OUTPUTS; i++) {
    double sum, absolute;
    bench_dot_absolute(bench_x(&s->c.problem, i), bench_y(&s->c.problem, i),
                       s->c.problem.shape.k, &sum, &absolute);
    s->sink = sum + absolute;
  }
}

static void run_rows(void *state)
{
  subject *s = state;
  const int64_t k = s->c.problem.shape.k;
  for (int row = 0; row < ROWS; row++)
    for (int64_t i = 0; i < OUTPUTS; i++) {
      float v = bench_dot_f32(s->x + i / SIDE * k, s->y + i % SIDE * k, k);
      if (row == ROWS - 1) {
        const float part = s->split * v;
        v = part - (part - v);
      }
      s->sink = v + s->bias[i];
    }
}

/* --- precfuzz ------------------------------------------------------------------------------ */

static pf_encloser *open_encloser(subject *s, int asks)
{
  pf_encloser *e;
  const char *why;
  pf_arena_reset(&s->work);
  if (pf_encloser_new(&s->c.problem, &s->session.oracle, s->ask, asks, &s->work, &e, &why))
    bench_die("no enclosure");
  return e;
}

/* As the session does it: what a block does not settle is tried by itself, then asked of MPFR. */
static void judge_element(subject *s, pf_encloser *e, int asks, int64_t i, pf_tally *tally)
{
  pf_enclosure enclosure[ROWS];
  bool settled = true;
  pf_enclose_inside(e, i, enclosure);
  for (int a = 0; a < asks; a++)
    settled &= pf_tally_settles(&enclosure[a], s->got[a][i]);
  if (!settled)
    pf_enclose(e, i, enclosure);
  for (int a = 0; a < asks; a++)
    pf_tally_element(&tally[a], &enclosure[a], s->got[a][i]);
}

static void judge(subject *s, int asks, pf_tally *tally)
{
  pf_encloser *e = open_encloser(s, asks);
  pf_span span[ROWS];
  uint64_t inside = ((uint64_t)1 << OUTPUTS) - 1;
  pf_enclose_block(e, 0, OUTPUTS, span);
  for (int a = 0; a < asks; a++)
    inside &= pf_span_compare(e, &span[a], s->got[a], OUTPUTS);
  for (int a = 0; a < asks; a++)
    tally[a].judged += __builtin_popcountll(inside);
  for (int64_t i = 0; i < OUTPUTS; i++)
    if (!(inside >> i & 1))
      judge_element(s, e, asks, i, tally);
}

static void run_judged(void *state)
{
  pf_tally tally[ROWS];
  for (int a = 0; a < ROWS; a++)
    pf_tally_start(&tally[a]);
  judge(state, ROWS, tally);
  for (int a = 0; a < ROWS; a++)
    if (pf_verdict_is_finding(pf_tally_verdict(&tally[a])) || tally[a].judged != OUTPUTS)
      bench_die("%s: a finding on the reference engine", row_names[a]);
}

static void run_certified(void *state)
{
  pf_tally tally;
  pf_tally_start(&tally);
  judge(state, 1, &tally);
}

static void run_mpfr(void *state)
{
  subject *s = state;
  pf_encloser *e = open_encloser(s, 1);
  for (int64_t i = 0; i < OUTPUTS; i++) {
    pf_enclosure enclosure;
    pf_enclose(e, i, &enclosure);
    s->sink = enclosure.set.lo;
  }
}

static void on_result(void *user, const pf_result *r)
{
  (void)user;
  if (pf_verdict_is_finding(r->verdict) || r->verdict == PF_VERDICT_UNSUPPORTED)
    bench_die("%s: %s", r->strategy, pf_verdict_name(r->verdict));
}

static void run_examined(void *state)
{
  subject *s = state;
  if (pf_session_examine(&s->session, &s->c.what, on_result, NULL))
    bench_die("out of memory");
}

/* --- one dtype and K ----------------------------------------------------------------------- */

static void to_floats(const double *from, int64_t count, float **out)
{
  *out = malloc((size_t)count * sizeof **out);
  if (!*out)
    bench_die("out of memory");
  for (int64_t i = 0; i < count; i++)
    (*out)[i] = (float)from[i];
}

static void open_subject(subject *s, const char *dtype, const char *bias, int64_t k)
{
  const pf_problem *p = &s->c.problem;
  pf_error e = {0};
  bench_case_open(&s->c, "matmul_out_f32_add x=%s[%d,%lld] y=%s[%lld,%d] bias=%s[%d]", dtype, SIDE,
                  (long long)k, dtype, (long long)k, SIDE, bias, SIDE);
  pf_options_default(&s->session.options);
  if (pf_options_engines(&s->session.options, "reference:lanes8", &e) ||
      pf_options_strategies(&s->session.options, "eager,inductor,aot_eager", &e))
    bench_die("%s", e.text);
  if (pf_mpfr_oracle_new(&s->session.oracle))
    bench_die("out of memory");
  for (int i = 0; i < ROWS; i++) {
    pf_run run;
    const pf_row *row = pf_row_find(PF_MATMUL_OUT_F32_ADD, row_names[i]);
    if (!row || pf_plan_parse(row_names[i], row->text, &s->c.what, &s->plan[i], &e))
      bench_die("%s: %s", row_names[i], e.text);
    s->ask[i].plan = &s->plan[i];
    s->ask[i].order = s->session.options.engine[0]->sum;
    if (pf_interpret(p, &s->plan[i], s->session.options.engine[0], &s->c.arena, &run))
      bench_die("%s does not run", row_names[i]);
    s->got[i] = run.got;
  }
  to_floats(p->x_vectors, SIDE * k, &s->x);
  to_floats(p->y_vectors, SIDE * k, &s->y);
  for (int i = 0; i < OUTPUTS; i++)
    s->bias[i] = (float)p->bias_values[i];
  const int precision = pf_format_of(s->c.what.operand[PF_X].dtype)->precision;
  s->split = precision < 24 ? (float)((1 << (24 - precision)) + 1) : 1;
}

static void close_subject(subject *s)
{
  free(s->x);
  free(s->y);
  pf_arena_free(&s->work);
  pf_mpfr_oracle_free(&s->session.oracle);
  pf_session_free(&s->session);
  bench_case_close(&s->c);
}

static void measure(const bench_effort *effort, pf_dtype dtype, int64_t k)
{
  static const struct {
    const char *column;
    void (*run)(void *state);
    bool in_f32;  /* of dtypes that an f32 loop can stand for */
  } columns[] = {
    {"plain", run_plain, false}, {"dot", run_dot, false},   {"certified", run_certified, false},
    {"mpfr", run_mpfr, false},   {"rows", run_rows, true},  {"judged", run_judged, true},
    {"examined", run_examined, true},
  };
  enum { COLUMNS = sizeof columns / sizeof *columns };
  const pf_dtype_info *info = pf_dtype_of(dtype);
  const bool integer = pf_is_integer(&info->format);
  const bool in_f32 = !integer && info->format.precision <= 24;
  bench_task task[COLUMNS];
  int tasks = 0;
  subject s = {0};
  open_subject(&s, info->name, integer ? "f32" : info->name, k);
  for (int i = 0; i < COLUMNS; i++) {
    if (columns[i].in_f32 && !in_f32)
      continue;
    bench_task *t = &task[tasks++];
    *t = (bench_task){.run = columns[i].run, .state = &s, .units = (double)(OUTPUTS * k)};
    snprintf(t->row, sizeof t->row, "%s/%lld", info->name, (long long)k);
    snprintf(t->column, sizeof t->column, "%s", columns[i].column);
  }
  bench_interleave(effort, "oracle", task, tasks);
  close_subject(&s);
}

int main(int argc, char **argv)
{
  const bench_effort effort = bench_effort_read(argc, argv);
  const int64_t largest = argc > 3 ? bench_number("LARGEST-K", argv[3], 1, 65536) : 65536;
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    for (int64_t k = 1; k <= largest; k *= 4)
      measure(&effort, (pf_dtype)t, k);
  return 0;
}
