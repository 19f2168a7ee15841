package onnx

import (
	"fmt"

	"weft"
)

// An ElementType is the type of the elements of an ONNX tensor, numbered as in TensorProto.DataType.
type ElementType int

// The element types. Tensors of weft hold those from Float to BFloat16 but String as they are. Float8 and
// the other small floats are held as the uint8 of their bits, and integers of 4 and 2 bits as int8 or uint8.
const (
	Undefined      ElementType = 0
	Float          ElementType = 1
	Uint8          ElementType = 2
	Int8           ElementType = 3
	Uint16         ElementType = 4
	Int16          ElementType = 5
	Int32          ElementType = 6
	Int64          ElementType = 7
	String         ElementType = 8
	Bool           ElementType = 9
	Float16        ElementType = 10
	Double         ElementType = 11
	Uint32         ElementType = 12
	Uint64         ElementType = 13
	Complex64      ElementType = 14
	Complex128     ElementType = 15
	BFloat16       ElementType = 16
	Float8E4M3FN   ElementType = 17
	Float8E4M3FNUZ ElementType = 18
	Float8E5M2     ElementType = 19
	Float8E5M2FNUZ ElementType = 20
	Uint4          ElementType = 21
	Int4           ElementType = 22
	Float4E2M1     ElementType = 23
	Float8E8M0     ElementType = 24
	Uint2          ElementType = 25
	Int2           ElementType = 26
)

// elements has what is known of each element type: bits is what an element takes in a file.
var elements = [...]struct {
	name  string
	dtype weft.DType // of the tensor that holds it
	bits  int
}{
	Undefined:      {name: "undefined"},
	Float:          {"float32", weft.Float32, 32},
	Uint8:          {"uint8", weft.Uint8, 8},
	Int8:           {"int8", weft.Int8, 8},
	Uint16:         {"uint16", weft.Uint16, 16},
	Int16:          {"int16", weft.Int16, 16},
	Int32:          {"int32", weft.Int32, 32},
	Int64:          {"int64", weft.Int64, 64},
	String:         {name: "string"},
	Bool:           {"bool", weft.Bool, 8},
	Float16:        {"float16", weft.Float16, 16},
	Double:         {"float64", weft.Float64, 64},
	Uint32:         {"uint32", weft.Uint32, 32},
	Uint64:         {"uint64", weft.Uint64, 64},
	Complex64:      {"complex64", weft.Complex64, 64},
	Complex128:     {"complex128", weft.Complex128, 128},
	BFloat16:       {"bfloat16", weft.BFloat16, 16},
	Float8E4M3FN:   {"float8e4m3fn", weft.Uint8, 8},
	Float8E4M3FNUZ: {"float8e4m3fnuz", weft.Uint8, 8},
	Float8E5M2:     {"float8e5m2", weft.Uint8, 8},
	Float8E5M2FNUZ: {"float8e5m2fnuz", weft.Uint8, 8},
	Uint4:          {"uint4", weft.Uint8, 4},
	Int4:           {"int4", weft.Int8, 4},
	Float4E2M1:     {"float4e2m1", weft.Uint8, 4},
	Float8E8M0:     {"float8e8m0", weft.Uint8, 8},
	Uint2:          {"uint2", weft.Uint8, 2},
	Int2:           {"int2", weft.Int8, 2},
}

func (e ElementType) known() bool { return e > Undefined && int(e) < len(elements) }

// bytes is how many bytes n elements take in a file. The number of bits may be more than an int can count.
func (e ElementType) bytes(n int) int {
	bits := elements[e].bits
	return n/8*bits + (n%8*bits+7)/8
}

// String is the type's name, weft's where weft has the type.
func (e ElementType) String() string {
	if e < 0 || int(e) >= len(elements) {
		return fmt.Sprintf("element type %d", int(e))
	}
	return elements[e].name
}

// DType is the type of the tensors that hold such elements, invalid of strings and unknown types.
func (e ElementType) DType() weft.DType {
	if !e.known() {
		return elements[Undefined].dtype
	}
	return elements[e].dtype
}

// elementOf is the element type that a tensor has by itself.
func elementOf(d weft.DType) ElementType {
	for e := Float; e <= BFloat16; e++ {
		if elements[e].dtype == d && e != String {
			return e
		}
	}
	return Undefined
}
