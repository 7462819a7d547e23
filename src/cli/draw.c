/* Cases drawn at random, for commands that want many. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum {
  LONGEST = 1 << 20  /* bytes of a case */
};

enum { KEY_DTYPE = 256, KEY_GRAPH, KEY_VALUES, KEY_LAYOUT, KEY_WORK, KEY_LENGTH };

static const struct argp_option options[] = {
  {.name = "seed", .key = 'S', .arg = "S", .doc = "What the cases are drawn from; default 1",
   .group = 3},
  {.name = "dtype", .key = KEY_DTYPE, .arg = "LIST",
   .doc = "Only these dtypes: f64, f32, f16, bf16, f8_e4m3fn, f8_e5m2, f8_e4m3fnuz, "
          "f8_e5m2fnuz, s8, u8, s32, with commas between"},
  {.name = "graph", .key = KEY_GRAPH, .arg = "LIST",
   .doc = "Only these graphs (see precfuzz strategies)"},
  {.name = "values", .key = KEY_VALUES, .arg = "LIST",
   .doc = "Only these kinds of values: normal, bits, corner, integer, cancel, equal, midpoint, "
          "wide, subnormal, verbatim"},
  {.name = "layout", .key = KEY_LAYOUT, .arg = "LAYOUT",
   .doc = "dense, strided (at least one tensor is not dense) or any (default)"},
  {.name = "max-work", .key = KEY_WORK, .arg = "W",
   .doc = "At most W products and elements of a tensor in a case; default 16384"},
  {.name = "length", .key = KEY_LENGTH, .arg = "BYTES", .doc = "Random bytes a case; default 256"},
  {0}
};

static bool find_dtype(const char *name, size_t length, int *out)
{
  pf_dtype t;
  const bool found = pf_dtype_find(name, length, &t);
  *out = found ? (int)t : 0;
  return found;
}

static bool find_graph(const char *name, size_t length, int *out)
{
  pf_graph g;
  const bool found = pf_graph_find(name, length, &g);
  *out = found ? (int)g : 0;
  return found;
}

static bool find_kind(const char *name, size_t length, int *out)
{
  pf_kind k;
  const bool found = pf_kind_find(name, length, &k);
  *out = found ? (int)k : 0;
  return found;
}

/* Names with commas between to a set of bits. */
static uint32_t parse_set(struct argp_state *state, const char *option, const char *list,
                          bool (*find)(const char *, size_t, int *))
{
  uint32_t set = 0;
  for (const char *at = list;; at++) {
    const size_t length = strcspn(at, ",");
    int bit;
    if (!find(at, length, &bit))
      argp_error(state, "--%s: there is no '%.*s'", option, (int)length, at);
    set |= (uint32_t)1 << bit;
    at += length;
    if (!*at)
      return set;
  }
}

static void parse_layout(struct argp_state *state, const char *name, pf_filter *f)
{
  f->dense_only = !strcmp(name, "dense");
  f->strided_only = !strcmp(name, "strided");
  if (!f->dense_only && !f->strided_only && strcmp(name, "any"))
    argp_error(state, "--layout: '%s' is none of dense, strided, any", name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_draw *d = state->input;
  switch (key) {
  case 'S': d->seed = pf_cli_number(state, "seed", arg, 0, UINT64_MAX); return 0;
  case KEY_DTYPE: d->filter.dtypes = parse_set(state, "dtype", arg, find_dtype); return 0;
  case KEY_GRAPH: d->filter.graphs = parse_set(state, "graph", arg, find_graph); return 0;
  case KEY_VALUES: d->filter.kinds = parse_set(state, "values", arg, find_kind); return 0;
  case KEY_LAYOUT: parse_layout(state, arg, &d->filter); return 0;
  case KEY_WORK:
    d->filter.max_work = (int64_t)pf_cli_number(state, "max-work", arg, 1, PF_MAX_WORK);
    return 0;
  case KEY_LENGTH: d->length = pf_cli_number(state, "length", arg, 1, LONGEST); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

const struct argp pf_draw_argp = {.options = options, .parser = parse};

static void fill(pf_draw *d, uint64_t index)
{
  const uint64_t base = pf_hash(pf_hash(d->seed) ^ index);
  for (uint64_t i = 0; i < d->length; i += 8) {
    const uint64_t word = pf_hash(base + i / 8);
    for (uint64_t j = i; j < i + 8 && j < d->length; j++)
      d->bytes[j] = (uint8_t)(word >> 8 * (j - i));
  }
}

pf_status pf_draw_case(pf_draw *d, uint64_t index, pf_arena *a, pf_case *out)
{
  if (!d->bytes)
    d->bytes = malloc(d->length);
  if (!d->bytes)
    return PF_NO_MEMORY;
  fill(d, index);
  return pf_fuzz_decode(d->bytes, d->length, &d->filter, a, out);
}

void pf_draw_free(pf_draw *d)
{
  free(d->bytes);
  d->bytes = NULL;
}
