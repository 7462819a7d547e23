/* Every conversion between formats against one rounding by MPFR.

   An input is a chain of formats and some values of the first one.  Each conversion of the chain is
   made by every route that the code has for it, and each route must give what one rounding of its
   own operand gives.  The whole chain must give what one rounding of the first value gives where
   that is claimed of it (cast_chain.c); elsewhere rounding twice is the chain's own affair.

   No finding of our own code is known and passed over.  PRECFUZZ_CAST_FAULT plants the fault of
   that name (cast_faults.h), and "list" lists them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cast_faults.h"
#include "harness.h"
#include "mpfr_oracle.h"

static struct {
  pf_cast_rows rows;
  pf_oracle oracle;
  pf_arena arena;
  const cast_fault *fault;
} target;

/* --- settings ------------------------------------------------------------------------------ */

enum { FAULTS = sizeof cast_faults / sizeof *cast_faults };

_Noreturn static void list_faults(void)
{
  for (int i = 0; i < FAULTS; i++)
    printf("%-22s %s\n", cast_faults[i].name, cast_faults[i].says);
  exit(0);
}

static pf_status find_fault(const char *name, pf_error *e)
{
  if (!strcmp(name, "list"))
    list_faults();
  for (int i = 0; i < FAULTS; i++)
    if (!strcmp(name, cast_faults[i].name)) {
      target.fault = &cast_faults[i];
      return PF_OK;
    }
  return pf_fail(e, PF_BAD_INPUT, 0, "PRECFUZZ_CAST_FAULT: no fault '%s' ('list' lists them)",
                 name);
}

static pf_status open_target(pf_error *e)
{
  const char *fault = getenv("PRECFUZZ_CAST_FAULT");
  if (fault && *fault)
    PF_TRY(find_fault(fault, e));
  if (pf_cast_rows_collect(&target.rows))
    return pf_fail(e, PF_NO_MEMORY, 0, "the rows have more chains than there is room for");
  return pf_mpfr_oracle_new(&target.oracle);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  pf_error e = {0};
  (void)argc;
  (void)argv;
  if (open_target(&e)) {
    fprintf(stderr, "fuzz_cast: %s\n", e.text[0] ? e.text : "out of memory");
    exit(2);
  }
  return 0;
}

/* --- findings ------------------------------------------------------------------------------ */

/* One frame each, so that those who group by frames see what was broken. */
__attribute__((noinline, noreturn)) static void conversion_broken(void)
{
  abort();
}

__attribute__((noinline, noreturn)) static void chain_broken(void)
{
  abort();
}

__attribute__((noinline, noreturn)) static void load_broken(void)
{
  abort();
}

/* Values, and bits: the encoding where a dtype has f's values, else that of the double. */
static void print_number(const char *label, const pf_format *f, double x)
{
  pf_format plain = *f;
  pf_dtype t = PF_F64;
  for (int i = 0; i < PF_DTYPE_COUNT; i++) {
    plain.rounding = pf_format_of((pf_dtype)i)->rounding;
    plain.overflow = pf_format_of((pf_dtype)i)->overflow;
    if (pf_format_equal(&plain, pf_format_of((pf_dtype)i)) &&
        (isnan(x) ? !pf_is_integer(&plain) : pf_round(&plain, x) == x))
      t = (pf_dtype)i;
  }
  fprintf(stderr, "    %-9s %a (%.17g), %s 0x%0*" PRIx64 "\n", label, x, x, pf_dtype_of(t)->name,
          2 * pf_dtype_of(t)->bytes, pf_encode(t, x));
}

static void begin_finding(const char *signature)
{
  fprintf(stderr, "ASSERTION FAILED: precfuzz: %s\n", signature);
}

static void print_rest(const pf_format *from, double x, const pf_format *to, double got, double due)
{
  print_number("value", from, x);
  print_number("got", to, got);
  print_number("due", to, due);
  fputs("    reproduce replay/fuzz_cast FILE\n", stderr);
}

static void report_conversion(const pf_cast_step *s, const char *route, const char *says, double x,
                              double got, double due)
{
  const pf_cast_chain one = {.count = 2, .format = {s->from, s->to}};
  char names[PF_CAST_TEXT], signature[PF_CAST_TEXT + 80];
  pf_cast_chain_print(&one, names, sizeof names);
  snprintf(signature, sizeof signature, "cast %s %s", route, names);
  begin_finding(signature);
  fprintf(stderr, "    route     %s\n", says);
  print_rest(&s->from, x, &s->to, got, due);
  conversion_broken();
}

static void report_chain(const pf_cast_chain *c, double x, double got, double due)
{
  char names[PF_CAST_TEXT], signature[PF_CAST_TEXT + 80];
  pf_cast_chain_print(c, names, sizeof names);
  snprintf(signature, sizeof signature, "cast chain %s", names);
  begin_finding(signature);
  fputs("    chain     is claimed to round as if once\n", stderr);
  print_rest(&c->format[0], x, &c->format[c->count - 1], got, due);
  chain_broken();
}

static void report_load(pf_dtype t, uint64_t bits, double got, double due)
{
  char signature[80];
  snprintf(signature, sizeof signature, "cast load %s", pf_dtype_of(t)->name);
  begin_finding(signature);
  fprintf(stderr, "    encoding  %s 0x%0*" PRIx64 "\n", pf_dtype_of(t)->name,
          2 * pf_dtype_of(t)->bytes, bits);
  print_number("got", pf_format_of(PF_F64), got);
  print_number("due", pf_format_of(PF_F64), due);
  fputs("    reproduce replay/fuzz_cast FILE\n", stderr);
  load_broken();
}

/* --- judging ------------------------------------------------------------------------------- */

static bool is_same(double a, double b, bool unsigned_zero)
{
  if (isnan(a) || isnan(b))
    return isnan(a) && isnan(b);
  return a == b && (unsigned_zero || a != 0 || !signbit(a) == !signbit(b));
}

/* Every route; returns what is due. */
static double convert(const pf_cast_step *s, double x)
{
  const double due = pf_mpfr_round(&s->to, x);
  for (const pf_cast_route *r = pf_cast_routes; r->name; r++) {
    if (r->takes && !r->takes(s, x))
      continue;
    const double got = r->convert(s, x, due);
    if (!is_same(got, due, r->unsigned_zero))
      report_conversion(s, r->name, r->says, x, got, due);
  }
  if (target.fault && target.fault->convert) {
    const double got = target.fault->convert(s, x, due);
    if (!is_same(got, due, false))
      report_conversion(s, target.fault->name, target.fault->says, x, got, due);
  }
  return due;
}

static double load(pf_dtype t, uint64_t bits)
{
  if (target.fault && target.fault->load)
    return target.fault->load(t, bits);
  unsigned char memory[8];
  pf_store_bits(t, memory, bits);
  return pf_load(t, memory);
}

static void check_loads(uint64_t word)
{
  for (int i = 0; i < PF_DTYPE_COUNT; i++) {
    const pf_dtype t = (pf_dtype)i;
    const uint64_t bits = word >> (64 - 8 * pf_dtype_of(t)->bytes);
    const double got = load(t, bits), due = pf_mpfr_decode(t, bits);
    if (!is_same(got, due, false))
      report_load(t, bits, got, due);
  }
}

static void check_chain(const pf_cast_chain *c, const double *value)
{
  pf_cast_step step[PF_CAST_LONGEST];
  const pf_format *last = &c->format[c->count - 1];
  for (int i = 0; i + 1 < c->count; i++) {
    pf_cast_step_set(&step[i], &c->format[i], &c->format[i + 1]);
    step[i].oracle = &target.oracle;
    step[i].arena = &target.arena;
  }
  const pf_cast_claim claim = target.fault && target.fault->claim ? target.fault->claim
                                                                  : pf_cast_innocuous;
  const bool once = c->count > 2 && pf_cast_chain_innocuous(c, claim);
  for (int v = 0; v < PF_CAST_VALUES; v++) {
    double x = value[v];
    for (int i = 0; i + 1 < c->count; i++)
      x = convert(&step[i], x);
    const double due = once ? pf_mpfr_round(last, value[v]) : x;
    if (!is_same(x, due, false))
      report_chain(c, value[v], x, due);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pf_cast_input in;
  pf_cast_decode(data, size, &target.rows, &in);
  for (int i = 0; i < PF_CAST_RECORDS; i++)
    check_loads(in.word[i]);
  check_chain(&in.chain, in.value);
  return 0;
}
