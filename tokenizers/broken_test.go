package tokenizers

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Files that end at any byte give the documented errors, but for sentencepiece models that end between two parts.
func TestFilesThatBreakAtAnyByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	typed := func(what string, k int, err error) {
		t.Helper()
		var f *FormatError
		var u *UnsupportedError
		if err != nil && !errors.As(err, &f) && !errors.As(err, &u) {
			t.Errorf("%s: %d bytes: %T %v", what, k, err, err)
		}
	}
	for _, s := range seeds {
		for k := range s {
			_, err := Parse([]byte(s[:k]))
			if err == nil {
				t.Errorf("%.40q: %d of %d bytes make a tokenizer", s, k, len(s))
			}
			typed(s[:20], k, err)
			if k%50 != 0 {
				continue
			}
			if err := os.WriteFile(path, []byte(s[:k]), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = Load(path)
			typed(s[:20], k, err)
		}
	}
	file, err := os.Open("testdata/sp-bare.model.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	model, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "tokenizer.model")
	for k := 0; k < len(model); k += 97 {
		if err := os.WriteFile(path, model[:k], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path)
		typed("a sentencepiece model", k, err)
	}
}
