//go:build amd64

package x86

import (
	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// An operation is an op with its types, and the table of a lookup.
type operation struct {
	op    loop.Op
	t     loop.Type
	args  []loop.Type
	table []float64
	sign  int         // of a conversion: see loop.FromUnsigned
	half  array.DType // of OpRound
}

// numeric are the types other than truth values.
var numeric = []loop.Type{loop.I32, loop.I64, loop.F32, loop.F64, loop.I8, loop.I16}

// operations lists everything that (*compiler).lowerIns computes from operands.
func operations() (out []operation) {
	add := func(t loop.Type, args []loop.Type, ops ...loop.Op) {
		for _, op := range ops {
			out = append(out, operation{op: op, t: t, args: args})
		}
	}
	for _, t := range numeric {
		one, two := []loop.Type{t}, []loop.Type{t, t}
		add(t, two, loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpMin, loop.OpMax)
		add(t, one, loop.OpNeg, loop.OpAbs)
		add(loop.B, two, loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe)
		add(t, []loop.Type{loop.B}, loop.OpCvt)
		for _, u := range numeric {
			if u != t {
				add(t, []loop.Type{u}, loop.OpCvt)
			}
			for sign := 1; u != t && sign <= 3; sign++ {
				if (sign&loop.FromUnsigned == 0 || u.Int()) && (sign&loop.ToUnsigned == 0 || t.Int()) {
					out = append(out, operation{op: loop.OpCvt, t: t, args: []loop.Type{u}, sign: sign})
				}
			}
			if u != t && u.Size() == t.Size() && u.Size() >= 4 {
				add(t, []loop.Type{u}, loop.OpBits)
			}
		}
		if t.Float() {
			add(t, two, loop.OpDiv)
			add(t, []loop.Type{t, t, t}, loop.OpFma)
			add(t, one, loop.OpLogB)
			add(t, two, loop.OpScaleB)
			for parts := 1; parts <= 4; parts *= 2 {
				o := operation{op: loop.OpLookup, t: t, args: []loop.Type{intOf[t]}}
				for i := range parts * loop.TableBytes / t.Size() {
					o.table = append(o.table, 1/float64(i+3))
				}
				out = append(out, o)
			}
			add(t, one, loop.OpSqrt, loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint)
			for _, d := range []array.DType{array.Float16, array.BFloat16} {
				if t == loop.F32 {
					out = append(out, operation{op: loop.OpRound, t: t, args: one, half: d})
				}
			}
		} else {
			add(t, two, loop.OpQuo, loop.OpRem, loop.OpShl, loop.OpShr, loop.OpShrU)
			add(t, two, loop.OpQuoU, loop.OpRemU, loop.OpMinU, loop.OpMaxU)
			add(loop.B, two, loop.OpLtU, loop.OpLeU)
			add(t, two, loop.OpRotL, loop.OpMulHi, loop.OpMulHiU)
			add(t, one, loop.OpPopCount, loop.OpLzCnt, loop.OpTzCnt)
		}
	}
	for _, t := range []loop.Type{loop.B, loop.I8, loop.I16, loop.I32, loop.I64} {
		add(t, []loop.Type{t, t}, loop.OpAnd, loop.OpOr, loop.OpXor)
		add(t, []loop.Type{t}, loop.OpNot)
	}
	add(loop.B, []loop.Type{loop.B, loop.B}, loop.OpEq, loop.OpNe)
	for t := loop.B; t <= loop.I16; t++ {
		add(t, []loop.Type{loop.B, t, t}, loop.OpSelect)
	}
	return out
}

func dtype(t loop.Type) array.DType {
	return [...]array.DType{loop.B: array.Bool, loop.I8: array.Int8, loop.I16: array.Int16, loop.I32: array.Int32, loop.I64: array.Int64, loop.F32: array.Float32, loop.F64: array.Float64}[t]
}

// eval computes one lane by the reference of the language.
func (o operation) eval(a [3]uint64) uint64 {
	switch o.op {
	case loop.OpLookup:
		x := o.table[a[0]%uint64(len(o.table))]
		if o.t == loop.F32 {
			return f32(float32(x))
		}
		return f64(x)
	case loop.OpRound:
		return looptest.Eval(o.op, uint64(o.half), o.t, o.args[0], a[0], a[1], a[2])
	}
	return looptest.Eval(o.op, uint64(o.sign), o.t, o.args[0], a[0], a[1], a[2])
}
