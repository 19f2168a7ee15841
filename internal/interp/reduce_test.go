package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

func TestReduce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for typ := loop.B; typ <= loop.I16; typ++ {
		for kind := loop.Sum; kind <= loop.MaxU; kind++ {
			if (kind == loop.And || kind == loop.Or) != (typ == loop.B) || kind >= loop.MinU && !typ.Int() {
				continue
			}
			b := loop.NewBuilder(fmt.Sprint(kind), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}, 1)
			in := b.Buf(dtypeOf(typ), false, loop.Any, loop.Unit)
			out := b.Buf(dtypeOf(typ), true, loop.Any, loop.Zero)
			var y loop.Value
			b.Pass(func() { y = b.Reduce(kind, get(b, in, typ)) })
			put(b, out, y)
			p := done(t, b)
			for _, n := range []int{0, 1, 2, 31, 32, 33, 63, 64, 65, 511, 513, 4095, 4096, 4097, 8192, 8193, 3 * 4096, 5*4096 + 7} {
				const rows = 2
				c, got := newColumn(typ, rows*n+1), newColumn(typ, rows)
				var x [rows][]uint64
				for row := range rows {
					for i := range n {
						v := randomBits(r, typ)
						if typ == loop.F32 {
							// Of like size, or the order would not show.
							v = uint64(math.Float32bits(float32(1 + 0.01*r.NormFloat64())))
						}
						if typ == loop.F64 {
							v = math.Float64bits(1 + 0.01*r.NormFloat64())
						}
						if typ == loop.B {
							v = 0
							if r.IntN(n) > 0 == (kind == loop.And) {
								v = 1
							}
						}
						x[row] = append(x[row], v)
						c.set(row*n+i, v)
					}
				}
				f := newFrame(p, rows, n)
				c.place(f, 0)
				got.place(f, 1)
				f.f.Word[p.StrideWord(0, 0)] = uint64(n * dtypeOf(typ).Size())
				f.f.Word[p.StrideWord(0, 1)] = uint64(dtypeOf(typ).Size())
				f.run(t)
				for row := range rows {
					want := looptest.Reduce(kind, typ, x[row])
					if got.get(row) != want {
						t.Errorf("%s of %d %s: row %d is %#x, want %#x", kind, n, typ, row, got.get(row), want)
					}
				}
			}
		}
	}
}

// TestReduceSpecial checks what is not a matter of order.
func TestReduceSpecial(t *testing.T) {
	inf, nan, negZero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		kind loop.Reduction
		x    []float64
		want float64
	}{
		{loop.Sum, []float64{negZero, negZero}, 0},
		{loop.Prod, []float64{negZero}, negZero},
		{loop.Sum, []float64{inf, -inf}, nan},
		{loop.Min, []float64{3, nan, 1}, nan},
		{loop.Max, []float64{3, nan, 5}, nan},
		{loop.Min, nil, inf},
		{loop.Max, nil, -inf},
		{loop.Prod, nil, 1},
	} {
		b := loop.NewBuilder("special", []loop.Axis{{Kind: loop.Reduce}}, 0)
		in := b.Buf(dtypeOf(loop.F64), false, loop.Unit)
		out := b.Buf(dtypeOf(loop.F64), true, loop.Zero)
		var y loop.Value
		b.Pass(func() { y = b.Reduce(c.kind, b.Load(in)) })
		b.Store(out, y)
		f := newFrame(done(t, b), len(c.x))
		got := []float64{42}
		buf(f, 0, append(c.x, 99), 0, 1)
		buf(f, 1, got, 0, 0)
		f.run(t)
		if math.Float64bits(got[0]) != math.Float64bits(c.want) && !(got[0] != got[0] && c.want != c.want) {
			t.Errorf("%s of %v is %v, want %v", c.kind, c.x, got[0], c.want)
		}
	}
}
