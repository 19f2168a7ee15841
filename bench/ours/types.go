package main

import (
	"fmt"

	"weft"
	"weft/bench/worker"
)

// Works over all element types. Their inputs are whole numbers from 1 to 100, for floats
// of 16 bits divided by 8, so that every type holds them.

func init() {
	of := func(name string, f func(a, b *weft.Tensor) *weft.Tensor) {
		compared("types "+name, func(p worker.Params) (func() *weft.Tensor, func()) {
			a, b := elements(p.N, p.DType, 1), elements(p.N, p.DType, 2)
			return func() *weft.Tensor { return f(a, b) }, streaming(p.Threads, a, b)
		})
	}
	of("2*a+3*b", func(a, b *weft.Tensor) *weft.Tensor { return weft.Expr("2*a+3*b", a, b) })
	of("max(a,b)*3", func(a, b *weft.Tensor) *weft.Tensor { return weft.Expr("max(a,b)*3", a, b) })
	of("a<b", func(a, b *weft.Tensor) *weft.Tensor { return a.Lt(b) })
	of("a//7", func(a, _ *weft.Tensor) *weft.Tensor { return a.FloorDiv(7) })
	of("a//b", func(a, b *weft.Tensor) *weft.Tensor { return a.FloorDiv(b) })
	of("a%b", func(a, b *weft.Tensor) *weft.Tensor { return a.Mod(b) })
	of("a*b", func(a, b *weft.Tensor) *weft.Tensor { return a.Mul(b) })
	of("abs(a)", func(a, _ *weft.Tensor) *weft.Tensor { return a.Abs() })
	for _, name := range conversions {
		d := dtypeOf(name)
		compared("types to "+name, func(p worker.Params) (func() *weft.Tensor, func()) {
			a := elements(p.N, p.DType, 1)
			// As many bytes are moved by a copy of half of both.
			like := weft.ZerosOf(weft.Uint8, p.N*(a.DType().Size()+d.Size())/2)
			return func() *weft.Tensor { return a.To(d) }, func() { like.Clone().Release() }
		})
	}
	compared("types matmul", func(p worker.Params) (func() *weft.Tensor, func()) {
		a, b := elements(p.N*p.N, p.DType, 1).Reshape(p.N, p.N), elements(p.N*p.N, p.DType, 2).Reshape(p.N, p.N)
		x, y := a.To(weft.Float32), b.To(weft.Float32)
		return func() *weft.Tensor { return a.MatMul(b) }, func() { x.MatMul(y).Release() }
	})
	compared("types linear of a row", func(p worker.Params) (func() *weft.Tensor, func()) {
		a, w := elements(p.N*p.N, p.DType, 1).Reshape(p.N, p.N).Slice(weft.Range(0, 1)).Clone(), elements(p.N*p.N, p.DType, 2).Reshape(p.N, p.N)
		x, y := a.To(weft.Float32), w.To(weft.Float32)
		return func() *weft.Tensor { return a.Linear(w, nil) }, func() { x.Linear(y, nil).Release() }
	})
}

// conversions are the types that the conversions of the table lead to.
var conversions = []string{"bool", "uint8", "int16", "int32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"}

func dtypeOf(name string) weft.DType {
	for d := weft.Bool; d <= weft.Complex128; d++ {
		if d.String() == name {
			return d
		}
	}
	panic(fmt.Sprintf("no dtype %q", name))
}

// elements are n numbers of a type, as elements in bench/peers/inputs.py.
func elements(n int, d string, seed int) *weft.Tensor {
	p := make([]int64, n)
	for i, v := range worker.Scrambled(n, seed) {
		p[i] = int64(v)%100 + 1
	}
	t, to := weft.FromSlice(p), dtypeOf(d)
	switch {
	case to.Size() == 2 && to.Float():
		return t.To(weft.Float32).Div(8).To(to)
	case d == "complex64" || d == "complex128":
		return weft.Complex(t.To(weft.Float32), elements(n, "float32", seed+10)).To(to)
	}
	return t.To(to)
}
