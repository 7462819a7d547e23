#!/bin/bash
# Fuzzes one engine after the other: precfuzz's own orders, then each library that is there.
#
#   fuzz_each.sh TARGET SECONDS [ENGINE...]
#
# ENGINE is "reference" or whatever PRECFUZZ_ENGINES takes.  None named: fuzz_matmul judges the
# reference, in half of the time, and every library that `precfuzz engines` finds, in the other half;
# another target the reference.  Where PRECFUZZ_ENGINES or PRECFUZZ_ENGINES_FILE is set, there is one
# run with those.
#
# A library runs in a process of its own (with PRECFUZZ_ISOLATE= in the fuzzer's): what dies is a
# finding and takes nothing along.  FUZZ_FOLDER (build/fuzz)/TARGET/ENGINE is what fuzz.sh keeps.
# Exit status: 0 no finding, 1 findings, 3 the machinery failed.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$1 seconds=$2 root=${FUZZ_FOLDER:-build/fuzz}/$1
shift 2
table=$root/engines.txt
mkdir -p "$root"

# One run, in a child so that Ctrl-C and `docker stop`, which tell this process alone, end it in order.
run() # argument of fuzz.sh...
{
  local status=0
  scripts/fuzz.sh "$target" "$@" &
  child=$!
  wait $child || status=$?
  while kill -0 $child 2>/dev/null; do  # a signal ended the waiting, not the child
    status=0
    wait $child || status=$?
  done
  child=''
  return $status
}
child='' stopped=''
trap 'stopped=yes; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || true' INT TERM HUP

if [ $# = 0 ] && [ -n "${PRECFUZZ_ENGINES:-}${PRECFUZZ_ENGINES_FILE:-}" ]; then
  status=0
  run "$seconds" "$root/chosen" || status=$?
  exit $status
fi

# Those that are there and their versions, with tabs between.
libraries()
{
  build/precfuzz engines --json |
    jq -r '.libraries[] | select(.version != null) | [.engine, .version] | @tsv'
}

versions=$(libraries) || echo 'fuzz: not every library can be opened; the others have their turn' >&2
engines=("$@")
if [ $# = 0 ]; then
  engines=(reference)
  [ "$target" != fuzz_matmul ] || mapfile -t -O 1 engines < <(cut -f 1 <<<"$versions" | grep .)
fi

# Half of it for the reference, as that is many orders of summation.
share() # engine
{
  local others=0 engine time=$seconds
  for engine in "${engines[@]}"; do
    [ "$engine" = reference ] || others=$((others + 1))
  done
  if [ "$1" = reference ]; then
    [ $others = 0 ] || time=$((seconds - seconds / 2))
  else
    [[ " ${engines[*]} " != *' reference '* ]] || time=$((seconds / 2))
    time=$((time / others))
  fi
  echo $((time > 0 ? time : 1))
}

judge() # engine
{
  local folder=$root/${1//[^[:alnum:]._-]/_} time more=()
  time=$(share "$1")
  printf '\n=== %s, %s s\n' "$1" "$time"
  if [ "$1" = reference ]; then
    run "$time" "$folder"
  else
    # What reached something new there is another shape, layout or kind of values here, too.
    [ ! -d "$root/reference/corpus" ] || more=("$root"/reference/{corpus,libfuzzer})
    PRECFUZZ_ENGINES=$1 PRECFUZZ_ISOLATE=${PRECFUZZ_ISOLATE-1} TABLE=no \
      run "$time" "$folder" "${more[@]}"
  fi
}

# A line of the table; only what a run has ended with counts.
tell() # engine status
{
  local folder=$root/${1//[^[:alnum:]._-]/_} executions=0 products=0 known=0 time=1 found=0
  [ "$2" = 3 ] || read -r executions products known time found <"$folder/totals"
  [ "$2" != 3 ] || found=failed
  printf '%-16s %12d %16d %9s %12d  %s\n' "$1" "$executions" $((products / time)) "$found" \
    "$known" "$(awk -F '\t' -v e="$1" '$1 == e { print $2 }' <<<"$versions")"
}

worst=0
printf '%-16s %12s %16s %9s %12s  %s\n' engine executions 'products per s' findings 'known ones' \
  version >"$table"
for engine in "${engines[@]}"; do
  status=0
  judge "$engine" || status=$?
  case $status in 0 | 1) ;; *) status=3 ;; esac
  [ $status -le $worst ] || worst=$status
  tell "$engine" $status >>"$table"
  [ -z "$stopped" ] || break
done
echo
cat "$table"
exit $worst
