"""Writes activations.safetensors: what PyTorch gives for the activations that vectors.py has not,
and for distances and layers that give elements another shape, and for tables whose rows have a greatest norm.

    python activations.py        # from this folder; needs torch; see cases.py
"""
import torch
import torch.nn.functional as F
from torch import nn

from cases import case, layer, shaken, write

randn = torch.randn
edges = torch.tensor([-60.0, -6.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 60.0, -1e-4])
x = torch.cat([3 * randn(12), edges]).reshape(4, 6)
for name, m in {
    "relu6": nn.ReLU6(), "hardsigmoid": nn.Hardsigmoid(), "hardswish": nn.Hardswish(), "mish": nn.Mish(),
    "log sigmoid": nn.LogSigmoid(), "softsign": nn.Softsign(), "tanhshrink": nn.Tanhshrink(), "selu": nn.SELU(),
    "gelu tanh": nn.GELU(approximate="tanh"), "celu": nn.CELU(), "celu alpha": nn.CELU(0.4),
    "hardtanh": nn.Hardtanh(), "hardtanh range": nn.Hardtanh(-0.5, 3.0), "softplus": nn.Softplus(),
    "softplus options": nn.Softplus(2.0, 5.0), "threshold": nn.Threshold(0.5, -7.0), "hardshrink": nn.Hardshrink(),
    "hardshrink lambda": nn.Hardshrink(1.0), "softshrink": nn.Softshrink(), "softshrink lambda": nn.Softshrink(1.0),
    "glu": nn.GLU(), "glu axis": nn.GLU(0), "softmax": nn.Softmax(-1), "softmax axis": nn.Softmax(0),
    "log softmax": nn.LogSoftmax(-1), "softmin": nn.Softmin(0), "flatten": nn.Flatten(0, 1),
}.items():
    case(name, m, [x])
case("rrelu eval", nn.RReLU(0.1, 0.5).eval(), [x])
layer("prelu", nn.PReLU(), x)
layer("prelu channels", shaken(nn.PReLU(3)), randn(2, 3, 4, 2))
case("flatten middle", nn.Flatten(1, -2), [randn(2, 3, 4, 2)])
case("unflatten", nn.Unflatten(1, (3, 2)), [x])

a, b = randn(4, 3), randn(4, 3)
a[1] = 0
case("pairwise", F.pairwise_distance, [a, b])
case("pairwise options", lambda x, y: F.pairwise_distance(x, y, p=3.0, eps=0.1, keepdim=True), [a, b])
case("cosine similarity", F.cosine_similarity, [a, b])
case("cosine similarity axis", lambda x, y: F.cosine_similarity(x, y, dim=0, eps=2.5), [a, b])
case("cosine similarity broadcast", lambda x, y: F.cosine_similarity(x, y, dim=-1), [randn(2, 1, 3), b])
case("normalize", F.normalize, [a])
case("normalize options", lambda x: F.normalize(x, p=1.0, dim=0, eps=2.0), [a])

numbers = torch.tensor([[1, 6, 1], [0, 2, 1]])
layer("embedding max norm", nn.Embedding(7, 3, max_norm=1.0), numbers)
layer("embedding max norm options", nn.Embedding(7, 3, max_norm=1.5, norm_type=1.0), numbers)
layer("bag max norm", nn.EmbeddingBag(7, 3, max_norm=1.0, mode="sum"), numbers)

write("activations.safetensors")
