"""Writes recurrent.safetensors: what PyTorch gives for recurrent networks, their cells and padded
batches that vectors.py has not.

    python recurrent.py        # from this folder; needs torch; see cases.py
"""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from cases import case, layer, write

randn = torch.randn


def flat(m, f):
    """f of m with the parts of nested results one behind the other."""
    def g(*args):
        out = []
        for o in f(m, *args):
            out += list(o) if isinstance(o, tuple) else [o]
        return tuple(out)
    return g


def network(name, m, *args):
    def f(m, x, *state):
        return m(x, (state if len(state) == 2 else state[0]) if state else None)
    case(name, flat(m, f), args, module=m)


def padded(name, m, lengths, *args):
    def f(m, x, n, *state):
        packed = pack_padded_sequence(x, n, batch_first=m.batch_first, enforce_sorted=False)
        y, end = m(packed, (state if len(state) == 2 else state[0]) if state else None)
        return pad_packed_sequence(y, batch_first=m.batch_first, total_length=x.shape[1 if m.batch_first else 0])[0], end
    case(name, flat(m, f), [args[0], torch.tensor(lengths), *args[1:]], module=m)


network("rnn", nn.RNN(5, 4), randn(3, 2, 5))
network("rnn relu", nn.RNN(5, 4, nonlinearity="relu", bias=False), randn(3, 2, 5), randn(1, 2, 4))
network("rnn deep", nn.RNN(5, 4, num_layers=2, bidirectional=True, batch_first=True), randn(2, 3, 5), randn(4, 2, 4))
network("lstm projected", nn.LSTM(5, 4, proj_size=3), randn(3, 2, 5))
network("lstm projected deep", nn.LSTM(5, 4, num_layers=2, bidirectional=True, proj_size=2, bias=False), randn(3, 2, 5), randn(4, 2, 2), randn(4, 2, 4))
padded("rnn padded", nn.RNN(3, 2, bidirectional=True), [4, 2, 1], randn(4, 3, 3))
padded("lstm padded", nn.LSTM(3, 4), [2, 4, 1], randn(4, 3, 3))
padded("lstm padded deep", nn.LSTM(3, 2, num_layers=2, bidirectional=True, batch_first=True), [2, 5, 1], randn(3, 5, 3), randn(4, 3, 2), randn(4, 3, 2))
padded("lstm padded projected", nn.LSTM(3, 4, bidirectional=True, proj_size=2), [1, 3], randn(4, 2, 3))
padded("gru padded", nn.GRU(3, 2, num_layers=2, bidirectional=True), [3, 1, 4], randn(4, 3, 3), randn(4, 3, 2))
padded("gru padded first", nn.GRU(3, 2, batch_first=True), [3, 1, 2], randn(3, 4, 3))
layer("rnn cell", nn.RNNCell(5, 4), randn(2, 5), randn(2, 4))
layer("rnn cell relu", nn.RNNCell(5, 4, nonlinearity="relu", bias=False), randn(2, 5))
layer("gru cell", nn.GRUCell(5, 4), randn(2, 5), randn(2, 4))
layer("gru cell alone", nn.GRUCell(5, 4, bias=False), randn(5), randn(4))
cell = nn.LSTMCell(5, 4)
case("lstm cell", lambda x, h, c: cell(x, (h, c)), [randn(2, 5), randn(2, 4), randn(2, 4)], module=cell)
layer("lstm cell alone", nn.LSTMCell(5, 4, bias=False), randn(5))

write("recurrent.safetensors")
