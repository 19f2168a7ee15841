"""Settings of the peers that are chosen at process start: one worker each.

A peer counts at its best over these. "default" settings are what a user gets
who sets nothing but the number of threads.
"""
import os
import platform
from dataclasses import dataclass, field
from importlib.util import find_spec as available
from pathlib import Path

# Keep freed memory in the process instead of returning it to the system at
# every large result, and take it in huge pages.
KEEP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)}
HUGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "THP_MEM_ALLOC_ENABLE": "1"}


@dataclass(frozen=True)
class Setting:
    name: str
    libs: str  # libraries of the worker, comma-separated
    subjects: tuple  # which works' peers it is started for
    env: dict = field(default_factory=dict, hash=False)
    default: bool = False
    slow_start: bool = False  # also formulations that compile for seconds
    quick: bool = False  # takes part in a quick comparison
    program: str = ""  # the worker, where it is not peers/worker.py
    pinned: bool = False  # to as many processors as threads, for libraries that cannot be told

    def environment(self, threads):
        t = str(threads)
        count = {f"{v}_NUM_THREADS": t for v in ("OMP", "MKL", "OPENBLAS", "BLIS", "NUMEXPR", "NUMBA")}
        return count | {"NUMEXPR_MAX_THREADS": t, "POLARS_MAX_THREADS": t, "GOMAXPROCS": t} | self.env


def cpu_flags():
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return set()
    return set(text.split("flags", 1)[1].split("\n", 1)[0].split()) if "flags" in text else set()


def blas_libraries(cache):
    """BLAS libraries unpacked by bench/run: name to path."""
    found = {}
    for name, pattern in (
        ("Debian OpenBLAS openmp", "blas/libopenblas0-openmp/**/libopenblas.so.0"),
        ("Debian BLIS openmp", "blas/libblis4-openmp/**/libblis.so.4"),
    ):
        for path in sorted(Path(cache).glob(pattern))[:1]:
            found[name] = str(path)
    return found


def settings(cache, binaries):
    c = {"BENCH_C_LIBRARY": str(Path(binaries, "kernels.so"))}  # built by bench/run where there is gcc
    array = "numpy,numexpr,numba,scipy,gcc,awkward,pandas,polars,pyarrow"
    both = ("pointwise", "arrays", "shapes", "training", "types", "kernels", "ragged", "plain", "routines", "special", "tables", "fft", "signal", "ndimage")
    torch = (*both, "convolution", "layers")
    blas = blas_libraries(cache)
    direct = ",".join(["numpy", *blas])
    with_blas = {"WEFT_BENCH_BLAS": os.pathsep.join(f"{k}={v}" for k, v in blas.items())}
    libraries = ("blas/libgfortran5", "blas/libquadmath0")
    with_blas["LD_LIBRARY_PATH"] = os.pathsep.join(
        str(p.parent) for lib in libraries for p in sorted(Path(cache, lib).glob("**/*.so.[0-9]"))
    )
    inductor = {"TORCHINDUCTOR_CACHE_DIR": str(Path(cache, "inductor"))}
    out = [
        Setting("default", array, (*both, "compile"), c, default=True),
        Setting("malloc", array, both, KEEP | c),
        Setting("malloc+huge", array, (*both, "limits"), KEEP | HUGE | c, quick=True),
        Setting("torch default", "torch", (*torch, "matmul", "networks"), default=True),
        Setting("default", direct, ("matmul",), with_blas, default=True),
        Setting("jax", "jax", ("pointwise", "shapes", "training", "plain", "routines"), {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}, quick=True, pinned=True),
    ]
    # What a user of Go would pick today.
    go = str(Path(binaries, "gopeers"))
    for lib, subjects in (("gonum", ("pointwise", "matmul", "training")), ("gomlx", ("pointwise", "matmul", "training")), ("go", ("pointwise",))):
        if Path(go).exists():
            out.append(Setting("Go", lib, subjects, default=True, quick=True, program=go))
    if available("onnxruntime") and available("onnx"):
        out.append(Setting("ORT default", "onnxruntime", ("onnx",), default=True))
        out.append(Setting("ORT", "onnxruntime", ("matmul", "onnx"), KEEP | HUGE, quick=True))
    if available("tokenizers"):
        one = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        out.append(Setting("one thread", "tokenizers", ("tokens",), KEEP | one, default=True, quick=True))
    capabilities = ["avx2"]
    if "avx512f" in cpu_flags():
        capabilities.insert(0, "avx512")
        # OpenBLAS may not know a new processor and fall back to its AVX2 kernels.
        out.append(Setting("OPENBLAS_CORETYPE=SKYLAKEX", direct, ("matmul",),
                           with_blas | KEEP | HUGE | {"OPENBLAS_CORETYPE": "SKYLAKEX"}, quick=True))  # fmt: skip
        out.append(Setting("OPENBLAS_CORETYPE=SKYLAKEX", "numpy", ("training",),
                           KEEP | HUGE | {"OPENBLAS_CORETYPE": "SKYLAKEX"}))  # fmt: skip
    for capability in capabilities:
        env = KEEP | {"ATEN_CPU_CAPABILITY": capability}
        best = capability == capabilities[0]
        out.append(Setting(f"torch malloc {capability}", "torch", torch, env))
        # Networks take gigabytes a process and compute in oneDNN, which chooses its instructions by itself.
        out.append(Setting(f"torch malloc+huge {capability}", "torch", (*torch, "matmul", *["networks"] * best), env | HUGE | inductor,
                           slow_start=best, quick=best))  # fmt: skip
    if platform.system() != "Linux":  # the malloc settings are glibc's
        out = [s for s in out if not s.env.keys() & KEEP.keys()]
    return out
