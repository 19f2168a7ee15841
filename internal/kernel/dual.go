package kernel

import (
	"go/token"

	"weft/internal/loop"
)

// duals says which tangents floats have.
type duals struct{}

// size is the number of tangents.
func (d *duals) size() int { return 0 }

// float is arithmetic on floats.
func (l *lowerer) float(op token.Token, x, y num) num {
	switch op {
	case token.ADD:
		return num{v: l.bin(loop.OpAdd, x.v, y.v)}
	case token.SUB:
		return num{v: l.bin(loop.OpSub, x.v, y.v)}
	case token.MUL:
		return num{v: l.bin(loop.OpMul, x.v, y.v)}
	}
	return num{v: l.bin(loop.OpDiv, x.v, y.v)}
}

func (l *lowerer) negate(x num) num { return num{v: l.neg(x.v)} }

// resize is x as another float type.
func (l *lowerer) resize(x num, t loop.Type) num {
	from := tFloat32
	to := tFloat32
	if l.b.Type(x.v) == loop.F64 {
		from = tFloat64
	}
	if t == loop.F64 {
		to = tFloat64
	}
	return num{v: l.convert(from, to, x.v)}
}
