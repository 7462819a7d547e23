/* precfuzz random as JSON: a line for each finding as it comes, then one for the whole run. */
#include "json.h"

int pf_json_finding(const pf_settings *s, const pf_result *r, uint64_t index, const char *file)
{
  const pf_json_place where = {.file = file, .index = index};
  pf_json j;
  pf_json_start(&j, "random", true);
  pf_json_put(&j, "event", json_string("finding"));
  pf_json_put_case(&j, r->problem->what);
  pf_json_put(&j, "result", pf_json_result(s, r, &where, NULL));
  return pf_json_end(&j, PF_EXIT_CLEAN);
}

int pf_json_summary(const pf_json_run *run, int code)
{
  const pf_session *s = &run->settings->session;
  pf_json j;
  pf_json_start(&j, "random", true);
  pf_json_put(&j, "event", json_string("summary"));
  pf_json_put(&j, "seed", pf_json_whole(run->seed));
  pf_json_put(&j, "interrupted", json_boolean(run->interrupted));
  pf_json_put(&j, "counts", pf_json_counts(run->counts));
  pf_json_put(&j, "signatures", pf_json_whole(run->signatures));
  pf_json_put(&j, "elements", pf_json_whole(s->elements));
  pf_json_put(&j, "products", pf_json_whole(s->products));
  pf_json_put(&j, "rule", pf_json_rule(&s->options.rule));
  pf_json_put(&j, "exit_status", json_integer(code));
  return pf_json_end(&j, code);
}
