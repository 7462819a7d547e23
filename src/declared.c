/* Declared settings as text. */
#include "declared.h"

#include <stdarg.h>
#include <stdio.h>

bool pf_declared_equal(const pf_declared *a, const pf_declared *b)
{
  return a->sum.order == b->sum.order && a->sum.width == b->sum.width &&
         a->sum.fused == b->sum.fused && a->has_accumulator == b->has_accumulator &&
         (!a->has_accumulator || a->accumulator == b->accumulator) &&
         a->flush_inputs == b->flush_inputs &&
         a->flush_sums == b->flush_sums && a->flush_outputs == b->flush_outputs &&
         a->alpha_zero == b->alpha_zero && a->zero_skip == b->zero_skip && a->s32 == b->s32 &&
         a->f8 == b->f8 && a->c_last == b->c_last && a->threads == b->threads;
}

bool pf_declared_matters(const pf_declared *d)
{
  const pf_declared nothing = {.sum = d->sum, .threads = d->threads};
  return !pf_declared_equal(d, &nothing);
}

typedef struct pf_words {
  char *to;
  size_t size, used;
} pf_words;

__attribute__((format(printf, 2, 3))) static void say(pf_words *w, const char *format, ...)
{
  va_list arguments;
  if (w->used)
    w->used += (size_t)snprintf(w->to + w->used, w->size - w->used, ", ");
  if (w->used >= w->size)
    w->used = w->size - 1;
  va_start(arguments, format);
  w->used += (size_t)vsnprintf(w->to + w->used, w->size - w->used, format, arguments);
  va_end(arguments);
  if (w->used >= w->size)
    w->used = w->size - 1;
}

static void say_maybe(pf_words *w, pf_maybe m, const char *may, const char *does)
{
  if (m)
    say(w, "%s", m == PF_MAY ? may : does);
}

void pf_declared_print(const pf_declared *d, char *to, size_t size)
{
  static const char *const overflow[] = {"", "saturates", "may saturate"};
  pf_words w = {to, size, 0};
  char order[48];
  to[0] = 0;
  if (d->sum.order != PF_ANY_ORDER) {
    pf_summation_print(&d->sum, order, sizeof order);
    say(&w, "order %s", order);
  }
  if (d->has_accumulator)
    say(&w, "adds in %s", pf_dtype_of(d->accumulator)->name);
  say_maybe(&w, d->flush_inputs, "may flush operands", "flushes operands");
  say_maybe(&w, d->flush_sums, "may flush sums", "flushes sums");
  say_maybe(&w, d->flush_outputs, "may flush results", "flushes results");
  if (d->alpha_zero)
    say(&w, "alpha = 0 reads %s", d->alpha_zero == PF_ALPHA_ZERO_SKIPS ? "no operand" : "operands");
  say_maybe(&w, d->zero_skip, "may skip zeros", "skips zeros");
  if (d->s32)
    say(&w, "s32 %s", overflow[d->s32]);
  if (d->f8)
    say(&w, "f8 %s", overflow[d->f8]);
  if (d->c_last)
    say(&w, "c last");
  if (d->threads)
    say(&w, "%d thread%s", d->threads, d->threads == 1 ? "" : "s");
}
