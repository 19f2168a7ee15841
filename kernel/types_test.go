package kernel_test

import (
	"math"
	"testing"

	"weft"
	"weft/internal/op"
	"weft/kernel"
)

// What an index outside does is the type's, as plain Go.
func TestGoArraysOutOfRange(t *testing.T) {
	data := []int{0, 1, 2, 3, 4, 5}
	near := kernel.Near2[int]{data, [2]int{2, 3}, [2]int{1, 1}}
	if got := near.At(-1, 1); got != 2 {
		t.Errorf("near: %d", got)
	}
	var outside *weft.Error
	for name, f := range map[string]func() int{
		"near":  func() int { return near.At(1, 0) },
		"array": func() int { return kernel.Array2[int]{data, [2]int{2, 3}}.At(0, -1) },
		"data":  func() int { return kernel.Clamped1[int]{data, [1]int{9}}.At(8) },
		"empty": func() int { return kernel.Wrapped1[int]{nil, [1]int{0}}.At(0) },
		"dim":   func() int { return near.Dim(2) },
		"elem":  func() int { return (&kernel.Elem{}).Index(0) },
	} {
		if err := weft.Try(func() { f() }); err == nil {
			t.Errorf("%s: no error of type %T", name, outside)
		}
	}
	for _, c := range []struct{ got, want int }{
		{kernel.Clamped2[int]{data, [2]int{2, 3}}.At(-9, 9), 2},
		{kernel.Wrapped2[int]{data, [2]int{2, 3}}.At(-1, 4), 4},
		{kernel.Zeroed2[int]{data, [2]int{2, 3}}.At(1, 3), 0},
		{kernel.Zeroed2[int]{data, [2]int{2, 3}}.At(1, 2), 5},
	} {
		if c.got != c.want {
			t.Errorf("got %d, want %d", c.got, c.want)
		}
	}
}

// The random numbers of an element: words of Philox, whose vectors internal/op tests, by
// seed, draw, place and call.
func TestPlainRandom(t *testing.T) {
	e := kernel.Elem{Place: []int{1, 2}, Shape: []int{3, 4}, Seed: 7, Draw: 5}
	for call := range uint64(3) {
		w := op.Philox(7, call<<32|5, 6)
		if got, want := e.Rand(), float32(math.Ldexp(float64(w[0]>>8), -24)); got != want {
			t.Errorf("call %d: %v, want %v", call, got, want)
		}
	}
	var sum, squares float64
	const n = 20000
	for i := range n {
		e := kernel.Elem{Place: []int{i}, Shape: []int{n}}
		x := e.Randn64() + float64(e.Randn())
		sum, squares = sum+x, squares+x*x
	}
	if mean, v := sum/n, squares/n; math.Abs(mean) > 0.04 || math.Abs(v-2) > 0.08 {
		t.Errorf("mean %v, variance %v of sums of two normal numbers", mean, v)
	}
}
