package onnx

import (
	"strings"
	"testing"

	"weft"
)

// TestNamedSizes: sizes of one name must be equal, and the error names the input and the axis.
func TestNamedSizes(t *testing.T) {
	typ := func(dims ...string) Type {
		shape := make([]int, len(dims))
		for i := range shape {
			shape[i] = -1
		}
		return Type{Kind: TensorKind, Element: Float, Shape: shape, Dims: dims}
	}
	fixed := typ("N", "")
	fixed.Shape[1] = 3
	m := &Model{info: Info{Inputs: []Port{{"a", fixed}, {"b", typ("M", "N")}, {"c", typ("None", "None")}}}}
	run := func(a, b, c *weft.Tensor) error {
		_, err := m.arguments(map[string]Value{"a": TensorOf(a), "b": TensorOf(b), "c": TensorOf(c)})
		return err
	}
	if err := run(weft.Zeros(2, 3), weft.Zeros(4, 2), weft.Zeros(5, 6)); err != nil {
		t.Error(err)
	}
	for want, err := range map[string]error{
		`input "b": is float32[4 5]: want float32[M N], whose axis 1, N, is 2 elsewhere`: run(weft.Zeros(2, 3), weft.Zeros(4, 5), weft.Zeros(1, 1)),
		`input "a": is float32[2 4]: want float32[N 3], whose axis 1 has the size 3`:     run(weft.Zeros(2, 4), weft.Zeros(4, 2), weft.Zeros(1, 1)),
		`input "c": is float32[1]: want float32[None None]`:                              run(weft.Zeros(2, 3), weft.Zeros(4, 2), weft.Zeros(1)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
