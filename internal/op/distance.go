package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/vmath"
)

// How large arrays are and how near to each other.
var Norm, Dot, CountNonZero, IsClose, NanToNum, Hypot, Lerp, Cdist *Def

// A Measure is a norm: its axes, as a [Reduction] has them, and its order.
type Measure struct {
	Axes  []int
	Keep  bool
	Order float64 // p; infinite for the greatest or the least magnitude
}

// A Nearness says how far apart elements may be.
type Nearness struct {
	Relative, Absolute float64
	EqualNaN           bool
}

// Substitutes are what stands for NaN and the infinities.
type Substitutes struct{ NaN, High, Low float64 }

func (a Measure) AppendKey(k []byte) []byte {
	return ir.Float(ir.Flag(ir.Ints(k, a.Axes), a.Keep), a.Order)
}

func (a Nearness) AppendKey(k []byte) []byte {
	return ir.Flag(ir.Float(ir.Float(k, a.Relative), a.Absolute), a.EqualNaN)
}

func (a Substitutes) AppendKey(k []byte) []byte {
	return ir.Float(ir.Float(ir.Float(k, a.NaN), a.High), a.Low)
}

// signed is the sign of x, 0 for NaN, as the gradient of a magnitude.
func signed(x *node) *node { return where(apply(IsNaN, x), num(x, 0), apply(Sign, x)) }

// FiniteLimits returns what NanToNum puts in the place of NaN and infinities of a type if nothing else is asked for: 0,
// the greatest and the least finite number. It is false for floats that have none of these.
func FiniteLimits(d array.DType) (s Substitutes, ok bool) {
	most, ok := map[array.DType]float64{array.Float32: math.MaxFloat32, array.Float64: math.MaxFloat64, array.Float16: 65504, array.BFloat16: 0x1.fep127}[d]
	return Substitutes{High: most, Low: -most}, ok || !d.Float()
}

func init() {
	orders := []float64{2, 1, 0, inf, -inf, 3, 0.5, 1.5}
	var samples []Sample
	for i, p := range orders {
		samples = append(samples, Sample{Shapes: [][]int{{7, 5}}, Attrs: Measure{Order: p}},
			Sample{Shapes: [][]int{{3, 4, 5}}, Attrs: Measure{[]int{i % 3}, i%2 == 0, p}})
	}
	Norm = define(Def{Name: "norm", Class: Composite, Arity: 1, Attrs: Measure{Order: 2},
		Doc: "The norm of order p of the elements over axes: the root of order p of the sum of powers of magnitudes, the greatest or the least for infinite p, the number of elements that are not 0 for p = 0.",
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a, x0 := attrs.(Measure), needFloat("norm", x[0])
			if a.Order != a.Order {
				array.Failf("norm", "p", "is NaN")
			}
			r := Reduction{Axes: a.Axes, Keep: true}
			sum := func(y *node) *node { return Apply(Sum, r, y) }
			// nonzero is f of x where that is not 0, and 0 elsewhere, with a gradient of 0.
			// Of complex numbers the norm has that of its parts: VJP is for real ones.
			nonzero := func(x *node, f func(x *node) *node) *node { return f(x) }
			squares := func() *node { return apply(Square, x0) }
			if x0.DType.Complex() {
				// The square of a magnitude is smooth at 0, where a magnitude is not.
				re, im := realOf(x0), imagOf(x0)
				squares = func() *node { return add(apply(Square, re), apply(Square, im)) }
				x0 = apply(Abs, x0)
			}
			if x[0].DType.Complex() && a.Order > 0 {
				nonzero = func(x *node, f func(x *node) *node) *node {
					zero := apply(Eq, x, num(x, 0))
					return where(zero, num(x, 0), f(where(zero, one(x), x)))
				}
			}
			var y *node
			switch p := a.Order; {
			case math.IsInf(p, 1):
				y = Apply(Max, r, apply(Abs, x0))
			case math.IsInf(p, -1):
				y = Apply(Min, r, apply(Abs, x0))
			case p == 0:
				y = sum(Convert(apply(Ne, x0, num(x0, 0)), x0.DType))
			case p == 1:
				y = sum(apply(Abs, x0))
			case p == 2:
				y = nonzero(sum(squares()), func(x *node) *node { return apply(Sqrt, x) })
			default:
				powers := nonzero(apply(Abs, x0), func(x *node) *node { return PowBy(x, p) })
				y = nonzero(sum(powers), func(x *node) *node { return PowBy(x, 1/p) })
			}
			return dropKept("norm", y, Reduction{Axes: a.Axes, Keep: a.Keep})
		}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return normSlope(v.Node.Attrs.(Measure), v.X[0], v.Y, v.DY) })
		}},
		Conformance: Conformance{Samples: samples}})
	Dot = define(Def{Name: "dot", Class: Composite, Arity: 2,
		Doc: "The sum of the products of two vectors, each rounded, in the order of sum: by lanes, unlike a product of matrices.",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			for i, v := range x {
				if len(v.Shape) != 1 || v.Shape[0] != x[0].Shape[0] {
					array.Failf("dot", "", "takes two vectors of equal size, got %s and %s", array.ShapeString(x[0].Shape), array.ShapeString(x[1].Shape))
				}
				if v.DType == array.Bool {
					array.Failf("dot", "", "is not defined for bool: argument %d", i)
				}
			}
			meet := Promote(x...)
			return Apply(Sum, Reduction{DType: meet}, mul(Convert(x[0], meet), Convert(x[1], meet)))
		}},
		Typing:      Typing{Wide: true},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7}, {7}}}, {Shapes: [][]int{{0}, {0}}}, {Shapes: [][]int{{5000}, {5000}}}}}})
	CountNonZero = define(Def{Name: "count_nonzero", Class: Composite, Arity: 1, Attrs: Reduction{},
		Doc:      "The number of elements over axes that are not 0, int64.",
		Reducing: Reducing{Over: AnyAxes},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			return Apply(Sum, attrs, Convert(x[0], array.Bool))
		}},
		Conformance: Conformance{Samples: axisSamples}})
	IsClose = define(Def{Name: "isclose", Class: Composite, Arity: 2, Attrs: Nearness{1e-5, 1e-8, false},
		Doc: "Whether x and y are equal, or finite and no farther apart than an absolute number and a part of the magnitude of y.",
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a, meet := attrs.(Nearness), Promote(x...)
			same := apply(Eq, x[0], x[1])
			if meet.Category() > array.CatFloat {
				array.Failf("isclose", "", "is not defined for %s", meet)
			}
			if !meet.Float() || meet.Size() < 4 {
				meet = array.Float64 // integers from their own types, one by one
			}
			p, q := Convert(x[0], meet), Convert(x[1], meet)
			far := apply(Abs, sub(p, q))
			limit := add(scale(apply(Abs, q), a.Relative), num(q, a.Absolute))
			near := apply(LogicalAnd, apply(IsFinite, q), apply(Le, far, limit))
			r := apply(LogicalOr, same, near)
			if a.EqualNaN {
				r = apply(LogicalOr, r, apply(LogicalAnd, apply(IsNaN, p), apply(IsNaN, q)))
			}
			return r
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{19}, {19}}}, {Shapes: [][]int{{3, 1}, {4}}, Attrs: Nearness{0.5, 0, false}}, {Shapes: [][]int{{7}, {}}, Attrs: Nearness{0, 1, true}}}}})
	NanToNum = define(Def{Name: "nan_to_num", Class: Composite, Arity: 1, Attrs: Substitutes{0, math.MaxFloat32, -math.MaxFloat32},
		Doc: "x with numbers in the place of NaN and infinities; integers stay.",
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a, y := attrs.(Substitutes), x[0]
			if !y.DType.Float() {
				if y.DType.Category() > array.CatFloat {
					array.Failf("nan_to_num", "", "is not defined for %s", y.DType)
				}
				return y
			}
			r := where(apply(Eq, y, num(y, inf)), num(y, a.High), where(apply(Eq, y, num(y, -inf)), num(y, a.Low), y))
			return where(apply(IsNaN, y), num(y, a.NaN), r)
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 7}}}, {Shapes: [][]int{{9}}, Attrs: Substitutes{1, 2, -3}}}}})
	Hypot = define(Def{Name: "hypot", Arity: 2, Doc: "The length of the vector (x, y), without overflow on the way; infinite if either is.",
		Elementwise: Elementwise{Rule: Float, Cost: 20,
			Expr: func(b *bld, n *node, x []val) val { return vmath.Hypot(b, x[0], x[1]) }},
		Derivative: Derivative{VJP: func(v *VJP) {
			// At the origin the gradient is 0.
			r := func() *node { return where(apply(Eq, v.Y, num(v.Y, 0)), one(v.Y), v.Y) }
			v.Set(0, func() *node { return mul(v.DY, div(v.X[0], r())) })
			v.Set(1, func() *node { return mul(v.DY, div(v.X[1], r())) })
		}}})
	Lerp = define(Def{Name: "lerp", Class: Composite, Arity: 3,
		Doc: "x + w*(y-x), from the nearer end: for w of a half and more y - (y-x)*(1-w).",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			meet := Promote(x...)
			if !meet.Float() {
				array.Failf("lerp", "", "takes floats, got %s: convert with To first", meet)
			}
			a, b, w := Convert(x[0], meet), Convert(x[1], meet), Convert(x[2], meet)
			d := sub(b, a)
			return where(apply(Lt, w, num(w, 0.5)), add(a, mul(w, d)), sub(b, mul(d, sub(one(w), w))))
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{19}, {19}, {}}}, {Shapes: [][]int{{3, 1}, {4}, {3, 4}}}}}})
	// apart is a with an axis of size 1 before the last ones.
	apart := func(a *node, before int) *node {
		r := len(a.Shape) - before
		return reshape(a, append(append(append([]int{}, a.Shape[:r]...), 1), a.Shape[r:]...))
	}
	var distances []Sample
	for _, p := range []float64{2, 1, inf, 3} {
		distances = append(distances, Sample{Shapes: [][]int{{5, 7}, {3, 7}}, Attrs: Measure{Order: p}})
	}
	distances = append(distances, Sample{Shapes: [][]int{{2, 1, 4, 3}, {3, 5, 3}}}, Sample{Shapes: [][]int{{0, 3}, {4, 3}}}, Sample{Shapes: [][]int{{2, 0}, {4, 0}}}, Sample{Shapes: [][]int{{2, 0}, {4, 0}}, Attrs: Measure{Order: inf}})
	Cdist = define(Def{Name: "cdist", Class: Composite, Arity: 2, Attrs: Measure{Order: 2},
		Doc: "The norm of order p of the difference of each row of x and each row of y: of [... n d] and [... m d] it is [... n m].",
		Composed: Composed{Compose: func(args []*node, attrs ir.Attrs) *node {
			x := floatsOf("cdist", args)
			for i, a := range x {
				if len(a.Shape) < 2 || a.Shape[len(a.Shape)-1] != x[0].Shape[len(x[0].Shape)-1] {
					array.Failf("cdist", "", "takes matrices with rows of one size, argument %d has shape %s", i, array.ShapeString(a.Shape))
				}
			}
			d := sub(apart(x[0], 1), apart(x[1], 2))
			return Apply(Norm, rowMeasure(attrs, d), d)
		}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			x := floatsOf("cdist", v.X)
			d := sub(apart(x[0], 1), apart(x[1], 2))
			a := rowMeasure(v.Node.Attrs, d)
			slope := func() *node { return normSlope(a, d, v.Y, v.DY) }
			v.Set(0, func() *node { return reshape(SumTo(slope(), apart(x[0], 1).Shape), v.X[0].Shape) })
			v.Set(1, func() *node { return neg(reshape(SumTo(slope(), apart(x[1], 2).Shape), v.X[1].Shape)) })
		}},
		Conformance: Conformance{Samples: distances}})
}

// rowMeasure is the norm of the rows of d that attrs asks for. A greatest magnitude has no value over no elements,
// but a distance of rows without elements is 0, as a sum is.
func rowMeasure(attrs ir.Attrs, d *node) Measure {
	last := len(d.Shape) - 1
	p := attrs.(Measure).Order
	if d.Shape[last] == 0 && math.IsInf(p, 1) {
		p = 1
	}
	return Measure{Axes: []int{last}, Order: p}
}

// normSlope is the gradient of x for a norm y of it with the gradient dy.
func normSlope(a Measure, x, y, dy *node) *node {
	r := Reduction{Axes: a.Axes}
	y, dy = spread("norm", y, x, r), spread("norm", dy, x, r)
	// A norm of 0 has no slope: the gradient is 0 there.
	over := func(d *node) *node {
		zero := apply(Eq, y, num(y, 0))
		return where(zero, num(y, 0), div(dy, where(zero, one(y), d)))
	}
	switch p := a.Order; {
	case math.IsInf(p, 0):
		hit := Convert(apply(LogicalOr, apply(Eq, apply(Abs, x), y), apply(LogicalAnd, apply(IsNaN, x), apply(IsNaN, y))), x.DType)
		return mul(mul(signed(x), hit), div(dy, withKeep(Sum, hit, a.Axes)))
	case p == 0:
		return expand(mul(dy, num(x, 0)), x.Shape)
	case p == 1:
		return mul(signed(x), dy)
	case p == 2:
		return mul(x, over(y))
	case p < 1:
		zero := apply(Eq, x, num(x, 0))
		slope := mul(signed(x), PowBy(where(zero, one(x), apply(Abs, x)), p-1))
		none := apply(Eq, y, num(y, 0)) // a power below 1 of 0 has a slope that is not finite
		return mul(where(zero, num(x, 0), slope), where(none, num(y, 0), mul(dy, PowBy(where(none, one(y), y), 1-p))))
	case p > 2 && p < 3: // a power below 1 of an element that is 0 has a slope that is not finite
		zero := apply(Eq, x, num(x, 0))
		size := PowBy(where(zero, one(x), apply(Abs, x)), p-2)
		return mul(mul(x, where(zero, num(x, 0), size)), over(PowBy(y, p-1)))
	case p < 2:
		zero := apply(Eq, x, num(x, 0))
		slope := mul(signed(x), PowBy(where(zero, one(x), apply(Abs, x)), p-1))
		return mul(where(zero, num(x, 0), slope), over(PowBy(y, p-1)))
	default:
		return mul(mul(x, PowBy(apply(Abs, x), p-2)), over(PowBy(y, p-1)))
	}
}
