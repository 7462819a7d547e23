/* What is used of ONNX Runtime's C interface, written down by hand, so that building needs no
   headers of it; tests/test_ort.c holds the numbers against the headers where there are some.
   Functions stand in a table that only ever grows at its end. */
#ifndef PF_ORT_ABI_H
#define PF_ORT_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct pf_ort_base {
  void *const *(*api)(uint32_t version);  /* the table of that version; NULL: it is too new */
  const char *(*version)(void);
} pf_ort_base;

enum { PF_ORT_API_VERSION = 1 };

/* Places in the table. */
enum {
  PF_ORT_GET_ERROR_MESSAGE = 2, PF_ORT_CREATE_ENV = 3, PF_ORT_CREATE_SESSION_FROM_ARRAY = 8,
  PF_ORT_RUN = 9, PF_ORT_CREATE_SESSION_OPTIONS = 10, PF_ORT_DISABLE_MEM_PATTERN = 17,
  PF_ORT_DISABLE_CPU_MEM_ARENA = 19, PF_ORT_SET_INTRA_OP_NUM_THREADS = 24,
  PF_ORT_SET_INTER_OP_NUM_THREADS = 25, PF_ORT_CREATE_TENSOR_WITH_DATA = 49,
  PF_ORT_CREATE_CPU_MEMORY_INFO = 69, PF_ORT_RELEASE_ENV = 92, PF_ORT_RELEASE_STATUS = 93,
  PF_ORT_RELEASE_MEMORY_INFO = 94, PF_ORT_RELEASE_SESSION = 95, PF_ORT_RELEASE_VALUE = 96,
  PF_ORT_RELEASE_SESSION_OPTIONS = 100
};

enum { PF_ORT_LOGGING_FATAL = 4, PF_ORT_DEVICE_ALLOCATOR = 0, PF_ORT_MEM_TYPE_DEFAULT = 0 };

/* Dtypes of tensors, the same in models and in calls. */
enum {
  PF_ORT_UNDEFINED = 0, PF_ORT_FLOAT = 1, PF_ORT_UINT8 = 2, PF_ORT_INT8 = 3, PF_ORT_INT32 = 6,
  PF_ORT_FLOAT16 = 10, PF_ORT_DOUBLE = 11, PF_ORT_BFLOAT16 = 16, PF_ORT_FLOAT8E4M3FN = 17,
  PF_ORT_FLOAT8E4M3FNUZ = 18, PF_ORT_FLOAT8E5M2 = 19, PF_ORT_FLOAT8E5M2FNUZ = 20
};

/* Handles are pointers; what can fail answers a status, NULL where it worked. */
typedef struct pf_ort_functions {
  const char *(*get_error_message)(const void *status);
  void *(*create_env)(int severity, const char *name, void **env);
  void *(*create_session_from_array)(const void *env, const void *model, size_t size,
                                     const void *options, void **session);
  void *(*run)(void *session, const void *options, const char *const *input_names,
               const void *const *inputs, size_t inputs_count, const char *const *output_names,
               size_t outputs_count, void **outputs);
  void *(*create_session_options)(void **options);
  void *(*disable_mem_pattern)(void *options);
  void *(*disable_cpu_mem_arena)(void *options);
  void *(*set_intra_op_num_threads)(void *options, int threads);
  void *(*set_inter_op_num_threads)(void *options, int threads);
  void *(*create_tensor_with_data)(const void *memory_info, void *data, size_t bytes,
                                   const int64_t *shape, size_t rank, int type, void **value);
  void *(*create_cpu_memory_info)(int allocator, int memory, void **memory_info);
  void (*release_env)(void *env);
  void (*release_status)(void *status);
  void (*release_memory_info)(void *memory_info);
  void (*release_session)(void *session);
  void (*release_value)(void *value);
  void (*release_session_options)(void *options);
} pf_ort_functions;

#endif
