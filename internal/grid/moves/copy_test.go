package moves_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/grid/moves"
)

// copyOn copies x to y on a GPU, where they are aligned without chance, and compares with plain Go, the bytes between the elements too.
func (g *gpu) copyOn(chance *rand.Rand, x, y *strided) []grid.Launch {
	g.T.Helper()
	to, want := y.on(g, chance), *y
	want.data = slices.Clone(y.data)
	each(x.shape, func(_ int, p []int) { copy(want.at(p, 0), x.at(p, 0)) })
	defer g.free()
	list := moves.Copy{Size: x.size, Count: x.shape, To: to, From: x.on(g, chance)}.Launches(chosen(chance, 2))
	g.Run("moves", list)
	if got := g.get(to.Addr-uint64(y.first*y.size), len(y.data)); !bytes.Equal(got, want.data) {
		g.T.Fatalf("%d bytes of %v from %v to %v: %s differs", x.size, x.shape, x.strides, y.strides, list[0].Name)
	}
	return list
}

// Copies between random strides are as in plain Go, and nothing else is written.
func TestCopyOfRandomArrays(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 7))
	g := newGPU(t)
	kinds := map[string]int{}
	for i := range 250 {
		back := func() {}
		if i%3 == 0 {
			back = moves.SetMaxBox(100 + chance.IntN(1000))
		}
		shape := randomShape(chance, chance.IntN(5), 9000)
		size := []int{1, 2, 4, 8, 16}[chance.IntN(5)]
		x, y := newStrided(chance, size, shape, true), newStrided(chance, size, shape, false)
		if array.Size(shape) == 0 {
			if l := (moves.Copy{Size: size, Count: shape, To: moves.Array{Strides: y.strides}, From: moves.Array{Strides: x.strides}}).Launches(1); l != nil {
				t.Fatalf("a copy of nothing is %v", l)
			}
		} else {
			for _, l := range g.copyOn(chance, x, y) {
				kind, _, _ := strings.Cut(l.Name, "_")
				kinds[kind]++
			}
		}
		back()
	}
	if kinds["copy"] == 0 || kinds["transpose"] == 0 {
		t.Errorf("kernels %v, want both kinds", kinds)
	}
}

// plain returns an array in row-major order, whose axes are then permuted.
func plain(chance *rand.Rand, size int, shape []int, order ...int) *strided {
	s := &strided{size: size, data: make([]byte, array.Size(shape)*size)}
	for i := range s.data {
		s.data[i] = byte(chance.Uint32())
	}
	for _, d := range order {
		s.shape, s.strides = append(s.shape, shape[d]), append(s.strides, array.RowMajor(shape)[d])
	}
	return s
}

// Transposes take tiles in each size of elements, where rows and columns fill tiles and where they do
// not. Few rows or columns, and neighbours that stay together, need none.
func TestTransposeOfSizes(t *testing.T) {
	chance := rand.New(rand.NewPCG(4, 7))
	g := newGPU(t)
	for _, size := range []int{1, 2, 4, 8, 16} {
		for _, c := range []struct {
			shape, order []int
			want         string
		}{
			{[]int{64, 64}, []int{1, 0}, "transpose_%d_"},
			{[]int{65, 31}, []int{1, 0}, "transpose_%d_"},
			{[]int{3, 33, 130}, []int{0, 2, 1}, "transpose_%d_"},
			{[]int{33, 3, 2, 70}, []int{3, 2, 1, 0}, "transpose_%d_"},
			{[]int{15, 257}, []int{1, 0}, "copy_%d_"},
			{[]int{257, 15}, []int{1, 0}, "copy_%d_"},
			{[]int{40, 41}, []int{0, 1}, "copy_"},
			{[]int{8, 5, 32}, []int{1, 0, 2}, "copy_16_"},
		} {
			want := c.want
			if strings.Contains(want, "%") {
				want = fmt.Sprintf(want, size)
			}
			x := plain(chance, size, c.shape, c.order...)
			y := plain(chance, size, x.shape, order(len(c.shape))...)
			if l := g.copyOn(nil, x, y); !strings.HasPrefix(l[0].Name, want) {
				t.Errorf("%v in order %v: %s, want %s", c.shape, c.order, l[0].Name, want)
			}
		}
	}
}

// Small elements are turned around by words of 4 bytes where all rows and columns are whole words.
func TestTransposeOfWords(t *testing.T) {
	chance := rand.New(rand.NewPCG(6, 7))
	g := newGPU(t)
	for _, c := range []struct {
		size, batch, rows, columns int
		pad, padTo                 int // between rows
		want                       string
	}{
		{1, 1, 16, 16, 0, 0, "transpose_1_4_1"},
		{1, 2, 132, 260, 0, 0, "transpose_1_4_3"},
		{1, 2, 132, 260, 4, 0, "transpose_1_4_3"},
		{1, 1, 132, 260, 2, 0, "transpose_1_1_2"},
		{1, 1, 130, 260, 0, 0, "transpose_1_1_2"},
		{1, 1, 132, 262, 0, 0, "transpose_1_1_2"},
		{1, 1, 132, 262, 2, 0, "transpose_1_1_2"},
		{1, 1, 134, 260, 0, 2, "transpose_1_1_2"},
		{2, 1, 64, 64, 0, 0, "transpose_2_2_1"},
		{2, 3, 66, 130, 0, 0, "transpose_2_2_3"},
		{2, 3, 66, 130, 2, 0, "transpose_2_2_3"},
		{2, 3, 66, 130, 1, 0, "transpose_2_1_3"},
		{2, 3, 67, 130, 0, 0, "transpose_2_1_3"},
		{4, 1, 64, 64, 0, 0, "transpose_4_1_2"},
	} {
		x := plain(chance, c.size, []int{c.batch, c.rows, c.columns + c.pad}, 0, 2, 1)
		x.shape[1] = c.columns
		y := plain(chance, c.size, []int{c.batch, c.columns, c.rows + c.padTo}, 0, 1, 2)
		if l := g.copyOn(nil, x, y); l[0].Name != c.want {
			t.Errorf("%+v: %s", c, l[0].Name)
		}
	}
}

// Rows that are not all aligned to vectors are not moved by them.
func TestCopyOfPaddedRows(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 7))
	g := newGPU(t)
	for _, pad := range []int{1, 2, 4, 8, 16} {
		x := plain(chance, 1, []int{9, 32 + pad}, 0, 1)
		x.shape = []int{9, 32}
		if l := g.copyOn(nil, x, plain(chance, 1, x.shape, 0, 1)); l[0].Name != fmt.Sprintf("copy_%d_2_1", pad) && l[0].Name != fmt.Sprintf("copy_%d_2_4", pad) {
			t.Errorf("rows with %d bytes between them: %s", pad, l[0].Name)
		}
	}
}

// order returns the numbers below n.
func order(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}
