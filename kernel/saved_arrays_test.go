package kernel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

// Kernels that read arrays and neighbours by index come back from files with the bits that they had.
func TestSavedKernelsThatReadArrays(t *testing.T) {
	src := kernel.MustParse(`package k

import "weft/kernel"

func Blur(x kernel.Near1[float32]) float32 { return x.At(-1)*0.25 + x.At(0)*0.5 + x.At(1)*0.25 }

func Cross[T float32 | float64](x kernel.Near2[T], k T) (T, T) {
	return (x.At(-1, 0) + x.At(1, 0) - 2*x.At(0, 0)) * k, kernel.Max(x.Slice(-1, 2, 0, 1))
}

func Reverse(e kernel.Elem, a kernel.Array1[float32], s float32) float32 {
	return a.At(e.Dim(0) - 1 - e.Index(0)) * s
}

func Dot(e kernel.Elem, a kernel.Array2[float32], b kernel.Array2[float32]) float32 {
	var sum float32
	for k := 0; k < a.Dim(1); k++ {
		sum += a.At(e.Index(0), k) * b.At(k, e.Index(1))
	}
	return sum
}

func Around(e kernel.Elem, a kernel.Clamped1[float32], b kernel.Wrapped1[float32], c kernel.Zeroed1[float32], i int64) float32 {
	return a.At(int(i)) + 2*b.At(int(i)) + 3*c.At(int(i))
}

func Pull(a kernel.Clamped1[float32], x float32, i int64) float32 { return a.At(int(i)) * x * a.At(int(i)+1) }
`)
	blur, cross, reverse, dot, around, pull := src.Func("Blur"), src.Func("Cross"), src.Func("Reverse"), src.Func("Dot"), src.Func("Around"), src.Func("Pull")
	at := weft.FromSlice([]int64{-7, -1, 0, 2, 4, 5, 99})
	for _, c := range []struct {
		name, input string
		args        func(n int) *weft.Tensor
		f           func(x *weft.Tensor) []*weft.Tensor
	}{
		{"stencil", "x[n]", func(n int) *weft.Tensor { return weft.Rand(n) }, func(x *weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{blur.Stencil(x)}
		}},
		{"stencil of two axes with borders", "x[n 6]", func(n int) *weft.Tensor { return weft.Rand(n, 6) }, func(x *weft.Tensor) []*weft.Tensor {
			a := cross.StencilAll(x, 0.5, kernel.StencilOpts{Border: kernel.Fill})
			b := cross.StencilAll(x, 0.5, kernel.StencilOpts{Border: kernel.Valid})
			return append(a, b...)
		}},
		{"array", "x[n]", func(n int) *weft.Tensor { return weft.Rand(n) }, func(x *weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{reverse.Map(x.Mul(2), 3.0, kernel.MapOpts{Shape: x.Shape()})}
		}},
		{"product", "x[n 5]", func(n int) *weft.Tensor { return weft.Rand(n, 5) }, func(x *weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{dot.Map(x, x.T(), kernel.MapOpts{Shape: []int{x.Dim(0), x.Dim(0)}})}
		}},
		{"indices outside", "x[n]", func(n int) *weft.Tensor { return weft.Rand(n) }, func(x *weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{around.Map(x, x, x, at)}
		}},
		{"gradient of reads", "x[n]", func(n int) *weft.Tensor { return weft.Rand(n) }, func(x *weft.Tensor) []*weft.Tensor {
			y := x.Detach().RequireGrad()
			return weft.Grad(pull.Map(y, at.To(weft.Float32), at).Sum(), []*weft.Tensor{y})
		}},
		{"gradient of a stencil", "x[9]", func(n int) *weft.Tensor { return weft.Rand(n) }, func(x *weft.Tensor) []*weft.Tensor {
			y := x.Detach().RequireGrad()
			return weft.Grad(blur.Stencil(y).Square().Sum(), []*weft.Tensor{y})
		}},
		{"in a loop", "x[n]", func(n int) *weft.Tensor { return weft.Rand(n) }, func(x *weft.Tensor) []*weft.Tensor {
			last, _ := weft.ScanSteps(3, func(i *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
				return []*weft.Tensor{reverse.Map(s[0], 0.5, kernel.MapOpts{Shape: x.Shape()})}, nil
			}, []*weft.Tensor{x})
			return last
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := weft.Compile(c.f)
			path := filepath.Join(t.TempDir(), "f.weft")
			if err := f.Save(path, []any{c.args(9)}, weft.SaveOpts{Inputs: []string{c.input}}); err != nil {
				t.Fatal(err)
			}
			p, err := weft.LoadProgram(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{3, 9, 40, 257} {
				if c.input == "x[9]" {
					n = 9
				}
				x := c.args(n)
				got, err := p.Call(x)
				if err != nil {
					t.Fatal(n, err)
				}
				for i, want := range f.Func()(x) {
					if weft.Digest(got[i]) != weft.Digest(want) {
						t.Errorf("result %d of %d elements is\n%v, want\n%v", i, n, got[i], want)
					}
				}
			}
		})
	}
	path := filepath.Join(t.TempDir(), "f.weft")
	if err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return blur.Stencil(x) }).Save(path, []any{weft.Rand(9)}, weft.SaveOpts{Inputs: []string{"x[n]"}}); err != nil {
		t.Fatal(err)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Call(weft.Rand(1)); err == nil || !strings.Contains(err.Error(), "cannot be computed for n = 1") {
		t.Errorf("a stencil of one element: %v", err)
	}
}
