package formula

import (
	"math"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/op"
)

// exactOps are the operations that compute knows.
var exactOps = map[*op.Def]bool{}

func init() {
	for _, d := range []*op.Def{op.Add, op.Sub, op.Mul, op.Div, op.Mod, op.FloorDiv, op.Neg, op.Abs, op.Sqrt, op.Square, op.Minimum, op.Maximum,
		op.Eq, op.Ne, op.Lt, op.Le, op.Gt, op.Ge, op.LogicalAnd, op.LogicalOr, op.LogicalXor, op.LogicalNot} {
		exactOps[d] = true
	}
}

// value computes a node of numbers alone.
func (n *Node) value(names []exec.Number) exec.Number {
	switch n.kind {
	case number:
		return n.num
	case name:
		return names[n.name]
	}
	x := n.args[0].value(names)
	var y exec.Number
	if len(n.args) > 1 {
		y = n.args[1].value(names)
	}
	return compute(n.def, x, y)
}

func floatNumber(f float64) exec.Number { return exec.Number{Float: f, Kind: array.CatFloat} }
func intNumber(i int64) exec.Number     { return exec.Number{Int: i, Kind: array.CatInt} }

func asFloat(n exec.Number) float64 {
	if n.Kind == array.CatFloat {
		return n.Float
	}
	return float64(n.Int)
}

func truth(n exec.Number) bool {
	if n.Kind == array.CatFloat {
		return n.Float != 0
	}
	return n.Int != 0
}

// compute applies one of exactOps, or a power with an integer exponent, to
// numbers with the meaning that the operation has for arrays of int64 and
// float64. Bool counts as 0 and 1. A negative power of an integer is a float.
// Products are converted, lest the compiler fuse them with sums.
func compute(d *op.Def, x, y exec.Number) exec.Number {
	switch d {
	case op.LogicalAnd:
		return exec.Truth(truth(x) && truth(y))
	case op.LogicalOr:
		return exec.Truth(truth(x) || truth(y))
	case op.LogicalXor:
		return exec.Truth(truth(x) != truth(y))
	case op.LogicalNot:
		return exec.Truth(!truth(x))
	case op.Div:
		return floatNumber(asFloat(x) / asFloat(y))
	case op.Sqrt:
		return floatNumber(math.Sqrt(asFloat(x)))
	case op.Pow:
		if x.Kind == array.CatFloat || y.Int < 0 {
			return floatNumber(powFloat(asFloat(x), int(y.Int)))
		}
		return intNumber(powInt(x.Int, int(y.Int)))
	}
	if x.Kind == array.CatFloat || y.Kind == array.CatFloat {
		return computeFloat(d, asFloat(x), asFloat(y))
	}
	return computeInt(d, x.Int, y.Int)
}

func computeFloat(d *op.Def, x, y float64) exec.Number {
	switch d {
	case op.Add:
		return floatNumber(x + y)
	case op.Sub:
		return floatNumber(x - y)
	case op.Mul:
		return floatNumber(float64(x * y))
	case op.Square:
		return floatNumber(float64(x * x))
	case op.Neg:
		return floatNumber(-x)
	case op.Abs:
		return floatNumber(math.Abs(x))
	case op.Minimum:
		return floatNumber(extreme(x, y, x < y))
	case op.Maximum:
		return floatNumber(extreme(x, y, x > y))
	case op.FloorDiv:
		q, _ := divMod(x, y)
		return floatNumber(q)
	case op.Mod:
		_, r := divMod(x, y)
		return floatNumber(r)
	}
	return exec.Truth(compare(d, x, y))
}

// extreme is x if that wins, else y; NaN if either is.
func extreme(x, y float64, wins bool) float64 {
	switch {
	case x != x || y != y:
		return math.NaN()
	case wins:
		return x
	}
	return y
}

// divMod is the quotient rounded down and its remainder: the steps of op.FloorDiv and
// op.Mod.
func divMod(x, y float64) (q, r float64) {
	if y == 0 {
		return x / y, math.NaN()
	}
	r = math.Mod(x, y)
	d := (x - r) / y
	switch {
	case r == 0:
		r = math.Copysign(0, y)
	case (r < 0) != (y < 0):
		r, d = r+y, d-1
	}
	if d == 0 {
		return math.Copysign(0, x/y), r
	}
	q = math.Floor(d)
	if d-q > 0.5 {
		q++
	}
	return q, r
}

func computeInt(d *op.Def, x, y int64) exec.Number {
	switch d {
	case op.Add:
		return intNumber(x + y)
	case op.Sub:
		return intNumber(x - y)
	case op.Mul:
		return intNumber(x * y)
	case op.Square:
		return intNumber(x * x)
	case op.Neg:
		return intNumber(-x)
	case op.Abs:
		return intNumber(max(x, -x))
	case op.Minimum:
		return intNumber(min(x, y))
	case op.Maximum:
		return intNumber(max(x, y))
	case op.FloorDiv, op.Mod:
		if y == 0 {
			return intNumber(0)
		}
		q, r := x/y, x%y
		if r != 0 && (r < 0) != (y < 0) {
			q, r = q-1, r+y
		}
		if d == op.Mod {
			return intNumber(r)
		}
		return intNumber(q)
	}
	return exec.Truth(compare(d, x, y))
}

func compare[T int64 | float64](d *op.Def, x, y T) bool {
	switch d {
	case op.Eq:
		return x == y
	case op.Ne:
		return x != y
	case op.Lt:
		return x < y
	case op.Le:
		return x <= y
	case op.Gt:
		return x > y
	case op.Ge:
		return x >= y
	}
	panic("formula: " + d.Name + " of numbers")
}

// The chains of op.PowInt.
func powFloat(x float64, k int) float64 {
	if k < 0 {
		return 1 / powFloat(x, -k)
	}
	return chain(x, k)
}

func powInt(x int64, k int) int64 { return chain(x, k) }

func chain[T int64 | float64](x T, k int) T {
	if k == 0 {
		return 1
	}
	top := 0
	for k>>(top+1) != 0 {
		top++
	}
	r := x
	for i := top - 1; i >= 0; i-- {
		r = T(r * r)
		if k>>i&1 != 0 {
			r = T(r * x)
		}
	}
	return r
}
