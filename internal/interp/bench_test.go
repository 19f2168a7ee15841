package interp

import (
	"strconv"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

// BenchmarkRows adds a bias to many short rows.
func BenchmarkRows(b *testing.B) {
	bl := loop.NewBuilder("bias", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
	x := bl.Buf(array.Float32, false, loop.Any, loop.Unit)
	bias := bl.Buf(array.Float32, false, loop.Zero, loop.Unit)
	y := bl.Buf(array.Float32, true, loop.Any, loop.Unit)
	bl.Pass(func() { bl.Store(y, bl.Add(bl.Load(x), bl.Load(bias))) })
	p := done(b, bl)
	for _, n := range []int{1, 4, 10, 28, 100, 300} {
		const total = 1 << 14
		in, c, out := make([]float32, total), make([]float32, n), make([]float32, total)
		f := newFrame(p, total/n, n)
		buf(f, 0, in, 0, n, 1)
		buf(f, 1, c, 0, 0, 1)
		buf(f, 2, out, 0, n, 1)
		k := Compile(p)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.SetBytes(total)
			for b.Loop() {
				k.Run(f.f, nil)
			}
		})
	}
}

// BenchmarkPool takes the maximum of windows of 2x2.
func BenchmarkPool(b *testing.B) {
	bl := loop.NewBuilder("maxpool", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}, {Kind: loop.Serial, Bound: 2}, {Kind: loop.Serial, Bound: 2}}, 1)
	x := bl.Buf(array.Float32, false, loop.Any, loop.Any, loop.Any, loop.Any)
	y := bl.Buf(array.Float32, true, loop.Any, loop.Unit, loop.Zero, loop.Zero)
	bl.Pass(func() {
		r := bl.For(2, []loop.Value{bl.Float(loop.F32, -1e30)}, func(v []loop.Value) []loop.Value {
			return bl.For(3, v, func(v []loop.Value) []loop.Value {
				return []loop.Value{bl.Max(v[0], bl.Load(x))}
			})
		})
		bl.Store(y, r[0])
	})
	p := done(b, bl)
	const n, rows = 12, 12 * 64
	in, out := make([]float32, 4*n*rows), make([]float32, n*rows)
	for i := range in {
		in[i] = float32(i * 7919 % 1000)
	}
	f := newFrame(p, rows, n, 2, 2)
	buf(f, 0, in, 0, 4*n, 2, 2*n, 1)
	buf(f, 1, out, 0, n, 1)
	k := Compile(p)
	b.SetBytes(n * rows)
	for b.Loop() {
		k.Run(f.f, nil)
	}
}

// BenchmarkReduce sums rows.
func BenchmarkReduce(b *testing.B) {
	bl := loop.NewBuilder("sum", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}, 1)
	x := bl.Buf(array.Float32, false, loop.Any, loop.Unit)
	y := bl.Buf(array.Float32, true, loop.Any, loop.Zero)
	var s loop.Value
	bl.Pass(func() { s = bl.Reduce(loop.Sum, bl.Load(x)) })
	bl.Store(y, s)
	p := done(b, bl)
	for _, c := range []struct {
		name    string
		rows, n int
	}{{"10", 1600, 10}, {"100", 160, 100}, {"16000", 1, 16000}} {
		in, out := make([]float32, c.rows*c.n), make([]float32, c.rows)
		f := newFrame(p, c.rows, c.n)
		buf(f, 0, in, 0, c.n, 1)
		buf(f, 1, out, 0, 1, 0)
		k := Compile(p)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				k.Run(f.f, nil)
			}
		})
	}
}
