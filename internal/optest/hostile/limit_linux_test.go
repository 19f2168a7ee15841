package hostile

import (
	"os"
	"os/signal"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limited reports that limit works here.
const limited = true

// limit bounds the address space of this process to what it has and room, so that an
// allocation that is far too large fails at once and harms nobody else, and the
// size of files that it writes.
func limit(room uint64) error {
	signal.Ignore(unix.SIGXFSZ) // a write that is too long is an error then
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: longest, Max: longest}); err != nil {
		return err
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, err := strconv.ParseUint(strings.Fields(string(text))[0], 10, 64)
	if err != nil {
		return err
	}
	n := pages*uint64(os.Getpagesize()) + room
	return unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: n, Max: n})
}

// seal makes whole pages inaccessible.
func seal(b []byte) {
	if len(b) > 0 {
		if err := unix.Mprotect(b, unix.PROT_NONE); err != nil {
			panic(err)
		}
	}
}
