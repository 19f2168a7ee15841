//go:build amd64

package x86

import (
	"math"
	"math/big"
	"sync"

	"weft/internal/array"
	"weft/internal/loop"
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

func boolBits(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// eval computes one lane.
func (o operation) eval(a [3]uint64) uint64 {
	if o.sign != 0 {
		return evalCvtU(o.sign, o.t, o.args[0], a[0])
	}
	if o.op == loop.OpRound {
		return asHalf(o.half, array.Float32, asHalf(array.Float32, o.half, a[0]))
	}
	if o.op != loop.OpLookup {
		return eval(o.op, o.t, o.args[0], a[0], a[1], a[2])
	}
	x := o.table[a[0]%uint64(len(o.table))]
	if o.t == loop.F32 {
		return f32(float32(x))
	}
	return f64(x)
}

// eval computes one lane by what package loop says, in plain Go.
func eval(op loop.Op, t, from loop.Type, a, b, c uint64) uint64 {
	switch op {
	case loop.OpSelect:
		if a != 0 {
			return b
		}
		return c
	case loop.OpBits:
		return a
	case loop.OpCvt:
		return evalCvt(t, from, a)
	case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU:
		return evalCompare(op, from, a, b)
	}
	if isBits(op) {
		return evalBits(op, 8*t.Size(), a, b)
	}
	switch t {
	case loop.B:
		switch op {
		case loop.OpAnd:
			return a & b
		case loop.OpOr:
			return a | b
		case loop.OpXor:
			return a ^ b
		}
		return 1 - a
	case loop.I8, loop.I16, loop.I32, loop.I64:
		if op >= loop.OpQuoU && op <= loop.OpMaxU {
			return evalUnsigned(op, a, b)
		}
		return cut(t, evalInt(op, t, number(t, a), number(t, b)))
	case loop.F32:
		x, y, z := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)), math.Float32frombits(uint32(c))
		if op == loop.OpFma {
			return uint64(math.Float32bits(fma32(x, y, z)))
		}
		// One operation on float64 rounded to float32 is the operation on
		// float32 for all of these.
		r := float32(evalFloat(op, float64(x), float64(y), 0))
		if op == loop.OpNeg || op == loop.OpAbs {
			return evalSign(op, 31, a)
		}
		return uint64(math.Float32bits(r))
	}
	if op == loop.OpNeg || op == loop.OpAbs {
		return evalSign(op, 63, a)
	}
	return math.Float64bits(evalFloat(op, math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)))
}

// number is an integer with its sign, cut the bits of one.
func number(t loop.Type, a uint64) int64 {
	unused := 64 - 8*t.Size()
	return int64(a) << unused >> unused
}

func cut(t loop.Type, x int64) uint64 {
	unused := 64 - 8*t.Size()
	return uint64(x) << unused >> unused
}

func evalSign(op loop.Op, bit int, a uint64) uint64 {
	if op == loop.OpNeg {
		return a ^ 1<<bit
	}
	return a &^ (1 << bit)
}

func evalFloat(op loop.Op, x, y, z float64) float64 {
	switch op {
	case loop.OpAdd:
		return x + y
	case loop.OpSub:
		return x - y
	case loop.OpMul:
		return x * y
	case loop.OpDiv:
		return x / y
	case loop.OpFma:
		return math.FMA(x, y, z)
	case loop.OpSqrt:
		return math.Sqrt(x)
	case loop.OpLogB:
		return math.Logb(x)
	case loop.OpScaleB:
		return math.Ldexp(x, int(y))
	case loop.OpFloor:
		return math.Floor(x)
	case loop.OpCeil:
		return math.Ceil(x)
	case loop.OpTrunc:
		return math.Trunc(x)
	case loop.OpRint:
		return math.RoundToEven(x)
	case loop.OpMin:
		if x < y || x != x {
			return x
		}
		return y
	case loop.OpMax:
		if x > y || x != x {
			return x
		}
		return y
	}
	return 0
}

// fma32 is exact: 700 bits hold a product and a sum of any float32.
func fma32(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	if s := p + float64(z); math.IsNaN(s) || math.IsInf(s, 0) || p == 0 || z == 0 {
		return float32(s)
	}
	f := new(big.Float).SetPrec(700).SetFloat64(p)
	f.Add(f, new(big.Float).SetFloat64(float64(z)))
	if f.Sign() == 0 {
		return 0
	}
	r, _ := f.Float32()
	return r
}

func evalInt(op loop.Op, t loop.Type, a, b int64) int64 {
	out := b < 0 || b >= int64(8*t.Size())
	switch op {
	case loop.OpAdd:
		return a + b
	case loop.OpSub:
		return a - b
	case loop.OpMul:
		return a * b
	case loop.OpNeg:
		return -a
	case loop.OpAbs:
		if a < 0 {
			return -a
		}
		return a
	case loop.OpMin:
		return min(a, b)
	case loop.OpMax:
		return max(a, b)
	case loop.OpQuo:
		if b == 0 {
			return 0
		}
		return a / b
	case loop.OpRem:
		if b == 0 {
			return 0
		}
		return a % b
	case loop.OpShl:
		if out {
			return 0
		}
		return a << b
	case loop.OpShr:
		if out {
			return a >> 63
		}
		return a >> b
	case loop.OpShrU:
		if out {
			return 0
		}
		return int64(cut(t, a) >> b)
	case loop.OpAnd:
		return a & b
	case loop.OpOr:
		return a | b
	case loop.OpXor:
		return a ^ b
	}
	return ^a
}

// evalUnsigned takes numbers that are widened by zeros.
func evalUnsigned(op loop.Op, a, b uint64) uint64 {
	switch {
	case op == loop.OpMinU:
		return min(a, b)
	case op == loop.OpMaxU:
		return max(a, b)
	case b == 0:
		return 0
	case op == loop.OpQuoU:
		return a / b
	}
	return a % b
}

func evalCompare(op loop.Op, t loop.Type, a, b uint64) uint64 {
	var eq, lt bool
	switch t {
	case loop.B:
		eq = a == b
	case loop.I8, loop.I16, loop.I32, loop.I64:
		eq, lt = a == b, number(t, a) < number(t, b)
	case loop.F32:
		x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
		eq, lt = x == y, x < y
	case loop.F64:
		x, y := math.Float64frombits(a), math.Float64frombits(b)
		eq, lt = x == y, x < y
	}
	switch op {
	case loop.OpLtU:
		return boolBits(a < b)
	case loop.OpLeU:
		return boolBits(a <= b)
	case loop.OpEq:
		return boolBits(eq)
	case loop.OpNe:
		return boolBits(!eq)
	case loop.OpLt:
		return boolBits(lt)
	}
	return boolBits(lt || eq)
}

// evalCvtU is evalCvt where sign says which integers have none. Numbers between are
// exact in 100 bits.
func evalCvtU(sign int, t, from loop.Type, a uint64) uint64 {
	x := new(big.Float).SetPrec(100)
	switch {
	case from.Float():
		v := math.Float64frombits(a)
		if from == loop.F32 {
			v = float64(math.Float32frombits(uint32(a)))
		}
		if math.IsNaN(v) {
			return 0
		}
		x.SetFloat64(v)
	case sign&loop.FromUnsigned != 0:
		x.SetUint64(a)
	default:
		x.SetInt64(number(from, a))
	}
	switch t {
	case loop.F32:
		v, _ := x.Float32()
		return f32(v)
	case loop.F64:
		v, _ := x.Float64()
		return f64(v)
	}
	width := 8 * t.Size()
	n, _ := x.Int(nil) // truncates; nil if infinite
	switch {
	case !from.Float(): // the low bits
		return new(big.Int).And(n, new(big.Int).SetUint64(1<<width-1)).Uint64()
	case x.Sign() <= 0:
		return 0
	case n == nil || n.BitLen() > width:
		return 1<<width - 1
	}
	return n.Uint64()
}

func evalCvt(t, from loop.Type, a uint64) uint64 {
	if from.Float() {
		x := math.Float64frombits(a)
		if from == loop.F32 {
			x = float64(math.Float32frombits(uint32(a)))
		}
		switch t {
		case loop.F32:
			return uint64(math.Float32bits(float32(x)))
		case loop.F64:
			return math.Float64bits(x)
		}
		limit := math.Ldexp(1, 8*t.Size()-1)
		switch {
		case x != x:
			return 0
		case x >= limit:
			return 1<<(8*t.Size()-1) - 1
		case x < -limit:
			return 1 << (8*t.Size() - 1)
		}
		return cut(t, int64(x))
	}
	x := int64(a)
	if from != loop.B {
		x = number(from, a)
	}
	switch t {
	case loop.F32:
		return uint64(math.Float32bits(float32(x)))
	case loop.F64:
		return math.Float64bits(float64(x))
	}
	return cut(t, x)
}

// specials returns values of a type where something may go wrong.
func specials(t loop.Type) []uint64 { return allSpecials()[t] }

var allSpecials = sync.OnceValue(func() (all [loop.I16 + 1][]uint64) {
	for t := range all {
		all[t] = listSpecials(loop.Type(t))
	}
	return all
})

func listSpecials(t loop.Type) (out []uint64) {
	switch t {
	case loop.B:
		return []uint64{0, 1}
	case loop.I8, loop.I16, loop.I32, loop.I64:
		for _, x := range []int64{0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 1<<15 - 1, 1 << 15, 1<<16 - 1, 1 << 24, 1<<24 + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<53 + 1, 1<<54 + 1<<30 + 1, 1<<62 + 1, math.MaxInt64, math.MinInt64} {
			for _, y := range []int64{x, -x} {
				out = append(out, cut(t, y))
			}
		}
	default:
		for _, x := range []float64{0, 0.5, 1, 1.5, 2.5, 3, 0x1.fffffep-2, 0x1.fffffffffffffp-2, 1. / 3, 1 << 23, 1<<23 + 1, 1<<52 + 1, 4194304.5, 8388607.5, 1<<31 - 1, 1 << 31, 1<<31 - 0.5, 1<<31 + 0.5, 1 << 32, 1 << 62, 1 << 63, 1<<63 - 1024, 1 << 64, 0x1.000001p0, 0x1.0000010000001p0, 0x1.ffffffp127, math.MaxFloat32, math.MaxFloat64, 0x1p-126, 0x1p-149, 0x1.8p-150, 0x1p-1022, 0x1p-1074, math.Inf(1), math.NaN()} {
			for _, y := range []float64{x, -x} {
				if t == loop.F32 {
					out = append(out, uint64(math.Float32bits(float32(y))))
				} else {
					out = append(out, math.Float64bits(y))
				}
			}
		}
		if t == loop.F32 {
			out = append(out, 0x7F800001) // signalling
		} else {
			out = append(out, 0x7FF<<52|1)
		}
	}
	return out
}
