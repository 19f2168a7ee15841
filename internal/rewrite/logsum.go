package rewrite

import (
	"math"

	"weft/internal/ir"
	"weft/internal/op"
)

// Sums of few exponentials, written one by one, in forms that do not overflow. stable.go has those
// over axes.

// maxSummands is how many terms such a sum has at most.
const maxSummands = 8

// summands returns x, y, ... of the sum exp(x)+exp(y)+..., nil for other nodes. A constant from 1 on
// is the exponential of its logarithm; of smaller ones the logarithm is negative, and would cancel.
func summands(n *ir.Node) (xs []*ir.Node) {
	if n.Op != op.Add || !n.DType.Float() {
		return nil
	}
	exponentials, more := 0, true
	var walk func(y *ir.Node)
	walk = func(y *ir.Node) {
		v, constant := number(y)
		switch {
		case len(xs) >= maxSummands:
			more = false
		case y.Op == op.Add:
			walk(y.Args[0])
			walk(y.Args[1])
		case bare(y).Op == op.Exp:
			xs = append(xs, bare(y).Args[0])
			exponentials++
		case constant && v.Float >= 1 && !math.IsInf(v.Float, 1):
			xs = append(xs, num(y, math.Log(v.Float)))
		default:
			more = false
		}
	}
	walk(n)
	if !more || exponentials == 0 {
		return nil
	}
	return xs
}

// constantOf returns the argument of a sum of two that is a constant, nil if neither is.
func constantOf(n *ir.Node) *ir.Node {
	return either(n, func(x, y *ir.Node) *ir.Node {
		if _, ok := number(y); ok {
			return bare(y)
		}
		return nil
	})
}

// logOfTwo is log(exp(x)+exp(y)) in the place of n.
func logOfTwo(n, x, y *ir.Node) *ir.Node {
	// Equal infinities have no difference.
	d := apply(choose, apply(op.Eq, x, y), num(n, 0), apply(op.Abs, apply(op.Sub, x, y)))
	return as(apply(op.Add, apply(op.Maximum, x, y), apply(op.Log1p, apply(op.Exp, apply(op.Neg, d)))), n)
}

// shift is the greatest of several numbers, 0 where that is not finite.
func shift(n *ir.Node, xs []*ir.Node) *ir.Node {
	m := xs[0]
	for _, x := range xs[1:] {
		m = apply(op.Maximum, m, x)
	}
	return apply(choose, apply(op.IsFinite, m), m, num(n, 0))
}

// isShift reports numbers less their greatest, by [shift].
func isShift(xs []*ir.Node) bool {
	x := xs[0]
	return x.Op == op.Sub && x.Args[1].Op == choose && x.Args[1].Args[1].Op == op.Maximum
}

// sumOfExponentials is the sum of exp(x-m).
func sumOfExponentials(xs []*ir.Node, m *ir.Node) *ir.Node {
	var s *ir.Node
	for _, x := range xs {
		if e := apply(op.Exp, apply(op.Sub, x, m)); s == nil {
			s = e
		} else {
			s = apply(op.Add, s, e)
		}
	}
	return s
}
