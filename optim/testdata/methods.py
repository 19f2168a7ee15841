"""Writes methods.json: 100 steps of optimizers in float64; some of them are kept.

PyTorch's where it has them; Lion and LAMB by the formulas of their papers, and Muon with its
products in float64 (PyTorch's are in bfloat16). Run in this folder: python methods.py
"""
import json
import math

import torch

torch.set_default_dtype(torch.float64)
STEPS, KEPT = 100, [0, 1, 2, 5, 9, 29, 59, 99]
SHAPES = [[3], [2, 3], [4, 2]]


def start(i, j):
    return (37 * i + 23 * j) % 11 / 4 - 1.25


def gradient(step, i, j):
    n = (31 * step * step + 17 * step + 29 * i + 13 * j) % 101
    return 0.0 if n % 7 == 0 else n / 101 * 4 - 2


def filled(shape, f):
    return torch.tensor([f(j) for j in range(math.prod(shape))]).reshape(shape)


def orthogonal(x, coefficients, steps, eps):
    a, b, c = coefficients
    x = x.clone()
    tall = x.size(0) > x.size(1)
    if tall:
        x = x.T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        y = x @ x.T
        x = a * x + (b * y + c * y @ y) @ x
    return x.T if tall else x


torch.optim._muon._zeropower_via_newtonschulz = orthogonal


class ByPaper(torch.optim.Optimizer):
    def __init__(self, params, lr, betas, weight_decay=0, eps=0, maximize=False):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay, eps=eps, maximize=maximize))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    g = -p.grad if group["maximize"] else p.grad
                    self.update(p, g, self.state[p], group["lr"], *group["betas"], group["weight_decay"], group["eps"])


class Lion(ByPaper):  # Chen et al., 2023, algorithm 2
    def update(self, p, g, s, lr, b1, b2, decay, _):
        m = s.get("m", torch.zeros_like(p))
        p -= lr * ((b1 * m + (1 - b1) * g).sign() + decay * p)
        s["m"] = b2 * m + (1 - b2) * g


class LAMB(ByPaper):  # You et al., 2020, algorithm 2
    def update(self, p, g, s, lr, b1, b2, decay, eps):
        s["t"] = s.get("t", 0) + 1
        s["m"] = b1 * s.get("m", torch.zeros_like(p)) + (1 - b1) * g
        s["v"] = b2 * s.get("v", torch.zeros_like(p)) + (1 - b2) * g * g
        r = s["m"] / (1 - b1 ** s["t"]) / ((s["v"] / (1 - b2 ** s["t"])).sqrt() + eps)
        u = r + decay * p
        ratio = p.norm() / u.norm() if p.norm() > 0 and u.norm() > 0 else 1
        p -= lr * ratio * u


T = torch.optim
METHODS = [
    ("radam", dict(LR=0.1), T.RAdam, dict(lr=0.1)),
    ("radam", dict(LR=0.1, Beta1=0.5, Beta2=0.9, Eps=1e-3, WeightDecay=0.1, Maximize=True), T.RAdam, dict(lr=0.1, betas=(0.5, 0.9), eps=1e-3, weight_decay=0.1, maximize=True)),
    ("radam", dict(LR=0.1, Beta2=0.99, WeightDecay=0.1, Decoupled=True), T.RAdam, dict(lr=0.1, betas=(0.9, 0.99), weight_decay=0.1, decoupled_weight_decay=True)),
    ("adamax", dict(LR=0.1), T.Adamax, dict(lr=0.1)),
    ("adamax", dict(LR=0.1, Beta1=0.5, Beta2=0.9, Eps=1e-3, WeightDecay=0.1, Maximize=True), T.Adamax, dict(lr=0.1, betas=(0.5, 0.9), eps=1e-3, weight_decay=0.1, maximize=True)),
    ("adadelta", dict(), T.Adadelta, dict()),
    ("adadelta", dict(LR=0.5, Rho=0.5, Eps=1e-3, WeightDecay=0.1, Maximize=True), T.Adadelta, dict(lr=0.5, rho=0.5, eps=1e-3, weight_decay=0.1, maximize=True)),
    ("asgd", dict(LR=0.1), T.ASGD, dict(lr=0.1)),
    ("asgd", dict(LR=0.1, Lambda=0.1, Alpha=0.5, Start=20, WeightDecay=0.1, Maximize=True), T.ASGD, dict(lr=0.1, lambd=0.1, alpha=0.5, t0=20, weight_decay=0.1, maximize=True)),
    ("rprop", dict(LR=0.1), T.Rprop, dict(lr=0.1)),
    ("rprop", dict(LR=0.1, Shrink=0.25, Grow=1.5, Least=0.01, Greatest=0.5, Maximize=True), T.Rprop, dict(lr=0.1, etas=(0.25, 1.5), step_sizes=(0.01, 0.5), maximize=True)),
    ("adafactor", dict(), T.Adafactor, dict()),
    ("adafactor", dict(LR=0.5, Beta2Decay=-0.5, Eps=1e-2, EpsScale=0.1, Clip=1.5, WeightDecay=0.1, Maximize=True), T.Adafactor, dict(lr=0.5, beta2_decay=-0.5, eps=(1e-2, 0.1), d=1.5, weight_decay=0.1, maximize=True)),
    ("lion", dict(LR=0.01), Lion, dict(lr=0.01, betas=(0.9, 0.99))),
    ("lion", dict(LR=0.01, Beta1=0.5, Beta2=0.8, WeightDecay=0.1, Maximize=True), Lion, dict(lr=0.01, betas=(0.5, 0.8), weight_decay=0.1, maximize=True)),
    ("lamb", dict(LR=0.1), LAMB, dict(lr=0.1, betas=(0.9, 0.999), eps=1e-6)),
    ("lamb", dict(LR=0.1, Beta1=0.5, Beta2=0.9, Eps=1e-3, WeightDecay=0.1, Maximize=True), LAMB, dict(lr=0.1, betas=(0.5, 0.9), eps=1e-3, weight_decay=0.1, maximize=True)),
    ("muon", dict(LR=0.1), T.Muon, dict(lr=0.1)),
    ("muon", dict(LR=0.1, Momentum=0.8, NoNesterov=True, WeightDecay=0.0, Rate=1), T.Muon, dict(lr=0.1, momentum=0.8, nesterov=False, weight_decay=0, adjust_lr_fn="match_rms_adamw")),
    ("muon", dict(LR=0.1, Iterations=2, Coefficients=[2, -1.5, 0.5], Eps=0.5, Rate=2), T.Muon, dict(lr=0.1, ns_steps=2, ns_coefficients=(2, -1.5, 0.5), eps=0.5, adjust_lr_fn="spectral_unclamped")),
]


def descend(kind, make, options):
    first = 1 if kind == "muon" else 0  # matrices alone
    ws = [filled(s, lambda j: start(i, j)).requires_grad_() for i, s in enumerate(SHAPES)][first:]
    opt = make(ws, **options)
    out, averages = [], []
    for step in range(STEPS):
        for i, w in enumerate(ws, first):
            w.grad = filled(SHAPES[i], lambda j: gradient(step, i, j))
        if step == 4:  # a step without a gradient for the second
            ws[1].grad = None
        if step == 50 and kind == "asgd":  # whose rate of step 51 is decided in step 50
            opt.param_groups[0]["lr"] *= 0.5
        opt.step()
        if step == 50 and kind != "asgd":
            opt.param_groups[0]["lr"] *= 0.5
        if step in KEPT:
            out.append([w.flatten().tolist() for w in ws])
    if kind == "asgd":
        averages = [opt.state[w]["ax"].flatten().tolist() for w in ws]
    return dict(Values=out, Averages=averages)


rows = [dict(Kind=k, Opts=o, **descend(k, f, a)) for k, o, f, a in METHODS]
with open("methods.json", "w") as f:
    f.write('{"Kept":%s,"Rows":[\n' % json.dumps(KEPT) + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]}\n")
