package nn

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// BatchNorm3d is [BatchNorm1d] over volumes, with the same fields.
type BatchNorm3d struct {
	batchNorm `nn:""`
}

// NewBatchNorm3d returns a layer for [batch, channels, depth, height, width].
func NewBatchNorm3d(channels int, opts ...BatchNormOpts) *BatchNorm3d {
	return &BatchNorm3d{newBatchNorm(channels, opts)}
}

// SetTraining implements [Trainer].
func (b *BatchNorm3d) SetTraining(on bool) {
	if b == nil {
		failNil("batch_norm", "NewBatchNorm3d")
	}
	b.eval = !on
}

// Forward keeps the shape [batch, channels, depth, height, width].
func (b *BatchNorm3d) Forward(x *weft.Tensor) *weft.Tensor { return Call(b, x, (*BatchNorm3d).forward) }

func (b *BatchNorm3d) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("batch_norm").End()
	if b == nil {
		failNil("batch_norm", "NewBatchNorm3d")
	}
	return b.normalize("batch_norm", x, 5, 5)
}

// InstanceNormOpts are the options of instance normalisations; the defaults are PyTorch's.
type InstanceNormOpts struct {
	Eps *float64 // added to the variance; nil means 1e-5
	// Momentum is the share of a batch in the running statistics; nil means 0.1.
	Momentum *float64
	Affine   bool // has weight and bias
	Running  bool // keeps running statistics, which evaluation uses: track_running_stats there
}

// InstanceNorm1d makes mean 0 and variance 1 of each channel of each example, then scales and shifts
// it (Ulyanov et al., Instance normalization: the missing ingredient for fast stylization, 2016).
// It has the fields of [BatchNorm1d].
type InstanceNorm1d struct {
	batchNorm `nn:""`
}

// NewInstanceNorm1d returns a layer for [batch, channels, n] or [channels, n]. It panics with
// *weft.Error if Momentum is not in [0, 1].
func NewInstanceNorm1d(channels int, opts ...InstanceNormOpts) *InstanceNorm1d {
	return &InstanceNorm1d{newInstanceNorm(channels, opts)}
}

func newInstanceNorm(channels int, opts []InstanceNormOpts) batchNorm {
	const name = "instance_norm"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	return newBatchNorm(channels, []BatchNormOpts{{Eps: o.Eps, Momentum: o.Momentum, NoAffine: !o.Affine, NoRunning: !o.Running}})
}

// SetTraining implements [Trainer].
func (b *InstanceNorm1d) SetTraining(on bool) {
	if b == nil {
		failNil("instance_norm", "NewInstanceNorm1d")
	}
	b.eval = !on
}

// Forward keeps the shape [batch, channels, n] or [channels, n].
func (b *InstanceNorm1d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(b, x, (*InstanceNorm1d).single)
}

func (b *InstanceNorm1d) single(x *weft.Tensor) *weft.Tensor {
	return withBatch("instance_norm", b, x, 2, (*InstanceNorm1d).forward)
}

func (b *InstanceNorm1d) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("instance_norm").End()
	if b == nil {
		failNil("instance_norm", "NewInstanceNorm1d")
	}
	return b.eachExample(x, 1)
}

// InstanceNorm2d is [InstanceNorm1d] over pictures, with the same fields.
type InstanceNorm2d struct {
	batchNorm `nn:""`
}

// NewInstanceNorm2d returns a layer for [batch, channels, height, width] or [channels, height, width].
// It panics with *weft.Error if Momentum is not in [0, 1].
func NewInstanceNorm2d(channels int, opts ...InstanceNormOpts) *InstanceNorm2d {
	return &InstanceNorm2d{newInstanceNorm(channels, opts)}
}

// SetTraining implements [Trainer].
func (b *InstanceNorm2d) SetTraining(on bool) {
	if b == nil {
		failNil("instance_norm", "NewInstanceNorm2d")
	}
	b.eval = !on
}

// Forward keeps the shape [batch, channels, height, width] or [channels, height, width].
func (b *InstanceNorm2d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(b, x, (*InstanceNorm2d).single)
}

func (b *InstanceNorm2d) single(x *weft.Tensor) *weft.Tensor {
	return withBatch("instance_norm", b, x, 3, (*InstanceNorm2d).forward)
}

func (b *InstanceNorm2d) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("instance_norm").End()
	if b == nil {
		failNil("instance_norm", "NewInstanceNorm2d")
	}
	return b.eachExample(x, 2)
}

// InstanceNorm3d is [InstanceNorm1d] over volumes, with the same fields.
type InstanceNorm3d struct {
	batchNorm `nn:""`
}

// NewInstanceNorm3d returns a layer for [batch, channels, depth, height, width] or [channels, depth, height, width].
// It panics with *weft.Error if Momentum is not in [0, 1].
func NewInstanceNorm3d(channels int, opts ...InstanceNormOpts) *InstanceNorm3d {
	return &InstanceNorm3d{newInstanceNorm(channels, opts)}
}

// SetTraining implements [Trainer].
func (b *InstanceNorm3d) SetTraining(on bool) {
	if b == nil {
		failNil("instance_norm", "NewInstanceNorm3d")
	}
	b.eval = !on
}

// Forward keeps the shape [batch, channels, depth, height, width] or [channels, depth, height, width].
func (b *InstanceNorm3d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(b, x, (*InstanceNorm3d).single)
}

func (b *InstanceNorm3d) single(x *weft.Tensor) *weft.Tensor {
	return withBatch("instance_norm", b, x, 4, (*InstanceNorm3d).forward)
}

func (b *InstanceNorm3d) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("instance_norm").End()
	if b == nil {
		failNil("instance_norm", "NewInstanceNorm3d")
	}
	return b.eachExample(x, 3)
}

// eachExample normalises each channel of each example of x, whose channels have some axes.
func (b *batchNorm) eachExample(x *weft.Tensor, axes int) *weft.Tensor {
	const name = "instance_norm"
	floats(name, "x", x)
	if x.Rank() != axes+2 {
		array.Failf(name, "x", "has shape %s, want %d or %d axes: channels before the last %d", array.ShapeString(sizes(x)), axes+1, axes+2, axes)
	}
	n, c, size := channels(name, x, axes+2, axes+2, b.Weight)
	if wide := raised(x); wide != x {
		return b.eachExample(wide, axes).To(x.DType())
	}
	running := b.RunningMean != nil && b.RunningVar != nil
	if running && b.RunningMean.Size() != c {
		array.Failf(name, "x", "has %d channels, the layer %d", c, b.RunningMean.Size())
	}
	if b.eval && running {
		return b.normalize(name, x, axes+2, axes+2)
	}
	if size == 1 {
		array.Failf(name, "x", "has shape %s: the variance of one value a channel says nothing", array.ShapeString(sizes(x)))
	}
	out := rowsNorm.Apply(append(operands(name, x.Reshape(n*c, size)), core.Num(b.Eps))...)
	if running && n*size > 0 {
		mean := func(t *core.Tensor) *weft.Tensor { return (*weft.Tensor)(t).Detach().Reshape(n, c).Mean(0) }
		quiet := batchNorm{RunningMean: b.RunningMean, RunningVar: b.RunningVar, Momentum: b.Momentum} // PyTorch counts no batches here
		quiet.track(mean(out[1]), mean(out[2]), float64(size))
	}
	y := (*weft.Tensor)(out[0]).Reshape(n, c, size)
	if b.Weight != nil {
		y = y.Mul(b.Weight.Reshape(c, 1))
	}
	if b.Bias != nil {
		y = y.Add(b.Bias.Reshape(c, 1))
	}
	return own(y.Reshape(sizes(x)...))
}

// LocalResponseNorm divides each element by a power of K plus Alpha times the mean square of the
// same place in Size channels around its own (Krizhevsky et al., ImageNet classification with deep
// convolutional neural networks, 2012).
type LocalResponseNorm struct {
	Size  int      // channels, Size/2 of them before
	Alpha *float64 // nil means 1e-4
	Beta  *float64 // the power; nil means 0.75
	K     *float64 // nil means 1
}

// Forward keeps the shape [batch, channels, ...]. It panics with *weft.Error if Size is below 1.
func (l LocalResponseNorm) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(l, x, LocalResponseNorm.forward)
}

func (l LocalResponseNorm) forward(x *weft.Tensor) *weft.Tensor {
	const name = "local_response_norm"
	defer array.Named(name).End()
	n, c, size := channels(name, x, 3, array.MaxRank, nil)
	x = raised(x)
	if l.Size < 1 || l.Size > 1<<20 {
		array.Failf(name, "Size", "is %d, want 1 to %d", l.Size, 1<<20)
	}
	if x.Size() == 0 {
		return x.Clone()
	}
	squares := x.Square().Reshape(n, c, size).Pad(0, 0, 0, l.Size/2, (l.Size-1)/2, 0, 0)
	means := squares.AvgPool2d(weft.PoolOpts{Window: [2]int{l.Size, 1}, Stride: &[2]int{1, 1}})
	return weft.Expr("x/pow(m*alpha + k, beta)", weft.Vars{"x": x, "m": means.Reshape(slices.Clone(sizes(x))...),
		"alpha": array.Or(l.Alpha, 1e-4), "beta": array.Or(l.Beta, 0.75), "k": array.Or(l.K, 1)})
}
