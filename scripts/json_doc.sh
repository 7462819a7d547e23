#!/bin/bash
# Writes docs/json.md: what --json gives, with what the commands write.
#
#   json_doc.sh [FILE]     default docs/json.md; PRECFUZZ names the program (build/precfuzz)
#
# The same on every machine.
set -euo pipefail
cd "$(dirname "$0")/.."
file=$(realpath "${1:-docs/json.md}")
program=$(realpath "${PRECFUZZ:-build/precfuzz}")
unset PRECFUZZ "${!PRECFUZZ_@}"

[ -x "$program" ] || { echo "json_doc.sh: $program: build it first (make)" >&2; exit 3; }
folder=$(mktemp -d)
part=$(mktemp "$file.XXXXXX")
trap 'rm -rf "$part" "$folder"' EXIT
chmod 644 "$part"
cd "$folder"
precfuzz() { "$program" "$@"; }

# A command as a user types it, and what it prints.  Findings are no failure here.
example()
{
  printf '\n```\n$ %s\n' "$1"
  eval "$1" || [ $? = 1 ]
  printf '```\n'
}

{
cat <<'END'
# JSON

Made by `scripts/json_doc.sh` from the output of the commands; edit neither. What each member means
is said in [json.schema.json](json.schema.json) (JSON Schema, draft 2020-12), which a test holds
every command's output against.

`check`, `judge`, `explain`, `show`, `strategies`, `engines`, `regress` and `tolerance` with `--json`
write one document to standard output; `random` writes JSON Lines: a line for each finding as it
comes, at last a summary. Nothing else goes there; messages go to standard error, and exit statuses
are the same as without `--json`. A command that cannot begin, for a wrong option say, writes no
document.

- Every member is always there. One that has nothing to say is `null`.
- Floating-point numbers are objects: `{"value": 3.0, "hex": "0x1.8p+1"}`. Both are exact, `value`
  having 17 digits. What is not finite has the value `null` and the hex `inf`, `-inf` or `nan`.
- Whole numbers above 2^53 (a seed, say) are strings of their digits.
- `index` is an element's place in the output tensor, `element` its row-major number.
- `magnitude` is S, the sum of the magnitudes of an element's terms; `of_magnitude` and `of_radius`
  are what part of S, and of the radius, an error is.
- `file` and texts that hold it are UTF-8: bytes of a name that are not stand as U+FFFD.
- `precfuzz.schema` is 1. It grows when a document changes so that old readers fail. Members may be
  added without that: pass over those that you do not know.

## check

A result for each engine and strategy.
END
echo 'matmul x=f32[2,9] y=f32[9,3] x.values=integer:3 y.values=integer:4' >case.txt
example 'precfuzz check --json --engine fault:M13 --strategy eager case.txt'
cat <<'END'

With [jq](https://jqlang.github.io/jq/), the signatures of the findings (as `regress --add` takes them), and
the commands that show them again:
END
example "precfuzz check --json --engine fault:M13 case.txt | jq -r '.cases[].results[] | select(.finding) | .signature'"
example "precfuzz check --json --engine fault:M13 case.txt | jq -r '.cases[].results[] | select(.finding) | .reproduce'"
cat <<'END'

`--quiet` keeps the cases with findings that are not known, and of their results these. `--table` puts
its table in the place of all results.

## judge

As `check`, but with a result for each tensor: of the row that it claims to follow, or of all that it
may. `fits` names the rows that allow it.
END
echo 'matmul_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] x.bits=3f80,3f80' \
  'y.bits=3f80,3b80 bias.bits=3b80' >tie.txt
printf "\x93NUMPY\x01\x00\x3c\x00{'descr': '|V2', 'fortran_order': False, 'shape': (1, 1), }\n\x81\x3f" >tie.npy
example "precfuzz judge --json tie.txt --got tie.npy | jq -c '.cases[].results[] | .tensor, .result.verdict, .fits'"
example "precfuzz judge --json tie.txt --got tie.npy | jq -c '.cases[].results[].rows[] | [.strategy, .verdict]'"
cat <<'END'

## explain

The steps of each strategy with what each adds, then the results under the rule as in `check`. The
step that lost the most is `largest`.
END
echo 'matmul_out_f32_add x=bf16[1,8] y=bf16[8,1] bias=bf16[1]' >small.txt
example "precfuzz explain --json --strategy aot_eager small.txt | sed '/^  \"results\": \[/,\$d'"
cat <<'END'

## random

Lines are whole documents. A finding has its case and a result as in `check`; `file` is where the
case was written.
END
example "precfuzz random --json --engine fault:M13 --max-findings 2 | cut -c 1-100"
example "precfuzz random --json --engine fault:M13 --max-findings 2 | tail -n 1"
example "precfuzz random --json --engine fault:M13 --max-findings 2 | jq -r 'select(.event == \"finding\") | .result.file'"
cat <<'END'

## show
END
echo 'matmul x=bf16[1,2](2,1)+4 y=bf16[2,1] x.bits=3f80,7fc0' >show.txt
example 'precfuzz show --json show.txt'
cat <<'END'

## strategies
END
example "precfuzz strategies --json | jq -c '.graphs[0] | .name, .strategies[0]'"
cat <<'END'

## engines
END
example "precfuzz engines --json | jq -c '.engines[:3][]'"
cat <<'END'

## regress

What became of each known finding.
END
mkdir known
: >known/known.txt
precfuzz regress --add tail --known known --signature 'fault:M13 matmul * x=f32,y=f32 contract IMPOSSIBLE' \
  --reason 'the last K % 8 terms are left out' case.txt >added
example 'precfuzz regress --json known'
cat <<'END'

## tolerance

Shares are counted: `hits` of `of`.
END
example "precfuzz tolerance --json --k 8 --count 2 | jq -c '.rules[:3][] | {rule, limit}, .measured[]'"
example "precfuzz tolerance --json --k 8 --count 2 | sed -n '/\"data\": \[/,/\"faults\"/p'"
} >"$part"

mv "$part" "$file"
