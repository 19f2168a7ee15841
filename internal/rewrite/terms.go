package rewrite

import (
	"math"
	"slices"

	"weft/internal/ir"
	"weft/internal/op"
)

// Sums and differences as lists of terms, so that what cancels and which constants meet is found
// however the sum was put together.

// A term is x times a constant, which is 1 or -1 for integers.
type term struct {
	x    *ir.Node
	coef float64
}

// A total is a sum of terms and constants.
type total struct {
	terms     []term
	constants []term // without dimensions
	ops       int    // operations that nothing but the sum needs
}

// maxTerms is how many terms a sum may have for rules to look at it.
const maxTerms = 12

// terms returns the terms of n until the next call, or false if there are too many.
func (c *Context) terms(n *ir.Node) (*total, bool) {
	t := &c.sum
	*t = total{terms: t.terms[:0], constants: t.constants[:0]}
	t.add(c, n, 1, true, 2*maxTerms)
	return t, len(t.terms) <= maxTerms
}

// add adds the terms of n times sign, looking at no more than looks nodes. alone says that nothing
// but the sum needs n. It returns how many nodes it may still look at.
func (t *total) add(c *Context, n *ir.Node, sign float64, alone bool, looks int) int {
	looks--
	v, x := bare(n), n.Args
	if v.Op == ir.Const {
		t.constants = append(t.constants, term{v, sign})
		return looks
	}
	if looks > 0 && is(v, op.Add, op.Sub, op.Neg) && v != n {
		return t.add(c, v, sign, alone && c.once(n), looks)
	}
	if looks > 0 && is(n, op.Add, op.Sub, op.Neg) {
		if alone {
			t.ops++
		}
		if n.Op == op.Neg {
			return t.add(c, x[0], -sign, alone && c.once(x[0]), looks)
		}
		looks = t.add(c, x[0], sign, alone && c.once(x[0]), looks)
		if n.Op == op.Sub {
			sign = -sign
		}
		return t.add(c, x[1], sign, alone && c.once(x[1]), looks)
	}
	m := term{n, sign}
	if n.Op == op.Mul && n.DType.Float() {
		if k := bare(x[1]); k.Op == ir.Const && len(k.Shape) == 0 {
			v, _ := number(k)
			m = term{as(x[0], n), sign * v.Float}
			if alone {
				t.ops++
			}
		}
	}
	t.terms = append(t.terms, m)
	return looks
}

// computed is d of constants, as a constant.
func computed(c *Context, d *op.Def, x ...*ir.Node) *ir.Node {
	n := apply(d, x...)
	if m := fold(c, n); m != nil {
		return m
	}
	return n
}

// cancel takes terms away that the sum adds and subtracts, and joins multiples of one array of
// floats. It reports whether it did.
func (t *total) cancel() bool {
	before := len(t.terms)
	for i := 0; i < len(t.terms); i++ {
		for k := i + 1; k < len(t.terms); k++ {
			a, b := t.terms[i], t.terms[k]
			if a.x != b.x {
				continue
			}
			if a.coef == -b.coef {
				t.terms = slices.Delete(slices.Delete(t.terms, k, k+1), i, i+1)
				i--
				break
			}
			if a.x.DType.Float() {
				t.terms[i].coef += b.coef
				t.terms = slices.Delete(t.terms, k, k+1)
				k--
			}
		}
	}
	return len(t.terms) < before
}

// constant is the sum of the constants, nil if there are none or it is 0.
func (t *total) constant(c *Context) (k *ir.Node) {
	for _, m := range t.constants {
		switch {
		case k == nil && m.coef < 0:
			k = computed(c, op.Neg, m.x)
		case k == nil:
			k = m.x
		case m.coef < 0:
			k = computed(c, op.Sub, k, m.x)
		default:
			k = computed(c, op.Add, k, m.x)
		}
	}
	if k != nil && isZero(k) {
		return nil
	}
	return k
}

// node is the sum in the place of n, and the number of its operations.
func (t *total) node(c *Context, n *ir.Node) (r *ir.Node, ops int) {
	var plus, minus []*ir.Node
	for _, m := range t.terms {
		x, k := m.x, math.Abs(m.coef)
		if k == 0 {
			continue
		}
		if k != 1 {
			ops++
			x = apply(op.Mul, x, num(x, k))
		}
		if m.coef < 0 {
			minus = append(minus, x)
		} else {
			plus = append(plus, x)
		}
	}
	bySize := func(a, b *ir.Node) int { return bare(a).Size() - bare(b).Size() }
	slices.SortStableFunc(plus, bySize)
	slices.SortStableFunc(minus, bySize)
	k := t.constant(c)
	if len(plus) == 0 && k != nil {
		r, k = k, nil
	}
	join := func(d *op.Def, x *ir.Node) {
		if r == nil {
			r = x
			if d == op.Sub {
				ops++
				r = apply(op.Neg, x)
			}
			return
		}
		ops++
		r = ordered(d, r, x)
	}
	for _, x := range plus {
		join(op.Add, x)
	}
	for _, x := range minus {
		join(op.Sub, x)
	}
	if k != nil {
		join(op.Add, k)
	}
	if r == nil {
		r = num(n, 0)
	}
	return as(r, n), ops
}

// shorter is n as a sum of fewer operations, nil if there is none.
func shorter(c *Context, n *ir.Node) *ir.Node {
	if !n.DType.Float() && !n.DType.Integer() {
		return nil
	}
	t, ok := c.terms(n)
	if !ok || !t.cancel() && len(t.constants) < 2 {
		return nil
	}
	if m, ops := t.node(c, n); ops < t.ops {
		return m
	}
	return nil
}

var termRules = []*Rule{
	canon(Exact, "terms of integers", "(x+c)+(y+d) -> x+y+(c+d), (x+y)-y -> x, x+y-(x-z) -> y+z and their like", func(c *Context, n *ir.Node) *ir.Node {
		if !n.DType.Integer() {
			return nil
		}
		return shorter(c, n)
	}, op.Add, op.Sub),
	canon(Fast, "terms", "(x+c)+(y+d) -> x+y+(c+d), (x+y)-y -> x, x+y-(x-z) -> y+z, x*2+x*3 -> x*5 and their like", shorter, op.Add, op.Sub),
}
