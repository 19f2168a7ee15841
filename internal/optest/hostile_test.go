package optest

import (
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// TestHostileArguments applies every operation to arguments of shapes, types and
// attributes that mostly do not fit: it is refused with an *array.Error, or it is
// computed within its memory, which lies at inaccessible pages.
func TestHostileArguments(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		s := newSuite(t, dev, caps)
		defer s.mem.Close()
		rounds := 100
		if testing.Short() {
			rounds = 40
		}
		ran := map[string]int{}
		for _, d := range op.Table() {
			// By name, so that an operation more does not change the arguments of the others.
			r := rand.New(rand.NewPCG(11, uint64(crc32.ChecksumIEEE([]byte(d.Name)))))
			cases := Cases(d)
			for i := 0; i < rounds || ran[d.Name] == 0 && i < 50*rounds; i++ { // most are refused
				s.hostile(t, r, &cases[r.IntN(len(cases))], ran)
			}
			if ran[d.Name] == 0 {
				t.Errorf("%s was refused every time", d.Name)
			}
		}
	})
}

func (s *suite) hostile(t *testing.T, r *rand.Rand, from *Case, ran map[string]int) {
	c := Case{Def: from.Def, Attrs: twisted(r, from.Attrs)}
	size := 1
	for _, x := range from.X {
		shape, d := append([]int{}, x.Shape...), x.DType
		switch r.IntN(6) {
		case 0:
			shape = append(shape, r.IntN(4))
		case 1:
			if len(shape) > 0 {
				shape = shape[1:]
			}
		case 2:
			if len(shape) > 0 {
				shape[r.IntN(len(shape))] = r.IntN(9)
			}
		}
		if r.IntN(4) == 0 {
			d = realTypes()[r.IntN(len(realTypes()))]
		}
		size *= max(array.Size(shape), 1)
		c.X = append(c.X, Random(r, d, shape, [2]float64{}, r.IntN(2)*r.IntN(12)))
	}
	if r.IntN(10) == 0 && len(c.X) > 1 {
		c.X = c.X[1:]
	}
	typed := func(err error) bool {
		var e *array.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %v", &c, err)
		}
		return err == nil
	}
	out, err := c.graph()
	if !typed(err) || out.Size() > 1<<16 || size > 1<<16 {
		return
	}
	s.mem.Reset()
	l := Layouts()[r.IntN(len(Layouts()))]
	ins := make([]array.View, len(c.X))
	for i, x := range c.X {
		ins[i] = s.mem.hold(x, l)
	}
	dst := s.mem.room(out.DType, out.Shape, Contiguous)
	var p *plan.Plan
	err = attempt(func() error {
		p = plan.Build([]*ir.Node{out}, sigs(ins), sigs([]array.View{dst}), s.dev.Model())
		return nil
	})
	if typed(err) && typed(s.run(p, ins, []array.View{dst})) {
		ran[c.Def.Name]++
	}
}

// twisted returns a copy of attributes in which a number may have been changed.
func twisted(r *rand.Rand, a ir.Attrs) ir.Attrs {
	if a == nil {
		return nil
	}
	v := reflect.New(reflect.TypeOf(a)).Elem()
	v.Set(reflect.ValueOf(a))
	var twist func(v reflect.Value)
	twist = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Int:
			if r.IntN(12) == 0 {
				v.SetInt([]int64{-2, -1, 0, 1, 2, 3, 5, 1 << 31, 1 << 40, math.MaxInt64, math.MinInt64}[r.IntN(11)])
			}
		case reflect.Bool:
			v.SetBool(r.IntN(2) == 0)
		case reflect.Uint8:
			if r.IntN(4) == 0 {
				v.SetUint(uint64(r.IntN(40)))
			}
		case reflect.Slice:
			n := v.Len()
			if r.IntN(10) == 0 {
				n = r.IntN(n + 2)
			}
			w := reflect.MakeSlice(v.Type(), n, n)
			reflect.Copy(w, v)
			for i := range n {
				twist(w.Index(i))
			}
			v.Set(w)
		case reflect.Array:
			for i := range v.Len() {
				twist(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				twist(v.Field(i))
			}
		case reflect.Interface:
			if in, ok := v.Interface().(ir.Attrs); ok {
				v.Set(reflect.ValueOf(twisted(r, in)))
			}
		}
	}
	twist(v)
	return v.Interface().(ir.Attrs)
}

// TestHostileOffsets gives operations on items offsets that descend, are negative, or lie
// behind the rows, anywhere among good ones: they are refused with a typed error that names
// them, and nothing outside the arrays is touched, which lie at inaccessible pages.
func TestHostileOffsets(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		s := newSuite(t, dev, caps)
		defer s.mem.Close()
		r := rand.New(rand.NewPCG(5, 6))
		seen := 0
		for _, d := range op.Table() {
			if !strings.HasPrefix(d.Name, "segment_") {
				continue
			}
			of := array.Float32
			if a := only[d.Name]; a != nil && !a(of) {
				of = array.Bool
			}
			for _, rows := range []int{1, 7, 300, 70_000} {
				for range min(12, 1+4000/rows) {
					items := 1 + r.IntN(rows+20)
					sample := op.Sample{Shapes: [][]int{{rows}, {items + 1}}, DTypes: []array.DType{of, array.Int64}, Attrs: d.Attrs, Max: rows + 1, Ascending: true}
					switch d {
					case op.SegmentExpand:
						sample.Shapes[0][0], sample.Attrs = items, op.Rows(rows)
					case op.SegmentUnpad:
						sample.Shapes[0], sample.Attrs = []int{items, 2}, op.Rows(rows)
					case op.SegmentPad:
						sample.Shapes, sample.Attrs = [][]int{{rows}, {}, {items + 1}}, op.PadTo(2)
						sample.DTypes = []array.DType{of, of, array.Int64}
					case op.SegmentTake:
						sample.Shapes, sample.Attrs = [][]int{{rows}, {items}, {items + 1}}, op.Rows(rows)
						sample.DTypes = []array.DType{of, array.Int64, array.Int64}
					}
					c := newCase(d, sample.Attrs, drawn(r, d, sample, of)...)
					out, err := c.graph()
					if err != nil {
						t.Fatalf("%s: %v", &c, err)
					}
					s.laid(&c, out, nil, func(int) Layout { return Contiguous }, Contiguous, false) // good ones
					off, at := c.X[len(c.X)-1].I, r.IntN(items+1)
					off[at] = []int64{-1, int64(rows) + 1, 1 << 40, math.MinInt64, math.MaxInt64, -1 << 33}[r.IntN(6)]
					if at > 0 && off[at-1] > 0 && r.IntN(3) == 0 {
						off[at] = off[at-1] - 1
					}
					s.mem.Reset()
					var ins []array.View
					for _, x := range c.X {
						ins = append(ins, s.mem.hold(x, Contiguous))
					}
					dst := s.mem.room(out.DType, out.Shape, Contiguous)
					err = s.run(plan.Build([]*ir.Node{out}, sigs(ins), sigs([]array.View{dst}), s.dev.Model()), ins, []array.View{dst})
					var e *array.Error
					if !errors.As(err, &e) || e.Kind != array.Misuse || e.Arg != "offsets" || !strings.HasPrefix(e.Op, "segment") {
						t.Errorf("%s, offset %d of %d is %d: %v", &c, at, items, off[at], err)
					}
					seen++
				}
			}
		}
		if seen < 500 {
			t.Errorf("only %d calls", seen)
		}
	})
}
