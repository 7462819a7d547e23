/* Another tool's verdicts on results beside precfuzz's.

     bench_verdicts varying|one_shape SEED TOOL VERDICTS FILE...

   VERDICTS has lines CASE, RESULT, pass or fail, with tabs between; the results are tensors of
   the safetensors FILEs, as bench_cases names them.  precfuzz passes a result that is as a whole
   one that some correct execution of one row of the graph gives.  Table verdicts, rows
   TOOL/RESULT, columns
     both_pass, both_fail
     tool_fails      the tool rejects what a correct execution may give
     tool_passes     the tool passes what no correct execution gives */
#include <string.h>

#include "check.h"
#include "draw.h"
#include "mpfr_oracle.h"
#include "tensorfile_open.h"

enum { MOST_FILES = 4, MOST_RESULTS = 16, ROWS = 4 };

static const char *const row_names[ROWS] = {"eager", "inductor", "aot_eager", "inductor_graph"};
static const char *const columns[4] = {"both_pass", "tool_passes", "tool_fails", "both_fail"};

typedef struct counted {
  char result[16];
  int count[4];  /* 2 * (the tool fails) + (precfuzz fails) */
} counted;

typedef struct verdicts {
  bench_draw_kind kind;
  uint64_t seed;
  pf_oracle oracle;
  pf_arena arena;
  int files, results;
  pf_tensor_file file[MOST_FILES];
  counted counted[MOST_RESULTS];
} verdicts;

static const pf_tensor_entry *find(const verdicts *v, int64_t index, const char *result)
{
  char name[40];
  snprintf(name, sizeof name, "%05lld.%s", (long long)index, result);
  for (int i = 0; i < v->files; i++) {
    const pf_tensor_entry *t = pf_tensor_file_find(&v->file[i], name);
    if (t && t->has_dtype)
      return t;
  }
  bench_die("no file has %s", name);
}

static bool passes(verdicts *v, int64_t index, const pf_tensor_entry *t)
{
  pf_case what;
  pf_problem p;
  pf_plan plan[ROWS];
  pf_ask ask[ROWS];
  pf_tally tally[ROWS];
  pf_enclosure e[ROWS];
  pf_encloser *encloser;
  const char *why;
  pf_arena_reset(&v->arena);
  bench_draw(v->kind, v->seed, index, &v->arena, &what, &p);
  for (int r = 0; r < ROWS; r++) {
    if (pf_plan_parse(row_names[r], pf_row_find(what.graph, row_names[r])->text, &what, &plan[r],
                      NULL))
      bench_die("%s does not parse", row_names[r]);
    ask[r] = (pf_ask){.plan = &plan[r], .order = {.order = PF_ANY_ORDER}};
    pf_tally_start(&tally[r]);
  }
  if (t->elements != p.shape.outputs || t->dtype != pf_case_result(&what))
    bench_die("case %lld: a result of another shape or dtype", (long long)index);
  if (pf_encloser_new(&p, &v->oracle, ask, ROWS, &v->arena, &encloser, &why))
    bench_die("case %lld cannot be judged", (long long)index);
  for (int64_t i = 0; i < t->elements; i++) {
    pf_enclose(encloser, i, e);
    for (int r = 0; r < ROWS; r++)
      pf_tally_element(&tally[r], &e[r], pf_load(t->dtype, pf_tensor_at(t, i)));
  }
  bool fits = false;
  for (int r = 0; r < ROWS; r++)
    fits |= !pf_verdict_is_finding(pf_tally_verdict(&tally[r]));
  return fits;
}

static counted *counted_of(verdicts *v, const char *result)
{
  for (int i = 0; i < v->results; i++)
    if (!strcmp(v->counted[i].result, result))
      return &v->counted[i];
  if (v->results == MOST_RESULTS)
    bench_die("more than %d kinds of results", MOST_RESULTS);
  strcpy(v->counted[v->results].result, result);
  return &v->counted[v->results++];
}

static void read_verdicts(verdicts *v, const char *path)
{
  long long index;
  char result[16], verdict[8];
  int got;
  FILE *f = fopen(path, "r");
  if (!f)
    bench_die("%s cannot be read", path);
  while ((got = fscanf(f, "%lld %15s %7s", &index, result, verdict)) == 3) {
    const bool fails = !strcmp(verdict, "fail");
    if (!fails && strcmp(verdict, "pass"))
      bench_die("%s: '%s' is neither pass nor fail", path, verdict);
    counted_of(v, result)->count[2 * fails + !passes(v, index, find(v, index, result))]++;
  }
  if (got != EOF)
    bench_die("%s: a line is not CASE RESULT VERDICT", path);
  fclose(f);
}

int main(int argc, char **argv)
{
  static verdicts v;
  pf_error e = {0};
  if (argc < 6 || argc > 5 + MOST_FILES)
    bench_die("usage: %s varying|one_shape SEED TOOL VERDICTS FILE...", argv[0]);
  v.kind = bench_draw_kind_of(argv[1]);
  v.seed = (uint64_t)bench_number("SEED", argv[2], 0, INT64_MAX);
  if (pf_mpfr_oracle_new(&v.oracle))
    bench_die("out of memory");
  for (int i = 5; i < argc; i++) {
    if (pf_tensor_file_open(argv[i], NULL, &v.file[v.files], &e))
      bench_die("%s: %s", argv[i], e.text);
    v.files++;
  }
  read_verdicts(&v, argv[4]);
  for (int i = 0; i < v.results; i++) {
    char row[64];
    snprintf(row, sizeof row, "%s/%s", argv[3], v.counted[i].result);
    for (int c = 0; c < 4; c++)
      bench_sample("verdicts", row, columns[c], 1, v.counted[i].count[c]);
  }
  for (int i = 0; i < v.files; i++)
    pf_tensor_file_close(&v.file[i]);
  pf_mpfr_oracle_free(&v.oracle);
  pf_arena_free(&v.arena);
  return 0;
}
