"""Writes convolution.safetensors: what PyTorch gives for convolutions, pads, folds, resizing and
sampling that vectors.py has not.

    python convolution.py        # from this folder; needs torch; see cases.py
"""
import torch
import torch.nn.functional as F
from torch import nn

from cases import case, layer, write

randn = torch.randn
row, picture, volume = randn(2, 4, 7), randn(2, 2, 5, 6), randn(2, 2, 4, 5, 3)

layer("conv 1d", nn.Conv1d(4, 2, 3, stride=2, padding=1, dilation=2, groups=2), row)
layer("conv 1d same", nn.Conv1d(4, 2, 4, padding="same", padding_mode="circular"), row)
layer("conv 1d reflect", nn.Conv1d(4, 2, 3, padding=2, padding_mode="reflect", stride=2), row)
layer("conv 2d same", nn.Conv2d(2, 3, (3, 4), padding="same", dilation=2), randn(2, 2, 8, 9))
layer("conv 2d same odd", nn.Conv2d(2, 3, 3, padding="same"), picture)
layer("conv 2d replicate", nn.Conv2d(2, 3, 3, padding=1, padding_mode="replicate"), picture)
layer("conv 3d", nn.Conv3d(2, 3, 2), volume)
layer("conv 3d options", nn.Conv3d(2, 4, (3, 2, 1), stride=(2, 1, 2), padding=(1, 2, 0), dilation=(1, 2, 1), groups=2), volume)
layer("conv 3d same", nn.Conv3d(2, 2, (2, 3, 3), padding="same", padding_mode="reflect", bias=False), volume)
layer("transposed 1d", nn.ConvTranspose1d(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2), row)
layer("transposed 2d", nn.ConvTranspose2d(2, 2, 3, stride=2, padding=1, output_padding=1, dilation=2), picture)
layer("transposed 3d", nn.ConvTranspose3d(2, 3, 2), volume)
layer("transposed 3d options", nn.ConvTranspose3d(2, 2, (3, 2, 2), stride=(2, 1, 2), padding=(1, 0, 1), output_padding=(1, 0, 1), dilation=(2, 1, 1), groups=2), volume)

case("pad constant", nn.ConstantPad2d((1, 2, 0, 1), 3.5), [picture])
case("pad cut", nn.ConstantPad2d((-1, 2, 1, -2), 0.5), [picture])
for mode in ["reflect", "replicate", "circular"]:
    case(f"pad {mode} 1d", lambda x: F.pad(x, (2, 1), mode=mode), [row])
    case(f"pad {mode} 2d", lambda x: F.pad(x, (1, 2, 3, 0), mode=mode), [picture])
    case(f"pad {mode} 3d", lambda x: F.pad(x, (1, 2, 0, 3, 2, 1), mode=mode), [volume])
case("pad replicate far", nn.ReplicationPad1d(9), [row])

case("pixel shuffle", nn.PixelShuffle(2), [randn(2, 8, 2, 3)])
case("pixel unshuffle", nn.PixelUnshuffle(2), [randn(2, 2, 4, 6)])
case("channel shuffle", lambda x: F.channel_shuffle(x, 3), [randn(2, 6, 2, 3)])
case("unfold", nn.Unfold((2, 3), dilation=(2, 1), padding=(1, 2), stride=(1, 2)), [picture])
case("fold", nn.Fold((5, 6), (2, 3), dilation=(2, 1), padding=(1, 2), stride=(1, 2)), [nn.Unfold((2, 3), dilation=(2, 1), padding=(1, 2), stride=(1, 2))(picture)])
case("fold plain", nn.Fold((4, 6), 2, stride=2), [randn(2, 8, 6)])

case("nearest 1d", lambda x: F.interpolate(x, size=11), [row])
case("nearest 3d", lambda x: F.interpolate(x, scale_factor=(1.5, 2, 1)), [volume])
case("exact 2d", lambda x: F.interpolate(x, size=(3, 11), mode="nearest-exact"), [picture])
case("exact 1d", lambda x: F.interpolate(x, scale_factor=1.7, mode="nearest-exact"), [row])
case("linear 1d", lambda x: F.interpolate(x, size=11, mode="linear"), [row])
case("linear corners", lambda x: F.interpolate(x, size=4, mode="linear", align_corners=True), [row])
case("trilinear", lambda x: F.interpolate(x, size=(6, 3, 5), mode="trilinear"), [volume])
case("bicubic", lambda x: F.interpolate(x, size=(8, 9), mode="bicubic"), [picture])
case("bicubic factor", lambda x: F.interpolate(x, scale_factor=(1.7, 0.6), mode="bicubic"), [picture])
case("bicubic corners", lambda x: F.interpolate(x, size=(3, 11), mode="bicubic", align_corners=True), [picture])
case("area", lambda x: F.interpolate(x, size=(3, 4), mode="area"), [picture])
case("antialias linear", lambda x: F.interpolate(x, size=(2, 4), mode="bilinear", antialias=True), [picture])
case("antialias cubic", lambda x: F.interpolate(x, size=(3, 9), mode="bicubic", antialias=True), [picture])
case("antialias corners", lambda x: F.interpolate(x, size=(2, 4), mode="bilinear", antialias=True, align_corners=True), [picture])

grid = 1.5 * (2 * torch.rand(2, 4, 3, 2) - 1)
for align in [False, True]:
    for border in ["zeros", "border", "reflection"]:
        for mode in ["bilinear", "nearest", "bicubic"]:
            f = lambda x, g: F.grid_sample(x, g, mode=mode, padding_mode=border, align_corners=align)
            case(f"sample {mode} {border} {align}", f if mode != "nearest" else lambda x, g: f(x, g.detach()), [picture, grid])
    case(f"affine {align}", lambda t: F.affine_grid(t, (2, 3, 4, 5), align_corners=align), [randn(2, 2, 3)])
    case(f"affine 3d {align}", lambda t: F.affine_grid(t, (2, 3, 4, 2, 3), align_corners=align), [randn(2, 3, 4)])

write("convolution.safetensors")
