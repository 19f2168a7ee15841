//go:build amd64

package x86

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

const live = 24

// long makes a program whose epilogue repeats its main loop: rows, a rare
// branch, a buffer that is read and written, and a result of another type.
func long(t *testing.T, from, to array.DType) *loop.Program {
	b := loop.NewBuilder("long", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
	x := b.Buf(from, false, loop.Any, loop.Unit)
	row := b.Buf(from, false, loop.Any, loop.Zero)
	both := b.Buf(from, true, loop.Any, loop.Unit)
	out := b.Buf(to, true, loop.Any, loop.Unit)
	ty := loop.TypeOf(from)
	b.Pass(func() {
		v, w := b.Load(x), b.Load(both)
		terms := make([]loop.Value, live) // too many for two interleaved vectors
		for i := range terms {
			terms[i] = b.Sub(v, b.Number(ty, float64(i%3)))
			v = b.Sub(b.Number(ty, 1), v)
			terms[i] = b.Add(terms[i], v)
		}
		for _, x := range terms {
			v = b.Add(b.Mul(x, w), v)
		}
		v = b.If(b.Lt(v, b.Number(ty, 0)), func() []loop.Value {
			return []loop.Value{b.Sqrt(b.Abs(b.Add(v, b.Load(row))))}
		}, func() []loop.Value { return []loop.Value{v} })[0]
		b.Store(both, v)
		b.Store(out, b.Cvt(loop.TypeOf(to), v))
	})
	return finish(t, b)
}

// TestLongCodeIsNotCopied demands that long code has no second copy for the epilogue, and that it
// is right for every length and between guard pages.
func TestLongCodeIsNotCopied(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range [][2]array.DType{
		{array.Float32, array.Float32}, {array.Float64, array.Float64}, {array.Float64, array.Int64},
		{array.Float32, array.Float64}, {array.Float64, array.Float32},
	} {
		p := long(t, c[0], c[1])
		for _, isa := range isas(t) {
			s, err := Explain(p, isa)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(s, "vmulp"); c[0] == c[1] && n != live {
				t.Errorf("%s, %v: %d products, want one copy of %d", isa, c, n, live)
			}
		}
		for n := range 140 {
			random(p, r, 3, n).fill(func(b int) uint64 {
				x := r.NormFloat64()
				if c[0] == array.Float64 {
					return math.Float64bits(x)
				}
				return f32(float32(x))
			}).check(t, nil)
		}
	}
}
