# x @ y: what backends of PyTorch answer, and what is exact.
# matmul x=u8[1,259] y=u8[259,1]
import math, os, sys
os.environ.update({"OMP_NUM_THREADS": "1", **os.environ})
import torch
from fractions import Fraction
def tensor(dtype, sizes, strides, offset, storage):
    return torch.tensor([*bytes.fromhex(storage)], dtype=torch.uint8).view(dtype).as_strided(sizes, strides, offset)
x = tensor(torch.uint8, [1, 259], [259, 1], 0, "fcfcfcfcfcfefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefcfcfcfefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefcfcfcfc")
y = tensor(torch.uint8, [259, 1], [1, 1], 0, "fefffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe")
def graph(x, y):
    return torch.matmul(x.to(torch.int32), y.to(torch.int32))
answers = {}
for backend in sys.argv[1:] or ["eager", "aot_eager", "inductor"]:
    try:
        run = graph if backend == "eager" else torch.compile(graph, backend=backend)
        answers[backend] = run(x, y).double().flatten().tolist()
    except Exception as e:
        print(f"{backend} refuses: {str(e).strip().splitlines()[0]}")
X = torch.broadcast_to(x.double(), [1, 259]).reshape(1, 1, 259)
Y = torch.broadcast_to(torch.swapaxes(y, -1, -2).double(), [1, 259]).reshape(1, 1, 259)
def exact(i):
    b, m, n = i // 1, i // 1 % 1, i % 1
    terms = [(p, q) for p, q in zip(X[b, m].tolist(), Y[b, n].tolist())]
    if not all(math.isfinite(f) for t in terms for f in t):
        sign = lambda f: (f > 0) - (f < 0) if math.isfinite(f) else f
        return float(sum(math.prod(map(sign, t)) for t in terms))
    return sum((math.prod(map(Fraction, t)) for t in terms), Fraction())
def error(got, v):
    return 0 if got == v or got != got and v != v else abs(Fraction(got) - v) if math.isfinite(got - v) else math.inf
show = lambda v: f"{float(v):.9g} ({float(v).hex()})"
v = [exact(i) for i in range(1)]
for i in sorted(range(len(v)), key=lambda i: -max([error(a[i], v[i]) for a in answers.values()], default=0))[:8]:
    print(f"element {i}: exact {show(v[i])}", *(f"{b} {show(a[i])}" for b, a in answers.items()), sep="\n  ")
