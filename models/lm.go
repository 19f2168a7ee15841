package models

import (
	"fmt"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/nn"
)

// An LM is a language model: it tells which token of a text is next. [GPT2] and [Llama] are LMs.
type LM interface {
	// Logits maps tokens, integers [batch, steps], to the logits of the token after each,
	// [batch, steps, vocabulary].
	Logits(tokens *weft.Tensor, opts ...LogitsOpts) *weft.Tensor
}

// LogitsOpts are the options of [LM].
type LogitsOpts struct {
	// Mask, bool [batch, keys], is false where a text has padding, which no token sees. Keys are the
	// tokens in Cache and of the call. Nil: there is no padding.
	Mask *weft.Tensor
	// Positions are the places of the tokens in their texts, integers [steps] or [batch, steps].
	// Nil: they count from the number of tokens in Cache.
	Positions *weft.Tensor
	// Cache, if not nil, holds keys and values of the attention layers for the tokens of earlier calls,
	// so that a text that grows is not computed again. The call adds its own tokens' at the end.
	Cache *nn.KVCache
	Last  bool // computes the logits of the last step alone, [batch, 1, vocabulary]
}

// texts are checked arguments of a language model, and what its attention layers share.
type texts struct {
	tokens    *weft.Tensor
	positions *weft.Tensor // [steps] or [batch, steps]
	cache     *nn.KVCache
	last      bool
	mask      *weft.Tensor // of [nn.ScaledDotProductAttention], nil for none
	causal    bool         // hides later tokens; the mask does not
}

// newTexts checks the arguments of a language model of some layers, whose texts have at most context
// tokens.
func newTexts(name string, tokens *weft.Tensor, context, layers int, opts []LogitsOpts) texts {
	o := array.Options(name, opts)
	checkTokens(name, tokens)
	if c := o.Cache; c != nil && len(c.Layers) == 0 && c.Keys == nil {
		for range layers {
			c.Layers = append(c.Layers, &nn.KVCache{})
		}
	} else if c != nil && (len(c.Layers) != layers || slices.Contains(c.Layers, nil)) {
		array.Failf(name, "Cache", "has %d layers, want %d, or none before the first call", len(c.Layers), layers)
	}
	batch, steps, past := tokens.Dim(0), tokens.Dim(1), o.Cache.Len()
	x := texts{tokens: tokens, positions: o.Positions, cache: o.Cache, last: o.Last, causal: steps > 1}
	if p := x.positions; p == nil {
		if past+steps > context {
			cached := ""
			if past > 0 {
				cached = fmt.Sprintf(" with the %d of the cache", past)
			}
			array.Failf(name, "tokens", "have %d steps%s, more than the model's context of %d", past+steps, cached, context)
		}
		x.positions = tokens.Device().Arange(past, past+steps)
	} else if !p.DType().Integer() || !array.Equal(p.Shape(), []int{steps}) && !array.Equal(p.Shape(), []int{batch, steps}) {
		array.Failf(name, "Positions", "are %s, want integers [%d] or [%d %d]", array.TypeString(p.DType(), p.Shape()), steps, batch, steps)
	} else {
		c := core.RangeCheck{Op: name, Arg: "Positions", Max: int64(context) - 1, Text: "have %d, which is not a place in the model's context"}
		x.positions = (*weft.Tensor)(c.Of((*core.Tensor)(p)))
	}
	if m := o.Mask; m != nil {
		x.mask = padding(name, m, batch, past+steps)
	}
	if past > 0 && steps > 1 { // query i is key past+i
		d := tokens.Device()
		seen := d.Arange(past, past+steps).Unsqueeze(1).Ge(d.Arange(past + steps))
		if x.mask != nil {
			seen = seen.LogicalAnd(x.mask)
		}
		x.mask, x.causal = seen, false
	}
	return x
}

// checkTokens panics unless x are integers [batch, steps].
func checkTokens(name string, x *weft.Tensor) {
	if x == nil {
		array.Failf(name, "tokens", "are nil")
	}
	if x.Rank() != 2 || !x.DType().Integer() || x.Dim(1) == 0 {
		array.Failf(name, "tokens", "are %s, want integers [batch steps] of one step or more", array.TypeString(x.DType(), x.Shape()))
	}
}

// padding returns a mask of padding [batch, keys] as one of [nn.ScaledDotProductAttention].
func padding(name string, m *weft.Tensor, batch, keys int) *weft.Tensor {
	if m.DType() != weft.Bool || !array.Equal(m.Shape(), []int{batch, keys}) {
		array.Failf(name, "Mask", "is %s, want bool [%d %d]", array.TypeString(m.DType(), m.Shape()), batch, keys)
	}
	return m.Reshape(batch, 1, 1, keys)
}

// attend is attention of layer i over heads of q, [batch, steps, heads, part], and of k and v, which
// may be fewer, each for a group of q's. The result is [batch, steps, heads*part].
func (x *texts) attend(i int, q, k, v *weft.Tensor, drop *nn.Dropout) *weft.Tensor {
	q, k, v = q.Transpose(1, 2), k.Transpose(1, 2), v.Transpose(1, 2)
	if x.cache != nil {
		k, v = x.cache.Layers[i].Append(k, v)
	}
	o := nn.AttentionOpts{Mask: x.mask, Causal: x.causal, Grouped: k.Dim(1) != q.Dim(1)}
	if drop != nil && drop.Training() {
		o.Dropout, o.Generator = drop.P, drop.Generator
	}
	return nn.ScaledDotProductAttention(q, k, v, o).Transpose(1, 2).Flatten(2)
}

// end returns what the logits are computed from of h [batch, steps, width].
func (x *texts) end(h *weft.Tensor) *weft.Tensor {
	if x.last {
		n := h.Dim(1)
		return h.Slice(weft.All, weft.Range(n-1, n))
	}
	return h
}

// tokenDeviation is the deviation of the weights that BERT, GPT-2 and LLaMA begin with.
const tokenDeviation = 0.02

// table returns an embedding of a normal distribution.
func (m maker) table(rows, width int) *nn.Embedding {
	return nn.NewEmbedding(rows, width, nn.EmbeddingOpts{Weight: m.opts(nn.Normal(0, tokenDeviation)).Weight, Generator: m.g})
}

// pads makes the row of a padding token zeros, if weights are not given, and keeps it from training.
func (m maker) pads(e *nn.Embedding, token int) {
	if token < 0 || token >= e.Weight.Dim(0) {
		array.Failf(m.name, "Pad", "is %d, want a token from 0 to %d", token, e.Weight.Dim(0)-1)
	}
	e.PaddingIdx = &token
	if m.init == nil {
		weft.WithoutGrad(func() { e.Weight.Slice(weft.Index(token)).Zero() })
	}
}

// heads returns an option that divides a width.
func (m maker) heads(option string, n *int, def, width int) int {
	k := m.count(option, n, def)
	if width%k != 0 {
		array.Failf(m.name, option, "is %d, which does not divide the width %d", k, width)
	}
	return k
}
