/* Writes cases as tensors, so that other tools can be given the same.

     bench_cases varying|one_shape COUNT SEED FILE

   FILE is in the safetensors format; case 7 is 00007.x, .y and .bias, and two results of the
   graph to judge: .right, which the reference engine gave in some order, and .wrong, which a
   planted fault gave and which differs from the sound kernel's (where a fault applies to the
   case). */
#include <string.h>

#include "draw.h"
#include "safetensors.h"

enum { A_CASE = 5, NAME = 24 };

typedef struct output {
  pf_arena *arena;
  pf_tensor_entry *entry;
  size_t count;
} output;

static void add(output *o, int64_t index, const char *name, const pf_operand *shape,
                const void *data)
{
  char *full = pf_alloc(o->arena, NAME);
  if (!full)
    bench_die("out of memory");
  snprintf(full, NAME, "%05lld.%s", (long long)index, name);
  if (!pf_tensor_describe(full, shape->dtype, shape->rank, shape->dim, data,
                          &o->entry[o->count++]))
    bench_die("%s is too large", full);
}

static const double *run(const pf_problem *p, const pf_plan *plan, const pf_engine *e, pf_arena *a)
{
  pf_run r;
  return pf_interpret(p, plan, e, a, &r) || r.misdeed ? NULL : r.got;
}

/* The results of the first fault, from the one named by the index on, that shows on this case. */
static const double *run_fault(const pf_problem *p, const pf_plan *plan, int64_t index, pf_arena *a)
{
  const pf_engine *fault[PF_MAX_ENGINES];
  int faults = 0;
  const double *sound = run(p, plan, pf_engine_find("fault:none", 10), a);
  for (const pf_engine *const *e = pf_engines; *e; e++)
    if (!strncmp((*e)->name, "fault:M", 7) && faults < PF_MAX_ENGINES)
      fault[faults++] = *e;
  for (int i = 0; i < faults; i++) {
    const double *got = run(p, plan, fault[(index + i) % faults], a);
    if (sound && got && memcmp(got, sound, (size_t)p->shape.outputs * sizeof *got))
      return got;
  }
  return NULL;
}

static const void *store(const pf_operand *o, const double *got, pf_arena *a)
{
  const int64_t count = pf_operand_count(o);
  const int bytes = pf_dtype_of(o->dtype)->bytes;
  uint8_t *to = pf_alloc_array(a, (size_t)count, (size_t)bytes);
  for (int64_t i = 0; to && i < count; i++)
    pf_store(o->dtype, to + i * bytes, got[i]);
  if (!to)
    bench_die("out of memory");
  return to;
}

static void add_results(output *o, const pf_problem *p, int64_t index)
{
  pf_plan plan;
  pf_options options;
  pf_error e = {0};
  pf_operand out = p->what->operand[PF_OUT];
  out.dtype = pf_case_result(p->what);
  pf_options_default(&options);
  if (pf_plan_parse("eager", pf_row_find(p->what->graph, "eager")->text, p->what, &plan, &e))
    bench_die("%s", e.text);
  const double *right =
      run(p, &plan, options.engine[index % options.engine_count], o->arena);
  const double *wrong = run_fault(p, &plan, index, o->arena);
  if (!right)
    bench_die("case %lld does not run", (long long)index);
  add(o, index, "right", &out, store(&out, right, o->arena));
  if (wrong)
    add(o, index, "wrong", &out, store(&out, wrong, o->arena));
}

int main(int argc, char **argv)
{
  pf_arena arena = {0};
  pf_error e = {0};
  if (argc != 5)
    bench_die("usage: %s varying|one_shape COUNT SEED FILE", argv[0]);
  const bench_draw_kind kind = bench_draw_kind_of(argv[1]);
  const int64_t count = bench_number("COUNT", argv[2], 1, 99999);
  const uint64_t seed = (uint64_t)bench_number("SEED", argv[3], 0, INT64_MAX);
  output o = {.arena = &arena};
  o.entry = pf_alloc_array(&arena, (size_t)count * A_CASE, sizeof *o.entry);
  if (!o.entry)
    bench_die("out of memory");
  for (int64_t i = 0; i < count; i++) {
    pf_case *what = pf_alloc(&arena, sizeof *what);
    pf_problem *p = pf_alloc(&arena, sizeof *p);
    if (!what || !p)
      bench_die("out of memory");
    bench_draw(kind, seed, i, &arena, what, p);
    add(&o, i, "x", &what->operand[PF_X], p->storage[PF_X]);
    add(&o, i, "y", &what->operand[PF_Y], p->storage[PF_Y]);
    add(&o, i, "bias", &what->operand[PF_BIAS], p->storage[PF_BIAS]);
    add_results(&o, p, i);
  }
  if (pf_safetensors_write(argv[4], o.entry, o.count, NULL, 0, &e))
    bench_die("%s: %s", argv[4], e.text);
  pf_arena_free(&arena);
  return 0;
}
