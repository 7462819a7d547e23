#!/bin/bash
# scripts/conformance.sh: the recorded answers are all explained, and what is altered is not.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/tensor_files.sh
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

PRECFUZZ=$(realpath "${PRECFUZZ:-build/precfuzz}")
export PRECFUZZ LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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

judge() # expected-status folder
{
  local status=0
  scripts/conformance.sh judge "$2" >"$work/account" 2>"$work/err" || status=$?
  [ "$status" = "$1" ] || { echo "status $status"; cat "$work/err"; return 1; }
}

says() { jq -e "$1" "$work/account" >/dev/null || { jq 'del(.groups)' "$work/account"; return 1; }; }
complains() { grep -q "$1" "$work/err" || { cat "$work/err"; return 1; }; }

check 'the recorded answers' judge 0 corpus/golden
check '140 cases, 1,160 answers, nothing unexplained' says \
  '.cases == 140 and .answers == 1160 and .unexplained == []'
check '1,144 inside, 16 by a model' says '.outcomes == {inside: 1144, "model daz": 16}'
check 'what eager refused' says '.missing == {"matmul_out_f32_add.eager": 100}'
check 'inductor keeps f32 of M = N = 1' says \
  '[.groups[] | select(.graph == "matmul_cast_f32_add" and .backend == "inductor" and .dtype == "bf16" and
    (.shapes | endswith("M = N = 1"))) | .rows] == [["inductor"]]'

copy()
{
  rm -rf "$work/golden"
  mkdir "$work/golden"
  cp corpus/golden/case000_* "$work/golden"
  jq '.cases |= .[:1]' corpus/golden/index.json >"$work/golden/index.json"
}

copy
check 'one case' judge 0 "$work/golden"
poke "$work/golden/case000_bf16_normal_32x7x1x8.safetensors" matmul_add.eager 0 1
check 'a bit of an answer is another' judge 1 "$work/golden"
check 'and told' complains 'unexplained: .*case000_.* matmul_add.eager: not eager, and no other row'

copy
sed -i 's/"matmul_cast_f32_add.inductor": "inductor"/"matmul_cast_f32_add.inductor": "aot_eager"/' \
  "$work/golden/index.json"
check 'another row is claimed' judge 1 "$work/golden"
check 'and told by name' complains 'matmul_cast_f32_add.inductor: not aot_eager, but .*inductor'

copy
echo '{"version": "0", "isa": "none", "refused": {}, "failed": {}}' >"$work/golden/source.json"
check 'of an installed PyTorch' judge 0 "$work/golden"
jq '.failed = {"matmul_add.inductor: no compiler": 1}' "$work/golden/source.json" >"$work/source"
cp "$work/source" "$work/golden/source.json"
check 'of which a backend fails' judge 1 "$work/golden"
check 'and told why' complains 'failed: matmul_add.inductor: no compiler'

copy
echo '{"cases": []}' >"$work/golden/index.json"
rm "$work"/golden/case*
check 'no answers' judge 1 "$work/golden"

exit "$failed"
