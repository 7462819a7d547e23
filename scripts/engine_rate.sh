#!/bin/bash
# Cases a second that fuzz_matmul judges by each engine, beside the rate by precfuzz's own loops.
#
#   engine_rate.sh ENGINE...
#
# The cases are the seeds in dtypes of PyTorch with at most 4096 products, over and over, by libFuzzer
# without its mutations (build/bench/libfuzzer-fixed/fuzz_matmul, made first).  Rates are executions in
# SECONDS_EACH (5) of a processor but for the start, the median of three runs in turn.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# != 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=build/bench/libfuzzer-fixed/fuzz_matmul seconds=${SECONDS_EACH:-5}
make --no-print-directory build/precfuzz "$program" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset "${!PRECFUZZ_@}"
export PRECFUZZ_BENCH_INPUTS=$work/cases PRECFUZZ_KNOWN=corpus/regressions LC_ALL=C

mkdir "$work/cases"
build/precfuzz check --json --engine reference:forward --strategy eager corpus/seeds/* |
  jq -r '.cases[] | select(.sizes.products > 0 and .sizes.products <= 4096) |
    select(.case | test("^[^ ]+ x=(f32|f64|f16|bf16)\\[")) | .file' |
  xargs cp -t "$work/cases"

# executions and seconds of a processor
run() # engine option...
{
  (
    PRECFUZZ_ENGINES=$1 "$program" -print_final_stats=1 "${@:2}" "$work/cases" >"$work/log" 2>&1 ||
      { tail -n 20 "$work/log" >&2; exit 3; }
    times >"$work/times"
  )
  awk '
    function seconds(text, part) { split(text, part, /[ms]/); return 60 * part[1] + part[2] }
    /^stat::number_of_executed_units:/ { units = $2 }
    FILENAME ~ "/times$" && FNR == 2 { used = seconds($1) + seconds($2) }
    END { print units, used }' "$work/log" "$work/times"
}

rate() # engine
{
  { run "$1" -runs=0; run "$1" -max_total_time="$seconds"; } |
    awk 'NR == 1 { n = $1; s = $2 } NR == 2 { printf "%.0f\n", ($1 - n) / ($2 - s) }'
}

for _ in 1 2 3; do
  for engine in reference "$@"; do
    rate "$engine" >>"$work/${engine//\//_}.rates"
  done
done
median() { sort -g "$work/${1//\//_}.rates" | sed -n 2p; }
printf '%d cases of 1 to 4096 products\n' "$(find "$work/cases" -type f | wc -l)"
printf '%-20s %12s %s\n' engine 'cases a s' 'by the reference'
for engine in reference "$@"; do
  printf '%-20s %12d %.2f\n' "$engine" "$(median "$engine")" \
    "$(awk -v a="$(median "$engine")" -v b="$(median reference)" 'BEGIN { print a / b }')"
done
