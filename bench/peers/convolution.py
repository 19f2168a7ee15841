"""Convolutions of PyTorch, forward alone and forward and backward, with a bias."""
from form import Form, Ready
from inputs import random, summary

# in, size, out, window, stride, padding, groups
SHAPES = {
    "conv 1x32^2 to 6 5x5": (1, 32, 6, 5, 1, 0, 1),
    "conv 6x14^2 to 16 5x5": (6, 14, 16, 5, 1, 0, 1),
    "conv 1x256^2 to 6 7x7": (1, 256, 6, 7, 1, 0, 1),
    "conv 64x56^2 to 64 3x3": (64, 56, 64, 3, 1, 1, 1),
    "conv 256x14^2 to 256 3x3": (256, 14, 256, 3, 1, 1, 1),
    "conv 3x224^2 to 64 7x7 by 2": (3, 224, 64, 7, 2, 3, 1),
    "conv 64x56^2 to 256 1x1": (64, 56, 256, 1, 1, 0, 1),
    "conv 128x28^2 depthwise 3x3": (128, 28, 128, 3, 1, 1, 128),
    "conv 64x56^2 depthwise 3x3 by 2": (64, 56, 64, 3, 2, 1, 64),
    "conv 64x28^2 to 64 3x3 in 8 groups": (64, 28, 64, 3, 1, 1, 8),
}
BACK = " and back"
HOW = ("nchw", "channels_last", "no mkldnn", "no mkldnn channels_last")


def torch_form(case, how):
    def make(n, dtype, threads):
        import torch
        import torch.nn.functional as F

        channels, size, out, window, stride, padding, groups = SHAPES[case.removesuffix(BACK)]
        layout = torch.channels_last if "channels_last" in how else torch.contiguous_format
        tensor = lambda shape, seed: torch.from_numpy(random(shape, seed, dtype)).clone(
            memory_format=layout if len(shape) == 4 else torch.contiguous_format
        )
        x, w, b = tensor((n, channels, size, size), 1), tensor((out, channels // groups, window, window), 2), tensor((out,), 3)
        mkldnn = "no mkldnn" not in how

        def forward():
            with torch.backends.mkldnn.flags(enabled=mkldnn):
                return F.conv2d(x, w, b, stride, padding, 1, groups)

        if not case.endswith(BACK):
            return Ready("forward()", {"forward": forward}, lambda: summary(forward()))
        with torch.no_grad():
            dy = tensor(tuple(forward().shape), 4)
        # The first layer of a network has no gradient of its input.
        wrt = [t.requires_grad_() for t in [w, b] + [x] * (channels > 3)]

        def both():
            with torch.backends.mkldnn.flags(enabled=mkldnn):
                y = F.conv2d(x, w, b, stride, padding, 1, groups)
                return *torch.autograd.grad(y, wrt, dy), y

        def check():
            gw, gb, *others = both()
            scale = (dy.numel() / out) ** -0.5  # rounding is then as small in the sums as in the rest
            return [v for t in (gw * scale, gb * scale, *others) for v in summary(t.detach())]

        return Ready("both()", {"both": both}, check)

    return make


def forms(case):
    for how in HOW:
        yield Form(f"torch {how}", "torch", torch_form(case, how))


GRAD = {s + BACK for s in SHAPES}
REGISTRY = dict.fromkeys([*SHAPES, *GRAD], forms)
