package product

import (
	"slices"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/numbers"
)

// A Mat is a matrix in the memory of a GPU: an address, and the distances of two rows and of two
// columns in elements.
type Mat struct {
	Addr     uint64
	Row, Col int
}

func (m Mat) t() Mat { return Mat{m.Addr, m.Col, m.Row} }

// A Product is C = A*B, A being M x K, B K x N and C M x N; or, with a batch, one such product for
// each element of it. C must not overlap an operand.
type Product struct {
	DType   array.DType    // of C: Float32 or Float64
	Of      [2]array.DType // of A and B: DType, or a half with Float32
	M, N, K int
	A, B, C Mat
	Batch   Batch

	Positive bool // the sum of a block of terms that is -0 counts as +0
}

// A Batch holds the sizes of the batch dimensions, and the element strides of each operand along
// them: 0 where an operand is broadcast.
type Batch struct{ Count, A, B, C []int }

// Limits of a launch, whose numbers of rows, columns and blocks have 4 bytes. Tests lower them.
var (
	maxSide   = 1 << 30
	maxBlocks = 1 << 24
)

// Scratch returns the bytes of scratch memory that Launches needs, 0 for most products.
func (p Product) Scratch(g GPU) int {
	if !p.prepare() || !p.choose(g, true).apart {
		return 0
	}
	return p.scratch()
}

// Launches returns the launches that compute a product on a GPU. Most products are one launch; one
// without elements is none. Without scratch memory, which is 0, a product that wants it takes longer.
func (p Product) Launches(g GPU, scratch uint64) []grid.Launch {
	if !p.prepare() {
		return nil
	}
	c := p.choose(g, scratch != 0)
	if c.apart {
		return p.launchesApart(c.tile, g.Major, scratch)
	}
	return p.split(nil, c.tile, g.Major)
}

// LaunchesOf is Launches with a given tile. Blocks of terms are apart if scratch is not 0.
func (p Product) LaunchesOf(t Tile, major int, scratch uint64) []grid.Launch {
	switch {
	case !p.prepare():
		return nil
	case scratch != 0:
		return p.launchesApart(t, major, scratch)
	}
	return p.split(nil, t, major)
}

// prepare joins batch dimensions, and makes few columns few rows. It reports whether C has elements.
func (p *Product) prepare() bool {
	p.Batch = p.Batch.joined()
	if p.M == 0 || p.N == 0 || array.Size(p.Batch.Count) == 0 {
		return false
	}
	if p.N < p.M && p.N <= shapes[p.DType][Thin].m {
		p.transpose()
	}
	return true
}

// transpose replaces p by the product of the transposed operands, C^T = B^T*A^T.
func (p *Product) transpose() {
	p.M, p.N, p.A, p.B, p.C = p.N, p.M, p.B.t(), p.A.t(), p.C.t()
	p.Of[0], p.Of[1] = p.Of[1], p.Of[0]
	p.Batch.A, p.Batch.B = p.Batch.B, p.Batch.A
}

// blocks returns the number of blocks of a launch.
func (p *Product) blocks(t Tile) int {
	s := shapes[p.DType][t]
	return array.Size(p.Batch.Count) * grid.Ceil(p.M, s.m) * grid.Ceil(p.N, s.n)
}

// split appends the launches of p. One of them has limits.
func (p Product) split(list []grid.Launch, tile Tile, major int) []grid.Launch {
	t := &p.Batch
	part := func(change func(q *Product)) {
		q := p
		change(&q)
		list = q.split(list, tile, major)
	}
	switch {
	case len(t.Count) > maxBatch:
		for i := range t.Count[0] {
			part(func(q *Product) {
				q.moveBatch(i)
				q.Batch = Batch{t.Count[1:], t.A[1:], t.B[1:], t.C[1:]}
			})
		}
		return list
	case p.M > maxSide || p.N > maxSide || p.blocks(tile) > maxBlocks:
		half := func(n int) [2][2]int { return [2][2]int{{0, n / 2}, {n / 2, n - n/2}} }
		switch {
		case len(t.Count) > 0 && t.Count[0] > 1:
			for _, h := range half(t.Count[0]) {
				part(func(q *Product) {
					q.moveBatch(h[0])
					q.Batch.Count = append([]int{h[1]}, t.Count[1:]...)
				})
			}
		case p.M >= p.N:
			for _, h := range half(p.M) {
				part(func(q *Product) {
					q.A.move(p.Of[0], h[0]*p.A.Row)
					q.C.move(p.DType, h[0]*p.C.Row)
					q.M = h[1]
				})
			}
		default:
			for _, h := range half(p.N) {
				part(func(q *Product) {
					q.B.move(p.Of[1], h[0]*p.B.Col)
					q.C.move(p.DType, h[0]*p.C.Col)
					q.N = h[1]
				})
			}
		}
		return list
	}
	return append(list, p.launch(tile, major))
}

// moveBatch moves the matrices to element i of the first batch dimension.
func (p *Product) moveBatch(i int) {
	p.A.move(p.Of[0], i*p.Batch.A[0])
	p.B.move(p.Of[1], i*p.Batch.B[0])
	p.C.move(p.DType, i*p.Batch.C[0])
}

// move moves the first element.
func (m *Mat) move(d array.DType, elements int) { m.Addr += uint64(elements * d.Size()) }

// joined returns the batch without dimensions of size 1, and with neighbours joined where the strides
// of all operands allow it.
func (t Batch) joined() (out Batch) {
	for d, n := range t.Count {
		last := len(out.Count) - 1
		switch {
		case n == 1:
			continue
		case last >= 0 && out.A[last] == n*t.A[d] && out.B[last] == n*t.B[d] && out.C[last] == n*t.C[d]:
			out.Count[last] *= n
			out.A[last], out.B[last], out.C[last] = t.A[d], t.B[d], t.C[d]
			continue
		}
		out.Count = append(out.Count, n)
		out.A, out.B, out.C = append(out.A, t.A[d]), append(out.B, t.B[d]), append(out.C, t.C[d])
	}
	return out
}

// launch returns the launch of a product that one computes.
func (p *Product) launch(t Tile, major int) grid.Launch {
	s := shapes[p.DType][t]
	v := Variant{DType: p.DType, Tile: t, Positive: p.Positive, Blocks: p.K > numbers.KBlock, Wide: p.DType == array.Float64 && major >= 9}
	v.A = layout(p.Of[0], p.A, p.M, p.K, p.Batch.A)
	v.B = layout(p.Of[1], p.B.t(), p.N, p.K, p.Batch.B)
	v.Vector = vectors(p.DType, p.C, p.N, p.Batch.C)
	a := make(grid.Args, 0, argBytes)
	x, y, z := p.Of[0].Size(), p.Of[1].Size(), p.DType.Size()
	a.Long(int(p.A.Addr), int(p.B.Addr), int(p.C.Addr))
	a.Long(p.A.Row*x, p.A.Col*x, p.B.Col*y, p.B.Row*y, p.C.Row*z, p.C.Col*z)
	wa, wb := v.A.way(s.m, s), v.B.way(s.n, s)
	a.Long((wa.stepPlace*p.A.Row+wa.stepTerm*p.A.Col)*x, s.depth*p.A.Col*x)
	a.Long((wb.stepPlace*p.B.Col+wb.stepTerm*p.B.Row)*y, s.depth*p.B.Row*y)
	deep := max(1, grid.Ceil(p.K, s.depth))
	a.Short(deep, p.K-(deep-1)*s.depth, p.M, p.N, grid.Ceil(p.M, s.m), grid.Ceil(p.N, s.n))
	batch := [maxBatch]int{1, 1, 1, 1}
	from := maxBatch - copy(batch[maxBatch-len(p.Batch.Count):], p.Batch.Count)
	a.Short(batch[:]...)
	for _, o := range []struct {
		strides []int
		size    int
	}{{p.Batch.A, x}, {p.Batch.B, y}, {p.Batch.C, z}} {
		clear(batch[:])
		for i, n := range o.strides {
			batch[from+i] = n * o.size
		}
		a.Long(batch[:]...)
	}
	return v.launch(p.blocks(t), a)
}

// layout chooses how an operand is read, given with its places as rows and its terms as columns.
func layout(d array.DType, m Mat, places, terms int, batch []int) Layout {
	l := Layout{Of: d, AlongK: max(m.Col, -m.Col) < max(m.Row, -m.Row)}
	if l.AlongK {
		l.Vector = vectors(d, m, terms, batch)
	} else {
		l.Vector = vectors(d, m.t(), places, batch)
	}
	return l
}

// vectors reports whether rows of a matrix consist of vectors, each aligned to its size.
func vectors(d array.DType, m Mat, cols int, batch []int) bool {
	n := lanes(d)
	return m.Col == 1 && cols%n == 0 && m.Row%n == 0 && m.Addr%uint64(n*d.Size()) == 0 &&
		!slices.ContainsFunc(batch, func(s int) bool { return s%n != 0 })
}
