package records

import (
	"strings"
	"testing"
	"unsafe"

	"weft"
	"weft/half"
)

type inner struct {
	A int8
	B float64
}

type Embedded struct{ E uint16 }

type outer struct {
	ID    int32
	_     [4]byte
	Name  [8]uint8 `records:"name"`
	Skip  float32  `records:"-"`
	Half  [3]half.Float16
	Pairs [2]inner `records:"pairs"`
	Embedded
	Tagged Embedded `records:"tagged"`
	N      int
	Z      complex64
}

// Offsets and sizes are those that Go's compiler says, field by field.
func TestLayoutOfMatchesUnsafeOffsets(t *testing.T) {
	var x outer
	l := LayoutOf[outer]()
	if l.Size != int(unsafe.Sizeof(x)) {
		t.Errorf("size %d, want %d", l.Size, unsafe.Sizeof(x))
	}
	want := map[string]Field{
		"ID":     {DType: weft.Int32, Offset: int(unsafe.Offsetof(x.ID))},
		"name":   {DType: weft.Uint8, Shape: []int{8}, Offset: int(unsafe.Offsetof(x.Name))},
		"Half":   {DType: weft.Float16, Shape: []int{3}, Offset: int(unsafe.Offsetof(x.Half))},
		"pairs":  {Record: &Layout{[]Field{{Name: "A", DType: weft.Int8}, {Name: "B", DType: weft.Float64, Offset: 8}}, 16}, Shape: []int{2}, Offset: int(unsafe.Offsetof(x.Pairs))},
		"E":      {DType: weft.Uint16, Offset: int(unsafe.Offsetof(x.Embedded))},
		"tagged": {Record: &Layout{[]Field{{Name: "E", DType: weft.Uint16}}, 2}, Offset: int(unsafe.Offsetof(x.Tagged))},
		"Z":      {DType: weft.Complex64, Offset: int(unsafe.Offsetof(x.Z))},
		"N":      {DType: weft.Int64, Offset: int(unsafe.Offsetof(x.N))},
	}
	if len(l.Fields) != len(want) {
		t.Errorf("fields %q", l.Names())
	}
	for _, f := range l.Fields {
		w := want[f.Name]
		w.Name = f.Name
		if !(Layout{[]Field{f}, 1}).Equal(Layout{[]Field{w}, 1}) {
			t.Errorf("field %+v, want %+v", f, w)
		}
	}
	l.Fields[3].Record.Fields[0].Name = "changed" // a copy
	if LayoutOf[outer]().Fields[3].Record.Fields[0].Name != "A" {
		t.Error("a caller changed the layout")
	}
}

func TestPackedAndAligned(t *testing.T) {
	u1, f4, f8 := Field{Name: "a", DType: weft.Uint8}, Field{Name: "b", DType: weft.Float32, Shape: []int{2}}, Field{Name: "c", DType: weft.Float64}
	nested := Field{Name: "r", Record: &Layout{Fields: []Field{{Name: "x", DType: weft.Uint8}, {Name: "y", DType: weft.Float64}}}, Shape: []int{2}}
	for _, c := range []struct{ got, want string }{
		{Packed(f8, f4, Field{Name: "d", DType: weft.Int64}).String(), "c: float64, b: float32[2], d: int64"},
		{Packed(f8, f4).String(), "c: float64, b: float32[2]"},
		{Aligned(u1, f4).String(), "a: uint8, b: float32[2] at 4"},
		{Aligned(f8, u1).String(), "c: float64, a: uint8 of 16"},
		{Aligned(u1, nested).String(), "a: uint8, r: {x: uint8, y: float64 at 8}[2] at 8"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

type node struct{ Next *node }
type strange struct{ S string }
type halfway struct {
	A float64
	Z complex128
}
type hidden struct {
	A float64
	P []int `records:"-"`
}

// Each mistake with a layout is refused with an error that names what is wrong.
func TestMistakesInLayouts(t *testing.T) {
	f4 := Field{Name: "a", DType: weft.Float32}
	at := func(f Field, offset int) Field { f.Offset = offset; return f }
	loop := &Layout{Size: 4}
	loop.Fields = []Field{{Name: "r", Record: loop}}
	zeros := func(l Layout) func() { return func() { Zeros(l, 2) } }
	for _, c := range []struct {
		f    func()
		want string
	}{
		{zeros(Layout{}), "has no fields"},
		{zeros(Layout{[]Field{f4}, 0}), "records of 0 bytes"},
		{zeros(Layout{[]Field{f4}, 6}), `field "a" at byte 0 of 6`},
		{zeros(Layout{[]Field{at(f4, 2)}, 8}), `field "a" at byte 2 of 8`},
		{zeros(Layout{[]Field{at(f4, 4)}, 4}), "does not lie in the 4 bytes"},
		{zeros(Layout{[]Field{at(f4, -4)}, 4}), "does not lie in the 4 bytes"},
		{zeros(Layout{[]Field{f4, {Name: "b", DType: weft.Int8, Offset: 3}}, 4}), `"a" and "b" that overlap`},
		{zeros(Layout{[]Field{f4, at(f4, 4)}, 8}), `two fields "a"`},
		{zeros(Layout{[]Field{{Name: "", DType: weft.Int8}}, 1}), "empty or has a dot"},
		{zeros(Layout{[]Field{{Name: "x.y", DType: weft.Int8}}, 1}), "empty or has a dot"},
		{zeros(Layout{[]Field{{Name: "x"}}, 1}), "of type invalid"},
		{zeros(Layout{[]Field{{Name: "x", DType: weft.Int8, Record: &Layout{[]Field{f4}, 4}}}, 4}), "both DType and Record"},
		{zeros(Layout{[]Field{{Name: "x", DType: weft.Int8, Shape: []int{-1}}}, 4}), "is not a size"},
		{zeros(Layout{[]Field{{Name: "x", DType: weft.Int8, Shape: []int{1 << 40, 1 << 40}}}, 4}), "is not a size"},
		{zeros(Layout{[]Field{{Name: "x", DType: weft.Int8, Shape: make([]int, 99)}}, 4}), "axes"},
		{zeros(*loop), "more than 16 deep"},
		{func() { Aligned(loop.Fields...) }, "more than 16 deep"},
		{func() { Packed(Field{Name: "a", DType: weft.Uint8}, Field{Name: "b", DType: weft.Float64}) }, "Aligned adds padding"},
		{func() { Packed() }, "has no fields"},
		{func() { LayoutOf[int]() }, "want a struct"},
		{func() { LayoutOf[node]() }, "field Next of type *records.node"},
		{func() { LayoutOf[strange]() }, "field S of type string"},
		{func() { LayoutOf[hidden]() }, "field P of type []int"},
		{func() { LayoutOf[halfway]() }, `field "Z" at byte 8 of 24`},
		{func() { LayoutOf[struct{}]() }, "has no fields"},
		{func() { FromSlice([]inner{{}}, 2) }, "has 2 records, the slice 1"},
		{func() { Zeros(LayoutOf[inner](), -1) }, "negative"},
	} {
		err := weft.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q in it", err, c.want)
		}
	}
}
