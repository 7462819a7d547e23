/* precfuzz engine-test: does an engine keep to the interface?  Fixed cases, one check for each thing
   that authors get wrong. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "form_text.h"
#include "mpfr_oracle.h"

enum { MOST_CASES = 10, LONGEST_CASE = 240 };

/* '@' stands for the dtype of the operands, '#' for that of the graph's result. */
typedef struct pf_conformance {
  const char *name, *says;
  const char *text[MOST_CASES];
} pf_conformance;

static const pf_conformance checks[] = {
  {"shapes", "vectors, odd sizes, outputs of one element",
   {"matmul x=@[1,1] y=@[1,1]", "matmul x=@[3,8] y=@[8,5]", "matmul x=@[17,33] y=@[33,9]",
    "matmul x=@[1,64] y=@[64,1]", "matmul x=@[5] y=@[5]", "matmul x=@[4,5] y=@[5]",
    "matmul x=@[5] y=@[5,4]", "matmul x=@[7,129] y=@[129,3]"}},
  {"f32 results", "of narrower operands",
   {"matmul_out_f32_add x=@[3,8] y=@[8,5] bias=f32[5]",
    "matmul_out_f32_add x=@[32,7,1,8] y=@[32,7,8,1] bias=f32[32,7,1,1]",
    "matmul_out_f32_add x=@[2,3,8](1,16,2) y=@[2,8,5](1,10,2) bias=f32[] out=(1,10,2)"}},
  {"batches", "batches, and operands that are broadcast along them",
   {"matmul x=@[3,4,5] y=@[3,5,6]", "matmul x=@[2,1,3,4] y=@[1,5,4,2]", "matmul x=@[4,5] y=@[3,5,6]",
    "matmul x=@[2,3,2,2,3,4] y=@[4,2]", "matmul x=@[32,7,1,8] y=@[32,7,8,1]"}},
  {"strides", "transposed, padded, strided, repeated operands and outputs",
   {"matmul x=@[3,8](1,3) y=@[8,5](1,8)", "matmul x=@[3,8](11,1) y=@[8,5](9,1)",
    "matmul x=@[3,8](20,2) y=@[8,5](15,3)", "matmul x=@[3,8](0,1) y=@[8,5](5,0)",
    "matmul x=@[3,8] y=@[8,5] out=(1,3)", "matmul x=@[3,8] y=@[8,5] out=(9,1)+3",
    "matmul x=@[3,8] y=@[8,5] out=(12,2)", "matmul x=@[2,3,8](1,16,2) y=@[2,8,5](1,10,2) out=(1,10,2)"}},
  {"offsets", "operands and outputs that are aligned to their elements only",
   {"matmul x=@[3,8]+1 y=@[8,5]+3 out=(5,1)+1", "matmul x=@[16,16]+7 y=@[16,16]+5 out=(16,1)+3"}},
  {"strides of size 1", "any stride where a size is 1: it says nothing of transposes",
   {"matmul x=@[1,8](99,1) y=@[8,1](1,99)", "matmul x=@[6,1](1,99) y=@[1,5](99,1)",
    "matmul x=@[1,8](0,1) y=@[8,3]", "matmul x=@[4,1](1,0) y=@[1,3](0,1) out=(3,1)"}},
  {"empty", "sizes of 0: nothing to write",
   {"matmul x=@[0,8] y=@[8,5]", "matmul x=@[3,8] y=@[8,0]", "matmul x=@[0,3,8] y=@[0,8,5]",
    "matmul x=@[0,8](0,1) y=@[8,5]", "matmul x=@[0,2,1](0,1,1) y=@[0,1,3](0,3,1) out=(0,3,1)"}},
  {"k = 0", "an empty sum is 0, and is written; c and bias stand alone",
   {"matmul x=@[3,0] y=@[0,5]", "matmul x=@[2,3,0] y=@[2,0,5]",
    "addmm x=@[3,0] y=@[0,5] c=#[3,5] alpha=2 beta=3", "linear x=@[3,0] y=@[5,0] bias=#[5]"}},
  {"bias", "added to the sum, broadcast along rows",
   {"linear x=@[3,8] y=@[5,8] bias=#[5]", "linear x=@[2,3,8] y=@[5,8] bias=#[5]"}},
  {"alpha and beta", "beta * c + alpha * (x @ y)",
   {"addmm x=@[3,8] y=@[8,5] c=#[3,5]", "addmm x=@[3,8] y=@[8,5] c=#[5] alpha=-2 beta=0.5",
    "addmm x=@[3,8] y=@[8,5] c=#[3,5](1,3) alpha=0.1 beta=-1",
    "addmm x=@[3,8] y=@[8,5] c=#[3,5] alpha=0 beta=1",
    "addmm x=@[2,3,8] y=@[2,8,5] c=#[2,3,5] alpha=3 beta=7"}},
  {"in place", "the output is c",
   {"addmm x=@[3,8] y=@[8,5] c=#[3,5] out=c beta=0.5", "addmm x=@[9,8] y=@[8,7] c=#[9,7](8,1) out=c"}},
  {"beta = 0", "reads no c: a NaN there does not count",
   {"addmm x=@[3,8] y=@[8,5] c=#[3,5] c.values=bits:3 beta=0",
    "addmm x=@[3,0] y=@[0,5] c=#[3,5] c.values=bits:4 beta=0"}},
  {"special values", "NaN and infinity spread along their row and column, and no farther",
   {"matmul x=@[5,8] y=@[8,5] x.values=bits:1 y.values=bits:2",
    "matmul x=@[9,3] y=@[3,9] x.values=bits:5 y.values=normal:1",
    "matmul x=@[16,16] y=@[16,16] x.values=normal+bits/8:3 y.values=normal+bits/8:4"}},
  {"subnormals", "kept, unless the settings say that they are flushed",
   {"matmul x=@[5,8] y=@[8,5] x.values=subnormal:1 y.values=normal:2",
    "matmul x=@[5,8] y=@[8,5] x.values=wide:1 y.values=wide:2",
    "matmul x=@[16,64] y=@[64,16] x.values=subnormal:3 y.values=corner:4"}},
  {"rounding", "exact sums are exact, ties go to even, overflow is what the format has",
   {"matmul x=@[8,32] y=@[32,8] x.values=integer:1 y.values=integer:2",
    "matmul x=@[8,32] y=@[32,8] x.values=midpoint:1 y.values=midpoint:1",
    "matmul x=@[8,32] y=@[32,8] x.values=corner:1 y.values=corner:2",
    "matmul x=@[8,64] y=@[64,8] x.values=cancel:1 y.values=cancel:1"}},
  {"long sums", "K of some hundreds and thousands",
   {"matmul x=@[3,500] y=@[500,3]", "matmul x=@[2,4099] y=@[4099,2]",
    "matmul x=@[2,1023] y=@[1023,2] x.values=equal:3 y.values=equal:4"}},
};

static const char *const dtypes[] = {"f32", "f64", "f16", "bf16", "f8_e4m3fn", "f8_e5m2",
                                     "f8_e4m3fnuz", "f8_e5m2fnuz", "s8", "u8", NULL};

typedef struct pf_engine_test {
  const char *spec, *seconds;
  bool in_process;
  pf_session session;
  /* of the check in hand */
  const char *text;
  int results, ok, findings;
  char why[200];          /* of what it does not support */
  /* of all */
  uint32_t supported;     /* dtypes */
  int failed;
  int code;
} pf_engine_test;

/* --- running ------------------------------------------------------------------------------- */

static void print_finding(const pf_engine_test *t, const pf_result *r)
{
  if (!t->findings)
    puts("not ok");
  printf("    %s\n    ", t->text);
  pf_report_line(r, stdout);
  pf_report_worst(r, stdout);
}

static void on_result(void *user, const pf_result *r)
{
  pf_engine_test *t = user;
  if (!r->run && !r->machinery && r->verdict == PF_VERDICT_UNSUPPORTED) {
    snprintf(t->why, sizeof t->why, "%s", r->why ? r->why : "");
    return;
  }
  if (!r->machinery && r->verdict == PF_VERDICT_UNSUPPORTED)
    return;
  t->results++;
  if (!r->machinery && !pf_verdict_is_finding(r->verdict)) {
    t->ok++;
    return;
  }
  /* one of a kind is enough to read */
  if (t->findings < 2)
    print_finding(t, r);
  t->findings++;
}

static void fill_in(char *to, size_t size, const char *text, const char *operand,
                    const char *result)
{
  size_t used = 0;
  for (; *text && used + 16 < size; text++)
    used += *text == '@'   ? (size_t)snprintf(to + used, size - used, "%s", operand)
            : *text == '#' ? (size_t)snprintf(to + used, size - used, "%s", result)
                           : (size_t)snprintf(to + used, size - used, "%c", *text);
}

/* The dtype that bias and c have beside such operands. */
static const char *result_of(const char *dtype)
{
  return dtype[0] == 's' || dtype[0] == 'u' ? "s32" : dtype;
}

static int run_case(pf_engine_test *t, const char *template, const char *dtype)
{
  char text[LONGEST_CASE];
  pf_case c;
  pf_error e = {0};
  fill_in(text, sizeof text, template, dtype, result_of(dtype));
  t->text = text;
  pf_arena_reset(&t->session.cases);
  /* integers have no alpha of 0.1 */
  if (pf_text_parse(text, strlen(text), &t->session.cases, &c, &e))
    return PF_EXIT_CLEAN;
  if (pf_session_examine(&t->session, &c, on_result, t))
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  return PF_EXIT_CLEAN;
}

static int run_check(pf_engine_test *t, const pf_conformance *check)
{
  int cases = 0, code = PF_EXIT_CLEAN;
  t->results = t->ok = t->findings = 0;
  t->why[0] = 0;
  printf("%-18s ", check->name);
  fflush(stdout);
  for (int d = 0; dtypes[d] && !code; d++)
    for (int i = 0; i < MOST_CASES && check->text[i] && !code; i++) {
      const int before = t->results;
      code = run_case(t, check->text[i], dtypes[d]);
      if (t->results > before)
        t->supported |= (uint32_t)1 << d;
      cases += t->results > before;
    }
  if (t->findings)
    printf("    %d of %d results: %s\n", t->findings, t->results, check->says);
  else if (!t->results)
    printf("none supported: %s\n", t->why);
  else
    printf("ok: %d case%s, %d results\n", cases, cases == 1 ? "" : "s", t->results);
  t->failed += t->findings > 0;
  return code;
}

/* --- reporting ----------------------------------------------------------------------------- */

static void print_opening(const pf_engine_test *t)
{
  const pf_plugin *p = t->session.options.plugin[0];
  const pf_engine *e = pf_plugin_engine(p);
  char declared[200];
  int count;
  pf_plugin_types(p, &count);
  pf_declared_print(pf_plugin_declared(p), declared, sizeof declared);
  printf("%s: %s%s%s\ndeclares: %s\n", e->name, e->version, e->note[0] ? ", " : "", e->note,
         declared[0] ? declared : "nothing");
  if (count)
    printf("table of dtypes: %d lines\n", count);
  if (e->whole_graph)
    puts("takes whole cases");
  putchar('\n');
}

static int check_opening(pf_engine_test *t)
{
  const bool changed = pf_plugin_changed_control(t->session.options.plugin[0]);
  printf("%-18s %s\n", "opening",
         changed ? "not ok\n    loading or opening it changed the rounding mode or flush-to-zero"
                 : "ok");
  t->failed += changed;
  return PF_EXIT_CLEAN;
}

static int summarize(pf_engine_test *t)
{
  if (!t->supported) {
    puts("\nnot ok: it supports none of the cases");
    return PF_EXIT_FINDING;
  }
  printf("\ndtypes of operands:");
  for (int d = 0; dtypes[d]; d++)
    if (t->supported >> d & 1)
      printf(" %s", dtypes[d]);
  printf("\n%s", t->failed ? "" : "ok: every check\n");
  if (t->failed)
    printf("not ok: %d check%s\n", t->failed, t->failed == 1 ? "" : "s");
  return t->failed ? PF_EXIT_FINDING : PF_EXIT_CLEAN;
}

/* --- the command --------------------------------------------------------------------------- */

enum { KEY_HERE = 256, KEY_TIMEOUT };

static const struct argp_option options[] = {
  {.name = "in-process", .key = KEY_HERE,
   .doc = "Not in a child: for a debugger or a sanitizer.  A crash ends the test"},
  {.name = "timeout", .key = KEY_TIMEOUT, .arg = "SECONDS", .doc = "For a call; default 10"},
  {0}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_engine_test *t = state->input;
  switch (key) {
  case KEY_HERE: t->in_process = true; return 0;
  case KEY_TIMEOUT:
    pf_cli_number(state, "timeout", arg, 1, 86400);
    t->seconds = arg;
    return 0;
  case ARGP_KEY_ARG:
    if (t->spec)
      argp_error(state, "one ENGINE");
    t->spec = arg;
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "ENGINE is missing"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static int open_test(pf_engine_test *t)
{
  pf_options *o = &t->session.options;
  pf_error e = {0};
  pf_options_default(o);
  unsetenv("PRECFUZZ_ENGINES");
  unsetenv("PRECFUZZ_ENGINES_FILE");
  if (t->seconds)
    setenv("PRECFUZZ_TIMEOUT", t->seconds, 1);
  pf_status status = pf_environment_read(o, &e);
  if (status)
    return pf_cli_report(status, &e, false, NULL);
  o->notice = NULL;
  o->rule = (pf_rule){.kind = PF_RULE_CONTRACT};
  o->opening.isolate = !t->in_process;
  o->opening.as_is = o->repeat = o->measure = true;
  status = pf_options_engines(o, t->spec, &e);
  if (status)
    return pf_cli_report(status, &e, false, NULL);
  if (o->plugin_count == 1 && o->engine[0]->one_step)
    status = pf_options_strategies(o, "eager", &e);  /* others cast before the call */
  if (o->plugin_count != 1)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: a library, ./PATH.so or exec:COMMAND expected",
                       t->spec);
  return pf_mpfr_oracle_new(&t->session.oracle)
             ? pf_cli_fail(PF_EXIT_MACHINERY, "out of memory")
             : PF_EXIT_CLEAN;
}

static int run(pf_engine_test *t)
{
  int code = open_test(t);
  if (code)
    return code;
  print_opening(t);
  code = check_opening(t);
  for (size_t i = 0; i < sizeof checks / sizeof *checks && !code && pf_cli_output_ok(); i++)
    code = run_check(t, &checks[i]);
  return code ? code : summarize(t);
}

int pf_cmd_engine_test(int argc, char **argv)
{
  static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "ENGINE",
    .doc = "Runs fixed cases on an engine, every call twice, in a child.\v"
           "Each check is ok, not ok with what was seen, or supported nowhere.  Dtypes and layouts "
           "that the engine declines are not asked of it.  Exit status: 0 all ok, 1 not, 2 it "
           "cannot be opened, 3 the machinery failed."};
  pf_engine_test t = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &t);
  const int code = run(&t);
  if (t.session.oracle.state)
    pf_mpfr_oracle_free(&t.session.oracle);
  pf_session_free(&t.session);
  pf_options_close(&t.session.options);
  return code;
}
