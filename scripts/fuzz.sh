#!/bin/bash
# Fuzzes one target with libFuzzer and AFL++ side by side.
#
#   fuzz.sh TARGET SECONDS [FOLDER [INPUTS...]]
#
# INPUTS are folders to take inputs from, too: another run's.
# FOLDER (build/fuzz/TARGET) is kept from run to run, so that a run goes on where the last one ended:
#   corpus/        what a run begins with: the seeds, those of corpus/files/TARGET among them, and
#                  libFuzzer's minimised union of all that was found before
#   libfuzzer/     inputs that libFuzzer found in this run;  afl/  the same of AFL++
#   crashes/       every input that aborted, timed out or ran out of memory
#   findings.txt   the report of each finding, one a signature (findings.sh)
#   totals         of this run: executions, products, results that are known, seconds, findings
# SEEDS names a folder of more seeds, those of precfuzz seed say.
# The environment's PRECFUZZ_* settings hold; the known findings, those of corpus/regressions unless
# PRECFUZZ_KNOWN names others, do not end a run.  FLAVOUR=asan takes libFuzzer's build with
# sanitizers; TABLE=no leaves out the table of strategies.
# Exit status: 0 no finding, 1 findings, 3 the machinery failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/engines.sh

target=$1 seconds=$2 folder=${3:-build/fuzz/$1}
seeds=()
for dir in corpus/{seeds,recorded,models} "corpus/files/$target" ${SEEDS:+"$SEEDS"}; do
  [ ! -d "$dir" ] || seeds+=("$dir")
done
[ -z "${SEEDS:-}" ] || [ -d "$SEEDS" ] || { echo "fuzz: SEEDS: $SEEDS is no folder" >&2; exit 2; }
libfuzzer=build/${FLAVOUR:-libfuzzer}/$target afl=build/afl/$target
crashes=$folder/crashes
inputs=("${@:4}")
mkdir -p "$folder"/{corpus,libfuzzer,crashes,tmp}
TMPDIR=$(cd "$folder/tmp" && pwd)  # the folder may be all that can be written
export TMPDIR
export PRECFUZZ_KNOWN=${PRECFUZZ_KNOWN:-corpus/regressions}
unset PRECFUZZ_STATS

die()
{
  echo "fuzz: $1" >&2
  [ $# = 1 ] || tail -n 15 "$2" >&2
  exit 3
}

# --- before ---------------------------------------------------------------------------------------

# The union of the seeds, the regressions, and what both engines found before.  Inputs that abort go
# to crashes/ and are not fuzzed from.
gather()
{
  local from=("$folder/corpus" "$folder/libfuzzer" "${inputs[@]}") dir log=$folder/merge.log
  take_regressions
  for dir in "${seeds[@]}" "$folder/regressions" "$folder/afl/default/queue"; do
    [ ! -d "$dir" ] || from+=("$dir")
  done
  keep_afl_crashes
  rm -rf "$folder/merged"
  mkdir "$folder/merged"
  "$libfuzzer" -merge=1 -artifact_prefix="$crashes/" "$folder/merged" "${from[@]}" \
    </dev/null >"$log" 2>&1 || die "$libfuzzer cannot run:" "$log"
  keep_seeds
  # AFL++ wants something to begin with.
  [ -n "$(ls "$folder/merged")" ] || echo >"$folder/merged/newline"
  rm -rf "$folder"/{corpus,libfuzzer,afl}
  mv "$folder/merged" "$folder/corpus"
  mkdir "$folder/libfuzzer"
}

# The cases of the folder, without its list.
take_regressions()
{
  rm -rf "$folder/regressions"
  mkdir "$folder/regressions"
  find corpus/regressions -name '*.case' -exec cp -t "$folder/regressions" {} +
}

# Seeds reach what coverage does not tell apart, so merging drops none of them.
keep_seeds()
{
  local file sum
  find "${seeds[@]}" -type f | while IFS= read -r file; do
    sum=$(sha1sum <"$file" | cut -c 1-40)  # as libFuzzer names its files
    [ "$crashes/crash-$sum" -nt "$folder/begin" ] || cp "$file" "$folder/merged/$sum"
  done
}

# AFL++ names files by number: named by content they can be kept together.
keep_afl_crashes()
{
  local kind file kept
  for kind in crashes:afl hangs:slow; do
    for file in "$folder/afl/default/${kind%:*}"/id:*; do
      [ -f "$file" ] || continue
      kept=$crashes/${kind#*:}-$(sha1sum <"$file" | cut -c 1-40)
      [ -e "$kept" ] || cp -p "$file" "$kept"
    done
  done
}

# --- the two engines ------------------------------------------------------------------------------

start_libfuzzer() # seconds
{
  PRECFUZZ_STATS=$folder/libfuzzer.stats run_libfuzzer "$libfuzzer" "$1" "$folder/libfuzzer.log" \
    "$crashes" "$folder/libfuzzer" "$folder/corpus" &
  libfuzzer_pid=$!
}

start_afl() # seconds
{
  PRECFUZZ_STATS=$folder/afl.stats run_afl "$afl" "$1" "$folder/afl.log" "$folder/afl" \
    "$folder/corpus" &
  afl_pid=$!
}

alive() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null; }

# libFuzzer ends at each finding: it is started again with the time that is left.
tend_libfuzzer()
{
  local status=0 left=$((seconds - (SECONDS - begin)))
  [ -n "$libfuzzer_pid" ] && ! alive "$libfuzzer_pid" || return 0
  wait "$libfuzzer_pid" || status=$?
  libfuzzer_pid=''
  case $status in
    0) ;;
    7[0-7]) [ $left -lt 1 ] || start_libfuzzer $left ;;
    *) failed+=" libFuzzer ($status, see $folder/libfuzzer.log)" ;;
  esac
}

tend_afl()
{
  local status=0
  [ -n "$afl_pid" ] && ! alive "$afl_pid" || return 0
  wait "$afl_pid" || status=$?
  afl_pid=''
  [ $status = 0 ] || failed+=" AFL++ ($status, see $folder/afl.log)"
}

stop_engines()
{
  local pid
  for pid in $libfuzzer_pid $afl_pid; do
    kill -TERM "$pid" 2>/dev/null || true
  done
  for _ in $(seq 50); do
    alive "$libfuzzer_pid" || alive "$afl_pid" || break
    sleep 0.1
  done
  for pid in $libfuzzer_pid $afl_pid; do  # and what they started
    kill -KILL -- "-$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  libfuzzer_pid='' afl_pid=''
}

# --- status ---------------------------------------------------------------------------------------

# A target that judges counts as it does so, in a file for each engine.
judges() { [ -s "$folder/libfuzzer.stats" ]; }

# executions, elements, products and known results so far; of a target that does not judge what the
# engine says
counters()
{
  if judges; then
    od -An -v -t u8 -w32 -N 32 "$folder/$1.stats" 2>/dev/null | grep . || echo 0 0 0 0
  else
    case $1 in
      afl) sed -n 's/^execs_done *: \([0-9]*\).*/\1 0 0 0/p' "$folder/afl/default/fuzzer_stats" ;;
      *) grep -ao '^#[0-9][0-9]*' "$folder/libfuzzer.log" | sed -n '$s/^#\(.*\)/\1 0 0 0/p' ;;
    esac 2>/dev/null | grep . || echo 0 0 0 0
  fi
}
files() { find "$@" -type f ! -name README.txt 2>/dev/null | wc -l; }
new_crashes() { files "$1" -newer "$folder/begin" ! -name 'slow-*'; }

status_line()
{
  local now=$((SECONDS - begin)) l a
  read -r l _ < <(counters libfuzzer)
  read -r a _ < <(counters afl)
  printf '%4d/%d s  libFuzzer %d runs, %d/s, %d crashes  AFL++ %d runs, %d/s, %d crashes' \
    "$now" "$seconds" "$l" $((l / (now ? now : 1))) "$(new_crashes "$crashes")" \
    "$a" $((a / (now ? now : 1))) "$(new_crashes "$folder/afl/default/crashes")"
}

watch_engines()
{
  local shown=0 every=10
  [ ! -t 1 ] || every=1
  # AFL++ counts its seconds from the end of its calibration: no need to wait for that.
  while [ -z "$stopped" ] && [ $((SECONDS - begin)) -le $((seconds + 1)) ]; do
    tend_libfuzzer
    tend_afl
    if [ -z "$libfuzzer_pid$afl_pid" ] || [ -n "$failed" ]; then break; fi
    if [ $((SECONDS - begin)) -ge $((shown + every)) ]; then
      shown=$((SECONDS - begin))
      if [ -t 1 ]; then printf '\r%s\e[K' "$(status_line)"; else printf '%s\n' "$(status_line)"; fi
    fi
    sleep 0.2 || true
  done
  [ ! -t 1 ] || printf '\r\e[K'
}

# --- after ----------------------------------------------------------------------------------------

summary()
{
  local engine executions products known all=(0 0 0)
  printf '\n%-10s %14s %10s %24s %10s\n' '' executions 'per s' 'judged products per s' 'new inputs'
  for engine in libfuzzer afl; do
    read -r executions _ products known < <(counters $engine)
    all=($((all[0] + executions)) $((all[1] + products)) $((all[2] + known)))
    printf '%-10s %14d %10d %24d %10d\n' "$(name_of $engine)" "$executions" \
      $((executions / elapsed)) $((products / elapsed)) "$(new_inputs $engine)"
  done
  totals="${all[*]} $elapsed"
}

name_of() { case $1 in afl) echo AFL++ ;; *) echo libFuzzer ;; esac; }

new_inputs()
{
  case $1 in
    afl) find "$folder/afl/default/queue" -maxdepth 1 -name 'id:*' ! -name '*,orig:*' 2>/dev/null |
      wc -l ;;
    *) files "$folder/libfuzzer" ;;
  esac
}

# The strategies are rows: one engine says as much as all of them.
graph_table()
{
  local from=("$folder/corpus" "$folder/libfuzzer") log=$folder/tmp/table.log status=0
  [ ! -d "$folder/afl/default/queue" ] || from+=("$folder/afl/default/queue")
  export PRECFUZZ_ENGINES=${PRECFUZZ_ENGINES:-reference:forward} PRECFUZZ_STRATEGIES=
  printf '\nhow far each strategy strays from what the graph promises (rule graph, %s)\n' \
    "$PRECFUZZ_ENGINES"
  build/precfuzz check --rule graph --table "${from[@]}" 2>"$log" || status=$?
  # 1: something strays; 2: what neither form can say, though a target makes a case of any bytes
  [ $status -lt 3 ] || die 'build/precfuzz check:' "$log"
}

stopped='' failed='' libfuzzer_pid='' afl_pid='' found=0 begin=$SECONDS
trap 'stop_engines' EXIT
trap 'stopped=yes' INT TERM HUP
rm -f "$folder"/{libfuzzer,afl}.{stats,log} "$folder/totals"
touch "$folder/begin"
echo "fuzz: $target for $seconds s, libFuzzer and AFL++ from $(files "${seeds[@]}") seeds and what \
$folder holds"
gather
echo "fuzz: begins with $(files "$folder/corpus") inputs"
begin=$SECONDS
start_libfuzzer "$seconds"
start_afl "$seconds"
watch_engines
stop_engines
elapsed=$((SECONDS - begin))
elapsed=$((elapsed > seconds ? seconds : elapsed > 0 ? elapsed : 1))
trap - INT TERM HUP
keep_afl_crashes
summary
echo
scripts/findings.sh "$target" "$folder" || found=$?
echo "$totals $(cut -f 1 "$folder/tmp/signatures" | sort -u | wc -l)" >"$folder/totals"
! judges || [ "${TABLE:-}" = no ] || graph_table
[ -z "$failed" ] || die "ended early:$failed"
exit $found
