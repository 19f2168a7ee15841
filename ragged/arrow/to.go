package arrow

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"weft"
	"weft/internal/eager"
)

// A Layout is the type of Arrow's lists that a ragged list becomes.
type Layout uint8

const (
	LargeList     Layout = iota // offsets of 64 bits, those of the list itself
	List                        // offsets of 32 bits, copied, if they fit
	FixedSizeList               // no offsets: all items are of one length
)

// ArrayOpts are options of ToArray and of writing files.
type ArrayOpts struct {
	Layout Layout // of every level
}

// ToArray returns a column as an Arrow array, which lies in the memory of its tensors: they
// must not be written while it is used, and cannot be released before it is. Tensors that are
// not contiguous are copied, and so are bools. It is for the caller to Release. Column.Name
// and Type do not matter.
func ToArray(c Column, opts ArrayOpts) (a apache.Array, err error) {
	defer caught(&err)
	d, err := toData(c, opts)
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

func toData(c Column, opts ArrayOpts) (apache.ArrayData, error) {
	switch {
	case opts.Layout > FixedSizeList:
		return nil, fmt.Errorf("arrow: Layout(%d) is not LargeList, List or FixedSizeList", opts.Layout)
	case (c.List == nil) == (c.Tensor == nil):
		return nil, fmt.Errorf("arrow: column %q has no list and no tensor, or both", c.Name)
	case c.Tensor != nil:
		if c.Tensor.Rank() == 0 {
			return nil, fmt.Errorf("arrow: column %q is a tensor without dimensions", c.Name)
		}
		if n := len(c.Valid); n > 1 {
			return nil, fmt.Errorf("arrow: column %q has %d masks of what is valid, want 1", c.Name, n)
		}
		return rows(c.Tensor, mask(c, 0))
	}
	l := c.List
	depth, names := l.Depth(), l.Fields()
	want := depth + 1 + len(names)
	if len(c.Valid) != 0 && len(c.Valid) != want {
		return nil, fmt.Errorf("arrow: column %q has %d masks of what is valid, want %d: levels, rows, fields", c.Name, len(c.Valid), want)
	}
	var d apache.ArrayData
	var err error
	if names == nil {
		d, err = rows(l.Data(), mask(c, depth))
	} else {
		d, err = structs(c, names)
	}
	for k := depth - 1; k >= 0 && err == nil; k-- {
		child := d
		d, err = level(l.Offsets(k), child, mask(c, k), opts.Layout)
		child.Release()
	}
	return d, err
}

func mask(c Column, i int) *weft.Tensor {
	if i < len(c.Valid) {
		return c.Valid[i]
	}
	return nil
}

func structs(c Column, names []string) (apache.ArrayData, error) {
	var fields []apache.Field
	var children []apache.ArrayData
	defer func() {
		for _, d := range children {
			d.Release()
		}
	}()
	depth := c.List.Depth()
	for i, name := range names {
		valid := mask(c, depth+1+i)
		d, err := rows(c.List.Field(name).Data(), valid)
		if err != nil {
			return nil, err
		}
		children = append(children, d)
		fields = append(fields, apache.Field{Name: name, Type: d.DataType(), Nullable: true})
	}
	bits, nulls, err := bitmap(mask(c, depth), []int{c.List.Rows()})
	if err != nil {
		return nil, err
	}
	return newData(apache.StructOf(fields...), c.List.Rows(), []*memory.Buffer{bits}, children, nulls), nil
}

// newData makes an array of buffers, which belong to it.
func newData(t apache.DataType, n int, buffers []*memory.Buffer, children []apache.ArrayData, nulls int) apache.ArrayData {
	d := array.NewData(t, n, buffers, children, nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	return d
}

// level puts items around a child.
func level(offsets *weft.Tensor, child apache.ArrayData, valid *weft.Tensor, layout Layout) (apache.ArrayData, error) {
	n := offsets.Dim(0) - 1
	bits, nulls, err := bitmap(valid, []int{n})
	if err != nil {
		return nil, err
	}
	kids := []apache.ArrayData{child}
	switch layout {
	case LargeList:
		return newData(apache.LargeListOf(child.DataType()), n, []*memory.Buffer{bits, lent(offsets)}, kids, nulls), nil
	case List:
		if child.Len() > 1<<31-1 {
			return nil, fmt.Errorf("arrow: %d rows are too many for offsets of 32 bits: use LargeList", child.Len())
		}
		return newData(apache.ListOf(child.DataType()), n, []*memory.Buffer{bits, lent(offsets.To(weft.Int32))}, kids, nulls), nil
	}
	o := weft.Data[int64](offsets)
	w := int64(0)
	if n > 0 {
		w = o[1] - o[0]
	}
	for i := range n {
		if o[i+1]-o[i] != w {
			return nil, fmt.Errorf("arrow: items of %d and of %d rows are no FixedSizeList", w, o[i+1]-o[i])
		}
	}
	if w > 1<<31-1 {
		return nil, fmt.Errorf("arrow: items of %d rows are too long for a FixedSizeList", w)
	}
	return newData(apache.FixedSizeListOf(int32(w), child.DataType()), n, []*memory.Buffer{bits}, kids, nulls), nil
}

// rows returns a tensor [rows, inner...] as numbers in fixed-size lists. A null row is one of
// numbers that all are.
func rows(x, valid *weft.Tensor) (apache.ArrayData, error) {
	t, ok := arrowTypes[x.DType()]
	if !ok {
		return nil, &UnsupportedError{Type: x.DType().String()}
	}
	shape := x.Shape()
	bits, nulls, err := bitmap(valid, shape)
	if err != nil {
		return nil, err
	}
	x = x.Detach().Contiguous()
	var data *memory.Buffer
	if x.DType() == weft.Bool {
		data = packed(weft.Data[bool](x.Reshape(-1)))
	} else {
		data = lent(x)
	}
	d := newData(t, x.Size(), []*memory.Buffer{bits, data}, nil, nulls)
	n := x.Size()
	for k := len(shape) - 1; k > 0; k-- {
		if shape[k] > 1<<31-1 {
			d.Release()
			return nil, fmt.Errorf("arrow: rows of shape %v are too long for a FixedSizeList", shape[1:])
		}
		n = 1
		for _, s := range shape[:k] {
			n *= s
		}
		child := d
		d = newData(apache.FixedSizeListOf(int32(shape[k]), child.DataType()), n, []*memory.Buffer{nil}, []apache.ArrayData{child}, 0)
		child.Release()
	}
	return d, nil
}

// bitmap packs a mask of the given shape; nil says that nothing is null.
func bitmap(valid *weft.Tensor, shape []int) (b *memory.Buffer, nulls int, err error) {
	if valid == nil {
		return nil, 0, nil
	}
	if valid.DType() != weft.Bool || fmt.Sprint(valid.Shape()) != fmt.Sprint(shape) {
		return nil, 0, fmt.Errorf("arrow: what is valid is %s %v, want bool %v", valid.DType(), valid.Shape(), shape)
	}
	v := weft.Data[bool](valid)
	for _, ok := range v {
		if !ok {
			nulls++
		}
	}
	return packed(v), nulls, nil
}

// packed returns bools as bits.
func packed(v []bool) *memory.Buffer {
	b := make([]byte, (len(v)+7)/8)
	for i, x := range v {
		if x {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return memory.NewBufferBytes(b)
}

// A lender keeps a tensor whose memory a buffer is. To the buffer it is what memory goes back
// to.
type lender struct {
	t    *weft.Tensor
	done func()
}

func (l *lender) Free([]byte) { l.done() }

func (l *lender) Allocate(int) []byte { panic("arrow: the memory of a tensor does not grow") }

func (l *lender) Reallocate(int, []byte) []byte { panic("arrow: the memory of a tensor does not grow") }

// lent returns the memory of a contiguous tensor as a buffer. The tensor stays, and cannot be
// released, until the buffer is released or unreachable.
func lent(t *weft.Tensor) *memory.Buffer {
	v := eager.View(t)
	_, done := eager.Lend(t)
	once := sync.OnceFunc(done)
	l := &lender{t: t, done: once}
	runtime.AddCleanup(l, func(f func()) { f() }, once)
	var b []byte
	if n := v.Size() * v.DType.Size(); n > 0 {
		b = unsafe.Slice((*byte)(v.Ptr()), n)
	}
	return memory.NewBufferWithAllocator(b, l)
}
