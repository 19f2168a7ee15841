package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weft/internal/loop"
	"weft/internal/numbers"
)

// tree combines blocks by the aligned binary tree, from the top: the left part is
// the greatest power of two of blocks that leaves something on the right.
func tree(blocks []uint64, op func(x, y uint64) uint64) uint64 {
	if len(blocks) == 1 {
		return blocks[0]
	}
	n := 1
	for 2*n < len(blocks) {
		n *= 2
	}
	return op(tree(blocks[:n], op), tree(blocks[n:], op))
}

// reduced follows the comment of [loop.OpReduce].
func reduced(t loop.Type, identity uint64, op func(x, y uint64) uint64, x []uint64) uint64 {
	v := numbers.VirtualBytes
	if t != loop.B {
		v /= t.Size()
	}
	var blocks []uint64
	for first := 0; first == 0 || first < len(x); first += numbers.Block {
		lanes := make([]uint64, v)
		for l := range lanes {
			lanes[l] = identity
		}
		for i := first; i < min(first+numbers.Block, len(x)); i++ {
			lanes[i%v] = op(lanes[i%v], x[i])
		}
		// Halves onto halves: lane l takes those that differ from it in leading
		// bits only.
		var folded func(l, n int) uint64
		folded = func(l, n int) uint64 {
			if n == v {
				return lanes[l]
			}
			return op(folded(l, 2*n), folded(l+n, 2*n))
		}
		blocks = append(blocks, folded(0, 1))
	}
	return tree(blocks, op)
}

func TestReduce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	kinds := []struct {
		kind loop.Reduction
		op   loop.Op
	}{{loop.Sum, loop.OpAdd}, {loop.Prod, loop.OpMul}, {loop.Min, loop.OpMin}, {loop.Max, loop.OpMax}, {loop.And, loop.OpAnd}, {loop.Or, loop.OpOr}, {loop.MinU, loop.OpMinU}, {loop.MaxU, loop.OpMaxU}}
	identity := map[loop.Type][]uint64{
		loop.F32: {0, 0x3f800000, 0x7f800000, 0xff800000},
		loop.F64: {0, 0x3ff << 52, 0x7ff << 52, 0xfff << 52},
		loop.I8:  {0, 1, math.MaxInt8, 1 << 7, loop.MinU: math.MaxUint8, loop.MaxU: 0},
		loop.I16: {0, 1, math.MaxInt16, 1 << 15, loop.MinU: math.MaxUint16, loop.MaxU: 0},
		loop.I32: {0, 1, math.MaxInt32, 1 << 31, loop.MinU: math.MaxUint32, loop.MaxU: 0},
		loop.I64: {0, 1, math.MaxInt64, 1 << 63, loop.MinU: math.MaxUint64, loop.MaxU: 0},
		loop.B:   {loop.And: 1, loop.Or: 0},
	}
	for typ := loop.B; typ <= loop.I16; typ++ {
		for _, k := range kinds {
			if (k.kind == loop.And || k.kind == loop.Or) != (typ == loop.B) || k.kind >= loop.MinU && !typ.Int() {
				continue
			}
			b := loop.NewBuilder(fmt.Sprint(k.kind), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}, 1)
			in := b.Buf(dtypeOf(typ), false, loop.Any, loop.Unit)
			out := b.Buf(dtypeOf(typ), true, loop.Any, loop.Zero)
			var y loop.Value
			b.Pass(func() { y = b.Reduce(k.kind, get(b, in, typ)) })
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
							v = truthBits(r.IntN(n) > 0 == (k.kind == loop.And))
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
					want := reduced(typ, identity[typ][k.kind], func(x, y uint64) uint64 { return reference(k.op, 0, typ, typ, x, y, 0) }, x[row])
					if got.get(row) != want {
						t.Errorf("%s of %d %s: row %d is %#x, want %#x", k.kind, n, typ, row, got.get(row), want)
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
