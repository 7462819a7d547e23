/* The floating-point environment that foreign code must leave as it was: rounding mode,
   flush-to-zero, denormals-are-zero, masks of exceptions. */
#ifndef PF_CONTROL_H
#define PF_CONTROL_H

unsigned pf_control_get(void);
void pf_control_set(unsigned control);

#endif
