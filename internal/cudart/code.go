package cudart

import (
	"errors"

	"weft/internal/loop"
)

// variant is a way to cut the work of a program.
type variant uint8

const variants = 8

var errNoCode = errors.New("there is no printer")

// Stand-ins until packages grid and ptx have these.
var (
	choose = func(p *loop.Program, f *loop.Frame, addrs []uint64, units int) (variant, int) { return 0, 1 }

	appendArgs = func(to []byte, p *loop.Program, f *loop.Frame, addrs []uint64, cancel uint64) []byte { return to }

	write = func(info *Info, list []want, kernels []*kernel) (string, error) { return "", errNoCode }
)
