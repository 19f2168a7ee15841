"""Writes digits.npy.gz: scikit-learn's digits as uint8 [1797, 65], a row for each picture,
64 pixels from 0 to 16 and the digit. Prints what the test of the data expects.

Run in this folder: python digits.py
"""
import gzip
import io

import numpy as np
from sklearn.datasets import load_digits

d = load_digits()
rows = np.column_stack([d.data, d.target]).astype(np.uint8)
assert (rows[:, :64] == d.data).all() and (rows[:, 64] == d.target).all()
raw = io.BytesIO()
np.save(raw, rows)
with open("digits.npy.gz", "wb") as f:
    f.write(gzip.compress(raw.getvalue(), mtime=0))
print("digits of each kind", np.bincount(d.target), "pixels in all", int(d.data.sum()))
