#!/bin/bash
# Measures precfuzz on this machine and writes what came of it (bench_doc.sh).  `make bench`
# builds what this needs and calls it.
#
# From the environment, with QUICK=1 smaller where nothing is said:
#   BENCH_DOC           folder for performance.md and performance/*.svg (docs; build/bench/quick)
#   BENCH_FOLDER        folder for samples and logs (build/bench/samples)
#   BENCH_PARTS         which parts: oracle growth memory agreement engines workers baselines
#   BENCH_REPS          repetitions of what takes milliseconds;  BENCH_MS  how many, at least
#   BENCH_LARGEST_K     the largest K (65536)
#   BENCH_EXECUTIONS    executions over which memory is watched
#   BENCH_COMPARED      elements compared between certified arithmetic and MPFR
#   BENCH_ENGINE_REPS   repetitions of fuzzing;  BENCH_SECONDS  how long each
#   BENCH_MODES         libfuzzer, libfuzzer-fixed, asan, asan-fixed, afl, afl-asan
#   BENCH_TARGETS       fuzz targets
#   BENCH_BASELINE_REPS  repetitions of the scripts of today;  BENCH_BASELINE_SECONDS  how long each
#   BENCH_TOOLS         numpy, torch, torch-static;  BENCH_CASES  how many cases they are given
#   BENCH_PYTHON        a Python to look at first
# Exit status: 0, or 3 where the machinery failed.
# shellcheck disable=SC2030,SC2031  # each run of an engine has settings of its own
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/engines.sh

# A variable's value, else the one for a whole run or for a quick one.
default() { printf -v "$1" '%s' "${!1:-${QUICK:+$3}}"; printf -v "$1" '%s' "${!1:-$2}"; }
default BENCH_DOC docs build/bench/quick
default BENCH_FOLDER build/bench/samples build/bench/quick/samples
default BENCH_PARTS 'oracle growth memory agreement engines workers baselines' ''
default BENCH_REPS 5 2
default BENCH_MS 10 1
default BENCH_LARGEST_K 65536 4096
default BENCH_EXECUTIONS 10000000 20000
default BENCH_COMPARED 100000000 400000
default BENCH_ENGINE_REPS 3 1
default BENCH_SECONDS 3 1
default BENCH_MODES 'libfuzzer libfuzzer-fixed asan asan-fixed afl afl-asan' ''
default BENCH_TARGETS "$(basename -s .c fuzz/fuzz_*.c | tr '\n' ' ')" fuzz_matmul
default BENCH_BASELINE_REPS 3 1
default BENCH_BASELINE_SECONDS 15 2
default BENCH_TOOLS 'numpy torch torch-static' 'numpy torch'
default BENCH_CASES 1000 200

folder=$BENCH_FOLDER bin=build/bench seed=1
samples=$folder/samples.tsv
unset "${!PRECFUZZ_@}"

say() { echo "bench: $*" >&2; }
die()
{
  say "$1"
  [ $# = 1 ] || tail -n 15 "$2" >&2
  exit 3
}
sample() { printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$samples"; }  # table row column repetition value
fact() { printf '%s\t%s\n' "$@" >>"$folder/facts.tsv"; }       # name value
divide() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.6g", a / b }'; }

# --- programs of one process ----------------------------------------------------------------------

run_oracle()
{
  say "oracle: every dtype, K to $BENCH_LARGEST_K"
  "$bin/bench_oracle" "$BENCH_REPS" "$BENCH_MS" "$BENCH_LARGEST_K" >>"$samples"
}

run_growth()
{
  say "growth: K to $BENCH_LARGEST_K, outputs, engines"
  "$bin/bench_growth" "$BENCH_REPS" "$BENCH_MS" "$BENCH_LARGEST_K" >>"$samples"
}

run_memory()
{
  say "memory: $BENCH_EXECUTIONS executions"
  "$bin/bench_memory" "$BENCH_EXECUTIONS" $seed >>"$samples"
}

# As many processes as there are processors, each with a seed of its own.
run_agreement()
{
  local workers i pids=()
  workers=$(nproc)
  say "agreement: $BENCH_COMPARED elements in $workers processes"
  for i in $(seq "$workers"); do
    "$bin/bench_agreement" random $(((BENCH_COMPARED + workers - 1) / workers)) "$i" \
      >"$folder/agreement.$i" &
    pids+=($!)
  done
  for i in "${!pids[@]}"; do
    wait "${pids[i]}" || die 'bench_agreement failed'
    awk -v r=$((i + 1)) '{ $4 = r } 1' OFS='\t' "$folder/agreement.$((i + 1))" >>"$samples"
  done
  "$bin/bench_agreement" conditions $((BENCH_COMPARED < 100000 ? BENCH_COMPARED : 100000)) $seed \
    >>"$samples"
}

# --- fuzzing engines ------------------------------------------------------------------------------

program_of() # mode target
{
  case $1:$2 in
    *:fuzz_empty | *-fixed:* | afl-asan:*) echo "$bin/$1/$2" ;;
    *:bare) echo "$bin/bare/fuzz_empty" ;;
    *) echo "build/$1/$2" ;;
  esac
}

# An engine's own folder, with the seeds.
new_run() # folder
{
  rm -rf "$1"
  mkdir -p "$1"/{corpus,new,crashes}
  cp corpus/seeds/* "$1/corpus"
}

# Executions of libFuzzer in a new folder, seconds that passed, seconds of a processor.  To be
# called in a subshell: the latter are those of all its processes.
libfuzzer_once() # program folder seconds [option...]
{
  local begin
  new_run "$2"
  begin=$EPOCHREALTIME
  (
    export PRECFUZZ_STATS=$2/stats PRECFUZZ_BENCH_INPUTS=corpus/seeds
    run_libfuzzer "$1" "$3" "$2/log" "$2/crashes" "$2/new" "$2/corpus" -print_final_stats=1 "${@:4}"
  ) || die "$1 ended early; what it ran is in $2" "$2/log"
  times >"$2/times"
  awk -v begin="$begin" -v end="$EPOCHREALTIME" '
    function seconds(text, part) { split(text, part, /[ms]/); return 60 * part[1] + part[2] }
    /^stat::number_of_executed_units:/ { units = $2 }
    FILENAME ~ "/times$" && FNR == 2 { used = seconds($1) + seconds($2) }
    END { print units, end - begin, used }' "$2/log" "$2/times"
}

# Executions a second, but for the start: of processor time, or (clock 2) as time passes.
libfuzzer_rate() # program folder seconds seed [clock]
{
  local before after
  before=$(libfuzzer_once "$1" "$2" "$3" -runs=0)
  after=$(libfuzzer_once "$1" "$2" "$3" -seed="$4")
  echo "$before $after" | awk -v clock="${5:-3}" '
    { printf "%.6g", ($4 - $1) / ($(clock + 3) - $clock) }'
}

afl_rate() # program folder seconds
{
  new_run "$2"
  (
    export PRECFUZZ_STATS=$2/stats
    run_afl "$1" "$3" "$2/log" "$2/afl" "$2/corpus"
  ) || die "$1 ended early; what it ran is in $2" "$2/log"
  [ -z "$(ls "$2/afl/default/crashes")" ] || die "$1: a finding, in $2/afl/default/crashes"
  sed -n 's/^execs_per_sec *: //p' "$2/afl/default/fuzzer_stats"
}

run_engine() # mode target repetition
{
  local program run=$runs/run rate executions products mean median
  program=$(program_of "$1" "$2")
  [ -x "$program" ] || die "$program is not built: make bench does"
  say "engines: $1 $2, repetition $3 of $BENCH_ENGINE_REPS"
  case $1 in
    afl*) rate=$(afl_rate "$program" "$run" "$BENCH_SECONDS") ;;
    *) rate=$(libfuzzer_rate "$program" "$run" "$BENCH_SECONDS" "$3") ;;
  esac
  sample "$1" "$2" rate "$3" "$rate"
  [ -s "$run/stats" ] || return 0
  read -r executions _ products mean median < <("$bin/bench_counters" "$run/stats")
  sample "$1" "$2" products "$3" "$(awk "BEGIN { print $rate * $products / $executions }")"
  sample "$1" "$2" mean "$3" "$mean"
  sample "$1" "$2" median "$3" "$median"
}

run_engines()
{
  local repetition mode target
  for repetition in $(seq "$BENCH_ENGINE_REPS"); do
    for target in fuzz_empty bare $BENCH_TARGETS; do
      for mode in $BENCH_MODES; do
        [ "$target" != bare ] || [ "$mode" = libfuzzer ] || continue
        run_engine "$mode" "$target" "$repetition"
      done
    done
  done
}

# The same inputs in one process, then in two at a time.
run_workers()
{
  local program repetition workers i pids
  program=$(program_of libfuzzer-fixed fuzz_matmul)
  [ -x "$program" ] || { say 'workers: needs mode libfuzzer-fixed: left out'; return 0; }
  for repetition in $(seq "$BENCH_ENGINE_REPS"); do
    for workers in 1 2; do
      say "workers: $workers, repetition $repetition of $BENCH_ENGINE_REPS"
      pids=()
      for i in $(seq $workers); do
        libfuzzer_rate "$program" "$runs/run.$i" "$BENCH_SECONDS" "$repetition" 2 \
          >"$folder/rate.$i" &
        pids+=($!)
      done
      for i in "${pids[@]}"; do
        wait "$i" || die 'a worker ended early'
      done
      sample workers $workers rate "$repetition" "$(
        for i in $(seq $workers); do echo "$(<"$folder/rate.$i")"; done |
          awk '{ sum += $1 } END { print sum }')"
    done
  done
}

# --- the scripts of today -------------------------------------------------------------------------

# Measures one tool on one kind of case, in a process of its own.
run_baseline() # kind tool repetition command...
{
  local out
  say "baselines: $1, $2, repetition $3 of $BENCH_BASELINE_REPS"
  out=$("${@:4}" 2>"$folder/baseline.log") || die "$2 failed:" "$folder/baseline.log"
  read -r cases seconds <<<"$out"
  sample "$1" "$2" rate "$3" "$(divide "$cases" "$seconds")"
  sample "$1" "$2" cases "$3" "$cases"
}

# Nothing compiled is left from one repetition to the next.
run_torch() # kind tool repetition option...
{
  export TORCHINDUCTOR_CACHE_DIR=$folder/inductor
  rm -rf "$TORCHINDUCTOR_CACHE_DIR"
  run_baseline "$1" "$2" "$3" "$torch" bench/baseline_torch.py "$folder/$1.safetensors" \
    --seconds "$BENCH_BASELINE_SECONDS" --results "$folder/torch.safetensors" \
    --verdicts "$folder/torch.tsv" "${@:4}"
}

run_mpmath() # kind repetition [option]
{
  run_baseline "$1" numpy "$2" "$numpy" bench/baseline_mpmath.py "$folder/$1.safetensors" \
    --seconds "$BENCH_BASELINE_SECONDS" --results "$folder/numpy.safetensors" \
    --verdicts "$folder/numpy.tsv" "${@:3}"
}

# What the last run of a tool said, beside what precfuzz says of the same results.
compare_verdicts() # tool
{
  "$bin/bench_verdicts" varying $seed "$1" "$folder/$1.tsv" "$folder/varying.safetensors" \
    "$folder/$1.safetensors" >>"$samples"
}

wants() { [[ " $BENCH_TOOLS " = *" $1 "* ]]; }

# Prints the Python that has what a script needs, or nothing, and says so.
find_python() # what-it-is script MODULES...: the first that is there of several sets of modules
{
  local python='' version modules
  for modules in "${@:3}"; do
    # shellcheck disable=SC2086  # several modules
    [ -n "$python" ] || python=$(scripts/python_with.sh $modules) || true
  done
  if [ -n "$python" ] && version=$("$python" "$2" --version 2>/dev/null); then
    fact "$1" "$version, Python $("$python" -c 'import platform; print(platform.python_version())')"
    echo "$python"
  else
    fact "$1" 'not measured: not installed'
    say "baselines: skipped: $1: no Python here has it (make bench-python installs all)"
  fi
}

run_baselines()
{
  local kind repetition torch='' numpy='' cases seconds
  ! wants torch || torch=$(find_python PyTorch bench/baseline_torch.py torch)
  ! wants numpy || numpy=$(find_python 'NumPy and exact sums' bench/baseline_mpmath.py \
    'numpy gmpy2' 'numpy mpmath')
  for kind in varying one_shape; do
    "$bin/bench_cases" $kind "$BENCH_CASES" $seed "$folder/$kind.safetensors"
  done
  for repetition in $(seq "$BENCH_BASELINE_REPS"); do
    for kind in one_shape varying; do
      run_baseline $kind precfuzz "$repetition" "$bin/bench_rate" $kind "$BENCH_CASES" $seed 1000
    done
    if [ -n "$numpy" ]; then
      run_mpmath one_shape "$repetition" --repeat
      run_mpmath varying "$repetition"
    fi
    if [ -n "$torch" ]; then
      ! wants torch-static || run_torch varying torch-static "$repetition" --shapes static
      run_torch one_shape torch "$repetition" --repeat
      run_torch varying torch "$repetition" --shapes automatic
    fi
  done
  [ -z "$numpy" ] || compare_verdicts numpy
  [ -z "$torch" ] || compare_verdicts torch
}

# --- all of it ------------------------------------------------------------------------------------

describe_machine()
{
  local afl
  afl=$({ afl-fuzz -h 2>&1 || true; } | sed -n 's/.*\(afl-fuzz++[0-9a-z.]*\).*/\1/p' | head -n 1)
  fact Processor "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
  fact Processors "$(nproc)"
  fact Extensions "$(grep -m 1 '^flags' /proc/cpuinfo |
    grep -oE '\b(avx2|fma|avx512f|avx512_bf16|avx512_fp16|amx_bf16)\b' | sort -u | paste -s -d ' ')"
  fact Memory "$(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"
  fact System "$(. /etc/os-release && echo "$PRETTY_NAME"), Linux $(uname -r)"
  fact Compiler "$("${CC:-cc}" --version | head -n 1), ${CFLAGS:--O2 -g}"
  fact 'Fuzzing engines' "$("${CLANG:-clang}" --version | head -n 1); ${afl:-no AFL++}"
  fact 'Load before' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
  fact Revision "$(git describe --always --dirty 2>/dev/null || echo unknown)"
  fact Settings "$BENCH_REPS repetitions of at least $BENCH_MS ms; fuzzing $BENCH_ENGINE_REPS of \
$BENCH_SECONDS s; scripts $BENCH_BASELINE_REPS of $BENCH_BASELINE_SECONDS s"
}

rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd) samples=$folder/samples.tsv
# Engines write each new input to a file of its own: what a disk makes of that, after all that was
# deleted between runs, is not the target's.
runs=$folder
if [ -w /dev/shm ]; then
  runs=$(mktemp -d /dev/shm/precfuzz-bench.XXXXXX)
  trap 'rm -rf "$runs"' EXIT
fi
: >"$samples"
begin=$SECONDS took=''
describe_machine
for part in $BENCH_PARTS; do
  part_begin=$SECONDS
  "run_$part"
  took+=" $part $((SECONDS - part_begin)) s,"
done
fact Took "$((SECONDS - begin)) s:${took%,}"
scripts/bench_doc.sh "$folder" "$BENCH_DOC"
say "wrote $BENCH_DOC/performance.md in $((SECONDS - begin)) s"
