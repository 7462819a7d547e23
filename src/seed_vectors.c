/* One pass over a weight in the order of the file, whichever way its vectors run. */
#include "seed_vectors.h"

#include <limits.h>
#include <math.h>

#include "values.h"

enum {
  AT_ONCE = 1 << 12,     /* elements */
  FORGET = 1 << 22       /* bytes read between two pf_weights_forget */
};

const char *pf_seed_why_name(pf_seed_why w)
{
  static const char *const names[] = {"largest norm", "widest spread", "most cancelling",
                                      "most subnormals", "random"};
  return names[w];
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

int64_t pf_seed_vectors(const pf_seed_matrix *m)
{
  return least(m->n, PF_SEED_VECTORS);
}

int64_t pf_seed_length(const pf_seed_matrix *m)
{
  return least(m->k, PF_SEED_LENGTH);
}

static void add(pf_vector_stats *s, double value, double partner, double subnormal)
{
  if (!isfinite(value) || value == 0)
    return;
  const double product = value * partner;
  const int exponent = ilogb(value);
  s->square += value * value;
  s->sum += product;
  s->terms += fabs(product);
  if (s->low > exponent)
    s->low = exponent;
  if (s->high < exponent)
    s->high = exponent;
  s->subnormals += fabs(value) < subnormal;
}

bool pf_seed_scan(const pf_weights *w, size_t weight, const pf_seed_matrix *m,
                  const double *partner, const pf_watch *watch, pf_vector_stats *stats)
{
  const pf_tensor_entry *t = &w->weight[weight].entry;
  const int64_t vectors = pf_seed_vectors(m), length = pf_seed_length(m);
  const int64_t lines = m->rows ? vectors : length, columns = m->rows ? length : vectors;
  const int64_t width = m->rows ? m->k : m->n;
  const double each = (double)t->bytes / (double)t->elements;
  double value[AT_ONCE];
  size_t forgotten = 0;
  for (int64_t i = 0; i < vectors; i++)
    stats[i] = (pf_vector_stats){.low = INT_MAX, .high = INT_MIN};
  for (int64_t line = 0; line < lines; line++) {
    for (int64_t at = 0, n; at < columns; at += n) {
      n = least(columns - at, AT_ONCE);
      pf_weight_read(t, line * width + at, 1, n, value);
      for (int64_t i = 0; i < n; i++)
        add(&stats[m->rows ? line : at + i], value[i], partner[m->rows ? at + i : line], m->least);
    }
    const size_t read = (size_t)((double)((line + 1) * width) * each);
    if (read - forgotten < FORGET && line + 1 < lines)
      continue;
    pf_weights_forget(w, weight, forgotten, read - forgotten);
    forgotten = read;
    if (!watch->go_on(watch->user, t->name, (uint64_t)line, (uint64_t)lines))
      return false;
  }
  return true;
}

/* --- choosing ------------------------------------------------------------------------------ */

/* How hard, the greater the harder; negative: not at all. */
static double hardness(const pf_vector_stats *s, pf_seed_why why)
{
  if (s->square <= 0)
    return -1;
  switch (why) {
  case PF_SEED_NORM: return s->square;
  case PF_SEED_SPREAD: return s->high - s->low;
  case PF_SEED_CANCEL: return s->terms > 0 ? 1 - fabs(s->sum) / s->terms : -1;
  case PF_SEED_SUBNORMAL: return s->subnormals > 0 ? (double)s->subnormals : -1;
  default: return 0;
  }
}

static bool is_chosen(const pf_seed_pick *picks, int count, int64_t vector)
{
  for (int i = 0; i < count; i++)
    if (picks[i].vector == vector)
      return true;
  return false;
}

static int64_t find_hardest(const pf_vector_stats *stats, int64_t count, pf_seed_why why,
                            const pf_seed_pick *picks, int chosen)
{
  int64_t best = -1;
  double most = -0.5;
  for (int64_t i = 0; i < count; i++) {
    const double h = hardness(&stats[i], why);
    if (h > most && !is_chosen(picks, chosen, i)) {
      most = h;
      best = i;
    }
  }
  return best;
}

int pf_seed_choose(const pf_vector_stats *stats, int64_t count, uint64_t seed,
                   pf_seed_pick out[PF_SEED_PICKS])
{
  int chosen = 0;
  for (int why = 0; why < 2 * PF_SEED_RANDOM; why++) {
    const pf_seed_why w = (pf_seed_why)(why % PF_SEED_RANDOM);
    const int64_t i = find_hardest(stats, count, w, out, chosen);
    if (i >= 0)
      out[chosen++] = (pf_seed_pick){i, w};
  }
  for (uint64_t i = 0; i < PF_SEED_PICKS && chosen < PF_SEED_PICKS; i++) {
    const int64_t vector = (int64_t)(pf_hash(seed + i) % (uint64_t)count);
    if (!is_chosen(out, chosen, vector))
      out[chosen++] = (pf_seed_pick){vector, PF_SEED_RANDOM};
  }
  return chosen;
}
