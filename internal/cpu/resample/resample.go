package resample

import (
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/transpose"
	"weft/internal/jit"
)

// strip is the number of rows that are transposed at a time to resize their width.
const strip = 64

// Resize resizes planes src [..., h, w] of float32 or uint8 into dst, contiguous: the width by across, then
// the height by down. One that is nil leaves its axis. Requires pixels, and that one is not nil.
func Resize(isa jit.ISA, dst, src *array.View, across, down *Band) {
	if src.DType == array.Uint8 {
		resize[uint8](isa, dst, src, across, down)
	} else {
		resize[float32](isa, dst, src, across, down)
	}
}

// A resizing is what planes share.
type resizing[T number] struct {
	isa          jit.ISA
	across, down *sums[T] // nil leaves the axis
	first, rows  int      // of the source, which count
	w, wide      int      // of the source and of the result
	columns      array.View
	resized      array.View // columns of a strip, and of its result
	between      array.View // rows, resized along their width
}

func resize[T number](isa jit.ISA, dst, src *array.View, across, down *Band) {
	n := len(src.Shape)
	z := resizing[T]{isa: isa, rows: src.Shape[n-2], w: src.Shape[n-1], wide: dst.Shape[n-1]}
	lines, between := 0, 0
	if across != nil {
		z.across = newSums[T](isa, across, 0)
		lines = strip
	}
	if down != nil {
		z.first = down.First[0]
		z.rows = down.First[len(down.First)-1] + down.Taps - z.first
		z.down = newSums[T](isa, down, z.first)
		between = z.rows
	}
	memory := pool.Get().(*scratch)
	defer pool.Put(memory)
	all := memory.view(src.DType, lines*(z.w+z.wide)+between*z.wide)
	part := func(at, rows, columns int) array.View { return all.Window(at, []int{rows, columns}, []int{columns, 1}) }
	z.columns = part(0, z.w, lines)
	z.resized = part(lines*z.w, z.wide, lines)
	z.between = part(lines*(z.w+z.wide), between, z.wide)
	outer := array.View{Shape: src.Shape[:n-2], Strides: src.Strides[:n-2]}
	size := dst.Shape[n-2] * z.wide
	for p := range outer.Size() {
		from := src.Window(position(&outer, p)+z.first*src.Strides[n-2], []int{z.rows, z.w}, src.Strides[n-2:])
		to := dst.Window(p*size, dst.Shape[n-2:], []int{z.wide, 1})
		z.plane(&to, &from)
	}
}

// position returns how many elements the plane of a number lies behind the first one.
func position(outer *array.View, p int) int {
	at := 0
	for i := len(outer.Shape) - 1; i >= 0; i-- {
		at += p % outer.Shape[i] * outer.Strides[i]
		p /= outer.Shape[i]
	}
	return at
}

// plane resizes the rows of a plane that count.
func (z *resizing[T]) plane(dst, src *array.View) {
	between := &z.between
	switch {
	case z.across == nil && src.Strides[1] == 1 && src.Strides[0] > 0:
		between = src
	case z.across == nil:
		transpose.Copy(z.isa, between, src)
	default:
		if z.down == nil {
			between = dst
		}
		z.widths(between, src)
	}
	if z.down != nil {
		z.down.run(dst, between)
	}
}

// widths resizes the width of rows. Strips of them are transposed, so that vectors are of different rows.
func (z *resizing[T]) widths(dst, src *array.View) {
	for at := 0; at < z.rows; at += strip {
		n := min(strip, z.rows-at)
		turned := array.View{Store: z.columns.Store, DType: src.DType, Offset: z.columns.Offset, Shape: []int{z.w, n}, Strides: []int{strip, 1}}
		from := src.Window(at*src.Strides[0], turned.Shape, []int{src.Strides[1], src.Strides[0]})
		transpose.Copy(z.isa, &turned, &from)
		z.across.run(&z.resized, &z.columns)
		back := z.resized.Window(0, []int{n, z.wide}, []int{1, strip})
		to := dst.Window(at*z.wide, back.Shape, []int{z.wide, 1})
		transpose.Copy(z.isa, &to, &back)
	}
}

// scratch is memory that calls use one after the other.
type scratch struct{ bytes []byte }

var pool = sync.Pool{New: func() any { return new(scratch) }}

// view returns n elements of the memory, not set.
func (s *scratch) view(d array.DType, n int) array.View {
	const pad = 64 // a line of the cache
	if need := n*d.Size() + pad; len(s.bytes) < need {
		s.bytes = make([]byte, need+need/4)
	}
	p := unsafe.Pointer(&s.bytes[0])
	p = unsafe.Add(p, -uintptr(p)&(pad-1))
	return array.View{Store: array.NewStorage(p, n*d.Size(), s.bytes), DType: d, Shape: []int{n}, Strides: []int{1}}
}
