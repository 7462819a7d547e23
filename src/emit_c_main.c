/* What every program in C ends with: it sets what it needs of the environment, calls run(), and
   prints what came out. */
#include <string.h>

#include "emit_c.h"

static const char distance[] =
    "static double distance(double got, double v)\n{\n"
    "  return got == v || (got != got && v != v) ? 0 : got - v == got - v ? fabs(got - v) : "
    "INFINITY;\n}\n\n";

static bool sets_environment(const pf_emit_call *c)
{
  return c->m->environment && c->m->environment[0];
}

static void print_environment(const pf_emit_call *c)
{
  fputs("/* Libraries read it when they are loaded, which they are by now: so it starts again. */\n"
        "static void set_environment(char **argv)\n{\n"
        "  static const char *const variable[][2] = {", c->to);
  for (const char *const *v = c->m->environment; *v; v++) {
    const size_t name = strcspn(*v, "=");
    fputs(v == c->m->environment ? "{" : ", {", c->to);
    pf_emit_quoted(c->to, *v, name);
    fputs(", ", c->to);
    pf_emit_quoted(c->to, *v + name + 1, strlen(*v + name + 1));
    fputc('}', c->to);
  }
  fputs("};\n  int missing = 0;\n"
        "  for (size_t i = 0; i < sizeof variable / sizeof *variable; i++)\n"
        "    if (!getenv(variable[i][0]))\n"
        "      missing = !setenv(variable[i][0], variable[i][1], 0);\n"
        "  if (missing)\n    execv(\"/proc/self/exe\", argv);\n}\n\n", c->to);
}

/* The elements that are furthest off, and what was written between them. */
static void print_main(const pf_emit_call *c)
{
  const char *dtype = pf_dtype_of((pf_dtype)c->call->out->dtype)->name;
  const unsigned long long marker =
      pf_marker_bits((pf_dtype)c->call->out->dtype);
  fprintf(c->to,
          "int main(%s)\n{\n%s"
          "  setvbuf(stdout, NULL, _IOLBF, 0);  /* the library may die */\n"
          "  enum { STORED = sizeof out_storage / sizeof *out_storage, COUNT = BATCHES * M * N };\n"
          "  static char is_element[STORED], shown[COUNT + 1];\n"
          "  for (long i = 0; i < STORED; i++)\n    out_storage[i] = 0x%llx;\n"
          "  const int status = run();\n"
          "  if (status)\n    printf(\"refused: status %%d\\n\", status);\n"
          "  for (int line = 0; line < 8 && line < COUNT && !status; line++) {\n"
          "    double most = -1, got = 0, wanted = 0;\n    long worst = 0, i = 0;\n"
          "    for (long b = 0; b < BATCHES; b++)\n      for (long m = 0; m < M; m++)\n"
          "        for (long n = 0; n < N; n++, i++) {\n          const double g = %s(",
          sets_environment(c) ? "int argc, char **argv" : "void",
          sets_environment(c) ? "  (void)argc;\n  set_environment(argv);\n" : "", marker, dtype);
  pf_emit_index(c->to, "out", c->call->out, "m", "n");
  fputs("), v = exact(b, m, n);\n          is_element[&", c->to);
  pf_emit_index(c->to, "out", c->call->out, "m", "n");
  fprintf(c->to,
          " - out_storage] = 1;\n"
          "          if (!shown[i] && distance(g, v) > most)\n"
          "            most = distance(g, v), got = g, wanted = v, worst = i;\n        }\n"
          "    shown[worst] = 1;\n"
          "    printf(\"element %%ld: exact %%.9g (%%a)\\n  got %%.9g (%%a)\\n\", worst, wanted, "
          "wanted, got, got);\n  }\n"
          "  for (long i = 0; i < STORED && COUNT; i++)\n"
          "    if (!is_element[i] && out_storage[i] != 0x%llx)\n"
          "      printf(\"wrote outside its output: %%ld elements from the first\\n\", "
          "i - (long)(out - out_storage));\n"
          "  return status != 0;\n}\n", marker);
}

void pf_emit_main(const pf_emit_call *c)
{
  fputs(distance, c->to);
  if (sets_environment(c))
    print_environment(c);
  print_main(c);
}
