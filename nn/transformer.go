package nn

import (
	"weft"
	"weft/internal/array"
)

// TransformerOpts are the options of [NewTransformerEncoderLayer], [NewTransformerDecoderLayer] and
// [NewTransformer].
type TransformerOpts struct {
	FeedForward *int            // hidden units behind the attention; nil means 2048
	Dropout     *float64        // the probability of all dropout layers; nil means 0.1
	Activation  Layer           // of the hidden units; nil is Relu{}
	Eps         *float64        // of the norms; nil means 1e-5
	NormFirst   bool            // normalises what goes into attention and feed-forward, not what comes out
	BatchFirst  bool            // [batch, steps, width] rather than [steps, batch, width]
	NoBias      bool            // no biases at all, in norms neither
	Generator   *weft.Generator // draws weights, and elements that are dropped; nil is the default generator
}

// norm returns a norm over the width.
func (o *TransformerOpts) norm(width int) *LayerNorm {
	return NewLayerNorm([]int{width}, NormOpts{Eps: o.Eps, NoBias: o.NoBias})
}

func (o *TransformerOpts) dropout() *Dropout {
	return &Dropout{P: array.Or(o.Dropout, 0.1), Generator: o.Generator}
}

func (o *TransformerOpts) attention(width, heads int) *MultiheadAttention {
	return NewMultiheadAttention(width, heads, MultiheadAttentionOpts{NoBias: o.NoBias, BatchFirst: o.BatchFirst, Dropout: array.Or(o.Dropout, 0.1), Generator: o.Generator})
}

// check refuses wrong options of the layer of that name.
func (o *TransformerOpts) check(name string) {
	if f := array.Or(o.FeedForward, 2048); f < 1 {
		array.Failf(name, "FeedForward", "is %d, want 1 or more", f)
	}
	if p := array.Or(o.Dropout, 0.1); !(p >= 0 && p <= 1) {
		array.Failf(name, "Dropout", "%v is not a probability: want 0 to 1", p)
	}
}

// feedForward is linear2(dropout(activation(linear1(x)))).
type feedForward struct {
	Linear1    *Linear
	Dropout    *Dropout
	Linear2    *Linear
	Activation Layer // nil is Relu{}
	NormFirst  bool
}

func (o *TransformerOpts) feedForward(width int) feedForward {
	hidden := array.Or(o.FeedForward, 2048)
	l := Opts{NoBias: o.NoBias, Generator: o.Generator}
	return feedForward{NewLinear(width, hidden, l), o.dropout(), NewLinear(hidden, width, l), o.Activation, o.NormFirst}
}

func (f *feedForward) apply(x *weft.Tensor) *weft.Tensor {
	x = f.Linear1.Forward(x)
	if f.Activation == nil {
		x = x.Relu()
	} else {
		x = f.Activation.Forward(x)
	}
	return f.Linear2.Forward(dropped(f.Dropout, x))
}

// dropped is x through a dropout layer that may be nil.
func dropped(d *Dropout, x *weft.Tensor) *weft.Tensor {
	if d == nil {
		return x
	}
	return d.Forward(x)
}

// residual is x and what f makes of it, normalised before f or behind the sum.
func (f *feedForward) residual(x *weft.Tensor, norm *LayerNorm, drop *Dropout, g func(x *weft.Tensor) *weft.Tensor) *weft.Tensor {
	if f.NormFirst {
		return x.Add(dropped(drop, g(norm.Forward(x))))
	}
	return norm.Forward(x.Add(dropped(drop, g(x))))
}

// TransformerEncoderLayer is self-attention and a feed-forward network, each with a residual
// connection, dropout and a norm (Vaswani et al., Attention is all you need, 2017). Its fields
// Linear1, Dropout, Linear2, Activation (nil is [Relu]) and NormFirst are the feed-forward network
// and the place of norms. State has PyTorch's names.
type TransformerEncoderLayer struct {
	SelfAttn    *MultiheadAttention
	feedForward `nn:""`
	Norm1       *LayerNorm // of the attention
	Norm2       *LayerNorm // of the feed-forward network
	Dropout1    *Dropout   // nil for none, as Dropout2 and Dropout
	Dropout2    *Dropout
}

// NewTransformerEncoderLayer returns a layer of float32 parameters. It panics with *weft.Error if
// heads do not divide the width.
func NewTransformerEncoderLayer(width, heads int, opts ...TransformerOpts) *TransformerEncoderLayer {
	const name = "transformer_encoder_layer"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	o.check(name)
	return &TransformerEncoderLayer{SelfAttn: o.attention(width, heads), feedForward: o.feedForward(width),
		Norm1: o.norm(width), Norm2: o.norm(width), Dropout1: o.dropout(), Dropout2: o.dropout()}
}

// Forward is [TransformerEncoderLayer.Encode] without masks.
func (l *TransformerEncoderLayer) Forward(x *weft.Tensor) *weft.Tensor { return l.Encode(x) }

// Encode keeps the shape [steps, batch, width], with BatchFirst [batch, steps, width], or [steps,
// width] without a batch. The options go to the attention of x to itself.
func (l *TransformerEncoderLayer) Encode(x *weft.Tensor, opts ...AttendOpts) *weft.Tensor {
	return CallAll(l, []*weft.Tensor{x}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{l.encode(in[0], opts)}
	})[0]
}

func (l *TransformerEncoderLayer) encode(x *weft.Tensor, opts []AttendOpts) *weft.Tensor {
	const name = "transformer_encoder_layer"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if l == nil || l.SelfAttn == nil || l.Linear1 == nil || l.Linear2 == nil || l.Norm1 == nil || l.Norm2 == nil {
		failNil(name, "NewTransformerEncoderLayer")
	}
	floats(name, "x", x)
	x = l.residual(x, l.Norm1, l.Dropout1, func(x *weft.Tensor) *weft.Tensor { return l.SelfAttn.Attend(x, x, x, o) })
	return l.residual(x, l.Norm2, l.Dropout2, l.apply)
}

// DecodeOpts are the options of [TransformerDecoderLayer.Decode].
type DecodeOpts struct {
	Self   AttendOpts // of the attention of x to itself
	Memory AttendOpts // of the attention of x to the memory
}

// TransformerDecoderLayer is self-attention, attention to the results of an encoder, and a
// feed-forward network, each with a residual connection, dropout and a norm. Its fields Linear1,
// Dropout, Linear2, Activation (nil is [Relu]) and NormFirst are the feed-forward network and the
// place of norms. State has PyTorch's names.
type TransformerDecoderLayer struct {
	SelfAttn      *MultiheadAttention
	MultiheadAttn *MultiheadAttention // to the memory
	feedForward   `nn:""`
	Norm1         *LayerNorm // of self-attention
	Norm2         *LayerNorm // of attention to the memory
	Norm3         *LayerNorm // of the feed-forward network
	Dropout1      *Dropout   // nil for none, as the others
	Dropout2      *Dropout
	Dropout3      *Dropout
}

// NewTransformerDecoderLayer returns a layer of float32 parameters. It panics with *weft.Error if
// heads do not divide the width.
func NewTransformerDecoderLayer(width, heads int, opts ...TransformerOpts) *TransformerDecoderLayer {
	const name = "transformer_decoder_layer"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	o.check(name)
	return &TransformerDecoderLayer{SelfAttn: o.attention(width, heads), MultiheadAttn: o.attention(width, heads), feedForward: o.feedForward(width),
		Norm1: o.norm(width), Norm2: o.norm(width), Norm3: o.norm(width), Dropout1: o.dropout(), Dropout2: o.dropout(), Dropout3: o.dropout()}
}

// Decode maps x [steps, batch, width] and the memory [keys, batch, width], the results of an
// encoder, to the shape of x; with BatchFirst the batch is the first axis. Both may lack it.
func (l *TransformerDecoderLayer) Decode(x, memory *weft.Tensor, opts ...DecodeOpts) *weft.Tensor {
	return CallAll(l, []*weft.Tensor{x, memory}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{l.decode(in[0], in[1], opts)}
	})[0]
}

func (l *TransformerDecoderLayer) decode(x, memory *weft.Tensor, opts []DecodeOpts) *weft.Tensor {
	const name = "transformer_decoder_layer"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if l == nil || l.SelfAttn == nil || l.MultiheadAttn == nil || l.Linear1 == nil || l.Linear2 == nil || l.Norm1 == nil || l.Norm2 == nil || l.Norm3 == nil {
		failNil(name, "NewTransformerDecoderLayer")
	}
	floats(name, "x", x)
	floats(name, "memory", memory)
	x = l.residual(x, l.Norm1, l.Dropout1, func(x *weft.Tensor) *weft.Tensor { return l.SelfAttn.Attend(x, x, x, o.Self) })
	x = l.residual(x, l.Norm2, l.Dropout2, func(x *weft.Tensor) *weft.Tensor { return l.MultiheadAttn.Attend(x, memory, memory, o.Memory) })
	return l.residual(x, l.Norm3, l.Dropout3, l.apply)
}

// TransformerEncoder is a stack of encoder layers.
type TransformerEncoder struct {
	Layers []*TransformerEncoderLayer
	Norm   *LayerNorm // of the result, nil for none
}

// NewTransformerEncoder returns a stack of n copies of a layer, which begin with equal parameters,
// as PyTorch's do.
func NewTransformerEncoder(layer *TransformerEncoderLayer, n int) *TransformerEncoder {
	const name = "transformer_encoder"
	defer array.Named(name).End()
	return &TransformerEncoder{Layers: stacked(name, layer, n)}
}

// stacked returns n copies of a layer.
func stacked[L any](name string, layer *L, n int) []*L {
	if layer == nil {
		array.Failf(name, "layer", "is nil")
	}
	if n < 1 || n > maxLayers {
		array.Failf(name, "n", "is %d, want 1 to %d", n, maxLayers)
	}
	list := make([]*L, n)
	for i := range list {
		list[i] = Copy(layer)
	}
	return list
}

// Forward is [TransformerEncoder.Encode] without masks.
func (e *TransformerEncoder) Forward(x *weft.Tensor) *weft.Tensor { return e.Encode(x) }

// Encode is [TransformerEncoderLayer.Encode] of each layer, with the same options. A [KVCache] gets a
// cache for each layer: with Causal a call for each new step gives what one call gives for all.
func (e *TransformerEncoder) Encode(x *weft.Tensor, opts ...AttendOpts) *weft.Tensor {
	return CallAll(e, []*weft.Tensor{x}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{e.encode(in[0], opts)}
	})[0]
}

func (e *TransformerEncoder) encode(x *weft.Tensor, opts []AttendOpts) *weft.Tensor {
	const name = "transformer_encoder"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if e == nil {
		failNil(name, "NewTransformerEncoder")
	}
	floats(name, "x", x)
	cache := o.Cache
	for i, l := range e.Layers {
		if l == nil {
			array.Failf(name, "Layers", "has nil at %d", i)
		}
		o.Cache = cache.layer(name, i, len(e.Layers))
		x = l.Encode(x, o)
	}
	if e.Norm != nil {
		x = e.Norm.Forward(x)
	}
	return x
}

// TransformerDecoder is a stack of decoder layers.
type TransformerDecoder struct {
	Layers []*TransformerDecoderLayer
	Norm   *LayerNorm // of the result, nil for none
}

// NewTransformerDecoder returns a stack of n copies of a layer, which begin with equal parameters,
// as PyTorch's do.
func NewTransformerDecoder(layer *TransformerDecoderLayer, n int) *TransformerDecoder {
	const name = "transformer_decoder"
	defer array.Named(name).End()
	return &TransformerDecoder{Layers: stacked(name, layer, n)}
}

// Decode is [TransformerDecoderLayer.Decode] of each layer, with the same memory and options. A
// [KVCache] gets a cache for each layer: that of Self grows by the steps of a call, and a fixed one of
// Memory has the projections of the memory.
func (d *TransformerDecoder) Decode(x, memory *weft.Tensor, opts ...DecodeOpts) *weft.Tensor {
	return CallAll(d, []*weft.Tensor{x, memory}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{d.decode(in[0], in[1], opts)}
	})[0]
}

func (d *TransformerDecoder) decode(x, memory *weft.Tensor, opts []DecodeOpts) *weft.Tensor {
	const name = "transformer_decoder"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if d == nil {
		failNil(name, "NewTransformerDecoder")
	}
	floats(name, "x", x)
	own, fixed := o.Self.Cache, o.Memory.Cache
	for i, l := range d.Layers {
		if l == nil {
			array.Failf(name, "Layers", "has nil at %d", i)
		}
		o.Self.Cache, o.Memory.Cache = own.layer(name, i, len(d.Layers)), fixed.layer(name, i, len(d.Layers))
		x = l.Decode(x, memory, o)
	}
	if d.Norm != nil {
		x = d.Norm.Forward(x)
	}
	return x
}

// Transformer is an encoder and a decoder that sees its results.
type Transformer struct {
	Encoder *TransformerEncoder
	Decoder *TransformerDecoder
}

// NewTransformer returns a network from sequence to sequence with the given numbers of
// layers, both stacks normalised at the end. All matrices are drawn by [XavierUniform].
func NewTransformer(width, heads, encoders, decoders int, opts ...TransformerOpts) *Transformer {
	const name = "transformer"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	o.check(name)
	t := &Transformer{NewTransformerEncoder(NewTransformerEncoderLayer(width, heads, o), encoders), NewTransformerDecoder(NewTransformerDecoderLayer(width, heads, o), decoders)}
	t.Encoder.Norm, t.Decoder.Norm = o.norm(width), o.norm(width)
	for _, p := range Params(t) {
		if p.Rank() > 1 {
			weft.WithoutGrad(func() { p.Assign(XavierUniform(o.Generator, p.Shape()...)) })
		}
	}
	return t
}

// TranslateOpts are the options of [Transformer.Translate].
type TranslateOpts struct {
	Source AttendOpts // of the attention of the source to itself
	Decode DecodeOpts
}

// Translate encodes the source [keys, batch, width] and decodes the target [steps, batch, width] to
// its shape; with BatchFirst the batch is the first axis. Both may lack it.
func (t *Transformer) Translate(source, target *weft.Tensor, opts ...TranslateOpts) *weft.Tensor {
	return CallAll(t, []*weft.Tensor{source, target}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{t.translate(in[0], in[1], opts)}
	})[0]
}

func (t *Transformer) translate(source, target *weft.Tensor, opts []TranslateOpts) *weft.Tensor {
	const name = "transformer"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if t == nil || t.Encoder == nil || t.Decoder == nil {
		failNil(name, "NewTransformer")
	}
	floats(name, "source", source)
	floats(name, "target", target)
	return t.Decoder.Decode(target, t.Encoder.Encode(source, o.Source), o.Decode)
}
