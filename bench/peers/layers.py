"""Layers forward and backward to inputs and parameters, and a step of a recommender
with sparse gradients. bench/ours/layers.go has ours."""

from form import Form, Ready
from inputs import indices, random, summary, uniform

CHECKED_STEPS = 3


def lstm(layers, inputs, hidden, steps):
    def build(torch, n):
        net = torch.nn.LSTM(inputs, hidden, layers)
        return net, lambda x: net(x)[0], (steps, n, inputs)

    return build


def batch_norm(torch, n):
    net = torch.nn.BatchNorm2d(64)
    return net, net, (n, 64, 28, 28)


def layer_norm(torch, n):
    net = torch.nn.LayerNorm(512)
    return net, net, (n, 512)


def attention(length, causal):
    def build(torch, n):
        return None, lambda x: torch.nn.functional.scaled_dot_product_attention(*x.unbind(0), is_causal=causal), (3, n, 8, length, 64)

    return build


def torch_layer(build, how):
    def make(n, dtype, threads):
        import torch

        net, f, shape = build(torch, n)
        if how == "compile":
            f = torch.compile(f)
        params = sorted(net.named_parameters()) if net else []
        with torch.no_grad():
            for i, (_, p) in enumerate(params):
                if p.dim() > 1:
                    bound = p.shape[1] ** -0.5
                    p.copy_(torch.from_numpy(uniform(p.numel(), 10 + i, -bound, bound, dtype).reshape(p.shape)))
                elif isinstance(net, torch.nn.LSTM):
                    p.zero_()
        x = torch.from_numpy(random(shape, 1, dtype)).requires_grad_()
        wrt = [x, *(p for _, p in params)]
        dy = torch.from_numpy(random(tuple(f(x).shape), 2, dtype))

        def run():
            with torch.backends.mkldnn.flags(enabled=how != "no mkldnn"):
                y = f(x)
                return y, torch.autograd.grad(y, wrt, dy)

        def check():
            y, grads = run()
            return summary(y.detach().numpy()) + summary(grads[0].numpy())

        return Ready("run()", {"run": run}, check)

    return make


def torch_recommender(how):
    def make(n, dtype, threads):
        import torch

        rows, width = 100_000, 64

        def table(seed):
            w = torch.from_numpy(uniform(rows * width, seed, -0.1, 0.1, dtype).reshape(rows, width))
            return torch.nn.Embedding.from_pretrained(w, freeze=False, sparse=True)

        users, items = table(2), table(3)
        u, i = (torch.from_numpy(indices(n, s, rows)) for s in (4, 5))
        y = torch.from_numpy((random((n,), 6, dtype) > 0).astype(dtype))
        opt = torch.optim.SparseAdam([users.weight, items.weight], lr=0.01)

        def step():
            loss = torch.nn.functional.binary_cross_entropy_with_logits((users(u) * items(i)).sum(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            return loss

        return Ready("step()", {"step": step}, lambda: [step().item() for _ in range(CHECKED_STEPS)])

    return make


BUILDERS = {
    "lstm 2x512 and back": lstm(2, 512, 512, 25), "lstm 64 to 128 and back": lstm(1, 64, 128, 50),
    "batch norm 64x28^2 and back": batch_norm, "layer norm 512 and back": layer_norm,
    "attention 8x256x64 and back": attention(256, False),
    "causal attention 8x1024x64 and back": attention(1024, True),
}  # fmt: skip


def forms(case):
    if case == "recommender step":
        yield Form("torch", "torch", torch_recommender(""))
        return
    for how in ("", "no mkldnn", "compile") if case.startswith("causal") else ("", "no mkldnn"):
        yield Form(f"torch {how}".strip(), "torch", torch_layer(BUILDERS[case], how), slow_start=how == "compile")


REGISTRY = dict.fromkeys([*BUILDERS, "recommender step"], forms)
