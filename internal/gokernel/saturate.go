package gokernel

import (
	"crypto/sha256"
	"math"

	"weft/internal/loop"
	"weft/internal/vmath"
)

// MATLAB's integers: results that a type does not hold become the nearest that it holds, and what
// has a fraction is rounded to the nearest integer, halves away from 0. Go's int and uint keep
// Go's rules, because they count and index.

// Saturating returns the source with MATLAB's rules for integers of a named width.
func (s *Source) Saturating() *Source {
	if s.saturate {
		return s
	}
	return &Source{fset: s.fset, files: s.files, decls: s.decls, methods: s.methods, named: s.named, funcs: map[string]*Func{},
		hash: sha256.Sum256(append([]byte("saturating"), s.hash[:]...)), saturate: true}
}

// saturates reports that values of a type follow MATLAB's rules.
func (l *lowerer) saturates(t *ty) bool {
	return l.src.saturate && t.integer() && t != tInt && t != tUint
}

// extremes are the least and the greatest integer of a type.
func (l *lowerer) extremes(t *ty) (low, high loop.Value) {
	n := t.bits()
	if t.unsigned() {
		return l.zero(t.t), l.int(t.t, -1)
	}
	return l.int(t.t, math.MinInt64>>(64-n)), l.int(t.t, math.MaxInt64>>(64-n))
}

// lessInt is x < y of integers.
func (l *lowerer) lessInt(t *ty, x, y loop.Value) loop.Value { return l.compare("<", t, x, y) }

// saturated is a binary operation of MATLAB on integers of one type.
func (l *lowerer) saturated(op string, t *ty, x, y loop.Value) loop.Value {
	low, high := l.extremes(t)
	zero := l.zero(t.t)
	// beyond is the extreme on the side of a value's sign.
	beyond := func(v loop.Value) loop.Value { return l.choose(l.lessInt(t, v, zero), low, high) }
	negative := func(v loop.Value) loop.Value { return l.lessInt(t, v, zero) }
	switch {
	case op == "+" && t.unsigned():
		s := l.bin(loop.OpAdd, x, y)
		return l.choose(l.lessInt(t, s, x), high, s)
	case op == "+":
		s := l.bin(loop.OpAdd, x, y)
		return l.choose(negative(l.and(l.bin(loop.OpXor, x, s), l.bin(loop.OpXor, y, s))), beyond(x), s)
	case op == "-" && t.unsigned():
		return l.choose(l.lessInt(t, x, y), zero, l.bin(loop.OpSub, x, y))
	case op == "-":
		s := l.bin(loop.OpSub, x, y)
		return l.choose(negative(l.and(l.bin(loop.OpXor, x, y), l.bin(loop.OpXor, x, s))), beyond(x), s)
	case op == "*":
		return l.saturatedProduct(t, x, y)
	case op == "/":
		return l.roundedQuotient(t, x, y)
	}
	return l.intOp(op, t, x, y)
}

// saturatedProduct is the product, or the extreme that is nearest to it.
func (l *lowerer) saturatedProduct(t *ty, x, y loop.Value) loop.Value {
	low, high := l.extremes(t)
	if t.bits() < 64 { // a type of twice the width has the product
		wide := tInt32
		if t.bits() == 32 {
			wide = tInt64
		}
		if t.unsigned() {
			wide = scalarType(kUint, wide.t)
		}
		p := l.bin(loop.OpMul, l.convert(t, wide, x), l.convert(t, wide, y))
		return l.clampInt(p, wide, t)
	}
	p := l.bin(loop.OpMul, x, y)
	if t.unsigned() {
		return l.choose(l.bin(loop.OpEq, l.highProduct(loop.OpMulHiU, x, y), l.zero(t.t)), p, high)
	}
	fits := l.bin(loop.OpEq, l.highProduct(loop.OpMulHi, x, y), l.bin(loop.OpShr, p, l.int(t.t, 63)))
	return l.choose(fits, p, l.choose(l.lessInt(t, l.bin(loop.OpXor, x, y), l.zero(t.t)), low, high))
}

func (l *lowerer) highProduct(op loop.Op, x, y loop.Value) loop.Value {
	l.spend(1)
	return l.b.Binary(op, l.reach(x, loop.I64), l.reach(y, loop.I64))
}

// roundedQuotient is the quotient rounded to the nearest integer, halves away from 0. By 0 it is
// the extreme on the side of x, and 0 of 0.
func (l *lowerer) roundedQuotient(t *ty, x, y loop.Value) loop.Value {
	low, high := l.extremes(t)
	zero, one := l.zero(t.t), l.int(t.t, 1)
	q, r := l.intOp("/", t, x, y), l.intOp("%", t, x, y)
	up := one
	ar, ay := r, y
	if !t.unsigned() {
		up = l.choose(l.lessInt(t, l.bin(loop.OpXor, x, y), zero), l.int(t.t, -1), one)
		magnitude := func(v loop.Value) loop.Value { return l.choose(l.lessInt(t, v, zero), l.neg(v), v) }
		ar, ay = magnitude(r), magnitude(y)
	}
	// The rest is at least half of the divisor. As unsigned numbers the magnitudes are exact.
	far := l.bin(loop.OpLeU, l.bin(loop.OpSub, ay, ar), ar)
	q = l.choose(l.and(far, l.bin(loop.OpNe, r, zero)), l.bin(loop.OpAdd, q, up), q)
	if !t.unsigned() {
		q = l.choose(l.and(l.bin(loop.OpEq, x, low), l.bin(loop.OpEq, y, l.int(t.t, -1))), high, q)
	}
	byZero := l.choose(l.bin(loop.OpEq, x, zero), zero, l.choose(l.lessInt(t, x, zero), low, high))
	return l.choose(l.bin(loop.OpEq, y, zero), byZero, q)
}

// saturatedNeg is -x, or the greatest integer where x is the least.
func (l *lowerer) saturatedNeg(t *ty, x loop.Value) loop.Value {
	return l.saturated("-", t, l.zero(t.t), x)
}

// saturatedConversion is a number as an integer: the nearest that the type holds, 0 for NaN.
func (l *lowerer) saturatedConversion(from, to *ty, x loop.Value) loop.Value {
	if from.kind == kFloat {
		if f, ok := l.knownFloat(x); ok {
			x = l.b.Float(from.t, math.Round(f))
		} else {
			x = vmath.Round(l.b, x)
			l.spend(4)
		}
		return l.convert(from, to, x) // which takes the nearest
	}
	return l.clampInt(x, from, to)
}

// clampInt is an integer as one of another type, or the extreme that is nearest to it.
func (l *lowerer) clampInt(x loop.Value, from, to *ty) loop.Value {
	low, high := l.extremes(to)
	// The extremes in the type of x, where that holds them.
	if !from.unsigned() && (to.unsigned() || to.bits() < from.bits()) {
		least := l.zero(from.t)
		if !to.unsigned() {
			least = l.convert(to, from, low)
		}
		x = l.bin(loop.OpMax, x, least)
	}
	narrower := to.bits() < from.bits() || to.bits() == from.bits() && from.unsigned() && !to.unsigned()
	if narrower {
		op := loop.OpMin
		if from.unsigned() {
			op = loop.OpMinU
		}
		x = l.bin(op, x, l.convert(to, from, high))
	}
	return l.convert(from, to, x)
}
