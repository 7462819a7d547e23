#!/bin/bash
# The libraries that are installed, by their adapters: data that leaves no doubt must give no
# finding.  What is not installed is SKIPPED.
#
# Prints "ok NAME", "not ok NAME" or "SKIPPED NAME: why" for each test.  PRECFUZZ names the program.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

[ -x build/precfuzz ] || make --no-print-directory build/precfuzz >/dev/null || exit 3
program=$(realpath "${PRECFUZZ:-build/precfuzz}")
unset PRECFUZZ "${!PRECFUZZ_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3

is_there() # engine
{
  echo 'matmul x=f32[2,3] y=f32[3,2]' >case.txt
  "$program" check --engine "$1" case.txt >out 2>err && return
  if grep -qE '(not installed|is not version 3) \(package [a-z]' err; then
    echo "SKIPPED $1: $(head -n 1 err)"
    echo "ok $1 says what to install"
    return 1
  fi
  echo "not ok $1 can be opened"
  sed 's/^/    /' err
  return 1
}

# Each is listed with a version and a table of dtypes, or with the package that has it.
listed() # engine
{
  awk -v engine="$1" '
    $1 == engine { listed++; row = NR; missing = /\(package lib[a-z0-9.-]+( of Debian [0-9]+)?\)/ }
    $1 == engine && /^  [a-z]+ +[a-z]+( [0-9][0-9.]*)?, / { version = 1 }
    row && NR == row + 1 && /^ +x +y +sums +result +c +bias$/ { head = 1 }
    row && NR == row + 2 && /^ +f32 +f32 +f32 +f32 / { table = 1 }
    END { exit !(listed == 1 && (missing ? !version && !head : version && head && table)) }' listed
}
if "$program" engines >listed 2>err && [ ! -s err ]; then
  for engine in openblas blis refblas onednn onnxruntime xnnpack; do
    listed $engine && echo "ok $engine is listed" && continue
    echo "not ok $engine is listed"
    sed 's/^/    /' listed
  done
else
  echo 'not ok engines are listed'
  sed 's/^/    /' err
fi

# No finding, and something judged.
clean() # name option...
{
  if "$program" random --seed 7 "${@:2}" >out 2>err && grep -q ' OK [1-9]' out; then
    echo "ok $1"
  else
    echo "not ok $1"
    sed 's/^/    /' out err
  fi
}

sure=(--layout dense --values 'normal,integer,cancel,equal,midpoint')
for engine in openblas blis refblas; do
  is_there "$engine" || continue
  clean "$engine: dense, finite, normal data" --engine "$engine" --dtype f32,f64 --count 3000 \
    "${sure[@]}"
  clean "$engine: all layouts" --engine "$engine" --dtype f32,f64 --count 3000 --layout strided
  for product in gemm gemv dot; do
    clean "$engine:$product" --engine "$engine:$product" --dtype f32 --count 1000 "${sure[@]}"
  done
done

for engine in onednn onednn:runtime onednn:gemm; do
  is_there "$engine" || continue
  clean "$engine: dense, finite, normal data" --engine "$engine" --count 1500 "${sure[@]}"
  clean "$engine: all layouts and values" --engine "$engine" --count 1500
done

for engine in onnxruntime onnxruntime:gemm xnnpack; do
  is_there "$engine" || continue
  only=()
  [ "$engine" != xnnpack ] || only=(--dtype f32,f64,bf16)  # its f16 loses a NaN, see below
  clean "$engine: dense, finite, normal data" --engine "$engine" --count 1500 "${sure[@]}" \
    "${only[@]}"
  clean "$engine: all layouts and values" --engine "$engine" --count 1500 "${only[@]}"
done

for engine in torch torch:bmm torch:linear torch-ops torch-ops:dot torch-ops:mv; do
  is_there "$engine" || continue
  clean "$engine: dense, finite, normal data" --engine "$engine" --count 1000 "${sure[@]}"
  clean "$engine: all layouts and values" --engine "$engine" --count 1000
done

if is_there inductor; then
  clean 'inductor: all layouts and values' --engine inductor --count 1000 --dtype bf16,f32
  echo 'matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] bias=bf16[32,7,1,1]' >case.txt
  if "$program" check --engine inductor case.txt 2>err | tee out | grep -q '^OK .* inductor '; then
    echo 'ok inductor keeps f32 where M = N = 1'
  else
    echo 'not ok inductor keeps f32 where M = N = 1'
    sed 's/^/    /' out err
  fi
fi

# What a library does not say of itself is told, and its noise is not.
quiet() # engine pattern
{
  if "$program" engines "$1" >out 2>err && [ ! -s err ] && grep -qE "$2" out; then
    echo "ok $1 is opened quietly"
  else
    echo "not ok $1 is opened quietly"
    sed 's/^/    /' out err
  fi
}
if is_there onnxruntime >/dev/null; then
  quiet onnxruntime 'onnxruntime [1-9][0-9.]*, (avx|sse|aarch)[a-z0-9]*, CPUExecutionProvider'
fi
if is_there xnnpack >/dev/null; then
  quiet xnnpack 'xnnpack 20241108, '
  {
    echo 'matmul x=f16[3,8] y=f16[8,5]'
    echo 'matmul x=f16[2,7,33](231,33,1) y=f16[1,33,70](0,1,33) x.values=midpoint:3'
    echo 'matmul x=f16[16,64] y=f16[64,16] x.values=subnormal:5 y.values=normal:6'
  } >f16.txt
  good=0
  while read -r line; do
    echo "$line" >case.txt
    if "$program" check --engine xnnpack --strategy eager case.txt >out 2>err; then
      good=$((good + 1))
    else
      sed 's/^/    /' out err
    fi
  done <f16.txt
  [ "$good" = 3 ] && echo 'ok xnnpack: f16' || echo "not ok xnnpack: f16: $good of 3"
fi
