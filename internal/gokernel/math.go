package gokernel

import (
	"go/ast"
	"go/constant"
	"go/types"
	"math"

	"weft/internal/loop"
	"weft/internal/vmath"
)

// Functions of package math. Functions with a formula have a row here; the others are Go source
// of the kernel language (package written) or written out below.

// A fn1 is a function of one argument: its formula in float32 and float64, and its
// derivative; nil where that is zero.
type fn1 struct {
	f func(b *loop.Builder, x loop.Value) loop.Value
	d func(l *lowerer, x, y jet) jet
}

// A fn2 is a function of two arguments.
type fn2 struct {
	f      func(b *loop.Builder, x, y loop.Value) loop.Value
	dx, dy func(l *lowerer, x, y, z jet) jet
}

var (
	functions1 map[string]fn1
	functions2 map[string]fn2
)

func init() {
	call := func(name string) func(l *lowerer, x, y jet) jet {
		return func(l *lowerer, x, y jet) jet { return l.jcall(name, x) }
	}
	over := func(of func(l *lowerer, x, y jet) jet) func(l *lowerer, x, y jet) jet { // 1/of
		return func(l *lowerer, x, y jet) jet { return l.jdiv(l.jconst(x, 1), of(l, x, y)) }
	}
	times := func(c float64, of func(l *lowerer, x, y jet) jet) func(l *lowerer, x, y jet) jet {
		return func(l *lowerer, x, y jet) jet { return l.jmul(l.jconst(x, c), of(l, x, y)) }
	}
	itself := func(l *lowerer, x, y jet) jet { return x }
	result := func(l *lowerer, x, y jet) jet { return y }
	// one is 1 + s*v*v.
	one := func(s float64, v jet, l *lowerer) jet {
		sq := l.jmul(v, v)
		if s < 0 {
			return l.jsub(l.jconst(v, 1), sq)
		}
		return l.jadd(l.jconst(v, 1), sq)
	}
	between := func(l *lowerer, x, y jet) jet { // (1-x)*(1+x)
		u := l.jconst(x, 1)
		return l.jmul(l.jsub(u, x), l.jadd(u, x))
	}
	root := func(of func(l *lowerer, x, y jet) jet) func(l *lowerer, x, y jet) jet {
		return func(l *lowerer, x, y jet) jet { return l.jcall("Sqrt", of(l, x, y)) }
	}
	bell := func(l *lowerer, x, y jet) jet { return l.jcall("Exp", l.jneg(l.jmul(x, x))) }
	functions1 = map[string]fn1{
		"Exp":   {vmath.Exp, result},
		"Exp2":  {vmath.Exp2, times(math.Ln2, result)},
		"Expm1": {vmath.Expm1, func(l *lowerer, x, y jet) jet { return l.jadd(y, l.jconst(x, 1)) }},
		"Log":   {vmath.Log, over(itself)},
		"Log2":  {vmath.Log2, over(times(math.Ln2, itself))},
		"Log10": {vmath.Log10, over(times(math.Ln10, itself))},
		"Log1p": {vmath.Log1p, over(func(l *lowerer, x, y jet) jet { return l.jadd(l.jconst(x, 1), x) })},
		"Sin":   {vmath.Sin, call("Cos")},
		"Cos":   {vmath.Cos, times(-1, call("Sin"))},
		"Tan":   {vmath.Tan, func(l *lowerer, x, y jet) jet { return one(1, y, l) }},
		"Asin":  {vmath.Asin, over(root(between))},
		"Acos":  {vmath.Acos, times(-1, over(root(between)))},
		"Atan":  {vmath.Atan, over(func(l *lowerer, x, y jet) jet { return one(1, x, l) })},
		"Sinh":  {vmath.Sinh, call("Cosh")},
		"Cosh":  {vmath.Cosh, call("Sinh")},
		"Tanh":  {vmath.Tanh, func(l *lowerer, x, y jet) jet { return one(-1, y, l) }},
		"Asinh": {vmath.Asinh, over(root(func(l *lowerer, x, y jet) jet { return one(1, x, l) }))},
		"Acosh": {vmath.Acosh, over(root(func(l *lowerer, x, y jet) jet {
			u := l.jconst(x, 1)
			return l.jmul(l.jsub(x, u), l.jadd(x, u))
		}))},
		"Atanh": {vmath.Atanh, over(between)},
		"Erf":   {vmath.Erf, times(2/math.SqrtPi, bell)},
		"Erfc":  {vmath.Erfc, times(-2/math.SqrtPi, bell)},
		"Sqrt":  {(*loop.Builder).Sqrt, over(times(2, result))},
		"Abs":   {(*loop.Builder).Abs, func(l *lowerer, x, y jet) jet { return l.signOf(x) }},
		"Floor": {(*loop.Builder).Floor, nil}, "Ceil": {(*loop.Builder).Ceil, nil}, "Trunc": {(*loop.Builder).Trunc, nil},
		"RoundToEven": {(*loop.Builder).Rint, nil},
		"Round":       {vmath.Round, nil},
		"Cbrt":        {vmath.Cbrt, over(times(3, func(l *lowerer, x, y jet) jet { return l.jmul(y, y) }))},
		"Erfinv":      {vmath.Erfinv, times(math.SqrtPi/2, func(l *lowerer, x, y jet) jet { return l.jcall("Exp", l.jmul(y, y)) })},
		"Erfcinv":     {vmath.Erfcinv, times(-math.SqrtPi/2, func(l *lowerer, x, y jet) jet { return l.jcall("Exp", l.jmul(y, y)) })},
		"Gamma":       {vmath.Gamma, func(l *lowerer, x, y jet) jet { return l.jmul(y, l.jcall("digamma", x)) }},
		"J0":          {vmath.J0, times(-1, call("J1"))},
		"J1":          {vmath.J1, func(l *lowerer, x, y jet) jet { return l.besselSlope("J0", x, y) }},
		"Y0":          {vmath.Y0, times(-1, call("Y1"))},
		"Y1":          {vmath.Y1, func(l *lowerer, x, y jet) jet { return l.besselSlope("Y0", x, y) }},
		"lgamma":      {vmath.Lgamma, call("digamma")},
		"digamma":     {vmath.Digamma, call("trigamma")},
		"trigamma": {vmath.Trigamma, func(l *lowerer, x, y jet) jet {
			l.src.refuse(l.pos, "the third derivatives of math.Lgamma and math.Gamma are not part of the language")
			return nil
		}},
	}
	functions2 = map[string]fn2{
		"Pow": {vmath.Pow,
			func(l *lowerer, x, y, z jet) jet {
				t := l.b.Type(x[0])
				none := l.bin(loop.OpEq, y[0], l.zero(t))
				return l.jchoose(none, nil, l.jmul(y, l.jcall2("Pow", x, l.jsub(y, l.jconst(y, 1)))), t)
			},
			func(l *lowerer, x, y, z jet) jet { // 0 where the result does not depend on y
				t := l.b.Type(x[0])
				zero := l.and(l.bin(loop.OpEq, x[0], l.zero(t)), l.bin(loop.OpLe, l.zero(t), y[0]))
				safe := l.jchoose(zero, l.jconst(x, 1), x, t)
				return l.jchoose(zero, nil, l.jmul(z, l.jcall("Log", safe)), t)
			}},
		"Atan2": {vmath.Atan2,
			func(l *lowerer, y, x, z jet) jet { return l.jdiv(x, l.jadd(l.jmul(x, x), l.jmul(y, y))) },
			func(l *lowerer, y, x, z jet) jet { return l.jneg(l.jdiv(y, l.jadd(l.jmul(x, x), l.jmul(y, y)))) }},
		"Hypot": {vmath.Hypot,
			func(l *lowerer, x, y, z jet) jet { return l.overLength(x, z) },
			func(l *lowerer, x, y, z jet) jet { return l.overLength(y, z) }},
		"Copysign": {copysign,
			func(l *lowerer, x, y, z jet) jet {
				t := l.b.Type(x[0])
				return l.jchoose(l.bin(loop.OpEq, x[0], z[0]), l.jconst(x, 1), l.jconst(x, -1), t)
			}, nil},
		"Dim": {func(b *loop.Builder, x, y loop.Value) loop.Value {
			d, zero := b.Sub(x, y), b.Float(b.Type(x), 0)
			return b.Select(b.Le(d, zero), zero, d)
		},
			func(l *lowerer, x, y, z jet) jet { return l.positive(z, 1) },
			func(l *lowerer, x, y, z jet) jet { return l.positive(z, -1) }},
		"Max": {func(b *loop.Builder, x, y loop.Value) loop.Value { return extremeOrInf(b, false, x, y) }, lesser(loop.OpLe, true), lesser(loop.OpLe, false)},
		"Min": {func(b *loop.Builder, x, y loop.Value) loop.Value { return extremeOrInf(b, true, x, y) }, lesser(loop.OpLt, false), lesser(loop.OpLt, true)},
	}
}

// lesser is the slope of an extreme by x, where y op x or else holds.
func lesser(op loop.Op, where bool) func(l *lowerer, x, y, z jet) jet {
	return func(l *lowerer, x, y, z jet) jet {
		c := l.bin(op, y[0], x[0])
		if !where {
			c = l.not(c)
		}
		return l.jchoose(c, l.jconst(x, 1), nil, l.b.Type(x[0]))
	}
}

// signOf is -1, 0 or 1.
func (l *lowerer) signOf(x jet) jet {
	t := l.b.Type(x[0])
	zero := l.zero(t)
	return l.jchoose(l.bin(loop.OpLt, x[0], zero), l.jconst(x, -1), l.jchoose(l.bin(loop.OpEq, x[0], zero), nil, l.jconst(x, 1), t), t)
}

// positive is f where z is above zero, and else 0.
func (l *lowerer) positive(z jet, f float64) jet {
	t := l.b.Type(z[0])
	return l.jchoose(l.bin(loop.OpLt, l.zero(t), z[0]), l.jconst(z, f), nil, t)
}

// overLength is x/z, 0 where z is.
func (l *lowerer) overLength(x, z jet) jet {
	t := l.b.Type(z[0])
	zero := l.bin(loop.OpEq, z[0], l.zero(t))
	return l.jchoose(zero, nil, l.jdiv(x, l.jchoose(zero, l.jconst(z, 1), z, t)), t)
}

// besselSlope is the slope of y, Bessel's function of order 1: that of order 0 less y/x,
// which is 1/2 at 0.
func (l *lowerer) besselSlope(of string, x, y jet) jet {
	t := l.b.Type(x[0])
	zero := l.bin(loop.OpEq, x[0], l.zero(t))
	ratio := l.jchoose(zero, l.jconst(x, 0.5), l.jdiv(y, l.jchoose(zero, l.jconst(x, 1), x, t)), t)
	return l.jsub(l.jcall(of, x), ratio)
}

func (l *lowerer) jcall(name string, x jet) jet {
	f := functions1[name]
	var d func(x, y jet) jet
	if f.d != nil {
		d = func(x, y jet) jet { return f.d(l, x, y) }
	}
	return l.japply(x, func(v loop.Value) loop.Value {
		l.spend(1)
		return f.f(l.b, v)
	}, d)
}

func (l *lowerer) jcall2(name string, x, y jet) jet {
	f := functions2[name]
	bound := func(d func(l *lowerer, x, y, z jet) jet) func(x, y, z jet) jet {
		if d == nil {
			return nil
		}
		return func(x, y, z jet) jet { return d(l, x, y, z) }
	}
	return l.japply2(x, y, func(x, y loop.Value) loop.Value {
		l.spend(1)
		return f.f(l.b, x, y)
	}, bound(f.dx), bound(f.dy))
}

// mathFunction is a function with a row in the tables, of floats of one type.
func (l *lowerer) mathFunction(name string, args []num) (num, bool) {
	if _, ok := functions1[name]; ok {
		return l.num(l.jcall(name, l.jet(args[0]))), true
	}
	if _, ok := functions2[name]; ok {
		return l.num(l.jcall2(name, l.jet(args[0]), l.jet(args[1]))), true
	}
	return num{}, false
}

func intOf(t loop.Type) loop.Type {
	if t == loop.F32 {
		return loop.I32
	}
	return loop.I64
}

func copysign(b *loop.Builder, x, y loop.Value) loop.Value {
	t := b.Type(x)
	it := intOf(t)
	sign := b.And(b.Bits(it, y), b.Int(it, math.MinInt64>>(64-8*t.Size())))
	return b.Bits(t, b.Or(b.Bits(it, b.Abs(x)), sign))
}

// extremeOf is the lesser or the greater of two floats as Go's min and max define it: NaN
// where one is, and -0 below 0.
func extremeOf(b *loop.Builder, less bool, x, y loop.Value) loop.Value {
	t := b.Type(x)
	op, join := loop.OpMax, loop.OpAnd
	if less {
		op, join = loop.OpMin, loop.OpOr
	}
	// Equal operands differ in the sign of zero at most.
	same := b.Bits(t, b.Binary(join, b.Bits(intOf(t), x), b.Bits(intOf(t), y)))
	return b.Select(b.Eq(x, y), same, b.Binary(op, x, y))
}

// extremeOrInf is math.Max or math.Min: infinity wins over NaN.
func extremeOrInf(b *loop.Builder, less bool, x, y loop.Value) loop.Value {
	inf := b.Float(b.Type(x), math.Inf(1))
	if less {
		inf = b.Float(b.Type(x), math.Inf(-1))
	}
	return b.Select(b.Or(b.Eq(x, inf), b.Eq(y, inf)), inf, extremeOf(b, less, x, y))
}

// extreme is the built-in min or max of two floats.
func (l *lowerer) extreme(less bool, x, y num) num {
	l.spend(4)
	dx, dy := functions2["Max"].dx, functions2["Max"].dy
	if less {
		dx, dy = functions2["Min"].dx, functions2["Min"].dy
	}
	return l.num(l.japply2(l.jet(x), l.jet(y), func(x, y loop.Value) loop.Value { return extremeOf(l.b, less, x, y) },
		func(x, y, z jet) jet { return dx(l, x, y, z) }, func(x, y, z jet) jet { return dy(l, x, y, z) }))
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

// mathCall is a call of a function of package math.
func (l *lowerer) mathCall(x *ast.CallExpr, name string) []*value {
	args := l.arguments(x)
	l.pos = x.Pos()
	if formulaOf(name) {
		ns := make([]num, len(args))
		for i, a := range args {
			ns[i] = a.n
		}
		n, _ := l.mathFunction(name, ns)
		return []*value{{t: tFloat64, n: n}}
	}
	one := func(t *ty, v loop.Value) []*value { return []*value{l.scalar(t, v)} }
	float := func(n num) []*value { return []*value{{t: tFloat64, n: n}} }
	var v loop.Value
	if len(args) > 0 {
		v = args[0].n.v
	}
	f64 := func(f float64) loop.Value { return l.b.Float(loop.F64, f) }
	switch name {
	case "FMA":
		return float(l.fma(args[0].n, args[1].n, args[2].n))
	case "NaN":
		return one(tFloat64, f64(math.NaN()))
	case "Inf":
		return one(tFloat64, l.choose(l.bin(loop.OpLe, l.zero(loop.I64), v), f64(math.Inf(1)), f64(math.Inf(-1))))
	case "IsNaN":
		return one(tBool, l.bin(loop.OpNe, v, v))
	case "IsInf":
		s, zero := args[1].n.v, l.zero(loop.I64)
		up := l.and(l.bin(loop.OpLe, zero, s), l.bin(loop.OpEq, v, f64(math.Inf(1))))
		down := l.and(l.bin(loop.OpLe, s, zero), l.bin(loop.OpEq, v, f64(math.Inf(-1))))
		return one(tBool, l.or(up, down))
	case "Signbit":
		return one(tBool, l.bin(loop.OpLt, l.cast(loop.I64, v), l.zero(loop.I64)))
	case "Float64bits":
		return one(tUint64, l.cast(loop.I64, v))
	case "Float64frombits":
		return one(tFloat64, l.cast(loop.F64, v))
	case "Float32bits":
		return one(tUint32, l.cast(loop.I32, v))
	case "Float32frombits":
		return one(tFloat32, l.cast(loop.F32, v))
	case "Lgamma":
		return l.lgamma(args[0].n)
	case "Sincos":
		sin, _ := l.mathFunction("Sin", []num{args[0].n})
		cos, _ := l.mathFunction("Cos", []num{args[0].n})
		return append(float(sin), float(cos)...)
	}
	return l.written(x, mathPath, name, args)
}

// lgamma is the logarithm of |gamma(x)| and the sign of gamma(x).
func (l *lowerer) lgamma(x num) []*value {
	y := l.num(l.jcall("lgamma", l.jet(x)))
	l.spend(12)
	v, inf := x.v, l.b.Float(loop.F64, math.Inf(-1))
	y.v = l.choose(l.bin(loop.OpEq, v, inf), inf, y.v) // as Go has it; C has infinity
	// Below 0 gamma changes its sign at each integer.
	floor := l.b.Floor(v)
	half := l.bin(loop.OpMul, floor, l.b.Float(loop.F64, 0.5))
	odd := l.and(l.bin(loop.OpNe, floor, v), l.bin(loop.OpNe, half, l.b.Floor(half)))
	odd = l.and(odd, l.bin(loop.OpLt, v, l.zero(loop.F64)))
	return []*value{{t: tFloat64, n: y}, l.scalar(tInt64, l.choose(odd, l.int(loop.I64, -1), l.int(loop.I64, 1)))}
}

// formulaOf reports a function with a row in the tables.
func formulaOf(name string) bool {
	_, one := functions1[name]
	_, two := functions2[name]
	return one || two
}

// cast is the same bits as another type.
func (l *lowerer) cast(t loop.Type, v loop.Value) loop.Value {
	if bits, ok := l.known(v); ok {
		return l.b.ConstBits(t, bits)
	}
	l.spend(1)
	return l.b.Bits(t, v)
}

func (l *lowerer) fma(x, y, z num) num {
	l.spend(1)
	n := num{v: l.b.Fma(x.v, y.v, z.v)}
	if x.d != nil || y.d != nil || z.d != nil {
		v := n.v
		n = l.num(l.jadd(l.jmul(l.jet(x), l.jet(y)), l.jet(z)))
		n.v = v
	}
	return n
}

// narrow returns the argument of a conversion to float32, computed in float32, if it is a call
// of a function with a formula and its arguments are float32; else nil.
func (l *lowerer) narrow(x ast.Expr) *value {
	c, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || l.info.Types[c.Fun].IsType() {
		return nil
	}
	_, obj := l.callee(c)
	fn, ok := obj.(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != mathPath || !formulaOf(fn.Name()) {
		return nil
	}
	for _, a := range c.Args {
		if !l.isFloat32(a) {
			return nil
		}
	}
	args := make([]num, len(c.Args))
	for i, a := range c.Args {
		if tv := l.info.Types[a]; tv.Value != nil {
			args[i] = l.constant(tv.Value, tFloat32).n
		} else {
			args[i] = l.expr(ast.Unparen(a).(*ast.CallExpr).Args[0]).n
		}
	}
	n, _ := l.mathFunction(fn.Name(), args)
	return &value{t: tFloat32, n: n}
}

// isFloat32 reports an expression of type float64 that converts a float32, or a constant
// that is one.
func (l *lowerer) isFloat32(a ast.Expr) bool {
	if v := l.info.Types[a].Value; v != nil {
		wide, _ := constant.Float64Val(constant.ToFloat(v))
		return float64(float32(wide)) == wide
	}
	c, ok := ast.Unparen(a).(*ast.CallExpr)
	if !ok || !l.info.Types[c.Fun].IsType() {
		return false
	}
	return l.typeOf(c) == tFloat64 && l.typeOf(c.Args[0]) == tFloat32
}
