"""Writes reweighted.safetensors: what PyTorch gives for layers whose weights are computed.

    python reweighted.py         # from this folder; needs torch; see cases.py
"""
import torch
from torch import nn
from torch.nn.utils import parametrizations as P
from torch.nn.utils import prune

from cases import case, layer, write

x, picture = torch.randn(4, 3), torch.randn(2, 2, 4, 5)
layer("weight norm", P.weight_norm(nn.Linear(3, 2)), x)
layer("weight norm axis", P.weight_norm(nn.Linear(3, 2), dim=1), x)
layer("weight norm all", P.weight_norm(nn.Linear(3, 2), dim=None), x)
layer("weight norm conv", P.weight_norm(nn.Conv2d(2, 3, 3)), picture)
layer("spectral norm", P.spectral_norm(nn.Linear(3, 2), n_power_iterations=2), x)
layer("spectral norm conv", P.spectral_norm(nn.Conv2d(2, 3, 3)), picture)
layer("spectral norm transposed", P.spectral_norm(nn.ConvTranspose2d(2, 3, 3)), picture)
layer("spectral norm eval", P.spectral_norm(nn.Linear(3, 2)), x, train=False)
layer("pruned", prune.l1_unstructured(nn.Linear(3, 2), "weight", 0.5), x)

# Masks of weights without equal magnitudes.
w, v = torch.randn(6, 5), torch.randn(4, 5)


def masks(name, method, *weights, **options):
    def of(*weights):
        layers = [nn.Linear(5, len(t)) for t in weights]
        for m, t in zip(layers, weights):
            m.weight = nn.Parameter(t.detach().clone())
        if method is prune.global_unstructured:
            method([(m, "weight") for m in layers], pruning_method=prune.L1Unstructured, **options)
        else:
            method(layers[0], "weight", **options)
        return tuple(t * m.weight_mask for m, t in zip(layers, weights))
    case(name, of, list(weights))


masks("mask l1", prune.l1_unstructured, w, amount=0.35)
masks("mask half", prune.l1_unstructured, w[:1], amount=0.5)
masks("mask structured", prune.ln_structured, w, amount=0.5, n=2, dim=0)
masks("mask structured columns", prune.ln_structured, w, amount=0.4, n=1, dim=1)
masks("mask global", prune.global_unstructured, w, v, amount=0.3)


def off_start(m):
    """m with an original as training leaves it."""
    with torch.no_grad():
        p = m.parametrizations.weight.original
        p.add_(0.7 * torch.randn_like(p).tril(-1) + 0.3 * torch.randn_like(p).triu(1))
    return m


for kind in ("householder", "matrix_exp", "cayley"):
    layer(f"orthogonal {kind}", off_start(P.orthogonal(nn.Linear(3, 3), orthogonal_map=kind)), x)
    layer(f"orthogonal {kind} wide", off_start(P.orthogonal(nn.Linear(3, 2), orthogonal_map=kind)), x)
    layer(f"orthogonal {kind} tall", off_start(P.orthogonal(nn.Linear(3, 5), orthogonal_map=kind)), x)
layer("orthogonal conv", off_start(P.orthogonal(nn.Conv2d(2, 3, (3, 2)))), picture)

write("reweighted.safetensors")
