#!/bin/bash
# Makes the seeds of fuzzing that are written by hand: of corpus/seeds.txt and corpus/refused.txt.
#
#   seeds.sh FOLDER
#
#   FOLDER/seeds/                         one file, in the fuzz form, for each line of seeds.txt
#   FOLDER/files/TARGET/refused-NAME      one for each line of refused.txt
#
# What else is in FOLDER/seeds goes, and what else is called refused-*.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

new() # file
{
  [ ! -e "$1" ] || { echo "seeds: $1 is there twice" >&2; exit 2; }
}

mkdir -p "$folder"/{seeds,files}
find "$folder/seeds" -mindepth 1 -delete
find "$folder/files" -name 'refused-*' -delete
while IFS= read -r line; do
  case $line in '' | '#'*) continue ;; esac
  name=${line%%: *}
  new "$folder/seeds/$name"
  "$root/build/precfuzz" encode "${line#*: }" -o "$folder/seeds/$name"
done <"$root/corpus/seeds.txt"

# --- files that must be refused -------------------------------------------------------------------

little_endian() # number bytes
{
  local byte i
  for ((i = 0; i < $2; i++)); do
    printf -v byte '\\x%02x' $(($1 >> 8 * i & 255))
    printf '%b' "$byte"
  done
}

hex()
{
  local i
  for ((i = 0; i < ${#1}; i += 2)); do
    printf '%b' "\\x${1:i:2}"
  done
}

fields() # [TAG:PAYLOAD|=BYTES]...
{
  local field payload
  for field; do
    payload=${field#*[:=]}
    [ "${field%%=*}" = '' ] || {
      little_endian $((16#${field%%:*})) 2
      little_endian $((${#payload} / 2)) 4
    }
    hex "$payload"
  done
}

archive() # fields
{
  # shellcheck disable=SC2086  # words
  fields $1 >"$work/fields"
  {
    printf '\x89pfcase\n\x01\x00\x00\x00'
    little_endian $(($(wc -c <"$work/fields") + 20)) 4
    cat "$work/fields"
  } >"$work/archive"
  cat "$work/archive"
  gzip -c "$work/archive" | tail -c 8 | head -c 4  # where gzip has the same CRC
}

framed() # frame bytes
{
  printf '%b' "$2" >"$work/bytes"
  local size
  size=$(wc -c <"$work/bytes")
  case $1 in
    text) cat "$work/bytes" ;;
    npy+*)
      printf '\x93NUMPY\x01\x00'
      little_endian $((size + 1)) 2
      cat "$work/bytes"
      echo
      head -c "${1#*+}" /dev/zero
      ;;
    safetensors+*)
      little_endian "$size" 8
      cat "$work/bytes"
      head -c "${1#*+}" /dev/zero
      ;;
    archive) archive "$2" ;;
    *) echo "seeds: there is no frame '$1'" >&2; exit 2 ;;
  esac
}

while IFS= read -r line; do
  case $line in '' | '#'*) continue ;; esac
  target=${line%%/*} name=${line#*/} rest=${line#* | * | }
  file=$folder/files/$target/refused-${name%% | *}
  mkdir -p "${file%/*}"
  new "$file"
  framed "${rest%% | *}" "${rest#* | }" >"$file"
done <"$root/corpus/refused.txt"
