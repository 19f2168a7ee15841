package index

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
)

// Indices along the last axis are indices into one contiguous row, which mostly stays in the L1
// cache. So each index is read where it is used, without an array of offsets.

// along gathers from x to out, or adds x to out, in this way. It supports elements of the usual
// sizes, and reports whether it did the work.
func (w *walk) along(p *Indices, out, x *array.View, add bool) bool {
	row := rowGatherers[out.DType.Size()]
	if add {
		row = rowAdders[out.DType]
	}
	f := w.mover(row)
	if f == nil {
		return false
	}
	from, to, size, places := codegen.Ptr(x), codegen.Ptr(out), out.DType.Size(), codegen.Ptr(p.Of)
	w.checked(w.rows, grain(8*w.n), codegen.Threads(2*w.rows*w.n), func(begin, end int) bool {
		rows := w.to
		rows.seek(begin)
		for r := begin; r < end; r++ {
			named, numbered := rows.next()*size, r*w.n*size
			at := unsafe.Add(places, r*w.n*p.Of.DType.Size())
			if add {
				if !f(unsafe.Add(to, named), unsafe.Add(from, numbered), at, w.n, w.size) {
					return false
				}
			} else if !f(unsafe.Add(to, numbered), unsafe.Add(from, named), at, w.n, w.size) {
				return false
			}
		}
		return true
	})
	return true
}

// mover returns the function for rows of indices of the walk's type, or nil if the walk does not
// go along contiguous rows.
func (w *walk) mover(row [2]rowMover) rowMover {
	switch {
	case !w.last || w.step != 1 || w.size == 0 || w.n == 0:
		return nil
	case w.p.Of.DType == array.Int32:
		return row[1]
	}
	return row[0]
}

// epilogueBytes is about how many bytes of a result the epilogue reads at a time.
const epilogueBytes = 16 << 10

// rowsWithEpilogue adds x to rows of zeros, and runs the epilogue on them while they are in the
// L1 cache. It requires that each row has its own indices, and reports whether it did the work.
// A result that only the epilogue reads is not stored.
func (w *walk) rowsWithEpilogue(p *Indices, out, x *array.View, t tile.Epilogue) bool {
	f, last := w.mover(rowAdders[out.DType]), len(out.Shape)-1
	if f == nil || !array.Equal(out.Shape[:last], p.Of.Shape[:last]) {
		return false
	}
	es := out.DType.Size()
	row := w.size * es
	some := max(epilogueBytes/row, 1)
	consuming, _ := t.(tile.ConsumingEpilogue)
	aside := consuming != nil && w.rows > some && consuming.Consumes()
	from, to, places := codegen.Ptr(x), codegen.Ptr(out), codegen.Ptr(p.Of)
	w.checked(w.rows, max(grain(8*w.n), some), codegen.Threads(indexNS*w.rows*w.n), func(begin, end int) bool {
		var scratch []uint64 // rows that nobody wants to keep
		if aside {
			scratch = make([]uint64, (some*row+7)/8)
		}
		for r := begin; r < end; r += some {
			n := min(some, end-r)
			at := unsafe.Add(to, r*row)
			if aside {
				at = unsafe.Pointer(unsafe.SliceData(scratch))
			}
			clear(bytes(at, n*row))
			for i := range n {
				k := (r + i) * w.n
				if !f(unsafe.Add(at, i*row), unsafe.Add(from, k*es), unsafe.Add(places, k*p.Of.DType.Size()), w.n, w.size) {
					return false
				}
			}
			if aside {
				consuming.RunAt(at, row, r, r+n, 0, w.size)
			} else {
				t.Run(r, r+n, 0, w.size)
			}
		}
		return true
	})
	return true
}

// A rowMover copies elements by n indices into a row of size elements, and reports whether all
// indices are in range. It stops at the first that is not.
type rowMover func(dst, src, places unsafe.Pointer, n, size int) bool

// The row movers by size of elements and by element type: for int64 and for int32 indices.
var rowGatherers = map[int][2]rowMover{
	1: {gatherRow[uint8, int64], gatherRow[uint8, int32]}, 2: {gatherRow[uint16, int64], gatherRow[uint16, int32]},
	4: {gatherRow[uint32, int64], gatherRow[uint32, int32]}, 8: {gatherRow[uint64, int64], gatherRow[uint64, int32]},
}

var rowAdders = map[array.DType][2]rowMover{
	array.Float32: {addRow[float32, int64], addRow[float32, int32]}, array.Float64: {addRow[float64, int64], addRow[float64, int32]},
	array.Int32: {addRow[int32, int64], addRow[int32, int32]}, array.Int64: {addRow[int64, int64], addRow[int64, int32]},
}

func gatherRow[T uint8 | uint16 | uint32 | uint64, I int32 | int64](dst, src, places unsafe.Pointer, n, size int) bool {
	d, s := unsafe.Slice((*T)(dst), n), unsafe.Slice((*T)(src), size)
	for i, x := range unsafe.Slice((*I)(places), n) {
		k := int(x)
		k += size & (k >> 63)
		if uint(k) >= uint(len(s)) {
			return false
		}
		d[i] = s[k]
	}
	return true
}

func addRow[T float32 | float64 | int32 | int64, I int32 | int64](dst, src, places unsafe.Pointer, n, size int) bool {
	d, s := unsafe.Slice((*T)(dst), size), unsafe.Slice((*T)(src), n)
	for i, x := range unsafe.Slice((*I)(places), n) {
		k := int(x)
		k += size & (k >> 63)
		if uint(k) >= uint(len(d)) {
			return false
		}
		d[k] += s[i]
	}
	return true
}
