package sym_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/sym"
)

// TestDrawsOfSizes: draws of a symbolic size equal draws of the same size as a number.
func TestDrawsOfSizes(t *testing.T) {
	x := weft.Arange(7).To(weft.Float64)
	for name, draw := range map[string]func(s *sym.RandomStreams, n any) *sym.Var{
		"uniform":            func(s *sym.RandomStreams, n any) *sym.Var { return s.Uniform(weft.Float64, 1, 3, n, 2) },
		"uniform by tensors": func(s *sym.RandomStreams, n any) *sym.Var { return s.Uniform(weft.Float64, x, 9, n, 7) },
		"normal":             func(s *sym.RandomStreams, n any) *sym.Var { return s.Normal(weft.Float32, 0, 2, 3, n) },
		"integers":           func(s *sym.RandomStreams, n any) *sym.Var { return s.Integers(0, 100, n) },
		"poisson":            func(s *sym.RandomStreams, n any) *sym.Var { return s.Poisson(weft.Int64, 4, n) },
		"binomial":           func(s *sym.RandomStreams, n any) *sym.Var { return s.Binomial(weft.Int64, 10, 0.3, n) },
		"gamma":              func(s *sym.RandomStreams, n any) *sym.Var { return s.Gamma(weft.Float64, 2, 1, n) },
		"exponential":        func(s *sym.RandomStreams, n any) *sym.Var { return s.Exponential(weft.Float64, 2, n) },
		"truncated":          func(s *sym.RandomStreams, n any) *sym.Var { return s.TruncatedNormal(weft.Float64, 0, 1, -2, 2, n) },
		"choice":             func(s *sym.RandomStreams, n any) *sym.Var { return s.Choice(sym.Const(x), n, nil, false) },
		"randperm":           func(s *sym.RandomStreams, n any) *sym.Var { return s.Randperm(n) },
	} {
		n := sym.Scalar("n", weft.Int64)
		for _, k := range []int{0, 1, 2, 5} {
			f := function(t, sym.In(n), sym.Out(draw(sym.NewRandomStreams(5), n)))
			g := function(t, sym.In(), sym.Out(draw(sym.NewRandomStreams(5), k)))
			for i := range 3 {
				same(t, fmt.Sprintf("draw %d of %d numbers of %s", i, k, name), results(t, f, k)[0], results(t, g)[0])
			}
		}
	}
}

// TestMRGDrawsOfSizes: element i of a draw whose size is a variable comes from stream i, as of a draw that is
// large enough for all streams.
func TestMRGDrawsOfSizes(t *testing.T) {
	const all = 6 * 60 * 256
	n := sym.Scalar("n", weft.Int64)
	f := function(t, sym.In(n), sym.Out(sym.NewMRGStreams(3).Uniform(weft.Float32, 0, 1, n)))
	g := function(t, sym.In(), sym.Out(sym.NewMRGStreams(3).Uniform(weft.Float32, 0, 1, all)))
	large := results(t, g)[0]
	for _, k := range []int{5, 1, 0} {
		got := results(t, function(t, sym.In(n), sym.Out(sym.NewMRGStreams(3).Uniform(weft.Float32, 0, 1, n))), k)[0]
		same(t, fmt.Sprint(k, " uniform numbers"), got, large.Slice(weft.Range(0, k)))
	}
	same(t, "all", results(t, f, all)[0], large)
	same(t, "the next ones", results(t, f, all)[0], results(t, g)[0])

	// A draw of the size of a batch, and its gradient's shape.
	x := sym.Matrix("x", weft.Float64)
	y := x.Mul(sym.NewMRGStreams(4).Normal(weft.Float64, 0, 1, x.Len(0), x.Len(1)))
	b := sym.NewMRGStreams(4).Multinomial(10, x)
	h := function(t, sym.In(x), sym.Out(y, sym.Grad(y.Sum(), []*sym.Var{x})[0], b.Sum(1)))
	for _, k := range []int{0, 1, 3} {
		out := results(t, h, weft.FullOf(weft.Float64, 0.25, k, 4))
		same(t, "gradient", out[1].Mul(0.25), out[0])
		same(t, "draws by outcome", out[2], weft.FullOf(weft.Int64, 10, k))
	}
}
