package models

import (
	"math"
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// GPT2Opts are the options of [NewGPT2]; the defaults are the model "gpt2" of 124 million parameters.
// JSON names are the keys of Hugging Face's config.json.
type GPT2Opts struct {
	Vocab            *int     `json:"vocab_size"`         // nil means 50257
	Context          *int     `json:"n_positions"`        // the most tokens of a text; nil means 1024
	Width            *int     `json:"n_embd"`             // nil means 768; medium, large and xl have 1024, 1280 and 1600
	Layers           *int     `json:"n_layer"`            // nil means 12; those have 24, 36 and 48
	Heads            *int     `json:"n_head"`             // divides Width; nil means 12; those have 16, 20 and 25
	Inner            *int     `json:"n_inner"`            // the width inside the MLP; nil means 4*Width
	Eps              *float64 `json:"layer_norm_epsilon"` // nil means 1e-5
	EmbeddingDropout *float64 `json:"embd_pdrop"`         // nil means 0.1
	AttentionDropout *float64 `json:"attn_pdrop"`         // nil means 0.1
	ResidualDropout  *float64 `json:"resid_pdrop"`        // nil means 0.1

	Weight    nn.Init         `json:"-"` // draws all matrices; nil means as Hugging Face does
	Generator *weft.Generator `json:"-"` // what they, and dropout, are drawn from; nil is the default generator
}

// GPT2 is a language model of Transformer blocks whose places are learned (Radford et al., Language
// models are unsupervised multitask learners, 2019). Parameters have the names of Hugging Face's
// GPT2LMHeadModel.
type GPT2 struct {
	Transformer *gpt2Trunk
	LMHead      *nn.Linear // its weight is that of Transformer.WTE
}

type gpt2Trunk struct {
	WTE, WPE *nn.Embedding // tokens, places
	Drop     *nn.Dropout
	H        []*gpt2Block
	LnF      *nn.LayerNorm
}

type gpt2Block struct {
	Ln1  *nn.LayerNorm `nn:"ln_1"`
	Attn *gpt2Attention
	Ln2  *nn.LayerNorm `nn:"ln_2"`
	MLP  *gpt2MLP
}

type gpt2Attention struct {
	CAttn, CProj        *Conv1D
	Heads               int
	AttnDrop, ResidDrop *nn.Dropout
}

type gpt2MLP struct {
	CFc, CProj *Conv1D
	Drop       *nn.Dropout
}

// Conv1D is x.MatMul(Weight) plus Bias: [nn.Linear] with the weight transposed, as GPT-2 has it.
type Conv1D struct {
	Weight *weft.Tensor // [in, out]
	Bias   *weft.Tensor // [out]
}

// Forward maps [..., in] to [..., out].
func (l *Conv1D) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(l, x, (*Conv1D).forward) }

func (l *Conv1D) forward(x *weft.Tensor) *weft.Tensor {
	whole("conv1d", "NewGPT2", l != nil && l.Weight != nil)
	return x.Linear(l.Weight.T(), l.Bias)
}

// NewGPT2 returns a network of float32 parameters, drawn from a normal distribution of deviation 0.02,
// divided by sqrt(2*Layers) in front of residual additions. It panics with *weft.Error if a size is
// below 1 or Heads does not divide Width.
func NewGPT2(opts ...GPT2Opts) *GPT2 {
	const name = "gpt2"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	width, layers := m.count("Width", o.Width, 768), m.count("Layers", o.Layers, 12)
	heads, inner := m.heads("Heads", o.Heads, 12, width), m.count("Inner", o.Inner, 4*width)
	norm := func() *nn.LayerNorm {
		return nn.NewLayerNorm([]int{width}, nn.NormOpts{Eps: new(array.Or(o.Eps, 1e-5))})
	}
	conv := func(in, out int, std float64) *Conv1D {
		return &Conv1D{Weight: nn.Param(m.opts(nn.Normal(0, std)).Weight(o.Generator, in, out)), Bias: nn.Param(weft.Zeros(out))}
	}
	t := &gpt2Trunk{
		WTE:  m.table(m.count("Vocab", o.Vocab, 50257), width),
		WPE:  m.table(m.count("Context", o.Context, 1024), width),
		Drop: m.dropoutOf("EmbeddingDropout", o.EmbeddingDropout, 0.1), LnF: norm(),
	}
	last := tokenDeviation / math.Sqrt(2*float64(layers))
	for range layers {
		t.H = append(t.H, &gpt2Block{
			Ln1: norm(), Ln2: norm(),
			Attn: &gpt2Attention{
				CAttn: conv(width, 3*width, tokenDeviation), CProj: conv(width, width, last), Heads: heads,
				AttnDrop: m.dropoutOf("AttentionDropout", o.AttentionDropout, 0.1), ResidDrop: m.dropoutOf("ResidualDropout", o.ResidualDropout, 0.1),
			},
			MLP: &gpt2MLP{CFc: conv(width, inner, tokenDeviation), CProj: conv(inner, width, last), Drop: m.dropoutOf("ResidualDropout", o.ResidualDropout, 0.1)},
		})
	}
	return &GPT2{Transformer: t, LMHead: &nn.Linear{Weight: t.WTE.Weight}}
}

// Forms implements [Published]: GPT2LMHeadModel and GPT2Model of Hugging Face.
func (m *GPT2) Forms() []Form {
	masks := func(name string) bool {
		return strings.HasSuffix(name, ".attn.bias") || strings.HasSuffix(name, ".attn.masked_bias")
	}
	return []Form{
		{Name: "transformers", Tensors: nn.State(m), Ignored: masks},
		{Name: "transformers base", Tensors: nn.State(m.Transformer), Ignored: masks},
	}
}

// Forward is [GPT2.Logits] without options.
func (m *GPT2) Forward(tokens *weft.Tensor) *weft.Tensor { return m.Logits(tokens) }

// Logits implements [LM]. It panics with *weft.Error if texts are longer than the context, shapes do
// not fit or a token is not in the vocabulary.
func (m *GPT2) Logits(tokens *weft.Tensor, opts ...LogitsOpts) *weft.Tensor {
	const name = "gpt2"
	defer array.Named(name).End()
	return nn.Call(m, tokens, func(m *GPT2, tokens *weft.Tensor) *weft.Tensor {
		x := m.texts(name, tokens, opts)
		return m.LMHead.Forward(x.end(m.Transformer.hidden(&x)))
	})
}

// Hidden returns what the logits are computed from, [batch, steps, width]: representations of the
// tokens in their texts.
func (m *GPT2) Hidden(tokens *weft.Tensor, opts ...LogitsOpts) *weft.Tensor {
	const name = "gpt2"
	defer array.Named(name).End()
	x := m.texts(name, tokens, opts)
	return x.end(m.Transformer.hidden(&x))
}

func (t *gpt2Trunk) whole() bool {
	return t != nil && rowsOf(t.WTE) > 0 && rowsOf(t.WPE) > 0 && t.Drop != nil && t.LnF != nil &&
		!slices.ContainsFunc(t.H, func(b *gpt2Block) bool { return b == nil || b.Attn == nil || b.MLP == nil })
}

func (m *GPT2) texts(name string, tokens *weft.Tensor, opts []LogitsOpts) texts {
	whole(name, "NewGPT2", m != nil && m.Transformer.whole())
	return newTexts(name, tokens, rowsOf(m.Transformer.WPE), len(m.Transformer.H), opts)
}

func (t *gpt2Trunk) hidden(x *texts) *weft.Tensor {
	return nn.Call(t, x.tokens, func(t *gpt2Trunk, tokens *weft.Tensor) *weft.Tensor {
		h := t.Drop.Forward(t.WTE.Forward(tokens).Add(t.WPE.Forward(x.positions)))
		for i, b := range t.H {
			h = nn.Call(b, h, func(b *gpt2Block, h *weft.Tensor) *weft.Tensor { return b.forward(h, x, i) })
		}
		return t.LnF.Forward(h)
	})
}

func (b *gpt2Block) forward(h *weft.Tensor, x *texts, layer int) *weft.Tensor {
	h = h.Add(nn.Call(b.Attn, b.Ln1.Forward(h), func(a *gpt2Attention, h *weft.Tensor) *weft.Tensor { return a.forward(h, x, layer) }))
	return h.Add(nn.Call(b.MLP, b.Ln2.Forward(h), (*gpt2MLP).forward))
}

func (a *gpt2Attention) forward(h *weft.Tensor, x *texts, layer int) *weft.Tensor {
	qkv := a.CAttn.Forward(h).Chunk(2, 3)
	for i, part := range qkv {
		qkv[i] = part.Unflatten(2, a.Heads, -1)
	}
	return a.ResidDrop.Forward(a.CProj.Forward(x.attend(layer, qkv[0], qkv[1], qkv[2], a.AttnDrop)))
}

func (m *gpt2MLP) forward(h *weft.Tensor) *weft.Tensor {
	return m.Drop.Forward(m.CProj.Forward(nn.Gelu{Tanh: true}.Forward(m.CFc.Forward(h))))
}
