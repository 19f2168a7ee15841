package formula

import (
	"fmt"
	"math"
	"sync"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
)

// A written function is one that a formula of its parameters defines. It stands in the graph in place of its call.
type written struct {
	params []string
	text   string
	once   sync.Once
	read   *Variant
}

// variant returns the text as it was read by the first call.
func (w *written) variant() *Variant {
	w.once.Do(func() {
		f, err := parse(w.text, nil, w.params)
		if err != nil {
			panic(err)
		}
		w.read = &Variant{Formula: f}
	})
	return w.read
}

// hidden are functions that the texts of written functions and explained formulas name, and no list of functions.
var hidden = map[string]*function{
	"_stop":    {def: op.Stop, args: 1},
	"_betacdf": {def: op.BetaCDF, args: 4}, // takes x, 1-x and the parameters
	"_root":    {def: op.BetaRoot, args: 3},
}

// hiddenNumbers are numbers that only the texts of written functions name.
var hiddenNumbers = map[string]exec.Number{"inf": floatNumber(math.Inf(1)), "nan": floatNumber(math.NaN())}

// writtenFunctions are the written functions by name: functions of package special and methods of tensors.
var writtenFunctions = func() map[string]*written {
	t := map[string]*written{}
	add := func(name, text string, params ...string) {
		t[name] = &written{params: params, text: text}
	}
	add("spacing", "nextafter(_stop(x), where(x < 0, -inf, inf)) - _stop(x)", "x")

	// Entropies and losses.
	add("xlog1py", "where((x == 0) && (y == y), 0*x, x*log1p(where((x == 0) && (y == y), 0, y)))", "x", "y")
	add("entr", "where(x > 0, -x*log(where(x > 0, x, 1)), where(x == 0, 0, where(x < 0, -inf, nan)))", "x")
	add("rel_entr", "where((x > 0) && (y > 0), "+xLogRatio+", where((x == 0) && (y >= 0), 0, where((x == x) && (y == y), inf, nan)))", "x", "y")
	add("kl_div", "where((x > 0) && (y > 0), _divergence(x, y, where("+nearRatio+", (x - y)/where("+nearRatio+", x + y, 1), 0)), where((x == 0) && (y >= 0), y, where((x == x) && (y == y), inf, nan)))", "x", "y")
	add("_divergence", divergence(), "x", "y", "s")
	add("huber", "where(delta < 0, inf, where(abs(r) <= delta, 0.5*r*r, delta*(abs(r) - 0.5*delta)))", "delta", "r")
	add("pseudo_huber", "where(delta < 0, inf, where((delta == 0) || ((r == 0) && (delta != delta)), 0, where(abs(r) < inf, where(abs(r)/where(delta == 0, 1, delta) < 1e20, r*(r/(1 + hypot(1 + 0*r, r/where(delta == 0, 1, delta)))), delta*abs(r)), abs(r))))", "delta", "r")

	// Gamma functions and counts.
	add("loggamma", "where(x >= 0, lgamma(x), nan)", "x")
	add("rgamma", reciprocalGamma, "x")
	add("factorial", "where(n < 0, 0, "+wholeWhere("n == floor(n)", "gamma(n+1)")+")", "n")
	add("factorial2", "where(n < 0, 0, "+wholeWhere("n == floor(n)", "exp2(floor(0.5*n+0.5))*gamma(0.5*n+1)*where(mod(n, 2) == 1, 0.5641895835477563, 1)")+")", "n")
	add("comb", "where((k > n) || (k < 0) || (n < 0), 0*abs(n+k), binom(n, k))", "n", "k")
	add("perm", "where((k > n) || (k < 0) || (n < 0), 0*abs(n+k), "+wholeWhere("(n == floor(n)) && (k == floor(k))", "poch(n-k+1, k)")+")", "n", "k")

	// Transformations.
	add("boxcox", powerOf("log(x)"), "x", "lambda")
	add("boxcox1p", powerOf("log1p(x)"), "x", "lambda")
	add("inv_boxcox", "exp("+rootLog()+")", "y", "lambda")
	add("inv_boxcox1p", "expm1("+rootLog()+")", "y", "lambda")
	add("exprel", "where(abs(x) < 0.25, "+expSeries("x")+", where(x == inf, inf, expm1(x)/where(abs(x) < 0.25, 1, x)))", "x")

	// Distributions. rest is n-floor(k), or 1 where that may not be above 0: there the value has no part of it, but
	// derivatives do.
	const rest = "where(k >= n, 1, n - floor(k))"
	between := func(text string) string { return "where(p < 0, nan, where(p > 1, nan, " + text + "))" }
	add("chdtr", "gammainc(0.5*v, 0.5*x)", "v", "x")
	add("chdtrc", "gammaincc(0.5*v, 0.5*x)", "v", "x")
	add("chdtri", "2*gammainccinv(0.5*v, p)", "v", "p")
	add("pdtr", "gammaincc(floor(k) + 1, m)", "k", "m")
	add("pdtrc", "gammainc(floor(k) + 1, m)", "k", "m")
	add("bdtr", between("where(k >= n, 1, _betacdf(1 - p, p, "+rest+", floor(k) + 1))"), "k", "n", "p")
	add("bdtrc", between("where(k >= n, 0, _betacdf(p, 1 - p, floor(k) + 1, "+rest+"))"), "k", "n", "p")
	add("fdtri", fisherInverse, "dfn", "dfd", "p")
	return t
}()

// xLogRatio is x*log(x/y) for x and y above 0, from two logarithms where the quotient underflows or overflows. Where x is near
// y the logarithm has what the quotient was rounded by: x - y is exact, and so is the quotient less 1.
const xLogRatio = "x*where((x/where(y > 0, y, 1) > 1e-37) && (x/where(y > 0, y, 1) < inf), log(where((x > 0) && (y > 0), x/where(y > 0, y, 1), 1)) + " +
	"where(" + nearRatio + ", ((x - y) - (x/where(" + nearRatio + ", y, 1) - 1)*y)/where(" + nearRatio + ", x, 1), 0), log(where(x > 0, x, 1)) - log(where(y > 0, y, 1)))"

// nearRatio holds where x and y differ by a factor below 2.
const nearRatio = "(x > 1e-30) && (y > 1e-30) && (x < 2*y) && (y < 2*x) && (x < 1e30)"

// divergence is x*log(x/y) - x + y by a series where x is near y, so that nothing cancels: with s = (x-y)/(x+y), z = s*s and
// p(z) = (artanh(s)-s)/s^3 it is (x+y)*z*(1 + (z+s)*p(z)). The formula has s as an argument.
func divergence() string {
	p := "0"
	for n := 37; n >= 3; n -= 2 {
		p = fmt.Sprintf("(%.17g + s*s*%s)", 1/float64(n), p)
	}
	return "where(" + nearRatio + ", (x + y)*s*s*(1 + (s*s + s)*" + p + "), " + xLogRatio + " - x + y)"
}

// reciprocalGamma is 1/gamma(x). At a pole -n it is (-1)^n*gamma(1-x)*(x+n), by the reflection formula. Arguments of
// the other forms are safe there, so that their derivatives are finite.
var reciprocalGamma = func() string {
	const (
		pole  = "((x <= 0) && (x == floor(x)))"
		whole = "where(" + pole + " && (x >= -170), x, 0)"
		usual = "where(" + pole + " || (abs(x) < 1e-300) || (x > 171), 1, x)"
		large = "(where(x > 171, x, 172)-8)"
		turn  = "where(mod(" + whole + ", 2) == 0, 1, -1)*where(gamma(1 - " + whole + ") < inf, gamma(1 - " + whole + "), 0)"
	)
	return "where(" + pole + ", 0 + (" + whole + " - floor(" + whole + "))*" + turn +
		", where(abs(x) < 1e-300, x, where(x > 171, 1/gamma(" + large + ")/poch(" + large + ", 8), 1/gamma(" + usual + "))))"
}()

// fisherInverse is the inverse of the F distribution. Halves of tiny degrees would lose digits. Where dfd alone is tiny,
// probabilities are multiples of it, and those beyond it make x infinite.
var fisherInverse = func() string {
	const (
		first  = "0.5*where(dfn < 1e-270, 1e210*dfn, dfn)"
		second = "0.5*where(dfd < 1e-270, 1e210*dfd, dfd)"
		level  = "where(dfn < 1e-270, p, where(dfd < 1e-270, where(p < 1e-211, 1e210*p, where(p < 1, 0.5*(p+1), p)), p))"
		root   = "_root(" + first + ", " + second + ", " + level + ")"
		odds   = "where(dfn < 1e-270, dfd/dfn*" + root + "*" + root + ", where(dfd < 1e-270, where(" + root + " < 1e140, " + root + "*" + root + "/dfn*dfd, " + root + "/dfn*dfd*" + root + "), dfd/dfn*" + root + "*" + root + "))"
	)
	return "where(" + root + " == 0, 0*dfd*dfn, " + odds + ")"
}()

// wholeWhere is a formula whose values below 2^50 are rounded to whole numbers where cond holds.
func wholeWhere(cond, text string) string {
	return "where((" + cond + ") && (abs(" + text + ") < 1125899906842624), round(" + text + "), " + text + ")"
}

// The quotients below lose the digits of their derivatives near 0, where their power series have them.

// expSeries is the formula of (exp(x)-1)/x for x up to 1/4: the sum of x^k/(k+1)!.
func expSeries(x string) string {
	text := "1"
	for k := 13; k > 1; k-- {
		text = fmt.Sprintf("(1 + %s*%s/%d)", x, text, k)
	}
	return text
}

// powerOf is the formula of (exp(lambda*log)-1)/lambda, and log where lambda is 0.
func powerOf(log string) string {
	near := "(abs(lambda*" + log + ") < 0.25)"
	return "where(" + near + ", " + log + "*" + expSeries("where("+near+", lambda*"+log+", 0)") +
		", where(lambda == 0, " + log + ", expm1(lambda*" + log + ")/where(" + near + " || (lambda == 0), 1, lambda)))"
}

// rootLog is the formula of log1p(lambda*y)/lambda, and y where lambda is 0. Its series is the sum of
// (-lambda*y)^k/(k+1).
func rootLog() string {
	const near = "(abs(lambda*y) < 0.02)"
	const v = "where(" + near + ", lambda*y, 0)"
	text := "1/10"
	for k := 9; k > 0; k-- {
		text = fmt.Sprintf("(1/%d - %s*%s)", k, v, text)
	}
	return "where(" + near + ", y*" + text + ", where(lambda == 0, y, log1p(lambda*y)/where(" + near + " || (lambda == 0), 1, lambda)))"
}

// compose returns the function of arguments. Integers and Bool become float32, numbers get the type of the first
// array of floats.
func (w *written) compose(name string, b *builder, args []*ir.Node) *ir.Node {
	sub := &builder{v: w.variant(), g: b.g, float: b.float, arrays: map[int]*ir.Node{}}
	d := array.Invalid
	for i, x := range args {
		if x.DType.Complex() {
			array.Failf(name, w.params[i], "is %s, want real numbers", x.DType)
		}
		if !x.DType.Differentiable() && !x.Weak {
			x = op.Convert(x, array.Float32)
			args[i] = x
		}
		if d == array.Invalid && !x.Weak {
			d = x.DType
		}
	}
	for i, x := range args {
		if x.Weak {
			if x = b.asFloat(x); d != array.Invalid {
				x = op.Convert(x, d)
			}
		}
		sub.arrays[i] = x
	}
	return sub.build(sub.v.Formula.root)
}

// What follows are functions of graphs that are not one operation without parameters.

func isClose(x []*ir.Node) *ir.Node { return op.Apply(op.IsClose, op.IsClose.Attrs, x...) }

func nanToNum(x []*ir.Node) *ir.Node {
	a, ok := op.FiniteLimits(x[0].DType)
	if !ok {
		array.Failf("nan_to_num", "", "is not defined for %s", x[0].DType)
	}
	return op.Apply(op.NanToNum, a, x[0])
}

func realPart(x []*ir.Node) *ir.Node {
	if x[0].DType.Complex() {
		return op.Apply(op.Real, nil, x[0])
	}
	return x[0]
}

func imagPart(x []*ir.Node) *ir.Node {
	if x[0].DType.Complex() {
		return op.Apply(op.Imag, nil, x[0])
	}
	zero := x[0].Graph.Number(0, array.Float64, true)
	return op.Convert(op.Apply(op.Where, nil, op.Apply(op.Eq, nil, x[0], x[0]), zero, zero), x[0].DType)
}
