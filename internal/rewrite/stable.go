package rewrite

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Forms that overflow, or lose digits to cancellation, and those that do not. What becomes of
// their gradients, which are products, stands in factors.go.

func stable(name, doc string, f func(c *Context, n *ir.Node) *ir.Node, roots ...*op.Def) *Rule {
	return rule(Stabilise, Stable, name, doc, f, roots...)
}

func isSigmoid(x *ir.Node) bool { return x.Op == op.Sigmoid }

// throughView returns views of f(x) where n is reshapes and permutations of an x that is accepted. It returns
// nil for others.
func throughView(n *ir.Node, accepted func(x *ir.Node) bool, f func(x *ir.Node) *ir.Node) *ir.Node {
	if n == nil || n.Op != op.Reshape && n.Op != op.Permute {
		return nil
	}
	if x := n.Args[0]; accepted(x) {
		return op.Apply(op.Of(n), n.Attrs, f(x))
	}
	if x := throughView(n.Args[0], accepted, f); x != nil {
		return op.Apply(op.Of(n), n.Attrs, x)
	}
	return nil
}

// onePlus returns x of 1+x, nil for others.
func onePlus(n *ir.Node) *ir.Node {
	if n.Op != op.Add || !n.DType.Float() {
		return nil
	}
	return either(n, func(x, y *ir.Node) *ir.Node {
		if isNumber(y, 1) {
			return as(x, n)
		}
		return nil
	})
}

// oneMinus returns x of 1-x or 1+(-x), nil for others.
func oneMinus(n *ir.Node) *ir.Node {
	if x := onePlus(n); x != nil && x.Op == op.Neg {
		return x.Args[0]
	}
	if n.Op == op.Sub && n.DType.Float() && isNumber(n.Args[0], 1) {
		return as(n.Args[1], n)
	}
	return nil
}

// lessOne returns x of x-1 or x+(-1), nil for others.
func lessOne(n *ir.Node) *ir.Node {
	if !n.DType.Float() {
		return nil
	}
	if n.Op == op.Sub {
		if isNumber(n.Args[1], 1) {
			return as(n.Args[0], n)
		}
		return nil
	}
	return either(n, func(x, y *ir.Node) *ir.Node {
		if isNumber(y, -1) {
			return as(x, n)
		}
		return nil
	})
}

// complement returns 1-minus or 1+plus, where that is an error function or its complement. One of
// the two is nil.
func complement(minus, plus *ir.Node) *ir.Node {
	if x := ofOp(minus, op.Erf); x != nil {
		return apply(op.Erfc, x)
	}
	if x := ofOp(minus, op.Erfc); x != nil {
		return apply(op.Erf, x)
	}
	if x := ofOp(plus, op.Erf); x != nil {
		return apply(op.Erfc, negative(x))
	}
	return nil
}

// ofOp returns the argument of n if that is of one operation, else nil.
func ofOp(n *ir.Node, d *op.Def) *ir.Node {
	if n != nil && n.Op == d {
		return n.Args[0]
	}
	return nil
}

// inverses are functions that undo each other: outer(inner(x)) is x where x lies within
// limits, and NaN elsewhere.
var inverses = []struct {
	outer, inner *op.Def
	lo, hi       float64
}{
	{op.Log, op.Exp, math.Inf(-1), inf}, {op.Log1p, op.Expm1, math.Inf(-1), inf}, {op.Log2, op.Exp2, math.Inf(-1), inf},
	{op.Sinh, op.Asinh, math.Inf(-1), inf}, {op.Asinh, op.Sinh, math.Inf(-1), inf}, {op.Tan, op.Atan, math.Inf(-1), inf},
	{op.Atanh, op.Tanh, math.Inf(-1), inf}, {op.Erfinv, op.Erf, math.Inf(-1), inf},
	{op.Exp, op.Log, 0, inf}, {op.Exp2, op.Log2, 0, inf}, {op.Expm1, op.Log1p, -1, inf}, {op.Square, op.Sqrt, 0, inf},
	{op.Cosh, op.Acosh, 1, inf}, {op.Sin, op.Asin, -1, 1}, {op.Cos, op.Acos, -1, 1}, {op.Tanh, op.Atanh, -1, 1}, {op.Erf, op.Erfinv, -1, 1},
}

var inf = math.Inf(1)

// inside is y where x lies from lo to hi, and NaN elsewhere.
func inside(x, y *ir.Node, lo, hi float64) *ir.Node {
	var at *ir.Node
	switch {
	case math.IsInf(lo, -1):
		return y
	case lo == -1 && hi == 1:
		at = apply(op.Le, apply(op.Abs, x), num(x, 1))
	default:
		at = apply(op.Ge, x, num(x, lo))
	}
	return apply(choose, at, y, num(y, math.NaN()))
}

func outers() (defs []*op.Def) {
	for _, v := range inverses {
		defs = append(defs, v.outer)
	}
	return defs
}

var stableRules = []*Rule{
	stable("inverse of a function", "log(exp(x)), sinh(asinh(x)), tan(atan(x)) ... -> x; exp(log(x)), square(sqrt(x)), sin(asin(x)) ... -> x, or NaN outside their domain", func(c *Context, n *ir.Node) *ir.Node {
		for _, v := range inverses {
			if n.Op == v.outer && n.Args[0].Op == v.inner && n.DType.Float() {
				x := n.Args[0].Args[0]
				return inside(x, x, v.lo, v.hi)
			}
		}
		return nil
	}, outers()...),
	stable("root of a square", "sqrt(x*x) -> |x|", func(c *Context, n *ir.Node) *ir.Node {
		if x := ofOp(n.Args[0], op.Square); x != nil && x.DType.Float() {
			return apply(op.Abs, x)
		}
		return nil
	}, op.Sqrt),
	stable("log of a root", "log(sqrt(x)) -> log(x)/2, log(x*x) -> 2*log|x|, log(1/x) -> -log(x), log of powers", func(c *Context, n *ir.Node) *ir.Node {
		y := n.Args[0]
		if len(y.Args) == 0 || y.Args[0].DType != n.DType {
			return nil
		}
		log := func(x *ir.Node, f float64) *ir.Node { return apply(op.Mul, apply(op.Log, x), num(n, f)) }
		switch x := y.Args[0]; y.Op {
		case op.Sqrt:
			return log(x, 0.5)
		case op.Square:
			return log(apply(op.Abs, x), 2)
		case op.Reciprocal:
			return apply(op.Neg, apply(op.Log, x))
		case op.PowInt:
			k := y.Attrs.(op.Power)
			if k%2 == 0 {
				x = apply(op.Abs, x)
			}
			return log(x, float64(k))
		}
		return nil
	}, op.Log),
	stable("softplus", "log(1+exp(x)), log1p(exp(x)) -> softplus(x)", func(c *Context, n *ir.Node) *ir.Node {
		y := n.Args[0]
		if n.Op == op.Log {
			y = onePlus(y)
		}
		if x := ofOp(y, op.Exp); x != nil {
			return apply(op.Softplus, x)
		}
		return nil
	}, op.Log, op.Log1p),
	stable("log of 1-exp", "log(1-exp(x)), log(-expm1(x)) -> log(expm1(-x))+x where x > -log(2), else log1p(-exp(x))", func(c *Context, n *ir.Node) *ir.Node {
		x := ofOp(oneMinus(n.Args[0]), op.Exp)
		if x == nil {
			x = ofOp(ofOp(n.Args[0], op.Neg), op.Expm1)
		}
		if x == nil {
			return nil
		}
		return log1mexp(x)
	}, op.Log),
	stable("log of a difference of exponentials", "log(exp(x)-exp(y)) -> x+log(1-exp(y-x)), in its stable form", func(c *Context, n *ir.Node) *ir.Node {
		d := n.Args[0]
		if d.Op != op.Sub {
			return nil
		}
		x, y := ofOp(d.Args[0], op.Exp), ofOp(d.Args[1], op.Exp)
		if x == nil || y == nil {
			return nil
		}
		return apply(op.Add, x, log1mexp(apply(op.Sub, y, x)))
	}, op.Log),
	stable("log of a sum of exponentials", "log(exp(x)+exp(y)) -> maximum(x, y)+log1p(exp(-|x-y|))", func(c *Context, n *ir.Node) *ir.Node {
		if xs := summands(n.Args[0]); len(xs) == 2 && n.Args[0].Args[0].Op == op.Exp && n.Args[0].Args[1].Op == op.Exp {
			return logOfTwo(n, xs[0], xs[1])
		}
		return nil
	}, op.Log),
	stable("log of a sum of several", "log(exp(x)+exp(y)+exp(z)) -> log(exp(x-m)+exp(y-m)+exp(z-m))+m with the greatest of x, y, z as m; also with constants from 1 on", func(c *Context, n *ir.Node) *ir.Node {
		xs := summands(n.Args[0])
		if len(xs) == 2 {
			if onePlus(n.Args[0]) != nil {
				return nil
			}
			return logOfTwo(n, xs[0], xs[1])
		}
		if len(xs) < 3 || isShift(xs) {
			return nil
		}
		m := shift(n, xs)
		return as(apply(op.Add, apply(op.Log, sumOfExponentials(xs, m)), m), n)
	}, op.Log),
	stable("logsumexp", "log(sum(exp(x))) -> log(sum(exp(x-max(x))))+max(x); of means and other multiples of the sum too", func(c *Context, n *ir.Node) *ir.Node {
		y := unshaped(n.Args[0])
		var k *ir.Node
		d := op.Of(y)
		if is(y, op.Mul, op.Div) {
			if v, ok := number(y.Args[1]); !ok || !(v.Float > 0) || math.IsInf(v.Float, 1) || len(bare(y.Args[1]).Shape) > 0 {
				return nil
			}
			y, k = y.Args[0], bare(y.Args[1])
		}
		s := kept(y)
		if s == nil || s.Size() != n.Size() || shifted(root(s).Args[0]) {
			return nil
		}
		x := root(s).Args[0]
		m := over(greatest, s, x)
		m = apply(choose, apply(op.IsFinite, m), m, num(m, 0))
		l := over(sum, s, apply(op.Exp, apply(op.Sub, x, m)))
		if k != nil {
			l = apply(d, l, k)
		}
		return reshape(apply(op.Add, apply(op.Log, l), m), n.Shape)
	}, op.Log),
	stable("log of softmax", "log(softmax(x)) -> x-max(x)-log(sum(exp(x-max(x))))", func(c *Context, n *ir.Node) *ir.Node {
		y := n.Args[0]
		if !isSoftmax(y) {
			return nil
		}
		return apply(op.Sub, y.Args[0].Args[0], apply(op.Log, y.Args[1]))
	}, op.Log),
	stable("x less logsumexp", "x-(log(sum(exp(x-m)))+m) -> (x-m)-log(sum(exp(x-m)))", func(c *Context, n *ir.Node) *ir.Node {
		x, l := n.Args[0], unshaped(n.Args[1])
		if l.Op != op.Add {
			return nil
		}
		return either(l, func(log, m *ir.Node) *ir.Node {
			if log.Op != op.Log {
				return nil
			}
			s := kept(log.Args[0])
			if s == nil || !fits(n.Args[1], s, x.Shape) {
				return nil
			}
			d := root(s).Args[0]
			if d.Op != op.Sub || d.Args[0] != x || unshaped(d.Args[1]) != unshaped(m) {
				return nil
			}
			return as(apply(op.Sub, d, apply(op.Log, s)), n)
		})
	}, op.Sub),
	stable("log of sigmoid", "log(sigmoid(x)) -> -softplus(-x)", func(c *Context, n *ir.Node) *ir.Node {
		if x := ofOp(n.Args[0], op.Sigmoid); x != nil {
			return apply(op.Neg, apply(op.Softplus, negative(x)))
		}
		return nil
	}, op.Log),
	stable("log1p of minus sigmoid", "log1p(-sigmoid(x)) -> -softplus(x)", func(c *Context, n *ir.Node) *ir.Node {
		if x := ofOp(ofOp(n.Args[0], op.Neg), op.Sigmoid); x != nil {
			return apply(op.Neg, apply(op.Softplus, x))
		}
		return nil
	}, op.Log1p),
	stable("log of a view", "log(view(x)) -> view(log(x)) where x is a sigmoid, a sum, a difference or a quotient; 1-view(sigmoid(x)), -view(sigmoid(x)) likewise", func(c *Context, n *ir.Node) *ir.Node {
		switch n.Op {
		case op.Log, op.Log1p:
			if kept(n.Args[0]) != nil {
				return nil // the rule logsumexp knows that
			}
			return throughView(n.Args[0], func(x *ir.Node) bool {
				return is(x, op.Sigmoid, op.Add, op.Sub, op.Neg, op.Div) || kept(x) != nil
			}, func(x *ir.Node) *ir.Node { return apply(op.Of(n), x) })
		case op.Neg:
			return throughView(n.Args[0], isSigmoid, func(x *ir.Node) *ir.Node { return apply(op.Neg, x) })
		}
		return throughView(oneMinus(n), isSigmoid, func(x *ir.Node) *ir.Node { return apply(op.Sub, num(x, 1), x) })
	}, op.Log, op.Log1p, op.Neg, op.Sub, op.Add),
	stable("log1p", "log(1+x) -> log1p(x), log(1-x) -> log1p(-x)", func(c *Context, n *ir.Node) *ir.Node {
		if x := oneMinus(n.Args[0]); x != nil {
			return apply(op.Log1p, apply(op.Neg, x))
		}
		if x := onePlus(n.Args[0]); x != nil {
			return apply(op.Log1p, x)
		}
		return nil
	}, op.Log),
	stable("expm1", "exp(x)-1 -> expm1(x), 1-exp(x) -> -expm1(x)", func(c *Context, n *ir.Node) *ir.Node {
		if x := ofOp(oneMinus(n), op.Exp); x != nil {
			return apply(op.Neg, apply(op.Expm1, x))
		}
		if x := ofOp(lessOne(n), op.Exp); x != nil {
			return apply(op.Expm1, x)
		}
		return nil
	}, op.Sub, op.Add),
	stable("1 less sigmoid", "1-sigmoid(x) -> sigmoid(-x)", func(c *Context, n *ir.Node) *ir.Node {
		if x := ofOp(oneMinus(n), op.Sigmoid); x != nil {
			return apply(op.Sigmoid, negative(x))
		}
		return nil
	}, op.Sub, op.Add),
	stable("1 less erf", "1-erf(x) -> erfc(x), 1+erf(x) -> erfc(-x), 1-erfc(x) -> erf(x), 2-erfc(x) -> erfc(-x), and their negatives: erf(x)-1 -> -erfc(x), erfc(x)-1 -> -erf(x)", func(c *Context, n *ir.Node) *ir.Node {
		if m := complement(oneMinus(n), onePlus(n)); m != nil {
			return m
		}
		if x := lessOne(n); x != nil {
			var plus *ir.Node
			if x.Op == op.Neg { // -x-1 is -(1+x)
				plus, x = x.Args[0], nil
			}
			if m := complement(x, plus); m != nil {
				return apply(op.Neg, m)
			}
		}
		if n.Op == op.Sub && isNumber(n.Args[0], -1) { // -1-x
			if m := complement(nil, as(n.Args[1], n)); m != nil {
				return apply(op.Neg, m)
			}
		}
		if n.Op == op.Sub && isNumber(n.Args[0], 2) {
			if x := ofOp(as(n.Args[1], n), op.Erfc); x != nil {
				return apply(op.Erfc, negative(x))
			}
		}
		return nil
	}, op.Sub, op.Add),
	stable("log of erfc", "log(erfc(x)) -> log of its asymptotic series, where it vanishes", func(c *Context, n *ir.Node) *ir.Node {
		x := ofOp(n.Args[0], op.Erfc)
		if x == nil {
			return nil
		}
		far, z, low := beyondErfc(x)
		if far == nil {
			return nil
		}
		y := apply(op.Sub, apply(op.Log, apply(op.Div, num(z, 1/math.Sqrt(math.Pi)), erfcInverse(z))), apply(op.Square, z))
		return apply(choose, far, y, apply(op.Log, apply(op.Erfc, low)))
	}, op.Log),
	stable("exponential of softplus", "exp(softplus(x)) -> 1+exp(x), exp(-softplus(x)) -> sigmoid(-x), exp(log1p(x)) -> 1+x", func(c *Context, n *ir.Node) *ir.Node {
		y := n.Args[0]
		if x := ofOp(y, op.Softplus); x != nil {
			return apply(op.Add, apply(op.Exp, x), num(n, 1))
		}
		if x := ofOp(ofOp(y, op.Neg), op.Softplus); x != nil {
			return apply(op.Sigmoid, negative(x))
		}
		if x := ofOp(y, op.Log1p); x != nil {
			return inside(x, apply(op.Add, x, num(n, 1)), -1, inf)
		}
		return nil
	}, op.Exp),
	stable("sigmoid of a logit", "sigmoid(log(x/(1-x))) -> x, sigmoid(log(x)-log1p(-x)) -> x, from 0 to 1", func(c *Context, n *ir.Node) *ir.Node {
		x := logit(n.Args[0])
		if x == nil {
			return nil
		}
		at := apply(op.LogicalAnd, apply(op.Ge, x, num(x, 0)), apply(op.Le, x, num(x, 1)))
		return apply(choose, at, x, num(x, math.NaN()))
	}, op.Sigmoid),
}

// logit returns x of log(x/(1-x)) in one of its forms.
func logit(n *ir.Node) *ir.Node {
	if q := ofOp(n, op.Log); q != nil && q.Op == op.Div {
		if x := oneMinus(q.Args[1]); x != nil && x == q.Args[0] {
			return x
		}
	}
	if n.Op == op.Sub {
		x, m := ofOp(n.Args[0], op.Log), ofOp(n.Args[1], op.Log1p)
		if x != nil && m != nil && m.Op == op.Neg && m.Args[0] == x {
			return x
		}
	}
	return nil
}

// beyondErfc returns where x is so great that erfc(x) soon vanishes, x there and x elsewhere,
// each with the limit in the place of the other; nil where x is such already, or has a type
// without digits for that.
func beyondErfc(x *ir.Node) (far, above, below *ir.Node) {
	limit := map[array.DType]float64{array.Float64: 26, array.Float32: 9}[x.DType]
	if limit == 0 || x.Op == op.Minimum && isNumber(x.Args[1], limit) {
		return nil, nil, nil
	}
	l := num(x, limit)
	return apply(op.Gt, x, l), apply(op.Maximum, x, l), apply(op.Minimum, x, l)
}

// erfcInverse is exp(-z*z)/erfc(z)/sqrt(pi) for great z: z+1/(2z)-..., one by the series of
// erfc.
func erfcInverse(z *ir.Node) *ir.Node {
	t := apply(op.Reciprocal, apply(op.Square, z))
	s := num(z, -127.53125)
	for _, c := range []float64{22.0625, -4.625, 1.25, -0.5, 0.5} {
		s = apply(op.Add, apply(op.Mul, s, t), num(z, c))
	}
	return apply(op.Add, z, apply(op.Div, s, z))
}

// log1mexp is log(1-exp(x)), for x below 0.
func log1mexp(x *ir.Node) *ir.Node {
	near := apply(op.Add, apply(op.Log, apply(op.Expm1, negative(x))), x) // both terms are below 0
	far := apply(op.Log1p, apply(op.Neg, apply(op.Exp, x)))
	return apply(choose, apply(op.Gt, x, num(x, -math.Ln2)), near, far)
}

// kept returns the sum of exponentials that n is, perhaps in a shape without axes of size 1,
// with the axes that it is over kept; nil if it is none.
func kept(n *ir.Node) *ir.Node {
	n = unshaped(n)
	if n.Op != sum || root(n).Op != op.Exp {
		return nil
	}
	return n
}

// unshaped is n without expansions and changes of shape that add or remove axes of size 1.
func unshaped(n *ir.Node) *ir.Node {
	for n.Op == op.Expand || n.Op == op.Reshape && sameButOnes(n.Shape, n.Args[0].Shape) {
		n = n.Args[0]
	}
	return n
}

// sameButOnes reports shapes that are equal but for sizes of 1.
func sameButOnes(a, b []int) bool {
	i, j := 0, 0
	for {
		for i < len(a) && a[i] == 1 {
			i++
		}
		for j < len(b) && b[j] == 1 {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
		i, j = i+1, j+1
	}
}

// root is what the reductions of one kind that n is the last of are of.
func root(n *ir.Node) *ir.Node {
	for x := n; ; x = x.Args[0] {
		if x.Op != n.Op {
			return x
		}
	}
}

// over reduces x by d over the axes of a chain of sums that ends with s.
func over(d *op.Def, s, x *ir.Node) *ir.Node {
	if s.Op != sum {
		return x
	}
	return op.Apply(d, s.Attrs, over(d, s.Args[0], x))
}

// shifted reports x less its own maximum over some axes.
func shifted(d *ir.Node) bool {
	if d.Op != op.Sub {
		return false
	}
	m := unshaped(d.Args[1])
	if m.Op == choose {
		m = unshaped(m.Args[1])
	}
	return m.Op == greatest && root(m) == d.Args[0]
}

// isSoftmax reports exp(d)/sum(exp(d)) for a d that does not overflow.
func isSoftmax(n *ir.Node) bool {
	if n.Op != op.Div || n.Args[0].Op != op.Exp {
		return false
	}
	s := unshaped(n.Args[1])
	return s.Op == sum && root(s) == n.Args[0] && shifted(n.Args[0].Args[0]) && fits(n.Args[1], s, n.Shape)
}

// fits reports that s, a sum over axes of an array of the shape, broadcasts in the form n
// along the axes that it is over.
func fits(n, s *ir.Node, shape []int) bool {
	n = bare(n)
	if n.Size() == 1 {
		return true
	}
	k := len(shape) - len(n.Shape)
	if k < 0 || len(s.Shape) != len(shape) {
		return false
	}
	for i, size := range s.Shape {
		have := 1
		if i >= k {
			have = n.Shape[i-k]
		}
		if have != size {
			return false
		}
	}
	return true
}

// softmaxOf is the softmax of x over the axes of a sum of exponentials of x.
func softmaxOf(s, x *ir.Node) *ir.Node {
	d := x
	if !shifted(x) {
		d = apply(op.Sub, x, over(greatest, s, x))
	}
	e := apply(op.Exp, d)
	return apply(op.Div, e, over(sum, s, e))
}
