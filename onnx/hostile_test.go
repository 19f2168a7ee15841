package onnx

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/internal/wire"
)

// Models written field by field.

func text(field int, s string) []byte { return wire.AppendBytes(nil, field, s) }

func part(field int, parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return wire.AppendBytes(nil, field, b)
}

func modelOf(graph ...[]byte) []byte {
	opset := part(8, text(1, ""), wire.AppendVarint(nil, 2, 17))
	return append(append(wire.AppendVarint(nil, 1, 8), opset...), part(7, graph...)...)
}

func nodeOf(op string, in, out []string, more ...[]byte) []byte {
	var b []byte
	for _, s := range in {
		b = append(b, text(1, s)...)
	}
	for _, s := range out {
		b = append(b, text(2, s)...)
	}
	b = append(append(b, text(3, op+"/"+strings.Join(out, ","))...), text(4, op)...)
	return part(1, append([][]byte{b}, more...)...)
}

func port(field int, name string) []byte {
	return part(field, text(1, name), part(2, part(1, wire.AppendVarint(nil, 1, 1))))
}

func initializer(name string, elem int, dims []int64, more ...[]byte) []byte {
	b := append(append(wire.AppendInt64s(nil, 1, dims), wire.AppendVarint(nil, 2, uint64(elem))...), text(8, name)...)
	return part(5, append([][]byte{b}, more...)...)
}

func attr(name string, kind int, value []byte) []byte {
	return part(5, text(1, name), value, wire.AppendVarint(nil, 20, uint64(kind)))
}

func external(pairs ...string) []byte {
	b := wire.AppendVarint(nil, 14, 1)
	for i := 0; i < len(pairs); i += 2 {
		b = append(b, part(13, text(1, pairs[i]), text(2, pairs[i+1]))...)
	}
	return b
}

func TestHostileModels(t *testing.T) {
	xy := [][]byte{port(11, "x"), port(12, "y")}
	model := func(parts ...[]byte) []byte { return modelOf(append(parts, xy...)...) }
	add := nodeOf("Add", []string{"x", "w"}, []string{"y"})
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"cycle", model(nodeOf("Add", []string{"x", "b"}, []string{"a"}), nodeOf("Relu", []string{"a"}, []string{"b"}), nodeOf("Relu", []string{"b"}, []string{"y"})), `nodes "Relu/b" and "Add/a" are in a cycle`},
		{"itself", model(nodeOf("Add", []string{"x", "y"}, []string{"y"})), "are in a cycle"},
		{"missing input", model(nodeOf("Relu", []string{"z"}, []string{"y"})), `Relu of opset 17 (node "Relu/y"): input 0, "z", is not an input`},
		{"missing output", model(nodeOf("Relu", []string{"x"}, []string{"z"})), `output "y" of graph "" is not computed`},
		{"output twice", model(nodeOf("Relu", []string{"x"}, []string{"y"}), nodeOf("Abs", []string{"x"}, []string{"y"})), `its output "y" is also an input`},
		{"output over input", model(nodeOf("Relu", []string{"x"}, []string{"x"})), `its output "x" is also an input`},
		{"input twice", model(port(11, "x")), `two inputs of graph "" are named "x"`},
		{"initializer twice", model(initializer("w", 1, []int64{0}), initializer("w", 1, []int64{0}), add), `two initializers are named "w"`},
		{"negative size", model(initializer("w", 1, []int64{-1}), add), `tensor "w" has the size -1`},
		{"absurd size", model(initializer("w", 1, []int64{1 << 40, 1 << 40}), add), `tensor "w"`},
		{"size without data", model(initializer("w", 1, []int64{1 << 30}), add), "has 0 numbers in its field: want 1073741824"},
		{"raw of another size", model(initializer("w", 1, []int64{3}, text(9, "abcdefgh")), add), "has 8 bytes: want 12"},
		{"element type", model(initializer("w", 99, []int64{1}), add), `tensor "w" has the element type 99`},
		{"type of input", modelOf(part(11, text(1, "x"), part(2, part(1, wire.AppendVarint(nil, 1, 77)))), port(12, "y")), `value "x": a tensor has the element type 77`},
		{"external in memory", model(initializer("w", 1, []int64{1}, external("location", "w.bin")), add), "use Load"},
		{"attribute twice", model(nodeOf("Softmax", []string{"x"}, []string{"y"}, attr("axis", attrInt, wire.AppendVarint(nil, 3, 1)), attr("axis", attrInt, wire.AppendVarint(nil, 3, 1)))), `attribute "axis" is given twice`},
		{"reference outside of a function", model(nodeOf("Softmax", []string{"x"}, []string{"y"}, part(5, text(1, "axis"), text(21, "a")))), `refers to "a"`},
	} {
		m, err := Read(c.data)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %q", c.name, m, err, c.want)
		}
	}
}

// Errors of nodes name operator, opset and node.
func TestNodeErrors(t *testing.T) {
	for want, node := range map[string][]byte{
		`onnx: Softmax of opset 17 (node "Softmax/y"): attribute "beta" is not one of this operator's`: nodeOf("Softmax", []string{"x"}, []string{"y"}, attr("beta", attrFloat, wire.AppendFloat32(nil, 2, 1))),
		`attribute "axis" has the type 1: want 2`:                                                      nodeOf("Softmax", []string{"x"}, []string{"y"}, attr("axis", attrFloat, wire.AppendFloat32(nil, 2, 1))),
		`axis 5 is out of range of 2 axes`:                                                             nodeOf("Softmax", []string{"x"}, []string{"y"}, attr("axis", attrInt, wire.AppendVarint(nil, 3, 5))),
		`input 1 is missing`:                                                                           nodeOf("Add", []string{"x"}, []string{"y"}),
		`add: shapes do not broadcast: [2 3] and [2 4]`:                                                nodeOf("Add", []string{"x", "w"}, []string{"y"}),
	} {
		m, err := Read(modelOf(node, initializer("w", 1, []int64{2, 4}, text(9, strings.Repeat("\x00", 32))), port(11, "x"), port(12, "y")))
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.RunValues(map[string]Value{"x": TensorOf(weft.Zeros(2, 3))})
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.OpSet != 17 {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// External data is mapped or read, and must lie in the folder.
func TestExternalData(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "model")
	for _, err := range []error{
		os.Mkdir(inner, 0o777),
		os.WriteFile(filepath.Join(dir, "secret"), make([]byte, 64), 0o666),
		os.WriteFile(filepath.Join(inner, "w.bin"), []byte("\x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\x40"), 0o666),
		os.Symlink("../secret", filepath.Join(inner, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	try := func(pairs ...string) (*Model, error) {
		path := filepath.Join(inner, "m.onnx")
		data := modelOf(initializer("w", 1, []int64{2}, external(pairs...)), nodeOf("Add", []string{"x", "w"}, []string{"y"}), port(11, "x"), port(12, "y"))
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return Load(path)
	}
	m, err := try("location", "w.bin", "offset", "4", "length", "8")
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.RunValues(map[string]Value{"x": TensorOf(weft.Zeros(2))})
	if err != nil {
		t.Fatal(err)
	}
	if s := out["y"].Tensor().String(); !strings.Contains(s, "1") || !strings.Contains(s, "2") {
		t.Error(s)
	}
	for want, pairs := range map[string][]string{
		"is not a path inside the folder":      {"location", "../secret"},
		"is not a path inside the":             {"location", filepath.Join(dir, "secret")},
		"escapes":                              {"location", "link"},
		"no such file":                         {"location", "none"},
		`"x" of external data is not a number`: {"location", "w.bin", "offset", "x"},
		"8 bytes at 8 of external data":        {"location", "w.bin", "offset", "8"},
		"has 4 bytes of external data: want 8": {"location", "w.bin", "length", "4"},
		"8 bytes at 4611686018427387903":       {"location", "w.bin", "offset", "4611686018427387903"},
	} {
		_, err := try(pairs...)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", pairs, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"mlp_script", "cnn_script", "transformer_script"} {
		data, err := os.ReadFile("testdata/" + name + ".onnx")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(data)
		var e *Error
		var u *UnsupportedError
		if err != nil && !errors.As(err, &e) && !errors.As(err, &u) {
			t.Error(err)
		}
		if err == nil && m == nil {
			t.Error("neither a model nor an error")
		}
	})
}
