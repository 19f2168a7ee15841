package kernel_test

import (
	"fmt"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

func ExamplePageMap() {
	a := weft.FromSlice([]float64{2, 0, 0, 4, 1, 1, 0, 2}, 2, 2, 2) // two pages of 2 x 2
	b := weft.FromSlice([]float64{2, 4}, 2, 1)                      // one page, for both
	fmt.Println(kernel.PageMap(kernel.LeftDivide, a, b))
	// Output:
	// [[[1.]
	//   [1.]]
	//
	//  [[0.]
	//   [2.]]]
}

// complexes returns random numbers as elements of type d.
func complexes(r *rand.Rand, d weft.DType, shape ...int) (*weft.Tensor, []complex128) {
	n := 1
	for _, k := range shape {
		n *= k
	}
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(2*r.Float64()-1, 0)
		if d.Complex() {
			x[i] += complex(0, 2*r.Float64()-1)
		}
	}
	t := weft.FromSlice(x, shape...)
	if !d.Complex() {
		t = t.Real()
	}
	t = t.To(d)
	return t, weft.Data[complex128](t.To(weft.Complex128))
}

// What solves a system gives its right side when it is put in.
func TestPageMapSolves(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for d, bound := range map[weft.DType]float64{weft.Float32: 1e-3, weft.Float64: 1e-11, weft.Complex64: 1e-3, weft.Complex128: 1e-11} {
		for _, n := range []int{1, 2, 3, 5, 17, 40} {
			for _, m := range []int{1, 3} {
				a, as := complexes(r, d, 3, 1, n, n)
				b, bs := complexes(r, d, 2, n, m)
				x := kernel.PageMap(kernel.LeftDivide, a, b)
				if !slices.Equal(x.Shape(), []int{3, 2, n, m}) || x.DType() != d {
					t.Fatalf("%s of shape %v", x.DType(), x.Shape())
				}
				xs := weft.Data[complex128](x.To(weft.Complex128))
				y := weft.Data[complex128](kernel.PageMap(kernel.RightDivide, kernel.PageMap(kernel.Transpose, b), kernel.PageMap(kernel.Transpose, a)).To(weft.Complex128))
				inv := weft.Data[complex128](kernel.PageMap(kernel.Inv, a).To(weft.Complex128))
				for p := range 3 {
					for q := range 2 {
						var scale float64
						for _, v := range xs[(p*2+q)*n*m : (p*2+q+1)*n*m] {
							scale = max(scale, cmplx.Abs(v))
						}
						for i := range n {
							for j := range m {
								sum := -bs[(q*n+i)*m+j]
								for k := range n {
									sum += as[(p*n+i)*n+k] * xs[((p*2+q)*n+k)*m+j]
								}
								if cmplx.Abs(sum) > bound*(1+scale) {
									t.Fatalf("%s, %d rows: misses by %v", d, n, sum)
								}
								if d := cmplx.Abs(y[((p*2+q)*m+j)*n+i] - xs[((p*2+q)*n+i)*m+j]); d > bound*(1+scale) {
									t.Fatalf("right side differs by %v", d)
								}
							}
						}
					}
					var scale float64
					for _, v := range inv[p*n*n : (p+1)*n*n] {
						scale = max(scale, cmplx.Abs(v))
					}
					for i := range n {
						for j := range n {
							var sum complex128
							for k := range n {
								sum += as[(p*n+i)*n+k] * inv[(p*n+k)*n+j]
							}
							if i == j {
								sum--
							}
							if cmplx.Abs(sum) > bound*(1+scale) {
								t.Fatalf("%s: inverse of %d rows misses by %v", d, n, sum)
							}
						}
					}
				}
			}
		}
	}
}

// A pivot of 0 is exchanged, and integers are solved as floats.
func TestPageMapPivots(t *testing.T) {
	a := weft.FromSlice([]int64{0, 2, 4, 0}, 2, 2)
	if got := fmt.Sprint(weft.Data[float32](kernel.PageMap(kernel.Inv, a))); got != "[0 0.25 0.5 0]" {
		t.Errorf("inverse %s", got)
	}
	singular := kernel.PageMap(kernel.Inv, weft.FromSlice([]float64{1, 2, 2, 4}, 2, 2))
	for _, x := range weft.Data[float64](singular) {
		if x-x == 0 {
			t.Errorf("the inverse of a singular page has %v", x)
		}
	}
	h := weft.FromSlice([]float64{4, 0, 0, 2}, 2, 2).To(weft.Float16)
	if y := kernel.PageMap(kernel.Inv, h); y.DType() != weft.Float16 || fmt.Sprint(weft.Data[float32](y.To(weft.Float32))) != "[0.25 0 0 0.5]" {
		t.Errorf("of float16: %v", y)
	}
}

// Gradients by finite differences, twice.
func TestPageMapGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	a0, b0, w := fill(r, 2*3*3), fill(r, 3*2), weft.FromSlice(fill(r, 2*3*2), 2, 3, 2)
	for i := range 3 {
		a0[i*4] += 3
		a0[9+i*4] += 3
	}
	first := func(a, b *weft.Tensor, create bool) []*weft.Tensor {
		loss := kernel.PageMap(kernel.LeftDivide, a, b).Mul(w).Sum()
		return weft.Grad(loss, []*weft.Tensor{a, b}, weft.GradOpts{Create: create})
	}
	tensors := func(a, b []float64) (*weft.Tensor, *weft.Tensor) {
		return weft.FromSlice(slices.Clone(a), 2, 3, 3).RequireGrad(), weft.FromSlice(slices.Clone(b), 3, 2).RequireGrad()
	}
	loss := func(a, b []float64) float64 {
		x, y := tensors(a, b)
		return kernel.PageMap(kernel.LeftDivide, x.Detach(), y.Detach()).Mul(w).Sum().Item()
	}
	norm := func(a, b []float64) float64 { // of the gradient
		x, y := tensors(a, b)
		g := first(x, y, false)
		return g[0].Mul(g[0]).Sum().Item() + g[1].Mul(g[1]).Sum().Item()
	}
	ta, tb := tensors(a0, b0)
	g := first(ta, tb, true)
	h := weft.Grad(g[0].Mul(g[0]).Sum().Add(g[1].Mul(g[1]).Sum()), []*weft.Tensor{ta, tb})
	check := func(what string, got []float64, at []float64, f func() float64) {
		for i, x := range at {
			const d = 1e-5
			at[i] = x + d
			up := f()
			at[i] = x - d
			down := f()
			at[i] = x
			if want := (up - down) / (2 * d); got[i]-want > 1e-7 || want-got[i] > 1e-7 {
				t.Errorf("%s %d: %v, want %v", what, i, got[i], want)
			}
		}
	}
	check("by a", weft.Data[float64](g[0]), a0, func() float64 { return loss(a0, b0) })
	check("by b", weft.Data[float64](g[1]), b0, func() float64 { return loss(a0, b0) })
	check("twice by a", weft.Data[float64](h[0]), a0, func() float64 { return norm(a0, b0) })
	check("twice by b", weft.Data[float64](h[1]), b0, func() float64 { return norm(a0, b0) })
}

func TestPageMapErrors(t *testing.T) {
	m := weft.Ones(3, 3)
	for want, f := range map[string]func(){
		"pagemap: f: is nil":                                func() { kernel.PageMap(nil, m) },
		"pagemap: f: is PageOp(99)":                         func() { kernel.PageMap(kernel.PageOp(99), m) },
		"inv: takes 1 argument, got 2":                      func() { kernel.PageMap(kernel.Inv, m, m) },
		"inv: pages of 3 rows and 2 columns are not square": func() { kernel.PageMap(kernel.Inv, weft.Ones(3, 2)) },
		"leftdivide: pages of 3 rows and of 2 do not fit":   func() { kernel.PageMap(kernel.LeftDivide, m, weft.Ones(2, 1)) },
		"transpose: argument 0 is of shape [4]":             func() { kernel.PageMap(kernel.Transpose, weft.Ones(4)) },
		"matmul: argument 1 is a int, want a tensor":        func() { kernel.PageMap(kernel.MatMul, m, 2) },
		"the kernel.Func is nil":                            func() { var f *kernel.Func; kernel.PageMap(f, m) },
		"leftdivide: shapes do not broadcast: [2] and [3]":  func() { kernel.PageMap(kernel.LeftDivide, weft.Ones(2, 3, 3), weft.Ones(3, 3, 3)) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
