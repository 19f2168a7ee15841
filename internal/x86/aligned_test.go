//go:build amd64

package x86

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// Rows that begin anywhere, and are written by whole vectors that lie where vectors do, hold
// what plain Go computes, and nothing around them is touched.
func TestAlignedRows(t *testing.T) {
	const rows, behind = 3, 5 // elements of others behind a row
	for _, d := range []array.DType{array.Float32, array.Float64} {
		size := d.Size()
		put := func(p []byte, i int, x float64) {
			if size == 4 {
				binary.LittleEndian.PutUint32(p[4*i:], math.Float32bits(float32(x)))
			} else {
				binary.LittleEndian.PutUint64(p[8*i:], math.Float64bits(x))
			}
		}
		for _, n := range []int{0, 1, 40, 127, 128, 129, 255, 256, 257, 300, 511, 600} {
			for first := range 17 {
				b := loop.NewBuilder(fmt.Sprintf("aligned %s", d), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
				c := &loopgen.Case{Seed: uint64(first), Extents: []int{rows, n}, Starts: []int{0, 0}, Fuel: 1 << 30}
				whole := first + rows*(n+behind)
				want := make([]byte, whole*size)
				for m := range 4 {
					mem := loopgen.Memory{DType: d, Data: make([]byte, whole*size), Write: m == 3}
					for i := range whole {
						put(mem.Data, i, float64(i*(m+1)))
						if m == 3 {
							put(want, i, float64(i*(m+1)))
						}
					}
					b.Buf(d, m == 3, loop.Any, loop.Unit)
					c.Memory = append(c.Memory, mem)
					c.Buffers = append(c.Buffers, loopgen.Buffer{Memory: m, Offset: first * size, Strides: []int{(n + behind) * size, size}})
				}
				for row := range rows {
					for i := range n {
						at := first + row*(n+behind) + i
						put(want, at, float64(6*at))
					}
				}
				b.Pass(func() { b.Store(3, b.Add(b.Add(b.Load(0), b.Load(1)), b.Load(2))) })
				c.Program = finish(t, b)
				for _, isa := range isas(t) {
					got, err := loopgen.Run(c, loopgen.Edge(first%2 == 0), compiled(isa))
					if err != nil {
						t.Fatal(err)
					}
					if string(got.Memory(3)) != string(want) {
						t.Fatalf("%s %s, rows of %d from element %d on differ", isa, d, n, first)
					}
				}
			}
		}
	}
}
