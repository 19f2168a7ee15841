"""Writes distilbert.json: transformers' DistilBERT with heads. python3 distilbert.py"""
import os

import torch
import transformers as tf

from counter import case, write
from language import EAGER, HERE, tokens, without


def make(cls, **k):
    c = tf.DistilBertConfig(**{**dict(vocab_size=43, max_position_embeddings=32, dim=24, n_layers=2, n_heads=3, hidden_dim=40, dropout=0, attention_dropout=0, seq_classif_dropout=0), **k}, **EAGER)
    return cls(c)


def read(m):
    r = m(tokens("tokens", (2, 7), 43), attention_mask=torch.tensor([[1] * 7, [1] * 4 + [0] * 3]))
    return r.last_hidden_state if hasattr(r, "last_hidden_state") else r.logits


def cases():
    yield case("small distilbert", make(tf.DistilBertModel), read)
    yield case("small distilbert masked", make(tf.DistilBertForMaskedLM), read, without("vocab_projector.weight"))
    yield case("small distilbert classifier", make(tf.DistilBertForSequenceClassification, num_labels=3), read)


if __name__ == "__main__":
    write(os.path.join(HERE, "distilbert.json"), cases())
