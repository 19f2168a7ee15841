package fft

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/jit"
)

// dft is the transform by its definition, with the error of float64 products alone.
func dft(x []complex128, inverse bool) []complex128 {
	n := len(x)
	w := make([]complex128, n)
	for j := range w {
		w[j] = cmplx.Rect(1, -2*math.Pi*float64(j)/float64(n))
		if inverse {
			w[j] = cmplx.Conj(w[j])
		}
	}
	y := make([]complex128, n)
	for k := range y {
		for j := range x {
			y[k] += x[j] * w[j*k%n]
		}
	}
	return y
}

func noise(n int) []complex128 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(float64(float32(r.NormFloat64())), float64(float32(r.NormFloat64())))
	}
	return x
}

// transformed runs the transform of rows of x, which it rounds to numbers of a size.
func transformed(isa jit.ISA, size, n int, inverse bool, x []complex128) []complex128 {
	t := Transform{ISA: isa, Size: size, N: n, Inverse: inverse}
	y := make([]complex128, len(x))
	if size == 8 {
		t.Rows(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), len(x)/n, 16*n, 16*n)
		return y
	}
	in, out := make([]complex64, len(x)), make([]complex64, len(x))
	for i := range x {
		in[i] = complex64(x[i])
	}
	t.Rows(unsafe.Pointer(&out[0]), unsafe.Pointer(&in[0]), len(x)/n, 8*n, 8*n)
	for i := range x {
		y[i] = complex128(out[i])
	}
	return y
}

// relative is the error of y in the root mean square, relative to want.
func relative(y, want []complex128) float64 {
	var e, s float64
	for i := range y {
		d := y[i] - want[i]
		e += square(d)
		s += square(want[i])
	}
	return math.Sqrt(e / s)
}

// square is the square of the length of z.
func square(z complex128) float64 { return math.Pow(cmplx.Abs(z), 2) }

var lengths = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21, 23, 24, 30, 31, 32, 33, 35, 49, 60, 64, 77, 97, 100, 104, 121, 125, 127, 128, 129, 130, 144, 169, 210, 243, 250, 256, 257, 260, 343, 360, 384, 512, 1000, 1009, 1024, 1331, 2048, 2187, 3125}

// TestTransformsOfAllLengths compares lengths of every kind with the definition.
func TestTransformsOfAllLengths(t *testing.T) {
	for _, n := range lengths {
		rows := 3
		if n < 40 {
			rows = 37
		}
		x := noise(n * rows)
		for _, inverse := range []bool{false, true} {
			var want []complex128
			for r := range rows {
				want = append(want, dft(x[r*n:][:n], inverse)...)
			}
			for _, size := range []int{4, 8} {
				var first []complex128
				for _, isa := range jit.ISAs() {
					y := transformed(isa, size, n, inverse, x)
					eps := map[int]float64{4: 0x1p-24, 8: 0x1p-53}[size]
					bound := eps * (2 + 1.5*math.Log2(float64(n)))
					if size == 8 {
						bound *= 4 // of the definition itself
						bound += eps * math.Sqrt(float64(n))
					}
					if e := relative(y, want); !(e <= bound) {
						t.Errorf("n %d, size %d, %v, inverse %v: error %.3g, bound %.3g", n, size, isa, inverse, e, bound)
					}
					if first == nil {
						first = y
					} else if a, b := fmt.Sprint(y), fmt.Sprint(first); a != b {
						t.Errorf("n %d, size %d, inverse %v: %v has other bits than portable code", n, size, inverse, isa)
					}
				}
			}
		}
	}
}

// realTransform runs the transform of rows of real numbers, or with back that of halves to real numbers.
func realTransform(isa jit.ISA, size, n, rows int, back bool, x []float64) []float64 {
	t := Transform{ISA: isa, Size: size, N: n}
	f, count := t.RealRows, 2*(n/2+1)*rows
	if back {
		f, count = t.HalfRows, n*rows
	}
	if size == 8 {
		y := make([]float64, count)
		f(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), rows)
		return y
	}
	in, out := make([]float32, len(x)), make([]float32, count)
	for i := range x {
		in[i] = float32(x[i])
	}
	f(unsafe.Pointer(&out[0]), unsafe.Pointer(&in[0]), rows)
	y := make([]float64, count)
	for i := range y {
		y[i] = float64(out[i])
	}
	return y
}

// asComplex joins parts.
func asComplex(x []float64) []complex128 {
	z := make([]complex128, len(x)/2)
	for i := range z {
		z[i] = complex(x[2*i], x[2*i+1])
	}
	return z
}

// TestRealTransforms compares transforms of real rows with the definition.
func TestRealTransforms(t *testing.T) {
	for _, n := range lengths {
		const rows = 3
		z := noise(n * rows)
		x, wide := make([]float64, n*rows), make([]complex128, n*rows)
		for i := range z {
			x[i] = real(z[i])
			wide[i] = complex(x[i], 0)
		}
		var want []complex128
		var halves []float64
		for r := range rows {
			y := dft(wide[r*n:][:n], false)[:n/2+1]
			want = append(want, y...)
			for k, v := range y {
				if v = complex(float64(float32(real(v))), float64(float32(imag(v)))); k == 0 || 2*k == n {
					v = complex(real(v), 0)
				}
				y[k] = v
				halves = append(halves, real(v), imag(v))
			}
		}
		for _, size := range []int{4, 8} {
			bound := map[int]float64{4: 0x1p-24, 8: 0x1p-53}[size] * (4 + 4*math.Log2(float64(n)) + math.Sqrt(float64(n)))
			var first, firstBack string
			for _, isa := range jit.ISAs() {
				y := realTransform(isa, size, n, rows, false, x)
				if e := relative(asComplex(y), want); !(e <= bound) && size == 8 || !(e <= 0x1p-23+bound) {
					t.Errorf("n %d, size %d, %v: error %.3g, bound %.3g", n, size, isa, e, bound)
				}
				back := realTransform(isa, size, n, rows, true, halves)
				for i := range back {
					if !(math.Abs(back[i]/float64(n)-x[i]) <= 0x1p-20*math.Sqrt(1+math.Log2(float64(n)))) {
						t.Errorf("n %d, size %d, %v: element %d is %v after both transforms, not %v", n, size, isa, i, back[i]/float64(n), x[i])
						break
					}
				}
				if first == "" {
					first, firstBack = fmt.Sprint(y), fmt.Sprint(back)
				} else if first != fmt.Sprint(y) || firstBack != fmt.Sprint(back) {
					t.Errorf("n %d, size %d: %v has other bits than portable code", n, size, isa)
				}
			}
		}
	}
}

// TestColumnsHaveTheBitsOfRows transforms the columns of matrices, and the same numbers as rows.
func TestColumnsHaveTheBitsOfRows(t *testing.T) {
	for _, n := range []int{2, 5, 16, 100, 128, 130, 243, 256, 1000, 1024} {
		for _, cols := range []int{16, 17, 50, 300} {
			const count = 2
			x := noise(count * n * cols)
			turned := make([]complex128, len(x))
			for i := range x {
				m, j, c := i/(n*cols), i/cols%n, i%cols
				turned[(m*cols+c)*n+j] = x[i]
			}
			for _, isa := range jit.ISAs() {
				for _, inverse := range []bool{false, true} {
					f := Transform{ISA: isa, Size: 8, N: n, Inverse: inverse, Scale: 0.3}
					if !f.TakesColumns(cols) {
						t.Fatalf("n %d, %d columns are not taken", n, cols)
					}
					y, z := make([]complex128, len(x)), make([]complex128, len(x))
					f.Columns(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), count, cols)
					in := slices.Clone(x)
					f.Columns(unsafe.Pointer(&in[0]), unsafe.Pointer(&in[0]), count, cols)
					if !slices.Equal(in, y) {
						t.Fatalf("n %d, %d columns, %v: other bits in place", n, cols, isa)
					}
					f.Rows(unsafe.Pointer(&z[0]), unsafe.Pointer(&turned[0]), count*cols, 16*n, 16*n)
					for i := range y {
						if m, j, c := i/(n*cols), i/cols%n, i%cols; y[i] != z[(m*cols+c)*n+j] {
							t.Fatalf("n %d, %d columns, %v, inverse %v: number %d is %v, as a row %v", n, cols, isa, inverse, i, y[i], z[(m*cols+c)*n+j])
						}
					}
				}
			}
		}
	}
}

// TestLongTransforms compares lengths beyond the second-level cache with sums of single frequencies, and
// checks that machine code and one thread have the same bits.
func TestLongTransforms(t *testing.T) {
	for _, n := range []int{1 << 17, 3 * 5 * 7 * 11 * 13 * 9, 1 << 18, 250000} {
		x := noise(n)
		for _, inverse := range []bool{false, true} {
			var first []complex128
			for _, isa := range jit.ISAs() {
				if isa == jit.Portable && n != 1<<17 {
					continue
				}
				y := transformed(isa, 8, n, inverse, x)
				if first == nil {
					first = y
					frequencies(t, x, y, inverse)
				}
				for i := range y {
					if y[i] != first[i] {
						t.Fatalf("n %d, %v, inverse %v: number %d is %v, elsewhere %v", n, isa, inverse, i, y[i], first[i])
					}
				}
			}
		}
	}
}

// frequencies compares some elements of a transform with the definition.
func frequencies(t *testing.T, x, y []complex128, inverse bool) {
	n := len(x)
	w := roots(n)
	sign := 1.0
	if inverse {
		sign = -1
	}
	for _, k := range []int{0, 1, 63, n / 64, n/64 + 1, n / 2, n - 1, n * 2 / 7} {
		var sum complex128
		for j := range x {
			at := j * k % n
			sum += x[j] * complex(w[2*at], sign*w[2*at+1])
		}
		if e := cmplx.Abs(sum - y[k]); !(e < 1e-12*math.Sqrt(float64(n))) {
			t.Errorf("n %d, inverse %v: element %d is %v, want %v", n, inverse, k, y[k], sum)
		}
	}
}

// TestRealGroupsHaveTheBitsOfRows transforms rows of real numbers together and alone, both ways.
func TestRealGroupsHaveTheBitsOfRows(t *testing.T) {
	for _, n := range []int{2, 4, 6, 16, 66, 100, 256, 262, 512, 2000} {
		const rows = 37
		z := noise(n * rows)
		x := make([]float64, len(z))
		for i := range z {
			x[i] = real(z[i])
		}
		for _, size := range []int{4, 8} {
			for _, isa := range jit.ISAs() {
				y := realTransform(isa, size, n, rows, false, x)
				back := realTransform(isa, size, n, rows, true, y)
				h := 2 * (n/2 + 1)
				for r := range rows {
					if one := realTransform(isa, size, n, 1, false, x[r*n:][:n]); !slices.Equal(one, y[r*h:][:h]) {
						t.Fatalf("n %d, size %d, %v: row %d alone has other bits", n, size, isa, r)
					}
					if one := realTransform(isa, size, n, 1, true, y[r*h:][:h]); !slices.Equal(one, back[r*n:][:n]) {
						t.Fatalf("n %d, size %d, %v: row %d alone has other bits on the way back", n, size, isa, r)
					}
				}
			}
		}
	}
}

// TestBitsOnThreads transforms long rows, many rows and columns on 1, 2 and 8 threads.
func TestBitsOnThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	isa := jit.ISAs()[len(jit.ISAs())-1]
	for _, c := range []struct{ n, count int }{{1 << 18, 1}, {40000, 1}, {1000, 70}, {1009, 20}} {
		x := noise(c.n * c.count)
		f := Transform{ISA: isa, Size: 8, N: c.n}
		var rows, columns []complex128
		for _, threads := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(threads)
			y, z := make([]complex128, len(x)), make([]complex128, len(x))
			f.Rows(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), c.count, 16*c.n, 16*c.n)
			if f.TakesColumns(c.count) {
				f.Columns(unsafe.Pointer(&z[0]), unsafe.Pointer(&x[0]), 1, c.count)
			}
			if threads == 1 {
				rows, columns = y, z
			} else if !slices.Equal(y, rows) || !slices.Equal(z, columns) {
				t.Errorf("%d of %d: other bits on %d threads than on one", c.count, c.n, threads)
			}
		}
	}
}

// TestStepsAreOfTheirTransform alternates transforms of one length: steps that are kept must not serve another.
// Scales are powers of two, so that results differ by them exactly.
func TestStepsAreOfTheirTransform(t *testing.T) {
	const n, rows = 512, 3
	for _, isa := range jit.ISAs() {
		x := noise(n * rows)
		forward := transformed(isa, 8, n, false, x)
		inverse := transformed(isa, 8, n, true, x)
		for _, scale := range []float64{2, 0, 0.5, 0.5} {
			for _, back := range []bool{true, false} {
				y, want := make([]complex128, n*rows), forward
				if back {
					want = inverse
				}
				tr := Transform{ISA: isa, Size: 8, N: n, Inverse: back, Scale: scale}
				tr.Rows(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), rows, 16*n, 16*n)
				for i := range y {
					if z := want[i] * complex(max(scale, math.Pow(0, scale)), 0); y[i] != z {
						t.Fatalf("%v, scale %v, inverse %v: element %d is %v, want %v", isa, scale, back, i, y[i], z)
					}
				}
			}
		}
	}
}
