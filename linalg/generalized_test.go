package linalg_test

import (
	"math"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/linalg"
)

// pencil returns Hermitian a and positive definite b in batches that broadcast.
func pencil(g *weft.Generator, d weft.DType, n int) (a, b *weft.Tensor) {
	a, b = randomOf(g, d, 3, n, n), randomOf(g, d, 2, 1, n, n)
	return a.Add(adjoint(a)), b.MatMul(adjoint(b)).Add(weft.EyeOf(d, n))
}

// The triangle that is not read holds NaN, and the diagonal imaginary parts, which are not read either.
func TestGeneralizedEighResiduals(t *testing.T) {
	g := weft.NewGenerator(17)
	for d, tolerance := range map[weft.DType]float64{weft.Float32: 1e-4, weft.Float64: 1e-12, weft.Complex64: 1e-4, weft.Complex128: 1e-12} {
		for _, n := range []int{0, 1, 2, 9} {
			a, b := pencil(g, d, n)
			read := a
			if d.Complex() {
				read = a.Add(weft.EyeOf(d, n).Mul(3i))
			}
			nan := weft.FullOf(d, math.NaN(), n, n)
			half := weft.OnesOf(weft.Float32, n, n).Triu(1).Ne(0)
			for _, upper := range []bool{false, true} {
				unread := half
				if upper {
					unread = half.Transpose(0, 1)
				}
				o := linalg.EighOpts{Upper: upper, B: weft.Where(unread, nan, b)}
				w, v := linalg.Eigh(weft.Where(unread, nan, read), o)
				only := linalg.EigValsH(weft.Where(unread, nan, read), o)
				if n == 0 {
					continue
				}
				residual := a.MatMul(v).Sub(b.MatMul(v).Mul(w.Unsqueeze(-2)))
				unit := adjoint(v).MatMul(b).MatMul(v).Sub(weft.EyeOf(d, n))
				for what, e := range map[string]*weft.Tensor{"residual": residual, "v^H*b*v": unit, "EigValsH": only.Sub(w)} {
					if x := e.Abs().Max().Item(); !(x <= tolerance) {
						t.Errorf("%s %d upper %v: %s is off by %g", d, n, upper, what, x)
					}
				}
			}
		}
	}
}

// Values: scipy.linalg.eigh(a, b) of SciPy 1.17.
func TestGeneralizedEighValues(t *testing.T) {
	a, b := weft.From([][]float64{{1, 2}, {2, -1}}), weft.From([][]float64{{2, 1}, {1, 3}})
	w, v := linalg.Eigh(a, linalg.EighOpts{B: b})
	wantW := weft.From([]float64{-1.344030650891055, 0.7440306508910549})
	wantV := weft.From([][]float64{{0.5389079115654068, 0.5563975762458095}, {0.5943502381890531, 0.21621238254229522}})
	if e := w.Sub(wantW).Abs().Max().Item(); e > 1e-14 {
		t.Errorf("values %v, want %v", w, wantW)
	}
	if e := v.Abs().Sub(wantV).Abs().Max().Item(); e > 1e-14 {
		t.Errorf("magnitudes of vectors %v, want %v", v, wantV)
	}
}

// First and second derivatives are compared with central differences along symmetric directions.
func TestGeneralizedEighGradients(t *testing.T) {
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		g := weft.NewGenerator(21)
		a, b := pencil(g, d, 3)
		a, b = a.Index(0), b.Index(0, 0)
		da, db := pencil(g, d, 3)
		da, db = da.Index(1), db.Index(1, 0)
		loss := func(a, b *weft.Tensor) *weft.Tensor {
			w, v := linalg.Eigh(a, linalg.EighOpts{B: b})
			size := v.Abs()
			values := linalg.EigValsH(a, linalg.EighOpts{B: b})
			return weighted([]*weft.Tensor{w, size.Mul(size), values.Mul(values)})
		}
		for i, direction := range []*weft.Tensor{da, db} {
			x := []*weft.Tensor{a.Clone().RequireGrad(), b.Clone().RequireGrad()}
			loss(x[0], x[1]).Backward()
			got := x[i].Grad().Conj().Mul(direction).Sum()
			if d.Complex() {
				got = got.Real()
			}
			const h = 1e-5
			at := func(h float64) float64 {
				y := []*weft.Tensor{a, b}
				y[i] = y[i].Add(direction.Mul(h))
				return loss(y[0], y[1]).Item()
			}
			want := (at(h) - at(-h)) / (2 * h)
			if e := math.Abs(got.Item() - want); e > 1e-7*(1+math.Abs(want)) {
				t.Errorf("%s: derivative by argument %d is %v, want %v", d, i, got, want)
			}
			first := weft.Grad(loss(x[0], x[1]), x[i:i+1], weft.GradOpts{Create: true})[0].Conj().Mul(direction).Sum()
			if d.Complex() {
				first = first.Real()
			}
			second := weft.Grad(first, x[i:i+1])[0].Conj().Mul(direction).Sum()
			if d.Complex() {
				second = second.Real()
			}
			const far = 1e-4
			want = (at(far) - 2*at(0) + at(-far)) / (far * far)
			if e := math.Abs(second.Item() - want); e > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s: second derivative by argument %d is %v, want %v", d, i, second, want)
			}
		}
	}
}

func TestGeneralizedEighMistakes(t *testing.T) {
	a := weft.EyeOf(weft.Float64, 2)
	for want, b := range map[string]*weft.Tensor{
		"linalg.eigh: B: has shape [3 3]":                weft.Eye(3),
		"linalg.eigh: B: has shape [2]":                  weft.Ones(2),
		"linalg.eigh: B: the matrix is not positive def": a.Neg(),
	} {
		err := tensortest.Try(func() { linalg.Eigh(a, linalg.EighOpts{B: b}) })
		if !hasText(err, want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
