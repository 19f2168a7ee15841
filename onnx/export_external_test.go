package onnx

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weft"
)

// A model with external data computes what the function does, here and in ONNX Runtime where WEFT_BENCH_PYTHON names a
// Python with it: as SaveOpts ask, and because the message would be too large.
func TestExternalDataIsWritten(t *testing.T) {
	dir := t.TempDir()
	g := weft.NewGenerator(3)
	w, b, x := g.Normal(0, 1, 40, 33), g.Normal(0, 1, 33), g.Normal(0, 1, 5, 40)
	f := func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Add(b) }
	weights := map[string]*weft.Tensor{"w": w, "b": b}
	asked, large := filepath.Join(dir, "asked.onnx"), filepath.Join(dir, "large.onnx")
	if err := Save(asked, f, []any{x}, SaveOpts{Weights: weights, ExternalFrom: new(0)}); err != nil {
		t.Fatal(err)
	}
	err := export(f, []any{x}, []SaveOpts{{Weights: weights}}, func(m *exported) error {
		m.most = 2000
		var e *Error
		if err := m.write(&bytes.Buffer{}); !errors.As(err, &e) || !strings.Contains(err.Error(), "holds 2000") {
			t.Errorf("a message that is too large: %v", err)
		}
		if !m.layOut("large.onnx.data") || m.weights[0].tensor.external == nil && m.weights[1].tensor.external == nil {
			t.Error("there is no external data")
		}
		var data, model bytes.Buffer
		return errors.Join(m.writeExternal(&data), m.write(&model), os.WriteFile(large, model.Bytes(), 0o666), os.WriteFile(large+".data", data.Bytes(), 0o666))
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, size := range map[string]int64{asked: 40*33*4 + 33*4, large: 40 * 33 * 4} {
		if info, err := os.Stat(path + ".data"); err != nil || info.Size() < size || info.Size() > size+64 {
			t.Errorf("%s: the data is %v, %v, want %d bytes", path, info, err, size)
		}
		m, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Run(map[string]*weft.Tensor{"x": x})
		if err != nil || !out["y"].AllClose(f(x)) || len(m.Weights) != 2 {
			t.Errorf("%s: %v %v", path, out, err)
		}
		if python := os.Getenv("WEFT_BENCH_PYTHON"); python != "" {
			code := "import sys,onnx,onnxruntime as o\nonnx.checker.check_model(sys.argv[1], full_check=True)\nprint(o.InferenceSession(sys.argv[1]).get_inputs()[0].shape)"
			if text, err := exec.Command(python, "-c", code, path).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		}
	}
	var e *Error
	if err := Write(&bytes.Buffer{}, f, []any{x}, SaveOpts{ExternalFrom: new(0)}); !errors.As(err, &e) || !strings.Contains(err.Error(), "ExternalFrom") {
		t.Errorf("Write with ExternalFrom: %v", err)
	}
	if err := Save(asked, f, []any{x}, SaveOpts{ExternalFrom: new(-1)}); err == nil || !strings.Contains(err.Error(), "ExternalFrom") {
		t.Errorf("a negative size: %v", err)
	}
}
