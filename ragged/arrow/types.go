package arrow

import (
	"encoding/binary"
	"reflect"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"weft"
	"weft/internal/mem"
)

// Types of Arrow's that are not numbers to it, but have the bytes of some: texts, which are
// lists of bytes, points and spans of time, which are integers; and numbers that Arrow has no
// type for, which are extension types over what it has.

// meant are the types whose values are numbers of another type, in the same bytes.
var meant = map[apache.Type]weft.DType{
	apache.DATE32: weft.Int32, apache.DATE64: weft.Int64, apache.TIME32: weft.Int32, apache.TIME64: weft.Int64,
	apache.TIMESTAMP: weft.Int64, apache.DURATION: weft.Int64, apache.INTERVAL_MONTHS: weft.Int32,
	apache.FIXED_SIZE_BINARY: weft.Uint8,
}

// isText reports lists of bytes.
func isText(t apache.DataType) bool {
	switch t.ID() {
	case apache.STRING, apache.BINARY, apache.LARGE_STRING, apache.LARGE_BINARY, apache.STRING_VIEW, apache.BINARY_VIEW:
		return true
	}
	return false
}

// A number is a type of elements that Arrow has none for: an extension type, so that other
// programs read what it is stored as, and know its name.
type number struct {
	apache.ExtensionBase
	dtype weft.DType
}

var numbersOfOurs = map[weft.DType]*number{
	weft.Complex64:  newNumber(weft.Complex64, apache.FixedSizeListOfNonNullable(2, apache.PrimitiveTypes.Float32)),
	weft.Complex128: newNumber(weft.Complex128, apache.FixedSizeListOfNonNullable(2, apache.PrimitiveTypes.Float64)),
	weft.BFloat16:   newNumber(weft.BFloat16, &apache.FixedSizeBinaryType{ByteWidth: 2}),
}

func newNumber(d weft.DType, storage apache.DataType) *number {
	n := &number{apache.ExtensionBase{Storage: storage}, d}
	if err := apache.RegisterExtensionType(n); err != nil {
		panic(err)
	}
	return n
}

// ArrayType implements Arrow's ExtensionType, as the other methods do.
func (n *number) ArrayType() reflect.Type { return reflect.TypeFor[numberArray]() }

func (n *number) ExtensionName() string { return "weft." + n.dtype.String() }

func (n *number) String() string { return "extension<" + n.ExtensionName() + ">" }

func (n *number) Serialize() string { return "" }

func (n *number) Deserialize(storage apache.DataType, _ string) (apache.ExtensionType, error) {
	if s, ok := storage.(*apache.FixedSizeListType); ok && n.dtype.Complex() {
		// Writers may name the elements, and let them be null, as they like.
		if w := n.Storage.(*apache.FixedSizeListType); s.Len() == 2 && apache.TypeEqual(s.Elem(), w.Elem()) {
			return &number{apache.ExtensionBase{Storage: storage}, n.dtype}, nil
		}
	}
	if !apache.TypeEqual(storage, n.Storage) {
		return nil, malformed("%s is stored as %s, want %s", n.ExtensionName(), typeName(storage), typeName(n.Storage))
	}
	return n, nil
}

func (n *number) ExtensionEquals(other apache.ExtensionType) bool {
	o, ok := other.(*number)
	return ok && o.dtype == n.dtype
}

// A numberArray is what Arrow makes of such data.
type numberArray struct{ array.ExtensionArrayBase }

// plainType is what a type is without what stands around values: dictionaries, and extension
// types that are not ours.
func plainType(t apache.DataType) apache.DataType {
	for {
		switch x := t.(type) {
		case *number:
			return t
		case *apache.DictionaryType:
			t = x.ValueType
		case apache.ExtensionType:
			t = x.StorageType()
		default:
			return t
		}
	}
}

// innermost is the type of what is in lists, and of structs itself.
func innermost(t apache.DataType) apache.DataType {
	for {
		t = plainType(t)
		n, ok := t.(apache.NestedType)
		if !ok || !isList(t) || isText(t) || len(n.Fields()) != 1 {
			return t
		}
		t = n.Fields()[0].Type
	}
}

// meaning is what must be known beside numbers to write them as they were: nil if nothing.
func meaning(t apache.DataType) apache.DataType {
	t = innermost(t)
	switch t.ID() {
	case apache.STRING_VIEW:
		return apache.BinaryTypes.LargeString
	case apache.BINARY_VIEW:
		return apache.BinaryTypes.LargeBinary
	}
	if _, ok := meant[t.ID()]; ok || isText(t) {
		return t
	}
	return nil
}

// plain checks a selection and takes away what stands around values: it returns data of
// plainType, and what of them is selected.
func (m *made) plain(d apache.ArrayData, s selection) (apache.ArrayData, selection, error) {
	for {
		if err := check(d, s); err != nil {
			return d, s, err
		}
		switch t := d.DataType().(type) {
		case *number:
			return d, s, nil
		case *apache.DictionaryType:
			var err error
			if d, s, err = m.looked(d, s); err != nil {
				return d, s, err
			}
		case apache.ExtensionType:
			inner := array.NewData(t.StorageType(), d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset())
			if dict := d.Dictionary(); dict != nil {
				inner.SetDictionary(dict)
			}
			d = m.add(inner)
		default:
			if id := d.DataType().ID(); id == apache.STRING_VIEW || id == apache.BINARY_VIEW {
				return m.unviewed(d, s)
			}
			return d, s, nil
		}
	}
}

// A made is the arrays that were made on the way, to be released.
type made []apache.ArrayData

func (m *made) add(d apache.ArrayData) apache.ArrayData {
	*m = append(*m, d)
	return d
}

func (m *made) release() {
	for _, d := range *m {
		d.Release()
	}
}

// looked is the values of a dictionary that indices name.
func (m *made) looked(d apache.ArrayData, s selection) (apache.ArrayData, selection, error) {
	t := d.DataType().(*apache.DictionaryType)
	dtype, ok := dtypes[t.IndexType.ID()]
	if !ok || !dtype.Integer() {
		return d, s, malformed("a dictionary with indices of type %s", typeName(t.IndexType))
	}
	values := d.Dictionary()
	if x, ok := values.(*array.Data); values == nil || ok && x == nil {
		return d, s, malformed("a dictionary without values")
	}
	valid, err := validOf(d, s)
	if err != nil {
		return d, s, err
	}
	size := dtype.Size()
	b, err := buffer(d, 1, d.Offset(), d.Len(), size)
	if err != nil {
		return d, s, err
	}
	out := selection{n: s.n, valid: valid}
	if out.list, err = room(s.n, 1); err != nil {
		return d, s, err
	}
	n := values.Len()
	for i := range s.n {
		k := int64(0)
		if valid == nil || valid[i] {
			var word [8]byte
			copy(word[:], b[s.at(i)*size:][:size])
			k = int64(binary.LittleEndian.Uint64(word[:]))
			if shift := 64 - 8*size; !dtype.Unsigned() {
				k = k << shift >> shift
			}
			if k < 0 || k >= int64(n) {
				return d, s, malformed("index %d of a dictionary of %d values", k, n)
			}
		}
		out.list = append(out.list, k)
	}
	if n == 0 && s.n > 0 { // all are null: of one value that does not matter
		zero := func() *memory.Buffer { return memory.NewBufferBytes(make([]byte, 16)) }
		switch v := plainType(t.ValueType); {
		case isText(v):
			values = m.add(newData(apache.BinaryTypes.Binary, 1, []*memory.Buffer{nil, zero(), zero()}, nil, 0))
		case dtypes[v.ID()] != 0 || meant[v.ID()] != 0 && v.ID() != apache.FIXED_SIZE_BINARY || v.ID() == apache.BOOL:
			values = m.add(newData(v, 1, []*memory.Buffer{nil, zero()}, nil, 0))
		default:
			return d, s, &UnsupportedError{Type: typeName(t) + " without values"}
		}
	}
	return values, out, nil
}

// unviewed copies the selected ones of texts that views name.
func (m *made) unviewed(d apache.ArrayData, s selection) (apache.ArrayData, selection, error) {
	valid, err := validOf(d, s)
	if err != nil {
		return d, s, err
	}
	views, err := buffer(d, 1, d.Offset(), d.Len(), apache.ViewHeaderSizeBytes)
	if err != nil {
		return d, s, err
	}
	if err := mem.CheckHeap((s.n + 1) * 8); err != nil {
		return d, s, malformed("%v", err)
	}
	offsets := binary.LittleEndian.AppendUint64(make([]byte, 0, (s.n+1)*8), 0)
	var text []byte
	for i := range s.n {
		if valid == nil || valid[i] {
			v := views[s.at(i)*apache.ViewHeaderSizeBytes:][:apache.ViewHeaderSizeBytes]
			n := int(int32(binary.LittleEndian.Uint32(v)))
			word := v[4:]
			if n > 12 {
				k, at := int(int32(binary.LittleEndian.Uint32(v[8:]))), int(int32(binary.LittleEndian.Uint32(v[12:])))
				if k < 0 || at < 0 {
					return d, s, malformed("a view of %s leads outside of its buffers", typeName(d.DataType()))
				}
				if word, err = buffer(d, 2+k, at, n, 1); err != nil {
					return d, s, err
				}
			}
			if n < 0 {
				return d, s, malformed("a view of %s has %d bytes", typeName(d.DataType()), n)
			}
			if cap(text)-len(text) < n {
				if err := mem.CheckHeap(2 * (len(text) + n)); err != nil {
					return d, s, malformed("%v", err)
				}
			}
			text = append(text, word[:n]...)
		}
		offsets = binary.LittleEndian.AppendUint64(offsets, uint64(len(text)))
	}
	out := newData(apache.BinaryTypes.LargeBinary, s.n, []*memory.Buffer{nil, memory.NewBufferBytes(offsets), memory.NewBufferBytes(text)}, nil, 0)
	return m.add(out), selection{n: s.n, valid: valid}, nil
}

// bytesOf is the bytes of texts as an array of numbers.
func (m *made) bytesOf(d apache.ArrayData) apache.ArrayData {
	var b *memory.Buffer
	n := 0
	if bs := d.Buffers(); len(bs) > 2 && bs[2] != nil {
		b, n = bs[2], bs[2].Len()
	}
	return m.add(array.NewData(apache.PrimitiveTypes.Uint8, n, []*memory.Buffer{nil, b}, nil, 0, 0))
}
