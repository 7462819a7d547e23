#!/bin/bash
# Holds a folder of fuzz targets to what ClusterFuzz, OSS-Fuzz and ClusterFuzzLite ask of it.
#
#   cfl_rules.sh ENGINE:SANITIZER FOLDER TARGET...
#
# TARGET... must all be there.  Everything in FOLDER is tried elsewhere, as their machines do.  Numbers
# of calls are those that OSS-Fuzz asks for, less what its runtime brings and Debian's does not.  Prints
# "ok" or "not ok" for each target, and what is wrong.  Exit status 1 where anything is.
# shellcheck disable=SC2317  # functions are called by name
set -uo pipefail
engine=${1%:*} sanitizer=${1#*:} folder=$(realpath "$2")
shift 2
export LC_ALL=C UBSAN_OPTIONS=silence_unsigned_overflow=1
unset OUT SRC WORK "${!PRECFUZZ_@}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$folder" "$work/moved"
bad=0

# --- rules: each says what is wrong, if anything, of $name, which is $program -----------------------

# What runs it has a C library, and that of C++; all else must be in the folder.
is_alone()
{
  local lacking
  lacking=$(ldd "$program" | awk -v folder="$work/moved/" '
    $2 == "=>" && index($3, folder) != 1 &&
      $1 !~ /^lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+)\.so/ { printf " %s", $1 }')
  [ -z "$lacking" ] || echo "needs$lacking"
}

is_named() { [[ $name =~ ^[A-Za-z0-9_-]+$ ]] || echo 'a name has letters, digits, - and _ only'; }

is_instrumented()
{
  local asan msan ubsan counts=no
  read -r asan msan ubsan < <(objdump -d "$program" | awk '
    /call[q ].*<__asan/ { a++ } /call[q ].*<__msan/ { m++ } /call[q ].*<__ubsan/ { u++ }
    END { print a + 0, m + 0, u + 0 }')
  [[ $(objdump -h "$program") != *__llvm_prf_cnts* ]] || counts=yes
  case $sanitizer in
    address)
      [ "$asan" -ge 1000 ] || echo "has $asan calls of ASan: is it built with it?"
      [ "$ubsan" -le 35 ] || echo "has $ubsan calls of UBSan beside ASan" ;;
    undefined)
      [ "$ubsan" -ge 168 ] || echo "has $ubsan calls of UBSan: is it built with it?"
      [ "$asan" = 0 ] || echo "has $asan calls of ASan beside UBSan" ;;
    coverage)
      [ "$asan" = 0 ] && [ "$ubsan" -le 35 ] || echo "has $asan calls of ASan, $ubsan of UBSan" ;;
  esac
  [ "$msan" = 0 ] || echo "has $msan calls of MSan"
  case $sanitizer,$counts in
    coverage,no) echo 'counts no lines' ;;
    address,yes | undefined,yes) echo 'counts lines, too' ;;
  esac
}

# In an empty folder and an empty environment; its output is in $work/out.
run() # argument...
{
  rm -rf "$work/here"
  mkdir "$work/here"
  (cd "$work/here" && exec timeout -k 5 60 env -i PATH="$PATH" LLVM_PROFILE_FILE="$work/profile" \
    UBSAN_OPTIONS="$UBSAN_OPTIONS" "$program" "$@") </dev/null >"$work/out" 2>&1
}

says() { echo "$1:"; tail -n 5 "$work/out" | sed 's/^/    /'; }

is_tidy()
{
  [ -z "$(ls -A "$work/here")" ] || echo "leaves $(ls -A "$work/here") where it runs"
  [ "$(ls -A "$work/moved")" = "$(ls -A "$folder")" ] || echo 'leaves files beside itself'
}

has_seeds()
{
  local zip=$work/moved/${name}_seed_corpus.zip large
  rm -rf "$work/seeds"
  mkdir "$work/seeds"
  unzip -qq -o "$zip" -d "$work/seeds" >"$work/out" 2>&1 || { says 'has no zip of seeds'; return; }
  large=$(find "$work/seeds" -type f -size +"$(option max_len 1048576)"c)
  [ -z "$large" ] || echo "has seeds above max_len: $(basename "${large%%$'\n'*}")"
  [ -n "$(find "$work/seeds" -mindepth 1 -type f)" ] || echo 'has no seed in its zip'
}

# --- libFuzzer --------------------------------------------------------------------------------------

# A number of the .options file, or what holds where it is silent.
option() { sed -n "s/^$1 = //p" "$work/moved/$name.options" 2>/dev/null | grep . || echo "${2:-}"; }

# What the .options file says, as arguments; a dictionary lies beside it.
options()
{
  [ ! -f "$work/moved/$name.options" ] ||
    sed -n "/^\[libfuzzer\]/,/^\[/ s|^dict = |-dict=$work/moved/|p; s/^\([a-z_]*\) = \(.*\)/-\1=\2/p" \
      "$work/moved/$name.options" | grep -v "^-dict=[^/]"
}

# A build for coverage does not search: it runs the files of a corpus, and says what they ran.
coverage_runs_seeds()
{
  run "$work/seeds"/* || { says 'ends on its seeds'; return; }
  [ -s "$work/profile" ] || echo 'tells of no line that ran'
}

libfuzzer_starts()
{
  local edges started=yes
  run -seed=1337 -runs=4 || started=no
  ! grep -q 'no interesting inputs' "$work/out" || { echo 'has no coverage to search by'; return; }
  [ $started = yes ] && grep -q '^Done 4 runs' "$work/out" || { says 'does not start'; return; }
  edges=$(sed -n 's/.*Loaded [0-9]* modules* *(\([0-9]*\) .*/\1/p' "$work/out" | tail -n 1)
  [ "${edges:-0}" -ge 100 ] || echo "has ${edges:-0} edges, under 100"
}

libfuzzer_takes_options()
{
  local arguments
  mapfile -t arguments < <(options)
  run -seed=1337 -runs=4 "${arguments[@]}" || { says "ends with its .options"; return; }
  sed -n "s/^WARNING: unrecognized flag '-\([^=']*\).*/has an option that libFuzzer has not: \1/p" "$work/out"
  [ ! -f "$work/moved/$name.dict" ] || grep -q '^Dictionary: [1-9]' "$work/out" || echo 'does not use its .dict'
}

libfuzzer_runs_seeds()
{
  local first
  run -runs=0 "$work/seeds" || { says 'ends on its seeds'; return; }
  first=$(find "$work/seeds" -type f | sort | head -n 1)
  [ -z "$first" ] || run -runs=100 "$first" || says 'ends on one seed 100 times over'
  : >"$work/empty"
  run "$work/empty" || says 'ends on an empty input'
}

# --- AFL++ ------------------------------------------------------------------------------------------

afl_starts()
{
  rm -rf "$work"/{begin,found}
  mkdir "$work/begin"
  echo input >"$work/begin/input"
  [ -x "$work/moved/afl-fuzz" ] || { echo 'has no afl-fuzz beside it'; return; }
  AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 \
    timeout -s INT 35 "$work/moved/afl-fuzz" -m none -t 5000+ -V 1 -i "$work/begin" -o "$work/found" \
    -- "$program" </dev/null >"$work/out" 2>&1
  grep -q 'All set and ready to roll' "$work/out" || { says 'is not what afl-fuzz can run'; return; }
  ! grep -qE 'target binary (crashed|terminated)' "$work/out" || says 'ends at its start'
}

afl_runs_seeds()
{
  local seeds
  mapfile -d '' seeds < <(find "$work/seeds" -type f -print0)
  : >"$work/empty"
  run "${seeds[@]}" "$work/empty" || says 'ends on its seeds'
}

# --- all targets ------------------------------------------------------------------------------------

# By the first rule that it breaks.
broken()
{
  local rule said
  for rule in is_named is_alone is_instrumented has_seeds "${rules[@]}" is_tidy; do
    said=$($rule)
    [ -z "$said" ] || { echo "$said"; return; }
  done
}

case $engine:$sanitizer in
  libfuzzer:coverage) rules=(coverage_runs_seeds) ;;
  libfuzzer:*) rules=(libfuzzer_{starts,takes_options,runs_seeds}) ;;
  afl:*) rules=(afl_{starts,runs_seeds}) ;;
esac

# What their machines take for a target: by the name of its function.
found=()
for program in "$work/moved"/*; do
  name=${program##*/}
  case $name in afl-* | llvm-*) continue ;; esac
  [ -f "$program" ] && [ -x "$program" ] && grep -q LLVMFuzzerTestOneInput "$program" || continue
  found+=("$name")
  wrong=$(broken)
  if [ -z "$wrong" ]; then echo "ok $engine:$sanitizer $name"; else
    printf 'not ok %s:%s %s: %s\n' "$engine" "$sanitizer" "$name" "$wrong"
    bad=1
  fi
done
for name; do
  [[ " ${found[*]} " = *" $name "* ]] || { echo "not ok $engine:$sanitizer $name: is not there"; bad=1; }
done
exit $bad
