#!/bin/bash
# The seeds that are written by hand are what scripts/seeds.sh makes of corpus/seeds.txt and
# corpus/refused.txt, the first is the user's script, and what must be refused is, for its reason.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
check() { if "${@:2}"; then echo "ok $1"; else echo "not ok $1"; fi; }

is_script()
{
  build/precfuzz show "$(find corpus/seeds -type f | LC_ALL=C sort | head -n 1)" |
    grep -qF 'matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] bias=bf16[32,7,1,1]'
}

is_as_made() # folder of the corpus
{
  local file status=0
  diff -r "$made/seeds" "$1/seeds" || status=1
  for file in "$made"/files/*/* "$1"/files/*/refused-*; do
    file=${file#*/files/}
    cmp "$made/files/$file" "$1/files/$file" || status=1
  done
  return $status
}

differs() # a changed file must not go unnoticed
{
  local status=1
  cp "$1" "$made/kept"
  printf x >>"$1"
  is_as_made corpus >/dev/null 2>&1 || status=0
  mv "$made/kept" "$1"
  return $status
}

# What a command says of the file; each file of text shows by its name what it is.
say() # file
{
  local name=${1##*/refused-} first
  first=$(head -n 1 "$1" | tr -d '\0')
  case $1 in
    */fuzz_text/refused-case-*) build/precfuzz check --form text "$1" ;;
    */fuzz_text/refused-row-*)
      build/precfuzz check --strategy "given: $(tail -n +2 "$1")" - <<<"$first" ;;
    */fuzz_text/refused-rule-*)
      build/precfuzz check --rule "$first" corpus/seeds/03-matmul ;;
    */fuzz_text/refused-list-*)
      mkdir "$made/$name" && cp "$1" "$made/$name/known.txt" && build/precfuzz regress "$made/$name" ;;
    */fuzz_matmul/*) build/precfuzz check --form archive "$1" ;;
    */fuzz_safetensors/refused-index-*) build/precfuzz seed --list "$1" ;;
    */fuzz_safetensors/*) build/precfuzz check --form safetensors "$1" ;;
    *) build/precfuzz seed --list "$1" ;;
  esac
}

refusals()
{
  local line target name words file status all=0
  while IFS= read -r line; do
    case $line in '' | '#'*) continue ;; esac
    target=${line%%/*} name=${line#*/} words=${line#* | }
    file=$1/files/$target/refused-${name%% | *} words=${words%% | *} status=0
    say "$file" >"$made/said" 2>&1 </dev/null || status=$?
    # a row that cannot be judged is no mistake
    if [ $status = 2 ] || grep -q ^UNSUPPORTED "$made/said"; then
      ! grep -qaF -- "$words" "$made/said" || continue
    fi
    echo "$file: exit status $status, not '$words':"
    head -c 500 "$made/said"
    all=1
  done <"$2"
  return $all
}

# Graphs, keys, dtypes and kinds of values of all seeds are words of the dictionary for texts.
in_dictionary() # file
{
  grep -v '^#' corpus/seeds.txt | cut -s -d ' ' -f 2- |
    grep -oE '^[a-z0-9_]+| [.a-z]+=|[a-z0-9_]+\[|values=[a-z]+' | sed 's/\[//; s/^values=//; s/.*/"&"/' |
    sort -u | { ! grep -vxFf "$1"; }
}

check 'seeds can be made' scripts/seeds.sh "$made"
check 'seeds are up to date (else: make seeds)' is_as_made corpus
check 'the first seed is the script' is_script
check 'what must be refused is refused, for its reason' refusals "$made" corpus/refused.txt
check 'the dictionary has the words of the seeds' in_dictionary fuzz/fuzz_text.dict
grep -v bf16 fuzz/fuzz_text.dict >"$made/dictionary"
check 'a missing word is seen' eval '! in_dictionary "$made/dictionary" >/dev/null'
check 'a changed seed is seen' differs "$made/seeds/00-user-script"
check 'a changed file that must be refused is seen' differs "$made/files/fuzz_npy/refused-brace"
grep fuzz_npy/brace corpus/refused.txt | sed 's/expected {/expected [/' >"$made/refused.txt"
check 'another reason is seen' eval '! refusals "$made" "$made/refused.txt" >/dev/null'
