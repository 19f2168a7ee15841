package kernel

import (
	"context"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/kernel"
)

// IterateOpts are the options of [Func.Iterate], given behind its arguments.
type IterateOpts struct {
	StencilOpts
	// Until, if not nil, is asked after every Every-th step, and after the last, whether to
	// stop. It gets the number of steps made, and the first argument before and after the
	// last of them; it must not change or keep them.
	Until func(steps int, before, after *weft.Tensor) bool
	Every int // 0 means 1
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
// Several steps are made on a part of a large array while it is in the cache; results are
// those of n calls of [Func.Stencil].
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
	if opts.Every < 0 {
		array.Failf(name, "Every", "is %d", opts.Every)
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
			array.Failf(name, f.taken[i].Name, "is no tensor")
		}
		now[i], next[i] = t.NoGrad().Clone(), t.NoGrad().Clone()
	}
	stencils := [2]*stencil{}
	for i := range stencils {
		for k := range now {
			args[k] = now[k]
		}
		s := f.stencil(append(slices.Clone(args), opts.StencilOpts))
		for k, d := range s.in.Returns() {
			if a := s.as[k]; a.p.Role != kernel.Near || a.t.DType() != d || !slices.Equal(a.t.Shape(), s.shape) {
				array.Failf(name, a.p.Name, "is %s of shape %v, result %d, which it is in the next step, %s of shape %v", a.t.DType(), a.t.Shape(), k, d, s.shape)
			}
		}
		for _, a := range s.as {
			if a.t != nil && a.t.RequiresGrad() {
				array.Failf(name, a.p.Name, "requires a gradient: Iterate records none (call Stencil in a loop, or give NoGrad)")
			}
		}
		stencils[i] = s
		now, next = next, now
	}
	every := max(opts.Every, 1)
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
		sweep(stencils, now, next, done, steps)
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

const (
	// bandBytes is about how much of the arrays is worked on while it is in the cache, the
	// last one: steps through bands of the second cache are no faster, since a step reads its
	// rows through the first one anyway, and have more rows at their edges.
	bandBytes = 4 << 20
	// leastBytes is from which size on arrays go by bands, quarters of small ones.
	leastBytes = 4 << 20
	// lineBytes is what the rows that an element reads have in the first cache: a step of a
	// band goes by columns of rows that are longer.
	lineBytes = 24 << 10
)

// rows returns how many rows of the first axis a band has, 0 if bands are no gain: for small
// arrays, and where what lies beyond one end is read at the other.
func (s *stencil) rows() int {
	if s.opts.BorderFunc != nil || s.opts.Border == Wrap || s.seed != nil || len(s.shape) < 2 {
		return 0
	}
	bytes := 0
	for _, i := range s.near {
		bytes += s.as[i].dtype.Size()
	}
	for _, d := range s.in.Returns() {
		bytes += d.Size()
	}
	bytes *= array.Size(s.shape[1:])
	if bytes == 0 || bytes*s.shape[0] < leastBytes {
		return 0
	}
	rows := min(bandBytes, bytes*s.shape[0]/4) / bytes
	if rows < 4*s.skew() {
		return 0
	}
	return rows
}

// skew is how far a step reads along the first axis.
func (s *stencil) skew() int { return max(-s.lo[0], s.hi[0], 1) }

// depth is how many steps are made at once.
func (s *stencil) depth() int { return max(1, s.rows()/(2*s.skew())) }

// sweep makes steps, the first of which is number from: band by band, each step of a band
// shifted towards the rows that the one before has finished. What a step reads is then
// there, and not yet written over by the step after it.
func sweep(stencils [2]*stencil, now, next []*weft.Tensor, from, steps int) {
	n := stencils[0].shape[0]
	rows := stencils[0].rows()
	if rows == 0 || steps == 1 {
		for t := range steps {
			stencils[(from+t)%2].band(next, 0, n)
			now, next = next, now
		}
		return
	}
	skew := stencils[0].skew()
	for r := 0; r-steps*skew < n; r += rows {
		a, b := now, next
		for t := range steps {
			stencils[(from+t)%2].band(b, max(r-t*skew, 0), min(r+rows-t*skew, n))
			a, b = b, a
		}
	}
}

// band computes rows lo to below hi of the first axis.
func (s *stencil) band(dst []*weft.Tensor, lo, hi int) {
	if lo >= hi {
		return
	}
	last := len(s.shape) - 1
	first := make([]int, len(s.shape))
	all := box{slices.Clone(first), slices.Clone(s.shape)}
	all.lo[0], all.hi[0] = lo, hi
	reads := s.opts.BorderFunc != nil || s.opts.Border != Constant
	columns := s.columns()
	for at := 0; at < s.shape[last]; at += columns {
		if last > 0 {
			all.lo[last], all.hi[last] = at, min(at+columns, s.shape[last])
		}
		s.write(dst, s.interior(), all, first, func(b box) box { return b }, reads, s.opts.Cval != nil)
	}
}

// columns returns how many elements of the last axis a step of a band goes by.
func (s *stencil) columns() int {
	last := len(s.shape) - 1
	bytes := 0
	for _, i := range s.near {
		bytes += s.as[i].dtype.Size() * (s.hi[0] - s.lo[0] + 1)
	}
	if n := lineBytes / bytes &^ 63; last > 0 && s.rows() > 0 && n >= 512 {
		return n
	}
	return s.shape[last]
}
