package op

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

// Complex numbers are pairs of floats, side by side in memory. No kernel knows them: an
// operation on them is built from operations on their parts, which are windows on the
// array ([Real], [Imag]), and [Complex] puts the parts of the result together. Parts of
// what was put together are taken back before anything is computed, so that a formula is
// one kernel.
//
// The gradient of a real number by z = x + iy is dx + i*dy, the conjugate Wirtinger
// derivative as PyTorch scales it; it follows from the gradients of the parts.

// Parts and their union; the conjugate, the angle, and the number of a length and an
// angle.
var Real, Imag, Complex, Conj, Angle, Polar *Def

// A pair is a complex number in parts.
type pair struct{ re, im *node }

func init() {
	part := func(name, doc string, at int) *Def {
		return define(Def{Name: name, Class: View, Arity: 1, Doc: doc,
			View: func(v array.View, _ *node) array.View { return v.Part(at) },
			Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
				x := c.Args[0]
				if !x.DType.Complex() {
					c.Failf("", "takes complex numbers, got %s", x.DType)
				}
				return x.DType.Part(), x.Shape
			}},
			Derivative: Derivative{VJP: func(v *VJP) {
				v.Set(0, func() *node {
					zero := num(v.DY, 0)
					if at == 0 {
						return join2(v.DY, zero)
					}
					return join2(zero, v.DY)
				})
			}},
			Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 7}}, DTypes: []array.DType{array.Complex64}}, {Shapes: [][]int{{3}}, DTypes: []array.DType{array.Complex128}}}}})
	}
	Real = part("real", "The real part, a window.", 0)
	Imag = part("imag", "The imaginary part, a window.", 1)
	Complex = define(Def{Name: "complex", Class: Concat, Arity: 2,
		Doc: "The complex numbers of real and imaginary parts, floats of one type and shape.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, y := c.Args[0], c.Args[1]
			if x.DType != y.DType || x.DType != array.Float32 && x.DType != array.Float64 {
				c.Failf("", "takes parts of float32 or float64, got %s and %s", x.DType, y.DType)
			}
			if !array.Equal(x.Shape, y.Shape) {
				c.Failf("", "parts have shapes %s and %s", array.ShapeString(x.Shape), array.ShapeString(y.Shape))
			}
			return x.DType.WithParts(), x.Shape
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return realOf(v.DY) })
			v.Set(1, func() *node { return imagOf(v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 7}, {5, 7}}, DTypes: []array.DType{array.Float32, array.Float32}}, {Shapes: [][]int{{3}, {3}}, DTypes: []array.DType{array.Float64, array.Float64}}}}})
}

func init() {
	twice := func(d array.DType) []Sample {
		return []Sample{{Shapes: [][]int{{5, 7}, {5, 7}}, DTypes: []array.DType{d, d}}}
	}
	Conj = define(Def{Name: "conj", Class: Composite, Arity: 1, Doc: "The complex conjugate; real numbers stay.",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			if !x[0].DType.Complex() {
				return Apply(Reshape, Shape(x[0].Shape), x[0])
			}
			return join2(realOf(x[0]), neg(imagOf(x[0])))
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 7}}}}}})
	Angle = define(Def{Name: "angle", Class: Composite, Arity: 1, Doc: "The angle of a complex number from the positive real axis, from -pi to pi: atan2 of its parts. Of a real number, 0 or pi; NaN stays.",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			if x[0].DType.Complex() {
				return apply(Atan2, imagOf(x[0]), realOf(x[0]))
			}
			y := x[0]
			if !y.DType.Float() {
				y = Convert(y, array.Float32)
			}
			return where(apply(IsNaN, y), y, where(apply(Lt, y, num(y, 0)), num(y, math.Pi), num(y, 0)))
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 7}}}}}})
	Polar = define(Def{Name: "polar", Class: Composite, Arity: 2, Doc: "The complex numbers of lengths and angles in radians, floats.",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			for _, y := range x {
				if y.DType.Complex() {
					array.Failf("polar", "", "takes real numbers, got %s", y.DType)
				}
			}
			return join2(mul(x[0], apply(Cos, x[1])), mul(x[0], apply(Sin, x[1])))
		}},
		Conformance: Conformance{Samples: append(twice(array.Float32), twice(array.Float64)...)}})
}

// realOf and imagOf are the parts of x; a real number has the imaginary part 0.
func realOf(x *node) *node { return partOf(Real, 0, x) }
func imagOf(x *node) *node { return partOf(Imag, 1, x) }

func partOf(d *Def, at int, x *node) *node {
	if !x.DType.Complex() {
		if at == 0 {
			return x
		}
		return num(x, 0)
	}
	if x.Op == Complex {
		return x.Args[at]
	}
	// A window on what was put together is that of its parts.
	if w := Of(x); w != nil && w.Class == View && w != Own && puttogether(x.Args[0]) {
		return Apply(w, x.Attrs, partOf(d, at, x.Args[0]))
	}
	return applyOne(d, nil, []*node{x})
}

func puttogether(x *node) bool {
	for {
		if x.Op == Complex {
			return true
		}
		if w := Of(x); w == nil || w.Class != View || !x.DType.Complex() {
			return false
		}
		x = x.Args[0]
	}
}

// join2 is the complex number of two parts, which broadcast.
func join2(re, im *node) *node {
	meet := Promote(re, im).Part()
	if meet != array.Float64 {
		meet = array.Float32
	}
	if re.DType != im.DType || re.Weak || im.Weak {
		re, im = Convert(re, meet), Convert(im, meet)
	}
	if !array.Equal(re.Shape, im.Shape) {
		shape := array.Broadcast("complex", re.Shape, im.Shape)
		re, im = expand(re, shape), expand(im, shape)
	}
	return applyOne(Complex, nil, []*node{re, im})
}

func (p pair) join() *node { return join2(p.re, p.im) }

// WeakComplex is a complex Go number of two Go numbers.
func WeakComplex(re, im *node) *node {
	return re.Graph.Node(Complex, nil, array.Complex64, nil, true, re, im)
}

// pairOf is x in parts of a float type.
func pairOf(x *node, part array.DType) pair {
	re := Convert(realOf(x), part)
	if !x.DType.Complex() {
		return pair{re, re.Graph.Number(0, part, false)}
	}
	return pair{re, Convert(imagOf(x), part)}
}

// convertComplex is Convert from or to a complex type.
func convertComplex(x *node, d array.DType) *node {
	switch {
	case d.Complex():
		p := pairOf(x, d.Part())
		p.im = expand(p.im, p.re.Shape)
		return p.join()
	case d == array.Bool:
		return apply(LogicalOr, Convert(realOf(x), d), Convert(imagOf(x), d))
	}
	return Convert(realOf(x), d)
}

// A complexForm computes an operation whose arguments meet in a complex type.
type complexForm func(x []*node, a ir.Attrs) *node

// pairs is the form of an operation on the parts of arguments in the type in which they
// meet.
func pairs(f func(x []pair) pair) complexForm {
	return func(x []*node, _ ir.Attrs) *node { return f(inPairs(x)).join() }
}

// real is the same for operations that give no complex number.
func reals(f func(x []pair) *node) complexForm {
	return func(x []*node, _ ir.Attrs) *node { return f(inPairs(x)) }
}

func inPairs(x []*node) []pair {
	part := Promote(x...).Part()
	out := make([]pair, len(x))
	for i := range x {
		out[i] = pairOf(x[i], part)
	}
	return out
}

// complexForms are the operations on complex numbers that are not built from others that
// are, by name.
var complexForms map[string]complexForm

// complexForm returns how an operation is computed where an argument is complex.
func (d *Def) complexForm() complexForm {
	if f := complexForms[d.Name]; f != nil && d.ours {
		return f
	}
	switch {
	case d.Class == Composite && d.Compose != nil:
		return func(x []*node, a ir.Attrs) *node { return d.Compose(x, a) }
	case d.Class == View || d.Class == Concat || d.MovesAnyType:
		return func(x []*node, a ir.Attrs) *node { return applyInferred(d, a, x) }
	}
	return nil
}

func init() {
	one := func(f func(z pair) pair) complexForm { return pairs(func(x []pair) pair { return f(x[0]) }) }
	each := func(d func() *Def) complexForm { // of the parts, apart
		return func(x []*node, a ir.Attrs) *node {
			re, im := make([]*node, len(x)), make([]*node, len(x))
			for i, p := range inPairs(x) {
				re[i], im[i] = p.re, p.im
			}
			return join2(Apply(d(), a, re...), Apply(d(), a, im...))
		}
	}
	test := func(d func() *Def, both func() *Def) complexForm {
		return reals(func(x []pair) *node {
			re, im := []*node{x[0].re}, []*node{x[0].im}
			if len(x) > 1 {
				re, im = append(re, x[1].re), append(im, x[1].im)
			}
			return apply(both(), apply(d(), re...), apply(d(), im...))
		})
	}
	or, and := func() *Def { return LogicalOr }, func() *Def { return LogicalAnd }
	complexForms = map[string]complexForm{
		"add": each(func() *Def { return Add }), "sub": each(func() *Def { return Sub }), "neg": each(func() *Def { return Neg }),
		"mul":        pairs(func(x []pair) pair { return mulPairs(x[0], x[1]) }),
		"div":        pairs(func(x []pair) pair { return divPairs(x[0], x[1]) }),
		"reciprocal": one(func(z pair) pair { return divPairs(pair{oneLike(z.re), num(z.re, 0)}, z) }),
		"square":     one(func(z pair) pair { return mulPairs(z, z) }),
		"eq":         test(func() *Def { return Eq }, and), "ne": test(func() *Def { return Ne }, or),
		"isnan": test(func() *Def { return IsNaN }, or), "isinf": test(func() *Def { return IsInf }, or), "isfinite": test(func() *Def { return IsFinite }, and),
		"cast": func(x []*node, a ir.Attrs) *node {
			d := array.DType(a.(To))
			if x[0].DType.Complex() && !d.Complex() && d != array.Bool {
				array.Failf("to", "dtype", "%s would drop the imaginary part of %s: take Real, Imag or Abs first", d, x[0].DType)
			}
			return Convert(x[0], d)
		},
		"reduce_sum": each(func() *Def { return reduceSum }),
		"reduce_prod": func(x []*node, a ir.Attrs) *node {
			g := a.(Group)
			return productAlong(x[0], g)
		},
		"round":     each(func() *Def { return Round }),
		"scan_sum":  each(func() *Def { return ScanSum }),
		"scan_prod": func(x []*node, a ir.Attrs) *node { return productsAlong(x[0], int(a.(Axis))) },
		"powint":    func(x []*node, a ir.Attrs) *node { return complexPower(x[0], int(a.(Power))) },
		"matmul2": pairs(func(x []pair) pair {
			product := func(x, y *node) *node { return apply(MatMul2, x, y) }
			z, w := x[0], x[1]
			return pair{sub(product(z.re, w.re), product(z.im, w.im)), add(product(z.re, w.im), product(z.im, w.re))}
		}),
		"var": func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			d := sub(x[0], withKeep(Mean, x[0], a.Axes))
			s := withKeep(Sum, add(apply(Square, realOf(d)), apply(Square, imagOf(d))), a.Axes)
			return dropKept("var", div(s, num(s, float64(max(count("var", x[0], a)-a.Correction, 0)))), a)
		},
		"abs": reals(func(x []pair) *node { return absPair(x[0]) }),
		"where": func(x []*node, _ ir.Attrs) *node {
			c, p := Convert(x[0], array.Bool), inPairs(x[1:])
			return join2(where(c, p[0].re, p[1].re), where(c, p[0].im, p[1].im))
		},
		"select": func(x []*node, _ ir.Attrs) *node {
			p := inPairs(x[1:])
			return join2(where(x[0], p[0].re, p[1].re), where(x[0], p[0].im, p[1].im))
		},
		"index_add":          func(x []*node, a ir.Attrs) *node { return scatterPairs(indexAdd, x, a) },
		"segment_reduce_sum": func(x []*node, a ir.Attrs) *node { return scatterPairs(segmentSum, x, a) },
		"segment_expand":     func(x []*node, a ir.Attrs) *node { return scatterPairs(SegmentExpand, x, a) },
		"scatter_sum":        func(x []*node, a ir.Attrs) *node { return scatterPairs(scatterSum, x, a) },
		"logical_and":        truths(func() *Def { return LogicalAnd }), "logical_or": truths(func() *Def { return LogicalOr }),
		"logical_xor": truths(func() *Def { return LogicalXor }), "logical_not": truths(func() *Def { return LogicalNot }),
		"count_nonzero": truths(func() *Def { return CountNonZero }), "nonzero": truths(func() *Def { return NonZero }),
	}
}

// truths is the form of an operation whose arguments are truth values.
func truths(d func() *Def) complexForm {
	return func(x []*node, a ir.Attrs) *node {
		b := make([]*node, len(x))
		for i := range x {
			b[i] = Convert(x[i], array.Bool)
		}
		return Apply(d(), a, b...)
	}
}

func oneLike(x *node) *node { return num(x, 1) }

// scatterPairs adds up the parts; the second argument are places.
func scatterPairs(d *Def, x []*node, a ir.Attrs) *node {
	if x[1].DType.Complex() {
		array.Failf(d.Name, "index", "has elements of type %s, want int64 or int32", x[1].DType)
	}
	vals := []*node{x[0]}
	if len(x) == 3 {
		vals = append(vals, x[2])
	}
	p := inPairs(vals)
	args := func(part func(p pair) *node) []*node {
		out := []*node{part(p[0]), x[1]}
		if len(p) == 2 {
			out = append(out, part(p[1]))
		}
		return out
	}
	return join2(Apply(d, a, args(func(p pair) *node { return p.re })...), Apply(d, a, args(func(p pair) *node { return p.im })...))
}

// mulPairs is the product: Annex G of C99 says what becomes of infinities.
func mulPairs(z, w pair) pair {
	a, b, c, d := z.re, z.im, w.re, w.im
	re, im := sub(mul(a, c), mul(b, d)), add(mul(a, d), mul(b, c))
	return pair{apply(mulReal, a, b, c, d, re, im), apply(mulImag, a, b, c, d, re, im)}
}

// divPairs is the quotient, by the formula of C99's Annex G: the divisor is scaled by a
// power of two, so that its square neither overflows nor vanishes.
func divPairs(z, w pair) pair {
	a, b := z.re, z.im
	s := apply(divScale, w.re, w.im)
	c, d := mul(w.re, s), mul(w.im, s)
	more := apply(divScale, c, d) // not 1 where the divisor was subnormal
	c, d = mul(c, more), mul(d, more)
	q := add(mul(c, c), mul(d, d))
	re := mul(mul(div(add(mul(a, c), mul(b, d)), q), s), more)
	im := mul(mul(div(sub(mul(b, c), mul(a, d)), q), s), more)
	return pair{apply(divReal, a, b, w.re, w.im, re, im), apply(divImag, a, b, w.re, w.im, re, im)}
}

// Corrections of the plain formulas: x are the parts a, b, c, d of the arguments and the parts
// of the formula's result, which stands unless it is NaN. The gradient is that of the formula.
var mulReal, mulImag, divReal, divImag, divScale *Def

func init() {
	recover := func(name string, at int, fix func(b *bld, a [4]val) [2]val) *Def {
		return unlisted(Def{Name: name, Arity: 6,
			Elementwise: Elementwise{Cost: 3,
				Expr: func(b *bld, n *ir.Node, x []val) val {
					bad := b.And(b.Ne(x[4], x[4]), b.Ne(x[5], x[5]))
					return b.If(bad, func() []val { return []val{fix(b, [4]val(x))[at]} }, func() []val { return []val{x[4+at]} })[0]
				}},
			Derivative: Derivative{VJP: func(v *VJP) { v.Set(4+at, func() *node { return v.DY }) }}})
	}
	mulReal, mulImag = recover("complex product, real", 0, productOfInfinities), recover("complex product, imaginary", 1, productOfInfinities)
	divReal, divImag = recover("complex quotient, real", 0, quotientOfInfinities), recover("complex quotient, imaginary", 1, quotientOfInfinities)
	divScale = unlisted(Def{Name: "complex divisor's scale", Arity: 2,
		Elementwise: Elementwise{Cost: 4,
			Expr: func(b *bld, n *ir.Node, x []val) val {
				// 2^-e for the exponent e of the greater part, by its bits.
				t, it, shift, most := loop.F32, loop.I32, int64(23), int64(253)
				if b.Type(x[0]) == loop.F64 {
					t, it, shift, most = loop.F64, loop.I64, 52, 2045
				}
				exponent := func(x val) val { return b.ShrU(b.Bits(it, b.Abs(x)), b.Int(it, shift)) }
				e := b.Min(b.Max(exponent(x[0]), exponent(x[1])), b.Int(it, most))
				return b.Bits(t, b.Shl(b.Sub(b.Int(it, most+1), e), b.Int(it, shift)))
			}}})
}

// boxed is 1 or 0 with the sign of x: whether that is infinite.
func boxed(b *bld, x val) val {
	t := b.Type(x)
	return withSign(b, b.Select(b.Eq(b.Abs(x), b.Float(t, inf)), b.Float(t, 1), b.Float(t, 0)), x)
}

// withSign is x, which is not negative, with the sign of y.
func withSign(b *bld, x, y val) val {
	it, sign := loop.I32, int64(-1)<<31
	if b.Type(x) == loop.F64 {
		it, sign = loop.I64, -1<<63
	}
	return b.Bits(b.Type(x), b.Or(b.Bits(it, x), b.And(b.Bits(it, y), b.Int(it, sign))))
}

// isInf tells whether one of two numbers is infinite.
func isInf(b *bld, x, y val) val {
	i := b.Float(b.Type(x), inf)
	return b.Or(b.Eq(b.Abs(x), i), b.Eq(b.Abs(y), i))
}

// finite tells whether both of two numbers are.
func finite(b *bld, x, y val) val {
	i := b.Float(b.Type(x), inf)
	return b.And(b.Lt(b.Abs(x), i), b.Lt(b.Abs(y), i))
}

// productOfInfinities is a product whose formula gave NaN twice (C99, G.5.1).
func productOfInfinities(b *bld, x [4]val) [2]val {
	t := b.Type(x[0])
	number := func(when, x val) val { // 0 with its sign for NaN
		return b.Select(b.And(when, b.Ne(x, x)), withSign(b, b.Float(t, 0), x), x)
	}
	a, bb, c, d := x[0], x[1], x[2], x[3]
	first := isInf(b, a, bb)
	a, bb = b.Select(first, boxed(b, a), a), b.Select(first, boxed(b, bb), bb)
	c, d = number(first, c), number(first, d)
	second := isInf(b, c, d)
	c, d = b.Select(second, boxed(b, c), c), b.Select(second, boxed(b, d), d)
	a, bb = number(second, a), number(second, bb)
	// The products of finite numbers overflowed.
	over := b.Or(isInf(b, b.Mul(x[0], x[2]), b.Mul(x[1], x[3])), isInf(b, b.Mul(x[0], x[3]), b.Mul(x[1], x[2])))
	third := b.And(b.Not(b.Or(first, second)), over)
	a, bb, c, d = number(third, a), number(third, bb), number(third, c), number(third, d)
	again := b.Or(b.Or(first, second), third)
	i, nan := b.Float(t, inf), b.Float(t, nanValue)
	re := b.Mul(i, b.Sub(b.Mul(a, c), b.Mul(bb, d)))
	im := b.Mul(i, b.Add(b.Mul(a, d), b.Mul(bb, c)))
	return [2]val{b.Select(again, re, nan), b.Select(again, im, nan)}
}

// quotientOfInfinities is a quotient whose formula gave NaN twice (C99, G.5.1).
func quotientOfInfinities(b *bld, x [4]val) [2]val {
	t := b.Type(x[0])
	a, bb, c, d := x[0], x[1], x[2], x[3]
	zero, i, nan := b.Float(t, 0), b.Float(t, inf), b.Float(t, nanValue)
	parts := func(f, a, bb, c, d val) [2]val {
		return [2]val{b.Mul(f, b.Add(b.Mul(a, c), b.Mul(bb, d))), b.Mul(f, b.Sub(b.Mul(bb, c), b.Mul(a, d)))}
	}
	byZero := b.And(b.And(b.Eq(c, zero), b.Eq(d, zero)), b.Or(b.Eq(a, a), b.Eq(bb, bb)))
	of := b.And(isInf(b, a, bb), finite(b, c, d))
	by := b.And(isInf(b, c, d), finite(b, a, bb))
	up := parts(i, boxed(b, a), boxed(b, bb), c, d)
	down := parts(zero, a, bb, boxed(b, c), boxed(b, d))
	side := withSign(b, i, c)
	var out [2]val
	for k, x := range [2]val{a, bb} {
		out[k] = b.Select(byZero, b.Mul(side, x), b.Select(of, up[k], b.Select(by, down[k], nan)))
	}
	return out
}

// absPair is the absolute value; its gradient at 0 is 0.
func absPair(z pair) *node { return apply(absParts, z.re, z.im) }

var absParts *Def

func init() {
	absParts = unlisted(Def{Name: "complex absolute value", Arity: 2,
		Elementwise: Elementwise{Cost: 12,
			Expr: func(b *bld, n *ir.Node, x []val) val { return hypot(b, x[0], x[1]) }},
		Derivative: Derivative{VJP: func(v *VJP) {
			for i := range 2 {
				v.Set(i, func() *node {
					zero := apply(Eq, v.Y, num(v.Y, 0))
					return where(zero, num(v.Y, 0), mul(v.DY, div(v.X[i], where(zero, num(v.Y, 1), v.Y))))
				})
			}
		}}})
}

// hypot is sqrt(x*x + y*y) without overflow: both are scaled by a power of two, exactly.
func hypot(b *bld, x, y val) val {
	t, it, shift, most := b.Type(x), loop.I32, int64(23), int64(253)
	if t == loop.F64 {
		it, shift, most = loop.I64, 52, 2045
	}
	x, y = b.Abs(x), b.Abs(y)
	i := b.Float(t, inf)
	// NaN stays: the greater of bits is that of NaN, and its product with anything.
	e := b.Min(b.ShrU(b.Max(b.Bits(it, x), b.Bits(it, y)), b.Int(it, shift)), b.Int(it, most))
	e = b.Max(e, b.Int(it, 1))
	down := b.Bits(t, b.Shl(b.Sub(b.Int(it, most+1), e), b.Int(it, shift)))
	up := b.Bits(t, b.Shl(e, b.Int(it, shift)))
	u, v := b.Mul(x, down), b.Mul(y, down)
	r := b.Mul(b.Sqrt(b.Fma(u, u, b.Mul(v, v))), up)
	return b.Select(b.Or(b.Eq(x, i), b.Eq(y, i)), i, r)
}

// productAlong is the product over neighbouring axes, kept with size 1: halves are
// multiplied until one is left.
func productAlong(x *node, g Group) *node {
	keep := append([]int(nil), x.Shape...)
	n := 1
	for i := g.Lo; i < g.Hi; i++ {
		n *= x.Shape[i]
		keep[i] = 1
	}
	rest := append(append(append([]int(nil), x.Shape[:g.Lo]...), n), x.Shape[g.Hi:]...)
	x = reshape(x, rest)
	if n == 0 { // 1, which depends on x as that of other sizes does
		return reshape(add(withKeep(Sum, x, []int{g.Lo}), num(x, 1)), keep)
	}
	for n > 1 {
		half := n / 2
		y := mul(Narrow(x, g.Lo, 0, half), Narrow(x, g.Lo, half, half))
		if n%2 != 0 {
			y = Apply(Cat, Axis(g.Lo), y, Narrow(x, g.Lo, n-1, 1))
		}
		x, n = y, half+n%2
	}
	return reshape(x, keep)
}

// productsAlong are the products of each element of x and all before it along an axis: of neighbours first, whose
// products are found in the same way (Ladner and Fischer, "Parallel prefix computation", 1980).
func productsAlong(x *node, axis int) *node {
	n := x.Shape[axis]
	if n < 2 {
		return x
	}
	h := n / 2
	paired := slices.Concat(x.Shape[:axis], []int{h, 2}, x.Shape[axis+1:])
	twos := reshape(Narrow(x, axis, 0, 2*h), paired)
	first, second := Narrow(twos, axis+1, 0, 1), Narrow(twos, axis+1, 1, 1)
	whole := slices.Concat(x.Shape[:axis], []int{h}, x.Shape[axis+1:])
	odd := productsAlong(reshape(mul(first, second), whole), axis)
	odds := reshape(odd, first.Shape)
	even := first
	if h > 1 {
		even = Apply(Cat, Axis(axis), Narrow(first, axis, 0, 1), mul(Narrow(odds, axis, 0, h-1), Narrow(first, axis, 1, h-1)))
	}
	y := reshape(Apply(Cat, Axis(axis+1), even, odds), Narrow(x, axis, 0, 2*h).Shape)
	if n > 2*h {
		y = Apply(Cat, Axis(axis), y, mul(Narrow(odd, axis, h-1, 1), Narrow(x, axis, n-1, 1)))
	}
	return y
}

// complexPower is z to a whole power by the chain of PowInt.
func complexPower(z *node, k int) *node {
	if k == 0 {
		return expand(num(z, 1), z.Shape)
	}
	n := uint64(k)
	if k < 0 {
		n = -n
	}
	r := z
	for i := topBit(n) - 1; i >= 0; i-- {
		r = mul(r, r)
		if n>>i&1 != 0 {
			r = mul(r, z)
		}
	}
	if k < 0 {
		return apply(Reciprocal, r)
	}
	return r
}

func topBit(n uint64) int {
	i := -1
	for ; n > 0; n >>= 1 {
		i++
	}
	return i
}
