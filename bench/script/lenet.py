"""What main.go does, in PyTorch."""
import torch
from torch import nn

net = nn.Sequential(
    nn.Conv2d(1, 6, 5), nn.Tanh(), nn.MaxPool2d(2),
    nn.Conv2d(6, 16, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10),
)  # fmt: skip
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(60, 1, 32, 32), torch.randint(0, 10, (60,))
for _ in range(2):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
