"""Models that exporting.py wrote, run by ONNX Runtime. bench/ours/exported.go has ours."""
import os
import time
from pathlib import Path

import numpy as np

from form import Form, Ready
from inputs import indices, random, summary

FILES = {"onnx resnet50": "resnet50", "onnx mobilenet v2": "mobilenet", "onnx bert of 128": "bert", "onnx minilm of 16": "minilm", "onnx voice chunks": "detector"}
STEPS = {"onnx bert of 128": 128, "onnx minilm of 16": 16}
NEW_LENGTHS = (20, 21, 23, 27, 31, 34, 38, 43, 50, 57, 61)  # as in exported.go


def path(name):
    return Path(os.environ["WEFT_BENCH_MODELS"], f"{name}.onnx")


def session(name, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path(name)), options, providers=["CPUExecutionProvider"])


def texts(n, steps):
    return {"ids": indices(n * steps, 4, 30522).reshape(n, steps), "mask": np.ones((n, steps), np.int64)}


def stream(s, n):
    """n chunks, each with the state that the one before returned."""
    chunks = [random((1, 576), 1 + i, "float32") for i in range(n)]

    def run():
        h = c = np.zeros((1, 1, 128), np.float32)
        found = []
        for chunk in chunks:
            voice, h, c = s.run(None, {"chunk": chunk, "h": h, "c": c})
            found.append(voice.item())
        return found

    return Ready("run()", {"run": run}, lambda: summary(run()))


def make(case):
    def ready(n, dtype, threads):
        s = session(FILES[case], threads)
        if case == "onnx voice chunks":
            return stream(s, n)
        feed = texts(n, STEPS[case]) if case in STEPS else {"x": random((n, 3, 224, 224), 1, "float32")}
        return Ready("run(None, feed)", {"run": s.run, "feed": feed}, lambda: summary(s.run(None, feed)[0]))

    return ready


REGISTRY = {case: lambda case: [Form("onnxruntime", "onnxruntime", make(case))] for case in FILES}


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def first_result(threads):
    """As firstResult of exported.go; the library is loaded before."""
    import onnxruntime  # noqa: F401

    size = len(path("resnet50").read_bytes())
    feed = {"x": random((1, 3, 224, 224), 1, "float32")}
    before, start = resident(), time.perf_counter_ns()
    s = session("resnet50", threads)
    for i in range(6):
        s.run(None, feed)
        if i == 0:
            took = time.perf_counter_ns() - start
    return {"first": took, "resident": resident() - before, "file": size}


def new_length(threads):
    """As newLength of exported.go."""
    s = session("minilm", threads)

    def once(steps):
        feed, start = texts(1, steps), time.perf_counter_ns()
        s.run(None, feed)
        return time.perf_counter_ns() - start

    once(16)
    more = sorted(once(steps) - once(steps) for steps in NEW_LENGTHS)
    return {"median": more[len(more) // 2], "most": more[-1]}


VALUES = {"onnx, first result": first_result, "onnx, new length": new_length}
