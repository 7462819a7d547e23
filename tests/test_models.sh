#!/bin/bash
# What precfuzz seed reads of models, against the Python libraries of their formats (tests/models.py):
# small random weights, and where make test-models fetched it a real model.  MODELS_LARGE=1: also a
# file of 12 GB, which is sparse.  Where no Python has the
# libraries this is SKIPPED.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

program=$(realpath "${PRECFUZZ:-build/precfuzz}")
unset PRECFUZZ "${!PRECFUZZ_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$(BENCH_PYTHON=${MODELS_PYTHON:-build/models/venv/bin/python} scripts/python_with.sh numpy \
  ml_dtypes safetensors onnx gguf) || {
  echo 'SKIPPED models: no Python has numpy, ml_dtypes, safetensors, onnx and gguf (make test-models)'
  echo 'ok models are skipped where their libraries are absent'
  exit 0
}
status=0
mkdir "$work/random" "$work/real"
"$python" tests/models.py "$program" "$work/random" || status=1
if [ -e build/models/minilm-l6.safetensors ]; then
  "$python" tests/models.py "$program" "$work/real" build/models/minilm-l6.safetensors || status=1
else
  echo 'SKIPPED a real model: make test-models fetches it'
fi
if [ "${MODELS_LARGE:-}" = 1 ]; then
  mkdir "$work/large"
  "$python" tests/models.py "$program" "$work/large" large || status=1
fi
exit $status
