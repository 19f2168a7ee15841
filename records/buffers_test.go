package records

import (
	"fmt"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// cornerOf36 is glumpy's vertex: 36 bytes of three fields.
type cornerOf36 struct {
	Position [3]float32 `records:"position"`
	Texcoord [2]float32 `records:"texcoord"`
	Color    [4]float32 `records:"color"`
}

// glumpy's tests of data buffers, by their names: where fields lie, what writes change and what then waits for
// an upload. docs/glumpy.txt lists all of its tests.
func TestBuffersOfGlumpy(t *testing.T) {
	tensortest.SkipLate(t, "it compares memory of the host")
	one := weft.TrackOpts{OneInterval: true}
	tracked := func() (*Array, []cornerOf36, *weft.Tracked) {
		data := make([]cornerOf36, 10)
		a := FromSlice(data)
		d := a.Track(one)
		d.Flush(Zeros(a.Layout(), 10).Bytes().Sink())
		return a, data, d
	}
	ones := func() *Array {
		b := Zeros(LayoutOf[cornerOf36](), 10)
		for _, f := range b.Layout().Names() {
			b.Field(f).Assign(1)
		}
		return b
	}
	filled := func(data []cornerOf36, is func(i int) bool) error {
		for i, c := range data {
			want := cornerOf36{}
			if is(i) {
				want = cornerOf36{[3]float32{1, 1, 1}, [2]float32{1, 1}, [4]float32{1, 1, 1, 1}}
			}
			if c != want {
				return fmt.Errorf("record %d is %v", i, c)
			}
		}
		return nil
	}
	waits := func(d *weft.Tracked, start, stop int) error {
		if got := d.Pending(); !slices.Equal(got, []weft.ByteRange{{Start: start, Stop: stop}}) {
			return fmt.Errorf("%v is pending, want %d to %d", got, start, stop)
		}
		return nil
	}
	first := func(errs ...error) error {
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
	// field checks the offset and the bytes that a field spans: of ten records, 36 bytes apart.
	field := func(name string, offset, floats int) error {
		a, _, d := tracked()
		f := a.Field(name)
		at := d.Extents(f)
		if !slices.Equal(f.Shape(), []int{10, floats}) || f.Strides()[0] != 9 || at.Start != offset || at.Stop != offset+9*36+4*floats {
			return fmt.Errorf("%s: shape %v, strides %v, bytes %v", name, f.Shape(), f.Strides(), at)
		}
		return nil
	}
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"structured init", func() error {
			a, _, d := tracked()
			if a.Layout().Size != 36 || a.Len() != 10 || d.Bytes() != 360 {
				return fmt.Errorf("%v, %d records, %d bytes", a.Layout(), a.Len(), d.Bytes())
			}
			return nil
		}},
		{"storage", func() error {
			a, data, _ := tracked()
			data[3].Color[1] = 7
			if got := a.Field("color").At(3, 1).Item(); got != 7 {
				return fmt.Errorf("the array has %v", got)
			}
			return nil
		}},
		{"storage copy", func() error {
			a, data, _ := tracked()
			b := a.Clone()
			data[3].Color[1] = 7
			if got := b.Field("color").At(3, 1).Item(); got != 0 {
				return fmt.Errorf("the copy has %v", got)
			}
			return nil
		}},
		{"non contiguous storage", func() error {
			a, _, d := tracked()
			v := a.Slice(weft.Range(0, weft.End, 2))
			if at := d.Extents(v.Bytes()); v.IsContiguous() || at.Start != 0 || at.Stop != 8*36+36 {
				return fmt.Errorf("every other record lies at %v", at)
			}
			return nil
		}},
		{"getitem field", func() error {
			return first(field("position", 0, 3), field("texcoord", 12, 2), field("color", 20, 4))
		}},
		{"getitem index", func() error {
			a, _, d := tracked()
			if at := d.Extents(a.At(0).Bytes()); at.Start != 0 || at.Stop != 36 || a.At(0).Layout().Size != 36 {
				return fmt.Errorf("record 0 lies at %v", at)
			}
			return nil
		}},
		{"set data", func() error {
			a, data, d := tracked()
			a.Assign(ones())
			return first(filled(data, func(int) bool { return true }), waits(d, 0, 360))
		}},
		{"set data offset", func() error {
			a, _, d := tracked()
			a.Slice(weft.Range(4, 6)).Assign(make([]cornerOf36, 2))
			return waits(d, 144, 216)
		}},
		{"setitem broadcast", func() error {
			a, data, d := tracked()
			a.Field("position").Assign(weft.FromSlice([]float32{1, 2, 3}))
			for i, c := range data {
				if c != (cornerOf36{Position: [3]float32{1, 2, 3}}) {
					return fmt.Errorf("record %d is %v", i, c)
				}
			}
			return waits(d, 0, 9*36+12)
		}},
		{"setitem ellipsis", func() error {
			a, data, d := tracked()
			a.Slice().Assign(ones())
			return first(filled(data, func(int) bool { return true }), waits(d, 0, 360))
		}},
		{"setitem strided", func() error {
			a, data, d := tracked()
			s := weft.Range(0, weft.End, 2)
			a.Slice(s).Assign(ones().Slice(s))
			return first(filled(data, func(i int) bool { return i%2 == 0 }), waits(d, 0, 9*36))
		}},
		{"setitem half", func() error {
			a, data, d := tracked()
			s := weft.Range(0, 5)
			a.Slice(s).Assign(ones().Slice(s))
			return first(filled(data, func(i int) bool { return i < 5 }), waits(d, 0, 180))
		}},
		{"no resize ellipsis", func() error {
			a, _, d := tracked()
			if err := weft.Try(func() { a.Slice().Assign(Zeros(a.Layout(), 30)) }); err == nil || len(d.Pending()) > 0 {
				return fmt.Errorf("30 records fit into 10: %v", err)
			}
			return nil
		}},
		{"negative and offlimit offset", func() error {
			a, _, _ := tracked()
			for _, i := range []int{-11, 10} {
				if err := weft.Try(func() { a.At(i).Assign(cornerOf36{}) }); err == nil {
					return fmt.Errorf("there is a record %d", i)
				}
			}
			return nil
		}},
		{"texture: get and set a part", func() error {
			x := weft.ZerosOf(weft.Uint8, 10, 10)
			d := weft.Track(x, one)
			d.Flush(weft.ZerosOf(weft.Uint8, 10, 10).Sink())
			z := x.Slice(weft.Range(5, 10), weft.Range(5, 10))
			z.Assign(1)
			if n := x.To(weft.Int64).Sum().ItemInt(); n != 25 || x.At(5, 5).ItemInt() != 1 || x.At(4, 9).ItemInt() != 0 {
				return fmt.Errorf("%d bytes are set", n)
			}
			return first(waits(d, 55, 100))
		}},
		{"texture: set one", func() error {
			x := weft.ZerosOf(weft.Uint8, 10, 10)
			d := weft.Track(x, one)
			d.Flush(weft.ZerosOf(weft.Uint8, 10, 10).Sink())
			x.At(0, 0).Assign(1)
			return waits(d, 0, 1)
		}},
		{"texture: misshaped and misplaced", func() error {
			x := weft.ZerosOf(weft.Uint8, 10, 10)
			for _, f := range []func(){
				func() { x.Assign(weft.Ones(20, 20)) }, func() { x.Slice(weft.Range(8, 13), weft.Range(8, 13)).Assign(weft.Ones(5, 5)) },
				func() { x.Assign(weft.Ones(4)) },
			} {
				if weft.Try(f) == nil {
					return fmt.Errorf("a part of another shape is taken")
				}
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.f(); err != nil {
				t.Error(err)
			}
		})
	}
}
