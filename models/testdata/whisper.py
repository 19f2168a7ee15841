"""Writes whisper.json: transformers' Whisper. python3 whisper.py"""
import os

import torch
import transformers as tf

from counter import case, counter, fill, write
from language import EAGER, HERE, tokens, without

TIED = without("proj_out.weight")


def make():
    c = tf.WhisperConfig(vocab_size=43, d_model=24, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=2, encoder_ffn_dim=40, decoder_ffn_dim=36,
                         num_mel_bins=5, max_source_positions=9, max_target_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3,
                         suppress_tokens=None, begin_suppress_tokens=None, **EAGER)
    m = tf.WhisperForConditionalGeneration(c)
    m.model.encoder.embed_positions.requires_grad_(True)  # so that its gradient is compared too
    return m


def run(m):
    return m(counter("features", (2, 5, 18)), decoder_input_ids=tokens("tokens", (2, 7), 43)).logits


def written():
    """Tokens that are written greedily after a prompt of two."""
    m = make()
    fill(m, TIED)
    m.eval()
    features, ids = counter("features", (2, 5, 18)), torch.tensor([[3, 7], [3, 7]])
    with torch.no_grad():
        for _ in range(10):
            ids = torch.cat([ids, m(features, decoder_input_ids=ids).logits[:, -1:].argmax(-1)], 1)
    return {"tokens": ids[:, 2:].tolist()}


if __name__ == "__main__":
    write(os.path.join(HERE, "whisper.json"), [case("small whisper", make(), run, TIED), ("written", written())])
