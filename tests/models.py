"""Holds what precfuzz reads of models against the Python libraries of their formats, bit for bit.

    models.py PRECFUZZ FOLDER [MODEL.safetensors]
    models.py PRECFUZZ FOLDER large

FOLDER is empty.  Without a MODEL the weights are small random ones, with zeros of both signs,
subnormals and infinities among them.  large: what a file of 12 GB costs in memory, instead.  Prints "ok NAME" or "not ok NAME" for each test.
"""

import hashlib
import json
import os
import subprocess
import sys

import gguf
import ml_dtypes
import numpy as np
import onnx
import safetensors
from onnx import helper, numpy_helper
from safetensors.numpy import save_file

DTYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
ONNX_TYPES = {np.dtype(np.float32): onnx.TensorProto.FLOAT,
              np.dtype(np.float16): onnx.TensorProto.FLOAT16,
              np.dtype(ml_dtypes.bfloat16): onnx.TensorProto.BFLOAT16,
              np.dtype(np.int8): onnx.TensorProto.INT8}
GGML = gguf.GGMLQuantizationType
failed = 0


def check(name, holds, why=""):
    global failed
    print(("ok " if holds else "not ok ") + name + ("" if holds else f"\n    {why}"))
    failed += not holds


def random_weights():
    rng = np.random.default_rng(1)
    weights = {}
    for i, (n, k) in enumerate([(96, 64), (64, 96), (32, 64), (5, 32)]):
        w = rng.normal(0, 0.05, (n, k)).astype(np.float32)
        w[0, :5] = [0.0, -0.0, 1e-40, -np.inf, 1e-6]
        weights[f"layer.{i}.weight"] = w
        weights[f"layer.{i}.bias"] = rng.normal(size=n).astype(np.float32)
    weights["embeddings.weight"] = rng.normal(size=(50, 64)).astype(np.float32)
    return weights


def model_weights(path):
    with safetensors.safe_open(path, framework="numpy") as f:
        weights = {name: f.get_tensor(name) for name in f.keys()}
    return {name: w for name, w in weights.items() if w.dtype == np.float32}


def as_dtypes(weights):
    """The same tensors in several dtypes of their own, by turns."""
    kinds = [np.float32, np.float16, ml_dtypes.bfloat16]
    return {name: w.astype(kinds[i % 3]) for i, (name, w) in enumerate(weights.items())}


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


# --- writers, each by the library of its format; they return what the library itself reads ---------


def write_safetensors(path, weights):
    save_file(weights, path)
    with safetensors.safe_open(path, framework="numpy") as f:
        return {name: f.get_tensor(name) for name in f.keys()}


def write_shards(path, weights):
    names = list(weights)
    place = {}
    for shard in range(3):
        file = f"shard-{shard}.safetensors"
        part = {name: weights[name] for name in names[shard::3]}
        save_file(part, os.path.join(os.path.dirname(path), file))
        place |= {name: file for name in part}
    with open(path, "w") as f:
        json.dump({"metadata": {"total_size": 0}, "weight_map": place}, f, indent=2)
    return weights


def write_onnx(path, weights, kind):
    tensors = []
    for name, w in weights.items():
        of = ONNX_TYPES[w.dtype]
        if kind == "typed":
            tensors.append(helper.make_tensor(name, of, w.shape, w.flatten().tolist()))
        else:
            tensors.append(helper.make_tensor(name, of, w.shape, w.tobytes(), raw=True))
    nodes = [helper.make_node("Gemm", ["x", n, n[:-6] + "bias"], [n + ".out"], transB=1)
             for n in weights if n.endswith("weight") and n[:-6] + "bias" in weights]
    model = helper.make_model(helper.make_graph(nodes, "graph", [], [], tensors))
    onnx.save(model, path, save_as_external_data=kind == "external", location="data.bin",
              size_threshold=0)
    return {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}


def write_gguf(path, weights, quantized):
    w = gguf.GGUFWriter(path, "bert")
    for name, a in weights.items():
        if quantized and a.ndim == 2 and a.shape[1] % 32 == 0:
            w.add_tensor(name, gguf.quants.quantize(a.astype(np.float32), GGML.Q8_0),
                         raw_dtype=GGML.Q8_0)
        elif a.dtype == ml_dtypes.bfloat16:
            w.add_tensor(name, a.view(np.uint16), raw_shape=a.shape, raw_dtype=GGML.BF16)
        else:
            w.add_tensor(name, a)
    w.add_array("words", ["a", "b"])
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    read = {}
    for t in gguf.GGUFReader(path).tensors:
        a = t.data
        if t.tensor_type == GGML.Q8_0:
            a = gguf.quants.dequantize(a, GGML.Q8_0)
        elif t.tensor_type == GGML.BF16:
            a = a.view(ml_dtypes.bfloat16)
        read[t.name] = np.asarray(a).reshape([int(d) for d in reversed(t.shape)])
    return read


def write_npz(path, weights, save):
    save(path, **{n: w for n, w in weights.items() if w.dtype != ml_dtypes.bfloat16})
    with np.load(path) as f:
        return {name: f[name] for name in f.files}


# --- checks ----------------------------------------------------------------------------------------


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def check_list(program, name, path, wanted):
    """Every tensor, by shape and by the hash of its elements."""
    p = run(program, "seed", "--list", path)
    got = {}
    for line in p.stdout.splitlines():
        tensor, what, sha = line.rsplit(" ", 2)
        got[tensor] = (what[what.index("["):], sha)
    expected = {n: ("[" + ",".join(map(str, a.shape)) + "]", digest(a)) for n, a in wanted.items()}
    differ = [n for n in expected if got.get(n) != expected[n]] + [n for n in got if n not in expected]
    check(f"{name}: all {len(wanted)} tensors are read as the library reads them",
          p.returncode == 0 and not differ, p.stderr + str(differ[:3]))


def slice_of(weight, layer):
    """The vectors of a seed, [n, k]."""
    w = weight.reshape(weight.shape[0], -1)
    w = w if layer["rows"] else w.T
    rows = [v["vector"] for v in layer["vectors"]]
    return w[rows, layer["k"][0]:layer["k"][1]]


def operand(case, role):
    """A case's tensor, or None."""
    for t in case["tensors"]:
        if t["role"] == role:
            dtype = np.dtype(DTYPES[t["dtype"]])
            bits = [int(e["bits"], 16) for e in t["elements"]]
            return np.array(bits, f"u{dtype.itemsize}").view(dtype).reshape(t["dims"])
    return None


def same(a, b):
    return a.shape == b.shape and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def seed_differs(program, folder, seed, wanted):
    """None, or in what the case is not the slice that the manifest says."""
    p = run(program, "show", "--all", "--json", os.path.join(folder, seed["file"]))
    if p.returncode != 0:
        return p.stderr
    case = json.loads(p.stdout)
    layer = seed["layer"]
    dtype = DTYPES[seed["dtype"]]
    y = operand(case, "y")
    y = y if seed["graph"] == "linear" else y.T
    if not same(y, slice_of(wanted[layer["tensor"]], layer).astype(np.float32).astype(dtype)):
        return f"{seed['file']}: y is not {layer['tensor']}"
    bias = operand(case, "c" if seed["graph"] == "addmm" else "bias")
    rows = [v["vector"] for v in layer["vectors"]]
    if bias is not None and not same(
            bias, wanted[layer["bias"]].astype(np.float32)[rows].astype(dtype)):
        return f"{seed['file']}: the bias is not {layer['bias']}"
    return None


def check_seeds(program, name, path, folder, wanted):
    p = run(program, "seed", path, "-o", folder)
    if p.returncode != 0:
        check(f"{name}: gives seeds", False, p.stderr)
        return
    with open(os.path.join(folder, "manifest.json")) as f:
        manifest = json.load(f)
    files = manifest["models"][0]["files"]
    whole = all(hashlib.sha256(open(f["path"], "rb").read()).hexdigest() == f["sha256"] for f in files)
    check(f"{name}: the manifest has the hashes of {len(files)} files", whole)
    seeds = [s for s in manifest["seeds"] if s["layer"] and s["dtype"] in DTYPES][:60]
    differ = [d for d in (seed_differs(program, folder, s, wanted) for s in seeds) if d]
    check(f"{name}: {len(seeds)} seeds are the slices that the manifest says, bit for bit",
          len(seeds) > 20 and not differ, str(differ[:3]))


def check_memory(program, folder):
    """A sparse file of 12 matrices of 1 GiB, with a few numbers in each."""
    path = os.path.join(folder, "large.safetensors")
    rows, columns = 65536, 4096
    each = 4 * rows * columns
    header = json.dumps({f"layer.{i}.weight": {
        "dtype": "F32", "shape": [rows, columns], "data_offsets": [i * each, (i + 1) * each]}
        for i in range(12)}).encode()
    with open(path, "wb") as f:
        f.write(len(header).to_bytes(8, "little") + header)
        f.truncate(8 + len(header) + 12 * each)
        for i in range(12):
            f.seek(8 + len(header) + i * each + 4 * columns * 77)
            f.write(np.random.default_rng(i).normal(size=columns).astype(np.float32).tobytes())
    out = os.path.join(folder, "seeds")
    child = subprocess.Popen([program, "seed", path, "-o", out], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    with open(os.path.join(out, "manifest.json")) as f:
        seeds = json.load(f)["seeds"]
    hard = [s for s in seeds if s["layer"] and 77 in [v["vector"] for v in s["layer"]["vectors"]]]
    check(f"12 GB are read in {usage.ru_maxrss // 1024} MiB, under 200", status == 0 and hard
          and os.path.getsize(path) > 12e9 and usage.ru_maxrss < 200 * 1024)


def main(program, folder, model=None):
    if model == "large":
        check_memory(program, folder)
        return 1 if failed else 0
    weights = model_weights(model) if model else random_weights()
    mixed = as_dtypes(weights)
    kinds = [
        ("safetensors", "m.safetensors", lambda p: write_safetensors(p, mixed)),
        ("sharded safetensors", "m.index.json", lambda p: write_shards(p, mixed)),
        ("ONNX, raw data", "raw.onnx", lambda p: write_onnx(p, mixed, "raw")),
        ("ONNX, external data", "external.onnx", lambda p: write_onnx(p, mixed, "external")),
        ("GGUF", "m.gguf", lambda p: write_gguf(p, mixed, False)),
        ("GGUF, Q8_0", "q8.gguf", lambda p: write_gguf(p, {n: np.where(np.isfinite(w), w, 0).astype(
            np.float32) for n, w in weights.items()}, True)),
        ("npz", "m.npz", lambda p: write_npz(p, mixed, np.savez)),
        ("npz, compressed", "deflated.npz", lambda p: write_npz(p, mixed, np.savez_compressed)),
    ]
    if model:  # each way to write a large one takes its time
        kinds = [kinds[0], kinds[2], kinds[4], kinds[6]]
    else:
        kinds.append(("ONNX, typed data", "typed.onnx", lambda p: write_onnx(p, mixed, "typed")))
    for i, (name, file, write) in enumerate(kinds):
        home = os.path.join(folder, str(i))
        os.mkdir(home)
        path = os.path.join(home, file)
        wanted = write(path)
        check_list(program, name, path, wanted)
        check_seeds(program, name, path, os.path.join(home, "seeds"), wanted)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
