package methods_test

import (
	"errors"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// TestAutocastTypes: products are of the scope's type, sums and exponentials float32, others what they get.
func TestAutocastTypes(t *testing.T) {
	x, w := tensortest.Noise(1, 1, 2, 3, 4, 4), tensortest.Noise(2, 1, 5, 3, 3, 3)
	a, b := tensortest.Noise(3, 1, 4, 4), tensortest.Noise(4, 1, 4, 4)
	for _, half := range []weft.DType{weft.BFloat16, weft.Float16} {
		h, wide := a.To(half), a.To(weft.Float64)
		weft.Autocast(half, func() {
			for what, c := range map[string]struct {
				got  *weft.Tensor
				want weft.DType
			}{
				"matmul":         {a.MatMul(b), half},
				"linear":         {a.Linear(b, nil), half},
				"conv2d":         {x.Conv2d(w, nil), half},
				"half matmul":    {h.MatMul(b), half},
				"double matmul":  {wide.MatMul(wide), weft.Float64},
				"half exp":       {h.Exp(), weft.Float32},
				"half sum":       {h.Sum(), weft.Float32},
				"half softmax":   {h.Softmax(-1), weft.Float32},
				"half pow":       {h.Pow(2.5), weft.Float32},
				"half norm":      {h.Norm(2), weft.Float32},
				"half tanh":      {h.Tanh(), half},
				"half add":       {h.Add(1), half},
				"mixed add":      {h.Add(a), weft.Float32},
				"exp":            {a.Exp(), weft.Float32},
				"double exp":     {wide.Exp(), weft.Float64},
				"integer sum":    {weft.Arange(3).Sum(), weft.Int64},
				"integer matmul": {weft.Arange(4).Reshape(2, 2).MatMul(weft.Arange(4).Reshape(2, 2)), weft.Int64},
			} {
				if c.got.DType() != c.want {
					t.Errorf("%v, %s: %v, want %v", half, what, c.got.DType(), c.want)
				}
			}
			tensortest.SameBits(t, "product", a.MatMul(b), a.To(half).MatMul(b.To(half)))
			weft.Autocast(weft.Float32, func() { tensortest.SameBits(t, "disabled", h.Exp(), h.Exp().To(half)) })
			weft.WithoutGrad(func() {
				if d := a.MatMul(b).DType(); d != half {
					t.Errorf("without gradients a product is %v", d)
				}
			})
			done := make(chan weft.DType)
			go func() { done <- a.MatMul(b).DType() }()
			if d := <-done; d != weft.Float32 {
				t.Errorf("on another goroutine a product is %v", d)
			}
		})
		if d := a.MatMul(b).DType(); d != weft.Float32 {
			t.Errorf("after the scope a product is %v", d)
		}
	}
	for what, f := range map[string]func(){
		"nil":     func() { weft.Autocast(weft.Float16, nil) },
		"integer": func() { weft.Autocast(weft.Int32, func() {}) },
		"double":  func() { weft.Autocast(weft.Float64, func() {}) },
	} {
		var e *weft.Error
		if err := tensortest.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAutocastGradients: gradients have the type of their leaf and the bits of conversions by hand; a parameter
// that is used twice is converted once, and again after it was written.
func TestAutocastGradients(t *testing.T) {
	x, weights := tensortest.Noise(1, 1, 3, 4), tensortest.Noise(2, 1, 4, 4)
	step := func(product func(x, w *weft.Tensor) *weft.Tensor, scope func(f func())) []*weft.Tensor {
		w := weights.Detach().RequireGrad()
		var loss *weft.Tensor
		scope(func() { loss = product(product(x, w).Tanh(), w).Square().To(weft.Float32).Sum() })
		loss.Backward()
		return list(loss.Detach(), w.Grad())
	}
	plain := func(f func()) { f() }
	in := func(f func()) { weft.Autocast(weft.BFloat16, f) }
	matmul := func(x, w *weft.Tensor) *weft.Tensor { return x.MatMul(w) }
	var half *weft.Tensor
	once := step(func(x, w *weft.Tensor) *weft.Tensor {
		if half == nil {
			half = w.To(weft.BFloat16)
		}
		return x.To(weft.BFloat16).MatMul(half)
	}, plain)
	each := step(func(x, w *weft.Tensor) *weft.Tensor { return x.To(weft.BFloat16).MatMul(w.To(weft.BFloat16)) }, plain)
	for how, c := range map[string][2][]*weft.Tensor{
		"plain":    {step(matmul, in), once},
		"compiled": {weft.Compile(func() []*weft.Tensor { return step(matmul, in) }).Func()(), once},
		"recomputed": {step(func(x, w *weft.Tensor) *weft.Tensor {
			return weft.Recompute(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) })(x)
		}, in), each},
	} {
		tensortest.SameBits(t, how+" loss", c[0][0], c[1][0])
		tensortest.SameBits(t, how+" gradient", c[0][1], c[1][1])
	}
	w := weights.Clone().RequireGrad()
	in(func() {
		matmul(x, w)
		weft.WithoutGrad(func() { w.MulAssign(3) })
		tensortest.SameBits(t, "written", matmul(x, w).Detach(), x.To(weft.BFloat16).MatMul(w.Detach().To(weft.BFloat16)))
		f := weft.Compile(matmul)
		inside, _ := f.Call(x, weights)
		weft.Autocast(weft.Float32, func() {
			outside, _ := f.Call(x, weights)
			if inside.DType() != weft.BFloat16 || outside.DType() != weft.Float32 {
				t.Errorf("a compiled function gives %v in a scope and %v outside", inside.DType(), outside.DType())
			}
		})
	})
}
