/* Decoding the fuzz form, and what holds for every decoded case. */
#ifndef PF_FUZZ_CHECKS_H
#define PF_FUZZ_CHECKS_H

#include "case_checks.h"
#include "form_fuzz_head.h"

static inline pf_status decode(const uint8_t *data, size_t size, pf_arena *a, pf_case *out)
{
  pf_arena_reset(a);
  return pf_fuzz_decode(data, size, NULL, a, out);
}

static inline int64_t volume(const pf_case *c)
{
  const pf_shape s = pf_case_shape(c);
  const int64_t size[3] = {s.m, s.n, s.k};
  const int64_t batches = pf_volume(s.batch_rank, s.batch);
  return pf_volume(2, (int64_t[]){batches, pf_volume(3, size)});
}

/* What holds for every decoded case. */
static inline void check_decoded(const pf_case *c, int64_t work)
{
  pf_case d = *c;
  pf_error e;
  if (pf_case_finish(&d, &e) != PF_OK)
    fail_msg("not finished: %s", e.text);
  check_equal(&d, c, "finished twice");
  assert_true(volume(c) <= work);
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++)
    if (c->operand[r].present) {
      assert_true(pf_operand_count(&c->operand[r]) <= work);
      assert_true(pf_storage_size(&c->operand[r]) <= 4 * work + PF_MAX_OFFSET);
    }
}

#endif
