"""Training steps of published networks, and BERT on texts: torchvision's, transformers' and the
definitions of models/testdata. bench/ours/networks.go has ours."""
import io
import sys
from pathlib import Path

import numpy as np

from form import Form, Ready
from inputs import indices, random, summary

CHECKED_STEPS = 3
sys.path.append(str(Path(__file__).resolve().parents[2] / "models" / "testdata"))  # definitions.py, language.py


def fill(torch, net):
    """Matrices, tables and filters are written; biases are 0 and other vectors 1."""
    with torch.no_grad():
        for i, (name, p) in enumerate(sorted(net.named_parameters())):
            if p.dim() > 1:
                bound = (p.numel() // p.shape[0]) ** -0.5
                p.copy_(torch.from_numpy(random(tuple(p.shape), 10 + i, "float32")) * bound)
            elif "bias" in name:
                p.zero_()
            else:
                p.fill_(1)
    return net


def texts(torch, n, steps, seed, vocab):
    return torch.from_numpy(indices(n * steps, seed, vocab).reshape(n, steps))


def classifier(make):
    def build(torch, n, how):
        import torchvision.models as tv

        net = make(tv)
        x = torch.from_numpy(random((n, 3, 224, 224), 1, "float32"))
        if how == "channels last":
            net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
        y = torch.from_numpy(np.arange(n) % 10)
        sgd = lambda: [torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9, fused=True)]
        return net, lambda: torch.nn.functional.cross_entropy(net(x), y), sgd

    return build


def translator(torch, n, how):
    from language import GNMT

    vocab, steps = 8192, 25
    net = GNMT(vocab, 512, 2)
    source, target, labels = (texts(torch, n, steps, s, vocab) for s in (4, 5, 6))
    lengths = torch.full((n,), steps)
    loss = lambda: torch.nn.functional.cross_entropy(net(source, lengths, target).reshape(n * steps, vocab), labels.reshape(-1))
    return net, loss, lambda: [torch.optim.Adam(net.parameters(), lr=0.001, fused=True)]


def recommender(torch, n, how):
    from definitions import NeuMF

    users, items = 138_493, 26_744
    net = NeuMF(users, items)
    tables = [m for m in net.modules() if isinstance(m, torch.nn.Embedding)]
    for m in tables:
        m.sparse = how == "sparse"
    rows = [m.weight for m in tables] if how == "sparse" else []
    rest = [p for p in net.parameters() if not any(p is r for r in rows)]
    u, i = (torch.from_numpy(indices(n, s, k)) for s, k in ((4, users), (5, items)))
    y = torch.from_numpy((random((n,), 6, "float32") > 0).astype("float32"))
    loss = lambda: torch.nn.functional.binary_cross_entropy_with_logits(net(u, i), y)
    adam = lambda: [torch.optim.Adam(rest, lr=0.001, fused=True), *([torch.optim.SparseAdam(rows, lr=0.001)] if rows else [])]
    return net, loss, adam


def language(torch, n, how):
    import transformers as tf

    net = tf.GPT2LMHeadModel(tf.GPT2Config(embd_pdrop=0, attn_pdrop=0, resid_pdrop=0, use_cache=False))
    vocab, steps = 50257, 64
    x, y = (texts(torch, n, steps, s, vocab) for s in (4, 5))
    loss = lambda: torch.nn.functional.cross_entropy(net(x).logits.reshape(n * steps, vocab), y.reshape(-1))
    return net, loss, lambda: [torch.optim.AdamW(net.parameters(), lr=0.0001, weight_decay=0.01, fused=True)]


BUILDERS = {
    "alexnet step": classifier(lambda tv: tv.alexnet(dropout=0)), "resnet50 step": classifier(lambda tv: tv.resnet50()),
    "mobilenet v2 step": classifier(lambda tv: tv.mobilenet_v2(dropout=0)),
    "gnmt step": translator, "ncf step": recommender, "gpt2 step": language,
}  # fmt: skip
BERT = "bert of 128"


def step_of(build, how):
    def make(n, dtype, threads):
        import torch

        net, loss, optimizers = build(torch, n, how)
        fill(torch, net).train()
        opts = optimizers()
        if how == "compile":
            loss = torch.compile(loss)

        def step():
            l = loss()
            l.backward()
            for o in opts:
                o.step()
                o.zero_grad()
            return l

        return Ready("step()", {"step": step}, lambda: [step().item() for _ in range(CHECKED_STEPS)])

    return make


def bert(how):
    def make(n, dtype, threads):
        import torch
        import transformers as tf

        net = tf.BertModel(tf.BertConfig(hidden_dropout_prob=0, attention_probs_dropout_prob=0))
        fill(torch, net).eval()
        x = texts(torch, n, 128, 4, 30522)
        net.requires_grad_(False)
        if how == "onnxruntime":
            import onnxruntime

            class Hidden(torch.nn.Module):
                def forward(self, x):
                    return net(x, attention_mask=torch.ones_like(x)).last_hidden_state

            file = io.BytesIO()
            torch.onnx.export(Hidden(), (x,), file, dynamo=False, input_names=["x"], opset_version=17)
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])
            feed = {"x": x.numpy()}
            return Ready("run(None, feed)", {"run": session.run, "feed": feed}, lambda: summary(session.run(None, feed)[0]))
        f = torch.compile(lambda x: net(x).last_hidden_state) if how == "compile" else lambda x: net(x).last_hidden_state

        def run():
            with torch.inference_mode():
                return f(x)

        return Ready("run()", {"run": run}, lambda: summary(run().numpy()))

    return make


def forms(case):
    if case == BERT:
        yield Form("torch", "torch", bert(""))
        yield Form("torch.compile", "torch", bert("compile"), slow_start=True)
        yield Form("onnxruntime", "torch", bert("onnxruntime"))
        return
    build = BUILDERS[case]
    yield Form("torch", "torch", step_of(build, ""))
    if case == "ncf step":
        yield Form("torch sparse", "torch", step_of(build, "sparse"))
    if case in ("alexnet step", "resnet50 step", "mobilenet v2 step"):
        yield Form("torch channels last", "torch", step_of(build, "channels last"))
    if case != "gnmt step":  # its loops are unrolled: 200 s of compiling, then twice the time of eager steps
        yield Form("torch.compile", "torch", step_of(build, "compile"), slow_start=True)


GRAD = set(BUILDERS)
REGISTRY = dict.fromkeys([*BUILDERS, BERT], forms)
