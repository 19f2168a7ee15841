package gosource

import (
	"fmt"
	"math"
	"strconv"

	"weft/internal/array"
	"weft/internal/loop"
)

// expression is the Go expression of an instruction that has a value.
func (w *printer) expression(in *loop.Ins) string {
	t := goTypes[in.Type]
	switch in.Op {
	case loop.OpConst:
		return w.constant(in.Type, in.Imm)
	case loop.OpScalar:
		return w.fromBits(in.Type, fmt.Sprintf("f.word[%d]", w.p.ScalarWord(int(in.Imm))))
	case loop.OpIndex:
		a := int(in.Imm)
		if a == w.p.Lane && !w.pass {
			return fmt.Sprintf("int64(f.word[%d])", w.p.StartWord(a))
		}
		return fmt.Sprintf("int64(f.word[%d]) + int64(i%d)", w.p.StartWord(a), a)
	case loop.OpLoad:
		return w.loaded(int(in.Imm), w.address(int(in.Imm), loop.NoValue))
	case loop.OpLoadAt:
		return w.loaded(int(in.Imm), w.address(int(in.Imm), in.A))
	case loop.OpSelect:
		return fmt.Sprintf("%s(%s, %s, %s)", w.use("choose"), w.names[in.A], w.names[in.B], w.names[in.C])
	case loop.OpLookup:
		table, u, bits := w.p.Tables[in.Imm], "uint32", "Float32frombits"
		if table.Type == loop.F64 {
			u, bits = "uint64", "Float64frombits"
		}
		return fmt.Sprintf("math.%s(%sTable%d[%s(%s)%%%d])", bits, w.name, in.Imm, u, w.names[in.A], len(table.Bits))
	case loop.OpCvt:
		return w.converted(in)
	case loop.OpBits:
		x := w.names[in.A]
		switch in.Type {
		case loop.F32:
			return fmt.Sprintf("math.Float32frombits(uint32(%s))", x)
		case loop.F64:
			return fmt.Sprintf("math.Float64frombits(uint64(%s))", x)
		case loop.I32:
			return fmt.Sprintf("int32(math.Float32bits(%s))", x)
		}
		return fmt.Sprintf("int64(math.Float64bits(%s))", x)
	case loop.OpRound:
		to, from := "toFloat16", "fromFloat16"
		if array.DType(in.Imm) == array.BFloat16 {
			to, from = "toBFloat16", "fromBFloat16"
		}
		return fmt.Sprintf("%s(%s(%s))", w.use(from), w.use(to), w.names[in.A])
	case loop.OpFma:
		if in.Type == loop.F64 {
			return fmt.Sprintf("math.FMA(%s, %s, %s)", w.names[in.A], w.names[in.B], w.names[in.C])
		}
		return fmt.Sprintf("%s(%s, %s, %s)", w.use("fma32"), w.names[in.A], w.names[in.B], w.names[in.C])
	}
	if in.B == loop.NoValue {
		return w.unary(in, t)
	}
	operand := w.p.Ins[in.A].Type
	return w.binary(in.Op, operand, w.names[in.A], w.names[in.B])
}

// constant is a constant by its bits.
func (w *printer) constant(t loop.Type, bits uint64) string {
	switch t {
	case loop.B:
		return strconv.FormatBool(bits != 0)
	case loop.F32, loop.F64:
		x, size := math.Float64frombits(bits), 64
		if t == loop.F32 {
			x, size = float64(math.Float32frombits(uint32(bits))), 32
		}
		if x-x != 0 || x == 0 && bits != 0 { // no constant of Go
			return fmt.Sprintf("math.Float%dfrombits(%#x)", size, bits)
		}
		return fmt.Sprintf("%s(%s)", goTypes[t], strconv.FormatFloat(x, 'g', -1, size))
	}
	shift := 64 - 8*t.Size()
	return fmt.Sprintf("%s(%d)", goTypes[t], int64(bits<<shift)>>shift)
}

// fromBits is a value whose bits are the low end of a word.
func (w *printer) fromBits(t loop.Type, word string) string {
	switch t {
	case loop.B:
		return fmt.Sprintf("uint8(%s) != 0", word)
	case loop.F32:
		return fmt.Sprintf("math.Float32frombits(uint32(%s))", word)
	case loop.F64:
		return fmt.Sprintf("math.Float64frombits(%s)", word)
	}
	return fmt.Sprintf("%s(%s)", goTypes[t], word)
}

// roundings are functions of package math for float64, which are exact for float32. A square root
// has enough bits in float64 that rounding it again is right.
var roundings = map[loop.Op]string{loop.OpSqrt: "Sqrt", loop.OpFloor: "Floor", loop.OpCeil: "Ceil", loop.OpTrunc: "Trunc", loop.OpRint: "RoundToEven"}

func (w *printer) unary(in *loop.Ins, t string) string {
	x := w.names[in.A]
	bits := 8 * in.Type.Size()
	if f := roundings[in.Op]; f != "" {
		if in.Type == loop.F32 {
			return fmt.Sprintf("float32(math.%s(float64(%s)))", f, x)
		}
		return fmt.Sprintf("math.%s(%s)", f, x)
	}
	switch in.Op {
	case loop.OpNeg:
		return "-" + x
	case loop.OpAbs:
		switch in.Type {
		case loop.F32:
			return w.use("abs32") + "(" + x + ")"
		case loop.F64:
			return "math.Abs(" + x + ")"
		}
		return fmt.Sprintf("max(%s, -%s)", x, x)
	case loop.OpNot:
		if in.Type == loop.B {
			return "!" + x
		}
		return "^" + x
	case loop.OpLogB:
		return fmt.Sprintf("%s(%s)", w.use(fmt.Sprint("exponent", bits)), x)
	case loop.OpPopCount:
		return fmt.Sprintf("%s(bits.OnesCount%d(u%s(%s)))", t, bits, t, x)
	case loop.OpLzCnt:
		return fmt.Sprintf("%s(bits.LeadingZeros%d(u%s(%s)))", t, bits, t, x)
	case loop.OpTzCnt:
		return fmt.Sprintf("%s(bits.TrailingZeros%d(u%s(%s)))", t, bits, t, x)
	}
	panic("gosource: " + in.Op.String())
}

// signs are the operators of numbers.
var signs = map[loop.Op]string{
	loop.OpAdd: "+", loop.OpSub: "-", loop.OpDiv: "/", loop.OpAnd: "&", loop.OpOr: "|", loop.OpXor: "^",
	loop.OpEq: "==", loop.OpNe: "!=", loop.OpLt: "<", loop.OpLe: "<=",
}

// truthSigns are operators on truth values.
var truthSigns = map[loop.Op]string{loop.OpAnd: "&&", loop.OpOr: "||", loop.OpXor: "!=", loop.OpEq: "==", loop.OpNe: "!="}

// binary is an operation of two operands of type t.
func (w *printer) binary(op loop.Op, t loop.Type, x, y string) string {
	g := goTypes[t]
	u, bits := "u"+g, 8*t.Size()
	if t == loop.B {
		return fmt.Sprintf("%s %s %s", x, truthSigns[op], y)
	}
	if s := signs[op]; s != "" {
		return fmt.Sprintf("%s %s %s", x, s, y)
	}
	switch op {
	case loop.OpMul:
		if t.Float() {
			return fmt.Sprintf("%s(%s * %s)", g, x, y)
		}
		return fmt.Sprintf("%s * %s", x, y)
	case loop.OpMin, loop.OpMax:
		of := [2]string{"min", "lesser"}
		if op == loop.OpMax {
			of = [2]string{"max", "greater"}
		}
		if t.Float() {
			return fmt.Sprintf("%s(%s, %s)", w.use(of[1]), x, y)
		}
		return fmt.Sprintf("%s(%s, %s)", of[0], x, y)
	case loop.OpMinU:
		return fmt.Sprintf("%s(min(%s(%s), %s(%s)))", g, u, x, u, y)
	case loop.OpMaxU:
		return fmt.Sprintf("%s(max(%s(%s), %s(%s)))", g, u, x, u, y)
	case loop.OpScaleB:
		return fmt.Sprintf("%s(%s, %s)", w.use(fmt.Sprint("scale", bits)), x, y)
	case loop.OpQuo:
		return fmt.Sprintf("%s(%s, %s)", w.use("quotient"), x, y)
	case loop.OpRem:
		return fmt.Sprintf("%s(%s, %s)", w.use("remainder"), x, y)
	case loop.OpQuoU:
		return fmt.Sprintf("%s(%s(%s(%s), %s(%s)))", g, w.use("quotient"), u, x, u, y)
	case loop.OpRemU:
		return fmt.Sprintf("%s(%s(%s(%s), %s(%s)))", g, w.use("remainder"), u, x, u, y)
	case loop.OpMulHi:
		if bits == 64 {
			return fmt.Sprintf("%s(%s, %s)", w.use("highProduct"), x, y)
		}
		return fmt.Sprintf("%s(int64(%s) * int64(%s) >> %d)", g, x, y, bits)
	case loop.OpMulHiU:
		if bits == 64 {
			return fmt.Sprintf("int64(%s(uint64(%s), uint64(%s)))", w.use("highProductU"), x, y)
		}
		return fmt.Sprintf("%s(uint64(%s(%s)) * uint64(%s(%s)) >> %d)", g, u, x, u, y, bits)
	case loop.OpShl:
		return fmt.Sprintf("%s << %s(%s)", x, u, y)
	case loop.OpShr:
		return fmt.Sprintf("%s >> %s(%s)", x, u, y)
	case loop.OpShrU:
		return fmt.Sprintf("%s(%s(%s) >> %s(%s))", g, u, x, u, y)
	case loop.OpRotL:
		return fmt.Sprintf("%s(bits.RotateLeft%d(%s(%s), int(%s(%s)%%%d)))", g, bits, u, x, u, y, bits)
	case loop.OpLtU:
		return fmt.Sprintf("%s(%s) < %s(%s)", u, x, u, y)
	case loop.OpLeU:
		return fmt.Sprintf("%s(%s) <= %s(%s)", u, x, u, y)
	}
	panic("gosource: " + op.String())
}

// converted is a conversion between numbers.
func (w *printer) converted(in *loop.Ins) string {
	from, x := w.p.Ins[in.A].Type, w.names[in.A]
	to := goTypes[in.Type]
	switch {
	case from == loop.B:
		return fmt.Sprintf("%s(%s(%s))", to, w.use("one"), x)
	case from.Float() && in.Type.Int():
		bits := 8 * in.Type.Size()
		if in.Imm&loop.ToUnsigned != 0 {
			return fmt.Sprintf("%s(%s[u%s](float64(%s), 0, 1<<%d-1))", to, w.use("truncated"), to, x, bits)
		}
		return fmt.Sprintf("%s[%s](float64(%s), -1<<%d, 1<<%d-1)", w.use("truncated"), to, x, bits-1, bits-1)
	case from.Int() && in.Imm&loop.FromUnsigned != 0:
		return fmt.Sprintf("%s(u%s(%s))", to, goTypes[from], x)
	}
	return fmt.Sprintf("%s(%s)", to, x)
}
