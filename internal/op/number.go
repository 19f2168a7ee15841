package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
)

// A Side says where a Go integer may lie outside an integer type that it takes part in.
type Side uint8

const (
	TooLow Side = 1 << iota
	TooHigh
)

// bounds are the least and the greatest integer that may stand for a number of type d.
func (s Side) bounds(d array.DType) (lo, hi int64) {
	lo, hi = d.Limits()
	if s&TooLow != 0 {
		lo = math.MinInt64
	}
	if s&TooHigh != 0 {
		hi = math.MaxInt64
	}
	return lo, hi
}

// convert is Convert for argument i of a pointwise operation.
func (d *Def) convert(i int, x *ir.Node, to array.DType) *ir.Node {
	if !x.Weak || x.DType.Float() || !to.Integer() {
		return Convert(x, to)
	}
	var side Side
	if i < len(d.IntegerLimits) {
		side = d.IntegerLimits[i]
	}
	return nearest(d.Name, x, to, side)
}

// beyond reports a Go number that is greater than any int64, which has the type uint64.
// Bounds, which are int64, do not tell it from the greatest of them.
func beyond(n *ir.Node, d array.DType) bool {
	return n.Weak && n.DType == array.Uint64 && d == array.Int64
}

// nearest is the number of type d nearest to a Go integer x that may lie outside d on a
// side.
func nearest(opName string, x *ir.Node, d array.DType, side Side) *ir.Node {
	lo, hi := d.Limits()
	switch x.Op {
	case ir.Const:
		checkNumber(opName, x, d, side)
		return x.Graph.Node(ir.Const, ir.Value{Int: min(max(x.Value().Int, lo), hi)}, d, nil, false)
	case ir.Scalar:
		if beyond(x, d) && side&TooHigh != 0 {
			return x.Graph.Node(ir.Const, ir.Value{Int: hi}, d, nil, false)
		}
		if from, to := side.bounds(d); from != lo || to != hi {
			return x.Graph.Node(ir.Scalar, ir.Bounds{Arg: x.Arg(), Min: from, Max: to}, d, nil, false)
		}
	}
	return Convert(x, d)
}

// checkNumber refuses a constant integer that does not fit.
func checkNumber(opName string, x *ir.Node, d array.DType, side Side) {
	if lo, hi := side.bounds(d); !x.DType.Float() && (x.Value().Int < lo || x.Value().Int > hi) {
		panic(array.NoFit(opName, x.Value().Int, d))
	}
}

// compareWide compares integers of a type narrower than int64 with a Go integer, which may
// lie outside: with the nearest number of the type, and where that is another one the
// result is known. It returns nil where that is not needed.
func compareWide(d *Def, args []*ir.Node, meet array.DType) *ir.Node {
	x, n := args[0], args[1]
	if given(x) { // the number comes second
		x, n, d = n, x, mirrored(d)
	}
	lo, hi := meet.Limits()
	if beyond(n, meet) { // no element is greater than the greatest
		most := n.Graph.Node(ir.Const, ir.Value{Int: hi}, meet, nil, false)
		if d == Lt || d == Le || d == Ne {
			return apply(Le, Convert(x, meet), most)
		}
		return apply(Gt, Convert(x, meet), most)
	}
	if lo == math.MinInt64 || n.Op != ir.Scalar && n.Op != ir.Const {
		return nil
	}
	if n.Op == ir.Const && (n.DType == array.Bool || n.Value().Int >= lo && n.Value().Int <= hi) {
		return nil
	}
	res := apply(d, Convert(x, meet), nearest(d.Name, n, meet, TooLow|TooHigh))
	// between says whether n lies there.
	between := func(from, to int64) *ir.Node {
		if n.Op == ir.Const {
			i := n.Value().Int
			return n.Graph.Node(ir.Const, ir.Value{Int: truth(from <= i && i <= to)}, array.Bool, nil, false)
		}
		return n.Graph.Node(ir.Between, ir.Bounds{Arg: n.Arg(), Min: from, Max: to}, array.Bool, nil, false)
	}
	switch d {
	case Eq:
		return apply(LogicalAnd, res, between(lo, hi))
	case Ne:
		return apply(LogicalNot, apply(LogicalAnd, apply(LogicalNot, res), between(lo, hi)))
	case Lt:
		if hi == math.MaxInt64 { // uint64: no number is above
			return apply(LogicalAnd, res, between(lo, hi))
		}
		return apply(LogicalOr, res, between(hi+1, math.MaxInt64))
	case Le:
		return apply(LogicalAnd, res, between(lo, math.MaxInt64))
	case Gt:
		return apply(LogicalOr, res, between(math.MinInt64, lo-1))
	default:
		return apply(LogicalAnd, res, between(math.MinInt64, hi))
	}
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// AnyNumber reports an operation whose code is the same whatever number an argument is: it
// does as well with one that it is given when it runs. For others a constant is worth a
// program, as a limit that is no NaN or a distance of a shift.
func AnyNumber(n *ir.Node) bool {
	switch n.Op {
	case Add, Sub, Mul, Div, FloorDiv, Mod, Eq, Ne, Lt, Le, Gt, Ge:
		return true
	}
	return false
}
