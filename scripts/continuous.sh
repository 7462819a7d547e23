#!/bin/bash
# Fuzzes for hours or days: every fuzz target and library, both fuzzing engines, in turns that share a
# corpus; what is found is triaged at once, and the run goes on past it.  docs/continuous.md.
#
#   continuous.sh [OPTION...]
#
#   --findings FOLDER   what is kept, and gone on from (build/findings)
#   --hours H           for so long, 0.5 say; without it until it is ended
#   --seconds S         the same in seconds
#   --engine E...       in the place of the reference and every library that is there; as in
#                       PRECFUZZ_ENGINES
#   --target T...       in the place of all fuzz targets
#   --fuzzer F...       of libfuzzer, asan, afl, afl-explore and afl-cmplog; in the place of all
#   --jobs N            at a time; default: as many as there are processors
#   --slice S           seconds of a turn; default 120, less where --hours is short
#   --max-disk MB       that FOLDER may take (2048)
#
# SIGTERM and SIGINT end it in order.  Exit status: 0 nothing new was found, 1 something was, 2 wrong
# usage, another run on the folder, or one that cannot be written, 3 the machinery failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
export LC_ALL=C
for part in engines continuous/{options,folder,units,slices,crashes,corpus,disk,status}; do
  # shellcheck disable=SC1090
  . "scripts/$part.sh"
done

stopped=''
trap 'stopped=${stopped:-$SECONDS}' INT TERM HUP
read_options "$@"
take_folder "$findings"
choose_units
gather_seeds
recover
begin_status

# --- turns ------------------------------------------------------------------------------------------

# A free place gets what is most urgent.
fill() # place
{
  local kind
  for kind in triage merge report shares; do
    if ! is_running $kind && "${kind}_is_due"; then
      start_job "$1" $kind
      return
    fi
  done
  start_fuzzer "$1" || pause_start
}

tend()
{
  local place
  for ((place = 0; place < jobs; place++)); do
    [ -z "${pid[place]:-}" ] || tend_place "$place"
    [ -n "${pid[place]:-}" ] || [ -n "$stopped" ] || ! may_start || fill "$place"
  done
}

begin=$SECONDS
while [ -z "$stopped" ] && ! is_over; do
  look_at_disk
  tend
  tell_status
  [ -n "$stopped" ] || sleep 0.5
done

# --- the end ----------------------------------------------------------------------------------------

stop_all
if [ -z "$stopped" ]; then
  finish_job triage
  finish_job shares
fi
end_status
[ -z "$nothing_runs" ] || exit 3
[ "$(count_findings)" -le "$found_before" ] || exit 1
