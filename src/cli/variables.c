/* Variables of the environment that decide which kernels libraries take. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* The first says how many threads. */
static const char *const names[] = {"OMP_NUM_THREADS", "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA",
                                    "OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE"};
enum { NAMES = sizeof names / sizeof *names };

static const char *join(const char *name, const char *value, pf_arena *a)
{
  const size_t size = strlen(name) + strlen(value) + 2;
  char *text = pf_alloc_raw(a, size);
  if (text)
    snprintf(text, size, "%s=%s", name, value);
  return text;
}

const char *const *pf_variables_list(bool threads, pf_arena *a)
{
  const char **list = pf_alloc_array(a, NAMES + 1, sizeof *list);
  size_t count = 0;
  for (size_t i = threads ? 0 : 1; i < NAMES && list; i++) {
    const char *value = getenv(names[i]);
    const bool set = value && *value;
    if (!set && i)
      continue;
    list[count] = join(names[i], set ? value : "1", a);
    if (!list[count++])
      return NULL;
  }
  return list;
}

void pf_variables_print(const char *const *list, bool threads, FILE *to)
{
  for (; *list; list++) {
    const char *value = strchr(*list, '=') + 1;
    if (!threads && !strncmp(*list, names[0], strlen(names[0])))
      continue;
    fprintf(to, "%.*s", (int)(value - *list), *list);
    pf_cli_quote(value, to);
    fputc(' ', to);
  }
}
