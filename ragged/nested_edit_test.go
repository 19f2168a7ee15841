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

// TestNestedEditScripts edits lists of two and three levels, and nested slices beside them, at
// random. WEFT_EDITS is the number of steps.
func TestNestedEditScripts(t *testing.T) {
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

// nestedEdits edits a list of items of type []E; newItem makes each.
func nestedEdits[E any](t *testing.T, r *rand.Rand, steps int, newItem func() []E) {
	const room = 4000 // rows that a flush looks at
	model := [][]E{}
	l := ragged.Of(model)
	type old struct {
		l       *ragged.List
		model   [][]E
		offsets []*weft.Tensor
		were    [][]int64
	}
	var kept []old // what later edits must not reach

	// Tracked memory: a window that is longer than the list will be.
	l.Reserve(1000, 3*room)
	l.Append(weft.ZerosOf(weft.Float64, append(slices.Repeat([]int{1}, l.Depth()-1), room)...))
	x := l.Data()
	l.Clear()
	mirror := &window{bytes: make([]byte, 8*room)}
	d := weft.Track(x)
	defer d.Stop()
	flush := func() {
		mirror.lo, mirror.hi = len(mirror.bytes), 0
		if _, err := d.Flush(mirror); err != nil {
			t.Fatal(err)
		}
	}
	firstRow := func(items int) int {
		_, rows := levelsOf(model[:items])
		return len(rows)
	}
	for step := range steps {
		n := len(model)
		settled := r.IntN(2) == 0
		if settled {
			l.Data()
			flush()
		}
		at, back := r.IntN(n+1), 0
		if at < n && r.IntN(2) == 0 {
			back = n
		}
		op := r.IntN(14)
		if n > 60 {
			op = 6 + r.IntN(4)
		}
		last := -1 // row where a write of the same lengths ends
		first := firstRow(at)
		switch op {
		case 0:
			first = firstRow(n)
			y := newItem()
			l.Append(y)
			model = append(slices.Clip(model), y)
		case 1:
			y := newItem()
			l.Insert(at-back, y)
			model = slices.Insert(slices.Clone(model), at, y)
		case 2:
			y := manyOf(r.IntN(4), newItem)
			l.Insert(at-back, y)
			model = slices.Insert(slices.Clone(model), at, y...)
		case 3:
			y := newItem()
			l.Insert(at-back, ragged.Of(y))
			model = slices.Insert(slices.Clone(model), at, y)
		case 4:
			y := newItem()
			k := r.IntN(len(y) + 1)
			l.Insert(at-back, y, []int{k, len(y) - k})
			model = slices.Insert(slices.Clone(model), at, y[:k:k], y[k:])
		case 5:
			a := r.IntN(n + 1)
			l.Insert(at-back, l.Range(a, min(n, a+4))) // items of itself
			model = slices.Insert(slices.Clone(model), at, model[a:min(n, a+4)]...)
		case 6:
			if at < n {
				l.Delete(at - back)
				model = slices.Delete(slices.Clone(model), at, at+1)
			}
		case 7:
			b := r.IntN(n + 1)
			first = firstRow(min(at, b))
			l.DeleteRange(at, b)
			model = slices.Delete(slices.Clone(model), min(at, b), max(at, b))
		case 8:
			by := 2 + r.IntN(3)
			var stay [][]E
			for i, y := range model {
				if i < at || (i-at)%by != 0 {
					stay = append(stay, y)
				}
			}
			if r.IntN(2) == 0 {
				l.DeleteRange(at, n, by)
			} else if at < n { // the same items, backwards
				stop := at - 1
				if at == 0 {
					stop = weft.Begin
				}
				l.DeleteRange(at+(n-1-at)/by*by, stop, -by)
			}
			model = stay
		case 9:
			if at < n {
				model = slices.Clone(model)
				model[at] = newItem()
				switch r.IntN(4) {
				case 0:
					l.Set(at-back, ragged.Of(model[at]))
				case 1:
					l.Set(at-back, [][]E{model[at]})
				case 2:
					if len(model[at]) != 1 {
						several := make([]any, len(model[at]))
						for i, y := range model[at] {
							several[i] = y
						}
						l.Set(at-back, several...)
						break
					}
					fallthrough
				default:
					l.Set(at-back, model[at])
				}
			}
		case 10: // the same lengths
			if at < n {
				last, model = firstRow(at+1), slices.Clone(model)
				model[at] = mapped(model[at], func(x float64) float64 { return x + 1 })
				l.Set(at-back, model[at])
			}
		case 11:
			b := r.IntN(n + 1)
			lo, hi := min(at, b), max(at, b)
			first = firstRow(lo)
			y := manyOf(hi-lo, newItem)
			if r.IntN(3) == 0 {
				y, last = mapped(model[lo:hi], func(x float64) float64 { return x + 2 }), firstRow(hi)
				flat := []E{} // items of the next level
				for _, z := range y {
					flat = append(flat, z...)
				}
				l.SetRange(at, b, flat)
			} else {
				l.SetRange(at, b, y)
			}
			model = slices.Replace(slices.Clone(model), lo, hi, y...)
		case 12:
			if at < n {
				model, last = slices.Clone(model), firstRow(at+1)
				model[at] = mapped(model[at], func(float64) float64 { return float64(step) })
				l.Set(at-back, step)
			}
		case 13:
			switch r.IntN(9) {
			case 0:
				l.Reserve(r.IntN(40), 0)
			case 1:
				l.Clear()
				first, model = 0, nil
			default:
				k := old{l: l.Clone(), model: model}
				for level := range l.Depth() {
					k.offsets = append(k.offsets, l.Offsets(level))
					k.were = append(k.were, weft.Data[int64](l.Offsets(level)))
				}
				kept = append(kept, k)
			}
		}
		if settled {
			equalsModel(t, l, model)
			flush()
			end := len(mirror.bytes)
			if last >= 0 {
				end = 8 * last
			}
			if mirror.lo < 8*first || mirror.hi > end {
				t.Fatalf("step %d, operation %d wrote bytes %d to %d of those from %d to %d", step, op, mirror.lo, mirror.hi, 8*first, end)
			}
			var want bytes.Buffer
			if err := binary.Write(&want, binary.NativeEndian, weft.Data[float64](x)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mirror.bytes, want.Bytes()) {
				t.Fatalf("step %d, operation %d: flushes wrote other bytes than there are", step, op)
			}
		} else if l.Len() != len(model) {
			t.Fatalf("step %d, operation %d: %d items, want %d", step, op, l.Len(), len(model))
		}
		if len(kept) > 3 {
			for _, k := range kept {
				equalsModel(t, k.l, k.model)
				for level, o := range k.offsets {
					if got := weft.Data[int64](o); !slices.Equal(got, k.were[level]) {
						t.Fatalf("offsets of level %d that were read became %v, from %v", level, got, k.were[level])
					}
				}
			}
			kept = nil
		}
	}
	equalsModel(t, l, model)
}
