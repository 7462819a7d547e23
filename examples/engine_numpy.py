#!/usr/bin/env python3
"""NumPy as an engine in another process, for f32 and f64.

  precfuzz check --engine 'exec:python3 examples/engine_numpy.py' FILE
"""
import json
import struct
import sys

import numpy as np
from numpy.lib.stride_tricks import as_strided

DTYPES = {"f32": np.dtype("<f4"), "f64": np.dtype("<f8")}


def receive():
    lengths = sys.stdin.buffer.read(8)
    if len(lengths) < 8:
        sys.exit(0)  # precfuzz has what it wants
    head, data = struct.unpack("<II", lengths)
    return json.loads(sys.stdin.buffer.read(head)), bytearray(sys.stdin.buffer.read(data))


def send(head, data=b""):
    head = json.dumps(head).encode()
    sys.stdout.buffer.write(struct.pack("<II", len(head), len(data)) + head + data)
    sys.stdout.buffer.flush()


def view(tensor, data):
    dtype = DTYPES[tensor["dtype"]]
    flat = np.frombuffer(data, dtype, tensor["bytes"] // dtype.itemsize, tensor["at"])
    return as_strided(flat, tensor["shape"], [s * dtype.itemsize for s in tensor["strides"]])


def run(call, data):
    step, = call["steps"]  # one plain MATMUL
    tensor = {name: view(t, data) for name, t in call["tensors"].items()}
    out = view(call["out"], data)
    result = tensor[step["a"]] @ tensor[step["b"]]
    if step.get("has_alpha"):
        result = out.dtype.type(float.fromhex(call["alpha"])) * result
    if step.get("has_c") and float.fromhex(call["beta"]):
        result = result + out.dtype.type(float.fromhex(call["beta"])) * tensor["c"]
    if step.get("has_bias"):
        result = result + tensor["bias"]
    out[...] = result
    at, size = call["out"]["at"], call["out"]["bytes"]
    return data[at:at + size]


receive()
send({"precfuzz": 1, "name": "numpy", "version": np.__version__,
      "types": [[t] * 6 for t in DTYPES]})
np.seterr(all="ignore")
while True:
    request = receive()
    send({"ok": True}, run(*request))
