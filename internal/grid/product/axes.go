package product

import (
	"slices"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/numbers"
)

// An Axis holds the sizes of three digits that number columns or terms. The last counts fastest.
type Axis [3]int

// Size returns the number of columns or terms.
func (a Axis) Size() int { return array.Size(a[:]) }

// Strides are the element strides of an operand by the digits of an axis.
type Strides [3]int

// A Step is what the digits of an axis add to a place in pictures.
type Step struct {
	Strides
	Y, X int // lines by the second digit, columns by the third
}

// Pictures are the elements from which B is read. Zeros lie around them.
type Pictures struct {
	Addr         uint64 // of the pixel of column 0 and term 0, though it may lie in the zeros
	Y, X         int    // its line and column
	H, W         int    // of a picture
	Column, Term Step
}

// Windows is a product C = A*B whose matrix B is never stored: its columns are windows of pictures,
// its terms the pixels of a window. Groups are such products with other rows of A and C.
//
// With Apart, each numbers.KBlock terms give a result of their own, in the order of blocks.
type Windows struct {
	DType          array.DType    // of C: Float32 or Float64
	Of             [2]array.DType // of A and of the pictures: DType, or a half with Float32
	M              int
	Columns, Terms Axis
	A              Left
	B              Pictures
	C              Results
	Groups         int
	GroupA         int // element strides of a group
	GroupB, GroupC int
	Positive       bool // the sum of a block that is -0 counts as +0
	Apart          bool
	From, To       int // with Apart: the blocks of terms
}

// Left is the matrix A of Windows.
type Left struct {
	Addr uint64
	Row  int // element stride
	Term Strides
}

// Results is the matrix C of Windows.
type Results struct {
	Addr   uint64
	Row    int // element stride
	Column Strides
	Block  int // with Apart: the element stride of blocks
}

// Launches is Launches of a Product. Requires: M, the number of columns of one value of the first
// digit, and the number of terms, or with Apart that of one value of the first digit, are at most
// [MaxDigits].
func (p Windows) Launches(g GPU) []grid.Launch { return p.launches(p.tile(g.Units), g.Major) }

// MaxDigits is the largest number of an axis that a kernel takes apart.
const MaxDigits = 1 << 30

func (p Windows) launches(t Tile, major int) []grid.Launch {
	if p.M == 0 || p.Columns.Size() == 0 || p.Groups == 0 || p.Apart && p.From == p.To {
		return nil
	}
	return p.split(nil, t, major)
}

// blocks returns the number of blocks of threads.
func (p *Windows) blocks(t Tile) int {
	s := windowShape(p.DType, t)
	n := p.Groups * grid.Ceil(p.M, s.m) * grid.Ceil(p.Columns.Size(), s.n)
	if p.Apart {
		n *= p.To - p.From
	}
	return n
}

// split appends the launches of p.
func (p Windows) split(list []grid.Launch, t Tile, major int) []grid.Launch {
	if p.Columns.Size() <= maxSide && p.blocks(t) <= maxBlocks && p.To-p.From <= MaxDigits/numbers.KBlock {
		return append(list, p.launch(t, major))
	}
	halves := func(n int) [2][2]int { return [2][2]int{{0, n / 2}, {n / 2, n - n/2}} }
	switch d := slices.IndexFunc(p.Columns[:], func(n int) bool { return n > 1 }); {
	case p.Apart && p.To-p.From > 1:
		for _, h := range halves(p.To - p.From) {
			q := p
			q.From, q.To = p.From+h[0], p.From+h[0]+h[1]
			q.C.Addr += uint64(h[0] * p.C.Block * p.DType.Size())
			list = q.split(list, t, major)
		}
	case p.Groups > 1:
		for _, h := range halves(p.Groups) {
			q := p
			q.A.Addr += uint64(h[0] * p.GroupA * p.Of[0].Size())
			q.B.Addr += uint64(h[0] * p.GroupB * p.Of[1].Size())
			q.C.Addr += uint64(h[0] * p.GroupC * p.DType.Size())
			q.Groups = h[1]
			list = q.split(list, t, major)
		}
	case d >= 0:
		for _, h := range halves(p.Columns[d]) {
			q := p
			q.moveColumns(d, h[0])
			q.Columns[d] = h[1]
			list = q.split(list, t, major)
		}
	default: // of rows alone
		for _, h := range halves(p.M) {
			q := p
			q.A.Addr += uint64(h[0] * p.A.Row * p.Of[0].Size())
			q.C.Addr += uint64(h[0] * p.C.Row * p.DType.Size())
			q.M = h[1]
			list = q.split(list, t, major)
		}
	}
	return list
}

// moveColumns makes the column whose digit d is n the first one.
func (p *Windows) moveColumns(d, n int) {
	p.B.Addr += uint64(n * p.B.Column.Strides[d] * p.Of[1].Size())
	p.C.Addr += uint64(n * p.C.Column[d] * p.DType.Size())
	switch d {
	case 1:
		p.B.Y += n * p.B.Column.Y
	case 2:
		p.B.X += n * p.B.Column.X
	}
}

// joined returns an axis with neighbouring digits joined where strides allow it: the last digit is
// the largest, those before it are of size 1.
func (a Axis) joined(s Strides) (Axis, Strides) {
	out, to := Axis{1, 1, 1}, Strides{}
	at := 2
	empty := true
	for d := 2; d >= 0; d-- {
		switch {
		case a[d] == 1:
		case empty:
			out[at], to[at], empty = a[d], s[d], false
		case s[d] == out[at]*to[at]:
			out[at] *= a[d]
		default:
			at--
			out[at], to[at] = a[d], s[d]
		}
	}
	return out, to
}

// launch returns the launch of a product that one computes.
func (p *Windows) launch(t Tile, major int) grid.Launch {
	s, k, first := windowShape(p.DType, t), p.Terms.Size(), 0
	if p.Apart {
		// The digits of a term start from whole pictures.
		if each := p.Terms[1] * p.Terms[2]; each > 0 {
			whole := p.From * numbers.KBlock / each
			p.A.Addr += uint64(whole * p.A.Term[0] * p.Of[0].Size())
			p.B.Addr += uint64(whole * p.B.Term.Strides[0] * p.Of[1].Size())
			first, k = p.From*numbers.KBlock-whole*each, k-whole*each
		}
	}
	v := Variant{DType: p.DType, Tile: t, Windows: true, Positive: p.Positive, Wide: p.DType == array.Float64 && major >= 9,
		Blocks: s.sumsShared || !p.Apart && k > numbers.KBlock}
	terms, termA := p.Terms.joined(p.A.Term)
	v.Digits = terms[1] > 1
	v.A = layout(p.Of[0], Mat{p.A.Addr, p.A.Row, termA[2]}, p.M, terms[2], []int{p.GroupA, termA[0], termA[1]})
	v.B = Layout{Of: p.Of[1], AlongK: p.Terms[2] > p.Columns[2]}
	columns, columnC := p.Columns.joined(p.C.Column)
	v.Vector = vectors(p.DType, Mat{p.C.Addr, p.C.Row, columnC[2]}, columns[2], []int{p.GroupC, p.C.Block, columnC[0], columnC[1]})

	blocks, deep := 1, max(1, grid.Ceil(k, s.depth))
	if p.Apart {
		blocks = p.To - p.From
		deep, k = min(deep, numbers.KBlock/s.depth), min(k, first+blocks*numbers.KBlock)
	}
	x, y, z := p.Of[0].Size(), p.Of[1].Size(), p.DType.Size()
	a := make(grid.Args, 0, argWindowsBytes)
	a.Long(int(p.A.Addr), int(p.B.Addr), int(p.C.Addr))
	a.Long(p.A.Row*x, termA[2]*x, 0, 0, p.C.Row*z, 0)
	wa := v.A.way(s.m, s)
	a.Long((wa.stepPlace*p.A.Row+wa.stepTerm*termA[2])*x, s.depth*termA[2]*x, 0, 0)
	n := p.Columns.Size()
	a.Short(deep, 0, p.M, n, grid.Ceil(p.M, s.m), grid.Ceil(n, s.n))
	a.Short(1, 1, p.Groups, blocks)
	a.Long(0, 0, p.GroupA*x, 0)
	a.Long(0, 0, p.GroupB*y, 0)
	a.Long(0, 0, p.GroupC*z, p.C.Block*z)
	a.Short(first, k)
	terms.appendTo(&a)
	p.Columns.appendTo(&a)
	p.Terms.appendTo(&a)
	a.Short(p.B.Y, p.B.X, p.B.H, p.B.W, p.B.Column.Y, p.B.Column.X, p.B.Term.Y, p.B.Term.X)
	termA.appendTo(&a, x)
	p.B.Column.Strides.appendTo(&a, y)
	p.B.Term.Strides.appendTo(&a, y)
	p.C.Column.appendTo(&a, z)
	return v.launch(p.blocks(t), a)
}

// appendTo appends strides of elements of a size.
func (s Strides) appendTo(a *grid.Args, size int) { a.Long(s[0]*size, s[1]*size, s[2]*size) }

// axisBytes is the size of the divisors of an axis: of its last two digits.
const axisBytes = 2 * grid.DivisorBytes

// appendTo appends the divisors of an axis.
func (x Axis) appendTo(a *grid.Args) { a.Divisors(max(x[1], 1), max(x[2], 1)) }
