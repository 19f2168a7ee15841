"""Networks that torchvision and transformers do not have, in plain PyTorch: the U-Net of
milesial/Pytorch-UNet, NeuMF of MLPerf, and the network of diffusers' UNet2DModel, each
with the names that its files have.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn


class DoubleConv(nn.Module):
    def __init__(self, a, b, mid=None):
        super().__init__()
        mid = mid or b
        conv = lambda i, o: nn.Conv2d(i, o, 3, padding=1, bias=False)
        self.double_conv = nn.Sequential(conv(a, mid), nn.BatchNorm2d(mid), nn.ReLU(), conv(mid, b), nn.BatchNorm2d(b), nn.ReLU())

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(a, b))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, a, b, bilinear):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = DoubleConv(a, b, a // 2)
        else:
            self.up = nn.ConvTranspose2d(a, a // 2, 2, stride=2)
            self.conv = DoubleConv(a, b)

    def forward(self, x, beside):
        x = self.up(x)
        dy, dx = beside.shape[2] - x.shape[2], beside.shape[3] - x.shape[3]
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.conv(torch.cat([beside, x], dim=1))


class OutConv(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.conv = nn.Conv2d(a, b, 1)

    def forward(self, x):
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, channels=3, classes=2, bilinear=False, width=64):
        super().__init__()
        w, f = width, 2 if bilinear else 1
        self.inc = DoubleConv(channels, w)
        self.down1, self.down2, self.down3, self.down4 = Down(w, 2 * w), Down(2 * w, 4 * w), Down(4 * w, 8 * w), Down(8 * w, 16 * w // f)
        self.up1, self.up2 = Up(16 * w, 8 * w // f, bilinear), Up(8 * w, 4 * w // f, bilinear)
        self.up3, self.up4 = Up(4 * w, 2 * w // f, bilinear), Up(2 * w, w, bilinear)
        self.outc = OutConv(w, classes)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x4 = self.down3(x3)
        x = self.up1(self.down4(x4), x4)
        return self.outc(self.up4(self.up3(self.up2(x, x3), x2), x1))


class NeuMF(nn.Module):
    def __init__(self, users, items, mf_dim=64, layers=(256, 256, 128, 64)):
        super().__init__()
        self.mf_user_embed = nn.Embedding(users, mf_dim)
        self.mf_item_embed = nn.Embedding(items, mf_dim)
        self.mlp_user_embed = nn.Embedding(users, layers[0] // 2)
        self.mlp_item_embed = nn.Embedding(items, layers[0] // 2)
        self.mlp = nn.ModuleList(nn.Linear(a, b) for a, b in zip(layers, layers[1:]))
        self.final = nn.Linear(layers[-1] + mf_dim, 1)

    def forward(self, user, item):
        mf = self.mf_user_embed(user) * self.mf_item_embed(item)
        x = torch.cat((self.mlp_user_embed(user), self.mlp_item_embed(item)), dim=1)
        for layer in self.mlp:
            x = F.relu(layer(x))
        return self.final(torch.cat((mf, x), dim=1)).squeeze(1)


class TimestepEmbedding(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.half = a // 2
        self.linear_1, self.linear_2 = nn.Linear(a, b), nn.Linear(b, b)

    def forward(self, t):
        rate = torch.exp(-math.log(10000) * torch.arange(self.half, dtype=torch.float64) / (self.half - 1))
        at = t[:, None].to(torch.float64) * rate[None]
        x = torch.cat([torch.sin(at), torch.cos(at)], dim=-1).to(self.linear_1.weight.dtype)
        return self.linear_2(F.silu(self.linear_1(x)))


class ResnetBlock2D(nn.Module):
    def __init__(self, a, b, temb, groups, eps):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, a, eps)
        self.conv1 = nn.Conv2d(a, b, 3, padding=1)
        self.time_emb_proj = nn.Linear(temb, b)
        self.norm2 = nn.GroupNorm(groups, b, eps)
        self.conv2 = nn.Conv2d(b, b, 3, padding=1)
        if a != b:
            self.conv_shortcut = nn.Conv2d(a, b, 1)

    def forward(self, x, temb):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time_emb_proj(F.silu(temb))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return (self.conv_shortcut(x) if hasattr(self, "conv_shortcut") else x) + h


class Attention(nn.Module):
    def __init__(self, c, groups, eps, heads):
        super().__init__()
        self.heads = heads
        self.group_norm = nn.GroupNorm(groups, c, eps)
        self.to_q, self.to_k, self.to_v = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c)
        self.to_out = nn.ModuleList([nn.Linear(c, c)])

    def forward(self, x):
        n, c, h, w = x.shape
        y = self.group_norm(x.view(n, c, h * w)).transpose(1, 2)
        q, k, v = (f(y).view(n, h * w, self.heads, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        p = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1)
        y = self.to_out[0]((p @ v).transpose(1, 2).reshape(n, h * w, c))
        return y.transpose(1, 2).reshape(n, c, h, w) + x


class Downsample2D(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, stride=2)

    def forward(self, x):
        return self.conv(F.pad(x, (0, 1, 0, 1)))


class Upsample2D(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class Block(nn.Module):
    def __init__(self, resnets, attentions, downsampler=None, upsampler=None):
        super().__init__()
        self.resnets = nn.ModuleList(resnets)
        if attentions:
            self.attentions = nn.ModuleList(attentions)
        if downsampler:
            self.downsamplers = nn.ModuleList([downsampler])
        if upsampler:
            self.upsamplers = nn.ModuleList([upsampler])

    def at(self, i, x, temb):
        x = self.resnets[i](x, temb)
        return self.attentions[i](x) if hasattr(self, "attentions") else x


class UNet2DModel(nn.Module):
    """diffusers' with the configuration of google/ddpm-cifar10-32 where nothing is given."""

    def __init__(self, channels=3, widths=(128, 256, 256, 256), attention=(False, True, False, False), layers=2, groups=32, eps=1e-6, head_dim=None):
        super().__init__()
        temb = 4 * widths[0]
        resnet = lambda a, b: ResnetBlock2D(a, b, temb, groups, eps)
        attend = lambda c: Attention(c, groups, eps, c // head_dim if head_dim else 1)
        self.conv_in = nn.Conv2d(channels, widths[0], 3, padding=1)
        self.time_embedding = TimestepEmbedding(widths[0], temb)
        self.down_blocks, self.up_blocks = nn.ModuleList(), nn.ModuleList()
        out, n = widths[0], len(widths)
        for i, w in enumerate(widths):
            a, out = out, w
            self.down_blocks.append(Block(
                [resnet(a if j == 0 else w, w) for j in range(layers)],
                [attend(w) for _ in range(layers)] if attention[i] else [],
                downsampler=Downsample2D(w) if i < n - 1 else None))
        self.mid_block = Block([resnet(out, out), resnet(out, out)], [attend(out)])
        back = list(reversed(widths))
        out = back[0]
        for i, w in enumerate(back):
            previous, out, into = out, w, back[min(i + 1, n - 1)]
            self.up_blocks.append(Block(
                [resnet((previous if j == 0 else w) + (into if j == layers else w), w) for j in range(layers + 1)],
                [attend(w) for _ in range(layers + 1)] if attention[n - 1 - i] else [],
                upsampler=Upsample2D(w) if i < n - 1 else None))
        self.conv_norm_out = nn.GroupNorm(groups, widths[0], eps)
        self.conv_out = nn.Conv2d(widths[0], channels, 3, padding=1)

    def forward(self, x, t):
        temb = self.time_embedding(t)
        x = self.conv_in(x)
        beside = [x]
        for b in self.down_blocks:
            for i in range(len(b.resnets)):
                x = b.at(i, x, temb)
                beside.append(x)
            if hasattr(b, "downsamplers"):
                x = b.downsamplers[0](x)
                beside.append(x)
        m = self.mid_block
        x = m.resnets[1](m.attentions[0](m.resnets[0](x, temb)), temb)
        for b in self.up_blocks:
            for i in range(len(b.resnets)):
                x = b.at(i, torch.cat([x, beside.pop()], dim=1), temb)
            if hasattr(b, "upsamplers"):
                x = b.upsamplers[0](x)
        return self.conv_out(F.silu(self.conv_norm_out(x)))


def betas(steps=1000, cosine=False):
    if not cosine:
        return torch.linspace(1e-4, 0.02, steps, dtype=torch.float64)
    f = lambda t: math.cos((t + 0.008) / 1.008 * math.pi / 2) ** 2
    return torch.tensor([min(1 - f((i + 1) / steps) / f(i / steps), 0.999) for i in range(steps)], dtype=torch.float64)


def ddpm_step(beta, t, x, eps, z):
    """A step of Ho et al. from t to t-1: equations 7 and 15, the variance of equation 7, and a cut to -1 to 1."""
    alpha = 1 - beta
    kept = torch.cumprod(alpha, 0)
    before = kept[t - 1] if t > 0 else torch.tensor(1.0, dtype=torch.float64)
    x0 = ((x - (1 - kept[t]).sqrt() * eps) / kept[t].sqrt()).clamp(-1, 1)
    mean = before.sqrt() * beta[t] / (1 - kept[t]) * x0 + alpha[t].sqrt() * (1 - before) / (1 - kept[t]) * x
    return mean + ((1 - before) / (1 - kept[t]) * beta[t]).sqrt() * z if t > 0 else mean


def ddim_step(beta, t, to, x, eps):
    """A step of Song et al. with eta 0, equation 12, without a cut."""
    kept = torch.cumprod(1 - beta, 0)
    before = kept[to] if to >= 0 else torch.tensor(1.0, dtype=torch.float64)
    x0 = (x - (1 - kept[t]).sqrt() * eps) / kept[t].sqrt()
    return before.sqrt() * x0 + (1 - before).sqrt() * eps
