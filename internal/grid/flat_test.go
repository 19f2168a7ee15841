package grid

import (
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

// TestFlatLanes compares elementwise programs of each type with the interpreter, one lane a thread and
// several ones that move as vectors.
func TestFlatLanes(t *testing.T) {
	wide := 0
	for _, d := range []array.DType{array.Bool, array.Int8, array.Uint8, array.Int16, array.Uint16, array.Float16, array.BFloat16, array.Int32, array.Float64} {
		b := loop.NewBuilder("flat "+d.String(), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
		x, y := b.Buf(d, false, loop.Any, loop.Unit), b.Buf(d, false, loop.Any, loop.Unit)
		row, out, less := b.Buf(d, false, loop.Any, loop.Zero), b.Buf(d, true, loop.Any, loop.Unit), b.Buf(array.Bool, true, loop.Any, loop.Unit)
		b.Pass(func() {
			v := b.Load(x)
			if d == array.Bool {
				b.Store(out, b.Xor(v, b.And(b.Load(y), b.Load(row))))
				b.Store(less, b.Not(v))
				return
			}
			b.Store(out, b.Sub(b.Add(v, b.Load(y)), b.Load(row)))
			b.Store(less, b.Lt(v, b.Load(y)))
		})
		c := newCase(done(t, b), 5, 48)
		for _, data := range c.data {
			for i := range data {
				data[i] = byte(7*i+i/48) & 0xBD // no NaN
				if d == array.Bool {
					data[i] = byte(i*i/7) & 1
				}
			}
		}
		want := c.interpreted()
		for _, v := range []Variant{Flat, FlatVector, FlatWide, FlatWide | Long} {
			if !Legal(c.p, v) {
				continue
			}
			if v == FlatWide {
				wide++
			}
			m := c.machine(t, v, 1)
			if err := m.run(); err != nil {
				t.Fatal(err)
			}
			if s := diff(m.memory, want); s != "" {
				t.Errorf("%s, %v: %s", d, v, s)
			}
		}
	}
	if wide != 7 {
		t.Errorf("%d types have 16 bytes a thread, want 7", wide)
	}
}
