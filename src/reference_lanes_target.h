/* The arithmetics of reference_lanes.c for one target, behind isa_target.h.  No include guard: on
   purpose. */
#include "rounding_lanes.h"

#define LANES
#define RULES pf_lane_format
#define FACTOR(v) (v)
#define X_TYPE SCALAR
#define Y_TYPE REAL

#define REAL FLOATS
#define SCALAR float
#define NAME(f) ISA_NAME(float_##f)
#define MUL(x, y) ((x) * (y))
#define ADD(a, b) ((a) + (b))
#define FMA(x, y, s) FMA_FLOATS(x, y, s)
#define ENCODE(v) ((float)(v))
#define DECODE(v) ((double)(v))
#include "reference_lanes_loops.h"
#undef REAL
#undef SCALAR
#undef NAME
#undef FMA
#undef ENCODE
#undef DECODE

#define REAL WORDS
#define SCALAR uint32_t
#define NAME(f) ISA_NAME(word_##f)
#define FMA(x, y, s) ((x) * (y) + (s))
#define ENCODE(v) word_of(v)
#define DECODE(v) ((double)(int32_t)(v))
#include "reference_lanes_loops.h"
#undef REAL
#undef SCALAR
#undef NAME
#undef FMA
#undef ENCODE
#undef DECODE

#define REAL DOUBLES
#define SCALAR double
#define NAME(f) ISA_NAME(double_##f)
#define FMA(x, y, s) FMA_DOUBLES(x, y, s)
#define ENCODE(v) (v)
#define DECODE(v) (v)
#include "reference_lanes_loops.h"
#undef NAME
#undef MUL
#undef ADD
#undef FMA

#define NAME(f) ISA_NAME(narrow_##f)
#define MUL(x, y) ISA_NAME(round)(f, (x) * (y))
#define ADD(a, b) ISA_NAME(round)(f, (a) + (b))
#define FMA(x, y, s) ISA_NAME(round)(f, ISA_NAME(sum_to_odd)((x) * (y), s))
#include "reference_lanes_loops.h"
#undef REAL
#undef SCALAR
#undef NAME
#undef MUL
#undef ADD
#undef FMA
#undef ENCODE
#undef DECODE

#undef LANES
#undef RULES
#undef FACTOR
#undef X_TYPE
#undef Y_TYPE
