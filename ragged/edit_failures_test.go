package ragged_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/ragged"
)

type edge struct{ From, To float64 }

// nest wraps x in slices of one element, times deep.
func nest(times int, x any) any {
	for range times {
		v := reflect.ValueOf(x)
		s := reflect.MakeSlice(reflect.SliceOf(v.Type()), 1, 1)
		s.Index(0).Set(v)
		x = s.Interface()
	}
	return x
}

// TestFailedEditsChangeNothing makes edits that fail, of lists of each depth, with the gap behind
// everything or in the middle. The error is a *weft.Error, reads are unchanged, and the next edit
// works as without the failed one.
func TestFailedEditsChangeNothing(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	released := func() *weft.Tensor {
		x := weft.ZerosOf(weft.Float64, 1, 1)
		x.Release()
		return x
	}
	for depth := 1; depth <= 3; depth++ {
		item := nest(depth-1, []float64{1, 2, 3})
		wrong := map[string]any{
			"nil":                    nil,
			"a nil list":             (*ragged.List)(nil),
			"the zero list":          &ragged.List{},
			"a nil tensor":           (*weft.Tensor)(nil),
			"text":                   "x",
			"a map":                  map[string]int{},
			"complex numbers":        weft.ZerosOf(weft.Complex128, append(make([]int, depth-1), 1)...),
			"a deeper list":          ragged.Of(nest(depth+1, []float64{1})),
			"deeper slices":          nest(depth+1, []float64{1}),
			"a tensor of more axes":  weft.ZerosOf(weft.Float64, make([]int, depth+2)...),
			"other rows":             ragged.Of([][][2]float64{{{1, 2}}}),
			"structs":                ragged.Of([][]edge{{{}}}),
			"a slice of structs":     []edge{{}},
			"slices of structs":      [][]edge{{{}}},
			"a struct":               edge{},
			"what needs a gradient":  weft.From(nest(depth-1, []float64{1, 2, 3, 4})).RequireGrad(),
			"an array that is freed": released(),
		}
		if depth > 1 {
			wrong["rows"] = []float64{1, 2}
			wrong["a tensor of rows"] = weft.From([]float64{1, 2})
		}
		if depth > 2 {
			wrong["a list of rows"] = ragged.Of([][]float64{{1}, {2}})
			wrong["slices of rows"] = [][]float64{{1}, {2}}
		}
		edits := map[string]func(l *ragged.List){
			"set before the first":    func(l *ragged.List) { l.Set(-7, item) },
			"set behind the last":     func(l *ragged.List) { l.Set(6, item) },
			"set of the least":        func(l *ragged.List) { l.Set(math.MinInt, item) },
			"set to two items":        func(l *ragged.List) { l.Set(0, ragged.Concat([]*ragged.List{l, l}, 0)) },
			"set to no item":          func(l *ragged.List) { l.Set(0, l.Range(0, 0)) },
			"set to several, a wrong": func(l *ragged.List) { l.Set(0, nest(max(0, depth-2), []float64{1}), "x") },
			"insert before the first": func(l *ragged.List) { l.Insert(-7, item) },
			"insert behind the end":   func(l *ragged.List) { l.Insert(7, item) },
			"delete before the first": func(l *ragged.List) { l.Delete(-7) },
			"delete behind the last":  func(l *ragged.List) { l.Delete(6) },
			"delete by 0":             func(l *ragged.List) { l.DeleteRange(0, 3, 0) },
			"delete by two steps":     func(l *ragged.List) { l.DeleteRange(0, 3, 1, 1) },
			"other sizes":             func(l *ragged.List) { l.Insert(0, item, 7) },
			"negative sizes":          func(l *ragged.List) { l.Insert(0, item, []int{-1, 2}) },
			"sizes that are text":     func(l *ragged.List) { l.Append(item, "x") },
			"sizes twice":             func(l *ragged.List) { l.Append(item, 1, 1) },
			"sizes of several":        func(l *ragged.List) { l.Append(l, 1) },
			"a range of other length": func(l *ragged.List) { l.SetRange(0, 4, l.Range(0, 3)) },
			"reserve less than none":  func(l *ragged.List) { l.Reserve(-1, 0) },
			"reserve too much":        func(l *ragged.List) { l.Reserve(1<<47, 0) },
			"reserve too many rows":   func(l *ragged.List) { l.Reserve(0, 1<<47) },
		}
		for name, x := range wrong {
			edits["set "+name] = func(l *ragged.List) { l.Set(1, x) }
			edits["set several with "+name] = func(l *ragged.List) { l.Set(1, x, x) }
			edits["set range "+name] = func(l *ragged.List) { l.SetRange(1, 2, x) }
			edits["insert "+name] = func(l *ragged.List) { l.Insert(2, x) }
			edits["append "+name] = func(l *ragged.List) { l.Append(x) }
		}
		if depth > 1 {
			edits["insert a number"] = func(l *ragged.List) { l.Insert(0, 1.0) }
			edits["append a number"] = func(l *ragged.List) { l.Append(1) }
			edits["set several numbers"] = func(l *ragged.List) { l.Set(0, 1, 2, 3) }
		}
		for _, name := range []string{"rows", "a tensor of rows", "a list of rows", "slices of rows"} {
			delete(edits, "set several with "+name) // they are items of the next level
		}
		var model []any
		for i := range 6 {
			row := make([]float64, i%4)
			for k := range row {
				row[k] = float64(10*i + k)
			}
			model = append(model, nest(depth-1, row))
		}
		for _, state := range []string{"as made", "gap in the middle", "fixed", "window", "read-only", "needs a gradient"} {
			for name, edit := range edits {
				l := ragged.Empty(weft.Float64)
				if depth > 1 {
					l = ragged.FromOffsets(weft.ZerosOf(weft.Float64, 0), append([]any{[]int{0}}, emptyLevels(depth-1)...)...)
				}
				for _, x := range model {
					l.Append(x)
				}
				switch state {
				case "as made":
					l = l.Clone()
				case "gap in the middle":
					l.Insert(3, item)
					l.Delete(3)
				case "fixed":
					l.FixedSize()
				case "window":
					l = l.Range(0, 6)
				case "read-only":
					l.ReadOnly()
				case "needs a gradient":
					l = l.Apply(func(x *weft.Tensor) *weft.Tensor { return x.Clone().RequireGrad() })
				}
				err, ok := weft.Try(func() { edit(l) }).(*weft.Error)
				if !ok || !slices.Contains([]string{"set", "setrange", "insert", "append", "delete", "deleterange", "reserve"}, err.Op) {
					t.Errorf("depth %d, %s: %s gave %v, want a *weft.Error of the edit", depth, state, name, err)
				}
				if state == "gap in the middle" {
					l.Insert(3, item)
					l.Delete(3)
				}
				if got, want := fmt.Sprint(l), shown(depth, model); got != want {
					t.Fatalf("depth %d, %s: %s made it %s, want %s", depth, state, name, got, want)
				}
			}
		}
	}
}

// emptyLevels are the offsets of levels without items.
func emptyLevels(n int) []any {
	var out []any
	for range n {
		out = append(out, []int{0})
	}
	return out
}

// shown is how a list of items prints.
func shown(depth int, items []any) string {
	l := make([]*ragged.List, len(items))
	for i, x := range items {
		l[i] = ragged.Of(nest(1, x))
	}
	return ragged.Concat(l, 0).String()
}

func TestErrorsNameTheFix(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	flat, nested := ragged.Of([][]float64{{1, 2}}), ragged.Of([][][]float64{{{1, 2}}})
	for want, f := range map[string]func(){
		"at: index: has 2 indices, want 1, one for each level: At of the item takes the rest":    func() { flat.At(0, 1) },
		"at: index: has 1 indices, want 2, one for each level: ListAt returns an item as a list": func() { nested.At(0) },
		"of: x: is nil: want nested slices":                                                      func() { ragged.Of(nil) },
		`set: x: is string: want a number, nested slices, structs, a tensor or a list`:           func() { flat.Set(0, "a") },
		`insert: x: is *int: want a number, nested slices, structs, a tensor or a list`:          func() { nested.Insert(0, new(1)) },
	} {
		if err := weft.Try(f); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
