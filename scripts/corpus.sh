#!/bin/bash
# Makes the seeds of the corpus that are not written by hand (those: seeds.sh).
#
#   corpus.sh FOLDER
#
#   FOLDER/recorded/   the cases of corpus/golden, whose results PyTorch was recorded to give
#   FOLDER/models/     slices of the models that scripts/models.sh fetched; models.json tells of each
#   FOLDER/files/      small models and arrays by the libraries of their formats, a folder a target
#
# Cases of the first two are in the fuzz form, and only those that a merge by libFuzzer or by AFL++
# keeps.
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=$(realpath -m "$1")
models=(build/models/minilm-l6.safetensors build/models/minilm-l3.onnx build/models/magika.onnx)
export LC_ALL=C AFL_ALLOW_TMP=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
unset "${!PRECFUZZ_@}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{all,libfuzzer,afl}

# What is larger than the fuzz form takes is left out.
recorded()
{
  local file name
  for file in corpus/golden/*.case; do
    name=$(basename "$file" .case)
    build/precfuzz encode "@$file" --origin "recorded from PyTorch: corpus/golden/$name" \
      -o "$work/all/recorded-$name" 2>"$work/log" ||
      grep -q 'is above 16384$' "$work/log" || { cat "$work/log" >&2; exit 3; }
  done
}

# Files in the archive form no fuzzer can change: they are for those who run precfuzz seed.
from_models()
{
  local file
  build/precfuzz seed "${models[@]}" --count 360 --max-bytes 3000000 --max-k 512 -o "$work/seeds"
  jq -r '.seeds[] | select(.form == "fuzz").file' "$work/seeds/manifest.json" |
    while IFS= read -r file; do
      cp "$work/seeds/$file" "$work/all/models-${file##*/}"
    done
}

# The names of what either engine keeps, a line each.
kept()
{
  local file
  # compared values tell cases apart that take the same branches
  build/libfuzzer/fuzz_matmul -merge=1 -use_value_profile=1 "$work/libfuzzer" "$work/all" \
    >"$work/log" 2>&1 </dev/null || { cat "$work/log" >&2; exit 3; }
  afl-cmin -i "$work/all" -o "$work/afl" -- build/afl/fuzz_matmul - >>"$work/log" 2>&1 </dev/null ||
    { cat "$work/log" >&2; exit 3; }
  (cd "$work/afl" && ls)
  for file in "$work/all"/*; do
    [ ! -e "$work/libfuzzer/$(sha1sum <"$file" | cut -c 1-40)" ] || echo "${file##*/}"
  done
}

replace() # kind
{
  rm -rf "${corpus:?}/$1"
  mkdir -p "$corpus/$1"
  sed -n "s/^$1-//p" "$work/kept" | while IFS= read -r name; do
    cp "$work/all/$1-$name" "$corpus/$1/$name"
  done
}

# What the manifest says of the seeds that are there, a line each.
manifest()
{
  jq --rawfile kept "$work/kept" --indent 1 '
    ($kept | split("\n")) as $names
    | .models |= map(.path |= sub(".*/"; "") | .files |= map(.path |= sub(".*/"; "")))
    | del(.skipped, .interrupted)
    | .seeds |= map(.file |= sub(".*/"; "") | del(.form, .layer.file)
        | select("models-" + .file | IN($names[])))' "$work/seeds/manifest.json"
}

recorded
from_models
kept | sort -u >"$work/kept"
replace recorded
replace models
manifest >"$corpus/models.json"
build/models/venv/bin/python scripts/files.py "$work/files"
chmod -R u=rwX,go=rX "$work/files"
mkdir -p "$corpus/files"
find "$corpus/files" -type f ! -name 'refused-*' -delete
cp -r "$work/files/." "$corpus/files"
find "$corpus/recorded" "$corpus/models" "$corpus/files" -type f | wc -l |
  sed 's/$/ seeds beside those of seeds.txt/'
