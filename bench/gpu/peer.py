"""PyTorch's figures for the rows that weft is compared with, in ms, a line of JSON each, written as
they are measured. peer.py SECONDS [ROWS] begins no row after that time, and measures those that a
regular expression matches. TF32 is off."""

import json
import re
import sys
import time

begin = time.time()
limit = float(sys.argv[1]) if len(sys.argv) > 1 else 200
wanted = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


def say(**row):
    print(json.dumps(row), flush=True)


def measure(name, run):
    """The median time of a run, of batches that end with a wait, as cuda/figures measures it."""
    if not wanted.search(name):
        return
    if time.time() - begin > limit:
        say(row=name, skipped="no time is left")
        return

    def timed(n):
        start = time.perf_counter()
        for _ in range(n):
            run()
        torch.cuda.synchronize()
        return time.perf_counter() - start

    try:
        timed(3)
        n = max(1, int(0.02 / max(timed(1), 1e-6)))
        times = sorted(timed(n) * 1e3 / n for _ in range(7))
        say(row=name, ms=times[3], best=times[0])
    except Exception as e:  # one row that fails stops no other
        say(row=name, failed=repr(e)[:300])
    torch.cuda.empty_cache()


def training(name, model, size):
    x, y = torch.randn(60, *size, device="cuda"), torch.randint(0, 10, (60,), device="cuda")
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    measure(name + " eager", step)


def main():
    say(torch=torch.__version__, gpu=torch.cuda.get_device_name(0))
    n = 1 << 28
    a, b = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    rows = a[: 1 << 27].view(32768, 4096)
    measure("copy 2^28", lambda: a.clone())
    both = {
        "2a+3b 2^28": lambda: 2 * a + 3 * b,
        "exp 2^28": lambda: torch.exp(a),
        "formula 2^28": lambda: torch.exp(-a * a) * torch.sin(a) + torch.log1p(torch.abs(a)),
        "softmax 32768x4096": lambda: torch.softmax(rows, 1),
    }
    for name, run in both.items():
        measure(name + " eager", run)
        measure(name + " compile", torch.compile(run))
    measure("sum 2^28", lambda: a.sum())
    measure("sum axis 0 32768x4096", lambda: rows.sum(0))
    measure("sum axis 1 32768x4096", lambda: rows.sum(1))
    measure("transpose copy 32768x4096", lambda: rows.t().contiguous())
    measure("argmax axis 1 32768x4096", lambda: rows.argmax(1))
    index = torch.randint(0, n, (n // 16,), device="cuda")
    measure("gather 2^24 of 2^28", lambda: a.gather(0, index))
    del a, b, rows, index
    both.clear()
    for size, dtype in ((1024, torch.float32), (4096, torch.float32), (1024, torch.float64), (4096, torch.float64)):
        p, q = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
        measure(f"matmul {str(dtype)[6:]} {size}", lambda: p @ q)
    training("step MLP b60", nn.Sequential(nn.Linear(784, 500), nn.Tanh(), nn.Linear(500, 10)), (784,))
    lenet = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10))
    training("step LeNet b60", lenet, (1, 28, 28))
    s, t = torch.randn(16, device="cuda"), torch.randn(16, device="cuda")
    for _ in range(200):
        s + t
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(10000):
        s + t
    say(row="host time of add of 16", us=(time.perf_counter() - start) * 100)


main()
