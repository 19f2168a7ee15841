package op

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// Integers of several types meet here, in comparisons and limits as the numbers that they are.
//
// No integer type holds both uint64 and the negative integers. The two meet in int64, where
// values are taken modulo 2^64, as in [Cast]. Results of sums, differences, products and bits
// are right modulo 2^64. Comparisons are exact, and so are Minimum, which is int64, and Maximum,
// which is uint64. All other operations on both refuse them.
//
// An array without dimensions does not widen the type of a result. Minimum, Maximum and Clamp
// take one that is beyond that type as the nearest number in it.

// apart reports whether args has both uint64 and signed integers.
func apart(args []*ir.Node) bool {
	some := func(is func(d array.DType) bool) bool {
		return slices.ContainsFunc(args, func(x *ir.Node) bool { return is(x.DType) })
	}
	return some(func(d array.DType) bool { return d == array.Uint64 }) && some(hasSign)
}

// hasSign reports whether d is a signed integer type.
func hasSign(d array.DType) bool { return d.Integer() && !d.Unsigned() }

// NoCommon panics with *Error if types has uint64 and a signed integer type: no integer type holds
// both. A float or complex type among them allows it.
func NoCommon(opName string, types ...array.DType) {
	i := slices.Index(types, array.Uint64)
	k := slices.IndexFunc(types, hasSign)
	if i >= 0 && k >= 0 && !slices.ContainsFunc(types, array.DType.Differentiable) {
		array.Failf(opName, "", "takes uint64 and %s, which have no integer type in common: convert one with To first", types[k])
	}
}

// exactly applies a pointwise operation on integers where converting its arguments to the
// type in which they meet would change what it gives. It returns nil elsewhere.
func exactly(d *Def, args []*ir.Node, meet array.DType) *ir.Node {
	switch {
	case d == FMin: // integers have no NaN
		return apply(Minimum, args...)
	case d == FMax:
		return apply(Maximum, args...)
	case d.Rule == Compare:
		return compareExactly(d, args, meet)
	}
	if d.Rule != Arith && d.Rule != NoBool && d.Rule != Ints {
		return nil
	}
	if fixed := deciding(args); apart(fixed) {
		switch d {
		case Add, Sub, Mul, Shl:
			return nil
		case Shr:
			if hasSign(args[0].DType) {
				return nil // the other is a distance
			}
		case Clamp:
			return apply(Minimum, apply(Maximum, args[0], args[1]), args[2])
		case Minimum, Maximum:
			res, first := array.Int64, Lt
			if d == Maximum {
				res, first = array.Uint64, Gt
			}
			return apply(selectDef, apply(first, args[0], args[1]), Convert(args[0], res), Convert(args[1], res))
		}
		types := make([]array.DType, len(fixed))
		for i, x := range fixed {
			types[i] = x.DType
		}
		NoCommon(d.Name, types...)
	}
	if d != Minimum && d != Maximum && d != Clamp {
		return nil
	}
	var near []*ir.Node
	for i, x := range args {
		if y := nearestIn(x, meet); y != x {
			if near == nil {
				near = slices.Clone(args)
			}
			near[i] = y
		}
	}
	if near == nil {
		return nil
	}
	return apply(d, near...)
}

// deciding are the arguments that decide the type of a result: arrays with dimensions, or, if
// there are none, those without.
func deciding(args []*ir.Node) []*ir.Node {
	var with, without []*ir.Node
	for _, x := range args {
		switch {
		case x.Weak:
		case len(x.Shape) > 0:
			with = append(with, x)
		default:
			without = append(without, x)
		}
	}
	if with != nil {
		return with
	}
	return without
}

// nearestIn saturates a 0-d integer array x to type d, if x's type has numbers that d lacks.
// Otherwise it returns x itself.
func nearestIn(x *ir.Node, d array.DType) *ir.Node {
	if x.Weak || len(x.Shape) > 0 || !x.DType.Integer() || !d.Integer() || array.Promote(x.DType, d) == d && !apart([]*ir.Node{x, {DType: d}}) {
		return x
	}
	lo, hi := d.Limits()
	y := x
	limit := func(def *Def, to int64) {
		y = apply(def, y, y.Graph.Node(ir.Const, ir.Value{Int: to}, x.DType, nil, false))
	}
	if least, _ := x.DType.Limits(); least < lo {
		limit(Maximum, lo)
	}
	if _, most := x.DType.Limits(); d != array.Uint64 && (most > hi || x.DType == array.Uint64) {
		limit(Minimum, hi)
	}
	return fixedTo(y, d)
}

// compareExactly compares integers of several types. A Go number is compared as the integer
// that it is, and an array without dimensions is not converted to a narrower type.
func compareExactly(d *Def, args []*ir.Node, meet array.DType) *ir.Node {
	x, y := args[0], args[1]
	if given(x) != given(y) {
		return compareWide(d, args, meet)
	}
	if !x.DType.Integer() || !y.DType.Integer() || x.DType == y.DType {
		return nil
	}
	if !apart(args) {
		if wide := array.Promote(x.DType, y.DType); wide != meet {
			return apply(d, fixedTo(x, wide), fixedTo(y, wide))
		}
		return nil
	}
	if hasSign(x.DType) {
		x, y, d = y, x, mirrored(d)
	}
	// x is uint64. A negative y is less than all of it, and another y is one of its numbers.
	same, zero := fixedTo(y, array.Uint64), num(y, 0)
	res := apply(d, fixedTo(x, array.Uint64), same)
	if d == Eq || d == Lt || d == Le {
		return apply(LogicalAnd, apply(Ge, y, zero), res)
	}
	return apply(LogicalOr, apply(Lt, y, zero), res)
}

// given reports whether x is a Go number: a constant, or a scalar argument of a call.
func given(x *ir.Node) bool { return x.Weak && (x.Op == ir.Scalar || x.Op == ir.Const) }

// fixedTo is Convert by the rules of Cast, of what was computed of Go numbers too.
func fixedTo(x *ir.Node, d array.DType) *ir.Node {
	if x.DType == d {
		return x
	}
	return x.Graph.Node(Cast, To(d), d, x.Shape, false, x)
}

// mirrored is the comparison that holds of y and x where d holds of x and y.
func mirrored(d *Def) *Def {
	switch d {
	case Lt:
		return Gt
	case Le:
		return Ge
	case Gt:
		return Lt
	case Ge:
		return Le
	}
	return d
}
