//go:build amd64

package x86

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"weft/internal/jit"
	"weft/internal/loop"
)

// TestLookup demands that, where there are many constants, the lookup instruction reads the table
// from memory, and that a loop's next value is looked up under the mask of the lanes that go on.
func TestLookup(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 19))
	for _, ty := range []loop.Type{loop.F32, loop.F64} {
		table := make([]float64, loop.TableBytes/ty.Size())
		for i := range table {
			table[i] = r.Float64()
		}
		program := func(f func(b *loop.Builder, x loop.Value) loop.Value) *loop.Program {
			b := loop.NewBuilder("lookup", []loop.Axis{{Kind: loop.Parallel}}, 0)
			in, out := b.Buf(dtype(intOf[ty]), false, loop.Unit), b.Buf(dtype(ty), true, loop.Unit)
			b.Pass(func() { b.Store(out, f(b, b.Load(in))) })
			return finish(t, b)
		}
		for _, u := range []struct {
			want string // in the listing for AVX-512
			p    *loop.Program
		}{
			{`vpermp[sd] zmm\d+, zmm\d+, .*\[`, program(func(b *loop.Builder, x loop.Value) loop.Value {
				y := b.Bits(ty, x)
				for i := range 40 { // more tables than registers
					table := slices.Clone(table)
					table[0] = float64(i)
					y = b.Mul(y, b.Lookup(table, x))
				}
				return y
			})},
			{`vpermp[sd] zmm\d+\{k`, program(func(b *loop.Builder, x loop.Value) loop.Value {
				zero := b.Int(intOf[ty], 0)
				v := b.While([]loop.Value{zero, b.Float(ty, 0.5)},
					func(v []loop.Value) loop.Value { return b.Lt(v[0], b.And(x, b.Int(intOf[ty], 7))) },
					func(v []loop.Value) []loop.Value {
						return []loop.Value{b.Add(v[0], b.Int(intOf[ty], 1)), b.Lookup(table, b.Add(v[0], x))}
					})
				return v[1]
			})},
		} {
			for _, n := range []int{1, 16, 77} {
				random(u.p, r, n).fill(func(b int) uint64 { return value(r, loop.TypeOf(u.p.Bufs[b].DType)) }).check(t, nil)
			}
			list, err := Explain(u.p, jit.AVX512)
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(u.want).MatchString(list) {
				t.Errorf("%s: no %s in\n%s", ty, u.want, list)
			}
		}
	}
}
