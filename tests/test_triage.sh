#!/bin/bash
# precfuzz triage from outside: groups that are known from the faults planted, bundles, runs again,
# engines that die, hang or are not always wrong, files, folders and disks that are no good, and ends
# before the end.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2034,SC2317  # conditions are evaluated by expect
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

subject=triage
. tests/expect.sh
chmod 755 .
cp "$root/build/plugin/fragile.so" .

bundles() { find "$1" -mindepth 1 -maxdepth 1 -type d ! -name '.*' | wc -l; }
stamps() { find "$1" -type f -exec stat -c '%n %i %y' {} + | sort; }
nothing_unfinished() { [ -z "$(find "$1" -name '*.tmp')" ]; }
whole() # each folder has all of a bundle
{
  local folder
  for folder in "$1"/*/; do
    [ -d "$folder" ] || continue
    for file in report.md minimized.case minimized.txt found.case finding.json; do
      [ -s "$folder$file" ] || return 1
    done
  done
}
facts() { jq -r "$1" "$2"/*/finding.json; }

# --- groups ---------------------------------------------------------------------------------------

# Cases of four faults, as libFuzzer, AFL++ and precfuzz leave them; what is drawn is an archive, one
# of each fault is in the fuzz form.
faults=(M13 M15 M17 M33)
mkdir -p in/libfuzzer in/afl/default/{crashes,queue} in/own
for fault in "${faults[@]}"; do
  "$program" random --seed 5 --engine "fault:$fault" --strategy eager --count 4000 --max-findings 9 \
    -o "drawn-$fault" >/dev/null
  i=0
  for file in "drawn-$fault"/*; do
    case $((i++ % 3)) in
      0) cp "$file" "in/libfuzzer/crash-$fault-$(sha1sum <"$file" | cut -c 1-40)" ;;
      1) cp "$file" "in/afl/default/crashes/id:00000$i,sig:06,src:$fault,op:havoc" ;;
      2) cp "$file" "in/own/$fault-$i.case" ;;
    esac
  done
  "$program" encode --form fuzz "matmul x=f32[2,11] y=f32[11,3](5,1) x.values=normal:$i" -o "in/libfuzzer/crash-$fault-form"
done
echo 'Command line used to find this crash' >in/afl/default/crashes/README.txt
cp in/libfuzzer/crash-M13-form in/afl/default/queue/id:000000,orig
echo 'matmul x=f32[1,2] y=f32[2,2] x.values=integer:1 y.values=integer:2' >in/own/nothing.case
files=$(($(find in -type f | wc -l) - 2))

# What the fuzz target says of each file on each engine: the groups that there must be.
expected()
{
  local file fault
  find in -type f ! -name README.txt ! -name nothing.case ! -path '*queue*' | while IFS= read -r file; do
    for fault in "${faults[@]}"; do
      { PRECFUZZ_ENGINES=fault:$fault "$root/build/replay/fuzz_matmul" "$file" >/dev/null 2>one; } 2>/dev/null
      awk '/^ASSERTION FAILED: precfuzz: / { sub(/^ASSERTION FAILED: precfuzz: /, ""); s = $0 }
           /^    at  / { at = $2 }
           END { if (s) print s " | " at }' one
    done
  done | sort | uniq -c | sed 's/^ *//'
}
got() # output: the groups of its files, by what their bundles say
{
  jq -r '.files[].shows[].bundle' "$1/files.json" | while IFS= read -r bundle; do
    jq -r '.signature + " | " + .at' "$1/$bundle/finding.json"
  done | sort | uniq -c | sed 's/^ *//'
}
engines=$(IFS=,; echo "${faults[*]/#/fault:}")
run in -o made --engine "$engines" --engine fault:none
expected >groups
expect "$files files of ${#faults[@]} faults" 1 '[ $files -ge 30 ]' '[ $(wc -l <groups) -ge 20 ]' 'got made | cmp - groups' \
  'prints "^$files files: $(wc -l <groups) groups, $(wc -l <groups) new, 1 show nothing now, 1 other files passed over\$"' \
  'prints "^shows nothing now: in/own/nothing.case\$"' '[ ! -s err ]' 'whole made' 'nothing_unfinished made' \
  '[ $(bundles made) = $(wc -l <groups) ]' '! grep -q fault:none groups' \
  '[ "$(sed "s/^[0-9]* fault:\([^ ]*\).*/\1/" groups | sort -u | xargs)" = "${faults[*]}" ]'
every_file_in_a_group_of_its_fault()
{
  local fault
  for fault in "${faults[@]}"; do
    jq -e --arg f "$fault" '[.files | to_entries[] | select(.key | test("[-:/]" + $f + "[-,]"))
      | any(.value.shows[]; .bundle | startswith("fault_" + $f))] | length >= 8 and all' made/files.json || return 1
  done
}
expect "each file is in a group of its fault" 1 every_file_in_a_group_of_its_fault

# --- bundles --------------------------------------------------------------------------------------

one=$(printf '%s\n' made/fault_M13-matmul-* | head -n 1)
found=$(jq -r --arg b "${one#made/}" '.files | to_entries[] | select(any(.value.shows[]; .bundle == $b)) | .key' made/files.json)
expect 'a bundle' 1 'for f in $found; do cmp "$f" "$one/found.case" && break; done' 'grep -q "^- got: .*(\`-\?0x" "$one/report.md"' \
  'grep -q "^- exact: .*(\`-\?0x" "$one/report.md"' 'grep -q "MXCSR | 0x1f80" "$one/report.md"' 'grep -q "^> out = " "$one/report.md"' \
  'grep -q "^| threads | 1 |" "$one/report.md"' 'grep -q "^| CPU | ." "$one/report.md"' \
  'grep -qF "$(cat "$one/minimized.txt")" "$one/report.md"' 'precfuzz show "$one/minimized.case"' '[ -s "$one/with_numpy.py" ]' '[ -s "$one/with_pytorch.py" ]'
all_commands_show_it()
{
  local folder command
  for folder in made/*/; do
    command=$(jq -r .result.reproduce "$folder/finding.json")
    grep -qF "    $command" "$folder/report.md" || return 1
    (cd "$folder" && eval "$command" >"$work/again"; [ $? = 1 ]) || return 1
    grep -qF "signature $(jq -r .signature "$folder/finding.json")" again || return 1
  done
}
expect 'the command of each bundle shows it' 1 all_commands_show_it
sarif='.version == "2.1.0" and (.runs | length) == 1 and (.runs[0].tool.driver | .name == "precfuzz" and any(.rules[]; .id == "GUARD"))
  and (.runs[0] | [.tool.driver.rules[].id] as $rules | .results | all(.ruleId as $r | any($rules[]; . == $r)))
  and all(.runs[0].results[]; .level == "error" and (.message.text | length > 20) and .suppressions == []
          and (.locations[0].physicalLocation.artifactLocation.uri | test("^fault_.*/minimized.txt$")))'
expect 'SARIF and JUnit of all groups' 1 'jq -e "$sarif" made/precfuzz.sarif' '[ $(jq ".runs[0].results | length" made/precfuzz.sarif) = $(bundles made) ]' \
  '[ $(grep -c "<failure " made/junit.xml) = $(bundles made) ]' 'grep -q "tests=\"$(bundles made)\" failures=\"$(bundles made)\"" made/junit.xml' \
  '! command -v xmllint || xmllint --noout made/junit.xml'

# --- again ----------------------------------------------------------------------------------------

stamps made >before
groups=$(bundles made)
run in -o made --engine "$engines" --engine fault:none
stamps made >after
expect 'another run changes nothing' 1 'cmp before after' "prints '^[0-9]+ files: $groups groups, 0 new'"
"$program" encode 'matmul_add x=f16[1,9] y=f8_e5m2[9,2] bias=f16[2] x.values=equal:1 y.values=equal:2' -o in/own/new.case
run in -o made --engine "$engines"
stamps made >after
expect 'a new file adds its group' 1 "prints '^[0-9]+ files: $((groups + 1)) groups, 1 new'" '[ $(bundles made) = $((groups + 1)) ]' \
  '! comm -23 <(grep made/fault before) after | grep .' 'whole made' '[ $(grep -c "<failure " made/junit.xml) = $((groups + 1)) ]'
run in/own/new.case -o made --engine "$engines"
stamps made >before
expect 'a run over less keeps what there is' 1 'cmp before after' "prints '^1 file: 1 group, 0 new\$'"
run made -o made --engine fault:M13
expect 'its own bundles are no crash files' 0 "prints '^0 files: 0 groups, 0 new'"
printf '# faults\nfault:M13\nfault:M16\n' >list
run in/libfuzzer/crash-M13-form -o listed --engines list
expect 'engines from a file' 1 "prints '^1 file: 2 groups'" '[ "$(facts .engine listed | xargs)" = "fault:M13 fault:M16" ]'
PRECFUZZ_ENGINES=fault:M15 run in/libfuzzer/crash-M13-form -o listed2 --engines list
expect 'in the place of the variable' 1 '[ "$(facts .engine listed2 | xargs)" = "fault:M13 fault:M16" ]'
run --rule agree --strategy eager,aot_eager --engine reference:forward "$root/corpus/seeds/00-user-script" -o agree
expect 'another rule' 1 "prints ' agree IMPOSSIBLE\$'" 'whole agree'
run -j 1 in -o alone --engine "$engines"
expect 'bundles are the same, however many at a time' 1 'diff -r made alone'

# --- known findings -------------------------------------------------------------------------------

mkdir known
: >known/known.txt
run in/libfuzzer/crash-M13-form in/own/M15-3.case -o accepted --engine fault:M13,fault:M15 --known known --accept 'planted, as we know'
n=$(grep -c '^\[' known/known.txt)
expect 'groups become known findings' 1 '[ $n -ge 2 ]' '[ $n = $(bundles accepted) ]' '[ $(ls known/*.case | wc -l) = $n ]' \
  'grep -q "^reason    = planted, as we know\$" known/known.txt' '[ $(grep -c "<skipped message=" accepted/junit.xml) = $n ]' \
  '! grep -q "<failure" accepted/junit.xml' 'jq -e "all(.runs[0].results[]; .suppressions[0].kind == \"external\")" accepted/precfuzz.sarif' 'precfuzz regress known'
run in/libfuzzer/crash-M13-form in/own/M15-3.case -o accepted --engine fault:M13,fault:M15 --known known --accept 'planted, as we know'
expect 'once' 0 "prints '^known finding fault_M1[35].*: in/libfuzzer/crash-M13-form\$'" '[ $(grep -c "^\[" known/known.txt) = $n ]' "prints ', 2 only what is known\$'"
run in/libfuzzer/crash-M13-form -o unaccepted --engine fault:M13 --known none --accept planted
expect 'no folder for them' 2 "says 'no folder of known findings'" '[ $(bundles unaccepted) = 1 ]'
run in/libfuzzer/crash-M13-form -o accepted2 --engine fault:M13 --known known
expect 'what is known is no group' 0 '[ $(bundles accepted2) = 0 ]'

# --- engines that do worse ------------------------------------------------------------------------

precfuzz encode --form archive 'matmul x=f32[3,12] y=f32[12,4] x.values=integer:3' -o twelve.case
run twelve.case -o worse --engine ./fragile.so:aborts,./fragile.so:wrong,./fragile.so:sometimes
expect 'one that dies, one that is wrong, one that is wrong at times' 1 "prints '^./fragile.so:aborts .* DIED\$'" "prints '^./fragile.so:wrong .* IMPOSSIBLE\$'" \
  "prints '^    shows     [1-9][0-9]? of 20 tries\$'" 'ls worse | grep -q "^fragile_so_sometimes.*-sometimes\$"' '[ $(bundles worse) = 3 ]' 'whole worse' \
  'grep -q "^- shows: [0-9]* of 20 tries (of the file that was found: [0-9]* of 20)\$" worse/*sometimes/report.md' \
  'jq -e ".shows.tries == 20" worse/*sometimes/finding.json' 'grep -q "^- how: it died of signal" worse/*DIED*/report.md'
DNNL_MAX_CPU_ISA=AVX2 run twelve.case -o remembering --engine ./fragile.so:remembers
expect 'one whose answers depend on what it was asked before' 1 'whole remembering' '[ "$(jq -r .shows.times remembering/*/finding.json)" = 20 ]' \
  'precfuzz check -q --isolate --engine ./fragile.so:remembers remembering/*/minimized.case; [ $? = 1 ]' 'grep -q "in a new process" remembering/*/report.md'
expect 'what its programs need is in them' 1 'grep -qF "| environment | OMP_NUM_THREADS=1 DNNL_MAX_CPU_ISA=AVX2 |" remembering/*/report.md' \
  'grep -q "^    DNNL_MAX_CPU_ISA=AVX2 precfuzz check " remembering/*/report.md' 'grep -q "^    python3 with_numpy.py\$" remembering/*/report.md' \
  'grep -qF "{\"OMP_NUM_THREADS\": \"1\", \"DNNL_MAX_CPU_ISA\": \"AVX2\", **os.environ}" remembering/*/with_numpy.py'
begin=$SECONDS
run twelve.case -o hung --engine ./fragile.so:hangs --timeout 1 --time-limit 4
expect 'one that hangs' 1 "prints ' DIED\$'" 'whole hung' '[ $(bundles hung) = 1 ]' '[ $((SECONDS - begin)) -lt 40 ]' \
  'grep -q "Time was up" hung/*/report.md' 'jq -e ".finished == false" hung/*/finding.json'

# --- files that are no good -----------------------------------------------------------------------

mkdir -p bad/fine
cp twelve.case bad/fine/crash-twelve
head -c 40 twelve.case >bad/truncated.case
{ head -c 20 twelve.case; printf X; tail -c +22 twelve.case; } >bad/damaged.case
: >bad/empty.case
: >bad/crash-empty
truncate -s 65M bad/crash-huge
echo 'matmul x=f32[1,9] y=f33[9,1]' >bad/text.case
cp bad/damaged.case bad/crash-damaged
ln -s nowhere bad/crash-link
run bad -o from-bad --engine fault:M13
expect 'files that are no good' 2 "says 'precfuzz: bad/truncated.case: offset '" "says 'precfuzz: bad/damaged.case: offset '" "says 'precfuzz: bad/empty.case: empty'" \
  "says 'precfuzz: bad/crash-huge: larger than 64 MiB'" "says 'precfuzz: bad/text.case: offset '" '[ $(wc -l <err) = 5 ]' "prints '^shows nothing now: bad/crash-empty\$'" \
  "prints '^fault:M13 matmul eager x=f32,y=f32 contract IMPOSSIBLE\$'" "prints ' 1 group, 1 new, .*5 could not be read or run'" 'whole from-bad' \
  '[ $(jq "[.files[] | select(.exit_status == 2)] | length" from-bad/files.json) = 5 ]'
run nowhere in/libfuzzer/crash-M13-form -o from-bad --engine fault:M13
expect 'no file' 2 "says 'precfuzz: nowhere: No such file'" "prints '^1 file: 1 group'"
run in/libfuzzer/crash-M13-form -o no-engine --engine fault:M99
expect 'no engine' 2 '[ $(wc -l <err) = 1 ]' '[ ! -s out ]' '[ ! -e no-engine ]'
echo '{"name": 1}' | tee from-bad/*/finding.json >/dev/null
run in/libfuzzer/crash-M15-form -o from-bad --engine fault:M15
expect 'a damaged bundle' 2 "says 'finding.json: no text '" '[ $(grep -c "<failure" from-bad/junit.xml) = 1 ]'

# --- folders and disks that are no good -----------------------------------------------------------

as_nobody=()
[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkdir locked hidden
cp twelve.case hidden
cp "$program" ./program
if "${as_nobody[@]}" ./program --version >/dev/null 2>&1; then
  chmod 755 locked; chmod 0 hidden
  [ "$(id -u)" = 0 ] || chmod a-w locked
  status=0
  "${as_nobody[@]}" ./program triage twelve.case -o locked/made --engine fault:M13 >out 2>err || status=$?
  expect 'no rights to make the output' 3 "says 'precfuzz: locked/made: cannot be made: Permission denied'"
  status=0
  "${as_nobody[@]}" ./program triage twelve.case -o locked --engine fault:M13 >out 2>err || status=$?
  expect 'no rights in the output' 3 "says 'precfuzz: locked: cannot be written: Permission denied'" '[ -z "$(ls locked)" ]'
  mkdir open; chmod 777 open
  status=0
  "${as_nobody[@]}" ./program triage hidden twelve.case -o open --engine fault:M13 >out 2>err || status=$?
  expect 'no rights to read a folder' 2 "says 'precfuzz: hidden: Permission denied'" '[ $(bundles open) = 1 ]' "prints '^1 file: 1 group, 1 new'"
  chmod 755 hidden
else
  echo 'SKIPPED folders without rights: nobody may not run it here'
fi
# The limit of file sizes stands for a disk that is full: for everything, or for what is long.
for blocks in 0 1; do
  rm -rf full
  (trap '' XFSZ; ulimit -f $blocks; "$program" triage twelve.case -o full --engine fault:M13 2>&1 >/dev/null) | cat >err
  status=${PIPESTATUS[0]}
  : >out
  expect "a full disk, $blocks" 3 "says 'cannot be written: '" "says 'File too large'" '[ $(bundles full) = 0 ]' 'nothing_unfinished full'
done
run twelve.case -o full --engine fault:M13
expect 'and room again' 1 'whole full' '[ $(bundles full) = 1 ]'
mkdir small
if mount -t tmpfs -o size=160k tmpfs small 2>/dev/null; then
  run in -o small/made --engine "$engines"
  expect 'a disk that fills up' 3 "says 'No space left'" 'whole small/made' 'nothing_unfinished small/made' '[ $(bundles small/made) -ge 1 ]' \
    "prints 'bundle    small/made/.* could not be made'"
  mount -o remount,size=4m small
  run in -o small/made --engine "$engines"
  expect 'the next run does the others' 1 'diff -r small/made made'
  umount small
else
  echo 'SKIPPED a small disk: no rights to mount one'
fi

# --- ends before the end --------------------------------------------------------------------------

precfuzz encode "matmul x=f32[3,12] y=f32[12,4]" -o slow-12.case
precfuzz encode "linear x=f32[3,12] y=f32[4,12]" -o slow-linear.case
slow=(slow-12.case slow-linear.case -j 2 --engine ./fragile.so:slow)
start()
{
  "$program" triage "${slow[@]}" -o ended >out 2>err &
  pid=$!
  for _ in $(seq 200); do [ -n "$(find ended -name '*.tmp' 2>/dev/null)" ] && break; sleep 0.05; done
}
start
run twelve.case -o ended --engine fault:M13
expect 'two at a time' 3 "says 'precfuzz: ended: another precfuzz triage writes there'"
kill -9 $pid
wait $pid 2>/dev/null
for _ in $(seq 100); do flock -n ended true && break; sleep 0.05; done  # its children end, too
: >out; : >err; status=0
expect 'kill -9 leaves nothing half-written' 0 '[ $(bundles ended) = 0 ]' '[ ! -e ended/junit.xml ]' '! nothing_unfinished ended'
for signal in INT TERM; do
  status=0
  { timeout --foreground -s $signal 3 "$program" triage "${slow[@]}" -o ended >out 2>err; } 2>/dev/null
  status=$?
  [ $status != 124 ] || status=1
  expect "SIG$signal" 1 'nothing_unfinished ended' '[ $(bundles ended) = 0 ]' "prints ' left to the next run\$|not looked at'"
done
run "${slow[@]}" -o ended --total-limit 3
expect 'a limit for everything' 1 'nothing_unfinished ended' '[ $(bundles ended) = 0 ]' "prints ' left to the next run\$|not looked at'"
run "${slow[@]}" -o ended --time-limit 1
expect 'the next run finishes' 1 'nothing_unfinished ended' '[ $(bundles ended) = 2 ]' 'whole ended'

for arguments in '' '-o x' 'twelve.case -j 0' 'twelve.case --time-limit -1' 'twelve.case --engine fault:M13 --engines list' 'twelve.case --form no'; do
  # shellcheck disable=SC2086  # words
  run $arguments
  expect "refused: $arguments" 2 '[ -s err ]'
done

exit $failed
