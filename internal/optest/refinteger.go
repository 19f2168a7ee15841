package optest

import (
	"math/big"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// Integers of several types are ordered by value.

// apart reports that x mixes uint64 and signed integers. Arrays without dimensions count only
// if no array has any, since they do not decide the type of the result.
func apart(x []*Array) bool {
	dims := slices.ContainsFunc(x, func(a *Array) bool { return len(a.Shape) > 0 })
	var u, s bool
	for _, a := range x {
		if !dims || len(a.Shape) > 0 {
			u = u || a.DType == array.Uint64
			s = s || a.DType.Integer() && !a.DType.Unsigned()
		}
	}
	return u && s
}

// asNumbers gives f of the elements of integer arrays as elements of type d. An array without
// dimensions counts as the nearest numbers of type near, unless that is invalid.
func asNumbers(x []*Array, d, near array.DType, f func(x, y *big.Int) *big.Int) Result {
	shape := shapeOf(x)
	out := New(d, shape)
	p, q := broadcast(x[0], shape), broadcast(x[1], shape)
	at := func(a, b *Array, k int) *big.Int {
		n := number(b.DType, b.I[k])
		if len(a.Shape) == 0 && near != array.Invalid {
			return nearestIn(n, near)
		}
		return n
	}
	for k := range out.Size() {
		r := f(at(x[0], p, k), at(x[1], q, k))
		if out.I[k] = r.Int64(); d == array.Uint64 {
			out.I[k] = int64(r.Uint64())
		}
	}
	return Result{Array: out, Exact: true}
}

// nearestIn is the integer of type d nearest to x.
func nearestIn(x *big.Int, d array.DType) *big.Int {
	low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(8*d.Size()))
	if !d.Unsigned() {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	high.Sub(high, big.NewInt(1))
	switch {
	case x.Cmp(low) < 0:
		return low
	case x.Cmp(high) > 0:
		return high
	}
	return x
}

func init() {
	of := func(name string, integers func(x []*Array, meet array.DType) Result) {
		other := references[name]
		references[name] = func(x []*Array, a ir.Attrs) Result {
			if meet := promote(x); meet.Integer() {
				return integers(x, meet)
			}
			return other(x, a)
		}
	}
	for name, holds := range map[string]func(order int) bool{
		"eq": func(o int) bool { return o == 0 }, "ne": func(o int) bool { return o != 0 },
		"lt": func(o int) bool { return o < 0 }, "le": func(o int) bool { return o <= 0 },
		"gt": func(o int) bool { return o > 0 }, "ge": func(o int) bool { return o >= 0 },
	} {
		of(name, func(x []*Array, _ array.DType) Result {
			return asNumbers(x, array.Bool, array.Invalid, func(x, y *big.Int) *big.Int { return big.NewInt(truthInt(holds(x.Cmp(y)))) })
		})
	}
	extreme := func(sign int, both array.DType) func(x []*Array, meet array.DType) Result {
		return func(x []*Array, meet array.DType) Result {
			d, near := meet, meet
			if apart(x) {
				d, near = both, array.Invalid
			}
			return asNumbers(x, d, near, func(x, y *big.Int) *big.Int {
				if x.Cmp(y) == sign {
					return x
				}
				return y
			})
		}
	}
	of("minimum", extreme(-1, array.Int64))
	of("maximum", extreme(1, array.Uint64))
	of("fmin", extreme(-1, array.Int64))
	of("fmax", extreme(1, array.Uint64))
	of("clamp", func(x []*Array, meet array.DType) Result {
		x = slices.Clone(x)
		if !apart(x) {
			for i, a := range x { // the type is that of all three
				if len(a.Shape) == 0 {
					a = asNumbers([]*Array{a, a}, meet, meet, func(x, _ *big.Int) *big.Int { return x }).Array
				}
				x[i] = convert(a, meet)
			}
		}
		high := references["maximum"](x[:2], nil).Array
		return references["minimum"]([]*Array{high, x[2]}, nil)
	})
	// Of these no result modulo 2^64 is right.
	for _, name := range []string{"floordiv", "mod", "fmod", "gcd", "lcm", "pow", "shr", "where", "select", "cat"} {
		other := references[name]
		references[name] = func(x []*Array, a ir.Attrs) Result {
			of := x
			if name == "where" {
				of = x[1:]
			}
			refused := name != "shr" || x[0].DType == array.Uint64
			if refused && apart(of) && promote(of).Integer() {
				panic(refusal{})
			}
			return other(x, a)
		}
	}
}
