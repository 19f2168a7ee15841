package sym_test

import (
	"math"
	"slices"
	"testing"

	"weft"
	"weft/internal/op"
	"weft/internal/tensortest"
	"weft/sym"
)

// streamSeed is the seed of the first variable of streams, as [sym.RandomStreams] documents it: from
// Philox alone.
func streamSeed(seed uint64) uint64 {
	w := op.Philox(seed, 0x73747265616d73, 0)
	return uint64(w[0])<<32 | uint64(w[1])
}

// Symbolic draws equal draws of a generator of the variable's seed, call by call, with parameters that are
// variables.
func TestDrawsOfVariablesMatchGenerator(t *testing.T) {
	v := weft.FromSlice([]float64{0.2, 3, 40, 0.7})
	p := weft.FromSlice([]float64{0.1, 0.5, 0.9, 1})
	for name, c := range map[string]struct {
		sym   func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var
		eager func(g *weft.Generator) *weft.Tensor
	}{
		"poisson": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Poisson(weft.Int64, x) },
			func(g *weft.Generator) *weft.Tensor { return g.PoissonOf(weft.Int64, v) }},
		"poisson shape": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Poisson(weft.Float32, x, 3, 4) },
			func(g *weft.Generator) *weft.Tensor { return g.PoissonOf(weft.Float32, v, 3, 4) }},
		"binomial": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Binomial(weft.Int32, 20, y, 5, 4) },
			func(g *weft.Generator) *weft.Tensor { return g.BinomialOf(weft.Int32, 20, p, 5, 4) }},
		"gamma": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Gamma(weft.Float64, x, y) },
			func(g *weft.Generator) *weft.Tensor { return g.GammaOf(weft.Float64, v, p) }},
		"truncated": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var {
			return s.TruncatedNormal(weft.Float64, x, y, 0, 1, 2, 4)
		}, func(g *weft.Generator) *weft.Tensor { return g.TruncatedNormalOf(weft.Float64, v, p, 0, 1, 2, 4) }},
		"uniform": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Uniform(weft.Float64, y, x) },
			func(g *weft.Generator) *weft.Tensor { return g.RandOf(weft.Float64, 4).Mul(v.Sub(p)).Add(p) }},
		"normal": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Normal(weft.Float64, x, y, 3, 4) },
			func(g *weft.Generator) *weft.Tensor { return g.RandnOf(weft.Float64, 3, 4).Mul(p).Add(v) }},
		"exponential": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Exponential(weft.Float64, x) },
			func(g *weft.Generator) *weft.Tensor { return g.ExponentialOf(weft.Float64, 1, 4).Div(v) }},
		"choice": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Choice(x, 3, y, true) },
			func(g *weft.Generator) *weft.Tensor {
				return g.Choice(v, 3, weft.ChoiceOpts{Weights: p, Distinct: true})
			}},
		"permutation": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Permutation(x) },
			func(g *weft.Generator) *weft.Tensor { return g.Permutation(v) }},
		"randperm": {func(s *sym.RandomStreams, x, y *sym.Var) *sym.Var { return s.Randperm(9) },
			func(g *weft.Generator) *weft.Tensor { return g.Randperm(9) }},
	} {
		x, y := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64)
		f, err := sym.Function(sym.In(x, y), sym.Out(c.sym(sym.NewRandomStreams(11), x, y)), sym.IgnoreUnused)
		if err != nil {
			t.Fatal(name, err)
		}
		g := weft.NewGenerator(streamSeed(11))
		for range 3 {
			got, err := f.Call(v, p)
			if err != nil {
				t.Fatal(name, err)
			}
			want := c.eager(g)
			if got[0].DType() != want.DType() || !slices.Equal(got[0].Shape(), want.Shape()) || !slices.Equal(weft.Data[float64](got[0].To(weft.Float64)), weft.Data[float64](want.To(weft.Float64))) {
				t.Errorf("%s: %v, a generator gives %v", name, got[0], want)
			}
		}
	}
}

// A walk whose steps are Poisson numbers of a rate that depends on the state: each step is another draw.
func TestScanDrawsPoisson(t *testing.T) {
	rs := sym.NewRandomStreams(4)
	h0 := sym.Vector("h0", weft.Float64)
	s := sym.Scan(sym.ScanOpts{Initial: []any{h0}, Steps: new(5)}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{rs.Poisson(weft.Float64, s.H[0].Add(1))}}
	})
	h := weft.FromSlice([]float64{3, 50, 0})
	got := call(t, []*sym.Var{h0}, []*sym.Var{s.H[0]}, h)
	g := weft.NewGenerator(streamSeed(4))
	var want []float64
	for range 5 {
		h = g.Poisson(h.Add(1))
		want = append(want, weft.Data[float64](h)...)
	}
	if v := weft.Data[float64](got[0]); !slices.Equal(v, want) {
		t.Errorf("the loop gives %v, its steps %v", v, want)
	}
}

// A number of choices is one number, not a list.
func TestNumberOfChoices(t *testing.T) {
	for _, n := range []any{[]int{}, []int{2, 3}} {
		for what, f := range map[string]func(){
			"choice":   func() { sym.NewRandomStreams(1).Choice(sym.Vector("x", weft.Float64), n, nil, false) },
			"randperm": func() { sym.NewRandomStreams(1).Randperm(n) },
		} {
			if err := weft.Try(f); err == nil {
				t.Errorf("%s of %v is taken", what, n)
			}
		}
	}
}

// Counts of a multinomial draw add up to their number, and come as often as probable.
func TestMultinomialCounts(t *testing.T) {
	p := sym.Matrix("p", weft.Float64)
	c := sym.NewRandomStreams(3).Multinomial(20000, p)
	r := call(t, []*sym.Var{p}, []*sym.Var{c, c.Sum(1)}, weft.FromSlice([]float64{0.5, 0.5, 0, 0, 1, 3}, 2, 3))
	tensortest.Near(t, "sums", r[1].To(weft.Float64), []float64{20000, 20000}, 0)
	tensortest.Near(t, "counts", r[0].To(weft.Float64), []float64{10000, 10000, 0, 0, 5000, 15000}, 5*71)
}

// Gradients go through what scales and moves a draw; those that there are not are refused or zero.
func TestGradientsOfDraws(t *testing.T) {
	x, y := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64)
	vx, vy := weft.FromSlice([]float64{1, 2}), weft.FromSlice([]float64{0.5, 4})
	n := sym.NewRandomStreams(6).Normal(weft.Float64, x, y)
	r := call(t, []*sym.Var{x, y}, append([]*sym.Var{n}, sym.Grad(n.Sum(), []*sym.Var{x, y})...), vx, vy)
	tensortest.Near(t, "mean", r[1], []float64{1, 1}, 0)
	tensortest.Near(t, "deviation", r[2], weft.Data[float64](r[0].Sub(vx).Div(vy)), 1e-14)
	g := sym.NewRandomStreams(6).Gamma(weft.Float64, 3, y)
	r = call(t, []*sym.Var{y}, append([]*sym.Var{g}, sym.Grad(g.Sum(), []*sym.Var{y})...), vy)
	tensortest.Near(t, "rate", r[1], weft.Data[float64](r[0].Div(vy).Neg()), 1e-14)
	g = sym.NewRandomStreams(6).Gamma(weft.Float64, x, 2, 3, 2)
	r = call(t, []*sym.Var{x}, append([]*sym.Var{g}, sym.Grad(g.Sum(), []*sym.Var{x})...), vx)
	c := vx.Detach().RequireGrad()
	e := weft.NewGenerator(streamSeed(6)).GammaOf(weft.Float64, c, 2, 3, 2)
	tensortest.SameBits(t, "draw", r[0], e.Detach())
	tensortest.SameBits(t, "concentration", r[1], weft.Grad(e.Sum(), []*weft.Tensor{c})[0])
}

// MRG draws with parameters that are variables are its uniform numbers, moved or compared; multinomial
// counts agree with a search by hand.
func TestMRGDrawsOfVariables(t *testing.T) {
	x, p := sym.New("x", weft.Float64, 3), sym.New("p", weft.Float64, 2, 3)
	xs, ps := weft.FromSlice([]float64{0.25, 0.5, 2}), []float64{0.5, 0.5, 0, 0, 0.25, 0.75}
	u := func(shape ...int) []float64 {
		return weft.Data[float64](call(t, nil, []*sym.Var{sym.NewMRGStreams(9).Uniform(weft.Float64, 0, 1, shape)})[0])
	}
	r := call(t, []*sym.Var{x, p}, []*sym.Var{
		sym.NewMRGStreams(9).Uniform(weft.Float64, x, 3, 4, 3), sym.NewMRGStreams(9).Binomial(weft.Float64, x, 4, 3),
		sym.NewMRGStreams(9).Multinomial(50, p), sym.NewMRGStreams(9).TruncatedNormal(weft.Float64, x, 2, 4, 3),
	}, xs, weft.FromSlice(ps, 2, 3))
	z := weft.Data[float64](call(t, nil, []*sym.Var{sym.NewMRGStreams(9).TruncatedNormal(weft.Float64, 0, 1, 4, 3)})[0])
	for i, v := range u(4, 3) {
		x := []float64{0.25, 0.5, 2}[i%3]
		below := 0.0
		if v < x {
			below = 1
		}
		for k, want := range map[int]float64{0: x + v*(3-x), 1: below, 3: x + 2*z[i]} {
			if got := weft.Data[float64](r[k])[i]; math.Abs(got-want) > 1e-12 {
				t.Errorf("draw %d, element %d is %v, want %v", k, i, got, want)
			}
		}
	}
	want := make([]float64, 6)
	for i, v := range u(600)[:100] { // of 100 streams
		row, sum := i%2*3, 0.0
		for k := range 3 {
			if sum += ps[row+k]; v < sum {
				want[row+k]++
				break
			}
		}
	}
	tensortest.Near(t, "counts", r[2].To(weft.Float64), want, 0)
	if err := weft.Try(func() { sym.NewMRGStreams(9).Uniform(weft.Float64, x, 3, 4, 1) }); err == nil {
		t.Error("bounds that do not broadcast to the shape are taken")
	}
}
