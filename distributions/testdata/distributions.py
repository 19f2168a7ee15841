"""Writes distributions.json: what torch.distributions gives, in float64, with gradients, and bins of
draws with their probabilities by scipy.stats.

    python distributions.py        # from this folder; needs torch, numpy and scipy
"""
import json

import numpy as np
import scipy.stats as st
import torch
import torch.distributions as D

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
A = lambda *x: torch.tensor(x)
pos = lambda *s: (torch.rand(*s) * 3 + 0.3).to(torch.float32).double()
real = lambda *s: torch.randn(*s).to(torch.float32).double()
prob = lambda *s: (torch.rand(*s) * 0.8 + 0.1).to(torch.float32).double()


def arr(t):
    t = torch.as_tensor(t).detach().double()
    return {"shape": list(t.shape), "data": ["%.17g" % v for v in t.reshape(-1).tolist()]}


NAMES = {
    "normal": (D.Normal, lambda: [real(3), pos(3)], lambda: real(2, 3), lambda m, s: st.norm(m, s)),
    "log_normal": (D.LogNormal, lambda: [real(3), pos(3)], lambda: pos(2, 3), lambda m, s: st.lognorm(s, scale=np.exp(m))),
    "half_normal": (D.HalfNormal, lambda: [pos(3)], lambda: pos(2, 3), lambda s: st.halfnorm(scale=s)),
    "laplace": (D.Laplace, lambda: [real(3), pos(3)], lambda: real(2, 3), lambda m, s: st.laplace(m, s)),
    "cauchy": (D.Cauchy, lambda: [real(3), pos(3)], lambda: real(2, 3), lambda m, s: st.cauchy(m, s)),
    "gumbel": (D.Gumbel, lambda: [real(3), pos(3)], lambda: real(2, 3), lambda m, s: st.gumbel_r(m, s)),
    "student_t": (D.StudentT, lambda: [A(0.7, 1.5, 3.5), real(3), pos(3)], lambda: real(2, 3), lambda v, m, s: st.t(v, m, s)),
    "exponential": (D.Exponential, lambda: [pos(3)], lambda: pos(2, 3), lambda r: st.expon(scale=1 / r)),
    "uniform": (D.Uniform, lambda: [A(-1.0, 0.0, -2.5), A(1.5, 2.0, 0.5)], lambda: torch.rand(2, 3) * 0.4, lambda l, h: st.uniform(l, h - l)),
    "gamma": (D.Gamma, lambda: [A(0.25, 1.0, 3.5), pos(3)], lambda: pos(2, 3), lambda a, r: st.gamma(a, scale=1 / r)),
    "beta": (D.Beta, lambda: [A(0.25, 1.0, 3.5), pos(3)], lambda: prob(2, 3), lambda a, b: st.beta(a, b)),
    "bernoulli": (D.Bernoulli, lambda: [prob(3)], lambda: A([0.0, 1.0, 0.0], [1.0, 1.0, 0.0]), lambda p: st.bernoulli(p)),
    "bernoulli logits": (lambda l: D.Bernoulli(logits=l), lambda: [real(3)], lambda: A([0.0, 1.0, 0.0], [1.0, 1.0, 0.0]), None),
    "binomial": (lambda n, p: D.Binomial(n, p), lambda: [A(7.0), prob(3)], lambda: A([0.0, 7.0, 3.0], [1.0, 5.0, 2.0]), lambda n, p: st.binom(n, p)),
    "binomial logits": (lambda n, l: D.Binomial(n, logits=l), lambda: [A(7.0), real(3)], lambda: A([0.0, 7.0, 3.0], [1.0, 5.0, 2.0]), None),
    "geometric": (D.Geometric, lambda: [prob(3)], lambda: A([0.0, 7.0, 3.0], [1.0, 5.0, 2.0]), lambda p: st.geom(p, loc=-1)),
    "geometric logits": (lambda l: D.Geometric(logits=l), lambda: [real(3)], lambda: A([0.0, 7.0, 3.0], [1.0, 5.0, 2.0]), None),
    "poisson": (D.Poisson, lambda: [pos(3)], lambda: A([0.0, 7.0, 3.0], [1.0, 5.0, 2.0]), lambda r: st.poisson(r)),
    "categorical": (D.Categorical, lambda: [pos(3, 4)], lambda: torch.tensor([[0, 3, 1], [2, 2, 0]]), None),
    "categorical logits": (lambda l: D.Categorical(logits=l), lambda: [real(3, 4)], lambda: torch.tensor([[0, 3, 1], [2, 2, 0]]), None),
    "one_hot_categorical": (D.OneHotCategorical, lambda: [pos(3, 4)], lambda: torch.eye(4)[torch.tensor([[0, 3, 1], [2, 2, 0]])], None),
    "one_hot_categorical logits": (lambda l: D.OneHotCategorical(logits=l), lambda: [real(3, 4)], lambda: torch.eye(4)[torch.tensor([[0, 3, 1], [2, 2, 0]])], None),
    "multinomial": (lambda p: D.Multinomial(5, p), lambda: [pos(3, 4)], lambda: A([1.0, 0.0, 3.0, 1.0], [5.0, 0.0, 0.0, 0.0], [0.0, 2.0, 2.0, 1.0]), None),
    "multinomial logits": (lambda l: D.Multinomial(5, logits=l), lambda: [real(3, 4)], lambda: A([1.0, 0.0, 3.0, 1.0], [5.0, 0.0, 0.0, 0.0], [0.0, 2.0, 2.0, 1.0]), None),
    "dirichlet": (D.Dirichlet, lambda: [pos(3, 4)], lambda: torch.softmax(real(2, 3, 4), -1), None),
    "multivariate_normal": (lambda m, l: D.MultivariateNormal(m, l @ l.mT + torch.eye(5)), lambda: [real(3, 5), real(5, 5)], lambda: real(2, 3, 5), None),
    "multivariate_normal tril": (lambda m, l: D.MultivariateNormal(m, scale_tril=l.tril() + 3 * torch.eye(5)), lambda: [real(5), real(2, 5, 5) * 0.5], lambda: real(3, 2, 5), None),
    "independent": (lambda m, s: D.Independent(D.Normal(m, s), 1), lambda: [real(3, 4), pos(4)], lambda: real(2, 3, 4), None),
    "mixture": (lambda w, m, s: D.MixtureSameFamily(D.Categorical(w), D.Normal(m, s)), lambda: [pos(4), real(3, 4), pos(4)], lambda: real(2, 3), None),
    "mixture of vectors": (lambda w, m, s: D.MixtureSameFamily(D.Categorical(logits=w), D.Independent(D.Normal(m, s), 1)), lambda: [real(2, 3), real(2, 3, 4), pos(4)], lambda: real(2, 4), None),
}


def gradients(y, inputs):
    """Gradients of the sum of y times 1, 2, 3, ..."""
    if not y.requires_grad:
        return [None] * len(inputs)
    w = torch.arange(1.0, y.numel() + 1).reshape(y.shape)
    return [None if g is None else arr(g) for g in torch.autograd.grad((y * w).sum(), inputs, allow_unused=True, retain_graph=True)]


def case(name):
    make, params, x, ref = NAMES[name]
    params = params()
    for p in params:
        p.requires_grad_()
    x = x()
    d = make(*params)
    out = {"name": name, "params": [arr(p) for p in params], "x": arr(x)}
    inputs = params + ([x.requires_grad_()] if x.is_floating_point() else [])
    y = d.log_prob(x)
    out["log_prob"], out["d_log_prob"] = arr(y), gradients(y, inputs)
    if ref:
        r = ref(*[p.detach().numpy() for p in params])
        pdf = getattr(r, "logpdf", None) if hasattr(r.dist, "pdf") else r.logpmf
        np.testing.assert_allclose(pdf(x.detach().numpy()), y.detach().numpy(), rtol=1e-9, atol=1e-9)
    out["mean"], out["variance"] = arr(d.mean), arr(d.variance)
    try:
        h = d.entropy()
        out["entropy"], out["d_entropy"] = arr(h), gradients(h, params)
    except NotImplementedError:
        pass
    if name in ("normal", "log_normal", "half_normal", "laplace", "cauchy", "gumbel", "exponential", "uniform", "mixture"):
        c = d.cdf(x)
        out["cdf"], out["d_cdf"] = arr(c), gradients(c, inputs)
    if "cdf" in out and name != "mixture":
        u = prob(2, 3).requires_grad_()
        q = d.icdf(u)
        out["u"], out["icdf"], out["d_icdf"] = arr(u), arr(q), gradients(q, params + [u])
    return out


DRAWS = {
    "normal": [(1.5, 0.7)], "log_normal": [(0.3, 0.8)], "half_normal": [(1.7,)], "laplace": [(-1.0, 2.0)], "cauchy": [(0.5, 2.0)],
    "gumbel": [(1.0, 2.0)], "student_t": [(3.5, 1.0, 2.0), (0.8, 0.0, 1.0)], "exponential": [(2.5,)], "uniform": [(-1.0, 3.0)],
    "gamma": [(0.3, 2.0), (4.5, 0.5)], "beta": [(0.4, 2.5), (3.0, 3.0)], "bernoulli": [(0.3,)], "binomial": [(12.0, 0.35)],
    "geometric": [(0.3,)], "poisson": [(4.5,)],
}


def bins(name, params):
    """16 bins of equal probability, or each number of discrete distributions and what is above."""
    r = NAMES[name][3](*params)
    if hasattr(r.dist, "pdf"):
        return {"name": name, "params": params, "edges": list(r.ppf(np.arange(1, 16) / 16)), "probs": [1 / 16] * 16}
    k = np.arange(int(r.ppf(0.995)) + 1)
    p = list(r.pmf(k))
    if 1 - sum(p) > 1e-12:
        p.append(1 - sum(p))
    return {"name": name, "params": params, "edges": list(k[: len(p) - 1] + 0.5), "probs": p}


def divergence(p, q):
    mk = lambda n: (NAMES[n][0], NAMES[n][1]())
    (f, a), (g, b) = mk(p), mk(q)
    if p == "binomial":
        b[0] = a[0].clone()
    if p == q == "uniform":
        b = [A(-2.0, 0.0, -2.0), A(1.5, 3.0, 0.5)]
    elif p == "uniform":
        a = [A(0.1, 0.05, 0.5), A(0.5, 0.9, 0.75)]
    elif q == "uniform":
        b = [A(-1.0, 0.0, 0.1), A(1.5, 1.0, 2.0)]
    for t in a + b:
        t.requires_grad_()
    kl = D.kl_divergence(f(*a), g(*b))
    kl = kl.expand(torch.broadcast_shapes(f(*a).batch_shape, g(*b).batch_shape))
    out = {"p": p, "q": q, "params": [arr(t) for t in a + b], "kl": arr(kl)}
    if bool(kl.isfinite().all()):
        out["d_kl"] = gradients(kl, a + b)
    return out


classes = {c: n for n, c in [(n, v[0]) for n, v in NAMES.items()] if isinstance(c, type)}
classes |= {D.Binomial: "binomial", D.MultivariateNormal: "multivariate_normal", D.Independent: "independent"}
pairs = [(n, n) for n in ("half_normal", "log_normal")]
for p, q in D.kl._KL_REGISTRY:
    if p in classes and q in classes and (classes[p], classes[q]) not in pairs:
        pairs.append((classes[p], classes[q]))
out = {
    "cases": [case(n) for n in NAMES],
    "draws": [bins(n, p) for n, ps in DRAWS.items() for p in ps],
    "divergences": [divergence(p, q) for p, q in sorted(pairs)],
}
with open("distributions.json", "w") as f:
    f.write(json.dumps(out, separators=(",", ":")).replace('},{"', '},\n{"'))
    f.write("\n")
print(len(out["cases"]), len(out["draws"]), [p for p in pairs])
