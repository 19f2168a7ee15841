package linalg_test

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/linalg"
)

// cosines are the weights of eigen.py.
func cosines(y *weft.Tensor, k float64) *weft.Tensor {
	return weft.ArangeOf[int](weft.Float64, y.Size()).Reshape(y.Shape()...).Mul(0.7).Add(k).Cos()
}

// sizes are squared magnitudes.
func sizes(x *weft.Tensor) *weft.Tensor {
	if x.DType().Complex() {
		return x.Real().Square().Add(x.Imag().Square())
	}
	return x.Square()
}

// spectralLosses are the losses of eigen.py, which do not depend on signs and phases.
var spectralLosses = map[string]func(a *weft.Tensor) *weft.Tensor{
	"eigh": func(a *weft.Tensor) *weft.Tensor {
		w, v := linalg.Eigh(a)
		return cosines(w, 0).Mul(w).Sum().Add(cosines(v, 1).Mul(sizes(v)).Sum())
	},
	"svd": func(a *weft.Tensor) *weft.Tensor {
		u, s, vh := linalg.SVD(a, linalg.SVDOpts{Thin: true})
		both := u.Mul(s.Neg().Exp().Unsqueeze(-2)).MatMul(vh)
		return cosines(s, 0).Mul(s).Sum().Add(cosines(u, 1).Mul(sizes(u)).Sum()).Add(cosines(vh, 2).Mul(sizes(vh)).Sum()).Add(weighted([]*weft.Tensor{both}))
	},
	"eig": func(a *weft.Tensor) *weft.Tensor {
		w, v := linalg.Eig(a)
		loss := w.Real().Mul(w.Real().Square()).Sum().Add(w.Imag().Square().Sum())
		return loss.Add(weft.ArangeOf[int](weft.Float64, a.Dim(-1)).Unsqueeze(1).Mul(sizes(v)).Mul(sizes(w).Unsqueeze(-2)).Sum())
	},
	"pinv":  func(a *weft.Tensor) *weft.Tensor { return weighted([]*weft.Tensor{linalg.PInv(a)}) },
	"expm":  func(a *weft.Tensor) *weft.Tensor { return weighted([]*weft.Tensor{linalg.Expm(a)}) },
	"sqrtm": func(a *weft.Tensor) *weft.Tensor { return weighted([]*weft.Tensor{linalg.Sqrtm(a)}) },
	"logm":  func(a *weft.Tensor) *weft.Tensor { return weighted([]*weft.Tensor{linalg.Logm(a)}) },
}

var spectralFunctions = map[string]computation{
	"eigh": func(x []*weft.Tensor) []*weft.Tensor {
		w, v := linalg.Eigh(x[0])
		return []*weft.Tensor{w, v}
	},
	"svd": func(x []*weft.Tensor) []*weft.Tensor {
		u, s, vh := linalg.SVD(x[0], linalg.SVDOpts{Thin: true})
		return []*weft.Tensor{u, s, vh}
	},
	"eigvals": one(func(x []*weft.Tensor) *weft.Tensor { return linalg.EigVals(x[0]) }),
	"pinv":    one(func(x []*weft.Tensor) *weft.Tensor { return linalg.PInv(x[0]) }),
	"expm":    one(func(x []*weft.Tensor) *weft.Tensor { return linalg.Expm(x[0]) }),
	"sqrtm":   one(func(x []*weft.Tensor) *weft.Tensor { return linalg.Sqrtm(x[0]) }),
	"logm":    one(func(x []*weft.Tensor) *weft.Tensor { return linalg.Logm(x[0]) }),
}

// TestSpectralVectors compares with NumPy, SciPy, PyTorch and mpmath, eagerly, compiled and over views.
func TestSpectralVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/eigen.json")
	if err != nil {
		t.Fatal(err)
	}
	var list map[string]vector
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for name, v := range list {
		base, grad, _ := strings.Cut(name, "_")
		base = strings.TrimRight(base, "0123456789.")
		x := []*weft.Tensor{v.Args[0].tensor()}
		if strings.HasPrefix(grad, "grad") {
			loss := spectralLosses[base]
			g := weft.Grad(loss(x[0].RequireGrad()), x)
			compare(t, name, g, v.Results, 1e-11)
			compiled := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return weft.Grad(loss(x.RequireGrad()), []*weft.Tensor{x})[0] }).Func()
			compare(t, name+" compiled", []*weft.Tensor{compiled(v.Args[0].tensor())}, v.Results, 1e-11)
			continue
		}
		f := spectralFunctions[base]
		got := f(x)
		ordered := got
		if base == "eigvals" {
			w := weft.Data[complex128](got[0])
			w = slices.Clone(w)
			slices.SortFunc(w, func(a, b complex128) int {
				return cmp.Or(cmp.Compare(math.Round(1e9*real(a)), math.Round(1e9*real(b))), cmp.Compare(imag(a), imag(b)))
			})
			ordered = []*weft.Tensor{weft.FromSlice(w, len(w))}
		}
		compare(t, name, ordered, v.Results, 1e-13)
		columns := []*weft.Tensor{x[0].Transpose(-1, -2).Contiguous().Transpose(-1, -2)}
		compiled := weft.Compile(func(x []*weft.Tensor) []*weft.Tensor { return f(x) }).Func()
		for i, y := range f(columns) {
			if weft.Digest(y) != weft.Digest(got[i]) || weft.Digest(compiled(x)[i]) != weft.Digest(got[i]) {
				t.Errorf("%s: result %d of columns or compiled has other bits", name, i)
			}
		}
	}
}

// TestSpectralGradients compares first and second derivatives with differences.
func TestSpectralGradients(t *testing.T) {
	g := weft.NewGenerator(4)
	for name, loss := range spectralLosses {
		for _, shape := range [][]int{{3, 3}, {4, 2}, {2, 3}} {
			if shape[0] != shape[1] && name != "svd" && name != "pinv" {
				continue
			}
			x := g.RandnOf(weft.Float64, shape...)
			f := func(x ...*weft.Tensor) *weft.Tensor { return loss(x[0]) }
			switch name {
			case "eigh":
				f = func(x ...*weft.Tensor) *weft.Tensor { return loss(x[0].Add(x[0].Transpose(-1, -2))) }
			case "sqrtm", "logm":
				x = x.Add(weft.EyeOf(weft.Float64, 3).Mul(4))
			}
			if err := weft.GradCheck(f, []*weft.Tensor{x}); err != nil {
				t.Errorf("%s %v: %v", name, shape, err)
			}
			if err := weft.GradGradCheck(f, []*weft.Tensor{x}); err != nil {
				t.Errorf("%s %v, twice: %v", name, shape, err)
			}
		}
	}
	// Values alone have gradients where they are equal.
	eye := weft.EyeOf(weft.Float64, 3).RequireGrad()
	for name, y := range map[string]*weft.Tensor{"eigvalsh": linalg.EigValsH(eye), "svdvals": linalg.SVDVals(eye), "eigvals": linalg.EigVals(eye).Real()} {
		if d := distance(weft.Grad(y.Sum(), []*weft.Tensor{eye})[0], eye.Detach()); d > 1e-15 {
			t.Errorf("%s of the identity: gradient off by %g", name, d)
		}
	}
	w, _ := linalg.Eigh(eye)
	if d := distance(weft.Grad(w.Sum(), []*weft.Tensor{eye})[0], eye.Detach()); d > 1e-15 {
		t.Errorf("values of eigh of the identity: gradient off by %g", d)
	}
}

// TestSpectralVmap applies each function to batches, and to each matrix, with the same bits.
func TestSpectralVmap(t *testing.T) {
	x := weft.NewGenerator(5).RandnOf(weft.Float64, 3, 4, 4).Add(weft.EyeOf(weft.Float64, 4).Mul(5))
	for name, f := range spectralFunctions {
		for i := range f([]*weft.Tensor{x.At(0)}) {
			mapped := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f(x)[i] })(x)
			for k := range 3 {
				if weft.Digest(mapped.At(k).Contiguous()) != weft.Digest(f([]*weft.Tensor{x.At(k)})[i]) {
					t.Errorf("%s: result %d of matrix %d differs", name, i, k)
				}
			}
		}
	}
}

// TestSpectralResiduals checks each element type.
func TestSpectralResiduals(t *testing.T) {
	g := weft.NewGenerator(6)
	for _, ty := range types {
		for _, n := range []int{1, 3, 20, 70} {
			a := randomOf(g, ty.d, n, n)
			scale := 20 * math.Sqrt(float64(n)) * float64(n)
			u, s, vh := linalg.SVD(a)
			small(t, "svd", distance(u.Mul(s).MatMul(vh), a), ty.eps, scale)
			tt, z := linalg.Schur(a)
			small(t, "schur", distance(z.MatMul(tt).MatMul(adjoint(z)), a), ty.eps, scale)
			h, q := linalg.Hessenberg(a)
			small(t, "hessenberg", distance(q.MatMul(h).MatMul(adjoint(q)), a), ty.eps, scale)
			small(t, "hessenberg form", distance(h.Triu(-1), h), 0, 1)
			w, v := linalg.Eig(a)
			small(t, "eig", distance(a.To(v.DType()).MatMul(v), v.Mul(w)), ty.eps, scale)
			p, r := linalg.Polar(a)
			small(t, "polar", distance(p.MatMul(r), a), ty.eps, scale)
			b := a.Add(adjoint(a))
			e, f := linalg.Eigh(b)
			small(t, "eigh", distance(b.MatMul(f), f.Mul(e)), ty.eps, scale)
			up, _ := linalg.Eigh(b.Triu(0), linalg.EighOpts{Upper: true})
			small(t, "eigh of the upper triangle", distance(up, e), ty.eps, scale)
		}
	}
}

// TestRankAndBases checks ranks, ranges and null spaces of a matrix of rank 2.
func TestRankAndBases(t *testing.T) {
	g := weft.NewGenerator(7)
	for _, ty := range types {
		a := randomOf(g, ty.d, 6, 2).MatMul(randomOf(g, ty.d, 2, 5))
		if r := linalg.MatrixRank(a).Item(); r != 2 {
			t.Errorf("%v: rank %v", ty.d, r)
		}
		null, range_ := linalg.NullSpace(a), linalg.Orth(a)
		if null.Dim(1) != 3 || range_.Dim(1) != 2 {
			t.Fatalf("%v: null space %v, range %v", ty.d, null.Shape(), range_.Shape())
		}
		small(t, "null space", distance(a.MatMul(null), weft.ZerosOf(ty.d, 6, 3)), ty.eps, 400)
		small(t, "range", distance(range_.MatMul(adjoint(range_)).MatMul(a), a), ty.eps, 400)
		p := linalg.PInv(a)
		small(t, "pseudo-inverse", distance(a.MatMul(p).MatMul(a), a), ty.eps, 2000)
	}
	if r := linalg.MatrixRank(weft.Zeros(2, 3, 0)); !slices.Equal(r.Shape(), []int{2}) || r.Sum().Item() != 0 {
		t.Errorf("rank of nothing: %v", r)
	}
}

// TestSpectralRefusals checks that what has no result is an error that names the matrix.
func TestSpectralRefusals(t *testing.T) {
	bad := weft.Ones(2, 3, 3).Clone()
	bad.At(1, 2, 2).Assign(math.NaN())
	negative := weft.From([][]float64{{-4, 0}, {0, 9}})
	for want, f := range map[string]func(){
		"linalg.eigh: a: matrix [1] of the batch has elements that are not finite":  func() { linalg.Eigh(bad) },
		"linalg.eigvalsh: a: matrix [1] of the batch has elements":                  func() { linalg.EigValsH(bad) },
		"linalg.svd: a: matrix [1] of the batch has elements that are not finite":   func() { linalg.SVD(bad) },
		"linalg.eig: a: matrix [1] of the batch has elements that are not finite":   func() { linalg.Eig(bad) },
		"linalg.schur: a: matrix [1] of the batch has elements that are not finite": func() { linalg.Schur(bad) },
		"linalg.expm: a: matrix [1] of the batch has elements that are not finite":  func() { linalg.Expm(bad) },
		"linalg.pinv: a: matrix [1] of the batch has elements that are not finite":  func() { linalg.PInv(bad) },
		"linalg.sqrtm: a: the matrix has no real square root: -4 is an eigenvalue":  func() { linalg.Sqrtm(negative) },
		"linalg.logm: a: the matrix has no real logarithm: -4 is an eigenvalue":     func() { linalg.Logm(negative) },
		"linalg.logm: a: the matrix is singular and has no logarithm":               func() { linalg.Logm(weft.Zeros(2, 2)) },
		"linalg.sqrtm: a: the matrix is singular and has no square root":            func() { linalg.Sqrtm(weft.From([][]float64{{0, 1}, {0, 0}})) },
		"linalg.eig: a: has shape [2 3], want square matrices":                      func() { linalg.Eig(weft.Ones(2, 3)) },
		"linalg.polar: a: has shape [2 3], want rows >= columns":                    func() { linalg.Polar(weft.Ones(2, 3)) },
		"linalg.pinv: RTol: is -1, want 0 or more":                                  func() { linalg.PInv(weft.Ones(2, 3), linalg.RankOpts{RTol: ptr(-1.0)}) },
	} {
		err := tensortest.Try(f)
		if !hasText(err, want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	root := linalg.Sqrtm(negative.To(weft.Complex128))
	if d := distance(root, weft.FromSlice([]complex128{2i, 0, 0, 3}, 2, 2)); d > 1e-15 {
		t.Errorf("complex root: %v", root)
	}
}

func ptr(x float64) *float64 { return &x }

// TestSpectralOfNothing checks empty matrices and batches.
func TestSpectralOfNothing(t *testing.T) {
	for _, shape := range [][]int{{0, 0}, {0, 3, 3}, {2, 0, 0}} {
		x := weft.Zeros(shape...)
		for name, f := range spectralFunctions {
			for _, y := range f([]*weft.Tensor{x}) {
				if y.Size() != 0 {
					t.Errorf("%s of %v: %v", name, shape, y)
				}
			}
		}
	}
	u, s, vh := linalg.SVD(weft.Zeros(2, 0))
	if u.Dim(1) != 2 || s.Size() != 0 || vh.Size() != 0 {
		t.Errorf("svd of no columns: %v %v %v", u.Shape(), s.Shape(), vh.Shape())
	}
}

// TestSpectralNorms checks norms and condition numbers of a matrix with the singular values 3 and 2, and of a
// singular one.
func TestSpectralNorms(t *testing.T) {
	a := weft.From([][]float64{{0, -2}, {3, 0}})
	for ord, want := range map[linalg.Ord]float64{linalg.Two: 3, linalg.NegTwo: 2, linalg.Nuc: 5} {
		n := linalg.MatrixNorm(a, linalg.MatrixNormOpts{Ord: ord})
		keep := linalg.MatrixNorm(a, linalg.MatrixNormOpts{Ord: ord, Keep: true})
		if n.Rank() != 0 || math.Abs(n.Item()-want) > 1e-14 || !slices.Equal(keep.Shape(), []int{1, 1}) {
			t.Errorf("norm %s: %v, %v", ord, n, keep.Shape())
		}
	}
	for ord, want := range map[linalg.Ord]float64{linalg.Two: 1.5, linalg.NegTwo: 2.0 / 3, linalg.Nuc: 25.0 / 6} {
		if c := linalg.Cond(a, ord).Item(); math.Abs(c-want) > 1e-14 {
			t.Errorf("condition number %s: %v", ord, c)
		}
	}
	if c := linalg.Cond(weft.From([][]float64{{1, 0}, {0, 0}}), linalg.Two).Item(); !math.IsInf(c, 1) {
		t.Errorf("condition number of a singular matrix: %v", c)
	}
}
