package ragged

import (
	"math"
	"reflect"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/tensortest"
)

// A change of values is seen through windows, and one through windows by the list; a change of
// sizes leaves older windows with the memory that they are of.
func TestWindowsShareMemory(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := Of([][]int64{{1}, {2, 3}, {4}})
	item, data := l.At(1), l.Data()
	item.Assign(7)
	shows(t, l, "[ [1] [7 7] [4] ]")
	l.Set(1, 8)
	holds(t, item, 8, 8)
	part := l.Range(1, 3)
	part.Set(0, 9, 9)
	part.SetRange(1, 2, 5)
	shows(t, l, "[ [1] [9 9] [5] ]")
	refuses(t, func() { part.Append(1) })
	refuses(t, func() { part.Set(0, 1); part.Set(0, 1, 2, 3) })
	l.Set(1, []int64{9, 9})
	l.Append(6) // into new memory
	l.Set(1, 0)
	holds(t, data, 1, 9, 9, 5)
	holds(t, l.Data(), 1, 0, 0, 5, 6)
	own := part.Clone()
	own.Append(3)
	shows(t, own, "[ [9 9] [5] [3] ]")
	// The first change of sizes leaves a tensor that was given as it is.
	x := weft.From([]int64{1, 2, 3})
	m := FromSizes(x, 1)
	m.Set(0, 5)
	holds(t, x, 5, 2, 3)
	m.Delete(0)
	m.Set(0, 6)
	holds(t, x, 5, 2, 3)
	shows(t, m, "[ [6] [3] ]")
}

// Rows come from Go values of any kind; what does not fit is refused before anything changes.
func TestAppendedGoValues(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := Of([][][2]float32{{{1, 2}}})
	l.Append([2]float32{3, 4})
	l.Append([][2]float32{{5, 6}, {7, 8}})
	l.Append([][]float64{{9, 10}})
	l.Append([][][2]float32{{}, {{11, 12}}})
	l.Append(weft.From([][]int32{{13, 14}}))
	l.Append(weft.ZerosOf(weft.Float32, 2, 1, 2))
	l.Append(15)
	l.Set(0, []float32{0, 1})
	l.Set(1, weft.From([]int32{2, 3}), []float32{4, 5})
	shows(t, l, "[ [[0. 1.]] [[2. 3.] [4. 5.]] [[5. 6.] [7. 8.]] [[9. 10.]] [] [[11. 12.]] [[13. 14.]] [[0. 0.]] [[0. 0.]] [[15. 15.]] ]")
	s := Of([][]xy{{{1, 2}}})
	s.Append(xy{3, 4})
	s.Append([]xy{{5, 6}, {7, 8}})
	s.Set(0, xy{9, 9}, xy{8, 8})
	s.Set(1, xy{0, 0})
	s.Insert(0, s.Range(2, 3))
	shows(t, s, "{X: [ [5. 7.] [9. 8.] [0.] [5. 7.] ]\n Y: [ [6. 8.] [9. 8.] [0.] [6. 8.] ]}")
	n := Of([][][]int64{{{1}, {2}}, {}})
	i := Of([][]int8{{1}, {2, 3}})
	before := []string{l.String(), s.String(), n.String(), i.String()}
	for _, f := range []func(){
		func() { l.Append(nil) },
		func() { l.Append("x") },
		func() { l.Append([]float32{1, 2, 3}) },
		func() { l.Append(weft.Zeros(1, 1, 1, 2)) },
		func() { l.Append(1, 1, 1) },
		func() { l.Append([][2]float32{{1, 2}}, 2) },
		func() { l.Append([][][2]float32{{{1, 2}}}, 1) },
		func() { l.Append((*weft.Tensor)(nil)) },
		func() { l.Append((*List)(nil)) },
		func() { l.Append(n) },
		func() { l.Append(s) },
		func() { s.Append(1) },
		func() { s.Append(l) },
		func() { s.Append(point{}) },
		func() { s.Append([]point{{}}) },
		func() { n.Append(1) },
		func() { n.Set(0, []int64{1, 2}) },
		func() { i.Append(1.5) },
		func() { i.Append(300) },
		func() { i.Set(0, 300, 1) },
		func() { i.Set(0, []float32{1, 2}) },
		func() { i.SetRange(0, 2, []int8{1, 2}) },
		func() { i.SetRange(0, 2, [][]int8{{1, 2}}) },
		func() { i.Set(0, [][]int8{{1}, {2}}) },
		func() { i.Reserve(-1, 0) },
		func() { i.Reserve(0, math.MaxInt) },
		func() { (*List)(nil).Append(1) },
		func() { (&List{}).Append(1) },
	} {
		refuses(t, f)
	}
	for k, x := range []*List{l, s, n, i} {
		if got := x.String(); got != before[k] {
			t.Errorf("%s became %s", before[k], got)
		}
	}
	if e, ok := weft.Try(func() { i.Reserve(1<<47, 0) }).(*weft.Error); !ok || e.Kind != weft.OutOfMemory {
		t.Error(e)
	}
	if e, ok := weft.Try(func() { i.Reserve(0, 1<<47) }).(*weft.Error); !ok || e.Kind != weft.OutOfMemory {
		t.Error(e)
	}
	shows(t, i, before[3])
}

// Rows that lie in memory which moves are taken out of the way first.
func TestInsertOfOwnRows(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := FromSizes(ints(6), 1)
	l.Reserve(10, 10)
	weft.Borrow(l.Data(), func(x []int64) { l.Insert(0, x[3:]) })
	shows(t, l, "[ [3 4 5] [0] [1] [2] [3] [4] [5] ]")
	l.Insert(0, l)
	shows(t, l.Range(7, 14), l.Range(0, 7).String())
	l = FromSizes(ints(6), 1)
	l.Reserve(10, 10)
	l.Insert(0, l.At(-1))
	l.Set(0, l.Data())
	shows(t, l, "[ [5 0 1 2 3 4 5] [0] [1] [2] [3] [4] [5] ]")
}

func TestReserve(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := Of([][]int64{{1}})
	l.Reserve(100, 1000)
	l.Append(0)
	at := l.Data()
	for range 99 {
		l.Append([]int64{1, 2, 3})
	}
	now, first := (*core.Tensor)(l.Data()).Read(), (*core.Tensor)(at).Read()
	if now.Store != first.Store {
		t.Error("reserved memory did not do")
	}
	l.Shrink()
	v := (*core.Tensor)(l.Data()).Read()
	if v.Store.Bytes < l.Rows()*8 || v.Store.Bytes > l.Rows()*8+64 || len(l.ed.levels[0].offsets) != l.Len()+1 {
		t.Error(v.Store.Bytes, l.Rows(), len(l.ed.levels[0].offsets))
	}
	l.Clear()
	shows(t, l, "[ ]")
	l.Shrink()
	l.Append(3)
	shows(t, l, "[ [3] ]")
}

// Memory doubles: the rows that are copied while a list grows are fewer than those that it has.
func TestGrowth(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := Empty(weft.Int32)
	copied, room := 0, 0
	for i := range 100000 {
		before := l.Rows()
		l.Append([]int32{int32(i), 1})
		if l.ed.capacity != room {
			copied, room = copied+before, l.ed.capacity
		}
	}
	if copied > 2*l.Rows() || l.Len() != 100000 {
		t.Errorf("%d rows were copied to have %d", copied, l.Rows())
	}
	if n := testing.AllocsPerRun(1000, func() { l.Append([]int32{1, 2}) }); n > 2 {
		t.Errorf("an append allocates %v times", n)
	}
}

// A change at the place of the last one moves nothing.
func TestEditAtGapMovesNothing(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := FromSizes(ints(100000), 1)
	l.Insert(50000, 0)
	e := l.ed
	lo := e.lo
	for range 100 {
		l.Insert(50000, []int64{1, 2})
		l.Delete(50000)
	}
	if e.lo != lo-1 || e.levels[0].lo != 50000 {
		t.Error(e.lo, lo, e.levels[0].lo)
	}
	want := append(append(ints(50000), 0), ints(100000)[50000:]...)
	if got := weft.Data[int64](l.Data()); !reflect.DeepEqual(got, want) {
		t.Error("other rows")
	}
}

// Gradients: what is written over rows is recorded, changes of sizes are refused where one is
// needed, and a backward pass that needs what was moved says so.
func TestEditGradients(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	x := weft.Ones(3).RequireGrad()
	l := FromSizes(x.Mul(2), []int{1, 2})
	w := weft.Scalar(3.0).RequireGrad()
	l.Set(1, w)
	l.Data().Square().Sum().Backward()
	if got := weft.Data[float32](x.Grad()); !reflect.DeepEqual(got, []float32{8, 0, 0}) || w.Grad().Item() != 12 {
		t.Error(got, w.Grad())
	}
	refuses(t, func() { l.Append(1) })
	refuses(t, func() { FromSizes(x, 1).Delete(0) })
	refuses(t, func() { FromSizes(x, 1).Set(0, 1) })
	refuses(t, func() { Of([][]float32{{1}}).Append(w) })
	m := Of([][]float32{{1, 2}, {3}})
	y := m.Data().Mul(w).Sum()
	m.Delete(0)
	if weft.Try(func() { y.Backward() }) == nil {
		t.Error("a gradient of rows that moved")
	}
}

// Memory that was given back is not touched.
func TestReleasedList(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := FromSizes(ints(1000), 1)
	old := l.Data()
	l.Insert(500, 1) // new memory
	old.Release()
	if l.Data().At(500).ItemInt() != 1 {
		t.Error(l)
	}
	old = l.Data()
	l.Insert(500, 1)
	old.Release() // a window: the list stays
	if l.Data().Size() != 1002 {
		t.Error(l)
	}
	l.Insert(500, 1)
	l.ed.mem[0].Release()
	refuses(t, func() { l.Data() })
	if l.ed.levels[0].lo != 501 {
		t.Error("rows were moved")
	}
	refuses(t, func() { l.At(0) })
	refuses(t, func() { l.Append(1) })
	refuses(t, func() { l.Set(0, []int64{1, 2}) })
}

// Offsets that were handed out stay as they are when items before the gap were deleted, and it
// moves back over them.
func TestSharedOffsets(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := FromSizes(ints(4), 1)
	l.Append(4)
	o := l.Offsets()
	l.Append(ints(12), 2)
	l.Insert(8, ints(3)) // beyond what was handed out
	l.DeleteRange(2, 9)
	l.Append(ints(2))
	holds(t, o, 0, 1, 2, 3, 4, 5)
	shows(t, l, "[ [0] [1] [6 7] [8 9] [10 11] [0 1] ]")
}

// What is written into the memory of a list without an operation, rows that move and values of
// Go, is marked where that is tracked, and what waits to read it is computed before.
func TestEditsMarkTrackedBytes(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	type point struct {
		X float32
		P [2]int64
	}
	var items [][]point
	for i := range 1000 {
		items = append(items, []point{{float32(i), [2]int64{1, 2}}, {-1, [2]int64{3, int64(i)}}, {7, [2]int64{5, 6}}})
	}
	numbers, points := FromSizes(ints(3000), 3), Of(items)
	for name, c := range map[string]struct {
		l    *List
		x    func(l *List) *weft.Tensor
		edit func(l *List)
	}{
		"rows that move":    {numbers, (*List).Data, func(l *List) { l.Insert(10, []int64{-5}); l.Data() }},
		"rows of Go":        {numbers, (*List).Data, func(l *List) { l.Set(20, []int64{-7, -8, -9}) }},
		"structs":           {points, func(l *List) *weft.Tensor { return l.Field("P").Data() }, func(l *List) { l.Set(5, []point{{1, [2]int64{-8, -9}}, {}, {}}) }},
		"structs that move": {points, func(l *List) *weft.Tensor { return l.Field("X").Data() }, func(l *List) { l.Delete(3); l.Len(); l.Field("X") }},
	} {
		c.l.Reserve(100, 100)
		x := c.x(c.l)
		d := weft.Track(x)
		if _, err := d.Flush(nowhere{}); err != nil {
			t.Fatal(err)
		}
		before := weft.Digest(x)
		double, old := x.Lazy().Mul(2), weft.Data[int64](x.To(weft.Int64))
		c.edit(c.l)
		if weft.Digest(x) == before {
			t.Fatalf("%s: nothing changed in place", name)
		}
		if got := weft.Data[int64](double.To(weft.Int64)); got[30] != 2*old[30] || got[len(got)-1] != 2*old[len(old)-1] {
			t.Errorf("%s: what waited for rows has those that came later", name)
		}
		row := x.Size() / x.Dim(0)
		size := x.DType().Size()
		now := weft.Data[int64](x.To(weft.Int64))
		for i := range now {
			at := i * size
			pending := false
			for _, p := range d.Pending() {
				pending = pending || p.Start <= at && at+size <= p.Stop
			}
			if now[i] != old[i] && !pending {
				t.Fatalf("%s: row %d changed and is not among %v", name, i/row, d.Pending())
			}
		}
		d.Stop()
	}
}

type nowhere struct{}

func (nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

// Appending rows as those before takes a shorter way, which marks what is tracked and refuses
// what the longer one does.
func TestRepeatedAppends(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	l := Empty(weft.Int64)
	l.Reserve(100, 1000)
	two := []int64{1, 2}
	for range 4 {
		l.Append(two)
	}
	l.Append([]int64{}) // and of none
	shows(t, l, "[ [1 2] [1 2] [1 2] [1 2] [] ]")
	d := weft.Track(l.Data())
	if _, err := d.Flush(weft.ZerosOf(weft.Int64, 8).Sink()); err != nil {
		t.Fatal(err)
	}
	l.DeleteRange(2, 5)
	l.Append([]int64{7})
	l.Append([]int64{8, 9})
	if got := d.Pending(); len(got) != 1 || got[0] != (weft.ByteRange{Start: 32, Stop: 56}) {
		t.Errorf("%v is pending", got)
	}
	d.Stop()
	shows(t, l, "[ [1 2] [1 2] [7] [8 9] ]")
	l.Append(two)
	shows(t, l.Range(3, 5), "[ [8 9] [1 2] ]")

	for _, lock := range []func(l *List) *List{(*List).FixedSize, (*List).ReadOnly} {
		l := Empty(weft.Int64)
		l.Append(two)
		l.Append(two)
		lock(l)
		refuses(t, func() { l.Append(two) })
		shows(t, l, "[ [1 2] [1 2] ]")
	}
	var none *List
	refuses(t, func() { none.Append(two) })
	l = Empty(weft.Int64)
	l.Reserve(100, 1000)
	x := any(two)
	l.Append(x)
	if n := testing.AllocsPerRun(50, func() { l.Append(x) }); n > 0 {
		t.Errorf("it takes %v allocations", n)
	}
}
