"""Writes campaign.txt: every function at random points, by mpmath, and SciPy's errors at them.

    python3 campaign.py 7 5 > campaign.txt         the committed points: seed 7, 5 of each function
    python3 campaign.py 8 300 > long.txt           a longer campaign: WEFT_SPECIAL=long.txt go test -v -run Campaign ./special
    python3 campaign.py 8 300 Jv Yv > bessel.txt   some functions alone

Arguments are ordinary, small and large numbers of both signs, whole ones, halves and numbers next to them, and those near
zeros. Functions of HEAVY have that many times the points. A point is left out where mpmath takes more than a second and
a half, or has other digits with more precision. The lines are those of vectors.txt.
"""
import math
import signal
import sys
import warnings

import mpmath as m
import numpy as np
import scipy.special as sc
from mpmath import mpf

argv, sys.argv = sys.argv, sys.argv[:1]
import grid  # noqa: E402
import make  # noqa: E402

warnings.simplefilter("ignore")
m.mp.dps = 50
seed, count = int(argv[1]), int(argv[2])
r = np.random.default_rng(seed)
HEAVY = {"Hyp2F1": 30, "Hyp1F1": 4, "Hyp0F1": 4, "BetaLn": 4, "Poch": 4, "Binom": 4, "RelEntr": 3, "KLDiv": 3, "Digamma": 4}


def U(a, b):
    """Uniform."""
    return r.uniform(a, b)


def LU(a, b):
    """Uniform in the logarithm."""
    return float(np.exp(U(np.log(a), np.log(b))))


def real(hi=60):
    kind, least = r.integers(0, 7), min(hi, 12)
    x = (
        lambda: U(-3, 3),
        lambda: U(-hi, hi),
        lambda: LU(1e-12, 1e-2) * r.choice([-1, 1]),
        lambda: round(U(-least, least)) + U(-1, 1) * 10 ** U(-14, -2),
        lambda: float(r.integers(-least, least + 1)),
        lambda: r.integers(-20, 20) / 2.0,
        lambda: LU(1, hi) * r.choice([-1, 1]),
    )[kind]()
    return max(-hi, min(hi, x))


def pos(hi=60, lo=1e-12):
    x = abs(real(hi))
    return x if x >= lo else LU(max(lo, 1e-3), hi)


def unit():
    return (lambda: U(0, 1), lambda: LU(1e-15, 1), lambda: 1 - LU(1e-12, 1), lambda: U(0.3, 0.7))[r.integers(0, 4)]()


def near(*zeros):
    return zeros[r.integers(0, len(zeros))] * (1 + U(-1, 1) * 10 ** U(-12, -1))


def mix(f, g, p=0.2):
    return g() if r.random() < p else f()


def beside(a, far):
    return a, mix(lambda: pos(far), lambda: a * U(0.3, 2), 0.5)


def trials():
    n = int(r.integers(1, 100))
    return float(r.integers(0, n)), float(n), unit()


def betaline():
    """Points by the line where the beta function is 1."""
    a = LU(0.03, 0.98)
    low = high = 1.0
    while sc.betaln(a, high) > 0 and high < 1e12:
        high *= 2
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if sc.betaln(a, mid) > 0 else (low, mid)
    return a, low * (1 + U(-1, 1) * 10 ** U(-13, -1))


def boxy():
    l, y = real(5), mix(lambda: real(10), lambda: real(100))
    return (y if l * y > -1 else -y), l


def pair():
    x = pos(1e3)
    return x, mix(lambda: pos(1e3), lambda: x * (1 + U(-1, 1) * 10 ** U(-12, -1)))


def amplitude():
    return real(30), mix(lambda: 1 - unit(), lambda: -pos(1e3))


def gauss():
    if r.random() < 0.2:
        return real(20), real(20), mix(lambda: pos(20, 1e-3), lambda: real(20)), mix(lambda: 1 - unit(), lambda: -pos(40), 0.6)
    w = 10 ** U(0, 1.6)
    a, b = (U(-w, w), U(-w, w)) if r.random() < 0.5 else (U(-3, 5), U(-3, 5))
    b = mix(lambda: b, lambda: a + r.integers(-4, 5), 0.1)
    c = mix(lambda: mix(lambda: U(0.02, w), lambda: U(-w, 0), 0.4), lambda: float(r.integers(1, 9)), 0.1)
    return a, b, c, (lambda: U(-1, 1), lambda: 1 - LU(1e-4, 1), lambda: -LU(0.3, 55))[r.integers(0, 3)]()


POINTS = {
    "Gamma": lambda: (real(165),),
    "RGamma": lambda: (real(165),),
    "LogGamma": lambda: (mix(lambda: pos(1e5), lambda: near(1, 2)),),
    "Factorial": lambda: (pos(165),),
    "Digamma": lambda: (mix(lambda: real(1000), lambda: near(1.4616321449683622, -0.5040830082644554, -1.57349847316239)),),
    "Trigamma": lambda: (pos(1000),),
    "Erf": lambda: (real(6),),
    "Erfc": lambda: (real(26),),
    "Erfinv": lambda: (r.choice([-1, 1])*unit(),),
    "ErfcInv": lambda: (mix(lambda: unit()*2, lambda: LU(1e-290, 1)),),
    "Erfcx": lambda: (mix(lambda: real(26), lambda: LU(1, 1e6)),),
    "Erfi": lambda: (real(26),),
    "Ndtr": lambda: (real(36),),
    "LogNdtr": lambda: (real(100),),
    "Ndtri": lambda: (mix(unit, lambda: LU(1e-290, 1)),),
    "Dawsn": lambda: (real(1000),),
    "J0": lambda: (mix(lambda: real(1000), lambda: near(2.404825557695773, 5.520078110286311, 40.05842576462824)),),
    "J1": lambda: (mix(lambda: real(1000), lambda: near(3.8317059702075125, 10.173468135062722)),),
    "Y0": lambda: (mix(lambda: pos(1000), lambda: near(0.8935769662791675, 3.957678419314858)),),
    "Y1": lambda: (mix(lambda: pos(1000), lambda: near(2.197141326031017, 5.429681040794135)),),
    "I0": lambda: (real(700),),
    "I1": lambda: (real(700),),
    "I0e": lambda: (real(5000),),
    "I1e": lambda: (real(5000),),
    "K0": lambda: (pos(690),),
    "K1": lambda: (pos(690),),
    "K0e": lambda: (pos(5000),),
    "K1e": lambda: (pos(5000),),
    "Exp1": lambda: (pos(690),),
    "Expi": lambda: (mix(lambda: real(690), lambda: near(0.37250741078136663)),),
    "Si": lambda: (real(1000),),
    "Ci": lambda: (mix(lambda: pos(1000), lambda: near(0.6165054856207162, 3.384180422551186)),),
    "Spence": lambda: (mix(lambda: pos(1e5), lambda: near(1)),),
    "EllipK": lambda: (mix(unit, lambda: -pos(1e5)),),
    "EllipE": lambda: (mix(unit, lambda: -pos(1e5)),),
    "LambertW": lambda: (mix(lambda: pos(1e6), lambda: -unit()*0.367879441171442),),
    "LambertWMinus": lambda: (-unit()*0.367879441171442,),
    "FresnelS": lambda: (real(100),),
    "FresnelC": lambda: (real(100),),
    "AiryAi": lambda: (mix(lambda: real(80), lambda: near(-2.338107410459767, -10.04017434155809)),),
    "AiryAip": lambda: (mix(lambda: real(80), lambda: near(-1.018792971647471, -3.248197582179837)),),
    "AiryBi": lambda: (mix(lambda: real(80), lambda: near(-1.173713222709128, -3.271093302836353)),),
    "AiryBip": lambda: (mix(lambda: real(80), lambda: near(-2.294439682614123, -4.073155089071828)),),
    "ExpRel": lambda: (real(600),),
    "Entr": lambda: (mix(lambda: pos(1e5), lambda: near(1)),),
    "GammaInc": lambda: beside(pos(200), 200),
    "GammaIncC": lambda: beside(pos(200), 200),
    "BetaInc": lambda: (pos(200, 1e-8), pos(200, 1e-8), unit()),
    "Beta": lambda: (pos(200), pos(200)),
    "BetaLn": lambda: mix(lambda: (pos(1e4), pos(1e4)), betaline, .3),
    "Binom": lambda: (real(100), real(50)),
    "Poch": lambda: (real(80), real(30)),
    "Zeta": lambda: (1+pos(50), pos(1000)),
    "StdTr": lambda: (pos(200), real(50)),
    "ChDtr": lambda: (pos(200), pos(200)),
    "ChDtrC": lambda: (pos(200), pos(200)),
    "FDtr": lambda: (pos(200, 1e-6), pos(200, 1e-6), pos(50)),
    "FDtrC": lambda: (pos(200, 1e-6), pos(200, 1e-6), pos(50)),
    "BDtr": trials,
    "BDtrC": trials,
    "PDtr": lambda: (float(r.integers(0, 100)), pos(100)),
    "PDtrC": lambda: (float(r.integers(0, 100)), pos(100)),
    "Kv": lambda: (real(100), pos(300)),
    "Kve": lambda: (real(100), pos(300)),
    "Iv": lambda: (real(100), pos(600)),
    "Ive": lambda: (real(100), pos(3000)),
    "Jv": lambda: (real(100), pos(300)),
    "Yv": lambda: (real(100), pos(300)),
    "Expn": lambda: (float(r.integers(0, 100)), pos(600)),
    "BoxCox": lambda: (mix(lambda: pos(1e5), lambda: near(1)), real(5)),
    "BoxCox1p": lambda: (mix(lambda: pos(1e5), lambda: U(-.99, 1)), real(5)),
    "InvBoxCox": boxy,
    "InvBoxCox1p": boxy,
    "XLog1PY": lambda: (real(100), mix(lambda: pos(1e5), lambda: U(-1, 1))),
    "RelEntr": pair,
    "KLDiv": pair,
    "PseudoHuber": lambda: (pos(100), real(100)),
    "WofzReal": lambda: (real(30), pos(30)),
    "WofzImag": lambda: (real(30), pos(30)),
    "VoigtProfile": lambda: (real(60), pos(10, 1e-3), pos(10)),
    "EllipKInc": amplitude,
    "EllipEInc": amplitude,
    "ElliprC": lambda: (pos(1e5), real(1e5)),
    "ElliprD": lambda: (pos(1e5), pos(1e5), pos(1e5)),
    "ElliprF": lambda: (pos(1e5), pos(1e5), pos(1e5)),
    "ElliprG": lambda: (pos(1e5), pos(1e5), pos(1e5)),
    "ElliprJ": lambda: (pos(1e5), pos(1e5), pos(1e5), mix(lambda: pos(1e5), lambda: -pos(1e3))),
    "Hyp2F1": gauss,
    "Hyp1F1": lambda: (real(30), mix(lambda: pos(30, 1e-3), lambda: real(30)), real(300)),
    "Hyp0F1": lambda: (real(60), mix(lambda: real(1e5), lambda: real(60))),
    "Struve": lambda: (real(30), pos(200)),
    "ModStruve": lambda: (real(30), pos(200)),
    "LogGammaReal": lambda: (real(60), real(60)),
    "LogGammaImag": lambda: (real(60), real(60)),
}


def functions(name):
    for table in (make.one, make.several, grid.FUNCTIONS):
        if name in table:
            return table[name][:2]
    part = {"Real": lambda z: z.real, "Imag": lambda z: z.imag}[name[-4:]]
    return lambda x, y: part(m.loggamma(m.mpc(x, y))), lambda x, y: part(sc.loggamma(complex(x, y)))


def agreed(f, args):
    """The value with 80 digits, if that with 50 has 25 of them."""
    with m.workdps(50):
        rough = m.re(f(*args))
    with m.workdps(80):
        whole = f(*args)
        y = m.re(whole)
    if not m.isfinite(y) or abs(m.im(whole)) > abs(y) * mpf(10) ** -30 or abs(y - rough) > abs(y) * mpf(10) ** -25:
        raise ValueError
    return y


def late(*_):
    raise TimeoutError


def main():
    signal.signal(signal.SIGALRM, late)
    for name, points in POINTS.items():
        if len(argv) > 3 and name not in argv[3:]:
            continue
        f, scipy = functions(name)
        drawn = [points() for _ in range(count * HEAVY.get(name, 1))]
        if len(drawn[0]) == 1:  # beside the ends of tables
            drawn += [(math.nextafter(z, 0),) for z in (0.5, 1, 2, 4, 8, 16)]
        for args in drawn:
            args = [float(a) for a in args]
            signal.setitimer(signal.ITIMER_REAL, 1.5)
            try:
                y = agreed(f, [mpf(a) for a in args])
            except (TimeoutError, ValueError, ZeroDivisionError, OverflowError, TypeError, m.libmp.NoConvergence):
                continue
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if not 1e-290 < abs(y) < 1.7e308:
                continue
            hi, theirs = float(y), float(scipy(*args))
            off = abs(mpf(theirs) - y) / math.ulp(hi) if math.isfinite(theirs) else 1e18
            print(name, *[a.hex() for a in args], hi.hex(), "%.3e" % float(y - mpf(hi)), "%.3g" % float(min(off, 1e18)))


if __name__ == "__main__":
    main()
