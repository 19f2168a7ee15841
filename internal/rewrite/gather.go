package rewrite

import (
	"math"
	"slices"

	"weft/internal/ir"
	"weft/internal/op"
)

// Factors that belong together: constants, exponentials, powers of one base.

var gatherRules = []*Rule{
	rule(Stabilise, Fast, "constant factors", "2*(x*3) -> x*6, (2*x)/(4*y) -> x/y*0.5, 3/(2*x) -> 1.5/x, (x/c)/d -> x/(c*d)", constantFactors, op.Mul, op.Div),
	factorRule(Fast, "product of exponentials", "exp(x)*y*exp(z) -> y*exp(x+z), exp(x)/exp(z) -> exp(x-z)", exponentials),
	factorRule(Fast, "powers of one base", "pow(a, x)*y*pow(a, z) -> y*pow(a, x+z), pow(a, 3)/a -> square(a)", powersOfOneBase),
}

// count is the number of factors for which f holds.
func count(p *product, f func(x *ir.Node) bool) (n int) {
	for _, x := range p.num {
		if f(x) {
			n++
		}
	}
	for _, x := range p.den {
		if f(x) {
			n++
		}
	}
	return n
}

// constantFactors makes one constant of several.
func constantFactors(c *Context, n *ir.Node) *ir.Node {
	p := c.severalFactors(n)
	if p == nil {
		return nil
	}
	if count(p, func(f *ir.Node) bool { return bare(f).Op == ir.Const }) < 2 {
		return nil
	}
	q := &product{neg: p.neg}
	split := func(list []*ir.Node) (k, rest []*ir.Node) {
		for _, f := range list {
			if b := bare(f); b.Op == ir.Const && len(b.Shape) == 0 {
				k = append(k, b)
			} else {
				rest = append(rest, f)
			}
		}
		return k, rest
	}
	product := func(list []*ir.Node) *ir.Node {
		k := list[0]
		for _, x := range list[1:] {
			k = computed(c, op.Mul, k, x)
		}
		return k
	}
	num, rest := split(p.num)
	q.num = rest
	den, rest := split(p.den)
	q.den = rest
	if len(num)+len(den) < 2 {
		return nil
	}
	d, k := op.Mul, (*ir.Node)(nil)
	switch {
	case len(num) == 0:
		d, k = op.Div, product(den)
	case len(den) == 0:
		k = product(num)
	default:
		k = computed(c, op.Div, product(num), product(den))
	}
	if len(q.num) == 0 && d == op.Mul {
		q.num = append(q.num, k)
		return q.node(n)
	}
	return as(apply(d, q.value(n), k), n)
}

// exponentials makes one exponential of several. Something else may need one at most.
func exponentials(c *Context, n *ir.Node, p *product) *product {
	if count(p, func(f *ir.Node) bool { return f.Op == op.Exp }) < 2 {
		return nil
	}
	q := &product{neg: p.neg}
	var sum *ir.Node
	shared := 0
	split := func(list []*ir.Node, d *op.Def) (rest []*ir.Node) {
		for _, f := range list {
			if f.Op != op.Exp {
				rest = append(rest, f)
				continue
			}
			if !c.once(f) {
				shared++
			}
			switch x := f.Args[0]; {
			case sum != nil:
				sum = apply(d, sum, x)
			case d == op.Sub:
				sum = negative(x)
			default:
				sum = x
			}
		}
		return rest
	}
	q.num = split(p.num, op.Add)
	q.den = split(p.den, op.Sub)
	if shared > 1 {
		return nil
	}
	q.num = append(q.num, apply(op.Exp, sum))
	return q
}

// An exponent is that of a power: a number, and a node where it is not known, nil for 0.
type exponent struct {
	known float64
	more  *ir.Node
}

// powerOf returns the base and the exponent of a factor.
func powerOf(f *ir.Node) (base *ir.Node, e exponent) {
	switch f.Op {
	case op.Pow:
		if v, ok := number(f.Args[1]); ok {
			return f.Args[0], exponent{known: v.Float}
		}
		return f.Args[0], exponent{more: f.Args[1]}
	case op.PowInt:
		return f.Args[0], exponent{known: float64(f.Attrs.(op.Power))}
	case op.Sqrt:
		return f.Args[0], exponent{known: 0.5}
	}
	return f, exponent{known: 1}
}

// powersOfOneBase joins factors with one base, where one of them at least is written as a power.
func powersOfOneBase(c *Context, n *ir.Node, p *product) *product {
	if count(p, func(f *ir.Node) bool { return is(f, op.Pow, op.PowInt) }) == 0 {
		return nil
	}
	for _, f := range slices.Concat(p.num, p.den) {
		base, _ := powerOf(f)
		if base == f || f.Op == op.Sqrt {
			continue
		}
		q := &product{neg: p.neg}
		var e exponent
		count, shared := 0, 0
		split := func(list []*ir.Node, sign float64) (rest []*ir.Node) {
			for _, g := range list {
				b, of := powerOf(g)
				if b != base {
					rest = append(rest, g)
					continue
				}
				count++
				if g != base && !c.once(g) {
					shared++
				}
				e.known += sign * of.known
				switch more := of.more; {
				case more == nil:
				case e.more == nil && sign < 0:
					e.more = negative(more)
				case e.more == nil:
					e.more = more
				case sign < 0:
					e.more = apply(op.Sub, e.more, more)
				default:
					e.more = apply(op.Add, e.more, more)
				}
			}
			return rest
		}
		q.num = split(p.num, 1)
		q.den = split(p.den, -1)
		if count < 2 || shared > 0 {
			continue
		}
		if e.more == nil && e.known < 0 {
			e.known = -e.known
			q.den = append(q.den, e.of(base))
		} else if x := e.of(base); x != nil {
			q.num = append(q.num, x)
		}
		return q
	}
	return nil
}

// of is base to the power e, nil for 1.
func (e exponent) of(base *ir.Node) *ir.Node {
	k := e.known
	switch {
	case e.more != nil && k != 0:
		return apply(op.Pow, base, apply(op.Add, e.more, num(e.more, k)))
	case e.more != nil:
		return apply(op.Pow, base, e.more)
	case k == 0:
		return nil
	case k == 1:
		return base
	case k == math.Trunc(k) && math.Abs(k) <= op.MaxPower:
		return op.Apply(op.PowInt, op.Power(k), base)
	}
	return apply(op.Pow, base, num(base, k))
}
