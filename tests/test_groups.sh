#!/bin/bash
# Crashes group as they should where others group them: twenty findings of five signatures give five
# groups by the rule that ClusterFuzz uses (crash_groups.awk).
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# shellcheck disable=SC2317  # functions are called by check
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset "${!PRECFUZZ_@}"

crash() # number fault text
{
  build/precfuzz encode --form archive "$3" -o "$work/case" || return
  { PRECFUZZ_ENGINES=fault:$2 build/libfuzzer/fuzz_matmul "$work/case" >"$work/log-$1" 2>&1; } 2>/dev/null
  [ -n "$(sed -n '/^ASSERTION FAILED: /p' "$work/log-$1")" ]
}

failed=0
check() # name command...
{
  if "${@:2}" >"$work/out" 2>&1; then echo "ok $1"; else
    failed=1
    echo "not ok $1"
    sed 's/^/    /' "$work/out"
  fi
}

twenty()
{
  local i n=0
  for i in 1 2 3 4; do
    crash $((n++)) M13 "matmul x=f32[$i,$((8 + i))] y=f32[$((8 + i)),2] x.values=integer:$i y.values=equal:0" &&
      crash $((n++)) M13 "matmul x=bf16[2,$((16 + i))] y=bf16[$((16 + i)),$i] x.values=integer:$i y.values=equal:0" &&
      crash $((n++)) M16 "matmul x=f32[$i,9] y=f32[9,3] x.values=integer:$i y.values=equal:0" &&
      crash $((n++)) M15 "matmul x=f32[$i,2] y=f32[2,$((2 * i + 1))]" &&
      crash $((n++)) M33 "matmul x=f32[2,$i] y=f32[$i,2] x.values=normal:$i" || return 1
  done
}
grouped() { awk -f tests/crash_groups.awk "$work"/log-* | sort; }
five() { grouped; [ "$(grouped | grep -c '^4	ASSERTION FAILED: .* | finding_[0-7][0-7] ')" = 5 ] && [ "$(grouped | wc -l)" = 5 ]; }
frames() { grouped; [ "$(grouped | sed 's/.* | //' | sort -u | wc -l)" = 5 ]; }

check 'twenty findings end their processes' twenty
check 'they are five groups of four' five
check 'and five by their frames alone' frames
exit $failed
