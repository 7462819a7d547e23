# shellcheck shell=bash
# Whose turn it is: a fuzzer, a fuzz target and an engine to be judged.

all_fuzzers=(libfuzzer asan afl afl-explore afl-cmplog)

# The folder of a fuzzer's programs.
build_of() # fuzzer
{
  case $1 in
    afl | afl-explore) echo build/afl ;;
    afl-cmplog) echo build/cmplog ;;
    *) echo "build/$1" ;;
  esac
}

is_afl() { [[ $1 = afl* ]]; }
# Only this one has engines, and crashes that precfuzz triage can read.
judges() { [ "$1" = fuzz_matmul ]; }
# Those that count by themselves.
counts() { [ "$1" = fuzz_matmul ] || [ "$1" = fuzz_agree ]; }

choose_targets()
{
  local target
  if [ ${#targets[@]} = 0 ]; then
    for target in build/replay/fuzz_*; do targets+=("${target##*/}"); done
  fi
  for target in "${targets[@]}"; do
    [ -x "build/replay/$target" ] || usage "--target: there is no '$target'"
  done
}

choose_fuzzers()
{
  local fuzzer given=${#fuzzers[@]}
  [ "$given" != 0 ] || fuzzers=("${all_fuzzers[@]}")
  for fuzzer in "${!fuzzers[@]}"; do
    [[ " ${all_fuzzers[*]} " = *" ${fuzzers[fuzzer]} "* ]] ||
      usage "--fuzzer: there is no '${fuzzers[fuzzer]}'"
    [ -x "$(build_of "${fuzzers[fuzzer]}")/${targets[0]}" ] && continue
    [ "$given" = 0 ] || usage "--fuzzer: ${fuzzers[fuzzer]} was not built"
    unset "fuzzers[fuzzer]"
  done
  fuzzers=("${fuzzers[@]}")
  [ ${#fuzzers[@]} != 0 ] || die 3 'no fuzzer was built: make'
}

libraries() { build/precfuzz engines --json | jq -r '.libraries[] | select(.version != null).engine'; }

choose_engines()
{
  local engine
  if [ ${#engines[@]} = 0 ] && [ -n "${PRECFUZZ_ENGINES:-}" ]; then
    engines=("$PRECFUZZ_ENGINES")
  elif [ ${#engines[@]} = 0 ]; then
    mapfile -t engines < <(echo reference; libraries)
  fi
  unset PRECFUZZ_ENGINES PRECFUZZ_ENGINES_FILE PRECFUZZ_STATS
  for engine in "${engines[@]}"; do
    echo 'matmul x=f32[1,1] y=f32[1,1]' |
      build/precfuzz check -q --isolate --engine "$engine" - >/dev/null 2>"$run/tmp/engine" {lock}>&-
    [ $? -lt 2 ] || usage "--engine: $(sed 's/^precfuzz: \(--engine: \)\?//; q' "$run/tmp/engine")"
  done
  printf '%s\n' "${engines[@]}" | write_whole "$run/engines" || die 2 "$run: is full"
}

# Two lists of units, "FUZZER TARGET ENGINE" each: what judges engines, and the other targets.  Turns go
# to the one and the other.  In both each fuzzer meets each second word.
choose_units()
{
  local i j f others=()
  choose_targets
  choose_fuzzers
  choose_engines
  judging=() plain=() f=${#fuzzers[@]}
  for i in "${targets[@]}"; do
    if judges "$i"; then
      for ((j = 0; j < f * ${#engines[@]}; j++)); do
        judging+=("${fuzzers[(j / ${#engines[@]} + j) % f]} $i ${engines[j % ${#engines[@]}]}")
      done
    else
      others+=("$i")
    fi
  done
  for ((j = 0; j < f * ${#others[@]}; j++)); do
    plain+=("${fuzzers[(j / ${#others[@]} + j) % f]} ${others[j % ${#others[@]}]} reference")
  done
  units=$((${#judging[@]} + ${#plain[@]}))
  choose_slice
}

# So that each has its turn where the time is short.
choose_slice()
{
  [ -z "$slice" ] || return 0
  slice=120
  [ -z "$total" ] || slice=$((total * jobs / units))
  slice=$((slice > 120 ? 120 : slice < 10 ? 10 : slice))
}

# Sets unit and seconds: what goes on behind a finding, else the next of the rota, of which the place
# outlives this run.  1: nothing that runs is left.
again=() nothing_runs=''
declare -A broken=()
next_unit()
{
  local at tries
  seconds=$slice
  if [ ${#again[@]} != 0 ]; then
    unit=${again[0]#* } seconds=${again[0]%% *}
    again=("${again[@]:1}")
    return
  fi
  for ((tries = 0; tries < 2 * units; tries++)); do
    at=$(read_number "$run/rota")
    echo $((at + 1)) | write_whole "$run/rota" || return
    if [ ${#plain[@]} = 0 ] || { [ ${#judging[@]} != 0 ] && [ $((at % 2)) = 0 ]; }; then
      unit=${judging[at / (${#plain[@]} ? 2 : 1) % ${#judging[@]}]}
    else
      unit=${plain[at / (${#judging[@]} ? 2 : 1) % ${#plain[@]}]}
    fi
    [ -z "${broken[$unit]:-}" ] && return
  done
  nothing_runs=yes
  return 1
}

is_over()
{
  [ -n "$nothing_runs" ] || { [ -n "$total" ] && [ $((SECONDS - begin)) -ge "$total" ]; }
}
