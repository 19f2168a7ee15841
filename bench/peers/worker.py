"""A peer's worker: one process for one setting. It reads one request a line
(JSON) from standard input and answers each with one line; bench/README.md
describes the protocol. Its arguments are the libraries it may use, since some
settings are made for one of them."""
import gc
import json
import os
import sys
import time
import timeit

import arrays
import compiled
import compiling
import convolution
import eltypes
import exported
import kernels
import layers
import lists
import loading
import matmul
import networks
import plain
import pointwise
import ragged
import routines
import shapes
import signals
import special
import symbolic
import tokens
import training
from form import available

SUBJECTS = (pointwise, arrays, matmul, convolution, training, compiled, layers, compiling, eltypes, kernels, ragged, lists, symbolic, shapes, plain, routines, loading, networks, tokens, exported, special, signals)
REGISTRY = {case: forms for subject in SUBJECTS for case, forms in subject.REGISTRY.items()}
SAMPLE_NS = 200_000  # as sampleTime in bench/ours/measure.go
MIN_SAMPLES = 3
SLOW_NS = 300_000_000  # of a longer run one sample a request is enough
GRAD_CASES = set(training.REGISTRY) | set(compiled.REGISTRY) | set(layers.REGISTRY) | set(symbolic.REGISTRY) | convolution.GRAD | plain.GRAD | routines.GRAD | networks.GRAD


def median(v):
    return sorted(v)[len(v) // 2]


class Worker:
    def __init__(self, libs, slow_start):
        self.libs, self.slow_start = libs, slow_start
        self.row, self.ready = None, {}

    def forms(self, case):
        return [
            f for f in REGISTRY.get(case, lambda _: ())(case)
            if f.lib in self.libs and (self.slow_start or not f.slow_start)
        ]  # fmt: skip

    def prepare(self, req):
        """The timed function of a request, kept while its row is worked on."""
        row = (req["case"], req["n"], req["dtype"], req["threads"])
        if row != self.row:
            self.row, self.ready = row, {}
            gc.collect()
        if req["form"] not in self.ready:
            form = next(f for f in self.forms(req["case"]) if f.name == req["form"])
            ready = form.make(req["n"], req["dtype"], req["threads"])
            check = ready.check() if ready.check else None
            run = ready.compiled or timeit.Timer(ready.stmt, globals=ready.ns).timeit
            start, k = time.perf_counter(), 0
            while k < 2 or time.perf_counter() - start < 0.03:
                run(1)
                k += 1
            self.ready[req["form"]] = run, check
        return self.ready[req["form"]]

    def run(self, req):
        run, check = self.prepare(req)
        gc.disable()
        clock = time.perf_counter_ns
        start = clock()
        run(1)
        once = clock() - start
        inner = 1 if once >= SAMPLE_NS else SAMPLE_NS // max(once, 50) + 1
        samples, end = [], clock() + req["budget_ms"] * 1e6
        least = 1 if once > SLOW_NS else MIN_SAMPLES
        while len(samples) < least or clock() < end:
            start = clock()
            run(inner)
            samples.append((clock() - start) / inner)
        gc.enable()
        return {"median_ns": median(samples), "samples": samples, "inner": inner, "check": check}

    def answer(self, req):
        if req["op"] == "forms":
            forms = self.forms(req["case"])
            return {"forms": [{"form": f.name, "lib": f.lib, "counts": f.counts, "slow_start": f.slow_start} for f in forms]}
        if req["op"] == "values":
            return {"values": exported.VALUES[req["case"]](req["threads"]) if req.get("case") in exported.VALUES else copy_bandwidth()}
        if "torch" not in self.libs or req["case"] in GRAD_CASES:
            return self.run(req)
        import torch

        with torch.inference_mode():
            return self.run(req)


def copy_bandwidth():
    """GB/s, read and written, of NumPy's copy by working set, as in bench/ours/limits.go."""
    import numpy as np

    found = {}
    for k in range(13, 29):
        src, dst = np.ones(1 << (k - 1), np.uint8), np.zeros(1 << (k - 1), np.uint8)
        timer = timeit.Timer("copyto(dst, src)", globals={"copyto": np.copyto, "src": src, "dst": dst})
        inner = max(1, int(2e-4 / min(timer.repeat(3, 1))))
        found[f"copy 2^{k}"] = (1 << k) / (min(timer.repeat(20, inner)) / inner * 1e9)
    return found


def hello(libs):
    """Versions, and what the settings that are made at process start came to."""
    info = {"python": sys.version.split()[0]}
    for lib in libs:
        module = available(lib)
        if module:
            info[lib] = module.__version__
    if "torch" in libs and available("torch"):
        import torch

        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        info["ATen"] = torch.backends.cpu.get_cpu_capability()
    if "numpy" in libs and matmul.bundled_openblas():
        import ctypes

        lib = ctypes.CDLL(matmul.bundled_openblas())
        core = getattr(lib, "scipy_openblas_get_corename64_", None)
        if core:
            core.restype = ctypes.c_char_p
            info["OpenBLAS core"] = core().decode()
    return info


def main():
    libs = sys.argv[1].split(",")
    # Libraries print to standard output; the protocol has it to itself.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    send = lambda v: print(json.dumps(v), file=out, flush=True)
    worker = Worker(libs, "--slow-start" in sys.argv)
    send({"hello": hello(libs)})
    for line in sys.stdin:
        try:
            reply = worker.answer(json.loads(line))
        except Exception as err:  # one broken formulation must not end the others
            reply = {"error": f"{type(err).__name__}: {err}"}
        send(reply)


if __name__ == "__main__":
    main()
