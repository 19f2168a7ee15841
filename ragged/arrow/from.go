package arrow

import (
	"errors"
	"runtime"
	"slices"
	"unsafe"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mem"
	"weft/ragged"
)

// FromArray returns an Arrow array as a column; see the package for what becomes what. The
// array is kept as long as tensors lie in its memory, and must not be changed. Its layout is
// not trusted: offsets and lengths that lead outside its buffers give a [*FormatError].
func FromArray(a apache.Array) (c Column, err error) {
	if a == nil {
		return c, malformed("the array is nil")
	}
	defer caught(&err)
	return fromData(a.Data())
}

func fromData(d apache.ArrayData) (c Column, err error) {
	var m made
	defer m.release()
	c.Type = typeName(d.DataType())
	if t := meaning(d.DataType()); t != nil {
		c.As = []apache.DataType{t}
	}
	rows := selection{n: d.Len()}
	levels, inner := split(d.DataType())
	var offsets [][]int64
	for range levels {
		var o []int64
		var valid *weft.Tensor
		if o, d, rows, valid, err = m.levelOf(d, rows); err != nil {
			return c, err
		}
		offsets, c.Valid = append(offsets, o), append(c.Valid, valid)
	}
	if d, rows, err = m.plain(d, rows); err != nil {
		return c, err
	}
	if st, ok := d.DataType().(*apache.StructType); ok {
		return m.structsOf(c, d, st, rows, offsets)
	}
	x, valid, err := m.leaf(d, rows, inner)
	if err != nil {
		return c, err
	}
	c.Valid = append(c.Valid, valid)
	if len(offsets) == 0 {
		c.Tensor = x
		return c, nil
	}
	c.List, err = listOf(x, offsets)
	return c, err
}

// structsOf makes a list of the fields of structs.
func (m *made) structsOf(c Column, d apache.ArrayData, t *apache.StructType, rows selection, offsets [][]int64) (Column, error) {
	if len(offsets) == 0 {
		return c, &UnsupportedError{Type: typeName(t) + " outside of a list"}
	}
	valid, err := validity(d, rows)
	if err != nil {
		return c, err
	}
	c.Valid = append(c.Valid, valid)
	if len(d.Children()) != t.NumFields() || t.NumFields() == 0 {
		return c, malformed("a struct of %d fields has %d", t.NumFields(), len(d.Children()))
	}
	var names []string
	var lists []*ragged.List
	for i, child := range d.Children() {
		// The offset of a struct counts in its fields too.
		part := rows.shifted(d.Offset())
		levels, inner := split(child.DataType())
		if levels > 0 {
			// One level is what split keeps of fixed-size lists: here they are dimensions.
			if inner, err = onlyFixed(child.DataType()); err != nil {
				return c, &UnsupportedError{err.(*UnsupportedError).Type, t.Field(i).Name}
			}
		}
		x, valid, err := m.leaf(child, part, inner)
		if u := (*UnsupportedError)(nil); errors.As(err, &u) {
			return c, &UnsupportedError{u.Type, t.Field(i).Name}
		} else if err != nil {
			return c, err
		}
		if as := meaning(child.DataType()); as != nil {
			if c.As == nil {
				c.As = make([]apache.DataType, t.NumFields())
			}
			c.As[i] = as
		}
		l, err := listOf(x, offsets)
		if err != nil {
			return c, err
		}
		c.Valid = append(c.Valid, valid)
		names, lists = append(names, t.Field(i).Name), append(lists, l)
	}
	err = weft.Try(func() { c.List = ragged.Zip(names, lists...) })
	if err != nil {
		return c, malformed("%v", err)
	}
	return c, nil
}

// onlyFixed returns the number of fixed-size lists that t is nested in.
func onlyFixed(t apache.DataType) (n int, err error) {
	for {
		t = plainType(t)
		f, ok := t.(*apache.FixedSizeListType)
		if !ok {
			break
		}
		t, n = f.Elem(), n+1
	}
	if isList(t) {
		return 0, &UnsupportedError{Type: typeName(t) + " in a struct"}
	}
	return n, nil
}

func isList(t apache.DataType) bool {
	switch t.ID() {
	case apache.LIST, apache.LARGE_LIST, apache.FIXED_SIZE_LIST, apache.LIST_VIEW, apache.LARGE_LIST_VIEW:
		return true
	}
	return isText(t)
}

// split says how many of the lists that a type is nested in are levels, and how many behind
// those are dimensions of rows.
func split(t apache.DataType) (levels, inner int) {
	t = plainType(t)
	for depth := 1; isList(t); depth++ {
		if t.ID() != apache.FIXED_SIZE_LIST || depth == 1 {
			levels, inner = depth, 0
		} else {
			inner++
		}
		n, ok := t.(apache.NestedType)
		if !ok || len(n.Fields()) != 1 {
			return levels, inner
		}
		t = plainType(n.Fields()[0].Type)
	}
	if t.ID() == apache.STRUCT {
		return levels + inner, 0
	}
	return levels, inner
}

// listOf makes a list of rows and offsets, the outermost first.
func listOf(x *weft.Tensor, offsets [][]int64) (l *ragged.List, err error) {
	all := make([]any, len(offsets))
	for i, o := range offsets {
		all[i] = o
	}
	if err := weft.Try(func() { l = ragged.FromOffsets(x, all...) }); err != nil {
		return nil, malformed("%v", err)
	}
	return l, nil
}

// A selection is elements of an array, behind its offset: n of them from first on, or those
// that are listed.
type selection struct {
	first, n int
	list     []int64 // nil unless they are not side by side
	valid    []bool  // of what a dictionary has for others, which these are; nil: all
}

func (s *selection) at(i int) int {
	if s.list != nil {
		return int(s.list[i])
	}
	return s.first + i
}

// shifted moves all by n.
func (s selection) shifted(n int) selection {
	s.first += n
	if n != 0 && s.list != nil {
		list := make([]int64, len(s.list))
		for i, k := range s.list {
			list[i] = k + int64(n)
		}
		s.list = list
	}
	return s
}

// times makes of each element w.
func (s selection) times(w int) (selection, error) {
	if s.list == nil {
		return selection{first: s.first * w, n: s.n * w}, nil
	}
	list, err := room(s.n, w)
	if err != nil {
		return s, err
	}
	for _, k := range s.list {
		for j := range w {
			list = append(list, k*int64(w)+int64(j))
		}
	}
	return selection{n: len(list), list: list}, nil
}

// room is memory for n times w places.
func room(n, w int) ([]int64, error) {
	const size = 8
	if w > 0 && n > array.MaxBytes/size/w {
		return nil, malformed("%d times %d elements overflow", n, w)
	}
	if err := mem.CheckHeap(n * w * size); err != nil {
		return nil, malformed("%v", err)
	}
	return make([]int64, 0, n*w), nil
}

// check refuses selections that lead outside of an array.
func check(d apache.ArrayData, s selection) error {
	if d == nil {
		return malformed("an array is missing")
	}
	if d.Len() < 0 || d.Offset() < 0 || d.Len() > array.MaxBytes-d.Offset() {
		return malformed("an array of %d elements from %d on", d.Len(), d.Offset())
	}
	if s.list == nil {
		if s.n > 0 && (s.first < 0 || s.first > d.Len() || s.n > d.Len()-s.first) {
			return malformed("elements %d to %d of %s are used, there are %d", s.first, s.first+s.n-1, typeName(d.DataType()), d.Len())
		}
		return nil
	}
	for _, k := range s.list {
		if k < 0 || k >= int64(d.Len()) {
			return malformed("element %d of %s is used, there are %d", k, typeName(d.DataType()), d.Len())
		}
	}
	return nil
}

// buffer returns bytes of a buffer: n elements of the given size from element at on.
func buffer(d apache.ArrayData, i, at, n, size int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	var b *memory.Buffer
	if bs := d.Buffers(); i < len(bs) {
		b = bs[i]
	}
	if b == nil || n > array.MaxBytes/size || at > array.MaxBytes/size-n || (at+n)*size > b.Len() {
		have := 0
		if b != nil {
			have = b.Len()
		}
		return nil, malformed("%s needs elements %d to %d of %d bytes in buffer %d, which has %d bytes", typeName(d.DataType()), at, at+n-1, size, i, have)
	}
	return b.Bytes()[at*size : (at+n)*size], nil
}

// bits reads n bits from bit at on.
func bits(d apache.ArrayData, i, at, n int) (func(k int) bool, error) {
	lo, hi := at/8, (at+n+7)/8
	b, err := buffer(d, i, lo, hi-lo, 1)
	if err != nil {
		return nil, err
	}
	return func(k int) bool { k += at - 8*lo; return b[k/8]>>(k%8)&1 == 1 }, nil
}

// validOf returns which of the elements are not null, nil if nothing says so.
func validOf(d apache.ArrayData, s selection) ([]bool, error) {
	if len(d.Buffers()) == 0 || d.Buffers()[0] == nil || d.Buffers()[0].Len() == 0 || s.n == 0 || d.NullN() == 0 {
		return s.valid, nil
	}
	bit, err := bits(d, 0, d.Offset(), d.Len())
	if err != nil {
		return nil, err
	}
	if err := mem.CheckHeap(s.n); err != nil {
		return nil, malformed("%v", err)
	}
	out := make([]bool, s.n)
	for i := range out {
		out[i] = bit(s.at(i)) && (s.valid == nil || s.valid[i])
	}
	return out, nil
}

// validity returns which of the elements are not null, nil if all are.
func validity(d apache.ArrayData, s selection) (*weft.Tensor, error) {
	v, err := validOf(d, s)
	if err != nil || !slices.Contains(v, false) {
		return nil, err
	}
	return weft.FromSlice(v), nil
}

// levelOf takes one level of lists: it returns the offsets of the selected ones, the child,
// what of it is in them, and which are not null.
func (m *made) levelOf(d apache.ArrayData, s selection) (offsets []int64, child apache.ArrayData, rows selection, valid *weft.Tensor, err error) {
	if d, s, err = m.plain(d, s); err != nil {
		return nil, nil, rows, nil, err
	}
	switch {
	case isText(d.DataType()):
		child = m.bytesOf(d)
	case len(d.Children()) != 1:
		return nil, nil, rows, nil, malformed("a list has %d children", len(d.Children()))
	default:
		child = d.Children()[0]
	}
	item, err := items(d)
	if err != nil {
		return nil, nil, rows, nil, err
	}
	if valid, err = validity(d, s); err != nil {
		return nil, nil, rows, nil, err
	}
	null := func(int) bool { return false }
	if valid != nil {
		v := weft.Data[bool](valid)
		null = func(i int) bool { return !v[i] }
	}
	// Where are the rows, and are they side by side?
	offsets, err = room(s.n+1, 1)
	if err != nil {
		return nil, nil, rows, nil, err
	}
	total, aside, next, begun := int64(0), true, int64(0), false
	offsets = append(offsets, 0)
	for i := range s.n {
		lo, n := item(s.at(i))
		if null(i) {
			n = 0
		}
		if n < 0 || n > 0 && (lo < 0 || lo > int64(child.Len()) || n > int64(child.Len())-lo) {
			return nil, nil, rows, nil, malformed("item %d of %s is %d elements from %d on, there are %d", s.at(i), typeName(d.DataType()), n, lo, child.Len())
		}
		if n > 0 {
			if !begun {
				rows.first, begun = int(lo), true
			} else if lo != next {
				aside = false
			}
			next = lo + n
		}
		if total > array.MaxBytes-n {
			return nil, nil, rows, nil, malformed("the items of %s overflow", typeName(d.DataType()))
		}
		total += n
		offsets = append(offsets, total)
	}
	rows.n = int(total)
	if aside {
		return offsets, child, rows, valid, nil
	}
	if rows.list, err = room(rows.n, 1); err != nil {
		return nil, nil, rows, nil, err
	}
	for i := range s.n {
		if lo, n := item(s.at(i)); !null(i) {
			for k := range n {
				rows.list = append(rows.list, lo+k)
			}
		}
	}
	rows.first = 0
	return offsets, child, rows, valid, nil
}

// items returns a function that says where an item of a list begins in the child, and how
// many elements it has.
func items(d apache.ArrayData) (func(i int) (lo, n int64), error) {
	number := func(i, n int, wide bool) (func(k int) int64, error) {
		size := 4
		if wide {
			size = 8
		}
		b, err := buffer(d, i, d.Offset(), n, size)
		if err != nil {
			return nil, err
		}
		if wide {
			return func(k int) int64 { return *(*int64)(unsafe.Pointer(&b[8*k])) }, nil
		}
		return func(k int) int64 { return int64(*(*int32)(unsafe.Pointer(&b[4*k]))) }, nil
	}
	switch t := d.DataType().(type) {
	case *apache.FixedSizeListType:
		w := int64(t.Len())
		if w < 0 || w > 0 && int64(d.Offset()+d.Len()) > array.MaxBytes/w {
			return nil, malformed("%s has items of %d elements", typeName(t), w)
		}
		return func(i int) (int64, int64) { return (int64(d.Offset()) + int64(i)) * w, w }, nil
	case *apache.ListType, *apache.LargeListType, *apache.StringType, *apache.BinaryType, *apache.LargeStringType, *apache.LargeBinaryType:
		n := d.Len() + 1
		if d.Len() == 0 {
			n = 0 // the offsets of no items may be left out
		}
		at, err := number(1, n, slices.Contains([]apache.Type{apache.LARGE_LIST, apache.LARGE_STRING, apache.LARGE_BINARY}, t.ID()))
		return func(i int) (int64, int64) { lo := at(i); return lo, at(i+1) - lo }, err
	case *apache.ListViewType, *apache.LargeListViewType:
		at, err := number(1, d.Len(), t.ID() == apache.LARGE_LIST_VIEW)
		if err != nil {
			return nil, err
		}
		size, err := number(2, d.Len(), t.ID() == apache.LARGE_LIST_VIEW)
		return func(i int) (int64, int64) { return at(i), size(i) }, err
	}
	return nil, &UnsupportedError{Type: typeName(d.DataType())}
}

// leaf returns numbers, which may be in fixed-size lists, as a tensor [rows, inner...].
func (m *made) leaf(d apache.ArrayData, s selection, inner int) (x, valid *weft.Tensor, err error) {
	shape := []int{s.n}
	// Of each level, which are not null, as 0 and 1 in the shape so far.
	var valids []*weft.Tensor
	mark := func() error {
		v, err := validity(d, s)
		if v != nil {
			valids = append(valids, v.Reshape(shape...))
		}
		return err
	}
	for range inner {
		if d, s, err = m.plain(d, s); err != nil {
			return nil, nil, err
		}
		if err := mark(); err != nil {
			return nil, nil, err
		}
		w := int(d.DataType().(*apache.FixedSizeListType).Len())
		if len(d.Children()) != 1 || w < 0 || w > 0 && d.Offset()+d.Len() > array.MaxBytes/w {
			return nil, nil, malformed("%s has %d children", typeName(d.DataType()), len(d.Children()))
		}
		if s, err = s.shifted(d.Offset()).times(w); err != nil {
			return nil, nil, err
		}
		shape = append(shape, w)
		if len(shape) > array.MaxRank {
			return nil, nil, malformed("rows have more than %d dimensions", array.MaxRank-1)
		}
		d = d.Children()[0]
	}
	if d, s, err = m.plain(d, s); err != nil {
		return nil, nil, err
	}
	if err := mark(); err != nil {
		return nil, nil, err
	}
	if t, ok := d.DataType().(*apache.FixedSizeBinaryType); ok {
		shape = append(shape, t.ByteWidth)
		if len(shape) > array.MaxRank {
			return nil, nil, malformed("rows have more than %d dimensions", array.MaxRank-1)
		}
	}
	if x, err = numbers(d, s); err != nil {
		return nil, nil, err
	}
	if t, ok := d.DataType().(*number); ok && t.dtype.Complex() { // one part may be null
		if parts := d.Children()[0]; len(parts.Buffers()) > 0 && parts.Buffers()[0] != nil {
			both, err := s.shifted(d.Offset()).times(2)
			if err != nil {
				return nil, nil, err
			}
			v, err := validity(parts, both)
			if err != nil {
				return nil, nil, err
			}
			if v != nil {
				valids = append(valids, v.Reshape(s.n, 2).All(-1).Reshape(shape...))
			}
		}
	}
	err = weft.Try(func() {
		x = x.Reshape(shape...)
		for _, v := range valids {
			for v.Rank() < len(shape) {
				v = v.Unsqueeze(v.Rank())
			}
			v = v.Expand(shape...)
			if valid == nil {
				valid = v.Contiguous()
			} else {
				valid = valid.LogicalAnd(v)
			}
		}
	})
	if err != nil {
		return nil, nil, malformed("%v", err)
	}
	return x, valid, nil
}

// numbers returns the selected elements as a vector.
func numbers(d apache.ArrayData, s selection) (*weft.Tensor, error) {
	id := d.DataType().ID()
	if id == apache.BOOL {
		out := make([]bool, 0)
		if s.n > 0 {
			bit, err := bits(d, 1, d.Offset(), d.Len())
			if err != nil {
				return nil, err
			}
			if err := mem.CheckHeap(s.n); err != nil {
				return nil, malformed("%v", err)
			}
			out = make([]bool, s.n)
			for i := range out {
				out[i] = bit(s.at(i))
			}
		}
		return weft.FromSlice(out), nil
	}
	dtype, ok := dtypes[id]
	if !ok {
		dtype, ok = meant[id]
	}
	// Of one element: how many numbers, and in which array, from which of them on.
	width, data, offset := 1, d, d.Offset()
	switch t := d.DataType().(type) {
	case *number:
		dtype, ok = t.dtype, true
		if dtype.Complex() {
			if len(d.Children()) != 1 {
				return nil, malformed("%s has %d children", typeName(t), len(d.Children()))
			}
			if data = d.Children()[0]; data.Len()/2 < d.Offset()+d.Len() {
				return nil, malformed("%s has %d parts for %d elements from %d on", typeName(t), data.Len(), d.Len(), d.Offset())
			}
		}
	case *apache.FixedSizeBinaryType:
		if width = t.ByteWidth; width < 0 {
			return nil, malformed("%s is of %d bytes", typeName(t), width)
		}
	}
	if !ok {
		return nil, &UnsupportedError{Type: typeName(d.DataType())}
	}
	size := dtype.Size()
	if s.n == 0 || width == 0 {
		return weft.ZerosOf(dtype, 0), nil
	}
	lo, n := 0, d.Len()
	if s.list == nil {
		lo, n = s.first, s.n
	}
	var b []byte
	var err error
	if dtype.Complex() { // the parts may begin anywhere
		b, err = buffer(data, 1, data.Offset()+2*(offset+lo), 2*n, size/2)
	} else {
		b, err = buffer(data, 1, offset+lo, n, size*width)
	}
	if err != nil {
		return nil, err
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%uintptr(size) != 0 {
		words := make([]uint64, (len(b)+7)/8)
		p = unsafe.Pointer(unsafe.SliceData(words))
		copy(unsafe.Slice((*byte)(p), len(b)), b)
	}
	st := array.NewStorage(p, len(b), keep(data))
	st.Protect()
	x := (*weft.Tensor)(core.FromView(array.View{Store: st, DType: dtype, Shape: []int{n * width}, Strides: []int{1}}))
	if width != 1 {
		x = x.Reshape(n, width)
	}
	if s.list != nil {
		x = x.IndexSelect(0, weft.FromSlice(s.list))
	}
	return x, nil
}

// A kept array is one whose memory a tensor lies in.
type kept struct{ d apache.ArrayData }

// keep holds on to an array until the tensor is released or unreachable.
func keep(d apache.ArrayData) *kept {
	d.Retain()
	k := &kept{d}
	runtime.AddCleanup(k, apache.ArrayData.Release, d)
	return k
}
