package onnx

import (
	"math"
	"testing"

	"weft"
)

// TestNodesOfONNXRuntime has attributes and versions that ONNX's node tests lack: testdata/runtime.py makes them.
func TestNodesOfONNXRuntime(t *testing.T) {
	for _, c := range nodeCases(t, "testdata/runtime.tar.gz") {
		if err := c.run(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestGradientsOfNodes asks for the gradient of the first input where it and the first output are floats. It must
// be what a small step along it gives.
func TestGradientsOfNodes(t *testing.T) {
	for _, c := range nodeCases(t, "testdata/runtime.tar.gz") {
		m, err := Read(c.model)
		if err != nil {
			t.Fatal(err)
		}
		var in []Value
		for _, b := range c.in[0] {
			v, err := message(b)
			if err != nil {
				t.Fatal(err)
			}
			in = append(in, v)
		}
		value := func(x *weft.Tensor) *weft.Tensor {
			list := append([]Value{TensorOf(x)}, in[1:]...)
			out, err := m.run(t.Context(), list, true)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			y := out[0].tensor
			if !y.DType().Float() {
				return nil
			}
			return y.To(weft.Float64).Mul(weft.Linspace(0.5, 1.5, y.Size()).To(weft.Float64).Reshape(y.Shape()...)).Sum()
		}
		x := in[0].tensor.Clone().RequireGrad()
		y := value(x)
		if y == nil || !y.RequiresGrad() {
			continue
		}
		y.Backward()
		dx := x.Grad()
		if dx == nil {
			t.Errorf("%s: has no gradient", c.name)
			continue
		}
		want := dx.To(weft.Float64).Square().Sum().Item()
		step := 3e-3 / math.Sqrt(want)
		var plus, minus float64
		weft.WithoutGrad(func() {
			plus, minus = value(x.Detach().Add(dx.Mul(step))).Item(), value(x.Detach().Sub(dx.Mul(step))).Item()
		})
		if got := (plus - minus) / (2 * step); math.Abs(got-want) > 0.02*want+1e-4 {
			t.Errorf("%s: a step along the gradient changes the value by %v, want %v", c.name, got, want)
		}
	}
}
