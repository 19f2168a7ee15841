package weft_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"weft"
)

// A whole step of training is one function: w is captured and written where it is.
func ExampleCompile() {
	w := weft.FromSlice([]float32{0, 0}, 2, 1).RequireGrad()
	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
		loss := x.MatMul(w).Sub(y).Square().Mean()
		loss.Backward()
		weft.WithoutGrad(func() { w.SubAssign(w.Grad().Mul(0.5)) })
		w.SetGrad(nil)
		return loss
	})
	x := weft.FromSlice([]float32{1, 0, 0, 1}, 2, 2)
	y := weft.FromSlice([]float32{3, -2}, 2, 1)
	for range 3 {
		loss, err := step.Call(x, y)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(loss.Item())
	}
	fmt.Println(weft.Data[float32](w))
	// Output:
	// 6.5
	// 1.625
	// 0.40625
	// [2.625 -1.75]
}

// Structs, slices and maps of tensors go in and out with Func, which has the type of the
// function.
func ExampleCompiled_Func() {
	type moments struct{ Mean, Var *weft.Tensor }
	f := weft.Compile(func(xs map[string]*weft.Tensor, scale float64) moments {
		all := weft.Cat([]*weft.Tensor{xs["a"], xs["b"]}, 0).Mul(scale)
		return moments{all.Mean(), all.Var()}
	}).Func()
	m := f(map[string]*weft.Tensor{"a": weft.Arange(3.0), "b": weft.Ones(2)}, 2)
	fmt.Printf("%.2f %.2f\n", m.Mean.Item(), m.Var.Item())
	// Output: 2.00 1.60
}

// Another shape compiles anew; programs for the shapes before stay.
func ExampleCompiled_Why() {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Sum() })
	for _, n := range []int{2, 3, 2} {
		f.Call(weft.Zeros(n))
	}
	fmt.Println(len(f.Why()) > 0)
	// Output: true
}

// A call ends when its context does, with an error that wraps the cause.
func ExampleCompiled_CallContext() {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Sum() })
	ctx, cancel := context.WithCancelCause(context.Background())
	y, err := f.CallContext(ctx, weft.Zeros(3))
	fmt.Println(y, err)
	late := errors.New("nobody waits for it any more")
	cancel(late)
	_, err = f.CallContext(ctx, weft.Zeros(3))
	fmt.Println(errors.Is(err, late))
	// Output:
	// 3.0 <nil>
	// true
}

// The page shows the graph as it was traced and after each phase, its kernels and their code.
func ExampleCompiled_View() {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Square().Add(1).Log() })
	f.Call(weft.Ones(4))
	var page strings.Builder // or a file
	if err := f.View(&page, nil); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!doctype html>"), strings.Contains(page.String(), "square"))
	// Output: true true
}

// Regions name iterations in a trace, which https://ui.perfetto.dev shows.
func ExampleProfile_Region() {
	p := weft.StartProfile(weft.ProfileOpts{Trace: true})
	for i := range 2 {
		end := p.Region(fmt.Sprint("iteration ", i))
		weft.Ones(1000).Exp().Sum()
		end()
	}
	p.Stop()
	var trace strings.Builder // or a file
	if err := p.WriteTrace(&trace); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(trace.String(), "iteration 1"), strings.Contains(trace.String(), "iteration 2"))
	// Output: true false
}

// What happened while a profile ran, as a file for https://ui.perfetto.dev.
func ExampleProfile_WriteTrace() {
	p := weft.StartProfile(weft.ProfileOpts{Trace: true})
	weft.Ones(1000).Exp().Sum()
	p.Stop()
	var trace strings.Builder // or a file
	if err := p.WriteTrace(&trace); err != nil {
		fmt.Println(err)
	}
	fmt.Println(json.Valid([]byte(trace.String())), strings.Contains(trace.String(), "exp"))
	// Output: true true
}
