package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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

var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// header describes the data that follows it.
type header struct {
	dtype   array.DType
	big     bool // big-endian
	fortran bool // the first index runs fastest
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
	f, err := parseDict(string(text))
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
	h := header{fortran: f.fortran, shape: f.shape}
	var err error
	if h.dtype, h.big, err = parseDescr(f.descr); err != nil {
		return h, err
	}
	// The product of the non-zero dimensions must fit too: strides are made of
	// it.
	h.bytes = h.dtype.Size()
	empty := false
	for _, n := range h.shape {
		if n == 0 {
			empty = true
			continue
		}
		if h.bytes > math.MaxInt/n {
			return h, malformed("header: shape %s of %s overflows", array.ShapeString(h.shape), h.dtype)
		}
		h.bytes *= n
	}
	if empty {
		h.bytes = 0
	}
	return h, nil
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
		return d, false, malformed("header: descr %q is no dtype", s)
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
	case kind == "O":
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
		return d, false, malformed("header: descr %q is no dtype", s)
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
	var t strings.Builder
	order := "False"
	if fortran {
		order = "True"
	}
	fmt.Fprintf(&t, "{'descr': '%s', 'fortran_order': %s, 'shape': (", descr, order)
	for i, n := range shape {
		if i > 0 {
			t.WriteString(", ")
		}
		t.WriteString(strconv.Itoa(n))
	}
	if len(shape) == 1 {
		t.WriteByte(',')
	}
	t.WriteString("), }")
	if len(shape) > 0 {
		lead := shape[0]
		if fortran {
			lead = shape[len(shape)-1]
		}
		const maxDigits = 21
		t.WriteString(strings.Repeat(" ", maxDigits-len(strconv.Itoa(lead))))
	}
	const prefix, align = len(magic) + 4, 64
	pad := align - (prefix+t.Len()+1)%align
	n := t.Len() + pad + 1

	b = append(b, magic...)
	b = append(b, 1, 0, byte(n), byte(n>>8))
	b = append(b, t.String()...)
	b = append(b, strings.Repeat(" ", pad)...)
	return append(b, '\n'), nil
}
