# shellcheck shell=bash disable=SC2034  # for those who source it
# Options of continuous.sh.

# As this script's head has them.
print_options()
{
  sed -n '/^#   continuous.sh/,/^# SIGTERM/{s/^#\( \{1,3\}\|$\)//;/^SIGTERM/d;p}' scripts/continuous.sh
}

usage() # what is wrong
{
  print_options >&2
  echo "continuous: $1" >&2
  exit 2
}

die() # status text
{
  echo "continuous: $2" >&2
  exit "$1"
}

# A whole number from 1 on.
take_number() # option value most
{
  [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] && [ "$2" -le "$3" ] || usage "$1: '$2' is no number from 1 to $3"
}

take_hours() # value
{
  [[ $1 =~ ^[0-9]{1,6}(\.[0-9]{1,6})?$ ]] || usage "--hours: '$1' is no number of hours"
  total=$(awk -v h="$1" 'BEGIN { printf "%d", h * 3600 + 0.5 }')
  [ "$total" -ge 1 ] || usage "--hours: '$1' is less than a second"
}

# Sets findings, total (seconds; empty: no end), jobs, slice, max_disk (MB), and the lists engines,
# targets and fuzzers, which are empty where nothing was said.
read_options() # argument...
{
  local option
  findings=build/findings total='' jobs=$(nproc) slice='' max_disk=2048
  engines=() targets=() fuzzers=()
  while [ $# != 0 ]; do
    option=$1
    shift
    case $option in
      --help) print_options; exit 0 ;;
      --findings | --hours | --seconds | --jobs | --slice | --max-disk | --engine | --target | --fuzzer)
        [ $# != 0 ] && [ -n "$1" ] && [[ $1 != --* ]] || usage "$option: what?" ;;
      *) usage "there is no option '$option'" ;;
    esac
    case $option in
      --findings) findings=$1 ;;
      --hours) take_hours "$1" ;;
      --seconds) take_number "$option" "$1" 100000000; total=$1 ;;
      --jobs) take_number "$option" "$1" 256; jobs=$1 ;;
      --slice) take_number "$option" "$1" 86400; slice=$1 ;;
      --max-disk) take_number "$option" "$1" 100000000; max_disk=$1 ;;
      *) # a list: all words up to the next option
        while [ $# != 0 ] && [[ $1 != --* ]]; do
          [ -n "$1" ] || usage "$option: what?"
          case $option in
            --engine) engines+=("$1") ;;
            --target) targets+=("$1") ;;
            --fuzzer) fuzzers+=("$1") ;;
          esac
          shift
        done
        continue
        ;;
    esac
    shift
  done
}
