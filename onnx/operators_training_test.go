package onnx

import (
	"testing"

	"weft"
	"weft/internal/wire"
)

// trainingModel is a model of ONNX's training operators.
func trainingModel(t *testing.T, graph ...[]byte) *Model {
	training := part(8, text(1, domainTraining), wire.AppendVarint(nil, 2, 1))
	m, err := Read(append(modelOf(graph...), training...))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func gradientOf(y string, xs, zs, in, out []string) []byte {
	list := func(s []string) (b []byte) {
		for _, x := range s {
			b = append(b, text(9, x)...)
		}
		return b
	}
	more := [][]byte{text(7, domainTraining), attr("y", attrString, text(4, y)), attr("xs", attrStrings, list(xs))}
	if zs != nil {
		more = append(more, attr("zs", attrStrings, list(zs)))
	}
	return nodeOf("Gradient", in, out, more...)
}

// The gradient of x*x*w is 2xw, and its own gradient 2w, also at another point than the graph's.
func TestGradientOperator(t *testing.T) {
	m := trainingModel(t,
		nodeOf("Mul", []string{"x", "x"}, []string{"s"}),
		nodeOf("Mul", []string{"s", "w"}, []string{"y"}),
		gradientOf("y", []string{"x", "w"}, nil, []string{"x", "w"}, []string{"dx", "dw"}),
		gradientOf("y", []string{"x"}, []string{"w"}, []string{"p", "w"}, []string{"dp"}),
		gradientOf("y", []string{"s"}, []string{"w"}, []string{"s", "w"}, []string{"ds"}),
		gradientOf("dx", []string{"x"}, []string{"w"}, []string{"x", "w"}, []string{"dxx"}),
		port(11, "x"), port(11, "w"), port(11, "p"),
		port(12, "dx"), port(12, "dw"), port(12, "dp"), port(12, "ds"), port(12, "dxx"), port(12, "y"),
	)
	x, w, p := weft.FromSlice([]float32{1, 2, 3}), weft.FromSlice([]float32{5, 7, 11}), weft.FromSlice([]float32{4, 4, 4})
	want := map[string][]float32{
		"dx": {10, 28, 66}, "dw": {1, 4, 9}, "dp": {40, 56, 88}, "ds": {5, 7, 11}, "dxx": {10, 14, 22}, "y": {5, 28, 99},
	}
	in := map[string]*weft.Tensor{"x": x, "w": w, "p": p}
	for range 2 {
		out, err := m.Run(in)
		if err != nil {
			t.Fatal(err)
		}
		for name, list := range want {
			if !out[name].AllClose(weft.FromSlice(list)) {
				t.Errorf("%s is %v, want %v", name, out[name], list)
			}
		}
	}
	for i, y := range m.ForwardAll(x, w, p) {
		if name := m.Outputs()[i].Name; !y.AllClose(weft.FromSlice(want[name])) {
			t.Errorf("node by node: %s is %v, want %v", name, y, want[name])
		}
	}
}

// y may be a value that nothing but the Gradient needs, made by a node after it.
func TestGradientOfUnusedValue(t *testing.T) {
	m := trainingModel(t,
		gradientOf("y", []string{"x"}, nil, []string{"x"}, []string{"dx"}),
		nodeOf("Mul", []string{"x", "x"}, []string{"s"}),
		nodeOf("Mul", []string{"s", "x"}, []string{"y"}),
		port(11, "x"), port(12, "dx"),
	)
	x := weft.FromSlice([]float32{1, 2, 3})
	out, err := m.Run(map[string]*weft.Tensor{"x": x})
	if err != nil || !out["dx"].AllClose(weft.FromSlice([]float32{3, 12, 27})) {
		t.Error(out, err)
	}
}
