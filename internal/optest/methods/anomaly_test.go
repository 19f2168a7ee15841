package methods_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// An anomaly is a computation with NaN in a gradient: a function of x that calls line on the line before the
// call of the operation at fault.
type anomaly struct {
	x    []float64
	f    func(x *weft.Tensor, line func()) *weft.Tensor
	want string
}

var anomalies = map[string]anomaly{
	"root times 0": {[]float64{1, 0, 4}, func(x *weft.Tensor, line func()) *weft.Tensor {
		line()
		x = x.Sqrt()
		return x.Mul(0)
	}, "sqrt backward gives NaN: 1 of 3 elements, the first at [1], in the gradient of argument 0; sqrt was called"},
	"0 by 0": {[]float64{0, 1}, func(x *weft.Tensor, line func()) *weft.Tensor {
		line()
		return x.Mul(2).Div(x)
	}, "div backward gives NaN: 1 of 2 elements, the first at [0], in the gradient of argument 1; div was called"},
	"logarithm times 0": {[]float64{2, 0}, func(x *weft.Tensor, line func()) *weft.Tensor {
		line()
		x = x.Log()
		return weft.Where(x.Gt(-1), x, 0).Mul(0).Add(x.Mul(0))
	}, "log backward gives NaN: 1 of 2 elements, the first at [1], in the gradient of argument 0; log was called"},
	"several results": {[]float64{3, 3}, func(x *weft.Tensor, line func()) *weft.Tensor {
		v, m := x.VarMean(0)
		line()
		v = v.Sqrt()
		return v.Mul(0).Add(m)
	}, "sqrt backward gives NaN: 1 of 1 elements, the first at [], in the gradient of argument 0; sqrt was called"},
	"sum of uses": {[]float64{0}, func(x *weft.Tensor, line func()) *weft.Tensor {
		line()
		y := x.Mul(1)
		return y.Sqrt().Sub(y.Exp().Sub(1).Sqrt())
	}, "the sum of gradients for the result of mul gives NaN: 1 of 1 elements, the first at [0]; mul was called"},
	"leaf": {[]float64{0}, func(x *weft.Tensor, line func()) *weft.Tensor {
		return x.Sqrt().Sub(x.Exp().Sub(1).Sqrt())
	}, "the sum of gradients for a leaf of shape [1] gives NaN"},
	"hook": {[]float64{1}, func(x *weft.Tensor, line func()) *weft.Tensor {
		line()
		y := x.Exp()
		y.Hook(func(dy *weft.Tensor) *weft.Tensor { return dy.Sub(1).Div(0) })
		return y
	}, "a hook for the result of exp gives NaN: 1 of 1 elements, the first at [0]; exp was called"},
	"function of the user": {[]float64{1}, func(x *weft.Tensor, line func()) *weft.Tensor {
		f := &weft.Func{Name: "mine", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Exp() },
			Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return list(dy.Sub(1).Div(0)) }}
		line()
		return f.Apply(x)
	}, "mine backward gives NaN: 1 of 1 elements, the first at [0], in the gradient of argument 0; mine was called"},
	"recomputed": {[]float64{0}, func(x *weft.Tensor, line func()) *weft.Tensor {
		return weft.Recompute(func(x *weft.Tensor) *weft.Tensor {
			line()
			x = x.Sqrt()
			return x.Exp().Mul(0)
		})(x.Mul(1))
	}, "sqrt backward gives NaN: 1 of 1 elements, the first at [0], in the gradient of argument 0; sqrt was called"},
}

// refusedAt checks that an error of a pass has a text and ends with a line of this file, 0 for none.
func refusedAt(t *testing.T, what string, err error, text string, line int) {
	t.Helper()
	if line > 0 {
		text += fmt.Sprintf(" (at %s:%d)", thisFile(), line)
	}
	var e *weft.Error
	if !errors.As(err, &e) || e.Op != "backward" || !strings.HasSuffix(strings.Replace(e.Error(), "\n", "", 1), text) && !(line == 0 && strings.Contains(e.Error(), text)) {
		t.Errorf("%s: %v, want %q", what, err, text)
	}
}

func thisFile() string { _, file, _, _ := runtime.Caller(0); return file }

// TestDetectAnomaly: the error names the operation and the line it was called at, and outside there is none.
func TestDetectAnomaly(t *testing.T) {
	for what, c := range anomalies {
		for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.BFloat16} {
			x := weft.FromSlice(c.x).To(d).RequireGrad()
			line := 0
			here := func() { _, _, line, _ = runtime.Caller(1); line++ }
			err := tensortest.Try(func() {
				weft.DetectAnomaly(func() { c.f(x, here).Sum().Backward() })
			})
			refusedAt(t, what+" of "+d.String(), err, c.want, line)
			if err := tensortest.Try(func() { c.f(x, here).Sum().Backward() }); err != nil {
				t.Errorf("%s outside: %v", what, err)
			}
		}
	}
}

// TestDetectAnomalyScopes: an operation from outside has no line; scopes nest, and hold for a goroutine. Right
// gradients have the same bits.
func TestDetectAnomalyScopes(t *testing.T) {
	x := weft.FromSlice([]float32{0, 1}).RequireGrad()
	outside := x.Sqrt()
	root := func() { x.Sqrt().Mul(0).Sum().Backward() }
	refused := func(what string, f func()) {
		t.Helper()
		refusedAt(t, what, tensortest.Try(f), "sqrt backward gives NaN", 0)
	}
	refusedAt(t, "called outside", tensortest.Try(func() { weft.DetectAnomaly(func() { outside.Mul(0).Sum().Backward() }) }), "(call it inside DetectAnomaly to see its line)", 0)
	weft.DetectAnomaly(func() {
		refused("nested", func() { weft.DetectAnomaly(root) })
		refused("after a nested one", root)
		y := x.Sqrt().Mul(0).Sum()
		weft.WithoutGrad(func() { refused("inside WithoutGrad", func() { y.Backward() }) })
		var other sync.WaitGroup
		for range 16 {
			other.Go(func() {
				y := weft.FromSlice([]float32{0, 1}).RequireGrad()
				y.Sqrt().Mul(0).Sum().Backward()
			})
		}
		other.Wait()
	})
	root()
	w := tensortest.Noise(1, 0.1, 4, 4).RequireGrad()
	run := func() *weft.Tensor { return weft.Grad(w.MatMul(w).Slice(weft.Range(0, 2)).Tanh().Sum(), list(w))[0] }
	var inside *weft.Tensor
	weft.DetectAnomaly(func() { inside = run() })
	tensortest.SameBits(t, "gradient", inside, run())
}

// TestDetectAnomalyOfOtherPasses: second derivatives, Jacobians, seeds, compiled functions, and values written in
// place or released.
func TestDetectAnomalyOfOtherPasses(t *testing.T) {
	x := weft.FromSlice([]float64{0, 1}).RequireGrad()
	line := 0
	here := func() { _, _, line, _ = runtime.Caller(1); line++ }
	in := func(f func()) func() { return func() { weft.DetectAnomaly(f) } }
	step := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return weft.Grad(x.Sqrt().Mul(0).Sum(), list(x))[0] })
	power := func() *weft.Tensor {
		here()
		y := x.Pow(1.5)
		return weft.Grad(y.Sum(), list(x), weft.GradOpts{Create: true})[0]
	}
	saved := func() (y *weft.Tensor) {
		weft.DetectAnomaly(func() {
			z := x.Mul(2)
			here()
			y = z.Exp().Mul(z)
			z.AddAssign(1)
		})
		return y
	}
	for _, c := range []struct {
		what string
		f    func()
		text string
	}{
		{"second derivative", in(func() { power().Mul(0).Sum().Backward() }), "is part of the gradient of pow, which was called"},
		{"jacobian", in(func() {
			weft.Jacobian(func(x *weft.Tensor) *weft.Tensor {
				here()
				x = x.Sqrt()
				return x.Mul(0)
			}, x)
		}), "sqrt was called"},
		{"complex", in(func() {
			z := weft.FromSlice([]complex128{0, 1}).RequireGrad()
			here()
			y := z.Sqrt()
			y.Mul(0).Real().Sum().Backward()
		}), "was called"},
		{"written in place", func() { saved().Sum().Backward() }, "mul was called"},
	} {
		line = 0
		refusedAt(t, c.what, tensortest.Try(c.f), c.text, line)
		if line == 0 {
			t.Errorf("%s: was not called", c.what)
		}
	}
	refusedAt(t, "seed", tensortest.Try(in(func() {
		y := x.Exp()
		weft.BackwardWith(list(y), weft.GradOpts{Seeds: list(y.Detach().Div(0).Sub(y.Div(0)))})
	})), "seeds: number 0 has NaN: 2 of 2 elements, the first at [0]", 0)
	for range 2 { // Debug looks into compiled functions
		weft.DetectAnomaly(func() { tensortest.SameBits(t, "compiled", step.Func()(x).IsNaN().At(1), weft.Scalar(false)) })
	}
	var e *weft.Error
	if err := tensortest.Try(func() { weft.DetectAnomaly(nil) }); !errors.As(err, &e) || e.Op != "detectanomaly" || e.Arg != "f" {
		t.Errorf("nil: %v", err)
	}
}
