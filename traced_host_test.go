package weft_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"weft"
)

// What f captures, and what it computes of that alone, is known while a mapped function runs: it
// may say how large a result is, and gradients flow to it.
func TestVmapOfConstants(t *testing.T) {
	x := weft.FromSlice([]float64{0, 1, 2, 3, 4, 5}, 2, 3)
	scale := weft.FromSlice([]float64{1, 10, 100}).RequireGrad()
	limit := weft.Scalar(5.0)
	for name, c := range map[string]struct {
		f    func(x *weft.Tensor) *weft.Tensor
		want string
	}{
		"counts":          {func(x *weft.Tensor) *weft.Tensor { return x.RepeatInterleave(0, weft.FromSlice([]int64{1, 0, 2})) }, "[[0. 2. 2.]\n [3. 5. 5.]]"},
		"computed counts": {func(x *weft.Tensor) *weft.Tensor { return x.RepeatInterleave(0, weft.Arange(3).Add(1).Mod(2)) }, "[[0. 2.]\n [3. 5.]]"},
		"mask":            {func(x *weft.Tensor) *weft.Tensor { return x.MaskSelect(scale.Detach().Gt(limit)) }, "[[1. 2.]\n [4. 5.]]"},
		"places": {func(x *weft.Tensor) *weft.Tensor {
			return x.IndexSelect(0, scale.Detach().Gt(limit).NonZero().Reshape(-1))
		}, "[[1. 2.]\n [4. 5.]]"},
		"an index": {func(x *weft.Tensor) *weft.Tensor { return x.Index(scale.Detach().Lt(limit)) }, "[[0.]\n [3.]]"},
		"a branch": {func(x *weft.Tensor) *weft.Tensor {
			if scale.Max().Item() > 50 {
				return x.Neg()
			}
			return x
		}, "[[-0. -1. -2.]\n [-3. -4. -5.]]"},
	} {
		f := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return c.f(x[0]) })
		if got := f(x).String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		for i := range 2 { // and of one example outside
			if weft.Digest(f(x).Slice(weft.Index(i)).Contiguous()) != weft.Digest(c.f(x.Slice(weft.Index(i))).Contiguous()) {
				t.Errorf("%s: example %d has other bits", name, i)
			}
		}
		// A call looks again.
		held := weft.Ones(3)
		again := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].MaskSelect(held.Gt(0)) })
		again(x)
		held.Set(0, 1)
		if got := again(x).Shape(); got[1] != 2 {
			t.Errorf("after a change the mask selects %v", got)
		}
	}
	y := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(scale.Square().Exp().Log()) })(x)
	y.Sum().Backward()
	for i, g := range weft.Data[float64](scale.Grad()) {
		s := weft.Data[float64](scale.Detach())[i]
		if want := float64(3+2*i) * 2 * s; s < 20 && math.Abs(g-want) > 1e-12*want {
			t.Errorf("gradient of what is captured, %d: %v, want %v", i, g, want)
		}
	}
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"an example's elements": func(x *weft.Tensor) *weft.Tensor { return x.MaskSelect(x.Gt(0)) },
		"both":                  func(x *weft.Tensor) *weft.Tensor { return x.MaskSelect(x.Gt(scale)) },
	} {
		var e *weft.Error
		if err := weft.Try(func() { weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f(x[0]) })(x) }); !errors.As(err, &e) || !strings.Contains(err.Error(), "on the host") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := weft.Try(func() {
		weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].Add(scale.Detach().AddAssign(1)) })(x)
	}); err == nil || scale.Max().Item() != 100 {
		t.Errorf("a write into what is captured: %v, now %v", err, scale)
	}
}

// Draws by given probabilities are made by each call of a compiled function, which checks them.
func TestCompiledDrawsCheckTheirProbabilities(t *testing.T) {
	for name, f := range map[string]func(g *weft.Generator, p *weft.Tensor) *weft.Tensor{
		"Bernoulli": func(g *weft.Generator, p *weft.Tensor) *weft.Tensor { return g.Bernoulli(p) },
		"Multinomial": func(g *weft.Generator, p *weft.Tensor) *weft.Tensor {
			return g.Multinomial(p, 5, weft.MultinomialOpts{})
		},
		"distinct": func(g *weft.Generator, p *weft.Tensor) *weft.Tensor {
			return g.Multinomial(p, 2, weft.MultinomialOpts{Distinct: true})
		},
	} {
		a, b := weft.NewGenerator(5), weft.NewGenerator(5)
		c := weft.Compile(func(p *weft.Tensor) *weft.Tensor { return f(a, p) })
		for range 3 {
			p := weft.NewGenerator(9).Rand(7)
			got, err := c.Call(p)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if want := f(b, p); weft.Digest(got) != weft.Digest(want) {
				t.Errorf("%s: %v, outside %v", name, got, want)
			}
		}
		bad := weft.FromSlice([]float32{0.5, 0.5, -1, 0.5, 0.5, 0.5, 0.5})
		want := weft.Try(func() { f(b, bad) })
		_, err := c.Call(bad)
		var e *weft.Error
		if !errors.As(err, &e) || want == nil || !strings.HasPrefix(err.Error(), want.Error()) {
			t.Errorf("%s of -1: %v, outside %v", name, err, want)
		}
	}
}

// Bins whose ends are given need no look at elements.
func TestCompiledHistogramOfGivenEnds(t *testing.T) {
	for _, d := range []weft.DType{weft.Float16, weft.Float32, weft.Float64, weft.Int32} {
		x := weft.NewGenerator(2).Rand(100).Mul(9).To(d)
		f := func(x *weft.Tensor) *weft.Tensor {
			counts, edges := x.Histogram(weft.HistogramOpts{Bins: new(7), Min: new(0.1), Max: new(8.3)})
			return weft.Cat([]*weft.Tensor{counts.To(weft.Float64), edges.To(weft.Float64)}, 0)
		}
		got, err := weft.Compile(f).Call(x)
		if err != nil {
			t.Fatal(err)
		}
		if want := f(x); weft.Digest(got) != weft.Digest(want) {
			t.Errorf("%s: %v, outside %v", d, got, want)
		}
	}
}
