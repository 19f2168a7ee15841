package resample

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/fma"
	"weft/internal/jit"
)

type number interface{ uint8 | float32 }

// sums makes rows that are weighted sums of adjacent rows.
type sums[T number] struct {
	isa    jit.ISA
	band   *Band
	first  []int // the first row of each sum
	floats []float32
	whole  []int16 // pairs: an odd number of taps has a 0 behind the last one
	bits   int
}

// newSums prepares the sums of a band. Row 0 of the source is row from of the band's.
func newSums[T number](isa jit.ISA, b *Band, from int) *sums[T] {
	s := &sums[T]{isa: isa, band: b, first: make([]int, len(b.First))}
	for i, at := range b.First {
		s.first[i] = at - from
	}
	if unsafe.Sizeof(T(0)) > 1 {
		s.floats = b.Floats()
		return s
	}
	s.whole, s.bits = b.Whole()
	if k := b.Taps; k%2 == 1 {
		padded := make([]int16, len(b.First)*(k+1))
		for i := range b.First {
			copy(padded[i*(k+1):], s.whole[i*k:(i+1)*k])
		}
		s.whole = padded
	}
	return s
}

// run writes the sums of rows of src into dst. Both are [rows, columns] with adjacent columns.
func (s *sums[T]) run(dst, src *array.View) {
	columns, size := dst.Shape[1], int(unsafe.Sizeof(T(0)))
	k := key{isa: s.isa, whole: size == 1}
	if s.isa == jit.Portable || columns*size < k.vector() {
		s.portable(dst, src)
		return
	}
	vectors := columns * size / k.vector()
	f := frame{src: src.Ptr(), dst: dst.Ptr(), first: unsafe.Pointer(&s.first[0]),
		srcStep: src.Strides[0] * size, dstStep: dst.Strides[0] * size, rows: len(s.first),
		taps: s.band.Taps, pairs: s.band.Taps / 2, odd: s.band.Taps % 2, blocks: vectors / 4, vectors: vectors % 4}
	if rest := columns * size % k.vector(); rest > 0 {
		f.back = k.vector() - rest
	}
	if k.whole {
		k.isa = jit.AVX2 // the same code for both
		f.weights, f.half, f.bits = unsafe.Pointer(&s.whole[0]), 1<<s.bits>>1, int32(s.bits)
	} else {
		f.weights = unsafe.Pointer(&s.floats[0])
	}
	jit.Call(codegen.Kernel(codes, k), 0, unsafe.Pointer(&f))
}

// portable is run in Go.
func (s *sums[T]) portable(dst, src *array.View) {
	columns, taps := dst.Shape[1], s.band.Taps
	from := unsafe.Slice((*T)(src.Ptr()), (src.Shape[0]-1)*src.Strides[0]+columns)
	to := unsafe.Slice((*T)(dst.Ptr()), (len(s.first)-1)*dst.Strides[0]+columns)
	for i, first := range s.first {
		for j := range columns {
			column := from[first*src.Strides[0]+j:]
			if s.floats == nil {
				padded := taps + taps%2
				to[i*dst.Strides[0]+j] = T(wholeSum(column, src.Strides[0], s.whole[i*padded:][:taps], s.bits))
			} else {
				to[i*dst.Strides[0]+j] = T(floatSum(column, src.Strides[0], s.floats[i*taps:(i+1)*taps]))
			}
		}
	}
}

func floatSum[T number](x []T, step int, weights []float32) float32 {
	sum := float32(0)
	for t, w := range weights {
		sum = fma.Float32(w, float32(x[t*step]), sum)
	}
	return sum
}

func wholeSum[T number](x []T, step int, weights []int16, bits int) int32 {
	sum := int32(1) << bits >> 1
	for t, w := range weights {
		sum += int32(w) * int32(x[t*step])
	}
	return min(max(sum>>bits, 0), 255)
}
