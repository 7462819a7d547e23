#!/bin/bash
# Writes docs/seeds.md: where seeds come from, and a comparison of runs that begin with real ones
# with runs that begin with none.
#
#   seeds_doc.sh [FILE]     default docs/seeds.md
#
# SEEDS_SECONDS (60) and SEEDS_RUNS (5) say how long and how often; SEEDS_ENGINES (reference:forward
# and openblas) which engines.  Needs build/precfuzz and build/libfuzzer/fuzz_matmul.
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:-docs/seeds.md}
seconds=${SEEDS_SECONDS:-60} runs=${SEEDS_RUNS:-5}
read -r -a engines <<<"${SEEDS_ENGINES:-reference:forward openblas}"
unset "${!PRECFUZZ_@}"
. scripts/engines.sh
export LC_ALL=C PRECFUZZ_KNOWN=corpus/regressions

work=$(mktemp -d)
part=$(mktemp "$file.XXXXXX")
trap 'rm -rf "$work" "$part"' EXIT
chmod 644 "$part"
samples=$work/samples.tsv

# A line for each dtype of x, of floats, over all cases and over those of long sums: the largest share
# over all results that the engine gives to the cases in a folder, none of them a finding.
shares() # engine from folder
{
  local status=0
  build/precfuzz check --json --engine "$1" "$3" 2>"$work/log" >"$work/json" || status=$?
  [ $status -le 2 ] || { cat "$work/log" >&2; exit 3; }  # 2: what only a target takes for a case
  jq -r '.cases[] | .sizes.k as $k | (.case | capture("x=(?<t>[a-z0-9_]+)").t) as $t
    | select($t | test("f"))
    | [.results[] | select(.verdict == "OK") | .worst.of_radius.value? // empty | select(. <= 1)]
    | max // empty
    | [$t, ., $k] | @tsv' "$work/json" |
    awk -F '\t' -v row="$1\t$2" '
      $2 > most[$1 "\tall"] { most[$1 "\tall"] = $2 }
      $3 >= 64 && $2 > most[$1 "\tlong"] { most[$1 "\tlong"] = $2 }
      END { for (t in most) print row "\t" t "\t" most[t] }' >>"$samples"
}

fuzz() # engine from run
{
  local folder=$work/run status=0
  rm -rf "$folder"
  mkdir -p "$folder"/{begin,crashes,new}
  [ "$2" = none ] || cp corpus/models/* "$folder/begin"
  (PRECFUZZ_ENGINES=$1 run_libfuzzer build/libfuzzer/fuzz_matmul "$seconds" "$folder/log" \
    "$folder/crashes" "$folder/new" "$folder/begin" "-seed=$3") || status=$?
  [ $status = 0 ] || { tail -n 20 "$folder/log" >&2; exit 3; }
  cp "$folder"/begin/* "$folder/new" 2>/dev/null || true
  shares "$1" "$2" "$folder/new"
}

# Medians, with the least and the greatest.
table()
{
  printf '| engine | x | none | real | K from 64 on: none | real |\n|---|---|---|---|---|---|\n'
  sort -t $'\t' -k 1,1 -k 3,3 -k 5,5g "$samples" | awk -F '\t' '
    function cell(key,   n, i, v) {
      n = split(list[key], v, " ")
      if (!n) return ""
      i = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
      return sprintf("%.3f (%.3f to %.3f)", i, v[1], v[n])
    }
    !(($1, $3) in seen) { seen[$1, $3]; engine[++rows] = $1; dtype[rows] = $3 }
    { list[$1, $3, $2, $4] = list[$1, $3, $2, $4] " " $5 }
    END {
      for (r = 1; r <= rows; r++) {
        e = engine[r]; t = dtype[r]
        printf "| `%s` | %s | %s | %s | %s | %s |\n", e, t, cell(e SUBSEP t SUBSEP "none" SUBSEP "all"),
          cell(e SUBSEP t SUBSEP "real" SUBSEP "all"), cell(e SUBSEP t SUBSEP "none" SUBSEP "long"),
          cell(e SUBSEP t SUBSEP "real" SUBSEP "long")
      }
    }'
}

: >"$samples"
for engine in "${engines[@]}"; do
  for ((run = 1; run <= runs; run++)); do
    for from in none real; do
      fuzz "$engine" "$from" "$run"
    done
  done
done

cat >"$part" <<END
# Seeds from real models

Made by \`scripts/seeds_doc.sh\`; edit neither.

    build/precfuzz seed model.safetensors -o seeds [--activations FILE] [--count N] [--max-k K]

reads a model and writes \`seeds/cases/\`, one case a file, and \`seeds/manifest.json\`. Read are
safetensors (a file, or the index of several), \`.npy\`, \`.npz\`, ONNX (initializers, with raw, typed and
external data) and GGUF (F32, F16, BF16, Q8_0). Files are mapped, members of an \`.npz\` unpacked one at a
time, so that a model may be larger than memory. \`precfuzz seed --list\` prints the tensors with a hash
of their elements.

- **Layers.** An ONNX model says what its matmuls are. Elsewhere each tensor of two dimensions or more
  is a weight [N, K], the K of a convolution being all but the first dimension; one that is called
  \`kernel\`, or whose bias fits that way only, is [K, N].
- **Rows.** The two of largest norm, of widest spread of exponents, that cancel most against their
  partner, and with the most subnormals (of f16 where the weight is wider than 16 bits), others at
  random. Of a weight the first 2^20 vectors are looked at, of a vector the first 2^20 elements.
- **Partners.** Activations that were given, rows of the embeddings, rows of the next layer with the
  same K, or normal values as a normalized layer gets them.
- **Sums.** The whole of K up to \`--max-k\`, else its first, last or some other tile.
- **Dtypes.** As stored, and in f32, bf16, f16 and the two fp8 where these are no wider; fp8 with a
  scale for the tensor. Integers beside integers.
- **Shapes.** Each pair of N and K once with generated values, cut by multiples of 64 to what the fuzz
  form holds, and whole, up to 2^20 products, in the archive form.

A case stays if on \`reference:forward\` it exercises what none before it did: for a strategy and dtypes a
binary order of magnitude of the share of the enclosure's radius, a set of dtypes, of layouts, or orders
of magnitude of the sizes. At most 512 cases and 8 MiB stay, and no layer takes more than four times its
share.

## Back to the layer

Each case says where it comes from: the model's file and hash, the tensor, its dtype, rows and columns,
and the partner. \`check\`, \`show\`, \`explain\` and the fuzz targets print it as *origin*, also of a case
that a fuzzer made of a seed, as long as the end of the file is left. It is no part of what the case
asks. The manifest has the same and more, by file.

## What real seeds are worth

The largest share of the enclosure's radius that a correct result uses, over all cases that a run of
libFuzzer on \`fuzz_matmul\` leaves: begun with nothing, and with \`corpus/models\`. Runs: $runs of
$seconds s; medians, with the least and the greatest; by engine and dtype of \`x\`. The last two columns are
of sums of 64 terms and more. A share near 1 means that roundings were seen to add up as far as they can,
which takes one tie in a short sum and much more in a long one; results with more than the radius, which
is a label and no bound (integers wrap), do not count.

END
table >>"$part"
cat >>"$part" <<END

$(nproc) processors, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), load $(cut -d ' ' -f 1 /proc/loadavg) at the
end. \`SEEDS_SECONDS=$seconds SEEDS_RUNS=$runs scripts/seeds_doc.sh\` measures again.
END
mv "$part" "$file"
