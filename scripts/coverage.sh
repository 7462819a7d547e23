#!/bin/bash
# Which lines of our own code the shipped corpus runs: by the fuzz targets alone, and with the commands
# that take cases.
#
#   coverage.sh [FOLDER]        build/coverage
#
# Prints a table, the files with the most lines that nothing runs, and where the HTML is.  Of src/, the
# command (src/cli) is not counted.  Exit status 1 where less than LEAST (90) percent of the lines of src
# or oracle are run with the commands.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/coverage} least=${LEAST:-90}
clang=${CLANG:-clang}
profdata=$("$clang" -print-prog-name=llvm-profdata) cov=$("$clang" -print-prog-name=llvm-cov)
make --no-print-directory -j"$(nproc)" covered
mkdir -p "$folder"
folder=$(realpath "$folder")
rm -rf "$folder"/{raw,html,work,*.profdata}
mkdir "$folder"/{raw,work}
unset "${!PRECFUZZ_@}"
export LLVM_PROFILE_FILE=$folder/raw/targets-%p-%m.profraw PRECFUZZ_KNOWN=corpus/regressions

# --- the fuzz targets -------------------------------------------------------------------------------

cases=(corpus/seeds corpus/recorded corpus/models corpus/golden/*.case corpus/regressions/*.case)
for program in build/cov/fuzz_*; do
  target=${program##*/} inputs=("${cases[@]}")
  [ ! -d "corpus/files/$target" ] || inputs=("corpus/files/$target")
  # what ends a process tells nothing: as it is a finding of that target, which these are not
  "$program" "${inputs[@]}" >>"$folder/work/log" 2>&1 || {
    echo "coverage: $target did not come to its end, see $folder/work/log" >&2
    exit 3
  }
done
for engine in reference installed; do
  PRECFUZZ_ISOLATE=$([ $engine != installed ] || echo 1) PRECFUZZ_ENGINES=$engine build/cov/fuzz_matmul corpus/seeds corpus/regressions/*.case \
    >>"$folder/work/log" 2>&1 || true  # libraries that are here may be wrong
done

# --- the commands -----------------------------------------------------------------------------------

export LLVM_PROFILE_FILE=$folder/raw/commands-%p-%m.profraw
unset PRECFUZZ_KNOWN
run() # arguments: findings are no failure
{
  local status=0
  build/cov/precfuzz "$@" >>"$folder/work/log" 2>&1 </dev/null || status=$?
  [ $status -lt 2 ] || echo "exit status $status: precfuzz $*" >>"$folder/work/log"
}
for engine in reference fault; do
  run check --engine $engine --known none "${cases[@]}"
done
run check --engine installed --isolate --known none corpus/seeds corpus/regressions/*.case
# Children leave no counts: each library for itself, in the process, and one behind a pipe.
for engine in openblas openblas:gemm_batch blis onednn onednn:runtime onednn:gemm onnxruntime xnnpack torch inductor; do
  run check --engine $engine --known none corpus/seeds corpus/recorded
done
run check --engine "exec:$PWD/build/cov/precfuzz engine-host openblas" --known none corpus/seeds
run engine-test openblas
for rule in graph agree torch ulp:4 abs:1e-3,rel:1e-2 nmse:1e-6; do
  run check --rule $rule --oracle both corpus/seeds
done
run regress corpus/regressions
run tolerance --k 8 --count 2
for file in corpus/golden/*.case; do
  run judge "$file" --got "${file%.case}.safetensors"
done
while IFS= read -r line; do
  name=$folder/work/${line%%:*}
  for form in archive fuzz text safetensors; do
    run encode "${line#*: }" --form $form -o "$name.$form"
  done
  run show "$name.fuzz"
  run explain "$name.archive"
  run emit --pytorch "$name.text" -o "$name.pytorch"
done < <(grep -E '^[0-9a-z-]+: ' corpus/seeds.txt)
for target in numpy 'c --engine openblas' 'c --engine onednn' 'c --engine onnxruntime' 'c --engine xnnpack'; do
  # shellcheck disable=SC2086  # words
  run emit --$target "$folder/work/05-linear-no-bias.text" -o "$folder/work/program"
done
run check "$folder/work"/*.archive "$folder/work"/*.text "$folder/work"/*.safetensors
run minimize --engine fault:M13 --time-limit 5 -o "$folder/work/small.case" "$folder/work/03-matmul.archive"
run triage --engine fault:M13 --time-limit 5 -o "$folder/work/bundles" "$folder/work/03-matmul.archive"
for file in corpus/files/*/*; do
  run seed "$file" -o "$folder/work/seeded-${file//\//-}"
done

# --- what it comes to -------------------------------------------------------------------------------

objects=()
for program in build/cov/*; do objects+=(-object "$program"); done
objects=("${objects[@]:1}")  # the first needs no option
"$profdata" merge -sparse "$folder"/raw/targets-*.profraw -o "$folder/targets.profdata"
"$profdata" merge -sparse "$folder"/raw/*.profraw -o "$folder/all.profdata"
for kind in targets all; do
  "$cov" export -summary-only -instr-profile "$folder/$kind.profdata" "${objects[@]}" 2>/dev/null |
    jq --arg root "$PWD/" '[.data[0].files[] | {file: (.filename | ltrimstr($root)), lines: .summary.lines}
      | select(.file | test("^(src|oracle)/") and (startswith("src/cli/") | not))]' >"$folder/$kind.json"
done
"$cov" show -format=html -instr-profile "$folder/all.profdata" -output-dir "$folder/html" "${objects[@]}" \
  -ignore-filename-regex='build/protobuf|/fuzz/|src/cli/' >/dev/null 2>&1

share() # kind folder [but-this-folder]
{
  jq -r --arg f "$2" --arg but "${3:-none}" '[.[] | select(.file | startswith($f) and (startswith($but) | not))] | [([.[].lines.covered] | add), ([.[].lines.count] | add)]
    | "\(.[0]) of \(.[1]) lines, \(1000 * .[0] / .[1] | floor / 10) %"' "$folder/$1.json"
}
echo
# Adapters of libraries run only where these are.
printf '%-16s %-36s %s\n' '' 'fuzz targets' 'and commands'
for part in src/ oracle/; do
  printf '%-16s %-36s %s\n' $part "$(share targets $part)" "$(share all $part)"
done
printf '%-16s %-36s %s\n' 'but src/engines/' "$(share targets src/ src/engines/)" "$(share all src/ src/engines/)"
echo
echo 'most lines that nothing runs:'
jq -r 'sort_by(.lines.covered - .lines.count)[:15][] | "  \(.lines.count - .lines.covered) of \(.lines.count)  \(.file)"' "$folder/all.json"
echo "HTML: $folder/html/index.html"
jq -e --argjson least "$least" '[("src/", "oracle/") as $f | [.[] | select(.file | startswith($f))]
  | 100 * ([.[].lines.covered] | add) / ([.[].lines.count] | add) >= $least] | all' "$folder/all.json" >/dev/null
