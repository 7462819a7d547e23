#!/bin/bash
# A continuous run: finds a planted fault once, records it and goes on; loses nothing when it is killed;
# ends in time; waits where the disk is full; says what is wrong with its options.
# shellcheck disable=SC2016,SC2317  # conditions are evaluated; functions are called by name
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

folder=$(mktemp -d)
run_pid=''
trap 'clean_up' EXIT
unset "${!PRECFUZZ_@}" SEEDS
kept=$folder/kept

clean_up()
{
  local started
  mapfile -t started < <(jobs -p)
  [ ${#started[@]} = 0 ] || kill -TERM "${started[@]}" 2>/dev/null
  wait
  ! mountpoint -q "$folder/small" || umount "$folder/small"
  rm -rf "$folder"
}

check() # name command...: its output only where it fails
{
  if "${@:2}" >"$folder/log" 2>&1; then echo "ok $1"; else
    echo "not ok $1"
    tail -n 60 "$folder/log" | sed 's/^/    /'
  fi
}

holds() # condition...
{
  local condition
  for condition; do eval "$condition" || { echo "does not hold: $condition"; return 1; }; done
}

within() # tenths of a second, condition
{
  local _
  for _ in $(seq "$1"); do
    eval "$2" && return
    sleep 0.1
  done
  echo "not in time: $2"
  tail -n 30 "$folder/out"
  return 1
}

start() # argument...
{
  scripts/continuous.sh --findings "$kept" --jobs 1 "$@" >>"$folder/out" 2>&1 &
  run_pid=$!
}

ended() # status
{
  local status=0
  wait "$run_pid" || status=$?
  run_pid=''
  [ $status = "$1" ] || { echo "status $status"; tail -n 30 "$folder/out"; return 1; }
}

bundles() { find "$kept/bundles" -mindepth 2 -name finding.json ! -path '*/.*' 2>/dev/null | sort; }
marked() { grep -lzsFx "CONTINUOUS_RUN=$(<"$kept/.run/id")" /proc/[0-9]*/environ; }

# --- what is refused --------------------------------------------------------------------------------

refused() # text argument...
{
  local status=0
  scripts/continuous.sh "${@:2}" >"$folder/out" 2>&1 || status=$?
  cat "$folder/out"
  [ $status = 2 ] && grep -qF -- "continuous: $1" "$folder/out"
}

for wrong in 'there is no option:--no' 'there is no option:kept' '--hours: what?:--hours' '--hours:--hours x' \
  '--hours:--hours 0' '--seconds:--seconds -1' '--jobs:--jobs 0' '--jobs:--jobs 1000' '--slice:--slice 1.5' \
  '--max-disk:--max-disk 1e3' '--engine: what?:--engine --jobs 1'; do
  # shellcheck disable=SC2086  # words
  check "refused: ${wrong##*:}" refused "${wrong%:*}" ${wrong##*:}
done
check 'refused: a target that is not there' refused "--target: there is no 'fuzz_x'" --findings "$kept" --target fuzz_x
check 'refused: a fuzzer that is not there' refused "--fuzzer: there is no 'afl+'" --findings "$kept" --fuzzer afl+
check 'refused: an engine that is not there' refused "--engine: no engine is called 'fault:M99'" \
  --findings "$kept" --engine fault:M99
: >"$folder/file"
check 'refused: a folder that is none' refused '--findings:' --findings "$folder/file"
check 'refused: a folder that cannot be made' refused '--findings:' --findings /proc/self/nothing

# --- a planted fault --------------------------------------------------------------------------------

fault=(--engine fault:M13 --target fuzz_matmul --fuzzer libfuzzer --slice 300)

# Each finding has one bundle, an entry and a case that shows it; no two have a signature.
is_sound()
{
  local name
  [ -z "$(jq -r .signature $(bundles) | sort | uniq -d)" ] || { echo 'twice'; return 1; }
  diff <(bundles | sed 's|/finding.json||; s|.*/||') \
    <(sed -n 's/^\[\(.*\)\]$/\1/p' "$kept/known/known.txt" | sort) || return 1
  for name in $(bundles | head -n 3); do
    build/precfuzz check -q --known none --engine fault:M13 "${name%/*}/minimized.case" >/dev/null
    [ $? = 1 ] || { echo "$name shows nothing"; return 1; }
    build/precfuzz check -q --known "$kept/known" --engine fault:M13 "${name%/*}/minimized.case" ||
      { echo "$name is not known"; return 1; }
  done
}

finds()
{
  start "${fault[@]}"
  within 300 '[ "$(bundles | wc -l)" -ge 2 ] && compgen -G "$kept/.run/slices/*/stats" >/dev/null' &&
    holds '[ -n "$(find "$kept/crashes/fuzz_matmul" -name "crash-*")" ]'
}

is_alone() { refused '--findings: another run is on' --findings "$kept"; }

survives_kill() # nothing goes on behind it, and what is there is gone on from
{
  bundles >"$folder/before"
  rota=$(<"$kept/.run/rota")
  kill -KILL "$run_pid"
  wait "$run_pid" 2>/dev/null
  run_pid=''
  within 50 '[ -z "$(marked)" ]' || return
  # as killed between a crash and its being taken in, twice, and within a line
  local slice=$kept/.run/slices/killed
  for slice in "$slice"-{1,2}; do
    mkdir -p "$slice"/{new,crashes}
    printf '%s\n' libfuzzer fuzz_matmul fault:M13 >"$slice/unit"
    cp "$folder/crash" "$slice/crashes/crash-$(sha1sum <"$folder/crash" | cut -c 1-40)"
    echo input >"$slice/new/$(echo input | sha1sum | cut -c 1-40)"
    echo cut >"$slice/new/$(echo 'cut off' | sha1sum | cut -c 1-40)"
  done
  printf '{"time": 17' >>"$kept/bundles/status.jsonl"
  start "${fault[@]}"
  within 300 'grep -qs "matmul [a-z_]* x=f8_e5m2,y=f8_e5m2 " $(bundles)'
}

is_complete()
{
  local input
  input=$(echo input | sha1sum | cut -c 1-40)
  holds '[ "$(<"$kept/corpus/fuzz_matmul/$input")" = input ]' \
    '[ -z "$(find "$kept/corpus" -type f -exec grep -lx cut {} +)" ]' \
    '! compgen -G "$kept/.run/slices/killed*" >/dev/null' \
    '[ "$(find "$kept/crashes" -name "crash-$(sha1sum <"$folder/crash" | cut -c 1-40)" | wc -l)" = 1 ]' \
    '[ -z "$(comm -23 "$folder/before" <(bundles))" ]'
}

goes_on() # where a worker is killed
{
  local slice id=''
  within 300 'compgen -G "$kept/.run/slices/*/stats" >/dev/null' || return
  slice=$(compgen -G "$kept/.run/slices/*/stats")
  for id in $(grep -lzsFx "CONTINUOUS_SLICE=${slice%/stats}" /proc/[0-9]*/environ | cut -d / -f 3); do
    kill -KILL "$id"
  done
  [ -n "$id" ] && within 100 '[ ! -e "$slice" ]' &&
    within 300 'compgen -G "$kept/.run/slices/*/stats" >/dev/null' && kill -0 "$run_pid"
}

ends_in_time()
{
  local began=$SECONDS
  kill -TERM "$run_pid"
  ended 1 && holds "[ $((SECONDS - began)) -le 10 ]" '[ -z "$(marked)" ]' \
    '[ -z "$(ls "$kept/.run/slices")" ]'
}

tells()
{
  holds '[ "$(jq -r .state "$kept/status.json")" = ended ]' \
    '[ "$(jq .findings "$kept/status.json")" = "$(bundles | wc -l)" ]' \
    '[ "$(jq .executions "$kept/status.json")" -gt 0 ]' '[ "$(<"$kept/.run/rota")" -gt "$rota" ]' \
    'jq -e "(.shares | type) == \"array\" and .corpus > 0 and .rate >= 0" "$kept/bundles/status.jsonl"' \
    '[ -s "$kept/report.html" ]' \
    '[ "$(grep -c "<testcase" "$kept/bundles/junit.xml")" = "$(bundles | wc -l)" ]'
}

# One whose dtypes the run is unlikely to meet within seconds.
build/precfuzz random --engine fault:M13 --graph matmul --dtype f8_e5m2 --max-findings 1 --known none \
  -o "$folder/random" >/dev/null
cp "$folder"/random/*.case "$folder/crash"
check 'a crash is made' holds '[ -s "$folder/crash" ]'
check 'a fault is found and triaged while it runs' finds
check 'a second run is refused' is_alone
check 'what a killed run left is taken up' survives_kill
check 'nothing is lost, nothing is there twice' is_complete
check 'it goes on where a worker is killed' goes_on
check 'SIGTERM ends it in time' ends_in_time
check 'each finding is there once, and known' is_sound
check 'it tells of itself' tells

# --- other targets ----------------------------------------------------------------------------------

finds_other() # what has no case to triage
{
  kept=$folder/other
  PRECFUZZ_CAST_FAULT=truncates start --target fuzz_cast --fuzzer libfuzzer --slice 100
  within 300 '[ "$(bundles | wc -l)" = 1 ] && ! compgen -G "$kept/crashes/new/*/*/crash-*" >/dev/null' || return
  kill -TERM "$run_pid"
  ended 1 && holds '[ "$(bundles | wc -l)" = 1 ]' 'grep -q "testcase classname=\"fuzz_cast\"" "$kept/bundles/junit.xml"' \
    '[ -s "$(dirname "$(bundles)")/found.case" ]' '[ -n "$(find "$kept/crashes/fuzz_cast" -name "crash-*")" ]'
}
check 'a finding of another target has one bundle' finds_other

# --- room -------------------------------------------------------------------------------------------

merges() # what adds nothing goes, what adds something stays
{
  local file
  kept=$folder/merged
  mkdir -p "$kept"/{bundles,crashes} "$kept"/.run/{tmp,merged,seeds/all,seeds/fuzz_npy} "$kept/corpus/fuzz_npy"
  for file in corpus/files/fuzz_npy/*; do
    cp "$file" "$kept/corpus/fuzz_npy/$(sha1sum <"$file" | cut -c 1-40)"
    for _ in 1 2 3; do
      { cat "$file"; echo "$RANDOM"; } >"$folder/more"
      cp "$folder/more" "$kept/corpus/fuzz_npy/$(sha1sum <"$folder/more" | cut -c 1-40)"
    done
  done
  : >"$kept/.run/engines"
  echo fuzz_npy >"$kept/.run/merging"
  find "$kept/corpus" -type f | wc -l >"$folder/count"
  scripts/continuous/job.sh "$kept" merge && holds \
    '[ "$(find "$kept/corpus" -type f | wc -l)" = "$(<"$kept/.run/merged/fuzz_npy")" ]' \
    '[ "$(<"$kept/.run/merged/fuzz_npy")" -lt "$(<"$folder/count")" ]' '[ "$(<"$kept/.run/merged/fuzz_npy")" -gt 0 ]'
}

is_bounded()
{
  kept=$folder/bounded
  mkdir -p "$kept/corpus/fuzz_npy"
  echo small >"$kept/corpus/fuzz_npy/small"
  head -c 4M /dev/urandom >"$kept/corpus/fuzz_npy/large"
  start --target fuzz_npy --fuzzer libfuzzer --engine reference --max-disk 4 --seconds 3
  ended 0 && holds '[ -e "$kept/corpus/fuzz_npy/small" ]' '[ ! -e "$kept/corpus/fuzz_npy/large" ]' \
    'grep -q "MB of 4 are taken" "$folder/out"'
}

takes_along() # the fuzzer that it runs
{
  local fuzzers='$(grep -lzsF -- "CONTINUOUS_SLICE=$kept/.run/slices/" /proc/[0-9]*/environ)'
  kept=$folder/alone
  start --target fuzz_npy --fuzzer libfuzzer --engine reference --seconds 40
  within 300 "[ -n \"$fuzzers\" ]"
  sleep 1
  kill -KILL "$run_pid"
  wait "$run_pid" 2>/dev/null
  run_pid=''
  within 50 "[ -z \"$fuzzers\" ]"
}
check 'a run that is killed takes its fuzzer along' takes_along
check 'a corpus is merged' merges
check 'the folder stays below its limit' is_bounded

waits()
{
  kept=$folder/small/kept
  head -c 20M /dev/zero >"$folder/small/ballast"
  start --engine reference --target fuzz_matmul --fuzzer libfuzzer --max-disk 64
  within 100 'grep -q "the disk is full" "$folder/out"' && [ -z "$(ls "$kept/.run/slices")" ] &&
    rm "$folder/small/ballast" && within 150 'compgen -G "$kept/.run/slices/*/stats" >/dev/null' &&
    grep -q 'there is room again' "$folder/out" && kill -TERM "$run_pid" && ended 0
}
mkdir "$folder/small"
if mount -t tmpfs -o size=26m tmpfs "$folder/small" 2>/dev/null; then
  check 'a full disk is waited for' waits
else
  echo 'SKIPPED a full disk is waited for: nothing can be mounted here'
fi
