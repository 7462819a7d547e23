#!/bin/bash
# Bundles of known findings: each entry has one, with programs that need no precfuzz; and what
# scripts/findings_programs.sh says of programs is what they do.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2317  # conditions are evaluated by expect
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

. tests/expect.sh
: >out
: >err
status=0

# --- those that are shipped -------------------------------------------------------------------------

entries() { sed -n 's/^\[\(.*\)\]$/\1/p' "$root/corpus/regressions/known.txt" | sort; }
folders() { find "$root/docs/findings" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort; }
expect 'a bundle for each entry' 0 'diff <(entries) <(folders) >out'
each_has_its_files()
{
  local name file
  for name in $(entries); do
    for file in report.md finding.json minimized.case minimized.txt found.case with_pytorch.py; do
      [ -s "$root/docs/findings/$name/$file" ] || { echo "$name: no $file"; return 1; }
    done
    [ -s "$root/docs/findings/$name/case.c" ] ||
      grep -q "^| \[$name\](.*| none | SHOWS |" "$root/docs/findings/README.md" || { echo "$name: no program"; return 1; }
    grep -q "^| \[$name\](" "$root/docs/findings/README.md" || { echo "$name: not in the table"; return 1; }
  done
}
expect 'with its files, in the table' 0 'each_has_its_files >out'
same_text()
{
  local name
  for name in $(entries); do
    precfuzz show --json "$root/docs/findings/$name/minimized.case" | jq -r .case 2>/dev/null |
      diff -q - "$root/docs/findings/$name/minimized.txt" >out || { echo "$name"; return 1; }
  done
}
expect 'the case as an archive and as text' 0 'same_text >out'

# --- what is said of programs -----------------------------------------------------------------------

bundle() # name verdict got-as-hex: its program is standard input
{
  mkdir -p "bundles/$1"
  printf '{"verdict": "%s", "result": {"worst": {"got": {"hex": "%s"}}, "library": {"version": "none 1"}}}\n' "$2" "$3" \
    >"bundles/$1/finding.json"
  { printf '/* A program.\n   cc -std=gnu11 case.c -o case -lm && ./case */\n'; cat; } >"bundles/$1/case.c"
}
printing() { printf '#include <stdio.h>\nint main(void)\n{\n  fputs("%s", stdout);\n  return 0;\n}\n' "$1"; }
element='element 0: exact 3.015625 (0x1.82p+1)\n'

printing "$element  got 3.03125 (0x1.84p+1)\\n" | bundle shows IMPOSSIBLE 0x1.84p+1
printing "$element  got 3.0625 (0x1.88p+1)\\n" | bundle other IMPOSSIBLE 0x1.84p+1
printing "$element  got 3.015625 (0x1.82p+1)\\n" | bundle right IMPOSSIBLE 0x1.84p+1
printing "${element}  got 3.015625 (0x1.82p+1)\\nelement 3: exact inf (inf)\\n  got -nan (-nan)\\n" | bundle nan SPECIAL nan
printing "wrote outside its output: 1 elements from the first\\n" | bundle outside GUARD ''
printing "$element  got 3.015625 (0x1.82p+1)\\n" | bundle inside GUARD ''
printing "refused: status 2\\n" | bundle refused IMPOSSIBLE 0x1.84p+1
printf '#include <stdlib.h>\nint main(void)\n{\n  abort();\n}\n' | tee >(bundle died DIED '') | bundle dies IMPOSSIBLE 0x1p+0
echo '#include <no_such_library.h>' | bundle absent IMPOSSIBLE 0x1p+0
echo '#include <stdlib.h>
int main(void) { return getenv("DNNL_MAX_CPU_ISA") || getenv("OMP_NUM_THREADS") ? 0 : *(volatile int *)0; }' | bundle environment DIED ''
sleep 0.1

judged() # [name...]
{
  status=0
  BUNDLES=$PWD/bundles PAGE=$PWD/page.md DNNL_MAX_CPU_ISA=AVX2 OMP_NUM_THREADS=7 PYTHON=false \
    "$root/scripts/findings_programs.sh" "$@" >out 2>err || status=$?
}
judged
expect 'what programs do' 1 'prints "^shows +C SHOWS,"' 'prints "^other +C OTHER,"' 'prints "^right +C RIGHT,"' 'prints "^nan +C SHOWS,"' \
  'prints "^outside +C SHOWS,"' 'prints "^inside +C RIGHT,"' 'prints "^refused +C REFUSED,"' 'prints "^died +C SHOWS,"' \
  'prints "^dies +C DIES,"' 'prints "^absent +C not compiled: .*no_such_library"' 'prints "^environment +C SHOWS,"' \
  'prints "^6 of 11 shown without precfuzz\$"' 'grep -q "^| \[shows\](shows/report.md) | none 1 | SHOWS | none | none |\$" page.md' \
  'grep -q "^6 of 11 are shown" page.md'
rm page.md
judged shows nan
expect 'some of them' 0 '[ $(wc -l <out) = 3 ]' '[ ! -e page.md ]'
judged absent
expect 'one that cannot be tried is no failure' 0 'prints "^0 of 1 shown"'
judged right
expect 'one that does not show is' 1 'prints "^0 of 1 shown"'

exit $failed
