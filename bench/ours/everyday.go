package main

import (
	"weft"
	"weft/bench/worker"
	"weft/nn"
)

// Works that programs are full of and benchmarks seldom name: bytes at steps, products with
// one result, narrow pictures, counts, means of groups, bags of rows, a sum with a
// transpose, columns made standard.

func init() {
	eager("rgb to grey", func(p worker.Params) func() *weft.Tensor {
		x := elements(p.N*p.N*3, "uint8", 1).Reshape(p.N, p.N, 3).Permute(2, 0, 1)
		r, g, b := x.At(0), x.At(1), x.At(2)
		return func() *weft.Tensor {
			return weft.Expr("0.299*r + 0.587*g + 0.114*b", weft.Vars{"r": r, "g": g, "b": b})
		}
	})
	eager("dot by matmul", func(p worker.Params) func() *weft.Tensor {
		x, y := random(p.DType, 1, 1, p.N), random(p.DType, 2, p.N, 1)
		return func() *weft.Tensor { return x.MatMul(y) }
	})
	eager("conv 64x224x4 to 64 3x3", func(p worker.Params) func() *weft.Tensor {
		x, w := random(p.DType, 1, p.N, 64, 224, 4), random(p.DType, 2, 64, 64, 3, 3)
		o := weft.ConvOpts{Padding: [2]int{1, 1}}
		return func() *weft.Tensor { return x.Conv2d(w, nil, o) }
	})
	eager("counts of 1000", func(p worker.Params) func() *weft.Tensor {
		i := indices(p.N, 2, 1000)
		return func() *weft.Tensor { return i.BinCount(nil, 1000) }
	})
	eager("means of 1000 groups", func(p worker.Params) func() *weft.Tensor {
		x, i, zero := random(p.DType, 1, p.N), indices(p.N, 2, 1000), weft.Zeros(1000)
		return func() *weft.Tensor {
			sums, counts := zero.IndexAdd(0, i, x), i.BinCount(nil, 1000)
			defer sums.Release()
			defer counts.Release()
			return sums.Div(counts)
		}
	})
	bags := func(p worker.Params) func() *weft.Tensor {
		x, i := random(p.DType, 1, 100_000, 64), indices(p.N*8, 2, 100_000)
		bag, i := &nn.EmbeddingBag{Weight: x, Mode: nn.BagSum}, i.Reshape(p.N, 8)
		return func() *weft.Tensor { return bag.Forward(i) }
	}
	eager("bags of 8 rows of 64", bags)
	compared("compiled bags of 8 rows of 64", func(p worker.Params) (func() *weft.Tensor, func()) {
		x, i := random(p.DType, 1, 100_000, 64), indices(p.N*8, 2, 100_000)
		f := weft.Compile(func(x, i *weft.Tensor) *weft.Tensor {
			return x.IndexSelect(0, i).Reshape(p.N, 8, 64).Sum(1)
		})
		like := bags(p)
		return func() *weft.Tensor { return called(f.Call(x, i)) }, func() { like().Release() }
	})
	eager("x.T+x", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, p.N)
		return func() *weft.Tensor { return x.T().Add(x) }
	})
	eager("channels first", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, 224, 224, 3).Permute(0, 3, 1, 2)
		return func() *weft.Tensor { return x.Contiguous() }
	})
	standardise := func(x *weft.Tensor) *weft.Tensor {
		mean, std := x.Mean(0), x.Std(0)
		centred := x.Sub(mean)
		defer centred.Release()
		return centred.Div(std)
	}
	eager("standardise", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, 64)
		return func() *weft.Tensor { return standardise(x) }
	})
	compared("compiled standardise", func(p worker.Params) (func() *weft.Tensor, func()) {
		x := random(p.DType, 1, p.N, 64)
		f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Sub(x.Mean(0)).Div(x.Std(0)) })
		return func() *weft.Tensor { return called(f.Call(x)) }, func() { standardise(x).Release() }
	})
}

// called is the result of a compiled function, whose error ends the worker's request.
func called(t *weft.Tensor, err error) *weft.Tensor {
	if err != nil {
		panic(err)
	}
	return t
}
