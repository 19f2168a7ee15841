"""Training steps as one compiled function: jax.jit of the whole step with its parameters
donated, torch.compile of the loss with its backward pass. The networks, the initial weights and
the checks are those of training.py, to which a deep MLP comes."""
import numpy as np

import training
from form import Form, Ready
from training import CHECKED_STEPS, LR, image_batch, logistic_inputs, targets, weights

DEEP = (784, 1000, 1000, 1000, 10)


def jax_logits(case, jnp, lax):
    """Parameters, a batch and the function from both to logits."""
    import jax

    def dense(i, o, seed):
        return [jnp.asarray(weights((o, i), i, o, seed)), jnp.zeros(o, "float32")]

    def mlp(params, x):
        for k in range(0, len(params), 2):
            if k:
                x = jnp.tanh(x)
            x = x @ params[k].T + params[k + 1]
        return x

    if case != "compiled lenet step":
        sizes = (784, 500, 10) if case == "compiled mlp step" else DEEP
        params = [p for k in range(len(sizes) - 1) for p in dense(sizes[k], sizes[k + 1], 2 + k)]
        return params, lambda n: image_batch(n, 784), mlp

    params = [jnp.asarray(weights((6, 1, 5, 5), 25, 150, 2)), jnp.zeros(6, "float32"),
              jnp.asarray(weights((16, 6, 5, 5), 150, 400, 3)), jnp.zeros(16, "float32"),
              *dense(400, 120, 4), *dense(120, 84, 5), *dense(84, 10, 6)]  # fmt: skip

    def lenet(params, x):
        for k in (0, 2):
            x = jnp.tanh(lax.conv(x, params[k], (1, 1), "VALID") + params[k + 1][:, None, None])
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return mlp(params[4:], x.reshape(len(x), -1))

    return params, lambda n: image_batch(n, 1, 32, 32), lenet


def jax_step(case):
    def make(n, dtype, threads):
        import jax
        import jax.numpy as jnp
        from jax import lax

        if case == "compiled logistic step":
            x, y, w, b = (jnp.asarray(v) for v in logistic_inputs(n, dtype))
            params, rate = [w, b], 0.1

            def loss(params, x, y):
                z = x @ params[0] + params[1]
                return jnp.mean(jax.nn.softplus(z) - y * z) + 0.01 * jnp.sum(params[0] * params[0])
        else:
            params, batch, logits = jax_logits(case, jnp, lax)
            x, y, rate = jnp.asarray(batch(n)), jnp.asarray(targets(n)), LR

            def loss(params, x, y):
                z = logits(params, x)
                return jnp.mean(jax.nn.logsumexp(z, axis=1) - jnp.take_along_axis(z, y[:, None], 1)[:, 0])

        def update(params, x, y):
            l, grads = jax.value_and_grad(loss)(params, x, y)
            return l, [p - rate * g for p, g in zip(params, grads)]

        compiled = jax.jit(update, donate_argnums=0)

        def step():
            nonlocal params
            l, params = compiled(params, x, y)
            return l.block_until_ready()

        return Ready("step()", {"step": step}, lambda: [float(step()) for _ in range(CHECKED_STEPS)])

    return make


def deep_mlp(torch, n):
    layers = [m for k in range(len(DEEP) - 1) for m in (torch.nn.Linear(DEEP[k], DEEP[k + 1]), torch.nn.Tanh())]
    net = torch.nn.Sequential(*layers[:-1])
    training.fill(torch, net, [(DEEP[k], DEEP[k + 1], 2 + k) for k in range(len(DEEP) - 1)])
    return net, torch.from_numpy(image_batch(n, 784))


NETS = {"compiled mlp step": training.mlp, "compiled deep mlp step": deep_mlp, "compiled lenet step": training.lenet}


def torch_step(case):
    def make(n, dtype, threads):
        import torch
        import torch.nn.functional as F

        if case == "compiled logistic step":
            x, y, w, b = (torch.tensor(v) for v in logistic_inputs(n, dtype))
            params, rate = [w.requires_grad_(), b.requires_grad_()], 0.1
            loss = torch.compile(lambda: F.binary_cross_entropy_with_logits(x @ w + b, y) + 0.01 * (w * w).sum())
        else:
            net, x = NETS[case](torch, n)
            y = torch.from_numpy(targets(n))
            params, rate = list(net.parameters()), LR
            loss = torch.compile(lambda: F.cross_entropy(net(x), y))
        opt = torch.optim.SGD(params, lr=rate, fused=True)

        def step():
            l = loss()
            l.backward()
            opt.step()
            opt.zero_grad()
            return l

        return Ready("step()", {"step": step}, lambda: [step().item() for _ in range(CHECKED_STEPS)])

    return make


def forms(case):
    yield Form("jax.jit", "jax", jax_step(case))
    yield Form("torch.compile", "torch", torch_step(case), slow_start=True)
    if case == "compiled deep mlp step":
        yield Form("torch module", "torch", training.torch_module(deep_mlp)("module"), counts=False)
        return
    for f in training.REGISTRY[case.removeprefix("compiled ")](case.removeprefix("compiled ")):
        # By hand in NumPy is the bar of the logistic regression.
        yield Form(f.name, f.lib, f.make, counts=f.lib == "numpy" and case == "compiled logistic step")


def jax_call(n, dtype, threads):
    import jax
    import jax.numpy as jnp

    x = jnp.asarray(np.linspace(-1, 1, n, dtype="float32"))
    return Ready("f(x).block_until_ready()", {"f": jax.jit(lambda x: x * 2 + 1), "x": x})


def call_forms(case):
    yield Form("jax.jit", "jax", jax_call)


REGISTRY = {name: forms for name in (*NETS, "compiled logistic step")} | {"compiled call": call_forms}
