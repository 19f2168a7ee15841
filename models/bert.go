package models

import (
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// BertOpts are the options of [NewBert] and of networks with heads on it; the defaults are
// bert-base-uncased's. JSON names are the keys of Hugging Face's config.json.
type BertOpts struct {
	Vocab            *int     `json:"vocab_size"`                   // nil means 30522
	Context          *int     `json:"max_position_embeddings"`      // the most tokens of a text; nil means 512
	Kinds            *int     `json:"type_vocab_size"`              // of segments; nil means 2
	Width            *int     `json:"hidden_size"`                  // nil means 768; the large one has 1024
	Layers           *int     `json:"num_hidden_layers"`            // nil means 12; the large one has 24
	Heads            *int     `json:"num_attention_heads"`          // divides Width; nil means 12; the large one has 16
	Inner            *int     `json:"intermediate_size"`            // the width inside the MLP; nil means 4*Width
	Eps              *float64 `json:"layer_norm_eps"`               // nil means 1e-12
	Dropout          *float64 `json:"hidden_dropout_prob"`          // nil means 0.1
	AttentionDropout *float64 `json:"attention_probs_dropout_prob"` // nil means 0.1
	Pad              int      `json:"pad_token_id"`                 // the token whose row gets no gradient

	Weight    nn.Init         `json:"-"` // draws all matrices; nil means a normal distribution of deviation 0.02
	Generator *weft.Generator `json:"-"` // what they, and dropout, are drawn from; nil is the default generator
}

// Bert reads texts from both sides (Devlin et al., BERT: pre-training of deep bidirectional transformers
// for language understanding, 2018). Parameters have the names of Hugging Face's BertModel.
type Bert struct {
	Embeddings *bertEmbeddings
	Encoder    *bertEncoder
	Pooler     *bertDense // nil for none
}

type bertEmbeddings struct {
	WordEmbeddings, PositionEmbeddings, TokenTypeEmbeddings *nn.Embedding
	Norm                                                    *nn.LayerNorm `nn:"LayerNorm"`
	Drop                                                    *nn.Dropout
}

type bertEncoder struct {
	Layer []*bertLayer
}

type bertLayer struct {
	Attention    *bertAttention
	Intermediate *bertDense
	Output       *bertOutput
}

type bertAttention struct {
	Self   *bertSelf
	Output *bertOutput
}

type bertSelf struct {
	Query, Key, Value *nn.Linear
	Drop              *nn.Dropout
	Heads             int
}

// bertDense is a linear layer before an activation.
type bertDense struct {
	Dense *nn.Linear
}

// bertOutput is a linear layer whose results are added to what came before, and a norm.
type bertOutput struct {
	Dense *nn.Linear
	Norm  *nn.LayerNorm `nn:"LayerNorm"`
	Drop  *nn.Dropout
}

func (l *bertOutput) forward(h, before *weft.Tensor) *weft.Tensor {
	return called(l, []*weft.Tensor{h, before}, func(in []*weft.Tensor) *weft.Tensor {
		return l.Norm.Forward(l.Drop.Forward(l.Dense.Forward(in[0])).Add(in[1]))
	})
}

// forward is an activation of the linear layer's results.
func (l *bertDense) forward(h *weft.Tensor, activation func(*weft.Tensor) *weft.Tensor) *weft.Tensor {
	return nn.Call(l, h, func(l *bertDense, h *weft.Tensor) *weft.Tensor { return activation(l.Dense.Forward(h)) })
}

// bertMaker makes the parts of networks on BERT.
type bertMaker struct {
	maker
	o     BertOpts
	width int
}

func newBertMaker(name string, opts []BertOpts) bertMaker {
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	return bertMaker{m, o, m.count("Width", o.Width, 768)}
}

func (m bertMaker) norm() *nn.LayerNorm {
	return nn.NewLayerNorm([]int{m.width}, nn.NormOpts{Eps: new(array.Or(m.o.Eps, 1e-12))})
}

func (m bertMaker) linear(in, out int) *nn.Linear {
	o := m.opts(nn.Normal(0, tokenDeviation))
	o.Bias = nn.Constant(0)
	return nn.NewLinear(in, out, o)
}

func (m bertMaker) output(in int) *bertOutput {
	return &bertOutput{Dense: m.linear(in, m.width), Norm: m.norm(), Drop: m.dropout(m.o.Dropout, 0.1)}
}

func (m bertMaker) bert(pooler bool) *Bert {
	heads, inner := m.heads("Heads", m.o.Heads, 12, m.width), m.count("Inner", m.o.Inner, 4*m.width)
	b := &Bert{Encoder: &bertEncoder{}, Embeddings: &bertEmbeddings{
		WordEmbeddings:      m.table(m.count("Vocab", m.o.Vocab, 30522), m.width),
		PositionEmbeddings:  m.table(m.count("Context", m.o.Context, 512), m.width),
		TokenTypeEmbeddings: m.table(m.count("Kinds", m.o.Kinds, 2), m.width),
		Norm:                m.norm(), Drop: m.dropout(m.o.Dropout, 0.1),
	}}
	m.pads(b.Embeddings.WordEmbeddings, m.o.Pad)
	for range m.count("Layers", m.o.Layers, 12) {
		b.Encoder.Layer = append(b.Encoder.Layer, &bertLayer{
			Attention: &bertAttention{
				Self: &bertSelf{Query: m.linear(m.width, m.width), Key: m.linear(m.width, m.width), Value: m.linear(m.width, m.width),
					Drop: m.dropoutOf("AttentionDropout", m.o.AttentionDropout, 0.1), Heads: heads},
				Output: m.output(m.width),
			},
			Intermediate: &bertDense{m.linear(m.width, inner)},
			Output:       m.output(inner),
		})
	}
	if pooler {
		b.Pooler = &bertDense{m.linear(m.width, m.width)}
	}
	return b
}

// NewBert returns a network of float32 parameters with a pooler. It panics with *weft.Error if a size is
// below 1 or Heads does not divide Width.
func NewBert(opts ...BertOpts) *Bert {
	const name = "bert"
	defer array.Named(name).End()
	return newBertMaker(name, opts).bert(true)
}

// ReadOpts are the options of [Bert.Read] and of networks with heads on it.
type ReadOpts struct {
	Mask      *weft.Tensor // bool [batch, steps], false where a text has padding; nil: there is none
	Kinds     *weft.Tensor // the segments of the tokens, integers [batch, steps]; nil means 0
	Positions *weft.Tensor // integers [steps] or [batch, steps]; nil counts from 0
}

func (e *bertEmbeddings) whole() bool {
	return e != nil && rowsOf(e.WordEmbeddings) > 0 && rowsOf(e.PositionEmbeddings) > 0 && rowsOf(e.TokenTypeEmbeddings) > 0 && e.Norm != nil && e.Drop != nil
}

func (e *bertEncoder) whole() bool {
	return e != nil && !slices.ContainsFunc(e.Layer, func(l *bertLayer) bool {
		return l == nil || l.Attention == nil || l.Attention.Self == nil || l.Attention.Output == nil || l.Intermediate == nil || l.Output == nil
	})
}

// Read maps tokens, integers [batch, steps], to representations of the tokens, [batch, steps, width],
// and of each text, [batch, width], nil without a pooler. It panics with *weft.Error if texts are longer
// than the context, shapes do not fit or a token is not in the vocabulary.
func (b *Bert) Read(tokens *weft.Tensor, opts ...ReadOpts) (hidden, pooled *weft.Tensor) {
	out := nn.CallAll(b, []*weft.Tensor{tokens}, func(in []*weft.Tensor) []*weft.Tensor {
		h, p := b.read(in[0], opts)
		return []*weft.Tensor{h, p}
	})
	return out[0], out[1]
}

func (b *Bert) read(tokens *weft.Tensor, opts []ReadOpts) (hidden, pooled *weft.Tensor) {
	const name = "bert"
	defer array.Named(name).End()
	whole(name, "NewBert", b != nil && b.Embeddings.whole() && b.Encoder.whole())
	o := array.Options(name, opts)
	x := newTexts(name, tokens, rowsOf(b.Embeddings.PositionEmbeddings), 0, []LogitsOpts{{Mask: o.Mask, Positions: o.Positions}})
	x.causal = false
	e := b.Embeddings
	k := o.Kinds
	if k == nil {
		k = tokens.Device().ZerosOf(weft.Int64, 1, 1)
	} else if !k.DType().Integer() || !array.Equal(k.Shape(), tokens.Shape()) {
		array.Failf(name, "Kinds", "are %s, want integers %s", array.TypeString(k.DType(), k.Shape()), array.ShapeString(tokens.Shape()))
	}
	h := nn.Call(e, tokens, func(e *bertEmbeddings, tokens *weft.Tensor) *weft.Tensor {
		return e.Drop.Forward(e.Norm.Forward(e.WordEmbeddings.Forward(tokens).Add(e.TokenTypeEmbeddings.Forward(k)).Add(e.PositionEmbeddings.Forward(x.positions))))
	})
	h = nn.Call(b.Encoder, h, func(e *bertEncoder, h *weft.Tensor) *weft.Tensor {
		for i, l := range e.Layer {
			h = nn.Call(l, h, func(l *bertLayer, h *weft.Tensor) *weft.Tensor { return l.forward(h, &x, i) })
		}
		return h
	})
	if b.Pooler == nil {
		return h, nil
	}
	return h, b.Pooler.forward(h.Slice(weft.All, weft.Index(0)), (*weft.Tensor).Tanh)
}

func (l *bertLayer) forward(h *weft.Tensor, x *texts, layer int) *weft.Tensor {
	h = nn.Call(l.Attention, h, func(a *bertAttention, h *weft.Tensor) *weft.Tensor { return a.forward(h, x, layer) })
	return l.Output.forward(l.Intermediate.forward(h, (*weft.Tensor).Gelu), h)
}

// Forward returns the representations of the tokens that [Bert.Read] does.
func (b *Bert) Forward(tokens *weft.Tensor) *weft.Tensor {
	h, _ := b.Read(tokens)
	return h
}

func (a *bertAttention) forward(h *weft.Tensor, x *texts, layer int) *weft.Tensor {
	attended := nn.Call(a.Self, h, func(s *bertSelf, h *weft.Tensor) *weft.Tensor {
		split := func(l *nn.Linear) *weft.Tensor { return l.Forward(h).Unflatten(2, s.Heads, -1) }
		return x.attend(layer, split(s.Query), split(s.Key), split(s.Value), s.Drop)
	})
	return a.Output.forward(attended, h)
}

// bertForms are the names of Hugging Face, of today and of the first files, for tensors under the names
// of today. known has beginnings of names that belong to other heads.
func bertForms(state map[string]*weft.Tensor, known ...string) []Form {
	ignored := func(name string) bool {
		return hasAnyPrefix(name, known) || strings.HasSuffix(name, "embeddings.position_ids")
	}
	old := map[string]*weft.Tensor{}
	names := strings.NewReplacer("LayerNorm.weight", "LayerNorm.gamma", "LayerNorm.bias", "LayerNorm.beta")
	for name, t := range state {
		old[names.Replace(name)] = t
	}
	return []Form{{Name: "transformers", Tensors: state, Ignored: ignored}, {Name: "transformers old", Tensors: old, Ignored: ignored}}
}

// Forms implements [Published]: BertModel of Hugging Face, alone and inside networks with heads.
func (b *Bert) Forms() []Form {
	inner := map[string]*weft.Tensor{}
	for name, t := range nn.State(b) {
		inner["bert."+name] = t
	}
	forms := bertForms(nn.State(b))
	for _, f := range bertForms(inner, "cls.", "classifier.", "qa_outputs.") {
		f.Name += " inside"
		forms = append(forms, f)
	}
	return forms
}

// BertMaskedLM tells which tokens stand in a text where it has masks. Parameters have the names of
// Hugging Face's BertForMaskedLM.
type BertMaskedLM struct {
	Bert *Bert
	Cls  *bertCls
}

type bertCls struct {
	Predictions *bertPredictions
}

type bertPredictions struct {
	Bias      *weft.Tensor // [vocabulary]
	Transform *bertTransform
	Decoder   *nn.Linear // of the weight of the words' embeddings, and Bias
}

type bertTransform struct {
	Dense *nn.Linear
	Norm  *nn.LayerNorm `nn:"LayerNorm"`
}

// NewBertMaskedLM returns a network of float32 parameters. It panics as [NewBert] does.
func NewBertMaskedLM(opts ...BertOpts) *BertMaskedLM {
	const name = "bert_masked_lm"
	defer array.Named(name).End()
	m := newBertMaker(name, opts)
	b := m.bert(false)
	words := b.Embeddings.WordEmbeddings.Weight
	p := &bertPredictions{Bias: nn.Param(weft.Zeros(words.Dim(0))), Transform: &bertTransform{m.linear(m.width, m.width), m.norm()}}
	p.Decoder = &nn.Linear{Weight: words, Bias: p.Bias}
	return &BertMaskedLM{b, &bertCls{p}}
}

// Logits maps tokens, integers [batch, steps], to the logits of the token in each place, [batch, steps,
// vocabulary]. It panics as [Bert.Read] does.
func (m *BertMaskedLM) Logits(tokens *weft.Tensor, opts ...ReadOpts) *weft.Tensor {
	const name = "bert_masked_lm"
	defer array.Named(name).End()
	whole(name, "NewBertMaskedLM", m != nil && m.Cls != nil && m.Cls.Predictions != nil && m.Cls.Predictions.Transform != nil)
	return nn.Call(m, tokens, func(m *BertMaskedLM, tokens *weft.Tensor) *weft.Tensor {
		h, _ := m.Bert.Read(tokens, opts...)
		p := m.Cls.Predictions
		return p.Decoder.Forward(p.Transform.Norm.Forward(p.Transform.Dense.Forward(h).Gelu()))
	})
}

// Forward is [BertMaskedLM.Logits] without options.
func (m *BertMaskedLM) Forward(tokens *weft.Tensor) *weft.Tensor { return m.Logits(tokens) }

// Forms implements [Published]: BertForMaskedLM of Hugging Face, and what BertForPreTraining has of it.
func (m *BertMaskedLM) Forms() []Form {
	return bertForms(nn.State(m), "cls.predictions.decoder.", "cls.seq_relationship.", "bert.pooler.")
}

// BertClassifier gives scores to classes of texts. Parameters have the names of Hugging Face's
// BertForSequenceClassification.
type BertClassifier struct {
	Bert       *Bert
	Drop       *nn.Dropout
	Classifier *nn.Linear
}

// NewBertClassifier returns a network of float32 parameters for a number of classes. It panics as
// [NewBert] does.
func NewBertClassifier(classes int, opts ...BertOpts) *BertClassifier {
	const name = "bert_classifier"
	defer array.Named(name).End()
	m := newBertMaker(name, opts)
	classes = m.count("classes", &classes, 0)
	return &BertClassifier{m.bert(true), m.dropout(m.o.Dropout, 0.1), m.linear(m.width, classes)}
}

// Logits maps tokens, integers [batch, steps], to the logits of the classes of each text, [batch,
// classes]. It panics as [Bert.Read] does.
func (m *BertClassifier) Logits(tokens *weft.Tensor, opts ...ReadOpts) *weft.Tensor {
	const name = "bert_classifier"
	defer array.Named(name).End()
	whole(name, "NewBertClassifier", m != nil && m.Bert != nil && m.Bert.Pooler != nil && m.Drop != nil)
	return nn.Call(m, tokens, func(m *BertClassifier, tokens *weft.Tensor) *weft.Tensor {
		_, pooled := m.Bert.Read(tokens, opts...)
		return m.Classifier.Forward(m.Drop.Forward(pooled))
	})
}

// Forward is [BertClassifier.Logits] without options.
func (m *BertClassifier) Forward(tokens *weft.Tensor) *weft.Tensor { return m.Logits(tokens) }

// Forms implements [Published]: BertForSequenceClassification of Hugging Face. From the file of another
// head, [LoadOpts].Skip "classifier." keeps this one's.
func (m *BertClassifier) Forms() []Form { return bertForms(nn.State(m), "cls.") }
