/* A case as a program in C that calls a library's own interface: operands, exact values, and how it
   is compiled.  What stands behind the product in a row (a bias that is added to a
   finished result, say) is no part of it. */
#include "emit_c.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugin_parts.h"
#include "row.h"

enum { FENCE = 16 };  /* elements around the output, and behind operands */

const pf_emit_interface pf_emit_interfaces[] = {
  {"openblas", "cblas.h", "-lopenblas", pf_emit_cblas},
  {"blis", "cblas.h", "-lblis", pf_emit_cblas},
  {"refblas", "cblas.h", "-lblas", pf_emit_cblas},
  {"cblas", "cblas.h", "-lcblas", pf_emit_cblas},
  {"onednn", "dnnl.h", "-ldnnl", pf_emit_onednn},
  {"onnxruntime", "onnxruntime_c_api.h", "-I/usr/include/onnxruntime -lonnxruntime",
   pf_emit_onnxruntime},
  /* without the package that has the plain name: its headers are C++ */
  {"torch", NULL, "-l:libtorch_cpu.so.2.6", pf_emit_torch},
  {"inductor", NULL, NULL, NULL},
  {"xnnpack", "xnnpack.h", "-lXNNPACK -lpthreadpool -lpthread", pf_emit_xnnpack},
  {NULL, NULL, NULL, NULL}
};

/* --- values -------------------------------------------------------------------------------- */

void pf_emit_constant(FILE *to, double value)
{
  if (isnan(value))
    fputs("NAN", to);
  else if (isinf(value))
    fputs(value > 0 ? "INFINITY" : "-INFINITY", to);
  else
    fprintf(to, "%a", value);
}

/* How an encoding becomes a number; NULL: not written here. */
static const char *const loads[PF_DTYPE_COUNT] = {
  [PF_F64] = "  double v;\n  memcpy(&v, &w, sizeof v);\n  return v;\n",
  [PF_F32] = "  float v;\n  memcpy(&v, &w, sizeof v);\n  return v;\n",
  [PF_BF16] = "  const uint32_t wide = (uint32_t)w << 16;\n  float v;\n"
              "  memcpy(&v, &wide, sizeof v);\n  return v;\n",
  [PF_F16] = "  const int e = w >> 10 & 31, f = w & 1023;\n"
             "  const double v = e == 31 ? (f ? NAN : INFINITY) : ldexp(e ? f + 1024 : f, "
             "(e ? e : 1) - 25);\n  return w >> 15 ? -v : v;\n",
  [PF_S8] = "  return (int8_t)w;\n",
  [PF_U8] = "  return w;\n",
  [PF_S32] = "  return (int32_t)w;\n",
};

static int bits_of(int32_t dtype)
{
  return 8 * (int)pfe_dtype_bytes(dtype);
}

static void print_loads(const pfe_call *c, FILE *to)
{
  const pfe_tensor *z = c->tensor[PFE_C] ? c->tensor[PFE_C] : c->tensor[PFE_BIAS];
  const int32_t used[] = {c->tensor[PFE_X]->dtype, c->tensor[PFE_Y]->dtype, c->out->dtype,
                          z ? z->dtype : c->out->dtype};
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
      if (used[i] == t) {
        fprintf(to, "static double %s(uint%d_t w)\n{\n%s}\n\n", pf_dtype_of((pf_dtype)t)->name,
                bits_of(t), loads[t]);
        break;
      }
}

/* --- tensors ------------------------------------------------------------------------------- */

static void print_batches(const pf_emit_call *c, const char *name, const pfe_tensor *t)
{
  fprintf(c->to, "static const long %s_batch[] = {", name);
  for (int64_t b = 0; b < c->call->batches; b++)
    fprintf(c->to, "%s%lld", b ? ", " : "",
            (long long)(((const char *)pfe_batch(c->call, t, b) - (const char *)t->data) /
                        (int64_t)pfe_dtype_bytes(t->dtype)));
  fputs(c->call->batches ? "};\n" : "0};\n", c->to);
}

static void print_operand(const pf_emit_call *c, const char *name, pf_role role,
                          const pfe_tensor *t)
{
  const pf_operand *o = &c->m->what->operand[role];
  const int64_t count = pf_storage_size(o);
  const uint8_t *storage = c->m->problem->storage[role];
  const size_t each = pfe_dtype_bytes(t->dtype);
  fprintf(c->to, "static uint%d_t %s_storage[] = {", bits_of(t->dtype), name);
  for (int64_t i = 0; i < count; i++)
    fprintf(c->to, "%s0x%0*" PRIx64, i ? ", " : "", 2 * (int)each,
            pf_load_bits(o->dtype, storage + (size_t)i * each));
  /* what reads behind them must not find zeros there */
  for (int i = 0; i < FENCE; i++)
    fprintf(c->to, "%s0x%0*llx", i ? ", " : count ? ",\n  " : "", 2 * (int)each,
            (unsigned long long)pf_marker_bits(o->dtype));
  fprintf(c->to, "}, *const %s = %s_storage + %" PRId64 ";\n", name, name, o->offset);
  print_batches(c, name, t);
}

static void print_output(const pf_emit_call *c)
{
  const pf_operand *o = &c->m->what->operand[PF_OUT];
  fprintf(c->to, "static uint%d_t out_storage[%" PRId64 "], *const out = out_storage + %" PRId64
          ";\n", bits_of(c->call->out->dtype), pf_storage_size(o) + 2 * FENCE, o->offset + FENCE);
  print_batches(c, "out", c->call->out);
}

static pf_role addend_role(const pfe_call *c)
{
  return c->tensor[PFE_C] ? PF_C : PF_BIAS;
}

static const pfe_tensor *addend(const pfe_call *c)
{
  return c->tensor[addend_role(c) == PF_C ? PFE_C : PFE_BIAS];
}

void pf_emit_index(FILE *to, const char *name, const pfe_tensor *t, const char *row,
                   const char *column)
{
  fprintf(to, "%s[%s_batch[b] + %lld * %s + %lld * %s]", name, name, (long long)t->row_stride, row,
          (long long)t->column_stride, column);
}

void pf_emit_start(const pf_emit_call *c)
{
  const pfe_tensor *z = addend(c->call);
  if (!z)
    return;
  fputs("  for (long b = 0; b < BATCHES; b++)\n    for (long m = 0; m < M; m++)\n"
        "      for (long n = 0; n < N; n++)\n        ", c->to);
  pf_emit_index(c->to, "out", c->call->out, "m", "n");
  fputs(" = ", c->to);
  pf_emit_index(c->to, "z", z, "m", "n");
  fputs(";\n", c->to);
}

static void print_copy(const pf_emit_call *c, const char *name, const pfe_tensor *t,
                       const char *rows, const char *columns, bool back)
{
  fprintf(c->to, "  for (long b = 0; b < BATCHES; b++)\n    for (long i = 0; i < %s; i++)\n"
          "      for (long j = 0; j < %s; j++)\n        ", rows, columns);
  if (back)
    pf_emit_index(c->to, name, t, "i", "j");
  else
    fprintf(c->to, "dense_%s[(b * %s + i) * %s + j]", name, rows, columns);
  fputs(" = ", c->to);
  if (back)
    fprintf(c->to, "dense_%s[(b * %s + i) * %s + j]", name, rows, columns);
  else
    pf_emit_index(c->to, name, t, "i", "j");
  fputs(";\n", c->to);
}

void pf_emit_dense(const pf_emit_call *c)
{
  const struct {
    const char *name, *rows, *columns;
    const pfe_tensor *t;
  } tensor[] = {{"x", "M", "K", c->call->tensor[PFE_X]}, {"y", "K", "N", c->call->tensor[PFE_Y]},
                {"out", "M", "N", c->call->out}, {"z", "M", "N", addend(c->call)}};
  for (size_t i = 0; i < sizeof tensor / sizeof *tensor; i++)
    if (tensor[i].t) {
      fprintf(c->to, "  static uint%d_t dense_%s[BATCHES * %s * %s + 128];\n",
              bits_of(tensor[i].t->dtype), tensor[i].name, tensor[i].rows, tensor[i].columns);
      print_copy(c, tensor[i].name, tensor[i].t, tensor[i].rows, tensor[i].columns, false);
    }
}

void pf_emit_dense_back(const pf_emit_call *c)
{
  print_copy(c, "out", c->call->out, "M", "N", true);
}

/* --- the program --------------------------------------------------------------------------- */

static void print_exact(const pf_emit_call *c)
{
  const pfe_call *call = c->call;
  const pfe_tensor *z = addend(call);
  const bool has_c = call->tensor[PFE_C] != NULL;
  fputs("/* Exact as far as 113 bits hold it. */\n"
        "static double exact(long b, long m, long n)\n{\n  __float128 v = 0;\n"
        "  for (long k = 0; k < K; k++)\n    v += (__float128)", c->to);
  fprintf(c->to, "%s(", pf_dtype_of((pf_dtype)call->tensor[PFE_X]->dtype)->name);
  pf_emit_index(c->to, "x", call->tensor[PFE_X], "m", "k");
  fprintf(c->to, ") * %s(", pf_dtype_of((pf_dtype)call->tensor[PFE_Y]->dtype)->name);
  pf_emit_index(c->to, "y", call->tensor[PFE_Y], "k", "n");
  fputs(");\n", c->to);
  if (has_c) {
    fputs("  v *= ", c->to);
    pf_emit_constant(c->to, call->alpha);
    fputs(";\n", c->to);
  }
  if (z && (!has_c || call->beta != 0)) {
    fputs("  v += ", c->to);
    pf_emit_constant(c->to, has_c ? call->beta : 1);
    fprintf(c->to, " * (__float128)%s(", pf_dtype_of((pf_dtype)z->dtype)->name);
    pf_emit_index(c->to, "z", z, "m", "n");
    fputs(");\n", c->to);
  }
  fputs("  return (double)v;\n}\n\n", c->to);
}

/* How it is compiled, and what it includes. */
static void print_start(const pf_emit_call *c, const pf_emit_interface *i)
{
  fputs("\n   cc -std=gnu11 case.c -o case ", c->to);
  if (c->path_length) {
    const char *slash = memrchr(c->library, '/', (size_t)c->path_length);
    fprintf(c->to, "%.*s -Wl,-rpath,%.*s", c->path_length, c->library,
            (int)(slash - c->library), c->library);
  } else {
    fputs(i->link, c->to);
  }
  fputs(" -lm && ./case */\n#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n"
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\n", c->to);
  if (i->include)
    fprintf(c->to, "#include <%s>\n\n", i->include);
}

static const char *write_program(const pf_emit_call *c, const pf_emit_interface *i)
{
  const pfe_call *call = c->call;
  fprintf(c->to, "/* %s by %s%s%s: what it answers, and what is exact.\n   ",
          pf_graph_of(c->m->what->graph)->torch, i->engine, c->mode[0] ? ":" : "", c->mode);
  pf_tensor_case_print(c->m->what, c->to);
  print_start(c, i);
  fprintf(c->to, "enum { BATCHES = %lld, M = %lld, N = %lld, K = %lld };\n\n",
          (long long)call->batches, (long long)call->m, (long long)call->n, (long long)call->k);
  fputs("/* Encodings; what belongs to no element is NaN. */\n", c->to);
  print_operand(c, "x", PF_X, call->tensor[PFE_X]);
  print_operand(c, "y", PF_Y, call->tensor[PFE_Y]);
  if (addend(call))
    print_operand(c, "z", addend_role(call), addend(call));
  print_output(c);
  fputc('\n', c->to);
  print_loads(call, c->to);
  print_exact(c);
  const char *why = i->write(c);
  pf_emit_main(c);
  return why;
}

/* --- the call ------------------------------------------------------------------------------ */

/* "onednn:MODE", "onednn:/PATH", "onednn:/PATH:MODE". */
static const pf_emit_interface *find(const char *engine, pf_emit_call *c)
{
  const size_t length = strcspn(engine, ":");
  c->mode = engine[length] ? engine + length + 1 : "";
  if (strchr(c->mode, '/')) {
    const char *colon = strrchr(c->mode, ':');
    c->library = c->mode;
    c->path_length = (int)(colon ? (size_t)(colon - c->mode) : strlen(c->mode));
    c->mode = colon ? colon + 1 : "";
  }
  for (const pf_emit_interface *i = pf_emit_interfaces; i->engine; i++)
    if (strlen(i->engine) == length && !memcmp(i->engine, engine, length))
      return i;
  return NULL;
}

/* The first product of the graph as eager has it. */
static pf_status plan_call(const pf_problem *p, pf_arena *a, pf_plan *plan, pf_output *out,
                           pf_public_call *to, pf_error *e)
{
  const pf_row *row = pf_row_find(p->what->graph, "eager");
  PF_TRY(pf_plan_parse(row->strategy, row->text, p->what, plan, e));
  const pf_step *s = &plan->step[0];
  pf_call call = {.problem = p, .steps = s, .count = 1, .out = &out->view,
                  .value = {[PF_REF_X] = &p->x, [PF_REF_Y] = &p->y}};
  if (s->c)
    call.value[PF_REF_C] = &p->c;
  if (s->bias)
    call.value[PF_REF_BIAS] = &p->bias;
  if (pf_output_new(p, s->storage, a, out))
    return pf_fail(e, PF_NO_MEMORY, 0, "not enough memory for the output");
  pf_public_call_set(&call, to);
  return PF_OK;
}

static const char *no_program(const pfe_call *c)
{
  const pfe_tensor *z = addend(c);
  if (!loads[c->tensor[PFE_X]->dtype] || !loads[c->tensor[PFE_Y]->dtype] ||
      !loads[c->out->dtype] || (z && z->dtype != c->out->dtype))
    return "a program in C is written for f64, f32, f16, bf16, bytes and s32, addends of the "
           "result's dtype";
  return NULL;
}

pf_status pf_emit_c(const pf_emitter *m, pf_error *e)
{
  pf_emit_call c = {.m = m};
  const pf_emit_interface *i = find(m->engine, &c);
  pf_plan plan;
  pf_output out;
  pf_public_call public;
  char *text = NULL;
  size_t size;
  if (!i)
    return pf_fail(e, PF_UNSUPPORTED, 0, "no program in C is written for engine '%.40s'",
                   m->engine);
  if (!i->write)
    return pf_fail(e, PF_UNSUPPORTED, 0, "PyTorch compiles %s's graphs, and so the script for "
                   "PyTorch shows what they do", i->engine);
  PF_TRY(plan_call(m->problem, m->arena, &plan, &out, &public, e));
  c.call = &public.call;
  const char *why = no_program(c.call);
  if (why)
    return pf_fail(e, PF_UNSUPPORTED, 0, "%s", why);
  c.to = open_memstream(&text, &size);
  if (!c.to)
    return pf_fail(e, PF_NO_MEMORY, 0, "not enough memory for the program");
  why = write_program(&c, i);
  const bool failed = ferror(c.to);
  if (fclose(c.to) || failed) {
    free(text);
    return pf_fail(e, PF_NO_MEMORY, 0, "not enough memory for the program");
  }
  if (!why)
    fwrite(text, 1, size, m->to);
  free(text);
  return why ? pf_fail(e, PF_UNSUPPORTED, 0, "%s: %s", m->engine, why) : PF_OK;
}
