/* The entry points of CBLAS, written once and included once per width of its integers.  The
   includer defines
     INTEGER     int32_t or int64_t
     NAME(f)     how its copy of function f is called
   and has pf_cblas_call and pf_cblas_caller.  No include guard: on purpose. */

#define PRODUCTS(PREFIX, IN, REAL)                                                              \
  static void NAME(PREFIX##_gemm)(void *entry, const pf_cblas_call *c)                          \
  {                                                                                             \
    typedef void gemm(int, int, int, INTEGER, INTEGER, INTEGER, REAL, const IN *, INTEGER,      \
                      const IN *, INTEGER, REAL, REAL *, INTEGER);                              \
    ((gemm *)entry)(c->order, c->a_op, c->b_op, (INTEGER)c->m, (INTEGER)c->n, (INTEGER)c->k,    \
                    (REAL)c->alpha, c->a, (INTEGER)c->a_step, c->b, (INTEGER)c->b_step,         \
                    (REAL)c->beta, c->out, (INTEGER)c->out_step);                               \
  }                                                                                             \
  static void NAME(PREFIX##_gemv)(void *entry, const pf_cblas_call *c)                          \
  {                                                                                             \
    typedef void gemv(int, int, INTEGER, INTEGER, REAL, const IN *, INTEGER, const IN *,        \
                      INTEGER, REAL, REAL *, INTEGER);                                          \
    ((gemv *)entry)(c->order, c->a_op, (INTEGER)c->m, (INTEGER)c->k, (REAL)c->alpha, c->a,      \
                    (INTEGER)c->a_step, c->b, (INTEGER)c->b_step, (REAL)c->beta, c->out,        \
                    (INTEGER)c->out_step);                                                      \
  }                                                                                             \
  static void NAME(PREFIX##_dot)(void *entry, const pf_cblas_call *c)                           \
  {                                                                                             \
    typedef REAL dot(INTEGER, const IN *, INTEGER, const IN *, INTEGER);                        \
    *(REAL *)c->out = ((dot *)entry)((INTEGER)c->k, c->a, (INTEGER)c->a_step, c->b,             \
                                     (INTEGER)c->b_step);                                       \
  }                                                                                             \
  /* one group of like products */                                                              \
  static void NAME(PREFIX##_batch)(void *entry, const pf_cblas_call *c)                         \
  {                                                                                             \
    typedef void batch(int, const int *, const int *, const INTEGER *, const INTEGER *,         \
                       const INTEGER *, const REAL *, const IN **, const INTEGER *,             \
                       const IN **, const INTEGER *, const REAL *, REAL **, const INTEGER *,    \
                       INTEGER, const INTEGER *);                                               \
    const INTEGER m = (INTEGER)c->m, n = (INTEGER)c->n, k = (INTEGER)c->k;                      \
    const INTEGER a_step = (INTEGER)c->a_step, b_step = (INTEGER)c->b_step;                     \
    const INTEGER out_step = (INTEGER)c->out_step, count = (INTEGER)c->count;                   \
    const REAL alpha = (REAL)c->alpha, beta = (REAL)c->beta;                                    \
    ((batch *)entry)(c->order, &c->a_op, &c->b_op, &m, &n, &k, &alpha, (const IN **)c->as,      \
                     &a_step, (const IN **)c->bs, &b_step, &beta, (REAL **)c->outs, &out_step,  \
                     1, &count);                                                                \
  }

PRODUCTS(s, float, float)
PRODUCTS(d, double, double)
PRODUCTS(sb, uint16_t, float)

static pf_cblas_caller *const NAME(callers)[PF_CBLAS_TYPES][PF_CBLAS_PRODUCTS] = {
  {NAME(s_gemm), NAME(s_gemv), NAME(s_dot), NAME(s_batch)},
  {NAME(d_gemm), NAME(d_gemv), NAME(d_dot), NAME(d_batch)},
  {NAME(sb_gemm), NAME(sb_gemv), NAME(sb_dot), NAME(sb_batch)},
};

#undef PRODUCTS
#undef INTEGER
#undef NAME
