/* The line that people write, to a case.

   Two passes: the first finds the tokens and refuses what is unknown or said twice, the second
   understands them in an order of its own, so that tokens may stand in any.  The text is bytes with
   a length, not a C string: it may hold anything, and is believed only as far as it is read. */
#include "form_text.h"

#include <inttypes.h>
#include <string.h>

#include "form_text_scan.h"

/* What may stand before "=": for each operand four keys, then these. */
enum { OF_TENSOR, OF_VALUES, OF_BITS, OF_SET, OF_SCALE, OPERAND_KEYS };
enum { ALPHA = PF_OUT * OPERAND_KEYS, BETA, OUT, KEYS };

static const char *const suffixes[OPERAND_KEYS] = {"", ".values", ".bits", ".set", ".scale"};

typedef struct parser {
  pf_scanner scan;
  pf_span value[KEYS];
  pf_arena *arena;
  pf_case *c;
} parser;

static int operand_key(pf_role role, int suffix)
{
  return role * OPERAND_KEYS + suffix;
}

static void key_name(int key, char *to, size_t size)
{
  if (key >= ALPHA)
    snprintf(to, size, "%s", key == ALPHA ? "alpha" : key == BETA ? "beta" : "out");
  else
    snprintf(to, size, "%s%s", pf_role_name((pf_role)(key / OPERAND_KEYS)),
             suffixes[key % OPERAND_KEYS]);
}

static pf_status no_memory(const parser *p)
{
  return pf_fail(p->scan.error, PF_NO_MEMORY, 0, "text: no memory for its elements");
}

/* [(STRIDES)][+OFFSET] and no more; *count is -1 where there are no strides. */
static pf_status layout(const parser *p, pf_span *s, int *count, int64_t *stride, int64_t *offset)
{
  uint64_t value = 0;
  pf_status status = PF_OK;
  *count = -1;
  if (pf_scan_accept(s, '('))
    status = pf_scan_numbers(&p->scan, s, ')', PF_MAX_STRIDE, count, stride);
  if (status == PF_OK && pf_scan_accept(s, '+'))
    status = pf_scan_number(&p->scan, s, 10, PF_MAX_OFFSET, &value);
  *offset = (int64_t)value;
  return status == PF_OK ? pf_scan_end(&p->scan, s) : status;
}

/* The values of each key */

static pf_status parse_tensor(const parser *p, pf_span s, pf_operand *o)
{
  const pf_span dtype = pf_scan_name(&s);
  const char *strides_at;
  int strides;
  if (!pf_dtype_find(dtype.at, pf_span_length(dtype), &o->dtype))
    return pf_scan_bad(&p->scan, dtype.at, "unknown dtype");
  if (!pf_scan_accept(&s, '['))
    return pf_scan_bad(&p->scan, s.at, "expected [");
  pf_status status = pf_scan_numbers(&p->scan, &s, ']', PF_MAX_SIZE, &o->rank, o->dim);
  strides_at = s.at;
  if (status == PF_OK)
    status = layout(p, &s, &strides, o->stride, &o->offset);
  if (status != PF_OK)
    return status;
  if (strides < 0)
    pf_dense_strides(o->rank, o->dim, o->stride);
  else if (strides != o->rank)
    return pf_scan_bad(&p->scan, strides_at, "number of strides is not the rank");
  o->present = true;
  return PF_OK;
}

static pf_status parse_kind(const parser *p, pf_span *s, pf_kind *out)
{
  const pf_span kind = pf_scan_name(s);
  if (!pf_kind_find(kind.at, pf_span_length(kind), out))
    return pf_scan_bad(&p->scan, kind.at, "unknown kind of values");
  if (*out == PF_VERBATIM)
    return pf_scan_bad(&p->scan, kind.at, "verbatim values are written as bits");
  return PF_OK;
}

static pf_status parse_values(const parser *p, pf_span s, pf_values *v)
{
  uint64_t mix = 0, seed = 0;
  pf_status status = parse_kind(p, &s, &v->kind);
  if (status == PF_OK && pf_scan_accept(&s, '+')) {
    status = parse_kind(p, &s, &v->other);
    if (status == PF_OK && !pf_scan_accept(&s, '/'))
      return pf_scan_bad(&p->scan, s.at, "expected / and a share of 256");
    if (status == PF_OK)
      status = pf_scan_number(&p->scan, &s, 10, UINT8_MAX, &mix);
  }
  if (status == PF_OK && pf_scan_accept(&s, ':'))
    status = pf_scan_number(&p->scan, &s, 10, UINT32_MAX, &seed);
  v->mix = (uint8_t)mix;
  v->seed = (uint32_t)seed;
  return status == PF_OK ? pf_scan_end(&p->scan, &s) : status;
}

static int64_t list_length(pf_span s)
{
  int64_t n = s.at < s.end;
  for (; s.at < s.end; s.at++)
    n += *s.at == ',';
  return n;
}

static uint64_t widest(pf_dtype t)
{
  return UINT64_MAX >> (64 - 8 * pf_dtype_of(t)->bytes);
}

static pf_status parse_bits(const parser *p, pf_span s, pf_operand *o)
{
  const int64_t count = pf_operand_count(o);
  const int bytes = pf_dtype_of(o->dtype)->bytes;
  if (list_length(s) != count)
    return pf_scan_bad(&p->scan, s.at, "number of encodings is not that of elements");
  uint8_t *to = pf_alloc_array(p->arena, (size_t)count, (size_t)bytes);
  if (!to)
    return no_memory(p);
  o->values.kind = PF_VERBATIM;
  o->values.verbatim = to;
  for (int64_t i = 0; i < count; i++, to += bytes) {
    uint64_t bits;
    if (i > 0 && !pf_scan_accept(&s, ','))
      return pf_scan_bad(&p->scan, s.at, "expected ,");
    const pf_status status = pf_scan_number(&p->scan, &s, 16, widest(o->dtype), &bits);
    if (status != PF_OK)
      return status;
    pf_store_bits(o->dtype, to, bits);
  }
  return pf_scan_end(&p->scan, &s);
}

static pf_status parse_edits(const parser *p, pf_span s, pf_operand *o)
{
  const int64_t count = pf_operand_count(o), n = list_length(s);
  if (n == 0 || count == 0)
    return pf_scan_bad(&p->scan, s.at, n == 0 ? "expected INDEX:BITS" : "no element to set");
  pf_edit *edits = pf_alloc_array(p->arena, (size_t)n, sizeof *edits);
  if (!edits)
    return no_memory(p);
  for (int64_t i = 0; i < n; i++) {
    uint64_t index;
    if (i > 0 && !pf_scan_accept(&s, ','))
      return pf_scan_bad(&p->scan, s.at, "expected ,");
    pf_status status = pf_scan_number(&p->scan, &s, 10, (uint64_t)count - 1, &index);
    if (status == PF_OK && !pf_scan_accept(&s, ':'))
      return pf_scan_bad(&p->scan, s.at, "expected : and an encoding");
    if (status == PF_OK)
      status = pf_scan_number(&p->scan, &s, 16, widest(o->dtype), &edits[i].bits);
    if (status != PF_OK)
      return status;
    edits[i].index = (int64_t)index;
  }
  o->values.edits = edits;
  o->values.edit_count = n;
  return pf_scan_end(&p->scan, &s);
}

/* VALUE,VALUE,... */
static pf_status parse_scale_values(const parser *p, pf_span s, pf_scale *out)
{
  const int64_t count = list_length(s);
  float *to = pf_alloc_array(p->arena, (size_t)count, sizeof *to);
  if (!to)
    return no_memory(p);
  out->count = count;
  out->values = to;
  for (int64_t i = 0; i < count; i++) {
    const char *comma = memchr(s.at, ',', pf_span_length(s));
    const pf_span one = {s.at, comma ? comma : s.end};
    double value;
    const pf_status status = pf_scan_scalar(&p->scan, one, false, &value);
    if (status != PF_OK)
      return status;
    to[i] = (float)value;
    if ((double)to[i] != value)
      return pf_scan_bad(&p->scan, one.at, "no value of f32");
    s.at = comma ? comma + 1 : s.end;
  }
  return PF_OK;
}

/* KIND:SEED, KIND:=VALUES; a block's kind is followed by its size. */
static pf_status parse_scale(const parser *p, pf_span s, pf_scale *out)
{
  uint64_t block = 0, seed = 0;
  pf_span kind = pf_scan_name(&s);
  pf_span size = kind;
  while (kind.end > kind.at && pf_digit_of(kind.end[-1]) < 10)
    kind.end--;
  size.at = kind.end;
  if (!pf_scale_kind_find(kind.at, pf_span_length(kind), &out->kind) ||
      out->kind == PF_SCALE_NONE || (size.at == size.end) != (out->kind != PF_SCALE_BLOCK))
    return pf_scan_bad(&p->scan, kind.at, "expected tensor, row or block and a size");
  pf_status status = PF_OK;
  if (size.at < size.end)
    status = pf_scan_number(&p->scan, &size, 10, PF_MAX_SCALE_BLOCK, &block);
  if (status == PF_OK && !pf_scan_accept(&s, ':'))
    return pf_scan_bad(&p->scan, s.at, "expected : and a seed or = and values");
  out->block = (int)block;
  if (status == PF_OK && pf_scan_accept(&s, '='))
    return s.at < s.end ? parse_scale_values(p, s, out)
                        : pf_scan_bad(&p->scan, s.at, "expected values of a scale");
  if (status == PF_OK)
    status = pf_scan_number(&p->scan, &s, 10, UINT32_MAX, &seed);
  out->seed = (uint32_t)seed;
  return status == PF_OK ? pf_scan_end(&p->scan, &s) : status;
}

/* The tokens */

static bool find_key(pf_span key, int *out)
{
  for (int k = 0; k < KEYS; k++) {
    char known[16];
    key_name(k, known, sizeof known);
    if (pf_span_is(key, known)) {
      *out = k;
      return true;
    }
  }
  return false;
}

static const char *next_blank(const char *at, const char *end)
{
  while (at < end && !pf_is_blank(*at))
    at++;
  return at;
}

static pf_status index_tokens(parser *p, const char *at)
{
  for (;;) {
    int key;
    while (at < p->scan.end && pf_is_blank(*at))
      at++;
    if (at == p->scan.end)
      return PF_OK;
    const char *end = next_blank(at, p->scan.end), *equals = memchr(at, '=', (size_t)(end - at));
    if (!equals)
      return pf_scan_bad(&p->scan, at, "expected KEY=VALUE");
    if (!find_key((pf_span){at, equals}, &key))
      return pf_scan_bad(&p->scan, at, "unknown key");
    if (p->value[key].at)
      return pf_scan_bad(&p->scan, at, "said twice");
    p->value[key] = (pf_span){equals + 1, end};
    at = end;
  }
}

static pf_status parse_operand(const parser *p, pf_role role)
{
  const pf_span *v = &p->value[operand_key(role, 0)];
  pf_operand *o = &p->c->operand[role];
  if (!v[OF_TENSOR].at) {
    for (int i = OF_VALUES; i < OPERAND_KEYS; i++)
      if (v[i].at)
        return pf_scan_bad(&p->scan, v[i].at, "values of a tensor that is not there");
    return PF_OK;
  }
  if (v[OF_VALUES].at && v[OF_BITS].at)
    return pf_scan_bad(&p->scan, v[OF_VALUES].at, "values beside bits");
  pf_status s = parse_tensor(p, v[OF_TENSOR], o);
  if (s == PF_OK && v[OF_VALUES].at)
    s = parse_values(p, v[OF_VALUES], &o->values);
  if (s == PF_OK && v[OF_BITS].at)
    s = parse_bits(p, v[OF_BITS], o);
  if (s == PF_OK && v[OF_SET].at)
    s = parse_edits(p, v[OF_SET], o);
  if (s == PF_OK && v[OF_SCALE].at)
    s = parse_scale(p, v[OF_SCALE], &o->scale);
  return s;
}

static pf_status parse_scalars(const parser *p)
{
  const pf_operand *x = &p->c->operand[PF_X], *y = &p->c->operand[PF_Y];
  const bool f64 = (x->present && x->dtype == PF_F64) || (y->present && y->dtype == PF_F64);
  double *const to[] = {&p->c->alpha, &p->c->beta};
  for (int i = 0; i < 2; i++) {
    const pf_span v = p->value[ALPHA + i];
    *to[i] = 1;
    if (v.at && !pf_graph_of(p->c->graph)->has_c)
      return pf_scan_bad(&p->scan, v.at, "the graph takes no alpha and beta");
    const pf_status s = v.at ? pf_scan_scalar(&p->scan, v, f64, to[i]) : PF_OK;
    if (s != PF_OK)
      return s;
  }
  return PF_OK;
}

/* pf_case_finish, with the offset of the operand that its error begins with. */
static pf_status finish(const parser *p)
{
  pf_error e;
  const pf_status s = pf_case_finish(p->c, &e);
  if (s == PF_OK)
    return s;
  size_t offset = (size_t)(p->scan.end - p->scan.text);
  for (int k = 0; k < KEYS; k++) {
    char key[16];
    key_name(k, key, sizeof key);
    const size_t n = strlen(key);
    if (p->value[k].at && strncmp(e.text, key, n) == 0 && (e.text[n] == ':' || e.text[n] == ' '))
      offset = (size_t)(p->value[k].at - p->scan.text);
  }
  return pf_fail(p->scan.error, s, offset, "text: %s", e.text);
}

/* A scaled graph's result has a dtype of its own. */
static pf_status parse_out_dtype(const parser *p, pf_span *s)
{
  pf_dtype *t = &p->c->operand[PF_OUT].dtype;
  const pf_span dtype = pf_scan_name(s);
  if (pf_span_length(dtype) == 0)
    return PF_OK;
  if (!pf_graph_of(p->c->graph)->scaled)
    return pf_scan_bad(&p->scan, dtype.at, "unexpected text");
  if (!pf_dtype_find(dtype.at, pf_span_length(dtype), t))
    return pf_scan_bad(&p->scan, dtype.at, "unknown dtype");
  if (*t == PF_F64)
    return pf_scan_bad(&p->scan, dtype.at, "the result is one of f32, bf16, f16 and fp8");
  return PF_OK;
}

/* The output's rank and dense strides are known once the rest is a case. */
static pf_status parse_out(const parser *p)
{
  pf_span s = p->value[OUT];
  pf_operand *out = &p->c->operand[PF_OUT];
  int64_t stride[PF_MAX_RANK], offset;
  int strides;
  p->c->out_is_c = s.at && pf_span_is(s, "c");
  pf_status status = s.at && !p->c->out_is_c ? parse_out_dtype(p, &s) : PF_OK;
  if (status == PF_OK)
    status = finish(p);
  if (status != PF_OK || !s.at || p->c->out_is_c)
    return status;
  if (p->value[OUT].at == p->value[OUT].end)
    return pf_scan_bad(&p->scan, s.at, "expected c or (STRIDES)+OFFSET");
  status = layout(p, &s, &strides, stride, &offset);
  if (status != PF_OK)
    return status;
  if (strides >= 0 && strides != out->rank)
    return pf_scan_bad(&p->scan, p->value[OUT].at, "number of strides is not the result's rank");
  if (strides > 0)
    memcpy(out->stride, stride, strides * sizeof *stride);
  out->offset = offset;
  return finish(p);
}

bool pf_text_is(const uint8_t *data, size_t size)
{
  pf_graph graph;
  const uint8_t *space = size > 0 ? memchr(data, ' ', size) : NULL;
  return space && pf_graph_find((const char *)data, (size_t)(space - data), &graph);
}

pf_status pf_text_parse(const char *text, size_t size, pf_arena *a, pf_case *out, pf_error *e)
{
  parser p = {.scan = {.text = text, .end = text + size, .error = e}, .arena = a, .c = out};
  *out = (pf_case){.op = PF_OP_MATMUL};
  while (p.scan.end > text && strchr(" \t\r\n", p.scan.end[-1]) && p.scan.end[-1] != '\0')
    p.scan.end--;
  const char *graph_end = next_blank(text, p.scan.end);
  if (!pf_graph_find(text, (size_t)(graph_end - text), &out->graph))
    return pf_scan_bad(&p.scan, text, "unknown graph");
  pf_status s = index_tokens(&p, graph_end);
  for (pf_role r = PF_X; r < PF_OUT && s == PF_OK; r++)
    s = parse_operand(&p, r);
  if (s == PF_OK)
    s = parse_scalars(&p);
  return s == PF_OK ? parse_out(&p) : s;
}
