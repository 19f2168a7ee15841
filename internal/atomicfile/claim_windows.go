package atomicfile

import (
	"errors"
	"os"
	"syscall"
	"time"
)

const sharingViolation = syscall.Errno(32)

// claim has nothing to do: a file that is open cannot be removed.
func claim(*os.File) bool { return true }

// lock opens the file for itself alone, and so that the system removes it with its handle.
func lock(path string) (unlock func(), err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const deleteAccess, deleteOnClose = 0x00010000, 0x04000000
	h, err := syscall.CreateFile(name, syscall.GENERIC_WRITE|deleteAccess, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL|deleteOnClose, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return func() { syscall.CloseHandle(h) }, nil
}

// removeUnclaimed removes a temporary file unless a process has it open. It
// spares recent ones, which may be closed and about to be renamed.
func removeUnclaimed(path string) {
	if st, err := os.Lstat(path); err == nil && time.Since(st.ModTime()) > time.Hour {
		os.Remove(path)
	}
}

// rename closes f and moves it onto path. Scanners and indexers open new files
// for a moment, which makes the system refuse the move, so it is tried for a
// second.
func rename(f *os.File, path string) error {
	if err := f.Close(); err != nil {
		return err
	}
	for wait := time.Millisecond; ; wait *= 2 {
		err := os.Rename(f.Name(), path)
		busy := errors.Is(err, syscall.ERROR_ACCESS_DENIED) || errors.Is(err, sharingViolation)
		if !busy || wait > 512*time.Millisecond {
			return err
		}
		time.Sleep(wait)
	}
}

// syncDir has nothing to do: directories cannot be flushed.
func syncDir(string) error { return nil }
