#!/bin/bash
# Does a continuous run survive what comes in days?  It runs for so long, is killed at random moments,
# and what it left is held against what was there before each kill.
#
#   continuous_check.sh [SECONDS [KILLS [OPTION...]]]
#
# SECONDS 1800, KILLS 3; OPTIONs are continuous.sh's, by default --engine reference fault:M13 fault:M20
# fault:M33 and the libraries that are here.  Every other kill is of a single worker, the rest of the
# runner, which is started again.  SEED gives the moments; FOLDER (build/continuous-check) is made anew.
# Prints what held, memory and disk by the minute, and ends with 1 where something did not hold.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
seconds=${1:-1800} kills=${2:-3} folder=${FOLDER:-build/continuous-check} RANDOM=${SEED:-1}
shift $(($# > 2 ? 2 : $#))
options=("$@")
if [ ${#options[@]} = 0 ]; then
  mapfile -t libraries < <(build/precfuzz engines --json 2>/dev/null |
    jq -r '.libraries[] | select(.version != null).engine')
  options=(--engine reference fault:M13 fault:M20 fault:M33 "${libraries[@]}")
fi
rm -rf "$folder"
mkdir -p "$folder"
folder=$(realpath "$folder")
kept=$folder/kept wrong=0 pid='' begin=$SECONDS
trap '[ -z "$pid" ] || kill -TERM "$pid"; wait' EXIT
trap 'exit 130' INT TERM HUP

say() { printf '%5d s  %s\n' $((SECONDS - begin)) "$1"; }

holds() # what command...
{
  if "${@:2}" >"$folder/why" 2>&1; then say "ok $1"; else
    wrong=1
    say "not ok $1"
    tail -n 20 "$folder/why" | sed 's/^/    /'
  fi
}

start()
{
  local left=$((seconds - (SECONDS - begin)))
  scripts/continuous.sh --findings "$kept" --seconds $((left > 10 ? left : 10)) "${options[@]}" \
    >>"$folder/log" 2>&1 &
  pid=$!
}

bundles() { find "$kept/bundles" -mindepth 2 -name finding.json ! -path '*/.*' 2>/dev/null | sort; }
marked() { grep -lzsFx "CONTINUOUS_RUN=$(<"$kept/.run/id")" /proc/[0-9]*/environ | cut -d / -f 3; }

# Bundles, and crash files that wait for theirs: of the run's and of slices'.
snapshot()
{
  bundles >"$folder/bundles"
  find "$kept/crashes" "$kept"/.run/slices/*/crashes -type f -name 'crash-*' -exec sha1sum {} + 2>/dev/null |
    cut -d ' ' -f 1 | sort -u >"$folder/crashes"
}

# Whatever was in a bundle is; whatever crashed lies in crashes.
all_there()
{
  comm -23 "$folder/bundles" <(bundles) | grep . && return 1
  comm -23 "$folder/crashes" <(find "$kept/crashes" -type f -name 'crash-*' -exec sha1sum {} + |
    cut -d ' ' -f 1 | sort -u) | grep . && return 1
  return 0
}

none_twice() { ! bundles | xargs -r jq -r .signature | sort | uniq -d | grep .; }
none_left() { [ -z "$(marked)" ]; }

# A finding's part of the page has its picture before the link to its bundle.
on_page()
{
  local bundle parts=$folder/parts
  tr -d '\n' <"$kept/report.html" | sed 's/<article/\n&/g' | grep '^<article' >"$parts"
  [ "$(wc -l <"$parts")" = "$(bundles | wc -l)" ] || { echo 'there are others, too'; return 1; }
  for bundle in $(bundles); do
    bundle=$(basename "${bundle%/*}")
    [ "$(grep -c "</svg>.*bundles/$bundle/\">" "$parts")" = 1 ] || { echo "$bundle"; return 1; }
  done
}

kill_something() # number
{
  local victims victim
  snapshot
  mapfile -t victims < <(marked)
  if [ $(($1 % 2)) = 0 ] && [ ${#victims[@]} != 0 ]; then
    victim=${victims[RANDOM % ${#victims[@]}]}
    say "kill -9 of a worker: $(tr '\0' ' ' <"/proc/$victim/cmdline" 2>/dev/null | cut -c 1-60)"
    kill -KILL "$victim"
    sleep 5
    holds 'the run goes on' kill -0 "$pid"
  else
    say 'kill -9 of the run'
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    sleep 3
    holds 'its processes have ended' none_working
    start
    for _ in $(seq 60); do
      all_there >/dev/null && break
      sleep 1
    done
  fi
  holds 'all findings are there' all_there
}

# What AFL++ has stopped for a moment may lie there, stopped.
none_working()
{
  local id
  for id in $(marked); do
    [[ $(ps -o stat= -p "$id") = [TS]* ]] || { ps -p "$id" -o pid,stat,args; return 1; }
  done
}

# Of all processes of the run, in MB.
memory()
{
  local id sum=0 kb
  for id in $(marked) "$pid"; do
    kb=$(sed -n 's/^Pss: *\([0-9]*\).*/\1/p' "/proc/$id/smaps_rollup" 2>/dev/null)
    sum=$((sum + ${kb:-0}))
  done
  echo $((sum / 1024))
}

look()
{
  say "memory $(memory) MB, disk $(du -sm "$kept" 2>/dev/null | cut -f 1) MB, $(find "$kept/corpus" -type f | wc -l) inputs, \
$(bundles | wc -l) findings"
}

moments=()
for ((i = 0; i < kills; i++)); do
  moments+=($((seconds * i / kills + RANDOM % (seconds / kills) * 8 / 10 + 5)))
done
start
killed=0 looked=$SECONDS
while [ $((SECONDS - begin)) -lt "$seconds" ] && kill -0 "$pid" 2>/dev/null; do
  if [ $killed -lt "$kills" ] && [ $((SECONDS - begin)) -ge "${moments[killed]}" ]; then
    killed=$((killed + 1))
    kill_something $killed
  fi
  [ $((SECONDS - looked)) -lt 60 ] || { look; looked=$SECONDS; }
  sleep 1
done
snapshot
status=0
wait "$pid" || status=$?
pid=''
say "it ends with status $status after $killed kills"
[ $status -le 1 ] || wrong=1
holds 'all findings are there' all_there
holds 'no signature is there twice' none_twice
holds 'no process is left' none_left
holds 'no crash file waits' test -z "$(find "$kept/crashes/new" -type f ! -name '.*')"
for engine in "${options[@]}"; do
  [[ $engine != fault:* ]] || holds "$engine was found" grep -q "/${engine/:/_}-" <(bundles)
done
holds 'each is on the page once, with a picture' on_page
tail -n 3 "$folder/log"
exit $wrong
