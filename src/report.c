/* Results as text: signatures, lines, and the worst element in full. */
#include "report.h"

#include <math.h>
#include <string.h>

void pf_dtypes_print(const pf_case *c, char *to, size_t size)
{
  size_t used = 0;
  to[0] = 0;
  const int roles = pf_graph_of(c->graph)->scaled ? PF_ROLE_COUNT : PF_OUT;
  for (int i = 0; i < roles && used < size; i++) {
    const pf_operand *o = &c->operand[i];
    if (o->present)
      used += (size_t)snprintf(to + used, size - used, "%s%s=%s", used ? "," : "",
                               pf_role_name((pf_role)i), pf_dtype_of(o->dtype)->name);
  }
}

void pf_signature_split(const pf_result *r, pf_signature_words *out)
{
  const pf_case *c = r->problem->what;
  const bool agree = r->rule.kind == PF_RULE_AGREE;
  out->engine = r->engine->name;
  out->graph = pf_graph_of(c->graph)->name;
  out->verdict = pf_verdict_name(r->verdict);
  snprintf(out->strategy, sizeof out->strategy, "%s%s%s", r->strategy, agree ? "~" : "",
           agree ? r->against : "");
  pf_dtypes_print(c, out->dtypes, sizeof out->dtypes);
  pf_rule_print(&r->rule, out->rule, sizeof out->rule);
}

void pf_signature(const pf_result *r, char *to, size_t size)
{
  pf_signature_words w;
  pf_signature_split(r, &w);
  snprintf(to, size, "%s %s %s %s %s %s", w.engine, w.graph, w.strategy, w.dtypes, w.rule,
           w.verdict);
}

void pf_report_error(const pf_result *r, FILE *to)
{
  const pf_measured *m = &r->worst;
  fprintf(to, "%.4g = %.4g ulp = %.3g of S", m->error, m->ulps,
          m->magnitude > 0 ? m->error / m->magnitude : 0);
  if (isfinite(m->allowed.radius))
    fprintf(to, " = %.3g of the radius", m->share);
  else if (!pf_rule_is_familiar(&r->rule))
    fprintf(to, ", bits as replayed");
}

/* What was done so that the engine could run the row. */
static void print_legalised(const pf_result *r, const char *before, const char *after, FILE *to)
{
  const char *says = r->run ? r->run->legalised : NULL;
  const bool sum = r->run && r->run->as_matmul;
  if (says || sum)
    fprintf(to, "%s%s%s%s%s", before, says ? says : "", says && sum ? ", " : "",
            sum ? "MULSUM as MATMUL" : "", after);
}

/* What the verdict rests on, in a few words. */
static void print_reason(const pf_result *r, FILE *to)
{
  const pf_tally *t = &r->tally;
  switch (r->verdict) {
  case PF_VERDICT_UNSUPPORTED:
    fprintf(to, "%s", r->why ? r->why : "");
    break;
  case PF_VERDICT_VACUOUS:
    fprintf(to, !t->judged && t->skipped ? "the two enclosures differ everywhere: nothing to judge"
                : !t->judged             ? "no output element"
                                         : "the bound exceeds every sum: zero would pass too");
    break;
  case PF_VERDICT_ORDER:
    fprintf(to, "%lld of %lld elements overflow in some order and did",
            (long long)t->order, (long long)t->judged);
    break;
  case PF_VERDICT_IMPOSSIBLE:
  case PF_VERDICT_SPECIAL:
    if (!t->wrong)
      fprintf(to, "all of %lld elements together", (long long)t->judged);
    else
      fprintf(to, "%lld of %lld elements%s%s", (long long)t->wrong, (long long)t->judged,
              r->finer ? ", worst within the radius: a rounding was skipped, moved or fused" : "",
              r->rule.kind != PF_RULE_AGREE ? ""
              : t->predicted                ? ", predicted: the enclosures do not meet"
                                            : ", the enclosures meet: the rows may agree");
    break;
  case PF_VERDICT_GUARD:
    fprintf(to, "byte %lld from its first element was written", (long long)r->run->stray);
    break;
  case PF_VERDICT_INPUT:
    fprintf(to, "an operand was changed");
    break;
  case PF_VERDICT_FENV:
    fprintf(to, "the floating-point environment was changed");
    break;
  case PF_VERDICT_UNREPEATABLE:
    fprintf(to, "the same call again gave other bits");
    break;
  case PF_VERDICT_DIED:
    fprintf(to, "%s", r->why ? r->why : "");
    break;
  case PF_VERDICT_OK:
  case PF_VERDICT_COUNT:
    if (r->worst.element >= 0 && !r->worst.special)
      pf_report_error(r, to);
    break;
  }
  if (r->rule.kind == PF_RULE_NMSE && t->judged)
    fprintf(to, ", nmse %.4g", pf_nmse_of(&t->nmse));
}

void pf_report_line(const pf_result *r, FILE *to)
{
  char rows[140];
  if (r->against)
    snprintf(rows, sizeof rows, "%s %s %s", r->strategy,
             r->rule.kind == PF_RULE_AGREE ? "~" : "against", r->against);
  else
    snprintf(rows, sizeof rows, "%s", r->strategy);
  fprintf(to, "%-11s %-22s %-18s ",
          r->machinery ? pf_status_name(r->machinery) : pf_verdict_name(r->verdict),
          r->engine->name, rows);
  if (r->machinery)
    fprintf(to, "%s", r->why ? r->why : "");
  else
    print_reason(r, to);
  print_legalised(r, " (legalised: ", ")", to);
  fputc('\n', to);
}

static void print_number(FILE *to, const char *label, double v)
{
  fprintf(to, "    %-9s %.9g (%a)\n", label, v, v);
}

static void print_model(const pf_result *r, FILE *to)
{
  if (r->match.model)
    fprintf(to, "    %-9s %s matches bit for bit: %s (order of %s)\n", "model", r->match.model,
            r->match.says, r->match.engine);
  else if (r->models_tried)
    fprintf(to, "    %-9s none fits\n", "model");
}

/* Of a library: which, and what of it did the work. */
static void print_engine(const pf_result *r, FILE *to)
{
  char declared[200] = "";
  if (r->engine->version)
    fprintf(to, "    %-9s %s\n", "engine", r->engine->version);
  for (const char *line = r->said; line && *line;) {
    const size_t length = strcspn(line, "\n");
    fprintf(to, "    %-9s %.*s\n", "said", (int)length, line);
    line += length + (line[length] != 0);
  }
  if (!r->run)
    return;
  if (r->run->kernel)
    fprintf(to, "    %-9s %s\n", "kernel", r->run->kernel);
  if (r->run->declared)
    pf_declared_print(r->run->declared, declared, sizeof declared);
  if (declared[0])
    fprintf(to, "    %-9s %s\n", "declared", declared);
  print_legalised(r, "    legalised ", "\n", to);
}

void pf_report_worst(const pf_result *r, FILE *to)
{
  const pf_measured *m = &r->worst;
  char where[128], allowed[320];
  print_engine(r, to);
  if (m->element < 0)
    return;
  pf_print_index(&r->problem->shape, m->element, where, sizeof where);
  pf_set_print(&m->allowed.set, allowed, sizeof allowed);
  fprintf(to, "    %-9s out%s%s%s%s\n", "worst", where,
          r->against ? ", result of " : "",
          r->against ? (r->other_side ? r->against : r->strategy) : "",
          r->other_side ? " against the other row" : "");
  print_number(to, "got", m->got);
  if (m->special)
    fprintf(to, "    %-9s by the rules of infinity and NaN\n", "exact");
  else
    print_number(to, "exact", m->exact);
  fprintf(to, "    %-9s %s\n", "allowed", allowed[0] ? allowed : "nothing");
  print_model(r, to);
  if (pf_rule_blind_spot(&r->rule))
    fprintf(to, "    %-9s %s\n", "rule", pf_rule_blind_spot(&r->rule));
  if (m->special || !isfinite(m->got))
    return;
  fprintf(to, "    %-9s ", "error");
  pf_report_error(r, to);
  fputc('\n', to);
  print_number(to, "S", m->magnitude);
}

void pf_report_rule(const pf_rule *r, FILE *to)
{
  char text[PF_RULE_TEXT];
  const char *blind = pf_rule_blind_spot(r);
  if (!blind)
    return;
  pf_rule_print(r, text, sizeof text);
  fprintf(to, "rule %s: %s\n", text, blind);
}
