"""Backends of torch.compile with faults, for tests/test_torch_engine.sh."""
import torch


def right(graph, inputs):
    return graph.forward


def narrow(graph, inputs):
    """Rounds its result to bf16."""
    return lambda *a: tuple(r.bfloat16().to(r.dtype) for r in graph.forward(*a))


def fails(graph, inputs):
    raise ValueError("no such backend today")


def other_dtype(graph, inputs):
    return lambda *a: tuple(r.double() for r in graph.forward(*a))


def changes_input(graph, inputs):
    def run(*a):
        result = graph.forward(*a)
        next(t for t in a if isinstance(t, torch.Tensor) and t.dim())[...] = 1
        return result
    return run


def flushes(graph, inputs):
    def run(*a):
        torch.set_flush_denormal(True)
        return graph.forward(*a)
    return run


def dies(graph, inputs):
    import os
    os.abort()
