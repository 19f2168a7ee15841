package kernel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

// TestSaveKernels saves functions that call kernels: the file has their source.
func TestSaveKernels(t *testing.T) {
	src := kernel.MustParse(`package k

import "weft/kernel"

func Soft[T float32 | float64](x, y T) T { if x > y { return x*x } ; return y - x }

func At(e kernel.Elem, x float32) float32 { return x + float32(e.Index(0)) }

func Blur(x kernel.Near1[float32], n int64) float32 { return x.At(-int(n&1)) + x.At(int(n&1)) }
`)
	soft, at := src.Func("Soft"), src.Func("At")
	f := weft.Compile(func(x, y *weft.Tensor) (*weft.Tensor, *weft.Tensor) {
		z := x.Detach().RequireGrad()
		return at.Map(x.Mul(2)), weft.Grad(soft.Map(z, y).Sum(), []*weft.Tensor{z})[0]
	})
	path := filepath.Join(t.TempDir(), "f.weft")
	if err := f.Save(path, []any{weft.Rand(5), weft.Rand(5)}, weft.SaveOpts{Inputs: []string{"x[n]", "y[n]"}}); err != nil {
		t.Fatal(err)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{5, 300} {
		x, y := weft.Rand(n), weft.Rand(n)
		a, b := f.Func()(x, y)
		got, err := p.Call(x, y)
		if err != nil {
			t.Fatal(err)
		}
		if weft.Digest(got[0]) != weft.Digest(a) || weft.Digest(got[1]) != weft.Digest(b) {
			t.Errorf("of %d elements: %v, want %v and %v", n, got, a, b)
		}
	}
	blur := src.Func("Blur")
	err = weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		return blur.Stencil(x, 2, kernel.StencilOpts{Neighborhood: [][2]int{{-1, 1}}})
	}).Save(path, []any{weft.Rand(9)})
	if err == nil || !strings.Contains(err.Error(), "reads neighbours at offsets that are not constant") || !strings.Contains(err.Error(), "saved_test.go:") {
		t.Errorf("a stencil: %v", err)
	}
}
