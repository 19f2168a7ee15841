package onnx

import (
	"testing"

	"weft"
)

// Nodes with attributes, versions and sizes that ONNX's own tests lack, against ONNX Runtime: testdata/more.py
// makes them. Cases that random models found are of testdata/found.py.
func TestMoreNodesEqualONNXRuntime(t *testing.T) {
	for _, file := range []string{"testdata/more.tar.gz", "testdata/found.tar.gz"} {
		for _, c := range nodeCases(t, file) {
			if err := c.run(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// Pow takes any two types of numbers. Those that no integer type holds together are computed as integers: the powers
// are of exact arithmetic.
func TestPowersOfMixedIntegers(t *testing.T) {
	for _, c := range []struct{ x, y, want *weft.Tensor }{
		{weft.FromSlice([]int32{-3, 2, -1, 0, 5}), weft.FromSlice([]uint64{3, 10, 7, 0, 2}), weft.FromSlice([]int32{-27, 1024, -1, 1, 25})},
		{weft.FromSlice([]int64{-3, -2}), weft.FromSlice([]uint64{39, 63}), weft.FromSlice([]int64{-4052555153018976267, -1 << 63})},
		{weft.FromSlice([]int8{-2, 3}), weft.FromSlice([]uint64{7, 4}), weft.FromSlice([]int8{-128, 81})},
		{weft.FromSlice([]uint64{2, 1, 3, 1 << 32}), weft.FromSlice([]int32{63, -3, -1, 1}), weft.FromSlice([]uint64{1 << 63, 1, 0, 1 << 32})},
	} {
		elem := func(x *weft.Tensor) int { return int(elementOf(x.DType())) }
		m, err := Read(modelOf(nodeOf("Pow", []string{"x", "y"}, []string{"z"}), portOf(11, elem(c.x), "x"), portOf(11, elem(c.y), "y"), portOf(12, elem(c.x), "z")))
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Run(map[string]*weft.Tensor{"x": c.x, "y": c.y})
		if err != nil || out["z"].DType() != c.x.DType() || out["z"].Eq(c.want).All().Item() != 1 {
			t.Errorf("%v to the power %v is %v, want %v: %v", c.x, c.y, out["z"], c.want, err)
		}
	}
}
