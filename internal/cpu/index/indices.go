// Package index reads and writes arrays at indices that are known only at run time: rows and
// elements at indices, elements under a mask, and the indices of extremes. Loops over memory are
// machine code, with Go around them, and Go alone where there is no machine code. Both move
// bits, or add them in the same order, so that they give the same bits.
package index

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/transpose"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/par"
)

// Indices are an array of int32 or int64 indices along an axis of another array. Negative ones
// count from the back.
type Indices struct {
	ISA  jit.ISA
	Op   string // for errors
	Axis int
	Of   *array.View

	position func(i int) int // see Count
}

// checked returns the indices, counted from the front. It panics with an *array.Error unless all
// are in range for size.
func (p *Indices) checked(size int) []int {
	n := p.Of.Size()
	p.requireMemory(3 * n) // with those that group makes
	out := make([]int, n)
	w := walk{p: p, n: n, rows: 1, size: size, step: 1}
	w.checked(n, grain(8), codegen.Threads(n), func(begin, end int) bool { return w.read(out[begin:end], begin, 0) })
	return out
}

// Count writes the indices as int64, counted from the front. It requires that all are below
// size. position returns the position of index i in the array as the user gave it. Where Count
// panics, all it has written is 0.
func (p *Indices) Count(out *array.View, size int, position func(i int) int) {
	n := p.Of.Size()
	if n == 0 {
		return
	}
	to := unsafe.Slice((*int)(codegen.Ptr(out)), n)
	p.position = position
	w := walk{p: p, n: n, rows: 1, size: size, step: 1}
	good := false
	defer func() {
		if !good {
			clear(to)
		}
	}()
	w.checked(n, grain(8), codegen.Threads(n), func(begin, end int) bool { return w.read(to[begin:end], begin, 0) })
	good = true
}

// refuse panics with an *array.Error for the first index that is out of range for size.
func (p *Indices) refuse(size int) {
	o := offsets{shape: []int{p.Of.Size()}, strides: []int{1}}
	for i := range p.Of.Size() {
		if x := integer(p.Of, o.next()); x < int64(-size) || x >= int64(size) {
			if p.position != nil {
				i = p.position(i)
			}
			array.Failf(p.Op, "index", "%d at position %d is out of range for size %d", x, i, size)
		}
	}
}

// requireMemory panics with an *array.Error if there is no memory for n ints on the Go heap.
func (p *Indices) requireMemory(n int) {
	if err := mem.CheckHeap(8 * n); err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: p.Op, Msg: "no memory to sort the places", Err: err})
	}
}

// sizes returns the number of elements over the axes before an axis, and over the axes behind
// it.
func sizes(shape []int, axis int) (outer, inner int) {
	return array.Size(shape[:axis]), array.Size(shape[axis+1:])
}

func bytes(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// grain returns the number of units of n bytes in a chunk.
func grain(n int) int { return max(codegen.ChunkBytes/max(n, 1), 1) }

// each calls f for the indices in batches, in chunks on several threads. It goes through the
// indices once for each of outer sub-arrays with size elements along the axis. f gets the position
// of the first index and the offsets of the elements. It requires that all indices are in range.
func (p *Indices) each(outer, size, threads int, grain int, f func(first int, at []int)) {
	n := p.Of.Size()
	w := walk{p: p, n: n, rows: 1, size: size, step: 1}
	w.checked(outer*n, grain, threads, func(begin, end int) bool {
		var at [batch]int
		for u := begin; u < end; {
			o, i := u/n, u%n
			part := at[:min(batch, n-i, end-u)]
			if !w.read(part, i, o*size) {
				return false
			}
			f(u, part)
			u += len(part)
		}
		return true
	})
}

// Select writes the sub-arrays of x at a vector of indices. Both arrays are contiguous.
func (p *Indices) Select(out, x *array.View) {
	axis := p.Axis
	outer, inner := sizes(x.Shape, axis)
	row := inner * x.DType.Size()
	src, dst := codegen.Ptr(x), codegen.Ptr(out)
	in := x.Shape[axis]
	if inner == 1 {
		p.selectFlat(row, dst, src, outer, in)
		return
	}
	idx := p.checked(in)
	if out.Size() == 0 {
		return
	}
	rows := Rows{ISA: p.ISA, Row: row, All: out.Size() * x.DType.Size()}
	par.Run(outer*len(idx), grain(row), 0, func(_, begin, end int) {
		f := NewFetcher(rows.ISA, row)
		for u := begin; u < end; u++ {
			o, i := u/len(idx), u%len(idx)
			if n := min(len(idx)-i, end-u); rows.Copy(unsafe.Add(dst, u*row), unsafe.Add(src, o*in*row), idx[i:i+n]) {
				u += n - 1
				continue
			}
			if i+prefetchRows < len(idx) {
				f.Fetch(unsafe.Add(src, (o*in+idx[i+prefetchRows])*row))
			}
			copy(bytes(unsafe.Add(dst, u*row), row), bytes(unsafe.Add(src, (o*in+idx[i])*row), row))
		}
	})
}

// SelectStrided is Select for x in any layout. It reads only the elements that it writes.
func (p *Indices) SelectStrided(out, x *array.View) {
	idx := p.checked(x.Shape[p.Axis])
	part := append([]int(nil), x.Shape...)
	part[p.Axis] = 1
	for i, k := range idx {
		to, from := out.Window(i*out.Strides[p.Axis], part, out.Strides), x.Window(k*x.Strides[p.Axis], part, x.Strides)
		transpose.Copy(p.ISA, &to, &from)
	}
}

// addInto adds n elements of src to dst.
func addInto(d array.DType, dst, src unsafe.Pointer, n int) {
	switch d {
	case array.Float32:
		addSlices(unsafe.Slice((*float32)(dst), n), unsafe.Slice((*float32)(src), n))
	case array.Float64:
		addSlices(unsafe.Slice((*float64)(dst), n), unsafe.Slice((*float64)(src), n))
	case array.Int32, array.Uint32:
		addSlices(unsafe.Slice((*int32)(dst), n), unsafe.Slice((*int32)(src), n))
	case array.Int64, array.Uint64:
		addSlices(unsafe.Slice((*int64)(dst), n), unsafe.Slice((*int64)(src), n))
	case array.Uint8, array.Int8:
		addSlices(unsafe.Slice((*uint8)(dst), n), unsafe.Slice((*uint8)(src), n))
	case array.Uint16, array.Int16:
		addSlices(unsafe.Slice((*uint16)(dst), n), unsafe.Slice((*uint16)(src), n))
	case array.Bool:
		a, b := bytes(dst, n), bytes(src, n)
		for i := range a {
			a[i] |= b[i]
		}
	default:
		array.Failf("index_add", "", "is not defined for %s", d)
	}
}

func addSlices[T uint8 | uint16 | int32 | int64 | float32 | float64](a, b []T) {
	b = b[:len(a)]
	for i := range a {
		a[i] += b[i]
	}
}

// Add writes base, or zeros if it is nil, and adds the sub-arrays of x at a vector of indices.
// All arrays are contiguous. Each target belongs to one chunk, which adds in ascending order of
// position, so the result does not depend on threads.
func (p *Indices) Add(out, x, base *array.View) {
	axis := p.Axis
	size := out.Shape[axis]
	outer, inner := sizes(x.Shape, axis)
	if inner == 1 {
		p.addElements(out, x, base, outer, size)
		return
	}
	idx := p.checked(size)
	if out.Size() == 0 {
		return
	}
	es := x.DType.Size()
	row := inner * es
	src, dst := codegen.Ptr(x), codegen.Ptr(out)
	p.requireMemory(2 * size)
	start, order := group(idx, size)
	rows := Rows{ISA: p.ISA, Row: row, All: out.Size() * es}
	par.Run(outer*size, grain(row*(len(idx)/size+1)), 0, func(_, begin, end int) {
		f := NewFetcher(rows.ISA, row)
		for u := begin; u < end; u++ {
			o, k := u/size, u%size
			src := unsafe.Add(src, o*len(idx)*row)
			to := unsafe.Add(dst, u*row)
			var from unsafe.Pointer
			if base != nil {
				from = unsafe.Add(codegen.Ptr(base), u*row)
			}
			if n := min(size-k, end-u); rows.Sum(x.DType, to, from, src, start[k:k+n+1], order) {
				u += n - 1
				continue
			}
			if from != nil {
				copy(bytes(to, row), bytes(from, row))
			} else {
				clear(bytes(to, row))
			}
			for at := start[k]; at < start[k+1]; at++ {
				f.Fetch(unsafe.Add(src, order[at+prefetchRows]*row))
				addInto(x.DType, to, unsafe.Add(src, order[at]*row), inner)
			}
		}
	})
}

// addElements is Add where sub-arrays are single elements. It adds them in order, without
// sorting the indices.
func (p *Indices) addElements(out, x, base *array.View, outer, size int) {
	if base != nil {
		copyWhole(out, base)
	} else {
		clear(bytes(codegen.Ptr(out), out.Size()*out.DType.Size()))
	}
	if p.addFlat(out.DType, codegen.Ptr(out), codegen.Ptr(x), outer, size) {
		return
	}
	n := p.Of.Size()
	p.each(outer, size, codegen.Threads(indexNS*outer*n), max(n, 1)*max(grain(8*n), 1), adder(out.DType, codegen.Ptr(out), codegen.Ptr(x)))
}

// group sorts positions by their index, stably: the positions of index k are
// order[start[k]:start[k+1]]. Some zeros follow them, so that kernels may read ahead.
func group(idx []int, size int) (start, order []int) {
	start = make([]int, size+1)
	for _, k := range idx {
		start[k+1]++
	}
	for k := range size {
		start[k+1] += start[k]
	}
	next := append([]int(nil), start[:size]...)
	order = make([]int, len(idx)+prefetchRows)
	for i, k := range idx {
		order[next[k]] = i
		next[k]++
	}
	return start, order
}
