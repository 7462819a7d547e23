#!/usr/bin/env python3
"""The job as it is done with PyTorch today: matmul(x, y) + bias by eager, aot_eager and inductor,
each held against float64 by torch.testing.assert_close with its default tolerances.

Prints cases and seconds of processor time, with a tab between.  Exit status 4: there is no PyTorch
that can compile."""
import os

import baseline

os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no pool of processes: their time would be lost

try:
    import torch
except ImportError:
    baseline.absent("PyTorch is not installed")

DTYPES = {"BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def to_torch(dtype, shape, data):
    return torch.frombuffer(bytearray(data), dtype=DTYPES[dtype]).reshape(shape)


def to_tensor(result):
    raw = result.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return NAMES[result.dtype], result.shape, raw


def graph(x, y, bias):
    return torch.matmul(x, y) + bias


def exact(case):
    return graph(case["x"].double(), case["y"].double(), case["bias"].double())


def is_close(got, want):
    try:
        torch.testing.assert_close(got, want.to(got.dtype))
    except AssertionError:
        return False
    return True


def examiner(shapes):
    """shapes: "static", compiled for each shape anew; "automatic", as torch.compile decides."""
    compiled = {"eager": graph}
    for backend in ("aot_eager", "inductor"):
        dynamic = False if shapes == "static" else None
        compiled[backend] = torch.compile(graph, backend=backend, dynamic=dynamic)

    def examine(case):
        want = exact(case)
        outcome = {}
        for name, call in compiled.items():
            got = call(case["x"], case["y"], case["bias"])
            outcome[name] = (got, is_close(got, want))
        return outcome

    return examine


def compile_forever():
    """Without this dynamo falls back to eager after a few shapes."""
    for name in ("recompile_limit", "cache_size_limit", "accumulated_recompile_limit",
                 "accumulated_cache_size_limit"):
        if hasattr(torch._dynamo.config, name):
            setattr(torch._dynamo.config, name, 1 << 20)


def main():
    p = baseline.parser(__doc__)
    p.add_argument("--shapes", choices=("static", "automatic"), default="automatic")
    p.add_argument("--repeat", action="store_true", help="begin again at the last case")
    p.add_argument("--version", action="version", version=f"PyTorch {torch.__version__}")
    options = p.parse_args()
    if not hasattr(torch, "compile"):
        baseline.absent(f"PyTorch {torch.__version__} has no torch.compile")
    torch.set_num_threads(1)
    compile_forever()
    cases = baseline.read_cases(options.cases, to_torch)
    run = baseline.Run(cases, examiner(options.shapes), options.repeat)
    done, seconds = run.measure(options.seconds)
    print(f"{done}\t{seconds:.6f}")
    if options.results:
        baseline.write_results(options.results, run, to_tensor)
    if options.verdicts:
        baseline.write_verdicts(options.verdicts, run,
                                lambda case, name: is_close(case[name], exact(case)))


if __name__ == "__main__":
    main()
