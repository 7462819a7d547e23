#!/bin/bash
# fuzz_cast finds each of its planted faults from nothing, by libFuzzer with a fixed seed, and
# nothing where none is planted.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

fuzzer=$PWD/build/libfuzzer/fuzz_cast replay=$PWD/build/replay/fuzz_cast
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset "${!PRECFUZZ_@}"
runs=20000

check() # name command...: its output only where it fails
{
  if "${@:2}" >"$folder/log" 2>&1; then echo "ok $1"; else
    echo "not ok $1"
    tail -n 20 "$folder/log" | sed 's/^/    /'
  fi
}

# 2>/dev/null around what aborts: the shell tells of it.
aborts() # file; leaves its report
{
  local status=0
  { "$replay" "$1" >"$folder/report" 2>&1 || status=$?; } 2>/dev/null
  cat "$folder/report"
  [ $status = 134 ]
}

fuzz() # folder
{
  mkdir -p "$1"
  "$fuzzer" -seed=1 -runs=$runs -artifact_prefix="$1/" "$1"
}

# Aborts, and says so of the fault; the input is innocent without it.
is_found() # fault
{
  local file signature
  ! PRECFUZZ_CAST_FAULT=$1 fuzz "$folder/$1" || return 1
  file=$(find "$folder/$1" -name 'crash-*')
  [ -f "$file" ] && "$replay" "$file" && PRECFUZZ_CAST_FAULT=$1 aborts "$file" || return 1
  signature=$(sed -n 's/^ASSERTION FAILED: precfuzz: //p' "$folder/report")
  case $1 in
    load-*) [[ $signature = 'cast load '* ]] ;;
    claims-*) [[ $signature = 'cast chain '*' > '*' > '* ]] ;;
    *) [[ $signature = "cast $1 "*' > '* ]] ;;
  esac && grep -q '^    due ' "$folder/report" && grep -q '^    got ' "$folder/report"
}

is_refused() # fault
{
  local status=0
  PRECFUZZ_CAST_FAULT=$1 "$replay" /dev/null >"$folder/report" 2>&1 || status=$?
  cat "$folder/report"
  [ $status = 2 ] && grep -q "PRECFUZZ_CAST_FAULT: no fault '$1'" "$folder/report"
}

check 'silent where no fault is planted' fuzz "$folder/healthy"
mapfile -t faults < <(PRECFUZZ_CAST_FAULT=list "$replay" | sed 's/ .*//')
[ ${#faults[@]} -gt 20 ] || echo "not ok only ${#faults[@]} faults"
for fault in "${faults[@]}"; do
  check "finds $fault" is_found "$fault"
done
check 'a fault that is none is refused' is_refused nothing
