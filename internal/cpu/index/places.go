// Package index reads and writes at places that are known when a routine runs: rows and
// elements at indices, elements under a mask, and the places of extremes. What is done to
// memory at large is machine code; around it, and instead of it where there is none, is
// Go. Bits are moved, or added in an order that does not depend on either, so that both
// give the same.
package index

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/par"
)

// Places are where an array is read or written along an axis: an array of int32 or int64,
// which may count from the back.
type Places struct {
	ISA  jit.ISA
	Op   string // for errors
	Axis int
	Of   *array.View
}

// checked returns the places, all below size.
func (p *Places) checked(size int) []int {
	v := p.Of
	n := v.Size()
	p.room(3 * n) // with those that group makes
	out := make([]int, n)
	at := gen.Ptr(v)
	for i := range out {
		var x int
		if v.DType == array.Int32 {
			x = int(*(*int32)(unsafe.Add(at, 4*i)))
		} else {
			x = int(*(*int64)(unsafe.Add(at, 8*i)))
		}
		k := x
		if k < 0 {
			k += size
		}
		if k < 0 || k >= size {
			array.Failf(p.Op, "index", "%d at position %d is out of range for size %d", x, i, size)
		}
		out[i] = k
	}
	return out
}

// room refuses n ints on the Go heap where there is no memory for them.
func (p *Places) room(n int) {
	if err := mem.Room(8 * n); err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: p.Op, Msg: "no memory to sort the places", Err: err})
	}
}

// sizes returns the product of the sizes before an axis and behind it.
func sizes(shape []int, axis int) (outer, inner int) {
	return array.Size(shape[:axis]), array.Size(shape[axis+1:])
}

func bytes(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// grain is the number of units of n bytes that are worth a chunk.
func grain(n int) int { return max(1<<17/max(n, 1), 1) }

// Select writes the sub-arrays of x at a vector of places. Both arrays are contiguous.
func (p *Places) Select(out, x *array.View) {
	axis := p.Axis
	idx := p.checked(x.Shape[axis])
	outer, inner := sizes(x.Shape, axis)
	row := inner * x.DType.Size()
	if out.Size() == 0 {
		return
	}
	src, dst := gen.Ptr(x), gen.Ptr(out)
	in := x.Shape[axis]
	rows := Rows{ISA: p.ISA, Row: row, All: out.Size() * x.DType.Size()}
	par.Run(outer*len(idx), grain(row), 0, func(_, begin, end int) {
		f := NewFetcher(rows.ISA, row)
		for u := begin; u < end; u++ {
			o, i := u/len(idx), u%len(idx)
			if n := min(len(idx)-i, end-u); rows.Copy(unsafe.Add(dst, u*row), unsafe.Add(src, o*in*row), idx[i:i+n]) {
				u += n - 1
				continue
			}
			if i+Ahead < len(idx) {
				f.Fetch(unsafe.Add(src, (o*in+idx[i+Ahead])*row))
			}
			from := unsafe.Add(src, (o*in+idx[i])*row)
			to := unsafe.Add(dst, u*row)
			switch row {
			case 4:
				*(*uint32)(to) = *(*uint32)(from)
			case 8:
				*(*uint64)(to) = *(*uint64)(from)
			default:
				copy(bytes(to, row), bytes(from, row))
			}
		}
	})
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
	}
}

func addSlices[T uint8 | uint16 | int32 | int64 | float32 | float64](a, b []T) {
	b = b[:len(a)]
	for i := range a {
		a[i] += b[i]
	}
}

// Add writes base, or zeros if it is nil, with the sub-arrays of x added at a
// vector of places. All arrays are contiguous. Each target belongs to one chunk, which
// adds in ascending order of position: the result does not depend on threads.
func (p *Places) Add(out, x, base *array.View) {
	axis := p.Axis
	size := out.Shape[axis]
	idx := p.checked(size)
	if out.Size() == 0 {
		return
	}
	outer, inner := sizes(x.Shape, axis)
	es := x.DType.Size()
	row := inner * es
	p.room(2 * size)
	start, order := group(idx, size)
	src, dst := gen.Ptr(x), gen.Ptr(out)
	rows := Rows{ISA: p.ISA, Row: row, All: out.Size() * es}
	par.Run(outer*size, grain(row*(len(idx)/size+1)), 0, func(_, begin, end int) {
		f := NewFetcher(rows.ISA, row)
		for u := begin; u < end; u++ {
			o, k := u/size, u%size
			src := unsafe.Add(src, o*len(idx)*row)
			to := unsafe.Add(dst, u*row)
			var from unsafe.Pointer
			if base != nil {
				from = unsafe.Add(gen.Ptr(base), u*row)
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
				f.Fetch(unsafe.Add(src, order[at+Ahead]*row))
				addInto(x.DType, to, unsafe.Add(src, order[at]*row), inner)
			}
		}
	})
}

// group sorts positions by their index, stably: those of index k are
// order[start[k]:start[k+1]]. Behind all are some zeros, which may be read ahead.
func group(idx []int, size int) (start, order []int) {
	start = make([]int, size+1)
	for _, k := range idx {
		start[k+1]++
	}
	for k := range size {
		start[k+1] += start[k]
	}
	next := append([]int(nil), start[:size]...)
	order = make([]int, len(idx)+Ahead)
	for i, k := range idx {
		order[next[k]] = i
		next[k]++
	}
	return start, order
}

// elements calls f for each element i of an index array, in row-major order, with
// the offset of the element of x that it names along the axis.
func elements(idxShape, xShape []int, axis int, idx []int, f func(i, at int)) {
	st := array.RowMajor(xShape)
	n := len(idxShape)
	var pos [array.MaxRank]int
	for i, k := range idx {
		at := k * st[axis]
		for a := range n {
			if a != axis {
				at += pos[a] * st[a]
			}
		}
		f(i, at)
		for a := n - 1; a >= 0; a-- {
			if pos[a]++; pos[a] < idxShape[a] {
				break
			}
			pos[a] = 0
		}
	}
}

// Gather writes, for each place, the element of x there and at the place's own index along
// the other axes. All arrays are contiguous.
func (p *Places) Gather(out, x *array.View) {
	axis := p.Axis
	size := 1
	if len(x.Shape) > 0 {
		size = x.Shape[axis]
	}
	idx := p.checked(size)
	if len(idx) == 0 {
		return
	}
	es := x.DType.Size()
	src, dst := gen.Ptr(x), gen.Ptr(out)
	elements(p.Of.Shape, x.Shape, axis, idx, func(i, at int) {
		copy(bytes(unsafe.Add(dst, i*es), es), bytes(unsafe.Add(src, at*es), es))
	})
}

// ScatterAdd writes zeros with the elements of x, which has the shape of the places,
// added in row-major order where Gather would read.
func (p *Places) ScatterAdd(out, x *array.View) {
	axis := p.Axis
	es := x.DType.Size()
	idx := p.checked(out.Shape[axis])
	if out.Size() == 0 {
		return
	}
	clear(bytes(gen.Ptr(out), out.Size()*es))
	src, dst := gen.Ptr(x), gen.Ptr(out)
	elements(x.Shape, out.Shape, axis, idx, func(i, at int) {
		addInto(x.DType, unsafe.Add(dst, at*es), unsafe.Add(src, i*es), 1)
	})
}
