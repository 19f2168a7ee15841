package fft

import (
	"fmt"
	"testing"
	"unsafe"

	"weft/internal/jit"
)

func BenchmarkTransform(b *testing.B) {
	isas := jit.ISAs()
	for _, c := range []struct{ n, rows int }{{16, 1000}, {64, 1}, {1 << 10, 1}, {1 << 12, 1}, {1 << 16, 1}, {1 << 20, 1}, {1 << 22, 1}, {1000, 1000}, {1000, 1}, {1000, 64}, {1009, 1}, {100003, 1}} {
		for _, size := range []int{4, 8} {
			b.Run(fmt.Sprintf("%dx%d/%d", c.rows, c.n, 16*size), func(b *testing.B) {
				item := 2 * size
				x, y := signal(size, c.n*c.rows), make([]byte, c.n*c.rows*item)
				t := Transform{ISA: isas[len(isas)-1], Size: size, N: c.n}
				t.Rows(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), c.rows, c.n*item, c.n*item)
				for b.Loop() {
					t.Rows(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), c.rows, c.n*item, c.n*item)
				}
			})
		}
	}
}

func BenchmarkColumns(b *testing.B) {
	isas := jit.ISAs()
	for _, size := range []int{4, 8} {
		for _, cols := range []int{32, 64, 1000} {
			b.Run(fmt.Sprintf("1000x%d/%d", cols, 16*size), func(b *testing.B) {
				const n = 1000
				x, y := signal(size, n*cols), make([]byte, n*cols*2*size)
				t := Transform{ISA: isas[len(isas)-1], Size: size, N: n}
				t.Columns(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), 1, cols)
				for b.Loop() {
					t.Columns(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), 1, cols)
				}
			})
		}
	}
}

// signal is memory of complex numbers. Zeros would hide what denormal numbers cost.
func signal(size, n int) []byte {
	x := make([]byte, 2*size*n)
	for i, z := range noise(n) {
		if size == 4 {
			*(*complex64)(unsafe.Pointer(&x[8*i])) = complex64(z)
		} else {
			*(*complex128)(unsafe.Pointer(&x[16*i])) = z
		}
	}
	return x
}
