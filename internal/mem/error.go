package mem

import (
	"errors"
	"fmt"
)

// ErrOutOfMemory matches, through errors.Is, the error of an allocation that
// could not be had.
var ErrOutOfMemory = errors.New("mem: out of memory")

// Error is an allocation that failed. All sizes are in bytes. It matches
// [ErrOutOfMemory] and unwraps to the system's own error, if that was it.
type Error struct {
	Size  int   // asked for
	Live  int64 // in use through the pool at the time
	Limit int64 // the limit that stood in the way; 0 if the system refused
	Err   error // the system's error; nil if a limit stood in the way
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("cannot allocate %s: %v (%s in use)", human(int64(e.Size)), e.Err, human(e.Live))
	}
	return fmt.Sprintf("cannot allocate %s: %s in use, limit %s", human(int64(e.Size)), human(e.Live), human(e.Limit))
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is [ErrOutOfMemory].
func (e *Error) Is(target error) bool { return target == ErrOutOfMemory }

func human(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	f, u := float64(n)/1024, 0
	for f >= 1024 && u < len(units)-1 {
		f, u = f/1024, u+1
	}
	return fmt.Sprintf("%.4g %ciB", f, units[u])
}
