/* One pass over the output's elements.  Certified double arithmetic settles almost all of them, a
   block at a time; the exact sum of any other is asked for once and serves every row and engine. */
#include <math.h>
#include <string.h>

#include "session_parts.h"

/* --- elements ------------------------------------------------------------------------------ */

pf_measured pf_measure(pf_encloser *e, const pf_oracle *oracle, const pf_format *out,
                       int64_t element, double got, const pf_enclosure *allowed)
{
  pf_measured m = {.element = element, .got = got, .allowed = *allowed};
  m.magnitude = pf_exact(e, element, &m.special);
  m.exact = m.special ? NAN : oracle->nearest(oracle->state, pf_format_of(PF_F64));
  m.error = !m.special && isfinite(got) ? oracle->distance(oracle->state, got) : INFINITY;
  if (m.error == 0)
    return m;
  m.share = allowed->radius > 0 ? m.error / allowed->radius : INFINITY;
  m.ulps = isfinite(m.exact) ? m.error / pf_ulp(out, m.exact) : INFINITY;
  return m;
}

static const pf_step *last_step(const pf_plan *plan)
{
  return &plan->step[plan->count - 1];
}

static void look_closer(const pf_bench *b, pf_comparison *c, int64_t element, double got,
                        const pf_enclosure *allowed, bool wrong, bool other_side)
{
  pf_tally *t = &c->result.tally;
  const pf_rule *rule = &c->result.rule;
  const pf_format *out = &last_step(c->result.plan)->out;
  const pf_measured m = pf_measure(b->encloser, &b->session->oracle, out, element, got, allowed);
  const double share = rule->kind == PF_RULE_NMSE ? m.error : m.share;
  if (rule->kind == PF_RULE_NMSE && isfinite(m.error))
    pf_nmse_add(&t->nmse, m.error, m.exact);
  if (t->worst >= 0 && (wrong ? t->worst_is_wrong && !(share > t->worst_share)
                              : t->worst_is_wrong || !(share > t->worst_share)))
    return;
  t->worst = element;
  t->worst_share = share;
  t->worst_is_wrong = wrong;
  c->result.worst = m;
  c->result.other_side = other_side;
  c->result.finer =
      wrong && m.share <= 1 && isfinite(allowed->radius) && !pf_rule_is_familiar(rule);
}

static void count_judged(pf_bench *b, int64_t n)
{
  b->session->elements += (uint64_t)n;
  b->session->products += (uint64_t)(n * b->problem.shape.k);
}

static void judge(pf_bench *b, pf_comparison *c, const pf_enclosure *enclosures, int64_t element)
{
  const pf_options *o = &b->session->options;
  pf_tally *t = &c->result.tally;
  const bool familiar = pf_rule_is_familiar(&o->rule);
  const pf_enclosure mine =
      familiar ? pf_rule_enclose(&o->rule, &b->problem, last_step(c->result.plan), b->encloser,
                                 &b->session->oracle, element)
               : enclosures[c->ask];
  if (o->rule.kind == PF_RULE_AGREE && o->only_equal &&
      !pf_set_equal(&mine.set, &enclosures[c->other_ask].set)) {
    t->skipped++;
    return;
  }
  const double got = b->run[c->run].got[element];
  const bool right = pf_tally_element(t, &mine, got);
  if (familiar)
    t->order = 0;  /* such rules know nothing of orders */
  if (!right || o->measure || o->rule.kind == PF_RULE_NMSE)
    look_closer(b, c, element, got, &mine, !right, false);
  count_judged(b, 1);
  if (c->other_run < 0)
    return;
  const pf_enclosure *theirs = &enclosures[c->other_ask];
  const double other = b->run[c->other_run].got[element];
  const bool other_right = pf_tally_element(t, theirs, other);
  if (!other_right)
    look_closer(b, c, element, other, theirs, true, true);
  if ((!right || !other_right) && !pf_set_overlap(&mine.set, &theirs->set))
    t->predicted = true;
}

/* Models replay a case hundreds of times: B*M*N*K up to which that takes no more than a moment. */
enum { MODEL_WORK = 1 << 20 };

static pf_status find_model(pf_bench *b, pf_result *r)
{
  const bool wrong = r->verdict == PF_VERDICT_IMPOSSIBLE || r->verdict == PF_VERDICT_SPECIAL;
  if (!wrong || b->session->options.no_models || r->rule.kind != PF_RULE_CONTRACT ||
      b->problem.shape.work > MODEL_WORK)
    return PF_OK;
  r->models_tried = true;
  return pf_model_find(&b->problem, r->plan, r->run->got, &b->session->scratch, &r->match);
}

/* The verdict of a comparison that another stands for. */
static void take_over(pf_comparison *to, const pf_comparison *from)
{
  to->result.verdict = from->result.verdict;
  to->result.tally = from->result.tally;
  to->result.worst = from->result.worst;
  to->result.other_side = from->result.other_side;
  to->result.finer = from->result.finer;
  to->result.models_tried = from->result.models_tried;
  to->result.match = from->result.match;
}

static pf_verdict verdict_of(const pf_result *r)
{
  const pf_verdict v = pf_tally_verdict(&r->tally);
  const bool passes = r->rule.kind != PF_RULE_NMSE || pf_nmse_of(&r->tally.nmse) <= r->rule.nmse;
  return v == PF_VERDICT_OK && !passes ? PF_VERDICT_IMPOSSIBLE : v;
}

static bool is_judged(const pf_comparison *c)
{
  return c->result.verdict == PF_VERDICT_OK && c->same_as < 0;
}

static bool settled(const pf_bench *b, const pf_comparison *c, const pf_enclosure *subset,
                    int64_t element)
{
  return pf_tally_settles(&subset[c->ask], b->run[c->run].got[element]) &&
         (c->other_run < 0 ||
          pf_tally_settles(&subset[c->other_ask], b->run[c->other_run].got[element]));
}

/* What is measured, or follows a familiar rule, needs the exact enclosures; so does a pair of rows
   that is judged only where the two are equal, unless they always are. */
static bool can_settle(const pf_bench *b)
{
  const pf_options *o = &b->session->options;
  if (o->measure || pf_rule_is_familiar(&o->rule) || o->oracle == PF_ORACLE_MPFR)
    return false;
  for (int i = 0; i < b->comparisons && o->only_equal; i++)
    if (is_judged(&b->comparison[i]) &&
        !pf_encloser_alike(b->encloser, b->comparison[i].ask, b->comparison[i].other_ask))
      return false;
  return true;
}

/* Counts n elements as right for all comparisons. */
static void count_settled(pf_bench *b, int64_t n)
{
  for (int i = 0; i < b->comparisons; i++)
    if (is_judged(&b->comparison[i])) {
      b->comparison[i].result.tally.judged += b->comparison[i].other_run < 0 ? n : 2 * n;
      count_judged(b, n);
    }
}

static int bits_set(uint64_t v)
{
  return __builtin_popcountll(v);
}

/* Weak elements among those that a block has settled: a bit each. */
static void count_weak(pf_bench *b, const pf_span *span, uint64_t settled_ones)
{
  for (int i = 0; i < b->comparisons; i++) {
    pf_comparison *c = &b->comparison[i];
    if (!is_judged(c))
      continue;
    c->result.tally.weak += bits_set(span[c->ask].weak & settled_ones);
    if (c->other_run >= 0)
      c->result.tally.weak += bits_set(span[c->other_ask].weak & settled_ones);
  }
}

/* Of which elements of a block are all results inside their spans?  A bit each. */
static uint64_t settle_at_once(pf_bench *b, pf_span *span, int64_t from, int n)
{
  uint64_t bits = n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
  pf_enclose_block(b->encloser, from, n, span);
  for (int i = 0; i < b->comparisons; i++) {
    const pf_comparison *c = &b->comparison[i];
    if (!is_judged(c))
      continue;
    bits &= pf_span_compare(b->encloser, &span[c->ask], b->run[c->run].got + from, n);
    if (c->other_run >= 0)
      bits &= pf_span_compare(b->encloser, &span[c->other_ask], b->run[c->other_run].got + from, n);
  }
  count_weak(b, span, bits);
  return bits;
}

static bool settle_one(pf_bench *b, pf_enclosure *subset, int64_t element)
{
  pf_enclose_inside(b->encloser, element, subset);
  for (int i = 0; i < b->comparisons; i++)
    if (is_judged(&b->comparison[i]) && !settled(b, &b->comparison[i], subset, element))
      return false;
  for (int i = 0; i < b->comparisons; i++) {
    pf_comparison *c = &b->comparison[i];
    if (!is_judged(c))
      continue;
    pf_tally_element(&c->result.tally, &subset[c->ask], b->run[c->run].got[element]);
    if (c->other_run >= 0)
      pf_tally_element(&c->result.tally, &subset[c->other_ask], b->run[c->other_run].got[element]);
    count_judged(b, 1);
  }
  return true;
}

/* Almost every element is right, and certified arithmetic can tell: at once of most, of others one
   by one, with more care.  Settled elements are counted; a bit for each is returned. */
static uint64_t settle_block(pf_bench *b, pf_span *span, pf_enclosure *subset, int64_t from, int n)
{
  uint64_t bits = settle_at_once(b, span, from, n);
  count_settled(b, bits_set(bits));
  for (int i = 0; i < n; i++)
    if (!(bits >> i & 1) && settle_one(b, subset, from + i))
      bits |= (uint64_t)1 << i;
  return bits;
}

static void judge_element(pf_bench *b, pf_enclosure *enclosures, int64_t element)
{
  pf_enclose(b->encloser, element, enclosures);
  for (int i = 0; i < b->comparisons; i++)
    if (is_judged(&b->comparison[i]))
      judge(b, &b->comparison[i], enclosures, element);
}

/* --- both oracles -------------------------------------------------------------------------- */

static bool has_points(double lo, double hi)
{
  return lo <= hi;  /* false for NaN */
}

/* Infinities and NaN that the exact set does not hold. */
static bool specials_differ(const pf_set *s, const pf_set *exact)
{
  return s->nan > exact->nan || s->plus_infinity > exact->plus_infinity ||
         s->minus_infinity > exact->minus_infinity;
}

/* Does [lo, hi] hold what the exact enclosure does not allow? */
static bool promises_too_much(double lo, double hi, const pf_enclosure *exact)
{
  return has_points(lo, hi) && !(lo >= exact->set.lo && hi <= exact->set.hi);
}

/* The same for the ends of a block, which also say whether the element is weak, and where they are
   not finite that the exact set is closed. */
static bool block_promises_too_much(double lo, double hi, bool weak, const pf_enclosure *exact)
{
  const pf_set *s = &exact->set;
  const bool is_nan = lo == INFINITY && hi == -INFINITY;
  if (!is_nan && !has_points(lo, hi))
    return false;
  if (weak != exact->weak)
    return true;
  if (is_nan)
    return !s->nan || pf_set_is_open(s);
  if (isinf(lo) || isinf(hi))
    return lo != hi || !(lo > 0 ? s->plus_infinity : s->minus_infinity) || pf_set_is_open(s);
  return promises_too_much(lo, hi, exact);
}

/* PF_ORACLE_BOTH: holds what certified arithmetic said of an element against the exact enclosures,
   whatever the results were: sets inside sets give no different verdict for any result. */
static void compare_oracles(pf_bench *b, const pf_span *span, pf_enclosure *subset,
                            const pf_enclosure *exact, int64_t element, int at)
{
  pf_enclose_inside(b->encloser, element, subset);
  for (int i = 0; i < b->asks; i++) {
    const pf_set *s = &subset[i].set;
    const bool whole_differs = subset[i].whole && !pf_set_equal(s, &exact[i].set);
    b->session->compared++;
    if (!whole_differs &&
        !block_promises_too_much(span[i].lo[at], span[i].hi[at], span[i].weak >> at & 1,
                                 &exact[i]) &&
        !promises_too_much(s->lo, s->hi, &exact[i]) && !specials_differ(s, &exact[i].set) &&
        !(exact[i].weak && (subset[i].whole || has_points(s->lo, s->hi))))
      continue;
    if (!b->session->differing++)
      b->session->difference = (pf_difference){element, i, *s, span[i].lo[at], span[i].hi[at],
                                               exact[i].set, exact[i].weak};
  }
}

/* --- all elements -------------------------------------------------------------------------- */

static void judge_elements(pf_bench *b, pf_span *span, pf_enclosure *subset,
                           pf_enclosure *enclosures)
{
  const int64_t outputs = b->problem.shape.outputs;
  const bool both = b->session->options.oracle == PF_ORACLE_BOTH && b->asks > 0;
  const bool settles = !both && can_settle(b);
  for (int64_t from = 0; from < outputs; from += PF_BLOCK) {
    const int n = outputs - from < PF_BLOCK ? (int)(outputs - from) : PF_BLOCK;
    const uint64_t done = settles ? settle_block(b, span, subset, from, n) : 0;
    if (both)
      pf_enclose_block(b->encloser, from, n, span);
    for (int i = 0; i < n; i++) {
      if (done >> i & 1)
        continue;
      judge_element(b, enclosures, from + i);
      if (both)
        compare_oracles(b, span, subset, enclosures, from + i, i);
    }
  }
}

static void conclude(pf_comparison *all, pf_comparison *c)
{
  if (c->result.verdict != PF_VERDICT_OK)
    return;
  if (c->same_as >= 0)
    take_over(c, &all[c->same_as]);
  else
    c->result.verdict = verdict_of(&c->result);
}

pf_status pf_judge_all(pf_bench *b)
{
  const char *why = NULL;
  pf_arena *a = &b->session->work;
  pf_enclosure *enclosures = pf_alloc_array(a, (size_t)b->asks, sizeof *enclosures);
  pf_enclosure *subset = pf_alloc_array(a, (size_t)b->asks, sizeof *subset);
  pf_span *span = pf_alloc_raw(a, (size_t)b->asks * sizeof *span);
  if (!enclosures || !subset || !span)
    return PF_NO_MEMORY;
  const pf_status status =
      pf_encloser_new(&b->problem, &b->session->oracle, b->ask, b->asks, a, &b->encloser, &why);
  if (status == PF_NO_MEMORY)
    return status;
  for (int i = 0; i < b->comparisons; i++)
    if (status && b->comparison[i].result.verdict == PF_VERDICT_OK) {
      b->comparison[i].result.verdict = PF_VERDICT_UNSUPPORTED;
      b->comparison[i].result.why = why;
    }
  if (!status)
    judge_elements(b, span, subset, enclosures);
  for (int i = 0; i < b->comparisons; i++) {
    conclude(b->comparison, &b->comparison[i]);
    if (b->comparison[i].same_as < 0)
      PF_TRY(find_model(b, &b->comparison[i].result));
  }
  return PF_OK;
}
