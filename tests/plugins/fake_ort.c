/* ONNX Runtime's C interface as far as the adapter uses it, for f32, counting sessions.  It is as
   noisy when it starts, and as strict on the shape of the output, as the real one, and takes an
   output that is an input, too, for a mistake. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/engines/ort_abi.h"

#define PUBLIC __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { RANK = 6 };

typedef struct fake_value {
  float *data;
  int64_t dims[RANK];
  int rank;
} fake_value;

typedef struct fake_session {
  int gemm;
  float alpha, beta;
} fake_session;

static int sessions;

/* Sessions since the last question. */
PUBLIC int fake_ort_sessions(void)
{
  const int n = sessions;
  sessions = 0;
  return n;
}

/* A status is its text. */
static void *complain(const char *text) { return strdup(text); }
static const char *message_of(const void *status) { return status; }
static void release(void *it) { free(it); }

static void *make(void **to, size_t size)
{
  *to = calloc(1, size);
  return *to ? NULL : complain("out of memory");
}

static void *create_env(int severity, const char *name, void **env)
{
  for (int i = 0; i < 3; i++)
    fprintf(stderr, "Schema error: %s %d\n", name, i);
  return severity == PF_ORT_LOGGING_FATAL ? make(env, 1) : complain("too talkative");
}

static void *create_options(void **options) { return make(options, 1); }
static void *no_option(void *options) { return options ? NULL : complain("no options"); }

static void *set_threads(void *options, int threads)
{
  return options && threads >= 1 ? NULL : complain("no threads");
}

static void *create_memory_info(int allocator, int memory, void **info)
{
  return allocator || memory ? complain("not the processor's memory") : make(info, 1);
}

/* Of an attribute: what follows its name is the tag of a float, then the float. */
static float number_of(const void *model, size_t size, const char *name)
{
  const unsigned char *at = memmem(model, size, name, strlen(name));
  float value = 1;
  if (at && at[strlen(name)] == 0x15)
    memcpy(&value, at + strlen(name) + 1, sizeof value);
  return value;
}

/* The elements' dtype follows what an input's name is followed by. */
static int is_of_floats(const void *model, size_t size)
{
  static const char x[] = {'\n', 1, 'x', 0x12, 4, '\n', 2, 8, PF_ORT_FLOAT};
  return memmem(model, size, x, sizeof x) && !memmem(model, size, "Cast", 4);
}

static void *create_session(const void *env, const void *model, size_t size, const void *options,
                            void **session)
{
  if (!env || !options || !is_of_floats(model, size))
    return complain("Could not find an implementation for MatMul(13) node with name ''");
  void *status = make(session, sizeof(fake_session));
  if (status)
    return status;
  sessions++;
  *(fake_session *)*session = (fake_session){memmem(model, size, "Gemm", 4) != NULL,
                                             number_of(model, size, "alpha"),
                                             number_of(model, size, "beta")};
  return NULL;
}

static void *create_tensor(const void *info, void *data, size_t bytes, const int64_t *shape,
                           size_t rank, int type, void **value)
{
  size_t needed = sizeof(float);
  for (size_t i = 0; i < rank; i++)
    needed *= (size_t)shape[i];
  if (!info || !data || type != PF_ORT_FLOAT || bytes != needed || rank > RANK)
    return complain("a tensor's bytes are not what its shape says");
  void *status = make(value, sizeof(fake_value));
  if (status)
    return status;
  fake_value *v = *value;
  v->data = data;
  v->rank = (int)rank;
  memcpy(v->dims, shape, rank * sizeof *shape);
  return NULL;
}

/* Where the matrix, or for c the element, of an index of the output begins. */
static int64_t start_of(const fake_value *v, const int64_t *index, int kept)
{
  int64_t offset = 0;
  for (int i = 0; i < v->rank; i++)
    offset = offset * v->dims[i] + (i >= v->rank - kept || v->dims[i] == 1 ? 0 : index[i]);
  return offset;
}

static int shapes_fit(const fake_value *a, const fake_value *b, const fake_value *out)
{
  const int r = out->rank;
  if (a->rank != r || b->rank != r || a->dims[r - 1] != b->dims[r - 2] ||
      a->dims[r - 2] != out->dims[r - 2] || b->dims[r - 1] != out->dims[r - 1])
    return 0;
  for (int i = 0; i < r - 2; i++)
    if (out->dims[i] != (a->dims[i] == 1 ? b->dims[i] : a->dims[i]))
      return 0;
  return 1;
}

static void multiply(const fake_session *s, fake_value *const *in, int count, fake_value *out)
{
  const int r = out->rank;
  const int64_t k = in[0]->dims[r - 1], n = out->dims[r - 1];
  int64_t all = 1, index[RANK];
  for (int i = 0; i < r; i++)
    all *= out->dims[i];
  for (int64_t e = 0; e < all; e++) {
    int64_t rest = e;
    for (int i = r; i-- > 0; rest /= out->dims[i])
      index[i] = rest % out->dims[i];
    const float *a = in[0]->data + start_of(in[0], index, 2) + index[r - 2] * k;
    const float *b = in[1]->data + start_of(in[1], index, 2) + index[r - 1];
    float sum = 0;
    for (int64_t l = 0; l < k; l++)
      sum += a[l] * b[l * n];
    out->data[e] = s->gemm ? s->alpha * sum : sum;
    if (count > 2)
      out->data[e] += s->beta * in[2]->data[start_of(in[2], index, 0)];
  }
}

static void *run(const fake_session *session, const void *options, const char *const *input_names,
                 fake_value *const *inputs, size_t count, const char *const *output_names,
                 size_t outputs, fake_value **out)
{
  static const char *const names[] = {"x", "y", "c"};
  for (size_t i = 0; i < count; i++)
    if (strcmp(input_names[i], names[i]) || inputs[i]->data == out[0]->data)
      return complain("an input has another name, or is the output");
  if (options || count < 2 || count > 3 || outputs != 1 || strcmp(output_names[0], "out") ||
      (session->gemm && out[0]->rank != 2))
    return complain("no such call");
  if (!shapes_fit(inputs[0], inputs[1], out[0]))
    return complain("from a long way down in the library, file by file and function by function, "
                    "a very long story at whose end stands: OrtValue shape verification failed");
  multiply(session, inputs, (int)count, out[0]);
  return NULL;
}

typedef void function(void);

#define PLACE(AT, FUNCTION) [AT] = (function *)FUNCTION

static function *const table[] = {
  PLACE(PF_ORT_GET_ERROR_MESSAGE, message_of), PLACE(PF_ORT_CREATE_ENV, create_env),
  PLACE(PF_ORT_CREATE_SESSION_FROM_ARRAY, create_session), PLACE(PF_ORT_RUN, run),
  PLACE(PF_ORT_CREATE_SESSION_OPTIONS, create_options),
  PLACE(PF_ORT_DISABLE_MEM_PATTERN, no_option), PLACE(PF_ORT_DISABLE_CPU_MEM_ARENA, no_option),
  PLACE(PF_ORT_SET_INTRA_OP_NUM_THREADS, set_threads),
  PLACE(PF_ORT_SET_INTER_OP_NUM_THREADS, set_threads),
  PLACE(PF_ORT_CREATE_TENSOR_WITH_DATA, create_tensor),
  PLACE(PF_ORT_CREATE_CPU_MEMORY_INFO, create_memory_info), PLACE(PF_ORT_RELEASE_ENV, release),
  PLACE(PF_ORT_RELEASE_STATUS, release), PLACE(PF_ORT_RELEASE_MEMORY_INFO, release),
  PLACE(PF_ORT_RELEASE_SESSION, release), PLACE(PF_ORT_RELEASE_VALUE, release),
  PLACE(PF_ORT_RELEASE_SESSION_OPTIONS, release)};

static void *const *api(uint32_t version)
{
  return version == PF_ORT_API_VERSION ? (void *const *)table : NULL;
}

static const char *version_of(void) { return "0.99.1"; }

PUBLIC const pf_ort_base *OrtGetApiBase(void)
{
  static const pf_ort_base base = {api, version_of};
  return &base;
}
