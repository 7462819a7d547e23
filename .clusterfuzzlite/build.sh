#!/bin/bash
# Builds the fuzz targets for ClusterFuzz, OSS-Fuzz and ClusterFuzzLite: in the tree's root, with the
# compilers, flags and folders of their environment (CC, CFLAGS, LIB_FUZZING_ENGINE, OUT, ...).
#
# $OUT gets each target, its seeds (TARGET_seed_corpus.zip), how libFuzzer is run (TARGET.options) and,
# of a reader, words of its format (TARGET.dict); lib/ has what no archive could be linked of.
set -euo pipefail
. scripts/engines.sh

# Files for a reader, bytes for a chain of conversions, else all cases.
seeds()
{
  case $1 in
    fuzz_matmul | fuzz_agree | fuzz_oracle)
      find corpus/{seeds,recorded,models} -type f
      find corpus/regressions -name '*.case' ;;
    fuzz_cast) find corpus/seeds -type f ;;
    *) find "corpus/files/$1" -type f ;;
  esac
}

# Above the longest seed, 16757 bytes of a case's values; a reader's head is shorter, a chain of
# conversions (fuzz/cast_input.c) reads no more than that.
max_len()
{
  case $1 in
    fuzz_matmul | fuzz_agree | fuzz_oracle) echo 20480 ;;
    fuzz_cast) echo 512 ;;
    *) echo 8192 ;;
  esac
}

options()
{
  echo '[libfuzzer]'
  { echo "max_len=$(max_len "$1")"; libfuzzer_options "$1"; } | sed 's/=/ = /'
  [ ! -f "fuzz/$1.dict" ] || echo "dict = $1.dict"
}

# Of shared libraries all but those that a C++ program has wherever it runs.
libraries()
{
  ldd "$1" | awk '$2 == "=>" && $1 !~ /^lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+)\.so/ { print $3 }'
}

make --no-print-directory -j"$(nproc)" out
for source in fuzz/fuzz_*.c; do
  target=$(basename "$source" .c)
  for library in $(libraries "$OUT/$target"); do
    install -D -m 644 -t "$OUT/lib" "$library"
  done
  rm -f "$OUT/${target}_seed_corpus.zip"
  seeds "$target" | zip -qjX@ "$OUT/${target}_seed_corpus.zip"
  options "$target" >"$OUT/$target.options"
  [ ! -f "fuzz/$target.dict" ] || cp "fuzz/$target.dict" "$OUT"
done
