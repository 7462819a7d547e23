#!/usr/bin/env python3
"""Records what backends of PyTorch answer to cases.

  torch_record.py FOLDER BACKEND[,BACKEND...] CASE...

Each CASE is a safetensors file of precfuzz encode, with NAME.case beside it.  FOLDER gets
NAME.case, NAME.safetensors with a tensor GRAPH.BACKEND for each answer, and an index.json that
says which row each follows, as corpus/golden has them: precfuzz judge FOLDER.  What eager refuses is counted
with PyTorch's reason, what another backend fails at, too: source.json.
"""
import collections
import json
import os
import re
import shutil
import struct
import sys
import types

import torch

import torch_engine

NAMES = {"BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32, "F64": torch.float64}
SAME_OPERANDS = ("matmul_out_f32_add", "matmul_add", "matmul_cast_f32_add")


def read(path):
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        head, data = json.loads(f.read(size)), bytearray(f.read())
    text = head.pop("__metadata__")["precfuzz.case"]
    tensors = {}
    for name, t in head.items():
        begin, end = t["data_offsets"]
        flat = torch.frombuffer(data, dtype=NAMES[t["dtype"]], offset=begin,
                                count=(end - begin) // NAMES[t["dtype"]].itemsize)
        tensors[name] = laid_out(flat.reshape(t["shape"]), name, text)
    return text, tensors


def laid_out(tensor, name, text):
    """With the strides and offset that the case's text has, "x=f32[4,8](16,2)+3"."""
    strides, offset = re.search(rf" {name}=\w+\[[\d,]*\](?:\(([\d,]*)\))?(?:\+(\d+))?",
                                " " + text).groups()
    strides = [int(s) for s in strides.split(",")] if strides else list(tensor.stride())
    offset = int(offset or 0)
    reach = offset + 1 + sum((n - 1) * s for n, s in zip(tensor.shape, strides))
    to = torch.full([reach], float("nan"), dtype=tensor.dtype)
    to = to.set_(to.untyped_storage(), offset, tensor.shape, strides)
    to.copy_(tensor)
    return to


def write(path, tensors):
    head, data = {}, b""
    dtypes = {v: k for k, v in NAMES.items()}
    for name, t in tensors.items():
        raw = torch_engine.bytes_of(t.contiguous())
        head[name] = {"dtype": dtypes[t.dtype], "shape": list(t.shape),
                      "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(head).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + data)


def call_of(graph, text, t):
    """As torch_engine.arguments has it, of tensors."""
    x, y = t["x"], t["y"]
    if graph == "matmul_out_f32_add":
        shape = torch.matmul(x.to("meta"), y.to("meta")).shape
        return torch_engine.matmul_out_f32_add, [x, y, t["bias"],
                                                 [torch.empty(shape, dtype=torch.float32)]]
    if graph == "addmm":
        alpha, beta = (float(m.group(1)) if (m := re.search(rf" {n}=(\S+)", text)) else 1.0
                       for n in ("alpha", "beta"))
        return torch_engine.ADDMM[x.dim(), y.dim()], [t["c"], x, y, alpha, beta]
    return getattr(torch_engine, graph), [x, y] + [t[n] for n in t if n == "bias"]


def answers(text, tensors, engines, source):
    own = text.split()[0]
    shape = torch.matmul(tensors["x"].to("meta"), (tensors["y"].t() if own == "linear" else
                                                  tensors["y"]).to("meta")).shape
    m = shape[-2] if tensors["x"].dim() > 1 and tensors["y"].dim() > 1 else 1
    n = shape[-1] if tensors["y"].dim() > 1 else 1
    if tensors["y"].dim() == 1 < tensors["x"].dim():
        m = shape[-1]
    got, claims = {}, {}
    for graph in SAME_OPERANDS if own in SAME_OPERANDS else (own,):
        for engine in engines:
            function, given = call_of(graph, text, tensors)
            name = f"{graph}.{engine.options.backend}"
            try:
                with torch.no_grad():
                    got[name] = engine.function(function)(*given)
            except Exception as e:
                kind = "refused" if engine.options.backend == "eager" else "failed"
                source[kind][f"{name}: {torch_engine.one_line(e)[:150]}"] += 1
                continue
            row = engine.row({"graph": graph, "m": m, "n": n, "k": tensors["x"].shape[-1]}, given)
            claims |= {name: row} if row else {}
    return got, claims


def main():
    folder, backends, *cases = sys.argv[1:]
    torch_engine.prepare(1)
    engines = [torch_engine.Engine(types.SimpleNamespace(backend=b, dynamic=True))
               for b in backends.split(",")]
    os.makedirs(folder, exist_ok=True)
    index = []
    source = {"version": torch.__version__, "isa": torch.backends.cpu.get_cpu_capability(),
              "refused": collections.Counter(), "failed": collections.Counter()}
    for number, path in enumerate(cases):
        name = os.path.basename(path).removesuffix(".safetensors")
        got, claims = answers(*read(path), engines, source)
        write(f"{folder}/{name}.safetensors", got)
        shutil.copyfile(path.removesuffix(".safetensors") + ".case", f"{folder}/{name}.case")
        index.append({"file": name + ".case", "got": name + ".safetensors", "claims": claims})
        print(f"\r{number + 1} of {len(cases)} cases", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    with open(f"{folder}/index.json", "w") as f:
        json.dump({"cases": index}, f, indent=1)
    with open(f"{folder}/source.json", "w") as f:
        json.dump(source, f, indent=1)


main()
