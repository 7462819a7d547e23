#!/bin/bash
# Makes corpus/golden/ from what PyTorch was recorded to answer.
#
#   golden.sh RECORDINGS [FOLDER]     default corpus/golden; PRECFUZZ names the program
#
# RECORDINGS holds a safetensors file a case: the operands x, y and bias, and tensors GRAPH.BACKEND,
# what torch.compile with that backend (or eager) answered for GRAPH.  Of each becomes NAME.case,
# the operands as an archive, and NAME.safetensors, the answers; index.json says which row each
# answer follows.  The same recordings give the same files.  Cases in corpus/golden are replaced;
# another folder must be empty or new.
set -euo pipefail
recordings=$(realpath "${1:?where are the recordings?}")
folder=$(realpath -m "${2:-"$(dirname "$0")/../corpus/golden"}")
cd "$(dirname "$0")/.."
program=$(realpath "${PRECFUZZ:-build/precfuzz}")
export LC_ALL=C

[ -x "$program" ] || { echo "golden.sh: $program: build it first (make)" >&2; exit 3; }
files=("$recordings"/*.safetensors)
[ -e "${files[0]}" ] || { echo "golden.sh: $recordings: no recordings" >&2; exit 2; }
if [ "$folder" != "$PWD/corpus/golden" ] && [ -n "$(ls -A "$folder" 2>/dev/null)" ]; then
  echo "golden.sh: $folder: not empty" >&2
  exit 2
fi

# Eager calls a matmul and adds.  So do the others, but inductor generates a loop of its own where
# M = N = 1, and fuses x @ y + bias of two matrices into one addmm: neither rounds before it adds.
row_of() # tensor MxN rank-of-x
{
  case $1,$2,$3 in
    *.inductor,1x1,* | matmul_add.inductor,*,2) echo inductor ;;
    *.inductor,*) echo aot_eager ;;
    *) echo "${1#*.}" ;;
  esac
}

# MxN and the rank of x of a case.
shape_of() # file
{
  "$program" show "$1" | awk '
    /^sizes / { gsub(",", ""); m = $5; n = $7 }
    /^x / { rank = gsub(",", ",", $2) + 1 }
    END { print m "x" n, rank }'
}

# "TENSOR": "ROW", ... for each tensor in a file
claims() # file shape rank
{
  local tensor comma=''
  while read -r tensor; do
    printf '%s\n      "%s": "%s"' "$comma" "$tensor" "$(row_of "$tensor" "$2" "$3")"
    comma=,
  done <<<"$(head -n 1 "$1" | grep -aoE '"[a-z0-9_]+\.[a-z_]+":\{' | tr -d '":{' | sort)"
}

mkdir -p "$folder"
find "$folder" -name '*.case' -delete -o -name '*.safetensors' -delete
for file in "${files[@]}"; do
  name=${file##*/}
  name=${name%.safetensors}
  "$program" encode --graph matmul_out_f32_add --form archive "@$file" \
    --output "$folder/$name.case" --rest "$folder/$name.safetensors"
done

comma=
{
  printf '{\n  "cases": ['
  for file in "$folder"/*.safetensors; do
    name=${file##*/}
    name=${name%.safetensors}
    read -r shape rank <<<"$(shape_of "$folder/$name.case")"
    printf '%s\n    {"file": "%s.case", "got": "%s.safetensors", "claims": {' \
      "$comma" "$name" "$name"
    claims "$file" "$shape" "$rank"
    printf '}}'
    comma=,
  done
  printf '\n  ]\n}\n'
} >"$folder/index.json.part"
mv "$folder/index.json.part" "$folder/index.json"
