package distributions_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/distributions"
	"weft/internal/tensortest"
)

func TestMain(m *testing.M) { tensortest.Main(m) }

// A peerArray is an array of testdata/distributions.json, nil where there is none.
type peerArray struct {
	Shape []int
	Data  []string
}

func (a *peerArray) numbers() []float64 {
	out := make([]float64, len(a.Data))
	for i, s := range a.Data {
		out[i], _ = strconv.ParseFloat(s, 64)
	}
	return out
}

func (a *peerArray) tensor(d weft.DType) *weft.Tensor {
	return weft.FromSlice(a.numbers(), a.Shape...).To(d)
}

// A peer is what PyTorch and SciPy gave.
type peer struct {
	Cases []struct {
		Name                                     string
		Params                                   []*peerArray
		X, U, Mean, Variance, Entropy, CDF, ICDF *peerArray
		LogProb                                  *peerArray   `json:"log_prob"`
		DLogProb                                 []*peerArray `json:"d_log_prob"`
		DEntropy                                 []*peerArray `json:"d_entropy"`
		DCDF                                     []*peerArray `json:"d_cdf"`
		DICDF                                    []*peerArray `json:"d_icdf"`
	}
	Draws []struct {
		Name                 string
		Params, Edges, Probs []float64
	}
	Divergences []struct {
		P, Q   string
		Params []*peerArray
		KL     *peerArray
		DKL    []*peerArray `json:"d_kl"`
	}
}

func readPeer(t *testing.T) (p peer) {
	t.Helper()
	text, err := os.ReadFile("testdata/distributions.json")
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || len(p.Cases) < 25 || len(p.Divergences) < 50 || len(p.Draws) < 15 {
		t.Fatal(err, len(p.Cases), len(p.Divergences), len(p.Draws))
	}
	return p
}

// construct returns the distribution that the script calls by that name, and the number of its parameters.
func construct(name string, p []*weft.Tensor) (distributions.Distribution, int) {
	switch name {
	case "normal":
		return distributions.NewNormal(p[0], p[1]), 2
	case "log_normal":
		return distributions.NewLogNormal(p[0], p[1]), 2
	case "half_normal":
		return distributions.NewHalfNormal(p[0]), 1
	case "laplace":
		return distributions.NewLaplace(p[0], p[1]), 2
	case "cauchy":
		return distributions.NewCauchy(p[0], p[1]), 2
	case "gumbel":
		return distributions.NewGumbel(p[0], p[1]), 2
	case "student_t":
		return distributions.NewStudentT(p[0], p[1], p[2]), 3
	case "exponential":
		return distributions.NewExponential(p[0]), 1
	case "uniform":
		return distributions.NewUniform(p[0], p[1]), 2
	case "gamma":
		return distributions.NewGamma(p[0], p[1]), 2
	case "beta":
		return distributions.NewBeta(p[0], p[1]), 2
	case "bernoulli":
		return distributions.NewBernoulli(p[0]), 1
	case "bernoulli logits":
		return distributions.NewBernoulliLogits(p[0]), 1
	case "binomial":
		return distributions.NewBinomial(p[0], p[1]), 2
	case "binomial logits":
		return distributions.NewBinomialLogits(p[0], p[1]), 2
	case "geometric":
		return distributions.NewGeometric(p[0]), 1
	case "geometric logits":
		return distributions.NewGeometricLogits(p[0]), 1
	case "poisson":
		return distributions.NewPoisson(p[0]), 1
	}
	return constructVectors(name, p)
}

func constructVectors(name string, p []*weft.Tensor) (distributions.Distribution, int) {
	switch name {
	case "categorical":
		return distributions.NewCategorical(p[0]), 1
	case "categorical logits":
		return distributions.NewCategoricalLogits(p[0]), 1
	case "one_hot_categorical":
		return distributions.NewOneHotCategorical(p[0]), 1
	case "one_hot_categorical logits":
		return distributions.NewOneHotCategoricalLogits(p[0]), 1
	case "multinomial":
		return distributions.NewMultinomial(5, p[0]), 1
	case "multinomial logits":
		return distributions.NewMultinomialLogits(5, p[0]), 1
	case "dirichlet":
		return distributions.NewDirichlet(p[0]), 1
	case "multivariate_normal":
		a := p[1].MatMul(p[1].Transpose(-1, -2)).Add(weft.EyeOf(p[1].DType(), 5))
		return distributions.NewMultivariateNormal(p[0], a), 2
	case "multivariate_normal tril":
		return distributions.NewMultivariateNormalTril(p[0], p[1].Add(weft.EyeOf(p[1].DType(), 5).Mul(3))), 2
	case "independent":
		return distributions.NewIndependent(distributions.NewNormal(p[0], p[1]), 1), 2
	case "mixture":
		return distributions.NewMixtureSameFamily(distributions.NewCategorical(p[0]), distributions.NewNormal(p[1], p[2])), 3
	case "mixture of vectors":
		return distributions.NewMixtureSameFamily(distributions.NewCategoricalLogits(p[0]), distributions.NewIndependent(distributions.NewNormal(p[1], p[2]), 1)), 3
	}
	panic(name)
}

// close compares with what PyTorch gave.
func close(t *testing.T, what string, got *weft.Tensor, want *peerArray) {
	t.Helper()
	bound := 1e-9
	if got.DType() == weft.Float32 {
		bound = 3e-5
	}
	if fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape) {
		t.Errorf("%s: shape %v, want %v", what, got.Shape(), want.Shape)
		return
	}
	tensortest.Near(t, what, got, want.numbers(), bound)
}

// A check is a function of inputs beside the values and gradients of PyTorch.
type check struct {
	what string
	f    func(in []*weft.Tensor) *weft.Tensor
	in   []*peerArray
	y    *peerArray
	dy   []*peerArray
	ints bool // the last input holds classes
}

// run compares in one type, eagerly or compiled.
func (c check) run(t *testing.T, d weft.DType, compiled bool) {
	t.Helper()
	f := func(in []*weft.Tensor) []*weft.Tensor {
		args := make([]*weft.Tensor, len(in))
		for i, x := range in {
			if args[i] = x.Detach(); x.DType().Float() {
				args[i].RequireGrad()
			}
		}
		y := c.f(args)
		outs := []*weft.Tensor{y.Detach()}
		if c.dy == nil {
			return outs
		}
		if y.RequiresGrad() {
			y.Mul(weft.ArangeOf(y.DType(), 1, y.Size()+1).Reshape(y.Shape()...)).Sum().Backward()
		}
		for i, x := range args {
			if i < len(c.dy) && c.dy[i] != nil {
				g := x.Grad()
				if g == nil {
					g = weft.ZerosLike(x)
				}
				outs = append(outs, g)
			}
		}
		return outs
	}
	if compiled {
		f = weft.Compile(f).Func()
	}
	in := make([]*weft.Tensor, len(c.in))
	for i, a := range c.in {
		if in[i] = a.tensor(d); c.ints && i == len(in)-1 {
			in[i] = in[i].To(weft.Int64)
		}
	}
	var outs []*weft.Tensor
	what := fmt.Sprintf("%s %s compiled=%v", c.what, d, compiled)
	if err := tensortest.Try(func() { outs = f(in) }); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	close(t, what, outs[0], c.y)
	k := 1
	for i, g := range c.dy {
		if g != nil {
			close(t, fmt.Sprintf("%s: gradient %d", what, i), outs[k], g)
			k++
		}
	}
}

// each runs in float64 eagerly, and in float32 compiled.
func (c check) each(t *testing.T) {
	t.Helper()
	c.run(t, weft.Float64, false)
	c.run(t, weft.Float32, true)
}

// Densities, means, variances, entropies, distribution functions and their gradients are PyTorch's, whose
// densities the script compares with SciPy's.
func TestDensitiesMatchPyTorch(t *testing.T) {
	for _, c := range readPeer(t).Cases {
		of := func(f func(d distributions.Distribution, x *weft.Tensor) *weft.Tensor) func(in []*weft.Tensor) *weft.Tensor {
			return func(in []*weft.Tensor) *weft.Tensor {
				d, n := construct(c.Name, in)
				return f(d, append(in, nil)[n])
			}
		}
		with := func(x *peerArray) []*peerArray { return append(slices.Clip(c.Params), x) }
		ints := strings.HasPrefix(c.Name, "categorical")
		check{c.Name + " log_prob", of(func(d distributions.Distribution, x *weft.Tensor) *weft.Tensor { return d.LogProb(x) }), with(c.X), c.LogProb, c.DLogProb, ints}.each(t)
		check{c.Name + " mean", of(func(d distributions.Distribution, _ *weft.Tensor) *weft.Tensor { return d.Mean() }), c.Params, c.Mean, nil, false}.each(t)
		check{c.Name + " variance", of(func(d distributions.Distribution, _ *weft.Tensor) *weft.Tensor { return d.Variance() }), c.Params, c.Variance, nil, false}.each(t)
		if c.Entropy != nil {
			e := check{c.Name + " entropy", of(func(d distributions.Distribution, _ *weft.Tensor) *weft.Tensor {
				return d.(distributions.Entropic).Entropy()
			}), c.Params, c.Entropy, c.DEntropy, false}
			if strings.HasPrefix(c.Name, "binomial") { // which reads the total
				e.run(t, weft.Float64, false)
				e.run(t, weft.Float32, false)
			} else {
				e.each(t)
			}
		}
		if c.CDF != nil {
			check{c.Name + " cdf", of(func(d distributions.Distribution, x *weft.Tensor) *weft.Tensor {
				return d.(distributions.Cumulative).CDF(x)
			}), with(c.X), c.CDF, c.DCDF, false}.each(t)
		}
		if c.ICDF != nil {
			check{c.Name + " icdf", of(func(d distributions.Distribution, x *weft.Tensor) *weft.Tensor {
				return d.(interface {
					ICDF(*weft.Tensor) *weft.Tensor
				}).ICDF(x)
			}), with(c.U), c.ICDF, c.DICDF, false}.each(t)
		}
	}
}

// Divergences and their gradients are PyTorch's, for all pairs that it knows of our types.
func TestDivergencesMatchPyTorch(t *testing.T) {
	for _, c := range readPeer(t).Divergences {
		check{"kl " + c.P + " " + c.Q, func(in []*weft.Tensor) *weft.Tensor {
			p, n := construct(c.P, in)
			q, _ := construct(c.Q, in[n:])
			return distributions.KL(p, q)
		}, c.Params, c.KL, c.DKL, false}.each(t)
	}
}

// chiSquareBound is the 0.9999 quantile of the chi-squared distribution, by Wilson and Hilferty.
func chiSquareBound(k float64) float64 {
	return k * math.Pow(1-2/(9*k)+3.719*math.Sqrt(2/(9*k)), 3)
}

// Draws fall into bins with the probabilities of SciPy.
func TestDrawsFollowSciPy(t *testing.T) {
	const n = 20000
	g := weft.NewGenerator(7)
	for _, c := range readPeer(t).Draws {
		for _, dtype := range []weft.DType{weft.Float32, weft.Float64} {
			params := make([]*weft.Tensor, len(c.Params))
			for i, p := range c.Params {
				params[i] = weft.ScalarOf(dtype, p)
			}
			d, _ := construct(c.Name, params)
			x := d.Sample(g, n)
			if x.DType() != dtype || x.Size() != n {
				t.Errorf("%s: draws are %s %v", c.Name, x.DType(), x.Shape())
			}
			counts := make([]float64, len(c.Probs))
			for _, v := range weft.Data[float64](x.To(weft.Float64)) {
				k, _ := slices.BinarySearch(c.Edges, v)
				counts[k]++
			}
			chi := 0.0
			for i, m := range counts {
				e := c.Probs[i] * n
				chi += (m - e) * (m - e) / e
			}
			if !(chi < chiSquareBound(float64(len(counts)-1))) {
				t.Errorf("%s %v %s: chi-square is %v of %d bins: %v", c.Name, c.Params, dtype, chi, len(counts), counts)
			}
		}
	}
}

// momentCases are distributions with draws of several numbers or classes, and of batches.
func momentCases() map[string]distributions.Distribution {
	p := weft.From([][]float64{{0.1, 0.2, 0.3, 0.4}, {4, 0, 1, 2}})
	loc := weft.From([]float64{1, -2, 3})
	a := weft.From([][]float64{{2, 0.5, -0.3}, {0.5, 1, 0.2}, {-0.3, 0.2, 0.7}})
	return map[string]distributions.Distribution{
		"one_hot_categorical": distributions.NewOneHotCategorical(p),
		"multinomial":         distributions.NewMultinomial(6, p),
		"dirichlet":           distributions.NewDirichlet(weft.From([][]float64{{0.3, 1, 2}, {5, 1, 0.5}})),
		"multivariate_normal": distributions.NewMultivariateNormal(loc, a),
		"independent":         distributions.NewIndependent(distributions.NewGamma(weft.From([]float64{0.5, 3}), weft.From([][]float64{{1}, {2}})), 1),
		"mixture":             distributions.NewMixtureSameFamily(distributions.NewCategorical(weft.From([]float64{1, 3})), distributions.NewNormal(weft.From([][]float64{{-2, 1}, {0, 5}}), 0.5)),
		"mixture of vectors":  distributions.NewMixtureSameFamily(distributions.NewCategorical(weft.From([]float64{1, 3})), distributions.NewIndependent(distributions.NewLaplace(weft.From([][]float64{{-2, 1, 0}, {0, 5, 2}}), 1), 1)),
		"bernoulli":           distributions.NewBernoulli(weft.From([][]float64{{0.1, 0.9}, {0.5, 0.7}})),
		"beta":                distributions.NewBeta(weft.From([]float64{0.5, 3}), weft.From([][]float64{{1}, {2}})),
		"student_t":           distributions.NewStudentT(9, weft.From([]float64{0.5, 3}), weft.From([][]float64{{1}, {2}})),
		"binomial":            distributions.NewBinomial(weft.From([]float64{3, 40}), weft.From([][]float64{{0.1}, {0.6}})),
	}
}

// Means and variances of draws are within five standard errors of the moments of the distribution, eagerly and
// in compiled functions, which draw anew in each call.
func TestMomentsOfDraws(t *testing.T) {
	const n = 4000
	g := weft.NewGenerator(11)
	for name, d := range momentCases() {
		f := weft.Compile(func(_ *weft.Tensor) *weft.Tensor { return d.Sample(g, n/2) }).Func()
		one := weft.Ones()
		first, second := f(one), f(one)
		if first.Eq(second).All().Item() != 0 {
			t.Errorf("%s: two calls draw the same", name)
		}
		want := append(append([]int{n / 2}, d.BatchShape()...), d.EventShape()...)
		for _, x := range []*weft.Tensor{d.Sample(g, n), weft.Cat([]*weft.Tensor{first, second}, 0)} {
			if fmt.Sprint(x.Shape()[1:]) != fmt.Sprint(want[1:]) {
				t.Fatalf("%s: shape %v, want %v", name, x.Shape(), want)
			}
			c := x.Sub(d.Mean())
			far := c.Mean(0).Abs().Sub(d.Variance().Div(n).Sqrt().Mul(5)).Max().Item()
			v := c.Square()
			wide := v.Mean(0).Sub(d.Variance()).Abs().Sub(v.Std(0).Mul(5 / math.Sqrt(n))).Max().Item()
			if !(far <= 1e-12 && wide <= 1e-12) {
				t.Errorf("%s: means are off by %v, variances by %v more than five standard errors", name, far, wide)
			}
		}
	}
	d := distributions.NewCategorical(weft.From([]float32{1, 0, 3}))
	x := d.Sample(g, 3, n)
	if x.DType() != weft.Int64 || fmt.Sprint(x.Shape()) != fmt.Sprint([]int{3, n}) {
		t.Fatal("classes are", x.DType(), x.Shape())
	}
	if m := x.To(weft.Float64).Mean().Item(); math.Abs(m-1.5) > 0.05 || x.Eq(1).Any().Item() != 0 {
		t.Error("the mean class is", m)
	}
}

// reparameterized are distributions of one number as functions of their parameters.
var reparameterized = map[string]func(p ...*weft.Tensor) distributions.Reparameterized{
	"normal":      func(p ...*weft.Tensor) distributions.Reparameterized { return distributions.NewNormal(p[0], p[1]) },
	"log_normal":  func(p ...*weft.Tensor) distributions.Reparameterized { return distributions.NewLogNormal(p[0], p[1]) },
	"half_normal": func(p ...*weft.Tensor) distributions.Reparameterized { return distributions.NewHalfNormal(p[1]) },
	"laplace":     func(p ...*weft.Tensor) distributions.Reparameterized { return distributions.NewLaplace(p[0], p[1]) },
	"gumbel":      func(p ...*weft.Tensor) distributions.Reparameterized { return distributions.NewGumbel(p[0], p[1]) },
	"student_t": func(p ...*weft.Tensor) distributions.Reparameterized {
		return distributions.NewStudentT(p[2], p[0], p[1])
	},
	"exponential": func(p ...*weft.Tensor) distributions.Reparameterized { return distributions.NewExponential(p[1]) },
	"uniform":     func(p ...*weft.Tensor) distributions.Reparameterized { return distributions.NewUniform(p[0], p[2]) },
	"gamma":       func(p ...*weft.Tensor) distributions.Reparameterized { return distributions.NewGamma(p[2], p[1]) },
	"beta":        func(p ...*weft.Tensor) distributions.Reparameterized { return distributions.NewBeta(p[1], p[2]) },
	"dirichlet": func(p ...*weft.Tensor) distributions.Reparameterized {
		return distributions.NewDirichlet(weft.Stack(p[1:], 0))
	},
	"multivariate_normal": func(p ...*weft.Tensor) distributions.Reparameterized {
		a := weft.Stack([]*weft.Tensor{p[2], p[1], p[1], p[2]}, 0).Reshape(2, 2)
		return distributions.NewMultivariateNormal(weft.Stack(p[:2], 0), a)
	},
}

// The mean gradient of draws is the gradient of their mean, and that of their squares of the second
// moment, within six standard errors.
func TestGradientsOfDraws(t *testing.T) {
	const n = 4000
	g := weft.NewGenerator(5)
	for name, of := range reparameterized {
		values := []float64{0.3, 0.6, 5.5}
		rows := make([]*weft.Tensor, 3)
		p := make([]*weft.Tensor, 3)
		for i, v := range values {
			// One parameter per draw, so that the spread of gradients is known too.
			rows[i] = weft.FullOf(weft.Float64, v, n).RequireGrad()
			p[i] = weft.ScalarOf(weft.Float64, v).RequireGrad()
		}
		d := of(p...)
		mean := d.Mean()
		mean.Sum().Add(d.Variance().Add(mean.Square()).Sum()).Backward()
		var x *weft.Tensor
		switch name {
		case "dirichlet":
			x = distributions.NewDirichlet(weft.Stack(rows[1:], -1)).RSample(g)
		case "multivariate_normal":
			a := weft.Stack([]*weft.Tensor{rows[2], rows[1], rows[1], rows[2]}, -1).Reshape(n, 2, 2)
			x = distributions.NewMultivariateNormal(weft.Stack(rows[:2], -1), a).RSample(g)
		default:
			x = of(rows...).RSample(g)
		}
		x.Sum().Add(x.Square().Sum()).Backward()
		for i := range p {
			if p[i].Grad() == nil {
				continue
			}
			dx := rows[i].Grad()
			if got, want, se := dx.Mean().Item(), p[i].Grad().Item(), dx.Std().Item()/math.Sqrt(n); !(math.Abs(got-want) <= 6*se+1e-9) {
				t.Errorf("%s: gradient %d is %v, want %v +- %v", name, i, got, want, se)
			}
		}
		if y := d.Sample(g, 2); y.RequiresGrad() {
			t.Errorf("%s: Sample has a gradient", name)
		}
	}
}

// Draws and densities have the same bits on every backend.
func TestDrawsOnEveryBackend(t *testing.T) {
	var want []string
	tensortest.EachBackend(t, func(t *testing.T) {
		var got []string
		g := weft.NewGenerator(3)
		for _, c := range readPeer(t).Cases {
			params := make([]*weft.Tensor, len(c.Params))
			for i, p := range c.Params {
				params[i] = p.tensor(weft.Float32)
			}
			d, _ := construct(c.Name, params)
			x := d.Sample(g, 5)
			got = append(got, c.Name+" "+weft.Digest(x, d.LogProb(x)))
		}
		if want == nil {
			want = got
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// The density of a distribution of numbers is one kernel of a compiled function, if parameters and events
// have one shape.
func TestLogProbIsOneKernel(t *testing.T) {
	for _, c := range readPeer(t).Cases {
		in := make([]*weft.Tensor, len(c.Params)+1)
		for i, p := range append(slices.Clip(c.Params), c.X) {
			in[i] = weft.Full(float32(p.numbers()[0]), 4, 8)
		}
		if len(c.X.Shape) > 2 || len(c.Params[0].Shape) > 1 || c.X.Shape[0] != 2 || c.Name == "mixture" {
			continue // vectors, classes and mixtures
		}
		f := weft.Compile(func(in []*weft.Tensor) *weft.Tensor {
			d, n := construct(c.Name, in)
			return d.LogProb(in[n])
		})
		f.Func()(in)
		if n := strings.Count(f.Explain(), "\nkernel "); n != 1 {
			t.Errorf("%s: %d kernels, want 1:\n%s", c.Name, n, f.Explain())
		}
	}
}

// Mistakes are errors that name the distribution and the parameter.
func TestMistakesNameTheParameter(t *testing.T) {
	x := weft.From([]float32{0.5, -1})
	ints := weft.From([]int64{3})
	n := distributions.NewNormal(0, 1)
	c := distributions.NewCategorical(weft.From([]float32{1, 2}))
	for want, f := range map[string]func(){
		"distributions.normal: scale: is -1, want above 0":                                         func() { distributions.NewNormal(0, -1) },
		"distributions.normal: scale: has elements that are not above 0":                           func() { distributions.NewNormal(0, x) },
		"distributions.normal: loc: is NaN, want a number":                                         func() { distributions.NewNormal(math.NaN(), 1) },
		"distributions.normal: loc: is nil":                                                        func() { distributions.NewNormal((*weft.Tensor)(nil), 1) },
		"distributions.gamma: rate: has elements that are not above 0":                             func() { distributions.NewGamma(1, x) },
		"distributions.bernoulli: probs: is 1.5, want from 0 to 1":                                 func() { distributions.NewBernoulli(1.5) },
		"distributions.binomial: total: is 2.5, want a whole number of at least 0":                 func() { distributions.NewBinomial(2.5, 0.5) },
		"distributions.geometric: probs: is 0, want above 0 and at most 1":                         func() { distributions.NewGeometric(0) },
		"distributions.categorical: probs: has elements that are not at least 0":                   func() { distributions.NewCategorical(x) },
		"distributions.categorical: probs: is not a tensor with an axis of classes":                func() { distributions.NewCategorical(weft.Scalar(1)) },
		"distributions.dirichlet: concentration: has shape [], want 1 axes or more":                func() { distributions.NewDirichlet(weft.Scalar(1)) },
		"distributions.multivariate_normal: covariance: is not positive definite":                  func() { distributions.NewMultivariateNormal(x, weft.From([][]float32{{1, 2}, {2, 1}})) },
		"distributions.multivariate_normal: covariance: has shape [3 3], want [... 2 2]":           func() { distributions.NewMultivariateNormal(x, weft.Eye(3)) },
		"distributions.multivariate_normal: scaleTril: has a diagonal that is not above 0":         func() { distributions.NewMultivariateNormalTril(x, weft.Eye(2).Neg()) },
		"distributions.multinomial: total: is -1, want at least 0":                                 func() { distributions.NewMultinomial(-1, weft.Ones(2)) },
		"distributions.independent: axes: is 1, want 0 to 0":                                       func() { distributions.NewIndependent(n, 1) },
		"distributions.mixture_same_family: components: have batch shape [], want 2 at the end":    func() { distributions.NewMixtureSameFamily(c, n) },
		"distributions.normal.log_prob: x: of shape [2] does not broadcast with the batch [3]":     func() { distributions.NewNormal(weft.Zeros(3), 1).LogProb(x) },
		"distributions.normal.log_prob: x: is nil":                                                 func() { n.LogProb(nil) },
		"distributions.dirichlet.log_prob: x: has shape [2], want events of shape [3]":             func() { distributions.NewDirichlet(weft.Ones(3)).LogProb(x) },
		"distributions.categorical.log_prob: x: 3 is not a class":                                  func() { c.LogProb(ints) },
		"distributions.categorical.log_prob: x: holds float32, want integers":                      func() { c.LogProb(x) },
		"distributions.kl: knows no divergence of distributions.Poisson from distributions.Normal": func() { distributions.KL(n, distributions.NewPoisson(1)) },
		"distributions.kl: q: is nil":                                                              func() { distributions.KL(n, nil) },
		"distributions.independent.rsample: distributions.Poisson is not reparameterized":          func() { distributions.NewIndependent(distributions.NewPoisson(1), 0).RSample(nil) },
		"distributions.binomial.entropy: total: differs: 2 and 3":                                  func() { distributions.NewBinomial(weft.From([]float32{2, 3}), 0.5).Entropy() },
	} {
		err := tensortest.Try(f)
		if e, ok := err.(*weft.Error); !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// In a compiled function, where elements are not known, a parameter outside of its domain gives NaN.
func TestCompiledParametersOutsideGiveNaN(t *testing.T) {
	f := weft.Compile(func(a *weft.Tensor) *weft.Tensor { return distributions.NewGamma(a, 1).LogProb(weft.Ones()) }).Func()
	if y := weft.Data[float32](f(weft.From([]float32{-1.5, 2}))); !math.IsNaN(float64(y[0])) || y[1] != -1 {
		t.Error("got", y)
	}
}

// Events outside of the support have probability 0, and those at its edge the value of the density there.
// NaN has NaN. Gradients of densities are not NaN.
func TestEdgesOfSupports(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		d       distributions.Distribution
		x, want []float64
	}{
		"exponential": {distributions.NewExponential(2), []float64{-1, 0}, []float64{-inf, math.Log(2)}},
		"gamma 1":     {distributions.NewGamma(1, 2), []float64{-1, 0, inf}, []float64{-inf, math.Log(2), -inf}},
		"gamma 2":     {distributions.NewGamma(2, 2), []float64{-1, 0}, []float64{-inf, -inf}},
		"beta":        {distributions.NewBeta(1, 1), []float64{-0.1, 0, 1, 1.1}, []float64{-inf, 0, 0, -inf}},
		"uniform":     {distributions.NewUniform(0, 2), []float64{-1, 0, 2}, []float64{-inf, -math.Log(2), -inf}},
		"no uniform":  {distributions.NewUniform(2, 0), []float64{0, 1, 2}, []float64{-inf, -inf, -inf}},
		"half_normal": {distributions.NewHalfNormal(1), []float64{-1}, []float64{-inf}},
		"log_normal":  {distributions.NewLogNormal(0, 1), []float64{-1, 0}, []float64{-inf, -inf}},
		"poisson":     {distributions.NewPoisson(0), []float64{-1, 0, 0.5, 1}, []float64{-inf, 0, -inf, -inf}},
		"binomial":    {distributions.NewBinomial(2, 0.5), []float64{-1, 0, 2, 3}, []float64{-inf, -2 * math.Ln2, -2 * math.Ln2, -inf}},
		"bernoulli":   {distributions.NewBernoulli(0.5), []float64{0.5, 2}, []float64{-inf, -inf}},
		"geometric":   {distributions.NewGeometric(1), []float64{-1, 0}, []float64{-inf, 0}},
	} {
		none := weft.Scalar(math.NaN())
		if v := c.d.LogProb(none).Item(); !math.IsNaN(v) {
			t.Errorf("%s: log-probability of NaN is %v", name, v)
		}
		if f, ok := c.d.(distributions.Cumulative); ok && !math.IsNaN(f.CDF(none).Item()) {
			t.Errorf("%s: distribution function of NaN is %v", name, f.CDF(none))
		}
		x := weft.From(c.x).RequireGrad()
		y := c.d.LogProb(x)
		for i, v := range weft.Data[float64](y.To(weft.Float64)) {
			if !(v == c.want[i] || math.Abs(v-c.want[i]) < 1e-6) {
				t.Errorf("%s at %v: %v, want %v", name, c.x[i], v, c.want[i])
			}
		}
		if !y.RequiresGrad() || name == "poisson" || name == "geometric" {
			continue // uniform, and certain counts
		}
		if y.Sum().Backward(); x.Grad().IsNaN().Any().Item() != 0 {
			t.Errorf("%s: gradient %v", name, x.Grad())
		}
	}
	p := weft.From([]float64{0.5, 0.5})
	for _, d := range []distributions.Distribution{distributions.NewDirichlet(p), distributions.NewOneHotCategorical(p), distributions.NewMultinomial(1, p)} {
		if v := d.LogProb(weft.From([]float64{math.NaN(), 1})).Item(); !math.IsNaN(v) {
			t.Errorf("%T: log-probability of NaN is %v", d, v)
		}
	}
}

// TestDistributionsPrintTheirParameters prints numbers, and types in place of tensors with axes.
func TestDistributionsPrintTheirParameters(t *testing.T) {
	for want, d := range map[string]any{
		"normal(loc: 0, scale: 2.5)":           distributions.NewNormal(0, 2.5),
		"normal(loc: float32[3], scale: 1.0)":  distributions.NewNormal(weft.Zeros(3), weft.Ones()),
		"categorical(logits: float64[2 3])":    distributions.NewCategoricalLogits(weft.ZerosOf(weft.Float64, 2, 3)),
		"multivariate_normal(loc: float32[2])": distributions.NewMultivariateNormalTril(weft.Zeros(2), weft.Eye(2)),
		"{beta(a: 1, b: 2) 0}":                 distributions.NewIndependent(distributions.NewBeta(1, 2), 0),
		"zero value of a distribution":         distributions.Normal{},
	} {
		if got := fmt.Sprint(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
