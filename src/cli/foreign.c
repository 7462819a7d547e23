/* Foreign engines, for precfuzz engines: version, what they declare, table of dtypes. */
#include "cli.h"

#include <string.h>

#include "engines/engines.h"

static const char *dtype_word(int dtype)
{
  return dtype == PFE_NONE ? "-" : pf_dtype_of((pf_dtype)dtype)->name;
}

static void print_types(const pfe_types *types, int count)
{
  printf("      %-12s %-12s %-6s %-12s %-12s %s\n", "x", "y", "sums", "result", "c", "bias");
  for (int i = 0; i < count; i++)
    printf("      %-12s %-12s %-6s %-12s %-12s %s\n", dtype_word(types[i].x),
           dtype_word(types[i].y), dtype_word(types[i].acc), dtype_word(types[i].out),
           dtype_word(types[i].c), dtype_word(types[i].bias));
}

static void print_opened(const pf_plugin *p)
{
  const pf_engine *e = pf_plugin_engine(p);
  char declared[200];
  int count;
  const pfe_types *types = pf_plugin_types(p, &count);
  pf_declared_print(pf_plugin_declared(p), declared, sizeof declared);
  printf("  %-24s %s%s%s\n", e->name, e->version, declared[0] ? "; " : "", declared);
  if (e->whole_graph)
    puts("      takes whole cases");
  else if (types)
    print_types(types, count);
}

int pf_cli_print_foreign(const char *spec)
{
  const pf_plugin_options options = {.isolate = true};
  pf_plugin *p;
  pf_error e = {0};
  const pf_status status = pf_plugin_open(spec, &options, &p, &e);
  if (status == PF_UNSUPPORTED) {
    /* the text begins with the name, in the column of names */
    const size_t name = strlen(spec);
    const bool named = !strncmp(e.text, spec, name) && e.text[name] == ':';
    printf("  %-24s %s\n", spec, named ? e.text + name + 2 : e.text);
    return PF_EXIT_CLEAN;
  }
  if (status)
    return pf_cli_report(status, &e, false, NULL);
  print_opened(p);
  pf_plugin_close(p);
  return PF_EXIT_CLEAN;
}

int pf_cli_print_adapters(void)
{
  int code = PF_EXIT_CLEAN;
  if (*pf_adapters)
    puts("\nlibraries, taken by name; 'installed' takes all that are there:");
  for (const pfe_engine *const *a = pf_adapters; *a; a++) {
    const int one = pf_cli_print_foreign((*a)->name);
    code = pf_cli_worse(code, one);
  }
  return code;
}
