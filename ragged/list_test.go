package ragged

import (
	"reflect"
	"testing"

	"weft"
)

func ints(n int) []int64 {
	x := make([]int64, n)
	for i := range x {
		x[i] = int64(i)
	}
	return x
}

func TestOf(t *testing.T) {
	l := Of([][]int64{{0}, {1, 2}, {3, 4, 5}, {6, 7, 8, 9}})
	if got := l.String(); got != "[ [0] [1 2] [3 4 5] [6 7 8 9] ]" {
		t.Error(got)
	}
	if got := weft.Data[int64](l.Data()); !reflect.DeepEqual(got, ints(10)) {
		t.Error(got)
	}
	if got := weft.Data[int64](l.Sizes()); !reflect.DeepEqual(got, []int64{1, 2, 3, 4}) {
		t.Error(got)
	}
	if got := weft.Data[int64](l.Offsets()); !reflect.DeepEqual(got, []int64{0, 1, 3, 6, 10}) {
		t.Error(got)
	}
	if l.Len() != 4 || l.Rows() != 10 || l.DType() != weft.Int64 || l.Depth() != 1 {
		t.Error(l.Len(), l.Rows(), l.DType(), l.Depth())
	}
	if got := weft.Data[int64](l.At(-2)); !reflect.DeepEqual(got, []int64{3, 4, 5}) {
		t.Error(got)
	}
	n := Of([][][]float32{{{1}, {2, 3}}, {}, {{}, {4}}})
	if got := n.String(); got != "[ [ [1.] [2. 3.] ] [ ] [ [] [4.] ] ]" {
		t.Error(got)
	}
	if got := weft.Data[float32](n.At(2, 1)); !reflect.DeepEqual(got, []float32{4}) {
		t.Error(got)
	}
	if got := Of([][][2]float32{{{1, 2}}, {{3, 4}, {5, 6}}}).String(); got != "[ [[1. 2.]] [[3. 4.] [5. 6.]] ]" {
		t.Error(got)
	}
}

func TestFromSizes(t *testing.T) {
	for _, c := range []struct {
		sizes any
		want  string
	}{
		{1, "[ [0] [1] [2] [3] ]"}, {2, "[ [0 1] [2 3] ]"}, {4, "[ [0 1 2 3] ]"},
		{[]int{1, 3}, "[ [0] [1 2 3] ]"}, {[]int64{0, 4, 0}, "[ [] [0 1 2 3] [] ]"}, {weft.From([]int32{3, 1}), "[ [0 1 2] [3] ]"},
	} {
		if got := FromSizes(ints(4), c.sizes).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.sizes, got, c.want)
		}
		if got := FromSizes(weft.From(ints(4)), c.sizes).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.sizes, got, c.want)
		}
	}
	for _, sizes := range []any{3, 0, -1, []int{1, 2}, []int{5}, []int{5, -1}, []int64{1 << 62, 1 << 62}, nil, 1.5, weft.From([]float32{4})} {
		if err := weft.Try(func() { FromSizes(ints(4), sizes) }); err == nil {
			t.Errorf("%v: no error", sizes)
		}
	}
}

func TestFromOffsets(t *testing.T) {
	for _, c := range []struct {
		offsets []any
		want    string
	}{
		{[]any{[]int{0, 1, 4}}, "[ [0] [1 2 3] ]"},
		{[]any{[]int{1, 1, 3}}, "[ [] [1 2] ]"},
		{[]any{[]int{2}}, "[ ]"},
		{[]any{[]int{1, 3}, []int{0, 1, 3, 4}}, "[ [ [1 2] [3] ] ]"},
		{[]any{[]int{0, 0, 2}, []int{0, 2, 2}}, "[ [ ] [ [0 1] [] ] ]"},
		{[]any{[]int{1, 2}, []int{0, 1, 3}, []int{0, 1, 2, 4}}, "[ [ [ [1] [2 3] ] ] ]"},
	} {
		if got := FromOffsets(ints(4), c.offsets...).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.offsets, got, c.want)
		}
	}
	for _, o := range [][]any{{}, {[]int{}}, {[]int{0, 5}}, {[]int{-1, 4}}, {[]int{2, 1}}, {[]int{0, 3}, []int{0, 1, 2}}} {
		if err := weft.Try(func() { FromOffsets(ints(4), o...) }); err == nil {
			t.Errorf("%v: no error", o)
		}
	}
}

type point struct {
	ID       int32
	Position [2]float64
	ok       bool
}

func TestStructs(t *testing.T) {
	l := Of([][]point{{{1, [2]float64{2, 3}, true}}, {{4, [2]float64{5, 6}, false}, {7, [2]float64{8, 9}, true}}})
	if got := l.Fields(); !reflect.DeepEqual(got, []string{"ID", "Position", "ok"}) {
		t.Error(got)
	}
	if got := l.String(); got != "{ID: [ [1] [4 7] ]\n Position: [ [[2. 3.]] [[5. 6.] [8. 9.]] ]\n ok: [ [true] [false true] ]}" {
		t.Error(got)
	}
	l.Field("ID").At(1).Assign(10)
	if got := weft.Data[int32](l.Field("ID").Data()); !reflect.DeepEqual(got, []int32{1, 10, 10}) {
		t.Error(got)
	}
	for _, f := range []func(){func() { l.Data() }, func() { l.At(0) }, func() { l.Field("nope") }, func() { l.Field("") }, func() { Of([]int{1}).Field("x") }} {
		if weft.Try(f) == nil {
			t.Error("no error")
		}
	}
}
