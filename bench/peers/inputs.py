"""Inputs and result summaries, the same as in bench/ours/inputs.go."""
import numpy as np


def pattern(n, seed):
    """n float64 numbers in [0, 1)."""
    i = np.arange(n, dtype=np.int64)
    return ((i * 7919 + seed * 104729) % 2003) / 2003


def uniform(n, seed, lo, hi, dtype):
    """pattern scaled to [lo, hi), rounded once to dtype."""
    return (lo + pattern(n, seed) * (hi - lo)).astype(dtype)


def summary(r):
    """Mean, mean square, first, middle and last element: what both sides compare."""
    r = np.asarray(r, dtype=np.float64).ravel()
    return [r.mean(), (r * r).mean(), r[0], r[r.size // 2], r[-1]]
