#!/bin/bash
# Known findings: those of this tree are replayed on what is installed; and on planted ones, what
# each outcome takes, what is no list, how entries are added, and that they end no run.
#
# Prints "ok NAME", "not ok NAME" for each test, and a line SKIPPED for each known finding whose
# engine is not here; exit status 1 if a test is not ok.  PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2317  # conditions are evaluated by expect
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

subject=
. tests/expect.sh
cp "$root/build/plugin/told.so" .

# --- those of this tree ---------------------------------------------------------------------------

# What needs a lesser ISA than this machine's is replayed under that.
: >skipped
: >seen
for isa in '' AVX512_CORE AVX2; do
  [ -z "$isa" ] || export DNNL_MAX_CPU_ISA=$isa
  run regress
  expect "the known findings are still there${isa:+ ($isa)}" 0 "prints '^[0-9]+ known findings?'" \
    '[ ! -s err ]' "! grep -qE '^(FIXED|CHANGED|WRONG) ' out"
  grep '^SKIPPED ' out >>skipped
  awk '$1 == "OK" { print $2 }' out >>seen
done
unset DNNL_MAX_CPU_ISA
awk 'FILENAME == "seen" { seen[$1]; next } !($2 in seen) && !told[$2]++' seen skipped
cp -r "$root/corpus/regressions" own
run regress own
expect 'and are those of corpus/regressions' 0 \
  '[ "$(grep -c "^\[" own/known.txt)" = "$(sed -n "\$s/ .*//p" out)" ]'

# --- outcomes -------------------------------------------------------------------------------------

precfuzz encode 'matmul x=f32[2,9] y=f32[9,3] x.values=integer:3 y.values=integer:4' -o tail
mkdir list
: >list/known.txt
tell() { export TOLD="$1"; }
tell '3.7.2+ds avx512_core brg:1 wrong'
run regress --add told --known list --reason 'as it was told' --reported 'page 7' \
  --signature './told.so matmul eager x=f32,y=f32 contract IMPOSSIBLE' tail
cat >wanted <<'END'
[told]
signature = ./told.so matmul eager x=f32,y=f32 contract IMPOSSIBLE
version   = =3.7.2
kernel    = brg:1
isa       = avx512_core
reason    = as it was told
reported  = page 7
END
expect 'an entry has what the engine says of itself' 0 'cmp list/known.txt wanted' \
  "prints '^list/told.case\$'" '[ "$(ls list)" = "$(printf "known.txt\ntold.case")" ]' \
  'precfuzz show list/told.case | grep -q "^form *archive"'

becomes() # NAME TOLD OUTCOME STATUS TEXT
{
  tell "$2"
  run regress list
  expect "$1: $3" "$4" "prints '^$3 +told .*$5'" "prints '^1 known finding: $3 1\$'"
}
becomes 'still there' "$TOLD" OK 0 'told 3.7.2.ds, .*avx512_core; 1 thread, brg:1$'
becomes 'mended' '3.7.2 avx512_core brg:1 right' FIXED 1 'nothing is wrong any more'
expect 'what was fixed is told in full' 1 "prints '^    entry     list/known.txt:1\$'" \
  "prints '^    reason    as it was told\$'" "prints '^    reported  page 7\$'"
eval "$(sed -n 's/^ *reproduce //p' out)" >again
expect 'and its command shows it' 1 'grep -q ^OK again'
becomes 'another verdict' '3.7.2 avx512_core brg:1 nan' CHANGED 1 ': ./told.so .* SPECIAL'
becomes 'it dies instead' '3.7.2 avx512_core brg:1 dies' CHANGED 1 'DIED'
becomes 'another kernel is wrong, too' '3.7.2 avx512_core ref wrong' CHANGED 1 'by kernel ref: '
becomes 'another kernel is right' '3.7.2 avx512_core ref right' SKIPPED 0 'kernel brg:1 is not there'
becomes 'another version' '3.7.3 avx512_core brg:1 wrong' SKIPPED 0 'version 3.7.3 is not =3.7.2'
becomes 'no version' '- avx512_core brg:1 right' SKIPPED 0 'version unknown is not =3.7.2'
becomes 'another ISA' '3.7.2 avx2 brg:1 right' SKIPPED 0 'isa avx512_core is not there'
becomes 'not supported' '3.7.2 avx512_core brg:1 declines' SKIPPED 0 'it was told to decline'
becomes 'not installed' '3.7.2 avx512_core brg:1 absent' SKIPPED 0 'install libtold'
mv told.so away.so
becomes 'no such file' '3.7.2 avx512_core brg:1 wrong' SKIPPED 0 'cannot open shared object file'
echo 'no library' >told.so
run regress list
expect 'a file that is no engine' 2 "prints '^WRONG +told'" "says 'precfuzz: told: '"
mv away.so told.so
sed -i 's/^version.*/version = >=3.0 <3.8/; s/^kernel.*/kernel = brg*/; s/^isa.*/isa = avx2 avx512*/' list/known.txt
becomes 'in a range' '3.1 avx2 brg:9 wrong' OK 0 'brg:9'
becomes 'outside' '3.8 avx2 brg:9 wrong' SKIPPED 0 'version 3.8 is not >=3.0 <3.8'
PRECFUZZ_ENGINES=nobody PRECFUZZ_STRATEGIES=none PRECFUZZ_RULE=none run regress list
expect 'entries say what is run' 0 "prints '^SKIPPED +told'"

# What can be said of our own engines, with patterns; the reference engine has no fault.
mkdir ours
: >ours/known.txt
add() # NAME FILE SIGNATURE [OPTION...]
{
  run regress --add "$1" --known ours --reason 'it is planted' --signature "$3" "${@:4}" "$2"
}
add tail tail 'fault:M13 matmul * x=f32,y=f32 contract IMPOSSIBLE' --model 'drop-last drop-tail-8'
expect 'a pattern' 0
precfuzz encode 'matmul_out_f32_add x=bf16[8,8] y=bf16[8,8] bias=bf16[8]' -o script
add agree script 'reference:forward matmul_out_f32_add eager~aot_eager x=bf16,y=bf16,bias=bf16 agree IMPOSSIBLE'
expect 'a pair' 0
add promise script 'reference:forward matmul_out_f32_add aot_* x=bf16,y=bf16,bias=bf16 graph IMPOSSIBLE'
expect 'the promise of a graph' 0
run regress ours
expect 'all of them' 0 "prints '^OK +tail +fault:M13\$'" "prints '^OK +agree'" "prints '^OK +promise'" \
  "prints '^3 known findings: OK 3\$'"
# One case that shows two: f16 overflows without the last term, f32 does not.
tail8=5800,5800,5800,5800,5800,5800,5800,5800
precfuzz encode "matmul_out_f32_add x=f16[1,9] y=f16[9,1] bias=f16[1] x.bits=$tail8,6000 y.bits=$tail8,dc00" -o two
mkdir both
: >both/known.txt
both() { run regress --add "$1" --known both --reason 'it is planted' --signature "fault:M13 * * x=f16,* contract $1" two; }
both IMPOSSIBLE
run regress both
expect 'what else a case shows' 1 "prints '^CHANGED +IMPOSSIBLE +fault:M13 .* SPECIAL\$'"
both SPECIAL
run regress both
expect 'unless that is known, too' 0 "prints '^2 known findings: OK 2\$'"
cp -r ours healthy
sed -i 's/fault:M13/reference:forward/' healthy/known.txt
run regress healthy
expect 'the reference engine is healthy' 1 "prints '^FIXED +tail'" "prints 'OK 2, FIXED 1\$'"
sed 's/drop-last drop-tail-8/daz/' ours/known.txt >healthy/known.txt
run regress healthy
expect 'another model' 1 "prints '^CHANGED +tail +by model drop-last: .* eager '"
sed 's/x=f32,y=f32 contract/x=f32,y=f32 torch/' ours/known.txt >healthy/known.txt
run regress healthy
expect 'no model is tried under another rule' 1 "prints '^CHANGED +tail +by model none: '"

# --- what is no list, or no case ------------------------------------------------------------------

refused() # NAME TEXT [SED-SCRIPT-OF-THE-LIST]
{
  [ $# = 2 ] || sed "$3" ours/known.txt >bad/known.txt
  run regress bad
  expect "$1" 2 "says \"$2\"" '[ ! -s out ]'
  run check -q --known bad tail
  expect "$1, under check" 2 "says \"$2\""
}
rm -rf bad
cp -r ours bad
refused 'a wrong key' "precfuzz: --known: bad/known.txt:3: 'modell' is none of" 's/^model /modell /'
refused 'a wrong verdict' "bad/known.txt:1: signature: 'OK' is no verdict" 's/IMPOSSIBLE/OK/'
refused 'an entry without a case' 'bad/known.txt:1: [gone] has no case: gone.case: No such file' 's/^\[tail/[gone/'
cp ours/known.txt bad
rm bad/agree.case
refused 'a case that is gone' '[agree] has no case: agree.case'
cp ours/*.case bad
cp tail bad/stray.case
refused 'a case without an entry' 'bad/stray.case: no entry of known.txt is called so'
mv bad/stray.case bad/tail.txt
refused 'any file without an entry' 'bad/tail.txt: no entry'
mv bad/tail.txt bad/tail.casE
refused 'or of another ending' 'bad/tail.casE: no entry'
rm bad/tail.casE bad/known.txt
refused 'no list' 'bad/known.txt: No such file'
run regress ''
expect 'no folder' 2

wrong() # NAME TEXT
{
  run regress bad
  expect "$1" 2 "prints '^WRONG +tail'" "says \"$2\"" "prints 'OK 2, WRONG 1\$'"
}
cp ours/* bad
cp tail bad/tail.case
wrong 'a case of another form' 'precfuzz: bad/tail.case: offset 0: '
head -c 40 ours/tail.case >bad/tail.case
wrong 'a case that is cut off' 'precfuzz: bad/tail.case: offset '
cp ours/agree.case bad/tail.case
wrong 'a case of another graph' 'bad/tail.case: a case of matmul_out_f32_add x=bf16,y=bf16,bias=bf16, but the signature is of matmul x=f32,y=f32'
sed 's/^\(signature = \)fault:M13/\1.\/nothing.so/' ours/known.txt >bad/known.txt
wrong 'even where the engine is not there' 'bad/tail.case: a case of matmul_out_f32_add'
cp ours/tail.case bad
sed 's/fault:M13/fault:M99/' ours/known.txt >bad/known.txt
wrong 'an engine that does not exist' "tail: no engine is called 'fault:M99'"
sed 's/fault:M13/reference/' ours/known.txt >bad/known.txt
wrong 'a family of engines' "tail: no engine is called 'reference'"
sed 's/^\(signature = fault:M13 matmul \)\*/\1eagre/' ours/known.txt >bad/known.txt
wrong 'a strategy that does not exist' "tail: no strategy is called 'eagre'"
sed 's/^\(signature = fault:M13 matmul \)\*/\1eagre*/' ours/known.txt >bad/known.txt
wrong 'a pattern that fits none' '[tail]: no result is of strategy eagre*'

# --- adding ---------------------------------------------------------------------------------------

tail='fault:M13 matmul * x=f32,y=f32 contract IMPOSSIBLE'
cp -r ours before
unchanged='diff -r before ours'
add more tail 'fault:M12 matmul * x=f32,y=f32 contract IMPOSSIBLE'
expect 'a finding that the case does not show' 2 "says 'tail does not show fault:M12'" "$unchanged"
add more tail "$tail" --model daz
expect 'a model that does not explain it' 2 "says 'by model drop-last'" "$unchanged"
add more script "$tail"
expect 'a case of another graph' 2 "says 'script: a case of matmul_out_f32_add'" "$unchanged"
add tail tail "$tail"
expect 'a name that is taken' 2 "says '[tail] is there already: ours/known.txt:1'" "$unchanged"
add ../tail tail "$tail"
expect 'a name that is a path' 2 "says 'is no name of a case'" "$unchanged"
add more nowhere "$tail"
expect 'no case' 2 "says 'nowhere: No such file'" "$unchanged"
add more tail "$tail" --reported $'a\nmodel = b'
expect 'an option of two lines' 2 "says '--reported: one line'" "$unchanged"
add more tail "$tail" --reported ' '
expect 'an empty option' 2 "says '--reported: empty'" "$unchanged"
add more tail 'matmul IMPOSSIBLE'
expect 'no signature' 2 "says 'ENGINE GRAPH STRATEGY'" "$unchanged"
for arguments in '--add more tail' '--add more --signature s tail' '--add more --signature s --reason r' \
  '--signature s' '--reported r ours' '--json --add more --signature s --reason r tail' 'ours more' \
  '--known ours ours' '--add more --signature s --reason r -'; do
  # shellcheck disable=SC2086  # words
  run regress $arguments
  expect "refused: $arguments" 2 '[ -s err ]' "$unchanged"
done
tell $'3.7.2 avx2 brg\1 wrong'
add more tail './told.so matmul eager x=f32,y=f32 contract IMPOSSIBLE'
expect 'a kernel that the list cannot hold' 2 "says 'control character 0x01'" "$unchanged"
mkdir long
printf '# no end' >long/known.txt
run regress --add long --known long --signature "$tail" --reason "$(printf 'word %s ' {1..60})" tail
expect 'a long reason, and a list without an end' 0 '[ "$(head -n 3 long/known.txt)" = "# no end

[long]" ]' '[ "$(awk "length > 100" long/known.txt | wc -l)" = 0 ]' '[ "$(wc -l <long/known.txt)" -gt 7 ]' \
  'precfuzz check -e fault:M13 --known long tail | grep -qE "^    known     long: word 1 .* word 60\$"'
printf '# %s\n' {1..400} >>ours/known.txt
cp ours/known.txt before
status=0
(trap '' XFSZ; ulimit -f 1; exec "$program" regress --add more --known ours --reason x \
  --signature "$tail" tail) >out 2>err || status=$?
expect 'a list that cannot be written takes the case back' 3 "says 'ours/known.txt: cannot be written'" \
  "$unchanged"
add more tail "$tail" --reported 'nowhere'
expect 'comments stay' 0 'grep -qx "# 400" ours/known.txt' '[ "$(tail -n 5 ours/known.txt | head -n 2)" = "
[more]" ]'
run regress --known ours
expect 'what was added is there' 0 "prints '^4 known findings: OK 4\$'"

# --- no end of a run ------------------------------------------------------------------------------

tell '3.7.2 avx2 brg:1 dies'
: >list/known.txt
rm list/*.case
run regress --add dies --known list --reason 'it was told to' \
  --signature './told.so matmul eager x=f32,y=f32 contract DIED' tail
expect 'one that dies' 0 '! grep -q ^kernel list/known.txt'
run regress list
expect 'dies again' 0 "prints '^OK +dies'"
tell '3.7.2 avx2 brg:1 drifts'
run regress --add drifts --known list --reason 'it was told to' \
  --signature './told.so matmul eager x=f32,y=f32 contract UNREPEATABLE' tail
run regress list
expect 'one that is never the same' 1 "prints '^OK +drifts'" "prints '^CHANGED +dies .* IMPOSSIBLE'"
tell '3.7.2 avx2 brg:1 dies'
run check -e ./told.so --isolate -s eager --known list tail
expect 'check goes on' 0 "prints '^DIED '" "prints '^    known     dies: it was told to\$'" "prints '0 findings, 1 known'"
run explain -e fault:M13 --known ours tail
expect 'explain, too' 0 "prints '^    known     tail: it is planted\$'" "prints '0 findings'"
some=(-n 400 -e fault:M13 --values integer,normal)
run random "${some[@]}" --known none -o found --dtype f32 --graph matmul --max-findings 100
expect 'random: findings' 1 "prints ' [1-9][0-9]* findings: '"
sed 's/x=f32,y=f32/*/; /^model/d' ours/known.txt >healthy/known.txt
cp ours/*.case healthy
run random "${some[@]}" --known healthy -o not_found --dtype f32 --graph matmul
expect 'random: known ones' 0 "prints ' 0 findings, [1-9][0-9]* known: '" '[ ! -e not_found ]'
run random "${some[@]}" --known healthy -o found --dtype f32,bf16 --graph matmul,linear
expect 'random: others count' 1 '! grep -q "^fault:M13 matmul [a-z_]* .* IMPOSSIBLE" out' \
  "prints '^fault:M13 linear .* IMPOSSIBLE'"

target() # VARIABLE=VALUE...: the fuzz target on the case
{
  status=0
  { env "$@" "$root/build/replay/fuzz_matmul" tail >out 2>err; } 2>/dev/null || status=$?
}
target PRECFUZZ_ENGINES=fault:M13
expect 'a fuzz target ends at a finding' 134 "says 'ASSERTION FAILED: precfuzz: fault:M13 matmul'"
target PRECFUZZ_ENGINES=fault:M13 PRECFUZZ_KNOWN=ours
expect 'but not at a known one' 0 "prints '^ok tail'" '[ ! -s err ]'
target PRECFUZZ_ENGINES=fault:M13 PRECFUZZ_KNOWN=none
expect 'and none are none' 134
mkdir others
: >others/known.txt
target PRECFUZZ_ENGINES=fault:M13 PRECFUZZ_KNOWN=others:ours
expect 'nor at one of another list' 0 "prints '^ok tail'"
target PRECFUZZ_KNOWN=others::ours
expect 'a list without a name' 2 "says 'fuzz_matmul: /known.txt'"
target PRECFUZZ_ENGINES=fault:M13 PRECFUZZ_KNOWN=ours PRECFUZZ_RULE=ulp:0
expect 'nor do known ones hide others' 134 "says 'x=f32,y=f32 ulp:0 IMPOSSIBLE'"
cp tail bad/tail.txt
target PRECFUZZ_KNOWN=bad
expect 'a list that is wrong' 2 "says 'fuzz_matmul: bad/tail.txt: no entry'"

# --- several lists --------------------------------------------------------------------------------

run regress --add another --known others:ours --reason x --signature 'fault:M13 matmul eager x=f32,y=f32 contract IMPOSSIBLE' tail
expect 'the first of several lists is added to' 0 "prints '^others/another.case\$'" \
  '[ -e others/another.case ]' '! grep -q another ours/known.txt'
run regress --known ours:others
expect 'all are replayed' 0 "prints '^OK +another'" "prints '^5 known findings: OK 5\$'"
run check -q -e fault:M13 --known others:ours tail
expect 'all are known' 0 "prints '0 findings, 4 known'"
cp tail others/stray.case
run regress ours:others
expect 'each is checked' 2 "says 'others/stray.case: no entry of known.txt'"

# --- where they are -------------------------------------------------------------------------------

mkdir -p usr/bin usr/share/precfuzz
cp "$program" usr/bin/precfuzz
status=0
usr/bin/precfuzz regress >out 2>err || status=$?
expect 'none came with the program' 2 "says 'no folder of known findings'"
status=0
usr/bin/precfuzz check -q -e fault:M13 tail >out 2>err || status=$?
expect 'then all findings count' 1
cp -r ours usr/share/precfuzz/regressions
status=0
usr/bin/precfuzz check -q -e fault:M13 tail >out 2>err || status=$?
expect 'beside the program' 0 "prints '0 findings, 4 known'"
(cd usr/bin && ./precfuzz regress) >out 2>err
status=$?
expect 'and replayed' 0 "prints '^4 known findings: OK 4\$'"
echo '[' >>usr/share/precfuzz/regressions/known.txt
status=0
usr/bin/precfuzz check -q tail >out 2>err || status=$?
expect 'and said to be wrong' 2 "says '/known.txt:'" "says 'usr/share/precfuzz/regressions'"

exit $failed
