"""Writes vision.json and, with the argument full, vision_full.json: torchvision's models.

    python3 vision.py [full]
"""
import os
import sys

import torch
from torch import nn
from torchvision import models as tv
from transformers import MobileNetV1Config, MobileNetV1ForImageClassification, ViTConfig, ViTForImageClassification

from counter import case, count, counter, first, write
from definitions import NeuMF, UNet, UNet2DModel, betas, ddim_step, ddpm_step

HERE = os.path.dirname(os.path.abspath(__file__))


def image(*shape):
    return counter("x", shape).requires_grad_(False)


def on(*shape):
    return lambda m: m(image(*shape))


class ResNet(tv.ResNet):
    """torchvision's with fewer channels."""

    def __init__(self, block, layers, width, classes, **k):
        self.narrow = 64 // width
        super().__init__(block, layers, **k)
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.fc = nn.Linear(512 // self.narrow * block.expansion, classes)

    def _make_layer(self, block, planes, *a, **k):
        if planes == 64:
            self.inplanes //= self.narrow
        return super()._make_layer(block, planes // self.narrow, *a, **k)


def narrow(model, by, classes):
    """Divides the channels of a sequential model by a number."""
    part = lambda n: n if n == 3 else n // by
    last = [m for m in model.modules() if isinstance(m, nn.Linear)][-1]
    for outer in list(model.modules()):
        for name, m in list(outer.named_children()):
            if isinstance(m, nn.Conv2d):
                new = nn.Conv2d(part(m.in_channels), part(m.out_channels), m.kernel_size, m.stride, m.padding)
            elif isinstance(m, nn.BatchNorm2d):
                new = nn.BatchNorm2d(part(m.num_features))
            elif isinstance(m, nn.Linear):
                new = nn.Linear(part(m.in_features), classes if m is last else part(m.out_features))
            else:
                continue
            setattr(outer, name, new)
    return model


VIT_BLOCK = {
    "attention.q_proj": "attention.attention.query",
    "attention.k_proj": "attention.attention.key",
    "attention.v_proj": "attention.attention.value",
    "attention.o_proj": "attention.output.dense",
    "mlp.fc1": "intermediate.dense",
    "mlp.fc2": "output.dense",
}


def hub(name):
    """The name in the files of transformers' ViT, which has others in memory."""
    if name.startswith("vit.layers."):
        name = name.replace("vit.layers.", "vit.encoder.layer.")
        for k, v in VIT_BLOCK.items():
            name = name.replace(k, v)
    return name


def logits(*shape):
    return lambda m: m(image(*shape)).logits


BASIC, NECK = tv.resnet.BasicBlock, tv.resnet.Bottleneck


def small():
    yield case("small resnet basic", ResNet(BASIC, [1, 2, 1, 1], 8, 5), on(2, 3, 40, 40))
    yield case("small resnet bottleneck", ResNet(NECK, [1, 1, 2, 1], 8, 5), on(2, 3, 40, 40))
    yield case("small resnet groups", ResNet(NECK, [1, 1, 1, 1], 16, 5, groups=4, width_per_group=32), on(2, 3, 33, 47))
    yield case("small alexnet", narrow(tv.AlexNet(dropout=0), 16, 5), on(2, 3, 67, 71))
    yield case("small vgg", narrow(tv.vgg11(dropout=0), 16, 5), on(2, 3, 32, 48))
    yield case("small vgg norm", narrow(tv.vgg16_bn(dropout=0), 16, 5), on(2, 3, 37, 33))
    yield case("small mobilenet v1", MobileNetV1ForImageClassification(MobileNetV1Config(depth_multiplier=0.125, num_labels=5, classifier_dropout_prob=0)), logits(2, 3, 36, 45))
    yield case("small mobilenet v2", tv.mobilenet_v2(width_mult=0.15, num_classes=5, dropout=0), on(2, 3, 40, 33))
    vit = dict(image_size=32, patch_size=8, num_layers=3, num_heads=2, hidden_dim=16, mlp_dim=24, num_classes=5)
    yield case("small vit", tv.VisionTransformer(**vit), on(2, 3, 32, 32))
    config = ViTConfig(image_size=32, patch_size=8, num_hidden_layers=2, num_attention_heads=4, hidden_size=16, intermediate_size=24, num_labels=5)
    yield case("small vit transformers", ViTForImageClassification(config), logits(2, 3, 32, 32), hub)
    yield case("small unet", UNet(3, 4, False, 4), on(2, 3, 35, 48))
    yield case("small unet bilinear", UNet(1, 2, True, 4), on(2, 1, 32, 33))
    who, what = torch.tensor([0, 6, 3, 3]), torch.tensor([1, 4, 4, 0])
    yield case("small ncf", NeuMF(7, 5, 3, (8, 6, 4)), lambda m: m(who, what), evaluated=False)
    step = torch.tensor([3, 977])
    ddpm = dict(channels=2, widths=(8, 16, 16), attention=(False, True, True), layers=1, groups=4)
    yield case("small ddpm", UNet2DModel(**ddpm), lambda m: m(image(2, 2, 8, 12), step), evaluated=False)
    yield case("small ddpm heads", UNet2DModel(**ddpm, head_dim=8), lambda m: m(image(2, 2, 8, 12), step), evaluated=False)


def steps():
    """Steps of noise: results alone."""
    x, e, z = (counter(name, (2, 3, 4)) for name in ("x", "e", "z"))
    result = lambda name, t: (name, {"shape": list(t.shape), "out": first(t)})
    for name, b in ("linear", betas()), ("cosine", betas(50, True)):
        n = len(b)
        kept = torch.cumprod(1 - b, 0)
        yield result(f"{name} kept", kept[:: n // 25])
        k = kept[torch.tensor([n // 3, n - 2])][:, None, None]
        yield result(f"{name} noise", k.sqrt() * x + (1 - k).sqrt() * e)
        for t in (0, 1, n // 2, n - 1):
            yield result(f"{name} ddpm {t}", ddpm_step(b, t, x, e, z))
            yield result(f"{name} ddim {t}", ddim_step(b, t, t // 2 - 1, x, e))


def counts():
    for name in ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d", "resnext101_32x8d", "wide_resnet50_2",
                 "alexnet", "vgg11", "vgg13", "vgg16", "vgg19", "vgg11_bn", "vgg13_bn", "vgg16_bn", "vgg19_bn", "mobilenet_v2",
                 "vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32", "vit_h_14"]:
        yield count(name, getattr(tv, name))
    yield count("mobilenet_v1", lambda: MobileNetV1ForImageClassification(MobileNetV1Config(num_labels=1001)))
    yield count("unet", UNet)
    yield count("unet bilinear", lambda: UNet(bilinear=True))
    yield count("ncf", lambda: NeuMF(138493, 26744))
    yield count("ddpm", UNet2DModel)
    yield count("vit transformers b16", lambda: ViTForImageClassification(ViTConfig(num_labels=1000)), hub)


def full():
    """Published sizes, one or two pictures each."""
    for name in ["alexnet", "vgg11"]:
        yield case(name, getattr(tv, name)(dropout=0), on(1, 3, 224, 224))
    for name in ["resnet18", "resnet50", "vit_b_16"]:
        yield case(name, getattr(tv, name)(), on(2, 3, 224, 224))
    yield case("mobilenet_v1", MobileNetV1ForImageClassification(MobileNetV1Config(num_labels=1001, classifier_dropout_prob=0)), logits(2, 3, 224, 224))
    yield case("mobilenet_v2", tv.mobilenet_v2(dropout=0), on(2, 3, 224, 224))
    yield case("unet", UNet(), on(1, 3, 96, 96))
    yield case("ddpm", UNet2DModel(), lambda m: m(image(1, 3, 32, 32), torch.tensor([500])), evaluated=False)


if sys.argv[1:] == ["full"]:
    write(os.path.join(HERE, "vision_full.json"), full())
else:
    write(os.path.join(HERE, "vision.json"), [*small(), *steps(), *counts()])
