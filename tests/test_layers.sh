#!/bin/bash
# Includes point one way; the library neither ends the process nor reads its surroundings.
#
# layers.awk knows the rules.  It must find nothing in the tree, and each violation that is planted
# in a copy of it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

violations() # root
{
  (cd "$1" && find src oracle fuzz -name '*.[ch]' | LC_ALL=C sort |
    xargs awk -v order="$OLDPWD/tests/layers.txt" -f "$OLDPWD/tests/layers.awk")
}

plant() # file line expected-violation
{
  local expected seen
  rm -rf "$copy/tree"
  mkdir "$copy/tree"
  cp -r src oracle fuzz "$copy/tree"
  printf '\n%s\n' "$2" >>"$copy/tree/$1"
  expected="$1:$(wc -l <"$copy/tree/$1"): $3"
  seen=$(violations "$copy/tree" | grep -vxF "${tree:-none}")
  if [ "$seen" = "$expected" ]; then
    echo "ok seen: $expected"
  else
    printf 'not ok expected %s\n       seen %s\n' "$expected" "$seen"
  fi
}

tree=$(violations .)
if [ -z "$tree" ]; then echo 'ok includes point one way'; else
  printf 'not ok includes point one way\n%s\n' "$tree"
fi
plant src/format.h '#include "case.h"' 'case.h comes later'
plant src/row_print.c '#include "engine.h"' 'engine.h comes later'
plant src/reference.c '#include "enclosure.h"' 'enclosure.h comes later'
plant src/faults/tails.c '#include "interpret.h"' 'interpret.h comes later'
plant src/engines/library.c '#include "status.h"' 'status.h comes later'
plant src/check.c '#include "mpfr_oracle.h"' "mpfr_oracle.h has no place in the library's order"
plant src/report.c '#include "harness.h"' "harness.h has no place in the library's order"
plant src/report.c '#include "cli.h"' "cli.h has no place in the library's order"
plant src/format.c '#include <mpfr.h>' 'MPFR outside the oracle'
plant fuzz/harness.c '#include <mpfr.h>' 'MPFR outside the oracle'
plant oracle/mpfr_oracle.c '#include "row.h"' 'the oracle must not see row.h'
plant fuzz/harness.c '#include "cli.h"' 'fuzz/ must not see cli.h'
plant src/set.c '  abort();' 'not for a library: abort('
plant src/set.c '/* why */ exit(1);' 'not for a library: exit('
plant src/remote_child.c '  abort();' 'not for a library: abort('
plant src/remote.c '  _exit(1);' 'not for a library: _exit('
plant src/options.c '  const char *s = getenv("PRECFUZZ_RULE");' 'not for a library: getenv('
plant src/check.c '  fputs("wrong", stderr);' 'not for a library: stderr)'
