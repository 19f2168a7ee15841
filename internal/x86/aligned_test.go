//go:build amd64

package x86

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// TestAlignedRows has rows that begin anywhere and are written by aligned vectors. They must equal
// what plain Go computes, and nothing around them may change.
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
					for i, run := range []loopgen.Runner{compiled(isa), compiledBy(CompileStreaming, isa)} {
						got, err := loopgen.Run(c, loopgen.Edge(first%2 == 0), run)
						if err != nil {
							t.Fatal(err)
						}
						if string(got.Memory(3)) != string(want) {
							t.Fatalf("%s %s, rows of %d from element %d on differ, non-temporal: %t", isa, d, n, first, i == 1)
						}
					}
				}
			}
		}
	}
}

// TestStreamedRowsReadInSteps demands that strided reads go on where the first, short step of a row
// ended.
func TestStreamedRowsReadInSteps(t *testing.T) {
	const rows, by = 2, 4
	for _, step := range []loop.Step{loop.By2, loop.By4, loop.Any, loop.Back2} {
		for _, n := range []int{3, 64, 130, 300} {
			for first := range 17 {
				apart := step.Elements()
				if step == loop.Any {
					apart = 3
				}
				b := loop.NewBuilder("streamed in steps", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
				whole := first + rows*(n+1)
				read := loopgen.Memory{DType: array.Float32, Data: make([]byte, by*whole*4)}
				for i := range by * whole {
					binary.LittleEndian.PutUint32(read.Data[4*i:], math.Float32bits(float32(i)))
				}
				at := 0
				if apart < 0 {
					at = -apart * (n - 1)
				}
				c := &loopgen.Case{Extents: []int{rows, n}, Starts: []int{0, 0}, Fuel: 1 << 30,
					Memory: []loopgen.Memory{read, {DType: array.Float32, Data: make([]byte, whole*4), Write: true}},
					Buffers: []loopgen.Buffer{
						{Memory: 0, Offset: 4 * at, Strides: []int{4 * by * (n + 1), 4 * apart}},
						{Memory: 1, Offset: 4 * first, Strides: []int{4 * (n + 1), 4}}}}
				b.Buf(array.Float32, false, loop.Any, step)
				b.Buf(array.Float32, true, loop.Any, loop.Unit)
				b.Pass(func() { b.Store(1, b.Load(0)) })
				c.Program = finish(t, b)
				want := make([]byte, whole*4)
				for row := range rows {
					for i := range n {
						from := at + row*by*(n+1) + i*apart
						binary.LittleEndian.PutUint32(want[4*(first+row*(n+1)+i):], math.Float32bits(float32(from)))
					}
				}
				for _, isa := range isas(t) {
					got, err := loopgen.Run(c, loopgen.Edge(false), compiledBy(CompileStreaming, isa))
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got.Memory(1), want) {
						t.Fatalf("%s, %d elements apart, rows of %d from element %d on differ", isa, apart, n, first)
					}
				}
			}
		}
	}
}

// TestStreamedRows has results of several widths, all with non-temporal stores where the narrowest
// is aligned. Rows have any length and begin anywhere, also where a thread begins within a row.
// Nothing around them may change.
func TestStreamedRows(t *testing.T) {
	const rows = 2
	for _, types := range [][]array.DType{
		{array.Uint8}, {array.Int16}, {array.Bool}, {array.BFloat16}, {array.Float32, array.Float32}, {array.Float64, array.Int64},
		{array.Uint8, array.Float32}, {array.Float64, array.Int32, array.Int16}, {array.Float64, array.Uint8},
	} {
		b := loop.NewBuilder(fmt.Sprint("streamed ", types), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
		for _, write := range []bool{false, true} { // what is read and, behind all of it, what is written
			for _, d := range types {
				b.Buf(d, write, loop.Any, loop.Unit)
			}
		}
		b.Pass(func() {
			for i := range types {
				b.Store(len(types)+i, b.Load(i))
			}
		})
		p := finish(t, b)
		runs := map[jit.ISA]loopgen.Runner{}
		for _, isa := range isas(t) {
			runs[isa] = compiledBy(CompileStreaming, isa)
		}
		for _, n := range []int{0, 3, 17, 63, 64, 65, 127, 130, 300} {
			for first := 0; first < 66; first += 1 + first%3 {
				behind := 1 + (first+n)%9
				c := &loopgen.Case{Program: p, Seed: uint64(first), Extents: []int{rows, n}, Starts: []int{0, 0}, Fuel: 1 << 30}
				whole := first + rows*(n+behind)
				add := func(d array.DType, write bool) {
					m := loopgen.Memory{DType: d, Data: make([]byte, whole*d.Size()), Write: write}
					for i := range m.Data {
						if m.Data[i] = byte(0xA5 ^ i*int(d)); d == array.Bool {
							m.Data[i] &= 1
						} else if !write && i%d.Size() == d.Size()-1 {
							m.Data[i] = 0x40
						}
					}
					c.Buffers = append(c.Buffers, loopgen.Buffer{Memory: len(c.Memory), Offset: first * d.Size(), Strides: []int{(n + behind) * d.Size(), d.Size()}})
					c.Memory = append(c.Memory, m)
				}
				for _, d := range types {
					add(d, false)
				}
				for _, d := range types {
					add(d, true)
				}
				var want [][]byte
				for i, d := range types {
					all := bytes.Clone(c.Memory[len(types)+i].Data)
					for row := range rows {
						at := (first + row*(n+behind)) * d.Size()
						copy(all[at:at+n*d.Size()], c.Memory[i].Data[at:])
					}
					want = append(want, all)
				}
				for isa, run := range runs {
					for cut := 0; cut <= n; cut += 1 + n/3 {
						got, err := loopgen.RunChunks(c, loopgen.Edge(false), run, 1, cut)
						if err != nil {
							t.Fatalf("%s %v, rows of %d from element %d on: %v", isa, types, n, first, err)
						}
						for i := range types {
							if !bytes.Equal(got.Memory(len(types)+i), want[i]) {
								t.Fatalf("%s %v, rows of %d from element %d on, cut at %d: result %d differs", isa, types, n, first, cut, i)
							}
						}
					}
				}
			}
		}
	}
}
