package weft_test

import (
	"slices"
	"testing"
	"time"

	"weft"
)

// TestShapeIsACopy writes into what Shape and Strides return, within their lengths and behind, and
// looks at the tensor, at what shares its sizes and at later results of the same operations.
func TestShapeIsACopy(t *testing.T) {
	a, b := weft.Ones(4, 5), weft.Ones(5, 3)
	ops := map[string]func() *weft.Tensor{
		"leaf":      func() *weft.Tensor { return a },
		"exp":       func() *weft.Tensor { return a.Exp() },
		"matmul":    func() *weft.Tensor { return a.MatMul(b) },
		"sum":       func() *weft.Tensor { return a.Sum(0) },
		"transpose": func() *weft.Tensor { return a.T() },
		"at":        func() *weft.Tensor { return a.At(1) },
		"reshape":   func() *weft.Tensor { return a.Reshape(2, 10) },
		"expr":      func() *weft.Tensor { return weft.Expr("a*2", a) },
		"random":    func() *weft.Tensor { return weft.Randn(4, 5) },
		"gradient": func() *weft.Tensor {
			x := weft.Ones(4, 5).RequireGrad()
			x.Square().Sum().Backward()
			return x.Grad()
		},
		"scalar": func() *weft.Tensor { return a.Sum() },
	}
	for name, f := range ops {
		y := f()
		shape, strides := y.Shape(), y.Strides()
		for _, get := range []func() []int{y.Shape, y.Strides} {
			s := get()
			for i := range s[:cap(s)] {
				s[:cap(s)][i] = 1 << 40
			}
		}
		for what, z := range map[string]*weft.Tensor{"the tensor": y, "a later result": f()} {
			if !slices.Equal(z.Shape(), shape) || !slices.Equal(z.Strides(), strides) {
				t.Errorf("%s: writing into its shape and strides makes %s %v %v, want %v %v", name, what, z.Shape(), z.Strides(), shape, strides)
			}
		}
	}
}

var kept []int

// TestShapeAllocatesOnce counts what a call of Shape costs.
func TestShapeAllocatesOnce(t *testing.T) {
	x, scalar := weft.Ones(2, 3, 4), weft.Scalar(1)
	if n := testing.AllocsPerRun(100, func() { kept = x.Shape() }); n > 1 {
		t.Errorf("Shape allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { kept = scalar.Shape() }); n > 0 {
		t.Errorf("Shape of a scalar allocates %v times", n)
	}
}

// TestTraceThatFailsLeavesNoLock fails twice while it traces one operation. A number that does
// not fit once left the operation locked for the process.
func TestTraceThatFailsLeavesNoLock(t *testing.T) {
	x := weft.ZerosOf(weft.Uint8, 3)
	done := make(chan error)
	go func() {
		for range 3 {
			f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.BitOr(1000) })
			if _, err := f.Call(x); err == nil {
				t.Error("1000 fits a uint8")
			}
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("an operation whose trace failed is locked")
	}
}
