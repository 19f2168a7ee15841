package main

import (
	"fmt"

	"weft"
	"weft/bench/worker"
)

// Reductions, rows, layouts and indices.

func init() {
	formula("gelu(x)", wide)
	formula("0.5*x*(1+tanh(0.7978845608028654*(x+0.044715*x*x*x)))", wide)
	eager("softmax 4096x1000", func(p worker.Params) func() *weft.Tensor {
		x := uniform(p.N*1000, p.DType, 1, -4, 4, p.N, 1000)
		return func() *weft.Tensor { return x.Softmax(1) }
	})
	eager("layer norm 4096x1024", func(p worker.Params) func() *weft.Tensor {
		v := weft.Vars{
			"x": uniform(p.N*1024, p.DType, 1, -4, 4, p.N, 1024),
			"w": uniform(1024, p.DType, 2, -1, 1), "b": uniform(1024, p.DType, 3, -1, 1),
		}
		return func() *weft.Tensor {
			return weft.Expr("(x-mean_keep(x,1))/sqrt(var_keep(x,1)+1e-5)*w+b", v)
		}
	})
	for axis := range 2 {
		reduction("sum", axis, func(x *weft.Tensor) *weft.Tensor { return x.Sum(axis) })
		reduction("max", axis, func(x *weft.Tensor) *weft.Tensor { return x.Max(axis) })
		compared(fmt.Sprintf("argmax axis %d", axis), func(p worker.Params) (func() *weft.Tensor, func()) {
			x := random(p.DType, 1, p.N, p.N)
			return func() *weft.Tensor { return x.ArgMax(axis) }, func() { x.Max(axis).Release() }
		})
	}
	eager("transpose copy", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, p.N)
		return func() *weft.Tensor { return x.T().Contiguous() }
	})
	eager("broadcast add", func(p worker.Params) func() *weft.Tensor {
		a, b := uniform(p.N, p.DType, 1, -1, 1, p.N, 1), uniform(p.N, p.DType, 2, -1, 1, 1, p.N)
		return func() *weft.Tensor { return a.Add(b) }
	})
	eager("gather rows of 128", func(p worker.Params) func() *weft.Tensor {
		x, index := uniform(p.N*128, p.DType, 1, -1, 1, p.N, 128), indices(p.N, 2, p.N)
		return func() *weft.Tensor { return x.IndexSelect(0, index) }
	})
	eager("scatter-add rows of 128", func(p worker.Params) func() *weft.Tensor {
		x, index := uniform(p.N*128, p.DType, 1, -1, 1, p.N, 128), indices(p.N, 2, p.N)
		t := uniform(p.N*128, p.DType, 3, -1, 1, p.N, 128)
		return func() *weft.Tensor { return t.IndexAdd(0, index, x) }
	})
	eager("mask select", func(p worker.Params) func() *weft.Tensor {
		x, mask := uniform(p.N, p.DType, 1, -1, 1), random(p.DType, 2, p.N).Gt(0)
		return func() *weft.Tensor { return x.MaskSelect(mask) }
	})
	eager("where", func(p worker.Params) func() *weft.Tensor {
		mask := random(p.DType, 2, p.N).Gt(0)
		a, b := uniform(p.N, p.DType, 1, -1, 1), uniform(p.N, p.DType, 3, -1, 1)
		return func() *weft.Tensor { return weft.Where(mask, a, b) }
	})
}

func wide(n int, d string) []any { return []any{uniform(n, d, 1, -4, 4)} }

// reduction adds the case of a reduction of a square matrix.
func reduction(name string, axis int, f func(x *weft.Tensor) *weft.Tensor) {
	eager(fmt.Sprintf("%s axis %d", name, axis), func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, p.N)
		return func() *weft.Tensor { return f(x) }
	})
}

// random returns scrambled numbers in [-1, 1).
func random(d string, seed int, shape ...int) *weft.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	p := make([]float64, n)
	for i, v := range worker.Scrambled(n, seed) {
		p[i] = float64(v)/(1<<23) - 1
	}
	t := weft.FromSlice(p, shape...)
	if d == "float32" {
		t = t.To(weft.Float32)
	}
	return t
}

// indices returns n scrambled int64 numbers below m.
func indices(n, seed, m int) *weft.Tensor {
	p := make([]int64, n)
	for i, v := range worker.Scrambled(n, seed) {
		p[i] = int64(v) % int64(m)
	}
	return weft.FromSlice(p)
}
