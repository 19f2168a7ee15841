package main

import (
	"weft"
	"weft/bench/worker"
)

// What generated loops meet beside long contiguous rows: short rows, elements at steps, truth
// values, and pairs of functions.

func init() {
	short := func(name string, width int, f func(x *weft.Tensor) *weft.Tensor) {
		eager(name, func(p worker.Params) func() *weft.Tensor {
			x := uniform(p.N*width, p.DType, 1, -4, 4, p.N, width)
			return func() *weft.Tensor { return f(x) }
		})
	}
	short("sum of rows of 10", 10, func(x *weft.Tensor) *weft.Tensor { return x.Sum(1) })
	short("max of rows of 17", 17, func(x *weft.Tensor) *weft.Tensor { return x.Max(1) })
	short("logsumexp of rows of 32", 32, func(x *weft.Tensor) *weft.Tensor { return x.LogSumExp(1) })
	short("softmax of rows of 40", 40, func(x *weft.Tensor) *weft.Tensor { return x.Softmax(1) })

	eager("x[::-1]", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N)
		return func() *weft.Tensor { return x.Flip(0).Contiguous() }
	})
	eager("x[::-2]", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N)
		return func() *weft.Tensor { return x.Flip(0).Slice(weft.Range(0, weft.End, 2)).Contiguous() }
	})
	eager("stack of two on the last axis", func(p worker.Params) func() *weft.Tensor {
		x := []*weft.Tensor{random(p.DType, 1, p.N), random(p.DType, 2, p.N)}
		return func() *weft.Tensor { return weft.Stack(x, 1) }
	})
	worker.Cases["x[:,::2] = y"] = func(p worker.Params) (*worker.Case, error) {
		x, y := random(p.DType, 1, p.N, p.N), random(p.DType, 2, p.N, p.N/2)
		run := func() { x.Slice(weft.All, weft.Range(0, weft.End, 2)).Assign(y) }
		return &worker.Case{Run: run, Check: func() []float64 { run(); return summary(x) }}, nil
	}

	eager("all of a mask", func(p worker.Params) func() *weft.Tensor {
		m := random(p.DType, 1, p.N).Gt(-2)
		return func() *weft.Tensor { return m.All() }
	})
	eager("any(x>2)", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N)
		return func() *weft.Tensor { return weft.Expr("any(x>2)", x) }
	})

	pair := func(p worker.Params) []any {
		return []any{uniform(p.N, p.DType, 1, -4, 4), random(p.DType, 2, p.N)}
	}
	for _, text := range []string{"sigmoid(x)*tanh(y)", "sin(x)*cos(x)+y"} {
		eager(text, func(p worker.Params) func() *weft.Tensor {
			a := pair(p)
			return func() *weft.Tensor { return weft.Expr(text, a...) }
		})
	}
}
