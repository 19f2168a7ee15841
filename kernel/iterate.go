package kernel

import (
	"context"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/gokernel"
)

// IterateOpts are the options of [Func.Iterate], given behind its arguments.
type IterateOpts struct {
	StencilOpts
	// Until, if not nil, is asked after every Every-th step, and after the last, whether to
	// stop. It gets the number of steps made, and the first argument before and after the
	// last of them; it must not change or keep them.
	Until func(steps int, before, after *weft.Tensor) bool
	Every *int // 1 or more; nil means 1
	// Context, if not nil, ends the iteration between steps: the result is that of the
	// steps made so far.
	Context context.Context
}

// Iterate applies a stencil n times: its results are its first arguments in the next step.
// There are as many as results, all neighbourhoods of the shape of the first and of the
// results' element types. Elements of the border for which nothing is computed stay as they
// are unless Cval is given. It returns the last results, and how many steps were made. An
// [IterateOpts] or [StencilOpts] may stand behind the arguments.
//
// Several steps are made on a part of a large array while it is in the cache. Results equal
// n calls of [Func.Stencil].
func (f *Func) Iterate(n int, args ...any) ([]*weft.Tensor, int) {
	f.check()
	name := f.f.Name()
	var opts IterateOpts
	if k := len(args) - 1; k >= 0 {
		switch o := args[k].(type) {
		case IterateOpts:
			opts, args = o, args[:k]
		case *IterateOpts:
			if o != nil {
				opts = *o
			}
			args = args[:k]
		case StencilOpts:
			opts.StencilOpts, args = o, args[:k]
		}
	}
	if n < 0 {
		array.Failf(name, "n", "is %d", n)
	}
	if opts.Out != nil || opts.Step != nil || opts.Border == Valid {
		array.Failf(name, "", "Iterate takes no Out, no Step and no Valid border")
	}
	every := array.Or(opts.Every, 1)
	if every < 1 {
		array.Failf(name, "Every", "is %d, want 1 or more", every)
	}
	m := len(f.f.Results())
	if m > len(args) {
		array.Failf(name, "", "has %d results, which are to be its first arguments, and takes %d", m, len(args))
	}
	now := make([]*weft.Tensor, m)
	next := make([]*weft.Tensor, m)
	args = slices.Clone(args)
	for i := range now {
		t, ok := args[i].(*weft.Tensor)
		if !ok {
			array.Failf(name, f.taken[i].Name, "is not a tensor")
		}
		now[i], next[i] = t.Detach().Clone(), t.Detach().Clone()
	}
	stencils := [2]*stencil{}
	for i := range stencils {
		for k := range now {
			args[k] = now[k]
		}
		s := f.stencil(append(slices.Clone(args), opts.StencilOpts))
		for k, d := range s.in.Returns() {
			if a := s.as[k]; a.p.Role != gokernel.Near || a.t.DType() != d || !slices.Equal((*core.Tensor)(a.t).Sizes(), s.shape) {
				array.Failf(name, a.p.Name, "is %s of shape %v, result %d, which it is in the next step, %s of shape %v", a.t.DType(), a.t.Shape(), k, d, s.shape)
			}
		}
		for _, a := range s.as {
			if a.t != nil && (*core.Tensor)(a.t).Recorded() {
				array.Failf(name, a.p.Name, "requires a gradient: Iterate records none (call Stencil in a loop, or Iterate inside WithoutGrad)")
			}
		}
		s.costs = (*core.Tensor)(now[0]).Costs()
		stencils[i] = s
		now, next = next, now
	}
	done := 0
	if now[0].Size() == 0 && opts.Until == nil {
		done = n // nothing changes, however often
	}
	for done < n {
		if opts.Context != nil && opts.Context.Err() != nil {
			break
		}
		steps := n - done
		if opts.Until != nil {
			steps = min(steps, every-done%every)
		}
		steps = min(steps, stencils[0].depth())
		iterateTiles(stencils, now, next, done, steps)
		if done += steps; steps%2 == 1 {
			now, next = next, now
		}
		if opts.Until != nil && (done%every == 0 || done == n) && opts.Until(done, next[0], now[0]) {
			break
		}
	}
	for _, t := range next {
		t.Release()
	}
	return now, done
}

// rows returns how many rows of the first axis a tile has, 0 if tiles are no gain: for small
// arrays, and where what lies beyond one end is read at the other.
func (s *stencil) rows() int {
	if s.opts.BorderFunc != nil || s.opts.Border == Wrap || s.random || len(s.shape) < 2 {
		return 0
	}
	bytes := 0
	for _, i := range s.near {
		bytes += s.as[i].dtype.Size()
	}
	for _, d := range s.in.Returns() {
		bytes += d.Size()
	}
	row := bytes * array.Size(s.shape[1:])
	if row == 0 || row*s.shape[0] < s.costs.Far {
		return 0
	}
	rows := min(s.costs.Band/(row/s.shape[len(s.shape)-1]*s.columns()), s.shape[0]/4)
	if rows < 4*s.skew(0) {
		return 0
	}
	return rows
}

// skew is how far a step reads along an axis.
func (s *stencil) skew(axis int) int { return max(-s.lo[axis], s.hi[axis], 1) }

// depth is how many steps are made at once.
func (s *stencil) depth() int { return max(1, s.rows()/(2*s.skew(0))) }

// iterateTiles does steps steps, beginning with number from, tile by tile (time skewing). Each step
// of a tile is shifted, along the first and the last axis, towards the elements that the step
// before has finished. So the elements that a step reads are computed and not yet overwritten.
func iterateTiles(stencils [2]*stencil, now, next []*weft.Tensor, from, steps int) {
	s := stencils[0]
	last := len(s.shape) - 1
	n := s.shape[0]
	rows := s.rows()
	if rows == 0 || steps == 1 {
		for t := range steps {
			stencils[(from+t)%2].tile(next, box{make([]int, last+1), slices.Clone(s.shape)})
			now, next = next, now
		}
		return
	}
	columns, across := s.columns(), s.skew(last)
	if columns == s.shape[last] {
		across = 0
	}
	for r := 0; r-(steps-1)*s.skew(0) < n; r += rows {
		for c := 0; c-(steps-1)*across < s.shape[last]; c += columns {
			a, b := now, next
			for t := range steps {
				part := box{make([]int, last+1), slices.Clone(s.shape)}
				part.lo[0], part.hi[0] = max(r-t*s.skew(0), 0), min(r+rows-t*s.skew(0), n)
				part.lo[last], part.hi[last] = max(c-t*across, 0), min(c+columns-t*across, s.shape[last])
				stencils[(from+t)%2].tile(b, part)
				a, b = b, a
			}
		}
	}
}

// tile computes the elements of a part.
func (s *stencil) tile(dst []*weft.Tensor, part box) {
	if !part.empty() {
		reads := s.opts.BorderFunc != nil || s.opts.Border != Constant
		s.write(dst, s.interior(), part, make([]int, len(s.shape)), func(b box) box { return b }, reads, s.opts.Cval != nil)
	}
}

// columns returns how many elements of the last axis a tile has.
func (s *stencil) columns() int {
	last := len(s.shape) - 1
	bytes := 0
	for _, i := range s.near {
		bytes += s.as[i].dtype.Size() * (s.hi[0] - s.lo[0] + 1)
	}
	if n := s.costs.Rows / bytes &^ 63; n >= 512 && n < s.shape[last] {
		return n
	}
	return s.shape[last]
}
