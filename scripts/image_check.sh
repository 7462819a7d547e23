#!/bin/bash
# Builds the image and tries what it is for: without network and privileges, as a user that it has
# never heard of, on a file system that cannot be written.
#
# Takes the Docker engine that answers.  Where none does, root gets one for as long as this runs:
# Debian's, with its data in a folder of its own (in IMAGE_WORK, /var/tmp; 3 GB), and with a base
# image that debootstrap makes from the mirror that apt uses here.  Nothing of it stays.  Where that
# cannot be had the checks are SKIPPED, loudly.
#
# Prints "ok NAME" or "not ok NAME" for each check; the last line is "N passed, N failed".
# shellcheck disable=SC2317  # functions are called by name
set -uo pipefail
set -m  # what is started in the background has a process group, to be ended as one
cd "$(dirname "$0")/.." || exit 3
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin

passed=0 failed=0 daemon=''
work=$(mktemp -d "${IMAGE_WORK:-/var/tmp}/precfuzz-image.XXXXXX")
image=precfuzz:$(basename "$work" | tr 'A-Z.' 'a-z-')

# --- what is left behind: nothing ----------------------------------------------------------------

within() # seconds command...: until it succeeds
{
  local _
  for _ in $(seq $(($1 * 5))); do
    "${@:2}" && return
    sleep 0.2
  done
  return 1
}

remove_groups()
{
  find /sys/fs/cgroup -depth -type d -path "*/${work##*/}*" -exec rmdir {} +
  [ -z "$(find /sys/fs/cgroup -type d -path "*/${work##*/}*")" ]
}

gone() { ! kill -0 -- "$@"; }

# What is being installed is let finish (install): half of a package is worse than all of it.
clean_up()
{
  local job
  trap '' INT TERM HUP
  for job in $(jobs -p); do
    [ "$job" = "$daemon" ] || kill -- "-$job"
  done
  for job in $(jobs -p); do
    [ "$job" = "$daemon" ] || within 120 gone "-$job" || kill -KILL -- "-$job"
  done
  docker ps -aq ${theirs:+--filter "ancestor=$image"} | xargs -r docker rm -f
  [ -z "${theirs:-}" ] || docker image rm -f "$image"
  if [ -n "$daemon" ]; then
    kill "$daemon"
    within 30 gone "$daemon" || kill -KILL "$daemon"
    # shellcheck disable=SC2046  # numbers
    kill -KILL $(find /sys/fs/cgroup -path "*/${work##*/}/*" -name cgroup.procs -exec cat {} +)
    within 5 remove_groups
  fi
  rm -rf --one-file-system "$work"
} >/dev/null 2>&1
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

end() { echo "$passed passed, $failed failed"; exit $((failed > 0)); }

skip() # why
{
  printf '\n    SKIPPED: the image was neither built nor run: %s\n\n' "$1"
  end
}

# A signal ends the waiting at once.
patiently() { "$@" & wait $!; }

# --- an engine -----------------------------------------------------------------------------------

install() # package...
{
  trap '' INT TERM HUP
  apt-get -o DPkg::Lock::Timeout=600 -qq update
  apt-get -o DPkg::Lock::Timeout=600 -qq -y install --no-install-recommends "$@"
}

pieces()
{
  local missing=()
  command -v dockerd >/dev/null || missing+=(docker.io)
  command -v docker >/dev/null || missing+=(docker-cli)
  command -v debootstrap >/dev/null || missing+=(debootstrap)
  [ ${#missing[@]} = 0 ] || install "${missing[@]}"
}

# In a mount namespace that goes away with it, and with nobody's network touched.
start_engine()
{
  export DOCKER_HOST=unix://$work/socket DOCKER_CONFIG=$work/client DOCKER_BUILDKIT=0
  unset DOCKER_CONTEXT
  echo "{\"deprecated-key-path\": \"$work/key.json\"}" >"$work/daemon.json"
  local driver
  for driver in overlay2 vfs; do
    setpriv --pdeathsig TERM unshare --mount dockerd --config-file "$work/daemon.json" \
      --host "$DOCKER_HOST" --data-root "$work/data" --exec-root "$work/exec" \
      --pidfile "$work/pid" --storage-driver $driver --cgroup-parent "/${work##*/}" \
      --bridge none --iptables=false --ip6tables=false --ip-forward=false \
      </dev/null >"$work/dockerd.log" 2>&1 &
    daemon=$!
    for _ in $(seq 120); do
      docker info >/dev/null 2>&1 && return
      kill -0 $daemon 2>/dev/null || break
      sleep 0.5
    done
    kill $daemon 2>/dev/null
    wait $daemon
    daemon=''
  done
  tail -n 20 "$work/dockerd.log"
  return 1
}

# debian:SUITE-slim, as the Dockerfile wants it.
make_base() # suite
{
  local suite=$1 root=$work/base mirror here
  here=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  # shellcheck disable=SC2016  # apt's variables
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v here="$here" -v suite="$suite" '
      $2 ~ "^" here "(-updates|-security)?$" && !seen[$0]++ {
        sub(here, suite, $2); print "deb", $1, $2, $3
      }' >"$work/sources.list"
  mirror=$(awk -v suite="$suite" '$3 == suite { print $2; exit }' "$work/sources.list")
  mirror=${mirror:-http://deb.debian.org/debian}
  echo "$mirror" >"$work/mirror"
  # What it mounts goes away with it.
  unshare --mount debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" \
    "$mirror" || return 1
  [ ! -s "$work/sources.list" ] || cp "$work/sources.list" "$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(Check-|https?::Proxy)' >"$root/etc/apt/apt.conf.d/90host"
  printf 'path-exclude /usr/share/%s/*\n' doc man info locale >"$root/etc/dpkg/dpkg.cfg.d/slim"
  rm -rf "$root"/var/{lib/apt/lists,cache/apt/archives}/*
  tar -C "$root" -c . | docker import - "debian:$suite-slim" || return 1
  rm -rf --one-file-system "$root"
}

mirror_answers()
{
  patiently /usr/lib/apt/apt-helper download-file \
    "$(<"$work/mirror")/dists/$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)/InRelease" \
    "$work/release" >"$work/out" 2>&1
}

quietly() # command...: what it says only if it fails
{
  patiently "$@" >"$work/log" 2>&1 && return
  tail -n 30 "$work/log" | sed 's/^/    /'
  return 1
}

prepare()
{
  local suite
  if docker info >/dev/null 2>&1; then
    theirs=yes
    return
  fi
  [ "$(id -u)" = 0 ] || skip 'no Docker engine answers, and only root can start one'
  unshare --mount true 2>/dev/null || skip 'no Docker engine answers, and none may be started here'
  quietly pieces || skip "Docker's pieces cannot be installed"
  start_engine || { not_ok 'a Docker engine starts'; end; }
  suite=$(sed -n 's/^ARG BASE=debian:\([a-z]*\)-slim$/\1/p' Dockerfile)
  quietly make_base "$suite" && return
  ! mirror_answers && skip "the mirror $(<"$work/mirror") does not answer"
  not_ok 'the base image is made'
  end
}

# --- checks --------------------------------------------------------------------------------------

not_ok() { echo "not ok $1"; failed=$((failed + 1)); }

check() # name command...: its output, in $work/out, only where it fails
{
  local begin=$SECONDS name=$1
  if patiently "${@:2}" >"$work/out" 2>&1; then
    echo "ok $name, $((SECONDS - begin)) s"
    passed=$((passed + 1))
  else
    not_ok "$name, $((SECONDS - begin)) s"
    tail -n 60 "$work/out" | sed 's/^/    /'
  fi
}

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
  check 'its tests pass' tests
fi
end
