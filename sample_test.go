package weft

import (
	"math"
	"testing"

	"weft/internal/op"
	"weft/internal/par"
)

// The kernels make exponential numbers of the words that the portable Philox gives, on every
// backend.
func TestExponentialIsOfPhilox(t *testing.T) {
	eachBackend(t, func(t *testing.T) {
		for _, s := range []GeneratorState{{}, {1, 0}, {0xfedcba9876543210, 7}} {
			g := NewGenerator(0)
			g.SetState(s)
			f32 := Data[float32](g.Exponential(1, 1001))
			f64 := Data[float64](g.draw("exponential", op.Exponential, Float64, []int{1001}))
			for i := range f32 {
				w := op.Philox(s.Seed, s.Draw, uint64(i/4))
				want := -math.Log(float64(float32(float64(w[i%4])+1)) * 0x1p-32)
				if math.Abs(float64(f32[i])-want) > 1.3e-7*want {
					t.Fatalf("%v: element %d is %v, want %v", s, i, f32[i], want)
				}
				w = op.Philox(s.Seed, s.Draw+1, uint64(i/2))
				x := uint64(w[i%2*2])<<32 | uint64(w[i%2*2+1])
				want = -math.Log1p(-float64(x>>11) / (1 << 53))
				if math.Abs(f64[i]-want) > 1e-15*math.Max(want, 1) {
					t.Fatalf("%v: float64 element %d is %v, want %v", s, i, f64[i], want)
				}
			}
		}
	})
}

// chiSquare is the sum of the squared differences of counts from what is expected, over that.
func chiSquare(counts []int64, p []float64) (x float64) {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	for i, c := range counts {
		e := p[i] * float64(n)
		if e > 0 {
			x += (float64(c) - e) * (float64(c) - e) / e
		} else if c > 0 {
			return math.Inf(1)
		}
	}
	return x
}

func TestSampleDistributions(t *testing.T) {
	g := NewGenerator(3)
	const n = 200000
	weights := []float64{1, 0, 5, 2, 0, 2}
	p := []float64{0.1, 0, 0.5, 0.2, 0, 0.2}
	w := FromSlice(weights)
	// Three degrees of freedom: above 16.3 once in a thousand.
	if x := chiSquare(Data[int64](g.Multinomial(w, n, MultinomialOpts{}).BinCount(nil, 6)), p); x > 16.3 {
		t.Errorf("multinomial: chi-square %v", x)
	}
	if x := chiSquare(Data[int64](g.Choice(Arange(6), n, ChoiceOpts{Weights: w.To(Float32)}).BinCount(nil, 6)), p); x > 16.3 {
		t.Errorf("choice with weights: chi-square %v", x)
	}
	// The first of distinct places has the same distribution; the second what is left.
	rows := w.Expand(n, 6)
	two := g.Multinomial(rows, 2, MultinomialOpts{Distinct: true})
	if x := chiSquare(Data[int64](two.Slice(All, Index(0)).BinCount(nil, 6)), p); x > 16.3 {
		t.Errorf("first of two distinct places: chi-square %v", x)
	}
	second := make([]float64, 6)
	for i, a := range p {
		for k, b := range p {
			if i != k && a > 0 {
				second[k] += a * b / (1 - a)
			}
		}
	}
	if x := chiSquare(Data[int64](two.Slice(All, Index(1)).BinCount(nil, 6)), second); x > 16.3 {
		t.Errorf("second of two distinct places: chi-square %v", x)
	}
	if same := two.Slice(All, Index(0)).Eq(two.Slice(All, Index(1))).Any().bool(); same {
		t.Error("distinct places are equal")
	}
	probabilities := From([]float32{0, 0.3, 1}).Expand(n, 3)
	mean := Data[float32](g.Bernoulli(probabilities).Mean(0))
	if mean[0] != 0 || mean[2] != 1 || math.Abs(float64(mean[1])-0.3) > 0.005 {
		t.Error("bernoulli: means", mean)
	}
	e := g.Exponential(4, n).To(Float64)
	if m, v := e.Mean().Item(), e.Var().Item(); math.Abs(m-0.25) > 0.003 || math.Abs(v-0.0625) > 0.002 || e.Min().Item() < 0 {
		t.Error("exponential: mean and variance", m, v)
	}
	u := g.Uniform(-2, 6, n).To(Float64)
	if m, lo, hi := u.Mean().Item(), u.Min().Item(), u.Max().Item(); math.Abs(m-2) > 0.03 || lo < -2 || hi > 6 || lo > -1.99 || hi < 5.99 {
		t.Error("uniform:", m, lo, hi)
	}
	z := g.Normal(10, 3, n).To(Float64)
	if m, s := z.Mean().Item(), z.Std().Item(); math.Abs(m-10) > 0.04 || math.Abs(s-3) > 0.03 {
		t.Error("normal:", m, s)
	}
	x := Arange(1000).Reshape(500, 2)
	y := g.Permutation(x)
	back, _ := y.Slice(All, Index(0)).Sort(0, SortOpts{})
	if !back.Eq(x.Slice(All, Index(0))).All().bool() || y.Eq(x).All().bool() || !y.Slice(All, Index(1)).Sub(y.Slice(All, Index(0))).Eq(1).All().bool() {
		t.Error("permutation is none of the rows")
	}
	c := g.Choice(Arange(50), 50, ChoiceOpts{Distinct: true})
	if values, _, _ := c.Unique(); values.Size() != 50 {
		t.Error("a choice of all distinct elements has", values.Size())
	}
}

// A sample has the same bits on every backend and number of threads, and its elements do not
// depend on how many follow.
func TestSamplesRepeat(t *testing.T) {
	w := NewGenerator(1).Rand(1000)
	draw := func(n int) []*Tensor {
		g := NewGenerator(9)
		return []*Tensor{g.Multinomial(w, n, MultinomialOpts{}), g.Exponential(2, n), g.Uniform(1, 3, n), g.Normal(1, 2, n),
			g.Bernoulli(FullOf(Float32, 0.5, n)), g.Choice(w, n, ChoiceOpts{Weights: w})}
	}
	want := draw(3000)
	eachBackend(t, func(t *testing.T) {
		for _, threads := range []int{1, 3} {
			defer par.SetThreads(par.SetThreads(threads))
			for i, x := range draw(3000) {
				if Digest(x) != Digest(want[i]) {
					t.Errorf("sample %d differs with %d threads", i, threads)
				}
			}
		}
		for i, x := range draw(70) {
			if Digest(x) != Digest(want[i].Slice(Range(0, 70)).Contiguous()) {
				t.Errorf("sample %d of fewer elements begins with others", i)
			}
		}
	})
}

func TestSampleMisuse(t *testing.T) {
	g := NewGenerator(1)
	for what, f := range map[string]func(){
		"weights below 0":       func() { g.Multinomial(From([]float32{1, -1}), 1, MultinomialOpts{}) },
		"weights NaN":           func() { g.Multinomial(From([]float64{1, math.NaN()}), 1, MultinomialOpts{}) },
		"weights 0":             func() { g.Multinomial(From([]float32{0, 0}), 1, MultinomialOpts{}) },
		"an infinite sum":       func() { g.Multinomial(From([]float64{1e308, 1e308}), 1, MultinomialOpts{}) },
		"too few distinct":      func() { g.Multinomial(From([]float32{1, 0, 1}), 3, MultinomialOpts{Distinct: true}) },
		"too many distinct":     func() { g.Choice(Arange(3), 4, ChoiceOpts{Distinct: true}) },
		"of nothing":            func() { g.Choice(Zeros(0), 1, ChoiceOpts{}) },
		"weights of other size": func() { g.Choice(Arange(3), 1, ChoiceOpts{Weights: Ones(2)}) },
		"integer weights":       func() { g.Multinomial(Arange(3), 1, MultinomialOpts{}) },
		"three axes":            func() { g.Multinomial(Ones(1, 1, 1), 1, MultinomialOpts{}) },
		"probability 2":         func() { g.Bernoulli(FullOf(Float32, 2, 3)) },
		"rate 0":                func() { g.Exponential(0, 3) },
		"bounds":                func() { g.Uniform(1, 0, 3) },
		"deviation":             func() { g.Normal(0, -1, 3) },
		"a number":              func() { g.Permutation(Scalar(1.0)) },
	} {
		if err := Try(f); err == nil {
			t.Errorf("%s is not refused", what)
		}
	}
}
