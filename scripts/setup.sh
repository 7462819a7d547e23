#!/bin/bash
# Installs what building and fuzzing need and this machine lacks: as root, with apt.  Elsewhere it
# says what to install and exits 3.  Nothing missing: silent.  The small ones of the libraries that
# are judged where they are there are installed, too, but nothing fails without them.
#
#   setup.sh [bench|python]    also what make bench needs; or what make bench-python does
set -euo pipefail

CC=${CC:-cc} CLANG=${CLANG:-clang} AFL_CC=${AFL_CC:-afl-clang-fast}
what=${1:-} missing=()

has() { command -v "$1" >/dev/null; }

# Where clang's runtime for fuzzing lies depends on its version; Debian has it in a package of its own
# from clang 19 on.
has_runtime()
{
  compgen -G "$("$CLANG" -print-resource-dir)/lib/*/libclang_rt.fuzzer[-.]*" >/dev/null
}

has_header() { "$CC" -include "$1" -E -x c /dev/null >/dev/null 2>&1; }
has_cmocka() # its header includes nothing by itself
{
  "$CC" -include stdarg.h -include stddef.h -include setjmp.h -include stdint.h -include cmocka.h \
    -E -x c /dev/null >/dev/null 2>&1
}

# Of JSON documents; a command of that name that does not run is of no use.
has_validator() { jsonschema --version >/dev/null 2>&1; }

look()
{
  missing=()
  has "$CC" || missing+=(gcc libc6-dev)
  has make || missing+=(make)
  has "$CLANG" || missing+=(clang)
  has llvm-symbolizer || missing+=(llvm)  # a crash's frames have names
  has "$AFL_CC" && has afl-fuzz || missing+=(afl++)
  has jq || missing+=(jq)
  has gnuplot || missing+=(gnuplot-nox)
  has zip || missing+=(zip)
  has unzip || missing+=(unzip)
  has protoc-c || missing+=(protobuf-c-compiler)
  has_validator || missing+=(python3-jsonschema)
  if has "$CC"; then
    has_header mpfr.h || missing+=(libmpfr-dev)
    has_header jansson.h || missing+=(libjansson-dev)
    has_header zip.h || missing+=(libzip-dev)
    has_header protobuf-c/protobuf-c.h || missing+=(libprotobuf-c-dev)
    has_header nettle/sha2.h || missing+=(nettle-dev)
    has_cmocka || missing+=(libcmocka-dev)
  else
    missing+=(libmpfr-dev libjansson-dev libcmocka-dev libzip-dev libprotobuf-c-dev nettle-dev)
  fi
  ! has "$CLANG" || has_runtime || missing+=("$(runtime_package)")
  case $what in
    bench) look_bench ;;
    python) look_python ;;
  esac
}

look_bench()
{
  "$(dirname "$0")/python_with.sh" numpy gmpy2 >/dev/null || missing+=(python3-numpy python3-gmpy2)
}

# PyTorch's inductor compiles C++ that includes Python's header.
look_python()
{
  has g++ || missing+=(g++)
  python3 -c 'import ensurepip, os, sysconfig as s
assert os.path.exists(s.get_path("include") + "/Python.h")' 2>/dev/null ||
    missing+=(python3-venv python3-dev)
}

runtime_package()
{
  local version
  version=$("$CLANG" -dumpversion)
  echo "libclang-rt-${version%%.*}-dev"
}

# As adapters look for them; a library's file and its package.
look_for_libraries()
{
  local there pair
  there=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null) || true
  missing=()
  for pair in libopenblas.so.0:libopenblas0-pthread libblis.so.4:libblis4-pthread; do
    [[ $there = *"${pair%:*} "* ]] || missing+=("${pair#*:}")
  done
}

can_install() { [ "$(id -u)" = 0 ] && has apt-get; }

install()
{
  local said
  echo "setup: installing ${missing[*]}"
  apt-get -o DPkg::Lock::Timeout=600 -qq update || true  # what comes of it shows below
  said=$(DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -qq -y install \
    --no-install-recommends "${missing[@]}" </dev/null 2>&1) || {
    printf '%s\nsetup: apt-get failed, see above\n' "$said" >&2
    return 1
  }
  hash -r
}

# Twice, as what clang still lacks can be asked only of a clang that is there.
for _ in 1 2; do
  look
  [ ${#missing[@]} != 0 ] || break
  can_install || {
    echo "setup: missing: ${missing[*]}" >&2
    echo "setup: on Debian, run: sudo apt-get install ${missing[*]}" >&2
    exit 3
  }
  install || exit 3
done
look
[ ${#missing[@]} = 0 ] || { echo "setup: still missing: ${missing[*]}" >&2; exit 3; }

look_for_libraries
if [ ${#missing[@]} != 0 ]; then
  can_install && install ||
    echo "setup: libraries that could be judged, too, are not there: ${missing[*]}"
fi
