#!/bin/bash
# scripts/cfl_rules.sh finds each rule that is broken, on small targets, and nothing else.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

root=$PWD folder=$(mktemp -d)
export ROOT=$root SRC=$folder WORK=$folder
trap 'rm -rf "$folder"' EXIT
# what the build of a project with one target does; NAME and FLAGS say which
cat >"$SRC/build.sh" <<'EOF'
$CC $CFLAGS $FLAGS -c "$ROOT/tests/cfl/target.c" -o "$WORK/$NAME.o"
$CXX $CXXFLAGS $FLAGS "$WORK/$NAME.o" $LIB_FUZZING_ENGINE -o "$OUT/$NAME"
EOF
printf good >"$folder/seed"
printf bad >"$folder/bad"
head -c 100 /dev/zero >"$folder/large"

build() # configuration name flag...
{
  export OUT=$folder/$1 NAME=$2 FLAGS="${*:3}"
  mkdir -p "$OUT"
  scripts/cfl_compile.sh "$1" >"$folder/log" 2>&1 || cat "$folder/log"
  (cd "$folder" && zip -q "$OUT/${2}_seed_corpus.zip" seed)
}

# The same program under another name, with other files beside it.
again() # configuration name ending=text...
{
  local out=$folder/$1 pair
  cp "$out/good" "$out/$2"
  cp "$out/good_seed_corpus.zip" "$out/${2}_seed_corpus.zip"
  for pair in "${@:3}"; do printf '%b' "${pair#*=}" >"$out/$2.${pair%%=*}"; done
}

rules() # configuration target...
{
  configuration=$1
  scripts/cfl_rules.sh "$1" "$folder/$1" "${@:2}" >"$folder/out" 2>&1
}

tell() # status what
{
  if [ "$1" = 0 ]; then echo "ok $configuration $2"; else
    echo "not ok $configuration $2"
    sed 's/^/    /' "$folder/out"
  fi
}

good() # target
{
  grep -qx "ok $configuration $1" "$folder/out"
  tell $? "$1"
}

# The target's own lines; nothing else is wrong with it than one line says.
broken() # target what
{
  awk -v head="not ok $configuration $1: " '
    index($0, head) == 1 { on = 1; print substr($0, length(head) + 1); next }
    /^(not )?ok / { on = 0 } on' "$folder/out" >"$folder/said"
  [ "$(grep -vc '^    ' "$folder/said")" = 1 ] && grep -q -- "$2" "$folder/said"
  tell $? "$1: $2"
}

here=libfuzzer:address
build $here good
for fault in exits state folder writes environment seed; do
  build $here $fault "-DFAULT=${fault^^}"
done
build $here mpfr -DNEEDS_MPFR -Wl,--no-as-needed -lmpfr
build $here plain -fno-sanitize=address
build $here mixed -fsanitize=signed-integer-overflow
build $here unguided -fno-sanitize=fuzzer-no-link
build $here straight -DSTRAIGHT
build $here lines -fprofile-instr-generate -fcoverage-mapping
again $here dot.ted
again $here tuned 'options=[libfuzzer]\nmax_len = 64\ndict = tuned.dict\n' 'dict=one="\\x01a"\n'
again $here unknown 'options=[libfuzzer]\nkeep_sead = 1\n'
again $here unread 'dict=one="\\x01a"\n'
again $here wrong 'options=[libfuzzer]\ndict = wrong.dict\n' 'dict=one=a\n'
again $here cut 'options=[libfuzzer]\nmax_len = 64\n'
(cd "$folder" && zip -q $here/cut_seed_corpus.zip large && zip -q $here/seed_seed_corpus.zip bad)
again $here torn
echo PK >"$folder/$here/torn_seed_corpus.zip"
again $here seedless
rm "$folder/$here/seedless_seed_corpus.zip"

rules $here absent
good good
good tuned
broken exits 'does not start'
broken folder 'does not start'
broken environment 'does not start'
broken state 'ends on one seed 100 times over'
broken seed 'ends on its seeds'
broken writes 'leaves left where it runs'
broken mpfr 'needs libmpfr.so'
broken plain 'has 0 calls of ASan'
broken mixed 'calls of UBSan beside ASan'
broken unguided 'has no coverage to search by'
broken straight 'under 100'
broken lines 'counts lines, too'
broken dot.ted 'a name has letters'
broken unknown 'has an option that libFuzzer has not: keep_sead'
broken unread 'does not use its .dict'
broken wrong 'ends with its .options'
broken cut 'has seeds above max_len: large'
broken torn 'has no zip of seeds'
broken seedless 'has no zip of seeds'
broken absent 'is not there'

# The same programs are wrong where another sanitizer was asked for.
for other in undefined coverage; do
  build libfuzzer:$other good
  cp "$folder/$here/good" "$folder/libfuzzer:$other/address"
  cp "$folder/$here/good_seed_corpus.zip" "$folder/libfuzzer:$other/address_seed_corpus.zip"
  rules libfuzzer:$other
  good good
  grep -q "^not ok libfuzzer:$other address: has [0-9]* calls" "$folder/out"
  tell $? 'what is built for another'
done

build afl:address good
build afl:address exits -DFAULT=EXITS
rules afl:address
good good
broken exits 'is not what afl-fuzz can run'
