"""Writes elliptic.json: elliptic filters of near losses, by mpmath in 60 digits. Needs mpmath: python elliptic.py > elliptic.json

An independent way: Jacobi's elliptic functions of complex arguments, and the modulus by theta functions of the nome.
"""
import json
from mpmath import atan, conj, ellipf, ellipfun, ellipk, exp, jtheta, mp, mpc, mpf, pi, sqrt, tan

mp.dps = 60


def design(n, rp, rs, wn):
    pass_, stop = 10 ** (mpf(rp) / 10) - 1, 10 ** (mpf(rs) / 10) - 1
    ripples = pass_ / stop
    nome = exp(-pi * ellipk(1 - ripples) / ellipk(ripples) / n)
    m = (jtheta(2, 0, nome) / jtheta(3, 0, nome)) ** 4
    quarter, up = ellipk(m), ellipf(atan(1 / sqrt(pass_)), 1 - ripples) / (n * ellipk(ripples))
    zeros, poles = [], []
    for i in range(1, n, 2):
        zero = 1j / (sqrt(m) * ellipfun("cd")(quarter * i / n, m=m))
        pole = 1j * ellipfun("cd")(quarter * i / n - 1j * up * quarter, m=m)
        pole = mpc(-abs(pole.real), pole.imag)
        zeros += [zero, conj(zero)]
        poles += [pole, conj(pole)]
    if n % 2:
        poles.append(-abs(ellipfun("sn")(1j * up * quarter, m=m)))
    w = tan(pi * mpf(wn) / 2)
    z = [(1 + w * s) / (1 - w * s) for s in zeros] + [mpf(-1)] * (n % 2)
    p = [(1 + w * s) / (1 - w * s) for s in poles]
    k = mpf(1)
    for s in p:
        k *= 1 - s
    for s in z:
        k /= 1 - s
    if n % 2 == 0:
        k /= sqrt(1 + pass_)
    parts = lambda v: [[float(mpc(x).real), float(mpc(x).imag)] for x in v]
    return dict(N=n, Rp=rp, Rs=rs, Wn=wn, Z=parts(z), P=parts(p), K=float(mpc(k).real))


print(json.dumps([design(n, rp, rs, 0.3) for n, rp, rs in
                  [(2, 0.5, 0.5 + 1e-7), (3, 0.5, 0.51), (3, 3, 3.01), (3, 40, 40.01), (4, 1, 60), (6, 0.5, 1.5), (6, 3, 4), (7, 0.01, 0.1)]]))
