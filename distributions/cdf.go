package distributions

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Distribution functions that are incomplete gamma and beta functions. They are computed in float64 and
// rounded once, and so are their inverses.

// wide returns the parameters and x in float64.
func (b batch) wide(opName string, x *weft.Tensor) (vars weft.Vars) {
	b.events(opName, x)
	vars = weft.Vars{"inf": inf, "nan": nan, "x": x.To(weft.Float64)}
	for k, v := range b.vars {
		vars[k] = v.(*weft.Tensor).To(weft.Float64)
	}
	return vars
}

// narrowed returns y in the type in which x and the parameters meet.
func (b batch) narrowed(y, x *weft.Tensor) *weft.Tensor {
	if d := x.DType(); d.Float() {
		return y.To(array.Promote(d, b.dtype))
	}
	return y.To(b.dtype)
}

// special applies an operation to formulas of vars.
func special(d *op.Def, vars weft.Vars, formulas ...string) *weft.Tensor {
	args := make([]core.Operand, len(formulas))
	for i, text := range formulas {
		args[i] = core.Operand{T: (*core.Tensor)(weft.Expr(text, vars))}
	}
	return (*weft.Tensor)(core.Apply(d, nil, args...))
}

// CDF implements [Cumulative].
func (d Gamma) CDF(x *weft.Tensor) *weft.Tensor {
	return d.narrowed(special(op.GammaCDF, d.wide("cdf", x), "x*r", "a"), x)
}

// CDF implements [Cumulative]. It has no gradient by A and B.
func (d Beta) CDF(x *weft.Tensor) *weft.Tensor {
	return d.narrowed(special(op.BetaCDF, d.wide("cdf", x), "x", "1-x", "a", "b"), x)
}

// CDF implements [Cumulative]. It has no gradient by DF. Of the float64 events, those more than 1e154
// scales away from Loc count as infinite.
func (d StudentT) CDF(x *weft.Tensor) *weft.Tensor {
	return d.narrowed(special(op.StudentCDF, d.wide("cdf", x), "v", "(x-m)/s"), x)
}

// ICDF is the number below which an event lies with probability x. Its gradient by the concentration has
// no gradient by that.
func (d Gamma) ICDF(x *weft.Tensor) *weft.Tensor {
	return d.narrowed(weft.Expr("gammaincinv(a, x)/r", d.wide("icdf", x)), x)
}

// ICDF is the number below which an event lies with probability x. It has no gradient by A and B.
func (d Beta) ICDF(x *weft.Tensor) *weft.Tensor {
	return d.narrowed(weft.Expr("betaincinv(a, b, x)", d.wide("icdf", x)), x)
}

// ICDF is the number below which an event lies with probability x. It has no gradient by DF.
func (d StudentT) ICDF(x *weft.Tensor) *weft.Tensor {
	vars := d.wide("icdf", x)
	vars["z"] = special(op.StudentInverse, vars, "v", "x")
	return d.narrowed(weft.Expr("m + s*z", vars), x)
}

// CDF implements [Cumulative].
func (d Poisson) CDF(x *weft.Tensor) *weft.Tensor {
	vars := d.wide("cdf", x)
	vars["p"] = special(op.GammaSurvival, vars, "r", "floor(where((x >= 0) && (x < inf), x, 0)) + 1")
	return d.narrowed(weft.Expr("where(x == x, where(x < 0, 0, where(x == inf, 1, p)), nan)", vars), x)
}

// CDF implements [Cumulative]. It has no gradient by Total.
func (d Binomial) CDF(x *weft.Tensor) *weft.Tensor {
	vars := d.wide("cdf", x)
	vars["k"] = weft.Expr("where((x >= 0) && (x < n), floor(x), 0)", vars)
	vars["c"] = special(op.BetaCDF, vars, "1-p", "p", "maximum(n-k, 1)", "k+1")
	return d.narrowed(weft.Expr("where(x == x, where(x < 0, 0, where(x >= n, 1, c)), nan)", vars), x)
}

// CDF implements [Cumulative].
func (d Geometric) CDF(x *weft.Tensor) *weft.Tensor {
	d.events("cdf", x)
	return d.formula(fromZero("-expm1((floor(x)+1)*log1p(-p))"), x)
}

// CDF implements [Cumulative].
func (d Bernoulli) CDF(x *weft.Tensor) *weft.Tensor {
	d.events("cdf", x)
	return d.formula(fromZero("where(x < 1, 1-p, 1)"), x)
}

// fromZero returns the formula of a distribution function from 0 on.
func fromZero(text string) string { return "where(x == x, where(x < 0, 0, " + text + "), nan)" }
