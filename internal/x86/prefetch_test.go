//go:build amd64

package x86

import (
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
)

// TestPrefetch demands that a loop with much work for each load prefetches each line that it reads
// later once a trip, and that a loop with little work leaves that to the processor.
func TestPrefetch(t *testing.T) {
	const trips = 16
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		for _, d := range []array.DType{array.Float32, array.Float64} {
			for _, work := range []int{1, prefetchMinWork - 1, prefetchMinWork, prefetchMinWork + 4} {
				b := loop.NewBuilder("sums", []loop.Axis{{Kind: loop.Parallel}}, 0)
				x, out, step := b.Buf(d, false, loop.Unit), b.Buf(d, true, loop.Unit), b.ScalarArg(loop.I64)
				b.Pass(func() {
					first := b.Int(loop.I64, 0)
					sums := b.While([]loop.Value{first, b.LoadAt(x, first)}, func(v []loop.Value) loop.Value {
						return b.Lt(v[0], b.Int(loop.I64, trips))
					}, func(v []loop.Value) []loop.Value {
						s := b.Add(v[1], b.LoadAt(x, b.Mul(v[0], b.Scalar(step))))
						for range work - 1 {
							s = b.Mul(s, s)
						}
						return []loop.Value{b.Add(v[0], b.Int(loop.I64, 1)), s}
					})
					b.Store(out, sums[1])
				})
				text, err := Explain(finish(t, b), isa)
				if err != nil {
					t.Fatal(err)
				}
				// The main loop reads whole lines, which is also where all are asked for.
				if asked := strings.Count(text, "prefetcht0"); (asked > 0) != (work >= prefetchMinWork) || asked > 4 {
					t.Errorf("%s, %v, %d operations a trip: asks for %d lines:\n%s", isa, d, work, asked, text)
				}
			}
		}
	}
}
