#!/usr/bin/env python3
"""The job without PyTorch: the three strategies in NumPy, each output element held against an exact
sum by gmpy2 (by mpmath where that is missing), with the tolerances of torch.testing.assert_close.

Prints cases and seconds of processor time, with a tab between.  Exit status 4: NumPy or both of the
others are missing."""
import baseline

try:
    import numpy as np
except ImportError:
    baseline.absent("NumPy is not installed")
try:
    import gmpy2

    ORACLE = f"gmpy2 {gmpy2.version()}"
except ImportError:
    gmpy2 = None
    try:
        import mpmath

        ORACLE = f"mpmath {mpmath.__version__}"
    except ImportError:
        baseline.absent("neither gmpy2 nor mpmath is installed")

PRECISION = 700  # bits: every sum of f32 products here is exact
# relative, absolute
TOLERANCE = {"BF16": (1.6e-2, 1e-5), "F16": (1e-3, 1e-5), "F32": (1.3e-6, 1e-5)}


def decode(dtype, shape, data):
    if dtype == "BF16":
        wide = np.frombuffer(data, dtype="<u2").astype(np.uint32) << 16
        values = wide.view(np.float32)
    else:
        values = np.frombuffer(data, dtype="<f4" if dtype == "F32" else "<f2").astype(np.float32)
    return dtype, values.reshape(shape)


def round_to(dtype, v):
    """f32 values rounded to the nearest of the dtype, as f32"""
    if dtype == "F16":
        return v.astype(np.float16).astype(np.float32)
    if dtype == "BF16":
        bits = np.asarray(v, dtype=np.float32).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)
    return v


def to_tensor(result):
    dtype, v = result
    if dtype == "BF16":
        data = (v.view(np.uint32) >> 16).astype("<u2")
    else:
        data = v.astype("<f4" if dtype == "F32" else "<f2")
    return dtype, v.shape, data.tobytes()


def strategies(x, y, bias, dtype):
    library = round_to(dtype, round_to(dtype, np.matmul(x, y)) + bias)
    return {
        "eager": library,
        "aot_eager": library.copy(),
        "inductor": round_to(dtype, np.matmul(x, y) + bias),
    }


def as_stacks(x, y):
    """x [B, M, K] and y [B, K, N], as torch.matmul sees them"""
    x = x[None, :] if x.ndim == 1 else x
    y = y[:, None] if y.ndim == 1 else y
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    return (np.broadcast_to(x, batch + x.shape[-2:]).reshape(-1, *x.shape[-2:]),
            np.broadcast_to(y, batch + y.shape[-2:]).reshape(-1, *y.shape[-2:]))


def dot(x, y, bias):
    if gmpy2:
        total = gmpy2.mpfr(bias)
        for a, b in zip(x, y):
            total += gmpy2.mpfr(a) * b
        return total
    return mpmath.fdot(x, y) + mpmath.mpf(bias)


def exact(case, shape):
    x, y = as_stacks(case["x"][1], case["y"][1])
    bias = np.broadcast_to(case["bias"][1], shape).reshape(-1).tolist()
    rows = [(a.tolist(), b.T.tolist()) for a, b in zip(x, y)]
    return [dot(line, column, bias.pop(0)) for a, b in rows for line in a for column in b]


def is_close(got, want, dtype):
    relative, absolute = TOLERANCE[dtype]
    return all(abs(g - w) <= absolute + relative * abs(w)
               for g, w in zip(got.reshape(-1).tolist(), want))


def examine(case):
    dtype = case["x"][0]
    results = strategies(case["x"][1], case["y"][1], case["bias"][1], dtype)
    want = exact(case, results["eager"].shape)
    return {name: ((dtype, got), is_close(got, want, dtype)) for name, got in results.items()}


def judge_given(case, name):
    dtype, got = case[name]
    return is_close(got, exact(case, got.shape), dtype)


def main():
    p = baseline.parser(__doc__)
    p.add_argument("--repeat", action="store_true", help="begin again at the last case")
    p.add_argument("--version", action="version", version=f"NumPy {np.__version__}, {ORACLE}")
    options = p.parse_args()
    if gmpy2:
        gmpy2.get_context().precision = PRECISION
    else:
        mpmath.mp.prec = PRECISION
    np.seterr(all="ignore")
    run = baseline.Run(baseline.read_cases(options.cases, decode), examine, options.repeat)
    done, seconds = run.measure(options.seconds)
    print(f"{done}\t{seconds:.6f}")
    if options.results:
        baseline.write_results(options.results, run, to_tensor)
    if options.verdicts:
        baseline.write_verdicts(options.verdicts, run, judge_given)


if __name__ == "__main__":
    main()
