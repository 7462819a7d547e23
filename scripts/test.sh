#!/bin/bash
# Runs test programs and scripts, as many at a time as there are processors, and counts.
#
#   test.sh FILE...
#
# Programs are cmocka's: "[  PASSED  ] N test(s)." and "[  FAILED  ] N test(s), listed below:".
# Scripts (*.sh) print a line "ok NAME" or "not ok NAME" for each test.  What crashes, ends with
# another status than 0 without saying why, runs no test, takes too long or was not built counts as
# one failed test.  The last line is the sum; exit status 1 if anything failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

export RESULTS=${RESULTS:-build/results}
export TEST_SECONDS=${TEST_SECONDS:-280}
rm -rf "$RESULTS"
mkdir -p "$RESULTS"

count_tests() # status log...
{
  awk -v status="$1" '
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    /^\[  FAILED  \] .*[0-9]+ test\(s\), listed below/ {
      sub(/ test\(s\), listed below.*/, ""); failed += $NF
    }
    /^ok / { passed++ }
    /^not ok / { failed++ }
    END {
      if (!failed && (status || !passed)) failed = 1
      print passed + 0, failed + 0
    }' "${@:2}"
}

run_test() # file
{
  local name=${1#./}
  local log=$RESULTS/${name//\//_} status=0 begin=$EPOCHREALTIME counts word=PASS
  if [ -x "$1" ]; then
    timeout -k 5 "$TEST_SECONDS" "$1" </dev/null >"$log.out" 2>"$log.err" || status=$?
  else
    status=127
    : >"$log.out"
    echo 'was not built' >"$log.err"
  fi
  counts=$(count_tests "$status" "$log.out" "$log.err")
  echo "$counts" >"$log.count"
  [[ $counts = *' 0' ]] || word=FAIL
  {
    printf '%s %-36s %4d passed, %d failed, %5.1f s\n' $word "$1" "${counts% *}" "${counts#* }" \
      "$(awk -v b="$begin" -v e="$EPOCHREALTIME" 'BEGIN { print e - b }')"
    grep -hs '^SKIPPED ' "$log.out" | sed 's/^/    /'
    [ $word = PASS ] ||
      { echo "status $status"; tail -n 30 "$log.out"; tail -n 30 "$log.err"; } | sed 's/^/    /'
  } >"$log.report"
  cat "$log.report"  # at once, as others print too
}
export -f count_tests run_test

# shellcheck disable=SC2016  # $0 is the inner shell's
printf '%s\0' "$@" | xargs -0 -r -n 1 -P "$(nproc)" bash -c 'run_test "$0"'
cat "$RESULTS"/*.count | awk -v files=$# '
  /^[0-9]+ [0-9]+$/ { passed += $1; failed += $2; counted++ }
  END {
    failed += files - counted
    print passed + 0 " passed, " failed + 0 " failed"
    exit failed || !passed
  }'
