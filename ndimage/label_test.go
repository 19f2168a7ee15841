package ndimage_test

import (
	"math"
	"math/rand/v2"
	"slices"
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

// TestWatershedCosts holds that each element has the label of a marker whose cheapest path is as cheap as any, by relaxing all paths of
// each marker until nothing changes, and that background loses against objects.
func TestWatershedCosts(t *testing.T) {
	const h, w = 9, 10
	r := rand.New(rand.NewPCG(5, 6))
	for _, levels := range []int{1, 2, 5, 250} {
		x, markers := make([]uint8, h*w), make([]int32, h*w)
		for i := range x {
			x[i] = uint8(r.IntN(levels))
		}
		for _, l := range []int32{1, 2, 3, -1, -2} {
			markers[r.IntN(h*w)] = l
		}
		costs := map[int32][]int{}
		for at, l := range markers {
			if l == 0 {
				continue
			}
			c := slices.Repeat([]int{999}, h*w)
			c[at] = 0
			for changed := true; changed; {
				changed = false
				for i := range c {
					for j := range c {
						if apart := (i/w-j/w)*(i/w-j/w) + (i%w-j%w)*(i%w-j%w); apart == 1 {
							if over := max(c[j], int(x[i])-int(x[j]), int(x[j])-int(x[i])); over < c[i] {
								c[i], changed = over, true
							}
						}
					}
				}
			}
			costs[l] = c
		}
		got := weft.Data[int32](ndimage.WatershedIFT(weft.FromSlice(x, h, w), weft.FromSlice(markers, h, w)))
		for i, l := range got {
			for other, c := range costs {
				if c[i] < costs[l][i] && markers[i] == 0 {
					t.Fatalf("%d levels: element %d has label %d at cost %d, %d costs %d", levels, i, l, costs[l][i], other, c[i])
				}
			}
			if levels == 1 && l < 0 && markers[i] == 0 {
				t.Errorf("element %d of a plain is background", i)
			}
		}
	}
}

// TestWatershedOfWideMarkers holds markers whose low 32 bits are 0 or equal, no markers, and elements that none reaches.
func TestWatershedOfWideMarkers(t *testing.T) {
	x := weft.From([]uint8{0, 9, 0})
	alone := ndimage.WatershedOpts{Structure: weft.From([]int64{0, 1, 0})}
	for _, c := range []struct {
		markers, want []int64
		o             ndimage.WatershedOpts
	}{
		{[]int64{1 << 40, 0, 1 << 41}, []int64{1 << 40, 1 << 41, 1 << 41}, ndimage.WatershedOpts{}},
		{[]int64{math.MinInt64, 0, math.MaxInt64}, []int64{math.MinInt64, math.MaxInt64, math.MaxInt64}, ndimage.WatershedOpts{}},
		{[]int64{0, 0, 0}, []int64{0, 0, 0}, ndimage.WatershedOpts{}},
		{[]int64{7, 0, -3}, []int64{7, 0, -3}, alone},
	} {
		if got := weft.Data[int64](ndimage.WatershedIFT(x, weft.From(c.markers), c.o)); !slices.Equal(got, c.want) {
			t.Errorf("%v have %v, want %v", c.markers, got, c.want)
		}
	}
}
