#!/bin/bash
# Do both fuzzing engines find each planted fault?
#
#   test_faults.sh TARGET [FAULT...]
#
# Each search gets FAULT_SECONDS (60) and the seeds that do not show the fault by themselves;
# fuzz_cast, whose inputs are no cases, begins with none.  What was found must be a finding without
# a fuzzing engine, too: of the fault's engine under `precfuzz check`, or of fuzz_cast itself.  Cases
# are minimized, and printed with the time that it took; behind the semicolons in src/faults/faults.h
# stands the least that shows each fault.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/engines.sh

export target=$1 seconds=${FAULT_SECONDS:-60} root=build/faults
shift

# What differs from target to target: the faults there are, how one is planted, how a file is judged
# and with what status it shows the fault, and the seeds.
case $target in
  fuzz_cast)
    export found=134  # abort
    all_faults() { PRECFUZZ_CAST_FAULT=list build/replay/fuzz_cast | sed 's/ .*//'; }
    plant() { export PRECFUZZ_CAST_FAULT=$1; }
    judge() { PRECFUZZ_CAST_FAULT=$1 build/replay/fuzz_cast "$2" 2>&1; } # fault file
    seeds() { :; }
    least() { :; }
    ;;
  *)
    export found=1
    all_faults()
    {
      local name
      build/precfuzz engines | sed -n 's/^ *fault:\([^ ]*\).*/\1/p' | while read -r name; do
        barred "$name" || echo "$name"
      done
    }
    plant() { export PRECFUZZ_ENGINES=fault:$1; }
    judge() { PRECFUZZ_ENGINES=fault:$1 build/precfuzz check "$2" 2>&1; } # fault file
    seeds() { ls corpus/seeds/*; }
    least() # fault file output
    {
      PRECFUZZ_ENGINES=fault:$1 build/precfuzz minimize "$2" -o "$3" |
        sed -n 's/^ *case  */    /p; s/^ *minimized /    /p'
      shows "$1" "$3" || { echo '    minimized: not shown any more'; return 1; }
    }
    ;;
esac

# What no search can find, and why.
barred()
{
  case $1 in
    none) ;;  # the correct kernel
    M30) ;;   # only the sign of a zero differs, and zeros are equal
    *) return 1 ;;
  esac
}

# 2>/dev/null around it: the shell tells of each abort.
shows() # fault file
{
  local status=0
  { judge "$1" "$2" >/dev/null || status=$?; } 2>/dev/null
  [ $status = "$found" ]
}

seeds_without() # fault
{
  local seed folder=$root/$1/seeds
  mkdir -p "$folder"
  seeds | while IFS= read -r seed; do
    shows "$1" "$seed" || cp "$seed" "$folder"
  done
  [ -n "$(ls "$folder")" ] || echo >"$folder/newline"  # AFL++ wants something to begin with
}

search() # engine fault
{
  local folder=$root/$2 begin=$EPOCHREALTIME crashes file word='not found'
  plant "$2"
  mkdir -p "$folder"/{libfuzzer,crashes}
  case $1 in
    libFuzzer)
      crashes=$folder/crashes
      (run_libfuzzer "build/libfuzzer/$target" "$seconds" "$folder/libfuzzer.log" "$crashes" \
        "$folder/libfuzzer" "$folder/seeds") || true ;;
    AFL++)
      crashes=$folder/afl/default/crashes
      (AFL_BENCH_UNTIL_CRASH=1 run_afl "build/afl/$target" "$seconds" "$folder/afl.log" \
        "$folder/afl" "$folder/seeds") || true ;;
  esac
  file=$(find "$crashes" \( -name 'crash-*' -o -name 'id:*' \) 2>/dev/null | head -n 1)
  if [ -n "$file" ] && shows "$2" "$file"; then
    word=found
    touch "$folder/$1.found"
  elif [ -n "$file" ]; then
    word='aborts, but shows nothing by itself'
    judge "$2" "$file" | tail -n 5 || true
  fi
  {
    awk -v f="$2" -v e="$1" -v w="$word" -v b="$begin" -v n="$EPOCHREALTIME" -v file="$file" \
      'BEGIN { printf "%-21s %-9s %s after %.1f s  %s\n", f, e, w, n - b, file }'
    [ "$word" != found ] || least "$2" "$file" "$folder/$1.case" || rm "$folder/$1.found"
  } >"$folder/$1.says" 2>&1
  cat "$folder/$1.says"  # at once, as others print too
}
export -f plant judge seeds least shows seeds_without libfuzzer_options run_libfuzzer run_afl search

[ $# -gt 0 ] || mapfile -t faults < <(all_faults)
[ $# = 0 ] || faults=("$@")
rm -rf "$root"
# shellcheck disable=SC2016  # $0 and $1 are the inner shell's
{
  printf '%s\n' "${faults[@]}" | xargs -P "$(nproc)" -n 1 bash -euc 'seeds_without "$0"'
  for fault in "${faults[@]}"; do printf 'libFuzzer %s\nAFL++ %s\n' "$fault" "$fault"; done |
    xargs -P 2 -n 2 bash -euc 'search "$0" "$1"'
}
missed=0
for engine in libFuzzer AFL++; do
  count=$(find "$root" -maxdepth 2 -name "$engine.found" | wc -l)
  echo "$engine: $count of ${#faults[@]}"
  missed=$((missed + ${#faults[@]} - count))
done
[ $missed = 0 ]
