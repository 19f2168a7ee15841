package optest

import (
	"math/rand/v2"
	"sync"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/par"
)

// threadCounts are what must not change a bit.
var threadCounts = []int{1, 2, 5}

// Large demands the same bits for any number of threads, from strided arguments
// and on the oracle, for arrays that are cut into chunks, blocks and parts, and
// values within the reference's bounds.
func Large(t T, dev device.Device, caps Caps) {
	t.Helper()
	s := newSuite(t, dev, caps)
	defer s.mem.Close()
	defer par.SetThreads(par.SetThreads(0))
	for i := range largeCases() {
		s.large(&largeCases()[i])
	}
	t.Logf("%d computations", s.checks)
}

// largeCases are the cases of Large, the same for every device.
var largeCases = sync.OnceValue(func() (all []expectation) {
	r := rand.New(rand.NewPCG(3, 3))
	add := func(d *op.Def, a ir.Attrs, shapes ...[]int) {
		for _, dt := range []array.DType{array.Float32, array.Float64} {
			c := newCase(d, a)
			for _, sh := range shapes {
				c.X = append(c.X, Random(r, dt, sh, d.Domain, 0))
			}
			want, refused := expect(&c)
			all = append(all, expectation{Case: c, want: want, refused: refused})
		}
	}
	axis := func(i ...int) ir.Attrs { return op.Reduction{Axes: i} }
	add(op.Add, nil, []int{300007}, []int{300007})
	add(op.Exp, nil, []int{301, 700})
	for _, d := range []*op.Def{op.Sum, op.Max, op.LogSumExp} {
		add(d, axis(1), []int{9, 4099})
		add(d, axis(1), []int{37, 5000})
		add(d, axis(1), []int{3, 70001})
		add(d, axis(0), []int{65, 130})
		add(d, axis(0), []int{1003, 67})
		add(d, axis(1), []int{3, 517, 33})
	}
	add(op.Sum, nil, []int{1000003})
	add(op.Mean, nil, []int{1000, 1000})
	add(op.ArgMax, nil, []int{200001})
	add(op.ArgMax, axis(0), []int{700, 31})
	add(op.Softmax, axis(1), []int{40, 4500})
	add(op.Softmax, axis(1), []int{2, 66000})
	add(op.MatMul, nil, []int{130, 301}, []int{301, 97})
	for _, d := range []*op.Def{op.SegmentSum, op.SegmentLogSumExp, op.SegmentSoftmax, op.SegmentArgMax} {
		for _, dt := range []array.DType{array.Float32, array.Float64} {
			for _, list := range []struct{ rows, row, items int }{{200_003, 1, 5000}, {70_001, 1, 3}, {9001, 37, 700}, {100, 1, 60_001}} {
				shape := []int{list.rows, list.row}
				c := newCase(d, nil, drawn(r, d, op.Sample{Shapes: [][]int{shape, {list.items + 1}}, Max: list.rows + 1, Ascending: true}, dt)...)
				want, refused := expect(&c)
				all = append(all, expectation{Case: c, want: want, refused: refused})
			}
		}
	}
	return all
})

func (s *suite) large(e *expectation) {
	c := &e.Case
	out := s.graphOf(c)
	if out == nil {
		return
	}
	par.SetThreads(1)
	first := s.contiguous(e, out)
	if first == nil {
		return
	}
	if i := e.want.differs(first); i >= 0 {
		s.errorf(c.Def.Name, "%s: element %s, want %s", c, first.at(i), e.want.at(i))
	}
	for _, n := range threadCounts[1:] {
		par.SetThreads(n)
		s.laid(c, out, first, func(int) Layout { return Contiguous }, Contiguous, false)
	}
	s.laid(c, out, first, func(int) Layout { return Strided }, Contiguous, false)
	s.laid(c, out, first, func(int) Layout { return Transposed }, Contiguous, false)
}
