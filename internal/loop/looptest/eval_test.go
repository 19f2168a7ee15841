package looptest

import (
	"math/rand/v2"
	"testing"

	"weft/internal/loop"
)

// An application is an operation with its types.
type application struct {
	op       loop.Op
	t, from  loop.Type
	imm      uint64
	operands int
	exact    func(a, b, c uint64) uint64
}

// applications lists what Eval computes by arithmetic.
func applications() (all []application) {
	types := []loop.Type{loop.I8, loop.I16, loop.I32, loop.I64, loop.F32, loop.F64}
	add := func(t loop.Type, operands int, exact func(op loop.Op, a, b, c uint64) uint64, ops ...loop.Op) {
		for _, op := range ops {
			all = append(all, application{op, t, t, 0, operands, func(a, b, c uint64) uint64 { return exact(op, a, b, c) }})
		}
	}
	for _, t := range types {
		signed := func(op loop.Op, a, b, _ uint64) uint64 { return exactSigned(op, t, signed(t, a), signed(t, b)) }
		unsigned := func(op loop.Op, a, b, _ uint64) uint64 { return exactUnsigned(op, t, a, b) }
		float := func(op loop.Op, a, b, c uint64) uint64 { return exactFloat(op, t, a, b, c) }
		if t.Float() {
			add(t, 1, float, loop.OpSqrt, loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint, loop.OpLogB)
			add(t, 2, float, loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpDiv, loop.OpMin, loop.OpMax, loop.OpScaleB)
			add(t, 3, float, loop.OpFma)
		} else {
			add(t, 1, signed, loop.OpNeg, loop.OpAbs)
			add(t, 2, signed, loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpMin, loop.OpMax, loop.OpQuo, loop.OpRem, loop.OpShl, loop.OpShr, loop.OpMulHi)
			add(t, 2, unsigned, loop.OpMulHiU, loop.OpRotL, loop.OpShrU, loop.OpQuoU, loop.OpRemU, loop.OpMinU, loop.OpMaxU)
		}
		for _, op := range []loop.Op{loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU} {
			if !t.Float() || op != loop.OpLtU && op != loop.OpLeU {
				all = append(all, application{op, loop.B, t, 0, 2, func(a, b, _ uint64) uint64 { return exactCompare(op, t, a, b) }})
			}
		}
		for _, from := range append(types, loop.B) {
			for _, sign := range []uint64{0, loop.FromUnsigned, loop.ToUnsigned, loop.FromUnsigned | loop.ToUnsigned} {
				if (sign&loop.FromUnsigned == 0 || from.Int()) && (sign&loop.ToUnsigned == 0 || t.Int()) {
					all = append(all, application{loop.OpCvt, t, from, sign, 1, func(a, _, _ uint64) uint64 { return exactConvert(t, from, sign, a) }})
				}
			}
		}
	}
	return all
}

// TestEvalIsExact compares Eval with exact arithmetic that is rounded once, for special and
// random operands.
func TestEvalIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, o := range applications() {
		s := Specials(o.from)
		// Each special value is the last operand once.
		draw := func(i, k int) uint64 {
			switch {
			case k == o.operands-1 && i < len(s):
				return s[i]
			case o.from == loop.B || r.IntN(3) > 0:
				return s[r.IntN(len(s))]
			}
			return Cut(o.from, int64(r.Uint64()>>r.IntN(64)))
		}
		for i := range 2000 {
			var x [3]uint64
			for k := range o.operands {
				x[k] = draw(i, k)
			}
			got, want := Eval(o.op, o.imm, o.t, o.from, x[0], x[1], x[2]), o.exact(x[0], x[1], x[2])
			if got != want && !(IsNaN(o.t, got) && IsNaN(o.t, want)) {
				t.Fatalf("%s.%s of %s, imm %d: of %#x is %#x, exactly %#x", o.op, o.t, o.from, o.imm, x[:o.operands], got, want)
			}
		}
	}
}
