#!/bin/bash
# Writes docs/tolerance.md: what precfuzz tolerance measures for the common dtypes.
#
#   tolerance_doc.sh [FILE]     default docs/tolerance.md; PRECFUZZ names the program (build/precfuzz)
#
# The numbers follow from the seed and the code alone: the same on every machine.
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:-docs/tolerance.md}
program=${PRECFUZZ:-build/precfuzz}

[ -x "$program" ] || { echo "tolerance_doc.sh: $program: build it first (make)" >&2; exit 3; }
mkdir -p "$(dirname "$file")"
part=$(mktemp "$file.XXXXXX")
trap 'rm -f "$part"' EXIT
chmod 644 "$part"

cat >"$part" <<'END'
# What tolerances are worth

Made by `scripts/tolerance_doc.sh` from the output of `precfuzz tolerance`; edit neither.

A matmul may add in any order, so more than one result is correct. precfuzz encloses them for each
output element (rule `contract`); most test suites take a fixed width instead. The tables compare
them on the same results:

- *correct: rejected*: results of the reference engine in ten orders of summation, each correct,
  that the rule rejects: of whole tensors of 8 x 8 elements, and of single elements. The larger the
  tensors, the more of them are rejected for one of their elements.
- *faults: passed*: results of planted faults (`precfuzz engines`), and of a last rounding toward
  zero, that the rule passes as a whole tensor. Only results that differ from the right kernel's
  count, and the numbers below each table say how many. What the contract passes stays within the
  worst that some order of summation may do to terms of these magnitudes. A rule that reckons with
  the usual error sees more of it, and rejects correct sums of data that are not usual.
- *normal data*: N(0, 1). *cancelling data*: pairs along K whose products nearly cancel.

Every rule is given the exact result as its reference. Where the constants come from, file by file,
is said in `src/known_rules.h`. `precfuzz check --rule torch` (or `ulp:N`, `abs:X,rel:Y`, `nmse:X`)
judges by such a rule; `precfuzz tolerance --help` has the options for other dtypes, rows and K.
END

for dtype in bf16 f16 f32; do
  for k in 16 1024; do
    command="precfuzz tolerance --dtype $dtype --k $k --faults"
    printf '\n## %s, K = %s\n\n```\n$ %s\n' "$dtype" "$k" "$command"
    "$program" tolerance --dtype "$dtype" --k "$k" --faults
    printf '```\n'
  done
done >>"$part"

mv "$part" "$file"
trap - EXIT
