package distributions

import (
	"reflect"

	"weft"
	"weft/internal/array"
)

// KL is the Kullback-Leibler divergence of q from p, the mean of log(p(x)/q(x)) over x drawn from p, in
// batch shape. It panics with *weft.Error where no formula is known for the types of p and q; the
// package documentation lists those that are.
func KL(p, q Distribution) *weft.Tensor {
	array.Given("distributions.kl", "p", p != nil)
	array.Given("distributions.kl", "q", q != nil)
	p.BatchShape() // which refuses zero values
	q.BatchShape()
	f := divergences[[2]reflect.Type{reflect.TypeOf(p), reflect.TypeOf(q)}]
	if f == nil {
		array.Failf("distributions.kl", "", "knows no divergence of %T from %T", q, p)
	}
	return f(p, q)
}

type divergence func(p, q Distribution) *weft.Tensor

// divergences are the formulas by types of p and q.
var divergences = map[[2]reflect.Type]divergence{}

// pair registers the divergence of two types.
func pair[P, Q Distribution](f func(p P, q Q) *weft.Tensor) {
	divergences[[2]reflect.Type{reflect.TypeFor[P](), reflect.TypeFor[Q]()}] = func(p, q Distribution) *weft.Tensor {
		return f(p.(P), q.(Q))
	}
}

// A parametric distribution has formulas.
type parametric interface {
	Distribution
	parameters() batch
}

func (b batch) parameters() batch { return b }

// formulas registers a divergence as a formula of p's symbols after the letter p and q's after q.
func formulas[P, Q parametric](text string) {
	pair(func(p P, q Q) *weft.Tensor { return divergenceOf(text, p, q, symbols(p, q)) })
}

// symbols are the parameters of p after the letter p, and of q after q.
func symbols(p, q parametric) weft.Vars {
	vars := weft.Vars{"inf": inf, "nan": nan}
	for k, v := range p.parameters().vars {
		vars["p"+k] = v
	}
	for k, v := range q.parameters().vars {
		vars["q"+k] = v
	}
	return vars
}

// divergenceOf is a formula in the shape to which the batches broadcast.
func divergenceOf(text string, p, q Distribution, vars weft.Vars) *weft.Tensor {
	shape := array.Broadcast("distributions.kl", p.BatchShape(), q.BatchShape())
	return expand(weft.Expr(text, vars), shape)
}

// cross registers a divergence as minus the entropy of p, minus the mean of log q over p: a formula also
// of the mean and the variance of p.
func cross[P, Q parametric](meanLog string) {
	pair(func(p P, q Q) *weft.Tensor {
		vars := symbols(p, q)
		vars["h"], vars["mean"], vars["variance"] = any(p).(Entropic).Entropy(), p.Mean(), p.Variance()
		return divergenceOf("-h - ("+meanLog+")", p, q, vars)
	})
}

// never registers an infinite divergence: p has events that q never has.
func never[P, Q parametric]() { formulas[P, Q]("inf") }

func init() {
	sameFamily()
	classesAndVectors()
	otherFamily()
}

// sameFamily has the divergences within a family of numbers.
func sameFamily() {
	formulas[Normal, Normal]("0.5*(pow(ps/qs, 2) + pow((pm-qm)/qs, 2) - 1) - log(ps/qs)")
	formulas[LogNormal, LogNormal]("0.5*(pow(ps/qs, 2) + pow((pm-qm)/qs, 2) - 1) - log(ps/qs)")
	formulas[HalfNormal, HalfNormal]("0.5*(pow(ps/qs, 2) - 1) - log(ps/qs)")
	formulas[Laplace, Laplace]("-log(ps/qs) + abs(pm-qm)/qs + ps/qs*exp(-abs(pm-qm)/ps) - 1")
	formulas[Cauchy, Cauchy]("log(pow(ps+qs, 2) + pow(pm-qm, 2)) - log(4*ps*qs)")
	formulas[Gumbel, Gumbel]("-log(ps/qs) + (pm-qm)/qs + 0.5772156649015329*(ps/qs-1) + exp((qm-pm)/qs + lgamma(1+ps/qs)) - 1")
	formulas[Exponential, Exponential]("log(pr/qr) + qr/pr - 1")
	formulas[Gamma, Gamma]("qa*log(pr/qr) + lgamma(qa) - lgamma(pa) + (pa-qa)*digamma(pa) + (qr-pr)*pa/pr")
	formulas[Beta, Beta]("lgamma(qa) + lgamma(qb) + lgamma(pa+pb) - lgamma(pa) - lgamma(pb) - lgamma(qa+qb) + " +
		"(pa-qa)*digamma(pa) + (pb-qb)*digamma(pb) + (qa+qb-pa-pb)*digamma(pa+pb)")
	formulas[Uniform, Uniform]("where((ql > pl) || (qh < ph), inf, log((qh-ql)/(ph-pl)))")
	const bernoulli = "(where(pp == 0, 0, where(qp == 0, inf, pp*(softplus(-ql) - softplus(-pl)))) + " +
		"where(pp == 1, 0, where(qp == 1, inf, (1-pp)*(softplus(ql) - softplus(pl)))))"
	formulas[Bernoulli, Bernoulli](bernoulli)
	// A formula is known for equal totals.
	formulas[Binomial, Binomial]("where(pn > qn, inf, where(pn < qn, nan, pn*" + bernoulli + "))")
	formulas[Geometric, Geometric](bernoulli + "/pp")
	formulas[Poisson, Poisson]("where(pr == 0, 0, pr*log(where(pr == 0, qr, pr)/qr)) - pr + qr")
}

// classesAndVectors has the divergences of classes and vectors, and of distributions made of others.
func classesAndVectors() {
	ofClasses := func(p, q Distribution, a, b classes) *weft.Tensor {
		if a.count() != b.count() {
			array.Failf("distributions.kl", "q", "has %d classes, p has %d", b.count(), a.count())
		}
		return divergenceOf("sum(where(pp == 0, 0, where(qp == 0, inf, pp*(pl-ql))), -1)", p, q,
			weft.Vars{"pp": a.Probs, "pl": a.Logits, "qp": b.Probs, "ql": b.Logits, "inf": inf})
	}
	pair(func(p, q Categorical) *weft.Tensor { return ofClasses(p, q, p.classes, q.classes) })
	pair(func(p, q OneHotCategorical) *weft.Tensor { return ofClasses(p, q, p.classes, q.classes) })
	pair(func(p, q Dirichlet) *weft.Tensor {
		sameEvents(p, q)
		return divergenceOf("lgamma(sum(a, -1)) - lgamma(sum(b, -1)) + sum(lgamma(b) - lgamma(a) + (a-b)*(digamma(a) - digamma(sum_keep(a, -1))), -1)",
			p, q, weft.Vars{"a": p.Concentration, "b": q.Concentration})
	})
	pair(func(p, q MultivariateNormal) *weft.Tensor {
		sameEvents(p, q)
		return divergenceOf("sum(log(u/t), -1) + 0.5*(sum(sum(pow(r, 2), -1), -1) + sum(z*z, -1) - k)", p, q, weft.Vars{
			"t": diagonal(p.ScaleTril), "u": diagonal(q.ScaleTril), "r": q.inverse.MatMul(p.ScaleTril),
			"z": times(q.inverse, q.Loc.Sub(p.Loc)), "k": float64(p.Loc.Dim(-1))})
	})
	pair(func(p, q Independent) *weft.Tensor {
		if p.Axes != q.Axes {
			array.Failf("distributions.kl", "q", "has %d axes of events, p has %d", q.Axes, p.Axes)
		}
		return p.summed(KL(p.Base, q.Base))
	})
}

// sameEvents refuses events of different shapes.
func sameEvents(p, q Distribution) {
	if !array.Equal(p.EventShape(), q.EventShape()) {
		array.Failf("distributions.kl", "q", "has events of shape %s, p of shape %s", array.ShapeString(q.EventShape()), array.ShapeString(p.EventShape()))
	}
}

// otherFamily has the divergences between families of numbers.
func otherFamily() {
	const normal = "-0.9189385332046727 - log(qs) - 0.5*(variance + pow(mean-qm, 2))/pow(qs, 2)"
	cross[Laplace, Normal](normal)
	cross[Gumbel, Normal](normal)
	cross[Exponential, Normal](normal)
	cross[Gamma, Normal](normal)
	cross[Beta, Normal](normal)
	cross[Uniform, Normal](normal)
	const exponential = "log(qr) - qr*mean"
	cross[Gamma, Exponential](exponential)
	cross[Beta, Exponential](exponential)
	cross[Uniform, Exponential]("where(pl < 0, -inf, " + exponential + ")")
	// The mean of log(x), by p.
	const gamma = "qa*log(qr) - lgamma(qa) - qr*mean + (qa-1)*"
	cross[Exponential, Gamma](gamma + "(-0.5772156649015329 - log(pr))")
	cross[Beta, Gamma](gamma + "(digamma(pa) - digamma(pa+pb))")
	cross[Uniform, Gamma]("where(pl < 0, -inf, " + gamma + "((" + xlogx("ph") + " - " + xlogx("pl") + ")/(ph-pl) - 1))")
	// The mean of exp(-x/qs), by p.
	const gumbel = "-log(qs) + (qm-mean)/qs - exp(qm/qs)*"
	cross[Normal, Gumbel](gumbel + "exp(-pm/qs + 0.5*pow(ps/qs, 2))")
	cross[Exponential, Gumbel](gumbel + "pr/(pr + 1/qs)")
	cross[Gamma, Gumbel](gumbel + "pow(1 + 1/(pr*qs), -pa)")
	cross[Uniform, Gumbel](gumbel + "(exp(-pl/qs) - exp(-ph/qs))*qs/(ph-pl)")
	cross[Normal, Laplace]("-log(2*qs) - (sqrt(2/pi)*ps*exp(-0.5*pow((pm-qm)/ps, 2)) + (pm-qm)*erf((pm-qm)/(ps*1.4142135623730951)))/qs")
	cross[Uniform, Beta]("where((pl < 0) || (ph > 1), -inf, lgamma(qa+qb) - lgamma(qa) - lgamma(qb) + " +
		"(qa-1)*((" + xlogx("ph") + " - " + xlogx("pl") + ")/(ph-pl) - 1) + " +
		"(qb-1)*((" + xlogx("(1-pl)") + " - " + xlogx("(1-ph)") + ")/(ph-pl) - 1))")
	cross[Beta, Uniform]("where((ql > 0) || (qh < 1), -inf, -log(qh-ql))")
	formulas[Bernoulli, Poisson]("-(softplus(pl) - pl*sigmoid(pl)) - pp*log(qr) + qr")
	never[Normal, Beta]()
	never[Normal, Exponential]()
	never[Normal, Gamma]()
	never[Normal, Uniform]()
	never[Laplace, Beta]()
	never[Laplace, Exponential]()
	never[Laplace, Gamma]()
	never[Laplace, Uniform]()
	never[Gumbel, Beta]()
	never[Gumbel, Exponential]()
	never[Gumbel, Gamma]()
	never[Gumbel, Uniform]()
	never[Exponential, Beta]()
	never[Exponential, Uniform]()
	never[Gamma, Beta]()
	never[Gamma, Uniform]()
	never[Poisson, Bernoulli]()
	never[Poisson, Binomial]()
}

// xlogx is the formula of x*log(x), which is 0 at 0.
func xlogx(x string) string {
	return x + "*log(where(" + x + " == 0, 1, " + x + "))"
}
