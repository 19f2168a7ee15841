package onnx

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/nn"
)

// Models that end at any byte give an *Error, or an *UnsupportedError where nodes are left without their versions.
func TestModelsThatBreakAtAnyByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.onnx")
	for name, step := range map[string]int{"mlp_script.onnx": 1, "cnn_dynamo.onnx": 37} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for k := 0; k < len(data); k += step {
			typed := func(err error) {
				t.Helper()
				var e *Error
				var u *UnsupportedError
				if err != nil && !errors.As(err, &e) && !errors.As(err, &u) {
					t.Errorf("%s: %d of %d bytes: %T %v", name, k, len(data), err, err)
				}
			}
			_, err := Read(data[:k:k])
			typed(err)
			if k%20 != 0 {
				continue
			}
			if err := os.WriteFile(path, data[:k], 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = Load(path)
			typed(err)
			_, err = ReadInfo(path)
			typed(err)
		}
	}
}

// A writer that fails at any byte fails the export with its error.
func TestWritersThatBreakAtAnyByte(t *testing.T) {
	layer := nn.NewLinear(3, 2)
	args := []any{weft.Ones(4, 3)}
	var whole bytes.Buffer
	if err := Write(&whole, layer.Forward, args); err != nil {
		t.Fatal(err)
	}
	for k := range whole.Len() {
		if err := Write(&tensortest.CutWriter{Left: k}, layer.Forward, args); !errors.Is(err, tensortest.ErrBroken) {
			t.Fatalf("the writer fails at byte %d: %v", k, err)
		}
	}
}
