package torchfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/raw"
)

// numpyDTypes are the element types of NumPy by kind and size.
var numpyDTypes = map[string]array.DType{
	"b1": array.Bool, "i1": array.Int8, "i2": array.Int16, "i4": array.Int32, "i8": array.Int64,
	"u1": array.Uint8, "u2": array.Uint16, "u4": array.Uint32, "u8": array.Uint64,
	"f2": array.Float16, "f4": array.Float32, "f8": array.Float64, "c8": array.Complex64, "c16": array.Complex128,
}

func long64(i int64) string { return strconv.FormatInt(i, 10) }

// number is a scalar of bools, integers, float32, float64 and their complex numbers.
func (k *numpyType) number(b []byte) (any, bool) {
	d := numpyDTypes[k.name]
	if d == array.Invalid || len(b) != d.Size() {
		return nil, false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if k.big {
		order = binary.BigEndian
	}
	bits := func(b []byte) uint64 {
		switch len(b) {
		case 1:
			return uint64(b[0])
		case 2:
			return uint64(order.Uint16(b))
		case 4:
			return uint64(order.Uint32(b))
		}
		return order.Uint64(b)
	}
	float := func(b []byte) float64 {
		if len(b) == 4 {
			return float64(math.Float32frombits(uint32(bits(b))))
		}
		return math.Float64frombits(bits(b))
	}
	switch d {
	case array.Bool:
		return b[0] != 0, true
	case array.Int8, array.Int16, array.Int32, array.Int64:
		shift := 64 - 8*len(b)
		return int64(bits(b)<<shift) >> shift, true
	case array.Uint8, array.Uint16, array.Uint32:
		return int64(bits(b)), true
	case array.Uint64:
		return unsigned(bits(b)), true
	case array.Float32, array.Float64:
		return float(b), true
	case array.Complex64, array.Complex128:
		return complex(float(b[:len(b)/2]), float(b[len(b)/2:])), true
	}
	return nil, false
}

// build takes the state of an array: (version, shape, dtype, fortran order, bytes).
func (a *numpyArray) build(m *machine, state any) error {
	t, ok := state.(*tuple)
	bad := malformed("the state of an array of NumPy is not that of one")
	if !ok || len(t.items) != 5 {
		return bad
	}
	shape, ok := t.items[1].(*tuple)
	kind, ok2 := t.items[2].(*numpyType)
	fortran, ok3 := t.items[3].(bool)
	if !ok || !ok2 || !ok3 {
		return bad
	}
	switch data := t.items[4].(type) {
	case []byte:
		a.data = data
	case string:
		a.data = []byte(data)
	case *list: // of objects
		return nil
	default:
		return bad
	}
	n := 1
	a.shape = nil
	for _, x := range shape.items {
		d, ok := x.(int64)
		if !ok || d < 0 || len(shape.items) > array.MaxRank || d > 0 && int64(n) > math.MaxInt/16/d {
			return bad
		}
		a.shape = append(a.shape, int(d))
		n *= int(d)
	}
	d := numpyDTypes[kind.name]
	if d == array.Invalid {
		return nil
	}
	if len(a.data) != n*d.Size() {
		return bad
	}
	if err := m.spend(copyCost * len(a.data)); err != nil {
		return err
	}
	a.set, a.kind, a.fortran = true, kind, fortran
	return nil
}

// tensor returns the array as a tensor, or what is known of one of other elements.
func (a *numpyArray) tensor() (any, error) {
	if !a.set {
		return &Object{Class: "numpy.ndarray"}, nil
	}
	d := numpyDTypes[a.kind.name]
	st, err := raw.Read(bytes.NewReader(a.data), d, len(a.data), a.kind.big, true)
	if err != nil {
		return nil, err
	}
	return (*weft.Tensor)(core.FromView(raw.Over(d, a.shape, a.fortran, st))), nil
}

// unsigned is an int64, or a *big.Int where that is too small.
func unsigned(n uint64) any {
	if n <= math.MaxInt64 {
		return int64(n)
	}
	return new(big.Int).SetUint64(n)
}
