"""Writes language.json and, with the argument full, language_full.json: models of text.

    python3 language.py [full]

GPT-2, BERT and LLaMA are transformers'. GNMT is written here after the published
description of its version 2. Cases of generation have the new tokens alone.
"""
import os
import sys

import torch
import transformers as tf
from torch import nn
from transformers.generation import logits_process

from counter import case, count, counter, fill, short, write

HERE = os.path.dirname(os.path.abspath(__file__))


def tokens(name, shape, vocab):
    return ((counter(name, shape) + 1) / 2 * vocab).long()


def without(*names):
    """Leaves out tied weights under their second names, and frequencies."""
    return lambda name: None if name in names or name.endswith("inv_freq") else name


EAGER = {"attn_implementation": "eager"}
TIED = without("lm_head.weight")
BERT_TIED = without("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")


def gpt2(**k):
    c = tf.GPT2Config(**{**dict(vocab_size=43, n_positions=32, n_embd=24, n_layer=2, n_head=3, embd_pdrop=0, attn_pdrop=0, resid_pdrop=0), **k}, **EAGER)
    return tf.GPT2LMHeadModel(c)


def bert(make, **k):
    c = tf.BertConfig(**{**dict(vocab_size=43, max_position_embeddings=32, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40, hidden_dropout_prob=0, attention_probs_dropout_prob=0), **k}, **EAGER)
    return make(c)


def llama(**k):
    c = tf.LlamaConfig(**{**dict(vocab_size=43, max_position_embeddings=64, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8), **k}, attn_implementation="sdpa")
    return tf.LlamaForCausalLM(c)


LLAMA3 = dict(rope_parameters=dict(rope_type="llama3", rope_theta=500.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16))


def shape(pads, steps):
    """A mask of padding in front of texts, and the places behind it."""
    mask = torch.tensor([[j >= p for j in range(steps)] for p in pads])
    return mask, torch.clamp(torch.arange(steps) - torch.tensor(pads)[:, None], min=0)


def plain(m):
    return m(tokens("tokens", (2, 7), 43)).logits


def padded(m):
    mask, places = shape([0, 3], 7)
    return m(tokens("tokens", (2, 7), 43), attention_mask=mask.long(), position_ids=places).logits * mask[:, :, None]


def far(m):
    """Places up to the end of the context, where scaled rotary embeddings differ most."""
    return m(tokens("tokens", (2, 7), 43), position_ids=torch.arange(7)[None] * 10).logits


def read(m):
    x = dict(attention_mask=torch.tensor([[1] * 7, [1] * 4 + [0] * 3]), token_type_ids=torch.tensor([[0] * 3 + [1] * 4] * 2))
    r = m(tokens("tokens", (2, 7), 43), **x)
    return both(r) if hasattr(r, "pooler_output") else r.logits


def both(r):
    return torch.cat([r.last_hidden_state, r.pooler_output[:, None]], 1)


class Bahdanau(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear_q = nn.Linear(width, width, bias=False)
        self.linear_k = nn.Linear(width, width, bias=False)
        self.linear_att = nn.Parameter(torch.zeros(width))
        self.normalize_scalar = nn.Parameter(torch.zeros(1))
        self.normalize_bias = nn.Parameter(torch.zeros(width))

    def forward(self, query, keys, mask):
        v = self.linear_att / self.linear_att.norm() * self.normalize_scalar
        both = self.linear_q(query)[:, :, None] + self.linear_k(keys)[:, None] + self.normalize_bias
        scores = (torch.tanh(both) @ v).masked_fill(mask[:, None], -65504.0)
        return scores.softmax(-1) @ keys


class Attend(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.attn = Bahdanau(width)


class Classifier(nn.Module):
    def __init__(self, width, vocab):
        super().__init__()
        self.classifier = nn.Linear(width, vocab)


class Encoder(nn.Module):
    def __init__(self, width, layers, embedder):
        super().__init__()
        self.rnn_layers = nn.ModuleList([nn.LSTM(width, width, bidirectional=True, batch_first=True), nn.LSTM(2 * width, width, batch_first=True)])
        self.rnn_layers.extend(nn.LSTM(width, width, batch_first=True) for _ in range(layers - 2))
        self.embedder = embedder

    def forward(self, x, lengths):
        x = nn.utils.rnn.pack_padded_sequence(self.embedder(x), lengths, batch_first=True, enforce_sorted=False)
        x = nn.utils.rnn.pad_packed_sequence(self.rnn_layers[0](x)[0], batch_first=True)[0]
        x = self.rnn_layers[1](x)[0]
        for layer in self.rnn_layers[2:]:
            x = layer(x)[0] + x
        return x


class Decoder(nn.Module):
    def __init__(self, width, layers, vocab, embedder):
        super().__init__()
        self.att_rnn = Attend(width)
        self.rnn_layers = nn.ModuleList(nn.LSTM(2 * width, width, batch_first=True) for _ in range(layers - 1))
        self.embedder = embedder
        self.classifier = Classifier(width, vocab)

    def forward(self, x, context, mask):
        x = self.att_rnn.rnn(self.embedder(x))[0]
        attended = self.att_rnn.attn(x, context, mask)
        x = self.rnn_layers[0](torch.cat([x, attended], 2))[0]
        for layer in self.rnn_layers[1:]:
            x = layer(torch.cat([x, attended], 2))[0] + x
        return self.classifier.classifier(x)


class GNMT(nn.Module):
    def __init__(self, vocab=32317, width=1024, layers=4):
        super().__init__()
        embedder = nn.Embedding(vocab, width, padding_idx=0)
        self.encoder = Encoder(width, layers, embedder)
        self.decoder = Decoder(width, layers, vocab, embedder)

    def forward(self, source, lengths, target):
        mask = torch.arange(source.shape[1]) >= lengths[:, None]
        return self.decoder(target, self.encoder(source, lengths), mask)


def translate(m):
    source = tokens("source", (3, 6), 40) + 3
    lengths = torch.tensor([6, 4, 1])
    source = source.masked_fill(torch.arange(6) >= lengths[:, None], 0)
    return m(source, lengths, tokens("target", (3, 5), 40) + 3)


def small():
    yield case("small gpt2", gpt2(), plain, TIED)
    yield case("small gpt2 inner", gpt2(n_inner=30), padded, TIED)
    yield case("small bert", bert(tf.BertModel), read)
    yield case("small bert masked", bert(tf.BertForMaskedLM), read, BERT_TIED)
    yield case("small bert classifier", bert(tf.BertForSequenceClassification, num_labels=3), read)
    yield case("small llama", llama(), plain, without())
    yield case("small llama tied", llama(tie_word_embeddings=True, attention_bias=True, mlp_bias=True), padded, TIED)
    yield case("small llama3", llama(**LLAMA3), far, without())
    yield case("small llama linear", llama(rope_parameters=dict(rope_type="linear", rope_theta=100.0, factor=4.0), num_key_value_heads=1), far, without())
    yarn = dict(rope_type="yarn", rope_theta=100.0, factor=4.0, original_max_position_embeddings=16)
    yield case("small llama yarn", llama(rope_parameters=yarn), far, without())
    yield case("small llama yarn all", llama(rope_parameters=dict(yarn, beta_fast=4.0, beta_slow=0.5, truncate=False, mscale=0.7, mscale_all_dim=0.3)), far, without())
    yield case("small llama dynamic", llama(rope_parameters=dict(rope_type="dynamic", rope_theta=100.0, factor=4.0), max_position_embeddings=32), far, without())
    yield case("small gnmt", GNMT(43, 12, 4), translate, without("decoder.embedder.weight"))


PROMPTS = [[5, 17, 3, 8], [21], [30, 2, 9]]


def generated(m, prompts, rename, **k):
    """The new tokens of each prompt alone, up to the end, and the scores of beams."""
    fill(m, rename)
    m.eval()
    m.generation_config.eos_token_id = None
    ends = set(k.get("eos_token_id") or [])
    out, scores = [], []
    for p in prompts:
        ids = torch.tensor([p])
        r = m.generate(ids, attention_mask=torch.ones_like(ids), pad_token_id=0, return_dict_in_generate=True, output_scores=True, **k)
        for row in r.sequences[:, len(p):].tolist():
            out.append(row[:next((i for i, x in enumerate(row) if x in ends), len(row))])
        if "num_beams" in k:
            scores += [short(x) for x in r.sequences_scores.tolist()]
    return {"tokens": out, "scores": scores}


def generation():
    for name, make, rename in [("gpt2", gpt2, TIED), ("llama", lambda: llama(**LLAMA3), without())]:
        greedy = dict(do_sample=False, max_new_tokens=20)
        beams = dict(do_sample=False, max_new_tokens=8, num_beams=3, num_return_sequences=3)
        yield f"{name} greedy", generated(make(), PROMPTS, rename, **greedy)
        yield f"{name} penalty", generated(make(), PROMPTS, rename, repetition_penalty=1.3, **greedy)
        yield f"{name} beam", generated(make(), PROMPTS, rename, **beams)
        yield f"{name} beam end", generated(make(), PROMPTS, rename, **beams, eos_token_id=[7, 11, 19])
        yield f"{name} beam early", generated(make(), PROMPTS, rename, **{**beams, "max_new_tokens": 12}, eos_token_id=[7, 11, 19], early_stopping=True, length_penalty=0.0)
        yield f"{name} beam long", generated(make(), PROMPTS, rename, **{**beams, "max_new_tokens": 12}, eos_token_id=[7, 11, 19], length_penalty=2.0)


def counts():
    """Names, shapes and numbers of parameters of published sizes."""
    yield count("gpt2", lambda: tf.GPT2LMHeadModel(tf.GPT2Config()), TIED)
    yield count("bert base", lambda: tf.BertModel(tf.BertConfig()))
    yield count("bert large masked", lambda: tf.BertForMaskedLM(tf.BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)), BERT_TIED)
    yield count("llama 7b", lambda: tf.LlamaForCausalLM(tf.LlamaConfig()), without())
    rope = dict(rope_type="llama3", rope_theta=500000.0, factor=32.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192)
    c = tf.LlamaConfig(vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8, head_dim=64,
                       max_position_embeddings=131072, rms_norm_eps=1e-5, tie_word_embeddings=True, rope_parameters=rope)
    yield count("llama 3.2 1b", lambda: tf.LlamaForCausalLM(c), TIED)
    yield count("gnmt", GNMT, without("decoder.embedder.weight"))


def weights():
    """Probabilities after temperature, top-k and top-p."""
    logits = counter("logits", (1, 30)).float() * 4
    for name, list_ in {
        "temperature": [logits_process.TemperatureLogitsWarper(0.7)],
        "top-k": [logits_process.TemperatureLogitsWarper(2.0), logits_process.TopKLogitsWarper(5)],
        "top-p": [logits_process.TopPLogitsWarper(0.8)],
        "both": [logits_process.TemperatureLogitsWarper(1.5), logits_process.TopKLogitsWarper(7), logits_process.TopPLogitsWarper(0.6)],
    }.items():
        x = logits
        for w in list_:
            x = w(None, x)
        yield f"weights {name}", {"scores": [short(p) for p in x.double().softmax(-1)[0].tolist()]}


def full():
    yield case("gpt2", gpt2(vocab_size=50257, n_positions=1024, n_embd=768, n_layer=12, n_head=12), lambda m: m(tokens("tokens", (2, 64), 50257)).logits[:, ::9, ::1111], TIED)
    size = dict(vocab_size=30522, max_position_embeddings=512, hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072)
    yield case("bert", bert(tf.BertModel, **size), lambda m: both(m(tokens("tokens", (2, 64), 30522))))
    size = dict(vocab_size=32000, max_position_embeddings=2048, hidden_size=1024, intermediate_size=2816, num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=4, head_dim=64)
    yield case("llama", llama(**size), lambda m: m(tokens("tokens", (1, 64), 32000)).logits[:, ::9, ::1111], without())
    yield case("gnmt", GNMT(8000), lambda m: m(tokens("source", (4, 20), 8000), torch.tensor([20, 17, 9, 3]), tokens("target", (4, 19), 8000))[:, ::3, ::111], without("decoder.embedder.weight"))


if __name__ == "__main__":
    if sys.argv[1:] == ["full"]:
        write(os.path.join(HERE, "language_full.json"), full())
    else:
        write(os.path.join(HERE, "language.json"), [*small(), *counts()])
        write(os.path.join(HERE, "generation.json"), [*generation(), *weights()])
