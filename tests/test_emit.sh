#!/bin/bash
# precfuzz emit: its programs are run where what they need is installed, and hold the very bits.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz), BENCH_PYTHON a Python with PyTorch.
# shellcheck disable=SC2317,SC2016  # functions are called by check; a script is written
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

program=$(realpath "${PRECFUZZ:-build/precfuzz}")
unset PRECFUZZ "${!PRECFUZZ_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

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

refuses() # status text arguments...
{
  local status=0
  "$program" emit "${@:3}" >"$work/out" 2>"$work/err" || status=$?
  if [ "$status" != "$1" ] || ! grep -qF -- "$2" "$work/err" || [ -s "$work/out" ]; then
    echo "status $status"
    cat "$work/out" "$work/err"
    return 1
  fi
}

# Each a thing that only some cases have.
n=0
while read -r line; do
  n=$((n + 1))
  echo "$line" >"$work/$n.txt"
done <<'END'
matmul x=f32[3](2) y=f32[3,2]
addmm x=bf16[3,4](1,3)+5 y=bf16[4,5](10,2)+1 c=bf16[5] alpha=0.5 beta=-2 out=(10,2)+3
addmm x=f32[2,3,4] y=f32[2,4,5] c=f32[2,3,5] out=c alpha=2
addmm x=f32[3,4] y=f32[4] c=f32[] beta=0 c.values=bits:3
addmm x=f32[2,1,3,4] y=f32[4,5] c=f32[5] alpha=0.1
linear x=f16[2,3,4] y=f16[5,4] bias=f16[5] x.values=bits:1
linear x=f64[3,4] y=f64[5,4] x.values=wide:1 y.values=wide:2
matmul x=f8_e4m3fn[2,4] y=f8_e4m3fn[4,3] x.values=bits:5
matmul x=s8[2,4] y=s8[4,3] x.values=bits:4 y.values=bits:8
matmul_add x=u8[2,4] y=s8[4,3] bias=s32[3]
matmul_cast_f32_add x=bf16[2,4] y=f16[4,3] bias=f32[3]
scaled_matmul x=f8_e4m3fn[16,16] y=f8_e4m3fn[16,16](1,16) bias=bf16[16] out=bf16 x.scale=tensor:3 y.scale=tensor:5
scaled_matmul x=f8_e4m3fn[16,32] y=f8_e4m3fn[32,16](1,32) bias=f32[] x.scale=row:3 y.scale=row:5
scaled_matmul x=f8_e5m2[2,7] y=f8_e4m3fn[7,3] bias=f32[] out=f16(6,2) x.scale=block3:3 y.scale=block2:5
matmul x=f32[1,0] y=f32[0,1]
matmul x=f32[0,3] y=f32[3,1]
END
"$program" export --count 40 --max-work 2048 --seed 7 "$work/random" >/dev/null

same_bits() # target python
{
  local looked_at
  looked_at=$("$2" tests/emit_check.py "$1" "$program" "$work"/*.txt "$work"/random/*.safetensors) ||
    { echo "$looked_at"; return 1; }
  [ "$looked_at" -ge 50 ] || { echo "only $looked_at cases"; return 1; }
}

# A script whose operands are not the case's does not pass.
sees_a_bit() # target python
{
  printf '#!/bin/bash\n"%s" "$@" | { [ "$1" = emit ] && sed "s/\\(x = .*\\)..\\")\$/\\1c1\\")/" || cat; }\n' \
    "$program" >"$work/lies"
  chmod +x "$work/lies"
  ! "$2" tests/emit_check.py "$1" "$work/lies" "$work/1.txt"
}

for target in pytorch numpy; do
  module=${target#py}
  if python=$(scripts/python_with.sh "$module"); then
    check "$target: the bits of cases" same_bits "$target" "$python"
    check "$target: another bit is seen" sees_a_bit "$target" "$python"
  else
    echo "skipped: emit --$target: no Python with $module" >&2
  fi
done

# What writes to a tensor that is there shows a library that writes beside it.
echo 'matmul x=f32[2,3] y=f32[3,1] out=(2,1)' >"$work/placed.txt"
echo 'linear x=f32[2,3] y=f32[1,3] out=(2,1)' >"$work/linear.txt"
writes() # pattern file
{
  "$program" emit --pytorch "$work/$2.txt" | grep -qF "$1"
}
check 'pytorch: a result with strides is written in place' writes 'torch.matmul(x, y, out=out)' placed
calls_mkldnn()
{
  "$program" emit --pytorch --engine torch:linear "$work/linear.txt" |
    grep -qF 'torch.ops.mkldnn._linear_pointwise(x, y, None, "none", [], "")'
}
check 'pytorch: the call of torch:linear' calls_mkldnn
check 'pytorch: or copied to where it belongs' writes 'out.copy_(torch.nn.functional.linear(' linear

# --- C ---------------------------------------------------------------------------------------------

# One element: what the program calls exact is the exact value, and what it got is near.
program_is_right() # engine case
{
  local exact
  echo "$2" >"$work/one.txt"
  "$program" emit --c --engine "$1" "$work/one.txt" -o "$work/case.c" || return
  build_case || return
  "$work/case" >"$work/said" 2>/dev/null || { cat "$work/said"; return 1; }
  exact=$("$program" check --json -e reference:forward -s eager "$work/one.txt" |
    jq -r '.cases[0].results[0].worst.exact.hex')
  grep -q "^element 0: exact .* ($exact)\$" "$work/said" || { echo "$exact"; cat "$work/said"; return 1; }
  awk '/exact/ { e = $4 } /^  got/ { found = $2 - e < 1e-2 && e - $2 < 1e-2 } END { exit !found }' \
    "$work/said" || { cat "$work/said"; return 1; }
}

# As the program's third line says.
build_case()
{
  local line
  line=$(sed -n '3s/^ *cc \(.*\) && .*/\1/p' "$work/case.c")
  # shellcheck disable=SC2086  # arguments
  (cd "$work" && ${CC:-cc} -Wall -Werror $line)
}

is_there() # engine
{
  echo 'matmul x=f32[1,1] y=f32[1,1]' >"$work/one.txt"
  "$program" emit --c --engine "$1" "$work/one.txt" -o "$work/case.c" && build_case 2>/dev/null
}

for engine in refblas openblas onednn onednn:runtime onednn:gemm onnxruntime xnnpack torch torch:bmm torch:linear; do
  if ! is_there "$engine"; then
    echo "skipped: emit --c --engine $engine: its library or header is not here" >&2
    continue
  fi
  check "$engine: a row by a column" program_is_right "$engine" \
    'matmul x=f32[1,5](7,1)+3 y=f32[5,1](3,1)'
  [[ $engine = xnnpack || $engine = torch:linear ]] || check "$engine: with alpha and beta" program_is_right "$engine" \
    'addmm x=f32[1,5](7,1)+3 y=f32[5,1](3,1) c=f32[1,1] alpha=0.5 beta=-2'
  case $engine in
    onednn*) check "$engine: bf16" program_is_right "$engine" \
      'matmul_out_f32_add x=bf16[1,6] y=bf16[6,1] bias=f32[1] bias.bits=00000000' ;;
    torch*) check "$engine: a bias" program_is_right "$engine" \
      'linear x=bf16[1,6](7,1)+3 y=bf16[1,6] bias=bf16[1]' ;;
    xnnpack) check "$engine: f16" program_is_right "$engine" 'matmul x=f16[1,6] y=f16[6,1]' ;;
  esac
done

check 'C: nobody of that name' refuses 2 "for engine 'nobody'" --c --engine nobody "$work/1.txt"
check 'C: no f8' refuses 2 'a program in C is written for f64' --c --engine onednn "$work/8.txt"
check 'C: no alpha' refuses 2 'has no alpha' --c --engine xnnpack "$work/3.txt"
check 'C: of which engine' refuses 2 '--c needs --engine' --c "$work/1.txt"
check 'an engine of a script' refuses 2 '--engine goes with --c or --pytorch' --numpy --engine blis "$work/1.txt"

to_a_file()
{
  "$program" emit --numpy -o "$work/one.py" "$work/1.txt" &&
    "$program" emit --numpy "$work/1.txt" | cmp - "$work/one.py"
}

check 'to a file as to standard output' to_a_file
check 'which program' refuses 2 'which program?' "$work/1.txt"
check 'one program' refuses 2 'one program at a time' --pytorch --numpy "$work/1.txt"
check 'a file is missing' refuses 2 'FILE is missing' --pytorch
check 'there is no such file' refuses 2 'none.txt' --pytorch "$work/none.txt"
check 'NumPy has no scales by row' refuses 2 'NumPy has no product with scales by row' --numpy \
  "$work/13.txt"
check 'a folder that is not there' refuses 3 'no/where' --pytorch -o "$work/no/where" "$work/1.txt"

exit "$failed"
