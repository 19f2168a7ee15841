package methods_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"weft"
	"weft/internal/op"
	"weft/internal/par"
	"weft/internal/tensortest"
)

// A variateStream gives the blocks of one element as the package documents them: candidate k of
// element i is block i + k*2^40.
type variateStream struct{ seed, draw, at uint64 }

func (s variateStream) words(k int) (u, v float64, w [4]uint32) {
	w = op.Philox(s.seed, s.draw, s.at|uint64(k)<<40)
	unit := func(hi, lo uint32) float64 { return float64((uint64(hi)<<32|uint64(lo))>>11) / (1 << 53) }
	return unit(w[0], w[1]), unit(w[2], w[3]), w
}

// fraction is a word above 0 and at most 1.
func fraction(w uint32) float64 { return (float64(w) + 1) / (1 << 32) }

func lgamma(x float64) float64 {
	y, _ := math.Lgamma(x)
	return y
}

// poissonReference is Hörmann's PTRS as printed, and inversion below 10.
func poissonReference(s variateStream, rate float64) float64 {
	if rate < 10 {
		u, _, _ := s.words(0)
		k, p := 0.0, math.Exp(-rate)
		for ; u >= p; k++ {
			u -= p
			p *= rate / (k + 1)
		}
		return k
	}
	b := 0.931 + 2.53*math.Sqrt(rate)
	a := -0.059 + 0.02483*b
	for i := 0; ; i++ {
		u, v, _ := s.words(i)
		u, v = u-0.5, 1-v
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + rate + 0.43)
		switch {
		case us >= 0.07 && v <= 0.9277-3.6224/(b-2):
			return k
		case k < 0 || us < 0.013 && v > us:
		case math.Log(v*(1.1239+1.1328/(b-3.4))/(a/us/us+b)) <= k*math.Log(rate)-rate-lgamma(k+1):
			return k
		}
	}
}

// binomialReference is Hörmann's BTRS as printed, and inversion below 10.
func binomialReference(s variateStream, n, p float64) float64 {
	if p > 0.5 {
		return n - binomialReference(s, n, 1-p)
	}
	odds := p / (1 - p)
	if n*p < 10 {
		u, _, _ := s.words(0)
		k, q := 0.0, math.Pow(1-p, n)
		for ; u >= q && k < n; k++ {
			u -= q
			q *= (n - k) / (k + 1) * odds
		}
		return k
	}
	spread := math.Sqrt(n * p * (1 - p))
	b := 1.15 + 2.53*spread
	a := -0.0873 + 0.0248*b + 0.01*p
	alpha := (2.83 + 5.1/b) * spread
	mode := math.Floor((n + 1) * p)
	for i := 0; ; i++ {
		u, v, _ := s.words(i)
		u, v = u-0.5, 1-v
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + n*p + 0.5)
		h := lgamma(mode+1) + lgamma(n-mode+1)
		switch {
		case k < 0 || k > n:
		case us >= 0.07 && v <= 0.92-4.2/b:
			return k
		case us < 0.013 && v > us:
		case math.Log(v*alpha/(a/us/us+b)) <= h-lgamma(k+1)-lgamma(n-k+1)+(k-mode)*math.Log(odds):
			return k
		}
	}
}

// gammaReference is Marsaglia and Tsang's method.
func gammaReference(s variateStream, a float64) float64 {
	if a < 1 {
		u := op.Philox(s.seed, s.draw, s.at|128<<40)
		x := float64((uint64(u[0])<<32|uint64(u[1]))>>11) / (1 << 53)
		return gammaReference(s, a+1) * math.Pow(1-x, 1/a)
	}
	d := a - 1.0/3
	for i := 0; ; i++ {
		u, _, w := s.words(i)
		z := math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*fraction(w[2]))
		v := math.Pow(1+z/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(fraction(w[3])) < z*z/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// The kernels make the numbers that textbook methods make of the portable Philox's words.
func TestVariatesMatchReferences(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		const n = 2000
		for _, st := range []weft.GeneratorState{{}, {Seed: 0xfedcba9876543210, Draw: 7}} {
			g := weft.NewGenerator(0)
			check := func(what string, draw func() *weft.Tensor, want func(s variateStream) float64, bound float64) {
				g.SetState(st)
				for i, x := range weft.Data[float64](draw()) {
					if w := want(variateStream{st.Seed, st.Draw, uint64(i)}); math.Abs(x-w) > bound*math.Abs(w) {
						t.Fatalf("%s, %v: element %d is %v, want %v", what, st, i, x, w)
					}
				}
			}
			for _, rate := range []float64{0, 0.3, 9.9, 10, 200, 1e6} {
				check(fmt.Sprint("poisson ", rate), func() *weft.Tensor { return g.PoissonOf(weft.Float64, rate, n) },
					func(s variateStream) float64 { return poissonReference(s, rate) }, 0)
			}
			for _, c := range [][2]float64{{0, 0.5}, {7, 0}, {7, 1}, {12, 0.5}, {400, 0.01}, {60, 0.4}, {1000, 0.9}, {1e6, 0.25}} {
				check(fmt.Sprint("binomial ", c), func() *weft.Tensor { return g.BinomialOf(weft.Float64, c[0], c[1], n) },
					func(s variateStream) float64 { return binomialReference(s, c[0], c[1]) }, 0)
			}
			for _, p := range []float64{1, 0.5, 0.01, 1e-12} {
				check(fmt.Sprint("geometric ", p), func() *weft.Tensor { return g.GeometricOf(weft.Float64, p, n) },
					func(s variateStream) float64 {
						u, _, _ := s.words(0)
						return max(1, math.Ceil(math.Log1p(-u)/math.Log1p(-p)))
					}, 1e-15)
			}
			for _, a := range []float64{0.02, 0.6, 1, 3.5, 1000} {
				check(fmt.Sprint("gamma ", a), func() *weft.Tensor { return g.GammaOf(weft.Float64, a, 1, n) },
					func(s variateStream) float64 { return gammaReference(s, a) }, 1e-11)
			}
		}
	})
}

// quantile999 is Wilson and Hilferty's approximation of the 0.999 quantile of the chi-square distribution.
func quantile999(df float64) float64 {
	return df * math.Pow(1-2/(9*df)+3.0902*math.Sqrt(2/(9*df)), 3)
}

// chiSquareOf compares counts of whole numbers with the logarithms of their probabilities: numbers with
// fewer than 10 expected are one cell.
func chiSquareOf(x []float64, logp func(k float64) float64) (stat, df float64) {
	n := float64(len(x))
	count := map[float64]float64{}
	for _, v := range x {
		count[v]++
	}
	rest, restP := n, n
	lo, hi := slices.Min(x), slices.Max(x)
	for k := lo; k <= hi; k++ {
		if e := n * math.Exp(logp(k)); e >= 10 {
			stat += (count[k] - e) * (count[k] - e) / e
			rest, restP, df = rest-count[k], restP-e, df+1
		}
	}
	if restP > 5 {
		stat += (rest - restP) * (rest - restP) / restP
		df++
	}
	return stat, df - 1
}

// Poisson and binomial numbers come as often as their probabilities say.
func TestCountsFollowTheirDistribution(t *testing.T) {
	const n = 1 << 17
	g := weft.NewGenerator(29)
	for _, rate := range []float64{0.1, 3, 9.99, 10, 11.5, 35, 1000, 20000} {
		x := weft.Data[float64](g.PoissonOf(weft.Float64, rate, n))
		if stat, df := chiSquareOf(x, func(k float64) float64 { return k*math.Log(rate) - rate - lgamma(k+1) }); stat > quantile999(df) {
			t.Errorf("poisson %v: chi squared is %v with %v degrees of freedom", rate, stat, df)
		}
	}
	for _, c := range [][2]float64{{1, 0.3}, {19, 0.5}, {21, 0.5}, {40, 0.3}, {1000, 0.004}, {1000, 0.02}, {1000, 0.99}, {5000, 0.5}, {1e6, 0.0005}} {
		m, p := c[0], c[1]
		x := weft.Data[float64](g.BinomialOf(weft.Float64, m, p, n))
		if stat, df := chiSquareOf(x, func(k float64) float64 {
			return lgamma(m+1) - lgamma(k+1) - lgamma(m-k+1) + k*math.Log(p) + (m-k)*math.Log1p(-p)
		}); stat > quantile999(df) {
			t.Errorf("binomial %v: chi squared is %v with %v degrees of freedom", c, stat, df)
		}
	}
	// Huge parameters by their moments: five standard errors.
	for _, c := range []struct {
		name           string
		x              *weft.Tensor
		mean, variance float64
	}{
		{"poisson 1e8", g.PoissonOf(weft.Float64, 1e8, n), 1e8, 1e8},
		{"poisson 1e15", g.PoissonOf(weft.Float64, 1e15, n), 1e15, 1e15},
		{"binomial 1e9", g.BinomialOf(weft.Float64, 1e9, 0.3, n), 3e8, 2.1e8},
	} {
		z := weft.Data[float64](c.x.Sub(c.mean).Div(math.Sqrt(c.variance)))
		m, v := 0.0, 0.0
		for _, x := range z {
			m, v = m+x/n, v+x*x/n
		}
		if math.Abs(m) > 5/math.Sqrt(n) || math.Abs(v-1) > 5*math.Sqrt(2.0/n) {
			t.Errorf("%s: standardised mean %v, variance %v", c.name, m, v)
		}
	}
}

// kolmogorovOf is sqrt(n) times the greatest distance from a distribution function. It exceeds 1.95 once
// in a thousand samples.
func kolmogorovOf(x []float64, cdf func(float64) float64) (d float64) {
	slices.Sort(x)
	n := float64(len(x))
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d * math.Sqrt(n)
}

// lowerGamma is the regularised incomplete gamma function by its power series.
func lowerGamma(a, x float64) float64 {
	sum, term := 0.0, 1/a
	for k := a; term > 1e-17*sum || k < a+2; k++ {
		sum += term
		term *= x / (k + 1)
	}
	return sum * math.Exp(a*math.Log(x)-x-lgamma(a))
}

// Gamma and truncated normal numbers have their distribution functions, in the tails too.
func TestVariatesFollowTheirDistribution(t *testing.T) {
	const n = 1 << 15
	g := weft.NewGenerator(31)
	for _, a := range []float64{0.2, 0.9, 1, 2.5, 30} {
		x := weft.Data[float64](g.GammaOf(weft.Float64, a, 4, n))
		if k := kolmogorovOf(x, func(x float64) float64 { return lowerGamma(a, 4*x) }); k > 1.95 {
			t.Errorf("gamma %v: Kolmogorov's statistic is %v", a, k)
		}
	}
	inf := math.Inf(1)
	right := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 } // of x
	for _, c := range [][2]float64{{-inf, inf}, {-1, 1}, {0, inf}, {-0.3, 2}, {-0.1, 3}, {-3, 4}, {2, 3}, {5, inf}, {5, 5.1}, {20, 21}} {
		for _, side := range []float64{1, -1} {
			lo, hi := c[0], c[1]
			if side < 0 {
				lo, hi = -hi, -lo
			}
			x := weft.Data[float64](g.TruncatedNormalOf(weft.Float64, 3, 2, 3+2*lo, 3+2*hi, n))
			for i := range x {
				if x[i] < 3+2*lo || x[i] > 3+2*hi {
					t.Fatalf("%v is not from %v to %v", x[i], 3+2*lo, 3+2*hi)
				}
				x[i] = side * (x[i] - 3) / 2
			}
			if k := kolmogorovOf(x, func(x float64) float64 { return 1 - (right(x)-right(c[1]))/(right(c[0])-right(c[1])) }); k > 1.95 {
				t.Errorf("truncated normal %v, side %v: Kolmogorov's statistic is %v", c, side, k)
			}
		}
	}
	// Beyond a million deviations the numbers are the bound plus exponential ones of its rate.
	x := weft.Data[float64](g.TruncatedNormalOf(weft.Float64, 0, 1, 1e6, inf, n))
	if k := kolmogorovOf(x, func(x float64) float64 { return -math.Expm1(-(x - 1e6) * 1e6) }); k > 1.95 {
		t.Errorf("far tail: Kolmogorov's statistic is %v", k)
	}
}

// variates are draws of n numbers, by parameters that differ by element.
var variates = map[string]func(g *weft.Generator, shape ...int) *weft.Tensor{
	"poisson":  func(g *weft.Generator, shape ...int) *weft.Tensor { return g.Poisson(rates(30, shape), shape...) },
	"binomial": func(g *weft.Generator, shape ...int) *weft.Tensor { return g.Binomial(100, rates(1, shape), shape...) },
	"gamma":    func(g *weft.Generator, shape ...int) *weft.Tensor { return g.Gamma(rates(3, shape), 2, shape...) },
	"truncatednormal": func(g *weft.Generator, shape ...int) *weft.Tensor {
		return g.TruncatedNormal(0, 1, rates(3, shape).Sub(1.5), 2, shape...)
	},
	"beta": func(g *weft.Generator, shape ...int) *weft.Tensor {
		return g.Beta(rates(3, shape).Add(0.1), 2, shape...)
	},
	"geometric": func(g *weft.Generator, shape ...int) *weft.Tensor { return g.Geometric(rates(1, shape), shape...) },
	"laplace":   func(g *weft.Generator, shape ...int) *weft.Tensor { return g.Laplace(rates(1, shape), 2, shape...) },
	"cauchy":    func(g *weft.Generator, shape ...int) *weft.Tensor { return g.Cauchy(1, rates(1, shape), shape...) },
	"studentt": func(g *weft.Generator, shape ...int) *weft.Tensor {
		return g.StudentT(rates(9, shape).Add(0.1), 0, 1, shape...)
	},
}

// rates are numbers from 0 to below most, in turns.
func rates(most float64, shape []int) *weft.Tensor {
	n := 1
	for _, k := range shape {
		n *= k
	}
	return weft.Arange(n).To(weft.Float32).Mul(0.377).Mod(1).Mul(most).Reshape(shape...)
}

// An element depends on seed, draw, position and parameters alone: the same bits for every shape,
// backend and number of threads, compiled or not, and on a device that works late.
func TestVariatesDependOnPositionAlone(t *testing.T) {
	const n = 6000
	want := map[string]*weft.Tensor{}
	for name, draw := range variates {
		want[name] = draw(weft.NewGenerator(77), n)
	}
	same := func(t *testing.T, what string, got, want *weft.Tensor) {
		t.Helper()
		tensortest.SameBits(t, what, got.Reshape(-1).Clone(), want.Slice(weft.Range(0, got.Size())).Clone())
	}
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, threads := range []int{1, 5} {
			old := par.SetThreads(threads)
			for name, draw := range variates {
				for _, shape := range [][]int{{n}, {n / 15, 3, 5}, {n - 1}, {7, 1, 11}, {1}} {
					same(t, fmt.Sprint(name, shape), draw(weft.NewGenerator(77), shape...), want[name])
				}
				g := weft.NewGenerator(77)
				x, err := weft.Compile(func() *weft.Tensor { return draw(g, n/10, 10) }).Call()
				if err != nil {
					t.Fatal(name, err)
				}
				same(t, name+" compiled", x, want[name])
				next := draw(g, n)
				g.SetState(weft.GeneratorState{Seed: 77, Draw: map[bool]uint64{false: 1, true: 2}[name == "studentt"]})
				same(t, name+" after a compiled draw", next, draw(g, n))
			}
			par.SetThreads(old)
		}
	})
	g := weft.NewGenerator(77)
	same(t, "on a late device", g.Poisson(rates(30, []int{n}).On(gpu)).On(weft.CPU), want["poisson"])
	same(t, "of numbers on a late device", weft.NewGenerator(77).On(gpu).Gamma(2, 3, n).On(weft.CPU), weft.NewGenerator(77).Gamma(2, 3, n))
}

// Tensors as parameters scale and move the numbers that Go numbers give. Gradients go through both, and
// tensors on a second device draw there.
func TestMovedDraws(t *testing.T) {
	mean, dev := weft.FromSlice([]float64{-1, 0, 3}).RequireGrad(), weft.FromSlice([]float64{2, 0.5, 0}).RequireGrad()
	at := func() *weft.Generator { return weft.NewGenerator(8) }
	z := at().NormalOf(weft.Float64, 0, 1, 2, 3)
	x := at().Normal(mean, dev, 2, 3)
	tensortest.Near(t, "normal", x, weft.Data[float64](z.Mul(dev.Detach()).Add(mean.Detach())), 0)
	x.Sum().Backward()
	tensortest.Near(t, "gradient of the mean", mean.Grad(), []float64{2, 2, 2}, 0)
	tensortest.Near(t, "gradient of the deviation", dev.Grad(), weft.Data[float64](z.Sum(0)), 1e-15)
	u, e := at().UniformOf(weft.Float64, 0, 1, 3), at().ExponentialOf(weft.Float64, 1, 3)
	lo, hi := mean.Detach(), weft.FromSlice([]float64{0, 0, 2})
	for what, c := range map[string][2]*weft.Tensor{
		"uniform":     {at().Uniform(lo, hi), weft.FromSlice([]float64{u.At(0).Item() - 1, 0, math.NaN()})},
		"exponential": {at().Exponential(hi), weft.FromSlice([]float64{math.NaN(), math.NaN(), e.At(2).Item() / 2})},
		"half":        {at().Normal(lo.To(weft.Float16), 2), at().Normal(lo.To(weft.Float32), 2).To(weft.Float16)},
	} {
		tensortest.SameBits(t, what, c[0], c[1])
		if what == "uniform" {
			c[0] = at().Uniform(lo.On(gpu), hi.On(gpu))
			tensortest.SameBits(t, "on a late device", c[0].On(weft.CPU), c[1])
		}
	}
	tensortest.SameBits(t, "rate on a late device", at().Gamma(2, lo.On(gpu)).On(weft.CPU), at().Gamma(2, lo))
	tensortest.SameBits(t, "deviation on a late device", at().Normal(2, lo.On(gpu)).On(weft.CPU), at().Normal(2, lo))
}

// Parameters that are at the edge of their domain, or outside it.
func TestVariatesOfEdgeParameters(t *testing.T) {
	g := weft.NewGenerator(5)
	nan, inf := math.NaN(), math.Inf(1)
	for what, c := range map[string]struct {
		got  *weft.Tensor
		want []float64
	}{
		"poisson":         {g.Poisson(tensortest.Vector(0, -1, nan, inf)), []float64{0, nan, nan, nan}},
		"poisson int":     {g.PoissonOf(weft.Int32, tensortest.Vector(0, -1, nan, inf)), []float64{0, -1, -1, -1}},
		"binomial n":      {g.Binomial(tensortest.Vector(0, -1, 2.5, nan, inf), 0.5), []float64{0, nan, nan, nan, nan}},
		"binomial p":      {g.Binomial(40, tensortest.Vector(0, 1, -0.1, 1.1, nan)), []float64{0, 40, nan, nan, nan}},
		"gamma":           {g.Gamma(tensortest.Vector(0, -1, nan, inf), 1), []float64{0, nan, nan, nan}},
		"gamma rate":      {g.Gamma(2, tensortest.Vector(0, -1, nan)), []float64{nan, nan, nan}},
		"truncatednormal": {g.TruncatedNormal(tensortest.Vector(0, nan, inf), 1, 2, tensortest.Vector(2, 3, 3)), []float64{2, nan, nan}},
		"bounds":          {g.TruncatedNormal(0, 1, tensortest.Vector(3, nan), 2), []float64{nan, nan}},
		"geometric":       {g.Geometric(tensortest.Vector(1, 0, -1, 1.5, nan)), []float64{1, nan, nan, nan, nan}},
		"geometric int":   {g.GeometricOf(weft.Int64, tensortest.Vector(1, 0)), []float64{1, -1}},
		"beta":            {g.Beta(tensortest.Vector(0, -1, nan, inf, 1), tensortest.Vector(1, 1, 1, 1, 0)), []float64{nan, nan, nan, nan, nan}},
		"dirichlet":       {g.Dirichlet(tensortest.Vector(1, 0)), []float64{nan, nan}},
		"one of one":      {g.Dirichlet(3, 2, 1), []float64{1, 1}},
		"laplace":         {g.Laplace(tensortest.Vector(3, 0), tensortest.Vector(0, -1)), []float64{3, nan}},
		"cauchy":          {g.Cauchy(tensortest.Vector(3, 0), tensortest.Vector(0, -1)), []float64{3, nan}},
		"studentt":        {g.StudentT(tensortest.Vector(0, -1, nan, 1), 2, tensortest.Vector(1, 1, 1, 0)), []float64{nan, nan, nan, 2}},
		"deviation":       {g.TruncatedNormal(0, tensortest.Vector(0, -1), -1, 1), []float64{nan, nan}},
	} {
		for i, x := range weft.Data[float64](c.got.To(weft.Float64)) {
			if w := c.want[i]; x != w && !(math.IsNaN(x) && math.IsNaN(w)) {
				t.Errorf("%s: element %d is %v, want %v", what, i, x, w)
			}
		}
	}
	f16 := weft.FromSlice([]float32{3, 4}).To(weft.Float16)
	for what, c := range map[string]struct {
		got   *weft.Tensor
		dtype weft.DType
		shape []int
	}{
		"numbers":      {g.Poisson(3), weft.Float32, []int{}},
		"integers":     {g.Poisson(weft.FromSlice([]int64{3, 4})), weft.Float32, []int{2}},
		"half":         {g.Gamma(f16, 2), weft.Float16, []int{2}},
		"broadcast":    {g.Binomial(weft.FullOf(weft.Int64, 5, 3, 1), weft.FullOf(weft.Float64, 0.5, 4)), weft.Float64, []int{3, 4}},
		"beta":         {g.Beta(f16, weft.Ones(3, 1)), weft.Float32, []int{3, 2}},
		"dirichlet":    {g.Dirichlet(f16, 5, 2), weft.Float16, []int{5, 2}},
		"no points":    {g.Dirichlet(1, 0, 2), weft.Float32, []int{0, 2}},
		"no numbers":   {g.StudentT(weft.ZerosOf(weft.Float64, 0), 0, 1), weft.Float64, []int{0}},
		"half laplace": {g.Laplace(f16, 1, 3, 2), weft.Float16, []int{3, 2}},
		"empty":        {g.Poisson(3, 0, 2), weft.Float32, []int{0, 2}},
		"empty tensor": {g.Gamma(weft.Zeros(0, 3), 1), weft.Float32, []int{0, 3}},
	} {
		if c.got.DType() != c.dtype || !slices.Equal(c.got.Shape(), c.shape) {
			t.Errorf("%s: %v%v, want %v%v", what, c.got.DType(), c.got.Shape(), c.dtype, c.shape)
		}
	}
	three := weft.Ones(3)
	for what, f := range map[string]func(){
		"poisson rate":     func() { g.Poisson(-1) },
		"poisson NaN":      func() { g.Poisson(nan) },
		"poisson shape":    func() { g.Poisson(three, 4) },
		"poisson dtype":    func() { g.PoissonOf(weft.Bool, 1) },
		"binomial p":       func() { g.Binomial(3, 1.5) },
		"gamma rate":       func() { g.Gamma(1, 0) },
		"gamma dtype":      func() { g.GammaOf(weft.Int32, 1, 1) },
		"beta a":           func() { g.Beta(0, 1) },
		"beta dtype":       func() { g.BetaOf(weft.Int32, 1, 1) },
		"dirichlet number": func() { g.Dirichlet(1) },
		"dirichlet shape":  func() { g.Dirichlet(three, 3, 4) },
		"geometric p":      func() { g.Geometric(0) },
		"geometric dtype":  func() { g.GeometricOf(weft.Complex64, 0.5) },
		"laplace scale":    func() { g.Laplace(0, -1) },
		"laplace dtype":    func() { g.LaplaceOf(weft.Int32, 0, 1) },
		"cauchy dtype":     func() { g.CauchyOf(weft.Int32, three, 1) },
		"studentt df":      func() { g.StudentT(0, 0, 1) },
		"studentt dtype":   func() { g.StudentTOf(weft.Int32, 1, 0, 1) },
		"second gradient of beta": func() {
			c := weft.Ones(2).RequireGrad()
			weft.Grad(g.Beta(c, 1).Sum(), list(c), weft.GradOpts{Create: true})
		},
		"truncatednormal hi":   func() { g.TruncatedNormal(0, 1, 2, 1) },
		"truncatednormal mean": func() { g.TruncatedNormal(weft.Ones(2).To(weft.Complex64), 1, 2, 3) },
		"second gradient": func() {
			c := weft.Ones(2).RequireGrad()
			weft.Grad(g.Gamma(c, 1).Sum(), list(c), weft.GradOpts{Create: true})
		},
	} {
		var e *weft.Error
		if err := tensortest.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
