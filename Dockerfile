# Fuzzes every engine that is in it by default; scripts/image.sh has what else it does.
#
#   docker build -t precfuzz .                   # --target small: without PyTorch, 1.2 GB less
#   docker run --rm precfuzz                                          # for 60 s
#   docker run --rm -v precfuzz:/data precfuzz fuzz 3600              # corpora and crashes are kept
#   docker run --rm -v findings:/findings precfuzz fuzz --hours 24    # docs/continuous.md
#   docker run --rm -v findings:/findings precfuzz ci --seconds 300
#   docker run --rm -v "$PWD:/data" precfuzz check case.txt           # any command of precfuzz
#   docker run --rm precfuzz test
#   docker run --rm --tmpfs /tmp:exec precfuzz test-pytorch           # do the rows describe PyTorch?
#   docker run --rm precfuzz isas onednn
#   docker run --rm --tmpfs /tmp:exec precfuzz programs               # do they show the findings?
#
# It needs neither network nor privileges, and runs as any user:
#
#   docker run --rm --network none --cap-drop ALL --security-opt no-new-privileges \
#     --read-only --tmpfs /tmp --user 12345 precfuzz
ARG BASE=debian:trixie-slim

# What it runs on: both fuzzing engines, the exact oracle, the libraries.  Nothing of precfuzz is
# needed here, so that a change to it installs nothing again.  The libraries' headers are for programs
# that show findings (docs/findings/), and for tests that hold our numbers against them.
FROM ${BASE} AS runtime
RUN echo 'path-exclude /usr/lib/*/openblas-pthread/*.a' >/etc/dpkg/dpkg.cfg.d/openblas && \
    apt-get update && apt-get install -y --no-install-recommends \
      afl++ clang gnuplot-nox jq libcmocka0 libgmp10 libjansson4 libmpfr6 libnettle8t64 \
      libprotobuf-c1 libzip5 llvm python3-jsonschema tini \
      libblas3 libblis4-pthread libdnnl-dev libdnnl3.6 libonnxruntime-dev libonnxruntime1.21 \
      libopenblas-pthread-dev libopenblas0-pthread libpthreadpool-dev libxnnpack-dev \
      libxnnpack0.20241108 && \
    rm -rf /var/lib/apt/lists/*

# What builds it, beside that.
FROM runtime AS tools
COPY scripts/setup.sh /tmp/
RUN apt-get update && /tmp/setup.sh && rm -rf /tmp/setup.sh /var/lib/apt/lists/*

FROM tools AS build
WORKDIR /precfuzz
ARG WERROR=
COPY Makefile ./
COPY bench/bench.mk bench/
COPY include include
COPY oracle oracle
COPY src src
COPY fuzz fuzz
COPY examples examples
RUN make WERROR=${WERROR}
# Built on one machine, run on another: without the tests that are for this processor alone, and
# without sanitizers and other optimisation, of which nothing in here changes what they see.
COPY tests tests
RUN make -j"$(nproc)" tests WERROR=${WERROR} NATIVE= SANITIZED= VALUES= VERDICTS=
COPY . .
RUN rm -rf build/obj && strip --strip-debug build/test*/test_*

FROM runtime AS user
RUN useradd --uid 1000 --home-dir /data --no-create-home fuzz && install -d -m 1777 /data /findings
ENTRYPOINT ["tini", "--", "/precfuzz/scripts/image.sh"]
CMD ["fuzz"]

FROM user AS small
COPY --from=build /precfuzz /precfuzz
USER fuzz
# Where a user's files are mounted, and what is found is kept.
WORKDIR /data

# PyTorch, with all that torch.compile takes: it asks for a user's name, compiles C++ and includes
# headers of Python's and its own.
FROM user AS pytorch
ENV USER=fuzz
RUN apt-get update && apt-get install -y --no-install-recommends \
      g++ libtorch-dev python3-dev python3-setuptools python3-torch && \
    rm -rf /var/lib/apt/lists/*

# What PyTorch compiles takes ten minutes of a processor, and depends on little.
FROM pytorch AS compiled
WORKDIR /precfuzz
COPY scripts/inductor_compile.py scripts/
RUN OMP_NUM_THREADS=1 python3 scripts/inductor_compile.py --jobs "$(nproc)" build/inductor
COPY Makefile ./
COPY bench/bench.mk bench/
COPY src/engines/torch_ops_shim.cpp src/engines/
RUN make torch-ops

FROM pytorch AS full
COPY --from=build /precfuzz /precfuzz
COPY --from=compiled /precfuzz/build /precfuzz/build
USER fuzz
WORKDIR /data
