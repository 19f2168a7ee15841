package nn

import (
	"fmt"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// A Reduction says what a loss makes of its values.
type Reduction int

const (
	Mean      Reduction = iota // their mean
	Sum                        // their sum
	None                       // nothing: each stays
	BatchMean                  // their sum, divided by the size of the first axis
)

func (r Reduction) of(op string, x *weft.Tensor) *weft.Tensor {
	switch r {
	case Mean:
		return x.Mean()
	case Sum:
		return x.Sum()
	case None:
		return x
	case BatchMean:
		if x.Rank() == 0 {
			return x
		}
		return x.Sum().Div(x.Dim(0))
	}
	array.Failf(op, "Reduction", "%d is none of Mean, Sum, None and BatchMean", int(r))
	return nil
}

// LossOpts are the options of [MSE], [L1], [SoftMargin] and [MultiLabelMargin].
type LossOpts struct {
	// Weight are factors in the shape of x; a Mean divides by their sum. nil for 1. For MSE and
	// L1 only.
	Weight    *weft.Tensor
	Reduction Reduction // Mean if not given
}

// of reduces the differences of MSE and L1.
func (o LossOpts) of(op string, loss *weft.Tensor) *weft.Tensor {
	if o.Weight == nil {
		return o.Reduction.of(op, loss)
	}
	if !array.Equal(sizes(o.Weight), sizes(loss)) {
		array.Failf(op, "Weight", "has shape %s, want %s", array.ShapeString(sizes(o.Weight)), array.ShapeString(sizes(loss)))
	}
	loss = loss.Mul(o.Weight)
	if o.Reduction == Mean {
		return loss.Sum().Div(o.Weight.Sum())
	}
	return o.Reduction.of(op, loss)
}

func (o LossOpts) refuseWeight(op string) {
	if o.Weight != nil {
		array.Failf(op, "Weight", "is for MSE and L1 only")
	}
}

// weighted multiplies losses by factors that broadcast to them, if there are any.
func weighted(op string, loss, weight *weft.Tensor) *weft.Tensor {
	if weight == nil {
		return loss
	}
	if !array.BroadcastsTo(sizes(weight), sizes(loss)) {
		array.Failf(op, "Weight", "has shape %s, which does not broadcast to %s", array.ShapeString(sizes(weight)), array.ShapeString(sizes(loss)))
	}
	return loss.Mul(weight)
}

// alike checks a prediction and a target of the same shape, since broadcasting a target is
// mostly a mistake, and returns both as a loss computes with them.
func alike(op string, x, target *weft.Tensor) (_, _ *weft.Tensor) {
	switch {
	case x == nil:
		array.Failf(op, "x", "is nil")
	case target == nil:
		array.Failf(op, "target", "is nil")
	case !array.Equal(sizes(x), sizes(target)):
		array.Failf(op, "target", "has shape %s, the prediction %s", array.ShapeString(target.Shape()), array.ShapeString(x.Shape()))
	}
	return raised(x), raised(target)
}

// MSE is the mean of the squared differences of two tensors of the same shape. It
// panics with *weft.Error if the shapes differ.
func MSE(x, target *weft.Tensor, opts ...LossOpts) *weft.Tensor {
	defer array.Named("mse").End()
	x, target = alike("mse", x, target)
	return array.Options("mse", opts).of("mse", x.Sub(target).Square())
}

// L1 is the mean of the absolute differences of two tensors of the same shape. It
// panics with *weft.Error if the shapes differ.
func L1(x, target *weft.Tensor, opts ...LossOpts) *weft.Tensor {
	defer array.Named("l1").End()
	x, target = alike("l1", x, target)
	return array.Options("l1", opts).of("l1", x.Sub(target).Abs())
}

// SmoothL1Opts are the options of [SmoothL1].
type SmoothL1Opts struct {
	Beta      *float64  // where squares end; nil means 1
	Reduction Reduction // Mean if not given
}

// SmoothL1 is the mean over differences d of d*d/(2*Beta) where |d| < Beta, else of
// |d| - Beta/2; with a Beta of 0 it is [L1]. It panics with *weft.Error if the shapes differ.
func SmoothL1(x, target *weft.Tensor, opts ...SmoothL1Opts) *weft.Tensor {
	defer array.Named("smooth_l1").End()
	x, target = alike("smooth_l1", x, target)
	o := array.Options("smooth_l1", opts)
	beta := array.Or(o.Beta, 1)
	if !(beta >= 0) {
		array.Failf("smooth_l1", "Beta", "is %v, want 0 or more", beta)
	}
	if beta == 0 {
		return o.Reduction.of("smooth_l1", x.Sub(target).Abs())
	}
	return o.Reduction.of("smooth_l1", weft.Expr("where(abs(x-y) < beta, pow(x-y, 2)*(0.5/beta), abs(x-y)-0.5*beta)",
		weft.Vars{"x": x, "y": target, "beta": beta}))
}

// BCEOpts are the options of [BCE] and [BCEWithLogits].
type BCEOpts struct {
	Weight *weft.Tensor // factors that broadcast to the losses, nil for 1
	// PosWeight are factors of the target that broadcast to it, nil for 1; of
	// BCEWithLogits only.
	PosWeight *weft.Tensor
	Reduction Reduction // Mean if not given
}

func (o *BCEOpts) of(op string, x *weft.Tensor) *weft.Tensor {
	return o.Reduction.of(op, weighted(op, x, o.Weight))
}

// crossProbability is the binary cross-entropy, whose logarithms are at least -100 and
// whose gradient divides by at least 1e-12, as PyTorch's.
var crossProbability = core.NewComposite("bce", asList(func(x []*node) *node {
	p, y := x[0], x[1]
	least := p.Graph.Number(-100, p.DType, false)
	q := apply(op.Maximum, apply(op.Log, p), least)
	r := apply(op.Maximum, apply(op.Log1p, apply(op.Neg, p)), least)
	return sub(mul(sub(y, oneLike(y)), r), mul(y, q))
}), func(v *op.VJP) {
	p, y := v.X[0], v.X[1]
	v.Set(0, func() *node {
		d := apply(op.Maximum, mul(sub(oneLike(p), p), p), p.Graph.Number(1e-12, p.DType, false))
		return mul(v.DY, div(sub(p, y), d))
	})
	v.Set(1, func() *node {
		least := p.Graph.Number(-100, p.DType, false)
		q := apply(op.Maximum, apply(op.Log, p), least)
		r := apply(op.Maximum, apply(op.Log1p, apply(op.Neg, p)), least)
		return mul(v.DY, sub(r, q))
	})
})

// BCE is the mean of -(y*log(x) + (1-y)*log(1-x)): the binary cross-entropy of
// probabilities x and targets y in [0, 1] of the same shape and element type. A logarithm
// counts as -100 at least. It panics with *weft.Error if shapes or types differ.
func BCE(x, target *weft.Tensor, opts ...BCEOpts) *weft.Tensor {
	defer array.Named("bce").End()
	x, target = alike("bce", x, target)
	sameFloats("bce", x, target)
	o := array.Options("bce", opts)
	if o.PosWeight != nil {
		array.Failf("bce", "PosWeight", "is for BCEWithLogits only")
	}
	return o.of("bce", first(crossProbability, operands("bce", x, target)...))
}

func sameFloats(op string, x, target *weft.Tensor) {
	if x.DType() != target.DType() || !x.DType().Float() {
		array.Failf(op, "target", "has elements of type %s, the prediction of %s: want floats of one type", target.DType(), x.DType())
	}
}

// BCEWithLogits is [BCE] of the sigmoid of x, without overflow.
func BCEWithLogits(x, target *weft.Tensor, opts ...BCEOpts) *weft.Tensor {
	defer array.Named("bce_with_logits").End()
	x, target = alike("bce_with_logits", x, target)
	sameFloats("bce_with_logits", x, target)
	o := array.Options("bce_with_logits", opts)
	if o.PosWeight == nil {
		return o.of("bce_with_logits", weft.Expr("(1-y)*x + softplus(-x)", weft.Vars{"x": x, "y": target}))
	}
	if !array.BroadcastsTo(sizes(o.PosWeight), sizes(x)) {
		array.Failf("bce_with_logits", "PosWeight", "has shape %s, which does not broadcast to %s", array.ShapeString(o.PosWeight.Shape()), array.ShapeString(x.Shape()))
	}
	return o.of("bce_with_logits", weft.Expr("(1-y)*x + ((p-1)*y+1)*softplus(-x)", weft.Vars{"x": x, "y": target, "p": o.PosWeight}))
}

// KLDivOpts are the options of [KLDiv].
type KLDivOpts struct {
	LogTarget bool      // the target holds logarithms, too
	Reduction Reduction // Mean if not given; BatchMean is the divergence as defined
}

// KLDiv is the mean of y*(log(y) - x): the divergence of Kullback and Leibler of
// probabilities y from those whose logarithms are x, of the same shape. It panics with
// *weft.Error if the shapes differ.
func KLDiv(x, target *weft.Tensor, opts ...KLDivOpts) *weft.Tensor {
	defer array.Named("kl_div").End()
	x, target = alike("kl_div", x, target)
	o := array.Options("kl_div", opts)
	text := "where(y == 0, 0*y, y*log(where(y == 0, 1, y))) - y*x"
	if o.LogTarget {
		text = "exp(y)*(y - x)"
	}
	return o.Reduction.of("kl_div", weft.Expr(text, weft.Vars{"x": x, "y": target}))
}

// CrossEntropyOpts are the options of [CrossEntropy] and [NLL].
type CrossEntropyOpts struct {
	Weight *weft.Tensor // [classes], factors of the classes' losses, nil for 1
	// IgnoreIndex is a target whose loss and gradient are 0, whatever its logits are, and
	// that no mean counts, such as new(-100); nil for none. A mean of ignored targets alone is
	// NaN, with a gradient of zeros, as in PyTorch.
	IgnoreIndex *int
	// Smoothing, in [0, 1], is the part of a target that is spread over all classes
	// (Szegedy et al., Rethinking the Inception architecture for computer vision, 2016);
	// of CrossEntropy only.
	Smoothing float64
	Reduction Reduction // Mean if not given: with weights, by the sum of the targets' weights
}

// CrossEntropy is the mean of the negative log-likelihood of the target classes
// [batch, ...], integers from 0 to classes-1, under the softmax of logits [batch,
// classes, ...]. A target of floats in the shape of the logits holds the probability of
// each class instead. It panics with *weft.Error if shapes do not match or a target is
// no class.
func CrossEntropy(logits, target *weft.Tensor, opts ...CrossEntropyOpts) *weft.Tensor {
	defer array.Named("cross_entropy").End()
	const name = "cross_entropy"
	o := array.Options("cross_entropy", opts)
	logits = raised(logits)
	if len(opts) == 0 && (logits == nil || target == nil || logits.Rank() < 3 && !array.Equal(sizes(logits), sizes(target))) {
		return weft.CrossEntropy(logits, target) // one kernel
	}
	if !(o.Smoothing >= 0 && o.Smoothing <= 1) {
		array.Failf(name, "Smoothing", "is %v, want 0 to 1", o.Smoothing)
	}
	c, rows, shape := classes(name, logits, target, o)
	if target.DType().Float() {
		return o.expected(rows, target, c, shape)
	}
	t, hit := o.targets(name, target, c)
	w := o.weights(t, hit, rows.DType())
	if o.IgnoreIndex != nil { // whatever is in a row that is ignored has no part in anything
		rows = weft.Where(hit.Reshape(t.Size(), 1), rows, 0.0)
	}
	loss := first(crossRows, operands(name, rows, t)...).Reshape(t.Size()).Mul(w)
	if s := o.Smoothing; s > 0 {
		logp := rows.LogSoftmax(1)
		if o.Weight != nil {
			logp = logp.Mul(o.Weight)
		}
		spread := logp.Sum(1).Neg().Mul(hit.To(rows.DType()))
		loss = loss.Mul(1 - s).Add(spread.Mul(s / float64(c)))
	}
	return o.finish(name, loss, w, shape)
}

// expected is the cross-entropy of targets that are probabilities.
func (o *CrossEntropyOpts) expected(rows, target *weft.Tensor, c int, shape []int) *weft.Tensor {
	const name = "cross_entropy"
	if o.IgnoreIndex != nil {
		array.Failf(name, "IgnoreIndex", "is for targets that are classes")
	}
	p := classRows(target)
	if s := o.Smoothing; s > 0 {
		p = p.Mul(1 - s).Add(s / float64(c))
	}
	if o.Weight != nil {
		p = p.Mul(o.Weight)
	}
	loss := rows.LogSoftmax(1).Mul(p).Sum(1).Neg()
	return o.Reduction.of(name, loss.Reshape(shape...))
}

// NLL is the mean of -logp[i, target[i]] for log-probabilities [batch, classes, ...]
// and target classes [batch, ...]. It panics with *weft.Error if shapes do not match or a
// target is not a class.
func NLL(logp, target *weft.Tensor, opts ...CrossEntropyOpts) *weft.Tensor {
	defer array.Named("nll").End()
	o := array.Options("nll", opts)
	logp = raised(logp)
	if o.Smoothing != 0 {
		array.Failf("nll", "Smoothing", "is for CrossEntropy only")
	}
	c, rows, shape := classes("nll", logp, target, o)
	if target.DType().Float() {
		array.Failf("nll", "target", "has elements of type %s, want integers: classes", target.DType())
	}
	t, hit := o.targets("nll", target, c)
	w := o.weights(t, hit, rows.DType())
	// Not a product: what is ignored may be infinite.
	picked := weft.Where(hit, rows.Gather(1, t).Reshape(t.Size()), 0.0)
	return o.finish("nll", picked.Neg().Mul(w), w, shape)
}

// classes checks scores [batch, classes, ...] and targets, and returns how many classes
// there are, the scores as rows, and the shape of the targets.
func classes(name string, x, target *weft.Tensor, o CrossEntropyOpts) (c int, rows *weft.Tensor, shape []int) {
	if x == nil || target == nil {
		array.Failf(name, "", "logits or target is nil")
	}
	s := sizes(x)
	if len(s) < 2 || !x.DType().Float() {
		array.Failf(name, "logits", "are %s, want floats [N C ...]: scores of C classes", array.TypeString(x.DType(), s))
	}
	c, shape = s[1], append(s[:1:1], s[2:]...)
	want := shape
	if target.DType().Float() {
		want = s
	}
	if !array.Equal(sizes(target), want) {
		array.Failf(name, "target", "has shape %s, want %s: a class for each row of the logits %s", array.ShapeString(target.Shape()), array.ShapeString(want), array.ShapeString(s))
	}
	if w := o.Weight; w != nil && (w.Rank() != 1 || w.Dim(0) != c) {
		array.Failf(name, "Weight", "has shape %s, want [%d]", array.ShapeString(w.Shape()), c)
	}
	if c == 0 {
		array.Failf(name, "logits", "have shape %s: there are no classes", array.ShapeString(s))
	}
	return c, classRows(x), shape
}

// classRows are scores [batch, classes, ...] with the classes last, as a matrix.
func classRows(x *weft.Tensor) *weft.Tensor {
	c := x.Dim(1)
	if x.Rank() > 2 {
		x = x.MoveAxis(1, -1)
	}
	return x.Reshape(x.Size()/c, c)
}

// targets returns target classes as a column, with 0 for those that are ignored, and a
// mask of the others.
func (o *CrossEntropyOpts) targets(name string, target *weft.Tensor, c int) (column, hit *weft.Tensor) {
	t := asIndices(target.Reshape(target.Size())).To(weft.Int64)
	hit = t.Device().OnesOf(weft.Bool, t.Size())
	if o.IgnoreIndex != nil {
		hit = t.Ne(*o.IgnoreIndex)
		t = weft.Where(hit, t, 0)
	}
	t = checkRange(t, name, "target", 0, int64(c-1), fmt.Sprintf("%%d is not a class: want 0 to %d", c-1))
	return t.Reshape(t.Size(), 1), hit
}

// weights are the factors of the targets' losses, 0 where ignored.
func (o *CrossEntropyOpts) weights(t, hit *weft.Tensor, d weft.DType) *weft.Tensor {
	w := hit.To(d)
	if o.Weight != nil {
		w = w.Mul(o.Weight.To(d).IndexSelect(0, t.Reshape(t.Size())))
	}
	return w
}

// finish reduces losses; their mean divides by the sum of the weights.
func (o *CrossEntropyOpts) finish(name string, loss, w *weft.Tensor, shape []int) *weft.Tensor {
	if o.Reduction == Mean {
		return loss.Sum().Div(w.Sum())
	}
	return o.Reduction.of(name, loss.Reshape(shape...))
}

// crossRows is logsumexp(row) - row[target] for each row of a matrix and a column of
// targets.
var crossRows = core.NewComposite("cross_entropy", asList(func(x []*node) *node {
	d := sub(x[0], reduceOver(op.Max, x[0], 1))
	hit := apply(op.Eq, op.Apply(op.Iota, op.Axis(1), x[0]), x[1])
	picked := reduceOver(op.Sum, apply(op.Where, hit, d, d.Graph.Number(0, d.DType, false)), 1)
	return sub(apply(op.Log, reduceOver(op.Sum, apply(op.Exp, d), 1)), picked)
}), func(v *op.VJP) {
	v.Set(0, func() *node {
		x := v.X[0]
		e := apply(op.Exp, sub(x, reduceOver(op.Max, x, 1)))
		hit := apply(op.Eq, op.Apply(op.Iota, op.Axis(1), x), v.X[1])
		return mul(sub(div(e, reduceOver(op.Sum, e, 1)), op.Convert(hit, x.DType)), v.DY)
	})
})
