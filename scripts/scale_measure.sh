#!/bin/bash
# What a second worker is worth: executions, coverage and planted faults found per hour of a processor.
#
#   scale_measure.sh FOLDER
#
# Prints lines of tab-separated fields.  Each engine runs fuzz_matmul with 1 and with 2 workers that
# share what they find, SCALE_RUNS (2) times, to the same number of executions in all:
#   search ENGINE WORKERS RUN EXECUTIONS SECONDS FEATURES       SCALE_EXECUTIONS (100000) from the seeds
#   fault  ENGINE WORKERS RUN EXECUTIONS SECONDS FAULT FOUND    to the fault of SCALE_FAULTS, or to
#                                                               SCALE_FAULT_EXECUTIONS (30000)
# SECONDS are those of processors, of workers and all that they start, so that what else runs on the
# machine counts little.  FEATURES are libFuzzer's, of all inputs that were kept, beyond the seeds'.
# Needs build/libfuzzer/fuzz_matmul and build/afl/fuzz_matmul.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/engines.sh

root=$1 runs=${SCALE_RUNS:-2} executions=${SCALE_EXECUTIONS:-100000}
fault_executions=${SCALE_FAULT_EXECUTIONS:-30000}
read -r -a faults <<<"${SCALE_FAULTS:-M08 M19 M20 M21 M31 M38}"
libfuzzer=build/libfuzzer/fuzz_matmul afl=build/afl/fuzz_matmul
unset "${!PRECFUZZ_@}"
export LC_ALL=C PRECFUZZ_KNOWN=corpus/regressions

# Of seeds what shows nothing by itself.
begin_with() # folder
{
  mkdir -p "$1/begin" "$1/found" "$1/crashes"
  "$libfuzzer" -merge=1 -artifact_prefix="$1/" "$1/begin" corpus/seeds >"$1/merge.log" 2>&1 </dev/null ||
    { tail -n 5 "$1/merge.log" >&2; exit 3; }
}

features() # folder...
{
  "$libfuzzer" -runs=0 "$@" 2>&1 </dev/null | sed -n 's/.*DONE .*ft: \([0-9]*\) .*/\1/p'
}

worker() # engine number of-all run executions folder
{
  local options=()
  case $1 in
    libFuzzer) run_libfuzzer "$libfuzzer" 0 "$6/$2.log" "$6/crashes" "$6/found" "$6/begin" \
      -runs=$(($5 / $3)) -seed=$((100 * $4 + $2)) ;;
    AFL++)
      [ "$2" = 1 ] && options=(-M main) || options=(-S "more-$2")
      AFL_NO_AFFINITY=1 AFL_BENCH_UNTIL_CRASH=1 run_afl "$afl" 100000 "$6/$2.log" "$6/afl" "$6/begin" \
        "${options[@]}" -E $(($5 / $3)) -s $((100 * $4 + $2)) ;;
  esac
}

crashes() { find "$1/crashes" "$1/afl" -name 'crash-*' -o -path '*/crashes/id:*' 2>/dev/null | wc -l; }

# What some processes and all that came of them have taken of processors so far, in ticks: a line of
# number and ticks for each.  AFL++ kills its targets without waiting for them, so that no parent is told.
taken() # process...
{
  awk -v some="$*" '
    { parent[$1] = $4; ticks[$1] = $14 + $15 }
    END {
      n = split(some, list, " ")
      for (i = 1; i <= n; i++) ours[list[i]] = 1
      for (more = 1; more;) {
        more = 0
        for (p in parent) if (!(p in ours) && parent[p] in ours) more = ours[p] = 1
      }
      for (p in ours) if (p in ticks) print p, ticks[p]
    }' /proc/[0-9]*/stat 2>/dev/null || true
}

# All workers; a finding of one ends the others.  Prints the seconds of processors.
work() # engine workers run executions folder
{
  local i pids=() pid left
  for i in $(seq "$2"); do
    worker "$1" "$i" "$2" "$3" "$4" "$5" &
    pids+=($!)
  done
  : >"$5/taken"
  while :; do
    taken "${pids[@]}" >>"$5/taken"
    left=0
    for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null && left=1; done
    [ $left = 1 ] || break
    [ "$(crashes "$5")" = 0 ] || kill -TERM "${pids[@]}" 2>/dev/null || true
    sleep 0.1
  done
  awk -v hertz="$(getconf CLK_TCK)" '
    $2 > ticks[$1] { ticks[$1] = $2 }
    END { for (pid in ticks) sum += ticks[pid]; print sum / hertz }' "$5/taken"
}

executed() { od -An -v -t u8 -w8 -N 8 "$1/stats" | tr -d ' '; }

once() # engine workers run executions folder
{
  local seconds
  begin_with "$5"
  seconds=$(PRECFUZZ_STATS=$5/stats work "$@")
  printf '%s\t%s\t%s\t%s\t%s' "$1" "$2" "$3" "$(executed "$5")" "$seconds"
}

rm -rf "$root"
for run in $(seq "$runs"); do
  for engine in libFuzzer AFL++; do
    for workers in 1 2; do
      folder=$root/$engine-$workers-$run
      row=$(once "$engine" $workers "$run" "$executions" "$folder")
      kept=("$folder/found" "$folder"/afl/*/queue)
      [ -d "${kept[1]}" ] || kept=("$folder/found")
      printf 'search\t%s\t%d\n' "$row" $(($(features "${kept[@]}" "$folder/begin") - $(features "$folder/begin")))
      for fault in "${faults[@]}"; do
        folder=$root/$engine-$workers-$run-$fault
        row=$(PRECFUZZ_ENGINES=fault:$fault once "$engine" $workers "$run" "$fault_executions" "$folder")
        printf 'fault\t%s\t%s\t%d\n' "$row" "$fault" $(($(crashes "$folder") > 0))
      done
    done
  done
done
