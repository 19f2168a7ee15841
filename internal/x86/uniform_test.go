//go:build amd64

package x86

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// window sums n neighbours, n being a scalar or, with row, what a loop outside the pass
// makes of it: the number of its bits. Where an element is negative, the sum is of half as
// many in a loop that some lanes leave first, and the number of those is stored.
func window(t testing.TB, row bool) *loop.Program {
	b := loop.NewBuilder("window", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, out, count := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit), b.Buf(array.Int64, true, loop.Unit)
	zero, one := b.Int(loop.I64, 0), b.Int(loop.I64, 1)
	n := b.Scalar(b.ScalarArg(loop.I64))
	if row {
		n = b.While([]loop.Value{n, zero}, func(v []loop.Value) loop.Value { return b.Ne(v[0], zero) }, func(v []loop.Value) []loop.Value {
			return []loop.Value{b.ShrU(v[0], one), b.Add(v[1], one)}
		})[1]
		n = b.If(b.Lt(b.Int(loop.I64, 6), n), func() []loop.Value { return []loop.Value{b.Int(loop.I64, 6)} }, func() []loop.Value { return []loop.Value{n} })[0]
	}
	b.Pass(func() {
		step := func(v []loop.Value) []loop.Value {
			return []loop.Value{b.Add(v[0], one), b.Add(v[1], b.LoadAt(x, v[0]))}
		}
		init := []loop.Value{zero, b.Float(loop.F32, 0)}
		sum := b.While(init, func(v []loop.Value) loop.Value { return b.Lt(v[0], n) }, step)
		if !row {
			b.Store(out, sum[1])
			return
		}
		negative := b.Lt(b.Load(x), b.Float(loop.F32, 0))
		half := b.Select(negative, b.Quo(n, b.Int(loop.I64, 2)), n)
		less := b.While(init, func(v []loop.Value) loop.Value { return b.Lt(v[0], half) }, step)
		b.Store(out, b.Sub(sum[1], less[1]))
		b.Store(count, less[0])
	})
	return finish(t, b)
}

// TestUniformLoops compares loops over neighbours with plain Go, with little fuel and much. It
// demands that their elements are loaded as vectors, and that there are no masks where all lanes
// go the same way.
func TestUniformLoops(t *testing.T) {
	for _, row := range []bool{false, true} {
		p := window(t, row)
		for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
			text, err := Explain(p, isa)
			if err != nil {
				t.Fatal(err)
			}
			if text = strings.ToLower(text); strings.Contains(text, "gather") || !row && strings.Contains(text, "blend") {
				t.Errorf("%s: lanes are gathered or chosen\n%s", isa, text)
			}
		}
		for _, isa := range isas(t) {
			for _, lanes := range []int{1, 7, 8, 31, 32, 100} {
				for n := range 7 {
					for _, fuel := range []uint64{1, 3, plenty} {
						bits, terms := uint64(n), n
						if row {
							bits = 1<<n>>1 | 1
							terms = min(max(n, 1), 6)
						}
						const behind = 6
						data := make([]byte, 4*(lanes+behind-1))
						value := func(i int) float32 { return float32(i*i%23) - 9 }
						for i := range lanes + behind - 1 {
							binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(value(i)))
						}
						c := &loopgen.Case{
							Program: p, Extents: []int{lanes}, Starts: []int{0}, Fuel: fuel, Scalars: []uint64{bits},
							Buffers: []loopgen.Buffer{{Memory: 0, Strides: []int{4}}, {Memory: 1, Strides: []int{4}}, {Memory: 2, Strides: []int{8}}},
							Memory: []loopgen.Memory{{DType: array.Float32, Data: data},
								{DType: array.Float32, Write: true, Data: make([]byte, 4*lanes)}, {DType: array.Int64, Write: true, Data: make([]byte, 8*lanes)}},
						}
						for name, run := range map[string]loopgen.Runner{"interp": interpreted, isa.String(): compiled(isa)} {
							got, err := loopgen.Run(c, loopgen.Edge(false), run)
							if err != nil {
								t.Fatalf("%s, %d lanes, %d terms: %v", name, lanes, terms, err)
							}
							for i := range lanes {
								half := terms
								if value(i) < 0 {
									half /= 2
								}
								var sum, less float32
								for j := range terms {
									sum += value(i + j)
									if j < half {
										less += value(i + j)
									}
								}
								if row {
									sum -= less
								} else {
									half = 0
								}
								x, k := math.Float32frombits(binary.LittleEndian.Uint32(got.Memory(1)[4*i:])), binary.LittleEndian.Uint64(got.Memory(2)[8*i:])
								if x != sum || k != uint64(half) {
									t.Fatalf("%s, %d lanes, %d terms, fuel %d: lane %d has %v and %d, want %v and %d\n%s", name, lanes, terms, fuel, i, x, k, sum, half, p)
								}
							}
						}
					}
				}
			}
		}
	}
}
