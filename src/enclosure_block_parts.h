/* Inside the encloser's blocks: enclosure_block_prepare.c looks at the asks once, enclosure_block_sum.c
   encloses the sums behind a block of elements, enclosure_block.c walks on from there, and
   enclosure_block_loops.c holds the loops, for every set of instructions. */
#ifndef PF_ENCLOSURE_BLOCK_H
#define PF_ENCLOSURE_BLOCK_H

#include "enclosure_parts.h"

/* Elements come in multiples of it, and products are summed in as many parts. */
enum { PF_LANES_WIDTH = 8 };

/* What one group's elements have in common.  Masks are 0 or -1. */
typedef struct pf_block_rates {
  double alpha, abs_alpha;
  double relative[2];         /* of the bound: without and with a bias, dimensionless */
  double lost[2];             /* at least to underflow, value units: where products are no multiples
                                 of the smallest subnormal, and where they are */
  double lost_most[2];        /* at most, times 2 */
  double quantum;             /* the smallest subnormal */
  double exact_scale;         /* 2^precision of the accumulator */
  double max;                 /* of the accumulator */
  double most_products;       /* up to it alpha may come first or last */
  double unscaled;            /* what sums that alpha multiplies are rounded by, dimensionless */
  double most_exposed;        /* likewise, and what is lost makes no difference to later steps */
  double rho;                 /* narrow: not below rho0, also times what sums were rounded by */
  double shrink, t_lost;      /* take a computed magnitude below the true one */
  double alpha_loss, beta_loss;  /* rounding of alpha * sum and beta * c, dimensionless */
  int64_t no_products;        /* alpha is 0: they are only looked at for what overflows */
  int64_t scaled;             /* alpha is neither 1 nor -1 */
  int64_t plain_alpha;        /* it is, or there are no products */
  int64_t one_product;        /* K is 1 */
  int64_t narrow;             /* products are exact in double, and finite */
  bool bare;                  /* they are, and nothing is added or multiplied by */
  bool rounds;                /* so are most sums rounded, of numbers with all bits in use */
} pf_block_rates;

/* Of each element. */
typedef struct pf_block_terms {
  double sum[PF_BLOCK], tail[PF_BLOCK];  /* of the products: sum + tail */
  double radius[PF_BLOCK];    /* what is missing, for wide operands */
  double absolute[PF_BLOCK];  /* sum of absolute products */
  double finite[PF_BLOCK];    /* bounds that sum over finite products */
  double unit[PF_BLOCK];      /* a power of two that all products are multiples of */
  double all_unit[PF_BLOCK];  /* and beta * c and bias, too */
  double c[PF_BLOCK];         /* beta * c */
  double bias[PF_BLOCK];
  double exposed[PF_BLOCK];   /* bounds what alpha multiplies a lost half of a subnormal by */
} pf_block_terms;

/* A format that is rounded to: nearest even, at most 26 bits or double itself; or integers that
   wrap. */
typedef struct pf_block_format {
  int shift;                  /* bits to drop of a double's significand; 0: none */
  bool saturates;
  double magic;               /* v + magic - magic has no bit below the smallest subnormal */
  double smallest_normal, max;
  double most;                /* up to it, rounded, nothing overflows of the exact set */
  double beyond;              /* from it on, or from its negative down, all of it does */
  double above;               /* high end of what lies above the range: see round_pair */
  double modulus, per_modulus, lowest;  /* of integers; modulus is 0 for others */
} pf_block_format;

typedef struct pf_block_ends {
  const double *lo, *hi;
} pf_block_ends;

typedef struct pf_block_loops {
  /* magic is 1.5 * 2^(52 + q).  True if all k numbers are below 2^(51 + q) and multiples of 2^q: then
     the last bit of *places, bit i, says that 2^(q + i) is the greatest power of two that all are
     multiples of; no bit: all are 0. */
  bool (*scan_grid)(const double *v, int64_t k, double magic, uint64_t *places);
  /* Of k finite numbers the greatest power of two that all are multiples of, infinite where all are
     0, and the sum of their absolute values.  Others are left out; true if there are none. */
  bool (*scan)(const double *v, int64_t k, double *unit, double *absolute);
  void (*dots)(const double *x, const double *y, int64_t k, int rows, int n, double *sum,
               double *absolute);
  void (*dots2)(const double *x, const double *y, int64_t k, int rows, int n, double *sum,
                double *tail, double *absolute, double *radius);
  uint64_t (*ends)(const pf_block_rates *r, const pf_block_terms *t, int n, double *lo,
                   double *hi);
  /* The same for bare sums, where t->unit is no more than a bound: false unless all of them are
     certain to be rounded, finite and known. */
  bool (*ends_rounding)(const pf_block_rates *r, const pf_block_terms *t, int n, double *lo,
                        double *hi, uint64_t *weak);
  /* These return which elements' exact sets may hold what overflows, a bit each. */
  uint64_t (*round)(const pf_block_format *f, const pf_block_ends *a, int n, double *lo, double *hi);
  uint64_t (*add)(const pf_block_format *f, const pf_block_ends *a, const pf_block_ends *b, int n,
                  double *lo, double *hi);
  uint64_t (*scale)(const pf_block_format *f, const pf_block_ends *a, const double *factor,
                    bool exact, int n, double *lo, double *hi);
  uint64_t (*compare)(const pf_block_ends *a, const double *got, int n);
  void (*points)(const double *v, int n, double *lo, double *hi);
} pf_block_loops;
/* isa: one that the machine has. */
const pf_block_loops *pf_block_loops_of(pf_isa isa);

/* One plan, as far as its steps are for blocks. */
typedef struct pf_block_plan {
  bool possible;
  bool skipped[PF_MAX_STEPS];  /* steps of operands, and those that change nothing or are known */
  pf_block_format format[PF_MAX_STEPS];
} pf_block_plan;

/* One group. */
typedef struct pf_block_sum {
  pf_span span;             /* of the block at hand, where `filled` */
  bool possible, filled;
  pf_block_rates rates;
} pf_block_sum;

struct pf_block {
  const pf_block_loops *loops;
  pf_block_plan *plan;      /* by ask */
  pf_block_sum *sum;        /* by group */
};

/* n rounded up to whole lanes. */
static inline int pf_block_padded(int n)
{
  return (n + PF_LANES_WIDTH - 1) / PF_LANES_WIDTH * PF_LANES_WIDTH;
}

/* The span of one group for n elements from `from` on. */
void pf_block_fill(pf_encloser *e, int group, int64_t from, int n);

#endif
