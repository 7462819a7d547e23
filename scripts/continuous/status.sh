# shellcheck shell=bash disable=SC2154
# What a run tells of itself: a line a minute, status.json, bundles/status.jsonl, report.html.

# --- counts -----------------------------------------------------------------------------------------

# Of a slice so far: executions, and results that are known.
counts_of() # slice fuzzer target
{
  local executions='' known=0
  if counts "$3"; then
    read -r executions _ _ known < <(od -An -v -t u8 -w32 -N 32 "$1/stats" 2>/dev/null)
  elif is_afl "$2"; then
    executions=$(sed -n 's/^execs_done *: \([0-9]*\).*/\1/p' "$1"/out/*/fuzzer_stats 2>/dev/null)
  else
    executions=$(grep -ao '^#[0-9][0-9]*' "$1/log" 2>/dev/null | tail -n 1 | tr -d '#')
  fi
  echo "${executions:-0} ${known:-0}"
}

# Of a slice that has ended; it is counted once, as its counters go.
take_counts() # slice fuzzer target
{
  local executions known edges
  read -r executions known < <(counts_of "$@")
  edges=$(grep -ao ' cov: [0-9]*' "$1/log" 2>/dev/null | sed -n '$s/.* //p')
  rm -f "$1/stats" "$1/log"
  echo $(($(read_number "$run/executions") + executions)) | write_whole "$run/executions"
  echo $(($(read_number "$run/known_results") + known)) | write_whole "$run/known_results"
  # ASan's build has other edges
  if [ "$2" = libfuzzer ] && [ "${edges:-0}" -gt "$(read_number "$run/coverage/$3")" ]; then
    echo "$edges" | write_whole "$run/coverage/$3"
  fi
}

# Sets executions, known_results, coverage (edges of all targets), inputs and found.
count_all()
{
  local place n known fuzzer target file
  executions=$(read_number "$run/executions") known_results=$(read_number "$run/known_results")
  for place in "${!pid[@]}"; do
    [ -n "${slice_of[place]:-}" ] || continue
    read -r fuzzer target _ <<<"${kind_of[place]}"
    read -r n known < <(counts_of "${slice_of[place]}" "$fuzzer" "$target")
    executions=$((executions + n)) known_results=$((known_results + known))
  done
  coverage=0
  for file in "$run"/coverage/*; do coverage=$((coverage + $(read_number "$file"))); done
  inputs=$(count_files "$corpus") found=$(count_findings)
}

# --- telling ----------------------------------------------------------------------------------------

begin_status()
{
  found_before=$(count_findings)
  count_all
  told_at=$SECONDS told_executions=$executions
  reported_at=-1000 reported=-1 report_took=0 shares_at=-1000
  say "$units kinds of turns of $slice s, $jobs at a time; $inputs inputs, $found findings are there"
  printf '    engines  %s\n    fuzzers  %s\n    targets  %s\n    kept in  %s\n' \
    "${engines[*]}" "${fuzzers[*]}" "${targets[*]}" "$home" >&2
}

tell_status()
{
  [ $((SECONDS - told_at)) -lt 60 ] || tell running
}

tell() # state
{
  local dt=$((SECONDS - told_at)) rate shares='[]'
  count_all
  rate=$(((executions - told_executions) / (dt > 0 ? dt : 1))) rate=$((rate > 0 ? rate : 0))
  told_at=$SECONDS told_executions=$executions
  [ ! -s "$run/shares.json" ] || shares=$(<"$run/shares.json")
  say "$executions executions, $rate/s  $coverage edges  $inputs inputs  $found findings, \
$((found - found_before)) new ($known_results results were known)  $used of $max_disk MB"
  jq -nc --argjson executions "$executions" --argjson rate "$rate" --argjson coverage "$coverage" \
    --argjson corpus "$inputs" --argjson findings "$found" --argjson shares "$shares" \
    '{time: now | floor, $executions, $rate, $coverage, $corpus, $findings, $shares}' \
    >"$run/tmp/line" 2>/dev/null || return 0
  append_line
  list_turns | jq -Rn --slurpfile line "$run/tmp/line" --arg state "${waiting:+waiting for room}" \
    --arg doing "$1" --argjson new $((found - found_before)) --argjson known "$known_results" \
    --argjson pending "$(new_crashes | wc -l)" --argjson disk "$used" --argjson most "$max_disk" \
    '$line[0] + {state: (if $state == "" then $doing else $state end), new: $new,
      known_results: $known, crashes_to_triage: $pending, disk_mb: $disk, max_disk_mb: $most,
      turns: [inputs]}' 2>/dev/null | write_whole "$home/status.json"
}

list_turns()
{
  local place
  for place in "${!pid[@]}"; do
    [ -z "${pid[place]}" ] || echo "${kind_of[place]}"
  done
}

# A line that a killed run could not write whole goes; of very many every second goes.
append_line()
{
  local file=$bundles/status.jsonl
  if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then
    truncate -s "-$(tail -n 1 "$file" | wc -c)" "$file"
  fi
  cat "$run/tmp/line" >>"$file" 2>/dev/null
  [ "$(wc -l <"$file")" -le 4000 ] || sed -n 'n;p' "$file" | write_whole "$file"
}

end_status()
{
  tell ended
  # What a signal ended has a page only if that takes no time.
  if [ -z "$stopped" ]; then page {lock}>&-; elif [ $((SECONDS - stopped)) -lt 4 ]; then
    page 3 {lock}>&-
  fi
  say "the end${stopped:+, by a signal}; $(new_crashes | wc -l) crash files are left to triage"
}

# --- jobs -------------------------------------------------------------------------------------------

# Each five minutes, and where there is a new finding, but not all the time.
report_is_due()
{
  local since=$((SECONDS - reported_at))
  [ $since -gt $((20 + 10 * report_took)) ] || return
  [ $since -ge 300 ] || [ "$(count_findings)" != "$reported" ]
}

job_report() { page; }

page() # [seconds]
{
  leash timeout "${1:-300}" build/precfuzz report "$bundles" -o "$home/report.html" -j 1 \
    --engine "$(IFS=,; echo "${engines[*]}")" --known "${shipped:-none}" \
    ${1:+--total-limit "$1"} >"$run/tmp/report" 2>&1
  [ $? -lt 3 ] || sed 's/^precfuzz/report/; q' "$run/tmp/report" >&2
}

shares_is_due() { [ $((SECONDS - shares_at)) -ge 60 ] && [ ${#judging[@]} != 0 ]; }

# Some inputs by all engines, for the largest share of an enclosure that a result used so far; those
# that show nothing wrong are a sample for the page.
job_shares()
{
  local work=$run/tmp/shares file
  rm -rf "$work"
  mkdir -p "$work/in" "$bundles/sample" || return
  find "$corpus/fuzz_matmul" "$run/seeds/all" -type f 2>/dev/null | shuf -n 16 |
    xargs -r -d '\n' cp -t "$work/in" || return
  leash timeout 120 build/precfuzz check --json --isolate --known "$(known_lists)" \
    --engine "$(IFS=,; echo "${engines[*]}")" "$work/in" >"$work/out" 2>/dev/null
  [ $? -lt 3 ] || return  # 2: bytes that look like text
  jq -c --slurpfile old <(cat "$run/shares.json" 2>/dev/null || echo '[]') '
    [.cases[] | (.case | [capture("(?<x>[xy])=(?<d>[a-z0-9_]+)"; "g").d]) as $d |
      select($d[0] == $d[1]) | .results[] | select(.verdict == "OK" and .worst.of_radius.value != null) |
      {engine: (.engine | sub("^reference:.*"; "reference")), dtype: $d[0],
       share: .worst.of_radius.value}] + $old[0] |
    group_by([.engine, .dtype]) | map(max_by(.share))' "$work/out" | write_whole "$run/shares.json"
  jq -r '.cases[] | select(all(.results[]; (.finding or .known) | not)).file' "$work/out" |
    xargs -r -d '\n' mv -t "$bundles/sample"
  find "$bundles/sample" -type f -printf '%T@\t%p\n' | sort -n | head -n -48 | cut -f 2 |
    xargs -r -d '\n' rm -f
}

# A job that fails is due again: after a while.
job_ended() # kind status seconds
{
  case $1 in
    report)
      reported_at=$SECONDS reported=$(count_findings) report_took=$3
      ;;
    shares) shares_at=$SECONDS ;;
    merge) [ "$2" = 0 ] || merge_failed_at=$SECONDS ;;
    triage) [ "$2" = 0 ] || sleep 1 ;;
  esac
}
