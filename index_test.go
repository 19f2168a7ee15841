package weft

import (
	"errors"
	"testing"
)

// Index operations refuse index and values that do not fit the receiver, whatever
// their shapes, ranks and types: nothing is written outside the result.
func TestIndexOpsCheckTheirArguments(t *testing.T) {
	at := func(shape ...int) *Tensor { return ZerosOf(Int64, shape...) }
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"scatter_add: wider than the receiver", func() { Zeros(3, 2).ScatterAdd(0, at(3, 1000), Ones(3, 1000)) }},
		{"scatter_add: more rows outside the axis", func() { Zeros(3, 2).ScatterAdd(1, at(1000, 2), Ones(1000, 2)) }},
		{"scatter_add: more dimensions", func() { Zeros(3).ScatterAdd(0, at(3, 4), Ones(3, 4)) }},
		{"scatter_add: fewer dimensions", func() { Zeros(3, 4).ScatterAdd(1, at(3), Ones(3)) }},
		{"scatter_add: no dimensions", func() { Zeros(3).ScatterAdd(0, at(), Ones()) }},
		{"scatter_add: index and x differ", func() { Zeros(3).ScatterAdd(0, at(2), Ones(3)) }},
		{"scatter_add: float index", func() { Zeros(3).ScatterAdd(0, Zeros(2), Ones(2)) }},
		{"scatter_add: place beyond the end", func() { Zeros(3).ScatterAdd(0, FromSlice([]int64{0, 3}), Ones(2)) }},
		{"scatter_add: place before the front", func() { Zeros(3).ScatterAdd(0, FromSlice([]int64{0, -4}), Ones(2)) }},
		{"scatter_add: places in nothing", func() { Zeros(0).ScatterAdd(0, at(2), Ones(2)) }},
		{"scatter_add: places in nothing outside the axis", func() { Zeros(3, 0).ScatterAdd(0, at(3, 1), Ones(3, 1)) }},
		{"gather: wider", func() { Zeros(3, 2).Gather(0, at(3, 1000)) }},
		{"gather: fewer dimensions", func() { Zeros(3, 2).Gather(1, at(3)) }},
		{"gather: places in nothing", func() { Zeros(0).Gather(0, at(2)) }},
		{"index_select: places in nothing", func() { Zeros(0, 3).IndexSelect(0, at(2)) }},
		{"index_select: two dimensions of places", func() { Zeros(3).IndexSelect(0, at(2, 2)) }},
		{"index_select: float places", func() { Zeros(3).IndexSelect(0, Zeros(2)) }},
		{"index_add: the receiver is not broadcast", func() { Zeros(3, 1).IndexAdd(0, at(2), Ones(2, 5)) }},
		{"index_add: nor are the values", func() { Zeros(3, 5).IndexAdd(0, at(2), Ones(2, 1)) }},
		{"index_add: more dimensions", func() { Zeros(3).IndexAdd(0, at(2), Ones(2, 5)) }},
		{"index_add: more values than places", func() { Zeros(3).IndexAdd(0, at(2), Ones(3)) }},
		{"index_add: places in nothing", func() { Zeros(0).IndexAdd(0, at(2), Ones(2)) }},
		{"mask_select: mask of floats", func() { Zeros(3).MaskSelect(Ones(3)) }},
		{"mask_select: other shape", func() { Zeros(3).MaskSelect(OnesOf(Bool, 4)) }},
	} {
		var e *Error
		if err := Try(c.f); !errors.As(err, &e) || e.Kind != Misuse {
			t.Errorf("%s: got %v, want a misuse", c.name, err)
		}
	}
}

// Where receiver and values have different types, sums are made in the type in
// which the two meet, not in that of the values.
func TestIndexAddMeetsByPromotion(t *testing.T) {
	const n = 300 // more than a uint8 counts
	places, ones := ZerosOf(Int64, n), OnesOf(Uint8, n)
	if y := ZerosOf(Int64, 2).ScatterAdd(0, places, ones); y.DType() != Int64 || y.At(0).ItemInt() != n {
		t.Errorf("scatter_add of uint8 into int64 gives %v", y)
	}
	if y := ZerosOf(Int64, 2).IndexAdd(0, places, ones); y.DType() != Int64 || y.At(0).ItemInt() != n {
		t.Errorf("index_add of uint8 into int64 gives %v", y)
	}
	if y := ZerosOf(Int32, 2).ScatterAdd(0, places, Ones(n)); y.DType() != Float32 || y.At(0).Item() != n {
		t.Errorf("scatter_add of float32 into int32 gives %v", y)
	}
}
