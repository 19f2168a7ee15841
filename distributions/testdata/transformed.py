"""Writes transformed.json: torch's transformed distributions in float64. Run in this folder."""

import json

import torch
import torch.distributions as D

torch.manual_seed(7)
torch.set_default_dtype(torch.float64)
T = D.transforms


def arr(t):
    return {"shape": list(t.shape), "data": [repr(v) for v in t.detach().reshape(-1).tolist()]}


def gradients(y, inputs):
    w = torch.arange(1.0, y.numel() + 1).reshape(y.shape)
    return [None if g is None else arr(g) for g in torch.autograd.grad((y * w).sum(), inputs, allow_unused=True)]


real, pos = lambda *s: torch.randn(s), lambda *s: torch.rand(s) * 2 + 0.3
normal = lambda m, s, *t: D.TransformedDistribution(D.Normal(m, s), list(t))
CASES = {
    "exp": (lambda m, s: normal(m, s, T.ExpTransform()), [real(3), pos(3)], pos(2, 3), True),
    "affine": (lambda m, s, a, b: normal(m, s, T.AffineTransform(a, b)), [real(3), pos(3), real(3), -pos(3)], real(2, 3), True),
    "sigmoid": (lambda m, s: normal(m, s, T.SigmoidTransform()), [real(3), pos(3)], torch.rand(2, 3), True),
    "tanh": (lambda m, s: normal(m, s, T.TanhTransform()), [real(3), pos(3)], torch.rand(2, 3) * 1.8 - 0.9, True),
    "power": (lambda r, p: D.TransformedDistribution(D.Exponential(r), [T.PowerTransform(p)]), [pos(3), torch.tensor([0.5, -1.5, 3.0])], pos(2, 3), True),
    "several": (lambda m, s, a, b: normal(m, s, T.AffineTransform(a, b), T.TanhTransform(), T.AffineTransform(1.0, -2.0)), [real(3), pos(3), real(3), pos(3)], torch.rand(2, 3) * 3 - 0.5, True),
    "stick": (lambda m, s: normal(m, s, T.StickBreakingTransform()), [real(2, 3), pos(3)], torch.softmax(real(5, 2, 4), -1), False),
    "vectors": (lambda m, s: D.TransformedDistribution(D.Independent(D.Normal(m, s), 1), [T.ExpTransform()]), [real(2, 3), pos(3)], pos(5, 2, 3), False),
}
out = []
for name, (make, params, x, number) in CASES.items():
    for p in params + [x]:
        p.requires_grad_()
    d = make(*params)
    y = d.log_prob(x)
    case = {"name": name, "params": [arr(p) for p in params], "x": arr(x), "log_prob": arr(y), "d_log_prob": gradients(y, params + [x])}
    if number:
        d = make(*params)
        case["cdf"] = arr(d.cdf(x))
        u = torch.rand(2, 3)
        case["u"], case["icdf"] = arr(u), arr(make(*params).icdf(u))
    case["batch"], case["event"] = list(d.batch_shape), list(d.event_shape)
    out.append(case)
with open("transformed.json", "w") as f:
    f.write(json.dumps(out, separators=(",", ":")).replace('},{"', '},\n{"') + "\n")
