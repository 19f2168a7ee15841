package fft

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"weft/internal/jit"
)

// cosineRow is a transform by its definition, in float64.
func cosineRow(c Cosine, x []float64) []float64 {
	n := len(x)
	y := make([]float64, n)
	for k := range y {
		for j := range x {
			f, angle := 2.0, float64(k*(2*j+1)%(4*n))
			zero := k == 0 // the coefficient of frequency 0
			if c.Third {
				angle, zero = float64(j*(2*k+1)%(4*n)), j == 0
			}
			switch {
			case c.Sine && c.Third:
				angle, zero = float64((j+1)*(2*k+1)%(4*n)), j == n-1
			case c.Sine:
				angle, zero = float64((k+1)*(2*j+1)%(4*n)), k == n-1
			}
			if zero {
				if f *= c.First; c.Third {
					f /= 2
				}
			}
			of := math.Cos
			if c.Sine {
				of = math.Sin
			}
			y[k] += f * x[j] * of(math.Pi*angle/float64(2*n))
		}
	}
	return y
}

// cosineTransform runs the transform of rows of x, rounded to numbers of a size.
func cosineTransform(isa jit.ISA, size, n, rows int, c Cosine, x []float64) []float64 {
	t := Transform{ISA: isa, Size: size, N: n, Scale: 0.5}
	y := make([]float64, len(x))
	if size == 8 {
		t.CosineRows(c, unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), rows)
		return y
	}
	in, out := make([]float32, len(x)), make([]float32, len(x))
	for i := range x {
		in[i] = float32(x[i])
	}
	t.CosineRows(c, unsafe.Pointer(&out[0]), unsafe.Pointer(&in[0]), rows)
	for i := range y {
		y[i] = float64(out[i])
	}
	return y
}

// TestCosineTransforms compares transforms of types 2 and 3 with the definition, and instruction sets with
// each other.
func TestCosineTransforms(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 6, 7, 8, 15, 16, 34, 60, 64, 66, 129, 250, 384} {
		const rows = 3
		x := make([]float64, n*rows)
		for i, z := range noise(n * rows) {
			x[i] = real(z)
		}
		for form := range 4 {
			c := Cosine{Third: form%2 == 1, Sine: form/2 == 1, First: math.Sqrt2}
			var want []float64
			for r := range rows {
				want = append(want, cosineRow(c, x[r*n:][:n])...)
			}
			for _, size := range []int{4, 8} {
				bound := map[int]float64{4: 0x1p-24, 8: 0x1p-53}[size] * (4 + 4*math.Log2(float64(n)) + math.Sqrt(float64(n)))
				first := ""
				for _, isa := range jit.ISAs() {
					y := cosineTransform(isa, size, n, rows, c, x)
					wrong, sum := 0.0, 0.0
					for i := range y {
						wrong, sum = wrong+(2*y[i]-want[i])*(2*y[i]-want[i]), sum+want[i]*want[i]
					}
					if e := math.Sqrt(wrong / sum); !(e <= bound) {
						t.Errorf("n %d, size %d, %v, %+v: error %.3g, bound %.3g", n, size, isa, c, e, bound)
					}
					if bits := fmt.Sprint(y); first == "" {
						first = bits
					} else if bits != first {
						t.Errorf("n %d, size %d, %+v: %v has other bits than portable code", n, size, c, isa)
					}
				}
			}
		}
	}
}
