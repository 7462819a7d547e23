#!/bin/bash
# Builds the fuzz targets as ClusterFuzzLite does, from .clusterfuzzlite/ as it is, and holds what comes
# of it to the rules of ClusterFuzz, OSS-Fuzz and ClusterFuzzLite.
#
#   cfl_check.sh [ENGINE:SANITIZER...]    libfuzzer:address :undefined :coverage, afl:address
#
# Their image is not needed: on top of that which precfuzz runs on (Dockerfile) scripts/cfl_compile.sh
# stands in for it, by the engine of scripts/docker_engine.sh.  What is built runs without network in an
# image that has none of the libraries, too.  The last line is "N passed, N failed".
# shellcheck disable=SC2317  # functions are called by name
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
. scripts/docker_engine.sh

base=$(sed -n 's/^ARG BASE=//p' Dockerfile)
targets=()
for file in fuzz/fuzz_*.c; do targets+=("$(basename "$file" .c)"); done

stand_in()
{
  docker build --network host --target runtime -t "$image-runtime" . &&
    docker build --network host -t "$image-builder" -f - scripts <<EOF
FROM $image-runtime
RUN apt-get update && apt-get install -y --no-install-recommends libclang-rt-dev unzip
ENV OUT=/out SRC=/src WORK=/work
RUN mkdir -m 777 /out /src /work
COPY cfl_compile.sh cfl_rules.sh /usr/local/bin/
WORKDIR /src
EOF
}

packages()
{
  sed "s|^FROM .*|FROM $image-builder|" .clusterfuzzlite/Dockerfile |
    docker build --network host -t "$image-cfl" -f - .
}

# $OUT is a volume of the container that builds; the ones that try it are given it.
compiles()
{
  docker run --name "${image#*:}-out" -v /out --network none "$image-cfl" cfl_compile.sh "$1"
}

within_out() # image command...
{
  docker run --rm --network none --volumes-from "${image#*:}-out" "$@" </dev/null
}

# By the standard of each; shown, too, where all is well.
keeps_rules() { within_out "$image-cfl" cfl_rules.sh "$1" /out "${targets[@]}"; }

# With nothing but what Debian has at least.
runs_alone()
{
  # shellcheck disable=SC2016  # the inner shell's
  within_out --read-only "$base" bash -euc 'for target; do "/out/$target" /etc/hostname; done' - "${targets[@]}"
}

[ $# != 0 ] || set -- libfuzzer:address libfuzzer:undefined libfuzzer:coverage afl:address
prepare
check 'an image stands in for theirs' stand_in
[ $failed != 0 ] || check 'the image of .clusterfuzzlite is built' packages
for configuration; do
  [ $failed = 0 ] || break
  check "$configuration is built" compiles "$configuration"
  [ $failed != 0 ] || check "$configuration keeps the rules" keeps_rules "$configuration"
  [ $failed != 0 ] || check "$configuration runs where no library is" runs_alone
  docker rm -fv "${image#*:}-out" >/dev/null
done
end
