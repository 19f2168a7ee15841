//go:build amd64

package x86

import (
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

// TestBatches has rows in batches, rows behind the last batch, and results with a stride that
// excludes batches. Its programs have two passes, and between them numbers that are computed once a
// row, some of them by a branch.
func TestBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, d := range []array.DType{array.Float32, array.BFloat16, array.Float16} {
		for _, n := range []int{1, 2, 3, 8, 9, 10, 16, 17, 31, 33, 40, 64, 65, 100} {
			b := loop.NewBuilder("batches", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}, {Kind: loop.Reduce, Extent: n}}, 2)
			x := b.Buf(d, false, loop.Any, loop.Any, loop.Unit)
			column := b.Buf(array.Float32, false, loop.Any, loop.Any, loop.Zero)
			outer := b.Buf(array.Float32, false, loop.Any, loop.Zero, loop.Zero)
			y := b.Buf(d, true, loop.Any, loop.Any, loop.Unit)
			sum := b.Buf(array.Float32, true, loop.Any, loop.Any, loop.Zero)
			least := b.Buf(array.Int32, true, loop.Any, loop.Any, loop.Zero)
			two := b.Scalar(b.ScalarArg(loop.F32))
			var greatest, low, total loop.Value
			b.Pass(func() {
				v := b.Load(x)
				greatest = b.Reduce(loop.Max, v)
				low = b.Reduce(loop.Min, b.Bits(loop.I32, v))
			})
			other := b.Add(b.Load(outer), greatest)
			shift := b.If(b.Lt(greatest, b.Float(loop.F32, 1)), func() []loop.Value {
				return []loop.Value{b.Mul(greatest, two)}
			}, func() []loop.Value {
				return []loop.Value{b.Add(other, b.Div(two, greatest))}
			})[0]
			b.Pass(func() {
				v := b.Add(b.Sub(b.Load(x), shift), b.Load(column))
				rounded := v
				if d != array.Float32 {
					rounded = b.Round(d, v)
				}
				b.Store(y, rounded)
				total = b.Reduce(loop.Sum, b.Mul(v, other))
			})
			b.Store(sum, b.Add(total, b.Float(loop.F32, 0.1)))
			b.Store(least, b.Select(b.Lt(shift, other), low, b.Not(low)))
			p := finish(t, b)
			for _, rows := range []int{1, 15, 16, 17, 40} {
				for range 4 {
					s := random(p, r, 2, rows, n)
					s.fill(func(b int) uint64 { return element(r, p.Bufs[b].DType) })
					s.scalars[0] = f32(2)
					s.check(t, nil)
				}
			}
		}
	}
}

// TestBatchesOfLoops has a loop in a pass with loop-carried values that differ by row.
func TestBatchesOfLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{1, 7, 16, 33} {
		b := loop.NewBuilder("halvings", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce, Extent: n}}, 1)
		x := b.Buf(array.Float32, false, loop.Any, loop.Unit)
		times := b.Buf(array.Int32, true, loop.Any, loop.Zero)
		var total loop.Value
		b.Pass(func() {
			half := b.Float(loop.F32, 0.5)
			out := b.While([]loop.Value{b.Load(x), b.Int(loop.I32, 0)}, func(v []loop.Value) loop.Value {
				return b.And(b.Lt(half, v[0]), b.Lt(v[1], b.Int(loop.I32, 40)))
			}, func(v []loop.Value) []loop.Value {
				return []loop.Value{b.Mul(v[0], half), b.Add(v[1], b.Int(loop.I32, 1))}
			})
			total = b.Reduce(loop.Sum, out[1])
		})
		b.Store(times, b.Neg(total))
		p := finish(t, b)
		for _, rows := range []int{1, 16, 40} {
			s := random(p, r, rows, n)
			s.fill(func(b int) uint64 { return element(r, p.Bufs[b].DType) })
			s.check(t, nil)
		}
	}
}

// TestBatchesReadReductions has passes that read values computed from a reduction of an earlier
// pass: the bound of a uniform loop, a select, and a value that is dead.
func TestBatchesReadReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, n := range []int{1, 7, 16, 33} {
		b := loop.NewBuilder("numbers", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce, Extent: n}}, 1)
		x, y := b.Buf(array.Int32, false, loop.Any, loop.Unit), b.Buf(array.Int32, true, loop.Any, loop.Unit)
		flag, one := b.Scalar(b.ScalarArg(loop.B)), b.Int(loop.I32, 1)
		var most loop.Value
		b.Pass(func() { most = b.Reduce(loop.Max, b.And(b.Load(x), b.Int(loop.I32, 7))) })
		trips := b.If(b.And(flag, b.Lt(most, b.Int(loop.I32, 5))), func() []loop.Value { return []loop.Value{b.Add(most, one)} }, func() []loop.Value { return []loop.Value{b.Int(loop.I32, 2)} })[0]
		unread := b.Min(most, b.Int(loop.I32, 3))
		b.Pass(func() {
			out := b.While([]loop.Value{b.Int(loop.I32, 0), b.Load(x)}, func(v []loop.Value) loop.Value { return b.Lt(v[0], trips) }, func(v []loop.Value) []loop.Value {
				b.Add(unread, v[0])
				return []loop.Value{b.Add(v[0], one), b.Add(b.Mul(v[1], b.Int(loop.I32, 3)), v[0])}
			})
			b.Store(y, out[1])
		})
		p := finish(t, b)
		for _, rows := range []int{1, 16, 40} {
			s := random(p, r, rows, n)
			s.fill(func(b int) uint64 { return element(r, p.Bufs[b].DType) })
			s.scalars[0] = uint64(rows & 1)
			s.check(t, nil)
		}
	}
}

// TestBatchesInPlace has a pass that stores where it loads from, as softmax does, and a pass that
// then loads this. Rows are contiguous or have gaps.
func TestBatchesInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, again := range []bool{false, true} {
		for _, n := range []int{1, 3, 7, 10, 15, 16, 17, 31, 33, 40, 63, 64, 65, 100} {
			b := loop.NewBuilder("overwrite", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce, Extent: n}}, 1)
			x := b.Buf(array.Float32, false, loop.Any, loop.Unit)
			y, z := b.Buf(array.Float32, true, loop.Any, loop.Unit), b.Buf(array.Float32, true, loop.Any, loop.Unit)
			var total loop.Value
			b.Pass(func() {
				v := b.Abs(b.Load(x))
				b.Store(y, v)
				total = b.Reduce(loop.Max, v)
			})
			b.Pass(func() {
				b.Store(y, b.Sub(b.Load(y), total))
				if again {
					b.Store(z, b.Mul(b.Load(y), b.Float(loop.F32, 3)))
				}
			})
			if !again {
				b.Pass(func() { b.Store(z, b.Load(y)) })
			}
			p := finish(t, b)
			for _, rows := range []int{1, 8, 15, 16, 17, 33, 40} {
				for range 6 {
					s := random(p, r, rows, n)
					s.fill(func(b int) uint64 { return element(r, p.Bufs[b].DType) })
					s.check(t, nil)
				}
			}
		}
	}
}
