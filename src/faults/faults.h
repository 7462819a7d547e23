/* Planted faults: kernels that are each wrong in one way that a real library has been, to test the
   tester with.  Off its trigger each gives the bits of pf_fault_none.  Every fault is the engine
   fault:NAME; none is in the default set.  They run one MATMUL or MULSUM at a time, but for M05 and
   M06, with an f32 accumulator, M38 an s32 one, in no stated order, in any layout.  The lists below
   name each fault and, behind the semicolon, the least that shows it. */
#ifndef PF_FAULTS_H
#define PF_FAULTS_H

#include "engine.h"

/* The correct kernel: fault:none. */
extern const pf_engine pf_fault_none;

/* What a partial sum is kept in (accumulation.c):
     M01  bf16 accumulator; a partial sum that bf16 lacks, such as that of 512 ones
     M02  f16 accumulator; 4096 ones, or a partial sum above 65504
     M04  K split in 4, the parts' sums rounded to the result's format; large parts that cancel
     M29  subnormal operands and products flushed; a subnormal times 2^100
     M33  operands cut to 10 bits behind the point; an f32 operand with more */
extern const pf_engine pf_fault_M01, pf_fault_M02, pf_fault_M04, pf_fault_M29, pf_fault_M33;

/* alpha, beta, c and bias; K = 0 (epilogue.c):
     M07  sum rounded to the result's format before alpha, c and bias; an addend of opposite sign
     M08  alpha and beta narrowed to bf16; alpha = 0.1
     M20  0 for K = 0; K = 0 where beta * c or bias is not 0
     M21  nothing written for K = 0; K = 0
     M22  beta = 0 not tested for; beta = 0, c = NaN
     M24  beta taken as a flag; beta = 0.5
     M30  0 - |alpha| * sum for a negative alpha; a product of 0, in the sign of the result only */
extern const pf_engine pf_fault_M07, pf_fault_M08, pf_fault_M20, pf_fault_M21, pf_fault_M22,
    pf_fault_M24, pf_fault_M30;

/* The ends of K and N (tails.c):
     M13  last K % 8 terms dropped if K > 8; K = 9
     M15  one column too many stored if N is odd; in the gaps of the output and behind it
     M16  of 8 lanes those that the last, masked step leaves idle lose their sums; K = 9 */
extern const pf_engine pf_fault_M13, pf_fault_M15, pf_fault_M16;

/* Strides and aliasing (layout.c):
     M17  b's leading dimension taken to be dense; a padded one, with K = 1 if b is transposed
     M19  output started from bias or 0 before c is read; in place, beta not 0 */
extern const pf_engine pf_fault_M17, pf_fault_M19;

/* The last rounding (conversion.c):
     M10  ties away from zero; an exact midpoint of the result's format
     M11  values of bf16 in an f32 result; a result with its low 16 bits not 0
     M12  stored by way of f16; a result above 65504
     M31  saturates where NaN is due, and the reverse; f8_e4m3fn: a result of 465 */
extern const pf_engine pf_fault_M10, pf_fault_M11, pf_fault_M12, pf_fault_M31;

/* How operands are read (decoding.c):
     M32  f8_e4m3fn decoded as f8_e4m3fnuz; any operand of it but 0 */
extern const pf_engine pf_fault_M32;

/* Roundings between steps (fusion.c):
     M05  none between a narrow sum and the bias; a sum that its format lacks
     M06  none in f32 to bf16 to f32; a sum that bf16 lacks */
extern const pf_engine pf_fault_M05, pf_fault_M06;

/* Integers (integers.c):
     M38  pairs of u8 * s8 added with saturation to 16 bits; 255 * 127 twice */
extern const pf_engine pf_fault_M38;

/* For the list of engines. */
#define PF_FAULT_ENGINES                                                                     \
  &pf_fault_none, &pf_fault_M01, &pf_fault_M02, &pf_fault_M04, &pf_fault_M05, &pf_fault_M06, \
  &pf_fault_M07, &pf_fault_M08, &pf_fault_M10, &pf_fault_M11, &pf_fault_M12, &pf_fault_M13,  \
  &pf_fault_M15, &pf_fault_M16, &pf_fault_M17, &pf_fault_M19, &pf_fault_M20, &pf_fault_M21,  \
  &pf_fault_M22, &pf_fault_M24, &pf_fault_M29, &pf_fault_M30, &pf_fault_M31, &pf_fault_M32,  \
  &pf_fault_M33, &pf_fault_M38,

#endif
