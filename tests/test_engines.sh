#!/bin/bash
# The commands on foreign engines: conformance, isolation, hosts, the header by itself.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
[ -x build/precfuzz ] || make --no-print-directory build/precfuzz >/dev/null || exit 3
plugin=./build/plugin

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf 'matmul x=f32[3,8] y=f32[8,5]\n' >"$folder/case.txt"
printf 'matmul_out_f32_add x=bf16[4,1,8] y=bf16[4,8,1] bias=f32[4,1,1]\n' >"$folder/script.txt"

expect() # name status pattern... : the command ends so, and says all of these
{
  local name=$1 status=$2 got=0 missing=''
  shift 2
  local -a patterns=()
  while [ "$1" != -- ]; do patterns+=("$1"); shift; done
  shift
  "$@" >"$folder/out" 2>&1 </dev/null || got=$?
  for p in "${patterns[@]}"; do
    grep -qE -- "$p" "$folder/out" || missing+=" '$p'"
  done
  if [ "$got" = "$status" ] && [ -z "$missing" ]; then
    echo "ok $name"
  else
    echo "not ok $name: status $got, $status expected; not said:$missing"
    sed 's/^/    /' "$folder/out" | head -n 40
  fi
}

check() { build/precfuzz check --strategy eager "$@"; }
test_engine() { build/precfuzz engine-test "$@"; }

# --- engine-test ---
expect 'the example conforms' 0 '^dtypes of operands: f32 bf16$' '^ok: every check' -- \
  test_engine $plugin/engine_naive.so
expect 'and in this process' 0 '^ok: every check' -- \
  test_engine --in-process $plugin/engine_naive.so
expect 'and behind a host' 0 '^ok: every check' -- \
  test_engine "exec:build/precfuzz engine-host $plugin/engine_naive.so"
expect 'an engine of whole cases conforms' 0 'takes whole cases' '^ok: every check' -- \
  test_engine $plugin/graphs.so
for deed in 'wrong IMPOSSIBLE' 'writes-before GUARD' 'changes-input INPUT' 'run-rounds FENV' \
            'unsteady UNREPEATABLE' 'run-crashes DIED' 'run-exits DIED' 'run-fails out.of.luck'; do
  expect "engine-test sees ${deed% *}" 1 "${deed#* }" '^not ok: [0-9]+ checks?$' -- \
    test_engine "$plugin/misbehaving.so:${deed% *}"
done
expect 'engine-test sees what opening changes' 1 'opening +not ok' '^not ok: 1 check$' -- \
  test_engine $plugin/misbehaving.so:open-rounds
expect 'engine-test wants support' 1 'supports none' -- \
  test_engine $plugin/misbehaving.so:run-declines
expect 'engine-test of what is no library' 2 'expected' -- test_engine reference:forward
expect 'engine-test of what is not there' 2 'No such file' -- test_engine ./nothing.so
expect 'engine-test of nothing' 2 'ENGINE is missing' -- test_engine

# --- engines ---
expect 'engines shows a table' 0 'naive.so +naive 1$' '^ +x +y +sums +result +c +bias$' \
  '^ +bf16 +bf16 +f32 +f32 +f32 +f32$' -- build/precfuzz engines $plugin/engine_naive.so
expect 'engines shows what is missing' 0 'misbehaving.so:open-absent install libmine' -- \
  build/precfuzz engines $plugin/misbehaving.so:open-absent
expect 'engines of what cannot be opened' 2 'this is why' 'naive 1' -- \
  build/precfuzz engines $plugin/misbehaving.so:open-fails $plugin/engine_naive.so

# --- isolation ---
expect 'what dies is a finding' 1 'DIED' 'signal 11' 'said +misbehaving: about to crash' \
  '--isolate' -- check --isolate --engine $plugin/misbehaving.so:run-crashes "$folder/case.txt"
expect 'several are isolated unasked' 1 'DIED' '2 results, 1 finding:' -- \
  check --engine $plugin/misbehaving.so:run-crashes,$plugin/engine_naive.so "$folder/case.txt"
expect 'also when given one by one' 1 'DIED' '2 results, 1 finding:' -- \
  check --engine $plugin/misbehaving.so:run-crashes --engine $plugin/engine_naive.so "$folder/case.txt"
expect 'what hangs is a finding' 1 'DIED' 'no answer within 1 s' -- \
  check --isolate --timeout 1 --engine $plugin/misbehaving.so:run-hangs "$folder/case.txt"
expect 'random goes on behind a death' 1 'DIED [0-9]{2}' '200 cases' -- \
  build/precfuzz random --count 200 --isolate --dtype f32 --engine $plugin/misbehaving.so:run-crashes-third \
  --output "$folder/found" --max-findings 1000
expect 'another result is a finding' 1 'UNREPEATABLE' -- \
  check --repeat --engine $plugin/misbehaving.so:unsteady "$folder/case.txt"
expect 'unless not asked for' 0 '0 findings' -- \
  check --engine $plugin/engine_naive.so "$folder/case.txt"

# --- opening ---
expect 'a death in open is an error' 2 'DIED when it was opened: it died of signal 6' -- \
  check --engine $plugin/misbehaving.so:open-aborts "$folder/case.txt"
expect 'a missing symbol is an error' 2 'no symbol precfuzz_engine' -- \
  check --engine $plugin/no_symbol.so "$folder/case.txt"
expect 'a wrong version is an error' 2 'version 1001 of precfuzz/engine.h, this is version 1' -- \
  check --engine $plugin/old_version.so "$folder/case.txt"
expect 'threads are one unless asked' 0 'OK' -- \
  env OMP_NUM_THREADS=7 build/precfuzz check --strategy eager --engine \
  "exec:test \"\$OMP_NUM_THREADS\" = 1 && build/precfuzz engine-host $plugin/engine_naive.so" "$folder/case.txt"
expect 'threads are what was asked' 0 'OK' -- \
  check --threads 3 --engine \
  "exec:test \"\$OMP_NUM_THREADS\" = 3 && build/precfuzz engine-host $plugin/engine_naive.so" "$folder/case.txt"
printf '%s\n' '# two' "$plugin/engine_naive.so" "exec:build/precfuzz engine-host $plugin/graphs.so  # b" \
  >"$folder/engines"
expect 'a file of engines' 0 'naive.so' 'exec:build' '2 results, 0 findings' -- \
  env PRECFUZZ_ENGINES_FILE="$folder/engines" build/precfuzz check --strategy eager "$folder/script.txt"
expect 'a file of engines that is not there' 2 'PRECFUZZ_ENGINES_FILE: .*No such file' -- \
  env PRECFUZZ_ENGINES_FILE="$folder/none" build/precfuzz check --strategy eager "$folder/script.txt"
expect 'a bad variable' 2 'PRECFUZZ_TIMEOUT: a number' -- \
  env PRECFUZZ_TIMEOUT=soon build/precfuzz check "$folder/case.txt"
if python3 -c 'import numpy' 2>/dev/null; then
  expect 'the NumPy example conforms' 0 '^dtypes of operands: f32 f64$' '^ok: every check' -- \
    test_engine 'exec:python3 examples/engine_numpy.py'
else
  echo 'ok the NumPy example conforms # SKIPPED: no numpy (package python3-numpy)'
fi

# --- the header ---
for language in 'c -std=c11' 'c++ -std=c++11'; do
  # shellcheck disable=SC2086  # two words
  expect "the header is ${language%% *} by itself" 0 -- \
    ${CC:-cc} -x $language -Wall -Wextra -Wpedantic -Wno-unused-function -Werror -fsyntax-only \
    include/precfuzz/engine.h
done
for example in engine_naive.c:80 engine_numpy.py:60; do
  lines=$(wc -l <"examples/${example%:*}")
  if [ "$lines" -lt "${example#*:}" ]; then echo "ok ${example%:*} is short"
  else echo "not ok ${example%:*} has $lines lines"; fi
done
