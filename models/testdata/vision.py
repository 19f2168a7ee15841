"""Writes vision.json and, with the argument full, vision_full.json: torchvision's models.

    python3 vision.py [full]
"""
import os
import sys

import torch
from torch import nn
from torchvision import models as tv

from counter import case, count, counter, write

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


BASIC, NECK = tv.resnet.BasicBlock, tv.resnet.Bottleneck


def small():
    yield case("resnet basic", ResNet(BASIC, [1, 2, 1, 1], 8, 5), on(2, 3, 40, 40))
    yield case("resnet bottleneck", ResNet(NECK, [1, 1, 2, 1], 8, 5), on(2, 3, 40, 40))
    yield case("resnet groups", ResNet(NECK, [1, 1, 1, 1], 16, 5, groups=4, width_per_group=32), on(2, 3, 33, 47))


def counts():
    for name in ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d", "resnext101_32x8d", "wide_resnet50_2"]:
        yield count(name, getattr(tv, name))


def full():
    for name in ["resnet50"]:
        yield case(name, getattr(tv, name)(), on(2, 3, 224, 224))


if sys.argv[1:] == ["full"]:
    write(os.path.join(HERE, "vision_full.json"), full())
else:
    write(os.path.join(HERE, "vision.json"), [*small(), *counts()])
