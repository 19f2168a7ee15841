package nn

import (
	"fmt"

	"weft"
	"weft/internal/array"
)

// Losses that ask scores or distances to be a margin apart.

// MarginOpts are the options of [HingeEmbedding], [MarginRanking] and [CosineEmbedding].
type MarginOpts struct {
	Margin    *float64  // nil means 1 for HingeEmbedding, else 0
	Reduction Reduction // Mean if not given
}

// HingeEmbedding is the mean of x where target is 1 and of max(0, Margin - x) where it is -1,
// for distances x and a target of the same shape. It panics with *weft.Error if the shapes differ.
func HingeEmbedding(x, target *weft.Tensor, opts ...MarginOpts) *weft.Tensor {
	const name = "hinge_embedding"
	defer array.Named(name).End()
	x, target = alike(name, x, target)
	floats(name, "x", x)
	o := array.Options(name, opts)
	return o.Reduction.of(name, weft.Expr("where(y == 1, 0, where(m - x <= 0, 0, m - x)) + where(y == -1, 0, x)",
		weft.Vars{"x": x, "y": target, "m": array.Or(o.Margin, 1)}))
}

// MarginRanking is the mean of max(0, Margin - target*(x1-x2)): x1 is to be ranked higher where
// target is 1, and lower where it is -1. It panics with *weft.Error unless the three shapes are
// the same.
func MarginRanking(x1, x2, target *weft.Tensor, opts ...MarginOpts) *weft.Tensor {
	const name = "margin_ranking"
	defer array.Named(name).End()
	floats(name, "x1", x1)
	floats(name, "x2", x2)
	if !array.Equal(sizes(x1), sizes(x2)) {
		array.Failf(name, "x2", "has shape %s, x1 %s", array.ShapeString(sizes(x2)), array.ShapeString(sizes(x1)))
	}
	x1, target = alike(name, x1, target)
	x2 = raised(x2)
	o := array.Options(name, opts)
	return o.Reduction.of(name, weft.Expr("where(m - y*(a-b) <= 0, 0, m - y*(a-b))",
		weft.Vars{"a": x1, "b": x2, "y": target, "m": array.Or(o.Margin, 0)}))
}

// SoftMargin is the mean of log(1 + exp(-target*x)), for scores x and targets 1 or -1 of the same
// shape. It panics with *weft.Error if the shapes differ. Weight is not for it.
func SoftMargin(x, target *weft.Tensor, opts ...LossOpts) *weft.Tensor {
	const name = "soft_margin"
	defer array.Named(name).End()
	x, target = alike(name, x, target)
	floats(name, "x", x)
	o := array.Options(name, opts)
	o.refuseWeight(name)
	return o.Reduction.of(name, weft.Expr("softplus(-y*x)", weft.Vars{"x": x, "y": target}))
}

// MultiMarginOpts are the options of [MultiMargin].
type MultiMarginOpts struct {
	P         *int         // the power of what a margin lacks, 1 or 2; nil means 1
	Margin    *float64     // nil means 1
	Weight    *weft.Tensor // [classes], factors of the target classes' losses, nil for 1
	Reduction Reduction    // Mean if not given
}

// MultiMargin is the mean over rows of sum(max(0, Margin - x[target] + x[i])^P)/classes, over all
// classes i but the target. x is [batch, classes] or [classes], target [batch] or one integer. It
// panics with *weft.Error if shapes do not match or a target is not a class.
func MultiMargin(x, target *weft.Tensor, opts ...MultiMarginOpts) *weft.Tensor {
	const name = "multi_margin"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	p := array.Or(o.P, 1)
	if p != 1 && p != 2 {
		array.Failf(name, "P", "is %d, want 1 or 2", p)
	}
	rows, c, shape := scores(name, x)
	if target == nil || !target.DType().Integer() || !array.Equal(sizes(target), shape) {
		array.Failf(name, "target", "is %s, want integers %s: a class for each row", describe(target), array.ShapeString(shape))
	}
	t := asIndices(target.Reshape(target.Size(), 1)).To(weft.Int64)
	t = checkRange(t, name, "target", 0, int64(c-1), fmt.Sprintf("%%d is not a class: want 0 to %d", c-1))
	w := o.Weight
	if w == nil {
		w = rows.Device().OnesOf(rows.DType(), 1, 1)
	} else if w.Rank() != 1 || w.Dim(0) != c {
		array.Failf(name, "Weight", "has shape %s, want [%d]", array.ShapeString(sizes(w)), c)
	} else {
		w = w.To(rows.DType()).IndexSelect(0, t.Reshape(t.Size())).Reshape(t.Size(), 1)
	}
	short := weft.Expr("where((i == t) || (m - xt + x <= 0), 0, m - xt + x)", weft.Vars{"x": rows, "xt": rows.Gather(1, t),
		"t": t, "i": rows.Device().Arange(c), "m": array.Or(o.Margin, 1)})
	if p == 2 {
		short = short.Square()
	}
	return o.Reduction.of(name, own(short.Mul(w).Mean(1).Reshape(shape...)))
}

// MultiLabelMargin is the mean over rows of sum(max(0, 1 - x[j] + x[i]))/classes, over the target
// classes j and all other classes i. x is [batch, classes] or [classes]. target has the same
// shape and lists the classes of each row, before the first negative number. It panics with
// *weft.Error if the shapes differ or a target is not a class. Weight is not for it.
//
// Memory grows with batch*classes*classes.
func MultiLabelMargin(x, target *weft.Tensor, opts ...LossOpts) *weft.Tensor {
	const name = "multi_label_margin"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	o.refuseWeight(name)
	x, target = alike(name, x, target)
	rows, c, shape := scores(name, x)
	if !target.DType().Integer() {
		array.Failf(name, "target", "has elements of type %s, want integers: classes", target.DType())
	}
	n := rows.Dim(0)
	t := asIndices(target.Reshape(n, c)).To(weft.Int64)
	listed := t.Lt(0).To(weft.Int64).CumSum(1).Eq(0)
	t = checkRange(weft.Where(listed, t, 0), name, "target", 0, int64(c-1), fmt.Sprintf("%%d is not a class: want 0 to %d", c-1))
	// [n, entry of the list, class]
	at, in := t.Reshape(n, c, 1), listed.Reshape(n, c, 1)
	other := at.Eq(rows.Device().Arange(c)).LogicalAnd(in).Any(1).LogicalNot().Reshape(n, 1, c)
	short := weft.Expr("where(!in || !other || (1 - xt + x <= 0), 0, 1 - xt + x)",
		weft.Vars{"x": rows.Reshape(n, 1, c), "xt": rows.Gather(1, t).Reshape(n, c, 1), "in": in, "other": other})
	return o.Reduction.of(name, own(short.Sum(1, 2).Div(c).Reshape(shape...)))
}

// MultiLabelSoftMarginOpts are the options of [MultiLabelSoftMargin].
type MultiLabelSoftMarginOpts struct {
	Weight    *weft.Tensor // factors of the classes that broadcast to x, nil for 1
	Reduction Reduction    // Mean if not given
}

// MultiLabelSoftMargin is the mean over rows, and over the classes of each, of the binary
// cross-entropy of the sigmoid of x and targets 0 or 1 of the same shape [..., classes]. It
// panics with *weft.Error if the shapes differ.
func MultiLabelSoftMargin(x, target *weft.Tensor, opts ...MultiLabelSoftMarginOpts) *weft.Tensor {
	const name = "multi_label_soft_margin"
	defer array.Named(name).End()
	x, target = alike(name, x, target)
	floats(name, "x", x)
	if x.Rank() == 0 {
		array.Failf(name, "x", "has no axis of classes")
	}
	o := array.Options(name, opts)
	loss := weft.Expr("(1-y)*x + softplus(-x)", weft.Vars{"x": x, "y": target})
	loss = weighted(name, loss, o.Weight)
	return o.Reduction.of(name, loss.Mean(-1))
}

// TripletMarginOpts are the options of [TripletMargin].
type TripletMarginOpts struct {
	Margin *float64 // nil means 1
	P      *float64 // the norm of the distances; nil means 2
	Eps    *float64 // added to each difference; nil means 1e-6
	// Swap takes the distance of the positive from the negative where that is less than the
	// anchor's (Balntas et al., Learning shallow convolutional feature descriptors with triplet
	// losses, 2016).
	Swap bool
	// Distance replaces [PairwiseDistance], whose P and Eps it ignores: a value for each pair.
	Distance  func(x, y *weft.Tensor) *weft.Tensor
	Reduction Reduction // Mean if not given
}

// TripletMargin is the mean of max(0, d(anchor, positive) - d(anchor, negative) + Margin), where d
// is the distance over the last axis. It panics with *weft.Error unless the shapes broadcast.
func TripletMargin(anchor, positive, negative *weft.Tensor, opts ...TripletMarginOpts) *weft.Tensor {
	const name = "triplet_margin"
	defer array.Named(name).End()
	for i, x := range []*weft.Tensor{anchor, positive, negative} {
		arg := []string{"anchor", "positive", "negative"}[i]
		floats(name, arg, x)
		if x.Rank() != anchor.Rank() || x.Rank() == 0 {
			array.Failf(name, arg, "has shape %s, the anchor %s: want vectors", array.ShapeString(sizes(x)), array.ShapeString(sizes(anchor)))
		}
	}
	o := array.Options(name, opts)
	anchor, positive, negative = raised(anchor), raised(positive), raised(negative)
	d := o.Distance
	if d == nil {
		d = func(x, y *weft.Tensor) *weft.Tensor {
			return PairwiseDistance(x, y, PairwiseDistanceOpts{P: o.P, Eps: o.Eps})
		}
	}
	far := d(anchor, negative)
	if o.Swap {
		far = far.Minimum(d(positive, negative))
	}
	return o.Reduction.of(name, weft.Expr("where(m + near - far <= 0, 0, m + near - far)",
		weft.Vars{"near": d(anchor, positive), "far": far, "m": array.Or(o.Margin, 1)}))
}

// CosineEmbedding is the mean of 1 - cos where target is 1 and of max(0, cos - Margin) where it is -1.
// cos is the cosine of the angle between rows of x1 and x2, which are [batch, width] or [width]; target
// is [batch] or one number. It panics with *weft.Error if shapes do not match.
func CosineEmbedding(x1, x2, target *weft.Tensor, opts ...MarginOpts) *weft.Tensor {
	const name = "cosine_embedding"
	defer array.Named(name).End()
	floats(name, "x1", x1)
	floats(name, "x2", x2)
	if r := x1.Rank(); r < 1 || r > 2 || !array.Equal(sizes(x1), sizes(x2)) {
		array.Failf(name, "x2", "has shape %s, x1 %s: want [batch width] or [width], the same", array.ShapeString(sizes(x2)), array.ShapeString(sizes(x1)))
	}
	if want := sizes(x1)[:x1.Rank()-1]; target == nil || !array.Equal(sizes(target), want) {
		array.Failf(name, "target", "is %s, want shape %s", describe(target), array.ShapeString(want))
	}
	o := array.Options(name, opts)
	x1, x2, target = raised(x1), raised(x2), raised(target)
	cos := weft.Expr("ab/sqrt((aa+1e-12)*(bb+1e-12))", weft.Vars{"ab": x1.Mul(x2).Sum(-1), "aa": x1.Square().Sum(-1), "bb": x2.Square().Sum(-1)})
	return o.Reduction.of(name, weft.Expr("where(y == 1, 1 - c, 0) + where((y != -1) || (c - m <= 0), 0, c - m)",
		weft.Vars{"c": cos, "y": target, "m": array.Or(o.Margin, 0)}))
}

// scores checks rows of scores [batch, classes], or one [classes], and returns them as a matrix,
// the number of classes and the shape of what belongs to each row.
func scores(name string, x *weft.Tensor) (rows *weft.Tensor, c int, shape []int) {
	floats(name, "x", x)
	r := x.Rank()
	if r != 1 && r != 2 || x.Dim(-1) == 0 {
		array.Failf(name, "x", "has shape %s, want [batch classes] or [classes], with classes", array.ShapeString(sizes(x)))
	}
	c = x.Dim(-1)
	return raised(x).Reshape(x.Size()/c, c), c, sizes(x)[: r-1 : r-1]
}

// describe is the type and shape of x, or that it is nil.
func describe(x *weft.Tensor) string {
	if x == nil {
		return "nil"
	}
	return array.TypeString(x.DType(), sizes(x))
}
