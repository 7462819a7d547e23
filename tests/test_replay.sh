#!/bin/bash
# Seeds and regressions through every target, without a fuzzing engine: no finding.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

for target in fuzz/fuzz_*.c; do
  name=$(basename "$target" .c)
  for folder in corpus/seeds corpus/recorded corpus/models "corpus/files/$name" \
    corpus/regressions; do
    [ -d "$folder" ] || continue
    failed=''
    for file in "$folder"/*; do
      [ "${file##*/}" != known.txt ] || continue
      "build/replay/$name" "$file" >/dev/null || failed+=" $file"
    done
    if [ -z "$failed" ]; then
      echo "ok replay $name $folder"
    else
      echo "not ok replay $name $folder:$failed"
    fi
  done
done
