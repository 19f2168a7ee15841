//go:build amd64

package x86

import (
	"math"
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

func f32(x float32) uint64 { return uint64(math.Float32bits(x)) }

func axpby(t testing.TB) *loop.Program {
	b := loop.NewBuilder("axpby", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, y := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, false, loop.Unit)
	out := b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() {
		b.Store(out, b.Add(b.Mul(b.Float(loop.F32, 2), b.Load(x)), b.Mul(b.Float(loop.F32, 3), b.Load(y))))
	})
	return finish(t, b)
}

// TestRowLengths compares rows of every length around strips and epilogues with plain Go.
func TestRowLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := axpby(t)
	for n := range 200 {
		s := random(p, r, n).fill(func(int) uint64 { return f32(float32(r.NormFloat64())) })
		want := make([][]byte, 3)
		copy(want, s.data)
		want[2] = append([]byte(nil), s.data[2]...)
		for i := range n {
			x := math.Float32frombits(uint32(word(s.data[0][4*i:], 4)))
			y := math.Float32frombits(uint32(word(s.data[1][4*i:], 4)))
			z := f32(float32(2*x) + float32(3*y))
			for j := range 4 {
				want[2][4*i+j] = byte(z >> (8 * j))
			}
		}
		s.check(t, want)
	}
}

func f64(x float64) uint64 { return math.Float64bits(x) }
