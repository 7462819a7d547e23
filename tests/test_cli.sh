#!/bin/bash
# The command line from outside: exit codes, messages, and the numbers that it is there to show.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2317,SC2238,SC2034  # conditions are evaluated by expect; cut is a file
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

subject=
. tests/expect.sh

within() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }'; }
reproducer() { sed -n 's/^ *reproduce //p' "$1" | head -n 1; }

script='matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] bias=bf16[32,7,1,1]'
tail9='matmul x=f32[2,9] y=f32[9,3] x.values=integer:3 y.values=integer:4'

# --- forms ----------------------------------------------------------------------------------------

run encode "$script" -o script
expect 'encode writes a case' 0 '[ -s script ]' '[ ! -s out ]'
run encode "$tail9" -o tail9.case --form archive
expect 'encode writes an archive' 0 '[ -s tail9.case ]'
run encode "$tail9" --form text -o tail9.txt
expect 'encode writes text' 0 '[ "$(cat tail9.txt)" = "$tail9" ]'
run encode @tail9.txt -o tail9.fuzz
expect 'encode reads a file' 0
for file in tail9.case tail9.txt tail9.fuzz; do
  run show $file
  expect "show knows the form of $file" 0 '[ "$(head -n 1 out)" = "$tail9" ]'
done
precfuzz encode - -o - <tail9.txt >piped
status=$?
expect 'encode from and to a pipe' 0 'cmp piped tail9.fuzz'
precfuzz show - <tail9.case >out
status=$?
expect 'show reads standard input' 0 '[ "$(head -n 1 out)" = "$tail9" ]'
run show tail9.txt
expect 'show prints elements and encodings' 0 "prints '^form +text'" "prints 'K 9: 6 results, 54'" \
  "[ \"\$(grep -oE '[-0-9]+:[0-9a-f]{8}' out | wc -l)\" = 45 ]"
run show script
expect 'show leaves large tensors out' 0 '! grep -q :3f80 out' '[ "$(wc -l <out)" -lt 20 ]'
run show script --all
expect 'show --all does not' 0 "[ \"\$(grep -oE ':[0-9a-f]{4}( |\$)' out | wc -l)\" = 3808 ]"
run check --form fuzz tail9.case
expect '--form fuzz takes any bytes' 0

# --- check ----------------------------------------------------------------------------------------

run check script
expect 'check: no finding' 0 '[ "$(grep -c ^OK out)" = 50 ]' "prints '^1 case, 50 results, 0 findings'"
run check -q script
expect 'check -q prints the summary only' 0 '[ "$(wc -l <out)" = 1 ]'
run check -e fault:M13 tail9.case
expect 'check: a finding' 1 "prints '^IMPOSSIBLE +fault:M13 +eager'" "prints '^    got  '" \
  "prints '^    allowed .*0x'" "prints 'signature fault:M13 matmul eager x=f32,y=f32 contract IMP'"
cp out before
eval "$(reproducer before)" >out 2>err
status=$?
expect 'the command that it prints reproduces it' 1 \
  '[ "$(grep -m 1 signature out)" = "$(grep -m 1 signature before)" ]'
mkdir known
: >known/known.txt
run regress --add tail9 --known known --reason 'for a test' \
  --signature 'fault:M13 matmul * x=f32,y=f32 contract IMPOSSIBLE' tail9.case
expect 'a finding becomes known' 0
run check -e fault:M13 --known known tail9.case
expect 'known findings do not count' 0 "prints '^    known     tail9: for a test$'" \
  "prints '0 findings, 4 known'" '! grep -q signature out'
run check -q -e fault:M13 --known known tail9.case
expect '-q does not show them' 0 '[ "$(wc -l <out)" = 1 ]'
run check -e fault:none tail9.case
expect 'its correct twin is fine' 0
mkdir folder folder/deeper empty
cp script tail9.case folder
cp tail9.case folder/deeper
run check -q -e reference:forward folder
expect 'a folder stands for its files' 0 "prints '^2 cases, 10 results, 0 findings'"
run check -q script nowhere tail9.txt
expect 'a missing file' 2 "says 'precfuzz: nowhere: No such file'" "prints '^2 cases'"
run check -q empty
expect 'an empty folder is no success' 2 "says 'precfuzz: empty: no file'"
truncate -s 65M large
run check large
expect 'a file that is too large' 2 "says 'precfuzz: large: larger than 64 MiB'"
rm large

# --- what is wrong with input ---------------------------------------------------------------------

size=$(stat -c %s tail9.case)
bad=0
for ((length = 0; length < size; length += 3)); do
  head -c $length tail9.case >cut
  run check --form archive cut
  [ "$status" = 2 ] && grep -qE '^precfuzz: cut: offset [0-9]+: ' err || bad=$length
done
expect 'truncated archives' 2 '[ $bad = 0 ]'
head -c $((size - 5)) tail9.case >cut
run check cut
expect 'archives are known by their first bytes' 2 "says 'precfuzz: cut: offset'" \
  "says '--form fuzz'"
cp tail9.case flipped
printf '\377' | dd of=flipped bs=1 seek=$((size / 2)) conv=notrunc status=none
run explain flipped
expect 'a changed byte in an archive' 2 "says 'precfuzz: flipped: offset'"
run encode 'matmul x=f32[2,' -o never
expect 'bad text: the offset' 2 "says 'precfuzz: TEXT: offset 15: '" '[ ! -e never ]'
echo 'matmul x=f32[2,9] y=f32[8,3]' >bad.txt
run check bad.txt
expect 'shapes that do not multiply' 2 "says 'precfuzz: bad.txt: offset'"
run check -e nobody script
expect 'no such engine' 2 "says \"precfuzz: --engine: no engine is called 'nobody'\""
run check -s nothing script
expect 'no such strategy' 2 "says \"precfuzz: --strategy: no strategy is called 'nothing'\""
run check -r honour script
expect 'no such rule' 2 "says \"precfuzz: --rule: no rule is called 'honour'\""
run check --known nowhere script
expect 'no such folder of known findings' 2 \
  "says 'precfuzz: --known: nowhere/known.txt: No such file'"
run check --form prose script
expect 'no such form' 2 "says \"'prose' is no form\""
run check --colour script
expect 'no such option' 2 "says \"unrecognized option '--colour'\""
run check
expect 'no file' 2 "says 'FILE is missing'"
run
expect 'no command' 2 "says 'COMMAND is missing'"
run dance
expect 'no such command' 2 "says \"no command is called 'dance'\""
run check -r agree -s eager script
expect 'one strategy cannot disagree' 2 "says '--rule agree'"

# --- output that cannot be written ----------------------------------------------------------------

run encode "$tail9" -o nowhere/case
expect 'no folder to write to' 3 "says 'precfuzz: nowhere/case: cannot be written: '" \
  "says 'No such file'"
run encode "$tail9" -o /dev/full
expect 'a full device' 3 "says 'cannot be written: No space left'" '[ -c /dev/full ]'
run encode "$tail9" -o folder
expect 'a folder in the way' 3 '[ "$(ls -A folder)" = "$(printf "deeper\nscript\ntail9.case")" ]' \
  '! ls folder.* 2>/dev/null'
cp tail9.txt kept
run encode 'matmul x=f32[2' -o kept
expect 'bad text leaves the old file' 2 'cmp kept tail9.txt'
ln -s kept link
run encode "$tail9" -o link
expect 'a link stays a link' 0 '[ -L link ]' 'cmp kept tail9.fuzz'
for command in '--help' '--version' 'strategies' 'check script' 'check --help'; do
  # shellcheck disable=SC2086  # several words
  precfuzz $command >/dev/full 2>err
  status=$?
  expect "a full disk under $command" 3 "says 'precfuzz: standard output: No space left'"
done
{ precfuzz random -n 300; echo $? >code; } 2>err | true
status=$(cat code)
expect 'a closed pipe' 3 "says 'precfuzz: standard output: Broken pipe'"

# --- settings -------------------------------------------------------------------------------------

same() # NAME VARIABLE=VALUE OPTIONS...
{
  local name=$1 setting=$2
  shift 2
  run check script tail9.case "$@"
  cp out by_option
  local code=$status
  status=0
  env "$setting" "$program" check script tail9.case >out 2>err || status=$?
  expect "$name" "$code" 'cmp out by_option' '[ "$(wc -l <out)" -gt 2 ]'
}
same 'PRECFUZZ_ENGINES' PRECFUZZ_ENGINES=fault:M13,reference:lanes8 -e fault:M13 -e reference:lanes8
same 'PRECFUZZ_STRATEGIES' PRECFUZZ_STRATEGIES=aot_eager,eager -s aot_eager -s eager
same 'PRECFUZZ_RULE' PRECFUZZ_RULE=graph --rule graph
same 'PRECFUZZ_STRATEGIES as a row' 'PRECFUZZ_STRATEGIES=m: out = MATMUL(x, y; acc f32)' \
  -s 'm: out = MATMUL(x, y; acc f32)'
PRECFUZZ_KNOWN=known PRECFUZZ_ENGINES=fault:M13 precfuzz check tail9.case >out 2>err
status=$?
expect 'PRECFUZZ_KNOWN' 0 "prints '0 findings, 4 known'"
PRECFUZZ_KNOWN=known PRECFUZZ_ENGINES=fault:M13 precfuzz check --known none tail9.case >out 2>err
status=$?
expect '--known none' 1 "prints '4 findings'"
PRECFUZZ_KNOWN=nowhere precfuzz check tail9.case >out 2>err
status=$?
expect 'PRECFUZZ_KNOWN names no folder' 2 \
  "says 'precfuzz: PRECFUZZ_KNOWN: nowhere/known.txt: No such file'"
PRECFUZZ_ENGINES=nobody precfuzz check script >out 2>err
status=$?
expect 'a bad variable' 2 "says 'precfuzz: PRECFUZZ_ENGINES: no engine'"
PRECFUZZ_ENGINES=nobody PRECFUZZ_RULE=none PRECFUZZ_STRATEGIES=x precfuzz check -q script \
  -e reference -r contract -s eager >out 2>err
status=$?
expect 'an option goes before its variable' 0 "prints '^1 case, 10 results'"

# --- rows as text ---------------------------------------------------------------------------------

run check tail9.case --strategy 'mine: out = MATMUL(x, y; acc f32, out bf16)'
expect 'a row as text' 0 "prints '^OK +reference:forward +mine '"
run check tail9.case -e fault:M13 --strategy 'mine: out = MATMUL(x, y; acc f32, out bf16)'
expect 'a finding of it' 1 "prints 'signature fault:M13 matmul mine '"
cp out before
eval "$(reproducer before)" >out 2>err
status=$?
expect 'and its command' 1 '[ "$(grep -m 1 signature out)" = "$(grep -m 1 signature before)" ]'
run check tail9.case --strategy 'mine: out = MATMUL(x, z; acc f32)'
expect 'a wrong row: file, option, offset' 2 \
  "grep -qE '^precfuzz: tail9.case: --strategy: offset 2[23]: row: .z. is neither' err"
run random -n 5 -s 'out = MATMUL(x, y acc f32)'
expect 'a wrong row under random' 2 "says 'offset'"
run random -n 50 -s 'out = MATMUL(x, y; acc f64, out f32)'
expect 'a row that suits some graphs' 0 "prints '^50 cases, 500 results'"

# --- explain --------------------------------------------------------------------------------------

run explain script
of() { awk -v s="$1" '/^strategy/ { table = 1 } table && $1 == s { print $5; exit }' out; }
expect 'explain: the user'"'"'s script' 0 \
  'within "$(of eager)" 1e-9 1e-6' 'within "$(of inductor)" 1e-9 1e-6' \
  'within "$(of aot_eager)" 1e-3 1e-2' 'within "$(of inductor_graph)" 1e-3 1e-2' \
  "prints '^aot_eager .* t0, acc f32, rounds to bf16'" \
  "prints 't0: bf16\[32,7,1,1\] = bmm\(x, y\)  <- acc f32, rounds to bf16'" \
  "prints 't1: f32\[32,7,1,1\] = to\(t0, f32\)  # exact'" \
  "prints 'out: f32\[32,7,1,1\] = add\(t1, bias\)'" \
  "prints '^worst element: out\[[0-9]+,[0-6],0,0\] of '" "prints '^    allowed .*0x'" \
  '[ "$(awk "length > 100" out | wc -l)" = 0 ]'
run explain script -s eager,aot_eager
expect 'explain: the worst of two' 0 "prints '^worst element: .* of aot_eager'"
run explain -r agree -s eager,aot_eager script
expect 'explain: the two disagree' 1 "prints '^IMPOSSIBLE +reference:forward +eager ~ aot_eager'" \
  "prints 'signature .* eager~aot_eager .* agree IMPOSSIBLE'" "prints '^rule agree: .* 1 finding'"
run check -r agree -s eager,aot_eager script
expect 'check: the two disagree' 1
run check -q -r agree script
expect 'check: eager and inductor agree' 0 "prints '^1 case, 10 results, 0 findings: OK 10'"
run explain -e fault:M13 tail9.case -s inductor
expect 'explain: the step of a faulty engine' 1 "prints 't2: .* = sum\(mul\(t0, t1\)\)  <- acc f32'"
precfuzz encode 'addmm x=bf16[3,4] y=bf16[4,2] c=bf16[2] alpha=0.5 beta=2' -o addmm
run explain addmm
expect 'explain: what is inside the call' 0 \
  "prints 'out: bf16\[3,2\] = addmm\(c, x, y, beta=2, alpha=0.5\)'" "prints 'same steps as eager'" \
  "prints 'bf16\[2\] = to'"
precfuzz encode 'matmul x=bf16[2,1] y=bf16[1,1] x.bits=7f80,3f80 y.bits=3f80' -o special
run explain special
expect 'explain: what is not finite' 0 "prints '1 element not finite and left out; first out\[0,0\]: inf'"
precfuzz encode 'addmm x=f32[1,1] y=f32[1,1] c=f32[1,1] alpha=inf' -o infinite
run explain infinite
expect 'explain: no exact result' 0 "prints 'no exact result: alpha is not finite'" \
  "prints '5 results, 0 findings: UNSUPPORTED 5'" '! grep -q ^worst out'
steps=$(precfuzz strategies matmul_out_f32_add |
  awk '$1 == "inductor_graph" { on = 1; next } on && /^  [a-z]/ { exit } on')
run explain script -s inductor_graph -s "copy: $steps"
expect 'what strategies prints is a row' 0 "prints 'same steps as inductor_graph'"

# --- the table ------------------------------------------------------------------------------------

run check -r graph --table -e reference:forward script tail9.case
expect 'the table of rule graph' 1 "prints '^eager +2 +230 +0% +- +-$'" \
  'within "$(awk "\$1 == \"aot_eager\" { print \$5 }" out)" 1e-3 1e-2' \
  'within "$(awk "\$1 == \"aot_eager\" { print \$4 + 0 }" out)" 90 100' \
  "prints '^aot_eager .* script$'"
run check --table -e reference:forward script
expect 'the table of rule contract' 0 \
  'within "$(awk "\$1 == \"eager\" { print \$5 }" out)" 1e-9 1e-6' \
  'within "$(awk "\$1 == \"aot_eager\" { print \$5 }" out)" 1e-3 1e-2'
run check --table -r agree script
expect 'no table of pairs' 2 "says '--table'"

# --- random ---------------------------------------------------------------------------------------

run random -n 300 --seed 7 -e reference:lanes8 -o found
cp out before
expect 'random: no finding' 0 "prints '^300 cases, [0-9]+ results, 0 findings'" "prints 'seed 7$'" \
  '[ ! -e found ]' '[ ! -s err ]'
run random -n 300 --seed 7 -e reference:lanes8
expect 'the same seed, the same cases' 0 'cmp out before'
run random -n 300 --seed 8 -e reference:lanes8
expect 'another seed, others' 0 '! cmp out before'
run random -n 1000 -e fault:M13 -o found --max-findings 2
expect 'random: findings' 1 '[ "$(ls found | wc -l)" = 2 ]' "prints '^2 signatures'" \
  '[ "$(wc -l <out)" -gt 4 ]' '[ ! -s err ]'
cp out before
eval "$(reproducer before)" >out 2>err
status=$?
expect 'random: the command that it prints' 1 'grep -qF "$(head -n 1 before)" out'
run random -n 400 -e fault:M13 --dtype f16,f32 --graph matmul,linear --values integer,normal \
  --layout dense --max-work 2000 -o dense --max-findings 30
for file in dense/*; do precfuzz show "$file"; done >out
expect 'random: filters' 1 '[ "$(ls dense | wc -l)" -gt 5 ]' \
  "! grep -E '^(matmul|linear)' out | grep -vE '^(matmul|linear) '" '! grep -qE "(bf16|f64)\[" out' \
  "! grep 'values ' out | grep -vE 'values (integer|normal)(, [0-9]+ of 256 (integer|normal))?, seed'" \
  '! grep -q strides out' '! grep -E "offset [1-9]" out' "prints '^matmul '" "prints '^linear '" \
  "prints 'x=f16'" "prints 'x=f32'" \
  'awk "/^sizes/ && \$(NF - 1) > 2000 { exit 1 }" out'
run random -n 400 -e fault:M13 --layout strided -o strided --max-findings 30
for file in strided/*; do
  precfuzz show "$file" >out
  grep -qE '^(x|y|c|bias|out) .*(strides|offset [1-9])' out || echo "$file"
done >wrong
expect 'random: strided layouts' 1 '[ "$(ls strided | wc -l)" -gt 5 ]' '[ ! -s wrong ]'
run random -n 3 --dtype f32,f33
expect 'random: no such dtype' 2 "says \"--dtype: there is no 'f33'\""
run random -n 0
expect 'random: no such count' 2 "says '--count'"
run random -n 1000 -e fault:M13 -o script
expect 'random: a file in the way of the folder' 3 "says 'cannot be written'"
status=0
timeout --preserve-status -s INT -k 20 0.5 "$program" random -n 1000000000 >out 2>err || status=$?
expect 'random: Ctrl-C ends with the summary' 0 "prints '^interrupted'" "prints '^[0-9]+ cases'"

# --- lists and help -------------------------------------------------------------------------------

run strategies
expect 'strategies' 0 '[ "$(grep -c "^[a-z]" out)" = 7 ]' '[ "$(grep -c "^  aot_eager " out)" = 7 ]' \
  '[ "$(awk "length > 100" out | wc -l)" = 0 ]'
run strategies matmul_add
expect 'strategies of a graph' 0 '[ "$(grep -c "^[a-z]" out)" = 1 ]'
run strategies soup
expect 'no such graph' 2 "says \"no graph is called 'soup'\""
run engines
sed '/^libraries/,$d' out >engines
expect 'engines' 0 "prints '^  reference:lanes8\+fma +lanes8, fused '" \
  '[ "$(grep -n reference: out | tail -n 1 | cut -d: -f1)" -lt "$(grep -n fault: out | head -n 1 | cut -d: -f1)" ]'
run check -q -e "$(awk '/^  / { print $1 }' engines | paste -sd,)" script
expect 'every engine that is listed can be named' 1 "prints '^1 case, $(($(grep -c '^  ' engines) * 5)) results'"
for command in check explain show encode random regress strategies engines; do
  run $command --help
  expect "$command --help" 0 '[ "$(wc -l <out)" -gt 5 ]' "prints '^Usage: precfuzz $command'"
done
run --help
expect '--help' 0 "prints '^  explain +shows'" "prints PRECFUZZ_KNOWN"
run --version
expect '--version' 0 "prints '^precfuzz [0-9]'"

exit $failed
