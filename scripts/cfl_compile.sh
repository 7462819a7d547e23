#!/bin/bash
# Stands in for the `compile` of the image that ClusterFuzzLite and OSS-Fuzz build in: the compilers and
# flags of a fuzzing engine and a sanitizer, then $SRC/build.sh in this folder.
#
#   SRC=FOLDER OUT=FOLDER WORK=FOLDER cfl_compile.sh ENGINE:SANITIZER
#
# libfuzzer with address, undefined or coverage; afl with address.  Theirs are a newer clang with a C++
# library of its own, and more engines.
set -euo pipefail
FUZZING_ENGINE=${1%:*} SANITIZER=${1#*:}
export FUZZING_ENGINE SANITIZER ARCHITECTURE=x86_64 FUZZING_LANGUAGE=c

coverage=-fsanitize=fuzzer-no-link
case $SANITIZER in
  address) flags='-fsanitize=address -fsanitize-address-use-after-scope' ;;
  undefined)
    # wrapping of unsigned numbers only tells the search that something is new
    ends=array-bounds,bool,builtin,enum,integer-divide-by-zero,null,object-size,return
    ends+=,returns-nonnull-attribute,shift,signed-integer-overflow,unreachable,vla-bound
    flags="-fsanitize=$ends,unsigned-integer-overflow -fno-sanitize-recover=$ends" ;;
  coverage) flags='' coverage='-fprofile-instr-generate -fcoverage-mapping -pthread' ;;
  *) echo "cfl_compile: '$SANITIZER' is no sanitizer that is known here" >&2; exit 2 ;;
esac
case $FUZZING_ENGINE in
  libfuzzer)
    export CC=clang CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer ;;
  afl)
    export CC=afl-clang-fast CXX=afl-clang-fast++ AFL_QUIET=1
    export LIB_FUZZING_ENGINE=/usr/lib/afl/libAFLDriver.a
    coverage=''
    cp "$(command -v afl-fuzz)" "$(command -v afl-showmap)" "$OUT" ;;
  *) echo "cfl_compile: '$FUZZING_ENGINE' is no engine that is known here" >&2; exit 2 ;;
esac
export CFLAGS="-O1 -fno-omit-frame-pointer -gline-tables-only \
-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION $flags $coverage"
export CXXFLAGS=$CFLAGS UBSAN_OPTIONS=silence_unsigned_overflow=1
exec bash -eux "$SRC/build.sh"
