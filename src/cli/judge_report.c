/* What came of a judgement, as text. */
#include "judge.h"

#include <math.h>
#include <string.h>

bool pf_judge_fits(const pf_result *r)
{
  return r->verdict != PF_VERDICT_UNSUPPORTED && !pf_verdict_is_finding(r->verdict);
}

/* How a row that was tried suits the result. */
static void print_row(const pf_result *r, FILE *to)
{
  char where[128] = "";
  fprintf(to, "    %-18s ", r->strategy);
  if (r->verdict == PF_VERDICT_UNSUPPORTED) {
    fprintf(to, "cannot: %s\n", r->why ? r->why : "");
    return;
  }
  if (r->worst.element >= 0)
    pf_print_index(&r->problem->shape, r->worst.element, where, sizeof where);
  if (pf_judge_fits(r))
    fputs("fits", to);
  else
    fprintf(to, "does not: %lld of %lld elements", (long long)r->tally.wrong,
            (long long)r->tally.judged);
  if (r->worst.element >= 0 && !r->worst.special) {
    fprintf(to, ", worst out%s: ", where);
    pf_report_error(r, to);
  }
  fputc('\n', to);
}

static void print_several(const pf_judgement *j, FILE *to)
{
  const pf_result *r = &j->result;
  const char *before = "";
  fprintf(to, "%-11s %-22s ", pf_verdict_name(r->verdict), r->engine->name);
  if (r->verdict == PF_VERDICT_UNSUPPORTED)
    fputs("no row of this dtype", to);
  else if (!pf_judge_fits(r))
    fputs("fits no row", to);
  else
    fputs("fits ", to);
  for (int i = 0; i < j->rows && pf_judge_fits(r); i++)
    if (pf_judge_fits(&j->row[i])) {
      fprintf(to, "%s%s", before, j->row[i].strategy);
      before = ", ";
    }
  fputc('\n', to);
  for (int i = 0; i < j->rows; i++)
    print_row(&j->row[i], to);
}

void pf_judgement_command(const pf_judgement *j, const pf_settings *s, pf_form form, FILE *to)
{
  const pf_judge_item *item = j->in->item;
  char rule[PF_RULE_TEXT];
  pf_rule_print(&s->session.options.rule, rule, sizeof rule);
  fprintf(to, "precfuzz judge --rule %s", rule);
  if (!j->several)
    pf_settings_print_strategy(s, j->best->strategy, to);
  for (int i = 0; j->several && i < j->rows && s->strategies; i++)
    pf_settings_print_strategy(s, j->row[i].strategy, to);
  if (form)
    fprintf(to, " --form %s", pf_form_name(form));
  if (*j->output->tensor->name) {
    fputs(" --tensor ", to);
    pf_cli_quote(j->output->tensor->name, to);
  }
  if (item->got) {
    fputs(" --got ", to);
    pf_cli_quote(item->got, to);
  }
  fputc(' ', to);
  pf_cli_quote(item->path, to);
}

static void print_others(const pf_judgement *j, FILE *to)
{
  for (int i = 0; i < j->others; i++)
    fprintf(to, "%s%s", i ? ", " : "    fits      ", j->other[i]);
  if (j->others)
    fputc('\n', to);
}

void pf_judgement_print(const pf_judgement *j, const pf_settings *s, pf_form form,
                        const pf_regression *known, FILE *to)
{
  char signature[PF_SIGNATURE_TEXT];
  const pf_result *r = &j->result;
  if (j->several)
    print_several(j, to);
  else
    pf_report_line(r, to);
  if (r->machinery || !pf_verdict_is_finding(r->verdict))
    return;
  if (known) {
    pf_cli_print_known(known, to);
    return;
  }
  pf_signature(r, signature, sizeof signature);
  if (j->several)
    fprintf(to, "    closest   %s\n", j->best->strategy);
  pf_report_worst(r, to);
  print_others(j, to);
  fprintf(to, "    signature %s\n    reproduce ", signature);
  pf_judgement_command(j, s, form, to);
  fputc('\n', to);
}
