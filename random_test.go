package weft_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"weft"
	"weft/internal/op"
	"weft/internal/par"
	"weft/internal/tensortest"
)

// The known-answer vectors of Random123 1.14 for philox4x32 with 10 rounds.
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		ctr  [4]uint32
		key  [2]uint32
		want [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}, [2]uint32{^uint32(0), ^uint32(0)},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		join := func(lo, hi uint32) uint64 { return uint64(hi)<<32 | uint64(lo) }
		got := op.Philox(join(c.key[0], c.key[1]), join(c.ctr[2], c.ctr[3]), join(c.ctr[0], c.ctr[1]))
		if got != c.want {
			t.Errorf("philox(%08x, %08x) = %08x, want %08x", c.ctr, c.key, got, c.want)
		}
	}
}

// The kernels make the numbers of the portable function that the vectors check:
// with seeds and draws of more than 32 bits, and at sizes that end inside a
// block.
func TestRandomBitsMatchPhilox(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, s := range []weft.GeneratorState{{}, {1, 0}, {0, 1}, {0xfedcba9876543210, 0x0123456789abcdef}, {math.MaxUint64, math.MaxUint64}} {
			for _, n := range []int{1, 2, 3, 4, 5, 31, 64, 1000} {
				g := weft.NewGenerator(0)
				draw := func(f func()) {
					g.SetState(s)
					f()
					if want := (weft.GeneratorState{s.Seed, s.Draw + 1}); g.State() != want {
						t.Fatalf("after a draw from %v the state is %v", s, g.State())
					}
				}
				var f32 []float32
				var f64 []float64
				var ints, all []int64
				draw(func() { f32 = weft.Data[float32](g.Rand(n)) })
				draw(func() { f64 = weft.Data[float64](g.RandOf(weft.Float64, n)) })
				draw(func() { ints = weft.Data[int64](g.Randint(-7, 1<<40, n)) })
				draw(func() { all = weft.Data[int64](g.Randint(math.MinInt64, math.MaxInt64, n)) })
				for i := range n {
					w := op.Philox(s.Seed, s.Draw, uint64(i/4))
					if want := float32(w[i%4]>>8) / (1 << 24); f32[i] != want {
						t.Fatalf("%v rand(%d)[%d] = %v, want %v", s, n, i, f32[i], want)
					}
					w = op.Philox(s.Seed, s.Draw, uint64(i/2))
					x := uint64(w[i%2*2])<<32 | uint64(w[i%2*2+1])
					if want := float64(x>>11) / (1 << 53); f64[i] != want {
						t.Fatalf("%v rand64(%d)[%d] = %v, want %v", s, n, i, f64[i], want)
					}
					if want := int64(op.Below(uint32(x>>32), uint32(x), 1<<40+7)) - 7; ints[i] != want {
						t.Fatalf("%v randint(%d)[%d] = %v, want %v", s, n, i, ints[i], want)
					}
					if want := int64(op.Below(uint32(x>>32), uint32(x), math.MaxUint64) + 1<<63); all[i] != want {
						t.Fatalf("%v wide randint(%d)[%d] = %v, want %v", s, n, i, all[i], want)
					}
				}
			}
		}
	})
}

// Normal numbers equal Box and Muller's formula in float64.
func TestNormalFormula(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		const n = 1001
		f32 := weft.Data[float32](weft.NewGenerator(5).Randn(n))
		f64 := weft.Data[float64](weft.NewGenerator(5).RandnOf(weft.Float64, n))
		for i := range n {
			w := op.Philox(5, 0, uint64(i/4))
			j := i % 4 &^ 1
			r := math.Sqrt(-2 * math.Log((float64(w[j])+1)/(1<<32)))
			sin, cos := math.Sincos(2 * math.Pi * float64(w[j+1]>>8) / (1 << 24))
			want := r * cos
			if i%2 == 1 {
				want = r * sin
			}
			if math.Abs(float64(f32[i])-want) > 3e-6 {
				t.Fatalf("randn[%d] = %v, want %v", i, f32[i], want)
			}
			w = op.Philox(5, 0, uint64(i/2))
			join := func(hi, lo uint32) float64 { return float64((uint64(hi)<<32|uint64(lo))>>11) / (1 << 53) }
			r = math.Sqrt(-2 * math.Log(1-join(w[0], w[1])))
			sin, cos = math.Sincos(2 * math.Pi * join(w[2], w[3]))
			want = r * cos
			if i%2 == 1 {
				want = r * sin
			}
			if math.Abs(f64[i]-want) > 1e-14 {
				t.Fatalf("randn64[%d] = %v, want %v", i, f64[i], want)
			}
		}
	})
}

// An element depends on its position alone: shapes, longer draws, backends and
// threads give the same bits.
func TestDrawsDependOnPositionAlone(t *testing.T) {
	const n = 60000
	kinds := map[string]func(g *weft.Generator, shape ...int) *weft.Tensor{
		"rand":    (*weft.Generator).Rand,
		"randn":   (*weft.Generator).Randn,
		"rand64":  func(g *weft.Generator, shape ...int) *weft.Tensor { return g.RandOf(weft.Float64, shape...) },
		"randn64": func(g *weft.Generator, shape ...int) *weft.Tensor { return g.RandnOf(weft.Float64, shape...) },
		"randint": func(g *weft.Generator, shape ...int) *weft.Tensor { return g.Randint(0, 1000, shape...) },
		"dropout": func(g *weft.Generator, shape ...int) *weft.Tensor { return weft.Ones(shape...).Dropout(0.3, g) },
	}
	want := map[string][]uint64{}
	first := true
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, threads := range []int{1, 2, 5} {
			old := par.SetThreads(threads)
			for name, draw := range kinds {
				bits := func(shape ...int) []uint64 {
					x := draw(weft.NewGenerator(77), shape...)
					if x.DType() == weft.Int64 {
						x = x.To(weft.Float64)
					}
					if x.DType() == weft.Float32 {
						var out []uint64
						for _, v := range weft.Data[float32](x) {
							out = append(out, uint64(math.Float32bits(v)))
						}
						return out
					}
					var out []uint64
					for _, v := range weft.Data[float64](x) {
						out = append(out, math.Float64bits(v))
					}
					return out
				}
				if first && want[name] == nil {
					want[name] = bits(n)
				}
				for _, shape := range [][]int{{n}, {n / 100, 100}, {n / 15, 3, 5}, {n - 1}, {n - 2}, {n / 2}, {7, 1, 11}} {
					got := bits(shape...)
					if !slices.Equal(got, want[name][:len(got)]) {
						t.Errorf("%s%v with %d threads differs from the draw of %d", name, shape, threads, n)
					}
				}
			}
			par.SetThreads(old)
		}
		first = false
	})
}

// moments returns mean, variance, skewness and excess kurtosis.
func moments(x []float64) (mean, variance, skew, kurt float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	var m2, m3, m4 float64
	for _, v := range x {
		d := v - mean
		m2 += d * d / n
		m3 += d * d * d / n
		m4 += d * d * d * d / n
	}
	return mean, m2, m3 / math.Pow(m2, 1.5), m4/(m2*m2) - 3
}

// kolmogorov returns sqrt(n) times the greatest distance of the empirical
// distribution function from cdf. It exceeds 1.95 once in a thousand samples.
func kolmogorov(x []float64, cdf func(float64) float64) float64 {
	slices.Sort(x)
	n := float64(len(x))
	d := 0.0
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d * math.Sqrt(n)
}

func TestDistributions(t *testing.T) {
	const n = 1 << 17
	g := weft.NewGenerator(2026)
	for _, d := range []weft.DType{weft.Float32, weft.Float64} {
		u := weft.Data[float64](g.RandOf(d, n).To(weft.Float64))
		mean, variance, _, _ := moments(u)
		// Five standard errors.
		if math.Abs(mean-0.5) > 5*math.Sqrt(1.0/12/n) || math.Abs(variance-1.0/12) > 5*math.Sqrt(1.0/180/n) {
			t.Errorf("uniform %v: mean %v, variance %v", d, mean, variance)
		}
		if k := kolmogorov(u, func(x float64) float64 { return x }); k > 1.95 {
			t.Errorf("uniform %v: Kolmogorov's statistic is %v", d, k)
		}
		if u[0] < 0 || u[n-1] >= 1 {
			t.Errorf("uniform %v: from %v to %v", d, u[0], u[n-1])
		}
		z := weft.Data[float64](g.RandnOf(d, n).To(weft.Float64))
		serial := 0.0
		for i := range n - 1 {
			serial += z[i] * z[i+1] / n
		}
		mean, variance, skew, kurt := moments(z)
		if math.Abs(mean) > 5/math.Sqrt(n) || math.Abs(variance-1) > 5*math.Sqrt(2.0/n) ||
			math.Abs(skew) > 5*math.Sqrt(6.0/n) || math.Abs(kurt) > 5*math.Sqrt(24.0/n) || math.Abs(serial) > 5/math.Sqrt(n) {
			t.Errorf("normal %v: mean %v, variance %v, skewness %v, kurtosis %v, correlation of neighbours %v", d, mean, variance, skew, kurt, serial)
		}
		if k := kolmogorov(z, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }); k > 1.95 {
			t.Errorf("normal %v: Kolmogorov's statistic is %v", d, k)
		}
	}
	// Every value of a range that is no power of two is as frequent.
	count := make([]float64, 37)
	for _, v := range weft.Data[int32](g.RandintOf(weft.Int32, -5, 32, n)) {
		count[v+5]++
	}
	chi := 0.0
	for _, c := range count {
		e := float64(n) / 37
		chi += (c - e) * (c - e) / e
	}
	if chi > 67.98 { // 0.999 quantile for 36 degrees of freedom
		t.Errorf("randint: chi squared is %v: %v", chi, count)
	}
	// Dropout drops its share, and scales the rest so that the mean stays.
	y := weft.Data[float32](weft.Ones(n).Dropout(0.2, g))
	kept := 0
	for _, v := range y {
		switch v {
		case 1.25:
			kept++
		case 0:
		default:
			t.Fatalf("dropout gave %v", v)
		}
	}
	if math.Abs(float64(kept)-0.8*n) > 5*math.Sqrt(0.16*n) {
		t.Errorf("dropout kept %d of %d", kept, n)
	}
}

func TestRandperm(t *testing.T) {
	g := weft.NewGenerator(3)
	for _, n := range []int{0, 1, 2, 3, 100, 1001} {
		p := weft.Data[int64](g.Randperm(n))
		q := slices.Clone(p)
		slices.Sort(q)
		for i, v := range q {
			if v != int64(i) {
				t.Fatalf("randperm(%d) = %v", n, p)
			}
		}
	}
	// All orders of 4 are as frequent.
	count := map[string]float64{}
	const trials = 24 * 400
	for range trials {
		count[fmt.Sprint(weft.Data[int64](g.Randperm(4)))]++
	}
	chi := 0.0
	for _, c := range count {
		chi += (c - 400) * (c - 400) / 400
	}
	if len(count) != 24 || chi > 49.73 { // 0.999 quantile for 23 degrees of freedom
		t.Errorf("%d orders, chi squared %v", len(count), chi)
	}
}

func TestGeneratorState(t *testing.T) {
	g := weft.NewGenerator(9)
	g.Rand(3)
	s := g.State()
	a, b := weft.Data[float32](g.Randn(5)), weft.Data[int64](g.Randperm(6))
	h := weft.NewGenerator(0)
	h.SetState(s)
	if !slices.Equal(a, weft.Data[float32](h.Randn(5))) || !slices.Equal(b, weft.Data[int64](h.Randperm(6))) {
		t.Error("a generator set to a saved state goes on differently")
	}
	if slices.Equal(weft.Data[float32](g.Rand(5)), weft.Data[float32](g.Rand(5))) {
		t.Error("two draws are equal")
	}
	weft.Seed(9)
	if weft.DefaultGenerator().State() != (weft.GeneratorState{Seed: 9}) {
		t.Error("Seed does not reset the default generator")
	}
	want := weft.NewGenerator(9)
	if !slices.Equal(weft.Data[float32](weft.Rand(4)), weft.Data[float32](want.Rand(4))) ||
		!slices.Equal(weft.Data[float64](weft.RandOf(weft.Float64, 4)), weft.Data[float64](want.RandOf(weft.Float64, 4))) ||
		!slices.Equal(weft.Data[float32](weft.Randn(4)), weft.Data[float32](want.Randn(4))) ||
		!slices.Equal(weft.Data[float64](weft.RandnOf(weft.Float64, 4)), weft.Data[float64](want.RandnOf(weft.Float64, 4))) ||
		!slices.Equal(weft.Data[int64](weft.Randint(0, 9, 4)), weft.Data[int64](want.Randint(0, 9, 4))) ||
		!slices.Equal(weft.Data[int64](weft.Randperm(4)), weft.Data[int64](want.Randperm(4))) {
		t.Error("the functions of the package do not draw from the default generator")
	}
}

// Goroutines that share a generator get each draw once.
func TestGeneratorIsShared(t *testing.T) {
	g := weft.NewGenerator(4)
	const workers, each = 4, 20
	seen := make(chan float64, workers*each)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				seen <- g.RandOf(weft.Float64).Item()
			}
		})
	}
	wg.Wait()
	close(seen)
	got := map[float64]bool{}
	for x := range seen {
		got[x] = true
	}
	for i := range workers * each {
		w := op.Philox(4, uint64(i), 0)
		if x := float64((uint64(w[0])<<32|uint64(w[1]))>>11) / (1 << 53); !got[x] {
			t.Errorf("draw %d is missing", i)
		}
	}
}

func TestDropoutGradient(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, d := range []weft.DType{weft.Float32, weft.Float64} {
			for _, shape := range [][]int{{}, {7}, {3, 5}, {2, 3, 4, 5}, {0, 3}} {
				x := weft.NewGenerator(1).RandnOf(d, shape...).RequireGrad()
				g := weft.NewGenerator(2)
				y := x.Dropout(0.4, g)
				// The mask is uniform numbers of the same draw.
				u := weft.Data[float64](weft.NewGenerator(2).Rand(shape...).To(weft.Float64))
				gr := weft.Grad(y.Mul(y).Sum(), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
				gg := weft.Grad(gr.Sum(), []*weft.Tensor{x})[0]
				xs, ys, grs, ggs := weft.Data[float64](x.To(weft.Float64)), weft.Data[float64](y.To(weft.Float64)), weft.Data[float64](gr.To(weft.Float64)), weft.Data[float64](gg.To(weft.Float64))
				for i := range xs {
					s := 0.0
					if u[i] >= 0.4 {
						s = 1 / 0.6
					}
					for _, c := range [][2]float64{{ys[i], xs[i] * s}, {grs[i], 2 * xs[i] * s * s}, {ggs[i], 2 * s * s}} {
						if math.Abs(c[0]-c[1]) > 1e-5 {
							t.Fatalf("%v%v element %d: %v, want %v", d, shape, i, c[0], c[1])
						}
					}
				}
			}
		}
	})
	g := weft.NewGenerator(1)
	x := weft.Ones(100)
	if s := x.Dropout(0, g).Sum().Item(); s != 100 {
		t.Errorf("nothing dropped: sum %v", s)
	}
	if s := x.Dropout(1, nil).Sum().Item(); s != 0 {
		t.Errorf("all dropped: sum %v", s)
	}
	// Strided operands.
	m := weft.NewGenerator(3).Randn(6, 4)
	if a, b := weft.Data[float32](m.T().Dropout(0.5, weft.NewGenerator(8))), weft.Data[float32](m.T().Clone().Dropout(0.5, weft.NewGenerator(8))); !slices.Equal(a, b) {
		t.Errorf("a transposed operand gives %v, a copy of it %v", a, b)
	}
}

// The kernels make exponential numbers of the words that the portable Philox gives, on every
// backend.
func TestExponentialMatchesPhilox(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, s := range []weft.GeneratorState{{}, {1, 0}, {0xfedcba9876543210, 7}} {
			g := weft.NewGenerator(0)
			g.SetState(s)
			f32 := weft.Data[float32](g.Exponential(1, 1001))
			f64 := weft.Data[float64](g.ExponentialOf(weft.Float64, 1, 1001))
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
	g := weft.NewGenerator(3)
	const n = 200000
	weights := []float64{1, 0, 5, 2, 0, 2}
	p := []float64{0.1, 0, 0.5, 0.2, 0, 0.2}
	w := weft.FromSlice(weights)
	// Three degrees of freedom: above 16.3 once in a thousand.
	if x := chiSquare(weft.Data[int64](g.Multinomial(w, n, weft.MultinomialOpts{}).BinCount(nil, 6)), p); x > 16.3 {
		t.Errorf("multinomial: chi-square %v", x)
	}
	if x := chiSquare(weft.Data[int64](g.Choice(weft.Arange(6), n, weft.ChoiceOpts{Weights: w.To(weft.Float32)}).BinCount(nil, 6)), p); x > 16.3 {
		t.Errorf("choice with weights: chi-square %v", x)
	}
	// The first of distinct places has the same distribution; the second what is left.
	rows := w.Expand(n, 6)
	two := g.Multinomial(rows, 2, weft.MultinomialOpts{Distinct: true})
	if x := chiSquare(weft.Data[int64](two.Slice(weft.All, weft.Index(0)).BinCount(nil, 6)), p); x > 16.3 {
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
	if x := chiSquare(weft.Data[int64](two.Slice(weft.All, weft.Index(1)).BinCount(nil, 6)), second); x > 16.3 {
		t.Errorf("second of two distinct places: chi-square %v", x)
	}
	if two.Slice(weft.All, weft.Index(0)).Eq(two.Slice(weft.All, weft.Index(1))).Any().Item() != 0 {
		t.Error("distinct places are equal")
	}
	probabilities := weft.From([]float32{0, 0.3, 1}).Expand(n, 3)
	mean := weft.Data[float32](g.Bernoulli(probabilities).Mean(0))
	if mean[0] != 0 || mean[2] != 1 || math.Abs(float64(mean[1])-0.3) > 0.005 {
		t.Error("bernoulli: means", mean)
	}
	e := g.Exponential(4, n).To(weft.Float64)
	if m, v := e.Mean().Item(), e.Var().Item(); math.Abs(m-0.25) > 0.003 || math.Abs(v-0.0625) > 0.002 || e.Min().Item() < 0 {
		t.Error("exponential: mean and variance", m, v)
	}
	u := g.Uniform(-2, 6, n).To(weft.Float64)
	if m, lo, hi := u.Mean().Item(), u.Min().Item(), u.Max().Item(); math.Abs(m-2) > 0.03 || lo < -2 || hi > 6 || lo > -1.99 || hi < 5.99 {
		t.Error("uniform:", m, lo, hi)
	}
	z := g.Normal(10, 3, n).To(weft.Float64)
	if m, s := z.Mean().Item(), z.Std().Item(); math.Abs(m-10) > 0.04 || math.Abs(s-3) > 0.03 {
		t.Error("normal:", m, s)
	}
	x := weft.Arange(1000).Reshape(500, 2)
	y := g.Permutation(x)
	back, _ := y.Slice(weft.All, weft.Index(0)).Sort(0, weft.SortOpts{})
	if back.Eq(x.Slice(weft.All, weft.Index(0))).All().Item() == 0 || y.Eq(x).All().Item() != 0 || y.Slice(weft.All, weft.Index(1)).Sub(y.Slice(weft.All, weft.Index(0))).Eq(1).All().Item() == 0 {
		t.Error("permutation is none of the rows")
	}
	c := g.Choice(weft.Arange(50), 50, weft.ChoiceOpts{Distinct: true})
	if values, _, _ := c.Unique(); values.Size() != 50 {
		t.Error("a choice of all distinct elements has", values.Size())
	}
}

// A sample has the same bits on every backend and number of threads, and its elements do not
// depend on how many follow.
func TestSamplesRepeat(t *testing.T) {
	w := weft.NewGenerator(1).Rand(1000)
	draw := func(n int) []*weft.Tensor {
		g := weft.NewGenerator(9)
		return []*weft.Tensor{g.Multinomial(w, n, weft.MultinomialOpts{}), g.Exponential(2, n), g.Uniform(1, 3, n), g.Normal(1, 2, n),
			g.Bernoulli(weft.FullOf(weft.Float32, 0.5, n)), g.Choice(w, n, weft.ChoiceOpts{Weights: w})}
	}
	want := draw(3000)
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, threads := range []int{1, 3} {
			defer par.SetThreads(par.SetThreads(threads))
			for i, x := range draw(3000) {
				if weft.Digest(x) != weft.Digest(want[i]) {
					t.Errorf("sample %d differs with %d threads", i, threads)
				}
			}
		}
		for i, x := range draw(70) {
			if weft.Digest(x) != weft.Digest(want[i].Slice(weft.Range(0, 70)).Contiguous()) {
				t.Errorf("sample %d of fewer elements begins with others", i)
			}
		}
	})
}

// TestDrawsOnEveryBackend: every method of a generator gives the same bits on each backend and on a simulated
// GPU, run plainly and compiled.
func TestDrawsOnEveryBackend(t *testing.T) {
	draw := func(g *weft.Generator, w, x *weft.Tensor) []*weft.Tensor {
		row := w.Slice(weft.Index(0)).Contiguous()
		half := weft.FullLike(row, 0.5)
		return []*weft.Tensor{g.RandOf(weft.Float64, 77), g.RandOf(weft.BFloat16, 77), g.RandnOf(weft.Float64, 77), g.Randint(-9, 1000, 77),
			g.Uniform(row, 2), g.Normal(row, half), g.Exponential(row), g.Bernoulli(w),
			g.PoissonOf(weft.Int64, w.Mul(40)), g.Binomial(90, w), g.GammaOf(weft.Float64, w.Mul(3), 2), g.TruncatedNormalOf(weft.Float64, w, 1, -1, w.Add(0.5)),
			g.Beta(w.Add(0.1), 2), g.Dirichlet(w.Add(0.1)), g.Geometric(w), g.Laplace(w, 2), g.Cauchy(1, 2, 77), g.StudentT(w.Add(0.1), w, 2),
			g.Multinomial(w, 31), g.Multinomial(w, 9, weft.MultinomialOpts{Distinct: true}), g.Multinomial(row, 31),
			g.Choice(x, 70), g.Choice(x, 20, weft.ChoiceOpts{Distinct: true}), g.Choice(x, 70, weft.ChoiceOpts{Weights: row}),
			g.Choice(x, 20, weft.ChoiceOpts{Weights: row, Distinct: true}), g.Permutation(x), g.Randperm(77), w.Dropout(0.3, g)}
	}
	var want []string
	check := func(t *testing.T) { // on what is the default device now
		t.Helper()
		w, x := weft.NewGenerator(1).RandOf(weft.Float64, 6, 50), weft.NewGenerator(2).RandOf(weft.Float64, 50, 3)
		g := weft.NewGenerator(9)
		f := weft.Compile(func(w, x *weft.Tensor) []*weft.Tensor { return draw(g, w, x) })
		compiled := f.Func()(w, x)
		for what, all := range map[string][]*weft.Tensor{"plain": draw(weft.NewGenerator(9), w, x), "compiled": compiled} {
			for i, y := range all {
				if len(want) < len(all) {
					want = append(want, weft.Digest(y))
				}
				if weft.Digest(y) != want[i] {
					t.Errorf("draw %d, %s, differs", i, what)
				}
			}
		}
	}
	tensortest.EachBackend(t, check)
	onSimulated(t, 5, func() { check(t) })
}

func TestSampleMisuse(t *testing.T) {
	g := weft.NewGenerator(1)
	for what, f := range map[string]func(){
		"weights below 0":       func() { g.Multinomial(weft.From([]float32{1, -1}), 1, weft.MultinomialOpts{}) },
		"weights NaN":           func() { g.Multinomial(weft.From([]float64{1, math.NaN()}), 1, weft.MultinomialOpts{}) },
		"weights 0":             func() { g.Multinomial(weft.From([]float32{0, 0}), 1, weft.MultinomialOpts{}) },
		"an infinite sum":       func() { g.Multinomial(weft.From([]float64{1e308, 1e308}), 1, weft.MultinomialOpts{}) },
		"too few distinct":      func() { g.Multinomial(weft.From([]float32{1, 0, 1}), 3, weft.MultinomialOpts{Distinct: true}) },
		"too many distinct":     func() { g.Choice(weft.Arange(3), 4, weft.ChoiceOpts{Distinct: true}) },
		"of nothing":            func() { g.Choice(weft.Zeros(0), 1, weft.ChoiceOpts{}) },
		"weights of other size": func() { g.Choice(weft.Arange(3), 1, weft.ChoiceOpts{Weights: weft.Ones(2)}) },
		"integer weights":       func() { g.Multinomial(weft.Arange(3), 1, weft.MultinomialOpts{}) },
		"three axes":            func() { g.Multinomial(weft.Ones(1, 1, 1), 1, weft.MultinomialOpts{}) },
		"probability 2":         func() { g.Bernoulli(weft.FullOf(weft.Float32, 2, 3)) },
		"rate 0":                func() { g.Exponential(0, 3) },
		"bounds":                func() { g.Uniform(1, 0, 3) },
		"deviation":             func() { g.Normal(0, -1, 3) },
		"a number":              func() { g.Permutation(weft.Scalar(1.0)) },
	} {
		if err := weft.Try(f); err == nil {
			t.Errorf("%s is not refused", what)
		}
	}
}
