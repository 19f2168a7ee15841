package signal_test

import (
	"encoding/json"
	"math/cmplx"
	"os"
	"strings"
	"testing"

	"weft"
)

// A vector is arguments and results of SciPy or PyTorch: testdata/make.py and testdata/designs.py write them.
type vector struct{ Args, Results []encoded }

type encoded struct {
	Shape []int
	X, C  []float64 // C are pairs
}

func (e encoded) tensor() *weft.Tensor {
	if e.C == nil {
		return weft.FromSlice(append([]float64{}, e.X...), e.Shape...)
	}
	z := make([]complex128, len(e.C)/2)
	for i := range z {
		z[i] = complex(e.C[2*i], e.C[2*i+1])
	}
	return weft.FromSlice(z, e.Shape...)
}

// vectors reads testdata/vectors.json and testdata/designs.json, by name.
func vectors(t *testing.T) map[string]vector {
	t.Helper()
	var v map[string]vector
	for _, file := range []string{"testdata/vectors.json", "testdata/designs.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// weighted is a sum of results with the weights of make.py.
func weighted(ys []*weft.Tensor) *weft.Tensor {
	var loss *weft.Tensor
	for k, y := range ys {
		n := weft.ArangeOf[int](weft.Float64, y.Size()).Reshape(y.Shape()...)
		re := y
		if y.DType().Complex() {
			re = y.Real()
		}
		s := n.Mul(0.7).Add(float64(k)).Cos().Mul(re).Sum()
		if y.DType().Complex() {
			s = s.Add(n.Mul(0.3).Add(float64(k)).Sin().Mul(y.Imag()).Sum())
		}
		if loss == nil {
			loss = s
		} else {
			loss = loss.Add(s)
		}
	}
	return loss
}

// gradients are the gradients of weighted results of f.
func gradients(f func(x []*weft.Tensor) []*weft.Tensor, x []*weft.Tensor) []*weft.Tensor {
	leaves := make([]*weft.Tensor, len(x))
	for i := range x {
		leaves[i] = x[i].Clone().RequireGrad()
	}
	weighted(f(leaves)).Backward()
	out := make([]*weft.Tensor, len(x))
	for i := range leaves {
		out[i] = leaves[i].Grad()
	}
	return out
}

// compare fails where results differ by more than tol times the largest element.
func compare(t *testing.T, name string, got []*weft.Tensor, want []encoded, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d results, want %d", name, len(got), len(want))
		return
	}
	for i, w := range want {
		x, y := elements(got[i]), elements(w.tensor())
		if got[i] == nil || len(x) != len(y) {
			t.Errorf("%s: result %d is %v, want shape %v", name, i, got[i], w.Shape)
			continue
		}
		greatest := 1.0
		for _, v := range y {
			greatest = max(greatest, cmplx.Abs(v))
		}
		for k := range y {
			if !(cmplx.Abs(x[k]-y[k]) <= tol*greatest) && !(cmplx.IsInf(y[k]) && x[k] == y[k]) {
				t.Errorf("%s: result %d, element %d is %v, want %v", name, i, k, x[k], y[k])
				break
			}
		}
	}
}

// elements are the elements of t in order, nil of nil.
func elements(t *weft.Tensor) []complex128 {
	if t == nil {
		return nil
	}
	return weft.Data[complex128](t.Contiguous().To(weft.Complex128))
}

// TestVectors compares with SciPy and PyTorch: eagerly, of views, and in compiled functions
// with the same bits.
func TestVectors(t *testing.T) {
	for name, v := range vectors(t) {
		f, grad := computationOf(name)
		if f == nil {
			t.Errorf("%s: no computation", name)
			continue
		}
		if grad {
			g := f
			f = func(x []*weft.Tensor) []*weft.Tensor { return gradients(g, x) }
		}
		var x []*weft.Tensor
		for _, a := range v.Args {
			x = append(x, a.tensor())
		}
		got := f(x)
		compare(t, name, got, v.Results, tolerance(name))
		strided := make([]*weft.Tensor, len(x))
		for i := range x {
			strided[i] = x[i]
			if x[i].Rank() > 1 {
				strided[i] = x[i].Transpose(-1, -2).Contiguous().Transpose(-1, -2)
			}
		}
		compare(t, name+" of columns", f(strided), v.Results, tolerance(name))
		if reads := len(x) == 0 || strings.HasPrefix(name, "sosfiltfilt") || strings.HasPrefix(name, "peaks") || strings.HasPrefix(name, "tf2"); !grad && !reads {
			compiled := weft.Compile(func(x []*weft.Tensor) []*weft.Tensor { return f(x) })
			again := compiled.Func()(x)
			for i := range again {
				if weft.Digest(again[i]) != weft.Digest(got[i].Contiguous()) {
					t.Errorf("%s compiled: result %d differs: %v, %v", name, i, again[i], got[i])
				}
			}
		}
	}
}
