package nn

import (
	"fmt"
	"slices"

	"weft"
	"weft/internal/array"
)

// AdaptiveLogSoftmax is a softmax over many classes whose frequent ones come first (Grave et al.,
// Efficient softmax approximation for GPUs, 2016). A head has the first classes and one output for each
// cluster of the others. A cluster has a projection to fewer numbers and a matrix for its classes. It
// is torch.nn.AdaptiveLogSoftmaxWithLoss, with its names. Every cluster is computed for every row, so
// that a compiled function can: projections save the work, selection of rows does not.
type AdaptiveLogSoftmax struct {
	Head    *Linear      // [Cutoffs[0] + clusters, in]
	Tail    []Sequential // of each cluster: the projection, and the matrix of its classes
	Cutoffs []int        // the first class of each cluster
	Classes int
}

// AdaptiveLogSoftmaxOpts are the options of [NewAdaptiveLogSoftmax].
type AdaptiveLogSoftmaxOpts struct {
	Opts              // of all matrices; biases are the head's alone
	Div      *float64 // cluster i has projections to in/Div^(i+1) numbers; nil means 4
	HeadBias bool
}

// NewAdaptiveLogSoftmax returns a layer of float32 parameters. It panics with *weft.Error if the
// cutoffs do not ascend between 1 and classes-1.
func NewAdaptiveLogSoftmax(in, classes int, cutoffs []int, opts ...AdaptiveLogSoftmaxOpts) *AdaptiveLogSoftmax {
	const name = "adaptive_log_softmax"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	cuts := append([]int{0}, cutoffs...)
	for i, c := range cuts[1:] {
		if c <= cuts[i] || c >= classes {
			array.Failf(name, "cutoffs", "are %v, want ascending numbers from 1 to %d", cutoffs, classes-1)
		}
	}
	div := array.Or(o.Div, 4)
	if len(cutoffs) == 0 {
		array.Failf(name, "cutoffs", "are none")
	}
	if !(div > 0) {
		array.Failf(name, "Div", "is %v, want more than 0", div)
	}
	head := o.Opts
	head.NoBias = !o.HeadBias
	o.NoBias = true
	l := &AdaptiveLogSoftmax{Head: NewLinear(in, cutoffs[0]+len(cutoffs), head), Cutoffs: slices.Clone(cutoffs), Classes: classes}
	width := float64(in)
	for i, first := range cutoffs {
		last := classes
		if i+1 < len(cutoffs) {
			last = cutoffs[i+1]
		}
		if width /= div; width < 1 || width > maxTailWidth {
			array.Failf(name, "Div", "gives cluster %d projections to %v numbers, want 1 or more", i, width)
		}
		l.Tail = append(l.Tail, Sequential{NewLinear(in, int(width), o.Opts), NewLinear(int(width), last-first, o.Opts)})
	}
	return l
}

// maxTailWidth bounds what a division by a small number gives.
const maxTailWidth = 1 << 30

// LogProb returns the logarithms of the probabilities of all classes: x [n, in] to [n, classes].
func (l *AdaptiveLogSoftmax) LogProb(x *weft.Tensor) *weft.Tensor {
	return CallAll(l, []*weft.Tensor{x}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{l.logProb(in[0])}
	})[0]
}

func (l *AdaptiveLogSoftmax) logProb(x *weft.Tensor) *weft.Tensor {
	const name = "adaptive_log_softmax"
	defer array.Named(name).End()
	if l == nil || l.Head == nil || len(l.Cutoffs) == 0 || len(l.Tail) != len(l.Cutoffs) {
		failNil(name, "NewAdaptiveLogSoftmax")
	}
	floats(name, "x", x)
	if x.Rank() != 2 {
		array.Failf(name, "x", "has shape %s, want [n in]", array.ShapeString(sizes(x)))
	}
	head := l.Head.Forward(x).LogSoftmax(1)
	first := l.Cutoffs[0]
	parts := []*weft.Tensor{head.Slice(weft.All, weft.Range(0, first))}
	for i, tail := range l.Tail {
		parts = append(parts, tail.Forward(x).LogSoftmax(1).Add(head.Slice(weft.All, weft.Range(first+i, first+i+1))))
	}
	return weft.Cat(parts, 1)
}

// Predict returns the class of the greatest probability in each row, int64.
func (l *AdaptiveLogSoftmax) Predict(x *weft.Tensor) *weft.Tensor { return l.LogProb(x).ArgMax(1) }

// Loss returns the logarithm of the probability of each row's target, [n] integers, and the mean of
// their negatives.
func (l *AdaptiveLogSoftmax) Loss(x, target *weft.Tensor) (output, loss *weft.Tensor) {
	const name = "adaptive_log_softmax"
	logp := l.LogProb(x)
	defer array.Named(name).End()
	if target == nil || !target.DType().Integer() || !array.Equal(sizes(target), sizes(logp)[:1]) {
		array.Failf(name, "target", "is %s, want integers [%d]", describe(target), logp.Dim(0))
	}
	t := checkRange(asIndices(target), name, "target", 0, int64(l.Classes-1), fmt.Sprintf("has %%d, want 0 to %d", l.Classes-1))
	output = own(logp.Gather(1, t.Unsqueeze(1)).Squeeze(1))
	return output, output.Mean().Neg()
}
