#!/bin/bash
# Does triage sort a folder of 200 crash files from both fuzzing engines as the planted faults have it?
#
#   test_triage.sh [FOLDER]
#
# libFuzzer finds 10 crashes of each of five faults, AFL++ 30, in FOLDER (build/triage), which is kept:
# another run searches only for what is missing.  The fuzz target says
# what each file shows on each faulty engine: triage must give these groups, with these numbers of
# files; each file must be in a group of the fault that it was found on; a second run must change
# nothing.  TRIAGE_SECONDS (180) is the limit of one search.  Exit status: 0 as it should be.
# shellcheck disable=SC1091,SC2016,SC2317  # functions are called by inner shells and by check
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/engines.sh

folder=${1:-build/triage} seconds=${TRIAGE_SECONDS:-180}
faults=(M13 M15 M17 M20 M33)
export folder seconds

files() { find "$1" -type f ! -name README.txt 2>/dev/null | wc -l; }
export -f files libfuzzer_options run_libfuzzer run_afl

# libFuzzer ends at each finding: it is started again.
collect() # fuzzer fault how-many
{
  local crashes=$folder/mixed/$1-$2 begin=$SECONDS seed log=$folder/$1-$2.log each=$3
  export PRECFUZZ_ENGINES=fault:$2
  mkdir -p "$crashes"
  while [ "$(files "$crashes")" -lt "$each" ] && [ $((SECONDS - begin)) -lt "$seconds" ]; do
    if [ "$1" = libfuzzer ]; then
      seed=$((${seed:-$(files "$crashes")} + 1))
      rm -rf "$folder/new-$2"
      mkdir "$folder/new-$2"
      (run_libfuzzer build/libfuzzer/fuzz_matmul "$seconds" "$log" "$crashes" "$folder/new-$2" \
        "$folder/seeds-$2" -seed="$seed") || true
    else
      (run_afl build/afl/fuzz_matmul 30 "$log" "$folder/afl-$2" "$folder/seeds-$2") || true
      find "$folder/afl-$2/default/crashes" -name 'id:*' | sort | head -n "$each" |
        xargs -r -d '\n' cp -t "$crashes"
      cp "$folder/afl-$2/default/crashes/README.txt" "$crashes" 2>/dev/null || true
    fi
  done
  find "$crashes" -type f ! -name README.txt | sort | tail -n +$((each + 1)) | xargs -r -d '\n' rm
  printf '%-10s %-4s %d files after %d s\n' "$1" "$2" "$(files "$crashes")" $((SECONDS - begin))
}

# Seeds that do not show the fault by themselves.
seeds_without() # fault
{
  local seed
  rm -rf "$folder/seeds-$1"
  mkdir -p "$folder/seeds-$1"
  for seed in corpus/seeds/*; do
    { PRECFUZZ_ENGINES=fault:$1 build/replay/fuzz_matmul "$seed" >/dev/null 2>&1; } 2>/dev/null &&
      cp "$seed" "$folder/seeds-$1"
  done
  return 0
}
export -f collect seeds_without

# What the fuzz target says: "FILE<tab>SIGNATURE | STEP" for each fault that the file shows.
says() # file fault
{
  local told
  told=$({ PRECFUZZ_ENGINES=fault:$2 build/replay/fuzz_matmul "$1" 2>&1 >/dev/null; } 2>/dev/null |
    awk '/^ASSERTION FAILED: precfuzz: / { sub(/^ASSERTION FAILED: precfuzz: /, ""); s = $0 }
         /^    at  / { at = $2 }
         END { if (s) print s " | " at }') || true
  [ -z "$told" ] || printf '%s\t%s\n' "$1" "$told"
}
export -f says

# The same by triage's own files.
got()
{
  jq -r '.signature + " | " + .at + "\t" + .name' "$folder"/made/*/finding.json >"$folder/names"
  jq -r '.files | to_entries[] | .key as $f | .value.shows[] | $f + "\t" + .bundle' "$folder/made/files.json" |
    awk -F '\t' 'NR == FNR { of[$2] = $1; next } { print $1 "\t" of[$2] }' "$folder/names" - | sort
}

mkdir -p "$folder"
{
  printf '%s\n' "${faults[@]}" | xargs -P 2 -n 1 bash -euc 'seeds_without "$0"'
  for fault in "${faults[@]}"; do printf 'libfuzzer %s 10\nafl %s 30\n' "$fault" "$fault"; done |
    xargs -P 2 -n 3 bash -euc 'collect "$0" "$1" "$2"'
}
count=$(files "$folder/mixed")
find "$folder/mixed" -type f ! -name README.txt | while IFS= read -r file; do
  for fault in "${faults[@]}"; do printf '%s\n%s\n' "$file" "$fault"; done
done | xargs -d '\n' -P 2 -n 2 bash -euc 'says "$0" "$1"' | sort >"$folder/expected"
rm -rf "$folder/made"
engines=$(IFS=,; echo "${faults[*]/#/fault:}")
run_triage() { build/precfuzz triage "$folder/mixed" -o "$folder/made" --engine "$engines,fault:none" >"$folder/says"; }
status=0
run_triage || status=$?
got >"$folder/got"
wrong=0
check() # what command...
{
  if "${@:2}" >/dev/null; then echo "ok $1"; else
    echo "not ok $1"
    wrong=1
  fi
}
in_own_group()
{
  local fault
  for fault in "${faults[@]}"; do
    [ "$(awk -F '\t' -v f="$fault" '$1 ~ "-" f "/" && $2 ~ "^fault:" f " "' "$folder/got" | wc -l)" = 40 ] || return 1
  done
}
stamps() { find "$folder/made" -type f -exec stat -c '%n %i %y' {} + | sort; }
groups=$(cut -f 2 "$folder/expected" | sort -u | wc -l)
check "$count crash files, 200 wanted" [ "$count" = 200 ]
check "exit status $status" [ "$status" = 1 ]
check "the groups of the fuzz target, $groups of them, with the same files" cmp "$folder/expected" "$folder/got"
check 'each file is in a group of its fault' in_own_group
stamps >"$folder/before"
run_triage || true
stamps >"$folder/after"
check 'a second run changes nothing' cmp "$folder/before" "$folder/after"
tail -n 1 "$folder/says"
exit $wrong
