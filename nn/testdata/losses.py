"""Writes losses.safetensors: what PyTorch gives for the losses that vectors.py has not.

    python losses.py        # from this folder; needs torch; see cases.py
"""
import torch
import torch.nn.functional as F

from cases import case, put, write

randn, rand = torch.randn, torch.rand
REDUCTIONS = ["mean", "sum", "none"]


def signs(*shape):
    return torch.randint(0, 2, shape) * 2 - 1


def fixed(f, *more, **options):
    """f with further arguments that get no gradients, in float64."""
    more = [m.double() if m.is_floating_point() else m for m in more]
    options = {k: v.double() if torch.is_tensor(v) and v.is_floating_point() else v for k, v in options.items()}
    return lambda *x: f(*x, *more, **options)


a, b, c = 2 * randn(5, 4), randn(5, 4), randn(5, 4)
y = signs(5, 4)
w = rand(5, 4)
put("elementwise/weight", w)
for r in REDUCTIONS:
    case(f"huber {r}", fixed(F.huber_loss, reduction=r), [a, b])
    case(f"hinge embedding {r}", fixed(F.hinge_embedding_loss, reduction=r), [a, y])
    case(f"margin ranking {r}", fixed(F.margin_ranking_loss, margin=0.3, reduction=r), [a, b, y])
    case(f"soft margin {r}", fixed(F.soft_margin_loss, reduction=r), [a, y])
    case(f"mse weight {r}", lambda x, t: F.mse_loss(x, t, weight=w.double(), reduction=r), [a, b])
    case(f"l1 weight {r}", lambda x, t: F.l1_loss(x, t, weight=w.double(), reduction=r), [a, b])
case("huber delta", fixed(F.huber_loss, delta=0.4), [a, b])
case("huber weight", lambda x, t: F.huber_loss(x, t, weight=w.double()), [a, b])
case("hinge embedding margin", fixed(F.hinge_embedding_loss, margin=0.2), [a, y])
# The gradient where a margin is met exactly.
edge = torch.tensor([1.0, 0.5, 2.0, 1.0])
case("hinge embedding edge", F.hinge_embedding_loss, [edge, torch.tensor([-1, -1, -1, 1])])
case("margin ranking edge", F.margin_ranking_loss, [edge, torch.tensor([1.0, 0.0, 3.0, 1.0]), torch.tensor([1, 1, -1, -1])])

labels = torch.tensor([0, 3, 1, 1, 2])
w4 = rand(4)
put("classes/weight", w4)
for r in REDUCTIONS:
    case(f"multi margin {r}", fixed(F.multi_margin_loss, reduction=r), [a, labels])
    case(f"multi margin all {r}", lambda x, t: F.multi_margin_loss(x, t, p=2, margin=0.7, weight=w4.double(), reduction=r), [a, labels])
lists = torch.tensor([[3, 0, -1, 1], [-1, 2, 1, 0], [1, 1, 2, -1], [0, 1, 2, 3], [2, -1, -1, 0]])
ones = torch.randint(0, 2, (5, 4)).double()
for r in REDUCTIONS:
    case(f"multi label margin {r}", fixed(F.multilabel_margin_loss, reduction=r), [a, lists])
    case(f"multi label soft margin {r}", lambda x, t: F.multilabel_soft_margin_loss(x, t.detach(), weight=w4.double(), reduction=r), [a, ones])
case("multi margin row", F.multi_margin_loss, [a[0], torch.tensor(2)])
case("multi label margin row", F.multilabel_margin_loss, [a[0], lists[0]])

for r in REDUCTIONS:
    case(f"triplet margin {r}", fixed(F.triplet_margin_loss, reduction=r), [a, b, c])
case("triplet margin options", fixed(F.triplet_margin_loss, margin=0.5, p=1.0, eps=1e-2, swap=True), [a, b, c])
case("triplet margin distance", lambda x, p, n: F.triplet_margin_with_distance_loss(
    x, p, n, distance_function=lambda u, v: (u - v).square().sum(-1), margin=0.5, swap=True), [a, b, c])
case("cosine embedding row", F.cosine_embedding_loss, [a[0], b[0], torch.tensor(1)])
for r in REDUCTIONS:
    case(f"cosine embedding {r}", fixed(F.cosine_embedding_loss, margin=-0.2, reduction=r), [a, b, signs(5)])

v = rand(5, 4)
v[1, 1], v[2, 3] = 0, 1e-8
for r in REDUCTIONS:
    case(f"gaussian nll {r}", fixed(F.gaussian_nll_loss, reduction=r), [a, b, rand(5, 4) + 0.1])
case("gaussian nll small", fixed(F.gaussian_nll_loss, eps=0.05, full=True), [a, b, v])
case("gaussian nll rows", F.gaussian_nll_loss, [a, b, rand(5) + 0.1])
case("gaussian nll column", F.gaussian_nll_loss, [a, b, rand(5, 1) + 0.1])
counts = torch.randint(0, 5, (5, 4))
for r in REDUCTIONS:
    case(f"poisson nll {r}", fixed(F.poisson_nll_loss, reduction=r), [b, counts])
case("poisson nll full", lambda x, t: F.poisson_nll_loss(x, t.double(), full=True), [b, counts])
case("poisson nll rates", lambda x, t: F.poisson_nll_loss(x, t.double(), log_input=False, full=True, eps=1e-3), [rand(5, 4), counts])


def focal(x, t, alpha=0.25, gamma=2.0, reduction="mean"):
    """sigmoid_focal_loss of torchvision."""
    p = torch.sigmoid(x)
    loss = F.binary_cross_entropy_with_logits(x, t, reduction="none") * (1 - (p * t + (1 - p) * (1 - t))) ** gamma
    if alpha >= 0:
        loss = (alpha * t + (1 - alpha) * (1 - t)) * loss
    return {"mean": loss.mean(), "sum": loss.sum(), "none": loss}[reduction]


def dice(x, t, smooth=1.0, reduction="mean"):
    x, t = x.flatten(1), t.flatten(1)
    loss = 1 - (2 * (x * t).sum(1) + smooth) / (x.sum(1) + t.sum(1) + smooth)
    return {"mean": loss.mean(), "sum": loss.sum(), "none": loss}[reduction]


for r in REDUCTIONS:
    case(f"focal {r}", fixed(focal, reduction=r), [a, ones])
    case(f"dice {r}", fixed(dice, reduction=r), [rand(3, 2, 4), torch.randint(0, 2, (3, 2, 4)).double()])
case("focal options", fixed(focal, alpha=-1, gamma=1.5), [a, ones])
case("dice smooth", fixed(dice, smooth=0.1), [rand(3, 2, 4), rand(3, 2, 4)])


def ctc(**options):
    return lambda x, *more: F.ctc_loss(torch.log_softmax(x, -1), *more, **options)


n, steps, classes = 3, 7, 5
x = randn(steps, n, classes)
target = torch.tensor([[1, 2, 2, 3], [4, 4, 0, 0], [2, 0, 0, 0]])
lengths, running = torch.tensor([4, 2, 0]), torch.tensor([7, 5, 6])
for r in REDUCTIONS:
    case(f"ctc {r}", ctc(reduction=r), [x, target, running, lengths])
case("ctc list", ctc(), [x, torch.tensor([1, 2, 2, 3, 4, 4]), running, lengths])
case("ctc blank", ctc(blank=4), [x, torch.tensor([[0, 1, 1], [3, 2, 0], [1, 1, 1]]), running, torch.tensor([3, 3, 2])])
case("ctc row", ctc(), [x[:, 0], torch.tensor([1, 2, 1]), torch.tensor(7), torch.tensor(3)])
short = torch.tensor([3, 5, 6])
case("ctc zero infinity", ctc(zero_infinity=True, reduction="none"), [x, target, short, lengths])
case("ctc long", ctc(reduction="sum"), [2 * randn(40, 2, 6), torch.randint(1, 6, (2, 12)), torch.tensor([40, 31]), torch.tensor([12, 9])])

write("losses.safetensors")
