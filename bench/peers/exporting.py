"""Writes the models of the rows onnx into a folder, with seeded random weights: exporting.py FOLDER.

bench/ours/exported.go and exported.py read the same files. A file that is there is kept. Weights are normal numbers over the root of their
fan-in, so that results stay finite and differ by input.
"""
import sys
from pathlib import Path

import torch

SEED = 31
HIDDEN = 128  # of the detector


def draw(net):
    """The net with seeded weights, as it infers."""
    torch.manual_seed(SEED)
    with torch.no_grad():
        for name, p in net.named_parameters():
            if p.dim() > 1:
                p.normal_(0, (p.numel() // p.shape[0]) ** -0.5)
            elif "bias" in name:
                p.normal_(0, 0.02)
            else:
                p.fill_(1)
    return net.eval().requires_grad_(False)


class Sentence(torch.nn.Module):
    """A sentence's vector: BERT's last states, their mean under the mask, its direction."""

    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, ids, mask):
        states = self.bert(ids, attention_mask=mask).last_hidden_state
        weight = mask.unsqueeze(-1).to(states.dtype)
        return torch.nn.functional.normalize((states * weight).sum(1) / weight.sum(1).clamp(min=1e-9), dim=1)


class States(torch.nn.Module):
    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, ids, mask):
        return self.bert(ids, attention_mask=mask).last_hidden_state


class Detector(torch.nn.Module):
    """A voice detector of silero's kind: windows' spectrum as a convolution, four convolutions, an LSTM's step."""

    def __init__(self):
        super().__init__()
        self.spectrum = torch.nn.Conv1d(1, 258, 256, 128, bias=False)
        sizes, strides = (129, 128, 64, 64, 128), (1, 2, 2, 1)
        self.convs = torch.nn.ModuleList(torch.nn.Conv1d(i, o, 3, s, 1) for i, o, s in zip(sizes, sizes[1:], strides))
        self.cell = torch.nn.LSTM(128, HIDDEN)
        self.out = torch.nn.Conv1d(HIDDEN, 1, 1)

    def forward(self, chunk, h, c):
        x = self.spectrum(torch.nn.functional.pad(chunk.unsqueeze(1), (0, 64), mode="reflect"))
        x = torch.sqrt(x[:, :129] ** 2 + x[:, 129:] ** 2)
        for conv in self.convs:
            x = torch.relu(conv(x))
        x, (h, c) = self.cell(x.mean(2).unsqueeze(0), (h, c))
        return torch.sigmoid(self.out(torch.relu(x).permute(1, 2, 0))).mean((1, 2)).unsqueeze(1), h, c


def bert(**options):
    import transformers as tf

    return tf.BertModel(tf.BertConfig(**options), add_pooling_layer=False)


def picture():
    return (torch.zeros(1, 3, 224, 224),), ["x"], ["y"], {"x": {0: "n"}, "y": {0: "n"}}


def text(result):
    ids = torch.ones(1, 16, dtype=torch.int64)
    free = {0: "n", 1: "t"}
    return (ids, ids.clone()), ["ids", "mask"], [result], {"ids": free, "mask": free, result: {0: "n", 1: "t"} if result == "states" else {0: "n"}}


def sound():
    state = torch.zeros(1, 1, HIDDEN)
    return (torch.zeros(1, 576), state, state.clone()), ["chunk", "h", "c"], ["voice", "hn", "cn"], {}


def models():
    import torchvision.models as tv

    return {
        "resnet50": lambda: (tv.resnet50(), *picture()),
        "mobilenet": lambda: (tv.mobilenet_v2(), *picture()),
        "bert": lambda: (States(bert()), *text("states")),
        "minilm": lambda: (Sentence(bert(hidden_size=384, num_hidden_layers=6, intermediate_size=1536)), *text("vector")),
        "detector": lambda: (Detector(), *sound()),
    }


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in models().items():
        path = folder / f"{name}.onnx"
        if path.exists():
            continue
        net, args, inputs, outputs, free = make()
        part = path.with_suffix(".part")
        torch.onnx.export(draw(net), args, str(part), dynamo=False, opset_version=17, input_names=inputs, output_names=outputs, dynamic_axes=free)
        part.rename(path)


if __name__ == "__main__":
    main()
