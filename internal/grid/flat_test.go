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

// TestOpenSigns leaves the sign of a NaN open where a negative goes to sums and products alone.
func TestOpenSigns(t *testing.T) {
	for name, c := range map[string]struct {
		use  func(b *loop.Builder, x, y loop.Value) loop.Value
		open bool
	}{
		"product and sum": {func(b *loop.Builder, x, y loop.Value) loop.Value { return b.Fma(y, y, b.Neg(x)) }, true},
		"stored":          {func(b *loop.Builder, x, _ loop.Value) loop.Value { return b.Neg(x) }, false},
		"selected": {func(b *loop.Builder, x, y loop.Value) loop.Value {
			n := b.Neg(x)
			return b.Select(b.Lt(y, b.Mul(y, n)), n, y)
		}, false},
		"bits": {func(b *loop.Builder, x, _ loop.Value) loop.Value {
			return b.Cvt(loop.F32, b.Bits(loop.I32, b.Neg(x)))
		}, false},
	} {
		b := loop.NewBuilder(name, []loop.Axis{{Kind: loop.Parallel}}, 0)
		x, y, out := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
		b.Pass(func() { b.Store(out, c.use(b, b.Load(x), b.Load(y))) })
		k, err := Lower(done(t, b), Flat)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		count := func(in *Ins) bool {
			if in.Op == Compute && in.Loop == loop.OpNeg {
				found++
				if open := in.Imm == OpenSign; open != c.open {
					t.Errorf("%s: the sign is open: %v, want %v", name, open, c.open)
				}
			}
			return false
		}
		breakable(k.Body, count)
		if found != 1 {
			t.Errorf("%s: %d negatives", name, found)
		}
	}
}
