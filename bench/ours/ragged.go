package main

import (
	"weft"
	"weft/bench/worker"
	"weft/ragged"
)

// Lists of items of 0 to 64 elements: values of items, and elements with one value an item.

func init() {
	list := func(p worker.Params) (l *ragged.List, values *weft.Tensor) {
		sizes := make([]int64, p.N)
		rows := 0
		for i, s := range worker.Scrambled(p.N, 3) {
			sizes[i] = int64(s % 65)
			rows += int(sizes[i])
		}
		return ragged.FromSizes(random(p.DType, 1, rows), sizes), random(p.DType, 2, p.N)
	}
	eager("ragged sum", func(p worker.Params) func() *weft.Tensor {
		l, _ := list(p)
		return func() *weft.Tensor { return l.Sum() }
	})
	worker.Also["ragged max"] = []string{collected}
	worker.Cases["ragged max"] = func(p worker.Params) (*worker.Case, error) {
		l, _ := list(p)
		c := eagerCase(func() *weft.Tensor { return l.Max() })
		c.Check = func() []float64 { return summary(l.Max().Maximum(-2)) } // of no elements it is infinite
		return c, nil
	}
	rows := func(name string, prepare func(p worker.Params) (f func() *ragged.List, like func())) {
		worker.Also[name] = []string{collected, yardstick}
		worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
			f, like := prepare(p)
			c := eagerCase(func() *weft.Tensor { return f().Data() })
			c.Also[yardstick] = like
			return c, nil
		}
	}
	rows("ragged softmax", func(p worker.Params) (func() *ragged.List, func()) {
		l, _ := list(p)
		x := l.Data()
		return func() *ragged.List { return l.Softmax() }, func() { x.Exp().Release() }
	})
	rows("ragged 2*l+v", func(p worker.Params) (func() *ragged.List, func()) {
		l, v := list(p)
		// A matrix of rows of 32 with a value a row: as many bytes as the list, its values and
		// its offsets have.
		const wide = 32
		size := l.DType().Size()
		n := (2*size*l.Rows() + (size+8)*p.N) / (size * (2*wide + 1))
		f, dense := weft.Vars{"l": l, "v": v}, weft.Vars{"x": random(p.DType, 1, n, wide), "v": random(p.DType, 2, n, 1)}
		return func() *ragged.List { return ragged.Expr("2*l + v", f) }, func() { weft.Expr("2*x + v", dense).Release() }
	})
}
