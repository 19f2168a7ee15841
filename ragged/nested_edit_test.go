package ragged_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/ragged"
)

// levelsOf returns the offsets of each level of nested slices of float64, and their rows.
func levelsOf(x any) (offsets [][]int64, rows []float64) {
	level := []reflect.Value{reflect.ValueOf(x)}
	for level[0].Type().Elem().Kind() == reflect.Slice {
		next := []reflect.Value{reflect.Zero(level[0].Type().Elem())} // so that an empty level has a type
		o := []int64{0}
		for _, s := range level {
			for i := range s.Len() {
				next = append(next, s.Index(i))
				o = append(o, o[len(o)-1]+int64(s.Index(i).Len()))
			}
		}
		offsets, level = append(offsets, o), next
	}
	rows = []float64{}
	for _, s := range level {
		rows = append(rows, s.Interface().([]float64)...)
	}
	return offsets, rows
}

// equalsModel compares everything that is read from a list with nested slices of the same depth.
func equalsModel(t *testing.T, l *ragged.List, model any) {
	t.Helper()
	offsets, rows := levelsOf(model)
	if l.Depth() != len(offsets) || l.Len() != len(offsets[0])-1 || l.Rows() != len(rows) {
		t.Fatalf("depth %d, %d items, %d rows; want %d, %d, %d", l.Depth(), l.Len(), l.Rows(), len(offsets), len(offsets[0])-1, len(rows))
	}
	if got := weft.Data[float64](l.Data()); !slices.Equal(got, rows) {
		t.Fatalf("rows %v, want %v", got, rows)
	}
	bounds := make([]int64, len(rows)+1)
	for i := range bounds {
		bounds[i] = int64(i)
	}
	for k := len(offsets) - 1; k >= 0; k-- {
		o := offsets[k]
		if got := weft.Data[int64](l.Offsets(k)); !slices.Equal(got, o) {
			t.Fatalf("offsets of level %d are %v, want %v", k, got, o)
		}
		sizes, sums := make([]int64, len(o)-1), make([]float64, len(o)-1)
		whole := make([]int64, len(o)) // in rows
		for i, end := range o {
			whole[i] = bounds[end]
		}
		for i := range sizes {
			sizes[i] = o[i+1] - o[i]
			for _, x := range rows[whole[i]:whole[i+1]] {
				sums[i] += x
			}
		}
		bounds = whole
		if got := weft.Data[int64](l.Sizes(k)); !slices.Equal(got, sizes) {
			t.Fatalf("sizes of level %d are %v, want %v", k, got, sizes)
		}
		if got := weft.Data[float64](l.Sum(k)); !slices.Equal(got, sums) {
			t.Fatalf("sums of level %d are %v, want %v", k, got, sums)
		}
	}
}

// window is the mirror of tracked memory: what a flush wrote, and the bytes that it wrote first and
// last.
type window struct {
	bytes  []byte
	lo, hi int
}

func (w *window) WriteAt(p []byte, at int64) (int, error) {
	copy(w.bytes[at:], p)
	w.lo, w.hi = min(w.lo, int(at)), max(w.hi, int(at)+len(p))
	return len(p), nil
}

// flush makes w what d tracks, and notes what was written.
func (w *window) flush(t *testing.T, d *weft.Tracked) {
	t.Helper()
	w.lo, w.hi = len(w.bytes), 0
	if _, err := d.Flush(w); err != nil {
		t.Fatal(err)
	}
}

// TestNestedEditScripts edits lists of two and three levels, and nested slices beside them, at
// random. WEFT_EDITS is the number of steps.
func TestNestedEditScripts(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	steps := 4000
	if n, err := strconv.Atoi(os.Getenv("WEFT_EDITS")); err == nil {
		steps = n
	}
	r := rand.New(rand.NewPCG(3, 4))
	next := 0.0
	row := func() []float64 {
		x := make([]float64, r.IntN(4))
		for i := range x {
			x[i], next = next, next+1
		}
		return x
	}
	item := func() [][]float64 { return manyOf(r.IntN(4), row) }
	t.Run("depth 2", func(t *testing.T) { nestedEdits(t, r, steps, item) })
	t.Run("depth 3", func(t *testing.T) {
		nestedEdits(t, r, steps/2, func() [][][]float64 { return manyOf(r.IntN(3), item) })
	})
}

func manyOf[T any](n int, f func() T) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = f()
	}
	return x
}

// mapped returns nested slices of the same lengths, with f of each element.
func mapped[T any](x T, f func(float64) float64) T {
	var walk func(v reflect.Value) reflect.Value
	walk = func(v reflect.Value) reflect.Value {
		if v.Kind() == reflect.Float64 {
			return reflect.ValueOf(f(v.Float()))
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(walk(v.Index(i)))
		}
		return out
	}
	return walk(reflect.ValueOf(x)).Interface().(T)
}

// A nestedEdit edits a list of items of type []E beside a model.
type nestedEdit[E any] struct {
	r       *rand.Rand
	newItem func() []E
	l       *ragged.List
	model   [][]E
	kept    []nestedBefore[E] // what later edits must not reach

	// Of the step in hand.
	step, n  int // n items before it
	at, back int // an item, counted from the back if at-back is negative
	first    int // row where its writes may begin
	last     int // row where a write of the same lengths ends, or -1
}

// A nestedBefore is a copy with what it must hold, and offsets that were read.
type nestedBefore[E any] struct {
	l       *ragged.List
	model   [][]E
	offsets []*weft.Tensor
	were    [][]int64
}

const mirrored = 4000 // rows that a flush looks at

// nestedEdits edits a list of items of type []E; newItem makes each.
func nestedEdits[E any](t *testing.T, r *rand.Rand, steps int, newItem func() []E) {
	e := &nestedEdit[E]{r: r, newItem: newItem, model: [][]E{}}
	e.l = ragged.Of(e.model)
	// Tracked memory: a window that is longer than the list will be.
	e.l.Reserve(1000, 3*mirrored)
	e.l.Append(weft.ZerosOf(weft.Float64, append(slices.Repeat([]int{1}, e.l.Depth()-1), mirrored)...))
	x := e.l.Data()
	e.l.Clear()
	mirror := &window{bytes: make([]byte, 8*mirrored)}
	d := weft.Track(x)
	defer d.Stop()
	for step := range steps {
		e.step, e.n = step, len(e.model)
		settled := r.IntN(2) == 0
		if settled {
			e.l.Data()
			mirror.flush(t, d)
		}
		op := e.choose()
		switch {
		case op < 6:
			e.insert(op)
		case op < 9:
			e.remove(op)
		case op < 13:
			e.write(op)
		default:
			e.keep()
		}
		if settled {
			equalsModel(t, e.l, e.model)
			mirror.flush(t, d)
			e.checkWrites(t, op, mirror, x)
		} else if e.l.Len() != len(e.model) {
			t.Fatalf("step %d, operation %d: %d items, want %d", step, op, e.l.Len(), len(e.model))
		}
		e.checkKept(t)
	}
	equalsModel(t, e.l, e.model)
}

// choose draws an item and an operation.
func (e *nestedEdit[E]) choose() (op int) {
	e.at, e.back = e.r.IntN(e.n+1), 0
	if e.at < e.n && e.r.IntN(2) == 0 {
		e.back = e.n
	}
	op = e.r.IntN(14)
	if e.n > 60 {
		op = 6 + e.r.IntN(4)
	}
	e.first, e.last = e.firstRow(e.at), -1
	return op
}

// firstRow returns the row where an item begins.
func (e *nestedEdit[E]) firstRow(item int) int {
	_, rows := levelsOf(e.model[:item])
	return len(rows)
}

// insert puts items in.
func (e *nestedEdit[E]) insert(op int) {
	at, back, n := e.at, e.back, e.n
	switch op {
	case 0:
		e.first = e.firstRow(n)
		y := e.newItem()
		e.l.Append(y)
		e.model = append(slices.Clip(e.model), y)
	case 1:
		y := e.newItem()
		e.l.Insert(at-back, y)
		e.model = slices.Insert(slices.Clone(e.model), at, y)
	case 2:
		y := manyOf(e.r.IntN(4), e.newItem)
		e.l.Insert(at-back, y)
		e.model = slices.Insert(slices.Clone(e.model), at, y...)
	case 3:
		y := e.newItem()
		e.l.Insert(at-back, ragged.Of(y))
		e.model = slices.Insert(slices.Clone(e.model), at, y)
	case 4:
		y := e.newItem()
		k := e.r.IntN(len(y) + 1)
		e.l.Insert(at-back, y, []int{k, len(y) - k})
		e.model = slices.Insert(slices.Clone(e.model), at, y[:k:k], y[k:])
	case 5:
		a := e.r.IntN(n + 1)
		e.l.Insert(at-back, e.l.Range(a, min(n, a+4))) // items of itself
		e.model = slices.Insert(slices.Clone(e.model), at, e.model[a:min(n, a+4)]...)
	}
}

// remove deletes an item, a range, or a range with steps.
func (e *nestedEdit[E]) remove(op int) {
	at, back, n := e.at, e.back, e.n
	switch op {
	case 6:
		if at < n {
			e.l.Delete(at - back)
			e.model = slices.Delete(slices.Clone(e.model), at, at+1)
		}
	case 7:
		b := e.r.IntN(n + 1)
		e.first = e.firstRow(min(at, b))
		e.l.DeleteRange(at, b)
		e.model = slices.Delete(slices.Clone(e.model), min(at, b), max(at, b))
	case 8:
		by := 2 + e.r.IntN(3)
		var stay [][]E
		for i, y := range e.model {
			if i < at || (i-at)%by != 0 {
				stay = append(stay, y)
			}
		}
		if e.r.IntN(2) == 0 {
			e.l.DeleteRange(at, n, by)
		} else if at < n { // the same items, backwards
			stop := at - 1
			if at == 0 {
				stop = weft.Begin
			}
			e.l.DeleteRange(at+(n-1-at)/by*by, stop, -by)
		}
		e.model = stay
	}
}

// write replaces items, or their elements.
func (e *nestedEdit[E]) write(op int) {
	at, back, n := e.at, e.back, e.n
	switch op {
	case 9:
		if at < n {
			e.model = slices.Clone(e.model)
			e.model[at] = e.newItem()
			switch e.r.IntN(4) {
			case 0:
				e.l.Set(at-back, ragged.Of(e.model[at]))
			case 1:
				e.l.Set(at-back, [][]E{e.model[at]})
			case 2:
				if len(e.model[at]) != 1 {
					several := make([]any, len(e.model[at]))
					for i, y := range e.model[at] {
						several[i] = y
					}
					e.l.Set(at-back, several...)
					break
				}
				fallthrough
			default:
				e.l.Set(at-back, e.model[at])
			}
		}
	case 10: // the same lengths
		if at < n {
			e.last, e.model = e.firstRow(at+1), slices.Clone(e.model)
			e.model[at] = mapped(e.model[at], func(x float64) float64 { return x + 1 })
			e.l.Set(at-back, e.model[at])
		}
	case 11:
		b := e.r.IntN(n + 1)
		lo, hi := min(at, b), max(at, b)
		e.first = e.firstRow(lo)
		y := manyOf(hi-lo, e.newItem)
		if e.r.IntN(3) == 0 {
			y, e.last = mapped(e.model[lo:hi], func(x float64) float64 { return x + 2 }), e.firstRow(hi)
			flat := []E{} // items of the next level
			for _, z := range y {
				flat = append(flat, z...)
			}
			e.l.SetRange(at, b, flat)
		} else {
			e.l.SetRange(at, b, y)
		}
		e.model = slices.Replace(slices.Clone(e.model), lo, hi, y...)
	case 12:
		if at < n {
			e.model, e.last = slices.Clone(e.model), e.firstRow(at+1)
			e.model[at] = mapped(e.model[at], func(float64) float64 { return float64(e.step) })
			e.l.Set(at-back, e.step)
		}
	}
}

// keep keeps a copy, or changes what memory a list has.
func (e *nestedEdit[E]) keep() {
	switch e.r.IntN(9) {
	case 0:
		e.l.Reserve(e.r.IntN(40), 0)
	case 1:
		e.l.Clear()
		e.first, e.model = 0, nil
	default:
		k := nestedBefore[E]{l: e.l.Clone(), model: e.model}
		for level := range e.l.Depth() {
			k.offsets = append(k.offsets, e.l.Offsets(level))
			k.were = append(k.were, weft.Data[int64](e.l.Offsets(level)))
		}
		e.kept = append(e.kept, k)
	}
}

// checkWrites compares what a flush wrote with the rows that the step may change, and the
// mirror with memory.
func (e *nestedEdit[E]) checkWrites(t *testing.T, op int, mirror *window, x *weft.Tensor) {
	t.Helper()
	end := len(mirror.bytes)
	if e.last >= 0 {
		end = 8 * e.last
	}
	if mirror.lo < 8*e.first || mirror.hi > end {
		t.Fatalf("step %d, operation %d wrote bytes %d to %d of those from %d to %d", e.step, op, mirror.lo, mirror.hi, 8*e.first, end)
	}
	var want bytes.Buffer
	if err := binary.Write(&want, binary.NativeEndian, weft.Data[float64](x)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mirror.bytes, want.Bytes()) {
		t.Fatalf("step %d, operation %d: flushes wrote other bytes than there are", e.step, op)
	}
}

// checkKept compares the copies with what they must hold, from time to time.
func (e *nestedEdit[E]) checkKept(t *testing.T) {
	t.Helper()
	if len(e.kept) > 3 {
		for _, k := range e.kept {
			equalsModel(t, k.l, k.model)
			for level, o := range k.offsets {
				if got := weft.Data[int64](o); !slices.Equal(got, k.were[level]) {
					t.Fatalf("offsets of level %d that were read became %v, from %v", level, got, k.were[level])
				}
			}
		}
		e.kept = nil
	}
}
