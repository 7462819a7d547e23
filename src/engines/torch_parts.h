/* What the files of the adapter of libtorch share. */
#ifndef PF_TORCH_PARTS_H
#define PF_TORCH_PARTS_H

#include <precfuzz/engine.h>

#include "torch_abi.h"

typedef enum pf_torch_mode {
  PF_TORCH_MATMUL,  /* as torch.matmul folds: mm, or bmm */
  PF_TORCH_BMM,     /* bmm always */
  PF_TORCH_RAW,     /* likewise, with all that is known to come out wrong */
  PF_TORCH_LINEAR   /* oneDNN's linear, which compiled graphs call */
} pf_torch_mode;

enum { PF_TORCH_TYPES = 8 };

typedef struct pf_torch {
  pf_torch_functions f;
  void *library;
  pf_torch_mode mode;
  int32_t cpu, dtype[PFE_S32 + 1];  /* torch's numbers; dtype by pfe_dtype */
  bool flushes_bf16, flushes_f16;   /* oneDNN's kernels read subnormals as zero */
  bool narrow_f16;                  /* sums of f16 are in f16 */
  pfe_types types[PF_TORCH_TYPES];
  int32_t types_count;
} pf_torch;

/* A tensor as libtorch takes it. */
typedef struct pf_torch_view {
  void *data;
  int32_t dtype;  /* pfe_dtype */
  int rank;
  int64_t size[PFE_MAX_BATCH + 2], stride[PFE_MAX_BATCH + 2];
} pf_torch_view;

/* A call as libtorch takes it. */
typedef enum pf_torch_what {
  PF_AT_MM, PF_AT_BMM, PF_AT_ADDMM, PF_AT_BADDBMM, PF_AT_LINEAR
} pf_torch_what;

typedef enum pf_torch_role {
  PF_TORCH_A, PF_TORCH_B, PF_TORCH_OUT,
  PF_TORCH_SELF,  /* what is added */
  PF_TORCH_ROLES
} pf_torch_role;

typedef struct pf_torch_plan {
  pf_torch_what what;
  const pfe_tensor *tensor[PF_TORCH_ROLES];  /* SELF: NULL where nothing is added; in place: OUT's */
  pf_torch_view view[PF_TORCH_ROLES];
  double alpha, beta;                        /* beta: of SELF */
} pf_torch_plan;

extern const char *const pf_torch_call_names[];  /* by pf_torch_what */
extern const char *const pf_torch_modes[];       /* by pf_torch_mode; ends with NULL */

/* NULL, or why the mode has no such call. */
const char *pf_torch_plan_of(pf_torch_mode mode, const pfe_call *call, pf_torch_plan *p);

/* libtorch's usual files. */
extern const char *const pf_torch_files[];

/* The first of files that there is, ready for calls. */
pfe_status pf_torch_load(pf_torch *t, const char *const *files, int threads, char text[192]);
/* Version, details and threads. */
void pf_torch_describe(const pf_torch *t, int threads, pfe_info *info);
/* So many products that libtorch has oneDNN multiply those 16-bit floats that it can. */
bool pf_torch_is_large(const pfe_call *call);
/* What oneDNN may do with operands of a dtype. */
void pf_torch_declare(const pf_torch *t, int32_t dtype, pfe_settings *s);
/* Strides of sizes of 1 address nothing, but results depend on them (docs/findings.md): each gets
   one that encloses what is inside, as a dense tensor has. */
void pf_torch_enclose(pf_torch_view *v);
/* *out is to be dropped.  Nonzero: it failed. */
int pf_torch_make(const pf_torch *t, const pf_torch_view *v, pf_torch_tensor *out);

/* Is there a linear of this dtype?  Where there is none, libtorch says so on standard error. */
bool pf_torch_has_linear(const pf_torch *t, int32_t dtype);
pfe_status pf_torch_supports(void *state, const pfe_call *call, pfe_answer *answer);
pfe_status pf_torch_run(void *state, const pfe_call *call, pfe_answer *answer);

#endif
