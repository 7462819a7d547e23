# shellcheck shell=bash disable=SC2317  # functions are called by name
# A Docker engine for scripts that build images and try them.  To be sourced, in the tree's root.
#
# Takes the Docker engine that answers.  Where none does, root gets one for as long as the script runs:
# Debian's, with its data in a folder of its own (in IMAGE_WORK, /var/tmp; 3 GB), and with a base
# image that debootstrap makes from the mirror that apt uses here.  Nothing of it stays.  Where that
# cannot be had the checks are SKIPPED, loudly.
#
# After `prepare`, `check NAME COMMAND...` prints "ok NAME" or "not ok NAME"; `end` prints "N passed, N
# failed" and ends the script.
set -m  # what is started in the background has a process group, to be ended as one
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin

passed=0 failed=0 daemon=''
work=$(mktemp -d "${IMAGE_WORK:-/var/tmp}/precfuzz-image.XXXXXX")
# What is built is called so, with something behind it, and removed at the end.
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

# Of an engine that goes on.
remove_images()
{
  local tag
  for tag in ${theirs:+$(docker images --filter "reference=$image*" --format '{{.Repository}}:{{.Tag}}')}; do
    docker ps -aq --filter "ancestor=$tag" | xargs -r docker rm -fv
    docker image rm -f "$tag"
  done
  [ -n "${theirs:-}" ] || docker ps -aq | xargs -r docker rm -fv
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
  remove_images
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
