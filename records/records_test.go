package records

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

type vertex struct {
	Position [2]float32 `records:"position"`
	Color    [3]float32 `records:"color"`
}

type item struct {
	Key   int32
	Pairs [2]inner
	X     float64
	Flag  bool
	_     [7]byte
}

// items returns n items with something else in each field.
func items(n int) []item {
	out := make([]item, n)
	for i := range out {
		x := &out[i]
		x.Key, x.X, x.Flag = int32((i*7)%5), float64(i)/4, i%3 == 0
		for k := range x.Pairs {
			x.Pairs[k] = inner{int8(i - k), float64(10*i + k)}
		}
	}
	return out
}

// The records and the slice are the same memory, in both directions and for every field.
func TestFieldsShareTheSlice(t *testing.T) {
	tensortest.SkipLate(t, "it shares memory of the host")
	data := items(12)
	a := FromSlice(data, 3, 4)
	if got := a.Field("Pairs.B").Shape(); !slices.Equal(got, []int{3, 4, 2}) {
		t.Fatal(got)
	}
	for i := range data {
		r, c := i/4, i%4
		for k := range 2 {
			if got := a.Field("Pairs.B").At(r, c, k).Item(); got != data[i].Pairs[k].B {
				t.Errorf("Pairs[%d].B of %d is %v, want %v", k, i, got, data[i].Pairs[k].B)
			}
			if got := a.Records("Pairs").At(r, c, k).Field("A").ItemInt(); got != int64(data[i].Pairs[k].A) {
				t.Errorf("Pairs[%d].A of %d is %v, want %v", k, i, got, data[i].Pairs[k].A)
			}
		}
		if got := a.At(r, c).Field("Key").ItemInt(); got != int64(data[i].Key) {
			t.Errorf("key of %d is %v", i, got)
		}
	}
	a.Field("X").Assign(7)
	a.Slice(weft.Range(1, 3), weft.Index(-1)).Field("Pairs.A").Assign(weft.From([][]int8{{1, 2}, {3, 4}}))
	data[0].Key = 99
	if data[11].X != 7 || data[7].Pairs[1].A != 2 || data[11].Pairs[0].A != 3 || data[10].Pairs[0].A != 10 {
		t.Errorf("%+v", data)
	}
	if got := a.Field("Key").At(0, 0).ItemInt(); got != 99 {
		t.Error(got)
	}
}

// Views of records are the records that the same indices select of a slice.
func TestViewsSelectRecords(t *testing.T) {
	data := items(12)
	a := FromSlice(data, 3, 4)
	at := func(places ...int) (out []item) {
		for _, i := range places {
			out = append(out, data[i])
		}
		return out
	}
	for name, c := range map[string]struct {
		got   *Array
		shape []int
		want  []item
	}{
		"row":          {a.At(1), []int{4}, at(4, 5, 6, 7)},
		"record":       {a.At(-1, -1), []int{}, at(11)},
		"slice":        {a.Slice(weft.Range(1, 3), weft.Range(weft.End, weft.Begin, -2)), []int{2, 2}, at(7, 5, 11, 9)},
		"new axis":     {a.Slice(weft.NewAxis, weft.Index(0), weft.Range(0, 2)), []int{1, 2}, at(0, 1)},
		"ellipsis":     {a.Slice(weft.Ellipsis, weft.Index(2)), []int{3}, at(2, 6, 10)},
		"transposed":   {a.T(), []int{4, 3}, at(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)},
		"permuted":     {a.Permute(-1, 0).At(1), []int{3}, at(1, 5, 9)},
		"reshaped":     {a.Reshape(2, -1).At(1), []int{6}, at(6, 7, 8, 9, 10, 11)},
		"taken":        {a.Take(-1, weft.From([]int64{3, 0})).At(2), []int{2}, at(11, 8)},
		"masked":       {a.Mask(a.Field("Key").Eq(3)), []int{2}, at(4, 9)},
		"concatenated": {Cat([]*Array{a.Slice(weft.Range(0, 1)), a.Slice(weft.Range(2, 3))}, 0), []int{2, 4}, at(0, 1, 2, 3, 8, 9, 10, 11)},
		"behind":       {Cat([]*Array{a.At(0), a.At(2)}, -1), []int{8}, at(0, 1, 2, 3, 8, 9, 10, 11)},
		"none":         {a.Slice(weft.Range(1, 1)), []int{0, 4}, nil},
		"none masked":  {a.Mask(a.Field("Key").Gt(100)), []int{0}, nil},
		"cloned":       {a.T().Clone().T(), []int{3, 4}, data},
		"contiguous":   {a.T().Contiguous().T(), []int{3, 4}, data},
		"all of them":  {a.Slice(), []int{3, 4}, data},
		"strided keys": {a.Slice(weft.All, weft.Range(0, 4, 3)), []int{3, 2}, at(0, 3, 4, 7, 8, 11)},
	} {
		if !slices.Equal(c.got.Shape(), c.shape) || c.got.Rank() != len(c.shape) {
			t.Errorf("%s: shape %v, want %v", name, c.got.Shape(), c.shape)
		}
		if got := Data[item](c.got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		for k, x := range c.want {
			if got := c.got.Reshape(-1).Field("Pairs.B").At(k, 1).Item(); got != x.Pairs[1].B {
				t.Errorf("%s: Pairs[1].B of record %d is %v, want %v", name, k, got, x.Pairs[1].B)
			}
		}
	}
	if a.T().IsContiguous() || !a.IsContiguous() || a.Len() != 12 || a.Dim(-1) != 4 {
		t.Error(a.T().IsContiguous(), a.Len(), a.Dim(-1))
	}
}

// Every place that is sorted is one before the same Go sort; records that are equal stay in order.
func TestSortByFields(t *testing.T) {
	data := items(40)
	for i := range data {
		data[i].X = float64(i % 4)
	}
	for _, by := range [][]string{{"Key"}, {"Key", "X"}, {"X", "Key"}} {
		want := slices.Clone(data)
		slices.SortStableFunc(want, func(a, b item) int {
			for _, name := range by {
				d := int(a.Key - b.Key)
				if name == "X" {
					d = int(a.X - b.X)
				}
				if d != 0 {
					return d
				}
			}
			return 0
		})
		if got := Data[item](FromSlice(data).Sort(0, by...)); !slices.Equal(got, want) {
			t.Errorf("by %v: %v, want %v", by, got, want)
		}
	}
	rows := FromSlice(slices.Clone(data), 4, 10).Sort(-1, "Key")
	for r := range 4 {
		want := slices.Clone(data[10*r : 10*r+10])
		slices.SortStableFunc(want, func(a, b item) int { return int(a.Key - b.Key) })
		if got := Data[item](rows.At(r)); !slices.Equal(got, want) {
			t.Errorf("row %d: %v, want %v", r, got, want)
		}
	}
}

func TestAssign(t *testing.T) {
	v := Zeros(LayoutOf[vertex](), 2, 3)
	v.Assign(vertex{Color: [3]float32{1, 2, 3}})
	v.At(1).Assign([]vertex{{}, {Position: [2]float32{5, 6}}, {}})
	v.At(0, 2).Assign(4)
	want := []vertex{{Color: [3]float32{1, 2, 3}}, {Color: [3]float32{1, 2, 3}}, {[2]float32{4, 4}, [3]float32{4, 4, 4}}, {}, {Position: [2]float32{5, 6}}, {}}
	if got := Data[vertex](v); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// Another layout: fields are found by name, and memory may overlap.
	type swapped struct {
		Color    [3]float32 `records:"color"`
		Position [2]float32 `records:"position"`
	}
	s := Zeros(LayoutOf[swapped](), 2, 3).Assign(v)
	if got := Data[swapped](s); got[4].Position != [2]float32{5, 6} || got[0].Color != [3]float32{1, 2, 3} {
		t.Error(got)
	}
	if got := Data[vertex](s); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	v.Slice(weft.All, weft.Range(1, 3)).Assign(v.Slice(weft.All, weft.Range(0, 2)))
	if got := Data[vertex](v.At(1)); got[1] != (vertex{}) || got[2] != want[4] {
		t.Errorf("%v", got)
	}
	if got := v.Eq(s).All().Item(); got != 0 {
		t.Error("unequal records are equal")
	}
	if got := s.Assign(v).Eq(v); got.All().Item() != 1 || !slices.Equal(got.Shape(), []int{2, 3}) {
		t.Errorf("%v", got)
	}
	if got := fmt.Sprint(v.Eq(vertex{Position: [2]float32{4, 4}, Color: [3]float32{4, 4, 4}})); got != "[[false false false]\n [false false false]]" {
		t.Error(got)
	}
	if got := fmt.Sprint(v.At(1).Eq([]vertex{{}, {}, want[4]})); got != "[true true true]" {
		t.Error(got)
	}
}

// To converts elements, and leaves fields out.
func TestToAnotherLayout(t *testing.T) {
	a := FromSlice(items(5))
	type small struct {
		X   float32
		Key int64
	}
	got := Data[small](a.To(LayoutOf[small]()))
	for i, x := range items(5) {
		if got[i] != (small{float32(x.X), int64(x.Key)}) {
			t.Errorf("%d: %v, want %v", i, got[i], x)
		}
	}
	keys := a.Select("X", "Key")
	if s := keys.Layout().String(); s != "X: float64 at 40, Key: int32 at 0 of 56" {
		t.Error(s)
	}
	keys.Field("Key").Assign(3)
	if a.Field("Key").At(4).ItemInt() != 3 || !reflect.DeepEqual(keys.Layout().Names(), []string{"X", "Key"}) {
		t.Error("Select is not on the same memory")
	}
}

func TestBorrowLendsStructs(t *testing.T) {
	v := Zeros(LayoutOf[vertex](), 2, 2)
	d := v.Track()
	d.Flush(Zeros(v.Layout(), 2, 2).Bytes().Sink())
	Borrow(v.At(1), func(data []vertex) { data[1].Color[2] = 9 })
	if got := v.Field("color").At(1, 1, 2).Item(); got != 9 {
		t.Error(got)
	}
	if got := fmt.Sprint(d.Pending()); got != "[{40 80}]" {
		t.Error(got)
	}
}

// What NumPy's book says of its program: 88 bytes as one interval, exact runs otherwise.
func TestTrackedVertices(t *testing.T) {
	for _, c := range []struct {
		opts weft.TrackOpts
		want string
	}{
		{weft.TrackOpts{OneInterval: true}, "[{0 88}]"},
		{weft.TrackOpts{Cost: &weft.Cost{}}, "[{0 8} {80 88}]"},
		{weft.TrackOpts{Cost: &weft.Cost{}, Item: new(20)}, "[{0 20} {80 100}]"},
	} {
		v := Zeros(LayoutOf[vertex](), 3, 3)
		d := v.Track(c.opts)
		if got := fmt.Sprint(d.Pending()); got != "[{0 180}]" {
			t.Errorf("at first %s is pending", got)
		}
		d.Flush(Zeros(v.Layout(), 3, 3).Bytes().Sink())
		v.Field("position").At(0, 0).Assign(0)
		v.At(1, 1).Field("position").Assign(0)
		if got := fmt.Sprint(d.Pending()); got != c.want {
			t.Errorf("%+v: %s, want %s", c.opts, got, c.want)
		}
		d.Stop()
	}
}

// A field is a leaf like any other: gradients, compiled functions and in-place updates work on it.
func TestFieldsUnderGradientsAndCompile(t *testing.T) {
	v := Zeros(LayoutOf[vertex](), 4)
	v.Assign(vertex{Position: [2]float32{1, 2}, Color: [3]float32{3, 4, 5}})
	p := v.Field("position").RequireGrad()
	p.Mul(p).Sum().Backward()
	if got := fmt.Sprint(p.Grad().At(3)); got != "[2. 4.]" {
		t.Error(got)
	}
	c := v.Field("color")
	step := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		c.AddAssign(x)
		return c.Sum().Add(v.Field("position").Sum())
	})
	for k := range 3 {
		got, err := step.Call(weft.Scalar(1.))
		if err != nil {
			t.Fatal(err)
		}
		if want := float64(4*(12+3*(k+1)) + 12); got.Item() != want {
			t.Errorf("call %d: %v, want %v", k, got, want)
		}
	}
	if got := Data[vertex](v)[2]; got != (vertex{[2]float32{1, 2}, [3]float32{6, 7, 8}}) {
		t.Error(got)
	}
}

// A float64 field after an int32 one: the refusal says that one memory has two element types.
func TestFieldsOfOtherTypesInOneCompiledFunction(t *testing.T) {
	a := FromSlice(items(3))
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		return x.Add(a.Field("X")).Add(a.Field("Key"))
	})
	_, err := f.Call(weft.ZerosOf(weft.Float64, 3))
	if err == nil || !strings.Contains(err.Error(), "int32 of memory that the function uses as float64") {
		t.Errorf("%v", err)
	}
	g := weft.Compile(func(x, key *weft.Tensor) *weft.Tensor { return x.Add(a.Field("X")).Add(key) })
	got, err := g.Call(weft.ZerosOf(weft.Float64, 3), a.Field("Key").Clone())
	if err != nil || fmt.Sprint(got) != fmt.Sprint(a.Field("X").Add(a.Field("Key"))) {
		t.Errorf("%v %v", got, err)
	}
}

func TestMistakesWithArrays(t *testing.T) {
	v := Zeros(LayoutOf[vertex](), 2, 3)
	bytes := weft.FromSlice(make([]byte, 64))
	var none *Array
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { none.Field("x") }, "field: the array is nil"},
		{func() { new(Array).Clone() }, "clone: the array is nil"},
		{func() { v.Field("normal") }, `field: name: "normal" is none of the fields ["position" "color"]`},
		{func() { FromSlice(items(1)).Field("Pairs") }, "holds records: Records returns them"},
		{func() { v.Records("color") }, `records: name: "color" is not a field of records`},
		{func() { v.Select("normal") }, "is none of the fields"},
		{func() { v.Select() }, "has no fields"},
		{func() { v.At(0, 0, 0) }, "at: index: has 3 indices, the array 2 axes"},
		{func() { v.At(2) }, "at: "},
		{func() { v.Slice(weft.All, weft.All, weft.All) }, "slice: spans: are for 3 axes, the array has 2"},
		{func() { v.Reshape(5) }, "reshape: "},
		{func() { v.Permute(0, 2) }, "permute: "},
		{func() { v.Permute(0) }, "permute: "},
		{func() { v.Take(2, weft.Arange(1)) }, "take: "},
		{func() { v.Mask(weft.Ones(2, 3)) }, "mask: mask: is float32[2 3], want bool[2 3]"},
		{func() { v.Assign("x") }, "assign: x: is string"},
		{func() { v.Assign(nil) }, "assign: x: is nil"},
		{func() { v.Assign(make([]vertex, 2)) }, "does not broadcast to [2 3]"},
		{func() { v.Assign(inner{}) }, `assign: there is no field "position"`},
		{func() { v.Assign([]struct{ Position [2]float32 }{{}}) }, `there is no field "position"`},
		{func() { v.To(LayoutOf[inner]()) }, `to: there is no field "A"`},
		{func() { Data[inner](v) }, `data: there is no field "A"`},
		{func() {
			Data[struct {
				Position [3]float32 `records:"position"`
			}](v)
		}, `the field "position" has the shape [2], and [3] is wanted`},
		{func() {
			Data[struct {
				Position [2]float64 `records:"position"`
			}](v)
		}, `data: T: has a field "position" of float64, the array of float32`},
		{func() { Borrow(v, func([]inner) {}) }, "borrow: T: has the layout"},
		{func() { Borrow(v.T(), func([]vertex) {}) }, "is not contiguous"},
		{func() { Borrow[vertex](v, nil) }, "borrow: f: is nil"},
		{func() { Cat(nil, 0) }, "cat: list: is empty"},
		{func() { Cat([]*Array{v, FromSlice(items(1))}, 0) }, "cat: list: has the layouts"},
		{func() { v.Sort(0, "position") }, `"position" is an array in each record`},
		{func() { v.Sort(0, "normal") }, `"normal" is none of the fields`},
		{func() { From(3) }, "from: x: is int"},
		{func() { From([][]vertex{{{}}, {}}) }, "is ragged"},
		{func() { Over(LayoutOf[vertex](), bytes) }, "over: bytes: is uint8[64], want contiguous rows uint8[... 20]"},
		{func() { Over(LayoutOf[vertex](), nil) }, "over: "},
		{func() { Over(LayoutOf[vertex](), bytes.Slice(weft.Range(1, 41)).Reshape(2, 20)) }, "do not lie at multiples of 4 bytes"},
		{func() {
			Over(LayoutOf[vertex](), bytes.Slice(weft.Range(0, 42)).Reshape(2, 21).Slice(weft.All, weft.Range(0, 20)))
		}, "do not lie at multiples of 4 bytes"},
		{func() { Over(LayoutOf[vertex](), bytes.Slice(weft.Range(0, 40)).Reshape(20, 2).T()) }, "want contiguous rows"},
	} {
		err := weft.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q in it", err, c.want)
		}
	}
	if got := Data[vertex](Over(v.Layout(), v.Bytes().At(1))); len(got) != 3 {
		t.Error(got)
	}
}

func TestPrinting(t *testing.T) {
	v := FromSlice([]item{{Key: 1, X: 2.5, Flag: true}, {Key: -2}})
	if got, want := v.String(), "[(1, [(0, 0.0) (0, 0.0)], 2.5, true) (-2, [(0, 0.0) (0, 0.0)], 0.0, false)]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%.2f", Zeros(LayoutOf[vertex](), 1)), "[([0.00 0.00], [0.00 0.00 0.00])]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m := Zeros(LayoutOf[struct{ X int8 }](), 2, 2)
	if got, want := m.String(), "[[(0) (0)]\n [(0) (0)]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	long := Zeros(LayoutOf[struct{ X int8 }](), 1001)
	if got, want := long.String(), "[(0) (0) (0) ... (0) (0) (0)]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := strings.Count(fmt.Sprintf("%+v", long), "(0)"); n != 1001 {
		t.Errorf("%d records were printed", n)
	}
	if got := Zeros(LayoutOf[vertex](), 0).String(); got != "[]" {
		t.Error(got)
	}
	if got := fmt.Sprint((*Array)(nil)); got != "<nil>" {
		t.Error(got)
	}
}

// A program that reads the JSON gets the structs.
func TestJSONIsOfStructs(t *testing.T) {
	want := [][]item{items(3), items(6)[3:]}
	text, err := json.Marshal(From(want).Slice(weft.Range(weft.End, weft.Begin, -1)))
	if err != nil {
		t.Fatal(err)
	}
	var got [][]item
	if err := json.Unmarshal(text, &got); err != nil || !slices.Equal(got[0], want[1]) || !slices.Equal(got[1], want[0]) {
		t.Errorf("%v %v from %s", got, err, text)
	}
	for want, a := range map[string]*Array{
		`{"position":[0,0],"color":[0,0,0]}`: Zeros(LayoutOf[vertex]()),
		`[[],[]]`:                            Zeros(LayoutOf[vertex](), 2, 0),
		`null`:                               nil,
	} {
		if text, err := json.Marshal(a); err != nil || string(text) != want {
			t.Errorf("%s %v, want %s", text, err, want)
		}
	}
	if _, err := json.Marshal(Zeros(LayoutOf[struct{ Z [2]complex64 }]())); err == nil {
		t.Error("complex numbers were written as JSON")
	}
}

// Sixteen goroutines read one array, and write fields of records of their own.
func TestArraysInManyGoroutines(t *testing.T) {
	a := FromSlice(items(64), 16, 4)
	var all sync.WaitGroup
	for k := range 16 {
		all.Go(func() {
			for range 50 {
				row := a.At(k)
				row.Field("X").Assign(k)
				row.Records("Pairs").Field("B").AddAssign(1)
				if got := row.Sort(0, "Key").Field("X").Sum().Item(); got != float64(4*k) {
					t.Errorf("row %d: %v", k, got)
					return
				}
			}
		})
	}
	all.Wait()
	for k := range 16 {
		if got := a.At(k, 3).Field("Pairs.B").At(1).Item(); got != float64(10*(4*k+3)+1+50) {
			t.Errorf("row %d: %v", k, got)
		}
	}
}
