package torchfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// Files that end, or cannot be read, from any byte on are errors: typed ones for files that are short, the reader's for
// others. A file that is cut on the disk is as one that is short.
func TestFilesThatBreakAtAnyByte(t *testing.T) {
	for name, step := range map[string]int{"checkpoint.pt": 11, "views_old.pt": 1, "list.pt": 1} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		for k := 0; k < len(data); k += step {
			if _, err := Read(&tensortest.BrokenFile{Data: data, From: k}, int64(len(data))); err != nil && !errors.Is(err, tensortest.ErrBroken) {
				t.Errorf("%s: the reader fails at byte %d: %v", name, k, err)
			}
			short := bytes.NewReader(data[:k])
			_, err := Read(short, int64(len(data)))
			known(t, name, k, err)
			_, err = Read(short, int64(k))
			if err == nil {
				t.Errorf("%s: %d of %d bytes are read without an error", name, k, len(data))
			}
			known(t, name, k, err)
			if k%16 != 0 {
				continue
			}
			if err := os.WriteFile(path, data[:k], 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = Load(path)
			if err == nil {
				t.Errorf("%s: a file of %d of %d bytes is loaded", name, k, len(data))
			}
			known(t, name, k, err)
		}
	}
}

// known checks that an error is nil or one that the package documents.
func known(t *testing.T, name string, k int, err error) {
	t.Helper()
	var f *FormatError
	var u *UnsupportedError
	if err != nil && !errors.As(err, &f) && !errors.As(err, &u) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%s: %d bytes: %T %v", name, k, err, err)
	}
}

// A writer that fails at any byte fails the call with its error.
func TestWritersThatBreakAtAnyByte(t *testing.T) {
	state := map[string]*weft.Tensor{"w": weft.Arange(40), "b": weft.Arange(3)}
	var whole bytes.Buffer
	if err := Write(&whole, state); err != nil {
		t.Fatal(err)
	}
	for k := range whole.Len() {
		if err := Write(&tensortest.CutWriter{Left: k}, state); !errors.Is(err, tensortest.ErrBroken) {
			t.Fatalf("the writer fails at byte %d: %v", k, err)
		}
	}
}
