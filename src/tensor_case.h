/* A case as a file of tensors, for those who compute it elsewhere, and back.

   The tensors x, y, c and bias hold the operands' elements in C order, whatever their layout.
   scale_x and scale_y, f32, hold scales: one for a whole tensor in a tensor of no dimension; one a
   vector along K in the operand's shape without K; those of blocks behind that in a last dimension.
   Metadata says what tensors cannot:

     precfuzz.case      the text form of the case, without the values of
     precfuzz.verbatim  operands (names with commas between) that are what their tensors hold; left
                        out where there is none

   Results may stand beside them. */
#ifndef PF_TENSOR_CASE_H
#define PF_TENSOR_CASE_H

#include "problem.h"
#include "tensorfile.h"

enum { PF_CASE_TENSORS = PF_OUT + 2 };

/* What a case has of the tensors named above. */
typedef struct pf_case_tensors {
  int count;
  pf_tensor_entry entry[PF_CASE_TENSORS];  /* operands with the strides of their layouts */
} pf_case_tensors;

/* Whether a tensor of that name is an operand or holds scales. */
bool pf_tensor_case_names(const char *name);

/* Entries point into the problem, scales into the arena.  PF_NO_MEMORY. */
pf_status pf_tensor_case_list(const pf_problem *p, pf_arena *a, pf_case_tensors *out);

/* Is a tensor that a file has the case's, bit for bit?  PF_BAD_INPUT if it differs from the one of
   its name, or if the case has none. */
pf_status pf_tensor_case_compare(const pf_case_tensors *own, const pf_tensor_entry *t, pf_error *e);

/* The text of precfuzz.case. */
void pf_tensor_case_print(const pf_case *c, FILE *to);

/* Writes a safetensors file with the case and results (C order) beside it; fails as
   pf_safetensors_write does. */
pf_status pf_tensor_case_write(const char *path, const pf_problem *p,
                               const pf_tensor_entry *result, size_t count, pf_arena *a,
                               pf_error *e);

/* Does the file say what case it holds? */
bool pf_tensor_case_is(const pf_tensor_file *f);

/* The case, which points into the file and the arena.  PF_BAD_INPUT: there is none; its text is
   wrong; an operand's tensor is missing, or not what the text says. */
pf_status pf_tensor_case_read(const pf_tensor_file *f, pf_arena *a, pf_case *out, pf_error *e);

/* The case that graph g makes of a file's operands, dense, alpha and beta 1; for files that do not
   say it.  Scales are refused. */
pf_status pf_tensor_case_make(const pf_tensor_file *f, pf_graph g, pf_case *out, pf_error *e);

#endif
