package models

import (
	"math"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// GNMTOpts are the options of [NewGNMT]; the defaults are GNMT v2's in MLPerf Training 0.5.
type GNMTOpts struct {
	Vocab   *int     // of both languages together; nil means 32317
	Width   *int     // nil means 1024
	Layers  *int     // of the encoder, and of the decoder, 2 or more; nil means 4
	Dropout *float64 // nil means 0.2
	Pad     int      // the token that fills sources up

	Weight    nn.Init         // draws all weights; nil means between -0.1 and 0.1
	Generator *weft.Generator // what they, and dropout, are drawn from; nil is the default generator
}

// GNMT translates: an LSTM network reads a text, another one writes while it attends to what was read
// (Wu et al., Google's neural machine translation system, 2016). The first layer of the encoder reads
// both ways. It has the changes of version 2: the decoder's first layer alone attends, with normalised
// scores (Bahdanau et al., Neural machine translation by jointly learning to align and translate, 2014;
// Salimans and Kingma, Weight normalization, 2016), and all layers see its result. Parameters have
// the names of NVIDIA's PyTorch code for MLPerf.
type GNMT struct {
	Encoder *gnmtEncoder
	Decoder *gnmtDecoder
}

type gnmtEncoder struct {
	RNNLayers []*nn.LSTM `nn:"rnn_layers"`
	Embedder  *nn.Embedding
	Drop      *nn.Dropout
}

type gnmtDecoder struct {
	AttRNN     *gnmtAttention `nn:"att_rnn"`
	RNNLayers  []*nn.LSTM     `nn:"rnn_layers"`
	Embedder   *nn.Embedding  // the encoder's
	Classifier *gnmtClassifier
	Drop       *nn.Dropout
}

type gnmtAttention struct {
	RNN  *nn.LSTM
	Attn *bahdanau
}

type gnmtClassifier struct {
	Classifier *nn.Linear
}

// bahdanau scores keys by v*tanh(queries + keys + bias), v being LinearAtt with the norm NormalizeScalar.
type bahdanau struct {
	LinearQ, LinearK *nn.Linear
	LinearAtt        *weft.Tensor // [width]
	NormalizeScalar  *weft.Tensor // [1]
	NormalizeBias    *weft.Tensor // [width]
}

// NewGNMT returns a network of float32 parameters. It panics with *weft.Error if a size is below 1, or
// there are fewer than two layers.
func NewGNMT(opts ...GNMTOpts) *GNMT {
	const name = "gnmt"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	init := m.opts(nn.Uniform(-0.1, 0.1)).Weight
	vocab, width, layers := m.count("Vocab", o.Vocab, 32317), m.count("Width", o.Width, 1024), m.count("Layers", o.Layers, 4)
	if layers < 2 {
		array.Failf(name, "Layers", "is %d, want 2 or more", layers)
	}
	lstm := func(in int, both bool) *nn.LSTM {
		return nn.NewLSTM(in, width, nn.RNNOpts{Bidirectional: both, Weight: init, Generator: o.Generator})
	}
	linear := func(out int, bias bool) *nn.Linear {
		return nn.NewLinear(width, out, nn.Opts{NoBias: !bias, Weight: init, Bias: init, Generator: o.Generator})
	}
	embedder := nn.NewEmbedding(vocab, width, nn.EmbeddingOpts{Weight: init, Generator: o.Generator})
	m.pads(embedder, o.Pad)
	drop := m.dropout(o.Dropout, 0.2)
	e := &gnmtEncoder{RNNLayers: []*nn.LSTM{lstm(width, true), lstm(2*width, false)}, Embedder: embedder, Drop: drop}
	for range layers - 2 {
		e.RNNLayers = append(e.RNNLayers, lstm(width, false))
	}
	d := &gnmtDecoder{
		AttRNN: &gnmtAttention{RNN: lstm(width, false), Attn: &bahdanau{
			LinearQ: linear(width, false), LinearK: linear(width, false), LinearAtt: nn.Param(init(o.Generator, width)),
			NormalizeScalar: nn.Param(weft.Full(float32(1/math.Sqrt(float64(width))), 1)), NormalizeBias: nn.Param(weft.Zeros(width)),
		}},
		Embedder: embedder, Classifier: &gnmtClassifier{linear(vocab, true)}, Drop: drop,
	}
	for range layers - 1 {
		d.RNNLayers = append(d.RNNLayers, lstm(2*width, false))
	}
	return &GNMT{Encoder: e, Decoder: d}
}

// Forms implements [Published]: the state dict of NVIDIA's code. One embedding serves both languages.
func (m *GNMT) Forms() []Form {
	return []Form{{Name: "nvidia", Tensors: nn.State(m), Ignored: func(name string) bool {
		return strings.HasPrefix(name, "decoder.embedder.")
	}}}
}

// A GNMTMemory is what a [GNMT] knows of texts that it has read, and of those that it writes meanwhile. It
// is a [Decoder].
type GNMTMemory struct {
	m       *GNMT
	context *weft.Tensor // [batch, steps, width], what attention gives
	keys    *weft.Tensor // the same, what it compares
	seen    *weft.Tensor // bool [batch, 1, steps], false behind the ends of texts; nil: there is nothing
	h, c    []*weft.Tensor
}

func (m *GNMT) whole(name string) {
	whole(name, "NewGNMT", m != nil && m.Encoder != nil && rowsOf(m.Encoder.Embedder) > 0 && m.Encoder.Drop != nil && m.Decoder.whole())
}

func (d *gnmtDecoder) whole() bool {
	return d != nil && d.AttRNN != nil && d.AttRNN.Attn != nil && d.AttRNN.Attn.LinearAtt != nil && rowsOf(d.Embedder) > 0 && d.Classifier != nil && d.Drop != nil
}

// Read reads source texts, integers [batch, steps]. lengths are the numbers of tokens of each before
// padding, integers [batch], nil if there is none. It panics with *weft.Error if shapes do not fit or a
// token is not in the vocabulary.
func (m *GNMT) Read(source, lengths *weft.Tensor) *GNMTMemory {
	const name = "gnmt"
	defer array.Named(name).End()
	m.whole(name)
	checkTokens(name, source)
	e := m.Encoder
	x := e.Drop.Forward(e.Embedder.Forward(source.T()))
	for i, l := range e.RNNLayers {
		switch before := x; i {
		case 0:
			x, _, _ = l.Run(x, nil, nil, nn.RunOpts{Lengths: lengths})
		case 1:
			x = l.Forward(e.Drop.Forward(x))
		default:
			x = l.Forward(e.Drop.Forward(x)).Add(before)
		}
	}
	mem := &GNMTMemory{m: m, context: x.Transpose(0, 1).Contiguous()}
	mem.keys = m.Decoder.AttRNN.Attn.LinearK.Forward(mem.context)
	if lengths != nil {
		mem.seen = source.Device().Arange(source.Dim(1)).Lt(lengths.Unsqueeze(1)).Unsqueeze(1)
	}
	return mem
}

// Write returns the logits of the token after each of target's, [batch, steps, vocabulary]. target are
// integers [batch, steps] that follow the tokens of earlier calls. It panics as [GNMT.Read]
// does.
func (mem *GNMTMemory) Write(target *weft.Tensor) *weft.Tensor {
	const name = "gnmt"
	defer array.Named(name).End()
	mem.filled(name)
	checkTokens(name, target)
	if target.Dim(0) != mem.context.Dim(0) {
		array.Failf(name, "target", "has %d texts, the memory %d", target.Dim(0), mem.context.Dim(0))
	}
	d := mem.m.Decoder
	x := mem.layer(0, d.AttRNN.RNN, d.Drop.Forward(d.Embedder.Forward(target.T())))
	attended := d.AttRNN.Attn.attend(x.Transpose(0, 1), mem).Transpose(0, 1)
	for i, l := range d.RNNLayers {
		before := x
		x = mem.layer(i+1, l, d.Drop.Forward(weft.Cat([]*weft.Tensor{x, attended}, 2)))
		if i > 0 {
			x = x.Add(before)
		}
	}
	return d.Classifier.Classifier.Forward(x.Transpose(0, 1))
}

// filled panics unless a memory has texts.
func (mem *GNMTMemory) filled(name string) {
	if mem == nil || mem.context == nil {
		array.Failf(name, "", "the memory is empty: Read returns one")
	}
}

// layer runs layer i of the decoder from where it was.
func (mem *GNMTMemory) layer(i int, l *nn.LSTM, x *weft.Tensor) *weft.Tensor {
	if i == len(mem.h) {
		mem.h, mem.c = append(mem.h, nil), append(mem.c, nil)
	}
	y, h, c := l.Run(x, mem.h[i], mem.c[i])
	mem.h[i], mem.c[i] = h, c
	return y
}

// attend returns what queries [batch, steps, width] find in the memory, of the same shape.
func (a *bahdanau) attend(q *weft.Tensor, mem *GNMTMemory) *weft.Tensor {
	v := weft.Expr("v*s/n", a.LinearAtt, a.NormalizeScalar, a.LinearAtt.Norm(2))
	scores := weft.Expr("sum(tanh(q + k + b)*v, 3)", weft.Vars{"q": a.LinearQ.Forward(q).Unsqueeze(2), "k": mem.keys.Unsqueeze(1), "b": a.NormalizeBias, "v": v})
	if mem.seen != nil {
		scores = weft.Where(mem.seen, scores, math.Inf(-1))
	}
	return scores.Softmax(-1).MatMul(mem.context)
}

// Logits is [GNMT.Read] and [GNMTMemory.Write] at once, as training needs them: target begins with the token
// of the beginning.
func (m *GNMT) Logits(source, lengths, target *weft.Tensor) *weft.Tensor {
	return m.Read(source, lengths).Write(target)
}

// Select implements [Decoder].
func (mem *GNMTMemory) Select(rows *weft.Tensor) {
	const name = "gnmt"
	defer array.Named(name).End()
	mem.filled(name)
	if rows == nil {
		array.Failf(name, "rows", "are nil")
	}
	rows = rows.On(mem.context.Device())
	mem.context, mem.keys = mem.context.IndexSelect(0, rows), mem.keys.IndexSelect(0, rows)
	if mem.seen != nil {
		mem.seen = mem.seen.IndexSelect(0, rows)
	}
	for i := range mem.h {
		mem.h[i], mem.c[i] = mem.h[i].IndexSelect(1, rows), mem.c[i].IndexSelect(1, rows)
	}
}

// Next implements [Decoder].
func (mem *GNMTMemory) Next(tokens *weft.Tensor) *weft.Tensor {
	const name = "gnmt"
	defer array.Named(name).End()
	mem.filled(name)
	if tokens == nil {
		array.Failf(name, "tokens", "are nil")
	}
	return mem.Write(tokens.On(mem.context.Device()).Unsqueeze(1)).Squeeze(1)
}

// padTexts returns texts as one tensor [batch, steps], filled up with pad, and their lengths, nil if all
// are equal.
func padTexts(name string, texts [][]int, pad int) (tokens, lengths *weft.Tensor) {
	longest, shortest := 0, math.MaxInt
	for i, t := range texts {
		if len(t) == 0 {
			array.Failf(name, "sources", "source %d has no token", i)
		}
		longest, shortest = max(longest, len(t)), min(shortest, len(t))
	}
	all, lens := make([]int64, 0, len(texts)*longest), make([]int64, len(texts))
	for i, t := range texts {
		lens[i] = int64(len(t))
		for j := range longest {
			token := pad
			if j < len(t) {
				token = t[j]
			}
			all = append(all, int64(token))
		}
	}
	tokens = weft.FromSlice(all, len(texts), longest)
	if longest > shortest {
		lengths = weft.FromSlice(lens)
	}
	return tokens, lengths
}

// Translate translates sources, lists of tokens, by beam search: see [BeamSearch]. Translations begin
// behind the token begin.
func (m *GNMT) Translate(sources [][]int, begin int, opts ...BeamOpts) ([][]Beam, error) {
	var mem *GNMTMemory
	if err := weft.Try(func() {
		const name = "gnmt"
		defer array.Named(name).End()
		m.whole(name)
		dev := deviceOf(m)
		source, lengths := padTexts(name, sources, array.Or(m.Encoder.Embedder.PaddingIdx, 0))
		if source = source.On(dev); lengths != nil {
			lengths = lengths.On(dev)
		}
		weft.WithoutGrad(func() { mem = m.Read(source, lengths) })
	}); err != nil {
		return nil, err
	}
	texts := make([][]int, len(sources))
	for i := range texts {
		texts[i] = []int{begin}
	}
	return Search(mem, texts, opts...)
}

// String returns the type of what attention reads.
func (m *GNMTMemory) String() string {
	return array.Describe("models.GNMTMemory", "Context", m.context)
}
