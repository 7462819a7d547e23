/* Reading pieces of a line: bytes with a length, which may be anything. */
#ifndef PF_FORM_TEXT_SCAN_H
#define PF_FORM_TEXT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "case.h"
#include "status.h"

typedef struct pf_span {
  const char *at;  /* NULL: not given */
  const char *end;
} pf_span;

/* The whole line, for errors. */
typedef struct pf_scanner {
  const char *text, *end;
  pf_error *error;
} pf_scanner;

bool pf_is_blank(char c);
int pf_digit_of(char c);  /* hex digits; 16 for anything else */
bool pf_span_is(pf_span s, const char *text);
size_t pf_span_length(pf_span s);

/* PF_BAD_INPUT with the offset of `at`; quotes the token from there on, shortened and made
   printable. */
pf_status pf_scan_bad(const pf_scanner *p, const char *at, const char *why);

/* Each of these reads at s->at and moves it on. */
bool pf_scan_accept(pf_span *s, char c);
/* Digits of base 10 or 16, in either case, up to `most`. */
pf_status pf_scan_number(const pf_scanner *p, pf_span *s, int base, uint64_t most, uint64_t *out);
/* At most PF_MAX_RANK decimals with commas between, and `close`. */
pf_status pf_scan_numbers(const pf_scanner *p, pf_span *s, char close, int64_t most, int *count,
                          int64_t *to);
pf_span pf_scan_name(pf_span *s);  /* lower-case letters, digits and _, perhaps none */
/* All of s as a number.  Decimals are rounded to f32, or f64; hex says what it means, or is refused
   when the case is finished. */
pf_status pf_scan_scalar(const pf_scanner *p, pf_span s, bool f64, double *out);
pf_status pf_scan_end(const pf_scanner *p, const pf_span *s);

#endif
