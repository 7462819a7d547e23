#!/bin/bash
# What PyTorch was recorded to answer, judged: each answer follows the row that the index claims for
# it, but for two cases of subnormals that it flushed.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/tensor_files.sh
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

program=$(realpath "${PRECFUZZ:-build/precfuzz}")
unset PRECFUZZ "${!PRECFUZZ_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
. tests/tensor_files.sh

failed=0
check() # NAME COMMAND...
{
  if "${@:2}" >"$work/log" 2>&1; then
    echo "ok $1"
  else
    failed=1
    echo "not ok $1"
    head -n 5 "$work/log" | sed 's/^/    /'
  fi
}

judge() # expected-status arguments...
{
  local status=0
  "$program" judge -q "${@:2}" >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = "$1" ] || { echo "status $status"; cat "$work/err"; return 1; }
}

says() { tail -n 1 "$work/out" | grep -qxF "$1" || { tail -n 1 "$work/out"; return 1; }; }

# Findings, as "CASE MODEL" with how often each was seen.
findings()
{
  awk '/^[^ ]*: matmul/ { sub(/.*\//, "", $1); sub(/\.case:$/, "", $1); file = $1 }
    /^IMPOSSIBLE|^SPECIAL/ { found++ }
    /^    model/ { print file, $2; found-- }
    END { if (found) print "a finding without a model" }' "$work/out" | sort | uniq -c |
    sed 's/^ *//'
}

only_flushes()
{
  [ "$(findings)" = "8 case060_bf16_subnormal_4x16x33 daz
8 case130_bf16_subnormal_3x128x1 daz" ] || { findings; return 1; }
}

check 'every answer is judged' judge 1 corpus/golden
check '1,144 of 1,160 are right' says \
  '140 cases, 1160 results, 16 findings: OK 1144, IMPOSSIBLE 16'
check 'the others are flushes of two cases' only_flushes

mkdir "$work/known"
sed -n 's/^ *signature //p' "$work/out" | sort -u |
  awk '{ printf "[%d]\nsignature = %s\nmodel = daz\nreason = oneDNN reads subnormal bf16 as zero\n", NR, $0 }' \
  >"$work/known/known.txt"
entries=$(grep -c '^\[' "$work/known/known.txt")
for ((i = 1; i <= entries; i++)); do
  cp corpus/golden/case060_bf16_subnormal_4x16x33.case "$work/known/$i.case"
done
check 'the flushes as known findings' judge 0 corpus/golden --known "$work/known"
check 'there is a signature for each backend of a graph' [ "$entries" = 8 ]

claims() { grep -c '": "\(eager\|aot_eager\|inductor\)"' corpus/golden/index.json; }
check 'the index claims a row for each' [ "$(claims)" = 1160 ]

mkdir "$work/golden"
cp corpus/golden/case028_* "$work/golden"
one=$work/golden/case028_bf16_normal_2x3x5
rows=eager,aot_eager,inductor
check 'answers as they are' judge 0 -s $rows "$one.case" --got "$work/golden"
poke "$one.safetensors" matmul_add.eager 0 1
check 'one bit is changed' [ "$(cmp -l "${one/$work/corpus}.safetensors" "$one.safetensors" |
  wc -l)" = 1 ]
check 'and found' judge 1 -s $rows "$one.case" --got "$work/golden"
check 'in that answer only' says '1 case, 8 results, 1 finding: OK 7, IMPOSSIBLE 1'
poke "$one.safetensors" matmul_add.eager 0 1
poke "$one.safetensors" matmul_cast_f32_add.inductor 3 1
check 'a bit of another answer' judge 1 -s $rows "$one.case" --got "$work/golden"

check 'the archives are cases' "$program" check -q -e reference:forward corpus/golden/*.case

# The script that makes them, on two small recordings.
zeros() { printf '%0*d' $((8 * $1)) 0; }  # hex of f32
record() # name M N K
{
  tensors "$work/recordings/$1.safetensors" '' \
    matmul_add.eager F32 "$2,$3" "$(zeros $(($2 * $3)))" \
    matmul_add.inductor F32 "$2,$3" "$(zeros $(($2 * $3)))" bias F32 1 "$(zeros 1)" \
    x F32 "$2,$4" "$(zeros $(($2 * $4)))" y F32 "$4,$3" "$(zeros $(($3 * $4)))"
}

make_golden() { PRECFUZZ=$program scripts/golden.sh "$work/recordings" "$work/made"; }
refuses() { ! make_golden; }
mkdir "$work/recordings"
record a 1 1 3
record b 2 1 3
check 'made of recordings' make_golden
check 'judged as the rest' judge 0 "$work/made"
check 'with all answers' says '2 cases, 4 results, 0 findings: OK 4'
check 'and no operand twice' [ "$(grep -c '"x"' "$work"/made/*.safetensors | grep -c ':0$')" = 2 ]
check 'not over a folder in use' refuses

exit "$failed"
