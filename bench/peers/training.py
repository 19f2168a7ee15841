"""Training steps, eager. bench/README.md gives the networks, the initial
weights and the checks (the losses of the first three steps)."""
import numpy as np

from form import Form, Ready
from inputs import pattern, random, uniform

LR = 0.01
CHECKED_STEPS = 3


def weights(shape, fan_in, fan_out, seed):
    bound = (6 / (fan_in + fan_out)) ** 0.5
    return uniform(int(np.prod(shape)), seed, -bound, bound, "float32").reshape(shape)


def image_batch(*shape):
    return pattern(int(np.prod(shape)), 1).astype("float32").reshape(shape)


def targets(n):
    return np.arange(n) % 10


def torch_module(build):
    """The usual program: nn.Module, optimizer, cross_entropy. build returns the
    module and its input; how picks the optimizer's implementation and layout."""

    def form(how):
        def make(n, dtype, threads):
            import torch
            import torch.nn.functional as F

            net, x = build(torch, n)
            if "channels_last" in how:
                net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
            options = {"fused": {"fused": True}, "foreach": {"foreach": True}}
            opt = torch.optim.SGD(
                net.parameters(), lr=LR, **next((o for k, o in options.items() if k in how), {})
            )
            y = torch.from_numpy(targets(n))

            def step():
                with torch.backends.mkldnn.flags(enabled="no mkldnn" not in how):
                    loss = F.cross_entropy(net(x), y)
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
                return loss

            return Ready("step()", {"step": step}, lambda: [step().item() for _ in range(CHECKED_STEPS)])

        return make

    return form


def mlp(torch, n):
    net = torch.nn.Sequential(torch.nn.Linear(784, 500), torch.nn.Tanh(), torch.nn.Linear(500, 10))
    fill(torch, net, [(784, 500, 2), (500, 10, 3)])
    return net, torch.from_numpy(image_batch(n, 784))


def lenet(torch, n):
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.Tanh(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10),
    )  # fmt: skip
    fill(torch, net, [(25, 150, 2), (150, 400, 3), (400, 120, 4), (120, 84, 5), (84, 10, 6)])
    return net, torch.from_numpy(image_batch(n, 1, 32, 32))


def convnet(torch, n):
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(1, 6, 7), nn.MaxPool2d(5), nn.Tanh(),
        nn.Conv2d(6, 16, 7), nn.Tanh(), nn.Flatten(), nn.Linear(16 * 44 * 44, 10),
    )  # fmt: skip
    fill(torch, net, [(49, 294, 2), (294, 784, 3), (16 * 44 * 44, 10, 4)])
    return net, torch.from_numpy(image_batch(n, 1, 256, 256))


def fill(torch, net, layers):
    """Sets the weights of net's layers to the pattern and their biases to zero."""
    layers = iter(layers)
    with torch.no_grad():
        for p in net.parameters():
            if p.dim() == 1:
                p.zero_()
            else:
                p.copy_(torch.from_numpy(weights(tuple(p.shape), *next(layers))))


def torch_mlp_by_hand(n, dtype, threads):
    """Parameters as plain tensors, updated in place: the least that eager autograd can do."""
    import torch
    import torch.nn.functional as F

    net, x = mlp(torch, n)
    w1, b1, w2, b2 = params = [p.detach().clone().requires_grad_() for p in net.parameters()]
    y = torch.from_numpy(targets(n))

    def step():
        loss = F.cross_entropy(F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2), y)
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            torch._foreach_add_(params, grads, alpha=-LR)
        return loss

    return Ready("step()", {"step": step}, lambda: [step().item() for _ in range(CHECKED_STEPS)])


def numpy_mlp_by_hand(n, dtype, threads):
    """Gradients written out; for scale."""
    x, y = image_batch(n, 784), targets(n)
    w1, w2 = weights((500, 784), 784, 500, 2), weights((10, 500), 500, 10, 3)
    b1, b2 = np.zeros(500, "float32"), np.zeros(10, "float32")
    rows, lr = np.arange(n), np.float32(LR)
    g1 = np.empty_like(w1)

    def step():
        nonlocal w1, w2, b1, b2
        h = x @ w1.T
        h += b1
        np.tanh(h, out=h)
        z = h @ w2.T
        z += b2
        z -= z.max(axis=1, keepdims=True)
        e = np.exp(z)
        s = e.sum(axis=1, keepdims=True)
        loss = (np.log(s[:, 0]) - z[rows, y]).mean()
        d = e / s
        d[rows, y] -= 1
        d *= lr / np.float32(n)
        dh = d @ w2
        dh *= 1 - h * h
        w2 -= d.T @ h
        b2 -= d.sum(axis=0)
        np.matmul(dh.T, x, out=g1)
        w1 -= g1
        b1 -= dh.sum(axis=0)
        return float(loss)

    return Ready("step()", {"step": step}, lambda: [step() for _ in range(CHECKED_STEPS)])


def logistic_inputs(n, dtype):
    """Theano's first example; its labels are as good as random."""
    x, w = uniform(n * 784, 1, -1, 1, dtype).reshape(n, 784), uniform(784, 3, -0.05, 0.05, dtype)
    return x, (random(n, 2, dtype) > 0).astype(dtype), w, np.zeros((), dtype)


def numpy_logistic(how):
    def make(n, dtype, threads):
        x, y, w, b = logistic_inputs(n, dtype)
        one, rate, decay, scale = (np.dtype(dtype).type(v) for v in (1, 0.1, 0.01, 1 / n))

        def step():
            nonlocal w, b
            z = x @ w
            z += b
            e = np.exp(-np.abs(z))
            if how == "by hand":
                loss = (np.maximum(z, 0) - y * z + np.log1p(e)).mean() + decay * (w @ w)
                d = 1 / (1 + np.exp(-z)) - y
            else:  # one exponential for both, and temporaries used again
                t = np.maximum(z, 0)
                p = np.where(z >= 0, one, e)
                p /= one + e
                np.log1p(e, out=e)
                t += e
                loss = (t.sum() - y @ z) * scale + decay * (w @ w)
                d = np.subtract(p, y, out=p)
            d *= scale
            g = d @ x
            g += (2 * decay) * w
            g *= rate
            w -= g
            b -= rate * d.sum()
            return loss

        return Ready("step()", {"step": step}, lambda: [float(step()) for _ in range(CHECKED_STEPS)])

    return make


def torch_logistic(n, dtype, threads):
    import torch
    import torch.nn.functional as F

    x, y, w, b = (torch.tensor(v) for v in logistic_inputs(n, dtype))
    params = [w.requires_grad_(), b.requires_grad_()]

    def step():
        loss = F.binary_cross_entropy_with_logits(x @ w + b, y) + 0.01 * (w * w).sum()
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            torch._foreach_add_(params, grads, alpha=-0.1)
        return loss

    return Ready("step()", {"step": step}, lambda: [step().item() for _ in range(CHECKED_STEPS)])


def logistic_forms(case):
    for how in ("by hand", "by hand, temporaries reused"):
        yield Form(f"numpy {how}", "numpy", numpy_logistic(how))
    yield Form("torch", "torch", torch_logistic, counts=False)


def torch_chain(n, dtype, threads):
    import torch

    x = torch.tensor(0.5, requires_grad=True)

    def run():
        h = x
        for _ in range(n // 2):
            h = h * 0.99 + 0.01
        h.backward()
        found = h.item(), x.grad.item()
        x.grad = None
        return found

    return Ready("run()", {"run": run}, lambda: list(run()))


def torch_chain_grad(n, dtype, threads):
    import torch

    x = torch.tensor(0.5, requires_grad=True)

    def run():
        h = x
        for _ in range(n // 2):
            h = h.mul(0.99).add(0.01)
        (g,) = torch.autograd.grad(h, x)
        return h.item(), g.item()

    return Ready("run()", {"run": run}, lambda: list(run()))


def chain_forms(case):
    yield Form("torch backward()", "torch", torch_chain)
    yield Form("torch autograd.grad", "torch", torch_chain_grad)


def mlp_forms(case):
    for how in ("module", "module fused", "module foreach", "module no mkldnn"):
        yield Form(f"torch {how}", "torch", torch_module(mlp)(how))
    yield Form("torch by hand", "torch", torch_mlp_by_hand)
    yield Form("numpy by hand", "numpy", numpy_mlp_by_hand, counts=False)


def lenet_forms(case):
    for how in ("nchw", "nchw fused", "channels_last", "channels_last fused", "no mkldnn", "no mkldnn channels_last"):
        yield Form(f"torch {how}", "torch", torch_module(lenet if case == "lenet step" else convnet)(how))


REGISTRY = {
    "mlp step": mlp_forms, "lenet step": lenet_forms, "convnet step": lenet_forms,
    "logistic step": logistic_forms, "scalar chain": chain_forms,
}  # fmt: skip
