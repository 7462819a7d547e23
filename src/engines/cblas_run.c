/* CBLAS's entry points, and which one a call comes to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "cblas_parts.h"

/* --- entry points -------------------------------------------------------------------------- */

const char *const pf_cblas_product_names[] = {"gemm", "gemv", "dot", "gemm_batch"};
const char *const pf_cblas_type_names[] = {"s", "d", "sb"};

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102, AS_IS = 111, TRANSPOSED = 112 };

/* What an entry point is called with: for gemv m rows and k columns as they are stored, b the
   vector; steps are leading dimensions or increments. */
typedef struct pf_cblas_call {
  int order, a_op, b_op;
  int64_t m, n, k, a_step, b_step, out_step;
  double alpha, beta;
  const void *a, *b;
  void *out;
  int64_t count;              /* of batches, and their pointers */
  const void **as, **bs;
  void **outs;
} pf_cblas_call;

typedef void pf_cblas_caller(void *entry, const pf_cblas_call *c);

#define INTEGER int32_t
#define NAME(f) f##_32
#include "cblas_calls.h"
#define INTEGER int64_t
#define NAME(f) f##_64
#include "cblas_calls.h"

/* --- calls --------------------------------------------------------------------------------- */

/* What a call comes to, but for where its batches begin. */
typedef struct pf_cblas_plan {
  pf_cblas_type type;
  pf_cblas_product product;
  bool swapped;     /* the entry point's a is the step's b */
  pf_cblas_call call;
} pf_cblas_plan;

static int operation(bool transposed)
{
  return transposed ? TRANSPOSED : AS_IS;
}

/* gemm and its batches; what stands by columns is said to. */
static const char *plan_gemm(const pfe_call *call, pf_cblas_plan *to)
{
  pf_blas_gemm g;
  pf_cblas_call *c = &to->call;
  const char *why = pf_blas_gemm_of(call, &g);
  c->order = g.swapped ? COLUMN_MAJOR : ROW_MAJOR;
  c->a_op = operation(g.swapped ? g.right_transposed : g.left_transposed);
  c->b_op = operation(g.swapped ? g.left_transposed : g.right_transposed);
  c->m = call->m;
  c->n = call->n;
  c->k = call->k;
  c->a_step = g.swapped ? g.right_ld : g.left_ld;
  c->b_step = g.swapped ? g.left_ld : g.right_ld;
  c->out_step = g.out_ld;
  return why;
}

static const char *plan_gemv(const pfe_call *call, pf_cblas_plan *to)
{
  pf_blas_gemv g;
  pf_cblas_call *c = &to->call;
  const char *why = pf_blas_gemv_of(call, &g);
  to->swapped = g.matrix_is_b;
  c->order = ROW_MAJOR;
  c->a_op = operation(g.transposed);
  c->m = g.transposed ? g.k : g.rows;
  c->n = 1;
  c->k = g.transposed ? g.rows : g.k;
  c->a_step = g.ld;
  c->b_step = g.vector_step;
  c->out_step = g.out_step;
  return why;
}

static const char *plan_dot(const pfe_call *call, pf_cblas_plan *to)
{
  pf_blas_dot d;
  const char *why = pf_blas_dot_of(call, &d);
  to->call.m = to->call.n = to->call.out_step = 1;
  to->call.k = d.k;
  to->call.a_step = d.a_step;
  to->call.b_step = d.b_step;
  return why;
}

static const char *plan_product(const pf_cblas *l, const pfe_call *call, pf_cblas_product product,
                                pf_cblas_plan *to)
{
  static const char *(*const plan_of[])(const pfe_call *, pf_cblas_plan *) = {
    plan_gemm, plan_gemv, plan_dot, plan_gemm};
  const int32_t x = pf_blas_a(call)->dtype;
  *to = (pf_cblas_plan){.type = x == PFE_F64    ? PF_CBLAS_D
                                : x == PFE_BF16 ? PF_CBLAS_SB
                                                : PF_CBLAS_S,
                        .product = product};
  to->call.alpha = pf_blas_alpha(call);
  to->call.beta = pf_blas_beta(call);
  to->call.count = call->batches;
  if (!l->entry[to->type][product])
    return "the library has no such entry point";
  const char *why = plan_of[product](call, to);
  const pf_cblas_call *c = &to->call;
  const int64_t sizes[] = {c->m, c->n, c->k, c->a_step, c->b_step, c->out_step, c->count};
  for (size_t i = 0; !l->wide && !why && i < sizeof sizes / sizeof *sizes; i++)
    if (sizes[i] > INT32_MAX)
      why = "a size or stride exceeds the library's 32-bit integers";
  return why;
}

/* The smallest product that does it.  Batches only where they are asked for: OpenBLAS 0.3.29, built
   for several processors, calls an address that is none where a batch's matrices are small. */
static const char *plan(const pf_cblas *l, const pfe_call *call, pf_cblas_plan *to)
{
  if (pf_blas_has_two_addends(call))
    return "it adds c or a bias, not both";
  if (l->only >= 0)
    return plan_product(l, call, (pf_cblas_product)l->only, to);
  if (!plan_product(l, call, PF_CBLAS_DOT, to) || !plan_product(l, call, PF_CBLAS_GEMV, to))
    return NULL;
  return plan_product(l, call, PF_CBLAS_GEMM, to);
}

/* "cblas_sgemm row-major NT" */
static void name_kernel(const pf_cblas_plan *p, pfe_answer *answer)
{
  const pf_cblas_call *c = &p->call;
  const char *name = pf_cblas_product_names[p->product], *type = pf_cblas_type_names[p->type];
  const char a = c->a_op == TRANSPOSED ? 'T' : 'N', b = c->b_op == TRANSPOSED ? 'T' : 'N';
  if (p->product == PF_CBLAS_DOT)
    snprintf(answer->kernel, sizeof answer->kernel, "cblas_%s%s", type, name);
  else if (p->product == PF_CBLAS_GEMV)
    snprintf(answer->kernel, sizeof answer->kernel, "cblas_%s%s %c", type, name, a);
  else
    snprintf(answer->kernel, sizeof answer->kernel, "cblas_%s%s %s-major %c%c", type, name,
             c->order == ROW_MAJOR ? "row" : "column", a, b);
}

/* BLIS's gemm takes a matrix that is a vector by gemv, and so the one line across that may be left
   over at the end where an output's lines are odd in length. */
static bool uses_gemv(const pf_cblas_plan *p, const pfe_call *call)
{
  const int64_t length = call->out->column_stride == 1 ? call->n : call->m;
  return p->product != PF_CBLAS_DOT && (call->m == 1 || call->n == 1 || length % 2);
}

pfe_status pf_cblas_supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pf_cblas *l = state;
  pf_cblas_plan p;
  const char *why = plan(l, call, &p);
  if (why) {
    snprintf(answer->text, sizeof answer->text, "%s", why);
    return PFE_UNSUPPORTED;
  }
  name_kernel(&p, answer);
  if (p.type == PF_CBLAS_SB && l->flushes)
    answer->settings.flush_inputs = answer->settings.flush_sums = PFE_MAY;
  if (l->skips_zeros && uses_gemv(&p, call))
    answer->settings.zero_skip = PFE_MAY;
  return PFE_OK;
}

static bool make_room(pf_cblas *l, int64_t count)
{
  if (count <= l->room)
    return true;
  const void **as = realloc(l->as, (size_t)count * sizeof *as);
  l->as = as ? as : l->as;
  const void **bs = realloc(l->bs, (size_t)count * sizeof *bs);
  l->bs = bs ? bs : l->bs;
  void **outs = realloc(l->outs, (size_t)count * sizeof *outs);
  l->outs = outs ? outs : l->outs;
  if (!as || !bs || !outs)
    return false;
  l->room = count;
  return true;
}

static void place(const pfe_call *call, const pf_cblas_plan *p, int64_t batch, const void **a,
                  const void **b, void **out)
{
  const pfe_tensor *first = p->swapped ? pf_blas_b(call) : pf_blas_a(call);
  const pfe_tensor *second = p->swapped ? pf_blas_a(call) : pf_blas_b(call);
  pf_blas_start(call, pf_blas_addend(call), batch);
  *a = pfe_batch(call, first, batch);
  *b = pfe_batch(call, second, batch);
  *out = pfe_batch(call, call->out, batch);
}

pfe_status pf_cblas_run(void *state, const pfe_call *call, pfe_answer *answer)
{
  pf_cblas *l = state;
  pf_cblas_plan p;
  const char *why = plan(l, call, &p);
  pf_cblas_call *c = &p.call;
  if (!why && p.product == PF_CBLAS_BATCH && !make_room(l, c->count))
    why = "out of memory";
  if (why) {
    snprintf(answer->text, sizeof answer->text, "%s", why);
    return PFE_ERROR;
  }
  pf_cblas_caller *use = (l->wide ? callers_64 : callers_32)[p.type][p.product];
  void *entry = l->entry[p.type][p.product];
  for (int64_t i = 0; p.product != PF_CBLAS_BATCH && i < c->count; i++) {
    place(call, &p, i, &c->a, &c->b, &c->out);
    use(entry, c);
  }
  if (p.product != PF_CBLAS_BATCH)
    return PFE_OK;
  c->as = l->as;
  c->bs = l->bs;
  c->outs = l->outs;
  for (int64_t i = 0; i < c->count; i++)
    place(call, &p, i, &l->as[i], &l->bs[i], &l->outs[i]);
  use(entry, c);
  return PFE_OK;
}
