#!/bin/bash
# Builds the image and tries what it is for: without network and privileges, as a user that it has
# never heard of, on a file system that cannot be written.
#
# By the engine of scripts/docker_engine.sh.  Prints "ok NAME" or "not ok NAME" for each check; the last
# line is "N passed, N failed".
# shellcheck disable=SC2317  # functions are called by name
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
. scripts/docker_engine.sh

build() { docker build --network host --build-arg WERROR=1 -t "$image" .; }

# The layers in which things are installed are the same when a source has changed.
reinstalls_nothing()
{
  local before after layer
  mkdir "$work/changed"
  tar -c --exclude=./.git --exclude=./build . | tar -x -C "$work/changed"
  echo '/* changed */' >>"$work/changed/src/status.c"
  echo changed >>"$work/changed/README.md"
  for layer in runtime tools; do
    before=$(docker build -q --network host --target "$layer" .) &&
      after=$(docker build -q --network host --target "$layer" "$work/changed") || return
    echo "$layer $before $after"
    [ "$before" = "$after" ] || return
  done
}

run() # argument...
{
  docker run --rm --network none --read-only --tmpfs "$tmp" --cap-drop ALL \
    --security-opt no-new-privileges --user "$uid" "${mounted[@]}" "$image" "$@" </dev/null
}
mounted=()
uid=$((20000 + RANDOM)) tmp=/tmp
engines='openblas blis refblas onednn onnxruntime xnnpack'

ends() # status pattern command...: so, and says a line like this
{
  local status=0 out
  out=$("${@:3}" 2>&1) || status=$?
  printf '%s\n(status %s)\n' "$out" "$status"
  [ "$status" = "$1" ] && grep -qE -- "$2" <<<"$out"
}

# Each library that the image was made for: a version, and below it a table of dtypes.
has_engines()
{
  local out engine
  out=$(run engines) || return
  echo "$out"
  for engine in $engines; do
    awk -v engine="$engine" '
      $1 == engine { named = $0 ~ "^  " engine " +" engine "( [0-9][0-9.]*)?, "; row = NR }
      named && NR == row + 1 && !/^ +x +y +sums +result +c +bias$/ { exit }
      named && NR == row + 2 { ok = /^ +f32 +f32 +f32 +f32 / }
      END { exit !ok }' <<<"$out" || { echo "no $engine"; return 1; }
  done
}

seed() { ends 0 ', 0 findings: OK' run check /precfuzz/corpus/seeds/03-matmul; }

knows_isas() { ends 0 '^sse41 +[1-9]' run isas onednn regress; }

# Libraries may have findings (1).  Each engine has run.
fuzzes()
{
  local out status=0 engine
  out=$(run fuzz 20 2>&1) || status=$?
  printf '%s\n(status %s)\n' "$out" "$status"
  [ "$status" -le 1 ] || return
  for engine in reference $engines; do
    awk -v e="$engine" '$1 == e && $2 > 0 && $4 ~ /^[0-9]+$/ { ok = 1 } END { exit !ok }' \
      <<<"$out" || { echo "$engine has not run"; return 1; }
  done
}

# Of what needs no PyTorch at least; some findings are of processors that this is not.
shows_programs()
{
  local out
  out=$(tmp=/tmp:exec run programs openblas-batch-dies onednn-empty-sum onnxruntime-empty-gemm) || return
  echo "$out"
  grep -q '^3 of 3 shown without precfuzz$' <<<"$out"
}

# A run in a volume, killed with its container while it judges a planted fault, is gone on with.
goes_on()
{
  local volume=precfuzz-${image#*:} id status=0
  local options=(fuzz --engine fault:M13 --target fuzz_matmul --jobs 1 --slice 30)
  docker volume create "$volume" >/dev/null
  mounted=(-v "$volume:/findings")
  id=$(docker run -d --network none --read-only --cap-drop ALL --user "$uid" "${mounted[@]}" "$image" \
    "${options[@]}")
  within 60 in_volume 'ls /findings/bundles/fault*'
  docker rm -f "$id"
  in_volume 'ls -d /findings/bundles/fault*' | sort >"$work/before"
  run "${options[@]}" --seconds 20 || status=$?
  in_volume 'ls -d /findings/bundles/fault*' | sort >"$work/after"
  in_volume 'jq -c . /findings/status.json; test -s /findings/report.html' && [ "$status" = 1 ] &&
    [ -s "$work/before" ] && [ -z "$(comm -23 "$work/before" "$work/after")" ] &&
    ends 0 'findings, 0 new' run ci --seconds 10 --engine fault:none --target fuzz_matmul
  status=$?
  mounted=()
  docker volume rm "$volume"
  return "$status"
}

in_volume() # command of a shell
{
  docker run --rm --network none --user "$uid" "${mounted[@]}" --entrypoint sh "$image" -c "$1"
}

# Two hosts that have nothing in common but a folder: each takes what the other found.
hosts()
{
  local host pids=()
  mkdir -m 777 "$work"/{shared,one,two}
  for host in one two; do
    docker run --rm --hostname $host --network none --read-only --tmpfs /tmp --cap-drop ALL \
      --security-opt no-new-privileges --user "$uid" -v "$work/shared:/shared" -v "$work/$host:/data" \
      "$image" hosts fuzz_matmul 15 /data/own --sync /shared --every 3 </dev/null &
    pids+=($!)
  done
  wait "${pids[0]}" && wait "${pids[1]}" || return
  [ -n "$(find "$work/one/own/out/main-one/queue" -name 'id:*,sync:main-two,*')" ] &&
    [ -n "$(find "$work/two/own/out/main-two/queue" -name 'id:*,sync:main-one,*')" ]
}

tests() # says what failed
{
  local status=0
  # shellcheck disable=SC2065  # no such test
  tmp=/tmp:exec run test >"$work/tests" 2>&1 || status=$?
  grep -A 40 '^FAIL' "$work/tests"
  tail -n 1 "$work/tests"
  return "$status"
}

prepare
check 'the image is built' build
if [ $failed = 0 ]; then
  check 'a changed source installs nothing again' reinstalls_nothing
  check 'its engines have versions and tables of dtypes' has_engines
  check 'it checks a case' seed
  check 'it refuses a wrong number of seconds' ends 2 'no number of seconds' run fuzz soon
  check 'it refuses a wrong option' ends 2 "no option '--for'" run fuzz --for 1
  check 'it refuses a test that is not there' ends 2 'no test is called' run test nothing
  check 'it refuses a command that is not there' ends 2 'no command is called' run nothing
  [ "$(uname -m)" != x86_64 ] || check 'it takes a library under each instruction set' knows_isas
  check 'programs show findings without precfuzz' shows_programs
  check 'it fuzzes each engine' fuzzes
  check 'a run that was killed is gone on with' goes_on
  check 'two hosts take what the other found' hosts
  check 'its tests pass' tests
  check 'ClusterFuzzLite can build it' scripts/cfl_check.sh libfuzzer:address
fi
end
