"""The table of works: what is measured, over which sizes and dtypes, and the bar.

bar is the least ratio (peer's time / ours) that is aimed at, None where there is
none. moved and flops give what the work must at least move and calculate, from
which the physical limit is derived with the machine's measured limits.
"""
from dataclasses import dataclass

BOTH = ("float32", "float64")
SINGLE = ("float32",)
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
HALVES = ("float16", "bfloat16")
SIZE = {"": 0, "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4, "float32": 4,
        "int64": 8, "uint64": 8, "float64": 8, "complex64": 8, "complex128": 16}  # fmt: skip


@dataclass(frozen=True)
class Work:
    name: str
    sizes: tuple
    dtypes: tuple
    bar: object  # a number, or (n, dtype, threads) -> number or None
    subject: str  # which settings take part: see settings.py
    threads: tuple = (1, 2)
    moved: object = None  # (n, bytes of an element) -> bytes read and written at least
    stream: str = "copy"  # the bandwidth that bounds moved: copy, or read where little is written
    flops: object = None  # n -> operations on the multiply-add units
    own: object = None  # (n, dtype, threads) -> the most that our time may be of our yardstick's, or None
    beside: object = None  # (n, dtype, threads) -> as bar, of the fastest peer that does not count for the bar (C), or None
    most: object = None  # the most nanoseconds that ours may take
    of_limit: object = None  # (n, threads) -> the least part of the limit's speed that is aimed at, or None
    over_t1: object = None  # n -> how many times faster than on one thread two are to be, or None
    compilers: bool = False  # peers are compilers: also those that compile for seconds take part in a quick comparison
    tolerance: object = None  # within which checks agree, where it is not that of the dtype
    note: str = ""

    def bar_of(self, n, dtype, threads):
        return self.bar(n, dtype, threads) if callable(self.bar) else self.bar


def arrays(k):
    """k arrays of n elements."""
    return lambda n, e: k * n * e


def by_threads(one, two):
    return lambda n, dtype, threads: one if threads == 1 else two


def from_1e6(bar):
    """On one thread at every size, on two where there is work for them."""
    return lambda n, dtype, threads: bar if threads == 1 or n >= 1_000_000 else None


EXP = "exp(-x*x)*sin(x)+log1p(abs(x))"
TANH_GELU = "0.5*x*(1+tanh(0.7978845608028654*(x+0.044715*x*x*x)))"
TO_1E7 = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def formula(text, k):
    own = lambda n, d, t: 1.1 if n >= 10_000_000 else None
    return Work(text, TO_1E7, BOTH, from_1e6(1.0), "pointwise", moved=arrays(k), own=own,
                note="the yardstick is a kernel that streams the same buffers")  # fmt: skip


def gelu(text):
    return Work(text, TO_1E7[1:], BOTH, lambda n, d, t: 1.5 if n >= 10_000_000 else 1.1, "arrays", moved=arrays(2))


def reduction(name, axis, **options):
    return Work(f"{name} axis {axis}", (4096,), SINGLE, 1.0, "arrays", moved=lambda n, e: n * n * e, stream="read", **options)


def factorization(name, part, sizes=(64, 512, 2048), bar=lambda n, d, t: 0.4 if n == 64 else 0.8):
    """part is the work's multiply-adds as a part of the cube of the size."""
    return Work(name, sizes, ("float64",), bar, "arrays", flops=lambda n: 2 * part * n**3, tolerance=1e-8)


def product(m, k, l, bar, batch=1):
    name = f"matmul {m}x{k}x{l}" if batch == 1 else f"matmul {batch} of {m}x{k}x{l}"
    return Work(name, (m if batch == 1 else batch,), BOTH, bar, "matmul", stream="read",
                moved=lambda n, e: batch * (m * k + k * l + m * l) * e, flops=lambda n: 2 * batch * m * k * l)  # fmt: skip


def convolution(name, n, flops, bar, back):
    """flops: of one picture, forward; back: how often as much there and back."""
    yield Work(name, (n,), SINGLE, bar, "convolution", flops=lambda n: n * flops)
    yield Work(name + " and back", (n,), SINGLE, bar, "convolution", flops=lambda n: n * flops * back)


# Forward, gradient of weights and gradient of inputs are one product each; the
# first layer has no gradient of its input.
LENET_FLOPS = 2 * (
    2 * (6 * 28 * 28 * 25) + 3 * (16 * 10 * 10 * 150) + 3 * (400 * 120 + 120 * 84 + 84 * 10)
)  # fmt: skip
CONVNET_FLOPS = 2 * (2 * (6 * 250 * 250 * 49) + 3 * (16 * 44 * 44 * 294) + 3 * (16 * 44 * 44 * 10))

def compiled(net, sizes, over):
    """A training step as one compiled function; over: how many times faster than eager."""
    return Work(f"compiled {net} step", sizes, SINGLE, 1.1 if net == "logistic" else 1.0, "training",
                own=lambda n, d, t: over(n, t) and 1 / over(n, t), compilers=True,
                note="the yardstick is the same step, eager")  # fmt: skip


def types(text, dtypes, sizes=(1_000, 100_000, 10_000_000), k=3, **options):
    return Work(f"types {text}", sizes, dtypes, from_1e6(1.0), "types", moved=arrays(k), **options)


def conversion(target):
    e = SIZE[target]
    return Work(f"types to {target}", (1_000_000,), tuple(d for d in (*WHOLE, *HALVES, *BOTH) if d != target), None, "types", threads=(1,),
                moved=lambda n, size: n * (size + e), own=lambda n, d, t: 1 / 0.9, note="the yardstick copies as many bytes")  # fmt: skip



def stencil(name, sizes, rank, adds=None):
    """A stencil over n^rank elements; the results are as many, those of the border 0."""
    size = lambda n: n**rank
    return Work(name, sizes, BOTH, 2.0, "kernels", moved=lambda n, e: 2 * size(n) * e, flops=adds and (lambda n: 2 * adds * size(n)),
                beside=lambda n, d, t: 0.9 if t == 1 else None, over_t1=lambda n: 1.6 if size(n) <= 1 << 20 else None)  # fmt: skip


def shapes():
    """Short rows, elements at steps, truth values, pairs of functions."""
    of = lambda name, size, moved, stream="copy", **options: Work(name, (size,), SINGLE, 0.95, "shapes", moved=moved, stream=stream, **options)
    yield of("sum of rows of 10", 100_000, lambda n, e: 11 * n * e, "read")
    yield of("max of rows of 17", 60_000, lambda n, e: 18 * n * e, "read")
    yield of("logsumexp of rows of 32", 30_000, lambda n, e: 33 * n * e, "read")
    yield of("softmax of rows of 40", 25_000, lambda n, e: 80 * n * e)
    yield of("x[::-1]", 1_000_000, arrays(2))
    yield of("x[::-2]", 1_000_000, lambda n, e: 1.5 * n * e)
    yield of("stack of two on the last axis", 1_000_000, arrays(4))
    yield of("x[:,::2] = y", 1000, lambda n, e: 2 * n * n * e, note="lines are read, and written, whole")
    yield of("all of a mask", 1_000_000, lambda n, e: n, "read", note="all are true")
    yield of("any(x>2)", 1_000_000, arrays(1), "read", note="none is")
    yield of("sigmoid(x)*tanh(y)", 1_000_000, arrays(3))
    yield of("sin(x)*cos(x)+y", 1_000_000, arrays(3))


def ragged():
    """Lists of n items of 0 to 64 elements, 32 on average, and offsets of 8 bytes."""
    read = lambda n, e: n * (32 * e + 8 + e)
    both = lambda n, e: n * (64 * e + 8)
    of = lambda name, bar, **options: Work(f"ragged {name}", (1_000_000,), SINGLE, bar, "ragged", **options)
    yield of("sum", 2.0, moved=read, stream="read", of_limit=lambda n, t: 0.8)
    yield of("max", 2.0, moved=read, stream="read")
    yield of("softmax", 2.0, moved=both, note="the yardstick is exp of as many elements")
    yield of("2*l+v", 2.0, moved=both, own=lambda n, d, t: 1.0, note="one value an item; the yardstick is 2*x+v of a matrix with a value for each row of 32, as many bytes")
    yield of("sort", 1.5, note="and the places; peers: the elements alone")
    yield of("pad", 1.5, moved=lambda n, e: n * (96 * e + 64 + 8), note="to 64, with the mask, which peers have beforehand")
    yield of("unpad", 1.5, moved=lambda n, e: n * (64 * e + 8))
    yield of("index", 1.5, note="four places an item")
    yield Work("ragged appends", (1_000_000,), SINGLE, 20.0, "ragged", threads=(1,), note="items of 3; the peer keeps its list as the founding document does")
    yield Work("ragged insert, delete", (100_000,), SINGLE, 20.0, "ragged", threads=(1,), note="a hundred of each in the middle of items of 4; the peer as above")


def tokens():
    """Lines of English encoded with offsets, by kinds of tokenizers/testdata; the peer makes one call of all lines."""
    for kind, what in ("gpt2", "BPE of bytes"), ("bert", "WordPiece"), ("t5", "Unigram"):
        yield Work(f"tokens {kind}", (2_000,), SINGLE, 1.0, "tokens", threads=(1,), note=what)


def plain():
    """Programs without scopes, releases and formulas; the yardstick gives each result back by hand."""
    sizes, note = (1_000, 10_000, 100_000, 1_000_000), "left to the collector; the yardstick releases"
    for name in ("chain in a scope", "chain, lazy"):
        yield Work(f"plain {name}", sizes, SINGLE, None, "plain", moved=arrays(3), own=lambda n, d, t: 1.0, note="the yardstick leaves it to the collector")
    call = lambda name, size, bar, **options: Work(f"plain {name}", size, SINGLE, bar, "plain", threads=(1,), **options)
    yield call("slice of 16", (16,), 1.0, note="a view")
    yield call("x[3]", (100,), 1.0, note="a view")
    yield call("reshape", (1_000,), 1.0, note="a view")
    yield call("x[10:20]=0", (10,), 1.0)
    yield call("zeros of 16", (16,), None, most=280, note="423 ns before")
    yield call("chain with gradient", (16,), None, most=63_000, note="a hundred operations; 94 us before")
    yield call("batch of 8x8", (1_000,), None, most=62_000, note="93 us before")
    for heap in ("", ", 300 MB"):  # the full heap last: the room that it makes for garbage stays for some seconds
        for name, moved in (("a+b", 3), ("outer", 1), ("a+row", 2), ("a+column", 2), ("cat", 2), ("chain of ten", 3)):
            yield Work(f"plain {name}{heap}", sizes, SINGLE, None, "plain", moved=arrays(moved), own=lambda n, d, t: 1.3,
                       note=note + (", with 300 MB of pointers on the Go heap" if heap else ""))  # fmt: skip


def routines():
    """Shapes of routines that are not the usual ones."""
    of = lambda name, n, **options: Work(name, (n,), options.pop("dtypes", SINGLE), 0.95, "routines", **options)
    pool = lambda plane, out: dict(moved=lambda n, e: 2 * n * 64 * (plane**2 + out**2) * e)
    yield of("max pool 64x56^2 3x3 by 2 and back", 32, **pool(56, 28))
    yield of("max pool 64x28^2 3x3 by 1 and back", 32, **pool(28, 28))
    yield of("avg pool 64x28^2 2x2 and back", 32, **pool(28, 14))
    yield of("avg pool 64x56^2 3x3 by 2 and back", 32, **pool(56, 28))
    for to in ("first", "last"):
        for c, s in ((3, 224), (4, 224), (16, 56)):
            yield of(f"to channels {to} {c}x{s}^2", 32, dtypes=("uint8", "float16"), moved=lambda n, e, size=c * s * s: 2 * n * size * e)
    for name, flops in (("conv 64x56^2 to 64 3x1", 64 * 56 * 56 * 192), ("conv 16x56^2 to 32 5x5", 32 * 56 * 56 * 400), ("conv 64x4x224 to 64 3x3", 64 * 4 * 224 * 576)):
        yield of(name, 16, flops=lambda n, f=flops: 2 * n * f)
        yield of(name + " and back", 16, flops=lambda n, f=flops: 6 * n * f, tolerance=1e-3)
    for name in ("matmul 1000x1000x1", "matmul 1x1000x1000"):
        yield of(name, 1000, stream="read", moved=lambda n, e: n * n * e, flops=lambda n: 2 * n * n)
    yield of("sgd with momentum of 1e5", 100, moved=lambda n, e: 5 * n * 100_000 * e)
    yield of("adam of 1e4", 100, moved=lambda n, e: 7 * n * 10_000 * e)
    bandwidth = dict(of_limit=lambda n, t: 0.9)
    yield of("adam of 1e5", 100, moved=lambda n, e: 7 * n * 100_000 * e, **bandwidth)
    yield of("lion of 1e5", 100, moved=lambda n, e: 5 * n * 100_000 * e, **bandwidth)
    yield of("ema of 1e5", 100, moved=lambda n, e: 3 * n * 100_000 * e, **bandwidth)


def networks():
    """Training steps of published networks, and BERT on texts of 128."""
    for name, n, bar, note in (
        ("alexnet step", 16, 1.2, ""),
        ("resnet50 step", 8, 1.4, ""),
        ("mobilenet v2 step", 8, 1.4, ""),
        ("gnmt step", 32, 1.1, "two layers of 512 on each side, texts of 25, 8192 words"),
        ("ncf step", 2048, 1.4, "NeuMF of 165,237 rows, Adam on the rows used"),
        ("gpt2 step", 2, 1.6, "124 million parameters, texts of 64, AdamW"),
    ):
        yield Work(name, (n,), SINGLE, bar, "networks", tolerance=1e-2, note=note)
    yield Work("bert of 128", (1, 8), SINGLE, 1.0, "networks", tolerance=1e-3)


def exported():
    """Models that torch.onnx wrote, from the same files as ONNX Runtime runs; n pictures, texts or chunks."""
    of = lambda name, sizes, note="": Work(f"onnx {name}", sizes, SINGLE, 1.0, "onnx", tolerance=1e-3, note=note)
    yield of("resnet50", (1, 8))
    yield of("mobilenet v2", (1,))
    yield of("bert of 128", (1,))
    yield of("minilm of 16", (1,), "a sentence's vector")
    yield of("voice chunks", (100,), "one after the other, with the state that the one before returned")


SPECIAL = ("gamma", "gammaln", "digamma", "erf", "erfc", "erfinv", "ndtr", "ndtri", "i0", "i1", "i0e", "i1e", "k0", "k1", "expi", "exp1", "lambertw",
           "factorial", "expit", "logit", "entr", "log_softmax", "logsumexp", "gammainc", "gammaincc", "gammaincinv", "betainc", "betaincinv", "zeta",
           "comb", "kv", "xlogy", "rel_entr", "jv", "expn", "voigt_profile", "erfi", "airy", "fresnel", "hyp2f1", "hyp1f1", "struve", "ellipkinc",
           "elliprf", "elliprj")  # fmt: skip


def special():
    """Special functions beside SciPy's, which have one thread; tables beside pandas, Polars and Arrow."""
    for name in SPECIAL:
        yield Work(f"special {name}", (1_000_000,), BOTH, 3.0, "special", tolerance=1e-3)
    yield Work("cdist 2000x64", (2_000,), BOTH, 1.0, "special", flops=lambda n: 2 * n * n * 64, tolerance=1e-3)
    for keys in ("1e3", "1e6"):
        for stat in ("sum", "mean", "count", "min", "max"):
            yield Work(f"group-by {stat} of {keys} keys", (10_000_000,), ("float64",), 1.0, "tables", moved=lambda n, e: n * 16, stream="read", tolerance=1e-6)
    yield Work("join on keys", (1_000_000,), ("float64",), 1.0, "tables", tolerance=1e-6, note="two tables of as many rows and keys, one column each beside")


SIGNAL = ("lfilter", "sosfilt", "filtfilt", "find_peaks", "welch", "resample", "resample_poly", "medfilt", "savgol", "hilbert", "convolve by 31",
          "convolve by 1000")  # fmt: skip
NDIMAGE = ("gaussian_filter", "uniform_filter 15", "median_filter 3", "median_filter 5", "sobel", "laplace", "grey_dilation 5", "grey_opening 5",
           "distance_transform_edt", "binary_erosion", "label", "zoom 2", "zoom 2, linear", "rotate", "correlate1d 31", "correlate 7x7",
           "map_coordinates")  # fmt: skip


def signals():
    """Fourier transforms beside SciPy's, which count for the bar, and PyTorch's, which MKL computes; filters beside SciPy's, which have one thread."""
    of = lambda name, n, dtypes, **more: Work(name, n, dtypes, 1.0, "fft", tolerance=1e-4, beside=lambda n, d, t: 0.6, **more)
    both = ("complex64", "complex128")
    yield of("fft", (1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22), both)
    yield of("fft of a prime", (1_009, 100_003), both)
    yield of("fft of 1000 rows of 16", (1_000,), both)
    yield of("fft2 1000x1000", (1_000,), both)
    yield of("rfft 1000x1024", (1_000,), BOTH)
    yield of("irfft 1000x1024", (1_000,), BOTH)
    yield of("dct 1000x1024", (1_000,), BOTH)
    for name in SIGNAL:
        yield Work(f"signal {name}", (1_000_000,), BOTH, 1.0, "signal", tolerance=1e-3)
    yield Work("signal convolve by its size", (100_000,), BOTH, 1.0, "signal", tolerance=1e-3)
    for name in NDIMAGE:
        yield Work(f"ndimage {name}", (1_000,), BOTH, 1.0, "ndimage", tolerance=1e-3)


ESCAPED = 38.1  # steps of a point of the Mandelbrot set's picture, on average

STREAMED = dict(own=lambda n, d, t: 1.1 if n >= 10_000_000 else None)

WORKS = (
    formula("a+1", 2),
    formula("2*a+3*b", 3),
    formula("pow(a,2)+pow(b,2)+2*a*b", 3),
    formula("2*a+pow(b,10)", 3),
    Work(EXP, TO_1E7[1:], BOTH, lambda n, d, t: 2.5 if d == "float32" else 3.0, "pointwise", moved=arrays(2),
         over_t1=lambda n: 1.8 if n >= 1_000_000 else None),
    Work("add 16", (16,), SINGLE, 1.25, "pointwise", threads=(1,), most=210, note="eager; the bar is 0.8 of NumPy's time"),
    Work("expr 16", (16,), SINGLE, 1.0, "pointwise", threads=(1,), most=250, note="a+b as a formula that is in the cache; the peers add"),
    Work("item", (1,), SINGLE, 1.0, "pointwise", threads=(1,), most=15, note="reads the one element of an array"),
    Work("copy", TO_1E7, SINGLE, None, "pointwise", threads=(1,), moved=arrays(2), note="into an existing array"),
    gelu("gelu(x)"),
    gelu(TANH_GELU),
    Work("softmax 4096x1000", (4096,), SINGLE, 1.5, "arrays", moved=lambda n, e: 2 * n * 1000 * e),
    Work("layer norm 4096x1024", (4096,), SINGLE, by_threads(1.5, 1.1), "arrays", moved=lambda n, e: 2 * n * 1024 * e),
    *(reduction(name, axis) for name in ("sum", "max") for axis in (0, 1)),
    *(reduction("argmax", axis, own=lambda n, d, t: 1.3, note="the yardstick is our max") for axis in (0, 1)),
    Work("transpose copy", (4096,), SINGLE, 3.0, "arrays", moved=lambda n, e: 2 * n * n * e),
    Work("broadcast add", (2048,), SINGLE, 1.0, "arrays", moved=lambda n, e: (n * n + 2 * n) * e),
    Work("gather rows of 128", (65536,), SINGLE, 1.2, "arrays", moved=lambda n, e: 2 * n * 128 * e + 8 * n),
    Work("scatter-add rows of 128", (65536,), SINGLE, 1.2, "arrays", moved=lambda n, e: 3 * n * 128 * e + 8 * n),
    Work("mask select", (10_000_000,), SINGLE, 3.0, "arrays", moved=lambda n, e: n * (e + 1 + e / 2)),
    Work("where", (10_000_000,), SINGLE, 3.0, "arrays", moved=lambda n, e: n * (3 * e + 1)),
    Work("sort", (1_000_000,), SINGLE, 1.0, "arrays", note="torch and we find the places as well, NumPy does not"),
    Work("argsort", (1_000_000,), SINGLE, 1.0, "arrays", note="equal elements in order"),
    Work("partition", (1_000_000,), BOTH, 0.5, "arrays", note="around the median; torch finds it alone"),
    Work("argpartition", (1_000_000,), BOTH, 0.5, "arrays", note="as above"),
    Work("topk 100", (1_000_000,), SINGLE, 1.0, "arrays", moved=arrays(1), stream="read"),
    Work("median", (1_000_000,), SINGLE, None, "arrays", moved=arrays(1), stream="read"),
    Work("median of rows of 101", (10_000,), BOTH, 1.0, "arrays", note="n rows"),
    Work("partition of rows of 100", (10_000,), BOTH, 0.5, "arrays", note="around the median; torch finds it alone"),
    Work("histogram of 100 bins", (1_000_000,), SINGLE, 1.0, "arrays", moved=arrays(1), stream="read"),
    Work("cumsum", (1_000_000,), SINGLE, 1.0, "arrays", moved=arrays(2)),
    *(Work(f"cumsum axis {axis}", (1024,), SINGLE, 1.0, "arrays", moved=lambda n, e: 2 * n * n * e) for axis in (0, 1)),
    Work("dot", (1_000_000,), SINGLE, 1.0, "arrays", moved=arrays(2), stream="read"),
    Work("sparse by a vector", (10_000_000,), BOTH, 1.0, "arrays", moved=lambda n, e: n * (e + 4) + n // 10 * (2 * e + 8), stream="read", note="n entries of a square matrix of n/10 rows"),
    Work("sparse by 64 columns", (10_000_000,), BOTH, 1.0, "arrays", note="as above"),
    *(Work(f"sparse {name} of a grid", (300,), ("float64",), 1.0, "arrays", tolerance=1e-7, note="factors and a solution of the Laplacian of a grid of n x n; SciPy's splu") for name in ("lu", "cholesky")),
    Work("sparse solve on a grid", (300,), ("float64",), 1.0, "arrays", tolerance=1e-7, note="as above, by factors at hand"),
    Work("gather along rows", (1024,), SINGLE, 1.0, "arrays", moved=lambda n, e: n * n * (2 * e + 8)),
    Work("scatter-add along rows", (1024,), SINGLE, 1.0, "arrays", moved=lambda n, e: n * n * (3 * e + 8)),
    Work("rgb to grey", (1024,), ("uint8",), 0.7, "arrays", moved=lambda n, e: n * n * 7, tolerance=1e-5, note="bytes to float32"),
    Work("dot by matmul", (1_000_000,), SINGLE, 0.7, "arrays", moved=arrays(2), stream="read", tolerance=1e-3),
    Work("conv 64x224x4 to 64 3x3", (16,), SINGLE, 0.7, "arrays", flops=lambda n: 2 * n * 64 * 224 * 4 * 576, tolerance=1e-3),
    Work("counts of 1000", (1_000_000,), SINGLE, 0.7, "arrays", moved=lambda n, e: n * 8, stream="read"),
    Work("means of 1000 groups", (1_000_000,), SINGLE, 0.7, "arrays", moved=lambda n, e: n * (e + 8), stream="read", tolerance=1e-3),
    Work("bags of 8 rows of 64", (10_000,), SINGLE, 0.7, "arrays", moved=lambda n, e: n * 8 * (64 * e + 8), stream="read"),
    Work("compiled bags of 8 rows of 64", (10_000,), SINGLE, None, "arrays", threads=(1,), own=lambda n, d, t: 1.03, note="the yardstick is the same, eager"),
    Work("x.T+x", (2048,), SINGLE, 0.7, "arrays", moved=lambda n, e: 2 * n * n * e),
    Work("standardise", (100_000,), SINGLE, 0.7, "arrays", moved=lambda n, e: 2 * n * 64 * e, tolerance=1e-3, note="columns; also compiled"),
    Work("compiled standardise", (100_000,), SINGLE, None, "arrays", own=lambda n, d, t: 1.03, note="the yardstick is the same, eager"),
    Work("channels first", (32,), SINGLE, 0.7, "arrays", moved=lambda n, e: 2 * n * 3 * 224 * 224 * e),
    Work("max pool 64x112^2 3x3 by 2", (16,), SINGLE, 4.0, "arrays", moved=lambda n, e: n * 64 * (112 * 112 + 56 * 56) * e),
    factorization("cholesky", 1 / 6), factorization("lu factor", 1 / 3), factorization("qr", 4 / 3),
    factorization("eigh", 14 / 3, (512,), 0.4), factorization("svd", 22 / 3, (512,), 0.3),
    *(Work(f"{name} of 8x8", (10_000,), ("float64",), 2.0, "arrays", moved=lambda n, e: 2 * n * 64 * e, tolerance=1e-8)
      for name in ("cholesky", "lu factor", "solve", "inv", "qr", "eigh", "svd")),
    Work("matmul", (64, 128, 256, 512, 1024, 2048, 4096), BOTH, lambda n, d, t: 0.9 if n <= 128 else 0.95, "matmul",
         flops=lambda n: 2 * n**3, over_t1=lambda n: 1.6 if n == 512 else None,
         of_limit=lambda n, t: 0.85 if n >= 1024 else 0.8 if n == 512 and t == 1 else None),
    product(64, 784, 500, 0.95),
    product(784, 60, 500, 0.95),
    product(60, 500, 10, 0.95),
    product(64, 64, 64, 0.95, batch=64),
    product(8, 4096, 4096, 1.5),
    product(1, 4096, 4096, 1.0),
    product(4096, 4096, 1, 1.0),
    *convolution("conv 1x32^2 to 6 5x5", 60, 2 * 6 * 28 * 28 * 25, 2.0, back=2),
    *convolution("conv 6x14^2 to 16 5x5", 60, 2 * 16 * 10 * 10 * 150, 2.0, back=3),
    *convolution("conv 1x256^2 to 6 7x7", 60, 2 * 6 * 250 * 250 * 49, 2.0, back=2),
    *convolution("conv 64x56^2 to 64 3x3", 16, 2 * 64 * 56 * 56 * 576, 1.0, back=3),
    *convolution("conv 256x14^2 to 256 3x3", 16, 2 * 256 * 14 * 14 * 2304, 1.0, back=3),
    *convolution("conv 3x224^2 to 64 7x7 by 2", 16, 2 * 64 * 112 * 112 * 147, 1.0, back=2),
    *convolution("conv 64x56^2 to 256 1x1", 16, 2 * 256 * 56 * 56 * 64, 1.0, back=3),
    *convolution("conv 128x28^2 depthwise 3x3", 16, 2 * 128 * 28 * 28 * 9, 1.5, back=3),
    *convolution("conv 64x56^2 depthwise 3x3 by 2", 16, 2 * 64 * 28 * 28 * 9, 1.5, back=3),
    *convolution("conv 64x28^2 to 64 3x3 in 8 groups", 16, 2 * 64 * 28 * 28 * 72, 1.5, back=3),
    Work("scalar chain", (100,), SINGLE, 5.0, "training", threads=(1,), note="operations on 0-d arrays, forward and backward"),
    Work("mlp step", (1, 60), SINGLE, lambda n, d, t: 1.5 if n == 1 else 1.2 if t == 1 else 1.25, "training",
         flops=lambda n: 2 * n * (2 * 784 * 500 + 3 * 500 * 10)),
    Work("logistic step", (400,), BOTH, 1.0, "training", moved=lambda n, e: 2 * n * 784 * e, stream="read",
         note="the peer is NumPy by hand"),
    Work("lenet step", (60,), SINGLE, by_threads(2.0, 1.5), "training", flops=lambda n: n * LENET_FLOPS),
    Work("convnet step", (60,), SINGLE, 2.0, "training", flops=lambda n: n * CONVNET_FLOPS),
    compiled("mlp", (1, 60), lambda n, t: 2.5 if n == 1 else 1.12 if t == 1 else 1.3),
    compiled("deep mlp", (60,), lambda n, t: 1.1),
    compiled("lenet", (60,), lambda n, t: 1.5 if t == 1 else None),
    compiled("logistic", (400,), lambda n, t: 1.3),
    Work("compiled call", (16,), SINGLE, 1.0, "training", threads=(1,), note="2x+1 of 16 elements: what a call of a compiled function costs"),
    Work("sym call", (16,), SINGLE, 1.0, "training", threads=(1,), most=400, note="as above, of a function of sym"),
    Work("scan rnn and back", (1000,), SINGLE, 1.0, "training", flops=lambda n: 3 * n * 2 * 2 * 32 * 128 * 128, tolerance=1e-3,
         note="that many steps, 128 states, batches of 32, in one function with Scan"),
    Work("lazy chain of ten", (1_000, 10_000, 100_000, 1_000_000), SINGLE, 1.0, "pointwise", moved=arrays(1), stream="read",
         own=lambda n, d, t: 1.0, note="and the sum; the yardstick is the same chain, eager in a scope"),
    Work("lstm 2x512 and back", (32,), SINGLE, 1.2, "layers", flops=lambda n: 3 * n * 25 * 2 * 2 * 2 * 512 * 2048),
    Work("lstm 64 to 128 and back", (32,), SINGLE, 1.2, "layers", flops=lambda n: 3 * n * 50 * 2 * (64 + 128) * 512),
    Work("batch norm 64x28^2 and back", (32,), SINGLE, 1.5, "layers"),
    Work("layer norm 512 and back", (8192,), SINGLE, 1.5, "layers"),
    Work("attention 8x256x64 and back", (8,), SINGLE, 1.2, "layers", flops=lambda n: 6 * n * 8 * 2 * 256 * 256 * 64),
    Work("causal attention 8x1024x64 and back", (1, 8), SINGLE, 1.5, "layers", flops=lambda n: 7 * n * 8 * 1024 * 1025 * 64),
    Work("recommender step", (2048,), SINGLE, 1.2, "layers", note="two tables of 1e5 rows of 64, gradients kept as rows, Adam"),
    Work("loader of 8, items wait", (160,), SINGLE, 1.0, "plain", threads=(2,), own=lambda n, d, t: 1 / 0.9, tolerance=1e-3,
         note="2 ms an item, batches of 4; the yardstick is 8 goroutines that make the items alone"),
    Work("loader of 8, items compute", (160,), SINGLE, None, "plain", threads=(2,), own=lambda n, d, t: 1 / 0.9, note="the yardstick is 2 goroutines that make the items alone"),
    types("2*a+3*b", (*WHOLE, *HALVES), **STREAMED),
    types("max(a,b)*3", (*WHOLE, *HALVES)),
    types("a<b", (*WHOLE, *HALVES)),
    *(types(text, WHOLE, (1_000_000,)) for text in ("a//7", "a//b", "a%b")),
    types("a*b", ("complex64",), (1_000_000,)),
    types("abs(a)", ("complex64",), (1_000_000,), k=1.5),
    *(conversion(d) for d in ("bool", "uint8", "int16", "int32", "int64", "uint64", "float16", "bfloat16", "float32", "float64")),
    Work("types matmul", (1024,), HALVES, None, "types", flops=lambda n: 2 * n**3, own=lambda n, d, t: 1.0, note="the yardstick is the product in float32"),
    Work("types linear of a row", (1024,), HALVES, None, "types", flops=lambda n: 2 * n**2, own=lambda n, d, t: 1.0, note="the yardstick is the product in float32"),
    Work("mandelbrot", (1000,), BOTH, lambda n, d, t: (10.0 if d == "float32" else 5.0) if t == 2 else None, "kernels",
         flops=lambda n: 10 * ESCAPED * n * n, own=lambda n, d, t: 1 / (14 if d == "float32" else 7) if t == 1 else None,
         over_t1=lambda n: 1.8, tolerance=1e-3,
         note="200 steps; the yardstick is the same function in plain Go; five sums a step are the limit"),
    stencil("jacobi", (1024, 4096), 2),
    stencil("mean 3x3", (1024, 4096), 2),
    stencil("7 points", (256,), 3),
    stencil("mean of 31", (10_000_000,), 1, adds=30),
    Work("jacobi 100 steps", (4096,), BOTH, 2.0, "kernels", own=lambda n, d, t: 0.5, moved=lambda n, e: 200 * n * n * e,
         note="the yardstick is 100 sweeps of ours; the limit is theirs, which fewer passes beat"),
    Work("black-scholes", (10_000_000,), BOTH, 4.0, "kernels", moved=arrays(5), note="call and put"),
    *(Work(f"mean and variance axis {axis}", (4096,), BOTH, 1.0, "kernels", moved=lambda n, e: n * n * e, stream="read",
           note="a user's map and combination, in one pass") for axis in (0, 1)),
    Work("prefix sum", (10_000_000,), BOTH, 1.0, "kernels", moved=arrays(2), tolerance=1e-2, note="by a user's sum, which runs as cumsum does"),
    Work("kernel of 16", (16,), SINGLE, None, "kernels", threads=(1,), most=500, note="a cached call"),
    Work("cold kernel", (1,), BOTH, None, "kernels", threads=(1,), most=1_000_000, note="Mandelbrot, from source to the first 16 points"),
    *ragged(),
    *tokens(),
    *shapes(),
    *plain(),
    *routines(),
    *networks(),
    *exported(),
    *special(),
    *signals(),
    Work("cold compile", (1,), BOTH, 2.0, "compile", threads=(1,), note=f"a fused kernel of {EXP}"),
)  # fmt: skip
