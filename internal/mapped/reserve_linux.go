package mapped

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Reserve makes f, which is empty, n zero bytes long and takes the memory or the blocks
// for them: what is missing when a page is touched would be a fault.
func Reserve(f *os.File, n int) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, int64(n))
	if errors.Is(err, unix.EOPNOTSUPP) {
		return writeZeros(f, n)
	}
	return err
}

// SharedFolder is where files are that processes share as memory.
func SharedFolder() string {
	const shm = "/dev/shm"
	if st, err := os.Stat(shm); err == nil && st.IsDir() {
		return shm
	}
	return os.TempDir()
}
