package grid

import "encoding/binary"

// A Launch is one run of a kernel of a routine.
type Launch struct {
	Name   string // of the kernel; it says all that the kernel depends on
	Lower  func() *Kernel
	Blocks int
	Args   []byte
}

// NewLaunch returns a launch.
func NewLaunch(name string, lower func() *Kernel, blocks int, args Args) Launch {
	return Launch{name, lower, blocks, args}
}

// Args is the argument block of a launch while it is written.
type Args []byte

// Long appends integers of 8 bytes.
func (a *Args) Long(x ...int) {
	for _, x := range x {
		*a = binary.LittleEndian.AppendUint64(*a, uint64(x))
	}
}

// Short appends integers of 4 bytes.
func (a *Args) Short(x ...int) {
	for _, x := range x {
		*a = binary.LittleEndian.AppendUint32(*a, uint32(x))
	}
}

// Divisors appends divisors; see [AppendDivisor].
func (a *Args) Divisors(x ...int) {
	for _, x := range x {
		*a = AppendDivisor(*a, x)
	}
}

// Pad appends zeros up to a multiple of 8 bytes.
func (a *Args) Pad() {
	for len(*a)%8 != 0 {
		*a = append(*a, 0)
	}
}

// Ceil returns a/b, rounded up.
func Ceil(a, b int) int { return (a + b - 1) / b }
