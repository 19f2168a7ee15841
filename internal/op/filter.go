package op

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/ir"
)

// Linear filters along the last axis. Axes before it count filters and signals, equally many in all
// arguments.
//
// A filter is a linear recurrence, so the gradient of its result by its signal is the same filter run
// backwards in time, with conjugate coefficients. Gradients by coefficients are correlations of that with
// the signal and the result.
var LFilter, SOSFilt, Correlate1D *Def

// signals checks that the arguments are floats or complex numbers of one type, whose axes before the last
// tails[i] ones are equal.
func (c *Call) signals(names []string, tails []int) {
	first := c.Args[0]
	for i, x := range c.Args {
		if !x.DType.Differentiable() || x.DType.Half() {
			c.Failf(names[i], "has elements of type %s, want floats or complex numbers: convert with To first", x.DType)
		}
		if x.DType != first.DType {
			c.Failf(names[i], "has elements of type %s, and %s has %s", x.DType, names[0], first.DType)
		}
		r, k := len(x.Shape)-tails[i], len(first.Shape)-tails[0]
		if k < 0 || r != k || !array.Equal(x.Shape[:r], first.Shape[:k]) {
			c.Failf(names[i], "has shape %s, want %s behind the batch axes of %s, %s", array.ShapeString(x.Shape), axes(tails[i]), names[0], array.ShapeString(first.Shape))
		}
	}
}

func axes(n int) string {
	if n == 1 {
		return "1 axis of its own"
	}
	return fmt.Sprintf("%d axes of its own", n)
}

// last is the size of the last axis.
func last(x *node) int { return x.Shape[len(x.Shape)-1] }

// spanLast is n elements of the last axis from lo on.
func spanLast(x *node, lo, n int) *node { return Narrow(x, len(x.Shape)-1, lo, n) }

// flipLast turns the last axis round.
func flipLast(x *node) *node {
	w := AllOf(x.Shape)
	axis := len(x.Shape) - 1
	w.Start[axis], w.Step[axis] = max(x.Shape[axis]-1, 0), -1
	return Apply(Slice, w, x)
}

// zerosAround puts zeros before and behind the last axis.
func zerosAround(x *node, before, behind int) *node {
	if before == 0 && behind == 0 {
		return x
	}
	pads := make([]int, 2*len(x.Shape))
	pads[len(pads)-2], pads[len(pads)-1] = before, behind
	return Apply(Pad, Padding{Pads: pads}, x)
}

// joined puts arrays one behind the other along an axis counted from the end.
func joined(fromEnd int, x ...*node) *node { return Apply(Cat, Axis(len(x[0].Shape)-fromEnd), x...) }

// filterBack returns the gradients of LFilter(x, b, a, zi), whose first result is y, by x, b, a and zi.
//
// With u[i], for i from n on, the gradients of the final state, and running backwards
//
//	u[i] = dy[i] - a[1]*u[i+1] - a[2]*u[i+2] - ...
//
// the gradient by x[i] is b[0]*u[i] + b[1]*u[i+1] + ..., by b[k] the sum of u[i+k]*x[i], by a[k] that of
// -u[i+k]*y[i], and by zi[i] it is u[i].
func filterBack(x, b, a, y, dy, dzf *node) (dx, db, da, dzi func() *node) {
	n, m := last(x), last(dzf)
	ca := zerosAround(conjugate(a), 0, m-last(a))
	state := dzf // of the filter that runs backwards, whose results before the first are dzf
	if m > 0 {
		state = neg(apply(Correlate1D, zerosAround(ca, 0, m-1), dzf))
	}
	one := spanLast(b, 0, 1)
	one = full(x.Graph, 1, x.DType, one.Shape)
	u := joined(1, flipLast(ApplyAll(LFilter, nil, flipLast(dy), one, ca, state)[0]), dzf)
	dx = func() *node { return apply(Correlate1D, spanLast(u, 0, n+last(b)-1), conjugate(b)) }
	db = func() *node { return spanLast(apply(Correlate1D, u, conjugate(x)), 0, last(b)) }
	da = func() *node { return neg(spanLast(apply(Correlate1D, u, conjugate(y)), 1, last(a))) }
	dzi = func() *node { return spanLast(u, 0, m) }
	return dx, db, da, dzi
}

// section returns the coefficients b and a of second-order section i.
func section(sos *node, i int) (b, a *node) {
	r := len(sos.Shape)
	one := Narrow(sos, r-2, i, 1)
	flat := append(append([]int{}, sos.Shape[:r-2]...), 5)
	row := reshape(one, flat)
	return spanLast(row, 0, 3), spanLast(row, 3, 2)
}

// rowOf is row i of the last axis but one.
func rowOf(x *node, i int) *node {
	r := len(x.Shape)
	shape := append(append([]int{}, x.Shape[:r-2]...), x.Shape[r-1])
	return reshape(Narrow(x, r-2, i, 1), shape)
}

// withRow is x with an axis of size 1 before the last one.
func withRow(x *node) *node {
	r := len(x.Shape)
	return reshape(x, append(append(append([]int{}, x.Shape[:r-1]...), 1), x.Shape[r-1]))
}

// sectionsBack sets the gradients of SOSFilt: it runs the sections again, each as an LFilter, and goes back
// through them.
func sectionsBack(v *VJP) {
	sos, zi := v.X[1], v.X[2]
	n := sos.Shape[len(sos.Shape)-2]
	signals := []*node{v.X[0]}
	for i := range n {
		b, a := section(sos, i)
		signals = append(signals, ApplyAll(LFilter, nil, signals[i], b, a, rowOf(zi, i))[0])
	}
	d := v.DYs[0]
	var dsos, dzi []*node
	for i := n - 1; i >= 0; i-- {
		b, a := section(sos, i)
		dx, db, da, dz := filterBack(signals[i], b, a, signals[i+1], d, rowOf(v.DYs[1], i))
		if v.Need[1] {
			dsos = append([]*node{withRow(joined(1, db(), da()))}, dsos...)
		}
		if v.Need[2] {
			dzi = append([]*node{withRow(dz())}, dzi...)
		}
		d = dx()
	}
	v.Set(0, func() *node { return d })
	if n > 0 {
		v.Set(1, func() *node { return joined(2, dsos...) })
		v.Set(2, func() *node { return joined(2, dzi...) })
	}
}

// damped makes random coefficients of recurrences small, so that results do not grow.
func damped(i int, _ []int, x []float64) {
	if i == 2 {
		for k := range x {
			x[k] *= 0.1
		}
	}
}

// dampedSections is damped for sections.
func dampedSections(i int, _ []int, x []float64) {
	if i == 1 {
		for k := range x {
			if k%5 > 2 {
				x[k] *= 0.1
			}
		}
	}
}

func init() {
	LFilter = define(Def{Name: "lfilter", Class: Routine, Arity: 4,
		Doc: "The filter y[i] = b[0]*x[i] + b[1]*x[i-1] + ... - a[0]*y[i-1] - a[1]*y[i-2] - ... of x, b, a and a state zi with a number for each delay, and the state behind the end: the transposed direct form II, computed in float64. Products are rounded before they are added; of complex numbers, sums are fused multiply-adds.",
		Typing: Typing{Wide: true, Results: 2,
			InferAll: func(c *Call) []ir.Type {
				c.signals([]string{"x", "b", "a", "zi"}, []int{1, 1, 1, 1})
				x, b, a, zi := c.Args[0], c.Args[1], c.Args[2], c.Args[3]
				if last(b) == 0 {
					c.Failf("b", "has shape %s, want a coefficient at least", array.ShapeString(b.Shape))
				}
				if m := max(last(b)-1, last(a)); last(zi) != m {
					c.Failf("zi", "has shape %s, want %d numbers in the last axis", array.ShapeString(zi.Shape), m)
				}
				return []ir.Type{{DType: x.DType, Shape: x.Shape}, {DType: x.DType, Shape: zi.Shape}}
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineLFilter, Complex: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			dx, db, da, dzi := filterBack(v.X[0], v.X[1], v.X[2], v.Ys[0], v.DYs[0], v.DYs[1])
			for i, f := range []func() *node{dx, db, da, dzi} {
				v.Set(i, f)
			}
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{9}, {3}, {2}, {2}}, Fit: damped}, {Shapes: [][]int{{2, 3, 7}, {2, 3, 2}, {2, 3, 3}, {2, 3, 3}}, Fit: damped},
			{Shapes: [][]int{{5, 6}, {5, 4}, {5, 0}, {5, 3}}}, {Shapes: [][]int{{2, 6}, {2, 1}, {2, 0}, {2, 0}}}, {Shapes: [][]int{{0}, {2}, {1}, {1}}}, {Shapes: [][]int{{0, 3}, {0, 2}, {0, 1}, {0, 1}}}}}})
	SOSFilt = define(Def{Name: "sosfilt", Class: Routine, Arity: 3,
		Doc: "Filters of second order one behind the other: of x, the coefficients b0 b1 b2 a1 a2 of each and their states zi; the result and the states behind the end. Each is an lfilter whose result is not rounded.",
		Typing: Typing{Wide: true, Results: 2,
			InferAll: func(c *Call) []ir.Type {
				c.signals([]string{"x", "sos", "zi"}, []int{1, 2, 2})
				x, sos, zi := c.Args[0], c.Args[1], c.Args[2]
				if last(sos) != 5 {
					c.Failf("sos", "has shape %s, want 5 coefficients in the last axis", array.ShapeString(sos.Shape))
				}
				if n := sos.Shape[len(sos.Shape)-2]; last(zi) != 2 || zi.Shape[len(zi.Shape)-2] != n {
					c.Failf("zi", "has shape %s, want %d rows of 2 in the last axes", array.ShapeString(zi.Shape), n)
				}
				return []ir.Type{{DType: x.DType, Shape: x.Shape}, {DType: x.DType, Shape: zi.Shape}}
			}},
		ByRoutine:  ByRoutine{Routine: ir.RoutineSOSFilt, Complex: true, Contiguous: true},
		Derivative: Derivative{VJP: sectionsBack},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{9}, {2, 5}, {2, 2}}, Fit: dampedSections}, {Shapes: [][]int{{3, 2, 6}, {3, 2, 3, 5}, {3, 2, 3, 2}}, Fit: dampedSections},
			{Shapes: [][]int{{5, 4}, {5, 1, 5}, {5, 1, 2}}, Fit: dampedSections}, {Shapes: [][]int{{0}, {1, 5}, {1, 2}}}, {Shapes: [][]int{{4}, {0, 5}, {0, 2}}}}}})
	Correlate1D = define(Def{Name: "correlate1d", Class: Routine, Arity: 2,
		Doc: "The sums over i of u[i+k]*v[i], without conjugates, for each k at which v lies within u; v may be longer than u by one, which gives none. Sums go on in order of i, in float64.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			c.signals([]string{"u", "v"}, []int{1, 1})
			u, v := c.Args[0], c.Args[1]
			n := last(u) - last(v) + 1
			if n < 0 {
				c.Failf("v", "has %d elements in the last axis, more than u, which has %d", last(v), last(u))
			}
			return u.DType, append(append([]int{}, u.Shape[:len(u.Shape)-1]...), n)
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineCorrelate1D, Complex: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			m := last(v.X[1])
			v.Set(0, func() *node {
				if m == 0 {
					return zerosAs(v.X[0])
				}
				return apply(Correlate1D, zerosAround(v.DY, m-1, m-1), flipLast(conjugate(v.X[1])))
			})
			v.Set(1, func() *node { return apply(Correlate1D, conjugate(v.X[0]), v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{9}, {3}}}, {Shapes: [][]int{{2, 3, 12}, {2, 3, 5}}}, {Shapes: [][]int{{2, 4}, {2, 4}}}, {Shapes: [][]int{{4}, {0}}}, {Shapes: [][]int{{3}, {4}}}, {Shapes: [][]int{{0, 4}, {0, 2}}}}}})
}
