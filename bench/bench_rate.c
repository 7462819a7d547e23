/* Cases a second of precfuzz on the cases of bench_cases: each decoded from its archive form, run
   by one engine in the rows eager, aot_eager and inductor, and judged.

     bench_rate varying|one_shape COUNT SEED MILLISECONDS

   Prints cases and seconds of processor time, with a tab between. */
#include "draw.h"
#include "form_archive.h"
#include "mpfr_oracle.h"

typedef struct archive {
  uint8_t *data;
  size_t size;
} archive;

static void on_result(void *user, const pf_result *r)
{
  (void)user;
  if (pf_verdict_is_finding(r->verdict) || r->machinery)
    bench_die("%s: %s", r->strategy, pf_verdict_name(r->verdict));
}

static void examine(pf_session *s, const archive *a)
{
  pf_case what;
  pf_error e = {0};
  pf_arena_reset(&s->cases);
  if (pf_archive_decode(a->data, a->size, &s->cases, &what, &e) ||
      pf_session_examine(s, &what, on_result, NULL))
    bench_die("a case cannot be examined: %s", e.text);
}

int main(int argc, char **argv)
{
  pf_session session = {0};
  pf_arena arena = {0}, drawing = {0};
  pf_error e = {0};
  if (argc != 5)
    bench_die("usage: %s varying|one_shape COUNT SEED MILLISECONDS", argv[0]);
  const bench_draw_kind kind = bench_draw_kind_of(argv[1]);
  const int64_t count = bench_number("COUNT", argv[2], 1, 99999);
  const uint64_t seed = (uint64_t)bench_number("SEED", argv[3], 0, INT64_MAX);
  const double seconds = 1e-3 * (double)bench_number("MILLISECONDS", argv[4], 1, 1000000);
  archive *all = pf_alloc_array(&arena, (size_t)count, sizeof *all);
  for (int64_t i = 0; all && i < count; i++) {
    pf_case what;
    pf_problem p;
    pf_arena_reset(&drawing);
    bench_draw(kind, seed, i, &drawing, &what, &p);
    if (pf_archive_encode(&what, &arena, &all[i].data, &all[i].size, &e))
      bench_die("%s", e.text);
  }
  pf_options_default(&session.options);
  if (!all || pf_mpfr_oracle_new(&session.oracle) ||
      pf_options_engines(&session.options, "reference:lanes8", &e) ||
      pf_options_strategies(&session.options, "eager,aot_eager,inductor", &e))
    bench_die("%s", e.text[0] ? e.text : "out of memory");
  examine(&session, &all[0]);
  const double begin = bench_used();
  int64_t cases = 0;
  do
    examine(&session, &all[cases++ % count]);
  while (cases % 16 || bench_used() - begin < seconds);
  printf("%lld\t%.6f\n", (long long)cases, bench_used() - begin);
  pf_session_free(&session);
  pf_mpfr_oracle_free(&session.oracle);
  pf_arena_free(&arena);
  pf_arena_free(&drawing);
  return 0;
}
