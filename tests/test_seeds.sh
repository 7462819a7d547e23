#!/bin/bash
# The seeds are what scripts/seeds.sh makes of corpus/seeds.txt, and the first is the user's script.
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

differs() # a changed seed must not go unnoticed
{
  printf x >>"$made/00-user-script"
  ! diff -r "$made" corpus/seeds >/dev/null
}

check 'seeds can be made' scripts/seeds.sh "$made"
check 'seeds are up to date (else: make seeds)' diff -r "$made" corpus/seeds
check 'the first seed is the script' is_script
check 'a changed seed is seen' differs
