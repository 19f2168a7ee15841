package models

import (
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// LlamaOpts are the options of [NewLlama]; the defaults are LLaMA-7B's. JSON names are the keys of Hugging
// Face's config.json.
type LlamaOpts struct {
	Vocab         *int         `json:"vocab_size"`              // nil means 32000
	Context       *int         `json:"max_position_embeddings"` // the most tokens of a text, times Factor of a "dynamic" RopeScaling; nil means 2048
	Width         *int         `json:"hidden_size"`             // nil means 4096
	Inner         *int         `json:"intermediate_size"`       // the width inside the MLP; nil means 11008
	Layers        *int         `json:"num_hidden_layers"`       // nil means 32
	Heads         *int         `json:"num_attention_heads"`     // of queries; nil means 32
	KVHeads       *int         `json:"num_key_value_heads"`     // of keys and values, divides Heads; nil means Heads
	HeadWidth     *int         `json:"head_dim"`                // even; nil means Width/Heads
	Eps           *float64     `json:"rms_norm_eps"`            // nil means 1e-6
	RopeTheta     *float64     `json:"rope_theta"`              // the base of the wavelengths; nil means 10000
	RopeScaling   *RopeScaling `json:"rope_scaling"`            // nil for none
	TieEmbeddings bool         `json:"tie_word_embeddings"`     // the head has the weight of the embedding
	AttentionBias bool         `json:"attention_bias"`
	MLPBias       bool         `json:"mlp_bias"`

	Weight    nn.Init         `json:"-"` // draws all matrices; nil means a normal distribution of deviation 0.02
	Generator *weft.Generator `json:"-"` // what they are drawn from; nil is the default generator
}

// Llama32 returns the options of Llama 3.2 with 1.2 billion parameters.
func Llama32() LlamaOpts {
	return LlamaOpts{Vocab: new(128256), Context: new(131072), Width: new(2048), Inner: new(8192), Layers: new(16), Heads: new(32), KVHeads: new(8),
		Eps: new(1e-5), RopeTheta: new(500000.0), RopeScaling: &RopeScaling{Type: "llama3", Factor: new(32.0)}, TieEmbeddings: true}
}

// Llama is a language model with rotary embeddings, RMS norms, gated MLPs and heads of keys and values
// that groups of queries share (Touvron et al., LLaMA: open and efficient foundation language models,
// 2023; Grattafiori et al., The Llama 3 herd of models, 2024). Parameters have the names of Hugging
// Face's LlamaForCausalLM.
type Llama struct {
	Model  *llamaTrunk
	LMHead *nn.Linear

	tied bool
}

type llamaTrunk struct {
	EmbedTokens *nn.Embedding
	Layers      []*llamaLayer
	Norm        *nn.RMSNorm

	context int
	rope    rope
}

type llamaLayer struct {
	SelfAttn               *llamaAttention
	MLP                    *llamaMLP
	InputLayernorm         *nn.RMSNorm
	PostAttentionLayernorm *nn.RMSNorm
}

type llamaAttention struct {
	QProj, KProj, VProj, OProj *nn.Linear

	heads, kvHeads int
}

type llamaMLP struct {
	GateProj, UpProj, DownProj *nn.Linear
}

// NewLlama returns a network of float32 parameters. It panics with *weft.Error if a size is below 1, or
// heads do not fit.
func NewLlama(opts ...LlamaOpts) *Llama {
	const name = "llama"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	width, inner := m.count("Width", o.Width, 4096), m.count("Inner", o.Inner, 11008)
	heads := m.count("Heads", o.Heads, 32)
	kvHeads := m.heads("KVHeads", o.KVHeads, heads, heads)
	if o.HeadWidth == nil && width%heads != 0 {
		array.Failf(name, "Heads", "is %d, which does not divide the width %d: HeadWidth is needed", heads, width)
	}
	part := m.count("HeadWidth", o.HeadWidth, width/heads)
	if part%2 != 0 {
		array.Failf(name, "HeadWidth", "is %d, want an even number", part)
	}
	norm := func() *nn.RMSNorm { return nn.NewRMSNorm([]int{width}, nn.NormOpts{Eps: new(array.Or(o.Eps, 1e-6))}) }
	linear := func(in, out int, bias bool) *nn.Linear {
		l := m.opts(nn.Normal(0, tokenDeviation))
		l.NoBias, l.Bias = !bias, nn.Constant(0)
		return nn.NewLinear(in, out, l)
	}
	t := &llamaTrunk{EmbedTokens: m.table(m.count("Vocab", o.Vocab, 32000), width), Norm: norm(),
		context: m.count("Context", o.Context, 2048)}
	t.rope = newRope(name, part, t.context, array.Or(o.RopeTheta, 10000), o.RopeScaling)
	t.context = t.rope.longest(t.context)
	for range m.count("Layers", o.Layers, 32) {
		t.Layers = append(t.Layers, &llamaLayer{
			SelfAttn: &llamaAttention{
				QProj: linear(width, heads*part, o.AttentionBias), KProj: linear(width, kvHeads*part, o.AttentionBias),
				VProj: linear(width, kvHeads*part, o.AttentionBias), OProj: linear(heads*part, width, o.AttentionBias),
				heads: heads, kvHeads: kvHeads,
			},
			MLP:            &llamaMLP{GateProj: linear(width, inner, o.MLPBias), UpProj: linear(width, inner, o.MLPBias), DownProj: linear(inner, width, o.MLPBias)},
			InputLayernorm: norm(), PostAttentionLayernorm: norm(),
		})
	}
	if o.TieEmbeddings {
		return &Llama{Model: t, LMHead: &nn.Linear{Weight: t.EmbedTokens.Weight}, tied: true}
	}
	return &Llama{Model: t, LMHead: linear(width, t.EmbedTokens.Weight.Dim(0), false)}
}

// Forms implements [Published]: LlamaForCausalLM of Hugging Face.
func (m *Llama) Forms() []Form {
	return []Form{{Name: "transformers", Tensors: nn.State(m), Ignored: func(name string) bool {
		return m.tied && name == "lm_head.weight" || strings.HasSuffix(name, ".rotary_emb.inv_freq")
	}}}
}

// Forward is [Llama.Logits] without options.
func (m *Llama) Forward(tokens *weft.Tensor) *weft.Tensor { return m.Logits(tokens) }

// Logits implements [LM]. It panics with *weft.Error if texts are longer than the context, shapes do
// not fit or a token is not in the vocabulary.
func (m *Llama) Logits(tokens *weft.Tensor, opts ...LogitsOpts) *weft.Tensor {
	const name = "llama"
	defer array.Named(name).End()
	return nn.Call(m, tokens, func(m *Llama, tokens *weft.Tensor) *weft.Tensor {
		x := m.texts(name, tokens, opts)
		return m.LMHead.Forward(x.end(m.Model.hidden(&x)))
	})
}

// Hidden returns what the logits are computed from, [batch, steps, width]: representations of the
// tokens in their texts.
func (m *Llama) Hidden(tokens *weft.Tensor, opts ...LogitsOpts) *weft.Tensor {
	const name = "llama"
	defer array.Named(name).End()
	x := m.texts(name, tokens, opts)
	return x.end(m.Model.hidden(&x))
}

func (t *llamaTrunk) whole() bool {
	return t != nil && rowsOf(t.EmbedTokens) > 0 && len(t.rope.freq) > 0 && t.Norm != nil &&
		!slices.ContainsFunc(t.Layers, func(l *llamaLayer) bool { return l == nil || l.SelfAttn == nil || l.MLP == nil })
}

func (m *Llama) texts(name string, tokens *weft.Tensor, opts []LogitsOpts) texts {
	whole(name, "NewLlama", m != nil && m.Model.whole())
	return newTexts(name, tokens, m.Model.context, len(m.Model.Layers), opts)
}

func (t *llamaTrunk) hidden(x *texts) *weft.Tensor {
	return nn.Call(t, x.tokens, func(t *llamaTrunk, tokens *weft.Tensor) *weft.Tensor {
		h := t.EmbedTokens.Forward(tokens)
		turn := t.rope.rotation(x.positions, h.DType())
		for i, l := range t.Layers {
			h = nn.Call(l, h, func(l *llamaLayer, h *weft.Tensor) *weft.Tensor { return l.forward(h, x, i, turn) })
		}
		return t.Norm.Forward(h)
	})
}

func (l *llamaLayer) forward(h *weft.Tensor, x *texts, layer int, turn rotation) *weft.Tensor {
	h = h.Add(nn.Call(l.SelfAttn, l.InputLayernorm.Forward(h), func(a *llamaAttention, h *weft.Tensor) *weft.Tensor {
		return a.forward(h, x, layer, turn)
	}))
	return h.Add(nn.Call(l.MLP, l.PostAttentionLayernorm.Forward(h), (*llamaMLP).forward))
}

func (a *llamaAttention) forward(h *weft.Tensor, x *texts, layer int, turn rotation) *weft.Tensor {
	q := turn.apply(a.QProj.Forward(h).Unflatten(2, a.heads, -1))
	k := turn.apply(a.KProj.Forward(h).Unflatten(2, a.kvHeads, -1))
	v := a.VProj.Forward(h).Unflatten(2, a.kvHeads, -1)
	return a.OProj.Forward(x.attend(layer, q, k, v, nil))
}

func (m *llamaMLP) forward(h *weft.Tensor) *weft.Tensor {
	return m.DownProj.Forward(weft.Expr("silu(g)*u", m.GateProj.Forward(h), m.UpProj.Forward(h)))
}
