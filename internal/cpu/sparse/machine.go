package sparse

import (
	"math"
	"runtime"
	"sort"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
)

// Machine code is not preempted, so a call of a kernel takes at most chunk rows, of together callWork entries
// times vectors of a dense row. A row that is longer is computed in Go.
const chunk, callWork = 1024, 1 << 15

// mostVectors is how many vectors of a dense row stay in registers.
const mostVectors = 8

// machine returns what Func does by machine code, nil where there is none: for indices of 64 bits, and sampled products
// without AVX-512.
func (j *Job) machine() func(lo, hi int) bool {
	d := j.X.DType
	if j.ISA == jit.Portable || part(d) != array.Float32 && part(d) != array.Float64 || j.Indices.DType != array.Int32 || j.Bound > math.MaxInt32 {
		return nil
	}
	size := d.Size()
	f := frame{values: codegen.Ptr(j.Values), indices: codegen.Ptr(j.Indices), bound: j.Bound, stride: j.Width * size, last: j.Indices.Shape[0]}
	for i := range f.signs {
		if i%(2*part(d).Size()) == part(d).Size()-1 {
			f.signs[i] = 0x80
		}
	}
	items := len(j.Offsets) - 1
	switch {
	case j.Kind == Transposed:
		return func(lo, hi int) bool { return j.strips(f, 0, items, lo, hi) }
	case j.Kind == Rows && (j.Width > 1 || d.Complex()):
		return func(lo, hi int) bool { return j.strips(f, lo, hi, 0, j.Width) }
	case j.Kind == Rows:
		return func(lo, hi int) bool { return j.vector(f, lo, hi) }
	case j.ISA != jit.AVX512:
		return nil
	}
	lanes := 64 / size
	f.whole, f.bits = j.Width/lanes, 1<<(j.Width%lanes*numbersIn(d))-1
	k := key{isa: j.ISA, dtype: d, kind: j.Kind, masked: f.bits != 0}
	return func(lo, hi int) bool { return j.call(codegen.Kernel(codes, k), f, f.whole, lo, hi, 0, j.Width) }
}

// numbersIn is how many lanes an element takes.
func numbersIn(d array.DType) int { return d.Size() / part(d).Size() }

// strips computes columns from to to-1 of dense rows for the matrix's rows lo to hi-1, in strips of columns
// that registers hold.
func (j *Job) strips(f frame, lo, hi, from, to int) bool {
	d := j.X.DType
	lanes := j.ISA.VectorBytes() / d.Size() // elements of a vector
	for from < to {
		n := min(to-from, mostVectors*lanes)
		k := key{isa: j.ISA, dtype: d, kind: j.Kind, vectors: (n + lanes - 1) / lanes, masked: n%lanes != 0 && n > 1, single: n == 1}
		if rest := n % lanes; rest != 0 {
			f.bits = 1<<(rest*numbersIn(d)) - 1
			clear(f.mask[:])
			for i := range min(rest*d.Size(), len(f.mask)) {
				f.mask[i] = 0xFF
			}
		}
		if !j.call(codegen.Kernel(codes, k), f, k.vectors, lo, hi, from, n) {
			return false
		}
		from += n
	}
	return true
}

// call runs a kernel for rows lo to hi-1, some at a time, from a column of dense rows on. It computes
// some vectors of each dense row.
func (j *Job) call(code *jit.Code, f frame, vectors, lo, hi, column, columns int) bool {
	size := j.X.DType.Size()
	at := func(v *array.View, row int) unsafe.Pointer {
		return unsafe.Add(codegen.Ptr(v), (row*j.Width+column)*size)
	}
	most := int64(max(1, callWork/max(vectors, 1)))
	for lo < hi {
		first, end := j.Offsets[lo], min(lo+chunk, hi)
		if j.Offsets[end]-first > most {
			end = lo + sort.Search(end-lo, func(i int) bool { return j.Offsets[lo+i+1]-first > most })
		}
		if end == lo {
			end = lo + 1
			if !j.portable(lo, end, column, columns) {
				return false
			}
			lo = end
			continue
		}
		f.rows, f.off = end-lo, unsafe.Pointer(&j.Offsets[lo])
		if j.Kind == Rows {
			f.x, f.y = at(j.X, 0), at(j.Y, lo)
		} else {
			f.x, f.y = at(j.X, lo), at(j.Y, 0)
		}
		if jit.Call(code, 0, unsafe.Pointer(&f)) != 0 {
			return false
		}
		lo = end
	}
	runtime.KeepAlive(j)
	return true
}
