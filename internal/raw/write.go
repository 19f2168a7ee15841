package raw

import (
	"io"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/mapped"
)

// bufBytes is the size of the pieces in which elements that are not packed, or
// not little-endian, are gathered; a multiple of every element size.
const bufBytes = 64 << 10

// Write writes the elements of v to w in row-major order of the indices,
// whatever the strides, packed and little-endian. Memory that cannot be used, since it
// is that of a file which was cut, is an error.
func Write(w io.Writer, v *array.View) (err error) {
	if mapped.Any() {
		if e := array.Try(func() {
			defer mapped.Explain()
			err = write(w, v)
		}); e != nil {
			return e
		}
		return err
	}
	return write(w, v)
}

func write(w io.Writer, v *array.View) error {
	n := v.Size()
	if n == 0 {
		return nil
	}
	if !v.Store.Use() {
		return array.Errorf("write", "", "%s was released", array.TypeString(v.DType, v.Shape))
	}
	defer v.Store.Unuse()
	size := v.DType.Size()
	var mem []byte
	var first int
	if err := array.Try(func() { mem, first = v.Memory() }); err != nil {
		return err
	}
	if v.Contiguous() && (!hostBig || size == 1) {
		b := mem[first : first+n*size]
		_, err := w.Write(b)
		if err != nil && mapped.Any() {
			_ = sink.Swap(uint32(b[len(b)-1])) // faults if the system found that b is not there
		}
		return err
	}
	g := gather{w: w, mem: mem, size: size, unit: size, width: width(v.DType), buf: make([]byte, 0, min(bufBytes, n*size))}
	return g.run(v, first/size)
}

var sink atomic.Uint32 // keeps a read

// gather collects elements into buf and writes it whenever it is full.
type gather struct {
	w     io.Writer
	mem   []byte // that of the view
	size  int    // of an element
	unit  int    // bytes that a step counts
	width int
	buf   []byte
}

// run walks the view, whose first element is off steps behind the start of its memory.
func (g *gather) run(v *array.View, off int) error {
	rank := len(v.Shape)
	inner, step := 1, 0
	if rank > 0 {
		inner, step = v.Shape[rank-1], v.Strides[rank-1]
	}
	var index [array.MaxRank]int
	for {
		if err := g.row(off, inner, step); err != nil {
			return err
		}
		i := rank - 2
		for ; i >= 0; i-- {
			off += v.Strides[i]
			if index[i]++; index[i] < v.Shape[i] {
				break
			}
			off -= v.Strides[i] * v.Shape[i]
			index[i] = 0
		}
		if i < 0 {
			return g.flush()
		}
	}
}

// row appends n elements from step number off on, step apart.
func (g *gather) row(off, n, step int) error {
	for range n {
		if len(g.buf)+g.size > cap(g.buf) {
			if err := g.flush(); err != nil {
				return err
			}
		}
		g.buf = append(g.buf, g.mem[off*g.unit:][:g.size]...)
		off += step
	}
	return nil
}

func (g *gather) flush() error {
	if hostBig {
		swap(g.buf, g.width)
	}
	_, err := g.w.Write(g.buf)
	g.buf = g.buf[:0]
	return err
}

// Packed returns the elements of type d whose bytes, in the given order, v has along its
// last axis, side by side: in the order of their indices and the byte order of the host.
func Packed(v *array.View, d array.DType, big bool) []byte {
	if mapped.Any() {
		defer mapped.Explain()
	}
	if !v.Store.Use() {
		array.Failf("write", "", "%s was released", array.TypeString(v.DType, v.Shape))
	}
	defer v.Store.Unuse()
	out := alloc(v.Size())
	rank := len(v.Shape) - 1
	elements := array.View{DType: array.Uint8, Shape: v.Shape[:rank], Strides: v.Strides[:rank]}
	mem, first := v.Memory()
	g := gather{w: io.Discard, mem: mem, size: v.Shape[rank], unit: 1, width: 1, buf: out[:0]}
	_ = g.run(&elements, first) // the buffer takes all, and nothing is written
	toHost(out, d, big)
	return out
}
