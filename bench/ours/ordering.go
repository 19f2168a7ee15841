package main

import (
	"weft"
	"weft/bench/worker"
)

// Elements in order, counted, added up along an axis, and at places along the last axis.

func init() {
	scrambled := func(p worker.Params) *weft.Tensor { return random(p.DType, 1, p.N) }
	eager("sort", func(p worker.Params) func() *weft.Tensor {
		x := scrambled(p)
		return func() *weft.Tensor {
			values, places := x.Sort(0, weft.SortOpts{})
			places.Release()
			return values
		}
	})
	eager("argsort", func(p worker.Params) func() *weft.Tensor {
		x := scrambled(p)
		return func() *weft.Tensor { return x.ArgSort(0, weft.SortOpts{}) }
	})
	eager("partition", func(p worker.Params) func() *weft.Tensor {
		x := scrambled(p)
		return func() *weft.Tensor { return x.Partition(p.N/2, 0).At(p.N / 2) }
	})
	eager("argpartition", func(p worker.Params) func() *weft.Tensor {
		x := scrambled(p)
		return func() *weft.Tensor {
			return x.IndexSelect(0, x.ArgPartition(p.N/2, 0).Slice(weft.Range(p.N/2, p.N/2+1))).At(0)
		}
	})
	eager("topk 100", func(p worker.Params) func() *weft.Tensor {
		x := scrambled(p)
		return func() *weft.Tensor {
			values, places := x.TopK(100, 0, weft.TopKOpts{})
			places.Release()
			return values
		}
	})
	eager("median", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N+1) // of an odd number, which all libraries agree on
		return func() *weft.Tensor { return x.Median() }
	})
	eager("median of rows of 101", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, 101)
		return func() *weft.Tensor { return x.Median(1) }
	})
	eager("partition of rows of 100", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, 100)
		return func() *weft.Tensor { return x.Partition(50, 1).Slice(weft.All, weft.Range(50, 51)) }
	})
	eager("histogram of 100 bins", func(p worker.Params) func() *weft.Tensor {
		x := scrambled(p)
		return func() *weft.Tensor {
			counts, edges := x.Histogram(weft.HistogramOpts{Bins: new(100), Min: new(-1.0), Max: new(1.0)})
			edges.Release()
			return counts
		}
	})
	eager("cumsum", func(p worker.Params) func() *weft.Tensor {
		x := scrambled(p)
		return func() *weft.Tensor { return x.CumSum(0) }
	})
	for axis, name := range []string{"cumsum axis 0", "cumsum axis 1"} {
		eager(name, func(p worker.Params) func() *weft.Tensor {
			x := random(p.DType, 1, p.N, p.N)
			return func() *weft.Tensor { return x.CumSum(axis) }
		})
	}
	eager("dot", func(p worker.Params) func() *weft.Tensor {
		x, y := scrambled(p), random(p.DType, 2, p.N)
		return func() *weft.Tensor { return x.Dot(y) }
	})
	eager("gather along rows", func(p worker.Params) func() *weft.Tensor {
		x, index := random(p.DType, 1, p.N, p.N), indices(p.N*p.N, 2, p.N).Reshape(p.N, p.N)
		return func() *weft.Tensor { return x.Gather(1, index) }
	})
	eager("scatter-add along rows", func(p worker.Params) func() *weft.Tensor {
		x, index := random(p.DType, 1, p.N, p.N), indices(p.N*p.N, 2, p.N).Reshape(p.N, p.N)
		t := random(p.DType, 3, p.N, p.N)
		return func() *weft.Tensor { return t.ScatterAdd(1, index, x) }
	})
}
