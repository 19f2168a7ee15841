package nn

import (
	"math"

	"weft"
	"weft/internal/array"
)

// Losses of regression and segmentation that have parameters of a distribution or a balance.

// HuberOpts are the options of [Huber].
type HuberOpts struct {
	Delta     *float64     // where squares end, above 0; nil means 1
	Weight    *weft.Tensor // factors in the shape of x, nil for 1; the mean does not divide by them
	Reduction Reduction    // Mean if not given
}

// Huber is the mean over differences d of d*d/2 where |d| <= Delta, else of Delta*(|d| - Delta/2)
// (Huber, Robust estimation of a location parameter, 1964). It panics with *weft.Error if the
// shapes differ or Delta is not above 0.
func Huber(x, target *weft.Tensor, opts ...HuberOpts) *weft.Tensor {
	const name = "huber"
	defer array.Named(name).End()
	x, target = alike(name, x, target)
	o := array.Options(name, opts)
	delta := array.Or(o.Delta, 1)
	if !(delta > 0) {
		array.Failf(name, "Delta", "is %v, want a number above 0", delta)
	}
	loss := weft.Expr("where(abs(x-y) <= d, 0.5*pow(x-y, 2), d*(abs(x-y)-0.5*d))", weft.Vars{"x": x, "y": target, "d": delta})
	return o.Reduction.of(name, weighted(name, loss, o.Weight))
}

// GaussianNLLOpts are the options of [GaussianNLL].
type GaussianNLLOpts struct {
	Full      bool      // adds the constant log(2*pi)/2
	Eps       *float64  // the least variance that counts; nil means 1e-6
	Reduction Reduction // Mean if not given
}

// GaussianNLL is the mean of (log(variance) + (x-target)^2/variance)/2: the negative
// log-likelihood of targets under normal distributions of means x. The variance has the shape of
// x, or broadcasts to it, or lacks its last axis. Variances below Eps, negative ones too, count as
// Eps; their gradient is that at Eps. It panics with *weft.Error if shapes do not fit.
func GaussianNLL(x, target, variance *weft.Tensor, opts ...GaussianNLLOpts) *weft.Tensor {
	const name = "gaussian_nll"
	defer array.Named(name).End()
	x, target = alike(name, x, target)
	floats(name, "x", x)
	floats(name, "variance", variance)
	o := array.Options(name, opts)
	if r := x.Rank(); r > 0 && variance.Rank() == r-1 && r > 1 && array.Equal(sizes(variance), sizes(x)[:r-1]) {
		variance = variance.Unsqueeze(-1)
	}
	if !array.BroadcastsTo(sizes(variance), sizes(x)) {
		array.Failf(name, "variance", "has shape %s, want %s, or the same without its last axis", array.ShapeString(sizes(variance)), array.ShapeString(sizes(x)))
	}
	variance = raised(variance)
	// What a variance lacks is added as a constant, so that the gradient passes.
	lack := weft.Expr("where(v < eps, eps - v, 0)", weft.Vars{"v": variance.Detach(), "eps": array.Or(o.Eps, 1e-6)})
	constant := 0.0
	if o.Full {
		constant = 0.5 * math.Log(2*math.Pi)
	}
	return o.Reduction.of(name, weft.Expr("0.5*(log(v+l) + pow(x-y, 2)/(v+l)) + k",
		weft.Vars{"x": x, "y": target, "v": variance, "l": lack, "k": constant}))
}

// PoissonNLLOpts are the options of [PoissonNLL].
type PoissonNLLOpts struct {
	Rates     bool      // x holds the rates themselves, not their logarithms: PyTorch's log_input=False
	Full      bool      // adds Stirling's approximation of log(target!) where a target is above 1
	Eps       *float64  // added to rates before their logarithm; nil means 1e-8
	Reduction Reduction // Mean if not given
}

// PoissonNLL is the mean of exp(x) - target*x: the negative log-likelihood of counts under Poisson
// distributions whose rates have the logarithms x. It panics with *weft.Error if the shapes differ.
func PoissonNLL(x, target *weft.Tensor, opts ...PoissonNLLOpts) *weft.Tensor {
	const name = "poisson_nll"
	defer array.Named(name).End()
	x, target = alike(name, x, target)
	floats(name, "x", x)
	o := array.Options(name, opts)
	text := "exp(x) - y*x"
	if o.Rates {
		text = "x - y*log(x+eps)"
	}
	if o.Full { // of 1 where it does not count, which no logarithm harms
		text += " + where(y > 1, y*log(where(y > 1, y, 1)) - y + 0.5*log(2*pi*where(y > 1, y, 1)), 0)"
	}
	vars := weft.Vars{"x": x, "y": target}
	if o.Rates {
		vars["eps"] = array.Or(o.Eps, 1e-8)
	}
	return o.Reduction.of(name, weft.Expr(text, vars))
}

// FocalOpts are the options of [Focal].
type FocalOpts struct {
	Alpha     *float64  // weight of targets 1, 1-Alpha being that of targets 0; nil means 0.25, a negative number no weights
	Gamma     *float64  // power of the probability that is missing; nil means 2
	Reduction Reduction // Mean if not given
}

// Focal is the mean of (1-p)^Gamma times the binary cross-entropy of the sigmoid of x, where p is
// the probability that it gives to the target, 0 or 1 or between (Lin et al., Focal loss for dense
// object detection, 2017). It panics with *weft.Error if shapes or types differ.
func Focal(x, target *weft.Tensor, opts ...FocalOpts) *weft.Tensor {
	const name = "focal"
	defer array.Named(name).End()
	x, target = alike(name, x, target)
	sameFloats(name, x, target)
	o := array.Options(name, opts)
	text := "((1-y)*x + softplus(-x)) * pow(1 - (sigmoid(x)*y + (1-sigmoid(x))*(1-y)), gamma)"
	vars := weft.Vars{"x": x, "y": target, "gamma": array.Or(o.Gamma, 2)}
	if alpha := array.Or(o.Alpha, 0.25); alpha >= 0 {
		text = "(alpha*y + (1-alpha)*(1-y)) * " + text
		vars["alpha"] = alpha
	}
	return o.Reduction.of(name, weft.Expr(text, vars))
}

// DiceOpts are the options of [Dice].
type DiceOpts struct {
	Smooth    *float64  // added to both sides of the fraction; nil means 1
	Reduction Reduction // Mean if not given
}

// Dice is the mean over a batch of 1 - (2*sum(x*target) + Smooth)/(sum(x) + sum(target) + Smooth),
// for probabilities x and targets in [0, 1] of the same shape [batch, ...] (Milletari et al.,
// V-Net, 2016). It panics with *weft.Error if shapes differ or there is no axis.
func Dice(x, target *weft.Tensor, opts ...DiceOpts) *weft.Tensor {
	const name = "dice"
	defer array.Named(name).End()
	x, target = alike(name, x, target)
	floats(name, "x", x)
	if x.Rank() == 0 {
		array.Failf(name, "x", "has no axis: the first is a batch")
	}
	o := array.Options(name, opts)
	n := x.Dim(0)
	rows := func(t *weft.Tensor) *weft.Tensor { return t.Reshape(n, x.Size()/max(n, 1)).Sum(1) }
	return o.Reduction.of(name, weft.Expr("1 - (2*xy + s)/(x + y + s)",
		weft.Vars{"xy": rows(x.Mul(target)), "x": rows(x), "y": rows(target.To(x.DType())), "s": array.Or(o.Smooth, 1)}))
}
