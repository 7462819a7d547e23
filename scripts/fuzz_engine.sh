#!/bin/bash
# So many executions of one engine: what docs/findings.md counts.
#
#   fuzz_engine.sh ENGINE EXECUTIONS [FOLDER]
#
# libFuzzer runs fuzz_matmul (make libfuzzer) on ENGINE until EXECUTIONS cases were examined, all
# layouts, values and dtypes among them, and goes on behind each finding that is not known.  After
# MOST (20) of them, or on Ctrl-C, it ends with what was done so far.  Inputs stay in FOLDER
# (build/fuzz/ENGINE), from which the next run begins; counts begin at 0.  The environment's
# PRECFUZZ_* settings hold: PRECFUZZ_STRATEGIES=eager is twice as fast, PRECFUZZ_ISOLATE=1 for
# libraries that die.  Exit status: 0 no finding, 1 findings, 3 the machinery failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/engines.sh

engine=$1 wanted=$2 folder=${3:-build/fuzz/${1//[^a-zA-Z0-9]/-}} most=${MOST:-20}
stats=$folder/stats log=$folder/log
mkdir -p "$folder"/{inputs,crashes,tmp}
rm -f "$stats" "$log"
TMPDIR=$(cd "$folder/tmp" && pwd)
export TMPDIR
export PRECFUZZ_ENGINES=$engine PRECFUZZ_KNOWN=${PRECFUZZ_KNOWN:-corpus/regressions}

# executions, elements and products so far
counters() { od -An -v -t u8 -w24 -N 24 "$stats" 2>/dev/null | grep . || echo 0 0 0; }

start() # executions
{
  PRECFUZZ_STATS=$stats run_libfuzzer build/libfuzzer/fuzz_matmul 0 "$log" "$folder/crashes" \
    "$folder/inputs" corpus/seeds -runs="$1" &
  pid=$!
}

pid='' stopped='' failed='' executions=0 begin=$SECONDS
trap 'stopped=yes; [ -z "$pid" ] || kill -KILL -- "-$pid" || true' INT TERM HUP
touch "$folder/begin"
while [ "$executions" -lt "$wanted" ] && [ $((most--)) -gt 0 ]; do
  status=0 before=$executions
  start $((wanted - executions))
  wait "$pid" || status=$?
  read -r executions elements products < <(counters)
  [ -z "$stopped" ] || break
  case $status in
    0) [ "$executions" -gt "$before" ] || break ;;  # a run that is no case is no execution
    7[0-7]) ;;
    *) failed=$status; break ;;
  esac
done
printf '%s: %d executions in %d s, %d elements of %d products judged\n' \
  "$engine" "$executions" $((SECONDS - begin)) "${elements:-0}" "${products:-0}"
found=0
scripts/findings.sh fuzz_matmul "$folder" || found=$?
if [ -n "$failed" ]; then
  echo "fuzz_engine: fuzz_matmul ended with status $failed, see $log:" >&2
  tail -n 15 "$log" >&2
  exit 3
fi
exit $found
