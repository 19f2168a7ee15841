package onnx

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft"
)

// The cache of Hugging Face has links for a model and its external data, which lead to files of one folder. Links to
// other folders are refused, and links of the data alone.
func TestExternalDataBehindLinks(t *testing.T) {
	cache := t.TempDir()
	blobs, snapshot := filepath.Join(cache, "blobs"), filepath.Join(cache, "snapshots", "main", "onnx")
	data := modelOf(initializer("w", 1, []int64{2}, external("location", "m.onnx_data")), nodeOf("Add", []string{"x", "w"}, []string{"y"}), port(11, "x"), port(12, "y"))
	for _, err := range []error{
		os.MkdirAll(blobs, 0o777),
		os.MkdirAll(snapshot, 0o777),
		os.WriteFile(filepath.Join(blobs, "1234"), data, 0o666),
		os.WriteFile(filepath.Join(blobs, "5678"), []byte("\x00\x00\x80\x3f\x00\x00\x00\x40"), 0o666),
		os.WriteFile(filepath.Join(cache, "secret"), make([]byte, 8), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	model, weights := filepath.Join(snapshot, "m.onnx"), filepath.Join(snapshot, "m.onnx_data")
	link := func(to, from string) {
		os.Remove(from)
		if err := os.Symlink(to, from); err != nil {
			t.Skip("SKIPPED: no symbolic links: ", err)
		}
	}
	link("../../../blobs/1234", model)
	link("../../../blobs/5678", weights)
	m, err := Load(model)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Run(map[string]*weft.Tensor{"x": weft.Zeros(2)})
	if err != nil || out["y"].At(1).Item() != 2 {
		t.Errorf("y is %v, %v", out["y"], err)
	}
	refused := func(what string) {
		t.Helper()
		var e *Error
		if _, err := Load(model); !errors.As(err, &e) || !strings.Contains(err.Error(), "escapes") {
			t.Errorf("%s: %v, want an error that says that the path escapes", what, err)
		}
	}
	link("../../../secret", weights)
	refused("data in another folder than the model's")
	link("../../../blobs/5678", weights)
	os.Remove(model)
	if err := os.WriteFile(model, data, 0o666); err != nil {
		t.Fatal(err)
	}
	refused("a link of the data alone")
}
