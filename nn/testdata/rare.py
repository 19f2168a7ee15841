"""Writes rare.safetensors: what PyTorch gives for layers that few programs use, and without a batch.

    python rare.py         # from this folder; needs torch; see cases.py
"""
import torch
import torch.nn.functional as F
from torch import nn

from cases import case, layer, shaken, write

randn = torch.randn
layer("bilinear", nn.Bilinear(3, 4, 2), randn(5, 3), randn(5, 4))
layer("bilinear vector", nn.Bilinear(3, 4, 2, bias=False), randn(3), randn(4))

volume, grid = randn(2, 2, 3, 4, 5), 1.5 * (2 * torch.rand(2, 2, 3, 2, 3) - 1)
for mode in ("bilinear", "nearest"):
    for border in ("zeros", "border", "reflection"):
        for align in (False, True):
            f = lambda x, g: F.grid_sample(x, g, mode=mode, padding_mode=border, align_corners=align)
            case(f"sample volume {mode} {border} {align}", f if mode != "nearest" else lambda x, g: f(x, g.detach()), [volume, grid])

adaptive = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 9], div_value=2.0, head_bias=True)
target = torch.tensor([0, 3, 4, 8, 9, 19])
x = randn(6, 8)
case("adaptive loss", lambda x, t: tuple(adaptive(x, t)), [x, target], module=adaptive)
adaptive.zero_grad()
case("adaptive log prob", lambda x: adaptive.log_prob(x), [x], module=adaptive)

samples = torch.rand(2, 2, 3)
case("fractional 2d", lambda x, u: F.fractional_max_pool2d(x, (2, 3), output_size=(3, 4), _random_samples=u.detach()), [randn(2, 2, 7, 9), samples[:, :, :2]])
case("fractional ratio", lambda x, u: F.fractional_max_pool2d(x, 2, output_ratio=(0.5, 0.6), _random_samples=u.detach()), [randn(2, 2, 7, 9), samples[:, :, :2]])
case("fractional one", lambda x, u: F.fractional_max_pool2d(x, 2, output_size=(1, 3), _random_samples=u.detach()), [randn(2, 2, 5, 6), samples[:, :, :2]])
case("fractional 3d", lambda x, u: F.fractional_max_pool3d(x, (2, 2, 3), output_size=(3, 2, 4), _random_samples=u.detach()), [randn(2, 2, 5, 6, 8), samples])

for n, sizes in (1, (6,)), (2, (5, 6)), (3, (4, 5, 3)):
    layer(f"conv{n}d without batch", getattr(nn, f"Conv{n}d")(2, 3, 2), randn(2, *sizes))
    layer(f"conv transposed {n}d without batch", getattr(nn, f"ConvTranspose{n}d")(2, 3, 2), randn(2, *sizes))
rnn, lstm, gru = nn.RNN(3, 4), nn.LSTM(3, 4, num_layers=2, bidirectional=True), nn.GRU(3, 4, batch_first=True)
case("rnn without batch", lambda x: rnn(x), [randn(5, 3)], module=rnn)
case("lstm without batch", lambda x: (lambda y, s: (y, *s))(*lstm(x)), [randn(5, 3)], module=lstm)
case("gru without batch", lambda x, h: gru(x, h), [randn(5, 3), randn(1, 4)], module=gru)

for n, sizes in (1, (6,)), (2, (5, 6)), (3, (4, 5, 3)):
    norm = getattr(nn, f"InstanceNorm{n}d")
    layer(f"instance norm {n}d without batch", shaken(norm(2, affine=True, track_running_stats=True)), randn(2, *sizes))
    layer(f"instance norm {n}d evaluated without batch", shaken(norm(2, track_running_stats=True)), randn(2, *sizes), train=False)

above = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
padding = torch.tensor([False, False, True, False])
attend = shaken(nn.MultiheadAttention(4, 2))
case("attention without batch", lambda q, k, v: attend(q, k, v), [randn(3, 4), randn(5, 4), randn(5, 4)], module=attend)
attend_padded = shaken(nn.MultiheadAttention(4, 2, kdim=3, batch_first=True))
case("attention masks without batch", lambda q, k, v, p, m: attend_padded(q, k, v, key_padding_mask=p, attn_mask=m, average_attn_weights=False),
     [randn(3, 4), randn(4, 3), randn(4, 4), padding, torch.rand(2, 3, 4) < 0.3], module=attend_padded)
still = dict(dropout=0.0)
encoder = shaken(nn.TransformerEncoderLayer(4, 2, 6, **still))
case("encoder layer without batch", lambda x, m, p: encoder(x, src_mask=m, src_key_padding_mask=p), [randn(3, 4), above, padding[:3]], module=encoder)
layer("decoder layer without batch", shaken(nn.TransformerDecoderLayer(4, 2, 6, batch_first=True, **still)), randn(3, 4), randn(5, 4))
whole = shaken(nn.Transformer(4, 2, 1, 1, 6, **still))
case("transformer without batch", lambda x, y, p: whole(x, y, src_key_padding_mask=p, memory_key_padding_mask=p), [randn(4, 4), randn(3, 4), padding], module=whole)

write("rare.safetensors")
