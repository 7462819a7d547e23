# shellcheck shell=bash
# The folder of a run.  All that a run knows is there, so that one that was killed is gone on with:
#
#   bundles/            what precfuzz triage makes; status.jsonl; sample/, inputs for the page
#   crashes/new/        crash files that are not yet triaged, by target and engine
#   crashes/TARGET/     those that are;  .../other/: without a bundle of precfuzz triage, or that show
#                       nothing any more
#   corpus/TARGET/      inputs, named by their SHA-1
#   known               the findings of bundles/, as a list for --known
#   report.html, status.json
#   .run/               the rest: lock, rota, slices under way, counts
#
# A file gets its place by being renamed, and its name from what is in it: whatever is done twice is
# done once.

set_folder() # folder that is there
{
  home=$1 run=$1/.run bundles=$1/bundles crashes=$1/crashes corpus=$1/corpus
}

# For this run alone, as long as it lives.
take_folder() # folder
{
  mkdir -p "$1" 2>/dev/null && [ -d "$1" ] && [ -w "$1" ] && [ -x "$1" ] ||
    die 2 "--findings: $1 cannot be written"
  set_folder "$(realpath "$1")"
  mkdir -p "$run"/{slices,seeds,merged,tries,coverage,tmp} "$bundles" "$crashes/new" "$corpus" &&
    exec {lock}>>"$run/lock" || die 2 "--findings: $1 cannot be written"
  # A moment, as a helper of a run that was killed may still have it.
  flock -w 5 "$lock" || die 2 "--findings: another run is on $1"
  [ -s "$run/id" ] || write_whole "$run/id" </proc/sys/kernel/random/uuid || die 2 "$run: is full"
  rm -rf "${run:?}/tmp" "$run"/known-*.new
  mkdir "$run/tmp"
  export TMPDIR=$run/tmp
  # Of a run that was killed; this one's begin only now to be marked so.
  end_processes "CONTINUOUS_RUN=$(<"$run/id")"
  CONTINUOUS_RUN=$(<"$run/id")
  export CONTINUOUS_RUN
}

# From standard input, which is not empty where all went well; the old file or the new one is there.
write_whole() # file
{
  { cat >"$1.tmp" && [ -s "$1.tmp" ] && mv "$1.tmp" "$1"; } 2>/dev/null ||
    { rm -f "$1.tmp"; return 1; }
}

read_number() # file: what it says, or 0
{
  local number=''
  [ ! -e "$1" ] || read -r number <"$1" || true
  [[ $number =~ ^[0-9]+$ ]] && echo "$number" || echo 0
}

# Those whose environment has this, whatever has become of their parents.
end_processes() # NAME=VALUE
{
  local file
  grep -lzsFx -- "$1" /proc/[0-9]*/environ | while IFS=/ read -r _ _ file _; do
    kill -KILL "$file" 2>/dev/null
  done
}

# An engine's name as that of a folder.
safe() { echo "${1//[^[:alnum:]._-]/_}"; }

count_files() { find "$@" -type f 2>/dev/null | wc -l; }
