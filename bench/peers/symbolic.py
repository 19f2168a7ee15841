"""A recurrent network through a loop with its gradient, calls of compiled functions of few
elements, chains of eager operations: as in bench/ours/symbolic.go."""
import numpy as np

import compiled
from form import Form, Ready
from inputs import random, summary, uniform

BATCH, STATES = 32, 128


def rnn_inputs(n, dtype):
    """A sequence, and the parameters u, w, b."""
    shapes = ((STATES, STATES), (STATES, STATES), (STATES,))
    return random((n, BATCH, STATES), 1, dtype), [random(s, 2 + k, dtype) * np.asarray(0.1, dtype) for k, s in enumerate(shapes)]


def checks(cost, grads):
    return [float(cost), *(float(np.abs(np.asarray(g)).sum()) for g in grads)]


def jax_scan(n, dtype, threads):
    import jax
    import jax.numpy as jnp

    x, params = rnn_inputs(n, dtype)
    x, params = jnp.asarray(x), [jnp.asarray(p) for p in params]

    def cost(params, x):
        u, w, b = params

        def step(h, z):
            h = jnp.tanh(z + h @ w)
            return h, h

        return (jax.lax.scan(step, jnp.zeros((BATCH, STATES), dtype), x @ u + b)[1] ** 2).mean()

    both = jax.jit(jax.value_and_grad(cost))
    return Ready("ready(both(params, x))", {"both": both, "ready": jax.block_until_ready, "params": params, "x": x},
                 lambda: checks(*both(params, x)))  # fmt: skip


def torch_loop(n, dtype, threads):
    import torch

    x, params = rnn_inputs(n, dtype)
    x, params = torch.from_numpy(x), [torch.from_numpy(p).requires_grad_() for p in params]
    u, w, b = params

    def both():
        z, h, all = x @ u + b, torch.zeros(BATCH, STATES), []
        for t in range(n):
            h = torch.tanh(torch.addmm(z[t], h, w))
            all.append(h)
        cost = (torch.stack(all) ** 2).mean()
        return cost.detach(), torch.autograd.grad(cost, params)

    return Ready("both()", {"both": both}, lambda: checks(*both()))


def torch_module(n, dtype, threads):
    import torch

    x, (u, w, b) = rnn_inputs(n, dtype)
    x, net = torch.from_numpy(x), torch.nn.RNN(STATES, STATES)
    with torch.no_grad():
        net.weight_ih_l0.copy_(torch.from_numpy(u.T.copy()))
        net.weight_hh_l0.copy_(torch.from_numpy(w.T.copy()))
        net.bias_ih_l0.copy_(torch.from_numpy(b))
        net.bias_hh_l0.zero_()
    params = [net.weight_ih_l0, net.weight_hh_l0, net.bias_ih_l0]

    def both():
        cost = (net(x)[0] ** 2).mean()
        return cost.detach(), torch.autograd.grad(cost, params)

    return Ready("both()", {"both": both}, lambda: checks(*both()))


def rnn_forms(case):
    yield Form("jax.lax.scan", "jax", jax_scan)
    yield Form("torch.nn.RNN", "torch", torch_module)
    yield Form("a loop", "torch", torch_loop)


def torch_chain(n, dtype, threads):
    import torch

    x = torch.from_numpy(uniform(n, 1, -1, 1, dtype))

    def ten():
        y = x
        for _ in range(5):
            y = y * 1.01 + 0.5
        return y

    return Ready("ten().sum().item()", {"ten": ten}, lambda: summary(ten().numpy()))


def numpy_chain(n, dtype, threads):
    x = uniform(n, 1, -1, 1, dtype)

    def ten():
        y = x
        for _ in range(5):
            y = y * np.float32(1.01) + np.float32(0.5)
        return y

    return Ready("ten().sum()", {"ten": ten}, lambda: summary(ten()))


def chain_forms(case):
    yield Form("eager", "torch", torch_chain)
    yield Form("arrays", "numpy", numpy_chain)


REGISTRY = {"scan rnn and back": rnn_forms, "sym call": compiled.call_forms, "lazy chain of ten": chain_forms}
