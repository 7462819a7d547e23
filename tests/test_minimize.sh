#!/bin/bash
# precfuzz minimize from outside: every form of input, engines that die, hang or are not always wrong,
# files and disks that are no good, and ends before the end.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2034,SC2238,SC2317  # conditions are evaluated by expect; cut is a file
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

subject=minimize
. tests/expect.sh
cp "$root"/build/plugin/{fragile,graphs}.so .

case_of() { sed -n 's/^ *case *//p' out; }
is_archive() { [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' ')" = 8970666361736500a ] || precfuzz show "$1" | grep -q '^form *archive'; }

tail='matmul x=f32[3,4,27](200,1,7)+2 y=f32[3,27,5] x.values=normal:3 y.values=cancel:4 out=(50,7,1)'
least='matmul x=f32\[1,9\] y=f32\[9,1\] x\.bits=(00000000,){8}3f800000 y\.bits=(00000000,){8}3f800000'

# --- forms ----------------------------------------------------------------------------------------

echo "$tail" >text
for form in text archive fuzz safetensors; do
  precfuzz encode --form $form "$tail" -o $form.in
  run --engine fault:M13 $form.in -o $form.out
  expect "$form" 0 "prints '^    case      $least\$'" "prints '^fault:M13 matmul eager x=f32,y=f32 contract IMPOSSIBLE\$'" \
    "prints '^    at        out\$'" '[ ! -s err ]' 'is_archive $form.out' 'cmp $form.out text.out'
done
eval "$(sed -n 's/^ *reproduce //p' out)" >again
expect 'the command that it prints shows it' 0 'grep -q ^IMPOSSIBLE again'
case_of >line
run --engine fault:M13 line -o twice
expect 'and the line that it prints is the same case' 0 'cmp twice text.out' 'prints "[0-9]+ candidates, 0 taken"'
run --engine fault:M13 - -o piped <text
expect 'standard input' 0 'cmp piped text.out'

# What the targets that judge cases leave when they abort.
crash() # target variable=value...
{
  local i
  for i in $(seq 400); do
    printf '%0300d input %d' 0 "$i" | sha512sum | head -c 90 >crash
    { env "${@:2}" "$root/build/replay/$1" crash >/dev/null 2>crash.err; } 2>/dev/null || return 0
  done
  return 1
}
signature() { sed -n 's/^ASSERTION FAILED: precfuzz: //p' crash.err | head -n 1; }
crash fuzz_matmul PRECFUZZ_ENGINES=fault:M33
run --engine fault:M33 crash -o out.case
expect 'a crash of fuzz_matmul' 0 'prints "^$(signature)\$"' 'is_archive out.case'
crash fuzz_agree PRECFUZZ_STRATEGIES=eager,aot_eager
run --rule agree --strategy eager,aot_eager --engine reference:forward crash -o out.case
expect 'a crash of fuzz_agree' 0 'prints " agree IMPOSSIBLE\$"' 'is_archive out.case'
crash fuzz_oracle PRECFUZZ_ENGINES=fault:M16
run --engine fault:M16 crash -o out.case
expect 'a crash of fuzz_oracle' 0 'prints "^$(signature)\$"'

# --- which finding --------------------------------------------------------------------------------

eight=5800,5800,5800,5800,5800,5800,5800,5800
precfuzz encode "matmul_out_f32_add x=f16[1,9] y=f16[9,1] bias=f16[1] x.bits=$eight,6000 y.bits=$eight,dc00" -o two
special='fault:M13 matmul_out_f32_add aot_eager x=f16,y=f16,bias=f16 contract SPECIAL'
run --engine fault:M13 two -o first
expect 'the first of two' 0 'prints "^fault:M13 .* IMPOSSIBLE\$"'
run --engine fault:M13 two -o second --signature "$special"
expect 'the one that is named' 0 'prints "^$special\$"'
run --engine fault:M13 two -o none --signature "${special/SPECIAL/GUARD}"
expect 'one that it does not show' 2 "says 'two: does not show '" '[ ! -e none ]'
run --engine fault:none text -o none
expect 'no finding' 2 "says 'text: shows no finding in 1 try, read as text'" '[ ! -e none ]'
mkdir known
: >known/known.txt
precfuzz regress --add tail --known known --signature 'fault:M13 * * * contract IMPOSSIBLE' --reason planted text.out >/dev/null
run --engine fault:M13 --known known text -o none
expect 'a known finding' 2 "says 'shows only what is known: tail'" '[ ! -e none ]'
# fits no model as it is; the simplest that shows it would fit drop-last
precfuzz encode 'matmul x=f32[2,11] y=f32[11,3] x.values=normal:9' -o unlike
mkdir modelled
: >modelled/known.txt
precfuzz regress --add tail --known modelled --model drop-last --signature 'fault:M13 * * * contract IMPOSSIBLE' \
  --reason planted text.out >/dev/null
run --engine fault:M13 --known modelled unlike -o unlike.out
expect 'one that is not known does not become one that is' 0 \
  'precfuzz check -q --engine fault:M13 --strategy eager --known modelled unlike.out; [ $? = 1 ]' '! prints "drop-last matches"'
run --engine fault:M13 --known none text -o none
expect 'all the same' 0 'cmp none text.out'
rm none

# --- engines that do worse ------------------------------------------------------------------------

precfuzz encode 'matmul x=f32[3,12] y=f32[12,4] x.values=integer:3' -o twelve
run --engine ./fragile.so:aborts twelve -o died
expect 'one that dies' 0 "prints '^./fragile.so:aborts matmul eager x=f32,y=f32 contract DIED\$'" \
  'prints "^    at        it died of signal  .Aborted.\$"' "prints '^    case      matmul x=f32\[2,7\] y=f32\[7,0\]'" \
  "prints '^    shows     20 of 20 tries\$'"
run --engine ./fragile.so:wrong twelve -o wrong
expect 'one that is wrong' 0 "prints '^    case      matmul x=f32\[1,7\] y=f32\[7,1\]'"
run --engine ./fragile.so:sometimes twelve -o sometimes
expect 'one that is wrong at times' 0 "prints '^    case      matmul x=f32\[1,7\] y=f32\[7,1\]'" \
  "prints '^    showed    [1-9][0-9]? of 20 tries\$'" "prints '^    shows     [0-9]+ of 20 tries\$'" \
  "! prints '^    showed    20 '"
begin=$SECONDS
run --engine ./fragile.so:remembers twelve -o remembers
expect 'one whose answers depend on what it was asked before' 0 "prints 'case  *matmul x=f32\[2,7\] '" "prints 'shows  *20 of 20'" \
  'precfuzz check -q --isolate --engine ./fragile.so:remembers remembers; [ $? = 1 ]'
# Of all rows none fits: with one row alone, a case that another fits would do.
precfuzz encode 'matmul_out_f32_add x=bf16[1,12] y=bf16[12,1] bias=f32[1] x.values=equal:3 y.values=equal:3' -o rows
run --engine './graphs.so:rounds;off7' rows -o rows.out
expect 'one that follows whichever row' 0 "prints 'case  *matmul_out_f32_add x=bf16\\[1,7\\] '" "! prints '--strategy'" \
  "precfuzz check -q --engine './graphs.so:rounds;off7' rows.out; [ \$? = 1 ]"
run --engine ./fragile.so:hangs --timeout 1 --time-limit 6 twelve -o hangs
expect 'one that hangs' 0 "prints ' DIED\$'" "prints '^    at        no answer within  s\$'" \
  "prints ': time is up\$'" '[ $((SECONDS - begin)) -lt 20 ]' 'is_archive hangs'

# --- ends before the end --------------------------------------------------------------------------

for signal in INT TERM; do
  rm -f best
  status=0
  # a job in the background would not see SIGINT
  { timeout --foreground -s $signal 4 "$program" minimize --engine ./fragile.so:slow twelve -o best >out 2>err; } 2>/dev/null
  status=$?
  [ $status != 124 ] || status=0
  expect "SIG$signal" 0 "prints ': interrupted\$'" 'is_archive best' \
    'precfuzz check -q --engine ./fragile.so:slow best; [ $? = 1 ]' '[ -z "$(ls | grep -v "^best\$" | grep best)" ]'
done
run --engine ./fragile.so:slow --time-limit 4 twelve -o best
expect 'a time limit' 0 "prints ': time is up\$'" 'precfuzz check -q --engine ./fragile.so:slow best; [ $? = 1 ]'

# The limit of file sizes stands for a disk that is full: from the beginning, and from the middle on.
rm -f best
printf kept >full
: >out
(trap '' XFSZ; ulimit -f 0; "$program" minimize --engine fault:M13 text -o full) 2>&1 | cat >err
status=${PIPESTATUS[0]}
expect 'a full disk' 3 "says 'full: cannot be written: '" "says 'File too large'" '[ "$(cat full)" = kept ]' '[ ! -s out ]'
"$program" minimize --engine fault:M13 text -o /dev/full >out 2>err
status=$?
expect 'a full device' 3 "says '/dev/full: cannot be written: No space left'"
mkfifo out.pipe err.pipe
cat out.pipe >out &
cat err.pipe >err &
(trap '' XFSZ; exec "$program" minimize --engine ./fragile.so:slow twelve -o best) >out.pipe 2>err.pipe &
pid=$!
for _ in $(seq 200); do [ -e best ] && break; sleep 0.05; done
prlimit --pid $pid --fsize=0
wait $pid
status=$?
wait
expect 'a disk that fills up' 3 "says 'best: cannot be written: '" "says 'File too large'" \
  "prints '^    case      matmul x=f32\[1,7\] y=f32\[7,1\]'" 'is_archive best' \
  'precfuzz check -q --engine ./fragile.so:slow best; [ $? = 1 ]'

# --- files that are no good -----------------------------------------------------------------------

refused() # NAME FILE TEXT [OPTION...]
{
  rm -rf none
  run --engine fault:M13 "$2" -o none "${@:4}"
  expect "$1" 2 "says '$3'" '[ ! -s out ]' '[ ! -e none ]'
}
head -c 60 archive.in >cut
refused 'a truncated archive' cut 'precfuzz: cut: offset 12: '
{ head -c 40 archive.in; printf 'X'; tail -c +42 archive.in; } >damaged
refused 'a damaged archive' damaged 'precfuzz: damaged: offset '
echo 'matmul x=f32[1,9] y=f33[9,1]' >typo
refused 'a line with a mistake' typo 'precfuzz: typo: offset '
: >empty
refused 'an empty archive' empty 'precfuzz: empty: ' --form archive
refused 'an empty line' empty 'precfuzz: empty: ' --form text
truncate -s 65M huge
refused 'an empty file, which is a case' empty 'precfuzz: empty: shows no finding in 1 try, read as fuzz'
refused 'a huge file' huge 'precfuzz: huge: larger than 64 MiB'
refused 'no file' nowhere 'precfuzz: nowhere: No such file'
refused 'a folder' known 'precfuzz: known: '
mkdir locked
chmod a-w locked
if [ "$(id -u)" = 0 ]; then
  echo 'ok SKIPPED a folder without rights: root may write there'
else
  run --engine fault:M13 text -o locked/out
  expect 'a folder without rights' 3 "says 'locked/out: cannot be written: '" "says 'Permission denied'" '[ ! -s out ]'
fi
run --engine fault:M13 text -o nowhere/out
expect 'no folder' 3 "says 'nowhere/out: cannot be written: '" "says 'No such file or directory'"
run --engine fault:M13 text -o known
expect 'a folder in its place' 3 "says 'known: cannot be written'" '[ -d known ]'
for arguments in '' text '-o out.case' 'text -o -' 'text text -o out.case' 'text -o out.case --time-limit 0'; do
  # shellcheck disable=SC2086  # words
  run $arguments
  expect "refused: $arguments" 2 '[ -s err ]'
done

exit $failed
