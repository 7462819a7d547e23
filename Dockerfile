# Fuzzes by default:
#
#   docker build -t precfuzz .
#   docker run --rm --network none --cap-drop ALL --security-opt no-new-privileges precfuzz
#   docker run --rm -e FUZZ_SECONDS=3600 -v precfuzz:/precfuzz/build/fuzz precfuzz
#
# The volume keeps corpora and crashes.  Any command may follow: `precfuzz make test`.
ARG BASE=debian:trixie-slim
FROM ${BASE}

# A layer of its own, made again only when what is needed changes.
COPY scripts/setup.sh /tmp/
RUN /tmp/setup.sh && rm -rf /tmp/setup.sh /var/lib/apt/lists/*

RUN useradd --uid 1000 --home-dir /precfuzz --no-create-home fuzz && \
    install -d -o fuzz -g fuzz /precfuzz
USER fuzz
WORKDIR /precfuzz
COPY --chown=fuzz:fuzz . .
RUN make && mkdir build/fuzz

CMD ["make", "fuzz"]
