/* What people write, on any bytes: a case on the first line and a row on those below it, a rule, a
   list of known findings.  An error with words and a place in the text, or what prints and parses
   again as the same; no crash. */
#include <stdlib.h>
#include <string.h>

#include "form_archive.h"
#include "form_text.h"
#include "reader_target.h"
#include "regression.h"
#include "row.h"
#include "rule.h"

/* The text form and the archive form of a case are the case. */
static void check_forms(const pf_case *c, pf_arena *a)
{
  pf_case again;
  pf_error e = {0};
  char *text = NULL;
  size_t size;
  uint8_t *bytes;
  FILE *to = open_memstream(&text, &size);
  if (to == NULL)
    return;
  pf_text_print(c, to);
  fclose(to);
  if (pf_text_parse(text, size, a, &again, &e) != PF_OK || !pf_case_equal(c, &again))
    __builtin_trap();
  free(text);
  if (pf_archive_encode(c, a, &bytes, &size, &e) != PF_OK ||
      pf_archive_decode(bytes, size, a, &again, &e) != PF_OK || !pf_case_equal(c, &again))
    __builtin_trap();
}

/* A format is what it prints as. */
static void check_format(const pf_format *f, const pf_case *c)
{
  char text[80], again[80];
  pf_format parsed;
  pf_error e = {0};
  pf_format_print(f, text, sizeof text);
  if (pf_format_parse(text, strlen(text), c, &parsed, &e) != PF_OK)
    __builtin_trap();
  pf_format_print(&parsed, again, sizeof again);
  if (strcmp(text, again) != 0)
    __builtin_trap();
}

static void examine_row(const char *text, size_t size, const pf_case *c)
{
  pf_plan plan;
  pf_error e = {0};
  if (pf_plan_parse("given", text, c, &plan, &e) != PF_OK) {
    refused(&e, size);
    return;
  }
  for (int i = 0; i < plan.count; i++) {
    char step[400];
    pf_step_print(&plan.step[i], &plan, step, sizeof step);
    check_format(&plan.step[i].out, c);
    if (plan.step[i].kind <= PF_MULSUM)
      check_format(&plan.step[i].acc.format, c);
  }
}

static void examine_rule(const char *text, size_t size)
{
  char printed[PF_RULE_TEXT], again[PF_RULE_TEXT];
  pf_rule rule;
  pf_error e = {0};
  if (pf_rule_parse(text, &rule, &e) != PF_OK) {
    refused(&e, size);
    return;
  }
  pf_rule_print(&rule, printed, sizeof printed);
  if (pf_rule_parse(printed, &rule, &e) != PF_OK)
    __builtin_trap();
  pf_rule_print(&rule, again, sizeof again);
  if (strcmp(printed, again) != 0)
    __builtin_trap();
}

static void examine_list(const char *text, size_t size)
{
  pf_regressions list = {0};
  pf_error e = {0};
  if (pf_regressions_parse("known.txt", text, size, &list, &e) != PF_OK) {
    refused(&e, size);
    return;
  }
  for (size_t i = 0; i < list.count; i++)
    if (pf_regressions_named(&list, list.entry[i].name) != &list.entry[i])
      __builtin_trap();
  pf_regressions_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pf_arena a = {0};
  pf_case c;
  pf_error e = {0};
  char *text = malloc(size + 1);
  if (text == NULL)
    return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  examine_list(text, size);
  const size_t line = strcspn(text, "\n");
  const bool more = text[line] == '\n';
  text[line] = '\0';
  examine_rule(text, line);
  if (pf_text_parse(text, line, &a, &c, &e) != PF_OK) {
    refused(&e, line);
  } else {
    check_forms(&c, &a);
    if (more)
      examine_row(text + line + 1, size - line - 1, &c);
  }
  pf_arena_free(&a);
  free(text);
  return 0;
}
