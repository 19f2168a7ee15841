//go:build unix

package weft_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"weft"
)

// TestOpenSharedForeign puts everything but a file of this user where a segment is: none is
// opened, and what a link points to keeps its bytes.
func TestOpenSharedForeign(t *testing.T) {
	secret := []byte("secret, but for its owner")
	for what, put := range map[string]func(path, target string) error{
		"a link to a file":  func(path, target string) error { return os.Symlink(target, path) },
		"a link to nothing": func(path, target string) error { return os.Symlink(target+".none", path) },
		"a folder":          func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"a pipe":            func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"a file of another user": func(path, _ string) error {
			return errors.Join(os.WriteFile(path, secret, 0o666), os.Chown(path, 65534, 65534))
		},
		"a second name": func(path, _ string) error {
			return errors.Join(os.WriteFile(path+"x", secret, 0o600), os.Link(path+"x", path))
		},
	} {
		t.Run(what, func(t *testing.T) {
			name := fmt.Sprintf("test-foreign-%d", os.Getpid())
			path := segmentFile(name)
			target := filepath.Join(t.TempDir(), "target")
			if err := os.WriteFile(target, secret, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Remove(path); os.Remove(path + "x") })
			if err := put(path, target); errors.Is(err, fs.ErrPermission) {
				t.Skip("SKIPPED: it takes the rights of root to give a file to another user")
			} else if err != nil {
				t.Fatal(err)
			}
			s, err := weft.OpenShared(name)
			if err == nil {
				s.Close()
				t.Error("it was opened")
			} else if linked := what != "a folder" && what != "a pipe"; linked && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("the error is %v, want one that wraps fs.ErrPermission", err)
			}
			if got, err := os.ReadFile(target); err != nil || !bytes.Equal(got, secret) {
				t.Errorf("the file has %q now, %v", got, err)
			}
		})
	}
}
