package models

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// DistilBertOpts are the options of [NewDistilBert] and of networks with heads on it; the defaults are
// distilbert-base-uncased's. JSON names are the keys of Hugging Face's config.json.
type DistilBertOpts struct {
	Vocab             *int     `json:"vocab_size"`              // nil means 30522
	Context           *int     `json:"max_position_embeddings"` // the most tokens of a text; nil means 512
	Width             *int     `json:"dim"`                     // nil means 768
	Layers            *int     `json:"n_layers"`                // nil means 6
	Heads             *int     `json:"n_heads"`                 // divides Width; nil means 12
	Inner             *int     `json:"hidden_dim"`              // the width inside the MLP; nil means 4*Width
	Dropout           *float64 `json:"dropout"`                 // nil means 0.1
	AttentionDropout  *float64 `json:"attention_dropout"`       // nil means 0.1
	ClassifierDropout *float64 `json:"seq_classif_dropout"`     // nil means 0.2
	Pad               int      `json:"pad_token_id"`            // the token whose row gets no gradient

	Weight    nn.Init         `json:"-"` // draws all matrices; nil means a normal distribution of deviation 0.02
	Generator *weft.Generator `json:"-"` // what they, and dropout, are drawn from; nil is the default generator
}

// DistilBert reads texts as [Bert] does, with half of its layers (Sanh et al., DistilBERT, a distilled version
// of BERT, 2019). Parameters have the names of Hugging Face's DistilBertModel.
type DistilBert struct {
	Embeddings  *distilEmbeddings
	Transformer *distilTrunk
}

type distilEmbeddings struct {
	WordEmbeddings, PositionEmbeddings *nn.Embedding
	Norm                               *nn.LayerNorm `nn:"LayerNorm"`
	Drop                               *nn.Dropout
}

type distilTrunk struct {
	Layer []*distilLayer
}

type distilLayer struct {
	Attention       *distilAttention
	SALayerNorm     *nn.LayerNorm `nn:"sa_layer_norm"`
	FFN             *distilFFN    `nn:"ffn"`
	OutputLayerNorm *nn.LayerNorm `nn:"output_layer_norm"`
}

type distilAttention struct {
	QLin, KLin, VLin, OutLin *nn.Linear
	Drop                     *nn.Dropout
	Heads                    int
}

type distilFFN struct {
	Lin1 *nn.Linear `nn:"lin1"`
	Lin2 *nn.Linear `nn:"lin2"`
	Drop *nn.Dropout
}

// distilMaker makes the parts of networks on DistilBERT.
type distilMaker struct {
	bertMaker
	o DistilBertOpts
}

func newDistilMaker(name string, opts []DistilBertOpts) distilMaker {
	o := array.Options(name, opts)
	b := newBertMaker(name, []BertOpts{{Width: o.Width, Weight: o.Weight, Generator: o.Generator}})
	return distilMaker{b, o}
}

func (m distilMaker) distil() *DistilBert {
	o := m.o
	heads, inner := m.heads("Heads", o.Heads, 12, m.width), m.count("Inner", o.Inner, 4*m.width)
	b := &DistilBert{Transformer: &distilTrunk{}, Embeddings: &distilEmbeddings{
		WordEmbeddings:     m.table(m.count("Vocab", o.Vocab, 30522), m.width),
		PositionEmbeddings: m.table(m.count("Context", o.Context, 512), m.width),
		Norm:               m.norm(), Drop: m.dropout(o.Dropout, 0.1),
	}}
	m.pads(b.Embeddings.WordEmbeddings, o.Pad)
	square := func() *nn.Linear { return m.linear(m.width, m.width) }
	for range m.count("Layers", o.Layers, 6) {
		b.Transformer.Layer = append(b.Transformer.Layer, &distilLayer{
			Attention: &distilAttention{QLin: square(), KLin: square(), VLin: square(), OutLin: square(),
				Drop: m.dropoutOf("AttentionDropout", o.AttentionDropout, 0.1), Heads: heads},
			SALayerNorm: m.norm(), OutputLayerNorm: m.norm(),
			FFN: &distilFFN{Lin1: m.linear(m.width, inner), Lin2: m.linear(inner, m.width), Drop: m.dropout(o.Dropout, 0.1)},
		})
	}
	return b
}

// NewDistilBert returns a network of float32 parameters. It panics with *weft.Error if a size is below 1 or
// Heads does not divide Width.
func NewDistilBert(opts ...DistilBertOpts) *DistilBert {
	const name = "distilbert"
	defer array.Named(name).End()
	return newDistilMaker(name, opts).distil()
}

func (b *DistilBert) whole() bool {
	if b == nil || b.Embeddings == nil || b.Transformer == nil {
		return false
	}
	e := b.Embeddings
	return rowsOf(e.WordEmbeddings) > 0 && rowsOf(e.PositionEmbeddings) > 0 && e.Norm != nil && e.Drop != nil &&
		!slices.ContainsFunc(b.Transformer.Layer, func(l *distilLayer) bool {
			return l == nil || l.Attention == nil || l.SALayerNorm == nil || l.FFN == nil || l.OutputLayerNorm == nil
		})
}

// Read maps tokens, integers [batch, steps], to representations of the tokens, [batch, steps, width]. It
// panics with *weft.Error if texts are longer than the context, shapes do not fit, a token is not in the
// vocabulary, or options have Kinds, which DistilBERT lacks.
func (b *DistilBert) Read(tokens *weft.Tensor, opts ...ReadOpts) *weft.Tensor {
	return nn.Call(b, tokens, func(b *DistilBert, tokens *weft.Tensor) *weft.Tensor { return b.read(tokens, opts) })
}

func (b *DistilBert) read(tokens *weft.Tensor, opts []ReadOpts) *weft.Tensor {
	const name = "distilbert"
	defer array.Named(name).End()
	whole(name, "NewDistilBert", b.whole())
	o := array.Options(name, opts)
	if o.Kinds != nil {
		array.Failf(name, "Kinds", "are given, and DistilBERT has no segments")
	}
	x := newTexts(name, tokens, rowsOf(b.Embeddings.PositionEmbeddings), 0, []LogitsOpts{{Mask: o.Mask, Positions: o.Positions}})
	x.causal = false
	h := nn.Call(b.Embeddings, tokens, func(e *distilEmbeddings, tokens *weft.Tensor) *weft.Tensor {
		return e.Drop.Forward(e.Norm.Forward(e.WordEmbeddings.Forward(tokens).Add(e.PositionEmbeddings.Forward(x.positions))))
	})
	return nn.Call(b.Transformer, h, func(t *distilTrunk, h *weft.Tensor) *weft.Tensor {
		for i, l := range t.Layer {
			h = nn.Call(l, h, func(l *distilLayer, h *weft.Tensor) *weft.Tensor { return l.forward(h, &x, i) })
		}
		return h
	})
}

func (l *distilLayer) forward(h *weft.Tensor, x *texts, layer int) *weft.Tensor {
	attended := nn.Call(l.Attention, h, func(a *distilAttention, h *weft.Tensor) *weft.Tensor {
		split := func(l *nn.Linear) *weft.Tensor { return l.Forward(h).Unflatten(2, a.Heads, -1) }
		return a.OutLin.Forward(x.attend(layer, split(a.QLin), split(a.KLin), split(a.VLin), a.Drop))
	})
	h = l.SALayerNorm.Forward(attended.Add(h))
	return l.OutputLayerNorm.Forward(nn.Call(l.FFN, h, (*distilFFN).forward).Add(h))
}

func (f *distilFFN) forward(h *weft.Tensor) *weft.Tensor {
	return f.Drop.Forward(f.Lin2.Forward(f.Lin1.Forward(h).Gelu()))
}

// Forward is [DistilBert.Read] without options.
func (b *DistilBert) Forward(tokens *weft.Tensor) *weft.Tensor { return b.Read(tokens) }

// Forms implements [Published]: DistilBertModel of Hugging Face, alone and inside networks with heads.
func (b *DistilBert) Forms() []Form {
	inner := map[string]*weft.Tensor{}
	for name, t := range nn.State(b) {
		inner["distilbert."+name] = t
	}
	forms := bertForms(nn.State(b))
	for _, f := range bertForms(inner, "vocab_", "pre_classifier.", "classifier.", "qa_outputs.") {
		f.Name += " inside"
		forms = append(forms, f)
	}
	return forms
}

// DistilBertMaskedLM tells which tokens stand in a text where it has masks. Parameters have the names of
// Hugging Face's DistilBertForMaskedLM.
type DistilBertMaskedLM struct {
	DistilBert     *DistilBert   `nn:"distilbert"`
	VocabTransform *nn.Linear    `nn:"vocab_transform"`
	VocabLayerNorm *nn.LayerNorm `nn:"vocab_layer_norm"`
	VocabProjector *nn.Linear    `nn:"vocab_projector"` // of the weight of the words' embeddings
}

// NewDistilBertMaskedLM returns a network of float32 parameters. It panics as [NewDistilBert] does.
func NewDistilBertMaskedLM(opts ...DistilBertOpts) *DistilBertMaskedLM {
	const name = "distilbert_masked_lm"
	defer array.Named(name).End()
	m := newDistilMaker(name, opts)
	b := m.distil()
	words := b.Embeddings.WordEmbeddings.Weight
	return &DistilBertMaskedLM{b, m.linear(m.width, m.width), m.norm(), &nn.Linear{Weight: words, Bias: nn.Param(weft.Zeros(words.Dim(0)))}}
}

// Logits maps tokens, integers [batch, steps], to the logits of the token in each place, [batch, steps,
// vocabulary]. It panics as [DistilBert.Read] does.
func (m *DistilBertMaskedLM) Logits(tokens *weft.Tensor, opts ...ReadOpts) *weft.Tensor {
	const name = "distilbert_masked_lm"
	defer array.Named(name).End()
	whole(name, "NewDistilBertMaskedLM", m != nil && m.VocabTransform != nil && m.VocabLayerNorm != nil && m.VocabProjector != nil)
	return nn.Call(m, tokens, func(m *DistilBertMaskedLM, tokens *weft.Tensor) *weft.Tensor {
		h := m.VocabTransform.Forward(m.DistilBert.Read(tokens, opts...)).Gelu()
		return m.VocabProjector.Forward(m.VocabLayerNorm.Forward(h))
	})
}

// Forward is [DistilBertMaskedLM.Logits] without options.
func (m *DistilBertMaskedLM) Forward(tokens *weft.Tensor) *weft.Tensor { return m.Logits(tokens) }

// DistilBertClassifier gives scores to classes of texts. Parameters have the names of Hugging Face's
// DistilBertForSequenceClassification.
type DistilBertClassifier struct {
	DistilBert    *DistilBert `nn:"distilbert"`
	PreClassifier *nn.Linear  `nn:"pre_classifier"`
	Drop          *nn.Dropout
	Classifier    *nn.Linear
}

// NewDistilBertClassifier returns a network of float32 parameters for a number of classes. It panics as
// [NewDistilBert] does.
func NewDistilBertClassifier(classes int, opts ...DistilBertOpts) *DistilBertClassifier {
	const name = "distilbert_classifier"
	defer array.Named(name).End()
	m := newDistilMaker(name, opts)
	classes = m.count("classes", &classes, 0)
	return &DistilBertClassifier{m.distil(), m.linear(m.width, m.width), m.dropoutOf("ClassifierDropout", m.o.ClassifierDropout, 0.2), m.linear(m.width, classes)}
}

// Logits maps tokens, integers [batch, steps], to the logits of the classes of each text, [batch,
// classes]. It panics as [DistilBert.Read] does.
func (m *DistilBertClassifier) Logits(tokens *weft.Tensor, opts ...ReadOpts) *weft.Tensor {
	const name = "distilbert_classifier"
	defer array.Named(name).End()
	whole(name, "NewDistilBertClassifier", m != nil && m.PreClassifier != nil && m.Drop != nil && m.Classifier != nil)
	return nn.Call(m, tokens, func(m *DistilBertClassifier, tokens *weft.Tensor) *weft.Tensor {
		first := m.DistilBert.Read(tokens, opts...).Slice(weft.All, weft.Index(0))
		return m.Classifier.Forward(m.Drop.Forward(m.PreClassifier.Forward(first).Relu()))
	})
}

// Forward is [DistilBertClassifier.Logits] without options.
func (m *DistilBertClassifier) Forward(tokens *weft.Tensor) *weft.Tensor { return m.Logits(tokens) }

// Forms implements [Published]: DistilBertForSequenceClassification of Hugging Face. From the file of another
// head, [LoadOpts].Skip "pre_classifier." and "classifier." keep this one's.
func (m *DistilBertClassifier) Forms() []Form { return bertForms(nn.State(m), "vocab_") }
