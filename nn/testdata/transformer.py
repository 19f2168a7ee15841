"""Writes transformer.safetensors: what PyTorch gives for Transformer layers and stacks, and for
options of attention that vectors.py has not.

    python transformer.py        # from this folder; needs torch; see cases.py
"""
import torch
import torch.nn.functional as F
from torch import nn

from cases import case, layer, write

randn = torch.randn
padding = torch.tensor([[False, False, True], [False, True, True]])
above = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)


def shake(m):
    """m with norms and biases that are not ones and zeros."""
    with torch.no_grad():
        for k, p in m.named_parameters():
            if p.dim() == 1:
                p.copy_(torch.rand_like(p) + (0.5 if "weight" in k else -0.5))
    return m


m = shake(nn.MultiheadAttention(4, 2, kdim=3, vdim=5))
case("attend widths", lambda q, k, v: m(q, k, v), [randn(3, 2, 4), randn(4, 2, 3), randn(4, 2, 5)], module=m)
mean = shake(nn.MultiheadAttention(4, 2, kdim=3, batch_first=True, bias=False))
case("attend heads", lambda q, k, v, p: mean(q, k, v, key_padding_mask=p, average_attn_weights=False), [randn(2, 2, 4), randn(2, 3, 3), randn(2, 3, 4), padding], module=mean)

grouped = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
case("grouped", grouped, [randn(2, 6, 3, 4), randn(2, 2, 5, 4), randn(2, 2, 5, 3)])
case("grouped mask", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m, enable_gqa=True), [randn(4, 3, 4), randn(1, 3, 4), randn(1, 3, 2), ~above])
case("grouped causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True), [randn(2, 4, 3, 4), randn(2, 2, 3, 4), randn(2, 2, 3, 4)])

still = dict(dropout=0.0)
encoder = lambda **o: shake(nn.TransformerEncoderLayer(4, 2, 6, **still, **o))
decoder = lambda **o: shake(nn.TransformerDecoderLayer(4, 2, 6, **still, **o))
source, target = randn(3, 2, 4), randn(3, 2, 4)
layer("encoder layer", encoder(), source)
layer("encoder layer gelu", encoder(activation="gelu", norm_first=True, batch_first=True, layer_norm_eps=0.1), source)
layer("encoder layer no bias", encoder(bias=False), source)
masked = encoder(norm_first=True)
case("encoder layer masks", lambda x, m, p: masked(x, src_mask=m, src_key_padding_mask=p), [source, above, padding], module=masked)
layer("decoder layer", decoder(), target, randn(5, 2, 4))
layer("decoder layer first", decoder(activation=F.silu, norm_first=True, batch_first=True), randn(2, 3, 4), randn(2, 5, 4))
seen = decoder()
case("decoder layer masks", lambda x, y, m, p: seen(x, y, tgt_mask=m, memory_mask=m, tgt_key_padding_mask=p, memory_key_padding_mask=p), [target, source, above, padding], module=seen)
stack = nn.TransformerEncoder(encoder(), 2, norm=nn.LayerNorm(4), enable_nested_tensor=False)
case("encoder", lambda x, p: stack(x, src_key_padding_mask=p), [source, padding], module=stack)
layer("decoder", nn.TransformerDecoder(decoder(norm_first=True), 2), target, source)
whole = shake(nn.Transformer(4, 2, 2, 1, 6, norm_first=True, **still))
case("transformer", lambda x, y, p, m: whole(x, y, src_key_padding_mask=p, memory_key_padding_mask=p, tgt_mask=m), [source, target, padding, above], module=whole)

write("transformer.safetensors")
