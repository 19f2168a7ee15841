package moves

import (
	"slices"

	"weft/internal/array"
	"weft/internal/grid"
)

// A box is a shape, and for each of several operands the steps along its axes. What a step counts
// is the operand's affair.
type box struct {
	count []int
	steps [][]int // by operand, then by axis
}

// joined returns the box without axes of size 1, and with neighbours joined that all operands walk like
// one axis. It has at least one axis.
func (b box) joined() box {
	out := box{steps: make([][]int, len(b.steps))}
	for d, n := range b.count {
		last := len(out.count) - 1
		if n == 1 {
			continue
		}
		one := last >= 0
		for k, s := range b.steps {
			one = one && out.steps[k][last] == n*s[d]
		}
		if one {
			out.count[last] *= n
		} else {
			out.count = append(out.count, n)
			last++
		}
		for k, s := range b.steps {
			out.steps[k] = append(out.steps[k][:last], s[d])
		}
	}
	if len(out.count) == 0 {
		out.count = []int{1}
		for k := range out.steps {
			out.steps[k] = []int{0}
		}
	}
	return out
}

// maxBox is the number of elements of a launch, whose numbers have 4 bytes. Tests lower it.
var maxBox = 1 << 30

// each calls f for parts of the box that launches can take, with where each operand begins.
func (b box) each(begin []int, f func(part box, begin []int)) {
	if array.Size(b.count) <= maxBox {
		f(b, begin)
		return
	}
	d := slices.IndexFunc(b.count, func(n int) bool { return n > 1 })
	half := b.count[d] / 2
	for _, part := range [...][2]int{{0, half}, {half, b.count[d] - half}} {
		p := box{slices.Clone(b.count), b.steps}
		p.count[d] = part[1]
		at := slices.Clone(begin)
		for k, s := range b.steps {
			at[k] += part[0] * s[d]
		}
		p.each(at, f)
	}
}

// append appends the sizes of the box but the first, as divisors, and then the steps of each operand.
func (b box) append(a *grid.Args) {
	for _, n := range b.count[1:] {
		*a = grid.AppendDivisor(*a, n)
	}
	a.Pad()
	for _, s := range b.steps {
		a.Long(s...)
	}
}

// boxBytes is the number of bytes that append appends to whole words.
func boxBytes(axes, operands int) int {
	return (grid.DivisorBytes*(axes-1)+7)/8*8 + 8*axes*operands
}

// position returns the coordinates of element i, I32, of a box at a byte of the arguments.
func (w writer) position(i grid.Reg, axes, at int) []grid.Reg {
	x := make([]grid.Reg, axes)
	for d := axes - 1; d > 0; d-- {
		i, x[d] = w.Divide(i, at+grid.DivisorBytes*(d-1))
	}
	x[0] = i
	for d := range x {
		x[d] = w.Wide(x[d])
	}
	return x
}

// walk returns begin, I64, moved by the steps of an operand of a box to a position.
func (w writer) walk(begin grid.Reg, x []grid.Reg, operand, at int) grid.Reg {
	at += boxBytes(len(x), 0) + 8*len(x)*operand
	for d := range x {
		begin = w.Add(begin, w.Mul(x[d], w.long(at+8*d)))
	}
	return begin
}
