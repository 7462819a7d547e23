/* precfuzz seed: cases from the weights of models. */
#include "manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "form_archive.h"
#include "mpfr_oracle.h"
#include "seed_keep.h"

enum {
  MOST_SEEDS = 100000,
  MEGABYTE = 1 << 20,
  TRIES = 64,              /* cases made from each layer */
  LEAST_OF_LAYER = 4       /* seeds of a layer that no quota takes away */
};

typedef struct pf_seed_command {
  pf_paths sources;
  const char *folder, *activations;
  uint64_t count, bytes, seed, max_k;  /* count, bytes: the most */
  bool list;
  int code;
  pf_keeper keeper;
  pf_manifest manifest;
  pf_progress progress;
  pf_arena arena;          /* of the seed in hand */
  uint64_t tried, written, written_bytes;
  /* of the model in hand */
  pf_manifest_model model;
  uint64_t share;          /* seeds that may be there when it is done */
  uint64_t layer_share;    /* of one layer */
  const pf_layer *layer;
  uint64_t of_layer;
} pf_seed_command;

/* --- options ------------------------------------------------------------------------------- */

enum { KEY_ACTIVATIONS = 256, KEY_BYTES, KEY_MAX_K, KEY_SEED, KEY_LIST };

static const struct argp_option options[] = {
  {.name = "output", .key = 'o', .arg = "DIR",
   .doc = "Where to: DIR/cases/ and DIR/manifest.json; made, or empty"},
  {.name = "activations", .key = KEY_ACTIVATIONS, .arg = "FILE",
   .doc = "Inputs of layers that were recorded: tensors whose last dimension is a layer's K"},
  {.name = "count", .key = 'n', .arg = "N", .doc = "At most N seeds; default 512"},
  {.name = "max-bytes", .key = KEY_BYTES, .arg = "N",
   .doc = "At most N bytes of them; default 8 MiB"},
  {.name = "max-k", .key = KEY_MAX_K, .arg = "N",
   .doc = "The most elements of a sum, up to 16384; default 4096.  Longer ones are cut into tiles"},
  {.name = "seed", .key = KEY_SEED, .arg = "N",
   .doc = "What is chosen at random follows from it; default 1"},
  {.name = "list", .key = KEY_LIST,
   .doc = "Make nothing, list the tensors instead: dtype, shape, and the SHA-256 of the elements, "
          "little endian in C order (of Q8_0 as f32)"},
  {0}
};

static const char doc[] =
    "Makes seeds for fuzzing from the weights of models.\v"
    "SOURCE is a safetensors file, or the index of several (model.safetensors.index.json), .npy, "
    ".npz, an ONNX model, or GGUF (F32, F16, BF16, Q8_0).  From each matrix come slices: rows that "
    "are hard (largest norm, widest spread of exponents, most cancelling, most subnormals) and "
    "others at random; beside them activations, rows of the embeddings or of the next layer, or "
    "normal values; in the dtype of the model and in narrower ones.  A case stays if it exercises "
    "what none before it did: a share of the allowed error, dtypes, a layout, a shape.\n\n"
    "manifest.json says of each which model (by hash), tensor and slice it is, and which tensors "
    "were skipped and why.  A case's own file says it too, as its origin, also after a fuzzer "
    "changed it: precfuzz check and show print it.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_seed_command *c = state->input;
  switch (key) {
  case 'o': c->folder = arg; return 0;
  case 'n': c->count = pf_cli_number(state, "count", arg, 1, MOST_SEEDS); return 0;
  case KEY_ACTIVATIONS: c->activations = arg; return 0;
  case KEY_BYTES: c->bytes = pf_cli_number(state, "max-bytes", arg, 1, UINT64_MAX); return 0;
  case KEY_MAX_K: c->max_k = pf_cli_number(state, "max-k", arg, 1, PF_FUZZ_WORK); return 0;
  case KEY_SEED: c->seed = pf_cli_number(state, "seed", arg, 0, UINT64_MAX); return 0;
  case KEY_LIST: c->list = true; return 0;
  case ARGP_KEY_ARG: c->code = pf_cli_worse(c->code, pf_paths_add(&c->sources, arg)); return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "SOURCE is missing"); return 0;
  case ARGP_KEY_SUCCESS:
    if (!c->folder && !c->list)
      argp_error(state, "--output DIR is missing");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static int no_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

/* --- progress ------------------------------------------------------------------------------ */

static bool go_on(void *user, const char *doing, uint64_t done, uint64_t all)
{
  pf_seed_command *c = user;
  if (pf_progress_due(&c->progress))
    fprintf(stderr, "%.30s: %.48s %.0f %%; %" PRIu64 " cases tried, %" PRIu64 " kept",
            c->model.path, doing, all ? 100 * (double)done / (double)all : 100, c->tried,
            c->written);
  return !pf_interrupted();
}

static pf_watch watch_of(pf_seed_command *c)
{
  return (pf_watch){go_on, c};
}

/* --- one seed ------------------------------------------------------------------------------ */

/* The fuzz form, which fuzzers can change; the archive form where that has no room. */
static pf_status encode(pf_seed_command *c, const pf_case *what, uint8_t **data, size_t *size,
                        pf_form *form)
{
  pf_status status = pf_fuzz_encode(what, &c->arena, data, size, NULL);
  *form = status == PF_UNSUPPORTED ? PF_FORM_ARCHIVE : PF_FORM_FUZZ;
  return status == PF_UNSUPPORTED ? pf_archive_encode(what, &c->arena, data, size, NULL) : status;
}

static int write_seed(pf_seed_command *c, const pf_seed *s, const pf_case *what,
                      const uint8_t *data, size_t size, pf_form form)
{
  char *path = NULL, name[96];
  snprintf(name, sizeof name, "cases/%05" PRIu64 "-%s-%s", c->written,
           pf_graph_of(what->graph)->name, pf_dtype_of(s->form.dtype)->name);
  if (asprintf(&path, "%s/%s", c->folder, name) < 0)
    return no_memory();
  const int code = pf_cli_write(path, data, size);
  free(path);
  if (!code)
    pf_manifest_seed(&c->manifest, &c->model, s, what, name, form, size);
  c->written++;
  c->written_bytes += size;
  return code;
}

static pf_status keep(pf_seed_command *c, const pf_seed *s)
{
  char origin[PF_ORIGIN_TEXT];
  pf_case what = s->what;
  uint8_t *data;
  size_t size;
  pf_form form;
  pf_seed_print(s, c->model.weights, c->model.hash[0], origin, sizeof origin);
  what.origin = origin;
  PF_TRY(encode(c, &what, &data, &size, &form));
  if (c->written_bytes + size > c->bytes)
    return PF_OK;
  PF_TRY(pf_keeper_take(&c->keeper));
  c->of_layer++;
  const int code = write_seed(c, s, &what, data, size, form);
  c->code = pf_cli_worse(c->code, code);
  return code ? PF_IO_ERROR : PF_OK;
}

static pf_status take(void *user, const pf_seed *s)
{
  pf_seed_command *c = user;
  bool fresh;
  pf_arena_reset(&c->arena);
  if (s->layer != c->layer)
    c->of_layer = 0;
  c->layer = s->layer;
  if (c->written >= c->share || (s->layer && c->of_layer >= c->layer_share))
    return PF_OK;
  c->tried++;
  PF_TRY(pf_keeper_look(&c->keeper, &s->what, &fresh));
  return fresh || !s->layer ? keep(c, s) : PF_OK;
}

static void skip(void *user, size_t weight, const char *why)
{
  pf_seed_command *c = user;
  pf_manifest_skip(&c->manifest, &c->model, weight, why);
}

/* --- one model ----------------------------------------------------------------------------- */

static int list_tensors(pf_seed_command *c, pf_weights *w)
{
  const pf_watch watch = watch_of(c);
  char hash[PF_HASH_TEXT];
  for (size_t i = 0; i < w->count && !pf_interrupted() && pf_cli_output_ok(); i++) {
    const pf_tensor_entry *t = &w->weight[i].entry;
    pf_error e = {0};
    pf_dtype dtype;
    const bool read = pf_weight_dtype(t, &dtype);
    const pf_status status = read ? pf_weights_load(w, i, &e) : PF_OK;
    if (status)
      return pf_cli_report(status, &e, true, w->weight[i].path);
    if (read && !pf_weight_hash(w, i, &watch, hash))
      break;
    pf_progress_clear(&c->progress);
    printf("%s %s", t->name, t->dtype_name);
    pf_cli_print_dims('[', t->rank, t->dim, ']', stdout);
    printf(" %s\n", read ? hash : "-");
  }
  return PF_EXIT_CLEAN;
}

/* Hashes come first: that of the model is part of each seed. */
static int hash_files(pf_seed_command *c, const pf_weights *w)
{
  const pf_watch watch = watch_of(c);
  c->model.hash = calloc(w->file_count, sizeof *c->model.hash);
  if (!c->model.hash)
    return no_memory();
  for (size_t i = 0; i < w->file_count; i++)
    if (!pf_weights_hash(&w->file[i], &watch, c->model.hash[i]))
      break;
  return PF_EXIT_CLEAN;
}

static pf_status seed_layers(pf_seed_command *c, pf_weights *w, pf_weights *activations,
                             pf_layers *l)
{
  const pf_seed_options o = {.seed = c->seed, .max_k = (int64_t)c->max_k, .tries = TRIES,
                             .activations = activations, .watch = watch_of(c), .take = take,
                             .skip = skip, .user = c};
  const uint64_t left = c->share > c->written ? c->share - c->written : 0;
  for (size_t i = 0; i < l->skipped_count; i++)
    skip(c, l->skipped[i].weight, l->skipped[i].why);
  c->layer_share = l->count ? 4 * left / l->count : 0;
  if (c->layer_share < LEAST_OF_LAYER)
    c->layer_share = LEAST_OF_LAYER;
  PF_TRY(pf_seed_shapes(l, &o));
  return pf_seed_layers(w, l, &o);
}

static int seed_model(pf_seed_command *c, pf_weights *w, pf_weights *activations)
{
  pf_layers l;
  const uint64_t before = c->written;
  int code = hash_files(c, w);
  if (code || pf_interrupted())
    return code;
  pf_manifest_model_add(&c->manifest, &c->model);
  if (pf_layers_find(w, &l))
    return no_memory();
  const pf_status status = seed_layers(c, w, activations, &l);
  if (status && status != PF_IO_ERROR) /* that one is told */
    code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: %s", c->model.path, pf_status_name(status));
  pf_progress_clear(&c->progress);
  printf("%s: %s, %zu tensors, %zu layers: %" PRIu64 " seeds\n", c->model.path, w->format, w->count,
         l.count, c->written - before);
  if (w->skipped)
    printf("skipped %zu: members that are no arrays of numbers\n", w->skipped);
  pf_layers_close(&l);
  return code;
}

static int open_weights(const char *path, pf_weights *w)
{
  pf_error e = {0};
  const pf_status status = pf_weights_open(path, w, &e);
  if (status == PF_IO_ERROR)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s", e.text);
  return status ? pf_cli_report(status, &e, true, path) : PF_EXIT_CLEAN;
}

static int run_model(pf_seed_command *c, size_t number, pf_weights *activations)
{
  pf_weights w;
  c->model = (pf_manifest_model){.path = c->sources.path[number], .weights = &w,
                                 .number = (json_int_t)json_array_size(c->manifest.models)};
  c->share = c->count * (number + 1) / c->sources.count;
  c->layer = NULL;
  int code = open_weights(c->model.path, &w);
  if (code)
    return code;
  code = c->list ? list_tensors(c, &w) : seed_model(c, &w, activations);
  free(c->model.hash);
  c->model.hash = NULL;
  pf_weights_close(&w);
  return code;
}

/* --- all of them --------------------------------------------------------------------------- */

static int make_folders(const pf_seed_command *c)
{
  char *cases = NULL;
  int code = pf_cli_make_folder(c->folder);
  if (code)
    return code;
  if (asprintf(&cases, "%s/cases", c->folder) < 0)
    return no_memory();
  if (mkdir(cases, 0777))
    code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: cannot be made: %s", cases, strerror(errno));
  free(cases);
  return code;
}

static int finish(pf_seed_command *c)
{
  pf_progress_clear(&c->progress);
  if (c->list)
    return PF_EXIT_CLEAN;
  pf_manifest_print_skipped(&c->manifest, stdout);
  if (pf_interrupted())
    puts("interrupted");
  printf("%" PRIu64 " seeds, %" PRIu64 " bytes, of %" PRIu64 " cases tried, in %s\n", c->written,
         c->written_bytes, c->tried, c->folder);
  return pf_manifest_write(&c->manifest, c->folder, pf_interrupted());
}

static int run_models(pf_seed_command *c)
{
  pf_weights activations = {0};
  int code = c->activations ? open_weights(c->activations, &activations) : PF_EXIT_CLEAN;
  if (!code && !c->list)
    code = make_folders(c);
  if (!code) {
    pf_progress_start(&c->progress);
    for (size_t i = 0; i < c->sources.count && !pf_interrupted(); i++) {
      const int failed = run_model(c, i, c->activations ? &activations : NULL);
      code = pf_cli_worse(code, failed);
    }
    const int finished = finish(c);
    code = pf_cli_worse(code, finished);
  }
  pf_weights_close(&activations);
  return code;
}

int pf_cmd_seed(int argc, char **argv)
{
  static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "SOURCE...", .doc = doc};
  pf_seed_command c = {.count = 512, .bytes = 8 * MEGABYTE, .seed = 1, .max_k = 4096};
  pf_oracle oracle;
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  if (pf_mpfr_oracle_new(&oracle))
    return no_memory();
  pf_keeper_open(&c.keeper, &oracle);
  pf_manifest_open(&c.manifest);
  const int ran = c.code ? PF_EXIT_CLEAN : run_models(&c), code = pf_cli_worse(c.code, ran);
  pf_manifest_close(&c.manifest);
  pf_keeper_close(&c.keeper);
  pf_mpfr_oracle_free(&oracle);
  pf_arena_free(&c.arena);
  pf_paths_free(&c.sources);
  return code;
}
