package main

import (
	"fmt"
	"strings"

	"weft"
)

// The pointwise works. A result is allocated anew in every run, and given back
// at once, as a peer's is by its reference count; the other formulation leaves it
// to the collector.

func init() {
	for _, text := range []string{"a+1", "2*a+3*b", "pow(a,2)+pow(b,2)+2*a*b", "2*a+pow(b,10)"} {
		formula(text, func(n int, d string) []any {
			return []any{uniform(n, d, 1, -1, 1), uniform(n, d, 2, -1, 1)}[:min(strings.Count(text, "b")+1, 2)]
		})
	}
	formula("exp(-x*x)*sin(x)+log1p(abs(x))", wide)
	eager("add 16", func(p Params) func() *weft.Tensor {
		a, b := uniform(p.N, p.DType, 1, -1, 1), uniform(p.N, p.DType, 2, -1, 1)
		return func() *weft.Tensor { return a.Add(b) }
	})
}

// formula adds the case of a formula; args gives its arrays.
func formula(text string, args func(n int, d string) []any) {
	eager(text, func(p Params) func() *weft.Tensor {
		a := args(p.N, p.DType)
		return func() *weft.Tensor { return weft.Expr(text, a...) }
	})
}

// eager adds a case that is a function returning a new array.
func eager(name string, prepare func(p Params) func() *weft.Tensor) {
	also[name] = append(also[name], collected)
	cases[name] = func(p Params) (*Case, error) {
		f := prepare(p)
		return &Case{
			Run:   func() { f().Release() },
			Also:  map[string]func(){collected: func() { f() }},
			Check: func() []float64 { return summary(f()) },
		}, nil
	}
}

// uniform is Uniform as a tensor, of one dimension if no shape is given.
func uniform(n int, d string, seed int, lo, hi float64, shape ...int) *weft.Tensor {
	if len(shape) == 0 {
		shape = []int{n}
	}
	var t *weft.Tensor
	switch d {
	case "float32":
		t = weft.ZerosOf(weft.Float32, shape...)
		weft.Borrow(t, func(p []float32) { fill(p, seed, lo, hi) })
	case "float64":
		t = weft.ZerosOf(weft.Float64, shape...)
		weft.Borrow(t, func(p []float64) { fill(p, seed, lo, hi) })
	default:
		panic(fmt.Sprintf("no dtype %q", d))
	}
	return t
}

func summary(t *weft.Tensor) []float64 {
	if t.DType() == weft.Float32 {
		return Summary(weft.Data[float32](t))
	}
	return Summary(weft.Data[float64](t.To(weft.Float64)))
}
