package safetensors_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/safetensors"
)

// Files that break at any byte are errors: the reader's, or typed ones for files that are short.
func TestFilesThatBreakAtAnyByte(t *testing.T) {
	tensors := map[string]*weft.Tensor{"w": weft.Arange(20), "b": weft.Arange(3), "ok": weft.Arange(2).Gt(0)}
	var whole bytes.Buffer
	if err := safetensors.Write(&whole, tensors, map[string]string{"made": "here"}); err != nil {
		t.Fatal(err)
	}
	data, path := whole.Bytes(), filepath.Join(t.TempDir(), "x.safetensors")
	all := func(f *safetensors.File, err error) error {
		for _, name := range []string{"w", "b", "ok"} {
			if err == nil {
				_, err = f.Tensor(name)
			}
		}
		return err
	}
	typed := func(k int, err error) {
		t.Helper()
		if e := (*safetensors.FormatError)(nil); !errors.As(err, &e) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %T %v", k, len(data), err, err)
		}
	}
	for k := range data {
		if err := all(safetensors.Read(&tensortest.BrokenFile{Data: data, From: k}, int64(len(data)))); !errors.Is(err, tensortest.ErrBroken) {
			t.Errorf("the reader fails at byte %d: %v", k, err)
		}
		typed(k, all(safetensors.Read(bytes.NewReader(data[:k]), int64(len(data)))))
		typed(k, all(safetensors.Read(bytes.NewReader(data[:k]), int64(k))))
		if err := safetensors.Write(&tensortest.CutWriter{Left: k}, tensors, map[string]string{"made": "here"}); !errors.Is(err, tensortest.ErrBroken) {
			t.Errorf("the writer fails at byte %d: %v", k, err)
		}
		if k%8 != 0 {
			continue
		}
		if err := os.WriteFile(path, data[:k], 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := safetensors.ReadFile(path)
		typed(k, err)
		_, err = safetensors.Map(path)
		typed(k, err)
	}
}
