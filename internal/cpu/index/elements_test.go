package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/par"
)

// view is a contiguous array over Go memory.
func view[T any](d array.DType, data []T, shape ...int) *array.View {
	st := array.NewStorage(unsafe.Pointer(unsafe.SliceData(data)), len(data)*d.Size(), data)
	return &array.View{Store: st, DType: d, Shape: shape, Strides: array.RowMajor(shape)}
}

// Elements at indices are the same on any number of threads as in a plain loop, for shapes
// that are cut into rows or into columns, also where the array of indices is smaller.
func TestElements(t *testing.T) {
	for _, threads := range []int{1, 3} {
		defer par.SetThreads(par.SetThreads(threads))
		par.SetThreads(threads)
		for _, c := range []struct {
			x, idx []int
			axis   int
		}{
			{[]int{40}, []int{200000}, 0}, {[]int{300, 70}, []int{300, 1500}, 1}, {[]int{30, 1500}, []int{301, 1401}, 0}, {[]int{2, 20, 513}, []int{2, 333, 513}, 1},
			{[]int{900, 7}, []int{900, 1}, 1}, {[]int{5, 4, 130}, []int{3, 2, 3000}, 2}, {[]int{7, 3}, []int{9, 2}, 0}, {[]int{3}, []int{0}, 0},
		} {
			name := fmt.Sprint(threads, c)
			size := c.x[c.axis]
			n, m := array.Size(c.x), array.Size(c.idx)
			places, x, values := make([]int64, m), make([]float32, n), make([]float32, m)
			for i := range places {
				places[i], values[i] = int64(rand.IntN(2*size)-size), float32(rand.NormFloat64())
			}
			for i := range x {
				x[i] = float32(rand.NormFloat64())
			}
			st := array.RowMajor(c.x)
			at := func(i int) int { // the offset of the element at index i
				k, out := int((places[i]+int64(size))%int64(size)), 0
				for a := len(c.idx) - 1; a >= 0; a-- {
					if a == c.axis {
						out += k * st[a]
					} else {
						out += i % c.idx[a] * st[a]
					}
					i /= c.idx[a]
				}
				return out
			}
			gathered, written, added, greatest := make([]float32, m), append([]float32(nil), x...), make([]float32, n), append([]float32(nil), x...)
			for i, v := range values {
				k := at(i)
				gathered[i], written[k] = x[k], v
				added[k] += v
				greatest[k] = max(greatest[k], v)
			}
			same := func(what string, got, want []float32) {
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s %s: element %d is %v, want %v", name, what, i, got[i], want[i])
					}
				}
			}
			p := &Indices{Op: "test", Axis: c.axis, Of: view(array.Int64, places, c.idx...)}
			got, to, v, base := make([]float32, m), make([]float32, n), view(array.Float32, values, c.idx...), view(array.Float32, x, c.x...)
			out := view(array.Float32, to, c.x...)
			p.Gather(view(array.Float32, got, c.idx...), base)
			same("gathered", got, gathered)
			p.Scatter(out, v, base)
			same("written", to, written)
			p.ScatterAdd(out, v, nil)
			same("added", to, added)
			if err := p.Extreme(out, v, base, true, false); err != nil {
				t.Fatal(err)
			}
			same("greatest", to, greatest)
			if m == 0 {
				continue
			}
			// The first of several that are out of range is told.
			places[m/2], places[m-1] = int64(size), 1<<40
			for what, f := range map[string]func(){"gather": func() { p.Gather(view(array.Float32, got, c.idx...), base) }, "scatter": func() { p.Scatter(out, v, base) }, "add": func() { p.ScatterAdd(out, v, nil) }} {
				var e *array.Error
				if err := array.Try(f); !errors.As(err, &e) || m > 1 && !strings.Contains(e.Msg, fmt.Sprintf("%d at position %d is", size, m/2)) {
					t.Errorf("%s %s: %v", name, what, err)
				}
			}
		}
	}
}
