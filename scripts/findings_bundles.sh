#!/bin/bash
# docs/findings/NAME/, a bundle for each known finding, made anew by precfuzz triage.
#
#   findings_bundles.sh [NAME...]
#
# Where an entry's engine, version or processor is not here its bundle stays what it is; exit status 1
# if one that should show did not.  Kernels for older processors are asked of oneDNN where the finding
# shows on those alone.  PRECFUZZ names the program (build/precfuzz), BUNDLES the folder, BUNDLE_SECONDS
# (60) is for minimizing each.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$(realpath "${PRECFUZZ:-build/precfuzz}") known=corpus/regressions
bundles=${BUNDLES:-docs/findings}
unset PRECFUZZ "${!PRECFUZZ_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

signature_of() # name
{
  awk -v name="[$1]" '/^\[/ { here = $0 == name } here && sub(/^signature *= */, "") { print; exit }' $known/known.txt
}

# The bundle of the finding that the entry's signature, a pattern, is of.
bundle_of() # signature
{
  local facts found
  for facts in "$work"/made/*/finding.json; do
    [ -f "$facts" ] || continue
    found=$(jq -r .signature "$facts")
    # shellcheck disable=SC2053  # it is a pattern
    [[ $found != $1 ]] || { dirname "$facts"; return; }
  done
}

make_bundle() # name
{
  local signature isa bundle
  signature=$(signature_of "$1")
  # once more for what memory's layout, another one each time, decides
  for isa in "" "" "" AVX512_CORE AVX2 SSE41; do
    rm -rf "$work/made"
    env ${isa:+DNNL_MAX_CPU_ISA=$isa} "$program" triage --known none --time-limit "${BUNDLE_SECONDS:-60}" --engine "${signature%% *}" -o "$work/made" \
      "$known/$1.case" >"$work/out" 2>"$work/err" || true
    bundle=$(bundle_of "$signature")
    [ -z "$bundle" ] || break
    [[ $signature = onednn* ]] || break
  done
  if [ -n "$bundle" ]; then
    rm -rf "${bundles:?}/$1"
    mkdir -p "$bundles"
    cp -r "$bundle" "$bundles/$1"
    printf 'made      %-32s %s%s\n' "$1" "$(cut -c 1-100 "$bundles/$1/minimized.txt")" "${isa:+, DNNL_MAX_CPU_ISA=$isa}"
  else
    printf 'NOT MADE  %-32s %s\n' "$1" "$(cat "$work/err" "$work/out" | tail -n 1)"
    "$program" regress --json $known 2>/dev/null |
      jq -e --arg n "$1" '.entries[] | select(.name == $n) | .outcome == "SKIPPED"' >/dev/null
  fi
}

[ $# -gt 0 ] || mapfile -t names < <(sed -n 's/^\[\(.*\)\]$/\1/p' $known/known.txt)
[ $# = 0 ] || names=("$@")
failed=0
for name in "${names[@]}"; do make_bundle "$name" || failed=1; done
exit $failed
