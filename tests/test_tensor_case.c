/* Cases to tensor files and back: nothing of them is lost, and what does not go together is
   refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "form_text.h"
#include "random_cases.h"
#include "safetensors.h"
#include "tensor_case.h"
#include "tensor_files.h"
#include "tensorfile_open.h"

enum { CASES = 600 };

/* A case, its tensors, and the file that holds them. */
typedef struct scene {
  char *folder;
  char path[300];
  pf_arena arena;
  pf_case what;
  pf_problem problem;
  pf_tensor_file file;
} scene;

static int open_scene(void **state)
{
  static scene s;
  memset(&s, 0, sizeof s);
  s.folder = folder_new();
  snprintf(s.path, sizeof s.path, "%s", in_folder(s.folder, "case.safetensors"));
  *state = &s;
  return 0;
}

static int close_scene(void **state)
{
  scene *s = *state;
  pf_tensor_file_close(&s->file);
  unlink(s->path);
  folder_remove(s->folder);
  pf_arena_free(&s->arena);
  return 0;
}

static void parse(scene *s, const char *text)
{
  pf_error e = {0};
  if (pf_text_parse(text, strlen(text), &s->arena, &s->what, &e))
    fail_msg("%s: %s", text, e.text);
}

/* With one result beside the operands. */
static void write_and_open(scene *s)
{
  pf_error e = {0};
  const float value = 1.5f;
  pf_tensor_entry result;
  assert_true(pf_tensor_describe("out", PF_F32, 0, NULL, &value, &result));
  assert_int_equal(pf_problem_build(&s->what, &s->arena, &s->problem), PF_OK);
  if (pf_tensor_case_write(s->path, &s->problem, &result, 1, &s->arena, &e))
    fail_msg("%s", e.text);
  pf_tensor_file_close(&s->file);
  if (pf_tensor_file_open(s->path, NULL, &s->file, &e))
    fail_msg("%s", e.text);
  assert_true(pf_tensor_case_is(&s->file));
  assert_non_null(pf_tensor_file_find(&s->file, "out"));
}

static void refused(const scene *s, const char *why)
{
  pf_arena a = {0};
  pf_case c;
  pf_error e = {0};
  assert_int_equal(pf_tensor_case_read(&s->file, &a, &c, &e), PF_BAD_INPUT);
  if (!strstr(e.text, why))
    fail_msg("'%s' does not say '%s'", e.text, why);
  pf_arena_free(&a);
}

/* The same problem, element for element, layouts included. */
static void check_same_problem(const scene *s, const pf_case *back, pf_arena *a)
{
  pf_problem p;
  pf_case_tensors own, other;
  pf_error e = {0};
  assert_int_equal(back->graph, s->what.graph);
  assert_int_equal(back->out_is_c, s->what.out_is_c);
  assert_true(!memcmp(&back->alpha, &s->what.alpha, sizeof back->alpha) || isnan(back->alpha));
  assert_true(!memcmp(&back->beta, &s->what.beta, sizeof back->beta) || isnan(back->beta));
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++) {
    const pf_operand *o = &s->what.operand[r], *b = &back->operand[r];
    assert_int_equal(o->present, b->present);
    assert_int_equal(o->dtype, b->dtype);
    assert_int_equal(o->offset, b->offset);
    assert_memory_equal(o->dim, b->dim, sizeof o->dim);
    assert_memory_equal(o->stride, b->stride, sizeof o->stride);
    assert_true(pf_scale_equal(&o->scale, &b->scale));
  }
  assert_int_equal(pf_problem_build(back, a, &p), PF_OK);
  assert_int_equal(pf_tensor_case_list(&s->problem, a, &own), PF_OK);
  assert_int_equal(pf_tensor_case_list(&p, a, &other), PF_OK);
  assert_int_equal(own.count, other.count);
  for (int i = 0; i < own.count; i++)
    if (pf_tensor_case_compare(&own, &other.entry[i], &e))
      fail_msg("%s", e.text);
}

static void test_nothing_is_lost(void **state)
{
  scene *s = *state;
  random_source r = {20250302};
  int verbatim = 0, scaled = 0, strided = 0;
  print_message("seed %llu\n", (unsigned long long)r.state);
  for (int i = 0; i < FEWER(CASES); i++) {
    const pf_filter f = random_filter(&r);
    pf_error e = {0};
    pf_case back;
    bool any_verbatim = false;
    random_case(&r, &f, &s->arena, &s->what);
    write_and_open(s);
    if (pf_tensor_case_read(&s->file, &s->arena, &back, &e))
      fail_msg("%s", e.text);
    for (pf_role role = PF_X; role < PF_OUT; role++) {
      any_verbatim |= s->what.operand[role].values.kind == PF_VERBATIM;
      scaled += s->what.operand[role].scale.kind != PF_SCALE_NONE;
      strided += s->what.operand[role].present && !pf_operand_dense(&s->what.operand[role]);
    }
    verbatim += any_verbatim;
    assert_true(any_verbatim || pf_case_equal(&back, &s->what));
    check_same_problem(s, &back, &s->arena);
  }
  assert_true(verbatim && scaled && strided);
}

#define SMALL "matmul_add x=f32[1,2](9,2)+1 y=f32[2,1] bias=f32[1] x.bits=3f800000,40000000"

static void test_a_changed_operand_is_refused(void **state)
{
  scene *s = *state;
  parse(s, SMALL);
  write_and_open(s);
  block b = file_read(s->path);
  const pf_tensor_entry *y = pf_tensor_file_find(&s->file, "y");
  b.data[y->offset + 4] ^= 1;
  pf_tensor_file_close(&s->file);
  assert_int_equal(pf_safetensors_parse(b.data, b.size, &s->file, NULL), PF_OK);
  refused(s, "tensor 'y': element 1 is not the case's");
  block_free(&b);
}

/* x is what its tensor holds: it says itself what that is. */
static void test_verbatim_operands_are_their_tensors(void **state)
{
  scene *s = *state;
  pf_case back;
  pf_error e = {0};
  parse(s, SMALL);
  write_and_open(s);
  assert_string_equal(pf_tensor_file_metadata(&s->file, "precfuzz.case"),
                      "matmul_add x=f32[1,2](9,2)+1 y=f32[2,1] bias=f32[1]");
  assert_string_equal(pf_tensor_file_metadata(&s->file, "precfuzz.verbatim"), "x");
  block b = file_read(s->path);
  const pf_tensor_entry *x = pf_tensor_file_find(&s->file, "x");
  b.data[x->offset] ^= 1;
  pf_tensor_file_close(&s->file);
  assert_int_equal(pf_safetensors_parse(b.data, b.size, &s->file, NULL), PF_OK);
  if (pf_tensor_case_read(&s->file, &s->arena, &back, &e))
    fail_msg("%s", e.text);
  assert_int_equal(pf_load_bits(PF_F32, back.operand[PF_X].values.verbatim), 0x3f800001);
  block_free(&b);
}

/* A file with the tensors x, y, bias of SMALL and other metadata. */
static void write_metadata(scene *s, const char *text, const char *verbatim)
{
  pf_case_tensors own;
  pf_error e = {0};
  const pf_metadata metadata[] = {{"precfuzz.case", text}, {"precfuzz.verbatim", verbatim}};
  parse(s, "matmul_add x=f32[1,2] y=f32[2,1] bias=f32[1] x.values=normal:1");
  assert_int_equal(pf_problem_build(&s->what, &s->arena, &s->problem), PF_OK);
  assert_int_equal(pf_tensor_case_list(&s->problem, &s->arena, &own), PF_OK);
  if (pf_safetensors_write(s->path, own.entry, (size_t)own.count, metadata, verbatim ? 2 : 1, &e))
    fail_msg("%s", e.text);
  pf_tensor_file_close(&s->file);
  if (pf_tensor_file_open(s->path, NULL, &s->file, &e))
    fail_msg("%s", e.text);
}

static void test_wrong_metadata(void **state)
{
  scene *s = *state;
  write_metadata(s, "matmul_add x=f32[1,2] y=f32[2,1] bias=f33[1]", NULL);
  refused(s, "precfuzz.case: offset 38: ");
  write_metadata(s, "matmul_add x=f32[1,2] y=f32[2,1] bias=f32[1]", "x,z");
  refused(s, "precfuzz.verbatim: 'z' is no operand");
  write_metadata(s, "matmul_add x=f32[1,2] y=f32[2,1] bias=f32[1]", "x,c");
  refused(s, "tensor 'c': missing");
  write_metadata(s, "matmul x=f32[1,2] y=f32[2,1]", "x,bias");
  refused(s, "tensor 'bias': not as precfuzz.case has it");
  write_metadata(s, "matmul x=f32[1,2] y=f32[2,1] x.values=normal:1", NULL);
  refused(s, "tensor 'bias': the case has none");
  write_metadata(s, "matmul_add x=bf16[1,2] y=f32[2,1] bias=f32[1]", NULL);
  refused(s, "tensor 'x': f32, but the case's is bf16");
  write_metadata(s, "matmul_add x=f32[2] y=f32[2] bias=f32[]", "x");
  refused(s, "tensor 'x': not as precfuzz.case has it");
  write_metadata(s, "matmul_add x=f32[2] y=f32[2,1] bias=f32[1] x.values=normal:1", NULL);
  refused(s, "tensor 'x': not of the case's shape");
  write_metadata(s, "matmul_add x=f32[1,2] y=f32[2,1] bias=f32[1]", NULL);
  refused(s, "tensor 'x': element 0 is not the case's");
}

static void test_scales_have_the_operands_shape(void **state)
{
  scene *s = *state;
  pf_case_tensors own;
  parse(s, "scaled_matmul x=bf16[3,2,8] y=bf16[3,8,4] x.scale=row:1 y.scale=block3:2");
  assert_int_equal(pf_problem_build(&s->what, &s->arena, &s->problem), PF_OK);
  assert_int_equal(pf_tensor_case_list(&s->problem, &s->arena, &own), PF_OK);
  assert_int_equal(own.count, 4);
  assert_string_equal(own.entry[2].name, "scale_x");
  assert_int_equal(own.entry[2].rank, 2);
  assert_memory_equal(own.entry[2].dim, ((int64_t[]){3, 2}), 2 * sizeof(int64_t));
  assert_string_equal(own.entry[3].name, "scale_y");
  assert_int_equal(own.entry[3].rank, 3);
  assert_memory_equal(own.entry[3].dim, ((int64_t[]){3, 4, 3}), 3 * sizeof(int64_t));
  for (int64_t i = 0; i < own.entry[3].elements; i++)
    assert_true(pf_load(PF_F32, pf_tensor_at(&own.entry[3], i)) == s->problem.y_scales.value[i]);
}

/* Files of others, without a word on the case. */
static void test_a_case_is_made_of_tensors(void **state)
{
  scene *s = *state;
  const float value[] = {1, 2, 3};
  pf_tensor_entry t[4];
  pf_case c;
  pf_error e = {0};
  pf_tensor_describe("x", PF_F32, 2, (int64_t[]){1, 2}, value, &t[0]);
  pf_tensor_describe("y", PF_F32, 2, (int64_t[]){2, 1}, value + 1, &t[1]);
  pf_tensor_describe("result", PF_F32, 2, (int64_t[]){1, 1}, value, &t[2]);
  pf_tensor_describe("scale_x", PF_F32, 0, NULL, value, &t[3]);
  for (size_t count = 1; count <= 4; count++) {
    assert_int_equal(pf_safetensors_write(s->path, t, count, NULL, 0, &e), PF_OK);
    pf_tensor_file_close(&s->file);
    assert_int_equal(pf_tensor_file_open(s->path, NULL, &s->file, &e), PF_OK);
    assert_false(pf_tensor_case_is(&s->file));
    refused(s, "its metadata has no precfuzz.case");
    const pf_status status = pf_tensor_case_make(&s->file, PF_MATMUL_PLAIN, &c, &e);
    assert_int_equal(status, count == 1 || count == 4 ? PF_BAD_INPUT : PF_OK);
    if (status)
      assert_non_null(strstr(e.text, count == 1 ? "y: missing" : "'scale_x'"));
  }
  assert_int_equal(pf_tensor_case_make(&s->file, PF_MATMUL_ADD, &c, &e), PF_BAD_INPUT);
  assert_int_equal(pf_safetensors_write(s->path, t, 2, NULL, 0, &e), PF_OK);
  pf_tensor_file_close(&s->file);
  assert_int_equal(pf_tensor_file_open(s->path, NULL, &s->file, &e), PF_OK);
  assert_int_equal(pf_tensor_case_make(&s->file, PF_MATMUL_PLAIN, &c, &e), PF_OK);
  assert_int_equal(pf_problem_build(&c, &s->arena, &s->problem), PF_OK);
  assert_true(s->problem.x_vectors[1] == 2 && s->problem.y_vectors[1] == 3);
  assert_int_equal(pf_tensor_case_make(&s->file, PF_MATMUL_ADD, &c, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "bias: missing"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_nothing_is_lost, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(test_a_changed_operand_is_refused, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(test_verbatim_operands_are_their_tensors, open_scene,
                                    close_scene),
    cmocka_unit_test_setup_teardown(test_wrong_metadata, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(test_scales_have_the_operands_shape, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(test_a_case_is_made_of_tensors, open_scene, close_scene),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
