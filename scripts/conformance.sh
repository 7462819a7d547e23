#!/bin/bash
# Do the rows describe PyTorch?  Holds recorded answers, and those of the PyTorch that is installed,
# against the rows that they are said to follow.
#
#   conformance.sh judge FOLDER            a folder as corpus/golden; the account as JSON
#   conformance.sh record FOLDER [BACKENDS]  asks the installed PyTorch; makes such a folder
#   conformance.sh table ACCOUNT           its table, in Markdown
#   conformance.sh document ACCOUNT...     puts all tables into docs/pytorch.md, or into PAGE
#   conformance.sh all FOLDER              all of these; answers and accounts go to FOLDER
#
# judge ends with status 1 where an answer lies outside its row's enclosure and no model explains
# it, where a backend fails at what it is asked, or where there is no answer.  PRECFUZZ names the
# program, BENCH_PYTHON a Python with PyTorch.
set -euo pipefail
root=$(realpath "$(dirname "$0")/..")
program=$(realpath "${PRECFUZZ:-$root/build/precfuzz}")
rows=eager,aot_eager,inductor,inductor_graph
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

judged() # folder arguments...: exit status 1 means findings, which are accounted for later
{
  local status=0
  "$program" judge --json --known none "${@:2}" "$1" || status=$?
  [ "$status" -le 1 ]
}

judge() # folder
{
  local source='null'
  judged "$1" >"$work/claimed"
  judged "$1" -s "$rows" >"$work/all"
  [ ! -e "$1/source.json" ] || source=$(<"$1/source.json")
  jq -s --argjson source "$source" --arg name "$(basename "$1")" \
    -f "$root/scripts/conformance.jq" "$work/claimed" "$work/all" >"$work/account"
  cat "$work/account"
  jq -r '.unexplained[] | "unexplained: " + .' "$work/account" >&2
  jq -r '.source.failed // {} | keys[] | "failed: " + .' "$work/account" >&2
  jq -e '.answers > 0 and .unexplained == [] and (.source.failed // {}) == {}' "$work/account" \
    >/dev/null
}

# --- the installed PyTorch -----------------------------------------------------------------------

# Shapes of each kind in the table: x, y, bias or c.
shapes='1,8 8,1 1
5,8 8,1 1
1,8 8,12 12
1,40 40,30 30
4,8 8,5 5
17,19 19,23 23
3,1,8 3,8,1 3,1,1
3,5,8 3,8,1 3,5,1
3,5,8 3,8,7 7
3,17,19 3,19,23 23'

cases()
{
  local dtype values values_of x y z k
  for dtype in bf16 f16 f32; do
    for values in normal cancel; do
      while read -r x y z; do
        k="${dtype}[$x] y=${dtype}[$y]"
        values_of="x.values=$values:1 y.values=$values:2"
        echo "matmul_out_f32_add x=$k bias=${dtype}[$z] $values_of bias.values=$values:3"
        echo "matmul x=$k $values_of"
        echo "addmm x=$k c=${dtype}[$z] alpha=0.5 beta=-2 $values_of c.values=$values:3"
        [ "${y//[!,]/}" != , ] ||
          echo "linear x=${dtype}[$x] y=${dtype}[${y#*,},${y%,*}] bias=${dtype}[${y#*,}]" \
            "$values_of bias.values=$values:3"
      done <<<"$shapes"
    done
  done
}

record() # folder backends
{
  local python number=0 line file name
  python=$("$root/scripts/python_with.sh" torch) || {
    echo 'conformance.sh: no Python with PyTorch (make bench-python)' >&2
    exit 3
  }
  mkdir "$work/cases"
  for file in "$root"/corpus/golden/*.case; do
    name=${file##*/}
    cp "$file" "$work/cases/$name"
    "$program" encode --form safetensors "@$file" -o "$work/cases/${name%.case}.safetensors"
  done
  cases | while read -r line; do
    printf -v name '%s/cases/more%03d' "$work" $((number++))
    "$program" encode --form archive "$line" -o "$name.case"
    "$program" encode --form safetensors "$line" -o "$name.safetensors"
  done
  PYTHONDONTWRITEBYTECODE=1 "$python" "$root/scripts/torch_record.py" "$1" \
    "${2:-eager,aot_eager,inductor}" "$work"/cases/*.safetensors
}

# --- the document --------------------------------------------------------------------------------

table() # account
{
  jq -r '
    def code: "`" + . + "`";
    def list(f): [.[] | f | select(. != "")] | unique | join("; ");
    ([.groups[].shapes] | unique) as $every |
    "\(.cases) cases, \(.answers) answers: " +
      ([.outcomes | to_entries[] | "\(.value) \(.key)"] | join(", ")) + ".",
    (if .source then
       (.source.refused | to_entries | group_by(.key | split(": ")[0])[] |
        "\([.[].value] | add) refused by \(.[0].key | split(": ")[0] | code), for instance: " +
        "\(.[0].key | split(": ")[1:] | join(": ") | code).")
     else (.missing | to_entries[] | "\(.value) without an answer \(.key | code).") end),
    "",
    "| graph | backend | dtypes | shapes | answers | rows that fit all of them | " +
      "outside, explained by |",
    "|---|---|---|---|---|---|---|",
    (.groups | group_by([.graph, .backend, .rows, .shapes]) |
     map(.[0] + {dtypes: ([.[].dtype] | unique | join(", ")), answers: ([.[].answers] | add),
                 explained: list(.explained | join("; "))}) |
     group_by([.graph, .backend, .dtypes, .rows])[] |
     "| \(.[0].graph | code) | \(.[0].backend) | \(.[0].dtypes) | " +
     "\(if ([.[].shapes] | unique) == $every then "all" else list(.shapes) end) | " +
     "\([.[].answers] | add) | \(.[0].rows | map(code) | join(", ")) | \(list(.explained)) |")
  ' "$1"
}

document() # account...
{
  local page=${PAGE:-$root/docs/pytorch.md} account
  {
    sed '/^<!-- made by make test-pytorch -->$/q' "$root/docs/pytorch.md"
    for account; do
      printf '\n## %s\n\n' "$(jq -r '.title' "$account")"
      table "$account"
    done
  } >"$work/page"
  mv "$work/page" "$page"
}

all() # folder
{
  mkdir -p "$1"
  judge "$root/corpus/golden" >"$1/recorded.json"
  jq -r '"recorded: \(.cases) cases, \(.answers) answers, nothing unexplained"' "$1/recorded.json"
  if ! "$root/scripts/python_with.sh" torch >/dev/null; then
    echo 'skipped: no Python with PyTorch (make bench-python)'
    return
  fi
  record "$1/installed" "${BACKENDS:-}"
  judge "$1/installed" >"$1/installed.json"
  jq -r '"\(.title): \(.cases) cases, \(.answers) answers, nothing unexplained"' "$1/installed.json"
  document "$1/recorded.json" "$1/installed.json"
}

case ${1:-} in
  all) all "$2" ;;
  judge) judge "$2" ;;
  record) record "$2" "${3:-}" ;;
  table) table "$2" ;;
  document) document "${@:2}" ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
