package weft

import (
	"slices"
	"testing"
)

// Every operand of an operation with many gets its gradient, whichever need one.
func TestManyOperands(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 63, 64, 65, 100, 1000} {
		needs := map[string]func(i int) bool{
			"all": func(int) bool { return true }, "the last": func(i int) bool { return i == n-1 },
			"every third": func(i int) bool { return i%3 == 2 }, "from 64 on": func(i int) bool { return i >= 64 },
			"another sixty-four": func(i int) bool { return i&64 == 0 && i%7 == 0 },
		}
		join := map[string]func(ts []*Tensor) *Tensor{
			"stack": func(ts []*Tensor) *Tensor { return Stack(ts, 0) },
			"cat":   func(ts []*Tensor) *Tensor { return Cat(ts, 0) },
		}
		if n == 1000 && testing.Short() {
			delete(needs, "every third")
			delete(join, "stack")
		}
		// The sum over i of (i+1)*x[i]: the gradient of x[i] is i+1.
		factor := Arange[int](1, n+1).To(Float64)
		for what, need := range needs {
			for name, f := range join {
				xs := make([]*Tensor, n)
				some := false
				for i := range xs {
					xs[i] = vec(float64(i))
					if need(i) {
						xs[i].RequireGrad()
						some = true
					}
				}
				y := f(xs)
				if y.RequiresGrad() != some {
					t.Fatalf("%s of %d of which %s need a gradient: RequiresGrad is %v", name, n, what, !some)
				}
				if !some {
					continue
				}
				y.Flatten(0).Mul(factor).Sum().Backward()
				for i, x := range xs {
					g := x.Grad()
					if (g != nil) != need(i) || g != nil && g.Item() != float64(i+1) {
						t.Fatalf("%s of %d of which %s need a gradient: operand %d has %v", name, n, what, i, g)
					}
				}
			}
		}
	}
	// As inputs of Grad, and to second order.
	xs := make([]*Tensor, 130)
	for i := range xs {
		xs[i] = vec(float64(i)).RequireGrad()
	}
	gs := Grad(Cat(xs, 0).Pow(3).Sum(), xs, GradOpts{Create: true})
	hs := Grad(Cat(gs, 0).Sum(), xs)
	for i := range xs {
		if x := float64(i); gs[i].Item() != 3*x*x || hs[i].Item() != 6*x {
			t.Fatalf("x^3 at %v has gradients %v and %v", x, gs[i].Item(), hs[i].Item())
		}
	}
}

// The gradients of one operation are kept apart by the operands that need one.
func TestOperandSets(t *testing.T) {
	for set := range 1 << 5 {
		xs := make([]*Tensor, 5)
		for i := range xs {
			xs[i] = vec(1)
			if set>>i&1 != 0 {
				xs[i].RequireGrad()
			}
		}
		if set == 0 {
			continue
		}
		Cat(xs, 0).Sum().Backward()
		var got []int
		for i, x := range xs {
			if x.Grad() != nil {
				got = append(got, i)
			}
		}
		var want []int
		for i := range xs {
			if set>>i&1 != 0 {
				want = append(want, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("operands %v need a gradient, %v have one", want, got)
		}
	}
}
