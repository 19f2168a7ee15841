"""Writes the models of models_test.go and their results: python models.py

Small networks exported by torch.onnx, by its tracer (script) and by dynamo, with inputs and the results of ONNX
Runtime in a safetensors file beside each.
"""

import os
import warnings

import numpy as np
import onnxruntime as ort
import torch
from safetensors.numpy import save_file
from torch import nn

warnings.simplefilter("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv1 = nn.Conv2d(n, n, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(n)
        self.conv2 = nn.Conv2d(n, n, 3, padding=1, groups=2)

    def forward(self, x):
        return torch.relu(x + self.conv2(torch.relu(self.bn1(self.conv1(x)))))


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 5, stride=2, padding=2)
        self.bn = nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.block = Block(8)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.block(self.pool(torch.relu(self.bn(self.stem(x)))))
        x = nn.functional.adaptive_avg_pool2d(x, 1)
        return self.fc(torch.flatten(x, 1).reshape(x.shape[0], -1))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(20, 16)
        self.places = nn.Embedding(12, 16)
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, 0.0, activation="gelu", batch_first=True)
        self.head = nn.Linear(16, 20)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        # written out, so that the tracer sees attention by parts
        b, t, c = x.shape
        a = self.layer.self_attn
        q, k, v = nn.functional.linear(x, a.in_proj_weight, a.in_proj_bias).chunk(3, dim=-1)
        q, k, v = (y.view(b, t, 4, c // 4).transpose(1, 2) for y in (q, k, v))
        w = torch.softmax(q @ k.transpose(-1, -2) / (c // 4) ** 0.5, dim=-1)
        x = self.layer.norm1(x + a.out_proj((w @ v).transpose(1, 2).reshape(b, t, c)))
        x = self.layer.norm2(x + self.layer.linear2(nn.functional.gelu(self.layer.linear1(x))))
        return self.head(x)


def export(name, model, x, other, axes):
    for p in model.modules():
        if isinstance(p, nn.BatchNorm2d):
            p.running_mean.uniform_(-0.5, 0.5)
            p.running_var.uniform_(0.5, 2)
    model.eval()
    for dynamo in (False, True):
        path = os.path.join(HERE, f"{name}_{'dynamo' if dynamo else 'script'}.onnx")
        if dynamo:
            dims = {i: torch.export.Dim(n, min=1, max=12 if n == "length" else 1024) for i, n in axes.items()}
            program = torch.onnx.export(model, (x,), dynamo=True, dynamic_shapes=(dims,), input_names=["input"], output_names=["output"], verbose=False)
            program.save(path, external_data=False)
        else:
            torch.onnx.export(model, (x,), path, dynamo=False, opset_version=17, dynamic_axes={"input": axes, "output": {0: "batch"}}, input_names=["input"], output_names=["output"])
        s = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        out = {}
        for i, v in enumerate((x, other)):
            out[f"input{i}"] = v.numpy()
            out[f"output{i}"] = s.run(None, {"input": v.numpy()})[0]
        save_file(out, path.replace(".onnx", ".safetensors"))
        print(path, os.path.getsize(path))


torch.manual_seed(1)
with torch.no_grad():
    export("mlp", MLP(), torch.randn(4, 6), torch.randn(7, 6), {0: "batch"})
    export("cnn", CNN(), torch.randn(2, 3, 32, 32), torch.randn(3, 3, 32, 32), {0: "batch"})
    export("transformer", Transformer(), torch.randint(0, 20, (2, 7)), torch.randint(0, 20, (3, 12)), {0: "batch", 1: "length"})
