package nn_test

import (
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// Values and gradients of the Transformer layers, stacks and options of attention of
// testdata/transformer.py are PyTorch's, of compiled functions too.
func TestTransformerMatchesPyTorch(t *testing.T) {
	compareWithTorch(t, "transformer", transformerCases)
}

func TestCompiledTransformerMatchesPyTorch(t *testing.T) {
	compareCompiled(t, "transformer", transformerCases)
}

func transformerCases(map[string]*weft.Tensor) map[string]torchCase {
	of := func(module any, f func(x ...*weft.Tensor) *weft.Tensor) torchCase {
		return torchCase{module: module, tolerance: 64, f: func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(x...)} }}
	}
	grouped := func(o nn.AttentionOpts) torchCase {
		o.Grouped = true
		return of(nil, func(x ...*weft.Tensor) *weft.Tensor {
			o.Mask = append(x, nil)[3]
			return nn.ScaledDotProductAttention(x[0], x[1], x[2], o)
		})
	}
	still := nn.TransformerOpts{FeedForward: new(6), Dropout: new(0.0)}
	with := func(f func(o *nn.TransformerOpts)) nn.TransformerOpts {
		o := still
		f(&o)
		return o
	}
	encoder := func(o nn.TransformerOpts) torchCase {
		l := nn.NewTransformerEncoderLayer(4, 2, o)
		return of(l, func(x ...*weft.Tensor) *weft.Tensor { return l.Forward(x[0]) })
	}
	decoder := func(o nn.TransformerOpts) torchCase {
		l := nn.NewTransformerDecoderLayer(4, 2, o)
		return of(l, func(x ...*weft.Tensor) *weft.Tensor { return l.Decode(x[0], x[1]) })
	}
	first := with(func(o *nn.TransformerOpts) { o.NormFirst = true })
	widths, heads := nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOpts{KDim: new(3), VDim: new(5)}), nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOpts{KDim: new(3), BatchFirst: true, NoBias: true})
	masked, seen := nn.NewTransformerEncoderLayer(4, 2, first), nn.NewTransformerDecoderLayer(4, 2, still)
	stack := nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(4, 2, still), 2)
	stack.Norm = nn.NewLayerNorm([]int{4})
	behind := nn.NewTransformerDecoder(nn.NewTransformerDecoderLayer(4, 2, first), 2)
	whole := nn.NewTransformer(4, 2, 2, 1, first)
	return map[string]torchCase{
		"attend widths": {module: widths, tolerance: 64, f: func(x ...*weft.Tensor) []*weft.Tensor {
			y, w := widths.AttendWeights(x[0], x[1], x[2])
			return []*weft.Tensor{y, w.Mean(1)}
		}},
		"attend heads": {module: heads, tolerance: 64, f: func(x ...*weft.Tensor) []*weft.Tensor {
			y, w := heads.AttendWeights(x[0], x[1], x[2], nn.AttendOpts{KeyPadding: x[3]})
			return []*weft.Tensor{y, w}
		}},
		"grouped":        grouped(nn.AttentionOpts{}),
		"grouped mask":   grouped(nn.AttentionOpts{}),
		"grouped causal": grouped(nn.AttentionOpts{Causal: true}),
		"encoder layer":  encoder(still),
		"encoder layer gelu": encoder(with(func(o *nn.TransformerOpts) {
			o.Activation, o.NormFirst, o.BatchFirst, o.Eps = nn.Gelu{}, true, true, new(0.1)
		})),
		"encoder layer no bias": encoder(with(func(o *nn.TransformerOpts) { o.NoBias = true })),
		"encoder layer masks": of(masked, func(x ...*weft.Tensor) *weft.Tensor {
			return masked.Encode(x[0], nn.AttendOpts{Mask: x[1], KeyPadding: x[2]})
		}),
		"decoder layer":       decoder(still),
		"decoder layer first": decoder(with(func(o *nn.TransformerOpts) { o.Activation, o.NormFirst, o.BatchFirst = nn.Silu{}, true, true })),
		"decoder layer masks": of(seen, func(x ...*weft.Tensor) *weft.Tensor {
			o := nn.AttendOpts{Mask: x[2], KeyPadding: x[3]}
			return seen.Decode(x[0], x[1], nn.DecodeOpts{Self: o, Memory: o})
		}),
		"encoder": of(stack, func(x ...*weft.Tensor) *weft.Tensor { return stack.Encode(x[0], nn.AttendOpts{KeyPadding: x[1]}) }),
		"decoder": of(behind, func(x ...*weft.Tensor) *weft.Tensor { return behind.Decode(x[0], x[1]) }),
		"transformer": of(whole, func(x ...*weft.Tensor) *weft.Tensor {
			p := nn.AttendOpts{KeyPadding: x[2]}
			return whole.Translate(x[0], x[1], nn.TranslateOpts{Source: p, Decode: nn.DecodeOpts{Self: nn.AttendOpts{Mask: x[3]}, Memory: p}})
		}),
	}
}

// A text that goes through attention in parts, with a cache, gives what it gives at once, whatever
// the parts and masks.
func TestCachedAttentionEqualsWhole(t *testing.T) {
	const steps, batch, width = 6, 2, 4
	g := weft.NewGenerator(1)
	padding := weft.FromSlice([]bool{false, true, false, false, false, false, false, false, false, false, true, false}, batch, steps)
	for name, padded := range map[string]*weft.Tensor{"plain": nil, "padding": padding, "added padding": weft.Where(padding, -3.0, 0.25)} {
		for _, first := range []bool{false, true} {
			m := nn.NewMultiheadAttention(width, 2, nn.MultiheadAttentionOpts{BatchFirst: first, Generator: g})
			axis, x := 0, g.Randn(steps, batch, width)
			if first {
				axis, x = 1, g.Randn(batch, steps, width)
			}
			part := func(t *weft.Tensor, axis, lo, hi int) *weft.Tensor {
				if axis == 1 {
					return t.Slice(weft.All, weft.Range(lo, hi))
				}
				return t.Slice(weft.Range(lo, hi))
			}
			want := m.Attend(x, x, x, nn.AttendOpts{Causal: true, KeyPadding: padded})
			for _, ends := range [][]int{{1, 2, 3, 4, 5, 6}, {3, 6}, {2, 3, 6}} {
				cache, lo := &nn.KVCache{}, 0
				var got []*weft.Tensor
				for _, hi := range ends {
					o := nn.AttendOpts{Causal: true, Cache: cache}
					if padded != nil {
						o.KeyPadding = part(padded, 1, 0, hi)
					}
					q := part(x, axis, lo, hi)
					got = append(got, m.Attend(q, q, q, o))
					lo = hi
				}
				if d := weft.Cat(got, axis).Sub(want).Abs().Max().Item(); !(d < 1e-6) || cache.Len() != steps {
					t.Errorf("%s, parts that end at %v: %v off, %d keys", name, ends, d, cache.Len())
				}
			}
		}
	}
}

// TestStacksWithCaches has the bits of a call for all steps in calls for a step or two each, of stacks
// of encoders and of decoders, whose memory is projected once.
func TestStacksWithCaches(t *testing.T) {
	const steps, batch, width = 5, 2, 4
	g := weft.NewGenerator(7)
	for _, layers := range []int{1, 3} {
		o := nn.TransformerOpts{FeedForward: new(6), NormFirst: layers > 1, BatchFirst: true, Generator: g}
		m := nn.NewTransformer(width, 2, layers, layers, o)
		nn.Eval(m)
		x, memory := g.Randn(batch, steps, width), g.Randn(batch, 3, width)
		for name, f := range map[string]func(x *weft.Tensor, own, fixed *nn.KVCache) *weft.Tensor{
			"encoder": func(x *weft.Tensor, own, _ *nn.KVCache) *weft.Tensor {
				return m.Encoder.Encode(x, nn.AttendOpts{Causal: true, Cache: own})
			},
			"decoder": func(x *weft.Tensor, own, fixed *nn.KVCache) *weft.Tensor {
				seen := memory
				if fixed.Len() > 0 {
					seen = weft.Zeros(batch, 3, width) // not used
				}
				return m.Decoder.Decode(x, seen, nn.DecodeOpts{Self: nn.AttendOpts{Causal: true, Cache: own}, Memory: nn.AttendOpts{Cache: fixed}})
			},
		} {
			weft.WithoutGrad(func() {
				want := f(x, nil, nil)
				own, fixed := &nn.KVCache{}, &nn.KVCache{Fixed: true}
				var got []*weft.Tensor
				for _, at := range [][2]int{{0, 1}, {1, 3}, {3, 4}, {4, 5}} {
					got = append(got, f(x.Slice(weft.All, weft.Range(at[0], at[1])), own, fixed))
				}
				if weft.Digest(weft.Cat(got, 1)) != weft.Digest(want) || own.Len() != steps || name == "decoder" && fixed.Len() != 3 {
					t.Errorf("%s of %d layers: steps differ from the whole, or caches have %d and %d keys", name, layers, own.Len(), fixed.Len())
				}
			})
		}
	}
}

// Dropout layers of the Transformer drop in training alone.
func TestTransformerDrops(t *testing.T) {
	g := weft.NewGenerator(1)
	m := nn.NewTransformer(4, 2, 1, 1, nn.TransformerOpts{FeedForward: new(6), Dropout: new(0.5), Generator: g})
	x := g.Randn(3, 2, 4)
	again := func() bool {
		before := weft.Digest(m.Translate(x, x))
		return weft.Digest(m.Translate(x, x)) == before
	}
	if again() {
		t.Error("training drops nothing")
	}
	nn.Eval(m)
	if !again() {
		t.Error("evaluation drops")
	}
}

func TestTransformerMisuse(t *testing.T) {
	x := weft.Zeros(3, 2, 4)
	o := nn.TransformerOpts{FeedForward: new(6)}
	encoder, decoder := nn.NewTransformerEncoderLayer(4, 2, o), nn.NewTransformerDecoderLayer(4, 2, o)
	m := nn.NewMultiheadAttention(4, 2)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"transformer_encoder_layer: FeedForward: is 0", func() { nn.NewTransformerEncoderLayer(4, 2, nn.TransformerOpts{FeedForward: new(0)}) }},
		{"transformer_decoder_layer: Dropout: 2 is not a probability", func() { nn.NewTransformerDecoderLayer(4, 2, nn.TransformerOpts{Dropout: new(2.0)}) }},
		{"heads: is 3, which does not divide the width 4", func() { nn.NewTransformer(4, 3, 1, 1) }},
		{"transformer_encoder: n: is 0", func() { nn.NewTransformerEncoder(encoder, 0) }},
		{"transformer_encoder: layer: is nil", func() { nn.NewTransformerEncoder(nil, 1) }},
		{"transformer_encoder: Cache: has the keys of one layer, want caches of 2 layers", func() {
			nn.NewTransformerEncoder(encoder, 2).Encode(x, nn.AttendOpts{Cache: &nn.KVCache{Keys: weft.Zeros(2, 2, 1, 2), Values: weft.Zeros(2, 2, 1, 2)}})
		}},
		{"transformer_decoder: Cache: has caches of 1 layers, none nil: want 2", func() {
			nn.NewTransformerDecoder(decoder, 2).Decode(x, x, nn.DecodeOpts{Self: nn.AttendOpts{Cache: &nn.KVCache{Layers: []*nn.KVCache{{}}}}})
		}},
		{"kv_cache: Cache: is nil", func() { (*nn.KVCache)(nil).Append(x, x) }},
		{"Cache: is of a stack of 1 layers", func() { m.Attend(x, x, x, nn.AttendOpts{Cache: &nn.KVCache{Layers: []*nn.KVCache{{}}}}) }},
		{"Causal: does not go with a fixed cache", func() { m.Attend(x, x, x, nn.AttendOpts{Causal: true, Cache: &nn.KVCache{Fixed: true}}) }},
		{"multihead_attention: Cache: does not have fixed keys and values [2 heads keys width]", func() {
			m.Attend(x, x, x, nn.AttendOpts{Cache: &nn.KVCache{Fixed: true, Keys: weft.Zeros(1, 2, 1, 2), Values: weft.Zeros(1, 2, 1, 2)}})
		}},
		{"q: has shape [3 4], want", func() { m.Attend(weft.Zeros(3, 4), x, x) }},
		{"KeyPadding: has shape [1 3], want [keys]: q has no batch", func() {
			x := weft.Zeros(3, 4)
			m.Attend(x, x, x, nn.AttendOpts{KeyPadding: weft.Zeros(1, 3)})
		}},
		{"q: has shape [3 2 5], want [steps batch 4]", func() { encoder.Forward(weft.Zeros(3, 2, 5)) }},
		{"transformer_decoder_layer: memory: is nil", func() { decoder.Decode(x, nil) }},
		{"transformer: target: is nil", func() { nn.NewTransformer(4, 2, 1, 1, o).Translate(x, nil) }},
		{"multihead_attention: KDim: is 0", func() { nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOpts{KDim: new(0)}) }},
		{"multihead_attention: Cache: has shape [1 2 1 2], which does not go before [2 2 3 2]", func() {
			m.Attend(x, x, x, nn.AttendOpts{Cache: &nn.KVCache{Keys: weft.Zeros(1, 2, 1, 2), Values: weft.Zeros(1, 2, 1, 2)}})
		}},
		{"attention: k: has shape [2 3 4]: want a number of heads", func() {
			nn.ScaledDotProductAttention(weft.Zeros(3, 3, 4), weft.Zeros(2, 3, 4), weft.Zeros(2, 3, 4), nn.AttentionOpts{Grouped: true})
		}},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
