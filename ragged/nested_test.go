package ragged_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/ragged"
)

// TestAppendToNestedLists appends to lists of two and three levels beside plain slices: one
// item, several, lists, the list itself, and empty ones; what was taken from the list before
// stays as it was.
func TestAppendToNestedLists(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
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

// prints fails when a list does not print as it should.
func prints(t *testing.T, l *ragged.List, want string) {
	t.Helper()
	if got := l.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Items of nested lists come from slices, lists, tensors and, where they are written over, numbers.
func TestNestedItemForms(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := ragged.Of([][][]int64{{{1}, {2, 3}}, {}, {{4}}})
	l.Insert(1, weft.From([][]int64{{5, 6}, {7, 8}}))              // a tensor of one item
	l.Insert(-1, weft.From([][][]int8{{{9}}, {{10}}}))             // of two
	l.Set(0, []int64{11}, ragged.Of([]int64{12}).At(0), []int64{}) // items of the next level
	l.Set(2, [][]int8{{13}})                                       // a narrower type
	l.Set(1, 14)
	l.SetRange(3, 5, 15)
	prints(t, l, "[ [ [11] [12] [] ] [ [14 14] [14 14] ] [ [13] ] [ [15] ] [ [15] ] [ [4] ] ]")
	l.Set(0)
	l.SetRange(3, weft.End, [][]int64{{1, 2}, {}, {3}}) // as many items of the next level as are there
	l.Append([][]int64{{4}, {5}, {6}}, []int{1, 2})
	prints(t, l, "[ [ ] [ [14 14] [14 14] ] [ [13] ] [ [1 2] ] [ [] ] [ [3] ] [ [4] ] [ [5] [6] ] ]")

	rows := ragged.Of([][][][2]int64{{{{1, 2}}}, {}})
	rows.Insert(0, [][][2]int64{{{3, 4}, {5, 6}}, {}})
	rows.Insert(1, [][][]int64{{{7, 8}}}) // rows as slices
	rows.Set(0, [2]int64{0, 9})
	rows.Set(-1, weft.From([][][]int64{{{1, 1}}}))
	prints(t, rows, "[ [ [[0 9] [0 9]] [] ] [ [[7 8]] ] [ [[1 2]] ] [ [[1 1]] ] ]")

	structs := ragged.Of([][][]edge{{{{1, 2}}}, {}})
	structs.Insert(0, [][]edge{{}, {{3, 4}, {5, 6}}})
	structs.Set(1, edge{7, 8})
	structs.Field("To").Set(0, 9) // the same lengths
	if err := weft.Try(func() { structs.Field("To").Set(0, [][]float64{{1}}) }); err == nil {
		t.Error("a field changed its lengths")
	}
	structs.Delete(-1)
	prints(t, structs, "{From: [ [ [] [3. 5.] ] [ [7.] ] ]\n To: [ [ [] [9. 9.] ] [ [8.] ] ]}")
}

// Lists on the same memory see changes of values. A change of sizes of one does not reach the others.
func TestEditsOfListsOnTheSameMemory(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	model := [][][]int64{{{1}, {2, 3}}, {{4}}, {{5, 6}, {7}}}
	whole := ragged.Of(model).String()
	for name, c := range map[string]struct {
		of   func(l *ragged.List) *ragged.List
		keep bool // its sizes stay
	}{
		"an item":             {of: func(l *ragged.List) *ragged.List { return l.ListAt(0) }, keep: true},
		"the only item":       {of: func(l *ragged.List) *ragged.List { return l.Range(0, 1).ListAt(0) }, keep: true},
		"a range":             {of: func(l *ragged.List) *ragged.List { return l.Range(0, 2) }, keep: true},
		"all items":           {of: func(l *ragged.List) *ragged.List { return l.Range(0, 3) }, keep: true},
		"the items of items":  {of: func(l *ragged.List) *ragged.List { return l.Flatten() }},
		"one level more":      {of: func(l *ragged.List) *ragged.List { return l.Unflatten([]int{1, 2}) }},
		"there and back":      {of: func(l *ragged.List) *ragged.List { return l.Unflatten(1).Flatten() }},
		"all items in no way": {of: (*ragged.List).Clone},
	} {
		l := ragged.Of(model)
		m := c.of(l)
		if err := weft.Try(func() { m.Delete(0) }); (err != nil) != c.keep {
			t.Errorf("%s: deleting gave %v", name, err)
		}
		m.Data() // moves rows together
		prints(t, l, whole)
		l = ragged.Of(model)
		m = c.of(l)
		if !c.keep {
			m.Clear()
			m.Reserve(100, 100)
			l.Delete(0)
			l.Insert(0, model[0])
			prints(t, m, "[ ]")
			prints(t, l, whole)
		}
		l.ReadOnly()
		if m = c.of(l); name != "all items in no way" {
			if weft.Try(func() { m.Set(0, 9) }) == nil {
				t.Errorf("%s of a read-only list can be written", name)
			}
		}
		prints(t, l, whole)
	}
	l := ragged.Of(model)
	l.ListAt(0).Set(1, 8)
	l.Flatten().Set(-1, 9)
	prints(t, l, "[ [ [1] [8 8] ] [ [4] ] [ [5 6] [9] ] ]")
}

// Writes over nested rows are recorded. A change of sizes panics if rows need a gradient.
func TestNestedEditGradients(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	x := weft.From([]float64{1, 2, 3, 4}).RequireGrad()
	w := weft.From([][]float64{{5, 6}}).RequireGrad()
	l := ragged.FromOffsets(x.Mul(2), []int{0, 1, 2}, []int{0, 2, 4})
	l.Set(0, w)
	l.Data().Square().Sum().Backward()
	if got := weft.Data[float64](x.Grad()); !reflect.DeepEqual(got, []float64{0, 0, 24, 32}) {
		t.Errorf("the gradient of rows that stay is %v", got)
	}
	if got := weft.Data[float64](w.Grad()); !reflect.DeepEqual(got, []float64{10, 12}) {
		t.Errorf("the gradient of rows that were written is %v", got)
	}
	for name, f := range map[string]func(){
		"insert":  func() { l.Insert(0, [][]float64{{1}}) },
		"set":     func() { l.Set(0, [][]float64{{1}}) },
		"delete":  func() { l.Delete(0) },
		"of what": func() { ragged.Of([][][]float64{{{1}}}).Append(w) },
	} {
		if weft.Try(f) == nil {
			t.Errorf("%s was not refused", name)
		}
	}
	// A backward pass that needs rows which moved fails with an error.
	m := ragged.Of([][][]float64{{{1, 2}}, {{3}}})
	y := m.Data().Mul(weft.Scalar(3.0).RequireGrad()).Sum()
	m.Delete(0)
	if weft.Try(y.Backward) == nil {
		t.Error("a gradient of rows that moved")
	}
}

// Edits beside the last one write what they add, whatever lies behind.
func TestNestedEditsBesideTheLastOne(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	const n = 20000
	l := ragged.FromOffsets(make([]int64, 4*n), weft.Arange(n+1), weft.Arange(n+1).Mul(2), weft.Arange(2*n+1).Mul(2))
	l.Reserve(n, 4*n)
	l.Insert(n/2, [][][]int64{{{1}}})
	l.Append([][][]int64{{{1}}})
	x := l.Data()
	l.Insert(n/2, [][][]int64{{{1}}})
	d := weft.Track(x)
	defer d.Stop()
	if _, err := d.Flush(&window{bytes: make([]byte, x.Size()*8)}); err != nil {
		t.Fatal(err)
	}
	at := 8 * (2*n + 1)
	for i := range 10 {
		l.Insert(n/2+1+i, [][][]int64{{{2}, {}}})
	}
	if got := d.Pending(); len(got) != 1 || got[0] != (weft.ByteRange{Start: at, Stop: at + 80}) {
		t.Errorf("bytes %v are pending, want %d to %d", got, at, at+80)
	}
	for range 11 {
		l.Delete(n / 2)
	}
	l.Insert(n/2, [][][]int64{{{5}}})
	if got := weft.Data[int64](l.Data().Slice(weft.Range(2*n-1, 2*n+3))); !reflect.DeepEqual(got, []int64{0, 5, 1, 0}) {
		t.Errorf("rows are %v", got)
	}
}

func ExampleList_Insert_nested() {
	l := ragged.Of([][][]int64{{{1}, {2, 3}}, {{4}}})
	l.Insert(1, [][]int64{{5, 6}, {}})           // one item
	l.Set(0, []int64{7}, []int64{8}, []int64{9}) // three items of the next level
	l.Delete(-1)
	fmt.Println(l)
	// Output:
	// [ [ [7] [8] [9] ] [ [5 6] [] ] ]
}

func ExampleList_Append_nested() {
	l := ragged.Of([][][]float64{{{1}, {2, 3}}})
	l.Append([][]float64{{4, 5}, {6}}) // one item
	l.Append([][][]float64{{{7}}, {}}) // two
	fmt.Println(l)
	// Output:
	// [ [ [1.] [2. 3.] ] [ [4. 5.] [6.] ] [ [7.] ] [ ] ]
}
