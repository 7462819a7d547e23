#!/bin/bash
# make bench's machinery, with settings so small that its numbers mean nothing: every table has
# its rows with as many samples as were asked for, every plot is drawn, what was not measured is
# said to be so, and docs/ stays as it is.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS QUICK "${!BENCH_@}" "${!PRECFUZZ_@}"
samples=$folder/samples/samples.tsv page=$folder/doc/performance.md
modes='libfuzzer-fixed afl'

check() # name command...: its output only where it fails
{
  if "${@:2}" >"$folder/log" 2>&1; then echo "ok $1"; else
    echo "not ok $1"
    sed 's/^/    /' "$folder/log"
  fi
}

is_built()
{
  make --no-print-directory bench-programs BENCH_MODES="$modes" BENCH_TARGETS=fuzz_matmul
}

runs()
{
  BENCH_DOC=$folder/doc BENCH_FOLDER=$folder/samples BENCH_REPS=3 BENCH_MS=1 BENCH_LARGEST_K=64 \
    BENCH_EXECUTIONS=400 BENCH_COMPARED=5000 BENCH_ENGINE_REPS=1 BENCH_SECONDS=1 BENCH_TOOLS=numpy \
    BENCH_MODES="$modes" BENCH_TARGETS=fuzz_matmul BENCH_BASELINE_REPS=1 BENCH_BASELINE_SECONDS=1 \
    BENCH_CASES=40 scripts/bench.sh
}

# --- samples --------------------------------------------------------------------------------------

# So many samples of each column, all of them numbers above zero, in each of the rows.
has() # count table columns rows...
{
  local row column count
  for row in "${@:4}"; do
    for column in $3; do
      count=$(awk -F '\t' -v t="$2" -v r="$row" -v c="$column" '
        $1 == t && $2 == r && $3 == c && $5 ~ /^[0-9.]+(e[-+]?[0-9]+)?$/ && $5 > 0 { n++ }
        END { print n + 0 }' "$samples")
      [ "$count" = "$1" ] || { echo "$2 $row $column: $count samples instead of $1"; return 1; }
    done
  done
}

has_oracle()
{
  local t k columns
  for t in f64 f32 f16 bf16 f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz s8 u8 s32; do
    columns='plain dot certified mpfr'
    case $t in f64 | [su]*) ;; *) columns+=' rows judged examined' ;; esac
    for k in 1 4 16 64; do
      has 3 oracle "$columns" $t/$k || return 1
    done
  done
}

has_growth()
{
  has 3 growth_k examined 16 32 64 && has 3 growth_outputs examined 4 16 64 256 &&
    has 3 growth_engines examined 1 2 4 6 8 10
}

has_memory() { has 1 memory 'resident heap rate' 1 3 10 30 100 300 400; }

has_agreement()
{
  has "$(nproc)" agreement 'elements products sums open' random &&
    has 1 conditions 'elements sums' 0 5 10 15 20 25 30 &&
    ! awk -F '\t' '$3 == "different" && $5 != 0' "$samples" | grep .
}

has_engines()
{
  local mode
  for mode in $modes; do
    has 1 "$mode" rate fuzz_empty fuzz_matmul || return 1
    has 1 "$mode" 'products mean' fuzz_matmul || return 1
  done
  has 1 workers rate 1 2
}

has_numpy()
{
  scripts/python_with.sh numpy gmpy2 || scripts/python_with.sh numpy mpmath
} >/dev/null

has_baselines()
{
  has 1 varying rate precfuzz && has 1 one_shape rate precfuzz || return 1
  has_numpy || return 0
  has 1 varying rate numpy && has 1 one_shape rate numpy && has 1 verdicts both_pass numpy/right &&
    has 1 verdicts both_fail numpy/wrong
}

# --- the page -------------------------------------------------------------------------------------

# Every row of every table has as many cells as its head; the numbers are numbers.
is_table()
{
  grep -q '^|' "$page" && ! grep -E '\| [^|]*\b(nan|inf)\b' "$page" &&
    awk -F '|' '
      /^\|/ { if (n && NF != n) { print; bad = 1 } n = NF; next }
      { n = 0 }
      END { exit bad }' "$page"
}

# Of the six ways to run a target four were left out; of the goals that on one of them, three on
# PyTorch, and two that want greater K and more executions.
says_what_is_missing()
{
  local tables=4
  has_numpy || tables=5
  [ "$(grep -cx 'Not measured.' "$page")" = $tables ] &&
    [ "$(grep -c '| not measured |  |$' "$page")" = 6 ] &&
    [ "$(grep -cE '\| (yes|no) \|$' "$page")" = 9 ]
}

has_plots()
{
  local plot
  for plot in oracle mpfr judgement growth memory engines baselines; do
    grep -q '</svg>' "$folder/doc/performance/$plot.svg" &&
      grep -qF "(performance/$plot.svg)" "$page" || return 1
  done
}

# --- the arithmetic behind it ---------------------------------------------------------------------

# Medians of even and odd counts, ratios within repetitions, whatever comes first.
is_median()
{
  printf '%s\t%s\t%s\t%s\t%s\n' t r a 1 8 t r b 1 2 t r a 2 9 t r b 2 3 t r a 3 100 t q b 1 10 \
    t q b 2 20 | awk -f scripts/bench_stat.awk -v ratios=a/b -v against=b/q >"$folder/stats"
  diff "$folder/stats" - <<END
$(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' t r a 3 9 8 100 t r b 2 2.5 2 3 t q b 2 15 10 20 \
  t r a/b 2 3.5 3 4 t r b/q 2 0.175 0.15 0.2 t q b/q 2 1 1 1)
END
}

refuses() # status command...
{
  local status=0
  "${@:2}" || status=$?
  [ $status = "$1" ]
}

keeps_docs()
{
  [ "$(find docs -type f -exec sha1sum {} + | sort)" = "$docs" ]
}

docs=$(find docs -type f -exec sha1sum {} + | sort)
check 'medians and ratios' is_median
check 'the benchmark is built' is_built
check 'the benchmark runs' runs
check 'oracle: every dtype and K' has_oracle
check 'growth: K, outputs, engines' has_growth
check 'memory: from the first execution to the last' has_memory
check 'agreement: nothing different' has_agreement
check 'engines: each mode, the target and the empty one' has_engines
check 'baselines: both kinds of cases' has_baselines
check 'the page is made of tables' is_table
check 'the page says what was not measured' says_what_is_missing
has_numpy || echo 'skipped: a script of today: no NumPy here (scripts/setup.sh bench)' >&2
if command -v gnuplot >/dev/null; then check 'plots are drawn' has_plots; else
  echo 'skipped: plots: gnuplot is not installed (scripts/setup.sh bench)' >&2
fi
check 'docs/ is left alone' keeps_docs
check 'no repetition is no number' refuses 2 build/bench/bench_oracle 0 1
check 'no file, no counters' refuses 2 build/bench/bench_counters "$folder/none"
check 'neither varying nor one_shape' refuses 2 build/bench/bench_cases all 1 1 "$folder/cases"
