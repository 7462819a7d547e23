#!/bin/bash
# --json: what every command writes fits docs/json.schema.json, which is strict, and says what the
# text says.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2317,SC2238  # conditions are evaluated by holds; dot, tail are files
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

root=$PWD
program=$(realpath "${PRECFUZZ:-build/precfuzz}")
schema=$root/docs/json.schema.json
unset PRECFUZZ "${!PRECFUZZ_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
mkdir documents mutants
# for the commands that results name
precfuzz() { "$program" "$@"; }

failed=0
ok() { echo "ok $1"; }
not_ok() # NAME WHY
{
  failed=1
  printf 'not ok %s\n    %s\n' "$1" "$2"
}

# NAME CONDITION...: each a shell command that must hold
holds()
{
  local name=$1 condition
  shift
  for condition; do
    if ! eval "$condition" >/dev/null 2>&1; then
      not_ok "$name" "$condition"
      return
    fi
  done
  ok "$name"
}

is() { jq -es "length > 0 and ($1)" out; }   # of the array of documents
says() { grep -qF -- "$1" err; }

# The command's exit status and messages are those that it has without --json, there is nothing but
# JSON, and the documents are kept for the schema.
documents=0
json() # NAME EXPECTED-STATUS JQ [CONDITION...] -- COMMAND...
{
  local name=$1 wanted=$2 filter=$3 status=0 text=0 conditions=() line
  shift 3
  while [ "$1" != -- ]; do
    conditions+=("$1")
    shift
  done
  shift
  precfuzz "$@" >text 2>text_err || text=$?
  precfuzz "$@" --json >out 2>err || status=$?
  if [ "$status" != "$wanted" ] || [ "$text" != "$wanted" ]; then
    not_ok "$name" "exit status $status, as text $text, instead of $wanted"
    head -n 3 err
    return
  fi
  if [ "$1" = random ]; then cp out lines; else { tr -d '\n' <out; echo; } >lines; fi
  while IFS= read -r line; do
    documents=$((documents + 1))
    printf '%s\n' "$line" >documents/$documents
    printf '%s\n' "$name" >documents/$documents.name
  done <lines
  holds "$name" "is '$filter'" 'cmp err text_err' "${conditions[@]}"
}

precfuzz encode 'matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] bias=bf16[32,7,1,1]' -o script
precfuzz encode 'matmul x=f32[2,9] y=f32[9,3] x.values=integer:3 y.values=integer:4' -f archive -o tail
cat >mixed <<'END'
addmm x=bf16[3,4](1,8)+3 y=bf16[4,2] c=f32[2] alpha=0.5 beta=2 x.values=normal+wide/64:9 x.set=1:7fc0
END
echo 'addmm x=f32[1,1] y=f32[1,1] c=f32[1,1] alpha=inf' >infinite
echo 'addmm x=f32[2,2] y=f32[2,2] c=f32[2,2] out=c' >in_place
echo 'matmul x=f32[2,1] y=f32[1,2] x.bits=7f800000,00000000 y.bits=00000001,7fc00000' >special
echo 'matmul x=f32[1,8] y=f32[8,1] x.bits=7f7fffff,7f7fffff,7f7fffff,7f7fffff,ff7fffff,ff7fffff,ff7fffff,ff7fffff y.values=equal:0' >order
echo 'matmul x=f32[9] y=f32[9]' >dot
echo 'matmul x=f32[0,3] y=f32[3,4]' >empty
echo 'matmul x=f32[2,0] y=f32[0,3]' >hollow
echo 'matmul x=f32[4,64] y=f32[64,4] x.values=cancel:1 y.values=cancel:2' >cancel
echo 'scaled_matmul x=f8_e4m3fn[2,64] y=f8_e5m2[64,4] x.scale=block32:7 y.scale=row:=1,2,0.5,0x1p-3' >scaled
echo 'matmul x=f32[2,3] y=f32[3,3]' >odd
echo 'matmul_out_f32_add x=bf16[2,3] y=bf16[3,2] bias=f32[2]' >whole
echo 'matmul x=f32[2,3](3,2) y=f32[3,3](2,7)' >strided

# --- check ----------------------------------------------------------------------------------------

json 'check: no finding' 0 '.[0].counts.verdicts.OK == 50 and
    .[0].cases[0].form == "fuzz" and
    (.[0].cases[0].results | length == 50) and
    (.[0].cases[0].results[0].worst.index | length == 4)' \
  -- check script
json 'check: findings' 1 '.[0].exit_status == 1 and
    (.[0].cases[0].results[0] | .finding and .verdict == "IMPOSSIBLE" and .model.model == "drop-last") and
    (.[0].cases[0].results[0].worst | .element == 3 and .index == [1, 0] and .got.value == 12)' \
  'grep -qF "$(jq -r ".cases[0].results[0].signature" out)" text' \
  -- check -e fault:M13 tail
jq -r '.cases[0].results[].signature' out >known
command=$(jq -r '.cases[0].results[0].reproduce' out)
eval "$command" >again
holds 'its command shows a finding again' 'grep -qF "$(head -n 1 known)" again' 'grep -q ^IMPOSSIBLE again'
mkdir regressions
: >regressions/known.txt
precfuzz regress --add tail-8 --known regressions --signature 'fault:M13 matmul * x=f32,y=f32 contract IMPOSSIBLE' \
  --reason 'terms are left out' --reported 'docs/engines.md' --model 'drop-last drop-tail-*' tail >/dev/null
json 'check: known findings' 0 '.[0].counts.known == 4 and .[0].counts.findings == 0 and
    ([.[0].cases[].results[] | select(.known and .finding and .known_as == "tail-8")] | length == 4)' \
  -- check -e fault:M13 --known regressions tail
json 'check: several files, quietly' 1 '.[0].counts.cases == 3 and
    ([.[0].cases[] | .file] == ["tail"]) and
    .[0].cases[0].results[0].index == 1' \
  -- check -q -e fault:M13 script tail script
json 'check: quietly, known' 0 '.[0].cases == []' -- check -q -e fault:M13 --known regressions tail
json 'check: a form' 0 '.[0].cases[0].form == "fuzz"' -- check --form fuzz tail
json 'check: a form to be told again' 1 '.[0].cases[0].results[0].reproduce | contains(" --form archive ")' \
  -- check --form archive -e fault:M13 tail
json 'check: NaN and infinity' 1 '([.[0].cases[0].results[] | select(.verdict == "SPECIAL")] | length > 0) and
    ([.[0] | .. | .worst? // empty | select(.exact == null and .error == null and .allowed.plus_infinity)] | length > 0) and
    ([.[0] | .. | .got? // empty | select(.value == null and .hex == "nan")] | length > 0)' \
  -- check -e reference:forward,fault:M29,fault:M31 special tail
json 'check: open order' 0 '.[0].counts.verdicts.ORDER > 0 and
    ([.[0] | .. | .order? // empty] | add > 0)' \
  -- check order
json 'check: not supported' 0 '[.[0].cases[].results[] | .why] | all(startswith("alpha is not finite"))' \
  -- check infinite
json 'check: written outside' 1 '.[0].counts.verdicts.GUARD > 0 and
    ([.[0].cases[].results[] | select(.verdict == "GUARD") | .stray] | all(type == "number"))' \
  -- check -e fault:M15 odd
plugins=$root/build/plugin
json 'check: an engine that changes its operands' 1 '.[0].counts.verdicts.INPUT > 0' \
  -- check -e "$plugins/misbehaving.so:changes-input" odd
json 'check: one that changes the rounding mode' 1 '.[0].counts.verdicts.FENV > 0' \
  -- check -e "$plugins/misbehaving.so:run-rounds" odd
json 'check: one that dies' 1 '.[0].counts.verdicts.DIED > 0 and
    ([.[0].cases[0].results[] | select(.verdict == "DIED") | .library.said] |
     all(startswith("misbehaving: about to crash"))) and
    ([.[0].cases[0].results[] | .reproduce // empty] | all(contains(" --isolate ")))' \
  -- check --isolate -e "$plugins/misbehaving.so:run-crashes" odd
json 'check: one that says what it does' 0 \
  '[.[0].cases[0].results[] | .library] | any(.kernel == "kernel 1" and .declared != null)' \
  -- check -e "$plugins/misbehaving.so:flushes" odd
json 'check: one that fails' 3 '([.[0].cases[0].results[] | select(.machinery == "engine error") | .verdict] |
    length > 0 and all(. == null)) and .[0].exit_status == 3' \
  -- check -e "$plugins/misbehaving.so:run-fails" odd
json 'check: one that needs help' 0 '(.[0].cases[0].results[0].library | .legalised == "x copied, y copied") and
    ([.[0].cases[0].results[] | .library.as_matmul] | any)' \
  -- check -e "$plugins/misbehaving.so:unit-stride" strided
json 'check: one with a version' 0 '.[0].cases[0].results[0].library.version != null' \
  -- check -e "$plugins/engine_naive.so" odd
json 'check: one that takes a whole graph' 0 \
  '[.[0].cases[0].results[] | .library.claims] | any(. == "eager")' \
  -- check -e "$plugins/graphs.so:claims=eager" whole
json 'check: zero sizes' 0 '.[0].counts.verdicts.VACUOUS == 5 and
    .[0].cases[0].sizes.m == 0 and
    .[0].cases[0].results[0].worst == null' \
  -- check -e reference:forward empty hollow
json 'check: a dot' 0 '.[0].cases[0].results[0].worst.index == []' \
  -- check -e reference:forward dot
json 'check: rule agree' 1 '.[0].rule.name == "agree" and
    (.[0].cases[0].results[0] | .against == "aot_eager" and .tally.predicted) and
    ([.[0].cases[0].results[] | .worst.result_of == .against] | any)' \
  -- check -r agree -s eager,aot_eager script
json 'check: rule graph' 1 '[.[0].cases[0].results[] | .against] | all(. == "eager")' \
  -- check -r graph -e reference:forward script
for rule in torch ulp:4 abs:1e-5,rel:1e-3 nmse:5e-6; do
  json "check: $rule" 1 '.[0].rule.blind_spot != null and
    ([.[0].cases[].results[] | .blind_spot] | all(. != null))' \
    -- check -r $rule -e reference:forward -s eager,inductor cancel
done
holds 'nmse is told' 'is ".[0].cases[0].results[0].tally.nmse.value > 5e-6"'
json 'check: a row as text' 0 '.[0].cases[0].results[0].strategy == "mine"' \
  -- check -e reference:forward -s 'mine: out = MATMUL(x, y; acc f32, out bf16, order forward)' tail
json 'check: a row with fixed bits' 0 '.[0].cases[0].results[0].worst | .of_radius == null and .allowed.radius.hex == "inf"' \
  -- check -e reference:forward -s aot_eager_bf16acc script
json 'check: the table' 0 '.[0].cases == [] and
    (.[0].table | length == 5) and
    ([.[0].table[] | select(.strategy == "eager") | [.elements, .unsupported]] == [[2240, 10]])' \
  -- check --table script infinite
json 'check: the table of rule graph' 1 '([.[0].table[] | select(.strategy == "eager") | .worst] == [null]) and
    ([.[0].table[] | select(.strategy == "aot_eager") | .worst.ulps.value] | .[0] > 1000)' \
  -- check --table -r graph -e reference:forward script
json 'check: a missing file' 2 '.[0].counts.cases == 1 and .[0].exit_status == 2' \
  'says "precfuzz: nowhere: No such file"' \
  -- check -e reference:forward nowhere dot
cp tail "$(printf 'caf\351 "x"')"
json 'check: a name that is no UTF-8' 1 '.[0].cases[0].file == "caf\ufffd \"x\""' \
  -- check -e fault:M13 "$(printf 'caf\351 "x"')"
precfuzz check -e reference:forward - --json <tail >out
holds 'check: standard input' 'is ".[0].cases[0].file == \"-\""'

# --- judge ----------------------------------------------------------------------------------------

rows='matmul_add --dtype bf16 --values integer --count 4'
# shellcheck disable=SC2086
precfuzz export --graph $rows --with-outputs=fault:M01 faulty >/dev/null
# shellcheck disable=SC2086
precfuzz export --graph $rows --with-outputs right >/dev/null
json 'judge: right results' 0 '(.[0].cases | length == 4) and .[0].counts.results == 20 and
    ([.[0].cases[].results[] | .tensor == .fits[0] and .rows == null and (.result.finding | not)] |
     all) and .[0].cases[0].got == .[0].cases[0].file and .[0].cases[0].form == "safetensors"' \
  -- judge right
json 'judge: findings' 1 '[.[0].cases[].results[] | select(.result.finding) | .result] |
    length > 0 and
    all(.engine == "given:" + .strategy and (.reproduce | startswith("precfuzz judge ")))' \
  'grep -qF "$(jq -r "[.cases[].results[] | .result.signature // empty][0]" out)" text' \
  -- judge faulty
json 'judge: quietly' 1 '[.[0].cases[].results[] | .result.finding] | length > 0 and all' \
  -- judge -q faulty
jq -r '.cases[].results[].result.signature' out >judged
command=$(jq -r '.cases[0].results[0].result.reproduce' out)
eval "$command" >again
holds 'its command shows a finding of judge again' 'grep -qF "$(head -n 1 judged)" again'
mkdir given
sort -u judged | awk '{ printf "[%d]\nsignature = %s\nreason = planted\n", NR, $0 }' >given/known.txt
for ((i = 1; i <= $(grep -c '^\[' given/known.txt); i++)); do cp tail given/$i.case; done
json 'judge: known findings' 0 '[.[0].cases[].results[] | select(.result.known)] | length > 0' \
  -- judge --known given faulty
json 'judge: rows to try' 0 '[.[0].cases[].results[] | select(.tensor == "eager")] |
    all((.rows | length == 2) and (.fits | index("aot_eager")) and .rows[0].reproduce == null)' \
  -- judge right --strategy eager,aot_eager --tensor eager
json 'judge: no row' 1 '[.[0].cases[].results[] | select(.result.finding)] |
    length > 0 and all(.result.strategy == "any" and (.rows | length == 2))' \
  -- judge faulty --strategy eager,aot_eager --tensor eager
json 'judge: not judged' 2 '[.[0].cases[].results[] | .result] |
    all(.verdict == "UNSUPPORTED" and (.why | contains("the row gives f32")))' \
  -- judge right --tensor eager --strategy 'mine: out = MATMUL(x, y; acc f32)'
json 'judge: a table' 0 '.[0].cases == [] and (.[0].table | length == 5)' -- judge --table right

# --- the other commands ---------------------------------------------------------------------------

json 'explain' 0 '(.[0].strategies | length == 5) and
    .[0].worst.ulps.value > 1000 and
    ([.[0].strategies[] | select(.strategy == "aot_eager") | .largest] == ["t0"]) and
    ([.[0].strategies[] | select(.strategy == "aot_eager") | .steps[] | .adds.error.value > 0] == [true, false, false]) and
    ([.[0].strategies[] | .steps[] | .torch] | any(. == "t0: bf16[32,7,1,1] = bmm(x, y)"))' \
  -- explain script
json 'explain: findings' 1 '.[0].counts.findings == 4 and
    .[0].results[0].model.model == "drop-last"' \
  -- explain -e fault:M13,reference:forward tail
json 'explain: two that disagree' 1 '.[0].results[0].against == "aot_eager"' \
  -- explain -r agree -s eager,aot_eager script
json 'explain: what is not finite' 0 '.[0].strategies[0].error | .special > 0 and (.first_special.value.value == null)' \
  -- explain mixed
json 'explain: no exact result' 0 '((.[0].no_exact | startswith("alpha is not finite")) and .[0].worst == null) and
    .[0].strategies[0].steps[0].adds == null' \
  -- explain infinite
json 'explain: the same steps' 0 '[.[0].strategies[] | .same_as] | any(. == "eager")' \
  -- explain dot
json 'explain: no element' 0 '.[0].strategies[0].error.element == null' -- explain empty
json 'explain: not run' 0 '.[0].strategies[0].not_run != null' \
  -- explain -s 'out = MATMUL(x, y; acc s32)' tail

json 'show' 0 '(.[0].tensors[0].elements | length == 18) and
    .[0].tensors[0].elements[0].bits == "0x40800000" and
    .[0].form == "archive" and .[0].alpha == null' \
  -- show tail
json 'show: a large one' 0 '[.[0].tensors[] | .elements] | all(. == null)' -- show script
json 'show --all' 0 '[.[0].tensors[] | .elements | length] == [1792, 1792, 224, 0]' \
  -- show script --all
json 'show: layouts, mixes, edits, NaN' 0 '(.[0].tensors[0] | .strides == [1, 8] and .offset == 3) and
    (.[0].tensors[0].values | .other == "wide" and .mix == 64 and .edits == 1) and
    .[0].tensors[0].elements[1] == {"value": null, "hex": "nan", "bits": "0x7fc0"} and
    .[0].beta.value == 2' \
  -- show mixed
"$program" encode 'matmul x=f32[1,2] y=f32[2,1]' --origin 'by hand' -o told
json 'show: an origin' 0 '.[0].origin == "by hand"' -- show told
json 'show: in place' 0 '.[0].tensors[3].in_place_of_c' -- show in_place
json 'show: scales' 0 '[.[0].tensors[] | .scale.kind] == ["block", "row", null]' -- show scaled
json 'show: verbatim' 0 '.[0].tensors[0].values.seed == null' -- show special
json 'show: an infinite alpha' 0 '.[0].alpha.hex == "inf"' -- show infinite

json 'random' 0 'length == 1 and .[0].event == "summary" and
    .[0].counts.cases == 200' \
  -- random -n 200 -e reference:lanes8
json 'random: findings' 1 '(length == 3 and ([.[] | .event] == ["finding", "finding", "summary"])) and
    .[2].signatures == 2 and .[2].exit_status == 1' \
  '[ "$(jq -r "select(.result) | .result.file" out | xargs ls | wc -l)" = 2 ]' \
  'grep -qF "$(jq -r .result.signature out | head -n 1)" text' \
  'grep -qE "^    case +$(jq .result.index out | head -n 1): " text' \
  '[ "$(precfuzz show "$(jq -r .result.file out | head -n 1)" | head -n 1)" = "$(jq -r .case out | head -n 1)" ]' \
  -- random -n 1000 -e fault:M13 --max-findings 2
eval "$(jq -r .result.reproduce out | head -n 1)" >again
holds 'random: its command shows it again' 'grep -qE "^(IMPOSSIBLE|SPECIAL)" again'
json 'random: a great seed' 0 '.[0].seed == "18446744073709551615"' \
  -- random -n 1 --seed 18446744073709551615 -e reference:forward
json 'random: a seed beyond 2^53' 0 '.[0].seed == "9007199254740993"' \
  -- random -n 1 --seed 9007199254740993 -e reference:forward
json 'random: a seed of 2^53' 0 '.[0].seed == 9007199254740992' \
  -- random -n 1 --seed 9007199254740992 -e reference:forward
json 'random: a case that cannot be written' 3 '.[0].result.file == null and .[0].result.reproduce == null and
    .[-1].exit_status == 3' \
  -- random -n 1000 -e fault:M13 -o script

status=0
timeout --preserve-status -s INT -k 20 0.3 "$program" random --json -n 1000000000 >out || status=$?
holds 'random: Ctrl-C ends with the summary' '[ $status = 0 ]' \
  'is "length == 1 and .[0].interrupted and .[0].counts.cases > 0"'

json 'strategies' 0 '(.[0].graphs | length == 7) and
    ([.[0].graphs[] | .strategies[] | .promise] | any)' \
  -- strategies
jq -r '.graphs[] | select(.name == "matmul_out_f32_add") | .strategies[] | select(.strategy == "inductor_graph") | .row' out >row
json 'strategies of a graph' 0 '.[0].graphs | length == 1' -- strategies matmul_add
json 'a row of strategies can be given' 0 '.[0].strategies[1].same_as == "inductor_graph"' \
  -- explain script -s inductor_graph -s "copy: $(cat row)"
json 'engines' 0 'true' \
  '[ "$(jq ".engines | length" out)" = "$(sed "/^libraries/,\$d" text | grep -c "^  ")" ]' \
  -- engines
json 'engines of a library' 0 '(.[0].libraries | length == 3) and .[0].libraries[0].types[0].x == "f32" and
    .[0].libraries[1].whole_cases and .[0].libraries[2].missing == "install libmine"' \
  -- engines "$plugins/engine_naive.so" "$plugins/graphs.so" "$plugins/misbehaving.so:open-absent"
json 'engines: what one declares' 0 '.[0].libraries[0].declared == "flushes sums"' \
  -- engines "$plugins/habits.so:/ftz"
export TOLD='3.7.2 avx2 kernel-1 wrong'
precfuzz regress --add told --known regressions --reason 'as it was told' \
  --signature "$plugins/told.so matmul eager x=f32,y=f32 contract IMPOSSIBLE" tail >/dev/null
json 'regress' 0 '.[0].counts == {OK: 2, FIXED: 0, CHANGED: 0, SKIPPED: 0, WRONG: 0} and
    (.[0].entries[0] | .name == "tail-8" and .line == 1 and .outcome == "OK" and .why == null and .found == null and
     .reported == "docs/engines.md" and .model == "drop-last drop-tail-*" and .engine == null) and
    (.[0].entries[1] | .version == "=3.7.2" and .isa == "avx2" and .kernel == "kernel-1" and
     (.engine | startswith("told 3.7.2, ")))' \
  -- regress regressions
export TOLD='3.7.2 avx2 kernel-1 nan'
json 'regress: changed' 1 '(.[0].entries[1] | .outcome == "CHANGED" and (.found | endswith(" SPECIAL"))) and
    .[0].counts.CHANGED == 1 and .[0].exit_status == 1' \
  -- regress regressions
eval "$(jq -r '.entries[1].reproduce' out)" >again
holds 'regress: its command shows what there is' 'grep -q ^SPECIAL again'
export TOLD='3.7.2 avx2 kernel-1 absent'
json 'regress: skipped' 0 '.[0].entries[1] | .outcome == "SKIPPED" and .engine == null and .reproduce == null and
    (.why | contains("install libtold"))' \
  -- regress regressions
mkdir none_yet
: >none_yet/known.txt
json 'regress: none' 0 '.[0].entries == [] and .[0].exit_status == 0' -- regress none_yet
json 'tolerance' 0 '.[0].rules[0].rule == "contract" and .[0].rules[0].measured[0].tensors_rejected == {hits: 0, of: 20} and
    ([.[0].data[] | .faults[] | .passed] | all(. == null))' \
  -- tolerance --k 8 --count 2
json 'tolerance --faults' 0 '[.[0].data[] | .faults[] | .passed[] | .rule] | any(. == "contract")' \
  -- tolerance --k 8 --count 1 --faults --dtype f32

# --- nothing but JSON, and all of it --------------------------------------------------------------

for bad in 'check -e nobody script' 'check --table -r agree script' 'check' 'explain nowhere' \
  'show nowhere' 'strategies soup' 'random -n 0' 'tolerance --row nobody' 'engines --colour' \
  'regress nowhere' 'regress --add x --signature s --reason r script'; do
  status=0
  # shellcheck disable=SC2086  # several words
  precfuzz $bad --json >out 2>err || status=$?
  holds "refused: $bad" '[ $status = 2 ]' '[ ! -s out ]' '[ -s err ]'
done
for command in 'check script' 'explain script' 'show script' 'random -n 1' strategies engines \
  'regress regressions' 'tolerance --k 2 --count 1'; do
  status=0
  # shellcheck disable=SC2086
  precfuzz $command --json >/dev/full 2>err || status=$?
  holds "a full disk under $command" '[ $status = 3 ]' 'says "precfuzz: standard output: No space left"'
done

# Both forms of each number, as they stand in the documents, are the same to the last digit.
cat documents/*[0-9] | grep -oE '"value": -?[0-9][^,]*, "hex": "[^"]*"' | sort -u |
  sed 's/"value": //; s/, "hex"://; s/"//g' >numbers
# shellcheck disable=SC2046  # words
printf '%.17g\n' $(cut -d' ' -f1 numbers) >from_decimal
# shellcheck disable=SC2046
printf '%.17g\n' $(cut -d' ' -f2 numbers) >from_hex
holds 'no digit is lost' '[ "$(wc -l <numbers)" -gt 500 ]' 'cmp from_decimal from_hex'

# --- the schema -----------------------------------------------------------------------------------

# Says of each file "===[SUCCESS]===(FILE)===", or what is wrong with it.
validate() # FILE...
{
  local arguments=() file
  for file; do arguments+=(-i "$file"); done
  jsonschema -o pretty "${arguments[@]}" "$schema" 2>&1
}

validate documents/*[0-9] >verdicts
for ((i = 1; i <= documents; i++)); do
  grep -qxF "===[SUCCESS]===(documents/$i)===" verdicts ||
    not_ok "$(cat documents/$i.name)" "does not fit the schema: $(jsonschema -i documents/$i "$schema" 2>&1 | cut -c 1-400)"
done
holds "$documents documents fit the schema" \
  '[ "$(grep -c "^===\[SUCCESS\]===" verdicts)" = $documents ] && [ $documents -gt 50 ]'

# Objects say all that they have, and that they have all of it.
holds 'the schema is strict' 'jq -e "
  [.. | objects | select(.properties and (.type | tostring | contains(\"object\")))] | length > 30 and
  all(.[1:][]; .additionalProperties == false and (.required | sort) == (.properties | keys))" "$schema"'
jq -n '[inputs | .. | objects | to_entries[] | select(.value != null) | .key] | unique' \
  documents/*[0-9] >seen
holds 'every member has been seen with a value' '[ "$(jq -c --slurpfile seen seen \
  "[.\"\$defs\" | .. | objects | .properties? // empty | keys[]] | unique - \$seen[0]" "$schema")" = "[]" ]'

# Test of the test: a document with a member less, a member more, or one of another type, for each
# member and what it is in.  Of arrays the first element is enough.
cat >mutate.jq <<'END'
def others: if type == "array" then {"a": 1} else [[]] end;
walk(if type == "array" then .[:1] else . end) | . as $d
| ([paths(objects)] + [[]])[] as $p
| ($d | getpath($p) | keys[]) as $k
| ([$p[] | strings] | .[-1]) as $in
| ["less", $in, $k, ($d | delpaths([$p + [$k]]))],
  ["more", $in, $k, ($d | setpath($p + [$k + "_"]; 1))],
  ["other", $in, $k, ($d | setpath($p + [$k]; getpath($p + [$k]) | others))]
| (.[:3] | map(. // "" | gsub(" "; "_")) | join(".")) + " " + (.[3] | tojson)
END
document() { cat "documents/$(basename "$(grep -lxF "$1" documents/*.name | sort -n | head -n 1)" .name)"; }
for name in 'check: findings' 'check: the table' 'explain: what is not finite' 'show: scales' \
  'strategies of a graph' 'random: findings' random 'tolerance --faults' 'engines' 'regress: changed'; do
  document "$name" | jq -r -f mutate.jq | LC_ALL=C sort -u -t ' ' -k 1,1
done 2>mutate.err | LC_ALL=C sort -u -t ' ' -k 1,1 >all
while read -r name mutant; do printf '%s\n' "$mutant" >"mutants/$name"; done <all
jq -c '.precfuzz.schema = 2' documents/1 >mutants/version
jq -c '.cases[0].results[0].verdict = "FINE"' documents/1 >mutants/verdict
jq -c '.cases[0].results[0].worst.got.value = null' documents/1 >mutants/null
jq -c '.cases[0].results[0].worst.got.hex = "nan"' documents/1 >mutants/nan
jq -c '.counts.cases = "12"' documents/1 >mutants/whole
jq -c '.counts.cases = 1e17' documents/1 >mutants/great
jq -c '.command = "engines"' documents/1 >mutants/command
validate documents/1 mutants/* >verdicts
mutants=$(find mutants -type f | wc -l)
holds "$mutants mutants do not" '[ $mutants -gt 700 ]' '[ ! -s mutate.err ]' \
  '[ "$(grep "^===\[SUCCESS\]===" verdicts)" = "===[SUCCESS]===(documents/1)===" ]' \
  '[ "$(grep -o "===\[[A-Za-z]*\]===([^)]*)" verdicts | sort -u | wc -l)" = $((mutants + 1)) ]'

# --- the page -------------------------------------------------------------------------------------

PRECFUZZ=$program "$root/scripts/json_doc.sh" "$work/json.md" >log 2>&1
holds 'docs/json.md is what the commands write' 'cmp "$root/docs/json.md" json.md'

exit $failed
