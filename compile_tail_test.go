package weft_test

import (
	"testing"

	"weft"
)

// What follows a large product reads it piece by piece: the bits are those of separate steps,
// whatever the shape in which it is read, the number of terms and the type.
func TestCompiledTailOfLargeProduct(t *testing.T) {
	g := weft.NewGenerator(3)
	for _, k := range []int{2, 60, 300} {
		for _, d := range []weft.DType{weft.Float32, weft.Float64} {
			x, dy, b := g.RandnOf(d, k, 400), g.RandnOf(d, k, 310), g.RandnOf(d, 31, 1, 400)
			start := g.RandnOf(d, 310, 400)
			w, v := start.Clone(), start.Clone()
			update := func(w *weft.Tensor) *weft.Tensor {
				p := dy.T().MatMul(x)
				w.Assign(w.Sub(p.Mul(0.1).Mul(p)))
				return dy.T().MatMul(x.Mul(2)).Reshape(31, 10, 400).Add(b).Tanh()
			}
			f := weft.Compile(func() *weft.Tensor { return update(w) })
			got, err := f.Call()
			if err != nil {
				t.Fatal(err)
			}
			if want := update(v); weft.Digest(got) != weft.Digest(want) || weft.Digest(w) != weft.Digest(v) {
				t.Errorf("%v, %d terms: compiled and eager results differ", d, k)
			}
		}
	}
}
