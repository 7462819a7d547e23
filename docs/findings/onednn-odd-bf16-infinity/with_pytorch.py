# x @ y: what backends of PyTorch answer, and what is exact.
# matmul x=bf16[2,1] y=bf16[1,2]
import math, os, sys
os.environ.update({"OMP_NUM_THREADS": "1", "DNNL_MAX_CPU_ISA": "AVX512_CORE", **os.environ})
import torch
from fractions import Fraction
def tensor(dtype, sizes, strides, offset, storage):
    return torch.tensor([*bytes.fromhex(storage)], dtype=torch.uint8).view(dtype).as_strided(sizes, strides, offset)
x = tensor(torch.bfloat16, [2, 1], [1, 1], 0, "807f0000")
y = tensor(torch.bfloat16, [1, 2], [2, 1], 0, "0000803f")
def graph(x, y):
    return torch.matmul(x, y)
answers = {}
for backend in sys.argv[1:] or ["eager", "aot_eager", "inductor"]:
    try:
        run = graph if backend == "eager" else torch.compile(graph, backend=backend)
        answers[backend] = run(x, y).double().flatten().tolist()
    except Exception as e:
        print(f"{backend} refuses: {str(e).strip().splitlines()[0]}")
X = torch.broadcast_to(x.double(), [2, 1]).reshape(1, 2, 1)
Y = torch.broadcast_to(torch.swapaxes(y, -1, -2).double(), [2, 1]).reshape(1, 2, 1)
def exact(i):
    b, m, n = i // 4, i // 2 % 2, i % 2
    terms = [(p, q) for p, q in zip(X[b, m].tolist(), Y[b, n].tolist())]
    if not all(math.isfinite(f) for t in terms for f in t):
        sign = lambda f: (f > 0) - (f < 0) if math.isfinite(f) else f
        return float(sum(math.prod(map(sign, t)) for t in terms))
    return sum((math.prod(map(Fraction, t)) for t in terms), Fraction())
def error(got, v):
    return 0 if got == v or got != got and v != v else abs(Fraction(got) - v) if math.isfinite(got - v) else math.inf
show = lambda v: f"{float(v):.9g} ({float(v).hex()})"
v = [exact(i) for i in range(4)]
for i in sorted(range(len(v)), key=lambda i: -max([error(a[i], v[i]) for a in answers.values()], default=0))[:8]:
    print(f"element {i}: exact {show(v[i])}", *(f"{b} {show(a[i])}" for b, a in answers.items()), sep="\n  ")
