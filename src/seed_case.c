/* Slices to cases: rounding, scales, layouts. */
#include "seed_case.h"

#include <math.h>

enum { PADDING = 3 };  /* elements */

int pf_seed_dtypes(pf_dtype stored, pf_dtype out[PF_SEED_DTYPES])
{
  static const pf_dtype narrow[] = {PF_F32, PF_BF16, PF_F16, PF_F8_E4M3FN, PF_F8_E5M2};
  const pf_dtype_info *info = pf_dtype_of(stored);
  int count = 0;
  out[count++] = stored;
  for (int i = 0; i < PF_SEED_DTYPES && info->exponent_bits > 0 && info->bytes > 1; i++)
    if (narrow[i] != stored && pf_dtype_of(narrow[i])->bytes <= info->bytes &&
        count < PF_SEED_DTYPES)
      out[count++] = narrow[i];
  return count;
}

static bool is_integer(pf_dtype t)
{
  return pf_dtype_of(t)->exponent_bits == 0;
}

/* 8-bit floats are run with a scale that brings the largest element near the format's. */
static bool is_scaled(pf_dtype t)
{
  return pf_dtype_of(t)->bytes == 1 && !is_integer(t);
}

int pf_seed_graphs(pf_dtype dtype, bool bias, pf_graph out[PF_GRAPH_COUNT])
{
  int count = 0;
  if (is_scaled(dtype))
    out[count++] = PF_SCALED_MATMUL;
  out[count++] = PF_MATMUL_PLAIN;
  if (is_integer(dtype) || is_scaled(dtype))
    return count;
  out[count++] = PF_LINEAR;
  if (!bias)
    return count;
  out[count++] = PF_ADDMM;
  out[count++] = PF_MATMUL_ADD;
  out[count++] = PF_MATMUL_CAST_F32_ADD;
  if (dtype != PF_F64)
    out[count++] = PF_MATMUL_OUT_F32_ADD;
  return count;
}

/* --- values -------------------------------------------------------------------------------- */

static double largest(const double *v, int64_t count)
{
  double most = 0;
  for (int64_t i = 0; i < count; i++)
    if (isfinite(v[i]) && fabs(v[i]) > most)
      most = fabs(v[i]);
  return most;
}

/* One f32 by which the elements are divided; 1 for no scale. */
static float scale_of(const double *v, int64_t count, pf_dtype t)
{
  const double scale = largest(v, count) / pf_format_of(t)->max;
  return scale >= 0x1p-126 && scale <= 0x1p+127 ? (float)scale : 1;
}

/* As a quantizer makes integers of activations: 0 in the middle of the range. */
static double quantized(double v, double scale, pf_dtype t)
{
  const double low = t == PF_U8 ? 0 : -128, zero = t == PF_U8 ? 128 : 0;
  const double q = rint(v / scale) + zero;
  return q < low ? low : q > low + 255 ? low + 255 : q;
}

/* row-major from line-major: element (line, k) goes to index line * k_count + k, or k * lines + line
   where `transposed`. */
static pf_status set_values(pf_operand *o, const double *v, int64_t lines, int64_t k,
                            bool transposed, double scale, bool quantize, pf_arena *a)
{
  const int bytes = pf_dtype_of(o->dtype)->bytes;
  uint8_t *to = pf_alloc_array(a, (size_t)(lines * k), (size_t)bytes);
  if (!to)
    return PF_NO_MEMORY;
  for (int64_t line = 0; line < lines; line++)
    for (int64_t i = 0; i < k; i++) {
      const double value = v[line * k + i];
      const int64_t at = transposed ? i * lines + line : line * k + i;
      pf_store(o->dtype, to + at * bytes,
               quantize ? quantized(value, scale, o->dtype) : value / scale);
    }
  o->values = (pf_values){.kind = PF_VERBATIM, .verbatim = to};
  return PF_OK;
}

static pf_status set_scale(pf_operand *o, float scale, pf_arena *a)
{
  float *value = pf_alloc(a, sizeof *value);
  if (!value)
    return PF_NO_MEMORY;
  *value = scale;
  o->scale = (pf_scale){.kind = PF_SCALE_TENSOR, .count = 1, .values = value};
  return PF_OK;
}

static void set_generated(pf_operand *o, uint32_t seed)
{
  o->values = (pf_values){.kind = PF_NORMAL, .seed = seed};
}

/* --- operands ------------------------------------------------------------------------------ */

static void set_dims(pf_operand *o, pf_dtype t, int rank, const int64_t *dim)
{
  o->present = true;
  o->dtype = t;
  o->rank = rank;
  for (int i = 0; i < rank; i++)
    o->dim[i] = dim[i];
  pf_dense_strides(rank, o->dim, o->stride);
}

static pf_status set_x(const pf_seed_slice *s, const pf_seed_form *f, pf_arena *a, pf_operand *o)
{
  const int64_t dim[] = {1, s->m, s->k};
  const bool integer = is_integer(f->dtype), scaled = f->graph == PF_SCALED_MATMUL;
  pf_dtype t = f->dtype;
  if (integer)
    t = f->dtype == PF_S8 ? PF_U8 : PF_S8;
  set_dims(o, t, f->batched ? 3 : 2, f->batched ? dim : dim + 1);
  if (!s->x) {
    set_generated(o, s->seed);
    return scaled ? set_scale(o, 1, a) : PF_OK;
  }
  const float scale = scaled ? scale_of(s->x, s->m * s->k, t) : 1;
  if (scaled)
    PF_TRY(set_scale(o, scale, a));
  const double most = largest(s->x, s->m * s->k);
  return set_values(o, s->x, s->m, s->k, false, integer ? (most > 0 ? most / 127 : 1) : (double)scale,
                    integer, a);
}

/* linear takes [N, K]; else y is [K, N], of a weight [N, K] its transposed view. */
static pf_status set_y(const pf_seed_slice *s, const pf_seed_form *f, pf_arena *a, pf_operand *o)
{
  const bool weight = pf_graph_of(f->graph)->weight, scaled = f->graph == PF_SCALED_MATMUL;
  const int64_t dim[] = {weight ? s->n : s->k, weight ? s->k : s->n};
  set_dims(o, f->dtype, 2, dim);
  const int near = s->rows == weight ? 1 : 0;  /* the dimension of neighbours in the model */
  o->stride[near] = 1;
  o->stride[1 - near] = dim[near] + (f->padded ? PADDING : 0);
  if (!s->y) {
    set_generated(o, s->seed ^ 1);
    return scaled ? set_scale(o, 1, a) : PF_OK;
  }
  const float scale = scaled && !f->stored ? scale_of(s->y, s->n * s->k, f->dtype) : 1;
  if (scaled)
    PF_TRY(set_scale(o, scale, a));
  return set_values(o, s->y, s->n, s->k, !weight, (double)scale, false, a);
}

/* bias, and the c of addmm, which is one there. */
static pf_status set_bias(const pf_seed_slice *s, const pf_seed_form *f, pf_arena *a, pf_case *c)
{
  const pf_graph_info *g = pf_graph_of(f->graph);
  pf_operand *o = &c->operand[g->has_c ? PF_C : PF_BIAS];
  if (!s->bias || !(g->has_c || g->has_bias))
    return PF_OK;
  set_dims(o, f->dtype, 1, &s->n);
  return set_values(o, s->bias, 1, s->n, false, 1, false, a);
}

pf_status pf_seed_case(const pf_seed_slice *s, const pf_seed_form *f, pf_arena *a, pf_case *out,
                       pf_error *e)
{
  *out = (pf_case){.op = PF_OP_MATMUL, .graph = f->graph, .alpha = 1, .beta = 1};
  PF_TRY(set_x(s, f, a, &out->operand[PF_X]));
  PF_TRY(set_y(s, f, a, &out->operand[PF_Y]));
  if (f->graph != PF_SCALED_MATMUL)
    PF_TRY(set_bias(s, f, a, out));
  else
    out->operand[PF_OUT].dtype = PF_BF16;
  return pf_case_finish(out, e);
}
