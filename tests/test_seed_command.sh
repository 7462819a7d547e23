#!/bin/bash
# precfuzz seed from outside: what it makes, what it tells, and how origins travel.
#
# Prints "ok NAME" or "not ok NAME" for each test.  PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2034,SC2046,SC2238  # expect evaluates conditions; cut is a file
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
. tests/tensor_files.sh

replay=$(realpath build/replay/fuzz_matmul)
subject=
. tests/expect.sh

# A matrix [4, 8] of f16 with a bias, one of integers, a vector.
words=''
for i in $(seq 32); do words+=$(printf '%02x3%x' $((i * 7 % 256)) $((i % 12))); done
tensors model.safetensors '' a.weight F16 4,8 "$words" a.bias F16 4 003c0040c03d00bc \
  ids I64 1 0000000000000000 norm F16 2 003c003c

run seed model.safetensors -o made
expect 'a model gives seeds' 0 'grep -q "^model.safetensors: safetensors, 4 tensors, 1 layers" out' \
  'grep -qx "skipped 1: of a type that is not read (ids)" out' \
  'grep -qx "skipped 1: of fewer than two dimensions (norm)" out' \
  '[ "$(ls made/cases | wc -l)" -gt 20 ]' \
  '[ "$(ls made/cases | wc -l)" = "$(jq ".seeds | length" made/manifest.json)" ]'
sum=$(sha256sum model.safetensors | cut -d ' ' -f 1)
expect 'the manifest has the hash, tensor, slice and what was skipped' 0 \
  '[ "$(jq -r ".models[0].files[0].sha256" made/manifest.json)" = "$sum" ]' \
  'jq -e ".interrupted == false and .models[0].format == \"safetensors\"" made/manifest.json' \
  'jq -e "[.seeds[] | select(.layer) | .layer.tensor == \"a.weight\" and .layer.bias == \"a.bias\"
     and .layer.k == [0, 8] and .matmul == [4, 8]] | all and length > 20" made/manifest.json' \
  'jq -e "[.skipped[].tensor] | sort == [\"ids\", \"norm\"]" made/manifest.json' \
  'jq -e "[.seeds[].bytes] | add" made/manifest.json | grep -qx "$(cat made/cases/* | wc -c)"'

run seed model.safetensors -o again
expect 'the same model gives the same seeds' 0 'diff -r made again'
run seed model.safetensors -o other --seed 2
expect 'another seed gives others' 0 '! diff -rq made other'
run seed model.safetensors -o few --count 5
expect 'a limit of seeds' 0 '[ "$(ls few/cases | wc -l)" = 5 ]'
run seed model.safetensors -o small --max-bytes 2000
expect 'a limit of bytes' 0 '[ "$(cat small/cases/* | wc -c)" -le 2000 ]' \
  '[ "$(ls small/cases | wc -l)" -gt 2 ]'
run seed model.safetensors -o tiles --max-k 3
expect 'tiles along K' 0 \
  'jq -e "[.seeds[].layer | select(.) | .k[1] - .k[0]] | all(. == 3)" tiles/manifest.json' \
  'jq -e "[.seeds[].layer | select(.) | .k[0]] | unique | length > 1" tiles/manifest.json'

tensors act.safetensors '' h F32 1,2,8 "$(printf '0000803f%.0s' $(seq 16))" \
  odd F32 3 000000000000000000000000
run seed model.safetensors -o acts --activations act.safetensors
expect 'activations are partners' 0 'jq -e "[.seeds[].layer | select(.) | .partner
  | select(.kind == \"activations\" and .tensor == \"h\")] | length > 3" acts/manifest.json'

# --- origins ---

one=$(jq -r '[.seeds[] | select(.layer and .graph == "matmul_add")][0].file' made/manifest.json)
origin=$(jq -r --arg f "$one" '.seeds[] | select(.file == $f).origin' made/manifest.json)
run check --engine reference:forward "made/$one"
expect 'check tells the origin' 0 'grep -qxF "    origin    $origin" out' \
  'grep -q "a.weight F16" out' "grep -q '${sum:0:12}' out"
run show "made/$one"
expect 'show tells it' 0 'grep -qxF "origin   $origin" out'
run explain "made/$one"
expect 'explain tells it' 0 'grep -qxF "    origin    $origin" out'
run show --json "made/$one"
expect 'so does JSON' 0 '[ "$(jq -r .origin out)" = "$origin" ]'
cp "made/$one" changed
printf '\xff' | dd of=changed bs=1 seek=150 conv=notrunc status=none
run show changed
expect 'a changed case still tells it' 0 'grep -qxF "origin   $origin" out' '! cmp -s changed "made/$one"'
PRECFUZZ_ENGINES=fault:M11 PRECFUZZ_STRATEGIES=eager "$replay" \
  $(jq -r '.seeds[] | select(.graph == "matmul_out_f32_add" and .dtype == "f16") | "made/" + .file' \
    made/manifest.json) >out 2>err
status=$?
expect 'a finding leads back to the layer' 134 'grep -q "^    origin    model.safetensors .* a.weight F16 as f16" err'
run encode 'matmul x=f32[1,2] y=f32[2,1]' --origin 'by hand' -o byhand
run show byhand
expect 'encode takes an origin' 0 'grep -qx "origin   by hand" out'
run encode 'matmul x=f32[1,2] y=f32[2,1]' --origin $'two\nlines' -o bad
expect 'of one line' 2 'grep -q -- "--origin: not a line" err' '[ ! -e bad ]'

# --- what is wrong ---

npy vector.npy '<f4' '4,' 00000000000000000000000000000000
run seed --list vector.npy model.safetensors
expect 'a list of tensors' 0 "grep -qx ' <f4\[4\] $(head -c 16 /dev/zero | sha256sum | cut -d ' ' -f 1)' out" \
  "grep -qx 'a.bias F16\[4\] $(bytes 003c0040c03d00bc | sha256sum | cut -d ' ' -f 1)' out" \
  "grep -qx 'ids I64\[1\] -' out"
run seed vector.npy -o nothing
expect 'a model without a matrix gives none' 0 'grep -q "^0 seeds" out' 'jq -e ".seeds == []" nothing/manifest.json'
run seed model.safetensors -o made
expect 'a folder that is not empty stays as it is' 2 'grep -q "made: not empty" err' 'diff -r made again'
run seed model.safetensors
expect 'an output is needed' 2 'grep -q -- "--output DIR is missing" err'
run seed -o none
expect 'a source is needed' 2 'grep -q "SOURCE is missing" err' '[ ! -e none ]'
run seed model.safetensors -o none --max-k 16385
expect 'limits of options' 2 'grep -q -- "--max-k" err' '[ ! -e none ]'
run seed absent -o none1
expect 'a file that is not there' 2 'grep -qx "precfuzz: cannot open absent: No such file or directory" err'
printf 'PK\3\4 and no archive' >broken
run seed broken model.safetensors -o none2
expect 'a broken file is told, the others give seeds' 2 'grep -q "^precfuzz: broken: .*npz: archive: " err' \
  'jq -e ".seeds | length > 20" none2/manifest.json'
head -c 100 model.safetensors >cut
run seed cut -o none3
expect 'file and offset are told' 2 'grep -q "^precfuzz: cut: offset 0: safetensors: a header of" err'
