/* precfuzz/engine.h: how a library, or anything that multiplies matrices, is put before precfuzz.

   An engine is one pfe_engine.  A shared object exports

     const pfe_engine *precfuzz_engine(void);

   and is given as --engine ./libmine.so or --engine ./libmine.so:ARGUMENT.  docs/engines.md has the
   whole story, examples/engine_naive.c a complete engine.

   All calls come from one thread, one after the other.  A call must leave the floating-point
   environment (rounding mode, flush-to-zero), every operand and every byte outside the output's
   elements as they were.  Sizes are in elements unless they say bytes.  This header is C11 and C++,
   and needs nothing else of precfuzz. */
#ifndef PRECFUZZ_ENGINE_H
#define PRECFUZZ_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with every change of what stands below.  An engine that says another is refused. */
#define PFE_VERSION 1u

enum { PFE_MAX_BATCH = 4, PFE_MAX_STEPS = 12 };

/* What a call came to. */
typedef enum pfe_status {
  PFE_OK = 0,
  PFE_UNSUPPORTED = 1,  /* a normal answer of supports and run; the answer's text says why */
  PFE_ERROR = 2,        /* the library failed; the text says how */
  PFE_ABSENT = 3        /* of open: what it needs is not installed; the text names what to install */
} pfe_status;

typedef enum pfe_dtype {
  PFE_NONE = -1,
  PFE_F64 = 0, PFE_F32 = 1, PFE_F16 = 2, PFE_BF16 = 3,
  PFE_F8_E4M3FN = 4, PFE_F8_E5M2 = 5, PFE_F8_E4M3FNUZ = 6, PFE_F8_E5M2FNUZ = 7,
  PFE_S8 = 8, PFE_U8 = 9, PFE_S32 = 10
} pfe_dtype;

/* --- what an engine declares ----------------------------------------------------------------- */

typedef enum pfe_order {
  PFE_ORDER_ANY = 0,  /* not stated: judged by what every order may give */
  PFE_ORDER_FORWARD, PFE_ORDER_BACKWARD,
  PFE_ORDER_PAIRWISE, /* halves, recursively */
  PFE_ORDER_BLOCKED,  /* blocks of `width` terms, then their sums, each first to last */
  PFE_ORDER_LANES     /* `width` interleaved partial sums, then a tree */
} pfe_order;

typedef enum pfe_maybe { PFE_NEVER = 0, PFE_MAY = 1, PFE_DOES = 2 } pfe_maybe;

typedef enum pfe_overflow {
  PFE_OVERFLOW_USUAL = 0,  /* s32 wraps; f8 and other floats do as the row says: usually NaN in
                              formats without infinity */
  PFE_OVERFLOW_SATURATE,
  PFE_OVERFLOW_EITHER
} pfe_overflow;

/* What alpha = 0 makes of operands that are NaN or infinite. */
typedef enum pfe_alpha_zero {
  PFE_ALPHA_ZERO_OPEN = 0,  /* not stated: either is right */
  PFE_ALPHA_ZERO_SKIPS,     /* they are not read */
  PFE_ALPHA_ZERO_READS      /* NaN */
} pfe_alpha_zero;

/* In what libraries differ by right.  A result is held against these: what is not declared is a
   finding.  All zero: no order stated, nothing flushed, nothing skipped. */
typedef struct pfe_settings {
  int32_t order, width;    /* pfe_order; terms a block or lanes, else 0 */
  int32_t accumulator;     /* pfe_dtype of partial sums where not the step's, one with infinities
                              such as PFE_F16; PFE_NONE: the step's */
  int32_t flush_inputs;    /* pfe_maybe: subnormal operands read as zero (DAZ) */
  int32_t flush_sums;      /* pfe_maybe: subnormal products and partial sums become zero (FTZ) */
  int32_t flush_outputs;   /* pfe_maybe: subnormal results stored as zero */
  int32_t alpha_zero;      /* pfe_alpha_zero */
  int32_t zero_skip;       /* pfe_maybe: zero times anything, NaN too, counts as zero */
  int32_t s32_overflow;    /* pfe_overflow of partial sums in s32 */
  int32_t f8_overflow;     /* pfe_overflow of results in an f8 */
  int32_t c_last;          /* not 0: beta * c and the bias are added to the finished sum */
  int32_t threads;         /* that work on a call; 0: not known */
} pfe_settings;

/* One line of the table of dtypes: a MATMUL of x and y with partial sums in acc, stored as out. */
typedef struct pfe_types {
  int8_t x, y, acc, out;   /* pfe_dtype */
  int8_t c, bias;          /* dtype that c or the bias may have; PFE_NONE: the call can have none */
} pfe_types;

/* What open fills in.  It comes zeroed but for settings.accumulator, which is PFE_NONE. */
typedef struct pfe_info {
  char version[64];        /* of the library */
  char details[192];       /* what else numbers depend on: ISA, kernel set, threads, path */
  pfe_settings settings;
  const pfe_types *types;  /* calls outside the table are not offered; NULL: all are */
  int32_t types_count;
} pfe_info;

/* --- what an engine is asked ----------------------------------------------------------------- */

typedef enum pfe_shape {
  PFE_SHAPE_X = 0,         /* [batches..., m, k]: x and casts of it */
  PFE_SHAPE_Y = 1,         /* [batches..., k, n]: y and casts of it */
  PFE_SHAPE_OUT = 2        /* [batches..., m, n]: c, bias and every result */
} pfe_shape;

/* A view of [batches..., rows, columns]; stride 0 along what is broadcast.  Strides are not negative,
   data need only be aligned to its element. */
typedef struct pfe_tensor {
  void *data;              /* element (0, ..., 0); of operands to be read only */
  int32_t dtype;           /* pfe_dtype */
  int32_t shape;           /* pfe_shape */
  int64_t batch_stride[PFE_MAX_BATCH];
  int64_t row_stride, column_stride;
} pfe_tensor;

typedef enum pfe_kind {
  PFE_MATMUL = 0,  /* out = alpha * (a @ b) + beta * c + bias, as far as the step has them */
  PFE_MULSUM = 1,  /* the same as products that are rounded, then summed */
  PFE_CAST = 2,    /* out = a, rounded */
  PFE_SCALE = 3,   /* out = a times the factor b */
  PFE_ADD = 4      /* out = a + b */
} pfe_kind;

/* What a step reads. */
typedef enum pfe_ref {
  PFE_REF_NONE = -1,
  PFE_X = 0, PFE_Y, PFE_C, PFE_BIAS, PFE_ALPHA, PFE_BETA, PFE_SCALE_X, PFE_SCALE_Y,
  PFE_STEP         /* PFE_STEP + i: result of step i of the row */
} pfe_ref;

/* A number format.  precision: significand bits with the hidden one; 2^emin: the smallest normal. */
typedef struct pfe_format {
  int32_t dtype;             /* pfe_dtype whose format this is in full, or PFE_NONE */
  int32_t precision, emin;
  int32_t has_infinity, has_negative_zero;
  int32_t rounding;          /* 0 to nearest even, 1 to nearest away, 2 toward zero */
  int32_t overflow;          /* 0 infinity, 1 saturate, 2 NaN, 3 wrap */
  int32_t range;             /* 0 symmetric, 1 two's complement, 2 unsigned */
  double max;                /* largest finite value */
} pfe_format;

typedef struct pfe_step {
  int32_t kind;              /* pfe_kind */
  int32_t a, b;              /* pfe_ref */
  int32_t has_alpha, has_c, has_bias;  /* MATMUL, MULSUM: what the call contains; beta goes with c */
  int32_t acc;               /* MATMUL, MULSUM: pfe_dtype of partial sums, or PFE_NONE: see below */
  int32_t out;               /* pfe_dtype that stores the result */
  int32_t elementwise;       /* a MULSUM of the row, offered as the MATMUL that it is but for order */
  /* Steps can say more.  plain: none of what follows does; formats are those of acc and out.  Only
     engines with PFE_TAKES_STEPS are offered others. */
  int32_t plain;
  pfe_format accumulator, product, result;
  int32_t order, width, fused;
  int32_t start_c, split, drop, ftz_in, ftz_out;
} pfe_step;

/* Scales of x or y in scaled graphs, values of f32: [batches..., rows of x or columns of y, blocks
   of K]. */
typedef struct pfe_scales {
  const double *data;        /* NULL: none */
  int64_t batch_stride[PFE_MAX_BATCH];
  int64_t line_stride, block_stride;  /* 0 where one scale serves all */
  int64_t block;             /* elements of K that share one */
} pfe_scales;

typedef struct pfe_call {
  const char *graph;         /* "matmul_add": docs/engines.md lists them */
  int32_t batch_rank;
  int32_t in_place;          /* out is c: the same data and strides */
  int64_t batch[PFE_MAX_BATCH];
  int64_t batches;           /* their product */
  int64_t m, n, k;           /* each may be 0; with k = 0 the result is beta * c + bias */
  double alpha, beta;        /* values of f32, or of f64 where x or y is; beta = 0 reads no c */
  int32_t first, count;      /* the steps to run: number of steps[0] in the row; 0 steps with
                                PFE_RUNS_GRAPHS */
  const pfe_step *steps;
  const pfe_tensor *tensor[PFE_STEP + PFE_MAX_STEPS];  /* by pfe_ref: what can be read; else NULL */
  pfe_scales scale_x, scale_y;
  const pfe_tensor *out;     /* takes the result of the last step, in its dtype.  Elements hold a
                                NaN, or c where it is in place. */
} pfe_call;

/* What an engine says of a call.  Comes with empty texts and the settings that open declared, or
   run with those that supports answered for the same call. */
typedef struct pfe_answer {
  char text[192];            /* why not, or what failed: one line */
  char kernel[96];           /* what did the work, as the library calls it */
  char row[64];              /* PFE_RUNS_GRAPHS: strategy whose row the result follows; empty: it is
                                not known, and some row must fit all of the result */
  pfe_settings settings;     /* supports may change them for this call */
} pfe_answer;

typedef struct pfe_request {
  const char *argument;      /* what followed the name and a ':', for the time of the call;
                                NULL: nothing */
  int32_t threads;           /* to work with; 1 unless the user asked for more */
} pfe_request;

enum {
  PFE_TAKES_STEPS = 1,  /* is also offered runs of several steps, MULSUM, CAST, SCALE, ADD and steps
                           that are not plain: its supports looks at all that they say.  Without it
                           an engine is offered one plain MATMUL at a time. */
  PFE_RUNS_GRAPHS = 2   /* is offered whole cases, and by which steps is its own affair */
};

typedef struct pfe_engine {
  uint32_t version;          /* PFE_VERSION */
  uint32_t size;             /* sizeof(pfe_engine) */
  const char *name;          /* letters, digits and "_-." */
  const char *note;          /* one line for people */
  uint32_t flags;            /* PFE_TAKES_STEPS, PFE_RUNS_GRAPHS */
  const void *user;          /* the engine's own */
  /* Not PFE_OK: *info and *state count for nothing, and text says why. */
  pfe_status (*open)(const struct pfe_engine *self, const pfe_request *request, pfe_info *info,
                     void **state, char text[192]);
  /* May be NULL: whatever is in the table is supported.  Must not run anything. */
  pfe_status (*supports)(void *state, const pfe_call *call, pfe_answer *answer);
  pfe_status (*run)(void *state, const pfe_call *call, pfe_answer *answer);
  void (*close)(void *state);  /* may be NULL */
} pfe_engine;

/* --- help ------------------------------------------------------------------------------------ */

/* Bytes of an element. */
static inline size_t pfe_dtype_bytes(int32_t dtype)
{
  return dtype == PFE_F64                            ? 8
         : dtype == PFE_F32 || dtype == PFE_S32   ? 4
         : dtype == PFE_F16 || dtype == PFE_BF16  ? 2
                                                     : 1;
}

/* Element (0, 0) of batch b (row-major, 0 <= b < batches) of a tensor of the call. */
static inline void *pfe_batch(const pfe_call *call, const pfe_tensor *t, int64_t b)
{
  int64_t offset = 0;
  for (int32_t d = call->batch_rank; d-- > 0; b /= call->batch[d])
    offset += b % call->batch[d] * t->batch_stride[d];
  return (char *)t->data + offset * (int64_t)pfe_dtype_bytes(t->dtype);
}

/* The symbol of a shared object. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const pfe_engine *precfuzz_engine(void);

#ifdef __cplusplus
}
#endif

#endif
