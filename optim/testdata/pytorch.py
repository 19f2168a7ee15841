"""Writes pytorch.json: steps of PyTorch's optimizers and schedules in float64.

Run in this folder: python pytorch.py
"""
import json
import math
import random

import torch
from torch.optim import lr_scheduler as lr

torch.set_default_dtype(torch.float64)  # what is counted, as products of momenta, too
STEPS = 10
random.seed(1)
START = [[1.0, -2.0, 3.0], [0.5, -0.25, 4.0]]  # two parameters
GRADS = [[[random.choice([0.0, random.uniform(-2, 2)]) for _ in range(3)] for _ in range(2)] for _ in range(STEPS)]

# Kind, options by the names of the fields in Go, of a second group (none: one group), and PyTorch's.
T = torch.optim
OPTIMIZERS = [
    ("sgd", dict(LR=0.1), T.SGD, dict(lr=0.1)),
    ("sgd", dict(LR=0.1, WeightDecay=0.02, Maximize=True), T.SGD, dict(lr=0.1, weight_decay=0.02, maximize=True)),
    ("sgd", dict(LR=0.05, Momentum=0.9, Dampening=0.3), T.SGD, dict(lr=0.05, momentum=0.9, dampening=0.3)),
    ("sgd", dict(LR=0.05, Momentum=0.8, WeightDecay=0.01, Nesterov=True), T.SGD, dict(lr=0.05, momentum=0.8, weight_decay=0.01, nesterov=True)),
    ("adam", dict(LR=0.1), T.Adam, dict(lr=0.1)),
    ("adam", dict(LR=0.1, Beta1=0.5, Beta2=0.9, Eps=1e-3, WeightDecay=0.1), T.Adam, dict(lr=0.1, betas=(0.5, 0.9), eps=1e-3, weight_decay=0.1)),
    ("adam", dict(LR=0.1, AMSGrad=True, Maximize=True, Beta2=0.5), T.Adam, dict(lr=0.1, amsgrad=True, maximize=True, betas=(0.9, 0.5))),
    ("adam", dict(LR=0.1, Decoupled=True, WeightDecay=0.1), T.AdamW, dict(lr=0.1, weight_decay=0.1)),
    ("adam", dict(LR=0.1, Decoupled=True, WeightDecay=0.1, AMSGrad=True), T.AdamW, dict(lr=0.1, weight_decay=0.1, amsgrad=True)),
    ("nadam", dict(LR=0.1), T.NAdam, dict(lr=0.1)),
    ("nadam", dict(LR=0.1, Beta1=0.8, Beta2=0.95, Eps=1e-4, WeightDecay=0.1, MomentumDecay=0.1), T.NAdam, dict(lr=0.1, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1, momentum_decay=0.1)),
    ("nadam", dict(LR=0.1, WeightDecay=0.1, Decoupled=True, Maximize=True), T.NAdam, dict(lr=0.1, weight_decay=0.1, decoupled_weight_decay=True, maximize=True)),
    ("rmsprop", dict(LR=0.1), T.RMSprop, dict(lr=0.1)),
    ("rmsprop", dict(LR=0.1, Alpha=0.9, Eps=1e-3, WeightDecay=0.1, Momentum=0.9), T.RMSprop, dict(lr=0.1, alpha=0.9, eps=1e-3, weight_decay=0.1, momentum=0.9)),
    ("rmsprop", dict(LR=0.1, Centered=True, Maximize=True), T.RMSprop, dict(lr=0.1, centered=True, maximize=True)),
    ("rmsprop", dict(LR=0.1, Centered=True, Momentum=0.5), T.RMSprop, dict(lr=0.1, centered=True, momentum=0.5)),
    ("adagrad", dict(LR=0.1), T.Adagrad, dict(lr=0.1)),
    ("adagrad", dict(LR=0.1, LRDecay=0.2, WeightDecay=0.1, Initial=0.5, Eps=1e-3, Maximize=True), T.Adagrad, dict(lr=0.1, lr_decay=0.2, weight_decay=0.1, initial_accumulator_value=0.5, eps=1e-3, maximize=True)),
]
# The second parameter in a group of its own.
GROUPS = [
    ("sgd", dict(LR=0.1), dict(LR=0.3, Momentum=0.5), T.SGD, dict(lr=0.1), dict(lr=0.3, momentum=0.5)),
    ("adam", dict(LR=0.1), dict(WeightDecay=0.2, Beta1=0.5), T.Adam, dict(lr=0.1), dict(weight_decay=0.2, betas=(0.5, 0.999))),
    ("rmsprop", dict(LR=0.1), dict(LR=0.01, Centered=True), T.RMSprop, dict(lr=0.1), dict(lr=0.01, centered=True)),
]


def descend(make):
    ws = [torch.tensor(w, dtype=torch.float64, requires_grad=True) for w in START]
    opt = make(ws)
    out = []
    for i, grads in enumerate(GRADS):
        for w, g in zip(ws, grads):
            w.grad = torch.tensor(g, dtype=torch.float64)
        if i == 4:  # a step without a gradient for the first
            ws[0].grad = None
        opt.step()
        if i == 6:
            for g in opt.param_groups:
                g["lr"] *= 0.5
        out.append([w.tolist() for w in ws])
    return out


optimizers = [dict(Kind=k, Opts=o, Values=descend(lambda ws: f(ws, foreach=False, **a))) for k, o, f, a in OPTIMIZERS]
optimizers += [
    dict(Kind=k, Opts=o, Group=p, Values=descend(lambda ws: f([dict(params=[ws[0]], **a), dict(params=[ws[1]], **b)], foreach=False, lr=a["lr"])))
    for k, o, p, f, a, b in GROUPS
]

# Rows of a table: the gradient is that of the sum of some of them, weighted.
ROWS = [[random.randrange(6) for _ in range(4)] for _ in range(STEPS)]
WEIGHTS = [[[random.uniform(-1, 1) for _ in range(2)] for _ in range(4)] for _ in range(STEPS)]
TABLE = [[random.uniform(-1, 1) for _ in range(2)] for _ in range(6)]


def lookups(make):
    w = torch.tensor(TABLE, dtype=torch.float64, requires_grad=True)
    opt = make([w])
    out = []
    for rows, weights in zip(ROWS, WEIGHTS):
        opt.zero_grad()
        y = torch.nn.functional.embedding(torch.tensor(rows), w, sparse=True)
        (y * torch.tensor(weights, dtype=torch.float64)).sum().backward()
        assert w.grad.is_sparse
        opt.step()
        out.append(w.tolist())
    return out


sparse = [dict(Kind=k, Opts=o, Values=lookups(lambda ws: f(ws, **a))) for k, o, f, a in [
    ("sgd", dict(LR=0.5), T.SGD, dict(lr=0.5)),
    ("sgd", dict(LR=0.5, Maximize=True), T.SGD, dict(lr=0.5, maximize=True)),
    ("adam", dict(LR=0.1, Sparse=True), T.SparseAdam, dict(lr=0.1)),
    ("adam", dict(LR=0.1, Beta1=0.5, Beta2=0.8, Eps=1e-2, Maximize=True, Sparse=True), T.SparseAdam, dict(lr=0.1, betas=(0.5, 0.8), eps=1e-2, maximize=True)),
    ("adagrad", dict(LR=0.1), T.Adagrad, dict(lr=0.1)),
    ("adagrad", dict(LR=0.1, LRDecay=0.1, Initial=0.2, Eps=1e-2), T.Adagrad, dict(lr=0.1, lr_decay=0.1, initial_accumulator_value=0.2, eps=1e-2)),
]]


def rates(make, steps=100, base=0.3):
    opt = T.SGD([torch.zeros(1, requires_grad=True)], lr=base)
    s = make(opt)
    out = []
    for _ in range(steps):
        out.append(opt.param_groups[0]["lr"])
        opt.step()
        s.step()
    return out


METRICS = [5, 4, 3, 3, 3.5, 3, 2.9999, 2.99985, 2, 2, 2, 2, 2, 2, 2, 2, 1, math.nan, math.nan, math.nan, 1]


def plateau(**kw):
    opt = T.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    s = lr.ReduceLROnPlateau(opt, **kw)
    out = []
    for m in METRICS:
        s.step(m)
        out.append(opt.param_groups[0]["lr"])
    return out


def cycle(**kw):
    return rates(lambda o: lr.OneCycleLR(o, total_steps=100, cycle_momentum=False, **kw))


def warm_cosine(e):
    return e / 10 if e < 10 else 0.5 * (1 + math.cos(math.pi * min(1, (e - 10) / 80)))


schedules = {
    "step": rates(lambda o: lr.StepLR(o, 3, 0.5)),
    "multistep": rates(lambda o: lr.MultiStepLR(o, [2, 3, 8, 50], 0.1)),
    "constant": rates(lambda o: lr.ConstantLR(o, 0.25, 7)),
    "exponential": rates(lambda o: lr.ExponentialLR(o, 0.9)),
    "polynomial": rates(lambda o: lr.PolynomialLR(o, 60)),
    "polynomial_power": rates(lambda o: lr.PolynomialLR(o, 60, 2.5)),
    "cosine": rates(lambda o: lr.CosineAnnealingLR(o, 99, 0.01)),
    "restarts": rates(lambda o: lr.CosineAnnealingWarmRestarts(o, 12, eta_min=0.01)),
    "restarts_longer": rates(lambda o: lr.CosineAnnealingWarmRestarts(o, 5, 3)),
    "linear": rates(lambda o: lr.LinearLR(o, 0.25, 1.0, 5)),
    "lambda": rates(lambda o: lr.LambdaLR(o, lambda e: 1 / (1 + e))),
    "multiplicative": rates(lambda o: lr.MultiplicativeLR(o, lambda e: e / (1 + e))),
    "sequence": rates(lambda o: lr.SequentialLR(o, [lr.LinearLR(o, 0.1, 1.0, 4), lr.CosineAnnealingLR(o, 60), lr.ExponentialLR(o, 0.5)], [4, 60])),
    "chain": rates(lambda o: lr.ChainedScheduler([lr.ConstantLR(o, 0.1, 20), lr.ExponentialLR(o, 0.9), lr.LinearLR(o, 0.5, 1, 40)])),
    "warm_cosine": rates(lambda o: lr.LambdaLR(o, warm_cosine)),
    "warm_cosine_from": rates(lambda o: lr.SequentialLR(o, [lr.LinearLR(o, 0.1, 1.0, 20), lr.CosineAnnealingLR(o, 79, 0.01)], [20])),
    "cyclic": rates(lambda o: lr.CyclicLR(o, 0.01, 0.2, 7, cycle_momentum=False)),
    "cyclic_halves": rates(lambda o: lr.CyclicLR(o, 0.01, 0.2, 7, 15, mode="triangular2", cycle_momentum=False)),
    "cyclic_gamma": rates(lambda o: lr.CyclicLR(o, 0.01, 0.2, 7, 4, mode="exp_range", gamma=0.97, cycle_momentum=False)),
    "onecycle": cycle(max_lr=0.5),
    "onecycle_linear": cycle(max_lr=0.5, pct_start=0.4, anneal_strategy="linear", div_factor=10, final_div_factor=100),
    "onecycle_three": cycle(max_lr=0.5, three_phase=True),
    "plateau": plateau(patience=2, factor=0.5),
    "plateau_cooldown": plateau(patience=1, cooldown=3, threshold=0.5, threshold_mode="abs", min_lr=0.05),
    "plateau_greatest": plateau(mode="max", patience=0, factor=0.9, threshold=0.2),
}


def rosenbrock(w, v):
    return (100 * (w[1:] - w[:-1] ** 2) ** 2).sum() + ((1 - w[:-1]) ** 2).sum() + (v * v).sum() + v.sum() * w[0] * 0.1


def lbfgs(search="strong_wolfe", **kw):
    w = torch.tensor([-1.2, 1.0, 0.5, 2.0], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([[0.5, -3.0]], dtype=torch.float64, requires_grad=True)
    opt = T.LBFGS([w, v], line_search_fn=search, **kw)
    calls, values, losses = 0, [], []

    def closure():
        nonlocal calls
        calls += 1
        opt.zero_grad()
        loss = rosenbrock(w, v)
        loss.backward()
        return loss

    for _ in range(STEPS):
        losses.append(float(opt.step(closure)))
        values.append(w.tolist() + v.flatten().tolist())
    return dict(Losses=losses, Values=values, Calls=calls)


clipping = []
for limit, power in ((0.5, 2), (2.0, 2), (100.0, 2), (0.5, 1), (2.0, 3), (0.5, 0.5), (0.5, math.inf)):
    ws = [torch.zeros(3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    for w, g in zip(ws, GRADS[0]):
        w.grad = torch.tensor(g, dtype=torch.float64)
    norm = float(torch.nn.utils.clip_grad_norm_(ws, limit, power))
    by_norm = [w.grad.tolist() for w in ws]
    for w, g in zip(ws, GRADS[0]):
        w.grad = torch.tensor(g, dtype=torch.float64)
    torch.nn.utils.clip_grad_value_(ws, limit)
    clipping.append(dict(Limit=limit, Power=-1 if power == math.inf else power, Norm=norm, ByNorm=by_norm, ByValue=[w.grad.tolist() for w in ws]))


def averages(**kw):  # of a parameter that takes the values of METRICS
    m = torch.nn.Linear(1, 1, bias=False)
    avg = T.swa_utils.AveragedModel(m, **kw)
    out = []
    for i in range(10):
        with torch.no_grad():
            m.weight.fill_(METRICS[i])
        avg.update_parameters(m)
        out.append(avg.module.weight.item())
    return out


data = dict(
    Start=START, Grads=GRADS, Optimizers=optimizers,
    Table=TABLE, Rows=ROWS, Weights=WEIGHTS, Sparse=sparse,
    Schedules=schedules, Metrics=[m if m == m else None for m in METRICS],
    LBFGS=[dict(Opts=dict(MaxIter=3), **lbfgs(max_iter=3)), dict(Opts=dict(LR=0.5, MaxIter=4, MaxEval=5, History=2), **lbfgs(lr=0.5, max_iter=4, max_eval=5, history_size=2)),
           dict(Opts=dict(), **lbfgs()),
           dict(Opts=dict(LR=0.2, MaxIter=6, History=3, NoSearch=True), **lbfgs(None, lr=0.2, max_iter=6, history_size=3)),
           dict(Opts=dict(LR=0.1, MaxIter=8, MaxEval=3, NoSearch=True), **lbfgs(None, lr=0.1, max_iter=8, max_eval=3))],
    Clipping=clipping,
    Averages=[averages(), averages(multi_avg_fn=T.swa_utils.get_ema_multi_avg_fn(0.9))],
)
with open("pytorch.json", "w") as f:
    f.write("{\n" + ",\n".join(f'"{k}":' + (json.dumps(v, separators=(",", ":")) if k not in ("Optimizers", "Sparse") else "[\n" + ",\n".join(json.dumps(x, separators=(",", ":")) for x in v) + "\n]") for k, v in data.items()) + "\n}\n")
