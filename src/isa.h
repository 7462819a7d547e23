/* Loops of which there is a copy for each of several instruction sets, chosen at run time.  All
   copies compute the same bits. */
#ifndef PF_ISA_H
#define PF_ISA_H

typedef enum pf_isa {
  PF_ISA_PORTABLE,  /* what the compiler was told to build for */
  PF_ISA_AVX2,      /* AVX2 and FMA */
  PF_ISA_AVX512,    /* AVX-512 F and DQ; loops without a copy for it take AVX2's */
  PF_ISA_COUNT
} pf_isa;

pf_isa pf_isa_best(void);  /* the last one that this machine has */

#endif
