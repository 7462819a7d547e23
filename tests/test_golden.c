/* What PyTorch answered (corpus/golden): every answer lies in the enclosure of the row that it
   follows, and in that of no other row wherever the two do not meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_given.h"
#include "form_archive.h"
#include "oracle_fixture.h"
#include "session.h"
#include "tensorfile_open.h"

#define FOLDER "corpus/golden/"

enum { EAGER, AOT, INDUCTOR, ROWS };
static const char *const row_name[ROWS] = {"eager", "aot_eager", "inductor"};
static const pf_graph graphs[] = {PF_MATMUL_OUT_F32_ADD, PF_MATMUL_ADD, PF_MATMUL_CAST_F32_ADD};

static struct {
  int answers, inside;
  int pairs;      /* of an answer and a row that does not round where its own does */
  int told;       /* the two rows' enclosures do not meet in some element */
  int kept;       /* told, and yet it lies in the other row's */
} count;

/* Of one graph of one case. */
typedef struct answers {
  pf_given given[ROWS];            /* by backend */
  bool present[ROWS];
  bool fits[ROWS][ROWS];           /* backend, row */
  bool apart[ROWS][ROWS];          /* rows whose enclosures do not meet somewhere */
} answers;

static pf_session session;

static int row_number(const char *name)
{
  for (int i = 0; i < ROWS; i++)
    if (!strcmp(row_name[i], name))
      return i;
  fail_msg("%s", name);
  return 0;
}

static void note_fit(void *user, const pf_result *r)
{
  answers *a = user;
  for (int i = 0; i < ROWS; i++)
    if (r->engine == &a->given[i].engine) {
      assert_int_not_equal(r->verdict, PF_VERDICT_UNSUPPORTED);
      a->fits[i][row_number(r->strategy)] = !pf_verdict_is_finding(r->verdict);
    }
}

static void note_apart(void *user, const pf_result *r)
{
  answers *a = user;
  const int p = row_number(r->strategy), q = row_number(r->against);
  assert_int_not_equal(r->verdict, PF_VERDICT_UNSUPPORTED);
  a->apart[p][q] = a->apart[q][p] = r->tally.predicted;
}

static void find_answers(const pf_tensor_file *f, pf_graph graph, answers *a)
{
  for (int i = 0; i < ROWS; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s.%s", pf_graph_of(graph)->name, row_name[i]);
    const pf_tensor_entry *t = pf_tensor_file_find(f, name);
    a->present[i] = t != NULL;
    if (t)
      pf_engine_give(t, row_name[i], &a->given[i]);
  }
}

/* eager and aot_eager make the same calls. */
static void check_alike(const answers *a)
{
  const pf_tensor_entry *t = a->given[EAGER].tensor, *u = a->given[AOT].tensor;
  if (!a->present[EAGER])
    return;
  assert_int_equal(t->bytes, u->bytes);
  assert_memory_equal(t->data, u->data, t->bytes);
}

static void examine(const pf_case *c, answers *a)
{
  pf_options *o = &session.options;
  pf_error e;
  pf_options_default(o);
  o->no_models = true;
  assert_int_equal(pf_options_strategies(o, "eager,aot_eager,inductor", &e), PF_OK);
  o->engine_count = 0;
  for (int i = 0; i < ROWS; i++)
    if (a->present[i])
      o->engine[o->engine_count++] = &a->given[i].engine;
  assert_int_equal(pf_session_examine(&session, c, note_fit, a), PF_OK);
  assert_int_equal(pf_options_engines(o, "reference:forward", &e), PF_OK);
  o->rule.kind = PF_RULE_AGREE;
  assert_int_equal(pf_session_examine(&session, c, note_apart, a), PF_OK);
}

/* Eager calls a matmul and adds; so do the others, but inductor generates a loop where M = N = 1,
   and makes one addmm of a product of matrices and a bias. */
static int row_of(const pf_case *c, int backend)
{
  const pf_shape s = pf_case_shape(c);
  const bool addmm = c->graph == PF_MATMUL_ADD && c->operand[PF_X].rank == 2;
  return backend != INDUCTOR || (s.m == 1 && s.n == 1) || addmm ? backend : AOT;
}

/* Whether a row rounds to 16 bits before it adds. */
static bool rounds(const pf_case *c, int row)
{
  return c->operand[PF_X].dtype != PF_F32 &&
         (row == AOT || (row == EAGER && c->graph != PF_MATMUL_OUT_F32_ADD));
}

/* oneDNN took over what has 16 bits and more work than this, and flushes subnormal bf16. */
static bool is_flushed(const char *file, const pf_case *c)
{
  return strstr(file, "bf16_subnormal") && pf_case_shape(c).work > 4096;
}

static void judge(const char *file, const pf_case *c, const answers *a)
{
  for (int i = 0; i < ROWS; i++) {
    const int own = row_of(c, i);
    if (!a->present[i])
      continue;
    count.answers++;
    count.inside += a->fits[i][own];
    if (a->fits[i][own] == is_flushed(file, c))
      fail_msg("%s: %s.%s", file, pf_graph_of(c->graph)->name, row_name[i]);
    for (int other = 0; other < ROWS; other++) {
      count.pairs += rounds(c, own) != rounds(c, other);
      count.told += a->apart[own][other];
      count.kept += a->apart[own][other] && a->fits[i][other];
      if (rounds(c, own) == rounds(c, other))
        assert_false(a->apart[own][other]);
    }
  }
}

static void judge_file(const char *name)
{
  char path[300];
  const uint8_t *data;
  size_t size;
  pf_error e = {0};
  pf_case c, target;
  pf_tensor_file f;
  pf_arena_reset(&session.cases);
  snprintf(path, sizeof path, FOLDER "%s", name);
  if (pf_file_map(path, &data, &size, &e) ||
      pf_archive_decode(data, size, &session.cases, &c, &e))
    fail_msg("%s: %s", path, e.text);
  strcpy(strrchr(path, '.'), ".safetensors");
  if (pf_tensor_file_open(path, NULL, &f, &e))
    fail_msg("%s: %s", path, e.text);
  for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++) {
    answers a = {0};
    assert_int_equal(pf_case_retarget(&c, graphs[g], &target, &e), PF_OK);
    find_answers(&f, graphs[g], &a);
    check_alike(&a);
    examine(&target, &a);
    judge(name, &target, &a);
  }
  pf_tensor_file_close(&f);
  pf_file_unmap(data, size);
}

static int is_case(const struct dirent *d)
{
  const char *dot = strrchr(d->d_name, '.');
  return dot && !strcmp(dot, ".case");
}

static void test_answers_follow_their_rows(void **state)
{
  (void)state;
  struct dirent **entry;
  const int files = scandir(FOLDER, &entry, is_case, alphasort);
  session.oracle = oracle;
  assert_int_equal(files, 140);
  for (int i = 0; i < files; i++) {
    judge_file(entry[i]->d_name);
    free(entry[i]);
  }
  free(entry);
  print_message("%d answers, %d inside; of %d pairs with another row %d told apart, %d kept\n",
                count.answers, count.inside, count.pairs, count.told, count.kept);
  assert_int_equal(count.answers, 1160);
  assert_int_equal(count.inside, 1144);
  assert_int_equal(count.told, 583);
  assert_int_equal(count.kept, 0);
  pf_session_free(&session);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_answers_follow_their_rows),
  };
  return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
