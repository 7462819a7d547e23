#!/bin/bash
# What CI wants to know in minutes: are the known findings still there, and is there a new one?
#
#   ci.sh [--seconds S] [OPTION...]     300 s; options of continuous.sh
#
# In the folder of --findings: regressions.xml, and of findings bundles/junit.xml and
# bundles/precfuzz.sarif.  Exit status: 0 no; 1 a known finding is gone or has changed, or there is a
# new one; 2 wrong usage; 3 the machinery failed.
# shellcheck disable=SC2154  # set by read_options
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
. scripts/continuous/options.sh
read_options --seconds 300 "$@"

print_junit()
{
  jq -r '"<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    "<testsuite name=\"precfuzz regress\" tests=\"\(.entries | length)\">",
    (.entries[] | "  <testcase classname=\"known findings\" name=\"\(.name)\">" +
      if .outcome == "OK" then ""
      elif .outcome == "SKIPPED" then "<skipped message=\"\(.why // "" | @html)\"/>"
      else "<failure type=\"\(.outcome)\" message=\"\(.why // "" | @html)\"/>" end + "</testcase>"),
    "</testsuite>"'
}

mkdir -p "$findings/bundles" 2>/dev/null && [ -w "$findings" ] ||
  die 2 "--findings: $findings cannot be written"
TMPDIR=$(mktemp -d -p "$findings" .ci-XXXXXX) || die 2 "--findings: $findings cannot be written"
export TMPDIR
child='' stopped=''
trap 'rm -rf "$TMPDIR"' EXIT
trap 'stopped=yes; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' INT TERM HUP

# In a child, so that a signal ends it in order.
run() # command...
{
  local status=0
  "$@" &
  child=$!
  while wait "$child" || status=$?; kill -0 "$child" 2>/dev/null; do status=0; done
  child=''
  return $status
}

regress() { exec build/precfuzz regress --json >"$TMPDIR/regress"; }

worst=0 status=0
run regress || status=$?
[ $status -lt 2 ] || die 3 'precfuzz regress failed'
worst=$status
jq -r '.entries[] | "\(.outcome)  \(.name)  \(.why // "")"' "$TMPDIR/regress"
print_junit <"$TMPDIR/regress" >"$findings/regressions.xml"

status=0
[ -n "$stopped" ] || run scripts/continuous.sh --seconds 300 "$@" || status=$?
[ $status -le $worst ] || worst=$status
# Both files, also where there was nothing to triage.
mkdir "$TMPDIR/none"
build/precfuzz triage "$TMPDIR/none" -o "$findings/bundles" >/dev/null && rm -f "$findings/bundles/files.json"
exit $worst
