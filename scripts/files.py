"""Small files of each format, by its own library: what the readers' fuzz targets begin with.

    files.py FOLDER     writes FOLDER/fuzz_FORMAT/NAME
"""

import json
import os
import sys

import gguf
import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper
from safetensors.numpy import save_file


def arrays():
    rng = np.random.default_rng(1)
    w = rng.normal(size=(3, 32))
    kinds = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.uint8, np.int32]
    return {f"t{i}": w.astype(kind)[:, :4] for i, kind in enumerate(kinds)}


def write_onnx(path, kind):
    tensors = []
    for name, a in arrays().items():
        of = helper.np_dtype_to_tensor_dtype(a.dtype)
        raw = kind != "typed"
        values = np.ascontiguousarray(a).tobytes() if raw else a.flatten().tolist()
        tensors.append(helper.make_tensor(name, of, a.shape, values, raw=raw))
    tensors.append(helper.make_tensor("bias", TensorProto.FLOAT, [4], [1, 2, 3, 4]))
    nodes = [helper.make_node("MatMul", ["x", "t1"], ["y"]),
             helper.make_node("Add", ["y", "bias"], ["z"]),
             helper.make_node("Gemm", ["z", "t2", "bias"], ["out"], transB=1)]
    model = helper.make_model(helper.make_graph(nodes, "graph", [], [], tensors))
    if kind == "external":
        onnx.external_data_helper.convert_model_to_external_data(
            model, location="data", size_threshold=0)
        onnx.external_data_helper.write_external_data_tensors(model, os.path.dirname(path))
    with open(path, "wb") as f:
        f.write(model.SerializeToString(deterministic=True))


def write_shards(folder):
    names = sorted(arrays())
    of = {n: f"shard-{i % 2}" for i, n in enumerate(names)}
    for file in sorted(set(of.values())):
        save_file({n: np.ascontiguousarray(arrays()[n]) for n in names if of[n] == file},
                  f"{folder}/{file}")
    with open(f"{folder}/index", "w", encoding="utf-8") as f:
        json.dump({"metadata": {"total_size": 0}, "weight_map": of}, f, indent=2)


def write_gguf(path):
    w = gguf.GGUFWriter(path, "llama")
    w.add_custom_alignment(64)
    w.add_string("key", "value")
    w.add_array("words", ["a", "b"])
    w.add_array("numbers", [1, 2, 3])
    w.add_uint32("n", 3)
    rng = np.random.default_rng(2)
    block = rng.normal(size=(2, 64)).astype(np.float32)
    w.add_tensor("weight", block[:, :8].copy())
    w.add_tensor("half", block[:, :8].astype(np.float16))
    q8 = gguf.GGMLQuantizationType.Q8_0
    w.add_tensor("blocks", gguf.quants.quantize(block, q8), raw_dtype=q8)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def main(folder):
    for name in ("gguf", "npy", "npz", "onnx", "safetensors"):
        os.makedirs(os.path.join(folder, "fuzz_" + name))
    known = {n: a for n, a in arrays().items() if a.dtype != ml_dtypes.bfloat16}
    write_gguf(f"{folder}/fuzz_gguf/mixed")
    for kind in ("raw", "typed", "external"):
        write_onnx(f"{folder}/fuzz_onnx/{kind}", kind)
    save_file({n: np.ascontiguousarray(a) for n, a in arrays().items()},
              f"{folder}/fuzz_safetensors/mixed", metadata={"key": "value"})
    for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
        with open(f"{folder}/fuzz_npz/{name}", "wb") as f:
            save(f, **known)
    with open(f"{folder}/fuzz_npz/others", "wb") as f:
        np.savez(f, big=known["t1"].astype(">f4"), words=np.array(["a", "b"]), one=known["t0"][:1, :1])
    write_shards(f"{folder}/fuzz_safetensors")
    for name, a in (("fortran", np.asfortranarray(known["t1"])), ("plain", known["t0"]),
                    ("words", arrays()["t3"].view("V2")), ("scalar", known["t1"][0, 0])):
        with open(f"{folder}/fuzz_npy/{name}", "wb") as f:
            np.save(f, a)


if __name__ == "__main__":
    main(sys.argv[1])
