package sym

import (
	"slices"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A Span is a part of an axis whose bounds may be variables, for [Var.Slice].
type Span struct {
	start, stop any
	step        int
}

// Range is [weft.Range] with bounds that are ints or integer variables without dimensions.
// [weft.Begin] and [weft.End] stand for the bounds of an axis.
//
//	x.Slice(sym.Range(i.Mul(b), i.Add(1).Mul(b))) // x[i*b:(i+1)*b]
func Range(start, stop any, step ...int) Span {
	s := Span{start: start, stop: stop, step: 1}
	if len(step) > 0 {
		s.step = step[0]
	}
	return s
}

// Slice returns a part of each axis in turn, as [weft.Tensor.Slice] does: of [weft.Span], or of
// [Span] where bounds are variables. Bounds beyond the ends are cut and negative ones count from the
// back, as in NumPy. So the length of the part is known when the function is called. Where it is
// the same, another start neither traces nor compiles the function.
//
// Inside the step of a [Scan] bounds may depend on the step if their difference does not, as with
// x[i*b:(i+1)*b]. Nothing is cut then: a part that is not inside the axis is an error of the call.
func (v *Var) Slice(spans ...any) *Var {
	const name = "slice"
	v.notNil(name)
	plain := make([]weft.Span, len(spans))
	type part struct {
		axis int
		span Span
	}
	var parts []part
	axis := 0 // of the result
	for i, s := range spans {
		switch s := s.(type) {
		case weft.Span:
			plain[i] = s
			p := partOf(s)
			switch {
			case p.Ellipsis:
				rest := 0
				for _, o := range spans[i+1:] {
					if w, ok := o.(weft.Span); !ok || !partOf(w).NewAxis {
						rest++
					}
				}
				used := 0
				for _, o := range spans[:i] {
					if w, ok := o.(weft.Span); !ok || !partOf(w).NewAxis {
						used++
					}
				}
				axis += max(len(v.shape)-used-rest, 0)
			case !p.Index:
				axis++
			}
		case Span:
			if lo, ok := s.start.(int); ok {
				if hi, ok := s.stop.(int); ok {
					plain[i] = weft.Range(lo, hi, s.step)
					axis++
					continue
				}
			}
			plain[i] = weft.All
			parts = append(parts, part{axis, s})
			axis++
		default:
			array.Failf(name, "", "part %d is %T, want a weft.Span or a sym.Span", i, s)
		}
	}
	if len(plain) > len(parts) || len(parts) == 0 {
		o := operation{name: name}
		x := o.arg(v)
		o.plain(plain)
		v = o.one(func(ts []*weft.Tensor) *weft.Tensor { return x(ts).Slice(plain...) })
	}
	for _, p := range parts {
		if p.axis >= len(v.shape) {
			array.Failf(name, "", "takes %d parts, more than the dimensions of %s", len(spans), v)
		}
		v = v.part(p.axis, p.span)
	}
	return v
}

// partOf returns a span in the engine's type.
func partOf(s weft.Span) core.AxisPart { return *(*core.AxisPart)(unsafe.Pointer(&s)) }

// part is a part of one axis.
func (v *Var) part(axis int, s Span) *Var {
	const name = "slice"
	o := sizing{operation: operation{name: name}}
	x := o.arg(v)
	start, stop := o.length("start", s.start), o.length("stop", s.stop)
	o.plain(s.step)
	if s.step == 0 {
		array.Failf(name, "step", "is 0")
	}
	first := o.element(start)
	typ := func(args []*Var) ir.Type {
		shape := slices.Clone(args[0].shape)
		if n := shape[axis]; start.at >= 0 || stop.at >= 0 || n == Any {
			shape[axis] = Any
		} else {
			_, _, shape[axis] = core.AxisPart{Start: start.n, Stop: stop.n, Step: s.step}.Bounds(name, axis, n)
		}
		return ir.Type{DType: args[0].dtype, Shape: shape}
	}
	return o.one(typ, func(c *sized) *weft.Tensor {
		t := x(c.args)
		n := t.Dim(axis)
		bounds := func(lo, hi int) (start, count int) {
			start, _, count = core.AxisPart{Start: lo, Stop: hi, Step: s.step}.Bounds(name, axis, n)
			return start, count
		}
		lo, hi := c.size(start), c.size(stop)
		if (lo.why != "" || hi.why != "") && s.step == 1 && first != nil {
			return inside(t, axis, first(c.args), max(c.fix(name, "", c.between(start, stop)), 0))
		}
		most := (n + max(s.step, -s.step) - 1) / max(s.step, -s.step)
		if lo.of == nil && s.step > 0 {
			from, _ := bounds(lo.n, weft.End)
			most = (n - from + s.step - 1) / s.step
		}
		count := c.fixUpTo(name, "", derivedSize(func(ns []int) int { _, count := bounds(ns[0], ns[1]); return count }, s.counted(start, stop, n), lo, hi), most)
		if lo.of == nil {
			end := weft.End
			if s.step < 0 {
				end = weft.Begin
			}
			from, _ := bounds(lo.n, end)
			return take(t, axis, from, s.step, count)
		}
		// The place of the first element, as Bounds finds it.
		at := first(c.args).To(weft.Int64)
		at = weft.Where(at.Lt(0), at.Add(n), at)
		if s.step > 0 {
			at = at.Clamp(0, n)
		} else {
			at = at.Clamp(-1, n-1)
		}
		return window(t, axis, at, s.step, count)
	})
}

// counted returns what counts the elements between bounds, of an axis of n, as Bounds does; nil for steps
// back.
func (s Span) counted(start, stop length, n int) func(xs []*weft.Tensor) *weft.Tensor {
	if s.step < 0 {
		return nil
	}
	inside := func(l length, x *weft.Tensor) *weft.Tensor {
		if l.at < 0 && l.n == weft.Begin {
			return weft.ScalarOf(weft.Int64, 0)
		}
		return weft.Where(x.Lt(0), x.Add(n), x).Maximum(0).Minimum(n)
	}
	return func(xs []*weft.Tensor) *weft.Tensor {
		lo, hi := inside(start, xs[0]), inside(stop, xs[1])
		return hi.Sub(lo).Add(s.step - 1).FloorDiv(s.step).Maximum(0)
	}
}

// take is count elements of an axis from one on.
func take(t *weft.Tensor, axis, from, step, count int) *weft.Tensor {
	spans := slices.Repeat([]weft.Span{weft.All}, axis)
	if count == 0 {
		from = max(min(from, t.Dim(axis)), 0)
		return t.Slice(append(spans, weft.Range(from, from))...)
	}
	stop := from + count*step
	if stop < 0 {
		stop = weft.Begin
	}
	return t.Slice(append(spans, weft.Range(from, stop, step))...)
}

// window is [take] from an element whose place is known when the program runs.
func window(t *weft.Tensor, axis int, at *weft.Tensor, step, count int) *weft.Tensor {
	if count == 0 {
		return take(t, axis, 0, 1, 0)
	}
	return t.IndexSelect(axis, steps(count).Mul(step).Add(at))
}

// steps are the numbers from 0 on, int64.
func steps(n int) *weft.Tensor {
	return call(op.Iota, op.Axis(0), []*weft.Tensor{weft.ZerosOf(weft.Int64, n)})[0]
}

// Narrow returns count elements of an axis from start on. Both are ints or integer variables
// without dimensions. A negative start counts from the back. It is [Var.Slice] with a length of its
// own: start may be anything that the function computes, such as a variable of a loop. The function
// fails with *[weft.Error] when it is called with a part that is not inside the axis.
func (v *Var) Narrow(axis int, start, count any) *Var {
	const name = "narrow"
	v.notNil(name)
	axis = array.Axis(name, axis, len(v.shape))
	o := sizing{operation: operation{name: name}}
	x := o.arg(v)
	from, size := o.length("start", start), o.length("count", count)
	first := o.element(from)
	if size.at < 0 && size.n < 0 {
		array.Failf(name, "count", "is %d", size.n)
	}
	typ := func(args []*Var) ir.Type {
		shape := slices.Clone(args[0].shape)
		shape[axis] = known([]length{size})[0]
		return ir.Type{DType: args[0].dtype, Shape: shape}
	}
	return o.one(typ, func(c *sized) *weft.Tensor {
		t := x(c.args)
		n, k := t.Dim(axis), c.int(size)
		if k < 0 {
			array.Failf(name, "count", "is %d", k)
		}
		if s := c.size(from); s.of == nil && s.why == "" {
			at := s.n
			if at < 0 {
				at += n
			}
			if at < 0 || at > n-k {
				array.Failf(name, "start", "is %d: %d elements from there are not inside an axis of %d", s.n, k, n)
			}
			return take(t, axis, at, 1, k)
		}
		return inside(t, axis, first(c.args), k)
	})
}

// inside is count elements from a place, counted from the back if it is negative. They must be inside the
// axis, which is checked when the program runs.
func inside(t *weft.Tensor, axis int, at *weft.Tensor, count int) *weft.Tensor {
	n := t.Dim(axis)
	at = at.To(weft.Int64)
	at = weft.Where(at.Lt(0), weft.Where(at.Lt(-n), n, at.Add(n)), at) // n is outside
	return window(t, axis, at, 1, count)
}

// String returns the bounds and the step.
func (s Span) String() string {
	return array.Describe("sym.Range", "Start", s.start, "Stop", s.stop, "Step", s.step)
}
