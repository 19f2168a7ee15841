"""The table of works: what is measured, over which sizes and dtypes, and the bar.

bar is the least ratio (peer's time / ours) that is aimed at, None where there is
none. bytes_per and flops give what the work must at least move and calculate,
from which the physical limit is derived with the machine's measured limits.
"""
from dataclasses import dataclass

BOTH = ("float32", "float64")
SIZE = {"float32": 4, "float64": 8, "": 0}


@dataclass(frozen=True)
class Work:
    name: str
    sizes: tuple
    dtypes: tuple
    bar: float | None
    subject: str  # which settings take part: see settings.py
    threads: tuple = (1,)
    arrays: int = 0  # arrays of n elements read or written: the least traffic
    flops: object = None  # n -> operations on the multiply-add units
    note: str = ""


EXP = "exp(-x*x)*sin(x)+log1p(abs(x))"
TO_1E7 = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)

WORKS = (
    Work("a+1", TO_1E7, BOTH, 1.0, "pointwise", arrays=2),
    Work("2*a+3*b", TO_1E7, BOTH, 1.0, "pointwise", arrays=3),
    Work("pow(a,2)+pow(b,2)+2*a*b", TO_1E7, BOTH, 1.0, "pointwise", arrays=3),
    Work("2*a+pow(b,10)", TO_1E7, BOTH, 1.0, "pointwise", arrays=3),
    Work(EXP, TO_1E7[1:], BOTH, 2.0, "pointwise", arrays=2),
    Work("matmul", (64, 128, 256, 512, 1024, 2048), BOTH, 0.85, "matmul", flops=lambda n: 2 * n**3),
    Work("add 16", (16,), ("float32",), 1.0, "pointwise", note="eager; the bar is NumPy's time"),
    Work("mlp step", (60,), ("float32",), 1.1, "training", flops=lambda n: 2 * n * (2 * 784 * 500 + 3 * 500 * 10)),
    Work("lenet step", (60,), ("float32",), 1.3, "training", flops=lambda n: n * LENET_FLOPS),
    Work("cold compile", (1,), BOTH, 2.0, "compile", note=f"a fused kernel of {EXP}"),
    Work("copy", TO_1E7, ("float32",), None, "pointwise", arrays=2, note="into an existing array; no bar"),
)

# Forward, gradient of weights and gradient of inputs are one product each; the
# first layer has no gradient of its input.
LENET_FLOPS = 2 * (
    2 * (6 * 28 * 28 * 25) + 3 * (16 * 10 * 10 * 150) + 3 * (400 * 120 + 120 * 84 + 84 * 10)
)  # fmt: skip
