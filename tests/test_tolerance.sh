#!/bin/bash
# precfuzz tolerance, and the familiar rules, from outside.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2317  # conditions are evaluated by expect
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

subject=
. tests/expect.sh

narrow() { awk 'length > 100 { bad = 1 } END { exit bad }' out; }
no_trailing_space() { ! grep -q ' $' out; }

# --- the table ----------------------------------------------------------------------------------

run tolerance --dtype bf16 --k 16 --count 5 --faults
expect 'the table' 0 \
  'prints "^graph matmul, row eager; operands bf16, output bf16, K = 16$"' \
  'prints "^5 cases of 8 x 8 elements of each kind of data, seed 1$"' \
  'prints "^contract +its enclosure +0 % +0 % +[0-9.]+ % +0 % +0 % "' \
  'prints "^PyTorch +abs:1e-05,rel:0.016 +0 % "' \
  'prints "^BLAS tests +- +- +- +- +- +- +-$"' \
  'prints "^normal data: 50 correct tensors, [0-9]+ faulty: M01 5,"' \
  'prints "^truncation +5 +0 % +100 % "' \
  'prints "^The contract rejected 0 of 100 correct tensors, and passed "' \
  narrow no_trailing_space '[ ! -s err ]'
cp out first

run tolerance --dtype bf16 --k 16 --count 5 --faults --seed 1
expect 'the same seed gives the same numbers' 0 'cmp out first'

run tolerance --dtype bf16 --k 16 --count 5 --faults --seed 2
expect 'another seed gives others' 0 '! cmp -s out first'

run tolerance --dtype f32 --k 1024 --count 2
expect 'PyTorch rejects what cancels' 0 \
  'prints "^PyTorch +abs:1e-05,rel:1.3e-06 .* 100 % +[0-9.]+ % +0 %$"' narrow no_trailing_space

run tolerance --dtype f64 --k 8 --count 2 --faults
expect 'no fault in f64' 0 'prints "^contract .* 0 % +0 % +- +0 % +0 % +-$"' \
  'prints "correct tensors, 0 faulty$"' narrow no_trailing_space

run tolerance --k 8 --count 1 --graph addmm \
  --row 'out = MATMUL(x, y, alpha, c, beta; acc f32, out f32)'
expect 'a row as text' 0 'prints "^graph addmm, row out = MATMUL.*output f32, K = 8$"'

for bad in '--dtype f33' '--graph nothing' '--k 0' '--count -1' '--seed x' 'word'; do
  # shellcheck disable=SC2086
  run tolerance --count 1 --k 4 $bad
  expect "refused: $bad" 2 '[ ! -s out ]' '[ -s err ]'
done

run tolerance --k 4 --count 1 --row nobody
expect 'no such row' 2 'says "precfuzz: --row: the graph has no such row"'

run tolerance --k 4 --count 1 --row 'out = MATMUL(x, y; acc f33)'
expect 'a bad row is shown where it is' 2 'says "precfuzz: --row: offset 23: "'

# --- the rules ----------------------------------------------------------------------------------

echo 'matmul x=f32[4,1024] y=f32[1024,4] x.values=cancel:1 y.values=cancel:2' >cancel
echo 'matmul x=f32[4,16] y=f32[16,4] x.values=integer:1 y.values=integer:2' >exact

for rule in torch ulp:4 abs:1e-5,rel:1e-3 nmse:5e-4; do
  run check -e reference:forward -s eager --rule "$rule" cancel
  expect "$rule rejects correct sums that cancel" 1 'prints "^IMPOSSIBLE +reference:forward"' \
    'prints "^ +rule +[a-z]"' 'prints "^rule [a-z]+"' 'prints "^ +signature .* IMPOSSIBLE$"'
  reproduce=$(sed -n 's/^ *reproduce precfuzz //p' out | head -n 1)
  # shellcheck disable=SC2086
  run $reproduce
  expect "$rule: the command that is shown shows it again" 1 'prints "^IMPOSSIBLE"'
  run check -e reference:forward -s eager --rule "$rule" exact
  expect "$rule passes exact sums" 0 'prints "^OK"' 'prints "^rule [a-z]+"'
done

run check -e reference:forward -s eager cancel
expect 'the contract takes them' 0 'prints "^OK"' '! prints "^rule"'

status=0
PRECFUZZ_RULE=ulp:3 "$program" check -e reference:forward -s eager cancel >out 2>err || status=$?
expect 'PRECFUZZ_RULE' 1 'prints "x=f32,y=f32 ulp:3 IMPOSSIBLE$"'

status=0
PRECFUZZ_RULE=ulp:x "$program" check cancel >out 2>err || status=$?
expect 'a bad PRECFUZZ_RULE' 2 'says "PRECFUZZ_RULE: ulp: takes a whole number"'

run check --rule abs:1,abs:2 cancel
expect 'a bad rule' 2 'says "--rule: abs:X and rel:Y are given once each"'

run check --table --rule torch -s eager -e reference cancel exact
expect 'the table of check under a familiar rule' 1 \
  'prints "outside: share of the elements outside what is allowed by rule torch"'

exit "$failed"
