# Writes errors.json: some elements of transforms by mpmath as sums of two float64, and the errors of SciPy there. Needs numpy, scipy, mpmath.
import json
import mpmath as mp
import numpy as np
import scipy.fft as sf

mp.mp.dps = 40


def signal(n, salt):
    i = np.arange(n)
    return ((i * salt % 1009) / 1009 - 0.5).astype(np.float32).astype(np.float64)  # exact in both types


def pair(x):
    hi = float(x)
    return [hi, float(x - mp.mpf(hi))]


# Sums of x[j]*w(j, k) over j.
KERNELS = {
    "fft": lambda n: lambda j, k: mp.expjpi(mp.mpf(-2 * (j * k % n)) / n),
    "ifft": lambda n: lambda j, k: mp.expjpi(mp.mpf(2 * (j * k % n)) / n) / n,
    "dct": lambda n: lambda j, k: 2 * mp.cospi(mp.mpf((2 * j + 1) * k % (4 * n)) / (2 * n)),
}
CALLS = {"fft": (sf.fft, "fft"), "ifft": (sf.ifft, "ifft"), "rfft": (sf.rfft, "fft"), "dct": (sf.dct, "dct")}
out = []
for n in (16, 60, 1000, 1021, 4096):
    for name, (call, kernel) in CALLS.items():
        x = signal(n, 7919) if name in ("rfft", "dct") else signal(n, 7919) + 1j * signal(n, 104729)
        number = [mp.mpc(v) if np.iscomplexobj(x) else mp.mpf(v) for v in x.tolist()]
        w = KERNELS[kernel](n)
        top = n // 2 if name == "rfft" else n - 1
        at = sorted({top * i // 15 for i in range(16)})
        exact = [mp.mpc(mp.fsum(v * w(j, k) for j, v in enumerate(number))) for k in at]
        size = mp.sqrt(mp.fsum(abs(v) ** 2 for v in exact))
        errors = []
        for half in (False, True):
            y = call(x.astype(np.complex64 if np.iscomplexobj(x) else np.float32) if half else x).astype(np.complex128)
            errors.append(float(mp.sqrt(mp.fsum(abs(mp.mpc(complex(y[k])) - v) ** 2 for k, v in zip(at, exact))) / size))
        out.append({"Name": name, "N": n, "At": at, "Real": [pair(v.real) for v in exact], "Imag": [] if name == "dct" else [pair(v.imag) for v in exact], "SciPy": errors})
print(json.dumps(out))
