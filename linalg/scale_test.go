package linalg_test

import (
	"fmt"
	"math"
	"testing"

	"weft"
	"weft/linalg"
)

// TestScale demands of a matrix near the ends of the range of its type the factors of the matrix near 1, times a
// power of two where factors grow with the matrix.
func TestScale(t *testing.T) {
	g := weft.NewGenerator(11)
	for _, ty := range types {
		most, least := 1022, -990
		if ty.d == weft.Float32 || ty.d == weft.Complex64 {
			most, least = 126, -110
		}
		for _, n := range []int{2, 3, 9, 40, 70} {
			a := randomOf(g, ty.d, n, n).Div(6 * math.Sqrt2)
			h := a.MatMul(adjoint(a)).Div(float64(n))
			for _, e := range []int{most, least} {
				// In two steps: 1<<most is a number of the type, the factor for the way back may not be.
				up := func(x *weft.Tensor) *weft.Tensor { return x.Mul(math.Ldexp(1, e/2)).Mul(math.Ldexp(1, e-e/2)) }
				for name, f := range map[string]func(scaled func(x *weft.Tensor) *weft.Tensor) (sized, free tensors){
					"svd": func(scaled func(x *weft.Tensor) *weft.Tensor) (sized, free tensors) {
						u, s, vh := linalg.SVD(scaled(a))
						return tensors{s}, tensors{u, vh}
					},
					"qr": func(scaled func(x *weft.Tensor) *weft.Tensor) (sized, free tensors) {
						q, r := linalg.QR(scaled(a))
						return tensors{r}, tensors{q}
					},
					"eigh": func(scaled func(x *weft.Tensor) *weft.Tensor) (sized, free tensors) {
						w, v := linalg.Eigh(scaled(h))
						return tensors{w}, tensors{v}
					},
					"eig": func(scaled func(x *weft.Tensor) *weft.Tensor) (sized, free tensors) {
						w, v := linalg.Eig(scaled(a))
						return tensors{w}, tensors{v}
					},
					"schur": func(scaled func(x *weft.Tensor) *weft.Tensor) (sized, free tensors) {
						s, z := linalg.Schur(scaled(a))
						return tensors{s}, tensors{z}
					},
					"hessenberg": func(scaled func(x *weft.Tensor) *weft.Tensor) (sized, free tensors) {
						s, z := linalg.Hessenberg(scaled(a))
						return tensors{s}, tensors{z}
					},
				} {
					one, free := f(func(x *weft.Tensor) *weft.Tensor { return x })
					got, gotFree := f(up)
					for i := range one {
						if want := up(one[i]); !near(got[i], want, want, float64(n)*200*ty.eps) {
							t.Errorf("%s of %v, %d x %d, times 2^%d: %v, want %v", name, ty.d, n, n, e, got[i], want)
						}
					}
					for i := range free {
						if !near(gotFree[i], free[i], free[i], float64(n)*1e4*ty.eps) {
							t.Errorf("%s of %v, %d x %d, times 2^%d: unitary factor differs", name, ty.d, n, n, e)
						}
					}
				}
			}
		}
	}
}

// TestScaleOfFunctions demands roots and logarithms of small, large and graded matrices, by what they give back.
func TestScaleOfFunctions(t *testing.T) {
	g := weft.NewGenerator(12)
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		for _, e := range []float64{1e-300, 1e-150, 1e150, 1e300} {
			a := randomOf(g, d, 5, 5)
			a = a.MatMul(adjoint(a)).Div(8).Add(weft.EyeOf(d, 5))
			r := linalg.Sqrtm(a.Mul(e))
			if !near(r, linalg.Sqrtm(a).Mul(math.Sqrt(e)), r, 1e-13) {
				t.Errorf("square root of %v times %g: %v", d, e, r)
			}
			l := linalg.Logm(a.Mul(e))
			if want := linalg.Logm(a).Add(weft.EyeOf(d, 5).Mul(math.Log(e))); !near(l, want, want, 1e-13) {
				t.Errorf("logarithm of %v times %g: %v, want %v", d, e, l, want)
			}
		}
		graded := weft.From([][]float64{{1, 1e100, 1e219}, {0, 2, 1e110}, {0, 0, 3}}).To(d)
		r := linalg.Sqrtm(graded)
		if !near(r.MatMul(r), graded, graded, 1e-13) {
			t.Errorf("square root of a graded matrix: %v", r)
		}
		if l := linalg.Logm(graded.To(weft.Complex128)); !(math.Abs(l.To(weft.Complex128).Real().At(2, 2).Item()-math.Log(3)) < 1e-12) {
			t.Errorf("logarithm of a graded matrix: %v", l)
		}
	}
}

// TestPInvGradientOfEqualValues holds first and second derivatives where all singular values are equal or some are 0,
// against differences, eagerly and in compiled functions.
func TestPInvGradientOfEqualValues(t *testing.T) {
	g := weft.NewGenerator(13)
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		w, v := randomOf(g, d, 3, 5), randomOf(g, d, 5, 3)
		loss := func(a *weft.Tensor) *weft.Tensor { return linalg.PInv(a).Mul(w).To(weft.Complex128).Real().Sum() }
		slope := func(a *weft.Tensor) *weft.Tensor {
			return inner(weft.Grad(loss(a), []*weft.Tensor{a}, weft.GradOpts{Create: true})[0], v)
		}
		q, _ := linalg.QR(randomOf(g, d, 5, 3))
		e := randomOf(g, d, 5, 5)
		for name, x := range map[string]*weft.Tensor{"equal": q, "rank 2": q.Mul(weft.From([]float64{1, 1, 0}).To(d))} {
			for what, f := range map[string]func(a *weft.Tensor) *weft.Tensor{"first": loss, "second": slope} {
				grad := func(a *weft.Tensor) *weft.Tensor { return weft.Grad(f(a), []*weft.Tensor{a})[0] }
				compiled := weft.Compile(func(a *weft.Tensor) *weft.Tensor { return grad(a.RequireGrad()) })
				// The rank is kept by a factor.
				at := func(h float64) *weft.Tensor { return weft.EyeOf(d, 5).Add(e.Mul(h)).MatMul(x).Detach().RequireGrad() }
				const h = 1e-5
				want := (f(at(h)).Item() - f(at(-h)).Item()) / (2 * h)
				for how, got := range map[string]*weft.Tensor{"eager": grad(at(0)), "compiled": compiled.Func()(at(0).Detach())} {
					if got := inner(got, e.MatMul(x)).Item(); !(math.Abs(got-want) <= 1e-7*max(1, math.Abs(want))) {
						t.Errorf("%v, %s, %s derivative, %s: %v, a difference gives %v", d, name, what, how, got, want)
					}
				}
			}
		}
	}
}

// inner is the real inner product of two tensors.
func inner(x, y *weft.Tensor) *weft.Tensor {
	return x.To(weft.Complex128).Mul(y.To(weft.Complex128).Conj()).Real().Sum()
}

// near reports whether x and y differ by at most tolerance times the largest part of scale.
func near(x, y, scale *weft.Tensor, tolerance float64) bool {
	parts := func(t *weft.Tensor) []float64 {
		if t.DType().Complex() {
			t = weft.Cat([]*weft.Tensor{t.Real(), t.Imag()}, -1)
		}
		return weft.Data[float64](t.To(weft.Float64).Contiguous())
	}
	most := 0.0
	for _, v := range parts(scale) {
		most = max(most, math.Abs(v))
	}
	a, b := parts(x), parts(y)
	for i := range a {
		if !(math.Abs(a[i]/most-b[i]/most) <= tolerance) {
			return false
		}
	}
	return true
}

// TestGradedMatrices demands small residuals and orthogonal factors of matrices whose rows have very different sizes,
// so that squares and products of their elements underflow.
func TestGradedMatrices(t *testing.T) {
	g := weft.NewGenerator(3)
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		for _, n := range []int{3, 9, 20, 40} {
			x := randomOf(g, d, n, n)
			x = x.Add(adjoint(x))
			for _, exponent := range []float64{-75, -155, -160, -200, -250} {
				one, all := make([]float64, n), make([]float64, n)
				for i := range n {
					one[i], all[i] = 1, math.Pow(10, exponent*float64(i)/float64(n))
				}
				one[0] = math.Pow(10, exponent)
				rows := weft.FromSlice(one).Reshape(n, 1)
				graded := weft.FromSlice(all)
				low := x.Tril(0).Mul(weft.Where(weft.Arange(0, n).Eq(0), 1.0, math.Pow(10, exponent)).To(d)) // columns but the first are tiny
				for name, a := range map[string]*weft.Tensor{
					"row":    x.Mul(rows.To(d)),
					"first":  low.Add(adjoint(low.Tril(-1))),
					"graded": x.Mul(graded.To(d)).Mul(graded.Reshape(n, 1).To(d)),
				} {
					what := func(f string) string { return fmt.Sprintf("%s of %v, %s, size %d, 1e%v", f, d, name, n, exponent) }
					check := func(f string, got *weft.Tensor, unitary ...*weft.Tensor) {
						t.Helper()
						small(t, what(f), distance(got, a), 0x1p-53, 40*float64(n))
						for _, u := range unitary {
							small(t, what(f)+", factor", distance(u.MatMul(adjoint(u)), weft.EyeOf(d, n)), 0x1p-53, 40*float64(n))
						}
					}
					u, s, vh := linalg.SVD(a)
					check("svd", u.Mul(s.To(d)).MatMul(vh), u, vh)
					form, z := linalg.Schur(a)
					check("schur", z.MatMul(form).MatMul(adjoint(z)), z)
					form, z = linalg.Hessenberg(a)
					check("hessenberg", z.MatMul(form).MatMul(adjoint(z)), z)
					if name != "row" {
						w, v := linalg.Eigh(a)
						check("eigh", v.Mul(w.To(d)).MatMul(adjoint(v)), v)
					}
				}
			}
		}
	}
}
