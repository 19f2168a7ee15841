// Package wire reads and writes the wire format of protocol buffers: fields of a message in a row, each a
// tag and a value (protobuf.dev/programming-guides/encoding). It knows no schema. A caller walks over the
// fields of a message and asks each for the type that the schema gives it.
//
// Reading allocates nothing but what a caller appends to, takes time linear in the input, and nests at most
// [MaxDepth] messages. Whatever the bytes are, it does not panic.
package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// MaxDepth is how deep messages may lie within each other, as in the readers of protocol buffers' own
// libraries.
const MaxDepth = 100

// maxField is the largest number of a field.
const maxField = 1<<29 - 1

// A Type is the wire type of a field.
type Type uint8

// The wire types. Groups (3 and 4) are refused: proto3 has none.
const (
	Varint  Type = 0
	Fixed64 Type = 1
	Bytes   Type = 2
	Fixed32 Type = 5
)

// String is the name of the wire type.
func (t Type) String() string {
	switch t {
	case Varint:
		return "varint"
	case Fixed64:
		return "fixed64"
	case Bytes:
		return "bytes"
	case Fixed32:
		return "fixed32"
	}
	return fmt.Sprintf("wire type %d", uint8(t))
}

// An Error says where bytes are not a message.
type Error struct {
	Offset int    // of the field at fault, in bytes from the start of the outermost message
	Field  int    // its number; 0 where the tag itself is at fault
	Text   string // what is wrong
}

// Error is the message with field and offset.
func (e *Error) Error() string {
	if e.Field == 0 {
		return fmt.Sprintf("%s at byte %d", e.Text, e.Offset)
	}
	return fmt.Sprintf("field %d at byte %d: %s", e.Field, e.Offset, e.Text)
}

// A Reader walks over the fields of one message:
//
//	r := wire.NewReader(data)
//	for r.Next() {
//		switch r.Field() {
//		case 1:
//			name = r.String()
//		case 2:
//			sizes = r.Int64s(sizes)
//		case 3:
//			r.Message(func(r *wire.Reader) { parts = append(parts, readPart(r)) })
//		}
//	}
//	return r.Err()
//
// A field that is not asked for is skipped. After an error Next returns false, and values are zero.
type Reader struct {
	data  []byte
	at    int // of the next field
	base  int // offset of data within the outermost message
	depth int
	start int // of the current field
	field int
	typ   Type
	num   uint64 // its value, if it is a number
	body  []byte // its value, if it is bytes
	from  int    // offset of body in data
	err   *Error
}

// NewReader returns a reader of the message in data, which it does not copy.
func NewReader(data []byte) *Reader { return &Reader{data: data} }

// Err returns the first error as an *[Error], nil if there was none.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Fail makes text the error of the current field, unless there is an error already: for callers that find a
// value out of its range.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: r.base + r.start, Field: r.field, Text: fmt.Sprintf(format, args...)}
	}
}

// Offset is where the current field starts, in bytes from the start of the outermost message.
func (r *Reader) Offset() int { return r.base + r.start }

// BodyOffset is where the bytes of the current field start, in bytes from the start of the outermost message.
func (r *Reader) BodyOffset() int { return r.base + r.from }

// Next goes to the next field and says whether there is one.
func (r *Reader) Next() bool {
	r.start, r.field = r.at, 0
	if r.err != nil || r.at >= len(r.data) {
		return false
	}
	tag, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 {
		r.Fail("a tag is cut or too long")
		return false
	}
	if tag>>3 == 0 || tag>>3 > maxField {
		r.Fail("a tag has the field number %d: want 1 to %d", tag>>3, maxField)
		return false
	}
	r.at += n
	r.field, r.typ, r.num, r.body = int(tag>>3), Type(tag&7), 0, nil
	return r.value()
}

// value reads the value of the current field.
func (r *Reader) value() bool {
	rest := r.data[r.at:]
	switch r.typ {
	case Varint:
		x, n := binary.Uvarint(rest)
		if n <= 0 {
			r.Fail("a varint is cut or longer than 64 bits")
			return false
		}
		r.num, r.at = x, r.at+n
	case Fixed64:
		if len(rest) < 8 {
			r.Fail("8 bytes are needed, %d are left", len(rest))
			return false
		}
		r.num, r.at = binary.LittleEndian.Uint64(rest), r.at+8
	case Fixed32:
		if len(rest) < 4 {
			r.Fail("4 bytes are needed, %d are left", len(rest))
			return false
		}
		r.num, r.at = uint64(binary.LittleEndian.Uint32(rest)), r.at+4
	case Bytes:
		size, n := binary.Uvarint(rest)
		if n <= 0 {
			r.Fail("a length is cut or longer than 64 bits")
			return false
		}
		if size > uint64(len(rest)-n) {
			r.Fail("%d bytes are needed, %d are left", size, len(rest)-n)
			return false
		}
		r.from = r.at + n
		r.at = r.from + int(size)
		r.body = r.data[r.from:r.at:r.at]
	default:
		r.Fail("%v is not read", r.typ)
		return false
	}
	return true
}

// Field is the number of the current field.
func (r *Reader) Field() int { return r.field }

// Type is the wire type of the current field.
func (r *Reader) Type() Type { return r.typ }

func (r *Reader) want(t Type) bool {
	if r.err == nil && r.typ != t {
		r.Fail("has the wire type %v: want %v", r.typ, t)
	}
	return r.err == nil
}

// Uint64 is the current field as a varint.
func (r *Reader) Uint64() uint64 {
	if !r.want(Varint) {
		return 0
	}
	return r.num
}

// Int64 is the current field as a signed varint of int32, int64 or an enumeration; zigzag is not undone.
func (r *Reader) Int64() int64 { return int64(r.Uint64()) }

// Int is the current field as a varint in the range of int32, where a larger one is an error.
func (r *Reader) Int() int {
	x := r.Int64()
	if x != int64(int32(x)) {
		r.Fail("%d is out of the range of int32", x)
		return 0
	}
	return int(x)
}

// Bool is the current field as a boolean.
func (r *Reader) Bool() bool { return r.Uint64() != 0 }

// Float32 is the current field as a float.
func (r *Reader) Float32() float32 {
	if !r.want(Fixed32) {
		return 0
	}
	return math.Float32frombits(uint32(r.num))
}

// Float64 is the current field as a double.
func (r *Reader) Float64() float64 {
	if !r.want(Fixed64) {
		return 0
	}
	return math.Float64frombits(r.num)
}

// Bytes is the current field as bytes: a part of the input, not a copy.
func (r *Reader) Bytes() []byte {
	if !r.want(Bytes) {
		return nil
	}
	return r.body
}

// String is the current field as text.
func (r *Reader) String() string { return string(r.Bytes()) }

// Message calls f with a reader of the current field as a message. Its error becomes r's.
func (r *Reader) Message(f func(m *Reader)) {
	if !r.want(Bytes) {
		return
	}
	if r.depth+1 >= MaxDepth {
		r.Fail("messages lie more than %d deep", MaxDepth)
		return
	}
	m := Reader{data: r.body, base: r.base + r.from, depth: r.depth + 1}
	f(&m)
	r.err = m.err
}

// Int64s appends the current field of a repeated integer to list, packed or a single one.
func (r *Reader) Int64s(list []int64) []int64 {
	if r.err == nil && r.typ == Varint {
		return append(list, int64(r.num))
	}
	b := r.Bytes()
	for len(b) > 0 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			r.Fail("a packed varint is cut or longer than 64 bits")
			return list
		}
		list, b = append(list, int64(x)), b[n:]
	}
	return list
}

// Float32s appends the current field of a repeated float to list, packed or a single one.
func (r *Reader) Float32s(list []float32) []float32 {
	if r.err == nil && r.typ == Fixed32 {
		return append(list, r.Float32())
	}
	b := r.Bytes()
	if len(b)%4 != 0 {
		r.Fail("%d bytes are not packed floats", len(b))
		return list
	}
	for ; len(b) > 0; b = b[4:] {
		list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return list
}

// Float64s appends the current field of a repeated double to list, packed or a single one.
func (r *Reader) Float64s(list []float64) []float64 {
	if r.err == nil && r.typ == Fixed64 {
		return append(list, r.Float64())
	}
	b := r.Bytes()
	if len(b)%8 != 0 {
		r.Fail("%d bytes are not packed doubles", len(b))
		return list
	}
	for ; len(b) > 0; b = b[8:] {
		list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return list
}
