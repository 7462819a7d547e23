#!/bin/bash
# Writes docs/scale.md: what a second worker is worth by scripts/scale_measure.sh, which has the
# settings, what is known of more, and what to set for many machines.
#
#   scale_doc.sh [FILE [MEASURED]]     default docs/scale.md; MEASURED is what was measured before
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:-docs/scale.md} measured=${2:-}

work=$(mktemp -d)
part=$(mktemp "$file.XXXXXX")
trap 'rm -rf "$work" "$part"' EXIT
chmod 644 "$part"
load=$(cut -d ' ' -f 1-3 /proc/loadavg)
[ -n "$measured" ] || {
  measured=$work/measured
  scripts/scale_measure.sh "$work/runs" >"$measured"
}

# In the order in which engines and workers first come.
search_table()
{
  awk -F '\t' '
    $1 == "search" {
      key = $2 "\t" $3
      if (!(key in n)) order[++keys] = key
      n[key]++; executions[key] += $5; seconds[key] += $6; features[key] += $7
    }
    END {
      print "| engine | workers | runs | executions | seconds | executions per CPU-hour | features found | per CPU-hour |"
      print "|---|---:|---:|---:|---:|---:|---:|---:|"
      for (i = 1; i <= keys; i++) {
        key = order[i]; split(key, name, "\t"); hours = seconds[key] / 3600
        printf "| %s | %d | %d | %d | %.1f | %.1f million | %.0f | %.0f |\n", name[1], name[2], n[key],
          executions[key] / n[key], seconds[key] / n[key], executions[key] / hours / 1e6,
          features[key] / n[key], features[key] / hours
      }
    }' "$measured"
}

fault_table()
{
  awk -F '\t' '
    $1 == "fault" {
      key = $2 "\t" $3
      if (!(key in n)) order[++keys] = key
      n[key]++; executions[key] += $5; seconds[key] += $6; found[key] += $8
    }
    END {
      print "| engine | workers | searches | found | executions per find | finds per CPU-hour |"
      print "|---|---:|---:|---:|---:|---:|"
      for (i = 1; i <= keys; i++) {
        key = order[i]; split(key, name, "\t"); many = found[key] ? found[key] : 1
        printf "| %s | %d | %d | %d | %.0f | %.0f |\n", name[1], name[2], n[key], found[key],
          executions[key] / many, 3600 * found[key] / seconds[key]
      }
    }' "$measured"
}

shares()
{
  awk -F '\t' '
    $1 == "search" { features[$2, $3] += $7; if (!seen[$2]++) order[++engines] = $2 }
    END {
      for (i = 1; i <= engines; i++)
        printf "%s%.0f %% under %s", (i > 1 ? " and " : ""),
          100 * features[order[i], 2] / features[order[i], 1], order[i]
    }' "$measured"
}

faults() { awk -F '\t' '$1 == "fault" && !seen[$7]++ { printf "%s%s", gap, $7; gap = ", " }' "$measured"; }

cat >"$part" <<END
# Scale

Made by \`scripts/scale_doc.sh\`; edit neither.

## One worker and two

Both engines run \`fuzz_matmul\` from \`corpus/seeds\` to the same number of executions in all, once by
one worker and once by two that share what they find: libFuzzer's by a folder that each reads again,
AFL++'s as a main and a secondary instance. Seconds are those of processors, of the workers and all that
they start, so that what else runs counts little; the machine has $(nproc) processors, and its load was
$load. Features are libFuzzer's, of all inputs that were kept, beyond those of the seeds. Means of all
runs.

$(search_table)

The same with planted faults ($(faults)), from those seeds that do not show the fault,
until one worker has found it or all together have made the executions that were allowed:

$(fault_table)

Of the features that one worker found, two found in as many executions
$(shares). They run at the same time, each on a processor of its own; what they lose is what both find
before one has told the other. Seconds are looked up ten times a second, of which a busy machine loses the
last. Runs are few and short, by default, too: differences below a factor of two
are noise until more of them (\`SCALE_RUNS\`, \`SCALE_EXECUTIONS\`) say otherwise.

END
cat >>"$part" <<'END'
## What is known of more

- The same finds come linearly faster with more machines; new ones in the same time need exponentially
  more of them, for coverage and for faults alike. (Böhme and Falk, *Fuzzing: On the Exponential Cost of
  Vulnerability Discovery*, ESEC/FSE 2020: four CPU-years on almost three hundred programs.) Tenfold
  machines are for a tenth of the waiting, not for ten times the findings.
- What does find more is difference: an ensemble of unlike fuzzers that pass seeds to each other found
  more paths, branches and bugs than each of them with the same resources. (Chen and others, *EnFuzz*,
  USENIX Security 2019.) That is why libFuzzer and AFL++ share a corpus here.
- Instances of one fuzzer that only share a folder overlap: giving each other parts of the queue brought
  AFL 9.5 to 10.2 % more edges in 24 hours. (Wang and others, *Facilitating Parallel Fuzzing with
  Mutually-exclusive Task Distribution*, arXiv 2109.08635.)
- One machine ends somewhere. AFL, which forked for each execution, was 24 times slower a core on 120
  cores than it could be, for the file system and for fork. (Xu and others, *Designing New Operating
  Primitives to Improve Fuzzing Performance*, CCS 2017.) Our targets are persistent and do neither; even
  so AFL++ asks for 32 to 64 instances on one machine at most. (AFL++, `docs/fuzzing_in_depth.md`.)
- Hosts of AFL++ exchange main instances alone, every four hours or ten times in a run; never to exchange
  has its point, too, as islands search differently. (The same.)

## What to set for 100 machines

The first thing to divide is what is judged, not the corpus: a library, an instruction set or a rule that
nobody looked at has findings that are cheap, and the hundredth machine on the reference engine has none.

| what | set | why |
|---|---|---|
| engines | `PRECFUZZ_ENGINES` for each host: each library in turn, before a second host has the same | findings are an engine's |
| instruction sets | `scripts/isas.sh`'s variables, by host; processors of several makers | kernels are chosen by them |
| rules and rows | most hosts `contract`; a few `graph` and `agree` (`PRECFUZZ_RULE`, `PRECFUZZ_STRATEGIES`) | other questions |
| seeds | other models on each host (`precfuzz seed`, [seeds.md](seeds.md)) | islands start apart |
| known findings | one `corpus/regressions` for all (`PRECFUZZ_KNOWN`) | no host stops at what another has found |
| processes | a main instance and up to 31 secondary ones for each host, libFuzzer on a fourth of the processors | beyond 32 a machine gives less |
| exchange | `--every 14400`, or a tenth of a short run, which is what it is by default | see above |
| memory | 200 MB a process, and `AFL_TESTCACHE_SIZE=200` where there is more | inputs are not read again |

### By hand: AFL++ on many hosts

    scripts/afl_hosts.sh fuzz_matmul 86400 FOLDER --sync SHARED --secondaries 15

on each host (`docker run ... precfuzz hosts ...` in the image; a single machine is
[continuous.md](continuous.md)'s): SHARED is a folder that all of them see, as a network's file system; or one that is carried,
every so often, to where all hosts' are gathered, and from there to each:

    rsync -a SHARED/main-$(uname -n) gather:shared/ && rsync -a gather:shared/ SHARED/

Each host gives what nobody has given yet, by content, and takes what is new to it. FOLDER stays the
host's: after a crash or a reboot the same command goes on. What crashed is in `SHARED/*/crashes`:

    for crashes in SHARED/*/crashes; do build/precfuzz triage "$crashes" --engine NAME -o reports; done

### By ClusterFuzz, OSS-Fuzz or ClusterFuzzLite

`.clusterfuzzlite/` is what each of them asks for: `build.sh` takes compilers, flags and engine as they set
them and puts into `$OUT` every target with its seeds, libFuzzer's options and, for readers of files, a
dictionary. Libraries are linked statically, but for libzip, which lies in `$OUT/lib`. For ClusterFuzzLite
nothing is to be done but to call its actions; in OSS-Fuzz's `projects/precfuzz` the `Dockerfile` has `git
clone` in place of `COPY`; ClusterFuzz takes zips of `$OUT`. Set there:

| what | set |
|---|---|
| jobs | libFuzzer with address (which also prunes the corpus), libFuzzer with undefined, AFL with address; coverage once a day |
| machines | most of them libFuzzer's: its corpus is every engine's |
| ClusterFuzzLite | `mode: batch`, `fuzz-seconds: 3600`, `storage-repo` for the corpus; `prune` and `coverage` daily; `code-change` on each change |
| findings | grouped as precfuzz does: by the line `ASSERTION FAILED` and the frame `finding_NN` ([crashes.md](crashes.md)) |
| engines | the reference engine: libraries are not in their images |

`scripts/cfl_check.sh` builds all of it in an image that stands in for theirs, for libFuzzer with address,
undefined and coverage and for AFL++ with address, and holds each target to their rules: it starts
elsewhere, in an empty folder and environment, needs no library that is not there, has the calls that its
sanitizer makes and no other's, runs its seeds, an empty input and one input a hundred times over, takes
its options and dictionary, and leaves nothing behind. What it cannot show is their services, and their
compiler: Debian's stands in for it.
END
mv "$part" "$file"
