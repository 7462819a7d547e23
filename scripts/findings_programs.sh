#!/bin/bash
# Do the programs of docs/findings/ show the faults, without precfuzz?
#
#   findings_programs.sh [NAME...]
#
# Compiles and runs each bundle's case.c, and runs its scripts where Python has their module, and says
# of each: SHOWS (it gives what finding.json says was got, dies as it died, or writes outside its
# output), DIES (where that was not what it did), RIGHT (the exact value), OTHER (another wrong one),
# REFUSED (the library declines), or why it could not be run.  A script asks the library inside its
# module, seldom the one with the fault.  Programs set for themselves what they need of the environment.
# Without NAME all are run, and PAGE (docs/findings/README.md) is written.  Exit status 1 if a bundle
# whose program in C, or whose script where PyTorch is at fault, could be run has none that shows its fault.
# CC (cc, or clang), PYTHON (python3).
set -euo pipefail
cd "$(dirname "$0")/.."

bundles=${BUNDLES:-docs/findings} python=${PYTHON:-python3} compiler=${CC:-}
page=${PAGE:-$bundles/README.md}
[ -n "$compiler" ] || compiler=$(command -v cc || command -v clang || echo cc)
unset OMP_NUM_THREADS DNNL_MAX_CPU_ISA ONEDNN_MAX_CPU_ISA OPENBLAS_CORETYPE BLIS_ARCH_TYPE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fact() { jq -r "$2 // empty" "$bundles/$1/finding.json"; } # name what

# Its version and instructions; no paths.
library() # name
{
  fact "$1" .result.library.version | awk -v RS=', |\n' '!/\// && !/ lines on / { printf "%s%s", n++ ? ", " : "", $0 }'
}

run() # command...
{
  status=0
  { timeout 120 "$@" >"$work/out" 2>"$work/err"; } 2>/dev/null || status=$?
}

# What the last run's output says: programs print the eight elements that are furthest out.
judge() # name
{
  local verdict got
  verdict=$(fact "$1" .verdict)
  got=$(fact "$1" .result.worst.got.hex)
  if grep -qE '^refused|^[a-z_]+ refuses: ' "$work/out"; then word='REFUSED'
  elif [ $status -gt 128 ] && [ "$verdict" != DIED ]; then word=DIES
  else
    case $verdict in
      DIED) if [ $status -gt 128 ]; then word=SHOWS; else word=RIGHT; fi ;;
      GUARD) if grep -q '^wrote outside its output' "$work/out"; then word=SHOWS; else word=RIGHT; fi ;;
      *) word=$(awk -v wanted="$got" -v RS='\nelement ' '
           { sub(/^element /, "") }
           $1 ~ /^[0-9]+:$/ {
             n = split($0, line, "\n")
             exact = line[1]; sub(/.*\(/, "", exact); sub(/\).*/, "", exact)
             for (i = 2; i <= n; i++) if (line[i] ~ /\(/) {
               value = line[i]; sub(/.*\(/, "", value); sub(/\).*/, "", value)
               gsub(/^\+/, "", value); sub(/\.0p/, "p", value); sub(/\.0p/, "p", exact)
               sub(/^-nan/, "nan", value); sub(/^-nan/, "nan", exact)
               if (value == wanted && value != exact) shows = 1
               if (value != exact) other = 1
             }
             answers++
           }
           END { print !answers ? "NO ANSWER" : shows ? "SHOWS" : other ? "OTHER" : "RIGHT" }' <(sed 's/0x\([01]\.[0-9a-f]*[1-9a-f]\)0*p/0x\1p/g; s/0x\([01]\)\.0*p/0x\1p/g' "$work/out")) ;;
    esac
  fi
}

# A finding that memory's layout decides shows in some runs only.
run_c() # name
{
  local folder=$bundles/$1 line
  word='none'
  [ -f "$folder/case.c" ] || return 0
  line=$(sed -n 's|^ *cc \(-std=[^&]*\) case.c -o case \(.*\) && ./case \*/$|\1 FILE \2|p' "$folder/case.c")
  # shellcheck disable=SC2086  # words
  if ! $compiler ${line/FILE/$folder/case.c} -o "$work/case" 2>"$work/err"; then
    word="not compiled: $(grep -m 1 -E 'error|cannot find' "$work/err" | sed 's/.*error: //; s/.*ld: //' || true)"
    return 0
  fi
  tried=yes
  for _ in 1 2 3 4 5; do
    run "$work/case"
    judge "$1"
    [[ $word != SHOWS && $word != DIES ]] || return 0
  done
}

run_python() # name script module
{
  word='none'
  [ -f "$bundles/$1/$2" ] || return 0
  word="no $3 here"
  [[ $modules == *" $3 "* ]] || return 0
  # shellcheck disable=SC2046  # words: the backend that the report names
  run "$python" "$bundles/$1/$2" $(sed -n "s/^ *python3 $2 *//p" "$bundles/$1/report.md")
  judge "$1"
}

system() { sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release; }
processor() { awk -F ': *' '/^model name/ { print $2; exit }' /proc/cpuinfo; }
versions() # of Python's modules
{
  local module
  for module in $modules; do
    "$python" -c "import $module; print(', $module', $module.__version__, end='')" 2>/dev/null
  done
}

modules=' ' wrong=0
for module in torch numpy; do
  if $python -c "import $module" 2>/dev/null; then modules+="$module "; fi
done
: >"$work/table"
[ $# -gt 0 ] || mapfile -t names < <(find "$bundles" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)
[ $# = 0 ] || names=("$@")
shown=0
for name in "${names[@]}"; do
  tried=''
  run_c "$name"; c=$word
  run_python "$name" with_pytorch.py torch; torch=$word
  [[ $c != none || $torch = "no torch here" ]] || tried=yes
  run_python "$name" with_numpy.py numpy; numpy=$word
  printf '%-32s C %s, PyTorch %s, NumPy %s\n' "$name" "$c" "$torch" "$numpy"
  printf '| [%s](%s/report.md) | %s | %s | %s | %s |\n' "$name" "$name" "$(library "$name")" \
    "$c" "$torch" "$numpy" >>"$work/table"
  case " $c $torch $numpy " in
    *' SHOWS '* | *' DIES '*) shown=$((shown + 1)) ;;
    *) [ -z "$tried" ] || wrong=1 ;;
  esac
done
echo "$shown of ${#names[@]} shown without precfuzz"
[ $# = 0 ] || exit $wrong
{
  cat <<'END'
# Bundles of the known findings

Each folder is what `precfuzz triage` made of the case in `corpus/regressions/`: a report to paste into
a tracker, the minimized case, and programs that need no precfuzz. `scripts/findings_bundles.sh` makes
the folders, `scripts/findings_programs.sh` runs the programs and writes this page: SHOWS, the program
gives what the report says (or dies as it says, or writes outside its output); DIES, it is killed where
the report says something else, as for memory written outside; RIGHT, the exact value; OTHER, another
wrong one; REFUSED, the library declines. The program in C calls the library itself; a
script asks the library inside its module, seldom the one with the fault.

| finding | library | C | PyTorch | NumPy |
|---|---|---|---|---|
END
  cat "$work/table"
  echo
  echo "$shown of ${#names[@]} are shown by a program that needs no precfuzz, on $(system),"
  echo "$(processor); $("$compiler" --version | head -n 1)$(versions)."
} >"$page"
exit $wrong
