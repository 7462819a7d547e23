# shellcheck shell=bash
# Files of tensors, made by hand.  To be sourced.

bytes() # of hex digits
{
  local hex=$1 escaped=''
  while [ -n "$hex" ]; do
    escaped+="\\x${hex:0:2}"
    hex=${hex:2}
  done
  printf '%b' "$escaped"
}

npy() # file descr shape hex [fortran-order]
{
  local header="{'descr': '$2', 'fortran_order': ${5:-False}, 'shape': ($3), }"
  {
    printf '\x93NUMPY\x01\x00'
    bytes "$(printf '%02x00' $((${#header} + 1)))"
    printf '%s\n' "$header"
    bytes "$4"
  } >"$1"
}

# A safetensors file; metadata as JSON, or empty.
tensors() # file metadata [name dtype shape hex]...
{
  local file=$1 header=${2:+"\"__metadata__\":$2,"} data='' from=0 to
  shift 2
  for (( ; $#; from = to)); do
    to=$((from + ${#4} / 2))
    header+="\"$1\":{\"dtype\":\"$2\",\"shape\":[$3],\"data_offsets\":[$from,$to]},"
    data+=$4
    shift 4
  done
  header="{${header%,}}"
  {
    bytes "$(printf '%02x%02x000000000000' $((${#header} % 256)) $((${#header} / 256)))"
    printf '%s' "$header"
    bytes "$data"
  } >"$file"
}

# Flips the bits of `mask` in byte `at` of a tensor of a safetensors file.
poke() # file tensor at mask
{
  local length start byte
  length=$(od -An -tu4 -N4 "$1")
  start=$(head -n 1 "$1" | grep -ao "\"$2\":{[^}]*}" |
    sed 's/.*data_offsets":\[\([0-9]*\),.*/\1/')
  start=$((8 + length + start + $3))
  byte=$(od -An -tu1 -j "$start" -N 1 "$1")
  bytes "$(printf '%02x' $((byte ^ $4)))" |
    dd of="$1" bs=1 seek="$start" conv=notrunc status=none
}
