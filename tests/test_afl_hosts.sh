#!/bin/bash
# Two hosts that see one folder: each takes what the other has found and goes on where it ended; both
# of one name, and wrong options, are refused.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset "${!PRECFUZZ_@}"
export AFL_NO_AFFINITY=1  # others test at the same time

check() # name command...: its output only where it fails
{
  if "${@:2}" >"$folder/log" 2>&1; then echo "ok $1"; else
    echo "not ok $1"
    sed 's/^/    /' "$folder/log"
  fi
}

host() # name [option...]
{
  scripts/afl_hosts.sh fuzz_npy 3 "$folder/$1" --sync "$folder/shared" --main "$@"
}

taken() # by from: files of its queue that are the other's
{
  find "$folder/$1/out/$1/queue" -name "id:*,sync:$2,*" | wc -l
}

begins() { host one --secondaries 1 && [ "$(taken one two)" = 0 ] && [ -d "$folder/one/out/one-1/queue" ]; }
takes() { host two && [ "$(taken two one)" -gt 0 ]; }

sums() { find "$1" -type f -name 'id:*' -exec sha1sum {} + | cut -d ' ' -f 1 | sort -u; }

goes_on()
{
  sums "$folder/one/out/one/queue" >"$folder/before"
  host one || return 1
  [ "$(taken one two)" -gt 0 ] && sums "$folder/one/out/one/queue" >"$folder/after" &&
    [ -z "$(comm -23 "$folder/before" "$folder/after")" ]
}

# What is passed on is so under its sum, once, and in order without a gap.
is_whole()
{
  local name count
  for name in one two; do
    count=$(find "$folder/shared/$name/queue" -type f | wc -l)
    [ "$count" -gt 0 ] && diff <(cd "$folder/shared/$name/queue" && sha1sum id:* | sed 's/ .*//') \
      <(cd "$folder/shared/$name/queue" && printf '%s\n' id:* | sed 's/.*,sha1://') &&
      diff <(cd "$folder/shared/$name/queue" && printf '%s\n' id:* | sed 's/,.*//') \
        <(seq 0 $((count - 1)) | xargs printf 'id:%06d\n') || return 1
  done
  [ -z "$(find "$folder/shared" -name 'id:*' | sed 's/.*,sha1://' | sort | uniq -d)" ] &&
    diff -r "$folder/shared/two/queue" "$folder/one/out/two/queue"
}

refuses() # message argument...
{
  local status=0
  scripts/afl_hosts.sh "${@:2}" >"$folder/out" 2>&1 || status=$?
  cat "$folder/out"
  [ $status = 2 ] && grep -q -- "$1" "$folder/out"
}

check 'a host begins' begins
check 'another takes what it found' takes
check 'the first goes on, and takes what the other found' goes_on
check 'what is passed on is whole' is_whole
check 'no two hosts have one name' refuses 'another host is called one' fuzz_npy 1 "$folder/three" \
  --sync "$folder/shared" --main one
check 'a shared folder must be named' refuses '--sync is missing' fuzz_npy 1 "$folder/one"
check 'a name that AFL++ does not take' refuses "'a.b' is not" fuzz_npy 1 "$folder/one" \
  --sync "$folder/shared" --main a.b
check 'no number' refuses "'-1' is no number" fuzz_npy 1 "$folder/one" --secondaries -1
check 'no such option' refuses "no option is called '--sinc'" fuzz_npy 1 "$folder/one" --sinc x
