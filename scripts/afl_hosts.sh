#!/bin/bash
# Fuzzes one target with AFL++ as one host of many, which pass on to each other what they find.
#
#   afl_hosts.sh TARGET SECONDS FOLDER --sync SHARED [--main NAME] [--secondaries N] [--every SECONDS]
#
# FOLDER is this host's own and is kept from run to run.  In it runs one main instance, NAME (main and
# the host's name), which no other host may be called, and N (0) secondary ones beside it.  SHARED is a
# folder that all hosts see.  In the beginning, --every so often (a tenth of SECONDS) and at the end
# what the main instance has that SHARED has not is copied to SHARED/NAME/queue, crashes of all instances
# to SHARED/NAME/crashes, and from there the queues of other hosts.  Of these the main instance takes
# what is new to it, and from it the secondary ones do.  What a host writes is whole before it has its
# name: SHARED may be a network's file system, or be carried by rsync.
#
# Exit status: 0 no crash, 1 crashes, 2 wrong usage, 3 the machinery failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/engines.sh

die() # status what
{
  echo "afl_hosts: $2" >&2
  exit "$1"
}

number() # option value
{
  [[ $2 =~ ^(0|[1-9][0-9]{0,6})$ ]] || die 2 "$1: '$2' is no number"
}

[ $# -ge 3 ] || die 2 'usage: TARGET SECONDS FOLDER --sync SHARED [--main NAME] [--secondaries N] [--every SECONDS]'
target=$1 seconds=$2 folder=$3 shared='' name=main-$(uname -n | tr -c 'A-Za-z0-9\n' -) secondaries=0 every=''
shift 3
while [ $# -gt 0 ]; do
  [ $# -gt 1 ] || die 2 "$1: a value is missing"
  case $1 in
    --sync) shared=$2 ;;
    --main) name=$2 ;;
    --secondaries) number "$1" "$2"; secondaries=$2 ;;
    --every) number "$1" "$2"; every=$2 ;;
    *) die 2 "no option is called '$1'" ;;
  esac
  shift 2
done
number SECONDS "$seconds"
every=${every:-$((seconds / 10))}
[ -x "build/afl/$target" ] || die 2 "build/afl/$target is not there"
[ -n "$shared" ] || die 2 '--sync is missing'
# AFL++ takes 32 letters of a name, of which a secondary instance adds some.
[[ $name =~ ^[A-Za-z0-9_-]{1,28}$ ]] || die 2 "--main: '$name' is not 1 to 28 letters, digits, - and _"
mkdir -p "$folder/out" "$folder/seeds" "$shared/$name"/{queue,crashes}
folder=$(realpath "$folder") shared=$(realpath "$shared")

# Two hosts of one name would be one host to the others, which has seen what it has not.
claim()
{
  [ -s "$folder/host" ] || cat /proc/sys/kernel/random/uuid >"$folder/host"
  [ -e "$shared/$name/host" ] || cp "$folder/host" "$shared/$name/host"
  cmp -s "$folder/host" "$shared/$name/host" || die 2 "another host is called $name in $shared"
}

seeds()
{
  local dir
  for dir in corpus/{seeds,recorded,models} "corpus/files/$target"; do
    [ ! -d "$dir" ] || find "$dir" -type f -exec cp -t "$folder/seeds" {} +
  done
}

# Under its name or not at all.
copy() { cp "$1" "${2%/*}/.new" && mv "${2%/*}/.new" "$2"; }

# What nobody has passed on yet, by content: AFL++ numbers its queue anew where it goes on with one, and
# what it took from others is in it, too.  Numbers rise: it does not look below the last that it saw.
give_queue()
{
  local sum file number
  [ -d "$folder/out/$name/queue" ] || return 0
  number=$(find "$shared/$name/queue" -name 'id:*' | wc -l)
  find "$shared" -path '*/queue/id:*' -printf '%f\n' | sed 's/.*,sha1://' >"$folder/known"
  find "$folder/out/$name/queue" -maxdepth 1 -name 'id:*' | sort | xargs -d '\n' -r sha1sum |
    awk -v known="$folder/known" 'BEGIN { while ((getline sum <known) > 0) seen[sum] = 1 } !seen[$1]++' |
    while read -r sum file; do
      # or the number would be another's
      copy "$file" "$(printf '%s/id:%06d,sha1:%s' "$shared/$name/queue" "$number" "$sum")" || exit
      number=$((number + 1))
    done
}

give_crashes()
{
  local file to
  for file in "$folder/out/$name"*/crashes/id:*; do
    [ -f "$file" ] || continue
    to=$shared/$name/crashes/afl-$(sha1sum <"$file" | cut -c 1-40)
    [ -e "$to" ] || copy "$file" "$to" || return
  done
}

take_queues()
{
  local from to file
  for from in "$shared"/*/queue; do
    to=$folder/out/$(basename "$(dirname "$from")")/queue
    [ "$from" != "$shared/$name/queue" ] || continue
    mkdir -p "$to"
    for file in "$from"/id:*; do
      [ ! -f "$file" ] || [ -e "$to/${file##*/}" ] || copy "$file" "$to/${file##*/}" || return
    done
  done
}

# A full disk or a lost network is no reason to stop.
exchange()
{
  give_queue && give_crashes && take_queues ||
    echo "afl_hosts: $shared: not all could be exchanged; it is tried again" >&2
}

# Each takes in first what others have, and the main one at its end, too.
start() # -M|-S name [option...]
{
  AFL_AUTORESUME=1 AFL_IMPORT_FIRST=1 AFL_FINAL_SYNC=1 AFL_IGNORE_SEED_PROBLEMS=1 \
    run_afl "build/afl/$target" "$seconds" "$folder/$2.log" "$folder/out" "$folder/seeds" "$@" &
  pids+=($!)
}

alive()
{
  local pid
  for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null && return; done
  return 1
}

stop()
{
  local pid
  for pid in "${pids[@]}"; do kill -TERM -- "-$pid" 2>/dev/null || true; done
}

pids=() failed=''
claim
seeds
exchange
trap stop EXIT
trap 'stop; stopped=yes' INT TERM HUP
start -M "$name"
for i in $(seq "$secondaries"); do
  order=()
  [ $((i % 2)) = 0 ] || order=(-Z)  # in the order of the queue, for variety
  start -S "$name-$i" "${order[@]}"
done
shown=$SECONDS stopped=''
while alive; do
  sleep 0.5 || true
  [ $((SECONDS - shown)) -ge "$every" ] || continue
  shown=$SECONDS
  exchange
done
for pid in "${pids[@]}"; do
  wait "$pid" || [ -n "$stopped" ] || failed=yes
done
trap - EXIT
exchange
[ -z "$failed" ] || { tail -n 15 "$folder/$name.log" >&2; die 3 "AFL++ failed, see $folder/*.log"; }

inputs=$(find "$folder/out/$name/queue" -name 'id:*' | wc -l)
taken=$(find "$folder/out/$name/queue" -name 'id:*,sync:*' | sed 's/.*,sync:\([^,]*\).*/\1/' | sort | uniq -c |
  awk '{ printf " %s %s", $2, $1 }')
crashes=$(find "$folder/out" -path '*/crashes/id:*' | wc -l)
echo "$name: $inputs inputs, of others:${taken:- none}; $crashes crashes"
[ "$crashes" = 0 ]
