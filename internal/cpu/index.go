package cpu

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/mem"
	"weft/internal/move"
	"weft/internal/op"
	"weft/internal/par"
)

// places returns checked indices below size; they may count from the back.
func places(name string, v *array.View, size int) []int {
	n := v.Size()
	room(name, 3*n) // with those that group makes
	out := make([]int, n)
	p := ptr(v)
	for i := range out {
		var x int
		if v.DType == array.Int32 {
			x = int(*(*int32)(unsafe.Add(p, 4*i)))
		} else {
			x = int(*(*int64)(unsafe.Add(p, 8*i)))
		}
		k := x
		if k < 0 {
			k += size
		}
		if k < 0 || k >= size {
			array.Failf(name, "index", "%d at position %d is out of range for size %d", x, i, size)
		}
		out[i] = k
	}
	return out
}

// room refuses n ints on the Go heap where there is no memory for them.
func room(name string, n int) {
	if err := mem.Room(8 * n); err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: name, Msg: "no memory to sort the places", Err: err})
	}
}

// sizes returns the product of the sizes before an axis and behind it.
func sizes(shape []int, axis int) (outer, inner int) {
	return array.Size(shape[:axis]), array.Size(shape[axis+1:])
}

func bytes(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// grain is the number of units of n bytes that are worth a chunk.
func grain(n int) int { return max(1<<17/max(n, 1), 1) }

func indexSelect(s device.Stream, n *ir.Node, args []array.View, out array.View) {
	x := &args[0]
	axis := int(n.Attrs.(op.Axis))
	idx := places("index_select", &args[1], x.Shape[axis])
	outer, inner := sizes(x.Shape, axis)
	row := inner * x.DType.Size()
	if out.Size() == 0 {
		return
	}
	src, dst := ptr(x), ptr(&out)
	in := x.Shape[axis]
	rows := move.Rows{ISA: isaOf(s), Row: row, All: out.Size() * x.DType.Size()}
	par.Run(outer*len(idx), grain(row), 0, func(_, begin, end int) {
		f := move.NewFetcher(rows.ISA, row)
		for u := begin; u < end; u++ {
			o, i := u/len(idx), u%len(idx)
			if n := min(len(idx)-i, end-u); rows.Copy(unsafe.Add(dst, u*row), unsafe.Add(src, o*in*row), idx[i:i+n]) {
				u += n - 1
				continue
			}
			if i+move.Ahead < len(idx) {
				f.Fetch(unsafe.Add(src, (o*in+idx[i+move.Ahead])*row))
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
	case array.Int32:
		addSlices(unsafe.Slice((*int32)(dst), n), unsafe.Slice((*int32)(src), n))
	case array.Int64:
		addSlices(unsafe.Slice((*int64)(dst), n), unsafe.Slice((*int64)(src), n))
	case array.Uint8:
		addSlices(unsafe.Slice((*uint8)(dst), n), unsafe.Slice((*uint8)(src), n))
	case array.Bool:
		a, b := bytes(dst, n), bytes(src, n)
		for i := range a {
			a[i] |= b[i]
		}
	}
}

func addSlices[T uint8 | int32 | int64 | float32 | float64](a, b []T) {
	b = b[:len(a)]
	for i := range a {
		a[i] += b[i]
	}
}

// indexAdd gives each target to one chunk, which adds in ascending order of
// position: the result does not depend on threads.
func indexAdd(s device.Stream, n *ir.Node, args []array.View, out array.View) {
	x := &args[0]
	axis := n.Attrs.(op.Target).Axis
	size := out.Shape[axis]
	idx := places("index_add", &args[1], size)
	if out.Size() == 0 {
		return
	}
	outer, inner := sizes(x.Shape, axis)
	es := x.DType.Size()
	row := inner * es
	room("index_add", 2*size)
	start, order := group(idx, size)
	src, dst := ptr(x), ptr(&out)
	var base array.View
	if len(args) > 2 {
		base = args[2]
	}
	rows := move.Rows{ISA: isaOf(s), Row: row, All: out.Size() * es}
	par.Run(outer*size, grain(row*(len(idx)/size+1)), 0, func(_, begin, end int) {
		f := move.NewFetcher(rows.ISA, row)
		for u := begin; u < end; u++ {
			o, k := u/size, u%size
			src := unsafe.Add(src, o*len(idx)*row)
			to := unsafe.Add(dst, u*row)
			var from unsafe.Pointer
			if base.Store != nil {
				from = unsafe.Add(ptr(&base), u*row)
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
				f.Fetch(unsafe.Add(src, order[at+move.Ahead]*row))
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
	order = make([]int, len(idx)+move.Ahead)
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

func gather(_ device.Stream, n *ir.Node, args []array.View, out array.View) {
	x := &args[0]
	axis := int(n.Attrs.(op.Axis))
	size := 1
	if len(x.Shape) > 0 {
		size = x.Shape[axis]
	}
	idx := places("gather", &args[1], size)
	if len(idx) == 0 {
		return
	}
	es := x.DType.Size()
	src, dst := ptr(x), ptr(&out)
	elements(args[1].Shape, x.Shape, axis, idx, func(i, at int) {
		copy(bytes(unsafe.Add(dst, i*es), es), bytes(unsafe.Add(src, at*es), es))
	})
}

func scatterAdd(_ device.Stream, n *ir.Node, args []array.View, out array.View) {
	x := &args[0]
	axis := n.Attrs.(op.Target).Axis
	es := x.DType.Size()
	idx := places("scatter_add", &args[1], out.Shape[axis])
	if out.Size() == 0 {
		return
	}
	clear(bytes(ptr(&out), out.Size()*es))
	src, dst := ptr(x), ptr(&out)
	elements(x.Shape, out.Shape, axis, idx, func(i, at int) {
		addInto(x.DType, unsafe.Add(dst, at*es), unsafe.Add(src, i*es), 1)
	})
}

func maskOf(s device.Stream, v *array.View) *move.Mask {
	return &move.Mask{ISA: isaOf(s), Ptr: ptr(v), N: v.Size()}
}

// ranks counts the places under a mask, which must be as many as a vector has elements.
func ranks(name string, m *move.Mask, vector *array.View) []int {
	r := m.Ranks()
	if n := r[len(r)-1]; n != vector.Size() {
		array.Failf(name, "mask", "is true at %d places, not %d", n, vector.Size())
	}
	return r
}

func maskSelect(s device.Stream, _ *ir.Node, args []array.View, out array.View) {
	m := maskOf(s, &args[1])
	m.Select(ptr(&out), ptr(&args[0]), out.DType.Size(), ranks("mask_select", m, &out))
}

func maskPlace(s device.Stream, _ *ir.Node, args []array.View, out array.View) {
	m := maskOf(s, &args[1])
	m.Place(ptr(&out), ptr(&args[0]), out.DType.Size(), ranks("mask_place", m, &args[0]))
}

func countNonZero(s device.Stream, _ *ir.Node, args []array.View, out array.View) {
	r := maskOf(s, &args[0]).Ranks()
	*(*int64)(ptr(&out)) = int64(r[len(r)-1])
}

func nonZero(s device.Stream, _ *ir.Node, args []array.View, out array.View) {
	m := maskOf(s, &args[0])
	m.NonZero(unsafe.Slice((*int64)(ptr(&out)), out.Size()), ranks("nonzero", m, &out))
}
