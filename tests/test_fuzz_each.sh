#!/bin/bash
# One engine after the other: each has its share of the time and its line in the table; what dies
# takes nothing along; what is known is counted by itself; a signal ends it in order.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset "${!PRECFUZZ_@}"
export FUZZ_FOLDER=$folder/fuzz
crashing=build/plugin/misbehaving.so:run-crashes
naive=build/plugin/engine_naive.so

check() # name command...: its output only where it fails
{
  if "${@:2}" >"$folder/log" 2>&1; then echo "ok $1"; else
    echo "not ok $1"
    tail -n 80 "$folder/log" | sed 's/^/    /'
  fi
}

fuzz() # status argument...
{
  local status=0
  scripts/fuzz_each.sh fuzz_matmul "${@:2}" >"$folder/out" 2>&1 || status=$?
  cat "$folder/out"
  echo "(status $status)"
  [ $status = "$1" ]
}

# The engine's line: it has run, and the condition on findings and known holds.
told() # engine condition
{
  awk -v e="$1" "\$1 == e { seen = 1; executions = \$2; findings = \$4; known = \$5 }
    END { exit !(seen && executions > 0 && ($2)) }" "$folder/out"
}

survives()
{
  fuzz 1 8 $crashing reference $naive && told $crashing 'findings > 0 && known == 0' &&
    told reference 'findings == 0' && told $naive 'findings == 0' &&
    grep -q "^  $crashing .* DIED\$" "$folder/out" && grep -qx '=== reference, 4 s' "$folder/out" &&
    grep -qx "=== $naive, 2 s" "$folder/out"
}

reproduces() # the command in the report, as it stands
{
  local command status=0
  command=$(sed -n 's/^ *reproduce //p' "$FUZZ_FOLDER"/fuzz_matmul/*run-crashes/findings.txt |
    head -n 1)
  [ -n "$command" ] || return 1
  bash -c "$command" || status=$?
  [ $status = 1 ]
}

knows() # what is listed is counted, and no finding
{
  mkdir "$folder/known"
  : >"$folder/known/known.txt"
  build/precfuzz regress --add dies --known "$folder/known" \
    --signature "$crashing * * * contract DIED" --reason 'made to' corpus/seeds/03-matmul &&
    PRECFUZZ_KNOWN=$folder/known fuzz 0 2 $crashing && told $crashing 'findings == 0 && known > 0'
}

obeys() # PRECFUZZ_ENGINES
{
  PRECFUZZ_ENGINES=reference:forward fuzz 0 1 && ! grep -q '^===' "$folder/out" &&
    grep -qx 'findings: 0' "$folder/out"
}

is_interrupted() # in the first of two
{
  local pid status=0
  scripts/fuzz_each.sh fuzz_matmul 1000 reference $naive >"$folder/out" 2>&1 &
  pid=$!
  for _ in $(seq 600); do
    ! grep -q 'libFuzzer [1-9]' "$folder/out" || break
    sleep 0.1
  done
  kill -TERM $pid
  wait $pid || status=$?
  cat "$folder/out"
  [ $status = 0 ] && told reference 'findings == 0' && ! grep -q "^$naive" "$folder/out" &&
    [ -z "$(pgrep -f "$FUZZ_FOLDER")" ]
}

check 'a library that dies is a finding, and the others have their turn' survives
check 'the report says how to reproduce it' reproduces
check 'what is known is counted by itself' knows
check 'PRECFUZZ_ENGINES is obeyed' obeys
check 'a signal ends it in order' is_interrupted
