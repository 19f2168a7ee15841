package arrow

import (
	"fmt"
	"runtime"
	"sync"
	"unicode/utf8"
	"unsafe"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"weft"
	own "weft/internal/array"
	"weft/internal/core"
)

// A Layout is the type of Arrow's lists that a ragged list becomes.
type Layout uint8

const (
	LargeList     Layout = iota // offsets of 64 bits, shared with the list
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
func ToArray(c Column, opts ...ArrayOpts) (a apache.Array, err error) {
	o := own.Options("arrow", opts)
	defer caught(&err)
	d, err := toData(c, o)
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
		if n := len(c.As); n > 1 {
			return nil, fmt.Errorf("arrow: column %q has %d types of what numbers stand for, want 1", c.Name, n)
		}
		return rows(c.Name, c.Tensor, mask(c, 0), meantAs(c, 0))
	}
	l := c.List
	depth, names := l.Depth(), l.Fields()
	want := depth + 1 + len(names)
	if len(c.Valid) != 0 && len(c.Valid) != want {
		return nil, fmt.Errorf("arrow: column %q has %d masks of what is valid, want %d: levels, rows, fields", c.Name, len(c.Valid), want)
	}
	if n := max(len(names), 1); len(c.As) != 0 && len(c.As) != n {
		return nil, fmt.Errorf("arrow: column %q has %d types of what numbers stand for, want %d: of rows, or of each field", c.Name, len(c.As), n)
	}
	var d apache.ArrayData
	var err error
	around := depth
	if as := meantAs(c, 0); names != nil {
		d, err = structs(c, names)
	} else if as != nil && isText(as) {
		around--
		d, err = texts(c, as)
	} else {
		d, err = rows(c.Name, l.Data(), mask(c, depth), as)
	}
	for k := around - 1; k >= 0 && err == nil; k-- {
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

// meantAs is what numbers stand for, nil for themselves.
func meantAs(c Column, i int) apache.DataType {
	if i < len(c.As) {
		return c.As[i]
	}
	return nil
}

// texts is the innermost items of a list as texts.
func texts(c Column, t apache.DataType) (apache.ArrayData, error) {
	l := c.List
	k := l.Depth() - 1
	x := l.Data()
	if x.DType() != weft.Uint8 || x.Rank() != 1 {
		return nil, fmt.Errorf("arrow: column %q: rows of type %s and shape %v are not %s, want uint8 and no more dimensions", c.Name, x.DType(), x.Shape()[1:], typeName(t))
	}
	if mask(c, k+1) != nil {
		return nil, fmt.Errorf("arrow: column %q: bytes of a %s cannot be null", c.Name, typeName(t))
	}
	offsets := l.Offsets(k)
	x = x.Detach().Contiguous()
	if id := t.ID(); id == apache.STRING || id == apache.LARGE_STRING {
		o, b := weft.Data[int64](offsets), weft.Data[uint8](x)
		for i := range len(o) - 1 {
			if !utf8.Valid(b[o[i]:o[i+1]]) {
				return nil, fmt.Errorf("arrow: column %q: text %d is not in UTF-8: binary takes any bytes", c.Name, i)
			}
		}
	}
	switch t.ID() {
	case apache.STRING, apache.BINARY:
		if x.Size() > 1<<31-1 {
			return nil, fmt.Errorf("arrow: column %q: %d bytes are too many for offsets of 32 bits: large_string and large_binary have longer ones", c.Name, x.Size())
		}
		offsets = offsets.To(weft.Int32)
	case apache.LARGE_STRING, apache.LARGE_BINARY:
	default:
		return nil, &UnsupportedError{typeName(t), c.Name}
	}
	n := offsets.Dim(0) - 1
	bits, nulls, err := bitmap(mask(c, k), []int{n})
	if err != nil {
		return nil, err
	}
	data := memory.NewBufferBytes([]byte{}) // to Arrow's JSON a text of no buffer is null
	if x.Size() > 0 {
		data = lent(x)
	}
	return newData(t, n, []*memory.Buffer{bits, lent(offsets), data}, nil, nulls), nil
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
		d, err := rows(c.Name+"."+name, c.List.Field(name).Data(), valid, meantAs(c, i))
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
			return nil, fmt.Errorf("arrow: items of %d and of %d rows cannot be a FixedSizeList", w, o[i+1]-o[i])
		}
	}
	if w > 1<<31-1 {
		return nil, fmt.Errorf("arrow: items of %d rows are too long for a FixedSizeList", w)
	}
	return newData(apache.FixedSizeListOf(int32(w), child.DataType()), n, []*memory.Buffer{bits}, kids, nulls), nil
}

// rows returns a tensor [rows, inner...] as numbers, or what they stand for, in fixed-size
// lists. A null row is one of numbers that all are.
func rows(name string, x, valid *weft.Tensor, as apache.DataType) (apache.ArrayData, error) {
	shape := x.Shape()
	t, ok := arrowTypes[x.DType()]
	n, ours := numbersOfOurs[x.DType()]
	if ours {
		t, ok = n, true
	}
	if as != nil {
		d, known := meant[as.ID()]
		if !known {
			d, known = dtypes[as.ID()]
		}
		switch w, fixed := as.(*apache.FixedSizeBinaryType); {
		case !known:
			return nil, &UnsupportedError{typeName(as), name}
		case d != x.DType():
			return nil, fmt.Errorf("arrow: column %q: rows of type %s are not %s, want %s", name, x.DType(), typeName(as), d)
		case fixed && (len(shape) < 2 || shape[len(shape)-1] != w.ByteWidth || w.ByteWidth == 0):
			return nil, fmt.Errorf("arrow: column %q: rows of shape %v are not %s: its bytes are the last dimension", name, shape[1:], typeName(as))
		case fixed:
			shape = shape[:len(shape)-1]
			if valid != nil && valid.Rank() == x.Rank() {
				valid = valid.Any(-1)
			}
		}
		t, ok = as, true
	}
	if !ok {
		return nil, &UnsupportedError{x.DType().String(), name}
	}
	bits, nulls, err := bitmap(valid, shape)
	if err != nil {
		return nil, err
	}
	x = x.Detach().Contiguous()
	elements := 1
	for _, n := range shape {
		elements *= n
	}
	var d apache.ArrayData
	switch {
	case x.DType().Complex():
		parts := newData(n.Storage.(*apache.FixedSizeListType).Elem(), 2*elements, []*memory.Buffer{nil, lent(x)}, nil, 0)
		d = newData(t, elements, []*memory.Buffer{bits}, []apache.ArrayData{parts}, nulls)
		parts.Release()
	case x.DType() == weft.Bool:
		d = newData(t, elements, []*memory.Buffer{bits, packed(weft.Data[bool](x.Reshape(-1)))}, nil, nulls)
	default:
		d = newData(t, elements, []*memory.Buffer{bits, lent(x)}, nil, nulls)
	}
	for k := len(shape) - 1; k > 0; k-- {
		if shape[k] > 1<<31-1 {
			d.Release()
			return nil, fmt.Errorf("arrow: rows of shape %v are too long for a FixedSizeList", shape[1:])
		}
		n := 1
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
	v := (*core.Tensor)(t).Read()
	_, done := (*core.Tensor)(t).Lend()
	once := sync.OnceFunc(done)
	l := &lender{t: t, done: once}
	runtime.AddCleanup(l, func(f func()) { f() }, once)
	var b []byte
	if n := v.Size() * v.DType.Size(); n > 0 {
		b = unsafe.Slice((*byte)(v.Ptr()), n)
	}
	return memory.NewBufferWithAllocator(b, l)
}
