package onnx

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mapped"
	"weft/internal/raw"
)

// A source has the memory that tensors of a file lie in.
type source struct {
	dir      string          // of external data; "" if it is refused
	real     string          // the folder of the file that the model's path links to; "" if it is not a link
	file     *mapped.Mapping // of the model; nil if it is Go memory
	reader   *os.File        // the same file: what cannot be used in place is read, which leaves its mapped pages untouched
	external map[string]*mapped.Mapping
}

// value makes the value of a tensor in a file. Its memory is the file's where the file is mapped and the
// elements can be used where they lie.
func (s *source) value(t *tensorProto) (Value, error) {
	if !t.elem.known() {
		return Value{}, errorf("tensor %q has the %v", t.name, t.elem)
	}
	shape := make([]int, len(t.dims))
	for i, n := range t.dims {
		if n < 0 || n > math.MaxInt {
			return Value{}, errorf("tensor %q has the size %d", t.name, n)
		}
		shape[i] = int(n)
	}
	d := t.elem.DType()
	if t.elem == String {
		d = weft.Uint8
	}
	n := 0
	if err := array.Try(func() { n = array.CheckShape("onnx", shape, d) }); err != nil {
		return Value{}, &Error{Text: fmt.Sprintf("tensor %q", t.name), Err: err}
	}
	if t.elem == String {
		if len(t.strings) != n {
			return Value{}, errorf("tensor %q of shape %s has %d strings", t.name, array.ShapeString(shape), len(t.strings))
		}
		text := make([]string, n)
		for i, b := range t.strings {
			text[i] = string(b)
		}
		return Value{kind: StringsKind, elem: String, strings: text, shape: shape}, nil
	}
	st, err := s.storage(t, n)
	if err != nil {
		return Value{}, &Error{Text: fmt.Sprintf("tensor %q of shape %s", t.name, array.ShapeString(shape)), Err: err}
	}
	x := (*weft.Tensor)(core.FromView(raw.Over(d, shape, false, st)))
	return Value{kind: TensorKind, elem: t.elem, tensor: x}, nil
}

// storage returns the memory of n elements.
func (s *source) storage(t *tensorProto, n int) (*array.Storage, error) {
	size := t.elem.bytes(n)
	switch {
	case t.external != nil:
		return s.externalStorage(t, n, size)
	case !t.hasRaw:
		b, err := t.packed(n)
		if err != nil {
			return nil, err
		}
		return bytesStorage(unpack(t.elem, b, n)), nil
	case len(t.raw) != size:
		return nil, fmt.Errorf("has %d bytes: want %d", len(t.raw), size)
	case s.file != nil && direct(t.elem, t.rawAt, size):
		return s.file.Storage(t.rawAt, size), nil
	}
	if p := unsafe.Pointer(unsafe.SliceData(t.raw)); s.file == nil && direct(t.elem, int(uintptr(p)%64), size) {
		return bytesStorage(t.raw), nil
	}
	if s.file != nil && littleEndian && elements[t.elem].bits >= 8 {
		return raw.Read(io.NewSectionReader(s.reader, int64(t.rawAt), int64(size)), t.elem.DType(), size, false, true)
	}
	b := append(make([]byte, 0, size), t.raw...)
	return bytesStorage(unpack(t.elem, b, n)), nil
}

func bytesStorage(b []byte) *array.Storage {
	if len(b) == 0 {
		return array.NewStorage(nil, 0, nil)
	}
	return array.NewStorage(unsafe.Pointer(unsafe.SliceData(b)), len(b), b)
}

// direct reports that elements at an offset, of a size in bytes together, can be used where they lie.
func direct(e ElementType, offset, size int) bool {
	return elements[e].bits >= 8 && raw.InPlace(e.DType(), offset, size)
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// unpack gives each element of less than 8 bits a byte of its own, makes bools 0 or 1, and elements the
// host's order of bytes. It may change b.
func unpack(e ElementType, b []byte, n int) []byte {
	bits := elements[e].bits
	switch {
	case e == Bool:
		for i, x := range b {
			if x != 0 {
				b[i] = 1
			}
		}
	case bits < 8:
		out := make([]byte, n)
		for i := range out {
			x := b[i*bits/8] >> (i * bits % 8) << (8 - bits)
			if e == Int4 || e == Int2 {
				out[i] = byte(int8(x) >> (8 - bits))
			} else {
				out[i] = x >> (8 - bits)
			}
		}
		return out
	case !littleEndian:
		width := bits / 8
		if e == Complex64 || e == Complex128 {
			width /= 2
		}
		for i := 0; i+width <= len(b); i += width {
			for j := range width / 2 {
				b[i+j], b[i+width-1-j] = b[i+width-1-j], b[i+j]
			}
		}
	}
	return b
}

// packed returns the elements of the typed fields as little-endian bytes.
func (t *tensorProto) packed(n int) ([]byte, error) {
	bits := elements[t.elem].bits
	want := n
	var b []byte
	got := 0
	switch t.elem {
	case Float, Complex64:
		got, want = len(t.floats), n*(bits/32)
		for _, x := range t.floats {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	case Double, Complex128:
		got, want = len(t.doubles), n*(bits/64)
		for _, x := range t.doubles {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	default:
		got = len(t.ints)
		if bits < 8 {
			want = t.elem.bytes(n)
		}
		for _, x := range t.ints {
			switch bits {
			case 64:
				b = binary.LittleEndian.AppendUint64(b, uint64(x))
			case 32:
				b = binary.LittleEndian.AppendUint32(b, uint32(x))
			case 16:
				b = binary.LittleEndian.AppendUint16(b, uint16(x))
			default:
				b = append(b, byte(x))
			}
		}
	}
	if got != want {
		return nil, fmt.Errorf("has %d numbers in its field: want %d", got, want)
	}
	return b, nil
}

// externalStorage returns the memory of elements in another file, which lies in the folder of the model.
func (s *source) externalStorage(t *tensorProto, n, size int) (*array.Storage, error) {
	m, err := s.open(t.external["location"])
	if err != nil {
		return nil, err
	}
	number := func(key string, def int) (int, error) {
		text, ok := t.external[key]
		if !ok {
			return def, nil
		}
		x, err := strconv.ParseUint(text, 10, 62)
		if err != nil {
			return 0, fmt.Errorf("the %s %q of external data is not a number", key, text)
		}
		return int(x), nil
	}
	offset, err := number("offset", 0)
	if err != nil {
		return nil, err
	}
	length, err := number("length", size)
	if err != nil {
		return nil, err
	}
	if length != size {
		return nil, fmt.Errorf("has %d bytes of external data: want %d", length, size)
	}
	if offset > m.Size() || size > m.Size()-offset {
		return nil, fmt.Errorf("%d bytes at %d of external data %q are needed, which has %d", size, offset, t.external["location"], m.Size())
	}
	if direct(t.elem, offset, size) {
		return m.Storage(offset, size), nil
	}
	b := make([]byte, size)
	if size > 0 {
		if _, err := m.ReadAt(b, int64(offset)); err != nil {
			return nil, err
		}
	}
	return bytesStorage(unpack(t.elem, b, n)), nil
}

// open maps a file of external data.
func (s *source) open(location string) (*mapped.Mapping, error) {
	if s.dir == "" {
		return nil, fmt.Errorf("lies in the file %q beside the model, and the model was given as bytes: use Load", location)
	}
	if m := s.external[location]; m != nil {
		return m, nil
	}
	if !filepath.IsLocal(location) {
		return nil, fmt.Errorf("external data %q is not a path inside the folder of the model", location)
	}
	f, err := s.beside(location)
	if err != nil {
		return nil, fmt.Errorf("external data: %w", err)
	}
	m, err := mapped.Open(f, mapped.CopyOnWrite)
	if err != nil {
		return nil, err
	}
	s.external[location] = m
	return m, nil
}

// beside opens a file beside the model. Neither ".." nor a link leads out of the folder, with one exception: the cache
// of Hugging Face has links for a model and its data, which lead to files in one folder. Where the model is a link, its
// data may lie in the folder of the file that it leads to.
func (s *source) beside(location string) (*os.File, error) {
	f, err := openIn(s.dir, location)
	if err == nil || s.real == "" {
		return f, err
	}
	to, e := realPath(filepath.Join(s.dir, location))
	if e != nil {
		return nil, err
	}
	name, e := filepath.Rel(s.real, to)
	if e != nil || !filepath.IsLocal(name) {
		return nil, err
	}
	return openIn(s.real, name)
}

// openIn opens a regular file in a folder that no link leads out of.
func openIn(folder, name string) (*os.File, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if st, err := root.Stat(name); err == nil {
		if err := mapped.CheckRegular(name, st); err != nil {
			return nil, err
		}
	}
	return root.Open(name)
}

// realPath is the path from the root of the file that a path leads to.
func realPath(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// close says that no more tensors are read. The memory of tensors stays.
func (s *source) close() {
	for _, m := range s.external {
		m.Close()
	}
	if s.file != nil {
		s.file.Close()
		s.reader.Close()
	}
}

// maxDense is the number of elements that a sparse tensor may have once it is made dense.
const maxDense = 1 << 24

// sparse makes a dense tensor of a sparse one: values at places that are counted in the flattened tensor, or
// given by an index for each axis.
func (s *source) sparse(p *sparseProto) (Value, error) {
	if p.values == nil || p.indices == nil || p.indices.elem != Int64 {
		return Value{}, errorf("a sparse tensor has no values, or no int64 indices")
	}
	values, err := s.value(p.values)
	if err != nil {
		return Value{}, err
	}
	indices, err := s.value(p.indices)
	if err != nil {
		return Value{}, err
	}
	n, shape := 1, make([]int, len(p.dims))
	for i, d := range p.dims {
		if d < 0 || d > maxDense || n*int(max(d, 1)) > maxDense {
			return Value{}, errorf("sparse tensor %q has the sizes %v: at most %d elements are read", p.values.name, p.dims, maxDense)
		}
		n, shape[i] = n*int(max(d, 1)), int(d)
	}
	if values.kind != TensorKind || values.tensor.Rank() != 1 {
		return Value{}, errorf("the values of sparse tensor %q are %v: want a vector", p.values.name, values)
	}
	count, at := values.tensor.Size(), weft.Data[int64](indices.tensor)
	linear := indices.tensor.Rank() == 1
	if linear && len(at) != count || !linear && (indices.tensor.Rank() != 2 || len(at) != count*len(shape)) {
		return Value{}, errorf("sparse tensor %q has %d values and indices %v", p.values.name, count, indices)
	}
	places := make([]int64, count)
	size := 1
	for _, d := range shape {
		size *= d
	}
	for i := range places {
		if linear {
			places[i] = at[i]
		} else {
			for axis, d := range shape {
				x := at[i*len(shape)+axis]
				if x < 0 || x >= int64(d) {
					return Value{}, errorf("sparse tensor %q has the index %d on an axis of %d", p.values.name, x, d)
				}
				places[i] = places[i]*int64(d) + x
			}
		}
		if places[i] < 0 || places[i] >= int64(size) {
			return Value{}, errorf("sparse tensor %q has the place %d of %d", p.values.name, places[i], size)
		}
	}
	dense := weft.ZerosOf(values.tensor.DType(), size)
	if count > 0 {
		dense = dense.Scatter(0, weft.FromSlice(places), values.tensor)
	}
	return like(values, dense.Reshape(shape...)), nil
}
