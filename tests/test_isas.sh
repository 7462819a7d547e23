#!/bin/bash
# A library under one instruction set after the other: on one that is told what it is, what each
# outcome takes; on those that are installed, that each set is the one that was asked for.
#
# Prints "ok NAME", "not ok NAME" or "SKIPPED NAME: why" for each test.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset "${!PRECFUZZ_@}" "${!ISA@}"
export FUZZ_FOLDER=$folder/kept

# In a process of its own, as what it is told has blanks.
cat >"$folder/told" <<'HOST'
#!/bin/sh
case ${KIND:-plain} in
  plain | fast) deed=right ;;
  broken) deed=wrong ;;
  deadly) deed=dies ;;
  idle) deed=declines ;;
  gone) deed=absent ;;
esac
TOLD="1.0 ${KIND:-plain} loop $deed" exec build/precfuzz engine-host build/plugin/told.so
HOST
chmod +x "$folder/told"
told=exec:$folder/told

expect() # name status pattern... -- command...: ends so, and says all of these
{
  local name=$1 status=$2 got=0 missing='' pattern
  shift 2
  local -a patterns=()
  while [ "$1" != -- ]; do patterns+=("$1"); shift; done
  shift
  "$@" >"$folder/out" 2>&1 </dev/null || got=$?
  for pattern in "${patterns[@]}"; do
    grep -qE -- "$pattern" "$folder/out" || missing+=" '$pattern'"
  done
  if [ "$got" = "$status" ] && [ -z "$missing" ]; then echo "ok $name"; else
    echo "not ok $name: status $got, $status expected; not said:$missing"
    sed 's/^/    /' "$folder/out" | head -n 60
    tail -n 20 "$folder/log" 2>/dev/null
  fi
}

isas() # words argument...
{
  ISA_VARIABLE=KIND ISAS=$1 scripts/isas.sh "$told" "${@:2}"
}
some=(random --count 30 --dtype f32 --graph matmul)

# --- outcomes ------------------------------------------------------------------------------------

expect 'no finding' 0 '^plain +30 +0 +0  plain$' '^fast +30 +0 +0  fast$' -- \
  isas 'plain fast' "${some[@]}"
expect 'one finds, the others go on' 1 '^plain +30 +0 +0  plain$' \
  '^broken +[0-9]+ +[1-9][0-9]* +0  broken$' '^deadly +[0-9]+ +[1-9]' '^fast +30 +0 ' \
  '^finding .* matmul eager x=f32,y=f32 contract IMPOSSIBLE$' \
  '^    KIND=broken precfuzz check .* --engine exec:.* .*/broken/found/.*\.case$' \
  '^finding .* matmul eager x=f32,y=f32 contract DIED$' '^    deadly$' -- \
  isas 'plain broken deadly fast' "${some[@]}"

reproduces() # the command that was printed, as it stands
{
  local command status=0
  command=$(sed -n 's|^ *KIND=broken precfuzz |KIND=broken build/precfuzz |p' "$folder/out" |
    head -n 1)
  [ -n "$command" ] || return 9
  bash -c "$command" || status=$?
  return $status
}
isas broken "${some[@]}" >"$folder/out" 2>&1
cp "$folder/out" "$folder/broken"
reproduces >"$folder/log" 2>&1
status=$?
if [ $status = 1 ] && grep -q IMPOSSIBLE "$folder/log"; then echo 'ok the command shows it again'; else
  echo "not ok the command shows it again: status $status"
  sed 's/^/    /' "$folder/log" "$folder/broken"
fi

expect 'what cannot be opened is named' 0 '^plain +30' '^not here: gone \(cannot be opened\)$' -- \
  isas 'gone plain' "${some[@]}"
expect 'nothing can be opened' 3 'has nothing for this machine: gone' -- isas gone "${some[@]}"
known() { PRECFUZZ_KNOWN=$folder/known isas "$@"; }
mkdir "$folder/known"
: >"$folder/known/known.txt"
echo 'matmul x=f32[2,3] y=f32[3,2]' >"$folder/case.txt"
KIND=broken build/precfuzz regress --add anything --known "$folder/known" --reason 'told to' \
  --signature "$told matmul * * contract IMPOSSIBLE" "$folder/case.txt" >"$folder/log" 2>&1
sed -i '/^version\|^kernel\|^isa/d' "$folder/known/known.txt"
expect 'a finding that is known' 0 '^broken +30 +0 +[1-9]' -- known broken "${some[@]}"
expect 'it is replayed' 0 '^broken +1 +0 +1  broken$' '^known anything$' -- known broken regress
expect 'what became of it is a finding' 1 '^broken +1 +0 +1 ' '^plain +1 +1 +0 ' \
  '^finding anything: FIXED$' '^    plain$' -- known 'broken plain' regress

fuzzes()
{
  expect 'fuzz_matmul' 1 '^idle +[1-9][0-9]* +0 +0  idle$' '^deadly +[1-9][0-9]* +[1-9][0-9]* +0 ' \
    '^finding .* DIED$' '^    KIND=deadly build/precfuzz check .*/crashes/' -- \
    isas 'idle deadly' fuzz 1
}
if [ -x build/libfuzzer/fuzz_matmul ] && [ -x build/afl/fuzz_matmul ]; then fuzzes; else
  echo 'SKIPPED fuzz_matmul: it is not built'
fi

is_interrupted() # in the first of two
{
  local pid status=0
  isas 'plain fast' random --count 1000000000 --dtype f32 --graph matmul >"$folder/out" 2>&1 &
  pid=$!
  for _ in $(seq 300); do
    ! pgrep -f "random .*$folder/told" >/dev/null || break
    sleep 0.1
  done
  sleep 0.5
  # The function runs in a shell of its own, the script in that one's child.
  kill -TERM "$(pgrep -P $pid)"
  wait $pid || status=$?
  [ $status = 0 ] && grep -qE '^plain +[1-9][0-9]* +0 +0  plain$' "$folder/out" &&
    ! grep -q '^fast' "$folder/out" && ! pgrep -f "$folder/told"
}
if is_interrupted; then echo 'ok a signal ends it in order'; else
  echo 'not ok a signal ends it in order'
  sed 's/^/    /' "$folder/out"
fi

# --- libraries -----------------------------------------------------------------------------------

library() # engine words pattern... : where it is there
{
  local engine=$1 words=$2
  shift 2
  if build/precfuzz engines --json "$engine" | jq -e '.libraries[0].version' >/dev/null; then
    expect "$engine" 0 "$@" -- env ISAS="$words" scripts/isas.sh "$engine" random --count 50 \
      --layout dense --values normal
  else
    echo "SKIPPED $engine: not installed"
  fi
}
if [ "$(uname -m)" = x86_64 ]; then
  library openblas 'Prescott Nothing Nehalem' '^Prescott +50 +0 ' '^Nehalem +50 +0 ' \
    '^not here: Nothing \([A-Za-z]+\)$'
  library onednn 'SSE41 AVX9' '^sse41 +50 +0 ' '^not here: AVX9 \([a-z0-9_]+\)$'
  library blis '' '^generic +50 +0 ' '^penryn +50 +0 '
  grep -qw fma4 /proc/cpuinfo ||
    library openblas 'Bulldozer Core2' '^Core2 +50 ' '^not here: Bulldozer \(needs fma4\)$'
else
  echo 'SKIPPED libraries: their words here are those of x86-64'
fi

# --- usage ---------------------------------------------------------------------------------------

expect 'no engine' 2 'which engine' -- scripts/isas.sh
expect 'no variable' 2 'by which variable' -- scripts/isas.sh "$told"
expect 'no words' 2 'by which variable' -- env ISA_VARIABLE=KIND scripts/isas.sh "$told"
expect 'a variable that is none' 2 "'a b' is no name" -- \
  env ISA_VARIABLE='a b' ISAS=plain scripts/isas.sh "$told"
expect 'another job' 2 "not 'sleep'" -- isas plain sleep
expect 'no number of seconds' 2 'one number of seconds' -- isas plain fuzz soon
expect 'an option that is wrong' 3 '^plain +failed' "there is no 'f99'" -- \
  isas plain random --dtype f99
