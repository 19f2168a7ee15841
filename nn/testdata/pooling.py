"""Writes pooling.safetensors: what PyTorch gives for poolings, and for normalisations that vectors.py
has not.

    python pooling.py        # from this folder; needs torch; see cases.py
"""
import torch
import torch.nn.functional as F
from torch import nn

from cases import case, layer, shaken, write

randn = torch.randn
row, picture, volume = randn(2, 2, 9), randn(2, 2, 7, 8), randn(2, 2, 5, 4, 6)
picture[0, 0, 1, 1] = picture[0, 0, 1, 2]  # equal ones
row[0, 0, :4] = 1
volume[0, 0, :2] = 2

case("max 1d", nn.MaxPool1d(3), [row])
case("max 1d options", nn.MaxPool1d(3, 2, 1, 2, ceil_mode=True), [row])
case("max 2d ceil", nn.MaxPool2d(3, 2, 1, ceil_mode=True), [picture])
case("max 2d dilated", nn.MaxPool2d((2, 3), (2, 1), (1, 1), (2, 1)), [picture])
case("max 3d", nn.MaxPool3d(2), [volume])
case("max 3d options", nn.MaxPool3d((2, 3, 2), (2, 1, 2), (1, 1, 0), ceil_mode=True), [volume])
case("max 3d dilated", nn.MaxPool3d(2, 1, 0, 2), [volume])
case("avg 1d", nn.AvgPool1d(3, 2, 1), [row])
case("avg 1d ceil", nn.AvgPool1d(4, 3, 1, ceil_mode=True, count_include_pad=False), [row])
for ceil in [False, True]:
    for pad in [False, True]:
        case(f"avg 2d {ceil} {pad}", nn.AvgPool2d((3, 4), (2, 3), (1, 2), ceil_mode=ceil, count_include_pad=pad), [picture])
case("avg 2d divisor", nn.AvgPool2d(3, 2, 1, ceil_mode=True, divisor_override=5), [picture])
case("avg 3d", nn.AvgPool3d((2, 3, 2), 2, (1, 1, 0), ceil_mode=True, count_include_pad=False), [volume])
case("avg 3d divisor", nn.AvgPool3d(2, divisor_override=3), [volume])
for name, m, x in [("max 1d places", nn.MaxPool1d(3, 2, 1, return_indices=True), row),
                   ("max 2d places", nn.MaxPool2d(3, 2, 1, ceil_mode=True, return_indices=True), picture),
                   ("max 3d places", nn.MaxPool3d(2, return_indices=True), volume),
                   ("adaptive max 2d places", nn.AdaptiveMaxPool2d((3, 5), return_indices=True), picture)]:
    values, places = m(x.double())
    case(name, lambda x, i: m(x)[0], [x, places])
case("adaptive avg 1d", nn.AdaptiveAvgPool1d(4), [row])
case("adaptive avg 3d", nn.AdaptiveAvgPool3d((3, None, 2)), [volume])
case("adaptive avg 3d even", nn.AdaptiveAvgPool3d((1, 2, 3)), [volume])
case("adaptive max 1d", nn.AdaptiveMaxPool1d(4), [row])
case("adaptive max 1d even", nn.AdaptiveMaxPool1d(3), [row])
case("adaptive max 2d", nn.AdaptiveMaxPool2d((3, None)), [picture])
case("adaptive max 3d", nn.AdaptiveMaxPool3d((2, 3, 4)), [volume])
case("lp 1d", nn.LPPool1d(3, 2, ceil_mode=True), [row.abs()])
case("lp 2d", nn.LPPool2d(2, (3, 2), stride=2), [picture])
case("lp 3d", nn.LPPool3d(2, 2), [volume])
y, i = F.max_pool2d(picture, 2, return_indices=True)
case("unpool 2d", lambda y, i: F.max_unpool2d(y, i, 2, output_size=(7, 8)), [y, i])
y, i = F.max_pool1d(row, 3, return_indices=True)
case("unpool 1d", lambda y, i: F.max_unpool1d(y, i, 3), [y, i])
y, i = F.max_pool3d(volume, 2, return_indices=True)
case("unpool 3d", lambda y, i: F.max_unpool3d(y, i, 2), [y, i])

layer("batch norm 3d", shaken(nn.BatchNorm3d(2)), volume)
layer("instance norm", nn.InstanceNorm2d(2), picture)
layer("instance norm all", shaken(nn.InstanceNorm1d(2, eps=0.1, momentum=0.3, affine=True, track_running_stats=True)), row)
layer("instance norm eval", shaken(nn.InstanceNorm3d(2, affine=True, track_running_stats=True)), volume, train=False)
wide = randn(2, 6, 3, 2)
case("local response norm", nn.LocalResponseNorm(4), [wide])
case("local response norm options", nn.LocalResponseNorm(3, alpha=0.5, beta=0.6, k=2.0), [wide])

write("pooling.safetensors")
