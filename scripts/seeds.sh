#!/bin/bash
# Makes the seed corpus from the one-line cases of corpus/seeds.txt.
#
#   seeds.sh FOLDER
#
# FOLDER then holds exactly one file, in the fuzz form, for each line.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$1

mkdir -p "$folder"
find "$folder" -mindepth 1 -delete
while IFS= read -r line; do
  case $line in '' | '#'*) continue ;; esac
  name=${line%%: *}
  [ ! -e "$folder/$name" ] || { echo "seeds: $name is there twice" >&2; exit 2; }
  "$root/build/precfuzz" encode "${line#*: }" -o "$folder/$name"
done <"$root/corpus/seeds.txt"
