#!/bin/bash
# One library under each instruction set that it has kernels for and that this machine can run: as
# libraries choose once in a process, each has a process of its own.
#
#   isas.sh ENGINE [random [OPTION...]]     random cases, with options of precfuzz random
#   isas.sh ENGINE fuzz [SECONDS]           fuzz_matmul, for 60 s each
#   isas.sh ENGINE regress                  are its known findings still there?
#
# ENGINE is as in PRECFUZZ_ENGINES: openblas, blis, onednn, each with an argument perhaps.  Each has a
# variable for this, set to one word after the other.  Left out, and
# named at the end, are words that the library answers with another set, and sets that need more than
# /proc/cpuinfo lists.
# ISAS='AVX2 AVX512_CORE' are other words; ISA_VARIABLE=NAME is that of a library of yours, which needs
# ISAS, too.
#
# Ends with a table by ISA and one by finding.  What was found is kept in
# FUZZ_FOLDER (build)/isas/ENGINE/ISA.  Exit status: 0 no finding but known ones, 1 findings, 2 wrong
# usage, 3 the machinery failed.
# shellcheck disable=SC2015,SC2086,SC2317  # as meant; functions are called by name
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

usage()
{
  printf 'isas: %s\nusage: isas.sh ENGINE [random [OPTION...] | fuzz [SECONDS] | regress]\n' "$1" >&2
  exit 2
}

[ $# != 0 ] && [ -n "$1" ] || usage 'which engine?'
engine=$1 job=${2:-random}
shift $(($# > 1 ? 2 : 1))
options=("$@")
case $job in
  random) ;;
  regress) [ $# = 0 ] || usage 'regress has no options' ;;
  fuzz) [ $# -le 1 ] && [[ ${1:-60} =~ ^[1-9][0-9]{0,7}$ ]] || usage 'fuzz: one number of seconds' ;;
  *) usage "random, fuzz or regress, not '$job'" ;;
esac
root=${FUZZ_FOLDER:-build}/isas/${engine//[^[:alnum:]._-]/_}

# What of another kind of processor is asked for is answered with a set that this one has.
dnnl='SSE41 AVX AVX2 AVX2_VNNI AVX2_VNNI_2 AVX512_CORE AVX512_CORE_VNNI AVX512_CORE_BF16
  AVX512_CORE_FP16 AVX512_CORE_AMX AVX512_CORE_AMX_FP16 AVX10_1_512 AVX10_1_512_AMX
  AVX10_1_512_AMX_FP16'
openblas='Prescott Core2 Penryn Nehalem Barcelona Bobcat Atom Sandybridge Bulldozer Piledriver
  Steamroller Excavator Haswell Zen SkylakeX Cooperlake SapphireRapids'
blis=$(seq 0 40)  # each version has numbers of its own, and ends in reply to those of others

case ${ISA_VARIABLE:-$engine} in
  onednn | onednn:*) variable=DNNL_MAX_CPU_ISA words=${ISAS:-$dnnl} ;;
  openblas | openblas:*) variable=OPENBLAS_CORETYPE words=${ISAS:-$openblas} ;;
  blis | blis:*) variable=BLIS_ARCH_TYPE words=${ISAS:-$blis} ;;
  *)
    variable=${ISA_VARIABLE:-} words=${ISAS:-}
    [ -n "$variable" ] && [ -n "$words" ] ||
      usage "by which variable $engine chooses, and among what, ISA_VARIABLE and ISAS must say"
    [[ $variable =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || usage "ISA_VARIABLE: '$variable' is no name"
    ;;
esac
unset ONEDNN_MAX_CPU_ISA  # comes before the other

# --- which ---------------------------------------------------------------------------------------

# What the processors have that a set is called after; nothing: any has it, or nobody knows.
needs() # ISA
{
  case ${1,,} in
    prescott) echo pni ;;
    core2 | atom) echo ssse3 ;;
    penryn) echo sse4_1 ;;
    nehalem) echo sse4_2 ;;
    barcelona) echo sse4a ;;
    bobcat) echo sse4a ssse3 ;;
    sandybridge) echo avx ;;
    bulldozer) echo avx fma4 ;;
    piledriver | steamroller) echo avx fma4 fma ;;
    excavator) echo avx2 fma4 fma ;;
    haswell | zen | zen2 | zen3) echo avx2 fma ;;
    skylakex | skx) echo avx512f avx512bw avx512dq avx512vl ;;
    knl) echo avx512f avx512er ;;
    cooperlake | zen4 | zen5) echo avx512f avx512_bf16 ;;
    sapphirerapids) echo avx512_bf16 amx_bf16 ;;
  esac
}

flags=" $(sed -n 's/^flags[[:blank:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1) "
lacks() # ISA: what of it this machine does
{
  local flag
  [ -n "${flags// }" ] || return 0  # no x86, or nobody tells
  for flag in $(needs "$1"); do
    [[ $flags = *" $flag "* ]] || { echo "$flag"; return; }
  done
}

# The first word behind the file: "openblas 0.3.29, /lib/libopenblas.so.0, Haswell; 1 thread".
effective() # word
{
  env "$variable=$1" build/precfuzz engines --json "$engine" 2>"$root/err" |
    jq -r '.libraries[0].version // "" | split("; ")[0] // "" | split(", ")[1:] |
      map(select(startswith("/") | not))[0] // ""'
}

isas=() asked=() not=()
choose()
{
  local word isa lack named=${ISAS:+yes}
  for word in $words; do
    isa=$(effective "$word") || isa=''
    if [ -z "$isa" ]; then
      [ -z "$named" ] && [ "$variable" = BLIS_ARCH_TYPE ] || not+=("$word (cannot be opened)")
      continue
    fi
    case $variable in
      DNNL_MAX_CPU_ISA | OPENBLAS_CORETYPE)
        [ "${isa,,}" = "${word,,}" ] || { not+=("$word ($isa)"); continue; } ;;
    esac
    lack=$(lacks "$isa")
    if [ -n "$lack" ]; then not+=("$isa (needs $lack)"); else
      isas+=("$isa") asked+=("$word")
    fi
  done
}

# --- one after the other -------------------------------------------------------------------------

child='' stopped='' signal=TERM
[ $job != random ] || signal=INT  # what it ends in order at
trap 'stopped=yes; [ -z "$child" ] || kill -$signal "$child" 2>/dev/null || true' INT TERM HUP

wait_for() # command...: in a session of its own, so that Ctrl-C reaches it by way of us alone
{
  local status=0
  setsid "$@" &
  child=$!
  wait $child || status=$?
  while kill -0 $child 2>/dev/null; do
    status=0
    wait $child || status=$?
  done
  child=''
  return $status
}

# Each job leaves in notes, with tabs between: finding or known, a signature or entry, the command that
# shows it; and in counts: cases, signatures of findings, results that are known.
do_random() # folder
{
  local status=0
  wait_for build/precfuzz random "${options[@]}" --engine "$engine" --isolate --json \
    --output "$1/found" >"$1/out" || status=$?
  [ $status -le 1 ] || return $status
  jq -r 'select(.event == "finding") | .result | ["finding", .signature, .reproduce] | @tsv' \
    "$1/out" >"$1/notes"
  jq -r 'select(.event == "summary") | [.counts.cases, .signatures, .counts.known] | @tsv' \
    "$1/out" >"$1/counts"
  return $status
}

do_fuzz() # folder
{
  local status=0 executions known
  PRECFUZZ_ENGINES=$engine PRECFUZZ_ISOLATE=1 TABLE=no wait_for scripts/fuzz.sh fuzz_matmul \
    "${options[0]:-60}" "$1/fuzz" >"$1/out" || status=$?
  [ $status -le 1 ] || { cat "$1/out" >&2; return $status; }
  awk '
    sub(/^ASSERTION FAILED: precfuzz: /, "") { signature = $0 }
    sub(/^ *reproduce /, "") { print "finding\t" signature "\t" $0 }' \
    "$1/fuzz/findings.txt" >"$1/notes"
  read -r executions _ known _ <"$1/fuzz/totals"
  printf '%s\t%s\t%s\n' "$executions" "$(wc -l <"$1/notes")" "$known" >"$1/counts"
  return $status
}

do_regress() # folder
{
  local status=0
  wait_for build/precfuzz regress --json >"$1/out" || status=$?
  [ $status -le 2 ] || return $status
  # Those of this engine; what it takes does not begin with.
  jq -r --arg family "${engine%%:*}" '.entries[] |
    select(.signature | split(" ")[0] | split(":")[0] == $family) |
    select(.outcome != "SKIPPED") |
    [if .outcome == "OK" then "known" else "finding" end,
     if .outcome == "OK" then .name else .name + ": " + .outcome end, .reproduce // ""] | @tsv' \
    "$1/out" >"$1/notes"
  awk '{ n[$1]++ } END { printf "%d\t%d\t%d\n", NR, n["finding"], n["known"] }' \
    "$1/notes" >"$1/counts"
  ! grep -q '^finding' "$1/notes"
}

is_there()
{
  local why
  why=$(build/precfuzz engines --json "$engine" | jq -r '.libraries[0].missing // ""') || return
  [ -z "$why" ] || echo "isas: $engine: $why" >&2
  [ -z "$why" ]
}

mkdir -p "$root"
[ -x build/precfuzz ] || { echo 'isas: make has not built build/precfuzz' >&2; exit 3; }
is_there || exit 3
choose
if [ ${#isas[@]} = 0 ]; then
  sed 's/^/isas: /' "$root/err" >&2
  echo "isas: $engine has nothing for this machine: ${not[*]:-no word}" >&2
  exit 3
fi

worst=0 done=()
for i in "${!isas[@]}"; do
  folder=$root/${isas[i]} status=0
  mkdir -p "$folder"
  rm -rf "$folder"/{found,notes,counts}
  echo "=== ${isas[i]}: $variable=${asked[i]}"
  export "$variable=${asked[i]}"
  "do_$job" "$folder" || status=$?
  [ -z "$stopped" ] || [ -s "$folder/counts" ] || break  # ended before it could tell
  [ $status -le 1 ] || { status=3; printf 'failed\t-\t-\n' >"$folder/counts"; : >"$folder/notes"; }
  [ $status -le $worst ] || worst=$status
  done+=("$i")
  [ -z "$stopped" ] || break
done

# --- tables --------------------------------------------------------------------------------------

by_isa()
{
  local i cases found known
  printf '\n%-20s %10s %10s %10s  %s\n' ISA cases findings known "$variable"
  for i in "${done[@]}"; do
    read -r cases found known <"$root/${isas[i]}/counts"
    printf '%-20s %10s %10s %10s  %s\n' "${isas[i]}" "$cases" "$found" "$known" "${asked[i]}"
  done
}

by_finding()
{
  local i
  for i in "${done[@]}"; do
    sed "s|^|${isas[i]}\t$variable=${asked[i]}\t|" "$root/${isas[i]}/notes"
  done | awk -F '\t' '
    !(($3, $4) in sets) { order[++n] = $3 SUBSEP $4 }
    !seen[$1, $3, $4]++ { sets[$3, $4] = sets[$3, $4] " " $1 }
    $3 == "finding" && $5 != "" && !shown[$4]++ { command[$3, $4] = $2 " " $5 }
    END {
      for (i = 1; i <= n; i++) {
        split(order[i], part, SUBSEP)
        printf "\n%s %s\n   %s\n", part[1], part[2], sets[order[i]]
        if (order[i] in command) print "    " command[order[i]]
      }
    }'
}

by_isa
by_finding
[ ${#not[@]} = 0 ] || { printf '\nnot here:'; printf ' %s;' "${not[@]}"; echo; } | sed 's/;$//'
exit $worst
