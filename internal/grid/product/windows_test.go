package product_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	cpu "weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/cudart"
	"weft/internal/grid/compare"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/product"
	"weft/internal/jit"
	"weft/internal/numbers"
)

// windowTiles are the tiles of Windows.
var windowTiles = product.Tiles[product.Compact:]

// A windowCase is a product whose right operand is read from pictures.
type windowCase struct {
	d              array.DType
	of             [2]array.DType
	tile           product.Tile
	m, groups      int
	columns, terms product.Axis
	column, term   [2]int // steps in pictures, by rows and columns
	y, x           int    // of the first pixel
	dense          bool   // A and C have no gaps
	across         bool   // neighbours in A are rows
	apart          bool
	from, to       int // blocks of terms
	positive       bool
	values         values
}

// newArray returns an array of noise with gaps between the elements of some axes, none if it is
// dense. The last axes lie together, or with first that axis.
func newArray(chance *rand.Rand, d array.DType, dense bool, first int, sizes ...int) (m *matrix, strides []int) {
	strides = make([]int, len(sizes))
	span := 1
	add := func(i int) {
		if !dense && chance.IntN(3) == 0 {
			span += chance.IntN(3)
		}
		strides[i] = span
		span *= max(sizes[i], 1)
	}
	if first >= 0 {
		add(first)
	}
	for i := len(sizes) - 1; i >= 0; i-- {
		if i != first {
			add(i)
		}
	}
	return newMatrix(chance, d, plain, 1, span, nil, true), strides
}

// pictures lays pictures out: by term's first digit channels, by column's first digit stacks of them.
func (c *windowCase) pictures(chance *rand.Rand) (x *matrix, p product.Pictures, group int) {
	p.H, p.W = 1+chance.IntN(9), 1+chance.IntN(9)
	p.Y, p.X = c.y, c.x
	plane := p.H * p.W
	channel, stack := plane*c.columns[0], plane // channels apart, stacks together
	if chance.IntN(2) > 0 {
		channel, stack = plane, plane*c.terms[0]
	}
	group = plane*c.terms[0]*c.columns[0] + chance.IntN(3)
	x = newMatrix(chance, c.of[1], plain, 1, group*c.groups, nil, true)
	p.Column = product.Step{Strides: product.Strides{stack, c.column[0] * p.W, c.column[1]}, Y: c.column[0], X: c.column[1]}
	p.Term = product.Step{Strides: product.Strides{channel, c.term[0] * p.W, c.term[1]}, Y: c.term[0], X: c.term[1]}
	return x, p, group
}

// at returns the digits of a number.
func at(a product.Axis, i int) [3]int { return [3]int{i / (a[1] * a[2]), i / a[2] % a[1], i % a[2]} }

// stored returns the matrix B of a group, as it would be stored.
func (c *windowCase) stored(x *matrix, p product.Pictures, first int) *matrix {
	k, n := c.terms.Size(), c.columns.Size()
	b := &matrix{d: c.of[1], data: make([]byte, (k*n+1)*c.of[1].Size()), row: n, col: 1}
	size := c.of[1].Size()
	for i := range k {
		for j := range n {
			t, q := at(c.terms, i), at(c.columns, j)
			row, col := p.Y+t[1]*p.Term.Y+q[1]*p.Column.Y, p.X+t[2]*p.Term.X+q[2]*p.Column.X
			if row < 0 || row >= p.H || col < 0 || col >= p.W {
				continue
			}
			from := first + t[0]*p.Term.Strides[0] + q[0]*p.Column.Strides[0] + row*p.W + col
			copy(b.data[(i*n+j)*size:][:size], x.data[from*size:])
		}
	}
	return b
}

// left returns the matrix A of a group, as it would be stored.
func (c *windowCase) left(m *matrix, strides []int, group int) *matrix {
	k, size := c.terms.Size(), m.d.Size()
	a := &matrix{d: m.d, data: make([]byte, (c.m*k+1)*size), row: k, col: 1}
	for i := range c.m {
		for j := range k {
			t := at(c.terms, j)
			from := group*strides[0] + i*strides[1] + t[0]*strides[2] + t[1]*strides[3] + t[2]*strides[4]
			copy(a.data[(i*k+j)*size:][:size], m.data[from*size:])
		}
	}
	return a
}

// onCPU writes the product of the terms from to to-1 to the elements of out whose number place gives.
func (c *windowCase) onCPU(a, b *matrix, from, to int, place func(row, col int) int, out *matrix) {
	n, size := c.columns.Size(), c.d.Size()
	y := &matrix{d: c.d, data: make([]byte, (c.m*n+1)*size), row: n, col: 1}
	mat := func(m *matrix, first int) tile.Mat {
		return tile.Mat{Ptr: unsafe.Pointer(&m.data[first*m.d.Size()]), Row: m.row, Col: m.col}
	}
	cpu.Product{ISA: jit.Portable, DType: c.d, Of: c.of, M: c.m, N: n, K: to - from, A: mat(a, from), B: mat(b, from*n), C: mat(y, 0)}.Run()
	for i := range c.m {
		for j := range n {
			copy(out.data[place(i, j)*size:][:size], y.data[(i*n+j)*size:])
		}
	}
}

// checkWindows compares a product of windows with the CPU's of the stored matrix.
func (g *gpu) checkWindows(chance *rand.Rand, c windowCase) {
	g.T.Helper()
	k, blocks := c.terms.Size(), 1
	if c.apart {
		c.from, c.to = min(c.from, up(k, numbers.KBlock)/numbers.KBlock), min(c.to, up(k, numbers.KBlock)/numbers.KBlock)
		blocks = c.to - c.from
	}
	x, b, group := c.pictures(chance)
	first := -1
	if c.across {
		first = 1
	}
	a, sa := newArray(chance, c.of[0], c.dense, first, c.groups, c.m, c.terms[0], c.terms[1], c.terms[2])
	out, so := newArray(chance, c.d, c.dense, -1, c.groups, max(blocks, 1), c.m, c.columns[0], c.columns[1], c.columns[2])
	if c.values == usual {
		for _, m := range []*matrix{a, x} {
			m.fill(chance.NormFloat64)
		}
	}
	p := product.Windows{DType: c.d, Of: c.of, M: c.m, Columns: c.columns, Terms: c.terms, Groups: c.groups, GroupA: sa[0], GroupB: group, GroupC: so[0],
		Positive: c.positive, Apart: c.apart, A: product.Left{Row: sa[1], Term: product.Strides(sa[2:])}, B: b, C: product.Results{Row: so[2], Column: product.Strides(so[3:])}}
	if c.apart {
		p.From, p.To, p.C.Block = c.from, c.to, so[1]
	}
	var addr [3]cudart.Addr
	for i, m := range []*matrix{a, x, out} {
		addr[i] = gridtest.Must(g.C.Alloc(len(m.data)))
		if err := g.C.CopyIn(g.Q, addr[i], unsafe.Pointer(&m.data[0]), len(m.data)); err != nil {
			g.T.Fatal(err)
		}
	}
	p.A.Addr, p.C.Addr = uint64(addr[0]), uint64(addr[2])
	p.B.Addr = uint64(addr[1]) + uint64((p.B.Y*p.B.W+p.B.X)*c.of[1].Size())
	list := p.LaunchesOf(c.tile, g.Major)
	if len(list) > 0 {
		g.Run("product", list)
	}
	for i := range c.groups {
		stored, left := c.stored(x, p.B, i*group), c.left(a, sa, i)
		for j := range blocks {
			from, to := 0, k
			if c.apart {
				from, to = (c.from+j)*numbers.KBlock, min((c.from+j+1)*numbers.KBlock, k)
			}
			c.onCPU(left, stored, from, to, func(row, col int) int {
				q := at(c.columns, col)
				return i*so[0] + j*so[1] + row*so[2] + q[0]*so[3] + q[1]*so[4] + q[2]*so[5]
			}, out)
		}
	}
	got := make([]byte, len(out.data))
	if err := g.C.CopyOut(g.Q, unsafe.Pointer(&got[0]), addr[2], len(got)); err != nil {
		g.T.Fatal(err)
	}
	size := c.d.Size()
	for i := 0; i < len(got); i += size {
		x, y := word(got[i:], size), word(out.data[i:], size)
		if x != y && !(isNaN(x, size) && isNaN(y, size)) {
			g.T.Fatalf("%+v: %v: element %d is %x, want %x", c, list, i/size, x, y)
		}
	}
	for _, x := range addr {
		if err := g.C.Free(x); err != nil {
			g.T.Fatal(err)
		}
	}
}

// randomWindows returns a product of at most work multiply-adds, as the tiles count them.
func randomWindows(chance *rand.Rand, work int) windowCase {
	pick := func(x ...int) int { return x[chance.IntN(len(x))] }
	for {
		t := types[chance.IntN(len(types))]
		c := windowCase{d: t[0], of: [2]array.DType{t[1], t[2]}, tile: windowTiles[chance.IntN(len(windowTiles))], m: sides[chance.IntN(len(sides))], groups: pick(1, 1, 2),
			columns: product.Axis{pick(1, 1, 2, 3), pick(0, 1, 1, 2, 5, 8), pick(1, 2, 4, 5, 11, 16)}, terms: product.Axis{pick(1, 2, 3, 20), pick(0, 1, 1, 2, 3, 4), pick(1, 2, 3, 4, 16)},
			column: [2]int{pick(1, 1, 2, -1), pick(1, 1, 2, -1)}, term: [2]int{pick(1, 1, 2, -1), pick(1, 1, 2, -1)}, y: pick(0, 0, -1, 3), x: pick(0, 0, -2, 4),
			dense: chance.IntN(2) == 0, across: chance.IntN(3) == 0, apart: chance.IntN(3) == 0, values: values(pick(int(special), int(usual)))}
		if c.apart {
			c.m, c.terms = pick(1, 3, 4, 17), product.Axis{pick(5, 40), pick(2, 3, 8), pick(4, 5, 16)}
			c.from = chance.IntN(2)
			c.to = c.from + 1 + chance.IntN(3)
		}
		m, n := c.tile.Size(c.d)
		if up(c.m, m)*up(c.columns.Size(), n)*up(max(c.terms.Size(), 1), product.Depth)*c.groups <= work {
			return c
		}
	}
}

// Random products of windows have the bits of products of the stored matrices.
func TestRandomWindows(t *testing.T) {
	n := compare.Count(t, "WEFT_PRODUCTS", 30)
	chance := rand.New(rand.NewPCG(1, uint64(n)))
	for _, major := range []int{8, 9} {
		g := newGPU(t, major)
		for range n {
			g.checkWindows(chance, randomWindows(chance, 1<<20))
		}
	}
}

// Each tile reads windows along columns and along terms, where the last vector is whole and where it
// is cut, of one block of terms and of several.
func TestTilesOfWindows(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 2))
	for _, major := range []int{8, 9} {
		g := newGPU(t, major)
		for _, d := range []array.DType{array.Float32, array.Float64} {
			if major == 8 && d == array.Float32 {
				continue // it has the same kernels for 9
			}
			for _, i := range windowTiles {
				m, n := i.Size(d)
				for j := range 4 {
					c := windowCase{d: d, of: [2]array.DType{d, d}, tile: i, m: m, groups: 1, columns: product.Axis{2, n / 16, 8}, terms: product.Axis{3, 2, 4},
						column: [2]int{1, 1}, term: [2]int{1, 1}, y: -1, x: -1, positive: true, values: usual}
					if j%2 > 0 {
						c.m, c.columns[1] = m-1, n/16-1
					}
					if j > 1 {
						c.columns, c.terms = product.Axis{n / 16, 4, 4}, product.Axis{1, 2, 16}
					}
					g.checkWindows(chance, c)
				}
				g.checkWindows(chance, windowCase{d: d, of: [2]array.DType{d, d}, tile: i, m: m / 4, groups: 1, columns: product.Axis{1, 2, 5}, terms: product.Axis{29, 3, 3}, column: [2]int{1, 1}, term: [2]int{1, 1}, values: usual})
			}
		}
	}
}

// Products of windows beyond the limits of a launch are several, which have the same bits.
func TestSplitWindows(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 2))
	g := newGPU(t, 9)
	for i := range 16 {
		back := product.SetLimits(1<<30, 1)
		if i%2 > 0 {
			back()
			back = product.SetLimits(20, 1<<24)
		}
		g.checkWindows(chance, randomWindows(chance, 1<<18))
		back()
	}
}

// A block of terms that is -0 counts as +0 only where that is asked for.
func TestPositiveWindows(t *testing.T) {
	g := newGPU(t, 9)
	for _, positive := range []bool{false, true} {
		for _, i := range windowTiles {
			c := windowCase{d: array.Float32, of: [2]array.DType{array.Float32, array.Float32}, tile: i, m: 1, groups: 1, columns: product.Axis{1, 1, 1}, terms: product.Axis{1, 1, 300}, positive: positive}
			g.checkSign(fmt.Sprintf("tile %v, positive %v", i, positive), c)
		}
	}
}

// checkSign fails the test unless the sign of a sum of products that vanish is as it is asked for.
func (g *gpu) checkSign(what string, c windowCase) {
	g.T.Helper()
	k := c.terms.Size()
	data := make([]float32, 2*k+1)
	for i := range k {
		data[i], data[k+i] = 0x1p-100, -0x1p-100
	}
	at := gridtest.Must(g.C.Alloc(4 * len(data)))
	if err := g.C.CopyIn(g.Q, at, unsafe.Pointer(&data[0]), 4*len(data)); err != nil {
		g.T.Fatal(err)
	}
	p := product.Windows{DType: c.d, Of: c.of, M: 1, Columns: c.columns, Terms: c.terms, Groups: 1, Positive: c.positive,
		A: product.Left{Addr: uint64(at), Row: k, Term: product.Strides{k, k, 1}},
		B: product.Pictures{Addr: uint64(at) + uint64(4*k), H: 1, W: k, Term: product.Step{Strides: product.Strides{k, k, 1}, X: 1}},
		C: product.Results{Addr: uint64(at) + uint64(8*k)}}
	g.Run("product", p.LaunchesOf(c.tile, g.Major))
	if err := g.C.CopyOut(g.Q, unsafe.Pointer(&data[0]), at, 4*len(data)); err != nil {
		g.T.Fatal(err)
	}
	want := uint64(1 << 31)
	if c.positive {
		want = 0
	}
	if got := word((*[4]byte)(unsafe.Pointer(&data[2*k]))[:], 4); got != want {
		g.T.Errorf("%s: the sum is %x, want %x", what, got, want)
	}
}

// Blocks of terms apart are results of their own, in one launch and in several, from pictures of
// fewer terms than a block and of more.
func TestWindowsApart(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 2))
	g := newGPU(t, 9)
	for _, d := range []array.DType{array.Float32, array.Float64} {
		for i, terms := range []product.Axis{{5, 8, 16}, {2, 5, 60}, {90, 3, 2}} {
			c := windowCase{d: d, of: [2]array.DType{d, d}, tile: product.Thin, m: 5 - i, groups: 1 + i%2, columns: product.Axis{2, 3, 3}, terms: terms,
				column: [2]int{1, 1}, term: [2]int{1, 1}, y: -1, x: -1, dense: i == 0, apart: true, from: i % 2, to: 3, values: usual}
			g.checkWindows(chance, c)
			back := product.SetLimits(1<<30, 1)
			g.checkWindows(chance, c)
			back()
		}
	}
}
