package kernel_test

import (
	"math"

	"weft/kernel"
)

// Functions that read whole arrays, for tests of their gradients.

// Surface interpolates between four places.
func Surface(grid kernel.Clamped2[float64], y, x float64) float64 {
	i, j := int(math.Floor(y)), int(math.Floor(x))
	fy, fx := y-float64(i), x-float64(j)
	top := grid.At(i, j)*(1-fx) + grid.At(i, j+1)*fx
	low := grid.At(i+1, j)*(1-fx) + grid.At(i+1, j+1)*fx
	return math.Sin(top*(1-fy) + low*fy)
}

// Ring multiplies neighbours around a ring, which a call reads.
func Ring(e kernel.Elem, a kernel.Wrapped1[float64], x float64) (float64, int32, float64) {
	i := 3*e.Index(0) - 4
	p := beside(a, i, -1) * beside(a, i, 1)
	return p * x, int32(i), math.Exp(0.1*a.At(i)) + p
}

func beside(a kernel.Wrapped1[float64], i, by int) float64 { return a.At(i + by) }

// Picked reads on some ways alone, twice the same place on one, and nothing on the last.
func Picked(a kernel.Zeroed2[float64], i, j int64, x float64) float64 {
	if x > 2 {
		return 5 * x
	}
	r, c := int(i), int(j)
	v := a.At(r, c)
	if x > 0 {
		s := 0.0
		for d := range 3 {
			if w := a.At(r+d, c); w > 0.2 {
				s += w * w * x
			}
		}
		return s * v
	}
	return v * v * a.At(c, r)
}

// Looked finds what it reads in a loop, of no floats, and then reads.
func Looked(bounds kernel.Clamped1[int64], a kernel.Clamped1[float64], i int64) float64 {
	k := 0
	for bounds.At(k) < i && k < 100 {
		k++
	}
	return a.At(k) * a.At(k) * a.At(int(i))
}

func Dial(a kernel.Wrapped1[complex128], z complex128, i int64) complex128 {
	return z * a.At(int(i)) * a.At(int(i)+1)
}

func Third(a kernel.Array1[float64], x float64) float64 { return a.At(0) * a.At(2) * x }

func Endless(a kernel.Clamped1[float64], n int64) float64 {
	s := 0.0
	for i := range n {
		s += a.At(int(i))
	}
	return s
}

func Halves[T float32 | float64](a kernel.Clamped1[T], i int64) T { return 2 * a.At(int(i)) }

// Dims goes around as often as the result is long, which only the launch knows.
func Dims(e kernel.Elem, a kernel.Clamped1[float64], x float64) float64 {
	s := a.At(e.Index(0))
	for k := range e.Dim(0) {
		if k > 1 {
			s = s*x + 1
		} else {
			s += math.Sqrt(math.Abs(x)+float64(k)) / (1 + x*x) * math.Cos(x) * math.Exp(x) / (3 + x)
		}
	}
	return s * a.At(2)
}

// Affine2 composes x*a + b of the left side and then that of the right side.
func Affine2(a, b, c, d float64) (float64, float64) { return a * c, b*c + d }

func Plus(x, y float64) float64 { return x + y }
