package moves_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cudart"
	"weft/internal/grid"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/moves"
)

// A gpu is a simulated one with the memory that was taken of it.
type gpu struct {
	*gridtest.Launcher
	taken []cudart.Addr
}

func newGPU(t *testing.T) *gpu { return &gpu{Launcher: gridtest.NewLauncher(t, 8, 8<<30)} }

// alloc returns memory until free.
func (g *gpu) alloc(n int) cudart.Addr {
	at := gridtest.Must(g.C.Alloc(max(n, 1)))
	g.taken = append(g.taken, at)
	return at
}

func (g *gpu) free() {
	for _, at := range g.taken {
		gridtest.Must(0, g.C.Free(at))
	}
	g.taken = nil
}

// put returns the address of a copy of bytes, behind skip other bytes.
func (g *gpu) put(b []byte, skip int) uint64 {
	b = append(make([]byte, skip), b...)
	at := g.alloc(len(b))
	if len(b) > 0 {
		gridtest.Must(0, g.C.CopyIn(g.Q, at, unsafe.Pointer(&b[0]), len(b)))
	}
	return uint64(at) + uint64(skip)
}

// room returns the address of n bytes, aligned to align.
func (g *gpu) room(n, align int) uint64 {
	return uint64(g.alloc(n+align)) + uint64(align)%512
}

// get returns n bytes at an address.
func (g *gpu) get(at uint64, n int) []byte {
	b := make([]byte, n)
	if n > 0 {
		gridtest.Must(0, g.C.CopyOut(g.Q, unsafe.Pointer(&b[0]), cudart.Addr(at), n))
	}
	return b
}

// report returns a clear report, and what reads it.
func (g *gpu) report() (at uint64, refused func() (int64, int, bool)) {
	var r grid.Report
	r.Clear()
	at = g.put(unsafe.Slice((*byte)(unsafe.Pointer(&r)), len(r)*8), 0)
	return at, func() (int64, int, bool) {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&r)), len(r)*8), g.get(at, len(r)*8))
		return r.Refused()
	}
}

// A strided array is one of random bytes, and of random strides.
type strided struct {
	size, first int
	shape       []int
	strides     []int
	data        []byte
}

// newStrided returns an array of elements with a size. Its axes may be permuted, reversed, have gaps, or
// be repeated if they may.
func newStrided(chance *rand.Rand, size int, shape []int, repeated bool) *strided {
	s := &strided{size: size, shape: shape, strides: make([]int, len(shape))}
	order := chance.Perm(len(shape))
	if chance.IntN(2) == 0 {
		for i := range order {
			order[i] = len(shape) - 1 - i
		}
	}
	step, last := 1, 0
	if chance.IntN(4) == 0 {
		step = 1 + chance.IntN(3)
	}
	for _, d := range order {
		switch n := shape[d]; {
		case repeated && chance.IntN(9) == 0:
		case chance.IntN(6) == 0 && n > 0:
			s.strides[d] = -step
			s.first += step * (n - 1)
			last += step * (n - 1)
			step *= n
		default:
			s.strides[d] = step
			last += step * max(n-1, 0)
			step *= max(n, 1)
		}
		if chance.IntN(6) == 0 {
			step += chance.IntN(5)
		}
	}
	s.data = make([]byte, (last+1)*size)
	for i := range s.data {
		s.data[i] = byte(chance.Uint32())
	}
	return s
}

// at returns the element at a position, moved by a number of elements.
func (s *strided) at(p []int, more int) []byte {
	i := s.first + more
	for d, x := range p {
		i += x * s.strides[d]
	}
	return s.data[i*s.size:][:s.size]
}

// chosen returns a number below n, 0 without chance.
func chosen(chance *rand.Rand, n int) int {
	if chance == nil {
		return 0
	}
	return chance.IntN(n)
}

// on returns the array on a GPU, aligned without chance and mostly with it.
func (s *strided) on(g *gpu, chance *rand.Rand) moves.Array {
	skip := 0
	if chosen(chance, 4) == 3 {
		skip = s.size * (1 + chance.IntN(4))
	}
	return moves.Array{Addr: g.put(s.data, skip) + uint64(s.first*s.size), Strides: s.strides}
}

// each calls f for the positions of a shape in row-major order, with their number.
func each(shape []int, f func(i int, p []int)) {
	p := make([]int, len(shape))
	for i := range array.Size(shape) {
		f(i, p)
		for d := len(p) - 1; d >= 0; d-- {
			if p[d]++; p[d] < shape[d] {
				break
			}
			p[d] = 0
		}
	}
}

var sides = []int{0, 1, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257}

// randomShape returns a shape of some axes with at most most elements.
func randomShape(chance *rand.Rand, axes, most int) []int {
	for {
		s := make([]int, axes)
		for i := range s {
			s[i] = sides[chance.IntN(len(sides))]
		}
		if array.Size(s) <= most {
			return s
		}
	}
}
