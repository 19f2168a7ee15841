package ragged_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"weft"
	"weft/ragged"
)

// TestAppendToNestedLists appends to lists of two and three levels beside plain slices: one
// item, several, lists, the list itself, and empty ones; what was taken from the list before
// stays as it was.
func TestAppendToNestedLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	row := func() []float64 {
		x := make([]float64, r.IntN(4))
		for i := range x {
			x[i] = float64(r.IntN(100))
		}
		return x
	}
	item := func() [][]float64 {
		x := make([][]float64, r.IntN(3))
		for i := range x {
			x[i] = row()
		}
		return x
	}
	several := func() [][][]float64 {
		x := make([][][]float64, r.IntN(3))
		for i := range x {
			x[i] = item()
		}
		return x
	}
	same := func(l *ragged.List, want [][][]float64) {
		t.Helper()
		if l.Depth() != 2 || l.Len() != len(want) {
			t.Fatalf("depth %d, %d items, want 2 and %d", l.Depth(), l.Len(), len(want))
		}
		for i, a := range want {
			if n := l.ListAt(i).Len(); n != len(a) {
				t.Fatalf("item %d has %d items, want %d", i, n, len(a))
			}
			for j, b := range a {
				if got := weft.Data[float64](l.At(i, j)); len(got)+len(b) > 0 && !reflect.DeepEqual(got, b) {
					t.Fatalf("item %d, %d is %v, want %v", i, j, got, b)
				}
			}
		}
	}
	for range 50 {
		want := several()
		l := ragged.Of(want)
		for range 20 {
			before, was := l.Clone(), want[:len(want):len(want)]
			view, flat := l.Flatten(), l.Range(0, l.Len())
			switch r.IntN(5) {
			case 0:
				x := item()
				l.Append(x)
				want = append(want, x)
			case 1:
				x := several()
				l.Append(x)
				want = append(want, x...)
			case 2:
				x := item()
				l.Append(ragged.Of(x))
				want = append(want, x)
			case 3:
				x := several()
				before.Append(ragged.Of(x))
				l.Append(ragged.Of(x))
				was, want = append(was, x...), append(want, x...)
			case 4:
				if len(want) < 50 {
					l.Append(l)
					want = append(want, want...)
				}
			}
			same(l, want)
			same(before, was)
			if flat.Len() > len(want) || view.Len() > l.Flatten().Len() {
				t.Fatal("what was taken before has grown")
			}
		}
		sizes := 0
		for _, a := range want {
			for _, b := range a {
				sizes += len(b)
			}
		}
		if l.Rows() != sizes {
			t.Fatalf("%d rows, want %d", l.Rows(), sizes)
		}
	}
	deep := ragged.Of([][][][]float32{{{{1}, {2}}}})
	deep.Append([][][]float32{{{3, 4}}, {}})
	deep.Append([][][][]float32{{}, {{{5}}}})
	if got := deep.String(); got != ragged.Of([][][][]float32{{{{1}, {2}}}, {{{3, 4}}, {}}, {}, {{{5}}}}).String() {
		t.Error(got)
	}
	for name, f := range map[string]func(l *ragged.List){
		"a deeper list":  func(l *ragged.List) { l.Append([][][][]float64{{{{1}}}}) },
		"a number":       func(l *ragged.List) { l.Append(1.0) },
		"nil":            func(l *ragged.List) { l.Append((*ragged.List)(nil)) },
		"other sizes":    func(l *ragged.List) { l.Append([][]float64{{1}}, []int{2}) },
		"other rows":     func(l *ragged.List) { l.Append(ragged.Of([][][2]float64{{{1, 2}}})) },
		"of a fixed one": func(l *ragged.List) { l.FixedSize().Append([][]float64{{1}}) },
	} {
		l := ragged.Of([][][]float64{{{1}}})
		if err := weft.Try(func() { f(l) }); err == nil {
			t.Errorf("%s was not refused", name)
		}
		same(l, [][][]float64{{{1}}})
	}
}

func ExampleList_Append_nested() {
	l := ragged.Of([][][]float64{{{1}, {2, 3}}})
	l.Append([][]float64{{4, 5}, {6}}) // one item
	l.Append([][][]float64{{{7}}, {}}) // two
	fmt.Println(l)
	// Output:
	// [ [ [1.] [2. 3.] ] [ [4. 5.] [6.] ] [ [7.] ] [ ] ]
}
