//go:build unix && !solaris && !aix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// claim takes the lock that marks f as being written, which the kernel drops
// when the process ends in any way. It reports false if f was removed or taken
// meanwhile. Where a file system has no locks, it counts as taken: nobody can
// take the lock there to remove the file either.
func claim(f *os.File) bool {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return !errors.Is(err, syscall.EWOULDBLOCK)
	}
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(mine, there)
}

func lock(path string) (unlock func(), err error) {
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o666)
		if err != nil {
			return nil, err
		}
		if claim(f) {
			return func() { os.Remove(path); f.Close() }, nil
		}
		// Somebody has it, or had it and removed the file since.
		there, err := os.Lstat(path)
		mine, e := f.Stat()
		f.Close()
		if err == nil && e == nil && os.SameFile(mine, there) {
			return nil, ErrLocked
		}
	}
	return nil, ErrLocked
}

// removeUnclaimed removes a temporary file that nobody has claimed.
func removeUnclaimed(path string) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		os.Remove(path)
	}
}

// rename moves f onto path and closes it. The claim lasts until the temporary
// name is gone.
func rename(f *os.File, path string) error {
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	// The data is on the disk; closing has nothing left to report.
	f.Close()
	return nil
}

// syncDir makes the entries of dir durable. File systems that cannot flush a
// directory, and directories that may not be opened, are left alone.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
