package nn

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// normalize is (x-mean)/sqrt(variance+eps) over axes of x, and mean and variance, by n
// elements, which keep the axes. The gradient is composed from the results, so that each
// pass over x is one kernel.
func normalize(name string, axes ...int) core.Composite {
	return core.NewComposite(name, func(x []*node) []*node {
		mean := reduceOver(op.Mean, x[0], axes...)
		d := sub(x[0], mean)
		v := reduceOver(op.Mean, apply(op.Square, d), axes...)
		y := mul(d, apply(op.Rsqrt, add(v, x[1])))
		if len(x) > 2 {
			y = mul(y, x[2])
		}
		if len(x) > 3 {
			y = add(y, x[3])
		}
		return []*node{y, mean, v}
	}, func(v *op.VJP) {
		x, mean, variance, dy := v.X[0], v.Ys[1], v.Ys[2], v.DY
		r := apply(op.Rsqrt, add(variance, v.X[1]))
		d := sub(x, mean)
		h := mul(d, r)
		v.Set(0, func() *node {
			g := dy
			if len(v.X) > 2 {
				g = mul(g, v.X[2])
			}
			n := x.Graph.Number(float64(x.Size()/max(mean.Size(), 1)), x.DType, false)
			dx := mul(r, sub(sub(g, reduceOver(op.Mean, g, axes...)), mul(h, reduceOver(op.Mean, mul(g, h), axes...))))
			// What depends on mean and variance themselves.
			two := x.Graph.Number(2, x.DType, false)
			return add(dx, add(div(v.DYs[1], n), mul(d, div(mul(two, v.DYs[2]), n))))
		})
		if len(v.X) > 2 {
			v.Set(2, func() *node {
				if len(axes) == 1 {
					// Summed over the other axis: a value of its own, which that kernel computes
					// again, where h would have to be stored for it by the one above.
					h = mul(sub(mean, x), apply(op.Neg, r))
				}
				return mul(dy, h)
			})
		}
		if len(v.X) > 3 {
			v.Set(3, func() *node { return dy })
		}
	})
}

var (
	rowsNorm    = normalize("layer_norm", 1)
	channelNorm = normalize("batch_norm", 0, 2)

	// restore is a batch normalisation by numbers that are known.
	restore = core.NewComposite("batch_norm", asList(func(x []*node) *node {
		y := mul(sub(x[0], x[1]), apply(op.Rsqrt, add(x[2], x[3])))
		if len(x) > 4 {
			y = mul(y, x[4])
		}
		if len(x) > 5 {
			y = add(y, x[5])
		}
		return y
	}), nil)

	rmsNorm = core.NewComposite("rms_norm", asList(func(x []*node) *node {
		y := mul(x[0], rootMean(x))
		if len(x) > 2 {
			y = mul(y, x[2])
		}
		return y
	}), func(v *op.VJP) {
		x, r := v.X[0], rootMean(v.X)
		v.Set(0, func() *node {
			g := v.DY
			if len(v.X) > 2 {
				g = mul(g, v.X[2])
			}
			h := mul(x, r)
			return mul(r, sub(g, mul(h, reduceOver(op.Mean, mul(g, h), 1))))
		})
		if len(v.X) > 2 {
			v.Set(2, func() *node { return mul(v.DY, mul(x, r)) })
		}
	})
)

// rootMean is 1 over the root of the mean square of each row of the first argument, plus
// the second.
func rootMean(x []*node) *node {
	return apply(op.Rsqrt, add(reduceOver(op.Mean, apply(op.Square, x[0]), 1), x[1]))
}

// NormOpts are the options of normalisations; the defaults are PyTorch's.
type NormOpts struct {
	Eps    *float64 // added to the variance; nil means 1e-5
	NoBias bool     // leaves the bias out
	// NoAffine leaves weight and bias out.
	NoAffine bool
}

func (o *NormOpts) eps() float64 { return array.Or(o.Eps, 1e-5) }

func (o *NormOpts) affine(shape ...int) (weight, bias *weft.Tensor) {
	if !o.NoAffine {
		weight = Param(weft.Ones(shape...))
		if !o.NoBias {
			bias = Param(weft.Zeros(shape...))
		}
	}
	return weight, bias
}

// presentOperands appends to args the tensors before the first nil one, each in the given shape.
func presentOperands(args []core.Operand, shape []int, ts ...*weft.Tensor) []core.Operand {
	for _, t := range ts {
		if t == nil {
			break
		}
		args = append(args, core.Of("reshape", (*core.Tensor)(t.Reshape(shape...))))
	}
	return args
}

// LayerNorm makes mean 0 and variance 1 of each example's last axes, then scales and
// shifts (Ba et al., Layer normalization, 2016).
type LayerNorm struct {
	Weight *weft.Tensor // the shape that is normalised, nil for none
	Bias   *weft.Tensor // the same, nil for none
	Shape  []int        // the last axes
	Eps    float64      // added to the variance
}

// NewLayerNorm returns a layer over last axes of the given sizes.
func NewLayerNorm(shape []int, opts ...NormOpts) *LayerNorm {
	defer array.Named("layer_norm").End()
	o := array.Options("layer_norm", opts)
	w, b := o.affine(shape...)
	return &LayerNorm{Weight: w, Bias: b, Shape: slices.Clone(shape), Eps: o.eps()}
}

// Forward keeps the shape. It panics with *weft.Error if the last axes of x have other
// sizes.
func (l *LayerNorm) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, (*LayerNorm).forward) }

func (l *LayerNorm) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("layer_norm").End()
	if l == nil {
		failNil("layer_norm", "NewLayerNorm")
	}
	n := tail("layer_norm", x, l.Shape, l.Weight)
	x = raised(x)
	return own(first(rowsNorm, presentOperands(append(operands("layer_norm", x.Reshape(-1, n)), core.Num(l.Eps)), []int{n}, l.Weight, l.Bias)...).Reshape(sizes(x)...))
}

// RMSNorm divides each example's last axes by the root of the mean of their squares, then
// scales (Zhang and Sennrich, Root mean square layer normalization, 2019).
type RMSNorm struct {
	Weight *weft.Tensor // the shape that is normalised, nil for none
	Shape  []int        // the last axes
	Eps    float64      // added to the mean of the squares
}

// NewRMSNorm returns a layer over last axes of the given sizes. An Eps of nil means the
// distance of 1 to the next float32, 2^-23, as in PyTorch.
func NewRMSNorm(shape []int, opts ...NormOpts) *RMSNorm {
	defer array.Named("rms_norm").End()
	o := array.Options("rms_norm", opts)
	o.NoBias = true
	w, _ := o.affine(shape...)
	return &RMSNorm{Weight: w, Shape: slices.Clone(shape), Eps: array.Or(o.Eps, 0x1p-23)}
}

// Forward keeps the shape. It panics with *weft.Error if the last axes of x have other
// sizes.
func (l *RMSNorm) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, (*RMSNorm).forward) }

func (l *RMSNorm) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("rms_norm").End()
	if l == nil {
		failNil("rms_norm", "NewRMSNorm")
	}
	n := tail("rms_norm", x, l.Shape, l.Weight)
	x = raised(x)
	return own(first(rmsNorm, presentOperands(append(operands("rms_norm", x.Reshape(-1, n)), core.Num(l.Eps)), []int{n}, l.Weight)...).Reshape(sizes(x)...))
}

// tail checks the last axes of x, and the weights, and returns their size.
func tail(op string, x *weft.Tensor, shape []int, w *weft.Tensor) int {
	if x == nil {
		array.Failf(op, "x", "is nil")
	}
	if k := x.Rank() - len(shape); len(shape) == 0 || k < 0 || !array.Equal(sizes(x)[k:], shape) {
		array.Failf(op, "x", "has shape %s, want last axes %s", array.ShapeString(x.Shape()), array.ShapeString(shape))
	}
	if w != nil && !array.Equal(sizes(w), shape) {
		array.Failf(op, "Weight", "has shape %s, want %s", array.ShapeString(w.Shape()), array.ShapeString(shape))
	}
	if !x.DType().Float() {
		array.Failf(op, "x", "has elements of type %s, want floats", x.DType())
	}
	return array.Size(shape)
}

func failNil(op, maker string) { array.Failf(op, "", "the layer is nil: %s makes one", maker) }

// GroupNorm makes mean 0 and variance 1 of each group of channels of an example, then
// scales and shifts each channel (Wu and He, Group normalization, 2018).
type GroupNorm struct {
	Weight *weft.Tensor // [channels], nil for none
	Bias   *weft.Tensor // [channels], nil for none
	Groups int          // divides the channels
	Eps    float64      // added to the variance
}

// NewGroupNorm returns a layer that normalises groups of channels. It panics with *weft.Error unless
// groups divides channels.
func NewGroupNorm(groups, channels int, opts ...NormOpts) *GroupNorm {
	defer array.Named("group_norm").End()
	if groups < 1 || channels < 1 || channels%groups != 0 {
		array.Failf("group_norm", "groups", "is %d, which does not divide %d channels", groups, channels)
	}
	o := array.Options("group_norm", opts)
	w, b := o.affine(channels)
	return &GroupNorm{Weight: w, Bias: b, Groups: groups, Eps: o.eps()}
}

// Forward keeps the shape [batch, channels, ...].
func (l *GroupNorm) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, (*GroupNorm).forward) }

func (l *GroupNorm) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("group_norm").End()
	if l == nil {
		failNil("group_norm", "NewGroupNorm")
	}
	n, c, size := channels("group_norm", x, 2, array.MaxRank, l.Weight)
	if l.Groups < 1 || c%l.Groups != 0 {
		array.Failf("group_norm", "Groups", "is %d, which does not divide %d channels", l.Groups, c)
	}
	x = raised(x)
	// Groups are rows; channels are scaled by another kernel, which takes less time than
	// one whose passes are over two axes.
	y := first(rowsNorm, append(operands("group_norm", x.Reshape(n*l.Groups, c/l.Groups*size)), core.Num(l.Eps))...).Reshape(n, c, size)
	switch {
	case l.Weight != nil && l.Bias != nil:
		y = weft.Expr("y*w + b", weft.Vars{"y": y, "w": l.Weight.Reshape(c, 1), "b": l.Bias.Reshape(c, 1)})
	case l.Weight != nil:
		y = y.Mul(l.Weight.Reshape(c, 1))
	}
	return own(y.Reshape(sizes(x)...))
}

// channels checks pictures or rows with channels, and returns batch, channels and what
// comes after them.
func channels(op string, x *weft.Tensor, least, most int, w *weft.Tensor) (n, c, size int) {
	if x == nil {
		array.Failf(op, "x", "is nil")
	}
	s := sizes(x)
	if len(s) < least || len(s) > most {
		array.Failf(op, "x", "has shape %s, want %d to %d axes, channels second", array.ShapeString(s), least, most)
	}
	if w != nil && !array.Equal(sizes(w), s[1:2]) {
		array.Failf(op, "x", "has shape %s, want [N %d ...]: %d channels", array.ShapeString(s), w.Size(), w.Size())
	}
	if !x.DType().Float() {
		array.Failf(op, "x", "has elements of type %s, want floats", x.DType())
	}
	return s[0], s[1], array.Size(s[2:])
}

// BatchNormOpts are the options of batch normalisations; the defaults are PyTorch's.
type BatchNormOpts struct {
	Eps *float64 // added to the variance; nil means 1e-5
	// Momentum is the share of a batch in the running statistics; nil means 0.1.
	Momentum *float64
	// Cumulative averages all batches instead, as PyTorch's momentum=None.
	Cumulative bool
	// NoAffine leaves weight and bias out.
	NoAffine bool
	// NoRunning keeps no statistics: evaluation uses those computed from the batch, too.
	NoRunning bool
}

// batchNorm is what batch normalisations have in common.
type batchNorm struct {
	Weight            *weft.Tensor // [channels], nil for none
	Bias              *weft.Tensor // [channels], nil for none
	RunningMean       *weft.Tensor // [channels], a buffer, nil for none
	RunningVar        *weft.Tensor // [channels], a buffer: of samples, divided by n-1
	NumBatchesTracked *weft.Tensor // int64, a buffer
	Eps               float64      // added to the variance
	Momentum          float64      // the share of a batch in the running statistics
	Cumulative        bool         // all batches have the same share instead

	eval bool
}

func newBatchNorm(channels int, opts []BatchNormOpts) batchNorm {
	defer array.Named("batch_norm").End()
	o := array.Options("batch_norm", opts)
	b := batchNorm{Eps: array.Or(o.Eps, 1e-5), Momentum: array.Or(o.Momentum, 0.1), Cumulative: o.Cumulative}
	if !(b.Momentum >= 0 && b.Momentum <= 1) {
		array.Failf("batch_norm", "Momentum", "is %v, want 0 to 1", b.Momentum)
	}
	if !o.NoAffine {
		b.Weight, b.Bias = Param(weft.Ones(channels)), Param(weft.Zeros(channels))
	}
	if !o.NoRunning {
		b.RunningMean, b.RunningVar, b.NumBatchesTracked = weft.Zeros(channels), weft.Ones(channels), weft.Scalar(int64(0))
	}
	return b
}

// normalize normalises the channels of x. In [weft.Autocast] it computes in float32, and the result has
// the type of x, as PyTorch's on a GPU.
func (b *batchNorm) normalize(name string, x *weft.Tensor, least, most int) *weft.Tensor {
	n, c, size := channels(name, x, least, most, b.Weight)
	if wide := raised(x); wide != x {
		return b.normalize(name, wide, least, most).To(x.DType())
	}
	for _, t := range []*weft.Tensor{b.Bias, b.RunningMean, b.RunningVar} {
		if t != nil && (t.Rank() != 1 || t.Dim(0) != c) {
			array.Failf(name, "x", "has %d channels, the layer's tensors have shape %s", c, array.ShapeString(t.Shape()))
		}
	}
	rows, shape := x.Reshape(n, c, size), []int{c, 1}
	running := b.RunningMean != nil && b.RunningVar != nil
	if b.eval && running {
		in := append(operands(name, rows, b.RunningMean.Reshape(c, 1), b.RunningVar.Reshape(c, 1)), core.Num(b.Eps))
		return own(first(restore, presentOperands(in, shape, b.Weight, b.Bias)...).Reshape(sizes(x)...))
	}
	if !b.eval && n*size == 1 {
		array.Failf(name, "x", "has shape %s: the variance of one value a channel says nothing", array.ShapeString(x.Shape()))
	}
	out := channelNorm.Apply(presentOperands(append(operands(name, rows), core.Num(b.Eps)), shape, b.Weight, b.Bias)...)
	if !b.eval && running && n*size > 0 {
		b.track((*weft.Tensor)(out[1]), (*weft.Tensor)(out[2]), float64(n*size))
	}
	return own((*weft.Tensor)(out[0]).Reshape(sizes(x)...))
}

// track moves the running statistics towards a batch's; the batch has n values a channel.
func (b *batchNorm) track(mean, variance *weft.Tensor, n float64) {
	share := b.Momentum
	if b.NumBatchesTracked != nil {
		b.NumBatchesTracked.AddAssign(1)
		switch {
		case !b.Cumulative:
		case core.TracingHere() != nil:
			b.trackTraced(mean, variance, n)
			return
		default:
			share = 1 / b.NumBatchesTracked.Item()
		}
	}
	move := func(to, from *weft.Tensor, factor float64) {
		from = from.Detach().Reshape(sizes(to)...).Mul(share * factor)
		to.Detach().MulAssign(1 - share).AddAssign(from)
	}
	move(b.RunningMean, mean, 1)
	move(b.RunningVar, variance, n/(n-1))
}

// trackTraced is track in a compiled function where all batches have the same share, which each
// call finds.
func (b *batchNorm) trackTraced(mean, variance *weft.Tensor, n float64) {
	one := weft.ScalarOf(weft.Float64, 1.0)
	share := one.Div(b.NumBatchesTracked.To(weft.Float64))
	move := func(to, from *weft.Tensor, factor float64) {
		d := to.DType()
		from = from.Detach().Reshape(sizes(to)...).Mul(share.Mul(factor).To(d))
		to.Detach().MulAssign(one.Sub(share).To(d)).AddAssign(from)
	}
	move(b.RunningMean, mean, 1)
	move(b.RunningVar, variance, n/(n-1))
}

// BatchNorm1d normalises each channel of a batch to mean 0 and variance 1, then scales and shifts
// it (Ioffe and Szegedy, Batch normalization, 2015). An empty batch leaves the running statistics
// unchanged. Out of training ([Eval]) it uses the running statistics, which are buffers.
//
// Its fields are the parameters Weight and Bias [channels], the buffers RunningMean and RunningVar
// [channels] and NumBatchesTracked (int64), and Eps, Momentum and Cumulative as in [BatchNormOpts].
// Tensors that the options leave out are nil.
type BatchNorm1d struct {
	batchNorm `nn:""`
}

// NewBatchNorm1d returns a layer for the given number of channels.
func NewBatchNorm1d(channels int, opts ...BatchNormOpts) *BatchNorm1d {
	return &BatchNorm1d{newBatchNorm(channels, opts)}
}

// SetTraining implements [Trainer].
func (b *BatchNorm1d) SetTraining(on bool) {
	if b == nil {
		failNil("batch_norm", "NewBatchNorm1d")
	}
	b.eval = !on
}

// Forward keeps the shape [batch, channels] or [batch, channels, n].
func (b *BatchNorm1d) Forward(x *weft.Tensor) *weft.Tensor { return Call(b, x, (*BatchNorm1d).forward) }

func (b *BatchNorm1d) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("batch_norm").End()
	if b == nil {
		failNil("batch_norm", "NewBatchNorm1d")
	}
	return b.normalize("batch_norm", x, 2, 3)
}

// BatchNorm2d is [BatchNorm1d] over pictures, with the same fields.
type BatchNorm2d struct {
	batchNorm `nn:""`
}

// NewBatchNorm2d returns a layer for [batch, channels, height, width].
func NewBatchNorm2d(channels int, opts ...BatchNormOpts) *BatchNorm2d {
	return &BatchNorm2d{newBatchNorm(channels, opts)}
}

// SetTraining implements [Trainer].
func (b *BatchNorm2d) SetTraining(on bool) {
	if b == nil {
		failNil("batch_norm", "NewBatchNorm2d")
	}
	b.eval = !on
}

// Forward keeps the shape [batch, channels, height, width].
func (b *BatchNorm2d) Forward(x *weft.Tensor) *weft.Tensor { return Call(b, x, (*BatchNorm2d).forward) }

func (b *BatchNorm2d) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("batch_norm").End()
	if b == nil {
		failNil("batch_norm", "NewBatchNorm2d")
	}
	return b.normalize("batch_norm", x, 4, 4)
}
