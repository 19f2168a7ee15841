//go:build amd64

package x86

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// raggedProgram combines the elements of each item, and stores for each element how it
// compares with that, and, in the first pass, the element itself; long makes the passes so
// long that their code is there once.
func raggedProgram(t testing.TB, d, out array.DType, k loop.Reduction, long int) *loop.Program {
	b := loop.NewBuilder(fmt.Sprintf("ragged %s %s %s %d", d, out, k, long), []loop.Axis{{}, {Kind: loop.Reduce, Offsets: 1}}, 1)
	b.Buf(array.Int64, false, loop.Any, loop.Zero)
	x, v := b.Buf(d, false, loop.Zero, loop.Unit), b.Buf(d, false, loop.Any, loop.Zero)
	y, z := b.Buf(out, true, loop.Zero, loop.Unit), b.Buf(d, true, loop.Zero, loop.Unit)
	s := b.Buf(d, true, loop.Any, loop.Zero)
	var sum loop.Value
	own := b.Load(v)
	lengthen := func(e loop.Value) loop.Value {
		if long == 0 {
			return e
		}
		var many []loop.Value // at once, so that a vector is computed at a time
		for i := range long {
			many = append(many, b.Sub(b.Add(e, b.Number(b.Type(e), float64(i))), b.Mul(e, own)))
		}
		for i := range many {
			many[i] = b.Mul(many[i], many[(i+5)%long])
		}
		for _, m := range many {
			e = b.Add(e, m)
		}
		return e
	}
	b.Pass(func() {
		e := lengthen(b.Load(x))
		sum = b.Reduce(k, e)
		b.Store(z, e)
	})
	b.Pass(func() {
		e := lengthen(b.Add(b.Load(x), sum))
		b.Store(y, b.Cvt(loop.TypeOf(out), e))
	})
	b.Store(s, sum)
	return finish(t, b)
}

// TestRagged runs programs whose rows differ in extent, on arrays that end at inaccessible pages.
// Results equal the interpreter's, nothing outside the items changes, and sums follow the order
// that the language prescribes.
func TestRagged(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	types := []array.DType{array.Float32, array.Float64, array.Int8, array.Uint16, array.Int32, array.Int64, array.Float16, array.BFloat16}
	for _, d := range types {
		for _, k := range []loop.Reduction{loop.Sum, loop.Max, loop.Prod} {
			for _, long := range []int{0, 16} {
				outs := []array.DType{d}
				if d == array.Float32 || d == array.Int32 {
					outs = append(outs, array.Float64, array.Int32, array.Bool)
				}
				for _, out := range outs {
					p := raggedProgram(t, d, out, k, long)
					if _, err := Compile(p, jit.AVX512); err != nil {
						t.Errorf("%s: %v", p.Name, err)
					}
					for _, most := range []int{3, 40, 70, 300, 5000} {
						raggedCase(t, r, p, most)
					}
				}
			}
		}
	}
}

func raggedCase(t *testing.T, r *rand.Rand, p *loop.Program, most int) {
	t.Helper()
	items := r.IntN(min(9, 3+5000/most))
	off := []uint64{uint64(r.IntN(3))}
	for range items {
		off = append(off, off[len(off)-1]+uint64(r.IntN(most+1)))
	}
	rows := int(off[items]) + r.IntN(2)*r.IntN(70)
	s := &setup{p: p, extents: []int{items, 12345}, starts: []int{r.IntN(9), r.IntN(9)}, front: r.IntN(2) == 0}
	for i, b := range p.Bufs {
		n, size := rows, b.DType.Size()
		strides := []int{0, size}
		if b.Steps[0] != loop.Zero {
			n, strides = items, []int{size, 0}
		}
		if i == 0 {
			n++
		}
		s.strides, s.span, s.base, s.data = append(s.strides, strides), append(s.span, n*size), append(s.base, 0), append(s.data, make([]byte, n*size))
	}
	s.fill(func(b int) uint64 { return element(r, p.Bufs[b].DType) })
	for i, o := range off {
		binary.LittleEndian.PutUint64(s.data[0][8*i:], o)
	}
	if d := p.Bufs[1].DType; d.Float() && r.IntN(3) == 0 { // -0 alone, whose sum is 0
		clear(s.data[1])
		for i := d.Size() - 1; i < len(s.data[1]); i += d.Size() {
			s.data[1][i] = 0x80
		}
	}
	want := s.interpret(t)
	s.check(t, want)
	if d := p.Bufs[1].DType; !d.Half() { // what the first pass stored is what it combined
		size := d.Size()
		for i := range items {
			var x []uint64
			for e := off[i]; e < off[i+1]; e++ {
				x = append(x, word(want[4][int(e)*size:], size))
			}
			first := p.Regions[0].Body
			in := p.Ins[0]
			for _, v := range first {
				if p.Ins[v].Op == loop.OpReduce {
					in = p.Ins[v]
				}
			}
			ref, got := looptest.Reduce(loop.Reduction(in.Imm), in.Type, x), word(want[5][i*size:], size)
			if ref != got && !(isNaN(d, ref) && isNaN(d, got)) {
				t.Fatalf("%s, item %d of %d elements: %#x, want %#x", p.Name, i, len(x), got, ref)
			}
		}
	}
	for e := range rows { // elements in no item
		if uint64(e) >= off[0] && uint64(e) < off[items] {
			continue
		}
		for b := 3; b < 5; b++ {
			if size := p.Bufs[b].DType.Size(); word(want[b][e*size:], size) != word(s.data[b][e*size:], size) {
				t.Fatalf("%s: element %d of buffer %d, which is in no item, has changed", p.Name, e, b)
			}
		}
	}
}
