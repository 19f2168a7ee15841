package linalg_test

import (
	"testing"

	"weft"
	"weft/linalg"
)

// corners are matrices at which formulas by eigenvalues or singular values divide by 0: equal values, values
// of 0, elements of 0.
func corners(d weft.DType) map[string]*weft.Tensor {
	turn := weft.From([][]float64{{0.6, -0.8}, {0.8, 0.6}}).To(d)
	return map[string]*weft.Tensor{
		"identity": weft.EyeOf(d, 2),
		"turn":     turn,
		"repeated": weft.From([]float64{2, 2, 1}).Diag(0).To(d),
		"tall":     weft.EyeOf(d, 3).Slice(weft.All, weft.Range(0, 2)).Contiguous(),
		"ones":     weft.OnesOf(d, 2, 2),
		"zeros":    weft.ZerosOf(d, 2, 2),
	}
}

// derivatives compares first and second derivatives of f at x with differences.
func derivatives(t *testing.T, name string, x *weft.Tensor, f func(x *weft.Tensor) *weft.Tensor) {
	t.Helper()
	g := func(x ...*weft.Tensor) *weft.Tensor { return f(x[0]) }
	if err := weft.GradCheck(g, []*weft.Tensor{x}); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if err := weft.GradGradCheck(g, []*weft.Tensor{x}); err != nil {
		t.Errorf("%s, twice: %v", name, err)
	}
}

// TestNormsOfZeroElements differentiates norms of orders from 2 on where elements, not all, are 0.
func TestNormsOfZeroElements(t *testing.T) {
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		for name, x := range corners(d) {
			if name == "zeros" {
				continue
			}
			derivatives(t, d.String()+" "+name+" fro", x, func(x *weft.Tensor) *weft.Tensor { return linalg.MatrixNorm(x) })
			for _, p := range []float64{2, 3, 4} {
				derivatives(t, d.String()+" "+name, x, func(x *weft.Tensor) *weft.Tensor {
					return linalg.VectorNorm(x, linalg.VectorNormOpts{Ord: &p})
				})
			}
		}
	}
	p := 2.5
	x := weft.From([]float64{1, 0, 2}).RequireGrad()
	g := weft.Grad(linalg.VectorNorm(x, linalg.VectorNormOpts{Ord: &p}), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
	if h := weft.Grad(g.Sum(), []*weft.Tensor{x})[0]; h.IsNaN().Any().Item() != 0 {
		t.Errorf("second derivatives of the norm of order 2.5: %v", h)
	}
}

// TestPolarAndNuclearAtEqualValues differentiates the factors of Polar and nuclear norms, and asks that where they
// have no derivative the result is not finite.
func TestPolarAndNuclearAtEqualValues(t *testing.T) {
	functions := map[string]func(x *weft.Tensor) *weft.Tensor{
		"polar u": func(x *weft.Tensor) *weft.Tensor {
			u, _ := linalg.Polar(x)
			return weighted([]*weft.Tensor{u})
		},
		"polar p": func(x *weft.Tensor) *weft.Tensor {
			_, p := linalg.Polar(x)
			return weighted([]*weft.Tensor{p})
		},
		"nuclear": func(x *weft.Tensor) *weft.Tensor {
			return linalg.MatrixNorm(x, linalg.MatrixNormOpts{Ord: linalg.Nuc})
		},
	}
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		for name, x := range corners(d) {
			for of, f := range functions {
				name := d.String() + " " + name + " " + of
				second := func(x *weft.Tensor) *weft.Tensor {
					x = x.RequireGrad()
					g := weft.Grad(f(x), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
					return weft.Grad(weighted([]*weft.Tensor{g}), []*weft.Tensor{x})[0]
				}
				if x.Dim(0) == 2 && x.Detach().Abs().Sub(x.Abs().Mean()).Abs().Sum().Item() == 0 { // not of full rank
					x := x.Clone().RequireGrad()
					var g *weft.Tensor
					if of == "nuclear" { // the gradient is a subgradient, whose derivative does not exist
						g = second(x)
					} else {
						g = weft.Grad(f(x), []*weft.Tensor{x})[0]
					}
					if g.Abs().IsFinite().All().Item() != 0 {
						t.Errorf("%s: derivative %v where there is none", name, g)
					}
					continue
				}
				derivatives(t, name, x, f)
				compiled := weft.Compile(second).Func()(x)
				if d := distance(compiled, second(x.Clone())); !(d < 1e-12) {
					t.Errorf("%s: second derivatives of the compiled function are off by %g", name, d)
				}
				if x.Dim(0) > x.Dim(1) && of == "nuclear" {
					derivatives(t, name+" wide", x.Transpose(-1, -2), f)
				}
			}
		}
	}
}

// TestPolarOfGreatNumbers asks for factors of a matrix whose elements have no sum.
func TestPolarOfGreatNumbers(t *testing.T) {
	a := weft.From([][]float64{{0, -1.5e308}, {1.7e308, 0}})
	u, p := linalg.Polar(a)
	if got := weft.Data[float64](p); got[0] != 1.7e308 || got[1] != 0 || got[2] != 0 || got[3] != 1.5e308 {
		t.Errorf("%v times %v", u, p)
	}
}

// TestSecondDerivativesOfRootDistances: distances of an order below 1 between equal rows have the gradient 0, and so a
// second derivative of 0. The distance of the others is (sqrt(a)+sqrt(b))^2.
func TestSecondDerivativesOfRootDistances(t *testing.T) {
	x := weft.From([][]float64{{1, 2}, {1, 2}, {5, 11}}).RequireGrad()
	e := weft.From([][]float64{{0, 0}, {0, 0}, {1, 0}})
	got := second(func(x *weft.Tensor) *weft.Tensor { return x.Pdist(0.5).Sum() }, x, e).At(2)
	// By a twice, -sqrt(b)/(2*a^1.5), and by both, 1/(2*sqrt(a*b)), of the differences 4 and 9 with two rows.
	want := weft.From([]float64{-2 * 3 / (2 * 8.0), 2 / (2 * 6.0)})
	if d := distance(got, want); !(d <= 1e-14) {
		t.Errorf("%v, want %v", got, want)
	}
}
