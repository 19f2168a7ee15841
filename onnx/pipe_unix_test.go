//go:build unix

package onnx

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"weft/models"
	"weft/npy"
	"weft/safetensors"
	"weft/torchfile"
)

// A named pipe has no end and may never have a writer: what maps files or reads them at places refuses it, and does not
// wait.
func TestPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe, model := filepath.Join(dir, "pipe"), filepath.Join(dir, "m.onnx")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip("SKIPPED: named pipes cannot be made here: ", err)
	}
	data := modelOf(initializer("w", 1, []int64{2}, external("location", "pipe")), nodeOf("Add", []string{"x", "w"}, []string{"y"}), port(11, "x"), port(12, "y"))
	if err := os.WriteFile(model, data, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() error{
		"the model":       func() error { _, err := Load(pipe); return err },
		"ReadInfo":        func() error { _, err := ReadInfo(pipe); return err },
		"external data":   func() error { _, err := Load(model); return err },
		"models":          func() error { _, err := models.ReadState(pipe); return err },
		"npy.Map":         func() error { _, err := npy.Map(pipe, npy.ReadOnly); return err },
		"safetensors":     func() error { _, err := safetensors.Open(pipe); return err },
		"safetensors.Map": func() error { _, err := safetensors.Map(pipe); return err },
		"torchfile":       func() error { _, err := torchfile.Load(pipe); return err },
		"torchfile mapped": func() error {
			_, err := torchfile.Load(pipe, torchfile.LoadOpts{Map: true})
			return err
		},
	} {
		done := make(chan error, 1)
		go func() { done <- open() }()
		select {
		case err := <-done:
			var e *os.PathError
			if !errors.As(err, &e) || e.Err.Error() != "is not a regular file" {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s waits for a writer", name)
		}
	}
}
