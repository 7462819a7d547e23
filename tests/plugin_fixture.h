/* One case on engines given by name: what came of it. */
#ifndef PF_TEST_PLUGIN_FIXTURE_H
#define PF_TEST_PLUGIN_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "form_text.h"
#include "mpfr_oracle.h"
#include "session.h"

#define PLUGIN(NAME) "./build/plugin/" NAME ".so"
#define MISBEHAVING(DEED) PLUGIN("misbehaving") ":" DEED

typedef struct seen {
  int results;
  int verdict[PF_VERDICT_COUNT];
  pf_status machinery;
  char why[200], said[200], kernel[96], legalised[96];
  bool as_matmul;
  pf_declared declared;
} seen;

static pf_session session;
static char notice[400];

static int open_session(void **state)
{
  (void)state;
  return pf_mpfr_oracle_new(&session.oracle);
}

static int close_session(void **state)
{
  (void)state;
  pf_session_free(&session);
  pf_mpfr_oracle_free(&session.oracle);
  return 0;
}

static void take_notice(const char *text)
{
  snprintf(notice, sizeof notice, "%s", text);
}

static void copy_text(char *to, size_t size, const char *from)
{
  snprintf(to, size, "%s", from ? from : "");
}

static void note(void *user, const pf_result *r)
{
  seen *s = user;
  s->results++;
  if (r->machinery)
    s->machinery = r->machinery;
  else
    s->verdict[r->verdict]++;
  if (r->why)
    copy_text(s->why, sizeof s->why, r->why);
  if (r->said)
    copy_text(s->said, sizeof s->said, r->said);
  if (!r->run)
    return;
  copy_text(s->kernel, sizeof s->kernel, r->run->kernel);
  copy_text(s->legalised, sizeof s->legalised, r->run->legalised);
  s->as_matmul = r->run->as_matmul;
  if (r->run->declared)
    s->declared = *r->run->declared;
}

/* On the engines that are selected. */
static inline seen examine_selected(const char *text, const char *strategies)
{
  pf_case c;
  pf_error e = {0};
  seen s = {0};
  session.options.strategy_count = 0;
  if (pf_options_strategies(&session.options, strategies, &e))
    fail_msg("%s", e.text);
  pf_arena_reset(&session.cases);
  if (pf_text_parse(text, strlen(text), &session.cases, &c, &e))
    fail_msg("%s: %s", text, e.text);
  assert_int_equal(pf_session_examine(&session, &c, note, &s), PF_OK);
  return s;
}

static inline void select_engines(const char *engines, const pf_plugin_options *opening)
{
  pf_error e = {0};
  pf_options_default(&session.options);
  session.options.opening = *opening;
  session.options.notice = take_notice;
  notice[0] = 0;
  if (pf_options_engines(&session.options, engines, &e))
    fail_msg("%s", e.text);
}

static inline seen examine_opened(const char *text, const char *engines, const char *strategies,
                           const pf_plugin_options *opening)
{
  select_engines(engines, opening);
  const seen s = examine_selected(text, strategies);
  pf_options_close(&session.options);
  return s;
}

static inline void check_refusal_opened(const char *spec, const char *text,
                                 const pf_plugin_options *opening)
{
  pf_options o;
  pf_error e = {0};
  pf_options_default(&o);
  o.opening = *opening;
  assert_int_equal(pf_options_engines(&o, spec, &e), PF_BAD_INPUT);
  if (!strstr(e.text, text))
    fail_msg("%s: '%s' does not say '%s'", spec, e.text, text);
  pf_options_close(&o);
}

#endif
