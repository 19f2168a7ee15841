package rewrite

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Products and quotients as lists of factors. The gradient of log(1+exp(x)) is
// dy/(1+exp(x))*exp(x), however the three are put together: what belongs together is found in
// the list. Rules change a list, and what is left is multiplied in order of sizes.

// A product is num[0]*num[1]*.../(den[0]*...), negative if neg is set.
type product struct {
	num, den []*ir.Node
	neg      bool
}

// maxFactors is how many factors a product may have for rules to look at it.
const maxFactors = 16

// factors returns the factors of n, which the caller does not change, or false if there are
// too many.
func (c *Context) factors(n *ir.Node) (*product, bool) {
	if c.factored != n {
		c.factored = n
		c.last.num, c.last.den, c.last.neg = c.last.num[:0], c.last.den[:0], false
		c.last.add(n, false, 2*maxFactors)
	}
	return &c.last, len(c.last.num)+len(c.last.den) <= maxFactors
}

// add adds the factors of n, or of 1/n, looking at no more than looks nodes. It returns how many
// it may still look at.
func (p *product) add(n *ir.Node, inverse bool, looks int) int {
	if looks--; looks > 0 && n.DType.Float() {
		switch x := n.Args; {
		case n.Op == op.Mul:
			return p.add(x[1], inverse, p.add(x[0], inverse, looks))
		case n.Op == op.Div && !isSoftmax(n):
			return p.add(x[1], !inverse, p.add(x[0], inverse, looks))
		case n.Op == op.Reciprocal:
			return p.add(x[0], !inverse, looks)
		case n.Op == op.Square:
			return p.add(x[0], inverse, p.add(x[0], inverse, looks))
		case n.Op == op.Neg:
			p.neg = !p.neg
			return p.add(x[0], inverse, looks)
		case n.Op == op.Expand && is(x[0], op.Mul, op.Div, op.Reciprocal, op.Square, op.Neg, op.Reshape):
			return p.add(x[0], inverse, looks)
		case n.Op == op.Reshape && is(x[0], op.Mul, op.Div, op.Reciprocal, op.Square, op.Neg) && sameButOnes(n.Shape, x[0].Shape) && !isSoftmax(x[0]):
			return p.addShaped(n, inverse, looks)
		}
	}
	if inverse {
		p.den = append(p.den, n)
	} else {
		p.num = append(p.num, n)
	}
	return looks
}

// addShaped adds the factors of a product in another shape, each in that shape.
func (p *product) addShaped(n *ir.Node, inverse bool, looks int) int {
	var inner product
	x := n.Args[0]
	looks = inner.add(x, inverse, looks)
	shaped := func(list []*ir.Node) ([]*ir.Node, bool) {
		out := make([]*ir.Node, len(list))
		for i, f := range list {
			switch f = bare(f); {
			case array.Equal(f.Shape, x.Shape):
				out[i] = reshape(f, n.Shape)
			case f.Size() == 1:
				out[i] = reshape(f, nil)
			default:
				return nil, false
			}
		}
		return out, true
	}
	num, ok := shaped(inner.num)
	den, also := shaped(inner.den)
	if !ok || !also {
		num, den, inner.neg = []*ir.Node{n}, nil, false
		if inverse {
			num, den = nil, num
		}
	}
	p.num, p.den, p.neg = append(p.num, num...), append(p.den, den...), p.neg != inner.neg
	return looks
}

// clone is a copy that may be changed.
func (p *product) clone() *product {
	return &product{slices.Clone(p.num), slices.Clone(p.den), p.neg}
}

// without is a list without one element.
func without(list []*ir.Node, i int) []*ir.Node { return slices.Delete(slices.Clone(list), i, i+1) }

// node is the product in the place of n.
func (p *product) node(n *ir.Node) *ir.Node { return as(p.value(n), n) }

// value is the product, of the type of n, in the shape that its factors have.
func (p *product) value(n *ir.Node) *ir.Node {
	bySize := func(a, b *ir.Node) int { return a.Size() - b.Size() }
	num, den := slices.Clone(p.num), slices.Clone(p.den)
	slices.SortStableFunc(num, bySize)
	slices.SortStableFunc(den, bySize)
	var r *ir.Node
	for _, x := range num {
		if r == nil {
			r = x
		} else {
			r = apply(op.Mul, r, x)
		}
	}
	for _, x := range den {
		if r == nil {
			r = apply(op.Reciprocal, x)
		} else {
			r = apply(op.Div, r, x)
		}
	}
	if r == nil {
		r = n.Graph.Number(1, n.DType, false)
	}
	if p.neg {
		r = negative(r)
	}
	return r
}

// factorRule is a rule on the factors of a product: f changes a copy of them and reports
// whether it did.
func factorRule(level Level, name, doc string, f func(c *Context, n *ir.Node, p *product) *product, roots ...*op.Def) *Rule {
	if roots == nil {
		roots = []*op.Def{op.Mul, op.Div}
	}
	return rule(Stabilise, level, name, doc, func(c *Context, n *ir.Node) *ir.Node {
		if p := c.severalFactors(n); p != nil {
			if q := f(c, n, p); q != nil {
				return q.node(n)
			}
		}
		return nil
	}, roots...)
}

// severalFactors returns the factors of floats that rules look at, nil if there are none.
func (c *Context) severalFactors(n *ir.Node) *product {
	if !n.DType.Float() {
		return nil
	}
	if p, ok := c.factors(n); ok && len(p.num)+len(p.den) >= 2 {
		return p
	}
	return nil
}

// sigmoidOf returns which factor is sigmoid(z), -1 for none.
func sigmoidOf(list []*ir.Node, z func(x *ir.Node) bool) int {
	return slices.IndexFunc(list, func(f *ir.Node) bool { return f.Op == op.Sigmoid && z(f.Args[0]) })
}

// equalBut reports that two nodes, sums over the same axes, stand in the same form.
func equalBut(x, y *ir.Node) bool { return array.Equal(bare(x).Shape, bare(y).Shape) }

// depends reports that a factor is a function of z or -z, or computed from such by one step
// more: if z is NaN it is.
func depends(list []*ir.Node, z *ir.Node, but ...int) bool {
	for i, f := range list {
		if slices.Contains(but, i) {
			continue
		}
		for _, a := range f.Args {
			if a == z || isNegative(a, z) {
				return true
			}
		}
	}
	return false
}

// bySigmoid reports a quotient by sigmoid(z) or sigmoid(-z), or a sum, at most levels deep, with
// one.
func (c *Context) bySigmoid(n, z *ir.Node, levels int) bool {
	p, _ := c.factors(n)
	if sigmoidOf(p.den, func(x *ir.Node) bool { return x == z || isNegative(x, z) }) >= 0 {
		return true
	}
	if slices.ContainsFunc(p.num, func(f *ir.Node) bool {
		x := ofOp(onePlus(f), op.Exp)
		return x != nil && (x == z || isNegative(x, z))
	}) {
		return true
	}
	return levels > 0 && is(n, op.Add, op.Sub) && (c.bySigmoid(n.Args[0], z, levels-1) || c.bySigmoid(n.Args[1], z, levels-1))
}

// positive returns z of f(z) that is positive for all numbers z, nil for others.
func positive(f *ir.Node) *ir.Node {
	if is(f, op.Exp, op.Exp2, op.Sigmoid, op.Cosh) {
		return f.Args[0]
	}
	if x := onePlusOf(f); x != nil {
		if z := ofOp(x, op.Expm1); z != nil {
			return z
		}
		if z := squared(x); z != nil {
			return z
		}
	}
	return ofOp(squared(oneMinus(f)), op.Tanh)
}

// onePlusOf returns x of 1+x, nil for others and for nil.
func onePlusOf(n *ir.Node) *ir.Node {
	if n == nil {
		return nil
	}
	return onePlus(n)
}

// squared returns x of x*x, nil for others and for nil.
func squared(n *ir.Node) *ir.Node {
	switch {
	case n == nil:
	case n.Op == op.Square, n.Op == op.Mul && n.Args[0] == n.Args[1]:
		return n.Args[0]
	}
	return nil
}

// slopes returns the product of g, the slope of a hyperbolic function, and 1/sqrt(root), that of its
// inverse, where both are of one number. It returns nil for others.
func slopes(g, root *ir.Node) *ir.Node {
	if s := squared(onePlusOf(root)); s != nil {
		if z := ofOp(g, op.Cosh); z != nil && (ofOp(s, op.Sinh) == z || ofOp(z, op.Asinh) == s) {
			return oneOrNaN(z)
		}
	}
	if !is(root, op.Add, op.Sub) {
		return nil
	}
	if s := squared(lessOne(root)); s != nil {
		if z := ofOp(g, op.Sinh); ofOp(z, op.Acosh) == s {
			return inside(s, num(s, 1), 1, inf)
		}
	}
	return nil
}

// wholePower returns x and k of a factor pow(x, k) with k > 1. Others are the first power of themselves.
func wholePower(f *ir.Node) (x *ir.Node, k op.Power) {
	if f.Op == op.PowInt {
		if k := f.Attrs.(op.Power); k > 1 {
			return f.Args[0], k
		}
	}
	return f, 1
}

// oneOrNaN is 1, and NaN where z is NaN.
func oneOrNaN(z *ir.Node) *ir.Node { return apply(choose, apply(op.IsNaN, z), z, num(z, 1)) }

var factorRules = []*Rule{
	stable("1 by 1+exp", "1/(1+exp(x)) -> sigmoid(-x)", func(c *Context, n *ir.Node) *ir.Node {
		if x := ofOp(onePlus(n.Args[0]), op.Exp); x != nil {
			return apply(op.Sigmoid, negative(x))
		}
		return nil
	}, op.Reciprocal),
	factorRule(Stable, "quotient by 1+exp", "y/(1+exp(x)) -> y*sigmoid(-x)", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			if x := ofOp(onePlus(f), op.Exp); x != nil {
				q := p.clone()
				q.den, q.num = without(p.den, i), append(q.num, apply(op.Sigmoid, negative(x)))
				return q
			}
		}
		return nil
	}),
	factorRule(Stable, "sigmoid times an exponential", "sigmoid(x)*exp(-x) -> sigmoid(-x), sigmoid(x)/exp(x) -> sigmoid(-x)", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.num {
			if f.Op != op.Exp {
				continue
			}
			if k := sigmoidOf(p.num, func(x *ir.Node) bool { return isNegative(x, f.Args[0]) }); k >= 0 {
				q := p.clone()
				q.num[k] = apply(op.Sigmoid, f.Args[0])
				q.num = without(q.num, i)
				return q
			}
		}
		for i, f := range p.den {
			if f.Op != op.Exp {
				continue
			}
			if k := sigmoidOf(p.num, func(x *ir.Node) bool { return x == f.Args[0] }); k >= 0 {
				q := p.clone()
				q.num[k], q.den = apply(op.Sigmoid, negative(f.Args[0])), without(p.den, i)
				return q
			}
		}
		return nil
	}),
	factorRule(Stable, "odds", "sigmoid(x)/sigmoid(-x) -> exp(x)", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			if f.Op != op.Sigmoid {
				continue
			}
			if k := sigmoidOf(p.num, func(x *ir.Node) bool { return isNegative(x, f.Args[0]) }); k >= 0 {
				q := p.clone()
				q.num[k], q.den = apply(op.Exp, p.num[k].Args[0]), without(p.den, i)
				return q
			}
		}
		return nil
	}),
	factorRule(Stable, "positive by itself", "y*f(x)/f(x) -> y, f being a softmax, exp, exp2, sigmoid, cosh, 1+x*x, 1-tanh(x)*tanh(x) or 1+expm1(x); NaN stays", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			z := positive(f)
			if z == nil && !isSoftmax(f) {
				continue
			}
			k := slices.Index(p.num, f)
			if k < 0 {
				continue
			}
			q := p.clone()
			q.num, q.den = without(p.num, k), without(p.den, i)
			if z != nil && !depends(q.num, z) && !depends(q.den, z) {
				q.num = append(q.num, oneOrNaN(z))
			}
			return q
		}
		return nil
	}),
	factorRule(Stable, "exponential times its inverse", "y*exp(x)*exp(-x) -> y; NaN stays", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.num {
			if f.Op != op.Exp {
				continue
			}
			z := f.Args[0]
			k := slices.IndexFunc(p.num, func(g *ir.Node) bool { return g.Op == op.Exp && isNegative(g.Args[0], z) })
			if k < 0 {
				continue
			}
			q := p.clone()
			q.num = without(without(p.num, max(i, k)), min(i, k))
			if !depends(q.num, z) && !depends(q.den, z) {
				q.num = append(q.num, oneOrNaN(z))
			}
			return q
		}
		return nil
	}),
	factorRule(Stable, "power by a higher power", "y*x/(x*x) -> y/x, y*pow(x, 2)/pow(x, 5) -> y/pow(x, 3): the gradients of logarithms of powers", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			x, high := wholePower(f)
			for k, g := range p.num {
				z, low := wholePower(g)
				again := slices.Contains(p.den[i+1:], f)
				if z != x || !again && low >= high || again && g != f {
					continue
				}
				q := p.clone()
				q.num = without(p.num, k)
				switch {
				case again:
					q.den = without(p.den, i)
				case high-low == 1:
					q.den[i] = x
				default:
					q.den[i] = op.Apply(op.PowInt, high-low, x)
				}
				return q
			}
		}
		return nil
	}),
	factorRule(Stable, "slopes of hyperbolic functions and their inverses", "y*cosh(x)/sqrt(1+sinh(x)*sinh(x)), y*cosh(asinh(x))/sqrt(1+x*x), y*sinh(acosh(x))/sqrt(x*x-1) -> y, or NaN outside their domain", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			root := ofOp(f, op.Sqrt)
			if root == nil {
				continue
			}
			for k, g := range p.num {
				if by := slopes(g, root); by != nil {
					q := p.clone()
					q.num, q.den = append(without(p.num, k), by), without(p.den, i)
					return q
				}
			}
		}
		return nil
	}),
	factorRule(Stable, "sigmoid times 1+exp", "y*sigmoid(x)*(1+exp(-x)) -> y, y being another function of x", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.num {
			x := ofOp(onePlus(f), op.Exp)
			if x == nil {
				continue
			}
			k := sigmoidOf(p.num, func(z *ir.Node) bool { return isNegative(x, z) })
			if k < 0 || !depends(p.num, x, i, k) && !depends(p.den, x) {
				continue
			}
			q := p.clone()
			q.num = without(without(p.num, max(i, k)), min(i, k))
			return q
		}
		return nil
	}),
	stable("less its multiple by sigmoid", "y-y*sigmoid(x) -> y*sigmoid(-x)", func(c *Context, n *ir.Node) *ir.Node {
		if !n.DType.Float() {
			return nil
		}
		q, ok := c.factors(n.Args[1])
		if !ok || sigmoidOf(q.num, func(*ir.Node) bool { return true }) < 0 {
			return nil
		}
		q = q.clone()
		p, ok := c.factors(n.Args[0])
		if !ok || p.neg != q.neg || len(p.num)+1 != len(q.num) || len(p.den) != len(q.den) {
			return nil
		}
		p = p.clone()
		for _, f := range p.num {
			i := slices.Index(q.num, f)
			if i < 0 {
				return nil
			}
			q.num = without(q.num, i)
		}
		for _, f := range p.den {
			i := slices.Index(q.den, f)
			if i < 0 {
				return nil
			}
			q.den = without(q.den, i)
		}
		if s := q.num[0]; s.Op == op.Sigmoid {
			p.num = append(p.num, apply(op.Sigmoid, negative(s.Args[0])))
			return p.node(n)
		}
		return nil
	}, op.Sub),
	factorRule(Stable, "exponential by a sum of two", "exp(x)/(exp(x)+exp(y)) -> sigmoid(x-y)", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			if f.Op != op.Add || f.Args[0].Op != op.Exp || f.Args[1].Op != op.Exp {
				continue
			}
			for j := range 2 {
				if k := slices.Index(p.num, f.Args[j]); k >= 0 {
					q := p.clone()
					q.num[k], q.den = apply(op.Sigmoid, apply(op.Sub, f.Args[j].Args[0], f.Args[1-j].Args[0])), without(p.den, i)
					return q
				}
			}
		}
		return nil
	}),
	factorRule(Stable, "exponential by a difference of two", "exp(x)/(exp(x)-exp(y)) -> -1/expm1(y-x), exp(y)/(exp(x)-exp(y)) -> 1/expm1(x-y)", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			if f.Op != op.Sub || f.Args[0].Op != op.Exp || f.Args[1].Op != op.Exp {
				continue
			}
			for k, g := range p.num {
				if g != f.Args[0] && g != f.Args[1] {
					continue
				}
				x, y := f.Args[0].Args[0], f.Args[1].Args[0]
				q := p.clone()
				if q.num = without(p.num, k); g == f.Args[0] {
					x, y, q.neg = y, x, !q.neg
				}
				q.den[i] = apply(op.Expm1, apply(op.Sub, x, y))
				return q
			}
		}
		return nil
	}),
	factorRule(Stable, "exponential by a sum of several", "exp(x)/(exp(x)+exp(y)+exp(z)) -> exp(x-m)/(exp(x-m)+exp(y-m)+exp(z-m)) with the greatest of x, y, z as m; exp(x)/(exp(x)+c) with exp(-|x|)", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			xs := summands(bare(f))
			k := slices.IndexFunc(p.num, func(e *ir.Node) bool { return e.Op == op.Exp && slices.Contains(xs, e.Args[0]) })
			if k < 0 || isShift(xs) || onePlus(bare(f)) != nil && len(xs) == 2 {
				continue
			}
			q := p.clone()
			if c := constantOf(bare(f)); len(xs) == 2 && c != nil { // with exp(-|x|), which loses digits for neither sign
				x := p.num[k].Args[0]
				e, above := apply(op.Exp, apply(op.Neg, apply(op.Abs, x))), apply(op.Gt, x, num(x, 0))
				q.num[k] = apply(choose, above, num(x, 1), e)
				q.den[i] = apply(choose, above, apply(op.Add, apply(op.Mul, e, c), num(x, 1)), apply(op.Add, e, c))
				return q
			}
			m := shift(n, xs)
			q.num[k] = apply(op.Exp, apply(op.Sub, p.num[k].Args[0], m))
			q.den[i] = sumOfExponentials(xs, m)
			return q
		}
		return nil
	}),
	factorRule(Stable, "exponential by erfc", "exp(-x*x)/erfc(x) -> by its asymptotic series where both vanish: the gradient of log(erfc(x))", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			x := ofOp(f, op.Erfc)
			k := slices.IndexFunc(p.num, func(e *ir.Node) bool {
				y := ofOp(ofOp(e, op.Exp), op.Neg)
				return x != nil && y != nil && (y.Op == op.Square && y.Args[0] == x || y.Op == op.Mul && y.Args[0] == x && y.Args[1] == x)
			})
			if k < 0 {
				continue
			}
			far, z, low := beyondErfc(x)
			if far == nil {
				return nil
			}
			q := p.clone()
			near := apply(op.Div, apply(op.Exp, apply(op.Neg, apply(op.Square, low))), apply(op.Erfc, low))
			y := apply(op.Mul, erfcInverse(z), num(z, math.Sqrt(math.Pi)))
			// The factor 2/sqrt(pi) of the gradient would round twice.
			root := op.Nearest(n.DType, 2/math.Sqrt(math.Pi))
			if at := slices.IndexFunc(q.num, func(f *ir.Node) bool { return isNumber(f, root) || isNumber(f, -root) }); at >= 0 {
				q.neg = q.neg != isNumber(q.num[at], -root)
				q.num[at] = num(z, 2)
				y, near = erfcInverse(z), apply(op.Mul, near, num(z, 1/math.Sqrt(math.Pi)))
			}
			q.num[k], q.den = apply(choose, far, y, near), without(p.den, i)
			return q
		}
		return nil
	}),
	factorRule(Stable, "softmax", "exp(x)/sum(exp(x)) -> exp(x-max(x))/sum(exp(x-max(x)))", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			s := kept(f)
			if s == nil {
				continue
			}
			e := root(s)
			k := slices.Index(p.num, e)
			if k < 0 || !fits(f, s, e.Shape) || len(p.num)+len(p.den) == 2 && isSoftmax(n) {
				continue
			}
			q := p.clone()
			q.num[k], q.den = softmaxOf(s, e.Args[0]), without(p.den, i)
			return q
		}
		return nil
	}),
	factorRule(Stable, "sum by a sum of exponentials", "sum(y*exp(x))/sum(exp(x)) -> sum(y*softmax(x))", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			s := kept(f)
			if s == nil || s.Args[0].Op != op.Exp {
				continue
			}
			e := s.Args[0]
			for k, t := range p.num {
				u := unshaped(t)
				if u.Op != sum || u.Attrs != s.Attrs || !array.Equal(u.Args[0].Shape, e.Shape) || !equalBut(f, t) {
					continue
				}
				p = p.clone()
				in, ok := c.factors(u.Args[0])
				at := slices.Index(in.num, e)
				if !ok || at < 0 {
					return nil
				}
				in = in.clone()
				in.num[at] = softmaxOf(s, e.Args[0])
				p.num[k] = as(reshape(op.Apply(sum, u.Attrs, in.node(u.Args[0])), bare(t).Shape), t)
				p.den = without(p.den, i)
				return p
			}
		}
		return nil
	}),
	stable("quotients by a sum of exponentials", "x/s-y/s -> (x-y)/s, s being a sum of exponentials: the gradient of their softmax", func(c *Context, n *ir.Node) *ir.Node {
		if !n.DType.Float() {
			return nil
		}
		p, ok := c.factors(n.Args[0])
		if !ok || len(p.den) == 0 {
			return nil
		}
		p = p.clone()
		q, ok := c.factors(n.Args[1])
		if !ok {
			return nil
		}
		for i, f := range p.den {
			k := slices.IndexFunc(q.den, func(g *ir.Node) bool { return unshaped(g) == unshaped(f) })
			if s := kept(f); s == nil || k < 0 || !fits(f, s, root(s).Shape) || !fits(q.den[k], s, root(s).Shape) {
				continue
			}
			q = q.clone()
			p.den, q.den = without(p.den, i), without(q.den, k)
			return as(apply(op.Div, apply(op.Of(n), p.node(n.Args[0]), q.node(n.Args[1])), f), n)
		}
		return nil
	}, op.Add, op.Sub),
	stable("sum of quotients by a sum of exponentials", "sum(x/s) -> sum(x)/s, s being a sum of exponentials over the same axes", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if !n.DType.Float() || span(group(n)).one(x.Shape) {
			return nil
		}
		p, ok := c.factors(x)
		if !ok {
			return nil
		}
		for i, f := range p.den {
			s := kept(f)
			if s == nil || !fits(f, s, x.Shape) {
				continue
			}
			if b := constantAlong(f, group(n), x.Shape); b != nil {
				q := p.clone()
				q.den = without(p.den, i)
				return as(apply(op.Div, op.Apply(sum, n.Attrs, q.node(x)), b), n)
			}
		}
		return nil
	}, sum),
	factorRule(Stable, "softmax times a difference", "y*(x/y-z) -> x-y*z, y being a softmax: the gradient of its logarithm", func(c *Context, n *ir.Node, p *product) *product {
		if !slices.ContainsFunc(p.num, isSoftmax) {
			return nil
		}
		p = p.clone()
		for i, y := range p.num {
			if !isSoftmax(y) {
				continue
			}
			for k, d := range p.num {
				if !is(d, op.Add, op.Sub) {
					continue
				}
				in, ok := c.factors(d.Args[0])
				at := slices.Index(in.den, y)
				if !ok || at < 0 {
					continue
				}
				x := in.clone()
				x.den = without(in.den, at)
				q := p.clone()
				q.num[k] = apply(op.Of(d), x.node(d), apply(op.Mul, y, d.Args[1]))
				q.num = without(q.num, i)
				return q
			}
		}
		return nil
	}),
	factorRule(Stable, "sigmoids times a difference", "(x/sigmoid(z)-y)*sigmoid(z)*sigmoid(-z) -> x*sigmoid(-z)-y*sigmoid(z)*sigmoid(-z): the gradient of a loss of logarithms", func(c *Context, n *ir.Node, p *product) *product {
		k := slices.IndexFunc(p.num, func(f *ir.Node) bool { return is(f, op.Add, op.Sub) && onePlus(f) == nil })
		i := sigmoidOf(p.num, func(*ir.Node) bool { return true })
		if k < 0 || i < 0 {
			return nil
		}
		z := p.num[i].Args[0]
		j := sigmoidOf(p.num, func(y *ir.Node) bool { return isNegative(y, z) })
		if j < 0 {
			return nil
		}
		q, d := p.clone(), p.num[k]
		if !c.bySigmoid(d.Args[0], z, 3) && !c.bySigmoid(d.Args[1], z, 3) {
			return nil
		}
		both := apply(op.Mul, q.num[i], q.num[j])
		q.num[k] = apply(op.Of(d), apply(op.Mul, d.Args[0], both), apply(op.Mul, d.Args[1], both))
		q.num = without(without(q.num, max(i, j)), min(i, j))
		return q
	}),
	factorRule(Fast, "factors that cancel", "a*b/a -> b, a/(((a*b)/c)/d) -> (c*d)/b", func(c *Context, n *ir.Node, p *product) *product {
		for i, f := range p.den {
			if k := slices.Index(p.num, f); k >= 0 {
				q := p.clone()
				q.num, q.den = without(p.num, k), without(p.den, i)
				return q
			}
		}
		return nil
	}),
	factorRule(Fast, "nested quotients", "a/(b/c) -> (a*c)/b", func(c *Context, n *ir.Node, p *product) *product {
		if n.Op == op.Div && (n.Args[1].Op == op.Div && c.once(n.Args[1]) || n.Args[1].Op == op.Reciprocal) && !isSoftmax(n.Args[1]) {
			return p
		}
		return nil
	}),
	rule(Specialise, Fast, "distribution", "(a/x+b)*x -> a+b*x", func(c *Context, n *ir.Node) *ir.Node {
		if !n.DType.Float() {
			return nil
		}
		return either(n, func(s, x *ir.Node) *ir.Node {
			if !is(s, op.Add, op.Sub) || !c.once(s) {
				return nil
			}
			for i := range 2 {
				a, b := s.Args[i], s.Args[1-i]
				p, ok := c.factors(a)
				at := slices.Index(p.den, x)
				if !ok || at < 0 {
					continue
				}
				q := p.clone()
				q.den = without(p.den, at)
				y, z := q.node(n), apply(op.Mul, b, x)
				if i == 1 {
					y, z = z, y
				}
				return as(apply(op.Of(s), y, z), n)
			}
			return nil
		})
	}, op.Mul),
}
