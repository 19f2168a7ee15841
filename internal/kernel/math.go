package kernel

import (
	"go/ast"

	"weft/internal/loop"
	"weft/internal/vmath"
)

type formula1 func(b *loop.Builder, x loop.Value) loop.Value

// formulas are the functions of one argument for which there is a formula, in float32 and
// float64.
var formulas = map[string]formula1{
	"Exp": vmath.Exp, "Exp2": vmath.Exp2, "Expm1": vmath.Expm1, "Log": vmath.Log, "Log2": vmath.Log2, "Log10": vmath.Log10, "Log1p": vmath.Log1p,
	"Sin": vmath.Sin, "Cos": vmath.Cos, "Tan": vmath.Tan, "Asin": vmath.Asin, "Acos": vmath.Acos, "Atan": vmath.Atan,
	"Sinh": vmath.Sinh, "Cosh": vmath.Cosh, "Tanh": vmath.Tanh, "Asinh": vmath.Asinh, "Acosh": vmath.Acosh, "Atanh": vmath.Atanh,
	"Erf": vmath.Erf, "Erfc": vmath.Erfc,
	"Sqrt": (*loop.Builder).Sqrt, "Abs": (*loop.Builder).Abs, "Floor": (*loop.Builder).Floor, "Ceil": (*loop.Builder).Ceil, "Trunc": (*loop.Builder).Trunc,
	"RoundToEven": (*loop.Builder).Rint,
}

type formula2 func(b *loop.Builder, x, y loop.Value) loop.Value

var formulas2 = map[string]formula2{"Pow": vmath.Pow, "Atan2": vmath.Atan2, "Hypot": vmath.Hypot}

func (l *lowerer) mathCall(x *ast.CallExpr, name string) []*value {
	args := l.arguments(x)
	l.pos = x.Pos()
	var v num
	switch {
	case formulas[name] != nil:
		l.spend(1)
		v.v = formulas[name](l.b, args[0].n.v)
	case formulas2[name] != nil:
		l.spend(1)
		v.v = formulas2[name](l.b, args[0].n.v, args[1].n.v)
	case name == "FMA":
		l.spend(1)
		v.v = l.b.Fma(args[0].n.v, args[1].n.v, args[2].n.v)
	case name == "Max" || name == "Min":
		v = l.extreme(name == "Min", args[0].n, args[1].n)
	default:
		l.src.refuse(x.Pos(), "math.%s is not yet part of the language", name)
	}
	return []*value{{t: tFloat64, n: v}}
}

func (l *lowerer) bitsCall(x *ast.CallExpr, name string) []*value {
	l.src.refuse(x.Pos(), "bits.%s is not yet part of the language", name)
	return nil
}

// narrow is the argument of a conversion to float32, computed in float32 where that gives
// what the conversion asks for; else nil.
func (l *lowerer) narrow(x ast.Expr) *value { return nil }

// extreme is the lesser or the greater of two floats as Go's min and max define it: NaN
// where one is, and -0 below 0.
func (l *lowerer) extreme(less bool, x, y num) num {
	t := l.b.Type(x.v)
	op, join := loop.OpMax, loop.OpAnd
	it := loop.I32
	if t == loop.F64 {
		it = loop.I64
	}
	if less {
		op, join = loop.OpMin, loop.OpOr
	}
	// Equal operands differ in the sign of zero at most.
	same := l.b.Bits(t, l.b.Binary(join, l.b.Bits(it, x.v), l.b.Bits(it, y.v)))
	l.spend(4)
	return num{v: l.b.Select(l.b.Eq(x.v, y.v), same, l.b.Binary(op, x.v, y.v))}
}

func (l *lowerer) intExtreme(less bool, t *ty, x, y loop.Value) loop.Value {
	switch {
	case less && t.unsigned():
		return l.bin(loop.OpMinU, x, y)
	case less:
		return l.bin(loop.OpMin, x, y)
	case t.unsigned():
		return l.bin(loop.OpMaxU, x, y)
	}
	return l.bin(loop.OpMax, x, y)
}
