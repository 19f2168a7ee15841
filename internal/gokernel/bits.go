package gokernel

import (
	"go/ast"

	"weft/internal/loop"
)

// bitsCall is a call of a function of package math/bits.
func (l *lowerer) bitsCall(x *ast.CallExpr, name string) []*value {
	args := l.arguments(x)
	l.pos = x.Pos()
	v, t := args[0].n.v, args[0].t
	full := name
	name, width := trimWidth(name)
	n := func(i int64) loop.Value { return l.int(t.t, i) }
	count := func(v loop.Value) []*value { return []*value{l.scalar(tInt64, l.convert(t, tInt64, v))} }
	one := func(v loop.Value) []*value { return []*value{l.scalar(t, v)} }
	l.spend(1)
	switch name {
	case "LeadingZeros":
		return count(l.b.Unary(loop.OpLzCnt, v))
	case "Len":
		return count(l.bin(loop.OpSub, n(int64(width)), l.b.Unary(loop.OpLzCnt, v)))
	case "TrailingZeros":
		return count(l.b.Unary(loop.OpTzCnt, v))
	case "OnesCount":
		return count(l.b.Unary(loop.OpPopCount, v))
	case "RotateLeft":
		return one(l.b.Binary(loop.OpRotL, v, l.convert(tInt64, t, args[1].n.v)))
	case "Reverse", "ReverseBytes":
		return one(l.reverse(v, t, width, name == "ReverseBytes"))
	case "Add":
		s := l.bin(loop.OpAdd, v, args[1].n.v)
		r := l.bin(loop.OpAdd, s, args[2].n.v)
		carry := l.or(l.bin(loop.OpLtU, s, v), l.bin(loop.OpLtU, r, s))
		return append(one(r), one(l.choose(carry, n(1), n(0)))...)
	case "Sub":
		s := l.bin(loop.OpSub, v, args[1].n.v)
		r := l.bin(loop.OpSub, s, args[2].n.v)
		borrow := l.or(l.bin(loop.OpLtU, v, args[1].n.v), l.bin(loop.OpLtU, s, args[2].n.v))
		return append(one(r), one(l.choose(borrow, n(1), n(0)))...)
	case "Mul":
		return append(one(l.b.Binary(loop.OpMulHiU, v, args[1].n.v)), one(l.bin(loop.OpMul, v, args[1].n.v))...)
	}
	return l.written(x, bitsPath, full, args) // Div and Rem
}

// reverse swaps halves, then halves of those, down to bytes or to bits.
func (l *lowerer) reverse(v loop.Value, t *ty, width int, bytes bool) loop.Value {
	last := 1
	if bytes {
		last = 8
	}
	for k := width / 2; k >= last; k /= 2 {
		mask := int64(0) // the low k of each 2k bits
		for i := 0; i < width; i += 2 * k {
			mask |= (1<<k - 1) << i
		}
		m := l.int(t.t, mask)
		up := l.bin(loop.OpShl, l.and(v, m), l.int(t.t, int64(k)))
		down := l.and(l.bin(loop.OpShrU, v, l.int(t.t, int64(k))), m)
		v = l.or(up, down)
	}
	return v
}
