package interp

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"weft/internal/fma"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// hard draws operands whose exact result is next to the middle between two
// float32, too near for float64 to tell, or near overflow or subnormal.
func hard(r *rand.Rand) (a, b, c float32) {
	bits := func(exp int) float32 {
		return math.Float32frombits(r.Uint32()&(1<<31|1<<23-1) | uint32(exp)<<23)
	}
	switch r.IntN(7) {
	case 0:
		// The product is nearly a power of two, half a unit of c.
		for {
			x := 1<<23 + r.IntN(1<<23)
			y := (1<<46 + x/2) / x
			if d := x*y - 1<<46; d > -1<<18 && d < 1<<18 {
				e := r.IntN(200) // of c
				a = float32(math.Ldexp(float64(x), -23))
				b = float32(math.Ldexp(float64(y), max(e, 1)-127-23-24))
				c = bits(e)
				if e < 30 { // keep b normal: a takes the scale
					a = float32(math.Ldexp(float64(x), max(e, 1)-127-23-24+60))
					b = float32(math.Ldexp(float64(y), -60))
				}
				if r.IntN(2) == 0 {
					a = -a
				}
				return a, b, c
			}
		}
	case 1:
		// The product has 25 bits and c is far below them.
		x, y := 1<<11+r.IntN(1<<11)|1, 1<<12+r.IntN(1<<12)|1
		return float32(x), float32(y) * float32(1-2*r.IntN(2)), bits(40 + r.IntN(60))
	case 2: // cancellation
		a, b = bits(127), bits(1+r.IntN(253))
		return a, b, -float32(float64(a) * float64(b))
	case 3: // in the middle between subnormal numbers, but for very little
		x := math.Ldexp(1, -10-r.IntN(14))
		a, b = float32(1+x), float32(1-x) // the product is 1-x*x
		if x >= 0x1p-11 {
			b = float32(1 - x + x*x) // 1+x*x*x
		}
		sign := float32(1 - 2*r.IntN(2))
		return sign * a * 0x1p-75, b * 0x1p-75, bits(0)
	case 4: // subnormal results
		return bits(r.IntN(128)), bits(r.IntN(30)), bits(r.IntN(3))
	case 5: // around the greatest number
		return bits(127 + 63), bits(127 + 64), bits(254 - r.IntN(30))
	}
	return bits(r.IntN(255)), bits(r.IntN(255)), bits(r.IntN(255))
}

// TestFma32 compares with math/big; WEFT_FMA=n asks for n cases.
func TestFma32(t *testing.T) {
	n := 300_000
	if s := os.Getenv("WEFT_FMA"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	r := rand.New(rand.NewPCG(7, 7))
	slow := 0
	for range n {
		a, b, c := hard(r)
		got, want := fma.Float32(a, b, c), looptest.Fma32(a, b, c)
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("Float32(%x, %x, %x) is %x, want %x", a, b, c, got, want)
		}
		if twice := float32(float64(a)*float64(b) + float64(c)); twice != want {
			slow++
		}
	}
	// The cases must be hard: double rounding alone would often be wrong.
	if slow < n/20 {
		t.Errorf("only %d of %d cases need more than float64", slow, n)
	}
}

// TestFma32Chain compares a chain of operations on one lane with the function.
func TestFma32Chain(t *testing.T) {
	p := pointwise(t, 3, func(b *loop.Builder, x []loop.Value) loop.Value {
		return b.Fma(b.Fma(x[0], x[1], x[2]), x[1], b.Fma(b.Float(loop.F32, 1.25), x[0], b.Float(loop.F32, -3)))
	})
	const n = 1000
	r := rand.New(rand.NewPCG(8, 8))
	x, y, z, out := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		x[i], y[i], z[i] = hard(r)
	}
	f := newFrame(p, n)
	for i, s := range [][]float32{x, y, z, out} {
		buf(f, i, s, 0, 1)
	}
	f.run(t)
	for i := range n {
		want := fma.Float32(fma.Float32(x[i], y[i], z[i]), y[i], fma.Float32(1.25, x[i], -3))
		if math.Float32bits(out[i]) != math.Float32bits(want) && want == want {
			t.Fatalf("lane %d: %x, %x, %x give %x, want %x", i, x[i], y[i], z[i], out[i], want)
		}
	}
}
