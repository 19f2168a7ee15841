package raw

import (
	"io"
	"runtime"

	"weft/internal/array"
)

// bufBytes is the size of the pieces in which elements that are not packed, or
// not little-endian, are gathered; a multiple of every element size.
const bufBytes = 64 << 10

// Write writes the elements of v to w in row-major order of the indices,
// whatever the strides, packed and little-endian.
func Write(w io.Writer, v *array.View) error {
	n := v.Size()
	if n == 0 {
		return nil
	}
	defer runtime.KeepAlive(v.Store)
	size := v.DType.Size()
	mem, first := v.Memory()
	if v.Contiguous() && (!hostBig || size == 1) {
		_, err := w.Write(mem[first : first+n*size])
		return err
	}
	g := gather{w: w, mem: mem, size: size, width: width(v.DType), buf: make([]byte, 0, min(bufBytes, n*size))}
	return g.run(v, first/size)
}

// gather collects elements into buf and writes it whenever it is full.
type gather struct {
	w     io.Writer
	mem   []byte // that of the view
	size  int    // of an element
	width int
	buf   []byte
}

// run walks the view, whose first element is number off in its memory.
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

// row appends n elements from element number off on, step elements apart.
func (g *gather) row(off, n, step int) error {
	for range n {
		if len(g.buf)+g.size > cap(g.buf) {
			if err := g.flush(); err != nil {
				return err
			}
		}
		g.buf = append(g.buf, g.mem[off*g.size:][:g.size]...)
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
