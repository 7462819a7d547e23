#!/bin/bash
# What the image does (Dockerfile).
#
#   fuzz [SECONDS]    fuzzes every engine that is there, one after the other; for FUZZ_SECONDS (60) if
#                     nothing is said
#   fuzz --OPTION...  for hours or days, with options of continuous.sh; so it is without a word, too,
#                     where a volume is at /findings
#   ci [OPTION...]    known findings, then fuzzing for --seconds (300): ci.sh
#   test [FILE...]    runs the tests, or some of them (tests/test_cli.sh, build/test/test_npy); where /tmp
#                     is a file system of its own, programs must be allowed there (--tmpfs /tmp:exec)
#   test-pytorch      do the rows describe PyTorch?  Its tables go to pytorch/pytorch.md (conformance.sh)
#   isas ENGINE ...   one library under each instruction set (isas.sh)
#   programs [NAME...]  do the programs of docs/findings/ show what they should, without precfuzz?  The
#                     table goes to programs.md in /data (findings_programs.sh)
#   hosts ARGUMENT...  AFL++ alone, as one host of many (afl_hosts.sh)
#   COMMAND...        is one of precfuzz's
#
# Exit status: as the commands'; 2: wrong usage.
set -euo pipefail
home=$(realpath "$(dirname "$0")/..")

usage()
{
  printf 'precfuzz: %s\nusage: fuzz [SECONDS | --OPTION...] | ci [--OPTION...] | test [FILE...] | test-pytorch | isas ENGINE ... | programs [NAME...] | hosts ... | COMMAND... of precfuzz\n' "$1" >&2
  exit 2
}

# In /data, the folder that this starts in, or at least for as long as this runs.
kept() # name
{
  local folder=$PWD/$1
  if mkdir -p "$folder" 2>/dev/null && [ -w "$folder" ]; then echo "$folder"; else
    echo "precfuzz: what is found is not kept: $PWD cannot be written" >&2
    mktemp -d
  fi
}

# Where a run is kept that is gone on with.
findings()
{
  if [ -w /findings ]; then echo /findings; else echo "$(kept fuzz)/findings"; fi
}

do_ci() { exec "$home/scripts/ci.sh" --findings "$(findings)" "$@"; }

do_fuzz() # [seconds], or options
{
  if [[ ${1:-} = --* ]] || { [ $# = 0 ] && mountpoint -q /findings; }; then
    exec "$home/scripts/continuous.sh" --findings "$(findings)" "$@"
  fi
  local seconds=${1:-${FUZZ_SECONDS:-60}}
  [ $# -le 1 ] || usage 'fuzz: one number of seconds'
  [[ $seconds =~ ^[1-9][0-9]{0,7}$ ]] || usage "fuzz: '$seconds' is no number of seconds"
  FUZZ_FOLDER=$(kept fuzz)
  export FUZZ_FOLDER
  exec "$home/scripts/fuzz_each.sh" fuzz_matmul "$seconds"
}

do_test() # [file...]
{
  local file files=("$@")
  cd "$home"
  # What builds something first is for where precfuzz is built.
  [ $# != 0 ] || mapfile -t files < <(printf '%s\n' tests/test_*.sh build/test*/test_* |
    grep -vxE 'tests/test_(bench|cfl)\.sh')
  for file in "${files[@]}"; do
    [ -f "$file" ] || usage "test: no test is called '$file'"
  done
  RESULTS=$(mktemp -d)/results
  export RESULTS
  exec scripts/test.sh "${files[@]}"
}

do_test-pytorch()
{
  local folder
  [ $# = 0 ] || usage 'test-pytorch: takes nothing'
  folder=$(kept pytorch)
  PAGE=$folder/pytorch.md exec "$home/scripts/conformance.sh" all "$folder"
}

do_isas() # engine...
{
  FUZZ_FOLDER=$(kept fuzz)
  export FUZZ_FOLDER
  exec "$home/scripts/isas.sh" "$@"
}

do_programs() # [name...]
{
  [ -w . ] && PAGE=$PWD/programs.md || PAGE=/dev/null
  export PAGE
  exec "$home/scripts/findings_programs.sh" "$@"
}

do_hosts() { exec "$home/scripts/afl_hosts.sh" "$@"; }  # target seconds folder option...

case ${1:-fuzz} in
  fuzz | ci | test | test-pytorch | isas | programs | hosts) "do_${1:-fuzz}" "${@:2}" ;;
  *) exec "$home/build/precfuzz" "$@" ;;
esac
