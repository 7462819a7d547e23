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

# Expected status and text, the backend, then a case a line.
answers()
{
  local status=0
  printf '%s\n' "${@:4}" >"$work/case.txt"
  "$program" check --known none --timeout 200 "$work/case.txt" \
    --engine "exec:$python scripts/torch_engine.py --backend $3" >"$work/out" 2>&1 || status=$?
  [ "$status" = "$1" ] && grep -qE -- "$2" "$work/out" ||
    { echo "status $status"; grep -v '^precfuzz: exec' "$work/out"; return 1; }
}

small='matmul_add x=f32[3,4] y=f32[4,5] bias=f32[5]'
check 'eager is eager' answers 0 '^OK .* eager ' eager "$small"
check 'eager has no f32 product of bf16' answers 0 '^UNSUPPORTED .*Expected out tensor' eager \
  'matmul_out_f32_add x=bf16[3,4] y=bf16[4,5] bias=bf16[5]'
check 'aot_eager has one, which it rounds' answers 0 '^OK .* aot_eager ' aot_eager \
  'matmul_out_f32_add x=bf16[3,4] y=bf16[4,5] bias=bf16[5]'
check 'and says so' answers 0 '^UNSUPPORTED .* inductor .*follows another row' aot_eager \
  'matmul_out_f32_add x=bf16[3,4] y=bf16[4,5] bias=bf16[5]'
check 'strides and offsets' answers 0 '^OK .* eager ' eager \
  'addmm x=f64[3,4](1,3)+5 y=f64[4,5](10,2)+1 c=f64[5](3) alpha=0.5 beta=-2 out=(10,2)+3'
check 'batches, broadcast' answers 0 '^OK .* eager ' eager 'matmul x=f32[2,1,3,4] y=f32[7,4,5]'
check 'vectors' answers 0 '^OK .* eager ' eager 'matmul_add x=f32[4] y=f32[3,4,5] bias=f32[3,1]'
check 'a scalar' answers 0 '^OK .* eager ' eager 'matmul_add x=f32[4] y=f32[4] bias=f32[]'
check 'a column' answers 0 '^OK .* eager ' eager 'matmul_add x=f32[3,4] y=f32[4,1] bias=f32[3,1]'
check 'nothing' answers 0 '^VACUOUS .* eager ' eager 'matmul x=f32[0,4] y=f32[4,5]'
check 'a sum of nothing' answers 0 '^OK .* eager ' eager 'matmul x=f32[2,0] y=f32[0,5]'
check 'in place' answers 0 '^OK .* eager ' eager \
  'addmm x=f32[2,3,4] y=f32[2,4,5] c=f32[2,3,5](40,10,2) out=c alpha=2 beta=0.5'
check 'integers' answers 0 '^OK .* eager ' eager 'addmm x=s32[3,4] y=s32[4,5] c=s32[5] alpha=2'
check 'bytes' answers 0 '^OK .* eager ' eager 'matmul x=s8[3,4] y=s8[4,5]'
check 'bytes that PyTorch keeps bytes' answers 0 '^UNSUPPORTED .*in bytes' eager \
  'matmul x=u8[3,4] y=u8[4,5]'
check 'f8' answers 0 '^OK .* eager ' eager 'matmul x=f8_e5m2[3,4] y=f8_e5m2[4,5]'
check 'mixed operands' answers 0 '^UNSUPPORTED .*one dtype' eager 'matmul x=bf16[3,4] y=f16[4,5]'
check 'one graph only' answers 0 '^UNSUPPORTED .*not among --graph' 'eager --graph linear' "$small"
check 'a backend of your own' answers 0 '^OK ' torch_backends:right "$small"
check 'for many shapes' answers 0 '^OK ' 'torch_backends:right --dynamic' "$small"
check 'that rounds' answers 1 '^(IMPOSSIBLE|SPECIAL) ' torch_backends:narrow "$small"
check 'that changes an operand' answers 1 '^INPUT ' torch_backends:changes_input "$small"
check 'that switches subnormals off' answers 1 '^FENV ' torch_backends:flushes "$small"
check 'that fails' answers 3 'ValueError.*no such backend today|no such backend today' \
  torch_backends:fails "$small"
check 'that answers in another dtype' answers 3 'float64' torch_backends:other_dtype "$small"
check 'that dies' answers 1 '^DIED .*' torch_backends:dies "$small"
check 'there is none' answers 3 'nowhere' nowhere:none "$small"

exit "$failed"
