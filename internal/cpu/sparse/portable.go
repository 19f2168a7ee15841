package sparse

import (
	"math"
	"unsafe"

	"weft/internal/fma"
)

type index interface{ int32 | int64 }

type number interface {
	float32 | float64 | complex64 | complex128
}

// MultiplyAdd is a*b + c by fused multiply-adds, real parts first.
func MultiplyAdd[T number](a, b, c T) T {
	switch a := any(a).(type) {
	case float32:
		b, c := any(b).(float32), any(c).(float32)
		return any(madd32(a, b, c)).(T)
	case float64:
		return any(math.FMA(a, any(b).(float64), any(c).(float64))).(T)
	case complex64:
		b, c := any(b).(complex64), any(c).(complex64)
		return any(maddComplex64(a, b, c)).(T)
	case complex128:
		b, c := any(b).(complex128), any(c).(complex128)
		return any(maddComplex(a, b, c)).(T)
	}
	panic("sparse: no such element type")
}

func maddComplex64(a, b, c complex64) complex64 {
	re := madd32(-imag(a), imag(b), madd32(real(a), real(b), real(c)))
	im := madd32(imag(a), real(b), madd32(real(a), imag(b), imag(c)))
	return complex(re, im)
}

func maddComplex(a, b, c complex128) complex128 {
	re := math.FMA(-imag(a), imag(b), math.FMA(real(a), real(b), real(c)))
	im := math.FMA(imag(a), real(b), math.FMA(real(a), imag(b), imag(c)))
	return complex(re, im)
}

func madd32(a, b, c float32) float32 {
	s := float64(a)*float64(b) + float64(c)
	r := float32(s)
	if fma.Hard32(s) {
		r = fma.Float32(a, b, c)
	}
	return r
}

// partials are the partial sums of a product of vectors, 64 bytes of them.
type partials[T number] [16]T

// lanes returns the number of partial sums.
func lanes[T number]() int {
	var x T
	return 64 / int(unsafe.Sizeof(x))
}

// sum adds halves of the partial sums until one is left.
func (s *partials[T]) sum(n int) T {
	for n /= 2; n > 0; n /= 2 {
		for j := range n {
			s[j] += s[j+n]
		}
	}
	return s[0]
}

// entries are a sparse matrix of compressed rows, and dense rows of some width.
type entries[T number, I index] struct {
	values  []T
	indices []I
	off     []int64
	x, y    []T
	width   int // elements of a dense row
	bound   int // indices are less
}

// vector multiplies rows lo to hi-1 with a vector. It returns false at an index out of range.
func (p *entries[T, I]) vector(lo, hi int) bool {
	n := lanes[T]()
	for i := lo; i < hi; i++ {
		var s partials[T]
		first, end := p.off[i], p.off[i+1]
		for k := first; k < end; k++ {
			at := uint64(p.indices[k])
			if at >= uint64(p.bound) {
				return false
			}
			j := int(k-first) & (n - 1)
			s[j] = MultiplyAdd(p.values[k], p.x[at], s[j])
		}
		p.y[i] = s.sum(n)
	}
	return true
}

// rows multiplies rows lo to hi-1 with n columns of dense rows.
func (p *entries[T, I]) rows(lo, hi, column, n int) bool {
	w := p.width
	for i := lo; i < hi; i++ {
		y := p.y[i*w+column:][:n]
		clear(y)
		for k := p.off[i]; k < p.off[i+1]; k++ {
			at := uint64(p.indices[k])
			if at >= uint64(p.bound) {
				return false
			}
			axpy(y, p.values[k], p.x[int(at)*w+column:])
		}
	}
	return true
}

// axpy adds a*x to y, element by element as [MultiplyAdd] does, whose choice of the type it makes once.
func axpy[T number](y []T, a T, x []T) {
	x = x[:len(y)]
	switch y := any(y).(type) {
	case []float32:
		a, x := any(a).(float32), any(x).([]float32)
		for j := range y {
			y[j] = madd32(a, x[j], y[j])
		}
	case []float64:
		a, x := any(a).(float64), any(x).([]float64)
		for j := range y {
			y[j] = math.FMA(a, x[j], y[j])
		}
	case []complex64:
		a, x := any(a).(complex64), any(x).([]complex64)
		for j := range y {
			y[j] = maddComplex64(a, x[j], y[j])
		}
	case []complex128:
		a, x := any(a).(complex128), any(x).([]complex128)
		for j := range y {
			y[j] = maddComplex(a, x[j], y[j])
		}
	}
}

// addProducts adds products of elements of x and y to partial sums.
func addProducts[T number](s *partials[T], x, y []T) {
	y = y[:len(x)]
	switch s := any(s).(type) {
	case *partials[float32]:
		y := any(y).([]float32)
		for j, x := range any(x).([]float32) {
			s[j&15] = madd32(x, y[j], s[j&15])
		}
	case *partials[float64]:
		y := any(y).([]float64)
		for j, x := range any(x).([]float64) {
			s[j&7] = math.FMA(x, y[j], s[j&7])
		}
	case *partials[complex64]:
		y := any(y).([]complex64)
		for j, x := range any(x).([]complex64) {
			s[j&7] = maddComplex64(x, y[j], s[j&7])
		}
	case *partials[complex128]:
		y := any(y).([]complex128)
		for j, x := range any(x).([]complex128) {
			s[j&3] = maddComplex(x, y[j], s[j&3])
		}
	}
}

// transposed adds products of the transposed rows lo to hi-1 with n columns of dense rows to y.
func (p *entries[T, I]) transposed(lo, hi, column, n int) bool {
	w := p.width
	for i := lo; i < hi; i++ {
		x := p.x[i*w+column:][:n]
		for k := p.off[i]; k < p.off[i+1]; k++ {
			at := uint64(p.indices[k])
			if at >= uint64(p.bound) {
				return false
			}
			axpy(p.y[int(at)*w+column:][:n], p.values[k], x)
		}
	}
	return true
}

// sampled computes elements of x*y^T, which are stored as values, for rows lo to hi-1.
func (p *entries[T, I]) sampled(lo, hi int) bool {
	w, n := p.width, lanes[T]()
	for i := lo; i < hi; i++ {
		x := p.x[i*w : (i+1)*w]
		for k := p.off[i]; k < p.off[i+1]; k++ {
			at := uint64(p.indices[k])
			if at >= uint64(p.bound) {
				return false
			}
			y := p.y[int(at)*w:][:w]
			var s partials[T]
			addProducts(&s, x, y)
			p.values[k] = s.sum(n)
		}
	}
	return true
}
