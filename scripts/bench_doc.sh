#!/bin/bash
# Makes a page and its plots of what bench.sh measured.
#
#   bench_doc.sh SAMPLES-FOLDER DOC-FOLDER
#
# Writes DOC-FOLDER/performance.md and DOC-FOLDER/performance/*.svg (bench_plots.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
samples=$1/samples.tsv facts=$1/facts.tsv stats=$1/stats.tsv doc=$2

ratios='certified/dot certified/plain mpfr/certified judged/rows examined/rows open/sums'
awk -f scripts/bench_stat.awk -v ratios="$ratios" "$samples" >"$stats"
for against in rate/fuzz_empty rate/precfuzz rate/1; do
  awk -f scripts/bench_stat.awk -v against=$against "$samples" |
    awk -F '\t' -v c=$against '$3 == c' >>"$stats"
done

# --- numbers --------------------------------------------------------------------------------------

value() # table row column: the median; nothing where there is none
{
  awk -F '\t' -v t="$1" -v r="$2" -v c="$3" '$1 == t && $2 == r && $3 == c { print $5 }' "$stats"
}

# The greatest (or least) median of a column and its row, over rows DTYPE/K with K from `from` on.
extreme() # max|min table column from [regex]
{
  awk -F '\t' -v want="$1" -v t="$2" -v c="$3" -v from="$4" -v dtype="${5:-.}" '
    $1 != t || $3 != c { next }
    { split($2, part, "/") }
    part[2] + 0 < from || part[1] !~ dtype { next }
    !n++ || (want == "max" ? $5 > best : $5 < best) { best = $5 + 0; row = $2 }
    END { if (n) print best, row }' "$stats"
}

total() # table column: the sum over rows and repetitions
{
  awk -F '\t' -v t="$1" -v c="$2" '
    $1 == t && $3 == c { n++; sum += $5 }
    END { if (n) printf "%.0f", sum }' "$samples"
}

# The slope of log time against log number, over numbers from `from` on.
exponent() # table from
{
  awk -F '\t' -v t="$1" -v from="$2" '
    $1 == t && $3 == "examined" && $2 >= from {
      n++; x = log($2); y = log($5); sx += x; sy += y; sxx += x * x; sxy += x * y
    }
    END { if (n > 1) printf "%.3f", (n * sxy - sx * sy) / (n * sxx - sx * sx) }' "$stats"
}

short() { awk -v v="$1" 'BEGIN { printf((v >= 1000 ? "%.0f" : "%.3g"), v) }'; }
holds() { awk "BEGIN { exit !($1) }"; }

# --- goals ----------------------------------------------------------------------------------------

goal() # what asked measured condition; measured empty: not measured
{
  local met=no
  if [ -z "$3" ]; then met=; elif holds "$4"; then met=yes; fi
  printf '| %s | %s | %s | %s |\n' "$1" "$2" "${3:-not measured}" "$met"
}

goal_certified() # dot|plain name dtypes regex
{
  local v row
  read -r v row <<<"$(extreme max oracle "certified/$1" 64 "$4")" || true
  goal "certified oracle by a double dot with absolute sum, $2, K >= 64, $3" 'at most 2' \
    "${v:+$(short "$v") ($row)}" "${v:-0} <= 2"
}

goal_oracle()
{
  local v row
  goal_certified plain 'one accumulator' 'f32 and narrower floats' '^(f32|f16|bf16|f8.*)$'
  goal_certified dot '16 accumulators' 'f32 and narrower floats' '^(f32|f16|bf16|f8.*)$'
  goal_certified plain 'one accumulator' f64 '^f64$'
  goal_certified plain 'one accumulator' integers '^[su][0-9]+$'
  read -r v row <<<"$(extreme max oracle judged/rows 64)" || true
  goal "judgement of three rows, by the rows' own arithmetic in f32, K >= 64" 'at most 1.5' \
    "${v:+$(short "$v") ($row)}" "${v:-0} <= 1.5"
  v=$(awk -F '\t' '$1 == "oracle" && $3 == "mpfr/certified" && $2 ~ "/64$" && $2 !~ /^[su][0-9]/ {
      if (!n++ || $5 < least) { least = $5; row = $2 }
    }
    END { if (n) print least, row }' "$stats")
  read -r v row <<<"$v" || true
  goal 'always-MPFR, by certified first, K = 64, floats' 'at least 30' \
    "${v:+$(short "$v") ($row)}" "${v:-0} >= 30"
}

goal_agreement()
{
  local elements different
  elements=$(total agreement elements) different=$(total agreement different)
  goal 'elements compared between certified arithmetic and MPFR, and different verdicts' \
    '100,000,000 and 0' "${elements:+$elements and $different}" \
    "${elements:-0} >= 1e8 && ${different:-1} == 0"
  different=$(total conditions different)
  elements=$(awk -F '\t' '$1 == "conditions" && $3 == "elements" { print $2 }' "$samples" |
    sort -n | tail -n 1)
  goal 'f64 sums: condition numbers from ten to this on compared, and different verdicts' \
    '30 and 0' "${elements:+$elements and $different}" \
    "${elements:-0} >= 30 && ${different:-1} == 0"
}

goal_engine() # mode name share
{
  local share median
  share=$(value "$1" fuzz_matmul rate/fuzz_empty) median=$(value "$1" fuzz_matmul median)
  goal "fuzz_matmul's rate by the empty target's under $2, and median B\\*M\\*N\\*K" \
    "at least $(awk "BEGIN { print 100 * $3 }") % and 256" \
    "${share:+$(awk "BEGIN { printf \"%.3g %%\", 100 * $share }") and ${median:-0}}" \
    "${share:-0} >= $3 && ${median:-0} >= 256"
}

goal_baseline() # kind tool name times
{
  local part times=''
  part=$(value "$1" "$2" rate/precfuzz)
  if [ -n "$part" ] && holds "$part > 0"; then
    times=$(awk "BEGIN { printf \"%.0f\", 1 / $part }")
  elif [ -n "$part" ]; then
    times='more than was measured: it did none in its time'
  fi
  goal "cases a second, by $3" "at least $4" "$times" "${part:-1} * $4 <= 1"
}

goal_growth()
{
  local e first last
  e=$(exponent growth_k 256)
  goal 'exponent of growth with K, fitted from 256 on' '0.95 to 1.05' "$e" \
    "${e:-0} >= 0.95 && ${e:-0} <= 1.05"
  first=$(value memory 10000 resident)
  last=$(awk -F '\t' '
    $1 == "memory" && $3 == "resident" { v = $5; n = $2 }
    END { print v, n }' "$stats")
  goal "memory in use after ${last#* } executions, by that after 10000" 'at most 1.05' \
    "${first:+$(short "$(awk "BEGIN { print ${last% *} / $first }")") (${last% *} by $first KiB)}" \
    "${last% *} + 0 <= 1.05 * ${first:-0}"
}

goals()
{
  printf '| what | asked | measured | met |\n|---|---|---|---|\n'
  goal_oracle
  goal_agreement
  goal_engine libfuzzer 'libFuzzer without sanitizers' 0.1
  goal_engine afl 'AFL++' 0.5
  goal_baseline varying torch 'the PyTorch script, shapes varying' 10000
  goal_baseline varying torch-static 'the PyTorch script, each shape compiled for itself' 10000
  goal_baseline one_shape torch 'the PyTorch script, one shape' 100
  goal_growth
}

# --- the page -------------------------------------------------------------------------------------

table() # table first columns [rows]
{
  awk -f scripts/bench_table.awk -v table="$1" -v first="$2" -v columns="$3" -v rows="${4:-}" \
    "$stats"
}
pivot() # table column format rows
{
  awk -f scripts/bench_table.awk -v table="$1" -v first=K -v columns="$2;;$3" -v pivot=1 \
    -v rows="$4" "$stats"
}
plot() # name text
{
  [ ! -f "$doc/performance/$1.svg" ] || printf '\n![%s](performance/%s.svg)\n' "$2" "$1"
}
facts()
{
  printf '| | |\n|---|---|\n'
  awk -F '\t' '{ print "| " $1 " | " $2 " |" }' "$facts"
}

engine_section() # mode title
{
  printf '\n### %s\n\n' "$2"
  table "$1" target "rate;executions a second;n|rate/fuzz_empty;by the empty target's;%|\
products;judged products a second;n|median;median B\\*M\\*N\\*K;n|mean;mean;n"
}

page_head()
{
  cat <<'END'
# Performance

Made by `make bench` (`bench/`, `scripts/bench.sh`) in one run; edit neither. Absolute times are
this machine's; ratios are what is claimed. Times are of a processor, so that what else runs
counts little, but under AFL++ and for workers, where they are what passes. Whatever is compared
is measured in turn, over and over; a cell shows the median, and in parentheses the least and the
greatest. A ratio is taken within each repetition before its median is.

## The machine

END
  facts
  printf '\n## Goals\n\n'
  goals
}

page_oracle()
{
  local floats='^(f|bf)' all='.'
  cat <<'END'

## The oracle

Times are those of all steps for one output element, by K. *dot* is a sum of products and of their
absolute values in double, in 16 accumulators, compiled for this machine; *plain* is the same with
one accumulator, compiled as precfuzz is. Both read the operands as doubles that lie in memory.
*certified* encloses the element, with what must be known of the operands beforehand, and asks
MPFR where that does not settle it. *rows* is the arithmetic of eager, inductor and aot_eager in
f32 (32 accumulators, fused); *judged* is the judgement of three such results; *examined* is the
whole of it: the case's values generated, three rows run by the reference engine, and judged. 16
outputs share 4 vectors each of x and y.

### Certified oracle, by the dot in 16 accumulators

END
  pivot oracle certified/dot x "$all"
  plot oracle 'certified oracle by a dot, over K'
  printf '\n### Certified oracle, by the dot in one accumulator\n\n'
  pivot oracle certified/plain x "$all"
  printf '\n### Always MPFR, by certified first\n\n'
  pivot oracle mpfr/certified x "$all"
  plot mpfr 'nanoseconds a product of dot, certified oracle and MPFR, over K'
  printf "\n### The judgement of three rows, by the rows' own arithmetic\n\n"
  pivot oracle judged/rows x "$floats"
  plot judgement "judgement of three rows by the rows' arithmetic, over K"
  printf "\n### All of it, by the rows' own arithmetic\n\n"
  pivot oracle examined/rows x "$floats"
  for dtype in bf16 f64; do
    printf '\n### Nanoseconds a product, %s\n\n' $dtype
    table oracle 'dtype/K' "plain;plain;n|dot;dot;n|certified;certified;n|mpfr;MPFR;n|rows;rows;n|\
judged;judged;n|examined;examined;n" "^$dtype/"
  done
}

page_agreement()
{
  cat <<'END'

## Certified arithmetic and MPFR agree

Each set that certified arithmetic finds must lie within the one that MPFR finds: then no result
gets different verdicts. Random cases of every graph, dtype and kind of values, all rows, one of the
reference engines; examined once with both oracles, once with certified arithmetic first.

END
  table agreement '' "elements;elements, a process;n|products;products;n|\
open/sums;of its sums left to MPFR;%|different;different;n"
  cat <<'END'

f64 dot products of 64 terms that cancel, by the exponent of ten of their condition number, five
together:

END
  table conditions 'from 10 to the' \
    'elements;elements;n|open/sums;of their sums left to MPFR;%|different;different;n'
}

page_engines()
{
  cat <<'END'

## Under the fuzzing engines

From the seeds, by the options of `make fuzz`, one process. *fuzz_empty* does nothing and is
linked as the targets are, with the library, whose counters of coverage the engine reads after
each execution; *bare* is the same without it. A target that judges counts its cases: B\*M\*N\*K
is of those that were run. Fixed inputs: libFuzzer hands the seeds to the target in turn, in place
of mutations.
END
  engine_section libfuzzer 'libFuzzer'
  plot engines "targets' rates by the empty target's"
  engine_section libfuzzer-fixed 'libFuzzer, fixed inputs'
  engine_section asan 'libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer'
  engine_section asan-fixed 'libFuzzer, both sanitizers, fixed inputs'
  engine_section afl 'AFL++, persistent mode'
  engine_section afl-asan 'AFL++, both sanitizers'
}

page_growth()
{
  cat <<'END'

## Growth

A case of `matmul(x, y, out=f32) + bias` in bf16, all rows, one engine unless said; exponents are
slopes of log time over log number.

END
  printf '| with | exponent |\n|---|---:|\n'
  printf '| K, from 256 on | %s |\n' "$(exponent growth_k 256)"
  printf '| outputs, from 16 on | %s |\n' "$(exponent growth_outputs 16)"
  printf '| engines | %s |\n\n' "$(exponent growth_engines 1)"
  plot growth 'time a case over K, outputs and engines'
  printf '\nWorkers: processes of fuzz_matmul under libFuzzer on fixed inputs, at a time.\n\n'
  table workers workers 'rate;executions a second of all;n|rate/1;by one worker;x'
  printf '\n## Memory\n\nOne process of fuzz_matmul on random inputs, without a fuzzing engine.\n\n'
  table memory executions \
    'resident;resident, KiB;n|heap;allocated, KiB;n|rate;executions a second;n' '^(1|3)00'
  plot memory 'memory over executions'
}

page_baselines()
{
  cat <<'END'

## The same job as it is done today

`matmul(x, y) + bias` by eager, aot_eager and inductor, each judged. The PyTorch script
(`bench/baseline_torch.py`) holds each against float64 by `torch.testing.assert_close`;
*torch-static* compiles for each shape (`dynamic=False`), *torch* as `torch.compile` decides. The
other one (`bench/baseline_mpmath.py`, *numpy*) does the three in NumPy and sums exactly by gmpy2
or mpmath. precfuzz decodes the case, generates its values, runs the three rows on one engine and
judges them by their enclosures. All are given the same cases; start, first case and reading of
files do not count.

### Shapes vary

END
  local columns='rate;cases a second;n|rate/precfuzz;precfuzz by this;i|cases;cases in its time;n'
  table varying tool "$columns"
  plot baselines 'cases a second of each tool'
  printf '\n### One shape: batch 2, M 4, N 4, K 16, bf16\n\n'
  table one_shape tool "$columns"
  cat <<'END'

### Verdicts on the same results

Where shapes vary. *right* are results of the reference engine, in some order of summation,
*wrong* those of planted faults that differ from the sound kernel's. Of a right result "rejects
what can be right" is a false alarm of the tool; "passes what cannot" is a wrong result that it
lets pass. precfuzz passes a result that is as a whole what some correct execution of one of the
graph's rows gives: of wrong ones it passes those too that no order of summation forbids.

END
  table verdicts 'tool/result' "both_pass;both pass;n|both_fail;both reject;n|\
tool_fails;tool rejects what can be right;n|tool_passes;tool passes what cannot be right;n"
}

mkdir -p "$doc/performance"
scripts/bench_plots.sh "$stats" "$doc/performance"
{
  page_head
  page_oracle
  page_agreement
  page_engines
  page_growth
  page_baselines
} >"$doc/performance.md.part"
mv "$doc/performance.md.part" "$doc/performance.md"
