package kernel

import (
	"math"

	"weft/internal/array"
	"weft/internal/op"
)

// An Elem is the element that a kernel computes: its index and its random numbers. A
// kernel takes one as a parameter; compiled, it is given no argument for it. Called as
// plain Go, a literal gives the element:
//
//	Noisy(kernel.Elem{Place: []int{i, j}, Shape: []int{rows, cols}}, x)
//
// Random numbers are Philox 4x32-10 of the seed, the draw, the row-major index of the element and
// the number of the call. They depend on nothing else. One goroutine at a time uses an Elem.
type Elem struct {
	Place []int // the index
	Shape []int // that of the result
	Seed  uint64
	Draw  uint32 // the number of the launch

	calls uint32
}

// Index returns the index along an axis.
func (e *Elem) Index(axis int) int {
	e.check("index")
	dim(e.Shape, axis)
	return e.Place[axis]
}

// Dim returns the length of an axis of the result.
func (e *Elem) Dim(axis int) int {
	e.check("dim")
	return dim(e.Shape, axis)
}

func (e *Elem) check(opName string) {
	if e == nil || len(e.Place) != len(e.Shape) {
		array.Failf(opName, "", "the element is nil, or its Place and its Shape differ in length")
	}
}

func (e *Elem) words() [4]uint32 {
	e.check("rand")
	w := op.Philox(e.Seed, uint64(e.calls)<<32|uint64(e.Draw), uint64(inside(e.Shape, e.Place...)))
	e.calls++
	return w
}

// Rand returns the next random number of the element from 0 to below 1, a multiple of 2^-24.
func (e *Elem) Rand() float32 { return float32(e.words()[0]>>8) * 0x1p-24 }

// Rand64 returns the next random number of the element from 0 to below 1, a multiple of 2^-53.
func (e *Elem) Rand64() float64 {
	w := e.words()
	return unit53(w[0], w[1])
}

// Randn returns the next number of the element from the normal distribution of mean 0 and
// variance 1.
func (e *Elem) Randn() float32 {
	w := e.words()
	r := float64(float32(uint64(w[0])+1) * 0x1p-32)
	angle := float64(float32(w[1]>>8) * 0x1p-24 * float32(2*math.Pi))
	return float32(math.Sqrt(-2*math.Log(r)) * math.Cos(angle))
}

// Randn64 returns the next number of the element from the normal distribution of mean 0
// and variance 1, of 53 random bits.
func (e *Elem) Randn64() float64 {
	w := e.words()
	r := 1 - unit53(w[0], w[1])
	return math.Sqrt(-2*math.Log(r)) * math.Cos(2*math.Pi*unit53(w[2], w[3]))
}

func unit53(hi, lo uint32) float64 {
	return float64((uint64(hi)<<32|uint64(lo))>>11) * 0x1p-53
}

// String returns the place and the shape.
func (e Elem) String() string {
	return array.Describe("kernel.Elem", "Place", e.Place, "Shape", e.Shape)
}
