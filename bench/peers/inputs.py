"""Inputs and result summaries, the same as in bench/ours/inputs.go."""
import numpy as np


def pattern(n, seed):
    """n float64 numbers in [0, 1)."""
    i = np.arange(n, dtype=np.int64)
    return ((i * 7919 + seed * 104729) % 2003) / 2003


def uniform(n, seed, lo, hi, dtype):
    """pattern scaled to [lo, hi), rounded once to dtype."""
    return (lo + pattern(n, seed) * (hi - lo)).astype(dtype)


def scrambled(n, seed):
    """n whole numbers below 2^24 without a pattern that a processor could learn."""
    k = np.uint64
    z = np.arange(1, n + 1, dtype=k) * k(0x9E3779B97F4A7C15) + k(seed * 0xD1B54A32D192ED03 % 2**64)
    for _ in range(2):
        z = (z ^ z >> k(32)) * k(0xD6E8FEB86659FD93)
    return z >> k(40)


def random(shape, seed, dtype):
    """Scrambled numbers in [-1, 1)."""
    n = int(np.prod(shape))
    return (scrambled(n, seed).astype("float64") / 2**23 - 1).astype(dtype).reshape(shape)


def indices(n, seed, below):
    return (scrambled(n, seed) % np.uint64(below)).astype("int64")


def elements(n, dtype, seed):
    """Whole numbers from 1 to 100 in any type that NumPy has; for float16 divided by 8."""
    k = (scrambled(n, seed) % np.uint64(100)).astype("int64") + 1
    if dtype == "float16":
        return (k / 8).astype(dtype)
    if dtype.startswith("complex"):
        return (k + 1j * elements(n, "float32", seed + 10)).astype(dtype)
    return k.astype(dtype)


def summary(r):
    """Mean, mean square, first, middle and last element: what both sides compare."""
    if np.iscomplexobj(r):
        return summary(np.real(r)) + summary(np.imag(r))
    r = np.asarray(r, dtype=np.float64).ravel()
    return [r.mean(), (r * r).mean(), r[0], r[r.size // 2], r[-1]]
