/* The text form: one line that begins with the graph's name, for people.

     GRAPH x=DTYPE[DIMS] y=DTYPE[DIMS] [c=...] [bias=...] [alpha=A] [beta=B] ...

   A tensor: dtype, sizes, and where it is not dense its strides, its offset in elements, or both:
     x=bf16[32,7,1,8]   x=f32[4,8](1,4)   x=f32[4,8](16,2)+3   x=f32[4,8]+3   bias=bf16[]
   Its values (normal:0 where nothing is said):
     x.values=KIND:SEED            x.values=KIND+OTHER/MIX:SEED   (MIX of 256)
     x.bits=3f80,4000,...          all elements, row-major, encodings in hex
     x.set=INDEX:BITS,...          sparse edits, encodings in hex
   Scales of x and y in a scaled graph, generated from a seed or spelt out (hex floats or decimals):
     x.scale=tensor:SEED   y.scale=row:SEED   x.scale=block32:SEED   x.scale=row:=0x1.8p-3,0.5,...
   The output's layout, either part of it left out where dense, or in place:
     out=(STRIDES)+OFFSET   out=c   out=bf16   out=bf16(STRIDES)+OFFSET
   A dtype goes with scaled graphs, f32 where nothing is said.
   alpha and beta: hex floats as %a prints them, or decimal, which is rounded to the format that the
   graph takes; inf, -inf, nan.  Tokens after the graph may stand in any order, blanks between. */
#ifndef PF_FORM_TEXT_H
#define PF_FORM_TEXT_H

#include "case.h"

bool pf_text_is(const uint8_t *data, size_t size);  /* begins with a graph's name and a space */
/* The error's offset counts bytes from the start of the text; the text names the token. */
pf_status pf_text_parse(const char *text, size_t size, pf_arena *a, pf_case *out, pf_error *e);
/* Without a newline; pf_text_parse of it gives an equal case. */
void pf_text_print(const pf_case *c, FILE *to);

#endif
