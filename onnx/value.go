package onnx

import (
	"fmt"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Kind says what a [Value] is.
type Kind uint8

// The kinds of values. NoValue is the zero Value: an input that is not given.
const (
	NoValue Kind = iota
	TensorKind
	StringsKind
	SequenceKind
	OptionalKind
	MapKind
)

// String is the kind's name.
func (k Kind) String() string {
	return [...]string{"no value", "tensor", "tensor of strings", "sequence", "optional", "map"}[min(k, MapKind)]
}

// A Value is what an edge of a model carries: a tensor, a tensor of strings, a sequence, an optional or a
// map. It is immutable.
type Value struct {
	kind    Kind
	known   bool // the elements do not depend on what a compiled program is called with
	elem    ElementType
	tensor  *weft.Tensor
	strings []string
	shape   []int   // of strings
	items   []Value // of a sequence; none or one of an optional; keys and values of a map
}

// TensorOf returns a tensor as a value.
func TensorOf(t *weft.Tensor) Value {
	(*core.Tensor)(t).NotNil("onnx.tensorof")
	return Value{kind: TensorKind, elem: elementOf(t.DType()), tensor: t}
}

// BitsOf returns a tensor as a value of an element type that weft lacks, such as [Float8E4M3FN]. The tensor
// has the type that holds it ([ElementType.DType]). It panics with *weft.Error for another.
func BitsOf(e ElementType, t *weft.Tensor) Value {
	(*core.Tensor)(t).NotNil("onnx.bitsof")
	if e.DType() != t.DType() {
		array.Failf("onnx.bitsof", "t", "is %s: %s is held as %s", t.DType(), e, e.DType())
	}
	return Value{kind: TensorKind, elem: e, tensor: t}
}

// StringsOf returns strings as a tensor of a shape, by default a vector. It panics with *weft.Error if their
// number is not the shape's.
func StringsOf(s []string, shape ...int) Value {
	if shape == nil {
		shape = []int{len(s)}
	}
	if n := array.CheckShape("onnx.stringsof", shape, array.Uint8); n != len(s) {
		array.Failf("onnx.stringsof", "shape", "%s has %d elements, the slice %d", array.ShapeString(shape), n, len(s))
	}
	return Value{kind: StringsKind, elem: String, strings: slices.Clone(s), shape: slices.Clone(shape)}
}

// SequenceOf returns values as a sequence.
func SequenceOf(items ...Value) Value { return Value{kind: SequenceKind, items: slices.Clone(items)} }

// OptionalOf returns an optional that has a value, or one that has none.
func OptionalOf(item ...Value) Value {
	if len(item) > 1 {
		array.Failf("onnx.optionalof", "item", "has %d values: want one or none", len(item))
	}
	return Value{kind: OptionalKind, items: slices.Clone(item)}
}

// MapOf returns a map: keys are a vector of strings or of int64, values a vector, or a sequence, as long.
func MapOf(keys, values Value) Value { return Value{kind: MapKind, items: []Value{keys, values}} }

// Kind says what the value is.
func (v Value) Kind() Kind { return v.kind }

// Element is the element type of a tensor.
func (v Value) Element() ElementType { return v.elem }

// Tensor returns the tensor, nil if the value is something else. [Value.Element] says what its elements are.
func (v Value) Tensor() *weft.Tensor { return v.tensor }

// Strings returns the strings of a tensor of strings in row-major order, nil if the value is something else.
func (v Value) Strings() []string { return slices.Clone(v.strings) }

// Shape returns the shape of a tensor, also of strings.
func (v Value) Shape() []int {
	if v.tensor != nil {
		return v.tensor.Shape()
	}
	return slices.Clone(v.shape)
}

// Items returns the values of a sequence, the one of an optional if it has one, or the keys and the values
// of a map.
func (v Value) Items() []Value { return slices.Clone(v.items) }

// String is the type of the value with its shape.
func (v Value) String() string {
	switch v.kind {
	case TensorKind, StringsKind:
		return v.elem.String() + array.ShapeString(v.Shape())
	case NoValue:
		return v.kind.String()
	}
	return fmt.Sprintf("%v of %v", v.kind, v.items)
}

// allKnown reports that nothing in the value depends on what a program is called with.
func (v Value) allKnown() bool {
	if v.kind == TensorKind {
		return v.known
	}
	return !slices.ContainsFunc(v.items, func(x Value) bool { return !x.allKnown() })
}

// asKnown is the value whose elements are known.
func (v Value) asKnown() Value {
	v.known = v.kind == TensorKind
	if len(v.items) > 0 {
		v.items = slices.Clone(v.items)
		for i := range v.items {
			v.items[i] = v.items[i].asKnown()
		}
	}
	return v
}

// like is a tensor with the element type of v where that is one that weft lacks: for operators that move
// elements.
func like(v Value, t *weft.Tensor) Value {
	if t.DType() == v.elem.DType() {
		return Value{kind: TensorKind, elem: v.elem, tensor: t}
	}
	return TensorOf(t)
}

// tensors are tensors as values.
func tensors(ts ...*weft.Tensor) []Value {
	out := make([]Value, len(ts))
	for i, t := range ts {
		if t != nil {
			out[i] = TensorOf(t)
		}
	}
	return out
}
