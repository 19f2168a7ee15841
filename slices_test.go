package weft

import (
	"testing"
	"unsafe"

	"weft/half"
)

// aliases checks that tensors of T are the slice that FromSlice was given, and that Borrow
// gives that slice back: the same addresses, and writes that show on both sides.
func aliases[T Element](t *testing.T, d DType, one T) {
	t.Helper()
	data := make([]T, 6)
	x := FromSlice(data, 2, 3)
	if x.DType() != d || x.v().Ptr() != unsafe.Pointer(&data[0]) {
		t.Errorf("%T: the tensor is %s at %p, the slice at %p", one, x.DType(), x.v().Ptr(), &data[0])
	}
	data[1] = one
	x.Slice(Index(1), Index(2)).Fill(1)
	Borrow(x, func(lent []T) {
		if len(lent) != 6 || &lent[0] != &data[0] || lent[1] != one || lent[5] != one || lent[0] == one {
			t.Errorf("%T: lent %v, the slice is %v", one, lent, data)
		}
		lent[2] = one
	})
	// A view is lent from its own first element on.
	Borrow(x.Slice(Index(1)), func(lent []T) {
		if len(lent) != 3 || &lent[0] != &data[3] {
			t.Errorf("%T: of a view %d elements are lent", one, len(lent))
		}
	})
	if data[2] != one || data[5] != one || Data[T](x)[2] != one {
		t.Errorf("%T: a write does not show: %v", one, data)
	}
	if none := FromSlice([]T(nil)); none.Size() != 0 || none.DType() != d {
		t.Errorf("%T: no elements give %v", one, none)
	}
}

// Slices of every element type go in and out without copying.
func TestSlicesAlias(t *testing.T) {
	seen := map[DType]bool{}
	check := func(d DType) DType { seen[d] = true; return d }
	aliases(t, check(Bool), true)
	aliases[int8](t, check(Int8), 1)
	aliases[int16](t, check(Int16), 1)
	aliases[int32](t, check(Int32), 1)
	aliases[int64](t, check(Int64), 1)
	aliases[int](t, check(Int64), 1)
	aliases[uint8](t, check(Uint8), 1)
	aliases[uint16](t, check(Uint16), 1)
	aliases[uint32](t, check(Uint32), 1)
	aliases[uint64](t, check(Uint64), 1)
	aliases(t, check(Float16), half.NewFloat16(1.0))
	aliases(t, check(BFloat16), half.NewBFloat16(1.0))
	aliases[float32](t, check(Float32), 1)
	aliases[float64](t, check(Float64), 1)
	aliases[complex64](t, check(Complex64), 1)
	aliases[complex128](t, check(Complex128), 1)
	if len(seen) != len(array15()) || len(seen) != 15 {
		t.Errorf("%d element types of %d were tried", len(seen), len(array15()))
	}
}
