package ptxsim

import (
	"fmt"
	"strings"

	cudart "weft/internal/cudart/driver"
)

// A Fault is a mistake of a kernel or of the order of work, which the simulator found.
type Fault struct {
	Work          string // the kernel, or the driver's call
	Line          int    // in the text of the module; 0 outside of kernels
	Text          string // that line
	Block, Thread int
	Addr          cudart.Addr // 0 where no memory is concerned
	Reason        string
	Code          int // the driver's error
}

func (f *Fault) Error() string {
	var s strings.Builder
	s.WriteString(f.Work)
	if f.Line > 0 {
		fmt.Fprintf(&s, ", line %d (%s), block %d, thread %d", f.Line, strings.TrimSpace(f.Text), f.Block, f.Thread)
	}
	if f.Addr != 0 {
		fmt.Fprintf(&s, ", address %#x", uint64(f.Addr))
	}
	return s.String() + ": " + f.Reason
}
