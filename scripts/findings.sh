#!/bin/bash
# Groups what aborted by signature.
#
#   findings.sh TARGET FOLDER
#
# Runs every file of FOLDER/crashes through the target's replay program under the environment's
# PRECFUZZ_* settings, prints each signature with the number of its files and the smallest one, and
# writes that one's report to FOLDER/findings.txt.  Exit status: 0 no finding, 1 findings.
set -euo pipefail
cd "$(dirname "$0")/.."

replay=build/replay/$1 folder=$2 report=$2/findings.txt
list=$folder/tmp/signatures one=$folder/tmp/finding

# 2>/dev/null around it: the shell tells of each abort.
run() # file
{
  { timeout 30 "$replay" "$1" </dev/null >"$one" 2>&1; } 2>/dev/null
}

# A line for each file that aborts: signature, size, file.  One from an earlier run that passes has
# been mended or allowed since; one of this run (after FOLDER/begin) should have aborted again.
signatures()
{
  local file status signature
  for file in "$folder"/crashes/*; do
    [ -f "$file" ] || continue
    status=0
    run "$file" || status=$?
    signature=$(sed -n 's/^ASSERTION FAILED: precfuzz: //p' "$one" | head -n 1)
    case $status,${file##*/} in
      0,slow-* | 0,timeout-*) continue ;;  # the machine was busy
      0,*) [ "$file" -nt "$folder/begin" ] || continue
           signature='(does not abort when run again)' ;;
      124,*) signature='(takes more than 30 s)' ;;
      *) signature=${signature:-"(ends with status $status)"} ;;
    esac
    printf '%s\t%d\t%s\n' "$signature" "$(stat -c %s "$file")" "$file"
  done | sort -t $'\t' -k 1,1 -k 2,2n -k 3,3
}

# A line for each signature: how many files, signature, smallest file.
groups()
{
  awk -F '\t' '
    $1 != last { if (n) print n "\t" last "\t" file; n = 0; last = $1; file = $3 }
    { n++ }
    END { if (n) print n "\t" last "\t" file }' "$list"
}

mkdir -p "$folder/tmp"
signatures >"$list"
found=$(groups | wc -l)
printf 'findings: %d\n' "$found"
: >"$report"
shown=20
while IFS=$'\t' read -r count signature file; do
  run "$file" || true
  sed "s|^\( *reproduce \)\(.*\)FILE\$|\1build/\2$file|" "$one" >>"$report"
  printf '    file      %s, the smallest of %d\n\n' "$file" "$count" >>"$report"
  [ $((shown--)) -gt 0 ] || continue
  printf '  %s\n    %d files, the smallest %s\n' "$signature" "$count" "$file"
done < <(groups)
[ $shown -ge 0 ] || printf '  ... and %d more\n' $((-shown))
[ "$found" != 0 ] || exit 0
echo "  in full, with the commands that reproduce them: $report"
exit 1
