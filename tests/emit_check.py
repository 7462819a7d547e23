"""Holds scripts of precfuzz emit against precfuzz: the operands' bits, strides and offsets, exact
values.  Prints how many cases were looked at; exit status 1, and why, where one differs.

  emit_check.py pytorch|numpy PRECFUZZ FILE...
"""
import contextlib
import io
import json
import math
import subprocess
import sys

target, precfuzz, *files = sys.argv[1:]


def command(*arguments):
    return subprocess.run([precfuzz, *arguments], capture_output=True, text=True)


def bits_of(tensor, size):
    """The elements' encodings, in C order."""
    if target == "pytorch":
        import torch
        words = tensor.contiguous().view({1: torch.uint8, 2: torch.int16, 4: torch.int32,
                                          8: torch.int64}[size])
    else:
        import numpy as np
        words = np.ascontiguousarray(tensor).view(f"i{size}")
    return [w % (1 << 8 * size) for w in words.reshape(-1).tolist()]


def look_at(tensor, t):
    elements = t["elements"]
    size = len(elements[0]["bits"]) // 2 - 1 if elements else tensor.itemsize
    if tensor.itemsize != size:  # NumPy has no such dtype: the same values in f32
        wanted = [math.nan if e["value"] is None and e["hex"] == "nan" else float.fromhex(e["hex"])
                  for e in elements]
        got = tensor.reshape(-1).tolist()
        assert all(a == b or a != a and b != b for a, b in zip(got, wanted)), f"{t['role']}: values"
        return
    assert bits_of(tensor, size) == [int(e["bits"], 16) for e in elements], f"{t['role']}: bits"
    if target == "pytorch":
        assert list(tensor.stride()) == t["strides"], f"{t['role']}: strides"
        assert tensor.storage_offset() == t["offset"], f"{t['role']}: offset"


def same(exact, number):
    hexed = number["hex"]
    value = math.nan if hexed == "nan" else float.fromhex(hexed)
    return float(exact) == value or float(exact) != float(exact) and value != value


def check(file):
    emitted = command("emit", f"--{target}", file)
    if emitted.returncode:
        assert target == "numpy" and "NumPy has no" in emitted.stderr, emitted.stderr
        return False
    assert len(emitted.stdout.splitlines()) < 40, "40 lines or more"
    scope, said = {}, io.StringIO()
    sys.argv = ["script", "eager"]
    with contextlib.redirect_stdout(said):
        exec(compile(emitted.stdout, file, "exec"), scope)
    shown = json.loads(command("show", "--json", "--all", file).stdout)
    for t in shown["tensors"]:
        if t["role"] != "out":
            tensor = scope[t["role"]]
            look_at(tensor() if callable(tensor) else tensor, t)
    judged = json.loads(command("check", "--json", "--known", "none", "-e", "reference:forward",
                                "-s", "eager", file).stdout)
    for r in judged["cases"][0]["results"]:
        worst = r["worst"]
        if worst and worst["exact"]:
            assert same(scope["v"][worst["element"]], worst["exact"]), "exact value"
    assert "element 0" in said.getvalue() or len(scope["v"]) != 1, "prints no element"
    return True


done = 0
for file in files:
    try:
        done += check(file)
    except Exception as e:
        sys.exit(f"{file}: {type(e).__name__}: {e}")
print(done)
