/* Names of kinds; elements as pure functions of seed and place; mixing; and hashes of everything
   that is generated, which must come out the same from every compiler at every optimisation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fenv.h>
#include <inttypes.h>
#include <string.h>

#include "value_checks.h"
#include "values_draw.h"
#include "values_pack.h"

static const char *const names[] = {
  "normal", "bits", "corner", "integer", "cancel", "equal", "midpoint", "wide", "subnormal",
  "verbatim",
};

static void test_names(void **state)
{
  (void)state;
  assert_int_equal(PF_KIND_COUNT, sizeof names / sizeof names[0]);
  pf_kind found;
  for (int k = 0; k < PF_KIND_COUNT; k++) {
    const size_t length = strlen(names[k]);
    assert_string_equal(pf_kind_name((pf_kind)k), names[k]);
    assert_true(pf_kind_find(names[k], length, &found));
    assert_int_equal(found, k);
    assert_false(pf_kind_find(names[k], length - 1, &found));
  }
  assert_false(pf_kind_find("normal:1", 8, &found));
  assert_true(pf_kind_find("normal:1", 6, &found));
}

/* First outputs of splitmix64 from state 0, as Vigna's public-domain splitmix64.c gives them. */
static void test_hash(void **state)
{
  (void)state;
  const uint64_t gamma = 0x9e3779b97f4a7c15u;
  assert_true(pf_hash(0) == 0xe220a8397b1dcdafu);
  assert_true(pf_hash(gamma) == 0x6e789e6aa1b965f4u);
  assert_true(pf_hash(2 * gamma) == 0x06c45d188009454fu);
}

/* A generator that kept a stream from element to element would give other values backward. */
static void test_any_order(void **state)
{
  (void)state;
  enum { K = 37 };
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    for (int kind = 0; kind < PF_VERBATIM; kind++) {
      const pf_values v = { .kind = (pf_kind)kind, .other = PF_WIDE, .mix = 99, .seed = 3 };
      uint64_t forward[K];
      for (int k = 0; k < K; k++)
        forward[k] = bits_of(&v, (pf_dtype)t, true, 2, k, K);
      for (int k = K - 1; k >= 0; k--)
        assert_true(bits_of(&v, (pf_dtype)t, true, 2, k, K) == forward[k]);
    }
}

/* Cutting K leaves what remains as it was, for all kinds but the pairs that are taken from the two
   halves of K; midpoints lose only a partner, and have another form at K = 1. */
static void test_cutting_k(void **state)
{
  (void)state;
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    for (int kind = 0; kind < PF_VERBATIM; kind++)
      for (int64_t cut = 2; kind != PF_CANCEL && cut < 64; cut += 2)
        for (int64_t k = 0; k < cut; k++) {
          const pf_values v = of_kind((pf_kind)kind, 5);
          const pf_place whole = { .index = k, .k = k, .k_count = 64, .negate = true };
          const pf_place part = { .index = k, .k = k, .k_count = cut, .negate = true };
          assert_true(pf_value_bits(&v, (pf_dtype)t, &whole)
                      == pf_value_bits(&v, (pf_dtype)t, &part));
        }
}

/* A whole tensor at a time gives what each of its elements is by itself, whichever way its lines
   run, in the middle of mixtures and behind the ends of runs. */
static void check_generated(const pf_values *v, pf_dtype t, pf_walk at, int64_t count)
{
  static uint8_t stored[8 * 1024];
  assert_true(count <= 1024);
  pf_values_generate(v, t, at, count, stored);
  for (int64_t i = 0; i < count; i++) {
    const int64_t k = at.place.k_count, n = at.columns;
    pf_place place = at.place;
    place.index = i;
    if (k > 0) {
      place.k = i / n % k;
      place.line = i / (k * n) * n + i % n;
    }
    assert_true(pf_load_bits(t, stored + i * pf_dtype_of(t)->bytes) == pf_value_bits(v, t, &place));
  }
}

static void test_whole_tensors(void **state)
{
  (void)state;
  static const struct { bool x; int64_t k, columns, count; } shapes[] = {
    {true, 1, 1, 5}, {true, 7, 1, 700}, {true, 64, 1, 256}, {true, 65, 1, 195}, {true, 300, 1, 900},
    {false, 7, 1, 70}, {false, 7, 3, 630}, {false, 2, 65, 390}, {false, 129, 5, 645},
    {false, 1, 70, 210}, {false, 0, 1, 130}, {false, 0, 1, 1}, {true, 3, 1, 0},
  };
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
    for (int t = 0; t < PF_DTYPE_COUNT; t++)
      for (int kind = 0; kind < PF_VERBATIM; kind++)
        for (uint32_t seed = 0; seed < 4; seed++) {
          const pf_values v = { .kind = (pf_kind)kind, .other = (pf_kind)(seed + 2), .seed = seed,
                                .mix = seed & 1 ? 100 : 0 };
          const pf_walk at = { .place = { .k_count = shapes[s].k, .negate = shapes[s].x },
                               .columns = shapes[s].columns };
          check_generated(&v, (pf_dtype)t, at, shapes[s].count);
        }
}

/* Each instruction set that this machine has draws what pf_hash gives. */
static void check_draws(void (*draw)(int, int, pf_draws *), int count, int draws)
{
  pf_draws d;
  for (int i = 0; i < PF_RUN; i++)
    d.start[i] = pf_hash((uint64_t)i + 77);
  draw(count, draws, &d);
  for (int i = 0; i < count; i++) {
    const uint64_t start = pf_hash(pf_hash((uint64_t)i + 77));
    assert_true(d.start[i] == start);
    for (int j = 0; j < draws; j++)
      assert_true(d.draw[j][i] == pf_hash(start + (uint64_t)j * PF_GOLDEN_GAMMA));
  }
}

static void test_instruction_sets(void **state)
{
  (void)state;
  for (int count = 1; count <= PF_RUN; count++)
    for (int draws = 0; draws <= PF_MAX_DRAWS; draws++) {
      check_draws(pf_draw, count, draws);
      check_draws(pf_draw_portable, count, draws);
#if defined(__x86_64__)
      if (__builtin_cpu_supports("avx2"))
        check_draws(pf_draw_avx2, count, draws);
      if (__builtin_cpu_supports("avx512dq"))
        check_draws(pf_draw_avx512, count, draws);
#endif
    }
}

/* Each instruction set packs what the portable loop does, zero and the ends of the range included. */
static void test_packing(void **state)
{
  (void)state;
  /* f16, bf16, f8_e4m3fnuz, f64, and one whose smallest subnormal and largest value are in reach */
  static const encoding e[] = {
    {11, -14, 15, -24, 15, 0x7bff, true, true}, {8, -126, 127, -133, 15, 0x7f7f, true, true},
    {4, -7, 7, -10, 7, 0x7f, false, false}, {53, -1022, 1023, -1074, 63, UINT64_MAX >> 1, true, true},
    {3, 1, 1, -1, 7, 0x05, false, false}, {2, 9, 9, 8, 5, 0x02, true, false},
    {2, 70, 71, 69, 5, 0x02, false, true}, {53, -40, 1023, -92, 63, UINT64_MAX >> 1, true, true},
  };
  pf_draws d;
  print_message("seed 61\n");
  for (int i = 0; i < 20000; i++) {
    uint64_t want[PF_RUN], got[PF_RUN];
    const encoding *of = &e[i % (int)(sizeof e / sizeof *e)];
    const int count = 1 + i % PF_RUN;
    for (int j = 0; j < NORMAL_DRAWS; j++)
      for (int k = 0; k < PF_RUN; k++)
        d.draw[j][k] = pf_hash((uint64_t)(61 + i) << 16 | (uint64_t)(j * PF_RUN + k));
    /* sums of zero, and of nearly it */
    for (int k = 0; k < PF_RUN; k += 3) {
      d.draw[0][k] = d.draw[1][k] = UINT64_C(0x7fff7fff80007fff);
      d.draw[2][k] = UINT64_C(0x8000800080008000) + (uint64_t)(k / 3 % 3) - 1;
      d.draw[3][k] >>= k % 2 ? k : 63;
    }
    pf_pack_normals_portable(of, &d, count, want);
    pf_pack_normals(of, &d, count, got);
    assert_memory_equal(got, want, (size_t)count * sizeof *got);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
      pf_pack_normals_avx512(of, &d, count, got);
      assert_memory_equal(got, want, (size_t)count * sizeof *got);
    }
#endif
  }
}

/* x, y and an addend of one seed are not copies of each other, nor is one seed of the next, nor an
   element of its neighbour: equal encodings are rare wherever there are many. */
static void test_streams_apart(void **state)
{
  (void)state;
  enum { COUNT = 1000 };
  static const pf_kind kinds[] = { PF_NORMAL, PF_BITS, PF_WIDE };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const pf_values v = of_kind(kinds[i], 7), w = of_kind(kinds[i], 8);
    int equal = 0;
    for (int64_t k = 0; k < COUNT; k++) {
      const uint64_t x = bits_of(&v, PF_F32, true, 0, k, COUNT);
      const uint64_t y = bits_of(&v, PF_F32, false, 0, k, COUNT);
      const pf_place addend = { .index = k };
      const uint64_t c = pf_value_bits(&v, PF_F32, &addend);
      equal += x == y || y == c || x == c;
      equal += x == bits_of(&w, PF_F32, true, 0, k, COUNT);
      equal += x == bits_of(&v, PF_F32, true, 0, k + 1, COUNT + 1);
    }
    assert_in_range(equal, 0, 2);
  }
}

/* Mixing chooses between the two kinds' own elements and changes neither.  Were the choice made by
   the draw that makes the value, some bit of the chosen encodings would lean to one side. */
static void test_mixing(void **state)
{
  (void)state;
  enum { COUNT = 40000 };
  static const int shares[] = { 0, 1, 64, 128, 255 };
  const pf_values plain = of_kind(PF_WIDE, 11), other = of_kind(PF_BITS, 11);
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    const pf_values v = { .kind = PF_WIDE, .other = PF_BITS, .mix = (uint8_t)shares[i],
                          .seed = 11 };
    int64_t chosen = 0, set[64] = { 0 };
    for (int64_t k = 0; k < COUNT; k++) {
      const uint64_t got = bits_of(&v, PF_F64, false, 0, k, COUNT);
      const uint64_t a = bits_of(&plain, PF_F64, false, 0, k, COUNT);
      const uint64_t b = bits_of(&other, PF_F64, false, 0, k, COUNT);
      assert_true(a != b && (got == a || got == b));
      chosen += got == b;
      for (int bit = 0; bit < 64; bit++)
        set[bit] += got == b && (b >> bit & 1);
    }
    assert_true(share_is(chosen, COUNT, shares[i] / 256.0));
    for (int bit = 0; bit < 64; bit++)
      assert_true(chosen == 0 || share_is(set[bit], chosen, 0.5));
  }
}

/* FNV-1a, 64 bits, over the eight bytes of each encoding. */
static uint64_t fnv(uint64_t hash, uint64_t bits)
{
  for (int i = 0; i < 8; i++)
    hash = (hash ^ (bits >> 8 * i & 0xff)) * 0x100000001b3u;
  return hash;
}

static uint64_t hash_of(pf_kind kind, pf_dtype t)
{
  static const uint32_t seeds[] = { 0, 1, 2, 77, 0x80000000u, 0xffffffffu };
  static const int64_t counts[] = { 1, 2, 3, 6, 8, 39, 64 };
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t s = 0; s < sizeof seeds / sizeof seeds[0]; s++)
    for (int mix = 0; mix <= 40; mix += 40)
      for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (int64_t line = 0; line < 24; line++) {
          const pf_values v = { .kind = kind, .other = PF_CORNER, .mix = (uint8_t)mix,
                                .seed = seeds[s] };
          for (int64_t k = 0; k < counts[c]; k++) {
            hash = fnv(hash, bits_of(&v, t, true, line, k, counts[c]));
            hash = fnv(hash, bits_of(&v, t, false, line, k, counts[c]));
          }
          const pf_place addend = { .index = line };
          hash = fnv(hash, pf_value_bits(&v, t, &addend));
        }
  return hash;
}

/* Another hash means that archived cases no longer mean what they meant.  Upward rounding would
   change them if anything were computed in floating point. */
static const uint64_t hashes[PF_VERBATIM][PF_DTYPE_COUNT] = {
  [PF_NORMAL] = { [PF_F64] = 0x4987c05778ffa484u, [PF_F32] = 0x4162b7bb99371cbeu,
    [PF_F16] = 0x5cbe2459ac892521u, [PF_BF16] = 0x4c8f643de97c7e7cu,
    [PF_F8_E4M3FN] = 0xc7f323dd5ede4867u, [PF_F8_E5M2] = 0x7b45572ca4e17aa2u,
    [PF_F8_E4M3FNUZ] = 0x8cc54cf1fc6d6598u, [PF_F8_E5M2FNUZ] = 0x4a97dec4594b191bu,
    [PF_S8] = 0xaaf45356d1138cf7u, [PF_U8] = 0x64a44fbfe5831c48u,
    [PF_S32] = 0x6e4401a56f14a73bu },
  [PF_BITS] = { [PF_F64] = 0x8942f46adcd4f7aau, [PF_F32] = 0xe47cfa23eebc2419u,
    [PF_F16] = 0x2bda2a350f7ae5a1u, [PF_BF16] = 0x5af555631e9e586cu,
    [PF_F8_E4M3FN] = 0x92ee77c7f9e141c7u, [PF_F8_E5M2] = 0x5f94b1340a8a206cu,
    [PF_F8_E4M3FNUZ] = 0xda8436b1c1b25020u, [PF_F8_E5M2FNUZ] = 0x5e63bf56b8498c31u,
    [PF_S8] = 0xbb530533fb7b807fu, [PF_U8] = 0x233954a5875f1840u,
    [PF_S32] = 0x2bc8b4a75e6f9fd7u },
  [PF_CORNER] = { [PF_F64] = 0x6aba1ef142ee2981u, [PF_F32] = 0x51af01e11b4538f1u,
    [PF_F16] = 0x0d9175ef5267987du, [PF_BF16] = 0x4c5f12316b6f1281u,
    [PF_F8_E4M3FN] = 0x43a9661e6e785525u, [PF_F8_E5M2] = 0x2bb6b291e1aaa165u,
    [PF_F8_E4M3FNUZ] = 0x6f4de524cf240b25u, [PF_F8_E5M2FNUZ] = 0x851f51a20bd86e65u,
    [PF_S8] = 0x6ff581accb2c9965u, [PF_U8] = 0x576d6f472bb9e3a5u,
    [PF_S32] = 0xe638c87ee76331c1u },
  [PF_INTEGER] = { [PF_F64] = 0x3eea0774fed717e1u, [PF_F32] = 0xad7dc666eb19becbu,
    [PF_F16] = 0x612a91e9ea6073d0u, [PF_BF16] = 0x1e6882913287833du,
    [PF_F8_E4M3FN] = 0xf097dae787d36b7fu, [PF_F8_E5M2] = 0x814f79be6faa34a2u,
    [PF_F8_E4M3FNUZ] = 0x738eb7a1de482470u, [PF_F8_E5M2FNUZ] = 0x8e020a10320f628bu,
    [PF_S8] = 0x023e7d367a784453u, [PF_U8] = 0xe2422d059e4937c4u,
    [PF_S32] = 0x707d7e091689cfefu },
  [PF_CANCEL] = { [PF_F64] = 0x87ac182579d653a9u, [PF_F32] = 0x430a305ae5c8a86du,
    [PF_F16] = 0xa227251cc5d4942eu, [PF_BF16] = 0x5d244473d861945fu,
    [PF_F8_E4M3FN] = 0xf610351d5064c6b4u, [PF_F8_E5M2] = 0x70107af04aaf6461u,
    [PF_F8_E4M3FNUZ] = 0xd713d9dd709c0e5cu, [PF_F8_E5M2FNUZ] = 0x7ab838720375b8e8u,
    [PF_S8] = 0x9104487780c7009bu, [PF_U8] = 0xb33f820e427eb564u,
    [PF_S32] = 0xee01f9377b23ceddu },
  [PF_EQUAL] = { [PF_F64] = 0xbf3c7aacd2fdd8b3u, [PF_F32] = 0x4a59033fa6e90d8bu,
    [PF_F16] = 0x8b55d5b310420d0bu, [PF_BF16] = 0x2c595c28c23ea1beu,
    [PF_F8_E4M3FN] = 0x32b428e257fb2dadu, [PF_F8_E5M2] = 0x40b5c3faeb725c5au,
    [PF_F8_E4M3FNUZ] = 0xe473d3afdcaf2f02u, [PF_F8_E5M2FNUZ] = 0x3c8e77e09d81eac3u,
    [PF_S8] = 0x00ab21e740f3cc75u, [PF_U8] = 0x42edcceba52fe88au,
    [PF_S32] = 0xd51fb9835355f162u },
  [PF_MIDPOINT] = { [PF_F64] = 0x22d6ceebd6b25914u, [PF_F32] = 0x8f9e943285bd3acfu,
    [PF_F16] = 0x4ff824a009910ec7u, [PF_BF16] = 0x7e6add41aa661c35u,
    [PF_F8_E4M3FN] = 0xba97a4acb749dfdeu, [PF_F8_E5M2] = 0x8d6ecbeec7ae0a06u,
    [PF_F8_E4M3FNUZ] = 0x03ef986fe67dd0f1u, [PF_F8_E5M2FNUZ] = 0x7f2345322f326c17u,
    [PF_S8] = 0x8b9306a2f1fea6f8u, [PF_U8] = 0x2bbc0d788b1db8c4u,
    [PF_S32] = 0xd4579db9a6bfb034u },
  [PF_WIDE] = { [PF_F64] = 0xbc0ed9e898e6c244u, [PF_F32] = 0xd0cff5df82ee3323u,
    [PF_F16] = 0xd26b8ffc99e81386u, [PF_BF16] = 0x77df118a818bb9eau,
    [PF_F8_E4M3FN] = 0x817d928bbed611eau, [PF_F8_E5M2] = 0x06760a794b61ff88u,
    [PF_F8_E4M3FNUZ] = 0xa7bebec722c5562cu, [PF_F8_E5M2FNUZ] = 0x48fdf20ab7970d01u,
    [PF_S8] = 0x55c48b307c3512dau, [PF_U8] = 0x271e7b2b32499516u,
    [PF_S32] = 0x8f646a1e9a4c0f8bu },
  [PF_SUBNORMAL] = { [PF_F64] = 0xf2930205f4e69ae2u, [PF_F32] = 0xa9060cbf1b67c859u,
    [PF_F16] = 0x0b3c37fe4f2b2a1du, [PF_BF16] = 0x4762b87be5fa2dfcu,
    [PF_F8_E4M3FN] = 0xdfa8b419dd8d6e92u, [PF_F8_E5M2] = 0x2ae2937b2d48d1b5u,
    [PF_F8_E4M3FNUZ] = 0x1fca4359c6d1a275u, [PF_F8_E5M2FNUZ] = 0x235315a37ceb90a8u,
    [PF_S8] = 0x90991cfc3ed2e619u, [PF_U8] = 0x9d9493499a9e2727u,
    [PF_S32] = 0xb82fe5b1dce242cdu },
};

static void test_nothing_changed(void **state)
{
  (void)state;
  static const int modes[] = { FE_TONEAREST, FE_UPWARD };
  int changed = 0;
  for (int i = 0; i < 2 * PF_VERBATIM * PF_DTYPE_COUNT; i++) {
    const pf_kind kind = (pf_kind)(i / 2 / PF_DTYPE_COUNT);
    const pf_dtype t = (pf_dtype)(i / 2 % PF_DTYPE_COUNT);
    fesetround(modes[i % 2]);
    const uint64_t got = hash_of(kind, t);
    fesetround(FE_TONEAREST);
    if (got != hashes[kind][t])
      print_error("%s %s: 0x%016" PRIx64 "\n", names[kind], pf_dtype_of(t)->name, got);
    changed += got != hashes[kind][t];
  }
  assert_int_equal(changed, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_names),
    cmocka_unit_test(test_hash),
    cmocka_unit_test(test_any_order),
    cmocka_unit_test(test_whole_tensors),
    cmocka_unit_test(test_instruction_sets),
    cmocka_unit_test(test_packing),
    cmocka_unit_test(test_cutting_k),
    cmocka_unit_test(test_streams_apart),
    cmocka_unit_test(test_mixing),
    cmocka_unit_test(test_nothing_changed),
  };
  return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
