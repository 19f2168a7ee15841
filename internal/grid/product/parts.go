package product

import (
	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// A product of few tiles and many terms leaves multiprocessors idle. Its blocks of terms are computed
// apart, as a batch whose results lie one behind the other in scratch memory, row by row. A second
// kernel adds them in ascending order.

// maxScratch is the most bytes of scratch memory.
const maxScratch = 256 << 20

// parts returns the number of blocks of terms.
func (p *Product) parts() int { return grid.Ceil(p.K, numbers.KBlock) }

// scratch returns the bytes of scratch memory of a product whose blocks of terms are apart.
func (p *Product) scratch() int { return p.M * p.N * p.DType.Size() * p.parts() }

// mayBeApart reports whether blocks of terms can be computed apart.
func (p *Product) mayBeApart() bool {
	return len(p.Batch.Count) == 0 && p.K > numbers.KBlock && p.M <= maxSide && p.N <= maxSide && p.M*p.N <= maxBlocks && p.scratch() <= maxScratch
}

// launchesApart returns the launches of a product without a batch whose blocks of terms are apart.
func (p Product) launchesApart(t Tile, major int, scratch uint64) (list []grid.Launch) {
	size, full := p.M*p.N, p.K/numbers.KBlock
	block := func(first, count, terms int) {
		q := p
		q.K, q.C = terms, Mat{scratch, p.N, 1}
		q.A.move(p.Of[0], first*numbers.KBlock*p.A.Col)
		q.B.move(p.Of[1], first*numbers.KBlock*p.B.Row)
		q.C.move(p.DType, first*size)
		if count > 1 {
			q.Batch = Batch{[]int{count}, []int{numbers.KBlock * p.A.Col}, []int{numbers.KBlock * p.B.Row}, []int{size}}
		}
		list = q.split(list, t, major)
	}
	block(0, full, numbers.KBlock)
	if rest := p.K % numbers.KBlock; rest > 0 {
		block(full, 1, rest)
	}
	v := Variant{DType: p.DType, Add: true, Vector: vectors(p.DType, p.C, p.N, nil)}
	z := p.DType.Size()
	threads := size / v.added()
	var a grid.Args
	a.Long(int(p.C.Addr), int(scratch), p.C.Row*z, p.C.Col*z, size*z)
	a.Short(p.parts(), threads)
	a.Divisors(p.N / v.added())
	a.Pad()
	return append(list, v.launch(grid.Ceil(threads, addThreads), a))
}

// The argument block of the kernel that adds: addresses of C and of scratch memory, byte strides of
// rows and columns of C, bytes of a block's results, the number of blocks of terms, threads, and as a
// divisor the threads of a row.
const (
	addC       = 0
	addScratch = 8
	addRow     = 16
	addCol     = 24
	addSize    = 32
	addParts   = 40
	addCount   = 44
	addAcross  = 48
	addArgs    = 64
)

const (
	addThreads = 128
	addAhead   = 4 // blocks of terms whose results are read together
)

// added is the number of elements of a thread.
func (v Variant) added() int {
	if v.Vector {
		return lanes(v.DType)
	}
	return 1
}

// lowerAdd returns the kernel that adds blocks of terms.
func lowerAdd(v Variant) *grid.Kernel {
	w := &writer{Builder: grid.NewBuilder(v.Name(), addThreads), v: v, t: loop.F32, size: v.DType.Size()}
	if v.DType == array.Float64 {
		w.t = loop.F64
	}
	w.K.Args = addArgs
	id, n := w.Add(w.Mul(w.Block(), w.I32(addThreads)), w.Thread()), v.added()
	w.If(w.Lt(id, w.Arg(loop.I32, addCount)), false, func() {
		at := w.Copy(w.Add(w.Arg(loop.I64, addScratch), w.Mul(w.Wide(id), w.I64(int64(n*w.size)))))
		sum := make([]grid.Reg, n)
		for i := range sum {
			sum[i] = w.Copy(w.minusZero())
		}
		part, parts, size := w.Copy(w.I32(0)), w.Arg(loop.I32, addParts), w.Arg(loop.I64, addSize)
		w.While(false, func() grid.Reg { return w.Lt(part, parts) }, func() {
			var read [addAhead][]grid.Reg
			var there [addAhead]grid.Reg
			for i := range addAhead {
				there[i] = w.Lt(w.Add(part, w.I32(int32(i))), parts)
				read[i] = w.LoadN(grid.Global, w.elem(), w.t, n, at, 0, there[i])
				w.Update(at, loop.OpAdd, at, size)
			}
			for i, x := range read {
				for j, x := range x {
					w.Update(sum[j], loop.OpAdd, sum[j], w.Select(there[i], x, w.minusZero()))
				}
			}
			w.Update(part, loop.OpAdd, part, w.I32(addAhead))
		})
		row, col := w.Divide(id, addAcross)
		to := w.Add(w.Arg(loop.I64, addC), w.Mul(w.Wide(row), w.Arg(loop.I64, addRow)))
		to = w.Add(to, w.Mul(w.Wide(w.Mul(col, w.I32(int32(n)))), w.Arg(loop.I64, addCol)))
		w.Store(grid.Global, w.elem(), to, 0, grid.NoReg, sum...)
	}, nil)
	return w.K
}
