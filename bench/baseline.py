"""What the scripts of today share: cases and results in files, verdicts, the clock.

A file of cases (bench_cases) is in the safetensors format: case 7 is 00007.x, 00007.y and
00007.bias, with results to judge beside them, 00007.right and 00007.wrong."""
import argparse
import json
import resource
import sys
import time

BYTES = {"BF16": 2, "F16": 2, "F32": 4}
GIVEN = ("right", "wrong")


def read_tensors(path):
    """name -> (dtype as the format spells it, shape, bytes)"""
    with open(path, "rb") as f:
        size = int.from_bytes(f.read(8), "little")
        header = json.loads(f.read(size))
        data = f.read()
    header.pop("__metadata__", None)
    return {
        name: (t["dtype"], t["shape"], data[t["data_offsets"][0] : t["data_offsets"][1]])
        for name, t in header.items()
    }


def write_tensors(path, tensors):
    """tensors: name -> (dtype, shape, bytes)"""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for _, _, data in tensors.values():
            f.write(data)


def read_cases(path, convert):
    """The cases in order, each a dict of its tensors, converted by convert(dtype, shape, bytes)."""
    cases = {}
    for name, tensor in read_tensors(path).items():
        index, part = name.split(".")
        cases.setdefault(int(index), {})[part] = convert(*tensor)
    return [cases[i] for i in sorted(cases)]


def parser(text):
    p = argparse.ArgumentParser(description=text)
    p.add_argument("cases", help="a file of bench_cases")
    p.add_argument("--seconds", type=float, default=5, help="how long to measure")
    p.add_argument("--results", help="where the results go (safetensors)")
    p.add_argument("--verdicts", help="where the verdicts go (lines of case, result, verdict)")
    return p


def used():
    """Seconds of processor time, that of compilers included which have ended."""
    total = 0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


class Run:
    """Cases judged one after the other until the time is up; over again if `repeat`."""

    def __init__(self, cases, examine, repeat):
        """examine(case) -> {strategy: (result, passed)}"""
        self.cases, self.examine, self.repeat = cases, examine, repeat
        self.outcome = {}

    def measure(self, seconds):
        """(cases, seconds of processor time) after so many seconds; the first case warms up and
        is not counted"""
        self.outcome[0] = self.examine(self.cases[0])
        done, begin, begin_used = 0, time.perf_counter(), used()
        while time.perf_counter() - begin < seconds:
            index = (done + 1) % len(self.cases)
            if index == 0 and not self.repeat:
                break
            self.outcome[index] = self.examine(self.cases[index])
            done += 1
        return done, used() - begin_used


def write_verdicts(path, run, judge_given):
    """Of the given results of all cases, and of the others of those cases that ran.

    judge_given(case, name) -> passed"""
    with open(path, "w", encoding="ascii") as f:
        for index, case in enumerate(run.cases):
            outcome = run.outcome.get(index, {})
            verdicts = {name: passed for name, (_, passed) in outcome.items()}
            verdicts.update({name: judge_given(case, name) for name in GIVEN if name in case})
            for name, passed in verdicts.items():
                f.write(f"{index}\t{name}\t{'pass' if passed else 'fail'}\n")


def write_results(path, run, to_tensor):
    """to_tensor(result) -> (dtype, shape, bytes)"""
    write_tensors(
        path,
        {
            f"{index:05d}.{name}": to_tensor(result)
            for index, outcome in sorted(run.outcome.items())
            for name, (result, _) in outcome.items()
        },
    )


def absent(what):
    """Ends a script whose library is not there."""
    print(f"baseline: {what}", file=sys.stderr)
    sys.exit(4)
