#!/bin/bash
# Which lines of our own code the shipped corpus runs: by the fuzz targets alone, and with the commands
# that take cases.  Libraries that are not here have stand-ins, those of the tests.
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
export LLVM_PROFILE_FILE=$folder/raw/targets-%4m.profraw PRECFUZZ_KNOWN=corpus/regressions

# --- the fuzz targets -------------------------------------------------------------------------------

cases=(corpus/seeds corpus/recorded corpus/models corpus/golden/*.case corpus/regressions/*.case)
for program in build/cov/fuzz_*; do
  target=${program##*/} inputs=("${cases[@]}")
  [ ! -d "corpus/files/$target" ] || inputs+=("corpus/files/$target")
  # what ends a process tells nothing: as it is a finding of that target, which these are not
  "$program" "${inputs[@]}" >>"$folder/work/log" 2>&1 || {
    echo "coverage: $target did not come to its end, see $folder/work/log" >&2
    exit 3
  }
done
for isolate in 0 1; do
  PRECFUZZ_ISOLATE=$isolate PRECFUZZ_ENGINES=$([ $isolate = 1 ] && echo installed || echo reference) \
    build/cov/fuzz_matmul corpus/seeds corpus/regressions/*.case >>"$folder/work/log" 2>&1 ||
    true  # libraries that are here may be wrong
done

# --- the commands -----------------------------------------------------------------------------------

export LLVM_PROFILE_FILE=$folder/raw/commands-%4m.profraw
unset PRECFUZZ_KNOWN
run() # arguments: findings are no failure
{
  local status=0
  build/cov/precfuzz "$@" >>"$folder/work/log" 2>&1 </dev/null || status=$?
  [ $status -lt 2 ] || echo "exit status $status: precfuzz $*" >>"$folder/work/log"
}

# The cases of seeds.txt, as $folder/work/NAME.FORM.
while IFS= read -r line; do
  name=$folder/work/${line%%:*}
  for form in archive fuzz text safetensors; do
    run encode "${line#*: }" --form $form -o "$name.$form"
  done
  run show "$name.fuzz"
  run explain "$name.archive"
  for target in pytorch numpy; do
    run emit --$target "$name.text" -o "$folder/work/program"
  done
done < <(grep -E '^[0-9a-z-]+: ' corpus/seeds.txt)

# Judging, by each engine.
for engine in reference fault; do
  run check --engine $engine --known none "${cases[@]}"
done
run check "$folder/work"/*.archive "$folder/work"/*.text "$folder/work"/*.safetensors
run check --engine installed --isolate --repeat --known none corpus/seeds corpus/regressions/*.case
# Children leave no counts: each library for itself, in the process.  One that is not here has what
# the tests put in its place.
plugins=$PWD/build/plugin stand_ins=''
isa() # as an adapter calls the processor's
{
  local name
  for name in avx512_bf16 avx512_vnni avx512f avx2; do
    ! grep -qw $name /proc/cpuinfo || { echo ${name/_/}; return; }
  done
  echo sse2
}
mkdir "$folder/work/inductor"
ln -s "$plugins/fake_inductor.so" "$folder/work/inductor/fake.so"
{
  printf 'precfuzz-inductor 1\ntorch 2.6.0\nlibrary %s\nisa %s\n' "$plugins/fake_torch.so" "$(isa)"
  printf 'fake.so %s f32 * * * * -\n' matmul matmul_add linear addmm
  printf 'fake.so %s f32 - * * * -\n' matmul matmul_add linear addmm
} >"$folder/work/inductor/manifest"
while read -r engine stand_in; do
  status=0
  build/cov/precfuzz check --engine "$engine" corpus/seeds/03-matmul >/dev/null 2>&1 </dev/null ||
    status=$?
  if [ $status -lt 2 ]; then stand_in=$engine; else stand_ins+=" $engine"; fi
  run check --engine "$stand_in" --known none corpus/seeds corpus/recorded
done <<END
openblas openblas:$plugins/fake_blas.so
openblas:gemm_batch openblas:$plugins/fake_blas.so:gemm_batch
blis blis:$plugins/fake_blas.so
onednn onednn:$plugins/fake_dnnl.so
onednn:runtime onednn:$plugins/fake_dnnl.so:runtime
onednn:gemm onednn:$plugins/fake_dnnl.so:gemm
onnxruntime onnxruntime:$plugins/fake_ort.so
onnxruntime:gemm onnxruntime:$plugins/fake_ort.so:gemm
xnnpack xnnpack:$plugins/fake_xnnpack.so
torch torch:$plugins/fake_torch.so
inductor inductor:$folder/work/inductor
END
run engine-test openblas
# Engines that are wrong, that declare what they do, that take whole cases, behind a pipe.
for engine in "$plugins"/{engine_naive,flushing,no_symbol,old_version}.so \
  "$plugins/graphs.so:"{off=1,rounds,'rounds;claims=aot_eager'} \
  "$plugins/misbehaving.so:"{open-fails,open-absent,open-settings,open-rounds,run-fails} \
  "$plugins/misbehaving.so:"{run-declines,run-rounds,writes-before,changes-input,wrong,unsteady} \
  "$plugins/habits.so:"{daz/daz,daz/may-daz,ftz+flush/ftz+flush,ftz/may-ftz+may-flush,bf16/bf16} \
  "$plugins/habits.so:"{/f64,skip/skip,skip/may-skip,reads/reads,/skips-alpha,/c-last} \
  "$plugins/habits.so:"{saturate/saturate,saturate/either} \
  "exec:$PWD/build/cov/precfuzz engine-host "{openblas,"$plugins"/habits.so:daz/daz} \
  "exec:$PWD/build/cov/precfuzz engine-host $plugins/graphs.so:claims=eager"; do
  run check --engine "$engine" --repeat --known none corpus/seeds
done
for command in 'echo no frame' 'kill -9 $$' 'sleep 9'; do
  run check --engine "exec:$command" --timeout 1 --strategy eager corpus/seeds/03-matmul
done

# Other rules and rows, and what is known.
for rule in graph agree torch ulp:4 abs:1e-3,rel:1e-2 rel:1e-2 nmse:1e-6; do
  run check --rule $rule --oracle both corpus/seeds
  run check --rule $rule --table --engine fault:M13 corpus/seeds
done
run regress corpus/regressions
for dtype in f64 f32 f16 bf16 f8_e4m3fn s8; do
  run tolerance --k 8 --count 2 --faults --dtype $dtype
done
run tolerance --k 8 --count 2 --graph addmm
run export --count 40 --with-outputs "$folder/work/exported"
run judge "$folder/work/exported"
for file in corpus/golden/*.case; do
  run judge "$file" --got "${file%.case}.safetensors"
done

# Programs for libraries.
for name in 03-matmul 05-linear-no-bias 06-addmm 33-baddbmm 46-in-place 65-alpha-tenth 75-s8; do
  for engine in openblas{,:gemm_batch} onednn{,:runtime,:gemm} onnxruntime xnnpack; do
    run emit --c --engine $engine "$folder/work/$name.text" -o "$folder/work/program"
  done
done

# Findings made small: to be exact to the last bit is asked of every case, and few are.
for file in "$folder/work"/*.archive; do
  run minimize --rule ulp:0 --engine reference:backward --time-limit 3 \
    -o "$folder/work/small.case" "$file"
done
run minimize --engine fault:M13 --time-limit 5 -o "$folder/work/small.case" \
  "$folder/work/03-matmul.archive"
run triage --engine fault --time-limit 2 --total-limit 30 -o "$folder/work/bundles" \
  "$folder/work"/0*.archive

# Readers of models.
for file in corpus/files/*/*; do
  case $file in
    */fuzz_matmul/*) run check --form archive "$file" ;;
    */fuzz_text/*) run check --form text "$file" ;;
    *) run seed --list "$file" ;;
  esac
  case $file in
    */refused-*) ;;
    *) run seed "$file" -o "$folder/work/seeded-${file//\//-}" ;;
  esac
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
[ -z "$stand_ins" ] || echo "not here, the tests' stand-ins instead:$stand_ins"
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
