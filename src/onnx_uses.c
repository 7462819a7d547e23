/* Which initializers are weights of matmuls, and what is added to the result: from the nodes MatMul,
   MatMulInteger and Gemm, and the Add behind a MatMul. */
#include <onnx.pb-c.h>
#include <string.h>

#include "onnx_parts.h"

enum {
  NODE = 1,              /* field of GraphProto */
  NODE_MAX = 1 << 14,    /* bytes; matmuls need far less */
  LOOK_BACK = 32         /* matmuls among whose results the operand of an Add is looked for */
};

typedef struct finder {
  pf_onnx *o;
  size_t room;
  const char **output;   /* of each use: what its node's result is called */
  pf_error *error;
} finder;

/* PF_ONNX_NONE for what is no initializer of that rank. */
static int64_t find_operand(const finder *f, const char *name, int rank)
{
  const pf_tensor_entry *t = pf_tensor_file_find(&f->o->file, name);
  return t != NULL && t->rank == rank ? t - f->o->file.entry : PF_ONNX_NONE;
}

static bool transposes(const PfOnnx__Node *n)
{
  for (size_t i = 0; i < n->n_attribute; i++)
    if (n->attribute[i]->name != NULL && strcmp(n->attribute[i]->name, "transB") == 0)
      return n->attribute[i]->i != 0;
  return false;
}

static pf_status add_use(finder *f, const PfOnnx__Node *n, bool gemm)
{
  const int64_t weight = n->n_input > 1 ? find_operand(f, n->input[1], 2) : PF_ONNX_NONE;
  if (weight == PF_ONNX_NONE || f->o->use_count == f->room)
    return PF_OK;
  const char *result = n->n_output > 0 ? n->output[0] : "";
  char *output = pf_alloc(&f->o->file.memory, strlen(result) + 1);
  if (output == NULL)
    return pf_fail(f->error, PF_NO_MEMORY, 0, "onnx: not enough memory for the nodes");
  f->output[f->o->use_count] = strcpy(output, result);
  pf_onnx_use *u = &f->o->use[f->o->use_count++];
  *u = (pf_onnx_use){.weight = (size_t)weight, .rows = gemm && transposes(n),
                     .bias = PF_ONNX_NONE};
  if (gemm && n->n_input > 2)
    u->bias = find_operand(f, n->input[2], 1);
  return PF_OK;
}

/* One operand of the Add is the result of a matmul, the other one an initializer. */
static void add_bias(finder *f, const PfOnnx__Node *n)
{
  if (n->n_input != 2)
    return;
  for (int i = 0; i < 2; i++) {
    const int64_t bias = find_operand(f, n->input[i], 1);
    const char *other = n->input[1 - i];
    for (size_t back = 1; bias != PF_ONNX_NONE && other[0] != '\0' && back <= LOOK_BACK &&
                          back <= f->o->use_count; back++) {
      const size_t u = f->o->use_count - back;
      if (strcmp(f->output[u], other) == 0)
        f->o->use[u].bias = bias;
    }
  }
}

static pf_status read_node(finder *f, const pf_wire_walk *graph, const pf_wire_field *field)
{
  if (field->type != PF_WIRE_BYTES || field->size > NODE_MAX)
    return PF_OK;
  PfOnnx__Node *n = pf_onnx__node__unpack(NULL, field->size, graph->data + field->at);
  if (n == NULL)
    return pf_fail(f->error, PF_BAD_INPUT, field->start, "onnx: protobuf-c cannot read a node");
  const char *op = n->op_type != NULL ? n->op_type : "";
  pf_status status = PF_OK;
  if (strcmp(op, "MatMul") == 0 || strcmp(op, "MatMulInteger") == 0)
    status = add_use(f, n, false);
  else if (strcmp(op, "Gemm") == 0)
    status = add_use(f, n, true);
  else if (strcmp(op, "Add") == 0)
    add_bias(f, n);
  pf_onnx__node__free_unpacked(n, NULL);
  return status;
}

pf_status pf_onnx_find_uses(pf_onnx *o, pf_wire_walk graph, pf_error *e)
{
  finder f = {.o = o, .room = 4 * o->file.count, .error = e};
  pf_arena *a = &o->file.memory;
  pf_wire_field field;
  bool more;
  o->use = pf_alloc_array(a, f.room, sizeof *o->use);
  f.output = pf_alloc_array(a, f.room, sizeof *f.output);
  if (o->use == NULL || f.output == NULL)
    return pf_fail(e, PF_NO_MEMORY, 0, "onnx: not enough memory for the nodes");
  for (;;) {
    PF_TRY(pf_wire_next(&graph, &field, &more));
    if (!more)
      return PF_OK;
    if (field.number == NODE)
      PF_TRY(read_node(&f, &graph, &field));
  }
}
