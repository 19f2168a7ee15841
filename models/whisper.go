package models

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// WhisperOpts are the options of [NewWhisper]; the defaults are openai/whisper-tiny's. JSON names are the keys
// of Hugging Face's config.json.
type WhisperOpts struct {
	Vocab            *int    `json:"vocab_size"`              // nil means 51865
	Mels             *int    `json:"num_mel_bins"`            // bands of the spectrogram; nil means 80
	Width            *int    `json:"d_model"`                 // even; nil means 384
	EncoderLayers    *int    `json:"encoder_layers"`          // nil means 4
	EncoderHeads     *int    `json:"encoder_attention_heads"` // divides Width; nil means 6
	EncoderInner     *int    `json:"encoder_ffn_dim"`         // nil means 4*Width
	DecoderLayers    *int    `json:"decoder_layers"`          // nil means 4
	DecoderHeads     *int    `json:"decoder_attention_heads"` // divides Width; nil means 6
	DecoderInner     *int    `json:"decoder_ffn_dim"`         // nil means 4*Width
	Frames           *int    `json:"max_source_positions"`    // of the encoder's results, half of the spectrogram's; nil means 1500
	Context          *int    `json:"max_target_positions"`    // the most tokens of a text; nil means 448
	Dropout          float64 `json:"dropout"`
	AttentionDropout float64 `json:"attention_dropout"`

	Weight    nn.Init         `json:"-"` // draws all matrices and filters; nil means a normal distribution of deviation 0.02
	Generator *weft.Generator `json:"-"` // what they, and dropout, are drawn from; nil is the default generator
}

// Whisper transcribes speech (Radford et al., Robust speech recognition via large-scale weak
// supervision, 2022): an encoder of spectrograms and a decoder of text. Parameters have the names of
// Hugging Face's WhisperForConditionalGeneration.
type Whisper struct {
	Model   *whisperModel
	ProjOut *nn.Linear // its weight is that of the tokens' embeddings
}

type whisperModel struct {
	Encoder *whisperEncoder
	Decoder *whisperDecoder
}

type whisperEncoder struct {
	Conv1          *nn.Conv1d    `nn:"conv1"`
	Conv2          *nn.Conv1d    `nn:"conv2"`
	EmbedPositions *nn.Embedding // sines, which are not trained
	Drop           *nn.Dropout
	Layers         []*whisperLayer
	LayerNorm      *nn.LayerNorm
}

type whisperDecoder struct {
	EmbedTokens, EmbedPositions *nn.Embedding
	Drop                        *nn.Dropout
	Layers                      []*whisperLayer
	LayerNorm                   *nn.LayerNorm
}

// whisperLayer is a layer of the encoder, or of the decoder, which attends to the encoder's results.
type whisperLayer struct {
	SelfAttn             *whisperAttention
	SelfAttnLayerNorm    *nn.LayerNorm
	EncoderAttn          *whisperAttention // nil in the encoder
	EncoderAttnLayerNorm *nn.LayerNorm
	FC1                  *nn.Linear `nn:"fc1"`
	FC2                  *nn.Linear `nn:"fc2"`
	FinalLayerNorm       *nn.LayerNorm
	Drop                 *nn.Dropout
}

type whisperAttention struct {
	QProj, KProj, VProj, OutProj *nn.Linear // KProj has no bias
	Drop                         *nn.Dropout
	Heads                        int
}

// NewWhisper returns a network of float32 parameters. It panics with *weft.Error if a size is below 1 or heads
// do not divide Width.
func NewWhisper(opts ...WhisperOpts) *Whisper {
	const name = "whisper"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := whisperMaker{maker{name, o.Weight, o.Generator}, o, 0}
	m.width = m.count("Width", o.Width, 384)
	if m.width%2 != 0 || m.width < 4 {
		array.Failf(name, "Width", "is %d, want an even number of 4 or more", m.width)
	}
	mels, frames := m.count("Mels", o.Mels, 80), m.count("Frames", o.Frames, 1500)
	filters := m.opts(nn.Normal(0, tokenDeviation))
	filters.Bias = nn.Constant(0)
	e := &whisperEncoder{
		Conv1:          nn.NewConv1d(mels, m.width, 3, nn.Conv1dOpts{Opts: filters, Padding: 1}),
		Conv2:          nn.NewConv1d(m.width, m.width, 3, nn.Conv1dOpts{Opts: filters, Padding: 1, Stride: new(2)}),
		EmbedPositions: &nn.Embedding{Weight: sinusoids(frames, m.width)}, Drop: m.drop(m.probability("Dropout", o.Dropout)), LayerNorm: m.norm(),
	}
	for range m.count("EncoderLayers", o.EncoderLayers, 4) {
		e.Layers = append(e.Layers, m.layer(m.heads("EncoderHeads", o.EncoderHeads, 6, m.width), m.count("EncoderInner", o.EncoderInner, 4*m.width), false))
	}
	d := &whisperDecoder{
		EmbedTokens:    m.table(m.count("Vocab", o.Vocab, 51865), m.width),
		EmbedPositions: m.table(m.count("Context", o.Context, 448), m.width), Drop: m.drop(o.Dropout), LayerNorm: m.norm(),
	}
	for range m.count("DecoderLayers", o.DecoderLayers, 4) {
		d.Layers = append(d.Layers, m.layer(m.heads("DecoderHeads", o.DecoderHeads, 6, m.width), m.count("DecoderInner", o.DecoderInner, 4*m.width), true))
	}
	return &Whisper{Model: &whisperModel{e, d}, ProjOut: &nn.Linear{Weight: d.EmbedTokens.Weight}}
}

// whisperMaker makes the parts of a Whisper.
type whisperMaker struct {
	maker
	o     WhisperOpts
	width int
}

func (m whisperMaker) norm() *nn.LayerNorm { return nn.NewLayerNorm([]int{m.width}) }

func (m whisperMaker) linear(in, out int, bias bool) *nn.Linear {
	o := m.opts(nn.Normal(0, tokenDeviation))
	o.Bias, o.NoBias = nn.Constant(0), !bias
	return nn.NewLinear(in, out, o)
}

func (m whisperMaker) attention(heads int) *whisperAttention {
	square := func(bias bool) *nn.Linear { return m.linear(m.width, m.width, bias) }
	return &whisperAttention{QProj: square(true), KProj: square(false), VProj: square(true), OutProj: square(true),
		Drop: m.drop(m.probability("AttentionDropout", m.o.AttentionDropout)), Heads: heads}
}

func (m whisperMaker) layer(heads, inner int, decoder bool) *whisperLayer {
	l := &whisperLayer{SelfAttn: m.attention(heads), SelfAttnLayerNorm: m.norm(), FC1: m.linear(m.width, inner, true), FC2: m.linear(inner, m.width, true),
		FinalLayerNorm: m.norm(), Drop: m.drop(m.o.Dropout)}
	if decoder {
		l.EncoderAttn, l.EncoderAttnLayerNorm = m.attention(heads), m.norm()
	}
	return l
}

// sinusoids returns the position embeddings of the encoder: sines and cosines of wavelengths up to 10000*2*pi.
func sinusoids(rows, width int) *weft.Tensor {
	data := make([]float32, rows*width)
	half := width / 2
	for i := range rows {
		for k := range half {
			angle := float64(i) * math.Exp(-math.Log(10000)/float64(half-1)*float64(k))
			data[i*width+k], data[i*width+half+k] = float32(math.Sin(angle)), float32(math.Cos(angle))
		}
	}
	return weft.FromSlice(data, rows, width)
}

func (m *Whisper) whole() bool {
	if m == nil || m.Model == nil || m.Model.Encoder == nil || m.Model.Decoder == nil || m.ProjOut == nil {
		return false
	}
	e, d := m.Model.Encoder, m.Model.Decoder
	part := func(l *whisperLayer) bool {
		return l == nil || l.SelfAttn == nil || l.SelfAttnLayerNorm == nil || l.FC1 == nil || l.FC2 == nil || l.FinalLayerNorm == nil || l.Drop == nil
	}
	return e.Conv1 != nil && e.Conv1.Weight != nil && e.Conv1.Weight.Rank() == 3 && e.Conv2 != nil && rowsOf(e.EmbedPositions) > 0 && e.Drop != nil && e.LayerNorm != nil &&
		rowsOf(d.EmbedTokens) > 0 && rowsOf(d.EmbedPositions) > 0 && d.Drop != nil && d.LayerNorm != nil &&
		!slices.ContainsFunc(e.Layers, part) && !slices.ContainsFunc(d.Layers, func(l *whisperLayer) bool { return part(l) || l.EncoderAttn == nil || l.EncoderAttnLayerNorm == nil })
}

// Encode maps spectrograms [batch, mels, 2*frames] to what the decoder attends to, [batch, frames, width]. It
// panics with *weft.Error if shapes do not fit.
func (m *Whisper) Encode(features *weft.Tensor) *weft.Tensor {
	const name = "whisper"
	defer array.Named(name).End()
	whole(name, "NewWhisper", m.whole())
	e := m.Model.Encoder
	if features == nil {
		array.Failf(name, "features", "are nil")
	}
	mels, frames := e.Conv1.Weight.Dim(1), 2*rowsOf(e.EmbedPositions)
	if s := features.Shape(); len(s) != 3 || s[1] != mels || s[2] != frames || !features.DType().Float() {
		array.Failf(name, "features", "are %s, want floats [batch %d %d]", array.TypeString(features.DType(), s), mels, frames)
	}
	return nn.Call(e, features, func(e *whisperEncoder, x *weft.Tensor) *weft.Tensor {
		h := e.Conv2.Forward(e.Conv1.Forward(x).Gelu()).Gelu().Transpose(1, 2)
		h = e.Drop.Forward(h.Add(e.EmbedPositions.Weight))
		t := texts{}
		for i, l := range e.Layers {
			h = nn.Call(l, h, func(l *whisperLayer, h *weft.Tensor) *weft.Tensor { return l.forward(h, &t, i, nil) })
		}
		return e.LayerNorm.Forward(h)
	})
}

// A crossState has the keys and values of the encoder's results for cross-attention in a layer of the decoder.
type crossState struct{ keys, values *weft.Tensor }

// crossStates projects the encoder's results for all layers of the decoder.
func (d *whisperDecoder) crossStates(encoded *weft.Tensor) []crossState {
	var out []crossState
	for _, l := range d.Layers {
		a := l.EncoderAttn
		split := func(l *nn.Linear) *weft.Tensor {
			return l.Forward(encoded).Unflatten(2, a.Heads, -1).Transpose(1, 2)
		}
		out = append(out, crossState{split(a.KProj), split(a.VProj)})
	}
	return out
}

// Logits maps spectrograms [batch, mels, 2*frames] and tokens, integers [batch, steps], to the logits of the token
// after each, [batch, steps, vocabulary]. It panics as [Whisper.Encode] does, and if texts are longer than the
// context or a token is not in the vocabulary.
func (m *Whisper) Logits(features, tokens *weft.Tensor) *weft.Tensor {
	const name = "whisper"
	defer array.Named(name).End()
	return called(m, []*weft.Tensor{features, tokens}, func(in []*weft.Tensor) *weft.Tensor {
		encoded := m.Encode(in[0])
		checkTokens(name, in[1])
		if a, b := in[1].Dim(0), encoded.Dim(0); a != b {
			array.Failf(name, "tokens", "are %d texts for %d spectrograms", a, b)
		}
		return m.logits(in[1], m.Model.Decoder.crossStates(encoded), LogitsOpts{})
	})
}

// Forward is [Whisper.Logits].
func (m *Whisper) Forward(features, tokens *weft.Tensor) *weft.Tensor {
	return m.Logits(features, tokens)
}

func (m *Whisper) logits(tokens *weft.Tensor, cross []crossState, o LogitsOpts) *weft.Tensor {
	d := m.Model.Decoder
	x := newTexts("whisper", tokens, rowsOf(d.EmbedPositions), len(d.Layers), []LogitsOpts{o})
	h := nn.Call(d, tokens, func(d *whisperDecoder, tokens *weft.Tensor) *weft.Tensor {
		h := d.Drop.Forward(d.EmbedTokens.Forward(tokens).Add(d.EmbedPositions.Forward(x.positions)))
		for i, l := range d.Layers {
			h = nn.Call(l, h, func(l *whisperLayer, h *weft.Tensor) *weft.Tensor { return l.forward(h, &x, i, &cross[i]) })
		}
		return d.LayerNorm.Forward(h)
	})
	return m.ProjOut.Forward(x.end(h))
}

// forward computes a layer; cross is nil in the encoder.
func (l *whisperLayer) forward(h *weft.Tensor, x *texts, layer int, cross *crossState) *weft.Tensor {
	attended := nn.Call(l.SelfAttn, l.SelfAttnLayerNorm.Forward(h), func(a *whisperAttention, h *weft.Tensor) *weft.Tensor {
		split := func(l *nn.Linear) *weft.Tensor { return l.Forward(h).Unflatten(2, a.Heads, -1) }
		return a.OutProj.Forward(x.attend(layer, split(a.QProj), split(a.KProj), split(a.VProj), a.Drop))
	})
	h = h.Add(l.Drop.Forward(attended))
	if cross != nil {
		attended := nn.Call(l.EncoderAttn, l.EncoderAttnLayerNorm.Forward(h), func(a *whisperAttention, h *weft.Tensor) *weft.Tensor {
			q := a.QProj.Forward(h).Unflatten(2, a.Heads, -1).Transpose(1, 2)
			var o nn.AttentionOpts
			if a.Drop.Training() {
				o.Dropout, o.Generator = a.Drop.P, a.Drop.Generator
			}
			return a.OutProj.Forward(nn.ScaledDotProductAttention(q, cross.keys, cross.values, o).Transpose(1, 2).Flatten(2))
		})
		h = h.Add(l.Drop.Forward(attended))
	}
	inner := l.FC2.Forward(l.FC1.Forward(l.FinalLayerNorm.Forward(h)).Gelu())
	return h.Add(l.Drop.Forward(inner))
}

// WhisperDecodeOpts are the options of [Whisper.Decode].
type WhisperDecodeOpts struct {
	Suppress      []int // tokens that are never chosen
	SuppressFirst []int // tokens that are not chosen as the first of a text
}

// Decode returns a decoder for [Stream] and [Search], which goes on with prompts of equal length, one for each
// row of what [Whisper.Encode] returned. A prompt has the tokens that say what to do, such as
// <|startoftranscript|>, <|en|>, <|transcribe|> and <|notimestamps|>. It panics with *weft.Error if prompts do not
// fit.
func (m *Whisper) Decode(encoded *weft.Tensor, prompts [][]int, opts ...WhisperDecodeOpts) Decoder {
	const name = "whisper"
	defer array.Named(name).End()
	whole(name, "NewWhisper", m.whole())
	o := array.Options(name, opts)
	if encoded == nil || encoded.Rank() != 3 || encoded.Dim(0) != len(prompts) || len(prompts) == 0 {
		array.Failf(name, "prompts", "are %d, want one or more, each for a row of encoded", len(prompts))
	}
	n := len(prompts[0])
	var tokens []int64
	for i, p := range prompts {
		if len(p) != n || n == 0 {
			array.Failf(name, "prompts", "number %d has %d tokens, number 0 has %d: want one or more, equally many", i, len(p), n)
		}
		for _, t := range p[:n-1] {
			tokens = append(tokens, int64(t))
		}
	}
	d := &whisperStream{m: m, cache: &nn.KVCache{}, first: true, o: o}
	weft.WithoutGrad(func() {
		d.cross = m.Model.Decoder.crossStates(encoded)
		if n > 1 {
			m.logits(weft.FromSlice(tokens, len(prompts), n-1).On(encoded.Device()), d.cross, LogitsOpts{Cache: d.cache, Last: true})
		}
	})
	return d
}

// whisperStream implements [Decoder] for Whisper.
type whisperStream struct {
	m     *Whisper
	cache *nn.KVCache
	cross []crossState
	first bool
	o     WhisperDecodeOpts
}

// Next implements [Decoder].
func (d *whisperStream) Next(tokens *weft.Tensor) (logits *weft.Tensor) {
	weft.WithoutGrad(func() {
		dev := d.m.Model.Decoder.EmbedTokens.Weight.Device()
		logits = d.m.logits(tokens.On(dev).Unsqueeze(1), d.cross, LogitsOpts{Cache: d.cache, Last: true}).Squeeze(1)
		hidden := d.o.Suppress
		if d.first {
			hidden = append(slices.Clone(hidden), d.o.SuppressFirst...)
		}
		d.first = false
		if len(hidden) > 0 {
			vocab := logits.Dim(1)
			mask := make([]bool, vocab)
			for _, t := range hidden {
				if t >= 0 && t < vocab {
					mask[t] = true
				}
			}
			logits = weft.Where(weft.FromSlice(mask).On(dev), math.Inf(-1), logits)
		}
	})
	return logits
}

// Select implements [Decoder].
func (d *whisperStream) Select(rows *weft.Tensor) {
	rows = rows.On(d.m.Model.Decoder.EmbedTokens.Weight.Device())
	d.cache.Select(rows)
	for i, s := range d.cross {
		d.cross[i] = crossState{s.keys.IndexSelect(0, rows), s.values.IndexSelect(0, rows)}
	}
}

// Forms implements [Published]: WhisperForConditionalGeneration and WhisperModel of Hugging Face. Files may lack the
// position embeddings of the encoder, which are sinusoids.
func (m *Whisper) Forms() []Form {
	optional := func(name string) bool {
		return name == "model.encoder.embed_positions.weight" || name == "encoder.embed_positions.weight"
	}
	whole("whisper", "NewWhisper", m != nil)
	return []Form{{Name: "transformers", Tensors: nn.State(m), Optional: optional}, {Name: "transformers base", Tensors: nn.State(m.Model), Optional: optional}}
}
