package main

import (
	"weft"
	"weft/bench/worker"
	"weft/ragged"
)

// Lists whose rows move: sorted, padded and back, taken by places, and lists that grow and are
// edited in their middle.

const (
	padTo     = 64 // rows of the longest item
	ofOne     = 3  // rows of an item that is appended
	insertion = 100
)

// listSizes are lengths of n items, 0 to 64, and their sum.
func listSizes(n int) (sizes []int64, rows int) {
	sizes = make([]int64, n)
	for i, s := range worker.Scrambled(n, 3) {
		sizes[i] = int64(s % (padTo + 1))
		rows += int(sizes[i])
	}
	return sizes, rows
}

func init() {
	list := func(p worker.Params) (l *ragged.List, sizes []int64) {
		sizes, rows := listSizes(p.N)
		return ragged.FromSizes(random(p.DType, 1, rows), sizes), sizes
	}
	eager("ragged sort", func(p worker.Params) func() *weft.Tensor {
		l, _ := list(p)
		return func() *weft.Tensor {
			values, places := l.Sort(weft.SortOpts{})
			places.Data().Release()
			return values.Data()
		}
	})
	eager("ragged pad", func(p worker.Params) func() *weft.Tensor {
		l, _ := list(p)
		return func() *weft.Tensor {
			x, mask := l.ToPadded(0, padTo)
			mask.Release()
			return x
		}
	})
	eager("ragged unpad", func(p worker.Params) func() *weft.Tensor {
		_, sizes := list(p)
		x := random(p.DType, 1, p.N, padTo)
		return func() *weft.Tensor { return ragged.FromPadded(x, sizes).Data() }
	})
	eager("ragged index", func(p worker.Params) func() *weft.Tensor {
		l, sizes := list(p)
		places := make([]int64, 0, 4*p.N)
		counts := make([]int64, p.N)
		for i, s := range worker.Scrambled(4*p.N, 5) {
			if n := sizes[i/4]; n > 0 {
				places, counts[i/4] = append(places, int64(s)%n), 4
			}
		}
		at := ragged.FromSizes(weft.FromSlice(places), counts)
		return func() *weft.Tensor { return l.Index(at).Data() }
	})
	rows := func(d string, n int) any {
		if d == "float32" {
			return weft.Data[float32](random(d, 1, n))
		}
		return weft.Data[float64](random(d, 1, n))
	}
	eager("ragged appends", func(p worker.Params) func() *weft.Tensor {
		one, d := rows(p.DType, ofOne), random(p.DType, 1, 1).DType()
		return func() *weft.Tensor {
			l := ragged.Empty(d)
			for range p.N {
				l.Append(one)
			}
			return l.Data()
		}
	})
	worker.Cases["ragged insert, delete"] = func(p worker.Params) (*worker.Case, error) {
		one := rows(p.DType, ofOne)
		l := ragged.FromSizes(random(p.DType, 1, 4*p.N), 4)
		run := func() {
			for range insertion {
				l.Insert(p.N/2, one)
				l.Delete(p.N / 2)
			}
		}
		return &worker.Case{Run: run, Check: func() []float64 { run(); return summary(l.Data()) }}, nil
	}
}
