"""Writes bessel.txt: Bessel's functions Jn and Yn as mpmath has them.

    python3 bessel.py > bessel.txt      (needs mpmath; some seconds)

A line is the order, the argument, Jn and Yn, the floats in hexadecimal.
"""
import random
from mpmath import mp, mpf, besselj, bessely

mp.prec = 120
random.seed(5)
print("# Written by bessel.py.")
for i in range(300):
    n = random.randint(2, [50, 50, 400][i % 3]) * random.choice([1, 1, -1])
    low, high = [(-3, 0), (0, 1), (0.5, 2), (1, 2.5), (2, 6)][i % 5]
    x = 10 ** random.uniform(low, high)
    print(n, x.hex(), float(besselj(n, mpf(x))).hex(), float(bessely(n, mpf(x))).hex())
