package weft_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"weft"
	"weft/half"
)

// TestMarshalJSON compares with what encoding/json writes of the Go values that a tensor is made of.
func TestMarshalJSON(t *testing.T) {
	floats := []float64{0, math.Copysign(0, -1), 0.1, -2, 1e-7, 1e-6, 1e20, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0 / 3}
	short := []float32{0, 0.1, -2, 1e-7, 1e-6, 1e20, 1e21, math.MaxFloat32, math.SmallestNonzeroFloat32, 1.0 / 3}
	rows := [][]float32{{1, 2.5, 3}, {4, 5, 6}}
	for _, c := range []struct {
		x    *weft.Tensor
		want any
	}{
		{weft.From(floats), floats},
		{weft.From(short), short},
		{weft.From(rows), rows},
		{weft.From(rows).Transpose(0, 1), [][]float32{{1, 4}, {2.5, 5}, {3, 6}}},
		{weft.From(rows).Slice(weft.Range(1, weft.End), weft.Index(2)), []float32{6}},
		{weft.From(rows).Expand(2, 2, 3), [][][]float32{rows, rows}},
		{weft.From([][][]int32{{{1}, {-2}}, {{3}, {4}}}), [][][]int32{{{1}, {-2}}, {{3}, {4}}}},
		{weft.From([]int64{math.MinInt64, math.MaxInt64}), []int64{math.MinInt64, math.MaxInt64}},
		{weft.From([]uint64{math.MaxUint64}), []uint64{math.MaxUint64}},
		{weft.From([]uint8{0, 255}), []int{0, 255}},
		{weft.From([]int8{-128}), []int8{-128}},
		{weft.From([]bool{true, false}), []bool{true, false}},
		{weft.From([]half.Float16{half.NewFloat16(0.1)}), []float64{0.1}},
		{weft.From([]half.BFloat16{half.NewBFloat16(0.1)}), []float64{0.1}},
		{weft.Scalar(2.5), 2.5},
		{weft.ScalarOf(weft.Bool, true), true},
		{weft.Zeros(0, 3), [][]int{}},
		{weft.Zeros(2, 0, 3), [][]int{{}, {}}},
		{weft.From(rows).RequireGrad(true).Mul(2), [][]float32{{2, 5, 6}, {8, 10, 12}}},
		{nil, nil},
	} {
		got, err := json.Marshal(struct{ X *weft.Tensor }{c.x})
		want, _ := json.Marshal(struct{ X any }{c.want})
		if err != nil || string(got) != string(want) {
			t.Errorf("%v: %s, %v, want %s", c.x, got, err, want)
		}
	}
}

func TestMarshalJSONErrors(t *testing.T) {
	released := weft.Ones(2)
	released.Release()
	for _, c := range []struct {
		x    *weft.Tensor
		want string
	}{
		{weft.From([][]float64{{1, 2}, {math.NaN(), 3}}), "marshaljson: element [1 0] has no JSON: json: unsupported value: NaN"},
		{weft.Scalar(math.Inf(-1)), "marshaljson: element [] has no JSON: json: unsupported value: -Inf"},
		{weft.From([]complex64{1i}), "marshaljson: the tensor is complex64: JSON has no complex numbers, write Real and Imag"},
		{weft.Zeros(1<<40, 0), "marshaljson: an empty tensor of shape [1099511627776 0] takes more than 1048576 brackets"},
		{released, "marshaljson: the tensor float32[2] was released, or its scope closed (Scope.Keep takes a tensor out)"},
	} {
		_, err := json.Marshal([]*weft.Tensor{c.x})
		var e *weft.Error
		if !errors.As(err, &e) || e.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	var value *json.UnsupportedValueError
	if _, err := weft.Scalar(math.NaN()).MarshalJSON(); !errors.As(err, &value) {
		t.Errorf("NaN gives %v", err)
	}
	if _, err := new(weft.Tensor).MarshalJSON(); err == nil {
		t.Error("the zero tensor has JSON")
	}
	if _, err := weft.Scalar(1).Expand(1<<29, 1<<29).MarshalJSON(); err == nil {
		t.Error("2^58 elements have JSON")
	}
	var inside error
	err := weft.Try(func() {
		weft.Compile(func(x *weft.Tensor) *weft.Tensor {
			_, inside = json.Marshal(x.Mul(2))
			return x
		}).Func()(weft.Ones(2))
	})
	if inside == nil || err == nil {
		t.Errorf("a traced tensor: %v, %v", inside, err)
	}
}
