package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"weft/internal/array"
)

const (
	magic = "\x93NUMPY"

	// maxHeader bounds the text of a header. A plain array of array.MaxRank
	// dimensions needs some 400 bytes, NumPy itself refuses more than 10,000.
	maxHeader = 1 << 16
)

// maxElement is twice the size of the largest element: strides of any fit.
const maxElement = 32

var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// header describes the data that follows it.
type header struct {
	dtype   array.DType
	big     bool     // big-endian
	members []member // of a structured array, which has neither of those; nil otherwise
	record  []field  // the same, flat
	size    int      // of an element
	fortran bool     // the first index runs fastest
	shape   []int
	bytes   int // of the data
}

// readHeader reads up to the first byte of the data and no further.
func readHeader(r io.Reader) (header, error) {
	var pre [12]byte
	if err := fill(r, pre[:8]); err != nil {
		return header{}, err
	}
	if string(pre[:6]) != magic {
		return header{}, malformed("not a .npy file: it begins with %q", pre[:6])
	}
	major, minor := pre[6], pre[7]
	var n uint32
	switch {
	case minor == 0 && major == 1:
		if err := fill(r, pre[8:10]); err != nil {
			return header{}, err
		}
		n = uint32(binary.LittleEndian.Uint16(pre[8:]))
	case minor == 0 && (major == 2 || major == 3):
		if err := fill(r, pre[8:12]); err != nil {
			return header{}, err
		}
		n = binary.LittleEndian.Uint32(pre[8:])
	default:
		return header{}, malformed("unknown format version %d.%d", major, minor)
	}
	if n > maxHeader {
		return header{}, malformed("header: %d bytes long, at most %d are accepted", n, maxHeader)
	}
	text := make([]byte, n)
	if err := fill(r, text); err != nil {
		return header{}, err
	}
	f, err := parseDict(string(text), major)
	if err != nil {
		return header{}, err
	}
	return f.header()
}

// fill reads all of b, which belongs to the header.
func fill(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("npy: the header cannot be read: %w", err)
}

func (f *fields) header() (header, error) {
	h := header{fortran: f.fortran, shape: f.shape, members: f.members, size: f.size}
	var err error
	if f.members != nil {
		if h.record, err = flat(f.members); err != nil {
			return h, err
		}
	} else {
		if h.dtype, h.big, err = parseDescr(f.descr); err != nil {
			return h, err
		}
		h.size = h.dtype.Size()
	}
	n, ok := fits(max(h.size, 1), h.shape)
	if !ok {
		return h, malformed("header: shape %s of %d bytes each overflows", array.ShapeString(h.shape), h.size)
	}
	if h.size > 0 {
		h.bytes = n
	}
	for i := range h.record {
		shape := append(append([]int{}, h.shape...), h.record[i].shape...)
		if len(shape) > array.MaxRank {
			return h, malformed("header: field %q has more than %d dimensions", h.record[i].name, array.MaxRank)
		}
		if _, ok := fits(maxElement, shape); !ok {
			return h, malformed("header: shape %s of field %q overflows", array.ShapeString(shape), h.record[i].name)
		}
	}
	return h, nil
}

// fits returns the bytes of an array of elements of that size, which is not 0. The
// product of the non-zero dimensions must fit too, since strides are made of it.
func fits(size int, shape []int) (bytes int, ok bool) {
	empty := false
	for _, n := range shape {
		if n == 0 {
			empty = true
			continue
		}
		if size > math.MaxInt/n {
			return 0, false
		}
		size *= n
	}
	if empty {
		return 0, true
	}
	return size, true
}

// names gives NumPy's names of the element types that descr can tell by kind
// and size.
var names = map[string]string{
	"b1": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
	"u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
	"f2": "float16", "f4": "float32", "f8": "float64",
	"c8": "complex64", "c16": "complex128",
}

// parseDescr reads a type string of NumPy's array interface, such as "<f4":
// byte order, kind, bytes of an element.
func parseDescr(s string) (d array.DType, big bool, err error) {
	if len(s) < 2 {
		return d, false, malformed("header: descr %q is not a dtype", s)
	}
	order, kind := s[0], s[1:]
	switch order {
	case '<', '|':
	case '>':
		big = true
	case '=':
		big = hostBig
	default:
		return d, false, malformed("header: descr %q does not begin with a byte order", s)
	}
	switch {
	case objects.MatchString(kind):
		return d, false, &UnsupportedError{DType: "object (pickled Python objects are never read)"}
	case strings.HasPrefix(kind, "M8"):
		return d, false, &UnsupportedError{DType: "datetime64"}
	case strings.HasPrefix(kind, "m8"):
		return d, false, &UnsupportedError{DType: "timedelta64"}
	}
	if strings.Contains("SUVabifuc", kind[:1]) && names[kind] == "" {
		if _, e := strconv.ParseUint(kind[1:], 10, 32); e == nil {
			return d, false, &UnsupportedError{DType: strconv.Quote(s)}
		}
	}
	name, known := names[kind]
	if !known {
		return d, false, malformed("header: descr %q is not a dtype", s)
	}
	d, _ = array.ParseDType(name)
	if !d.Supported() {
		return d, false, &UnsupportedError{DType: name}
	}
	if order == '|' && d.Size() > 1 {
		return d, false, malformed("header: descr %q leaves the byte order open", s)
	}
	return d, big, nil
}

// objects matches the kind of Python objects, which old versions of NumPy write with the size of a
// pointer.
var objects = regexp.MustCompile(`^O[0-9]*$`)

// descrs are the type strings that are written. NumPy has none for bfloat16.
var descrs = func() map[array.DType]string {
	m := map[array.DType]string{}
	for kind, name := range names {
		order := "<"
		d, _ := array.ParseDType(name)
		if d.Size() == 1 {
			order = "|"
		}
		m[d] = order + kind
	}
	return m
}()

// appendHeader appends what NumPy 2 writes before an array of that type: format
// version 1.0, padded so that the data begins at a multiple of 64 bytes and
// that the leading dimension can grow in place.
func appendHeader(b []byte, d array.DType, shape []int, fortran bool) ([]byte, error) {
	descr, ok := descrs[d]
	if !ok {
		return nil, &UnsupportedError{DType: d.String()}
	}
	return appendDict(b, "'"+descr+"'", shape, fortran, 1)
}

// appendDict appends the header with descr as Python writes it.
func appendDict(b []byte, descr string, shape []int, fortran bool, major byte) ([]byte, error) {
	var t strings.Builder
	order := "False"
	if fortran {
		order = "True"
	}
	fmt.Fprintf(&t, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, order, tupleString(shape))
	if len(shape) > 0 {
		lead := shape[0]
		if fortran {
			lead = shape[len(shape)-1]
		}
		const maxDigits = 21
		t.WriteString(strings.Repeat(" ", maxDigits-len(strconv.Itoa(lead))))
	}
	const align = 64
	prefix := len(magic) + 4
	if major > 1 {
		prefix += 2
	}
	pad := align - (prefix+t.Len()+1)%align
	n := t.Len() + pad + 1
	if n > maxHeader-1 {
		return nil, malformed("header: it would be %d bytes long, at most %d are written", n, maxHeader-1)
	}
	b = append(b, magic...)
	b = append(b, major, 0, byte(n), byte(n>>8))
	if major > 1 {
		b = append(b, 0, 0)
	}
	b = append(b, t.String()...)
	b = append(b, strings.Repeat(" ", pad)...)
	return append(b, '\n'), nil
}

// tupleString formats a shape as Python does.
func tupleString(shape []int) string {
	var t strings.Builder
	t.WriteByte('(')
	for i, n := range shape {
		if i > 0 {
			t.WriteString(", ")
		}
		t.WriteString(strconv.Itoa(n))
	}
	if len(shape) == 1 {
		t.WriteByte(',')
	}
	t.WriteByte(')')
	return t.String()
}
