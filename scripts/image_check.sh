#!/bin/bash
# Builds the image and tries what it is for: without network and privileges, as a user that it has
# never heard of, on a file system that cannot be written.
#
#   image_check.sh                      the small one, without PyTorch
#   IMAGE_TARGET=full image_check.sh    the whole one, in about an hour, with 6 GB in IMAGE_WORK
#
# By the engine of scripts/docker_engine.sh.  Prints "ok NAME" or "not ok NAME" for each check; the last
# line is "N passed, N failed".
# shellcheck disable=SC2317  # functions are called by name
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
target=${IMAGE_TARGET:-small}
case $target in small | full) ;; *) echo "IMAGE_TARGET is small or full, not '$target'" >&2; exit 2 ;; esac
. scripts/docker_engine.sh

build() { docker build --network host --build-arg WERROR=1 --target "$target" -t "$image" .; }

# Without the stages that hold precfuzz itself, which an engine without BuildKit would all build.
install_stages()
{
  awk '$1 == "FROM" { skip = $4 == "build" || $4 == "small" || $4 == "full" } !skip' Dockerfile
}

# The layers in which things are installed, or compiled by PyTorch, are the same when a source has
# changed.
reinstalls_nothing()
{
  local before after layer
  install_stages >"$work/Dockerfile"
  mkdir "$work/changed"
  tar -c --exclude=./.git --exclude=./build . | tar -x -C "$work/changed"
  echo '/* changed */' >>"$work/changed/src/status.c"
  echo changed >>"$work/changed/README.md"
  for layer in "${installed[@]}"; do
    before=$(docker build -q --network host -f "$work/Dockerfile" --target "$layer" .) &&
      after=$(docker build -q --network host -f "$work/Dockerfile" --target "$layer" \
        "$work/changed") || return
    echo "$layer $before $after"
    [ "$before" = "$after" ] || return
  done
}

run() # argument...
{
  docker run --rm --network none --read-only --tmpfs "$tmp" --cap-drop ALL \
    --security-opt no-new-privileges --user "$uid" ${entry:+--entrypoint "$entry"} "${mounted[@]}" \
    "$image" "$@" </dev/null
}
mounted=()
uid=$((20000 + RANDOM)) tmp=/tmp entry=''
installed=(runtime tools) whole=() fuzz_seconds=20
engines='openblas blis refblas onednn onnxruntime xnnpack'
if [ "$target" = full ]; then
  installed+=(pytorch compiled) whole=(inductor) fuzz_seconds=120
  engines="$engines torch torch-ops"
fi

ends() # status pattern command...: so, and says a line like this
{
  local status=0 out
  out=$("${@:3}" 2>&1) || status=$?
  printf '%s\n(status %s)\n' "$out" "$status"
  [ "$status" = "$1" ] && grep -qE -- "$2" <<<"$out"
}

# Each library that the image was made for: a version, and below it a table of dtypes, or that it
# takes whole cases.
has_engines()
{
  local out engine
  out=$(run engines) || return
  echo "$out"
  for engine in "${whole[@]}"; do
    grep -A 1 "^  $engine  *$engine [0-9][0-9.]*, " <<<"$out" | grep -q '^ *takes whole cases$' ||
      { echo "no $engine"; return 1; }
  done
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
  out=$(run fuzz "$fuzz_seconds" 2>&1) || status=$?
  printf '%s\n(status %s)\n' "$out" "$status"
  [ "$status" -le 1 ] || return
  for engine in reference $engines "${whole[@]}"; do
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

# Hosts that have nothing in common but a folder, one after the other: each takes what the other found.
hosts()
{
  local host
  mkdir -m 777 "$work"/{shared,one,two}
  for host in one two one; do
    docker run --rm --hostname $host --network none --read-only --tmpfs /tmp --cap-drop ALL \
      --security-opt no-new-privileges --user "$uid" -v "$work/shared:/shared" -v "$work/$host:/data" \
      "$image" hosts fuzz_npy 5 /data/own --sync /shared --every 2 </dev/null || return
  done
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

# --- PyTorch -------------------------------------------------------------------------------------

case=/precfuzz/corpus/golden/case000_bf16_normal_32x7x1x8.case

answers() # both, each on the rows that it follows
{
  local out
  out=$(run check --engine torch --engine inductor "$case") || return
  echo "$out"
  grep -q '^OK  *torch  *eager ' <<<"$out" && grep -q '^OK  *torch  *aot_eager ' <<<"$out" &&
    grep -q '^OK  *inductor  *inductor ' <<<"$out"
}

compiles() # by torch.compile
{
  tmp=/tmp:exec ends 0 '^OK .* inductor ' run check --timeout 300 --engine \
    'exec:python3 /precfuzz/scripts/torch_engine.py --backend inductor --dynamic' "$case"
}

is_emitted() # and each backend says something
{
  local line out
  # shellcheck disable=SC2016  # a variable of that shell
  out=$(tmp=/tmp:exec entry=bash run -c "/precfuzz/build/precfuzz emit --pytorch $case -o /tmp/case.py &&
    python3 /tmp/case.py eager aot_eager inductor") || return
  echo "$out"
  for line in 'eager refuses: ' '  aot_eager ' '  inductor '; do
    grep -q "^$line" <<<"$out" || return
  done
}

conforms()
{
  tmp=/tmp:exec ends 0 '^PyTorch 2.*: [0-9]+ cases, [0-9]+ answers, nothing unexplained' run test-pytorch
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
  if [ "$target" = full ]; then
    check 'the real numbers of torch and inductor' answers
    check 'torch.compile is an engine' compiles
    check 'a case is a script for PyTorch' is_emitted
    check 'the rows describe PyTorch' conforms
  fi
  check 'a run that was killed is gone on with' goes_on
  check 'two hosts take what the other found' hosts
  check 'its tests pass' tests
  check 'ClusterFuzzLite can build it' scripts/cfl_check.sh libfuzzer:address
fi
end
