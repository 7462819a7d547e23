#!/usr/bin/env python3
"""Compiles the graphs with PyTorch's AOTInductor, for the engine inductor.

  inductor_compile.py FOLDER [--graph LIST] [--dtype LIST] [--form LIST] [--jobs N]

Writes a shared object for each graph, dtype and form, and FOLDER/manifest, which says what each is
for.  Needs torch (python3-torch python3-setuptools g++ on Debian 13).  What is there already is
kept where it was made by the same version of torch.
"""
import argparse
import concurrent.futures
import multiprocessing
import os
import shutil
import sys
import tempfile

# Sizes of a form: None is dynamic, from 2 on, as torch.compile takes sizes of 1 for constants.
# Without B there is no batch dimension.
FORMS = {
    "dot": {"B": None, "M": 1, "N": 1, "K": None},
    "bmm": {"B": None, "M": None, "N": None, "K": None},
    "mm": {"M": None, "N": None, "K": None},
}
ALL = ["dot", "bmm", "mm"]
GRAPHS = {
    "matmul_out_f32_add": ALL,
    "matmul_add": ALL,
    "matmul_cast_f32_add": ALL,
    "matmul": ALL,
    "linear": ["mm"],
    "addmm": ["mm"],
}
DTYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32"}


def claim(graph, form):
    """The strategy that the result follows, or "-": which one does depends on sizes."""
    return "inductor" if form == "dot" else "-"


def isa():
    """What the compiled code may need: it is made for the processor that compiles it."""
    try:
        with open("/proc/cpuinfo") as f:
            flags = next((line for line in f if line.startswith("flags")), "").split()
    except OSError:
        flags = []
    for flag, word in (("avx512_bf16", "avx512bf16"), ("avx512_vnni", "avx512vnni"),
                       ("avx512f", "avx512f"), ("avx2", "avx2"), ("sse2", "sse2")):
        if flag in flags:
            return word
    return os.uname().machine


def module(graph):
    import torch

    def out_f32_add(x, y, bias):
        out = torch.empty(*x.shape[:-1], y.shape[-1], dtype=torch.float32)
        torch.matmul(x, y, out=out)
        return out + bias

    calls = {
        "matmul_out_f32_add": out_f32_add,
        "matmul_add": lambda x, y, bias: x @ y + bias,
        "matmul_cast_f32_add": lambda x, y, bias: (x @ y).float() + bias.float(),
        "matmul": lambda x, y: x @ y,
        "linear": lambda x, y, bias: torch.nn.functional.linear(x, y, bias),
        "addmm": lambda x, y, c: torch.addmm(c, x, y),
    }

    class Graph(torch.nn.Module):
        def forward(self, *tensors):
            return calls[graph](*tensors)

    return Graph()


def tensors(graph, form):
    """The dimensions of each input, as names of sizes."""
    batch = ["B"] if "B" in FORMS[form] else []
    result = batch + ["M", "N"]
    if graph == "linear":
        return [["M", "K"], ["N", "K"], ["N"]]
    both = [batch + ["M", "K"], batch + ["K", "N"]]
    return both if graph == "matmul" else both + [result]


def compile_one(graph, dtype, form, path):
    import torch

    torch.set_num_threads(1)
    sizes = FORMS[form]
    example = {"B": 6, "M": 3, "N": 4, "K": 5}
    dims = {name: torch.export.Dim(name) for name, size in sizes.items() if size is None}
    shapes = tensors(graph, form)
    args = tuple(torch.ones([sizes[d] or example[d] for d in shape],
                            dtype=getattr(torch, DTYPES[dtype])) for shape in shapes)
    dynamic = tuple({i: dims[d] for i, d in enumerate(shape) if d in dims} for shape in shapes)
    with torch.no_grad(), tempfile.TemporaryDirectory() as work:
        exported = torch.export.export(module(graph), args, dynamic_shapes=(dynamic,))
        made = torch._inductor.aot_compile(
            exported.module(), args,
            options={"aot_inductor.output_path": os.path.join(work, "model.so")})
        shutil.copy(made, path + ".new")
        os.rename(path + ".new", path)


def library():
    import torch
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    here = os.path.join(folder, "libtorch_cpu.so")
    return os.path.realpath(here) if os.path.exists(here) else "libtorch_cpu.so.2.6"


def words(text, known):
    chosen = text.split(",") if text else list(known)
    for word in chosen:
        if word not in known:
            sys.exit("inductor_compile.py: '%s' is none of %s" % (word, ", ".join(known)))
    return chosen


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder")
    p.add_argument("--graph", metavar="LIST")
    p.add_argument("--dtype", metavar="LIST")
    p.add_argument("--form", metavar="LIST")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    a = p.parse_args()
    try:
        import torch
    except ImportError as e:
        sys.exit("inductor_compile.py: %s (package python3-torch of Debian 13)" % e)
    dtypes, forms = words(a.dtype, DTYPES), words(a.form, FORMS)
    wanted = [(g, d, f) for g in words(a.graph, GRAPHS) for f in GRAPHS[g] if f in forms
              for d in dtypes]
    os.makedirs(a.folder, exist_ok=True)
    head = "precfuzz-inductor 1\ntorch %s\nlibrary %s\nisa %s\n" % (
        torch.__version__, library(), isa())
    manifest = os.path.join(a.folder, "manifest")
    kept = open(manifest).read() if os.path.exists(manifest) else ""
    lines = kept[len(head):].splitlines() if kept.startswith(head) else []
    have = {line.split()[0] for line in lines}
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(a.jobs, mp_context=context) as pool:
        running = {}
        for graph, dtype, form in wanted:
            name = "%s-%s-%s.so" % (graph, dtype, form)
            if name in have:
                continue
            sizes = ["-" if d not in FORMS[form] else str(FORMS[form][d] or "*") for d in "BMNK"]
            line = " ".join([name, graph, dtype] + sizes + [claim(graph, form)])
            job = pool.submit(compile_one, graph, dtype, form, os.path.join(a.folder, name))
            running[job] = line
        for job in concurrent.futures.as_completed(running):
            job.result()
            lines.append(running[job])
            print(running[job].split()[0], flush=True)
            with open(manifest + ".new", "w") as f:
                f.write(head + "".join(line + "\n" for line in sorted(lines)))
            os.rename(manifest + ".new", manifest)


if __name__ == "__main__":
    main()
