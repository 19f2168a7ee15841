package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// golden is a message that Google's Python library wrote: a TensorProto of ONNX with dims 2 3 (unpacked),
// data_type 1, float_data 1 -2.5 (packed), int32_data -1 300 (packed), name "weights", double_data 0.1.
const golden = "0802080310012208" + "0000803f000020c0" + "2a0cffffffffffffffffff01ac02" + "420777656967687473" + "52089a9999999999b93f"

func TestReadMessageOfGoogle(t *testing.T) {
	data, err := hex.DecodeString(golden)
	if err != nil {
		t.Fatal(err)
	}
	var dims, ints []int64
	var floats []float32
	var doubles []float64
	var typ int
	var name string
	r := NewReader(data)
	for r.Next() {
		switch r.Field() {
		case 1:
			dims = r.Int64s(dims)
		case 2:
			typ = r.Int()
		case 4:
			floats = r.Float32s(floats)
		case 5:
			ints = r.Int64s(ints)
		case 8:
			name = r.String()
			if got := string(data[r.BodyOffset():][:7]); got != "weights" {
				t.Errorf("BodyOffset is at %q", got)
			}
		case 10:
			doubles = r.Float64s(doubles)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if !slices.Equal(dims, []int64{2, 3}) || typ != 1 || name != "weights" || !slices.Equal(floats, []float32{1, -2.5}) ||
		!slices.Equal(ints, []int64{-1, 300}) || !slices.Equal(doubles, []float64{0.1}) {
		t.Error(dims, typ, name, floats, ints, doubles)
	}
	var b []byte
	b = AppendVarint(AppendVarint(AppendVarint(b, 1, 2), 1, 3), 2, 1)
	b = AppendBytes(b, 4, data[8:16])
	b = AppendInt64s(b, 5, []int64{-1, 300})
	b = AppendBytes(b, 8, "weights")
	b = AppendFloat64s(b, 10, []float64{0.1})
	if !bytes.Equal(b, data) {
		t.Errorf("written\n%x, want\n%x", b, data)
	}
}

func TestReadNumbers(t *testing.T) {
	b := AppendFloat64(AppendFloat32(AppendVarint(nil, 1, math.MaxUint64), 2, 1.5), 3, -2)
	r := NewReader(b)
	r.Next()
	if r.Int64() != -1 || r.Int() != -1 || !r.Bool() || r.Type() != Varint || r.Offset() != 0 {
		t.Error("field 1", r.Err())
	}
	r.Next()
	if r.Float32() != 1.5 || !slices.Equal(r.Float32s(nil), []float32{1.5}) || r.Offset() != 11 {
		t.Error("field 2", r.Err())
	}
	r.Next()
	if r.Float64() != -2 || !slices.Equal(r.Float64s(nil), []float64{-2}) || r.Next() || r.Err() != nil {
		t.Error("field 3", r.Err())
	}
}

func TestReadErrors(t *testing.T) {
	deep := []byte{}
	for range MaxDepth + 1 {
		deep = AppendBytes(nil, 1, deep)
	}
	for _, c := range []struct{ data, want string }{
		{"\x80", "a tag is cut or too long at byte 0"},
		{"\x00", "field number 0"},
		{"\x80\x80\x80\x80\x10\x00", "field number 536870912"},
		{"\x10\x01\x10", "field 2 at byte 2: a varint is cut"},
		{"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "longer than 64 bits"},
		{"\x11\x01", "field 2 at byte 0: 8 bytes are needed, 1 are left"},
		{"\x15\x01", "4 bytes are needed, 1 are left"},
		{"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "18446744073709551615 bytes are needed, 0 are left"},
		{"\x0a\x80", "a length is cut"},
		{"\x0b", "wire type 3 is not read"},
		{"\x12\x05", "5 bytes are needed"},
		{"\x0a\x03\x0a\x01\x10", "field 2 at byte 4: a varint is cut"},
		{"\x08\x01", "has the wire type varint: want bytes"},
		{string(deep), "messages lie more than 100 deep"},
	} {
		err := walk([]byte(c.data))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: error %v, want %q", c.data, err, c.want)
		}
	}
	r := NewReader([]byte("\x1a\x03abc"))
	for r.Next() {
		if r.Float32s(nil); r.Err() == nil {
			t.Error("3 bytes are packed floats")
		}
	}
	r = NewReader(AppendVarint(nil, 1, 1<<31))
	if r.Next(); r.Int() != 0 || r.Err() == nil {
		t.Error("1<<31 is an int32")
	}
}

// walk reads field 1 as messages and asks other fields for what their wire type is.
func walk(data []byte) error {
	r := NewReader(data)
	walkReader(r)
	return r.Err()
}

func walkReader(r *Reader) {
	for r.Next() {
		switch {
		case r.Field() == 1:
			r.Message(walkReader)
		case r.Type() == Varint:
			r.Int()
		case r.Type() == Fixed32:
			r.Float32()
		case r.Type() == Fixed64:
			r.Float64()
		case r.Field()%3 == 0:
			r.Int64s(nil)
		default:
			r.Float32s(nil)
		}
	}
}

func FuzzReader(f *testing.F) {
	data, _ := hex.DecodeString(golden)
	f.Add(data)
	f.Add([]byte("\x0a\x03\x0a\x01\x0b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := walk(data)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(data)) {
			t.Error(err)
		}
	})
}
