package optest

import (
	"bytes"
	"unsafe"

	"weft/internal/array"
	"weft/internal/mem/guard"
)

// guardBytes is the size of the buffers at inaccessible pages; larger arrays lie
// in plain memory.
const guardBytes = 256 << 10

// A Memory hands out memory that ends, or every second time begins, at an
// inaccessible page. It is used again after Reset, so it serves one case at a
// time.
type Memory struct {
	bufs []*guard.Buffer
	next int
}

// take returns n bytes, if marked filled with a pattern that is no likely result.
func (m *Memory) take(n int, marked bool) *array.Storage {
	var p unsafe.Pointer
	var owner any
	if n > guardBytes {
		words := make([]uint64, (n+7)/8)
		p, owner = unsafe.Pointer(unsafe.SliceData(words)), words
	} else {
		if m.next == len(m.bufs) {
			make := guard.End
			if m.next%2 == 1 {
				make = guard.Start
			}
			b, err := make(guardBytes)
			if err != nil {
				panic(err)
			}
			m.bufs = append(m.bufs, b)
		}
		b := m.bufs[m.next]
		p, owner = b.Ptr(), b
		if m.next%2 == 0 {
			p = unsafe.Add(p, guardBytes-n)
		}
		m.next++
	}
	if n > 0 && marked {
		s := unsafe.Slice((*byte)(p), n)
		s[0] = pattern
		for done := 1; done < n; done *= 2 {
			copy(s[done:], s[:done])
		}
	}
	return array.NewStorage(p, n, owner)
}

// pattern fills memory that a kernel must not touch, or must write.
const pattern = 0xa5

// Reset makes all memory free again.
func (m *Memory) Reset() { m.next = 0 }

// Close gives the memory back.
func (m *Memory) Close() {
	for _, b := range m.bufs {
		b.Close()
	}
	m.bufs = nil
}

// hold returns a view on fresh memory that holds a in a layout.
func (m *Memory) hold(a *Array, l Layout) array.View {
	v := m.view(a.DType, a.Shape, l, l != Contiguous) // nothing is between the elements then
	w := v
	if a.DType.Complex() {
		w = v.Scalars()
	}
	rows(w.Shape, w.Strides, func(i, off, n, step int) {
		p, f, ints := a.row(w, i, off, n)
		write(w.DType, p, step, f, ints)
	})
	return v
}

// room returns a view on fresh memory in a layout.
func (m *Memory) room(d array.DType, shape []int, l Layout) array.View {
	return m.view(d, shape, l, true)
}

func (m *Memory) view(d array.DType, shape []int, l Layout, marked bool) array.View {
	st, first := l.strides(shape)
	n := extent(shape, st)
	if n == 0 {
		first = 0
	}
	return array.View{Store: m.take(n*d.Size(), marked), DType: d, Offset: first, Shape: shape, Strides: st}
}

// memoryOf is the memory that a view lies in.
func memoryOf(v array.View) []byte { return unsafe.Slice((*byte)(v.Store.Host()), v.Store.Bytes) }

// untouched reports that the bytes between the elements of a view still hold the
// pattern.
func untouched(v array.View) bool {
	if array.Equal(v.Strides, array.RowMajor(v.Shape)) && array.Size(v.Shape)*v.DType.Size() == v.Store.Bytes {
		return true // nothing is between them
	}
	size := v.DType.Size()
	beside := bytes.Clone(memoryOf(v))
	walk(v.Shape, v.Strides, func(_, off int) {
		clear(beside[(v.Offset+off)*size:][:size])
	})
	for _, b := range beside {
		if b != 0 && b != pattern {
			return false
		}
	}
	return true
}
