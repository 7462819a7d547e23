/* Where a finding was seen: versions, processor, threads, floating-point environment. */
#include "triage.h"

#include <ctype.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "control.h"

#if defined(__clang__)
static const char compiler[] = __VERSION__;
#else
static const char compiler[] = "GCC " __VERSION__;
#endif

typedef struct pf_machine {
  char precfuzz[160], system[200], cpu[128], features[400], isa[96], mxcsr[120];
} pf_machine;

/* The value of the first line of a file that begins with the key; "" where there is none. */
static void find_line(const char *path, const char *key, char *to, size_t size)
{
  FILE *from = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  to[0] = 0;
  while (from && !to[0] && getline(&line, &room, from) >= 0) {
    if (strncmp(line, key, strlen(key)))
      continue;
    char *value = line + strlen(key);
    value += strspn(value, " \t:=\"");
    value[strcspn(value, "\"\n")] = 0;
    snprintf(to, size, "%s", value);
  }
  free(line);
  if (from)
    fclose(from);
}

/* Of the processor's features those that decide which kernels a library takes. */
static void choose_features(char *flags, char *to, size_t size)
{
  static const char *const prefixes[] = {"sse4", "avx", "fma", "f16c", "amx", "sve", "asimd"};
  size_t used = 0;
  char *rest = flags, *word;
  to[0] = 0;
  while ((word = strsep(&rest, " ")) != NULL)
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
      if (!strncmp(word, prefixes[i], strlen(prefixes[i])) && used < size)
        used += (size_t)snprintf(to + used, size - used, "%s%s", used ? " " : "", word);
}

/* As calls of engines begin. */
static void describe_control(char *to, size_t size)
{
  static const char *const roundings[] = {"to nearest", "down", "up", "toward zero"};
  const unsigned control = pf_control_get() & 0xffff;
#if defined(__x86_64__)
  snprintf(to, size, "0x%04x: rounds %s, flush-to-zero %s, denormals-are-zero %s", control,
           roundings[control >> 13 & 3], control & 0x8000 ? "on" : "off",
           control & 0x40 ? "on" : "off");
#else
  (void)roundings;
  snprintf(to, size, "0x%x (of this processor's kind)", control);
#endif
}

static void look_at_machine(const pf_engine *e, pf_machine *out)
{
  char flags[8192], name[96];
  struct utsname u = {0};
  uname(&u);
  snprintf(out->precfuzz, sizeof out->precfuzz, PF_VERSION ", compiled by %s", compiler);
  find_line("/etc/os-release", "PRETTY_NAME=", name, sizeof name);
  snprintf(out->system, sizeof out->system, "%s, %.20s, glibc %s", name, u.machine,
           gnu_get_libc_version());
  find_line("/proc/cpuinfo", "model name", out->cpu, sizeof out->cpu);
  find_line("/proc/cpuinfo", "flags", flags, sizeof flags);
  choose_features(flags, out->features, sizeof out->features);
  pf_isa_of(e, out->isa, sizeof out->isa);
  describe_control(out->mxcsr, sizeof out->mxcsr);
}

static json_t *variables(const char *const *environment)
{
  pf_json_print p;
  if (!pf_json_print_start(&p))
    return NULL;
  pf_variables_print(environment, true, p.to);
  return pf_json_print_end(&p);
}

static void print_row(const char *label, const char *value, FILE *to)
{
  if (value && *value)
    fprintf(to, "| %s | %s |\n", label, value);
}

void pf_machine_report(const pf_bundle *b, FILE *to)
{
  pf_machine m;
  look_at_machine(b->result->engine, &m);
  fputs("| | |\n|---|---|\n", to);
  print_row("engine", b->result->engine->version, to);
  print_row("ISA it tells of", m.isa, to);
  print_row("CPU", m.cpu, to);
  print_row("CPU features", m.features, to);
  fprintf(to, "| threads | %d |\n", b->settings->session.options.opening.threads);
  if (*b->environment) {
    fputs("| environment | ", to);
    pf_variables_print(b->environment, true, to);
    fputs("|\n", to);
  }
  print_row("MXCSR", m.mxcsr, to);
  print_row("system", m.system, to);
  print_row("precfuzz", m.precfuzz, to);
}

json_t *pf_machine_facts(const pf_engine *e, int threads, const char *const *environment)
{
  pf_machine m;
  json_t *o = json_object();
  look_at_machine(e, &m);
  pf_json_set(&o, "precfuzz", pf_json_text(m.precfuzz));
  pf_json_set(&o, "system", pf_json_text(m.system));
  pf_json_set(&o, "cpu", pf_json_text(m.cpu));
  pf_json_set(&o, "features", pf_json_text(m.features));
  pf_json_set(&o, "isa", pf_json_text(m.isa));
  pf_json_set(&o, "threads", json_integer(threads));
  if (environment)
    pf_json_set(&o, "environment", variables(environment));
  pf_json_set(&o, "mxcsr", pf_json_text(m.mxcsr));
  return o;
}
