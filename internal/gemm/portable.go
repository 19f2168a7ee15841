package gemm

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/interp"
	"weft/internal/par"
)

// element is the type of an operand's elements.
type element interface{ float32 | float64 }

// fma returns x*y+z rounded once.
func fma[E element](x, y, z E) E {
	if v, ok := any(x).(float32); ok {
		return E(interp.Fma32(v, float32(y), float32(z)))
	}
	return E(math.FMA(float64(x), float64(y), float64(z)))
}

// chain32 adds x*b to every element of acc, each rounded once.
func chain32(acc []float32, x float32, b unsafe.Pointer, stride int) {
	for j := range acc {
		y := *(*float32)(unsafe.Add(b, j*stride*4))
		s := float64(x)*float64(y) + float64(acc[j])
		if interp.HardFma32(s) {
			acc[j] = interp.Fma32(x, y, acc[j])
		} else {
			acc[j] = float32(s)
		}
	}
}

func chain64(acc []float64, x float64, b unsafe.Pointer, stride int) {
	for j := range acc {
		acc[j] = math.FMA(x, *(*float64)(unsafe.Add(b, j*stride*8)), acc[j])
	}
}

// portableTile is how many columns portable works on at a time: their sums and a
// block of B's rows stay in the caches.
const portableTile = 256

// portable computes columns n0 to n1-1 of rows m0 to m1-1 of a product in Go.
func portable[E element](m0, m1, n0, n1, k int, a, b, c Mat, e *Epilogue) {
	size := int(unsafe.Sizeof(E(0)))
	load := func(p unsafe.Pointer, i int) *E { return (*E)(unsafe.Add(p, i*size)) }
	var block, sum [portableTile]E
	for i := m0; i < m1; i++ {
		for j0 := n0; j0 < n1; j0 += portableTile {
			w := min(portableTile, n1-j0)
			for p0 := 0; p0 < k || p0 == 0; p0 += kBlock {
				acc := block[:w]
				clear(acc)
				for p := p0; p < min(p0+kBlock, k); p++ {
					x := *load(a.Ptr, i*a.Row+p*a.Col)
					bp := unsafe.Add(b.Ptr, (p*b.Row+j0*b.Col)*size)
					switch acc := any(acc).(type) {
					case []float32:
						chain32(acc, float32(x), bp, b.Col)
					case []float64:
						chain64(acc, float64(x), bp, b.Col)
					}
				}
				switch {
				case p0 > 0:
					for j, v := range acc {
						sum[j] += v
					}
				case e.Accumulate:
					for j, v := range acc {
						sum[j] = *load(c.Ptr, i*c.Row+(j0+j)*c.Col) + v
					}
				default:
					copy(sum[:w], acc)
				}
			}
			for j, v := range sum[:w] {
				if e.Bias != nil {
					at := j0 + j
					if e.BiasPerRow {
						at = i
					}
					v += *load(e.Bias, at*e.BiasStride)
				}
				if e.Act == Relu && v <= 0 {
					v = 0
				}
				*load(c.Ptr, i*c.Row+(j0+j)*c.Col) = v
			}
		}
	}
}

// portableGrain is about how many multiply-adds one chunk of a threaded portable
// product has: some 50 µs.
const portableGrain = 16 << 10

func runPortable(d array.DType, t *Batch, total, m, n, k int, a, b, c Mat, e *Epilogue, threads int) {
	rows := total * m
	grain := max(1, portableGrain/(n*max(k, 1)))
	if rows*n*max(k, 1) < 4*portableGrain {
		threads = 1
	}
	par.Run(rows, grain, threads, func(_, begin, end int) {
		for begin < end {
			i := begin / m
			m0 := begin % m
			m1 := min(m, m0+end-begin)
			a, b, c, e := t.at(i, d.Size(), a, b, c, *e)
			if d == array.Float32 {
				portable[float32](m0, m1, 0, n, k, a, b, c, &e)
			} else {
				portable[float64](m0, m1, 0, n, k, a, b, c, &e)
			}
			begin += m1 - m0
		}
	})
}
