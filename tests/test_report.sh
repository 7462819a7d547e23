#!/bin/bash
# precfuzz report from outside: faults that are planted are on the page, each once, with its picture and
# its bundle; names from strangers stay text and run nothing; files, disks and lines that are no good;
# and, where a browser is, how the page looks on a desk and a phone, by day and by night.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2034,SC2317  # conditions are evaluated by expect
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

subject=report
. tests/expect.sh
mkdir tmp
export TMPDIR=$work/tmp
cp "$root/build/plugin/fragile.so" .
engines=fault:M05,fault:M13,fault:M15

number() { local n="$*"; echo "${n// /$'\xe2\x80\xaf'}"; }  # as the page has it, in any locale
page() { grep -qF -- "$1" "${2:-page.html}"; }
count() { grep -oF -- "$1" "${2:-page.html}" | wc -l; }
bundles() { find "$1" -mindepth 2 -name finding.json | wc -l; }
# Each article of the page on a line.
articles() { tr '\n' ' ' <"$1" | grep -o '<article.*</article>' | sed 's/<article/\n<article/g' | grep '^<article'; }
# Is there an article in which all of these stand?
article()
{
  local list=$(articles "$1") word
  for word in "${@:2}"; do list=$(grep -F -- "$word" <<<"$list"); done
  [ -n "$list" ]
}
self_contained() # page: it loads nothing and runs nothing
{
  ! grep -qiE '<(script|img|link|iframe|object|embed|form|base)|@import|<[^>]* (src|on[a-z]+)=|url\([^#]' "$1" &&
    ! sed 's,http://www.w3.org/[0-9a-z/]*,,g' "$1" | grep -qE 'https?://|xlink' && page "default-src 'none'" "$1"
}
links_lead_somewhere() # page
{
  local link
  for link in $(grep -o 'href="[^"]*"' "$1" | sed 's/href="//; s/"$//' | grep -v '^#'); do
    link=$(printf '%b' "${link//%/\\x}")
    [ -e "$(dirname "$1")/$link" ] || { echo "nothing at $link"; return 1; }
  done
}
ids_are_unique() { [ -z "$(grep -oE " id=[\"'][^\"']*" "$1" | tr -d "\"'" | sort | uniq -d)" ]; }
tidy() { [ -z "$(ls -A tmp)" ] && [ -z "$(find . -name '.precfuzz-*.tmp')" ]; }

# --- faults that are known ------------------------------------------------------------------------

mkdir cases
encode() { precfuzz encode --form archive "$2" -o "cases/$1.case"; }
encode tail 'matmul x=f32[3,12] y=f32[12,4] x.values=normal:1 y.values=normal:2'
encode rounding 'matmul_add x=bf16[4,33] y=bf16[33,4] bias=bf16[4] x.values=normal:3 y.values=normal:4 bias.values=normal:5'
encode column 'matmul x=f32[2,5] y=f32[5,3]'
cp cases/tail.case cases/crash-again
precfuzz triage cases -o made --engine $engines --time-limit 5 >out 2>&1
made=$(bundles made)

run made -o page.html
expect 'a page of bundles' 0 '[ ! -s err ]' '[ $made -ge 3 ]' '[ $(articles page.html | wc -l) = $made ]' \
  '[ $(articles page.html | grep -c "<svg") = $made ]' '[ $(count ">bundle</a>") = $made ]' \
  '(for b in made/*/; do [ $(count "href=\"${b%/}/\"" <<<"$(sed "s/%3D/=/g" page.html)") = 1 ] || exit; done)' \
  'links_lead_somewhere page.html' 'ids_are_unique page.html' 'self_contained page.html' tidy
expect 'each finding is there once' 0 \
  '(for s in made/*/finding.json; do [ "$(articles page.html | grep -cF "<dt>signature<dd><code>$(jq -r .signature "$s")</code>")" = 1 ] || exit; done)' \
  'page "$made findings in"' '(for e in M05 M13 M15; do article page.html "<code>fault:$e</code>:" || exit; done)'
expect 'the worst is marked' 0 '[ $(articles page.html | grep -c "the worst") = $(articles page.html | grep -cE "IMPOSSIBLE|SPECIAL") ]' \
  'article page.html M13 "leaves out the last K % 8 terms"'
expect 'engines, processor, verdicts' 0 'page "<dt>CPU<dd>"' 'page "fault:M13</code><td>"' 'page ">GUARD<small class=\"soft\">it wrote outside its output</small>"' \
  'page "glibc"' 'page "precfuzz 0.1.0"'
expect 'the heat map' 0 'page "by engine, dtype and strategy"' 'tr "\n" " " <page.html | grep -q "<code>fault:M13</code><th scope=\"row\"><code>f32</code><td style=\"background:rgb(var(--heat)/0.62)\">1 of 1"'
expect 'plots' 0 'page "Share of the enclosure used by"' 'page "Difference between strategies against K"' '[ $(count "<svg") -ge $((made + 3)) ]'
run made -o made/report.html
run made -o made/report.html
expect 'a page in the folder itself' 0 '[ $(articles made/report.html | wc -l) = $made ]' 'links_lead_somewhere made/report.html'
rm made/report.html

run cases -o cases.html --engine $engines,reference:forward
expect 'a page of cases' 0 '[ $(articles cases.html | wc -l) -ge 3 ]' 'links_lead_somewhere cases.html' 'self_contained cases.html' \
  '[ $(articles cases.html | grep -o "<dt>signature<dd><code>[^<]*" | sort | uniq -d | wc -l) = 0 ]' \
  'article cases.html M13 "2 show it"' 'article cases.html M15 "href=\"cases/column.case\""' 'page "4</b><span>cases looked at" cases.html'
run cases -o cases/page --engine fault:M13
run cases -o cases/page --engine fault:M13
expect 'a page that could be a case' 0 'page "4</b><span>cases looked at" cases/page'
rm cases/page
run "$root/corpus/seeds" -o seeds.html --engine reference:forward,reference:pairwise
expect 'a page without a finding' 0 'page "No finding in" seeds.html' '! page "<article" seeds.html' \
  'page "$(ls "$root/corpus/seeds" | wc -l)</b><span>cases looked at" seeds.html' 'page ">reference:pairwise</code></h3><svg" seeds.html'
mkdir empty
run empty -o -
cp out empty.html
expect 'an empty folder' 0 'page "No finding in" empty.html' 'page "No case was judged" empty.html' 'page "</html>" empty.html'

# --- names from strangers -------------------------------------------------------------------------

evil="evil<img src=x onerror=alert(1)>&\"' \$(touch pwned) \`touch pwned\`"
mkdir "$evil" "$evil/b"
cp cases/tail.case "$evil/crash-<script>alert(2)<\\script>"
printf 'matmul x=f32[1,9] y=f33[9,1]\n' >"$evil/no<code><script>.case"
cp -r "$(dirname "$(ls made/*M13*/finding.json | head -n 1)")/." "$evil/b"
hostile() # engine
{
  jq --arg e "$1" '.engine = $e | .signature = "</title></svg><script>alert(3)</script>" | .at = "<b>" | .message = "`touch pwned`"
    | .result.strategy = "<i>" | .case = "</pre><script>" | .machine.cpu = "<script>"' made/*M13*/finding.json | jq -s '.[0]' >"$evil/b/finding.json"
}
for engine in "exec:touch pwned" "./fragile.so:dies" "\$(touch pwned)/<script>"; do
  hostile "$engine"
  run "$evil" -o evil.html --engine fault:M13
  expect "names are text, engine $engine" 2 'self_contained evil.html' 'links_lead_somewhere evil.html' '[ ! -e pwned ]' \
    'article evil.html "is a program of its own: --engine lets it run" "<svg"' 'page "no&lt;code&gt;&lt;script&gt;.case" evil.html'
done
jq -n '{time: 1, executions: 5, rate: 1, coverage: 1, corpus: 1, findings: 0, shares: [{engine: "<script>\u0007`touch pwned`", dtype: "\u0027+system(1)+\u0027", share: 0.5}]} | ., (.time = 61 | .executions = 9)' -c >"$evil/status.jsonl"
run "$evil" -o evil.html --engine fault:M13
expect 'names in a status' 2 'self_contained evil.html' '[ ! -e pwned ]' 'page "Largest share of the enclosure used, over time" evil.html'

# --- over time --------------------------------------------------------------------------------------

status_line() { jq -nc --argjson t "$1" '{time: (1790000000 + 60 * $t), executions: (50000 * $t), rate: 800, coverage: 1200, corpus: 70, findings: 1, shares: [{engine: "onednn", dtype: "bf16", share: (0.9 - 0.5 / ($t + 1))}, {engine: "openblas", dtype: "f32", share: 0.4}]}'; }
for t in $(seq 0 20); do status_line "$t"; done >made/status.jsonl
run made -o time.html
expect 'over time' 0 'page "Executions over time" time.html' 'page "Largest share of the enclosure used, over time" time.html' \
  'page "onednn, bf16" time.html' 'page "<b>$(number 1 000 000)</b>" time.html'
printf '{"time": 1}\nno json\n' >>made/status.jsonl
status_line 21 >>made/status.jsonl
printf '{"time": 179' >>made/status.jsonl
run made -o time.html
expect 'lines of a status that are no good' 2 "says 'made/status.jsonl: line 22: is no status'" "says 'made/status.jsonl: line 23: '" '[ $(wc -l <err) = 2 ]' \
  'page "made/status.jsonl: line 23" time.html' 'page "<b>$(number 1 050 000)</b>" time.html' '[ $(articles time.html | wc -l) = $made ]'
for t in $(seq 0 20); do status_line "$t"; done >made/status.jsonl

# --- files that are no good -----------------------------------------------------------------------

mkdir -p bad/broken bad/sub
head -c 20 cases/tail.case >bad/truncated.case
: >bad/empty.case
truncate -s 65M bad/crash-huge
echo '{"name": 1}' >bad/broken/finding.json
cp cases/tail.case bad/broken/minimized.case
cp cases/tail.case bad/sub/fine.case
echo 'no case' >bad/notes.md
ln -s nowhere bad/crash-link
run bad -o bad.html --engine fault:M13
expect 'files that are no good' 2 "says 'bad/truncated.case: offset '" "says 'bad/empty.case: empty'" "says 'bad/crash-huge: larger than 64 MiB'" \
  "says 'bad/broken/finding.json: tells of no finding'" "says 'bad/crash-link: No such file'" \
  '(for f in truncated.case empty.case crash-huge broken/finding.json crash-link; do page "<code>bad/$f</code>" bad.html || exit; done)' \
  'article bad.html "2 show it"' 'page "1 other files" bad.html'
run nowhere -o bad.html
expect 'no folder' 2 "says 'precfuzz: nowhere: No such file'" 'page "bad/truncated.case" bad.html'
run cases/tail.case -o bad.html
expect 'a file in its place' 2 "says 'precfuzz: cases/tail.case: no folder'"
run made -o bad.html --engine fault:M99
expect 'no engine' 2 'page "bad/truncated.case" bad.html' "says \"no engine is called 'fault:M99'\"" '[ $(wc -l <err) = 1 ]'
for arguments in '' 'made cases' 'made -j 0' 'made --total-limit x'; do
  # shellcheck disable=SC2086  # words
  run $arguments
  expect "refused: $arguments" 2 '[ -s err ]' '[ ! -e report.html ]'
done

# --- what is missing, and what takes long -----------------------------------------------------------

mkdir bin
for tool in sh env; do ln -s "$(command -v $tool)" bin; done
status=0
PATH=$work/bin "$program" report made -o none.html >out 2>err || status=$?
expect 'no gnuplot' 3 "says 'plots are missing: gnuplot is not installed'" '[ $(articles none.html | wc -l) = $made ]' 'page "it could not be drawn" none.html'
cp page.html old.html
(trap '' XFSZ; ulimit -f 8; "$program" report cases -o old.html --engine fault:M13 2>&1 >/dev/null) | cat >err
status=${PIPESTATUS[0]}
expect 'a full disk leaves the page that was there' 3 'cmp page.html old.html' tidy
mkdir slow
for k in 12 13 14 15; do precfuzz encode "matmul x=f32[3,$k] y=f32[$k,4]" -o slow/$k.case; done
run slow -o slow.html --engine ./fragile.so:hangs --timeout 1 --total-limit 2 -j 1
expect 'a limit' 0 'page "Not looked at: <code>slow/15.case" slow.html' tidy
{ timeout --foreground -s INT 2 "$program" report slow -o slow.html --engine ./fragile.so:hangs --timeout 1 -j 1 >out 2>err; } 2>/dev/null
status=0
expect 'Ctrl-C' 0 'page "Not looked at: <code>slow/15.case" slow.html' tidy
run cases -o dies.html --engine ./fragile.so:aborts
expect 'an engine that dies' 0 'article dies.html DIED "No picture: it left no numbers"' tidy

# --- in a browser -----------------------------------------------------------------------------------

look() # page width scheme
{
  nice "$root/scripts/page_shot.sh" "$1" "$2" "$3" shot.png >out 2>err
  status=$?
}
if look empty.html 390 light; [ $status = 4 ]; then
  echo 'SKIPPED how the page looks: no Chromium'
  exit $failed
fi
run made -o page.html
for width in 1440 390; do
  for scheme in light dark; do
    look page.html $width $scheme
    expect "$width pixels, $scheme" 0 'jq -e ".width <= .window and .wide == []" out' 'jq -e ".empty == [] and .flat == [] and .unpainted == 0" out' \
      'jq -e ".ids == [] and .broken == [] and .loaded == []" out' 'jq -e ".svgs >= $made" out' '[ $(stat -c %s shot.png) -gt 50000 ]' \
      'jq -e "(.paper | sub(\"rgb.(?<r>[0-9]+).*\"; \"\\(.r)\") | tonumber < 100) == ('"\$([ $scheme = dark ] && echo true || echo false)"')" out'
  done
done
for page in evil.html bad.html seeds.html; do
  look $page 390 light
  expect "$page on a phone" 0 'jq -e ".width <= .window and .wide == [] and .empty == [] and .loaded == []" out'
done

exit $failed
