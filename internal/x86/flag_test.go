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

// TestFlags compares loops that end by a flag with the same loops in Go. Lanes leave at different
// times, together by a count, or not at all. Their values are selected where lanes leave, swap, or
// are the next flag.
func TestFlags(t *testing.T) {
	build := func(early bool) *loop.Program {
		b := loop.NewBuilder("flags", []loop.Axis{{Kind: loop.Parallel}}, 0)
		limit := b.ScalarArg(loop.I32)
		in, out, at := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit), b.Buf(array.Int32, true, loop.Unit)
		b.Pass(func() {
			x, n := b.Load(in), b.Scalar(limit)
			zero := b.Int(loop.I32, 0)
			done := b.Lt(x, b.Float(loop.F32, 0)) // some lanes never begin
			v := b.While([]loop.Value{done, x, zero, zero, done, x, b.Int(loop.I32, 7)}, func(v []loop.Value) loop.Value {
				return b.And(b.Not(v[0]), b.Lt(v[2], n))
			}, func(v []loop.Value) []loop.Value {
				y := b.Mul(v[1], b.Float(loop.F32, 1.5))
				over := b.Lt(b.Float(loop.F32, 50), y)
				next := over
				if early {
					next = v[4] // what the trip before found
				}
				return []loop.Value{next, y, b.Add(v[2], b.Int(loop.I32, 1)), b.Select(over, v[2], v[3]), over, b.Select(over, v[5], y), b.Select(over, v[3], v[6])}
			})
			left := b.Select(v[0], b.Float(loop.F32, 1), b.Float(loop.F32, 2))
			b.Store(out, b.Add(b.Add(v[1], v[5]), left))
			b.Store(at, b.Add(v[3], b.Mul(v[6], b.Int(loop.I32, 100))))
		})
		return finish(t, b)
	}
	plain := func(x float32, n int32, early bool) (float32, int32) {
		done, y, k, r, over, w, s := x < 0, x, int32(0), int32(0), x < 0, x, int32(7)
		for !done && k < n {
			next := float32(y * 1.5)
			was := over
			over = next > 50
			if over {
				r, s = k, r
			} else {
				w = next
			}
			done, y, k = over, next, k+1
			if early {
				done = was
			}
		}
		left := float32(2)
		if done {
			left = 1
		}
		return y + w + left, r + 100*s
	}
	for _, early := range []bool{false, true} {
		p := build(early)
		for _, isa := range isas(t) {
			for _, lanes := range []int{1, 7, 8, 9, 16, 31, 100} {
				for _, limit := range []int32{0, 1, 5, 40} {
					for _, fuel := range []uint64{1, 3, plenty} {
						data := make([]byte, 4*lanes)
						value := func(i int) float32 { return float32(i*i%23)/4 - 1 }
						for i := range lanes {
							binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(value(i)))
						}
						c := &loopgen.Case{
							Program: p, Extents: []int{lanes}, Starts: []int{0}, Fuel: fuel, Scalars: []uint64{uint64(limit)},
							Buffers: []loopgen.Buffer{{Memory: 0, Strides: []int{4}}, {Memory: 1, Strides: []int{4}}, {Memory: 2, Strides: []int{4}}},
							Memory: []loopgen.Memory{{DType: array.Float32, Data: data},
								{DType: array.Float32, Write: true, Data: make([]byte, 4*lanes)}, {DType: array.Int32, Write: true, Data: make([]byte, 4*lanes)}},
						}
						for name, run := range map[string]loopgen.Runner{"interp": interpreted, isa.String(): compiled(isa)} {
							got, err := loopgen.Run(c, loopgen.Edge(false), run)
							if err != nil {
								t.Fatalf("%s, %d lanes: %v", name, lanes, err)
							}
							for i := range lanes {
								x, k := math.Float32frombits(binary.LittleEndian.Uint32(got.Memory(1)[4*i:])), int32(binary.LittleEndian.Uint32(got.Memory(2)[4*i:]))
								if w, r := plain(value(i), limit, early); x != w || k != r {
									t.Fatalf("%s, %d lanes, limit %d, fuel %d, early %v: lane %d has %v and %d, want %v and %d\n%s", name, lanes, limit, fuel, early, i, x, k, w, r, p)
								}
							}
						}
					}
				}
			}
		}
	}
	// Neither the flag nor what else is asked needs a register a lane.
	text, err := Explain(build(false), jit.AVX2)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "vpandn ymm") || strings.Contains(text, "vpblendvb") {
		t.Errorf("the flag is carried\n%s", text)
	}
}
