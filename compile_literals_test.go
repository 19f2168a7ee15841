package weft_test

import (
	"math"
	"slices"
	"testing"

	"weft"
)

// Arrays that a compiled function makes of Go values are made anew in each call: what a call
// writes into them, or a user into a result, is not there in the next one.
func TestCompiledFunctionsMakeLiteralsAnew(t *testing.T) {
	made := map[string]func() *weft.Tensor{
		"arange":   func() *weft.Tensor { return weft.Arange(0.0, 4.0) },
		"linspace": func() *weft.Tensor { return weft.Linspace(0, 3, 4) },
		"from":     func() *weft.Tensor { return weft.From([]float32{0, 1, 2, 3}) },
		"zeros":    func() *weft.Tensor { return weft.Zeros(4) },
		"part":     func() *weft.Tensor { return weft.Arange(0.0, 8.0).Slice(weft.Range(2, 6)) },
	}
	uses := map[string]func(c, x *weft.Tensor) *weft.Tensor{
		"added to": func(c, x *weft.Tensor) *weft.Tensor { c.AddAssign(x); return c },
		"returned": func(c, x *weft.Tensor) *weft.Tensor { return c },
		"view returned": func(c, x *weft.Tensor) *weft.Tensor {
			c.Slice(weft.Range(0, 2)).Fill(7)
			return c.Flip(0)
		},
		"read after a write": func(c, x *weft.Tensor) *weft.Tensor { y := c.Mul(2); c.MulAssign(x); return y.Add(c) },
		"released":           func(c, x *weft.Tensor) *weft.Tensor { y := c.Add(x); c.Release(); return y },
	}
	x := weft.Full(3, 4)
	for name, literal := range made {
		for use, f := range uses {
			compiled := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return f(literal(), x) })
			for call := range 3 {
				want := weft.Data[float32](f(literal(), x))
				y, err := compiled.Call(x)
				if err != nil {
					t.Fatalf("%s, %s: %v", name, use, err)
				}
				if got := weft.Data[float32](y); !slices.Equal(got, want) {
					t.Errorf("%s, %s, call %d: %v, want %v", name, use, call, got, want)
				}
				y.Fill(math.Inf(1)) // into a result, which is the caller's
			}
		}
	}
}

// Values inside an interface are checked in each call: maps by other keys than strings and integers
// have no order, structs with hidden fields cannot be made, and values that contain themselves
// have no end.
func TestCompiledFunctionsRefuseValues(t *testing.T) {
	x := weft.Ones(1)
	type hidden struct {
		A *weft.Tensor
		b int
	}
	circle := []any{nil}
	circle[0] = circle
	results := map[string]any{"map": map[float64]*weft.Tensor{1: x}, "struct": hidden{x, 2}, "circle": circle}
	for name, result := range results {
		f := weft.Compile(func(x *weft.Tensor) any { return result }).Func()
		if err := weft.Try(func() { f(x) }); err == nil {
			t.Errorf("a result with a %s is taken", name)
		}
		g := weft.Compile(func(x any) *weft.Tensor { return weft.Ones(1) })
		if _, err := g.Call(result); err == nil {
			t.Errorf("an argument with a %s is taken", name)
		}
	}
	g := weft.Compile(func(x ...any) *weft.Tensor { return weft.Ones(1) })
	for _, args := range [][]any{nil, {nil}, {1}, nil} {
		if _, err := g.Call(args...); err != nil {
			t.Error(err)
		}
	}
}
