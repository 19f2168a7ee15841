package methods_test

import (
	"errors"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// scaled is the identity with a gradient that is times as large.
func scaled(times float64) *weft.Func {
	return &weft.Func{Name: "scaled", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Clone() },
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return list(dy.Mul(times)) }}
}

// TestGradCheck: right gradients pass, of one result and of several, real and complex; wrong ones are named.
func TestGradCheck(t *testing.T) {
	x := tensortest.Noise(1, 1, 2, 3).To(weft.Float64)
	w := tensortest.Noise(2, 1, 3, 2).To(weft.Float64)
	z := weft.Complex(x, x.Sin().Add(0.3))
	one := func(f func(x *weft.Tensor) *weft.Tensor) func(x ...*weft.Tensor) *weft.Tensor {
		return func(x ...*weft.Tensor) *weft.Tensor { return f(x[0]) }
	}
	several := func(x ...*weft.Tensor) []*weft.Tensor {
		v, i := x[0].TopK(2, 1)
		return list(x[0].MatMul(x[1]).Tanh(), i, v, weft.OnesOf(weft.Float64, 2), x[1].Sum())
	}
	mixed := func(x ...*weft.Tensor) []*weft.Tensor {
		return list(x[0].Mul(x[1].Conj()).Abs(), x[0].Exp().Mul(x[1]).Mul(2+1i))
	}
	for what, err := range map[string]error{
		"several":       weft.GradCheck(several, list(x.T().Clone().T(), w)),
		"several again": weft.GradGradCheck(several, list(x, w)),
		"complex":       weft.GradCheck(mixed, list(z, z.Sin())),
		"complex again": weft.GradGradCheck(mixed, list(z, z.Sin())),
		"mixed":         weft.GradCheck(mixed, list(z, x)),
		"other inputs":  weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor { return x[0].IndexSelect(0, x[1]) }, list(x, weft.FromSlice([]int64{1, 1}))),
		"no elements":   weft.GradCheck(one((*weft.Tensor).Exp), list(weft.ZerosOf(weft.Float64, 0))),
		"a number":      weft.GradGradCheck(one((*weft.Tensor).Exp), list(weft.ScalarOf(weft.Float64, 2))),
		"loose":         weft.GradCheck(scaled(1.1).Apply, list(x), weft.GradCheckOpts{Relative: new(0.2)}),
		"loose in all":  weft.GradCheck(scaled(1.1).Apply, list(x), weft.GradCheckOpts{Absolute: new(0.2)}),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	g := weft.NewGenerator(1)
	captured := w.Clone().RequireGrad()
	from := func(call int, then func(x ...*weft.Tensor) []*weft.Tensor) func(x ...*weft.Tensor) []*weft.Tensor {
		n := 0
		return func(x ...*weft.Tensor) []*weft.Tensor {
			if n++; n >= call {
				return then(x...)
			}
			return list(x[0])
		}
	}
	for what, c := range map[string]struct {
		err  error
		text string
	}{
		"wrong": {weft.GradCheck(func(x ...*weft.Tensor) []*weft.Tensor {
			return list(x[0], weft.Cat(list(x[1].Slice(weft.Index(0)), scaled(3).Apply(x[1].Slice(weft.Index(1)))), 0))
		}, list(x, w)), "the derivative of result 1, element [2], by input 1, element [1 0], is 3 by Backward and "},
		"wrong of complex": {weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor {
			return weft.Complex(x[0].Real(), scaled(3).Apply(x[0].Imag()))
		}, list(z)), "of the imaginary part by the imaginary one"},
		"wrong again": {weft.GradGradCheck(func(x ...*weft.Tensor) *weft.Tensor {
			f := &weft.Func{Name: "square", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
				c.Save(x[0])
				return x[0].Square()
			}, Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
				return list(c.Saved(0).Detach().Mul(dy).Mul(2))
			}}
			return f.Apply(x[0])
		}, list(x)), "gradgradcheck"},
		"no gradient":    {weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor { return x[0].Detach().Square() }, list(x)), "is 0 by Backward"},
		"not used":       {weft.GradCheck(func(...*weft.Tensor) *weft.Tensor { return captured.Square() }, list(x)), "no result with a gradient by input 0"},
		"one not used":   {weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor { return x[0].MatMul(captured) }, list(x, captured)), "no result with a gradient by input 1"},
		"constant":       {weft.GradCheck(func(...*weft.Tensor) *weft.Tensor { return w }, list(x)), "no result with a gradient by input 0"},
		"not used again": {weft.GradGradCheck(func(...*weft.Tensor) *weft.Tensor { return captured.Square() }, list(x)), "no result with a gradient by input 0"},
		"random":         {weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(g.Rand(3)) }, list(x)), "different values of result 0"},
		"in float32":     {weft.GradCheck(one(func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Float32).Exp() }), list(x)), "result 0 in float32"},
		"again":          {weft.GradGradCheck(one(func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Float32).Exp() }), list(x)), "result 0 in float32"},
		"fewer":          {weft.GradCheck(from(3, func(x ...*weft.Tensor) []*weft.Tensor { return nil }), list(x)), "1 result and then 0"},
		"narrower":       {weft.GradCheck(from(3, func(x ...*weft.Tensor) []*weft.Tensor { return list(x[0].Sum(-1)) }), list(x)), "float64[2 3] and then float64[2]"},
		"wider":          {weft.GradCheck(from(4, func(x ...*weft.Tensor) []*weft.Tensor { return list(weft.Cat(list(x[0], x[0]), 0)) }), list(x)), "then float64[4 3]"},
		"reshaped":       {weft.GradCheck(from(2, func(x ...*weft.Tensor) []*weft.Tensor { return list(x[0].Flatten(0)) }), list(x)), "then float64[6]"},
		"float32":        {weft.GradCheck(one((*weft.Tensor).Exp), list(x.To(weft.Float32))), "input 0 holds float32"},
		"no floats":      {weft.GradCheck(one((*weft.Tensor).Abs), list(weft.Arange(3))), "no tensor of float64"},
		"nothing":        {weft.GradCheck(one((*weft.Tensor).Abs), nil), "no tensor of float64"},
		"nil":            {weft.GradCheck[*weft.Tensor](nil, list(x)), "f: is nil"},
		"nil tensor":     {weft.GradCheck(one((*weft.Tensor).Abs), list(nil)), "nil"},
		"bad eps":        {weft.GradCheck(one((*weft.Tensor).Exp), list(x), weft.GradCheckOpts{Eps: new(0.0)}), "Eps 0"},
		"bad absolute":   {weft.GradCheck(one((*weft.Tensor).Exp), list(x), weft.GradCheckOpts{Absolute: new(-1.0)}), "Absolute -1"},
	} {
		var e *weft.Error
		if !errors.As(c.err, &e) || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", what, c.err, c.text)
		}
	}
}
