package ndimage_test

import (
	"math/rand/v2"
	"testing"

	"weft"
	"weft/ndimage"
)

// TestLabelsEqualFloods compares labels with a flood from the first element of each object, for random arrays and
// structures, among them arrays of several slabs.
func TestLabelsEqualFloods(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k, shape := range [][]int{{40}, {1}, {9, 7}, {300, 301}, {5, 6, 7}, {3, 300, 90}, {70000, 1}, {2, 3, 4, 5}, {1, 70000}, {6, 1, 5}} {
		for range 4 {
			x := make([]bool, weft.Zeros(shape...).Size())
			share := r.Float64()
			for i := range x {
				x[i] = r.Float64() < share
			}
			s := make([]bool, 1)
			ones := []int{}
			for range shape {
				s, ones = make([]bool, 3*len(s)), append(ones, 3)
			}
			for i := range len(s) / 2 {
				s[i] = r.IntN(3) == 0
				s[len(s)-1-i] = s[i]
			}
			labels, n := ndimage.Label(weft.FromSlice(x, shape...), ndimage.LabelOpts{Structure: weft.FromSlice(s, ones...)})
			want, count := flooded(shape, x, s)
			if n != count {
				t.Fatalf("case %d of %v: %d objects, want %d", k, shape, n, count)
			}
			for i, v := range weft.Data[int32](labels) {
				if v != want[i] {
					t.Fatalf("case %d of %v: label %d at %d, want %d", k, shape, v, i, want[i])
				}
			}
		}
	}
}

// flooded is the labels of x by floods along the true elements of a structure.
func flooded(shape []int, x, structure []bool) ([]int32, int) {
	labels, count := make([]int32, len(x)), 0
	for first, on := range x {
		if !on || labels[first] != 0 {
			continue
		}
		count++
		labels[first] = int32(count)
		for todo := []int{first}; len(todo) > 0; {
			p := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for k, yes := range structure {
				q, inside := 0, yes
				for i, rest, code, stride, unit := len(shape)-1, p, k, 1, 0; i >= 0; i-- {
					unit = rest%shape[i] + code%3 - 1
					inside = inside && unit >= 0 && unit < shape[i]
					q += unit * stride
					stride *= shape[i]
					rest, code = rest/shape[i], code/3
				}
				if inside && x[q] && labels[q] == 0 {
					labels[q] = int32(count)
					todo = append(todo, q)
				}
			}
		}
	}
	return labels, count
}
