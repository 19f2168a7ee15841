package safetensors_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/npy"
	"weft/safetensors"
)

// TestCutWhileOpen cuts files of several arrays after they were opened: reading an array is
// an error that wraps io.ErrUnexpectedEOF or says that the file was cut, never a panic or
// elements of nothing.
func TestCutWhileOpen(t *testing.T) {
	dir := t.TempDir()
	tensors := map[string]*weft.Tensor{"a": weft.Rand(1000), "b": weft.Rand(3000)}
	st, plain, packed := filepath.Join(dir, "x.safetensors"), filepath.Join(dir, "plain.npz"), filepath.Join(dir, "packed.npz")
	for _, err := range []error{
		safetensors.WriteFile(st, tensors, nil),
		npy.WriteArchiveFile(plain, tensors, npy.ArchiveOpts{}),
		npy.WriteArchiveFile(packed, tensors, npy.ArchiveOpts{Compress: true}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{st, plain, packed} {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 1, 20, 300, len(whole) / 2, len(whole) - 8} {
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			var read func(name string) (*weft.Tensor, error)
			var done io.Closer
			if path == st {
				f, err := safetensors.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				read, done = f.Tensor, f
			} else {
				a, err := npy.OpenArchive(path)
				if err != nil {
					t.Fatal(err)
				}
				read, done = a.Tensor, a
			}
			if err := os.Truncate(path, int64(size)); err != nil {
				t.Skip("SKIPPED: this system does not cut open files: ", err)
			}
			failed := 0
			for name, want := range tensors {
				got, err := read(name)
				switch {
				case err == nil && weft.Digest(got) != weft.Digest(want):
					t.Errorf("%s, cut to %d bytes: %s has other elements and no error", path, size, name)
				case err != nil:
					failed++
					if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "npy") {
						t.Errorf("%s, cut to %d bytes: %v", path, size, err)
					}
				}
			}
			if failed == 0 && size < len(whole)/2+1 {
				t.Errorf("%s, cut to %d bytes: everything was read", path, size)
			}
			done.Close()
		}
	}
}
