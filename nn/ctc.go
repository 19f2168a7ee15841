package nn

import (
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// CTCOpts are the options of [CTC].
type CTCOpts struct {
	Blank        int       // the class that stands for no symbol
	ZeroInfinity bool      // a target that is too long for its row counts as loss 0, with a gradient of zeros
	Reduction    Reduction // Mean if not given: over a batch, of losses divided by the lengths of their targets
}

// CTC is the mean of the negative log-probabilities of targets under all alignments with rows of
// log-probabilities (Graves et al., Connectionist temporal classification, 2006). logp is
// [steps, batch, classes], such as a LogSoftmax over the last axis, or [steps, classes].
//
// The targets are integers: [batch, length], or one after the other as a vector, or [length] for
// one row. steps and lengths, integers [batch] or one number, say how many steps of logp and
// elements of the target count in each row. In a compiled function targets are not given one after
// the other. It panics with *weft.Error if shapes do not fit, a target is not a class or a length
// is out of range.
//
// The gradient is that of the loss for logp. PyTorch's differs by exp(logp), which vanishes for
// what a log-softmax is computed from.
func CTC(logp, target, steps, lengths *weft.Tensor, opts ...CTCOpts) *weft.Tensor {
	const name = "ctc"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	floats(name, "logp", logp)
	logp = raised(logp)
	one := logp.Rank() == 2
	if one {
		logp = logp.Unsqueeze(1)
	}
	if logp.Rank() != 3 || logp.Dim(2) == 0 {
		array.Failf(name, "logp", "has shape %s, want [steps batch classes] or [steps classes]", array.ShapeString(sizes(logp)))
	}
	t, n, c := logp.Dim(0), logp.Dim(1), logp.Dim(2)
	if o.Blank < 0 || o.Blank >= c {
		array.Failf(name, "Blank", "is %d, want 0 to %d", o.Blank, c-1)
	}
	steps = ctcLengths("steps", steps, n, t)
	target, lengths = o.targets(target, lengths, n, c, one)
	dtype := logp.DType()
	if dtype != weft.Float64 {
		logp = logp.To(weft.Float32)
	}
	loss := o.losses(logp, target, steps, lengths).To(dtype)
	switch {
	case o.Reduction == Mean:
		return loss.Div(lengths.Maximum(1).To(dtype)).Mean()
	case one && o.Reduction == None:
		return own(loss.Reshape())
	}
	return o.Reduction.of(name, loss)
}

// ctcLengths checks numbers of steps or elements, at most `most`, and returns a vector of int64.
func ctcLengths(arg string, x *weft.Tensor, n, most int) *weft.Tensor {
	if x == nil || !x.DType().Integer() || x.Rank() > 1 || x.Size() != n {
		array.Failf("ctc", arg, "is %s, want integers [%d]", describe(x), n)
	}
	x = asIndices(x.Reshape(n)).To(weft.Int64)
	return checkRange(x, "ctc", arg, 0, int64(most), fmt.Sprintf("has %%d, want 0 to %d", most))
}

// targets returns targets as a matrix, with the blank after their ends, and their lengths.
func (o *CTCOpts) targets(target, lengths *weft.Tensor, n, c int, one bool) (matrix, ends *weft.Tensor) {
	if target == nil || !target.DType().Integer() || target.Rank() < 1 || target.Rank() > 2 || target.Rank() == 2 && target.Dim(0) != n {
		array.Failf("ctc", "target", "is %s, want integers [%d length], or one after the other as a vector", describe(target), n)
	}
	lengths = ctcLengths("lengths", lengths, n, target.Dim(-1))
	target = asIndices(target).To(weft.Int64)
	dev := target.Device()
	switch {
	case target.Rank() == 1 && one:
		target = target.Unsqueeze(0)
	case target.Rank() == 1:
		if core.TracingHere() != nil {
			array.Failf("ctc", "target", "is a vector: in a compiled function give [%d length]", n)
		}
		most := 0
		if n > 0 {
			most = int(lengths.Max().ItemInt())
			if all := lengths.Sum().ItemInt(); all != int64(target.Size()) {
				array.Failf("ctc", "target", "has %d elements, the lengths add up to %d", target.Size(), all)
			}
		}
		at := lengths.CumSum(0).Sub(lengths).Reshape(n, 1).Add(dev.Arange(most)).Minimum(max(target.Size()-1, 0))
		if target.Size() == 0 {
			at, most = dev.ZerosOf(weft.Int64, n, 0), 0
		}
		target = target.IndexSelect(0, at.Reshape(n*most)).Reshape(n, most)
	}
	target = weft.Where(dev.Arange(target.Dim(1)).Lt(lengths.Reshape(n, 1)), target, o.Blank)
	return checkRange(target, "ctc", "target", 0, int64(c-1), fmt.Sprintf("%%d is not a class: want 0 to %d", c-1)), lengths
}

// ctcNever stands for the logarithm of 0. It is finite, so that no gradient is NaN.
const ctcNever = -1e30

// losses runs the forward algorithm. State s of a row is blank for even s, else element s/2 of its
// target. An alignment stays, goes to the next state, or skips the blank between two different
// elements.
func (o *CTCOpts) losses(logp, target, steps, lengths *weft.Tensor) *weft.Tensor {
	t, n, s := logp.Dim(0), logp.Dim(1), target.Dim(1)
	dev, dtype := logp.Device(), logp.DType()
	blanks := dev.FullOf(weft.Int64, int64(o.Blank), n, s, 1)
	states := weft.Cat([]*weft.Tensor{weft.Cat([]*weft.Tensor{blanks, target.Reshape(n, s, 1)}, 2).Reshape(n, 2*s), dev.FullOf(weft.Int64, int64(o.Blank), n, 1)}, 1)
	before := states.Slice(weft.All, weft.Range(0, max(2*s-1, 0))).Pad(float64(o.Blank), 0, 0, min(2, 2*s+1), 0)
	skip := states.Ne(before).LogicalAnd(states.Ne(o.Blank))
	seen := logp.Gather(2, states.Reshape(1, n, 2*s+1).Expand(t, n, 2*s+1)).Maximum(ctcNever)
	start := dev.Arange(2*s + 1).Eq(0)
	alpha := weft.Where(start, 0.0, dev.FullOf(dtype, ctcNever, n, 2*s+1))
	ends, _ := weft.ScanSteps(t, func(i *weft.Tensor, state []*weft.Tensor) (next, out []*weft.Tensor) {
		lp := seen.IndexSelect(0, i.Reshape(1)).Reshape(n, 2*s+1)
		running := steps.Gt(i).Reshape(n, 1)
		return []*weft.Tensor{first(ctcStep, operands("ctc", state[0], lp, skip, running)...)}, nil
	}, []*weft.Tensor{alpha})
	// An alignment ends in the last element or the blank after it.
	last := lengths.Mul(2).Reshape(n, 1)
	a := ends[0].Gather(1, last).Reshape(n)
	b := ends[0].Gather(1, last.Sub(1).Maximum(0)).Reshape(n)
	b = weft.Where(lengths.Eq(0), ctcNever, b)
	loss := weft.Stack([]*weft.Tensor{a, b}, 0).LogSumExp(0).Neg()
	impossible := math.Inf(1)
	if o.ZeroInfinity {
		impossible = 0
	}
	return weft.Where(loss.Gt(-ctcNever/2), impossible, loss)
}

// ctcStep is one step: log-probabilities of states, of the symbols that they emit, whether a blank
// may be skipped, and whether the row has this step.
var ctcStep = core.NewComposite("ctc", asList(func(x []*node) *node {
	alpha, lp, skip, running := x[0], x[1], x[2], x[3]
	never := alpha.Graph.Number(ctcNever, alpha.DType, false)
	n := alpha.Shape[1]
	shift := func(k int) *node {
		k = min(k, n)
		return op.Apply(op.Pad, op.Padding{Pads: []int{0, 0, k, 0}, Value: ctcNever}, op.Narrow(alpha, 1, 0, n-k))
	}
	next, jump := shift(1), apply(op.Where, skip, shift(2), never)
	m := apply(op.Stop, apply(op.Maximum, apply(op.Maximum, alpha, next), jump))
	sum := add(add(apply(op.Exp, sub(alpha, m)), apply(op.Exp, sub(next, m))), apply(op.Exp, sub(jump, m)))
	return apply(op.Where, running, add(add(m, apply(op.Log, sum)), lp), alpha)
}), nil)
