package main

import (
	_ "embed"
	"fmt"
	"strings"

	"weft"
	"weft/bench/worker"
	"weft/kernel"
)

// Functions of a user, compiled. Where plain Go is the yardstick it calls the same function.

//go:embed functions.go
var functions string

func init() {
	source := kernel.MustParse(functions)
	several("mandelbrot", true, func(p worker.Params) (func() []*weft.Tensor, func(), crop) {
		f := source.Func("Escape")
		x, y := axis(p.N, p.DType, -2, 3).Reshape(1, p.N), axis(p.N, p.DType, -1.5, 3).Reshape(p.N, 1)
		like := func() { escapes[float32](x, y) }
		if p.DType == "float64" {
			like = func() { escapes[float64](x, y) }
		}
		return func() []*weft.Tensor { return []*weft.Tensor{f.Map(x, y)} }, like, nil
	})
	stencil := func(work, name string, reach, rank int) {
		several(work, false, func(p worker.Params) (func() []*weft.Tensor, func(), crop) {
			f := source.Func(name)
			shape := make([]int, rank)
			spans := make([]weft.Span, rank)
			for k := range shape {
				shape[k], spans[k] = p.N, weft.Range(reach, p.N-reach)
			}
			x := random(p.DType, 1, shape...)
			return func() []*weft.Tensor { return []*weft.Tensor{f.Stencil(x)} }, nil,
				func(t *weft.Tensor) *weft.Tensor { return t.Slice(spans...) }
		})
	}
	stencil("jacobi", "Jacobi", 1, 2)
	stencil("mean 3x3", "Mean9", 1, 2)
	stencil("7 points", "Seven", 1, 3)
	stencil("mean of 31", "Mean31", 15, 1)
	several("jacobi 100 steps", true, func(p worker.Params) (func() []*weft.Tensor, func(), crop) {
		f := source.Func("Jacobi")
		x := random(p.DType, 1, p.N, p.N)
		sweeps := func() {
			now, next := x.Clone(), x.Clone()
			for range jacobiSteps {
				f.Stencil(now, kernel.StencilOpts{Out: []*weft.Tensor{next}})
				now, next = next, now
			}
			now.Release()
			next.Release()
		}
		return func() []*weft.Tensor {
			last, _ := f.Iterate(jacobiSteps, x)
			return last
		}, sweeps, nil
	})
	several("black-scholes", false, func(p worker.Params) (func() []*weft.Tensor, func(), crop) {
		f := source.Func("Prices")
		s, k, t := uniform(p.N, p.DType, 1, 5, 30), uniform(p.N, p.DType, 2, 1, 100), uniform(p.N, p.DType, 3, 0.25, 10)
		return func() []*weft.Tensor { return f.MapAll(s, k, t) }, nil, nil
	})
	for axis := range 2 {
		several(fmt.Sprintf("mean and variance axis %d", axis), false, func(p worker.Params) (func() []*weft.Tensor, func(), crop) {
			one, moments := source.Func("One"), source.Func("Moments")
			x := random(p.DType, 1, p.N, p.N)
			return func() []*weft.Tensor {
				m := kernel.MapReduce(one, moments, x, kernel.ReduceOpts{Axes: []int{axis}, Commutative: true})
				v := m[2].Div(p.N)
				m[0].Release()
				m[2].Release()
				return []*weft.Tensor{m[1], v}
			}, nil, nil
		})
	}
	several("prefix sum", false, func(p worker.Params) (func() []*weft.Tensor, func(), crop) {
		f := source.Func("Add")
		x := random(p.DType, 1, p.N)
		return func() []*weft.Tensor { return []*weft.Tensor{f.Scan(x)} }, nil, nil
	})
	several("kernel of 16", false, func(p worker.Params) (func() []*weft.Tensor, func(), crop) {
		f := source.Func("Axpy")
		x, y := uniform(p.N, p.DType, 1, -1, 1), uniform(p.N, p.DType, 2, -1, 1)
		return func() []*weft.Tensor { return []*weft.Tensor{f.Map(2, x, y)} }, nil, nil
	})
	// Every run is of another source, and so of another kernel: another number of steps.
	worker.Cases["cold kernel"] = func(p worker.Params) (*worker.Case, error) {
		x, y := uniform(16, p.DType, 1, -1, 1), uniform(16, p.DType, 2, -1, 1)
		steps := 200
		return &worker.Case{Run: func() {
			steps++
			kernel.MustParse(strings.Replace(functions, "range int32(200)", fmt.Sprintf("range int32(%d)", steps), 1)).Func("Escape").Map(x, y).Release()
		}}, nil
	}
}

const jacobiSteps = 100

// A crop is the part of a result that all formulations agree on; nil: all of it.
type crop func(t *weft.Tensor) *weft.Tensor

// several adds a case of new arrays, with a yardstick if compared.
func several(name string, compared bool, prepare func(p worker.Params) (f func() []*weft.Tensor, like func(), c crop)) {
	worker.Also[name] = append(worker.Also[name], collected)
	if compared {
		worker.Also[name] = append(worker.Also[name], yardstick)
	}
	worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
		f, like, part := prepare(p)
		also := map[string]func(){collected: func() { f() }}
		if compared {
			also[yardstick] = like
		}
		return &worker.Case{
			Run: func() {
				for _, t := range f() {
					t.Release()
				}
			},
			Also: also,
			Check: func() []float64 {
				var s []float64
				for _, t := range f() {
					if part != nil {
						t = part(t)
					}
					s = append(s, summary(t)...)
				}
				return s
			},
		}, nil
	}
}

// axis returns lo + i*width/n for i from 0 to below n.
func axis(n int, d string, lo, width float64) *weft.Tensor {
	p := make([]float64, n)
	for i := range p {
		p[i] = lo + float64(float64(i)*width)/float64(n)
	}
	return weft.FromSlice(p).To(dtypeOf(d))
}

// escapes calls Escape for every pair of elements, on one thread.
func escapes[T real](x, y *weft.Tensor) []int32 {
	xs, ys := weft.Data[T](x), weft.Data[T](y)
	out := make([]int32, 0, len(xs)*len(ys))
	for _, ci := range ys {
		for _, cr := range xs {
			out = append(out, Escape(cr, ci))
		}
	}
	return out
}
