#!/bin/bash
# Both engines on every target for a few seconds: silent on the reference engine, not on a fault;
# what they find is kept, grouped and can be reproduced by the command that is printed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset "${!PRECFUZZ_@}"

check() # name command...: its output only where it fails
{
  if "${@:2}" >"$folder/log" 2>&1; then echo "ok $1"; else
    echo "not ok $1"
    sed 's/^/    /' "$folder/log"
  fi
}

# Both lines of the summary tell of at least so many executions.
executed() { awk -v n="$2" '/^(libFuzzer|AFL\+\+) / && $2 >= n { k++ } END { exit k != 2 }' "$1"; }

is_silent() # target
{
  scripts/fuzz.sh "$1" 5 "$folder/$1" >"$folder/out" || { cat "$folder/out"; return 1; }
  cat "$folder/out"
  grep -qx 'findings: 0' "$folder/out" && executed "$folder/out" 100 || return 1
  ! grep -q pf_harness_examine "fuzz/$1.c" || grep -q '^aot_eager ' "$folder/out"
}

finds() # fault
{
  local status=0
  PRECFUZZ_ENGINES=$1 scripts/fuzz.sh fuzz_matmul 5 "$folder/fault" >"$folder/out" || status=$?
  cat "$folder/out"
  [ $status = 1 ] && grep -q "^  $1 .* contract IMPOSSIBLE\$" "$folder/out" &&
    [ -n "$(find "$folder/fault/crashes" -name 'crash-*')" ] &&
    [ -n "$(find "$folder/fault/crashes" -name 'afl-*')" ]
}

reproduces() # the command in the report, as it stands
{
  local command status=0
  command=$(sed -n 's/^ *reproduce //p' "$folder/fault/findings.txt" | head -n 1)
  [ -n "$command" ] || return 1
  bash -c "$command" || status=$?
  [ $status = 1 ]
}

is_mended() # what aborted before no longer counts under another engine
{
  scripts/fuzz.sh fuzz_matmul 1 "$folder/fault" >"$folder/out" || { cat "$folder/out"; return 1; }
  cat "$folder/out"
  grep -qx 'findings: 0' "$folder/out"
}

goes_on() # more to begin with than the seeds
{
  [ "$(find "$folder/fault/corpus" -type f | wc -l)" -gt "$(find corpus/seeds -type f | wc -l)" ]
}

# Known findings neither end a run nor count; their cases are among the inputs.
spares_known()
{
  local eight=5800,5800,5800,5800,5800,5800,5800,5800 verdict
  mkdir "$folder/known"
  : >"$folder/known/known.txt"
  # too large for f16 without the last term, not for f32
  build/precfuzz encode "matmul_out_f32_add x=f16[1,9] y=f16[9,1] bias=f16[1] x.bits=$eight,6000 \
y.bits=$eight,dc00" -o "$folder/case" || return 1
  for verdict in IMPOSSIBLE SPECIAL; do
    build/precfuzz regress --add "$verdict" --known "$folder/known" --reason 'it is planted' \
      --signature "fault:M13 * * * contract $verdict" "$folder/case" || return 1
  done
  PRECFUZZ_KNOWN=$folder/known PRECFUZZ_ENGINES=fault:M13 scripts/fuzz.sh fuzz_matmul 3 \
    "$folder/spared" || return 1
  [ "$(find "$folder/spared/regressions" -type f | wc -l)" = \
    "$(find corpus/regressions -name '*.case' | wc -l)" ]
}

# One engine, so many times: silent, or on and on behind its findings.
counts_executions()
{
  local status=0
  scripts/fuzz_engine.sh fault:none 3000 "$folder/none" >"$folder/out" || status=$?
  cat "$folder/out"
  [ $status = 0 ] && grep -qE '^fault:none: 3[0-9]{3} executions in ' "$folder/out" &&
    grep -qx 'findings: 0' "$folder/out" || return 1
  MOST=2 scripts/fuzz_engine.sh fault:M13 100000 "$folder/M13" >"$folder/out" || status=$?
  cat "$folder/out"
  [ $status = 1 ] && grep -q '^  fault:M13 .* contract IMPOSSIBLE$' "$folder/out" &&
    [ "$(grep -ac '^ASSERTION FAILED' "$folder/M13/log")" = 2 ]
}

for target in fuzz/fuzz_*.c; do
  check "$(basename "$target" .c) is silent" is_silent "$(basename "$target" .c)"
done
check 'a fault is found by both engines' finds fault:M13
check 'the report says how to reproduce it' reproduces
check 'executions of one engine are counted' counts_executions
check 'old crashes that pass are no findings' is_mended
check 'known findings do not end a run' spares_known
check 'a run goes on where the last one ended' goes_on
