"""Writes torchvision.safetensors: what torchvision 0.29 makes of small pictures, and policies.txt: the
steps of AutoAugment's policies, with probability and magnitude.

f/NAME and u/NAME are the results for the pictures f/x (float32) and u/x (uint8).

    python cases.py        (with torch, torchvision and safetensors)
"""
import torch
from safetensors.torch import save_file
from torchvision.transforms import AutoAugmentPolicy, v2
from torchvision.transforms.v2 import functional as F

torch.manual_seed(3)
pictures = {"f": torch.rand(3, 9, 11), "u": torch.randint(0, 256, (3, 10, 8), dtype=torch.uint8)}
pictures["u"][:, 2:5, 2:6] = pictures["u"][:, 3:4, 3:4]  # a part of one colour
pictures["f"][:, 0, :4] = 0.25  # gray
near, linear, cubic = v2.InterpolationMode.NEAREST, v2.InterpolationMode.BILINEAR, v2.InterpolationMode.BICUBIC
exact = v2.InterpolationMode.NEAREST_EXACT

corners = [[0, 0], [7, 0], [7, 8], [0, 8]], [[1, 2], [6, 0], [7, 7], [0, 6]]


def displacement(x):
    i, j = torch.meshgrid(*[torch.arange(n, dtype=torch.float64) for n in x.shape[-2:]], indexing="ij")
    return torch.stack([(i + 2 * j).sin() * 0.3, (3 * i - j).cos() * 0.2], -1)[None]


cases = {
    "perspective": lambda x: F.perspective(x, *corners),
    "perspective fill": lambda x: F.perspective(x, *corners, interpolation=near, fill=[0, 1, 0]),
    "perspective back": lambda x: F.perspective(x, *corners[::-1], fill=[1]),
    "elastic": lambda x: F.elastic(x, displacement(x)),
    "elastic fill": lambda x: F.elastic(x, displacement(x) * 2, interpolation=near, fill=[1]),
    "shear": lambda x: F.affine(x, angle=0.0, translate=[0, 0], scale=1.0, shear=[0.0, 17.0], center=[0, 0]),
    "resize short": lambda x: F.resize(x, [5]),
    "resize max": lambda x: F.resize(x, [7], max_size=8),
    "resize up": lambda x: F.resize(x, [13, 17]),
    "resize plain": lambda x: F.resize(x, [5, 6], antialias=False),
    "resize cubic": lambda x: F.resize(x, [6, 5], interpolation=cubic),
    "resize cubic plain": lambda x: F.resize(x, [12, 5], interpolation=cubic, antialias=False),
    "resize nearest": lambda x: F.resize(x, [5, 16], interpolation=near),
    "resize nearest exact": lambda x: F.resize(x, [5, 16], interpolation=exact),
    "center crop": lambda x: F.center_crop(x, [4, 5]),
    "center crop larger": lambda x: F.center_crop(x, [13, 6]),
    "pad": lambda x: F.pad(x, [1, 2, 3, 0], fill=1),
    "pad channels": lambda x: F.pad(x, [1, 2], fill=[1, 0, 1]),
    "pad reflect": lambda x: F.pad(x, [2], padding_mode="reflect"),
    "pad edge": lambda x: F.pad(x, [2, 1, 0, 3], padding_mode="edge"),
    "affine": lambda x: F.affine(x, angle=25, translate=[1, -2], scale=1.3, shear=[10, -5], interpolation=linear),
    "affine nearest": lambda x: F.affine(x, angle=0, translate=[2, 1], scale=1, shear=[0, 0]),
    "affine center": lambda x: F.affine(x, angle=-40, translate=[0, 0], scale=0.8, shear=[0, 0], interpolation=linear, center=[2, 3], fill=[1]),
    "affine fill": lambda x: F.affine(x, angle=10, translate=[3, 0], scale=1, shear=[20, 0], fill=[0, 1, 0]),
    "rotate": lambda x: F.rotate(x, 33, interpolation=linear),
    "rotate expand": lambda x: F.rotate(x, -70, interpolation=linear, expand=True),
    "rotate 90": lambda x: F.rotate(x, 90, expand=True),
    "rotate 270": lambda x: F.rotate(x, -90, expand=True),
    "rotate 180": lambda x: F.rotate(x, 180),
    "rotate 90 inside": lambda x: F.rotate(x, 90, interpolation=linear),
    "normalize": lambda x: F.normalize(F.to_dtype(x, torch.float32, scale=True), [0.4, 0.5, 0.6], [0.2, 0.3, 0.4]),
    "to uint8": lambda x: F.to_dtype(x, torch.uint8, scale=True),
    "to int16": lambda x: F.to_dtype(x, torch.int16, scale=True),
    "to float64": lambda x: F.to_dtype(x, torch.float64, scale=True),
    "grayscale": lambda x: F.rgb_to_grayscale(x),
    "grayscale 3": lambda x: F.rgb_to_grayscale(x, 3),
    "brightness": lambda x: F.adjust_brightness(x, 1.7),
    "contrast": lambda x: F.adjust_contrast(x, 0.4),
    "contrast up": lambda x: F.adjust_contrast(x, 1.8),
    "saturation": lambda x: F.adjust_saturation(x, 0.3),
    "saturation up": lambda x: F.adjust_saturation(x, 2.5),
    "hue": lambda x: F.adjust_hue(x, 0.2),
    "hue down": lambda x: F.adjust_hue(x, -0.45),
    "gamma": lambda x: F.adjust_gamma(x, 0.6, gain=1.2),
    "sharpness": lambda x: F.adjust_sharpness(x, 1.9),
    "sharpness down": lambda x: F.adjust_sharpness(x, 0.2),
    "invert": lambda x: F.invert(x),
    "solarize": lambda x: F.solarize(x, 0.6 if x.is_floating_point() else 150),
    "posterize": lambda x: F.posterize(x, 3),
    "autocontrast": lambda x: F.autocontrast(x),
    "equalize": lambda x: F.equalize(x.repeat(1, 2, 3)),
    "blur": lambda x: F.gaussian_blur(x, [5, 3], [1.1, 1.1]),
}

tensors = {}
for kind, x in pictures.items():
    tensors[f"{kind}/x"] = x
    for name, f in cases.items():
        tensors[f"{kind}/{name}"] = f(x.clone()).contiguous()
save_file(tensors, "torchvision.safetensors")

with open("policies.txt", "w") as f:
    for policy in ("imagenet", "cifar10", "svhn"):
        for pair in v2.AutoAugment(AutoAugmentPolicy(policy))._policies:
            print(policy, *[v for name, p, level in pair for v in (name, round(10 * p), level or 0)], file=f)
