#!/bin/bash
# scripts/torch_engine.py: what right and wrong backends of torch.compile come to.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz), BENCH_PYTHON a Python with PyTorch.
# shellcheck disable=SC2317  # functions are called by check
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

program=$(realpath "${PRECFUZZ:-build/precfuzz}")
unset PRECFUZZ "${!PRECFUZZ_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C PYTHONPATH=tests PYTHONDONTWRITEBYTECODE=1

python=$(scripts/python_with.sh torch) || {
  echo 'ok skipped: no Python with PyTorch (make bench-python)'
  exit 0
}

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

# Expected status and text, the backend, the case.
answers()
{
  local status=0
  echo "$4" >"$work/case.txt"
  "$program" check --known none --timeout 200 "$work/case.txt" \
    --engine "exec:$python scripts/torch_engine.py --backend $3" >"$work/out" 2>&1 || status=$?
  if [ "$status" != "$1" ] || ! grep -qE -- "$2" "$work/out"; then
    echo "status $status"
    cat "$work/out"
    return 1
  fi
}

# All that eager is asked, in one process: NAME; what its lines must say; the case.
n=0
mkdir "$work/eager"
while IFS=';' read -r name text case; do
  names[n]=$name texts[n]=$text
  printf -v file '%s/eager/%02d.txt' "$work" $n
  echo "$case" >"$file"
  n=$((n + 1))
done <<'END'
eager is eager;^OK .* eager ;matmul_add x=f32[3,4] y=f32[4,5] bias=f32[5]
eager has no f32 product of bf16;^UNSUPPORTED .*Expected out tensor;matmul_out_f32_add x=bf16[3,4] y=bf16[4,5] bias=bf16[5]
strides and offsets;^OK .* eager ;addmm x=f64[3,4](1,3)+5 y=f64[4,5](10,2)+1 c=f64[5](3) alpha=0.5 beta=-2 out=(10,2)+3
batches, broadcast;^OK .* eager ;matmul x=f32[2,1,3,4] y=f32[7,4,5]
batches that repeat in both;^OK .* eager ;matmul x=f32[3,2,4](0,4,1) y=f32[3,4,5](0,5,1)
vectors;^OK .* eager ;matmul_add x=f32[4] y=f32[3,4,5] bias=f32[3,1]
a scalar;^OK .* eager ;matmul_add x=f32[4] y=f32[4] bias=f32[]
a column;^OK .* eager ;matmul_add x=f32[3,4] y=f32[4,1] bias=f32[3,1]
nothing;^VACUOUS .* eager ;matmul x=f32[0,4] y=f32[4,5]
a sum of nothing;^OK .* eager ;matmul x=f32[2,0] y=f32[0,5]
in place;^OK .* eager ;addmm x=f32[2,3,4] y=f32[2,4,5] c=f32[2,3,5](40,10,2) out=c alpha=2 beta=0.5
integers;^OK .* eager ;addmm x=s32[3,4] y=s32[4,5] c=s32[5] alpha=2
bytes;^OK .* eager ;matmul x=s8[3,4] y=s8[4,5]
bytes that PyTorch keeps bytes;^UNSUPPORTED .*in bytes;matmul x=u8[3,4] y=u8[4,5]
f8;^OK .* eager ;matmul x=f8_e5m2[3,4] y=f8_e5m2[4,5]
mixed operands;^UNSUPPORTED .*one dtype;matmul x=bf16[3,4] y=f16[4,5]
linear in two calls;^OK ;linear x=f16[2,3,4] y=f16[5,4] bias=f16[]
END
"$program" check --known none --timeout 200 "$work"/eager/*.txt \
  --engine "exec:$python scripts/torch_engine.py --backend eager" >"$work/all" 2>"$work/err"

section() # number text
{
  awk -v file="$(printf '%02d.txt: ' "$1")" '/^[^ ]*\.txt: / { here = index($0, file) } here' \
    "$work/all" >"$work/section"
  grep -qE -- "$2" "$work/section" || { cat "$work/section" "$work/err"; return 1; }
}

for ((i = 0; i < n; i++)); do
  check "${names[i]}" section $i "${texts[i]}"
done

small='matmul_add x=f32[3,4] y=f32[4,5] bias=f32[5]'
check 'aot_eager has an f32 product, which it rounds' answers 0 '^OK .* aot_eager ' aot_eager \
  'matmul_out_f32_add x=bf16[3,4] y=bf16[4,5] bias=bf16[5]'
check 'and says so' grep -q '^UNSUPPORTED .* inductor .*follows another row' "$work/out"
check 'one graph only' answers 0 '^UNSUPPORTED .*not among --graph' 'eager --graph linear' "$small"
check 'a backend of your own' answers 0 '^OK ' 'torch_backends:right --dynamic' "$small"
check 'that rounds' answers 1 '^(IMPOSSIBLE|SPECIAL) ' torch_backends:narrow "$small"
check 'that changes an operand' answers 1 '^INPUT ' torch_backends:changes_input "$small"
check 'that switches subnormals off' answers 1 '^FENV ' torch_backends:flushes "$small"
check 'that fails' answers 3 'ValueError.*no such backend today|no such backend today' \
  torch_backends:fails "$small"
check 'that answers in another dtype' answers 3 'float64' torch_backends:other_dtype "$small"
check 'that dies' answers 1 '^DIED .*' torch_backends:dies "$small"
check 'there is none' answers 2 'nowhere' nowhere:none "$small"

exit "$failed"
