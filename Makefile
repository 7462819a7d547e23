# precfuzz: build, test and fuzz.  GNU make.
#
#   make              build/precfuzz and build/replay/*; where clang and AFL++ are, all fuzzers
#   make fuzz         sets up what is missing, fuzzes TARGET=fuzz_matmul for FUZZ_SECONDS=60, divided
#                     between our own orders and the libraries that are there (or ENGINES='...')
#   make test         sets up what is missing, builds and runs all tests
#   make test-pytorch do the rows describe PyTorch, as recorded and as installed?  docs/pytorch.md
#   make test-faults  both fuzzing engines must find each planted fault
#   make test-models  what is read of models, against their Python libraries and on real models
#   make test-triage  triage must sort crash files of both engines by the faults planted
#   make seeds        seeds written by hand, from corpus/seeds.txt and corpus/refused.txt
#   make corpus       all seeds that are shipped: also from recorded cases and from real models
#   make bench        measures speed, docs/performance.md (bench/bench.mk)
#   make inductor     graphs for the engine inductor, by PyTorch (minutes; docs/engines.md)
#   make torch-ops    operators for the engine torch-ops, by C++ (docs/engines.md)
#   make setup        installs what is missing (root, apt), or says what is
#   make install      to $(DESTDIR)$(PREFIX)
#   make clean
#
# config.mk, where present, and the command line override what is set by ?= below.  A new target,
# test or source file is found by its place and name; nothing is listed here.
-include config.mk

CLANG  ?= clang
PROTOC ?= protoc-c
AFL_CC ?= afl-clang-fast
PYTHON ?= python3
CFLAGS ?= -O2 -g
SAN    ?= -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LIBS   ?= -ljansson -lzip -lprotobuf-c -lnettle -lmpfr -lgmp -lm -ldl
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)

FUZZ_SECONDS ?= 60
TARGET       ?= fuzz_matmul
ENGINES      ?=
# What libFuzzer runs: libfuzzer, or asan for the build with sanitizers.
FLAVOUR      ?= libfuzzer

WARN := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla
BASE := -std=c11 -D_GNU_SOURCE $(WARN) -Iinclude -Isrc -Ioracle -Ifuzz -Itests \
        -isystem build/protobuf -MMD -MP
# Behind everything else: a contracted or reordered sum is not the sum that is claimed.
FP   := -ffp-contract=off -fno-fast-math

SRC     := $(filter-out src/cli/%,$(wildcard src/*.c src/*/*.c))
CLI     := $(wildcard src/cli/*.c)
TARGETS := $(patsubst fuzz/%.c,%,$(wildcard fuzz/fuzz_*.c))
SHARED  := $(filter-out fuzz/fuzz_%.c fuzz/replay.c,$(wildcard fuzz/*.c))
PROTO   := $(patsubst src/%.proto,build/protobuf/%.pb-c.c,$(wildcard src/*.proto))
LIB     := $(SRC) $(PROTO) $(wildcard oracle/*.c) $(SHARED)
TESTS   := $(patsubst tests/%.c,%,$(wildcard tests/test_*.c))
SCRIPTS := $(wildcard tests/test_*.sh)
EXAMPLES := $(patsubst examples/%.c,build/plugin/%.so,$(wildcard examples/*.c))
PLUGINS := $(EXAMPLES) $(patsubst tests/plugins/%.c,build/plugin/%.so,$(wildcard tests/plugins/*.c))

comma := ,
have  = $(if $(shell command -v $1),$2)
BUILD = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

export AFL_QUIET := 1

PROGRAMS  := build/precfuzz $(TARGETS:%=build/replay/%)
LIBFUZZER := $(TARGETS:%=build/libfuzzer/%)
ASAN      := $(TARGETS:%=build/asan/%)
AFL       := $(TARGETS:%=build/afl/%)
CMPLOG    := $(TARGETS:%=build/cmplog/%)

.PHONY: all setup fuzz test test-pytorch test-faults test-models test-triage seeds corpus inductor \
  torch-ops install clean programs examples covered libfuzzer asan afl cmplog tests FORCE
.SECONDARY:
.DELETE_ON_ERROR:

all:
	+@$(BUILD) programs examples $(call have,$(CLANG),libfuzzer asan) $(call have,$(AFL_CC),afl cmplog)
programs: $(PROGRAMS)
examples: $(EXAMPLES)
libfuzzer: $(LIBFUZZER)
asan: $(ASAN)
afl: $(AFL)
cmplog: $(CMPLOG)

# What guides a search: the branches of the decoder, of shapes and layouts, of readers and of the
# kernels under test.  The judge's tell a fuzzer of numbers, not of kernels, and cost it more than
# half of its time: all else is compiled without coverage.  (replay.c is AFL++'s main.)
GUIDE := $(wildcard src/form_*.c src/faults/*.c src/npy*.c src/regression_read.c \
         src/npz*.c src/onnx*.c src/gguf*.c src/safetensors*.c src/tensorfile*.c fuzz/fuzz_*.c) \
         src/case.c src/operand.c src/engine.c fuzz/replay.c

# One compiler with its flags, its objects in build/obj/NAME.  They are made again when the command
# changes, too.
# $(call flavour,NAME,COMPILER,FLAGS[,COVERAGE FLAGS[,COMPILER WITHOUT COVERAGE]])
define flavour
guide_$1 = $2 $(BASE) $(CFLAGS) $3 $4 $(FP)
compile_$1 = $(or $5,$2) $(BASE) $(CFLAGS) $3 $(FP)
build/obj/$1/%.o: %.c build/obj/$1/command | $(PROTO)
	@mkdir -p $$(@D)
	@echo '  $2 $$@'
	@$$(if $$(filter $(GUIDE),$$<),$$(guide_$1),$$(compile_$1)) $(if $(filter 1,$(WERROR)),-Werror) \
	  -c $$< -o $$@
build/obj/$1/command: FORCE
	@mkdir -p $$(@D)
	@echo '$$(guide_$1) $$(compile_$1) $$(GUIDE)' | cmp -s - $$@ || \
	  echo '$$(guide_$1) $$(compile_$1) $$(GUIDE)' >$$@
endef

# What protobuf-c makes of a description: before anything is compiled, as it makes headers, too.
build/protobuf/%.pb-c.c: src/%.proto
	@mkdir -p $(@D)
	@echo '  $(PROTOC) $@'
	@$(PROTOC) -Isrc --c_out=$(@D) $< 2>$@.log || { cat $@.log >&2; exit 1; }

# $(call objects,NAME,SOURCES)
objects = $(patsubst %.c,build/obj/$1/%.o,$2)

# What is linked changes with the list of files, too.
build/obj/files: FORCE
	@mkdir -p $(@D)
	@echo '$(CLI) $(LIB)' | cmp -s - $@ || echo '$(CLI) $(LIB)' >$@

# Programs of one folder: each has its own source, and what all of them link.
# $(call link,FOLDER,FLAVOUR,SOURCES' FOLDER,COMMON SOURCES,FLAGS,LIBRARIES[,OBJECTS])
define link
$1/%: build/obj/$2/$3/%.o $(call objects,$2,$4) $7 build/obj/files
	@mkdir -p $$(@D)
	@echo '  link $$@'
	@$$(guide_$2) $5 $$(filter %.o,$$^) $6 -o $$@
endef

$(eval $(call flavour,cc,$(CC),))
$(eval $(call flavour,libfuzzer,$(CLANG),,-fsanitize=fuzzer-no-link))
$(eval $(call flavour,asan,$(CLANG),$(SAN),-fsanitize=fuzzer-no-link))
$(eval $(call flavour,afl,$(AFL_CC),,,$(CLANG)))
$(eval $(call flavour,cmplog,AFL_LLVM_CMPLOG=1 $(AFL_CC),))
$(eval $(call link,build/replay,cc,fuzz,fuzz/replay.c $(LIB),,$(LIBS)))
$(eval $(call link,build/libfuzzer,libfuzzer,fuzz,$(LIB),-fsanitize=fuzzer,$(LIBS)))
$(eval $(call link,build/asan,asan,fuzz,$(LIB),-fsanitize=fuzzer,$(LIBS)))
$(eval $(call link,build/afl,afl,fuzz,fuzz/replay.c $(LIB),,$(LIBS)))
# AFL++ sees what the guided parts compare, too; the others are the same.
$(eval $(call link,build/cmplog,cmplog,fuzz,fuzz/replay.c $(filter $(GUIDE),$(LIB)),,$(LIBS),\
  $(call objects,afl,$(filter-out $(GUIDE),$(LIB)))))

build/precfuzz: $(call objects,cc,$(CLI) $(LIB)) build/obj/files
	@echo '  link $@'
	@$(compile_cc) $(filter %.o,$^) $(LIBS) -o $@

# As ClusterFuzz, OSS-Fuzz and ClusterFuzzLite build them, with their compilers, flags and engine:
# .clusterfuzzlite/build.sh.  What runs them has no library of ours.  All are linked statically but
# libzip, of which distributions have no archive: it is beside the one target that reads .npz.
# What is compiled without coverage is so here, too, whichever way they ask for it.
ifdef LIB_FUZZING_ENGINE
COVERAGE := $(filter -fsanitize=fuzzer-no-link -fsanitize-coverage=%,$(CFLAGS))
override CFLAGS := $(filter-out $(COVERAGE),$(CFLAGS))
PLAIN    := $(if $(filter afl honggfuzz,$(FUZZING_ENGINE)),$(CLANG),$(CC))
OUTSIDE  := out-$(FUZZING_ENGINE)-$(SANITIZER)
OUT_LIBS := -Wl,-Bstatic $(filter-out -lzip -lm -ldl,$(LIBS)) -Wl,-Bdynamic -Wl,--as-needed -lzip -lm -ldl
$(eval $(call flavour,$(OUTSIDE),$(CC),,$(COVERAGE),$(PLAIN)))
# A target takes of it what it uses.
build/obj/$(OUTSIDE)/all.a: $(call objects,$(OUTSIDE),$(LIB)) build/obj/files
	@rm -f $@
	@ar rcs $@ $(filter %.o,$^)
$(OUT)/%: build/obj/$(OUTSIDE)/fuzz/%.o build/obj/$(OUTSIDE)/all.a
	@echo '  link $@'
	@$(CXX) $(CXXFLAGS) $^ $(LIB_FUZZING_ENGINE) $(OUT_LIBS) \
	  -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/lib' -o $@
.PHONY: out
out: $(TARGETS:%=$(OUT)/%)
endif

# Targets that count which of their lines run: scripts/coverage.sh.
$(eval $(call flavour,cov,$(CLANG),-fprofile-instr-generate -fcoverage-mapping))
$(eval $(call link,build/cov,cov,fuzz,fuzz/replay.c $(LIB),,$(LIBS)))
COVERED := $(TARGETS:%=build/cov/%) build/cov/precfuzz
build/cov/precfuzz: $(call objects,cov,$(CLI) $(LIB)) build/obj/files
	@mkdir -p $(@D)
	@echo '  link $@'
	@$(guide_cov) $(filter %.o,$^) $(LIBS) -o $@
covered: $(COVERED) $(PLUGINS)

# Engines as shared objects: the examples, and those that tests need.
build/plugin/%.so: examples/%.c include/precfuzz/engine.h
	$(plugin)
build/plugin/%.so: tests/plugins/%.c include/precfuzz/engine.h
	$(plugin)
define plugin
@mkdir -p $(@D)
@echo '  $(CC) $@'
@$(CC) -std=c11 -D_GNU_SOURCE $(WARN) $(if $(filter 1,$(WERROR)),-Werror) -Iinclude $(CFLAGS) $(FP) \
  -fPIC -shared $< -o $@
endef

# Tests by the default compiler, and by clang with sanitizers.
$(eval $(call flavour,san,$(CLANG),$(SAN)))
$(eval $(call link,build/test,cc,tests,$(LIB),,-lcmocka $(LIBS)))
$(eval $(call link,build/test-san,san,tests,$(LIB),,-lcmocka $(LIBS)))
# The generator of values must give the same bits whatever compiles it.
GENERATOR := $(wildcard src/values*.c) src/dtype.c src/format.c
define values
$(eval $(call flavour,$1,$2,$3))
$(eval $(call link,build/test-$1,$1,tests,$(GENERATOR),,-lcmocka $(LIBS)))
VALUES += $$(filter build/test-$1/test_values%,$$(TESTS:%=build/test-$1/%))
endef
$(eval $(call values,cc-O0,$(CC),-O0))
$(eval $(call values,cc-O3,$(CC),-O3))
$(eval $(call values,clang-O0,$(CLANG),-O0))
$(eval $(call values,clang-O3,$(CLANG),-O3))
build/plugin/fake_blas64.so: tests/plugins/fake_blas.c
build/plugin/fake_dnnl.so: src/engines/onednn_abi.h
build/plugin/fake_ort.so: src/engines/ort_abi.h
build/plugin/fake_xnnpack.so: src/engines/xnnpack_abi.h
build/plugin/fake_torch.so: src/engines/torch_abi.h src/engines/onednn_abi.h tests/plugins/fake_torch.h
build/plugin/fake_inductor.so: src/engines/torch_abi.h tests/plugins/fake_torch.h

# What certified arithmetic promises must hold whatever is made of it.
CERTIFIED := test_certified test_enclosure_block test_enclosure_loops test_enclosure_same
NUMERIC   := $(wildcard src/enclosure*.c src/reference*.c src/round*.c src/format*.c src/set*.c) \
             $(patsubst %,src/%.c,bound certified special)
define native
$(eval $(call flavour,$1,$2,-O3 -march=native))
$(eval $(call link,build/test-$1,$1,tests,$(NUMERIC),,-lcmocka $(LIBS),\
  $(call objects,cc,$(filter-out $(NUMERIC),$(LIB)))))
NATIVE += $$(CERTIFIED:%=build/test-$1/%)
endef
$(eval $(call native,cc-native,$(CC)))
$(eval $(call native,clang-native,$(CLANG)))

# Everything between the bytes of a case and its verdict, by each of the flavours of the generator.
VERDICT := $(NUMERIC) $(wildcard src/values*.c src/form_fuzz*.c src/form_archive*.c src/case*.c \
           src/operand*.c src/problem*.c src/scale*.c src/dtype*.c src/row*.c src/interpret*.c \
           src/engine_reference*.c src/legalise*.c src/check*.c src/rule*.c src/session*.c oracle/*.c)
define verdicts
$(eval $(call link,build/verdicts-$1,$1,tests,$(VERDICT),,-lcmocka $(LIBS),\
  $(call objects,cc,$(filter-out $(VERDICT),$(LIB)))))
VERDICTS += build/verdicts-$1/test_verdicts
endef
$(foreach flavour,cc-O0 cc-O3 clang-O0 clang-O3,$(eval $(call verdicts,$(flavour))))
SANITIZED := $(TESTS:%=build/test-san/%)
CHECKS := $(SANITIZED) $(TESTS:%=build/test/%) $(VALUES) $(NATIVE) $(VERDICTS)
tests: $(CHECKS) $(PLUGINS)

include bench/bench.mk

setup:
	@CC='$(CC)' CLANG='$(CLANG)' AFL_CC='$(AFL_CC)' scripts/setup.sh

# What could not be built is counted as failed by the script.
test: setup
	+@$(BUILD) -k all tests || true
	@scripts/test.sh $(SCRIPTS) $(CHECKS)

fuzz: setup
	+@$(BUILD) programs build/$(FLAVOUR)/$(TARGET) build/afl/$(TARGET)
	@FLAVOUR=$(FLAVOUR) scripts/fuzz_each.sh $(TARGET) $(FUZZ_SECONDS) $(ENGINES)

test-pytorch:
	+@$(BUILD) programs
	@scripts/conformance.sh all build/pytorch

test-faults: setup
	+@$(BUILD) programs build/libfuzzer/$(TARGET) build/afl/$(TARGET)
	@scripts/test_faults.sh $(TARGET) $(FAULTS)

test-models: setup
	@scripts/models.sh build/models
	+@$(BUILD) build/precfuzz
	@MODELS_LARGE=1 TEST_SECONDS=1800 scripts/test.sh tests/test_models.sh

test-triage: setup
	+@$(BUILD) programs build/libfuzzer/fuzz_matmul build/afl/fuzz_matmul
	@scripts/test_triage.sh

seeds:
	+@$(BUILD) programs
	@scripts/seeds.sh corpus

# Seeds are minimized by both engines' builds of the target.
corpus: setup
	@scripts/models.sh build/models
	+@$(BUILD) programs build/libfuzzer/fuzz_matmul build/afl/fuzz_matmul
	@scripts/seeds.sh corpus
	@scripts/corpus.sh corpus

# Of what one processor compiles another with fewer instructions can run nothing.
inductor:
	OMP_NUM_THREADS=1 $(PYTHON) scripts/inductor_compile.py --jobs $(JOBS) build/inductor

# Operators of libtorch for the engine torch-ops; needs its headers (libtorch-dev), or a wheel's:
# TORCH=.../site-packages/torch.
CXX   ?= c++
TORCH ?=
torch-ops: build/torch/ops.so
build/torch/ops.so: src/engines/torch_ops_shim.cpp
	@mkdir -p $(@D)
	@echo '  $(CXX) $@'
	@$(CXX) -std=c++17 -O2 -Wall -Wextra -fPIC -shared $< -o $@ \
	  $(if $(TORCH),-isystem $(TORCH)/include -L$(TORCH)/lib) -ltorch_cpu -lc10

install:
	+@$(BUILD) programs
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/precfuzz \
	  $(DESTDIR)$(PREFIX)/include/precfuzz $(DESTDIR)$(PREFIX)/share/precfuzz/regressions
	install -m 644 corpus/regressions/* $(DESTDIR)$(PREFIX)/share/precfuzz/regressions
	install -m 644 include/precfuzz/engine.h $(DESTDIR)$(PREFIX)/include/precfuzz
	install build/precfuzz $(DESTDIR)$(PREFIX)/bin
	install $(TARGETS:%=build/replay/%) $(DESTDIR)$(PREFIX)/libexec/precfuzz
	if [ -f build/inductor/manifest ]; then install -d $(DESTDIR)$(PREFIX)/lib/precfuzz/inductor && \
	  install build/inductor/* $(DESTDIR)$(PREFIX)/lib/precfuzz/inductor; fi
	if [ -f build/torch/ops.so ]; then install -D -t $(DESTDIR)$(PREFIX)/lib/precfuzz/torch \
	  build/torch/ops.so; fi

clean:
	rm -rf build

-include $(shell find build/obj -name '*.d' 2>/dev/null)
