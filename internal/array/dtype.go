// Package array holds what everything below the root package speaks: element
// types, shapes, storages, strided views and the typed error. It knows nothing
// about operations.
package array

import (
	"fmt"
	"math"
)

// A DType is the type of an array's elements.
type DType uint8

// The element types. The order within a category is the order of promotion.
const (
	Invalid DType = iota
	Bool
	Uint8
	Int8
	Int16
	Int32
	Int64
	Uint16
	Uint32
	Uint64
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	Complex128
	numDTypes
)

// A Category groups element types for promotion: bool < integer < float <
// complex.
type Category uint8

const (
	CatBool Category = iota
	CatInt
	CatFloat
	CatComplex
)

// dtypes has an entry for every value of a DType; those that are none are as Invalid.
var dtypes = [256]struct {
	name string
	size int
	cat  Category
	uns  bool
	full bool // the operations of this version accept it
}{
	Invalid:    {name: "invalid"},
	Bool:       {"bool", 1, CatBool, true, true},
	Uint8:      {"uint8", 1, CatInt, true, true},
	Int8:       {"int8", 1, CatInt, false, true},
	Int16:      {"int16", 2, CatInt, false, true},
	Int32:      {"int32", 4, CatInt, false, true},
	Int64:      {"int64", 8, CatInt, false, true},
	Uint16:     {"uint16", 2, CatInt, true, true},
	Uint32:     {"uint32", 4, CatInt, true, true},
	Uint64:     {"uint64", 8, CatInt, true, true},
	Float16:    {"float16", 2, CatFloat, false, true},
	BFloat16:   {"bfloat16", 2, CatFloat, false, true},
	Float32:    {"float32", 4, CatFloat, false, true},
	Float64:    {"float64", 8, CatFloat, false, true},
	Complex64:  {"complex64", 8, CatComplex, false, true},
	Complex128: {"complex128", 16, CatComplex, false, true},
}

// DTypes lists the element types that tensors can hold in this version.
func DTypes() []DType {
	var out []DType
	for d := Bool; d < numDTypes; d++ {
		if dtypes[d].full {
			out = append(out, d)
		}
	}
	return out
}

// String returns NumPy's name of the type, such as "float32".
func (d DType) String() string {
	if d >= numDTypes {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Size returns the bytes of one element.
func (d DType) Size() int { return dtypes[d].size }

// Category returns the promotion category.
func (d DType) Category() Category { return dtypes[d].cat }

// Float reports a real floating-point type.
func (d DType) Float() bool { return dtypes[d].cat == CatFloat && d != Invalid }

// Half reports float16 and bfloat16.
func (d DType) Half() bool { return d == Float16 || d == BFloat16 }

// Complex reports complex64 and complex128.
func (d DType) Complex() bool { return dtypes[d].cat == CatComplex }

// Differentiable reports floats and complex numbers, which have gradients.
func (d DType) Differentiable() bool { return d.Float() || d.Complex() }

// Part returns the type of the real and the imaginary part of complex numbers; of
// others the type itself.
func (d DType) Part() DType {
	switch d {
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	}
	return d
}

// Epsilon returns the distance from 1 to the next number of a float type, or of the parts of a complex
// type. It is 0 for other types.
func Epsilon(d DType) float64 {
	switch d.Part() {
	case Float16:
		return 0x1p-10
	case BFloat16:
		return 0x1p-7
	case Float32:
		return 0x1p-23
	case Float64:
		return 0x1p-52
	}
	return 0
}

// WithParts returns the type of complex numbers whose parts are of a type that holds d's.
func (d DType) WithParts() DType {
	switch d {
	case Complex64, Complex128:
		return d
	case Float64:
		return Complex128
	}
	return Complex64
}

// Integer reports an integer type; bool is none.
func (d DType) Integer() bool { return dtypes[d].cat == CatInt }

// Unsigned reports bool and the unsigned integers.
func (d DType) Unsigned() bool { return dtypes[d].uns }

// Supported reports whether tensors can hold the type in this version.
func (d DType) Supported() bool { return d < numDTypes && dtypes[d].full }

// Limits returns the least and the greatest int64 that d holds. Floats round what they do
// not hold and bool asks whether it is 0, so both take every number.
func (d DType) Limits() (lo, hi int64) {
	bits := 8 * d.Size()
	switch {
	case !d.Integer() || bits == 64 && !d.Unsigned():
		return math.MinInt64, math.MaxInt64
	case bits == 64:
		return 0, math.MaxInt64
	case d.Unsigned():
		return 0, 1<<bits - 1
	}
	return -1 << (bits - 1), 1<<(bits-1) - 1
}

// ParseDType returns the type of that NumPy name.
func ParseDType(name string) (DType, bool) {
	for d := Bool; d < numDTypes; d++ {
		if dtypes[d].name == name {
			return d, true
		}
	}
	return Invalid, false
}

// Promote returns the type in which operands of types a and b meet, both being
// arrays with at least one dimension (or both 0-d): PyTorch's rules. Within a
// category the wider wins; a signed and an unsigned integer of the same or
// smaller width meet in the next wider signed type.
func Promote(a, b DType) DType {
	if a == b {
		return a
	}
	ca, cb := a.Category(), b.Category()
	if ca != cb {
		if ca < cb {
			a, b = b, a
		}
		if a.Complex() && b.WithParts().Size() > a.Size() { // a float64 in complex64
			return Complex128
		}
		return a
	}
	switch ca {
	case CatFloat:
		if a.Size() == b.Size() { // float16 and bfloat16
			return Float32
		}
	case CatInt:
		if a.Unsigned() != b.Unsigned() {
			u, s := a, b
			if b.Unsigned() {
				u, s = b, a
			}
			if s.Size() > u.Size() {
				return s
			}
			switch u {
			case Uint8:
				return Int16
			case Uint16:
				return Int32
			default:
				return Int64
			}
		}
	}
	if a.Size() >= b.Size() {
		return a
	}
	return b
}
