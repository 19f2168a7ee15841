package ragged

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// shows fails when a list is not printed as it should be.
func shows(t *testing.T, l *List, want string) {
	t.Helper()
	if got := l.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// refuses fails when f does not panic with an error of misuse.
func refuses(t *testing.T, f func()) {
	t.Helper()
	if e, ok := weft.Try(f).(*weft.Error); !ok || e.Kind != weft.Misuse || e.Op == "" {
		t.Errorf("got %v, want an error", e)
	}
}

func holds(t *testing.T, x *weft.Tensor, want ...int64) {
	t.Helper()
	if got := weft.Data[int64](x); !reflect.DeepEqual(got, append(make([]int64, 0), want...)) {
		t.Errorf("%v, want %v", got, want)
	}
}

type xy struct{ X, Y float64 }

// The behaviours that lists of the founding document have tests for, by the names of those.
func TestListBehaviours(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	none := func() *List { return Empty(weft.Int64) }
	ten := func(size int) *List { return FromSizes(ints(10), size) }
	three := func() *List { return Of([][]int64{{1}, {1, 2, 3}, {4, 5}}) }
	points := func() *List { return FromSizes([]xy{{1, 2}, {1, 2}, {1, 2}}, 1) }
	for _, c := range []struct {
		name string
		f    func(t *testing.T)
	}{
		{"init", func(t *testing.T) {
			if l := Empty(weft.Float64); l.DType() != weft.Float64 || l.Len() != 0 {
				t.Error(l.DType(), l.Len())
			}
		}},
		{"init from list", func(t *testing.T) {
			if l := Of([][]int{{0}, {1, 2}, {3, 4, 5}}); l.DType() != weft.Int64 || l.Len() != 3 {
				t.Error(l.DType(), l.Len())
			}
		}},
		{"init exception", func(t *testing.T) {
			refuses(t, func() { FromSizes(ints(5), 3) })
			refuses(t, func() { FromSizes(ints(5), []int{1, 2, 3}) })
		}},
		{"datasize", func(t *testing.T) {
			if n := FromSizes(ints(6), []int{1, 2, 3}).Data().Size(); n != 6 {
				t.Error(n)
			}
		}},
		{"itemsize", func(t *testing.T) { holds(t, FromSizes(ints(6), []int{1, 2, 3}).Sizes(), 1, 2, 3) }},
		{"append 1", func(t *testing.T) {
			l := none()
			l.Append(1)
			holds(t, l.At(0), 1)
		}},
		{"append 2", func(t *testing.T) {
			l := none()
			l.Append(ints(10), 2)
			shows(t, l, "[ [0 1] [2 3] [4 5] [6 7] [8 9] ]")
		}},
		{"append 3", func(t *testing.T) {
			l := none()
			l.Append(ints(10), []int{1, 2, 3, 4})
			shows(t, l, "[ [0] [1 2] [3 4 5] [6 7 8 9] ]")
		}},
		{"insert 1", func(t *testing.T) {
			l := none()
			l.Append(0)
			l.Append([][]int64{{1, 2}, {3, 4, 5}})
			shows(t, l, "[ [0] [1 2] [3 4 5] ]")
		}},
		{"insert 2", func(t *testing.T) {
			l := none()
			l.Append(1)
			l.Insert(0, ints(10), 2)
			shows(t, l, "[ [0 1] [2 3] [4 5] [6 7] [8 9] [1] ]")
		}},
		{"insert 3", func(t *testing.T) {
			l := none()
			l.Append(1)
			l.Insert(0, ints(10), []int{1, 2, 3, 4})
			shows(t, l, "[ [0] [1 2] [3 4 5] [6 7 8 9] [1] ]")
		}},
		{"insert 4", func(t *testing.T) {
			l := none()
			l.Append(1)
			l.Insert(-1, ints(10), []int{1, 2, 3, 4})
			shows(t, l, "[ [0] [1 2] [3 4 5] [6 7 8 9] [1] ]")
		}},
		{"str", func(t *testing.T) {
			shows(t, Of([][]int{{0}, {1, 2}, {3, 4, 5}, {6, 7, 8, 9}}), "[ [0] [1 2] [3 4 5] [6 7 8 9] ]")
		}},
		{"getitem negative", func(t *testing.T) { holds(t, ten(1).At(-1), 9) }},
		{"getitem reverse", func(t *testing.T) { holds(t, ten(1).Range(-1, -2).Data(), 8) }},
		{"getitem empty", func(t *testing.T) { holds(t, ten(1).Range(1, 1).Data()) }},
		{"getitem exception", func(t *testing.T) {
			refuses(t, func() { ten(1).At(-11) })
			refuses(t, func() { ten(1).At() })
		}},
		{"getitem ellipsis", func(t *testing.T) { holds(t, ten(1).Data(), ints(10)...) }},
		{"getitem key", func(t *testing.T) { shows(t, points().Field("X"), "[ [1.] [1.] [1.] ]") }},
		{"setitem ellipsis", func(t *testing.T) {
			l := ten(1)
			l.SetRange(weft.Begin, weft.End, 0)
			holds(t, l.Data(), make([]int64, 10)...)
		}},
		{"setitem", func(t *testing.T) {
			l := ten(1)
			l.Set(0, 3)
			holds(t, l.At(0), 3)
		}},
		{"setitem negative", func(t *testing.T) {
			l := ten(1)
			l.Set(-1, 0)
			holds(t, l.At(9), 0)
		}},
		{"setitem exception", func(t *testing.T) {
			refuses(t, func() { ten(1).Set(-11, 0) })
			refuses(t, func() { ten(1).Set(0, "x") })
		}},
		{"setitem range", func(t *testing.T) {
			l := ten(2)
			l.SetRange(weft.Begin, 2, []int64{1, 2, 3, 4})
			shows(t, l, "[ [1 2] [3 4] [4 5] [6 7] [8 9] ]")
		}},
		{"setitem reversed range", func(t *testing.T) {
			l := ten(2)
			l.SetRange(2, 0, []int64{11, 12, 13, 14})
			shows(t, l, "[ [11 12] [13 14] [4 5] [6 7] [8 9] ]")
		}},
		{"setitem empty range", func(t *testing.T) {
			l := ten(2)
			l.SetRange(0, 0, []int64{})
			l.SetRange(0, 0, 7)
			holds(t, l.Data(), ints(10)...)
		}},
		{"setitem key", func(t *testing.T) {
			l := points()
			l.Field("Y").Set(0, 3)
			if x, y := l.Field("X").At(0).Item(), l.Field("Y").At(0).Item(); x != 1 || y != 3 {
				t.Error(x, y)
			}
		}},
		{"delitem single item", func(t *testing.T) {
			l := three()
			l.Delete(0)
			shows(t, l, "[ [1 2 3] [4 5] ]")
		}},
		{"delitem last item", func(t *testing.T) {
			l := three()
			l.Delete(-1)
			shows(t, l, "[ [1] [1 2 3] ]")
			holds(t, l.At(-1), 1, 2, 3)
		}},
		{"delitem many items", func(t *testing.T) {
			l := none()
			l.Append(ints(10), 1)
			l.DeleteRange(1, weft.End)
			shows(t, l, "[ [0] ]")
		}},
		{"delitem all items", func(t *testing.T) {
			l := none()
			l.Append(ints(10), 1)
			l.DeleteRange(weft.Begin, weft.End)
			shows(t, l, "[ ]")
		}},
		{"delitem all items 2", func(t *testing.T) {
			l := none()
			l.Append(ints(10), 1)
			l.Clear()
			shows(t, l, "[ ]")
		}},
		{"delitem exception", func(t *testing.T) {
			refuses(t, func() { ten(1).Delete(10) })
			refuses(t, func() { ten(1).DeleteRange(0, 1, 0) })
		}},
		{"sizeable", func(t *testing.T) {
			l := Of([][]int64{{1}, {2, 3}}).FixedSize()
			refuses(t, func() { l.Delete(0) })
			refuses(t, func() { l.Insert(0, 0) })
			refuses(t, func() { l.Set(0, 1, 2) })
			l.Set(1, 4, 5)
			shows(t, l, "[ [1] [4 5] ]")
		}},
		{"writeable", func(t *testing.T) {
			l := Of([]int64{1, 2, 3}).ReadOnly()
			refuses(t, func() { l.Set(0, 0) })
			refuses(t, func() { l.SetRange(0, 1, 0) })
			refuses(t, func() { l.Append(0) })
			shows(t, l, "[ [1] [2] [3] ]")
		}},
		{"data", func(t *testing.T) {
			data := weft.Randn(10)
			if l := FromSizes(data, 1); l.Data() != data {
				t.Error("other memory")
			}
		}},
	} {
		t.Run(c.name, c.f)
	}
}

// What the sources of the founding document do wrong, by its letters.
func TestListFaultsOfOrigin(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	t.Run("a: an item grows and shrinks in place", func(t *testing.T) {
		l := Of([][]int64{{0}, {1, 2}, {3}})
		l.Set(1, 1, 1, 1)
		shows(t, l, "[ [0] [1 1 1] [3] ]")
		l.Set(1, []int64{5})
		shows(t, l, "[ [0] [5] [3] ]")
		l.Set(1)
		l.Set(-1, []int{8, 9})
		shows(t, l, "[ [0] [] [8 9] ]")
	})
	t.Run("b: a deletion moves every offset behind it", func(t *testing.T) {
		l := FromSizes(ints(10), 1)
		l.Delete(0)
		shows(t, l, "[ [1] [2] [3] [4] [5] [6] [7] [8] [9] ]")
		holds(t, l.Offsets(), ints(10)...)
	})
	t.Run("c: indices end before the length", func(t *testing.T) {
		l := FromSizes(ints(3), 1)
		for _, i := range []int{3, -4, math.MaxInt, math.MinInt} {
			refuses(t, func() { l.At(i) })
			refuses(t, func() { l.Set(i, 0) })
			refuses(t, func() { l.Delete(i) })
		}
		refuses(t, func() { l.Insert(4, 0) })
		l.Insert(3, 3)
		shows(t, l, "[ [0] [1] [2] [3] ]")
	})
	t.Run("d: ranges have steps", func(t *testing.T) {
		l := Of([][]int64{{0}, {1, 2}, {}, {3}, {4, 5, 6}})
		shows(t, l.Range(0, 5, 2), "[ [0] [] [4 5 6] ]")
		shows(t, l.Range(weft.End, weft.Begin, -1), "[ [4 5 6] [3] [] [1 2] [0] ]")
		shows(t, l.Range(3, 0, -2), "[ [3] [1 2] ]")
		shows(t, l.Range(0, 5, -1), "[ ]")
		l.DeleteRange(weft.End, weft.Begin, -2)
		shows(t, l, "[ [1 2] [3] ]")
	})
	t.Run("e: without sizes items have one row", func(t *testing.T) {
		shows(t, Of(ints(3)), "[ [0] [1] [2] ]")
	})
	t.Run("f: growing repeats nothing", func(t *testing.T) {
		l := Empty(weft.Int64)
		var want [][]int64
		for i := range 1000 {
			l.Insert(i/2, []int64{int64(i), int64(i)})
			want = append(want, nil)
			copy(want[i/2+1:], want[i/2:])
			want[i/2] = []int64{int64(i), int64(i)}
		}
		same(t, l, want)
	})
}

// same compares a list with a model.
func same[T any](t *testing.T, l *List, want [][]T) {
	t.Helper()
	if l.Len() != len(want) {
		t.Fatalf("%d items, want %d", l.Len(), len(want))
	}
	var flat []T
	offsets := []int64{0}
	for _, item := range want {
		flat = append(flat, item...)
		offsets = append(offsets, int64(len(flat)))
	}
	if got := weft.Data[int64](l.Offsets()); !reflect.DeepEqual(got, offsets) {
		t.Fatalf("offsets %v, want %v", got, offsets)
	}
	if l.Rows() != len(flat) {
		t.Fatalf("%d rows, want %d", l.Rows(), len(flat))
	}
	sameRows(t, l, flat)
}

func sameRows[T any](t *testing.T, l *List, flat []T) {
	t.Helper()
	var got any
	switch any(flat).(type) {
	case []int64:
		got = weft.Data[int64](l.Data())
	case []int8:
		got = weft.Data[int8](l.Data())
	case [][2]float64:
		x := weft.Data[float64](l.Data())
		rows := make([][2]float64, len(x)/2)
		for i := range rows {
			rows[i] = [2]float64{x[2*i], x[2*i+1]}
		}
		got = rows
	case []xy:
		x, y := weft.Data[float64](l.Field("X").Data()), weft.Data[float64](l.Field("Y").Data())
		rows := make([]xy, len(x))
		for i := range rows {
			rows[i] = xy{x[i], y[i]}
		}
		got = rows
	}
	if len(flat) > 0 && !reflect.DeepEqual(got, any(flat)) {
		t.Fatalf("rows %v, want %v", got, flat)
	}
}

// TestEditScripts makes random changes of lists and of a plain model beside each, which must
// stay the same. WEFT_EDITS is the number of steps.
func TestEditScripts(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	steps := 4000
	if n, err := strconv.Atoi(os.Getenv("WEFT_EDITS")); err == nil {
		steps = n
	}
	t.Run("int64", func(t *testing.T) { edits(t, steps, func(i int) int64 { return int64(i) }) })
	t.Run("int8", func(t *testing.T) { edits(t, steps, func(i int) int8 { return int8(i) }) })
	t.Run("rows", func(t *testing.T) {
		edits(t, steps, func(i int) [2]float64 { return [2]float64{float64(i), -float64(i)} })
	})
	t.Run("structs", func(t *testing.T) { edits(t, steps, func(i int) xy { return xy{float64(i), float64(-i)} }) })
}

// An edited is a list that is edited beside a plain model.
type edited[T any] struct {
	r      *rand.Rand
	l      *List
	model  [][]T
	number func(i int) T // the rows, in order
	next   int
	kept   []editedBefore[T] // copies, which later changes must not reach
}

// An editedBefore is a copy with what it must hold, and offsets that were read.
type editedBefore[T any] struct {
	l       *List
	model   [][]T
	offsets *weft.Tensor
	were    []int64
}

// rows returns n new rows.
func (e *edited[T]) rows(n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i], e.next = e.number(e.next), e.next+1
	}
	return x
}

func (e *edited[T]) insert(at int, items ...[]T) {
	e.model = append(e.model[:at:at], append(items, e.model[at:]...)...)
}

func edits[T any](t *testing.T, steps int, number func(i int) T) {
	e := &edited[T]{r: rand.New(rand.NewPCG(1, 2)), l: Of([][]T{}), model: [][]T{}, number: number}
	for step := range steps {
		n := len(e.model)
		at := e.r.IntN(n + 1)
		op := e.r.IntN(16)
		if n > 200 {
			op = 9 + e.r.IntN(3)
		}
		name := fmt.Sprint("step ", step, " op ", op)
		switch {
		case op < 7:
			e.lengthen(op, n, at)
		case op >= 9 && op <= 11:
			e.shorten(op, n, at)
		case op < 14:
			e.replace(op, n)
		default:
			e.keep(op, n, at)
		}
		if e.check(t, name); t.Failed() {
			t.Fatal(name)
		}
	}
	same(t, e.l, e.model)
}

// lengthen adds items behind the n there are, or at a place.
func (e *edited[T]) lengthen(op, n, at int) {
	switch op {
	case 0, 1:
		x := e.rows(e.r.IntN(5))
		e.l.Append(x)
		e.insert(n, x)
	case 2, 3:
		x := e.rows(e.r.IntN(9))
		e.l.Insert(at, x)
		e.insert(at, x)
	case 4:
		x := [][]T{e.rows(e.r.IntN(4)), e.rows(0), e.rows(e.r.IntN(4))}
		e.l.Insert(at-n-1+1, x) // -n+at counts from the back, 0 is the front
		if at == n {
			e.insert(0, x...)
		} else {
			e.insert(at, x...)
		}
	case 5:
		x := e.rows(6)
		e.l.Insert(at, x, []int{1, 2, 3})
		e.insert(at, x[:1], x[1:3], x[3:])
	case 6:
		x := e.rows(6)
		e.l.Append(x, 2)
		e.insert(n, x[:2], x[2:4], x[4:])
	}
}

// replace writes other rows to items.
func (e *edited[T]) replace(op, n int) {
	switch op {
	case 7, 8:
		if n > 0 {
			i := e.r.IntN(n)
			x := e.rows(e.r.IntN(7))
			e.l.Set(i-n*e.r.IntN(2), x)
			e.model[i] = x
		}
	case 12:
		if n > 0 {
			i := e.r.IntN(n)
			x := e.rows(1)
			e.l.Set(i, x[0])
			one := make([]T, len(e.model[i]))
			for k := range one {
				one[k] = x[0]
			}
			e.model[i] = one
		}
	case 13:
		a, b := e.r.IntN(n+1), e.r.IntN(n+1)
		x := make([][]T, max(a, b)-min(a, b))
		for i := range x {
			x[i] = e.rows(e.r.IntN(4))
		}
		if len(x) > 0 {
			e.l.SetRange(a, b, x)
			copy(e.model[min(a, b):], x)
		}
	}
}

// shorten deletes an item, a range, or a range with steps.
func (e *edited[T]) shorten(op, n, at int) {
	switch op {
	case 9:
		if n > 0 {
			i := e.r.IntN(n)
			e.l.Delete(i - n*e.r.IntN(2))
			e.model = append(e.model[:i:i], e.model[i+1:]...)
		}
	case 10:
		a, b := e.r.IntN(n+1), e.r.IntN(n+1)
		e.l.DeleteRange(a, b)
		a, b = min(a, b), max(a, b)
		e.model = append(e.model[:a:a], e.model[b:]...)
	case 11:
		by := 2 + e.r.IntN(3)
		if e.r.IntN(2) == 0 {
			by = -by
		}
		start, stop := pickOne(e.r, weft.Begin, weft.End, at), pickOne(e.r, weft.End, weft.Begin, n/2)
		gone := steppedOver(n, start, stop, by)
		e.l.DeleteRange(start, stop, by)
		var stay [][]T
		for i, x := range e.model {
			if !gone[i] {
				stay = append(stay, x)
			}
		}
		e.model = stay
	}
}

// steppedOver returns the items of n that a range with steps meets: it asks at every place.
func steppedOver(n, start, stop, by int) map[int]bool {
	gone := map[int]bool{}
	for i := range n { // every place asks whether it is meant
		a, b := start, stop
		if by < 0 {
			if a >= n {
				a = n - 1
			}
			if i <= a && (b == weft.Begin || i > b) && (a-i)%by == 0 {
				gone[i] = true
			}
		} else if a = max(a, 0); i >= a && i < b && (i-a)%by == 0 {
			gone[i] = true
		}
	}
	return gone
}

// keep takes copies, and changes what memory a list has.
func (e *edited[T]) keep(op, n, at int) {
	switch op {
	case 14:
		switch e.r.IntN(4) {
		case 0:
			e.l.Shrink()
		case 1:
			e.l.Reserve(e.r.IntN(40), e.r.IntN(100))
		case 2:
			a := e.r.IntN(n + 1)
			e.l.Insert(at, e.l.Range(a, n)) // items of itself
			e.insert(at, append([][]T{}, e.model[a:]...)...)
		case 3:
			e.kept = append(e.kept, editedBefore[T]{e.l.Clone(), append([][]T{}, e.model...), e.l.Offsets(), weft.Data[int64](e.l.Offsets())})
		}
	case 15:
		o := e.l.Offsets()
		e.kept = append(e.kept, editedBefore[T]{e.l.Take(ints(n)), append([][]T{}, e.model...), o, weft.Data[int64](o)})
	}
}

// check compares the list with its model, and from time to time the copies with theirs.
func (e *edited[T]) check(t *testing.T, name string) {
	t.Helper()
	if e.r.IntN(3) == 0 {
		same(t, e.l, e.model)
	}
	if len(e.model) > 0 && e.r.IntN(4) == 0 && e.l.cols[0].name == "" {
		i := e.r.IntN(len(e.model))
		if got := e.l.At(i).Dim(0); got != len(e.model[i]) {
			t.Fatalf("%s: item %d has %d rows, want %d", name, i, got, len(e.model[i]))
		}
	}
	if len(e.kept) > 3 {
		for _, k := range e.kept {
			same(t, k.l, k.model)
			holds(t, k.offsets, k.were...)
		}
		e.kept = nil
	}
}

func pickOne(r *rand.Rand, x ...int) int { return x[r.IntN(len(x))] }
