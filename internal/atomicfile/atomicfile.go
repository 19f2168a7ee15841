// Package atomicfile replaces files as a whole: whoever opens the path, at any
// moment and after any crash, finds the old contents or the new ones.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

const bufBytes = 256 << 10

// Write replaces the file at path by what write produces, or creates it.
//
// The bytes go to a temporary file beside path, which is flushed to the disk
// and renamed onto path only when write and every step after it succeeded; the
// directory is then flushed too. On any error or panic the temporary file is
// removed and the old file is as it was, but for an error of the directory's
// flush: the new file is then in place and may not outlast a power failure. A
// process killed on the way leaves a file named .NAME.*.tmp behind, which a
// later Write to the same path removes.
//
// An existing file keeps its permissions, and a symbolic link its place: the
// file that it leads to is replaced. A path that is no regular file, such as a
// device or a pipe, is written directly.
func Write(path string, write func(io.Writer) error) error {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A dangling link has a target, but its name cannot be had portably.
		if st, e := os.Lstat(path); e == nil && st.Mode()&fs.ModeSymlink != 0 {
			return err
		}
		target, err = path, nil
	}
	if err != nil {
		return err
	}
	st, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replace(target, nil, write)
	case err != nil:
		return err
	case st.IsDir():
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("is a directory")}
	case !st.Mode().IsRegular():
		return direct(target, write)
	}
	return replace(target, st, write)
}

// direct writes to a device or a pipe.
func direct(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := fill(f, write); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func fill(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, bufBytes)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// replace does the work for a regular file; old describes it if it exists.
func replace(path string, old fs.FileInfo, write func(io.Writer) error) (err error) {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	removeStale(dir, name)
	f, err := create(dir, name)
	if err != nil {
		if e := (*fs.PathError)(nil); errors.As(err, &e) {
			e.Path = path // the caller does not know the temporary file
		}
		return err
	}
	renamed := false
	defer func() {
		if !renamed {
			f.Close()
			os.Remove(f.Name())
		}
		live.Lock()
		defer live.Unlock()
		delete(live.names, f.Name())
	}()
	if old != nil {
		if err := copyMode(f, old); err != nil {
			return err
		}
	}
	if err := fill(f, write); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := rename(f, path); err != nil {
		return err
	}
	renamed = true
	return syncDir(dir)
}

// copyMode gives f the permissions of old.
func copyMode(f *os.File, old fs.FileInfo) error {
	st, err := f.Stat()
	if err != nil || st.Mode().Perm() == old.Mode().Perm() {
		return err
	}
	return f.Chmod(old.Mode().Perm())
}

// live are the temporary files that this process writes.
var live = struct {
	sync.Mutex
	names map[string]bool
}{names: map[string]bool{}}

// Abandon removes the temporary files that this process writes, when a signal ends it. What is written now fails or is
// whole. Calls of Write that begin later never return.
func Abandon() {
	live.Lock() // for good
	for name := range live.names {
		os.Remove(name)
	}
}

// create makes and claims a fresh temporary file for name in dir. The umask
// applies to it as to any new file.
func create(dir, name string) (*os.File, error) {
	live.Lock()
	defer live.Unlock()
	for range 1000 {
		tmp := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", name, rand.Uint32()))
		f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if claim(f) {
			live.names[tmp] = true
			return f, nil
		}
		f.Close() // another process took it for stale before it was claimed
	}
	return nil, fmt.Errorf("%s: no name for a temporary file is free", dir)
}

// stale reports whether base is a name that create gives for name.
func stale(base, name string) bool {
	const suffix = "00000000.tmp"
	if len(base) != len(name)+2+len(suffix) || base[:len(name)+2] != "."+name+"." {
		return false
	}
	for i, c := range base[len(name)+2:] {
		hex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
		if i < 8 && !hex || i >= 8 && byte(c) != suffix[i] {
			return false
		}
	}
	return true
}

// removeStale removes the temporary files for name that no process writes any
// more. It does what it can: its failures harm nothing.
func removeStale(dir, name string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(256)
		for _, base := range names {
			if stale(base, name) {
				removeUnclaimed(filepath.Join(dir, base))
			}
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}
