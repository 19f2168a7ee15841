"""Writes torch.safetensors: what PyTorch gives for the layers and losses of package nn.

    python vectors.py        # from this folder; needs torch; see cases.py
"""
import torch
import torch.nn.functional as F
from torch import nn

from cases import case, layer, put, shaken, write

randn, rand = torch.randn, torch.rand

layer("linear", nn.Linear(5, 3), randn(4, 5))
layer("linear no bias", nn.Linear(5, 3, bias=False), randn(2, 4, 5))
layer("conv2d", nn.Conv2d(2, 3, 3, stride=2, padding=1), randn(2, 2, 5, 6))

pad = nn.Embedding(7, 3, padding_idx=2)
layer("embedding", nn.Embedding(7, 3), torch.tensor([[1, 6, 1], [0, 2, 1]]))
layer("embedding padding", pad, torch.tensor([[2, 6, 1], [0, 2, 1]]))
layer("embedding sparse", nn.Embedding(7, 3, sparse=True), torch.tensor([5, 0, 5, 5]))

layer("batch norm 1d", shaken(nn.BatchNorm1d(4)), 2 * randn(6, 4) + 1)
layer("batch norm 1d of rows", shaken(nn.BatchNorm1d(3, momentum=0.3)), randn(4, 3, 5))
layer("batch norm 2d", shaken(nn.BatchNorm2d(3)), 3 * randn(4, 3, 2, 5) - 2)
layer("batch norm 2d cumulative", shaken(nn.BatchNorm2d(3, momentum=None)), randn(4, 3, 2, 5))
layer("batch norm 2d plain", nn.BatchNorm2d(3, affine=False, track_running_stats=False), randn(4, 3, 2, 5))
layer("batch norm 2d eval", shaken(nn.BatchNorm2d(3)), randn(4, 3, 2, 5), train=False)
layer("batch norm 2d eval plain", nn.BatchNorm2d(3, affine=False), randn(4, 3, 2, 5), train=False)
layer("layer norm", shaken(nn.LayerNorm(70)), randn(4, 70))
layer("layer norm two axes", shaken(nn.LayerNorm((3, 5), eps=0.1)), 5 * randn(2, 4, 3, 5))
layer("layer norm no bias", shaken(nn.LayerNorm(6, bias=False)), randn(4, 6))
layer("layer norm plain", nn.LayerNorm(6, elementwise_affine=False), randn(4, 6))
layer("group norm", shaken(nn.GroupNorm(2, 6)), randn(3, 6, 4, 2))
layer("group norm rows", shaken(nn.GroupNorm(2, 8)), randn(3, 8))
layer("rms norm", shaken(nn.RMSNorm(9)), randn(2, 4, 9))
layer("rms norm eps", shaken(nn.RMSNorm((3, 2), eps=0.1)), randn(4, 3, 2))

for kind, m in [("lstm", nn.LSTM), ("gru", nn.GRU)]:
    def flat(m):
        def f(x, *state):
            state = (state if kind == "lstm" else state[0]) if state else None
            y, end = m(x, state)
            return (y, *end) if kind == "lstm" else (y, end)
        return f

    def states(*shape):
        return [randn(*shape) for _ in range(2 if kind == "lstm" else 1)]

    one = m(5, 4)
    case(f"{kind}", flat(one), [randn(6, 3, 5)], module=one)
    one = m(5, 4, bias=False)
    case(f"{kind} no bias", flat(one), [randn(1, 3, 5)], module=one)
    two = m(5, 4, num_layers=2, bidirectional=True, batch_first=True)
    case(f"{kind} deep", flat(two), [randn(3, 6, 5), *states(4, 3, 4)], module=two)

layer_ = nn.MultiheadAttention


def biased(m):
    """m with biases that are not zeros."""
    with torch.no_grad():
        for p in m.parameters():
            if p.dim() == 1:
                p.copy_(torch.randn_like(p))
    return m


def attend(m, **masks):
    def f(q, k, v, *more):
        return m(q, k, v, need_weights=False, **dict(zip(masks["names"], more)))[0] if masks else m(q, k, v, need_weights=False)[0]
    return f


m = biased(layer_(8, 2))
case("multihead", attend(m), [randn(5, 3, 8), randn(4, 3, 8), randn(4, 3, 8)], module=m)
m = layer_(8, 4, bias=False, batch_first=True)
case("multihead batch first", attend(m), [randn(3, 5, 8), randn(3, 4, 8), randn(3, 4, 8)], module=m)
m = biased(layer_(8, 2))
padding = torch.tensor([[False, False, False, True], [False] * 4, [False, True, False, True]])
above = torch.triu(torch.ones(5, 4), 1).bool()
case("multihead masks", attend(m, names=["key_padding_mask", "attn_mask"]),
     [randn(5, 3, 8), randn(4, 3, 8), randn(4, 3, 8), padding, above], module=m)
m = biased(layer_(8, 2))
case("multihead additive", attend(m, names=["attn_mask"]), [randn(5, 3, 8), randn(4, 3, 8), randn(4, 3, 8), randn(6, 5, 4)], module=m)
m = biased(layer_(8, 2))
case("multihead self", lambda x: m(x, x, x, need_weights=False)[0], [randn(5, 3, 8)], module=m)

sdpa = F.scaled_dot_product_attention
qkv = [randn(2, 3, 5, 4), randn(2, 3, 6, 4), randn(2, 3, 6, 7)]
case("attention", sdpa, qkv)
case("attention causal", lambda q, k, v: sdpa(q, k, v, is_causal=True), qkv)
mask = rand(5, 6) < 0.6
mask[:, 1] = True
case("attention mask", lambda q, k, v, m: sdpa(q, k, v, m), [*qkv, mask])
case("attention additive", lambda q, k, v, m: sdpa(q, k, v, m, scale=0.3), [*qkv, randn(2, 1, 5, 6)])
mask = mask.clone()
mask[2] = False
case("attention nothing seen", lambda q, k, v, m: sdpa(q, k, v, m), [*qkv, mask])

x = torch.cat([randn(3, 4), torch.tensor([[-50.0, 0.0, 50.0, -1e-3]])])
case("leaky relu", nn.LeakyReLU(), [x])
case("leaky relu slope", nn.LeakyReLU(0.3), [x])
case("elu", nn.ELU(), [x])
case("elu alpha", nn.ELU(0.7), [x])
case("identity", nn.Identity(), [x])
case("adaptive one", nn.AdaptiveAvgPool2d(1), [randn(2, 3, 5, 7)])
case("adaptive even", nn.AdaptiveAvgPool2d((2, 3)), [randn(2, 3, 4, 6)])
case("adaptive uneven", nn.AdaptiveAvgPool2d((3, 4)), [randn(2, 3, 5, 7)])
case("adaptive same", nn.AdaptiveAvgPool2d((None, 2)), [randn(2, 5, 7)])
p = randn(2, 3, 4, 5)
case("upsample", nn.Upsample(scale_factor=2), [p])
case("upsample size", nn.Upsample(size=(7, 3)), [p])
case("upsample fraction", nn.Upsample(scale_factor=1.7), [p])
case("upsample bilinear", nn.Upsample(scale_factor=2, mode="bilinear"), [p])
case("upsample bilinear fraction", nn.Upsample(scale_factor=1.7, mode="bilinear"), [p])
case("upsample bilinear corners", nn.Upsample(size=(7, 9), mode="bilinear", align_corners=True), [p])
case("upsample bilinear smaller", nn.Upsample(size=(3, 2), mode="bilinear"), [p])

a, b = randn(4, 3), randn(4, 3)
for r in ["mean", "sum", "none"]:
    case(f"mse {r}", lambda x, y: F.mse_loss(x, y, reduction=r), [a, b])
    case(f"l1 {r}", lambda x, y: F.l1_loss(x, y, reduction=r), [a, b])
    case(f"smooth l1 {r}", lambda x, y: F.smooth_l1_loss(x, y, reduction=r), [2 * a, b])
case("smooth l1 beta", lambda x, y: F.smooth_l1_loss(x, y, beta=0.3), [a, b])
prob, target = rand(4, 3), rand(4, 3)
prob[0, 0], target[0, 0], prob[0, 1], target[0, 1], target[1, 0], target[1, 1] = 0, 1, 1, 0, 0, 1
weight = rand(3)
# At the ends PyTorch's gradient for the target is infinite there: only the prediction's is taken.
case("bce", lambda x, y: F.binary_cross_entropy(x, y.detach()), [prob, target])
case("bce targets", F.binary_cross_entropy, [prob[2:], target[2:]])
case("bce weight", lambda x, y: F.binary_cross_entropy(x, y.detach(), weight=weight.double(), reduction="sum"), [prob[1:], target[1:]])
put("bce weight/weight", weight)
z = torch.tensor([[-100.0, 100.0, 0.0], [1.0, -2.0, 3.0]])
y = torch.tensor([[1.0, 0.0, 0.5], [0.0, 1.0, 1.0]])
case("bce logits", F.binary_cross_entropy_with_logits, [z, y])
case("bce logits weights", lambda x, y: F.binary_cross_entropy_with_logits(x, y, weight=weight.double(), pos_weight=2 * weight.double(), reduction="none"), [z, y])
logp, q = torch.log_softmax(randn(4, 5), 1), torch.softmax(randn(4, 5), 1)
q[1, 2] = 0
case("kl", lambda x, y: F.kl_div(x, y.detach(), reduction="batchmean"), [logp, q])
case("kl targets", lambda x, y: F.kl_div(x, y), [logp[2:], q[2:]])
case("kl log", lambda x, y: F.kl_div(x, y, reduction="sum", log_target=True), [logp, torch.log_softmax(randn(4, 5), 1)])

logits, classes = 3 * randn(6, 5), torch.tensor([0, 4, 2, 2, 1, 3])
deep, grid = randn(2, 5, 3, 2), torch.randint(0, 5, (2, 3, 2))
w5 = rand(5)
put("classes/weight", w5)
grid2 = grid.clone()
grid2[0, 1, 1] = -100
grid2[1, 0, 0] = -100
ignored = torch.tensor([0, 4, -100, 2, -100, 3])
for r in ["mean", "sum", "none"]:
    case(f"cross entropy {r}", lambda x, y: F.cross_entropy(x, y, reduction=r), [logits, classes])
    case(f"cross entropy all {r}", lambda x, y: F.cross_entropy(x, y, weight=w5.double(), label_smoothing=0.2, reduction=r), [deep, grid2])
    case(f"nll {r}", lambda x, y: F.nll_loss(x, y, weight=w5.double(), reduction=r), [deep, grid2])
case("cross entropy weights", lambda x, y: F.cross_entropy(x, y, weight=w5.double()), [logits, classes])
case("cross entropy ignored", F.cross_entropy, [logits, ignored])
case("cross entropy smoothing", lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), [logits, classes])
case("cross entropy axes", F.cross_entropy, [deep, grid])
case("cross entropy probabilities", lambda x, y: F.cross_entropy(x, y, weight=w5.double(), label_smoothing=0.1), [logits, torch.softmax(randn(6, 5), 1)])
case("cross entropy probabilities axes", lambda x, y: F.cross_entropy(x, y, reduction="none"), [deep, torch.softmax(randn(2, 5, 3, 2), 1)])
case("nll plain", F.nll_loss, [torch.log_softmax(logits, 1), classes])



class Block(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o)
        self.downsample = nn.Sequential(nn.Conv2d(i, o, 1, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        return torch.relu(self.bn1(self.conv1(x)) + self.downsample(x))


class Net(nn.Module):
    """A net as one writes it there: its state dict is to load into one written here."""

    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(Block(2, 3), Block(3, 4))
        self.pos_emb = nn.Parameter(torch.randn(6, 4))
        self.self_attn = nn.MultiheadAttention(4, 2, batch_first=True)
        self.layernorm = nn.LayerNorm(4)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        x = self.layer1(x).flatten(2).transpose(1, 2) + self.pos_emb
        x = self.layernorm(x + self.self_attn(x, x, x)[0])
        return self.fc(x.mean(1))


layer("net", Net(), randn(3, 2, 2, 3))

write("torch.safetensors")
