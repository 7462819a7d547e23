#!/bin/bash
# So many executions of one engine: what docs/findings.md counts.
#
#   fuzz_engine.sh ENGINE EXECUTIONS [FOLDER]
#
# libFuzzer runs fuzz_matmul on ENGINE, all layouts, values and dtypes, until EXECUTIONS cases were
# examined, and goes on behind each finding that is not known.  Inputs stay in FOLDER
# (build/fuzz/ENGINE), from which the next run begins; its counts begin at 0.  The environment's
# PRECFUZZ_* settings hold; PRECFUZZ_ISOLATE=1 is for libraries that die.  After MOST (20) findings
# it gives up.  Exit status: 0 no finding, 1 findings, 3 the machinery failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/engines.sh

engine=$1 wanted=$2 folder=${3:-build/fuzz/${1//[^a-zA-Z0-9]/-}} most=${MOST:-20}
program=build/libfuzzer/fuzz_matmul stats=$folder/stats log=$folder/log
mkdir -p "$folder"/{inputs,crashes,tmp}
rm -f "$stats" "$log"
TMPDIR=$(cd "$folder/tmp" && pwd)
export TMPDIR
export PRECFUZZ_ENGINES=$engine PRECFUZZ_KNOWN=${PRECFUZZ_KNOWN:-corpus/regressions}

# executions, elements and products so far
counters() { od -An -v -t u8 -w24 -N 24 "$stats" 2>/dev/null | grep . || echo 0 0 0; }

go_on() # executions
{
  (export PRECFUZZ_STATS=$stats
   run_libfuzzer "$program" 0 "$log" "$folder/crashes" "$folder/inputs" corpus/seeds -runs="$1")
}

touch "$folder/begin"
begin=$SECONDS executions=0 ended=0
while [ "$executions" -lt "$wanted" ] && [ $((most--)) -gt 0 ]; do
  status=0 before=$executions
  go_on $((wanted - executions)) || status=$?
  read -r executions elements products < <(counters)
  case $status in
    0 | 7[0-7]) ;;
    *) ended=$status; break ;;
  esac
  # Inputs that are no case are runs, but no executions.
  [ $status != 0 ] || [ "$executions" -gt "$before" ] || break
done
printf '%s: %d executions in %d s, %d elements of %d products judged\n' \
  "$engine" "$executions" $((SECONDS - begin)) "${elements:-0}" "${products:-0}"
found=0
scripts/findings.sh fuzz_matmul "$folder" || found=$?
if [ "$ended" != 0 ]; then
  echo "fuzz_engine: $program ended with status $ended:" >&2
  tail -n 15 "$log" >&2
  exit 3
fi
exit $found
