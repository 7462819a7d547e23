#!/usr/bin/env python3
"""Any backend of torch.compile as an engine of precfuzz that takes whole cases.

  precfuzz random --timeout 300 --engine \\
    'exec:python3 scripts/torch_engine.py --backend inductor --dynamic'
  precfuzz check --engine 'exec:python3 scripts/torch_engine.py --backend mine:compile' FILE

docs/pytorch.md says what it does, docs/engines.md has the protocol.
"""
import argparse
import ctypes
import importlib
import json
import os
import struct
import sys

import torch

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
          "f8_e4m3fn": torch.float8_e4m3fn, "f8_e5m2": torch.float8_e5m2,
          "f8_e4m3fnuz": torch.float8_e4m3fnuz, "f8_e5m2fnuz": torch.float8_e5m2fnuz,
          "s8": torch.int8, "u8": torch.uint8, "s32": torch.int32}
ALIGNMENT = 64
MANY = 1 << 20


class Unsupported(Exception):
    """PyTorch itself does not do this."""


# --- the graphs, as users write them -------------------------------------------------------------

def matmul(x, y):
    return torch.matmul(x, y)


def int_mm(x, y):
    return torch._int_mm(x, y)


def matmul_out_f32_add(x, y, bias, product):
    return torch.matmul(x, y, out=product[0]) + bias


def matmul_add(x, y, bias):
    return torch.matmul(x, y) + bias


def int_mm_add(x, y, bias):
    return torch._int_mm(x, y) + bias


def matmul_cast_f32_add(x, y, bias):
    return torch.matmul(x, y).float() + bias.float()


def linear(x, y, bias=None):
    return torch.nn.functional.linear(x, y, bias)


# alpha and beta are arguments, so that a compiled graph need not be compiled again for others

def addmm(c, x, y, alpha, beta):
    return torch.addmm(c, x, y, alpha=alpha, beta=beta)


def addmv(c, x, y, alpha, beta):
    return torch.addmv(c, x, y, alpha=alpha, beta=beta)


def baddbmm(c, x, y, alpha, beta):
    return torch.baddbmm(c, x, y, alpha=alpha, beta=beta)


ADDMM = {(2, 2): addmm, (2, 1): addmv, (3, 3): baddbmm}  # by the ranks of x and y


def scaled_matmul(x, y, scale_x, scale_y, bias, out_dtype):
    return torch._scaled_mm(x, y, scale_x, scale_y, bias=bias, out_dtype=out_dtype)


# --- a call's tensors ----------------------------------------------------------------------------

def new_tensor(data, at, size, dtype, shape, strides):
    """A tensor of its own with the bytes of the frame, which lies to 64 bytes as it did there."""
    each = dtype.itemsize
    before = at % ALIGNMENT
    storage = torch.empty(before + size, dtype=torch.uint8)
    storage[before:] = data[at:at + size]
    empty = torch.empty(0, dtype=dtype)
    return empty.set_(storage.untyped_storage(), before // each, shape, strides)


def vectors(call):
    """Which of x and y are vectors: dimensions that are not there have a stride of 0 in their
    views, and so have the result's."""
    x, y, out = call["tensors"]["x"], call["tensors"]["y"], call["out"]
    return (call["m"] == 1 and x["strides"][-2] == 0 == out["strides"][-2],
            call["n"] == 1 and y["strides"][-1] == 0 == out["strides"][-1]
            and call["graph"] != "linear")


def operand(call, data, name):
    """As the case has it: dimensions that it is broadcast along are none of its own."""
    t, batch = call["tensors"][name], len(call["batch"])
    shape, strides = list(t["shape"]), list(t["strides"])
    for i in range(batch if name in "xy" else batch + 2):
        # what repeats in both operands is an expanded one's own
        both = name == "x" and call["tensors"]["y"]["strides"][i] == 0
        if strides[i] == 0 and shape[i] > 1 and not both:
            shape[i] = 1
    own = 2 if name in "xy" else 0  # dimensions that count though they may be 1
    x_vector, y_vector = vectors(call)
    for gone, axis, other in ((x_vector, -2, "y"), (y_vector, -1, "x")):
        if gone and name != other:
            del shape[axis], strides[axis]
            own -= own > 0
    while len(shape) > own and shape[0] == 1 and strides[0] == 0:
        del shape[0], strides[0]
    return new_tensor(data, t["at"], t["bytes"], DTYPES[t["dtype"]], shape, strides)


def scale(call, data, name, lines):
    """1, one for all, or a column or a row of them."""
    s = call.get("scale_" + name)
    if not s:
        return torch.tensor(1.0)
    *batch, line, block = s["strides"]
    if block or any(batch):
        raise Unsupported("scales by block or batch")
    values = new_tensor(data, s["at"], 8 * (1 + (lines - 1) * line if lines else 0), torch.float64,
                        [lines if line else 1], [line])
    values = values.to(torch.float32)  # which they are values of
    return values[0] if not line else values[:, None] if name == "x" else values[None, :]


def number(call, name, dtype):
    value = float.fromhex(call.get(name, "0x0p+0"))
    whole = not dtype.is_floating_point and value.is_integer()
    return int(value) if whole else value


# --- one call ------------------------------------------------------------------------------------

def arguments(call, data):
    """The graph and what it is called with."""
    graph, names = call["graph"], call["tensors"]
    t = {name: operand(call, data, name) for name in names}
    x, y = t["x"], t["y"]
    bytes_to_s32 = x.dtype == y.dtype == torch.int8 and x.dim() == y.dim() == 2
    out = DTYPES[call["out"]["dtype"]]
    if x.dtype.itemsize == y.dtype.itemsize == 1 and not x.dtype.is_floating_point and not (
            bytes_to_s32 and graph in ("matmul", "matmul_add")):
        raise Unsupported("PyTorch adds products of bytes in bytes")
    inside = [t[n] for n in names if n in ("c", "bias") and graph in ("addmm", "linear")]
    if graph != "scaled_matmul" and any(a.dtype != x.dtype for a in [y, *inside]):
        raise Unsupported("PyTorch takes operands of one dtype")
    if graph == "matmul":
        return (int_mm if bytes_to_s32 else matmul), [x, y]
    if graph == "matmul_add":
        return (int_mm_add if bytes_to_s32 else matmul_add), [x, y, t["bias"]]
    if graph == "matmul_out_f32_add":
        shape = call["batch"] + [call["m"]] * (x.dim() > 1) + [call["n"]] * (y.dim() > 1)
        return matmul_out_f32_add, [x, y, t["bias"], [torch.empty(shape, dtype=torch.float32)]]
    if graph == "matmul_cast_f32_add":
        return matmul_cast_f32_add, [x, y, t["bias"]]
    if graph == "linear":  # whose weight [N, K] a call has as [K, N]
        return linear, [x, y.t()] + [t[n] for n in names if n == "bias"]
    if graph == "addmm":
        ranks = (x.dim(), y.dim())
        call_of = ADDMM.get(ranks)
        if not call_of:
            raise Unsupported("PyTorch has no such call for %d-D and %d-D operands" % ranks)
        return call_of, [t["c"], x, y, number(call, "alpha", out), number(call, "beta", out)]
    if graph == "scaled_matmul" and x.dim() == y.dim() == 2:
        return scaled_matmul, [x, y, scale(call, data, "x", call["m"]),
                               scale(call, data, "y", call["n"]), t.get("bias"), out]
    raise Unsupported(f"no {graph} of {x.dim()}-D and {y.dim()}-D operands")


def one_line(e):
    return " ".join(str(e).split())


def is_of_the_compiler(e):
    """Does torch.compile give up before a backend sees anything?"""
    kinds = torch._dynamo.exc
    return (isinstance(e, kinds.TorchDynamoException)
            and not isinstance(e, kinds.BackendCompilerFailed))


class Engine:
    def __init__(self, options):
        self.options = options
        self.compiled = {}
        self.backend = options.backend
        if ":" in self.backend:
            module, name = self.backend.split(":", 1)
            sys.path.insert(0, os.getcwd())
            self.backend = getattr(importlib.import_module(module), name)

    def function(self, graph):
        if self.options.backend == "eager":
            return graph
        if graph not in self.compiled:
            self.compiled[graph] = torch.compile(graph, backend=self.backend,
                                                 dynamic=self.options.dynamic)
        return self.compiled[graph]

    def result(self, call, data):
        graph, given = arguments(call, data)
        try:
            with torch.no_grad():
                return self.function(graph)(*given), given
        except Exception as e:
            self.judge_refusal(call, data, e)

    def judge_refusal(self, call, data, e):
        """What eager refuses as well, or answers in that dtype, is no fault of the backend."""
        if self.options.backend == "eager":
            raise Unsupported(one_line(e)) from e
        graph, given = arguments(call, data)
        try:
            with torch.no_grad():
                got = graph(*given)
        except Exception as refusal:
            raise Unsupported(one_line(refusal)) from e
        if got.dtype != DTYPES[call["out"]["dtype"]]:
            raise Unsupported(f"PyTorch answers {got.dtype}") from e
        own = ":" not in self.options.backend  # PyTorch's
        if own or self.options.skip_errors or is_of_the_compiler(e):
            raise Unsupported(f"{type(e).__name__}: {one_line(e)}") from e
        raise e

    def row(self, call, given):
        """The strategy that the answer follows, where that is known (docs/pytorch.md)."""
        backend = self.options.backend
        ranks = [a.dim() for a in given if isinstance(a, torch.Tensor)]
        if call["graph"] == "linear" and (ranks[0] != 2 or ranks[-1] != 1):
            return None  # one call or two, by rules of PyTorch's own
        if backend != "inductor":
            return backend if backend in ("eager", "aot_eager") else None
        if 1 in ranks[:2] or call["k"] == 1:
            return None  # a loop of its own or a call, as it likes
        one = call["m"] == call["n"] == 1
        fused = call["graph"] == "matmul_add" and given[0].dim() == given[1].dim() == 2
        return "inductor" if one or fused else "aot_eager"

    def settings(self, call):
        """oneDNN's bf16 reads and writes subnormals as zero where the processor adds bf16 itself,
        and its f8 saturates, PyTorch's own loops do neither; which runs is not documented."""
        settings = {}
        if call["tensors"]["x"]["dtype"] == "bf16" and torch.cpu._is_avx512_bf16_supported():
            settings |= dict.fromkeys(("flush_inputs", "flush_sums", "flush_outputs"), "may")
        if call["out"]["dtype"].startswith("f8"):
            settings["f8_overflow"] = "either"
        return settings

    def run(self, call, data):
        if self.options.graph and call["graph"] not in self.options.graph:
            return {"unsupported": "not among --graph"}, b""
        got, given = self.result(call, data)
        out, due = call["out"], DTYPES[call["out"]["dtype"]]
        if got.dtype != due:
            self.judge_refusal(call, data, TypeError(f"the answer is {got.dtype}, {due} is due"))
        to = new_tensor(data, out["at"], out["bytes"], due, out["shape"], out["strides"])
        to.copy_(got.reshape(out["shape"]))
        answer = {"ok": True, "kernel": f"{self.options.backend}:{call['graph']}"}
        row, settings = self.row(call, given), self.settings(call)
        answer |= {"row": row} if row else {}
        answer |= {"settings": settings} if settings else {}
        if any(changed(a, b) for a, b in zip(given, arguments(call, data)[1])):
            answer["input"] = True
        if sys.float_info.min / 2 == 0:  # flush-to-zero was switched on
            torch.set_flush_denormal(False)
            answer["control"] = True
        return answer, bytes_of(to)


def changed(used, fresh):
    return isinstance(used, torch.Tensor) and bytes_of(used) != bytes_of(fresh)


def bytes_of(t):
    """From the first element to the last."""
    if not t.numel():
        return b""
    reach = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride()))
    return ctypes.string_at(t.data_ptr(), reach * t.element_size())


# --- the protocol --------------------------------------------------------------------------------

def receive(source):
    lengths = source.read(8)
    if len(lengths) < 8:
        sys.exit(0)  # precfuzz has what it wants
    head, size = struct.unpack("<II", lengths)
    head = json.loads(source.read(head))
    data = torch.empty(size, dtype=torch.uint8)
    if size:
        source.readinto((ctypes.c_ubyte * size).from_address(data.data_ptr()))
    return head, data


def send(to, head, data=b""):
    head = json.dumps(head).encode()
    to.write(struct.pack("<II", len(head), len(data)) + head + data)
    to.flush()


def hello(options):
    capability = torch.backends.cpu.get_cpu_capability().lower()
    name = "torch-" + "".join(c if c.isalnum() or c in "_-." else "." for c in options.backend)
    return {"precfuzz": 1, "name": name, "version": torch.__version__, "runs_graphs": True,
            "details": f"{capability}, {'dynamic' if options.dynamic else 'static'} shapes"}


def prepare(threads):
    torch.set_num_threads(threads)
    limits = torch._dynamo.config  # beyond which PyTorch would silently run eager instead
    for name in ("cache_size_limit", "accumulated_cache_size_limit", "recompile_limit",
                 "accumulated_recompile_limit"):
        if hasattr(limits, name):
            setattr(limits, name, MANY)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--backend", default="inductor",
                   help="eager, a backend of torch.compile by name, or MODULE:FUNCTION")
    p.add_argument("--graph", action="append", help="only this graph; may be given again")
    p.add_argument("--skip-errors", action="store_true",
                   help="what MODULE:FUNCTION fails at is unsupported, too, with its error as the "
                        "reason")
    p.add_argument("--dynamic", action="store_true", help="one compilation for many shapes")
    options = p.parse_args()
    source = sys.stdin.buffer
    to = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a backend prints is no frame
    greeting, _ = receive(source)
    prepare(greeting.get("threads", 1))
    try:
        engine = Engine(options)
    except Exception as e:
        send(to, {"error": f"{options.backend}: {one_line(e)}"})
        return
    send(to, hello(options))
    while True:
        call, data = receive(source)
        try:
            answer = engine.run(call, data)
        except Unsupported as e:
            answer = ({"unsupported": str(e)[:180]},)
        except Exception as e:
            answer = ({"error": f"{type(e).__name__}: {one_line(e)}"[:180]},)
        send(to, *answer)


if __name__ == "__main__":
    main()
