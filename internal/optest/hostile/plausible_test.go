package hostile

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/internal/array"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/safetensors"
)

// plausible makes the arguments of calls that would be refused for nearly any random
// ones: they fit together mostly, so that what lies behind the checks is reached. Some
// are replaced by random ones afterwards.
var plausible = map[string]func(g *gen) []any{
	"Reshape": func(g *gen) []any {
		t := g.plain(g.shape())
		s := slices.Clone(t.Shape())
		g.r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		for len(s) > 1 && g.chance(2) {
			s = append([]int{s[0] * s[1]}, s[2:]...)
		}
		if g.chance(3) {
			s = append(s, 1)
		}
		if len(s) > 0 && g.chance(3) {
			s[g.r.IntN(len(s))] = pick(g, -1, 0, 1<<32, 1<<62)
		}
		return []any{t, s}
	},
	"Expand": func(g *gen) []any {
		t := g.plain(g.shape())
		s := slices.Clone(t.Shape())
		for i := range s {
			if s[i] == 1 {
				s[i] = pick(g, -1, 0, 1, 2, 3, 1<<40, 1<<62, math.MaxInt)
			}
		}
		for g.chance(2) && len(s) < array.MaxRank {
			s = append([]int{pick(g, -1, 1, 2, 3, 1<<60)}, s...)
		}
		return []any{t, s}
	},
	"Permute": func(g *gen) []any {
		t := g.plain(g.shape())
		o := g.r.Perm(t.Rank())
		if len(o) > 0 && g.chance(4) {
			o[0] -= t.Rank()
		}
		return []any{t, o}
	},
	"Transpose": func(g *gen) []any { t := g.plain(g.shape()); return []any{t, g.axis(t), g.axis(t)} },
	"Slice": func(g *gen) []any {
		t := g.plain(g.shape())
		var s []weft.Span
		for _, n := range t.Shape() {
			s = append(s, pick(g, weft.All, weft.NewAxis, weft.Index(g.r.IntN(n+1)), weft.Range(g.r.IntN(n+2), weft.End), weft.Range(weft.End, weft.Begin, -1-g.r.IntN(3)), weft.Range(g.integer(), g.integer(), g.integer()), weft.Ellipsis))
		}
		for g.chance(8) {
			s = append(s, weft.NewAxis, weft.NewAxis, weft.NewAxis, weft.NewAxis)
		}
		return []any{t, s}
	},
	"At": func(g *gen) []any {
		t := g.plain(g.shape())
		var s []int
		for _, n := range t.Shape() {
			if g.chance(3) {
				break
			}
			s = append(s, g.r.IntN(max(n, 1)))
		}
		return []any{t, s}
	},
	"Set": func(g *gen) []any {
		t := g.tensorOf(pick(g, weft.Float32, weft.Uint8, weft.Float64), g.shape())
		var s []int
		shape := t.Shape()
		for len(shape) > 0 && !g.chance(3) {
			s, shape = append(s, g.r.IntN(max(shape[0], 1))), shape[1:]
		}
		return []any{t, pick[any](g, 1, 2.5, true, g.tensorOf(t.DType(), shape)), s}
	},
	"Diagonal":  func(g *gen) []any { return []any{g.plain(g.shapeOf(2 + g.r.IntN(3))), g.r.IntN(7) - 3} },
	"Flatten":   func(g *gen) []any { t := g.plain(g.shape()); return []any{t, g.axis(t)} },
	"Unsqueeze": func(g *gen) []any { t := g.plain(g.shapeOf(g.r.IntN(17))); return []any{t, g.axis(t)} },
	"Squeeze":   func(g *gen) []any { return []any{g.plain(g.shape()), []int(nil)} },
	"Split": func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		n := t.Shape()[(a+t.Rank())%t.Rank()]
		k := g.r.IntN(n + 1)
		return []any{t, a, pick(g, []int{1 + g.r.IntN(4)}, []int{k, n - k}, []int{n, 0}, []int{g.integer(), g.integer()})}
	},
	"Chunk":    func(g *gen) []any { t := g.plain(g.ranked()); return []any{t, g.axis(t), 1 + g.r.IntN(5)} },
	"Unbind":   func(g *gen) []any { t := g.plain(g.ranked()); return []any{t, g.axis(t)} },
	"Roll":     func(g *gen) []any { t := g.plain(g.ranked()); return []any{t, g.axis(t), g.integer()} },
	"MoveAxis": func(g *gen) []any { t := g.plain(g.ranked()); return []any{t, g.axis(t), g.axis(t)} },
	"Unflatten": func(g *gen) []any {
		t := g.plain(g.ranked())
		return []any{t, g.axis(t), pick(g, []int{-1, 1}, []int{1, -1, 1}, []int{2, -1})}
	},
	"ExpandAs": func(g *gen) []any {
		s := g.shape()
		t := g.plain(s[g.r.IntN(len(s)+1):])
		return []any{t, g.plain(s)}
	},
	"Tile":   func(g *gen) []any { return []any{g.plain(g.shape()), g.reps(g.r.IntN(4))} },
	"Repeat": func(g *gen) []any { t := g.plain(g.shape()); return []any{t, g.reps(t.Rank() + g.r.IntN(2))} },
	"RepeatInterleave": func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		n := t.Shape()[(a+t.Rank())%t.Rank()]
		g.places = 4
		c := pick[any](g, g.r.IntN(4), g.reps(n), g.tensorOf(pick(g, weft.Int64, weft.Int32, weft.Uint8), []int{n}))
		g.places = 0
		return []any{t, a, c}
	},
	"Tril": func(g *gen) []any { return []any{g.plain(g.shapeOf(2 + g.r.IntN(3))), g.integer()} },
	"Triu": func(g *gen) []any { return []any{g.plain(g.shapeOf(2 + g.r.IntN(3))), g.integer()} },
	"Diag": func(g *gen) []any { return []any{g.plain(g.shapeOf(1 + g.r.IntN(2))), g.integer()} },
	"Meshgrid": func(g *gen) []any {
		return []any{[]*weft.Tensor{g.plain(g.shapeOf(1)), g.plain(g.shapeOf(g.r.IntN(2)))}}
	},
	"HStack": func(g *gen) []any { return joinArgs(g)[:1] },
	"VStack": func(g *gen) []any { return joinArgs(g)[:1] },
	"MaskedFill": func(g *gen) []any {
		t := g.plain(g.shape())
		return []any{t, g.tensorOf(weft.Bool, g.about(t.Shape())), pick[any](g, g.float(), g.integer(), true, g.tensorOf(t.DType(), []int{1}))}
	},
	"Pad": func(g *gen) []any {
		t := g.plain(g.shape())
		p := make([]int, 2*t.Rank())
		for i := range p {
			p[i] = g.r.IntN(3)
			if g.chance(25) {
				p[i] = pick(g, math.MaxInt, math.MaxInt/4, 1<<62, 1<<40)
			}
		}
		return []any{t, g.float(), p}
	},
	"MatMul": func(g *gen) []any {
		m, k, n := g.side(), g.side(), g.side()
		a, b := []int{m, k}, []int{k, n}
		switch g.r.IntN(6) {
		case 0:
			a = a[1:]
		case 1:
			b = b[:1]
		case 2:
			a, b = append([]int{2, 1}, a...), append([]int{3}, b...)
		case 3:
			a = append([]int{g.r.IntN(3)}, a...)
		}
		d := pick(g, dtypes...)
		return []any{g.tensorOf(d, a), g.tensorOf(d, b)}
	},
	"Linear": func(g *gen) []any {
		n, i, o := g.side(), g.side(), g.side()
		x := []int{n, i}
		if g.chance(3) {
			x = []int{2, n, i}
		}
		d := pick(g, weft.Float32, weft.Float32, weft.Float64, weft.Int32)
		return []any{g.tensorOf(d, x), g.tensorOf(d, []int{o, i}), g.tensorOf(d, []int{o})}
	},
	"Conv2d": func(g *gen) []any {
		d := pick(g, weft.Float32, weft.Float32, weft.Float64)
		n, c, o := g.r.IntN(4), pick(g, 0, 1, 2, 3, 8, 16), pick(g, 0, 1, 2, 5, 8, 16)
		h, w := 1+g.r.IntN(9), 1+g.r.IntN(9)
		kh, kw := 1+g.r.IntN(3), 1+g.r.IntN(3)
		if g.chance(3) {
			kh, kw = 3, 3
		}
		var bias *weft.Tensor
		if g.chance(2) {
			bias = g.tensorOf(d, []int{o})
		}
		groups := pick(g, 0, 1, 1, 2, 4)
		return []any{g.tensorOf(d, []int{n, c, h, w}), g.tensorOf(d, []int{o, c / max(groups, 1), kh, kw}), bias,
			weft.ConvOpts{Stride: new(g.pair(0, 1, 1, 2, 3)), Padding: g.pair(0, 0, 1, 2), Dilation: new(g.pair(0, 1, 1, 2)), Groups: new(groups)}}
	},
	"Conv1d": func(g *gen) []any {
		d := pick(g, weft.Float32, weft.Float32, weft.Float64)
		groups := pick(g, 0, 1, 1, 2)
		c, o := pick(g, 0, 1, 2, 4), pick(g, 0, 2, 4, 8)
		var bias *weft.Tensor
		if g.chance(2) {
			bias = g.tensorOf(d, []int{o})
		}
		return []any{g.tensorOf(d, []int{g.r.IntN(4), c, 1 + g.r.IntN(20)}), g.tensorOf(d, []int{o, c / max(groups, 1), 1 + g.r.IntN(4)}), bias,
			weft.Conv1dOpts{Stride: new(g.r.IntN(3)), Padding: g.r.IntN(3), Dilation: new(g.r.IntN(3)), Groups: new(groups)}}
	},
	"ConvTranspose2d": func(g *gen) []any {
		d := pick(g, weft.Float32, weft.Float32, weft.Float64)
		groups := pick(g, 0, 1, 1, 2)
		c, o := pick(g, 0, 1, 2, 4), pick(g, 0, 1, 2, 3)
		var bias *weft.Tensor
		if g.chance(2) {
			bias = g.tensorOf(d, []int{o * max(groups, 1)})
		}
		return []any{g.tensorOf(d, []int{g.r.IntN(4), c, 1 + g.r.IntN(6), 1 + g.r.IntN(6)}), g.tensorOf(d, []int{c, o, 1 + g.r.IntN(3), 1 + g.r.IntN(3)}), bias,
			weft.ConvTransposeOpts{Stride: new(g.pair(0, 1, 2, 3)), Padding: g.pair(0, 0, 1), OutputPadding: g.pair(0, 0, 1, 2), Dilation: new(g.pair(0, 1, 1, 2)), Groups: new(groups)}}
	},
	"MaxPool2d": poolArgs,
	"AvgPool2d": poolArgs,
	"IndexSelect": func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		return []any{t, a, g.index(t, a, []int{g.r.IntN(6)})}
	},
	"IndexAdd": func(g *gen) []any {
		t := g.plain(g.ranked())
		a, n := g.axis(t), g.r.IntN(6)
		s := slices.Clone(t.Shape())
		s[(a+len(s))%len(s)] = n
		for i := range s {
			if g.chance(10) {
				s[i] = 1
			}
		}
		d := t.DType()
		if g.chance(5) {
			d = pick(g, dtypes...)
		}
		return []any{t, a, g.index(t, a, []int{n}), g.tensorOf(d, s)}
	},
	"Gather": func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		return []any{t, a, g.index(t, a, g.about(t.Shape()))}
	},
	"ScatterAdd": func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		s := g.about(t.Shape())
		return []any{t, a, g.index(t, a, s), g.tensorOf(t.DType(), s)}
	},
	"TakeAlongAxis": func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		return []any{t, a, g.index(t, a, g.about(t.Shape()))}
	},
	"Scatter": func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		s := g.about(t.Shape())
		return []any{t, a, g.index(t, a, s), pick[any](g, g.tensorOf(t.DType(), s), g.integer(), true)}
	},
	"ScatterReduce": func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		s := g.about(t.Shape())
		return []any{t, a, g.index(t, a, s), g.tensorOf(t.DType(), s), weft.ScatterOpts{Reduce: weft.ScatterOp(g.r.IntN(4)), ExcludeSelf: g.chance(2)}}
	},
	"weft.Tensor.Index": func(g *gen) []any {
		t := g.plain(g.shape())
		return []any{t, g.brackets(t)}
	},
	"IndexPut":    putArgs,
	"IndexPutAdd": putArgs,
	"MaskSelect": func(g *gen) []any {
		t := g.plain(g.shape())
		return []any{t, g.tensorOf(weft.Bool, g.about(t.Shape()))}
	},
	"Where": func(g *gen) []any {
		s := g.shape()
		return []any{g.tensorOf(weft.Bool, s), g.operand(s), g.operand(s)}
	},
	"Clamp": func(g *gen) []any {
		t := g.plain(g.shape())
		return []any{t, g.operand(t.Shape()), g.operand(t.Shape())}
	},
	"CrossEntropy": func(g *gen) []any {
		n, c := g.side(), 1+g.side()
		g.places = c
		y := g.tensorOf(pick(g, weft.Int64, weft.Int64, weft.Int32, weft.Uint8), []int{n})
		g.places = 0
		return []any{g.tensorOf(pick(g, weft.Float32, weft.Float64), []int{n, c}), y}
	},
	"MSE": func(g *gen) []any {
		s, d := g.shape(), pick(g, weft.Float32, weft.Float64)
		return []any{g.tensorOf(d, s), g.tensorOf(d, s)}
	},
	"Cat":   joinArgs,
	"Stack": joinArgs,
	"Update": func(g *gen) []any {
		g.whole = true
		return []any{g.plain(g.shape()), g.value(typ[func(*weft.Tensor) *weft.Tensor]()).Interface()}
	},
	"SetGrad": func(g *gen) []any {
		t := g.leaf()
		return []any{t, g.tensorOf(t.DType(), t.Shape())}
	},
	"Backward": func(g *gen) []any { return []any{g.output()} },
	"BackwardWith": func(g *gen) []any {
		return []any{[]*weft.Tensor{g.output(), g.output()}[:1+g.r.IntN(2)], g.gradOpts()}
	},
	"Grad": func(g *gen) []any { return []any{g.output(), g.leaves, []weft.GradOpts{g.gradOpts()}} },
	"GradAll": func(g *gen) []any {
		return []any{[]*weft.Tensor{g.output(), g.output()}, g.leaves, []weft.GradOpts{g.gradOpts()}}
	},
	"Eval": func(g *gen) []any { return []any{g.formula(), g.formulaArgs()} },
	"Expr": func(g *gen) []any { return []any{pick(g, formulas...), g.formulaArgs()} },
	"BorrowRows": func(g *gen) []any {
		t := weft.RandOf(weft.Float32, 4, 3).RequireGrad().SparseGrad()
		t.IndexSelect(0, weft.FromSlice([]int64{1, 3, 1})).Sum().Backward()
		return []any{t, g.value(typ[func(places, values *weft.Tensor)]()).Interface()}
	},
	"Apply": func(g *gen) []any {
		x := g.leaf()
		return []any{g.function(), []*weft.Tensor{x, g.tensorOf(x.DType(), x.Shape())}[:1+g.r.IntN(2)]}
	},
	"nn.Conv2d.Forward": func(g *gen) []any {
		groups, in := 1+g.r.IntN(2), 1+g.r.IntN(3)
		l := nn.NewConv2d(groups*in, groups*(1+g.r.IntN(3)), 1+g.r.IntN(3), nn.Conv2dOpts{Opts: nn.Opts{Generator: weft.NewGenerator(1)}, Groups: new(groups)})
		l.Stride, l.Padding = g.pair(0, 1, 2), g.pair(0, 0, 1)
		g.leaves = append(g.leaves, l.Weight)
		return []any{l, g.tensorOf(weft.Float32, []int{g.r.IntN(3), groups * in, 3 + g.r.IntN(5), 3 + g.r.IntN(5)})}
	},
	"nn.Conv1d.Forward": func(g *gen) []any {
		l := nn.NewConv1d(1+g.r.IntN(3), 1+g.r.IntN(3), 1+g.r.IntN(3), nn.Conv1dOpts{Opts: nn.Opts{Generator: weft.NewGenerator(1)}, Padding: g.r.IntN(2)})
		g.leaves = append(g.leaves, l.Weight)
		return []any{l, g.tensorOf(weft.Float32, []int{g.r.IntN(3), l.Weight.Dim(1), 3 + g.r.IntN(5)})}
	},
	"nn.ConvTranspose2d.Forward": func(g *gen) []any {
		l := nn.NewConvTranspose2d(1+g.r.IntN(3), 1+g.r.IntN(3), 1+g.r.IntN(3), nn.ConvTranspose2dOpts{Opts: nn.Opts{Generator: weft.NewGenerator(1)}, Stride: new(g.r.IntN(3))})
		g.leaves = append(g.leaves, l.Weight)
		return []any{l, g.tensorOf(weft.Float32, []int{g.r.IntN(3), l.Weight.Dim(0), 1 + g.r.IntN(4), 1 + g.r.IntN(4)})}
	},
	"BCE": func(g *gen) []any {
		return []any{g.tensorOf(weft.Float32, []int{2, 3}), g.tensorOf(weft.Float32, []int{2, 3}), []nn.BCEOpts(nil)}
	},
	"NewGroupNorm": func(g *gen) []any {
		n := 1 + g.r.IntN(3)
		return []any{n, n * (1 + g.r.IntN(3)), []nn.NormOpts(nil)}
	},
	"nn.Embedding.Forward": func(g *gen) []any {
		l := nn.NewEmbedding(5, 3, nn.EmbeddingOpts{Sparse: g.chance(2), PaddingIdx: pick(g, nil, new(1))})
		g.leaves = append(g.leaves, l.Weight)
		return []any{l, weft.FromSlice(placesBelow(g, g.r.IntN(4)))}
	},
	"nn.EmbeddingBag.Forward": func(g *gen) []any { return []any{bagOf(g), weft.FromSlice(placesBelow(g, 6), 2, 3)} },
	"nn.EmbeddingBag.Bags": func(g *gen) []any {
		return []any{bagOf(g), weft.FromSlice(placesBelow(g, 6)), weft.FromSlice([]int64{0, 2, 2, 6}), []nn.BagOpts(nil)}
	},
	"nn.GroupNorm.Forward": func(g *gen) []any { return []any{nn.NewGroupNorm(2, 4), g.tensorOf(weft.Float32, []int{2, 4, 3})} },
	"nn.LayerNorm.Forward": func(g *gen) []any { return []any{nn.NewLayerNorm([]int{3}), g.tensorOf(weft.Float32, []int{2, 3})} },
	"nn.RMSNorm.Forward":   func(g *gen) []any { return []any{nn.NewRMSNorm([]int{3}), g.tensorOf(weft.Float32, []int{2, 3})} },
	"nn.BatchNorm1d.Forward": func(g *gen) []any {
		return []any{nn.NewBatchNorm1d(3, nn.BatchNormOpts{NoAffine: g.chance(2)}), g.tensorOf(weft.Float32, []int{4, 3})}
	},
	"nn.BatchNorm2d.Forward": func(g *gen) []any {
		return []any{nn.NewBatchNorm2d(3), g.tensorOf(weft.Float32, []int{1 + g.r.IntN(3), 3, 2, 2})}
	},
	"nn.LSTM.Forward": func(g *gen) []any {
		return []any{nn.NewLSTM(3, 2), g.tensorOf(weft.Float32, []int{1 + g.r.IntN(3), 2, 3})}
	},
	"nn.GRU.Forward": func(g *gen) []any {
		return []any{nn.NewGRU(3, 2), g.tensorOf(weft.Float32, []int{1 + g.r.IntN(3), 2, 3})}
	},
	"nn.LSTM.Run": func(g *gen) []any {
		return []any{nn.NewLSTM(3, 2), g.tensorOf(weft.Float32, []int{1 + g.r.IntN(3), 2, 3}), g.tensorOf(weft.Float32, []int{1, 2, 2}), g.tensorOf(weft.Float32, []int{1, 2, 2}), runOptsOf(g)}
	},
	"nn.GRU.Run": func(g *gen) []any {
		return []any{nn.NewGRU(3, 2), g.tensorOf(weft.Float32, []int{1 + g.r.IntN(3), 2, 3}), g.tensorOf(weft.Float32, []int{1, 2, 2}), runOptsOf(g)}
	},
	"nn.RNN.Forward": func(g *gen) []any {
		return []any{nn.NewRNN(3, 2), g.tensorOf(weft.Float32, []int{1 + g.r.IntN(3), 2, 3})}
	},
	"nn.RNN.Run": func(g *gen) []any {
		return []any{nn.NewRNN(3, 2), g.tensorOf(weft.Float32, []int{1 + g.r.IntN(3), 2, 3}), g.tensorOf(weft.Float32, []int{1, 2, 2}), runOptsOf(g)}
	},
	"nn.RNNCell.Step": func(g *gen) []any {
		return []any{nn.NewRNNCell(3, 2), g.tensorOf(weft.Float32, []int{2, 3}), g.tensorOf(weft.Float32, []int{2, 2})}
	},
	"nn.GRUCell.Step": func(g *gen) []any {
		return []any{nn.NewGRUCell(3, 2), g.tensorOf(weft.Float32, []int{2, 3}), g.tensorOf(weft.Float32, []int{2, 2})}
	},
	"nn.LSTMCell.Step": func(g *gen) []any {
		return []any{nn.NewLSTMCell(3, 2), g.tensorOf(weft.Float32, []int{2, 3}), g.tensorOf(weft.Float32, []int{2, 2}), g.tensorOf(weft.Float32, []int{2, 2})}
	},
	"nn.MultiheadAttention.Forward": func(g *gen) []any {
		return []any{nn.NewMultiheadAttention(4, 2), g.tensorOf(weft.Float32, []int{3, 2, 4})}
	},
	"nn.MultiheadAttention.Attend": func(g *gen) []any {
		x := g.tensorOf(weft.Float32, []int{3, 2, 4})
		return []any{nn.NewMultiheadAttention(4, 2), x, x, x, nn.AttendOpts{Causal: g.chance(2)}}
	},
	"nn.MultiheadAttention.AttendWeights": func(g *gen) []any {
		x := g.tensorOf(weft.Float32, []int{3, 2, 4})
		return []any{nn.NewMultiheadAttention(4, 2), x, x, x, nn.AttendOpts{Causal: g.chance(2)}}
	},
	"nn.TransformerEncoderLayer.Encode": func(g *gen) []any {
		return []any{nn.NewTransformerEncoderLayer(4, 2, transformed), g.tensorOf(weft.Float32, []int{3, 2, 4}), []nn.AttendOpts{{Causal: g.chance(2)}}}
	},
	"nn.TransformerEncoderLayer.Forward": func(g *gen) []any {
		return []any{nn.NewTransformerEncoderLayer(4, 2, transformed), g.tensorOf(weft.Float32, []int{3, 2, 4})}
	},
	"nn.TransformerEncoder.Encode": func(g *gen) []any {
		return []any{nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(4, 2, transformed), 1+g.r.IntN(2)), g.tensorOf(weft.Float32, []int{3, 2, 4}), []nn.AttendOpts{{Causal: g.chance(2)}}}
	},
	"nn.TransformerEncoder.Forward": func(g *gen) []any {
		return []any{nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(4, 2, transformed), 1+g.r.IntN(2)), g.tensorOf(weft.Float32, []int{3, 2, 4})}
	},
	"nn.TransformerDecoderLayer.Decode": func(g *gen) []any {
		return []any{nn.NewTransformerDecoderLayer(4, 2, transformed), g.tensorOf(weft.Float32, []int{3, 2, 4}), g.tensorOf(weft.Float32, []int{5, 2, 4}), []nn.DecodeOpts(nil)}
	},
	"nn.TransformerDecoder.Decode": func(g *gen) []any {
		return []any{nn.NewTransformerDecoder(nn.NewTransformerDecoderLayer(4, 2, transformed), 1), g.tensorOf(weft.Float32, []int{3, 2, 4}), g.tensorOf(weft.Float32, []int{5, 2, 4}), []nn.DecodeOpts(nil)}
	},
	"nn.Transformer.Translate": func(g *gen) []any {
		return []any{nn.NewTransformer(4, 2, 1, 1, transformed), g.tensorOf(weft.Float32, []int{5, 2, 4}), g.tensorOf(weft.Float32, []int{3, 2, 4}), []nn.TranslateOpts(nil)}
	},
	"ScaledDotProductAttention": func(g *gen) []any {
		return []any{g.tensorOf(weft.Float32, []int{2, 3, 4}), g.tensorOf(weft.Float32, []int{2, 5, 4}), g.tensorOf(weft.Float32, []int{2, 5, 1}), []nn.AttentionOpts{{Causal: g.chance(2)}}}
	},
	"nn.Upsample.Forward": func(g *gen) []any {
		return []any{nn.Upsample{Scale: new(pick(g, 0.5, 1, 1.7, 2)), Bilinear: g.chance(2), AlignCorners: g.chance(2)}, g.tensorOf(weft.Float32, []int{2, 3, 4})}
	},
	"nn.AdaptiveAvgPool2d.Forward": func(g *gen) []any {
		return []any{nn.AdaptiveAvgPool2d{Size: pick(g, [2]*int{}, [2]*int{new(2), nil}, [2]*int{new(0), new(1)}, [2]*int{new(3), new(3)})}, g.tensorOf(weft.Float32, []int{2, 3, 4})}
	},
	"NLL": func(g *gen) []any {
		return []any{g.tensorOf(weft.Float32, []int{2, 3}), weft.FromSlice([]int64{int64(g.r.IntN(3)), 1}), []nn.CrossEntropyOpts(nil)}
	},
	"nn.Linear.Forward": func(g *gen) []any {
		l := nn.NewLinear(1+g.r.IntN(5), 1+g.r.IntN(5), nn.Opts{Generator: weft.NewGenerator(1), NoBias: g.chance(2)})
		g.leaves = append(g.leaves, l.Weight)
		return []any{l, g.tensorOf(weft.Float32, []int{g.r.IntN(5), l.Weight.Dim(1)})}
	},
	"nn.MaxPool2d.Forward": func(g *gen) []any { a := poolArgs(g); return []any{maxPool2d(a[1].(weft.PoolOpts)), a[0]} },
	"nn.AvgPool2d.Forward": func(g *gen) []any { a := poolArgs(g); return []any{avgPool2d(a[1].(weft.PoolOpts)), a[0]} },
	"NewSGD": func(g *gen) []any {
		return []any{g.leavesByName(), optim.SGDOpts{LR: new(pick(g, 0.1, 1e300)), Momentum: pick(g, 0, 0.9), WeightDecay: pick(g, 0, 0.1)}}
	},
	"ClipNorm":       func(g *gen) []any { return []any{g.leavesByName(), pick(g, 0, 1, 1e300)} },
	"ClipValue":      func(g *gen) []any { return []any{g.leavesByName(), pick(g, 0, 1, 1e300)} },
	"optim.NewLBFGS": func(g *gen) []any { return []any{g.leavesByName(), optim.LBFGSOpts{MaxIter: new(g.r.IntN(5))}} },
	"NewAdam":        func(g *gen) []any { return []any{g.leavesByName(), optim.AdamOpts{LR: new(pick(g, 0.1, 1e300))}} },
	"NewAdagrad":     func(g *gen) []any { return []any{g.leavesByName(), optim.AdagradOpts{LR: new(0.1)}} },
	"NewNAdam":       func(g *gen) []any { return []any{g.leavesByName(), optim.NAdamOpts{LR: new(0.1)}} },
	"NewRMSprop":     func(g *gen) []any { return []any{g.leavesByName(), optim.RMSpropOpts{LR: new(0.1)}} },
	"optim.Scheduler.LoadState": func(g *gen) []any {
		s := optim.NewScheduler(optim.NewSGD(g.leavesByName(), optim.SGDOpts{LR: new(0.1)}), optim.Cosine{Steps: 10})
		return []any{s, s.State()}
	},
	"optim.Plateau.LoadState": func(g *gen) []any {
		p := optim.NewPlateau(optim.NewSGD(g.leavesByName(), optim.SGDOpts{LR: new(0.1)}), optim.PlateauOpts{})
		return []any{p, p.State()}
	},
	"optim.Sequence.At": func(g *gen) []any {
		return []any{optim.Sequence{Schedules: []optim.Schedule{optim.Linear{Steps: 3}, optim.Cosine{Steps: 10}}, Steps: []int{3}}, g.r.IntN(20), 0.1}
	},
	"weft.Compiled.Call": func(g *gen) []any { return []any{compiled(g), []any{g.tensor()}} },
	"Imag":               func(g *gen) []any { return []any{g.tensorOf(weft.Complex64, g.shape())} },
	"Quantiles": func(g *gen) []any {
		return []any{g.tensorOf(weft.Float64, []int{1 + g.r.IntN(9)}), []float64{0, 0.5, g.r.Float64()}, weft.QuantileOpts{}}
	},
	"optim.Optimizer.LoadState": func(g *gen) []any {
		o := optim.NewAdam(g.leavesByName(), optim.AdamOpts{LR: new(0.1)})
		weft.Try(o.Step)
		return []any{o, o.State()}
	},
	"data.Loader.LoadState": func(g *gen) []any {
		l := data.NewLoader(data.Tensors(g.plain([]int{5, 2}), nil), data.LoaderOpts{})
		return []any{l, l.State()}
	},
	"nn.LoadState":  func(g *gen) []any { m := g.module(); return []any{m, nn.State(m), g.chance(2)} },
	"Open":          func(g *gen) []any { return []any{g.path()} },
	"ReadFile":      func(g *gen) []any { return []any{g.path()} },
	"npy.WriteFile": func(g *gen) []any { return []any{g.path(), g.tensor()} },
	"weft.Share": func(g *gen) []any {
		return []any{fmt.Sprintf("hostile-%d-%d", os.Getpid(), g.r.Uint32()), 1 + g.r.IntN(5000)}
	},
	"weft.Segment.Tensor": func(g *gen) []any {
		s, _ := shared(fmt.Sprintf("hostile-%d-%d", os.Getpid(), g.r.Uint32()), 1+g.r.IntN(5000))
		return []any{s, 8 * g.r.IntN(20), weft.Float32, g.shape()}
	},
	"npy.Map":    func(g *gen) []any { return []any{g.path(), npy.MapMode(g.r.IntN(4))} },
	"MapColumns": func(g *gen) []any { return []any{g.path(), npy.MapMode(g.r.IntN(4))} },
	"npy.ReadArchive": func(g *gen) []any {
		b := g.file()
		return []any{bytes.NewReader(b), int64(len(b))}
	},
	"OpenArchive":     func(g *gen) []any { return []any{g.path()} },
	"ReadArchiveFile": func(g *gen) []any { return []any{g.path()} },
	"ReadColumnsFile": func(g *gen) []any { return []any{g.path()} },
	"WriteArchiveFile": func(g *gen) []any {
		return []any{g.path(), map[string]*weft.Tensor{"a": g.plain(g.shape()), "b": g.tensor()}, npy.ArchiveOpts{Compress: g.chance(2)}}
	},
	"WriteColumnsFile": func(g *gen) []any {
		return []any{g.path(), []npy.Column{{Name: "a", Tensor: g.plain(g.shape())}, {Name: "b", Tensor: g.tensor()}}}
	},
	"npy.Archive.Tensor":  func(g *gen) []any { return []any{g.archive(), pick(g, "a", "b", "records", "")} },
	"npy.Archive.Columns": func(g *gen) []any { return []any{g.archive(), pick(g, "a", "b", "records", "")} },
	"npy.Archive.Map": func(g *gen) []any {
		return []any{g.archive(), pick(g, "a", "b", "records", ""), npy.MapMode(g.r.IntN(4))}
	},
	"safetensors.WriteFile": func(g *gen) []any {
		return []any{g.path(), map[string]*weft.Tensor{"a": g.plain(g.shape()), "b": g.tensor()}}
	},
	"Save": func(g *gen) []any { return []any{g.path(), checkpoint.Parts{"part": g.part()}} },
	"Load": func(g *gen) []any {
		p := filepath.Join(g.dir, "saved")
		parts := checkpoint.Parts{"g": checkpoint.Generator(weft.NewGenerator(1)), "part": g.part()}
		if err := checkpoint.Save(p, parts, nil); err != nil {
			return []any{g.path(), parts}
		}
		return []any{p, parts}
	},
	"safetensors.Read": func(g *gen) []any {
		b := g.file()
		return []any{bytes.NewReader(b), int64(len(b))}
	},
	"safetensors.File.Tensor": func(g *gen) []any {
		return []any{g.value(typ[*safetensors.File]()).Interface(), pick(g, "a", "b", "W")}
	},
	"ItemInt": func(g *gen) []any {
		return []any{g.tensorOf(pick(g, weft.Bool, weft.Uint8, weft.Int32, weft.Int64), []int{1, 1}[:g.r.IntN(3)])}
	},
	"Item": func(g *gen) []any { return []any{g.tensorOf(pick(g, dtypes...), []int{1, 1}[:g.r.IntN(3)])} },
	"From": func(g *gen) []any { return []any{[][]float32{{1, 2}, {3, 4}}} },
	"To":   func(g *gen) []any { return []any{g.plain(g.shape()), pick(g, dtypes...)} },
}

// The formulas' other methods take the same arguments.
func init() {
	plausible["Explain"], plausible["Work"] = plausible["Eval"], plausible["Eval"]
	method("optim.SGD", func(g *gen) *optim.SGD { return optim.NewSGD(g.leavesByName(), optim.SGDOpts{LR: new(0.1)}) }, optim.SGDOpts{LR: new(0.2)})
	method("optim.Adam", func(g *gen) *optim.Adam { return optim.NewAdam(g.leavesByName(), optim.AdamOpts{LR: new(0.1)}) }, optim.AdamOpts{LR: new(0.2)})
	method("optim.Adagrad", func(g *gen) *optim.Adagrad {
		return optim.NewAdagrad(g.leavesByName(), optim.AdagradOpts{LR: new(0.1)})
	}, optim.AdagradOpts{LR: new(0.2)})
	method("optim.NAdam", func(g *gen) *optim.NAdam { return optim.NewNAdam(g.leavesByName(), optim.NAdamOpts{LR: new(0.1)}) }, optim.NAdamOpts{LR: new(0.2)})
	method("optim.RMSprop", func(g *gen) *optim.RMSprop {
		return optim.NewRMSprop(g.leavesByName(), optim.RMSpropOpts{LR: new(0.1)})
	}, optim.RMSpropOpts{LR: new(0.2)})
	for _, name := range []string{"Add", "Sub", "Mul", "Div", "Pow", "Mod", "FloorDiv", "Atan2", "Maximum", "Minimum", "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "LogicalAnd", "LogicalOr", "LogicalXor", "RSub", "RDiv"} {
		plausible[name] = func(g *gen) []any { t := g.plain(g.shape()); return []any{t, g.operand(t.Shape())} }
	}
	for _, name := range []string{"BitAnd", "BitOr", "BitXor", "Shl", "Shr"} {
		plausible[name] = func(g *gen) []any {
			s := g.shape()
			return []any{g.tensorOf(weft.Int32, s), g.tensorOf(pick(g, weft.Int32, weft.Uint8, weft.Int64), s)}
		}
	}
	for _, name := range []string{"AddAssign", "SubAssign", "MulAssign", "DivAssign", "Assign"} {
		plausible[name] = func(g *gen) []any {
			g.whole = !g.chance(8)
			t := g.plain(g.shape())
			g.whole = false
			return []any{t, g.operand(t.Shape())}
		}
	}
	for _, name := range []string{"Sum", "Prod", "Mean", "Max", "Min", "Var", "Std", "LogSumExp", "SampleVar", "SampleStd", "All", "Any", "ArgMax", "ArgMin"} {
		f := func(g *gen) []any {
			t := g.plain(g.shape())
			var axes []int
			for i := range t.Rank() {
				if g.chance(2) {
					axes = append(axes, i)
				}
			}
			if name[:3] == "Arg" && len(axes) > 1 {
				axes = axes[:1]
			}
			return []any{t, axes}
		}
		plausible[name], plausible[name+"Keep"] = f, f
	}
	vector := func(g *gen, n int) *weft.Tensor { return g.tensorOf(weft.Float64, []int{n}) }
	plausible["Dot"] = func(g *gen) []any { n := g.r.IntN(40); return []any{vector(g, n), vector(g, n)} }
	plausible["Outer"] = func(g *gen) []any { return []any{vector(g, g.r.IntN(9)), vector(g, g.r.IntN(9))} }
	plausible["TensorDot"] = func(g *gen) []any {
		return []any{g.tensorOf(weft.Float32, []int{2, 3, 4}), g.tensorOf(weft.Float32, []int{4, 3}), []int{-1, g.r.IntN(2)}, []int{0, 1}}
	}
	plausible["Einsum"] = func(g *gen) []any {
		return []any{pick(g, "ij,jk->ik", "ij,jk", "i j , j ... -> ...", "ab,bc->", "ij,jk->ki", "ii,jk", "ij,jl->il"), []*weft.Tensor{g.tensorOf(weft.Float64, []int{3, 4}), g.tensorOf(pick(g, dtypes...), []int{4, 1 + g.r.IntN(4)})}}
	}
	plausible["SearchSorted"] = func(g *gen) []any {
		return []any{vector(g, g.r.IntN(20)), g.plain(g.shape()), weft.SearchOpts{Right: g.chance(2)}}
	}
	plausible["BinCount"] = func(g *gen) []any {
		g.places = 9
		t := g.tensorOf(weft.Int64, g.shape())
		g.places = 0
		return []any{t, (*weft.Tensor)(nil), g.r.IntN(5)}
	}
	plausible["TopK"] = func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		return []any{t, g.r.IntN(t.Shape()[(a+t.Rank())%t.Rank()] + 1), a, weft.TopKOpts{Smallest: g.chance(2)}}
	}
	plausible["KthValue"] = func(g *gen) []any {
		t := g.plain(g.ranked())
		a := g.axis(t)
		return []any{t, g.r.IntN(t.Shape()[(a+t.Rank())%t.Rank()]+1) + g.r.IntN(2), a}
	}
	plausible["Multinomial"] = func(g *gen) []any {
		return []any{weft.NewGenerator(3), weft.Rand(1+g.r.IntN(4), 6), g.r.IntN(7), weft.MultinomialOpts{Distinct: g.chance(2)}}
	}
	plausible["Bernoulli"] = func(g *gen) []any { return []any{weft.NewGenerator(3), weft.Rand(g.shape()...)} }
	plausible["Choice"] = func(g *gen) []any {
		return []any{weft.NewGenerator(3), g.plain(append([]int{5}, g.shape()...)), g.r.IntN(6), weft.ChoiceOpts{Distinct: g.chance(2)}}
	}
	for _, name := range []string{"CumSum", "CumProd", "CumMax", "CumMin", "MaxWithIndex", "MinWithIndex"} {
		plausible[name] = func(g *gen) []any { t := g.plain(g.ranked()); return []any{t, g.axis(t)} }
	}
	for _, name := range []string{"Softmax", "LogSoftmax"} {
		plausible[name] = func(g *gen) []any { t := g.plain(g.ranked()); return []any{t, g.axis(t)} }
	}
	for _, name := range []string{"FanInUniform", "KaimingNormal", "KaimingUniform", "XavierNormal", "XavierUniform"} {
		plausible[name] = func(g *gen) []any { return []any{weft.NewGenerator(3), g.shapeOf(2 + g.r.IntN(3))} }
	}
	for _, name := range []string{"Zeros", "Ones", "Rand", "Randn"} {
		plausible[name] = func(g *gen) []any { return []any{g.bigShape()} }
	}
	plausible["EyeOf"] = func(g *gen) []any { return []any{pick(g, dtypes...), g.r.IntN(6)} }
	plausible["LinspaceOf"] = func(g *gen) []any { return []any{pick(g, dtypes...), g.float(), g.float(), g.r.IntN(9)} }
	plausible["RandpermOf"] = func(g *gen) []any { return []any{pick(g, dtypes...), g.r.IntN(9)} }
	plausible["FullOf"] = func(g *gen) []any { return []any{pick(g, dtypes...), pick[any](g, 1, 2.5, true), g.bigShape()} }
	plausible["Full"] = func(g *gen) []any { return []any{pick[any](g, 1, 2.5, true), g.bigShape()} }
	for _, name := range []string{"ZerosOf", "OnesOf", "RandOf", "RandnOf"} {
		plausible[name] = func(g *gen) []any { return []any{pick(g, dtypes...), g.bigShape()} }
	}
}

// method adds the arguments of methods of an optimizer: a state of its own, and a group of
// further parameters.
func method[M interface {
	Step()
	State() map[string]*weft.Tensor
}](name string, create func(g *gen) M, o any) {
	plausible[name+".LoadState"] = func(g *gen) []any {
		m := create(g)
		weft.Try(m.Step)
		return []any{m, m.State()}
	}
	plausible[name+".AddGroup"] = func(g *gen) []any {
		more := map[string]*weft.Tensor{"more": g.leaf()}
		return []any{create(g), maps.All(more), o}
	}
}

// elements adds the arguments of the functions that are generic over elements.
func elements[T weft.Element](d weft.DType) {
	name := fmt.Sprintf("[%T]", *new(T))
	plausible["Data"+name] = func(g *gen) []any {
		if g.chance(6) {
			return []any{g.huge(d)}
		}
		return []any{g.tensorOf(d, g.shape())}
	}
	plausible["CopyTo"+name] = func(g *gen) []any {
		t := g.tensorOf(d, g.shape())
		return []any{t, make([]T, t.Size())}
	}
	plausible["Borrow"+name] = func(g *gen) []any {
		t := g.tensorOf(d, g.shape())
		if c, err := try(t.Contiguous); err == nil {
			t = g.took(c)
		}
		return []any{t}
	}
	plausible["FromSlice"+name] = func(g *gen) []any {
		s := g.shape()
		return []any{make([]T, array.Size(s)), s}
	}
}

func maxPool2d(o weft.PoolOpts) nn.MaxPool2d {
	return nn.MaxPool2d{Window: o.Window, Stride: o.Stride, Padding: o.Padding}
}

func avgPool2d(o weft.PoolOpts) nn.AvgPool2d {
	return nn.AvgPool2d{Window: o.Window, Stride: o.Stride, Padding: o.Padding}
}

// runOptsOf are options of a recurrent network over two sequences, without lengths or with small ones.
func runOptsOf(g *gen) []nn.RunOpts {
	if g.chance(2) {
		return nil
	}
	return []nn.RunOpts{{Lengths: weft.FromSlice([]int64{1, int64(1 + g.r.IntN(3))})}}
}

// transformed are options of a small Transformer that drops nothing.
var transformed = nn.TransformerOpts{FeedForward: new(6), Dropout: new(0.0)}
