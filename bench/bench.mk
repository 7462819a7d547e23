# Measures precfuzz and writes docs/performance.md with its plots.
#
#   make bench            everything, in about 25 minutes
#   make bench QUICK=1    a look, in about a minute; build/bench/quick/performance.md
#   make bench-python     build/venv with PyTorch (pip; 5 GB), which one part compares with
#
# scripts/bench.sh says what the variables BENCH_* do.
BENCH_MODES   ?= libfuzzer libfuzzer-fixed asan asan-fixed afl afl-asan
BENCH_TARGETS ?= $(if $(QUICK),fuzz_matmul,$(TARGETS))
export QUICK BENCH_MODES BENCH_TARGETS

.PHONY: bench bench-python bench-programs

# What precfuzz is measured against is made for this machine, multiplications and additions fused.
build/obj/native/arithmetic.o: bench/arithmetic.c build/obj/cc/command
	@mkdir -p $(@D)
	@echo '  $(CC) $@'
	@$(CC) $(BASE) $(CFLAGS) -O3 -march=native -ffp-contract=fast $(if $(filter 1,$(WERROR)),-Werror) \
	  -c $< -o $@

BENCH_PROGRAMS := $(patsubst bench/%.c,build/bench/%,$(wildcard bench/bench_*.c))
$(eval $(call link,build/bench,cc,bench,bench/bench.c bench/draw.c $(LIB),,$(LIBS)))
build/bench/bench_oracle: build/obj/native/arithmetic.o
build/bench/bench_memory: build/obj/cc/fuzz/fuzz_matmul.o

# The empty target, linked as every target is, and once without the library.
$(eval $(call flavour,afl-asan,$(AFL_CC),$(SAN),,$(CLANG)))
$(eval $(call link,build/bench/bare,libfuzzer,bench,,-fsanitize=fuzzer,))
$(eval $(call link,build/bench/libfuzzer,libfuzzer,bench,$(LIB),-fsanitize=fuzzer,$(LIBS)))
$(eval $(call link,build/bench/asan,asan,bench,$(LIB),-fsanitize=fuzzer,$(LIBS)))
$(eval $(call link,build/bench/afl,afl,bench,fuzz/replay.c $(LIB),,$(LIBS)))
$(foreach from,bench fuzz,$(eval $(call link,build/bench/afl-asan,afl-asan,$(from),fuzz/replay.c \
  $(LIB),,$(LIBS))))
# fixed_inputs.c comes first and hides a mutator of the targets' own.
FIRST_COUNTS := -fsanitize=fuzzer -Wl$(comma)-z$(comma)muldefs
$(foreach flavour,libfuzzer asan,$(foreach from,bench fuzz,$(eval $(call \
  link,build/bench/$(flavour)-fixed,$(flavour),$(from),bench/fixed_inputs.c \
  $(LIB),$(FIRST_COUNTS),$(LIBS)))))

# $(call bench_fuzzers,MODE): every target as this mode runs it, and the empty one.
bench_fuzzers = $(BENCH_TARGETS:%=$(if $(filter libfuzzer asan afl,$1),build,build/bench)/$1/%) \
  build/bench/$1/fuzz_empty $(if $(filter libfuzzer,$1),build/bench/bare/fuzz_empty)

bench-programs: $(BENCH_PROGRAMS) $(foreach mode,$(BENCH_MODES),$(call bench_fuzzers,$(mode)))

bench:
	@CC='$(CC)' CLANG='$(CLANG)' AFL_CC='$(AFL_CC)' scripts/setup.sh bench
	+@$(BUILD) bench-programs
	@CC='$(CC)' CLANG='$(CLANG)' AFL_CC='$(AFL_CC)' CFLAGS='$(CFLAGS)' scripts/bench.sh

bench-python:
	@scripts/setup.sh python
	python3 -m venv build/venv
	build/venv/bin/pip install --quiet numpy gmpy2 torch
