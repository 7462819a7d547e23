/* Models, message by message.  Field numbers are those of onnx.proto3. */
#include "ort_model.h"

#include <string.h>

const char *const pf_ort_product_names[] = {"MatMul", "MatMulInteger", "Gemm"};

enum { IR_VERSION = 9, OPSET_VERSION = 19 };  /* the first with casts from f8 */

enum { VARINT = 0, BYTES = 2, FIXED32 = 5 };  /* how a field is written */

typedef struct message {
  unsigned char bytes[PF_ORT_MODEL_BYTES];
  size_t size;
} message;

/* --- fields -------------------------------------------------------------------------------- */

static void put_varint(message *to, uint64_t value)
{
  for (; value >= 0x80; value >>= 7)
    to->bytes[to->size++] = (unsigned char)(value | 0x80);
  to->bytes[to->size++] = (unsigned char)value;
}

static void put_number(message *to, unsigned field, uint64_t value)
{
  put_varint(to, field << 3 | VARINT);
  put_varint(to, value);
}

static void put_bytes(message *to, unsigned field, const void *bytes, size_t size)
{
  put_varint(to, field << 3 | BYTES);
  put_varint(to, size);
  memcpy(to->bytes + to->size, bytes, size);
  to->size += size;
}

static void put_text(message *to, unsigned field, const char *text)
{
  put_bytes(to, field, text, strlen(text));
}

static void put_message(message *to, unsigned field, const message *inner)
{
  put_bytes(to, field, inner->bytes, inner->size);
}

static void put_float(message *to, unsigned field, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_varint(to, field << 3 | FIXED32);
  for (int i = 0; i < 4; i++, bits >>= 8)
    to->bytes[to->size++] = (unsigned char)bits;
}

/* --- messages ------------------------------------------------------------------------------ */

enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP_TYPE = 4, NODE_ATTRIBUTE = 5 };

static void put_attribute(message *node, const char *name, const float *f, int64_t i)
{
  enum { NAME = 1, F = 2, I = 3, TYPE = 20, IS_FLOAT = 1, IS_INT = 2 };
  message a = {.size = 0};
  put_text(&a, NAME, name);
  if (f)
    put_float(&a, F, *f);
  else
    put_number(&a, I, (uint64_t)i);
  put_number(&a, TYPE, f ? IS_FLOAT : IS_INT);
  put_message(node, NODE_ATTRIBUTE, &a);
}

static void put_cast(message *graph, const char *from, const char *to, int32_t type)
{
  message node = {.size = 0};
  put_text(&node, NODE_INPUT, from);
  put_text(&node, NODE_OUTPUT, to);
  put_text(&node, NODE_OP_TYPE, "Cast");
  put_attribute(&node, "to", NULL, type);
  put_message(graph, 1, &node);
}

static void put_product(message *graph, const pf_ort_model *m)
{
  message node = {.size = 0};
  put_text(&node, NODE_INPUT, m->cast ? "x_cast" : "x");
  put_text(&node, NODE_INPUT, m->cast ? "y_cast" : "y");
  if (m->has_c)
    put_text(&node, NODE_INPUT, "c");
  put_text(&node, NODE_OUTPUT, "out");
  put_text(&node, NODE_OP_TYPE, pf_ort_product_names[m->product]);
  if (m->product == PF_ORT_GEMM) {
    put_attribute(&node, "alpha", &m->alpha, 0);
    put_attribute(&node, "beta", &m->beta, 0);
  }
  put_message(graph, 1, &node);
}

/* ValueInfoProto, without a shape: any will do. */
static void put_value(message *graph, unsigned field, const char *name, int32_t type)
{
  message tensor = {.size = 0}, kind = {.size = 0}, value = {.size = 0};
  put_number(&tensor, 1, (uint64_t)type);  /* TypeProto.Tensor.elem_type */
  put_message(&kind, 1, &tensor);          /* TypeProto.tensor_type */
  put_text(&value, 1, name);
  put_message(&value, 2, &kind);
  put_message(graph, field, &value);
}

size_t pf_ort_model_write(const pf_ort_model *m, unsigned char to[PF_ORT_MODEL_BYTES])
{
  enum { GRAPH_NAME = 2, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
  message graph = {.size = 0}, opset = {.size = 0}, model = {.size = 0};
  if (m->cast) {
    put_cast(&graph, "x", "x_cast", m->out);
    put_cast(&graph, "y", "y_cast", m->out);
  }
  put_product(&graph, m);
  put_text(&graph, GRAPH_NAME, "product");
  put_value(&graph, GRAPH_INPUT, "x", m->x);
  put_value(&graph, GRAPH_INPUT, "y", m->y);
  if (m->has_c)
    put_value(&graph, GRAPH_INPUT, "c", m->out);
  put_value(&graph, GRAPH_OUTPUT, "out", m->out);
  put_number(&opset, 2, OPSET_VERSION);    /* OperatorSetIdProto.version, of ONNX's own operators */
  put_number(&model, 1, IR_VERSION);
  put_message(&model, 7, &graph);
  put_message(&model, 8, &opset);
  memcpy(to, model.bytes, model.size);
  return model.size;
}
