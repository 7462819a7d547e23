/* How the cost of examining a case grows, nanoseconds a case: every row of matmul(x, y, out=f32) +
   bias on bf16 operands.

     bench_growth REPETITIONS MILLISECONDS [LARGEST-K]

   Tables, with the number that grows as row:
     growth_k        K; 16 outputs, one engine
     growth_outputs  outputs; K = 64, one engine
     growth_engines  engines, each another order of summation; 16 outputs, K = 64 */
#include "bench.h"
#include "mpfr_oracle.h"
#include "session.h"

enum { MOST = 16 };

typedef struct subject {
  bench_case c;
  pf_session session;
} subject;

typedef struct growth {
  const char *table;
  pf_oracle oracle;
  int count;
  subject subject[MOST];
  bench_task task[MOST];
} growth;

static void on_result(void *user, const pf_result *r)
{
  (void)user;
  if (pf_verdict_is_finding(r->verdict))
    bench_die("%s: %s", r->strategy, pf_verdict_name(r->verdict));
}

static void run_case(void *state)
{
  subject *s = state;
  if (pf_session_examine(&s->session, &s->c.what, on_result, NULL))
    bench_die("out of memory");
}

static void add(growth *g, int64_t number, int64_t columns, int64_t k, int engines)
{
  subject *s = &g->subject[g->count];
  bench_task *t = &g->task[g->count++];
  bench_case_open(&s->c, "matmul_out_f32_add x=bf16[4,%lld] y=bf16[%lld,%lld] bias=bf16[%lld]",
                  (long long)k, (long long)k, (long long)columns, (long long)columns);
  pf_options_default(&s->session.options);
  if (engines > s->session.options.engine_count)
    bench_die("there are no %d engines", engines);
  s->session.options.engine_count = engines;
  s->session.oracle = g->oracle;
  *t = (bench_task){.column = "examined", .run = run_case, .state = s, .units = 1};
  snprintf(t->row, sizeof t->row, "%lld", (long long)number);
}

static void measure(growth *g, const bench_effort *effort)
{
  bench_interleave(effort, g->table, g->task, g->count);
  for (int i = 0; i < g->count; i++) {
    pf_session_free(&g->subject[i].session);
    bench_case_close(&g->subject[i].c);
  }
  *g = (growth){.oracle = g->oracle};
}

int main(int argc, char **argv)
{
  static growth g;
  const bench_effort effort = bench_effort_read(argc, argv);
  const int64_t largest = argc > 3 ? bench_number("LARGEST-K", argv[3], 1, 65536) : 65536;
  if (pf_mpfr_oracle_new(&g.oracle))
    bench_die("out of memory");
  g.table = "growth_k";
  for (int64_t k = 16; k <= largest; k *= 2)
    add(&g, k, 4, k, 1);
  measure(&g, &effort);
  g.table = "growth_outputs";
  for (int64_t columns = 1; columns <= 1024 && columns <= largest; columns *= 4)
    add(&g, 4 * columns, columns, 64, 1);
  measure(&g, &effort);
  g.table = "growth_engines";
  for (int engines = 1; engines <= 10; engines += engines < 2 ? 1 : 2)
    add(&g, engines, 4, 64, engines);
  measure(&g, &effort);
  pf_mpfr_oracle_free(&g.oracle);
  return 0;
}
