"""What bench/ours/routines.go does, by PyTorch, JAX and NumPy. Every formulation allocates
its results anew."""

import numpy as np

from form import Form, Ready
from inputs import elements, random, summary, uniform

BACK = " and back"
CHECKED_STEPS = 3

# channels, size, window, stride, padding, which
POOLS = {
    "max pool 64x56^2 3x3 by 2 and back": (64, 56, 3, 2, 1, "max"),
    "max pool 64x28^2 3x3 by 1 and back": (64, 28, 3, 1, 1, "max"),
    "avg pool 64x28^2 2x2 and back": (64, 28, 2, 2, 0, "avg"),
    "avg pool 64x56^2 3x3 by 2 and back": (64, 56, 3, 2, 1, "avg"),
}
PLANES = {"3x224^2": (3, 224), "4x224^2": (4, 224), "16x56^2": (16, 56)}
MOVES = {f"to channels {to} {s}": (to, *v) for to in ("first", "last") for s, v in PLANES.items()}
# in, height, width, out, kernel
CONVS = {
    "conv 64x56^2 to 64 3x1": (64, 56, 56, 64, 3, 1),
    "conv 16x56^2 to 32 5x5": (16, 56, 56, 32, 5, 5),
    "conv 64x4x224 to 64 3x3": (64, 4, 224, 64, 3, 3),
}
PRODUCTS = {"matmul 1000x1000x1": (1000, 1000, 1), "matmul 1x1000x1000": (1, 1000, 1000)}
STEPS = {"sgd with momentum of 1e5": 100_000, "adam of 1e4": 10_000, "adam of 1e5": 100_000}


def checked(results, channels):
    """Of gradients, those of others than the first over the root of their terms, and the result."""
    *grads, y = (np.asarray(t) for t in results)
    scale = (y.size // y.shape[1]) ** -0.5
    return [v for i, t in enumerate([*grads, y]) for v in summary(t * scale if 0 < i < len(grads) else t)]


def torch_back(f, inputs, layout):
    """f of inputs and back to those that it says, in torch."""
    import torch

    inputs = [torch.from_numpy(a).clone(memory_format=getattr(torch, layout) if a.ndim == 4 else torch.contiguous_format) for a in inputs]
    with torch.no_grad():
        y = f(torch.nn.functional, *inputs)
        dy = torch.from_numpy(random(tuple(y.shape), 4, "float32")).clone(memory_format=getattr(torch, layout))
    wrt = [t.requires_grad_() for t in inputs[:2]]

    def both():
        y = f(torch.nn.functional, *inputs)
        return *torch.autograd.grad(y, wrt, dy), y

    return Ready("both()", {"both": both}, lambda: checked([t.detach() for t in both()], y.shape[1]))


def jax_back(f, inputs):
    import jax
    import jax.numpy as jnp

    inputs = [jnp.asarray(a) for a in inputs]
    shape = jax.eval_shape(lambda *a: f(jax, *a), *inputs).shape
    dy = jnp.asarray(random(shape, 4, "float32"))

    @jax.jit
    def both(dy, *a):
        y, back = jax.vjp(lambda *w: f(jax, *w, *a[2:]), *a[:2])
        return *back(dy), y

    run = lambda: jax.block_until_ready(both(dy, *inputs))
    return Ready("run()", {"run": run}, lambda: checked(run(), shape[1]))


def pool_forms(case):
    channels, size, window, stride, padding, which = POOLS[case]
    inputs = lambda n, d: [random((n, channels, size, size), 1, d)]

    def by_jax(jax, x):
        from jax import lax

        pads = ((0, 0), (0, 0), (padding, padding), (padding, padding))
        args = ((1, 1, window, window), (1, 1, stride, stride), pads)
        if which == "max":
            return lax.reduce_window(x, -np.inf, lax.max, *args)
        return lax.reduce_window(x, 0.0, lax.add, *args) / (window * window)

    by_torch = lambda F, x: getattr(F, f"{which}_pool2d")(x, window, stride, padding)
    for layout in ("contiguous_format", "channels_last"):
        name = "torch" if layout == "contiguous_format" else "torch channels_last"
        yield Form(name, "torch", lambda n, d, t, layout=layout: torch_back(by_torch, inputs(n, d), layout))
    yield Form("jax.jit", "jax", lambda n, d, t: jax_back(by_jax, inputs(n, d)))


def conv_forms(case):
    channels, h, w, out, kh, kw = CONVS[case.removesuffix(BACK)]
    inputs = lambda n, d: [random((n, channels, h, w), 1, d), random((out, channels, kh, kw), 2, d), random((out,), 3, d)]

    def by_torch(how):
        def make(n, d, threads):
            import torch

            def f(F, x, w, b):
                with torch.backends.mkldnn.flags(enabled="no mkldnn" not in how):
                    return F.conv2d(x, w, b, 1, (kh // 2, kw // 2))

            layout = "channels_last" if "channels_last" in how else "contiguous_format"
            if case.endswith(BACK):
                return torch_back(f, inputs(n, d), layout)
            x, w, b = (torch.from_numpy(a) for a in inputs(n, d))
            x, w = (t.clone(memory_format=getattr(torch, layout)) for t in (x, w))
            forward = lambda: f(torch.nn.functional, x, w, b)
            return Ready("forward()", {"forward": forward}, lambda: summary(forward()))

        return make

    def by_jax(jax, x, w, b):
        pads = ((kh // 2, kh // 2), (kw // 2, kw // 2))
        return jax.lax.conv_general_dilated(x, w, (1, 1), pads) + b[:, None, None]

    def jax_form(n, d, threads):
        import jax

        if case.endswith(BACK):
            return jax_back(by_jax, inputs(n, d))
        args = [jax.numpy.asarray(a) for a in inputs(n, d)]
        f = jax.jit(lambda *a: by_jax(jax, *a))
        return Ready("f(*a).block_until_ready()", {"f": f, "a": args}, lambda: summary(f(*args)))

    for how in ("", "channels_last", "no mkldnn", "no mkldnn channels_last"):
        yield Form(f"torch {how}".strip(), "torch", by_torch(how))
    yield Form("jax.jit", "jax", jax_form)


def move_forms(case):
    to, channels, size = MOVES[case]

    def source(n, d):
        x = elements(n * size * size * channels, d, 1)
        if to == "first":
            return x.reshape(n, size, size, channels), (0, 3, 1, 2)
        return x.reshape(n, channels, size, size), (0, 2, 3, 1)

    def by_numpy(n, d, threads):
        x, axes = source(n, d)
        ns = {"np": np, "x": x.transpose(axes)}
        return Ready("np.ascontiguousarray(x)", ns, lambda: summary(np.ascontiguousarray(ns["x"])))

    def by_torch(n, d, threads):
        import torch

        x, axes = source(n, d)
        ns = {"x": torch.from_numpy(x).permute(axes)}
        return Ready("x.contiguous()", ns, lambda: summary(ns["x"].contiguous()))

    def by_jax(n, d, threads):
        import jax

        x, axes = source(n, d)
        x = jax.numpy.asarray(x)
        f = jax.jit(lambda x: x.transpose(axes))
        return Ready("f(x).block_until_ready()", {"f": f, "x": x}, lambda: summary(f(x)))

    yield Form("numpy", "numpy", by_numpy)
    yield Form("torch", "torch", by_torch)
    yield Form("jax.jit", "jax", by_jax)


def product_forms(case):
    m, k, l = PRODUCTS[case]
    operands = lambda d: (uniform(m * k, 1, -1, 1, d).reshape(m, k), uniform(k * l, 2, -1, 1, d).reshape(k, l))

    def by_numpy(n, d, threads):
        a, b = operands(d)
        return Ready("a @ b", {"a": a, "b": b}, lambda: summary(a @ b))

    def by_torch(n, d, threads):
        import torch

        a, b = (torch.from_numpy(v).clone() for v in operands(d))
        return Ready("a @ b", {"a": a, "b": b}, lambda: summary(a @ b))

    def by_jax(n, d, threads):
        import jax

        a, b = (jax.numpy.asarray(v) for v in operands(d))
        f = jax.jit(lambda a, b: a @ b)
        return Ready("f(a, b).block_until_ready()", {"f": f, "a": a, "b": b}, lambda: summary(f(a, b)))

    yield Form("numpy", "numpy", by_numpy)
    yield Form("torch", "torch", by_torch)
    yield Form("jax.jit", "jax", by_jax)


def step_forms(case):
    size, adam = STEPS[case], case.startswith("adam")
    params = lambda n, d, seed: [uniform(size, seed + i, -1, 1, d) for i in range(n)]

    def by_torch(how):
        def make(n, d, threads):
            import torch

            ws = [torch.from_numpy(w).requires_grad_() for w in params(n, d, 1)]
            for w, g in zip(ws, params(n, d, 1001)):
                w.grad = torch.from_numpy(g)
            options = {how: True} if how else {}
            opt = torch.optim.Adam(ws, lr=0.001, **options) if adam else torch.optim.SGD(ws, lr=0.01, momentum=0.9, **options)

            def check():
                for _ in range(CHECKED_STEPS):
                    opt.step()
                return [v for w in (ws[0], ws[-1]) for v in summary(w.detach())]

            return Ready("step()", {"step": opt.step}, check)

        return make

    def by_jax(n, d, threads):
        import jax
        import jax.numpy as jnp

        ws, gs = ([jnp.asarray(v) for v in params(n, d, seed)] for seed in (1, 1001))
        state = [ws, *([jnp.zeros_like(w) for w in ws] for _ in range(1 + adam))]

        def momentum(ws, vs, gs, _):
            vs = [0.9 * v + g for v, g in zip(vs, gs)]
            return [w - 0.01 * v for w, v in zip(ws, vs)], vs

        def adam_step(ws, ms, vs, gs, t):
            ms = [0.9 * m + 0.1 * g for m, g in zip(ms, gs)]
            vs = [0.999 * v + 0.001 * g * g for v, g in zip(vs, gs)]
            a, b = 1 - 0.9**t, 1 - 0.999**t
            return [w - 0.001 * (m / a) / (jnp.sqrt(v / b) + 1e-8) for w, m, v in zip(ws, ms, vs)], ms, vs

        f = jax.jit(adam_step if adam else momentum, donate_argnums=tuple(range(2 + adam)))
        taken = 0

        def step():
            nonlocal state, taken
            taken += 1
            state = jax.block_until_ready(f(*state, gs, np.float32(taken)))

        def check():
            for _ in range(CHECKED_STEPS):
                step()
            return [v for w in (state[0][0], state[0][-1]) for v in summary(w)]

        return Ready("step()", {"step": step}, check)

    for how in ("", "fused", "foreach"):
        yield Form(f"torch {how}".strip(), "torch", by_torch(how))
    yield Form("jax.jit", "jax", by_jax)


LION, EMA = "lion of 1e5", "ema of 1e5"


def lion_forms(case):
    """By hand: neither library has it."""
    inputs = lambda n, d, seed: [uniform(100_000, seed + i, -1, 1, d) for i in range(n)]

    def by_torch(n, d, threads):
        import torch

        ws, gs = ([torch.from_numpy(v) for v in inputs(n, d, seed)] for seed in (1, 1001))
        ms = [torch.zeros_like(w) for w in ws]

        def step():
            steps = torch._foreach_mul(ms, 0.9)
            torch._foreach_add_(steps, gs, alpha=0.1)
            torch._foreach_sign_(steps)
            torch._foreach_add_(ws, steps, alpha=-0.001)
            torch._foreach_lerp_(ms, gs, 0.01)

        def check():
            for _ in range(CHECKED_STEPS):
                step()
            return [v for w in (ws[0], ws[-1]) for v in summary(w)]

        return Ready("step()", {"step": step}, check)

    def by_jax(n, d, threads):
        import jax
        import jax.numpy as jnp

        ws, gs = ([jnp.asarray(v) for v in inputs(n, d, seed)] for seed in (1, 1001))
        state = [ws, [jnp.zeros_like(w) for w in ws]]
        lion = lambda ws, ms, gs: ([w - 0.001 * jnp.sign(0.9 * m + 0.1 * g) for w, m, g in zip(ws, ms, gs)], [0.99 * m + 0.01 * g for m, g in zip(ms, gs)])
        f = jax.jit(lion, donate_argnums=(0, 1))

        def step():
            nonlocal state
            state = jax.block_until_ready(f(*state, gs))

        def check():
            for _ in range(CHECKED_STEPS):
                step()
            return [v for w in (state[0][0], state[0][-1]) for v in summary(w)]

        return Ready("step()", {"step": step}, check)

    yield Form("torch foreach", "torch", by_torch)
    yield Form("jax.jit", "jax", by_jax)


def ema_forms(case):
    params = lambda n, d: [uniform(100_000, 1 + i, -1, 1, d) for i in range(n)]

    def by_torch(n, d, threads):
        import torch
        from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

        net = torch.nn.ParameterList([torch.from_numpy(v) for v in params(n, d)])
        ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))

        def check():
            for _ in range(CHECKED_STEPS):
                ema.update_parameters(net)
            ws = list(ema.module.parameters())
            return [v for w in (ws[0], ws[-1]) for v in summary(w.detach())]

        return Ready("ema.update_parameters(net)", {"ema": ema, "net": net}, check)

    def by_jax(n, d, threads):
        import jax
        import jax.numpy as jnp

        xs = [jnp.asarray(v) for v in params(n, d)]
        means = [jnp.array(x, copy=True) for x in xs]
        f = jax.jit(lambda ms, xs: [m + (x - m) * 0.1 for m, x in zip(ms, xs)], donate_argnums=0)

        def step():
            nonlocal means
            means = jax.block_until_ready(f(means, xs))

        def check():
            for _ in range(CHECKED_STEPS):
                step()
            return [v for w in (means[0], means[-1]) for v in summary(w)]

        return Ready("step()", {"step": step}, check)

    yield Form("torch AveragedModel", "torch", by_torch)
    yield Form("jax.jit", "jax", by_jax)


GRAD = {*POOLS, *(s + BACK for s in CONVS), *STEPS}
REGISTRY = {
    **dict.fromkeys(POOLS, pool_forms), **dict.fromkeys([f for s in CONVS for f in (s, s + BACK)], conv_forms),
    **dict.fromkeys(MOVES, move_forms), **dict.fromkeys(PRODUCTS, product_forms), **dict.fromkeys(STEPS, step_forms),
    LION: lion_forms, EMA: ema_forms,
}  # fmt: skip
