package sym

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Operations that pad, cut, move and select by numbers that may be variables.

// TopK is [weft.Tensor.TopK] of variables. k is an int or an integer variable without dimensions.
func (v *Var) TopK(k any, axis int, opts ...weft.TopKOpts) (values, index *Var) {
	const name = "topk"
	v.notNil(name)
	axis = array.Axis(name, axis, len(v.shape))
	opts = slices.Clone(opts)
	o := sizing{operation: operation{name: name}}
	x, l := o.arg(v), o.length("k", k)
	o.plain(axis)
	o.plain(opts)
	both := func(t *weft.Tensor, k int) []*weft.Tensor {
		a, b := t.TopK(k, axis, opts...)
		return []*weft.Tensor{a, b}
	}
	var r []*Var
	if l.at < 0 {
		r = o.operation.several(func(ts []*weft.Tensor) []*weft.Tensor { return both(x(ts), l.n) }, l.n, axis)
	} else {
		r = o.several(func(args []*Var) []ir.Type {
			s := slices.Clone(args[0].shape)
			s[axis] = Any
			return []ir.Type{{DType: args[0].dtype, Shape: s}, {DType: weft.Int64, Shape: s}}
		}, func(c *sized) []*weft.Tensor { return both(x(c.args), c.int(l)) })
	}
	return r[0], r[1]
}

// Pad is [weft.Tensor.Pad] of variables. Each of pads is an int or an integer variable without
// dimensions; an []int stands for its numbers.
func (v *Var) Pad(x float64, pads ...any) *Var {
	const name = "pad"
	v.notNil(name)
	o := sizing{operation: operation{name: name}}
	self := o.arg(v)
	o.plain(x)
	ls := o.lengths("pads", pads)
	if len(o.lens) == 0 {
		ns := known(ls)
		return o.operation.one(func(ts []*weft.Tensor) *weft.Tensor { return self(ts).Pad(x, ns...) }, ns)
	}
	if len(ls) != 2*len(v.shape) {
		array.Failf(name, "pads", "are %d, want two for each of %d dimensions%s", len(ls), len(v.shape), v.where())
	}
	return o.one(func(args []*Var) ir.Type {
		s := slices.Clone(args[0].shape)
		for i := range s {
			for _, l := range ls[2*i : 2*i+2] {
				if s[i] == Any || l.at >= 0 {
					s[i] = Any
				} else {
					s[i] += l.n
				}
			}
		}
		return ir.Type{DType: args[0].dtype, Shape: s}
	}, func(c *sized) *weft.Tensor { return self(c.args).Pad(x, c.ints(ls)...) })
}

// Roll is [weft.Tensor.Roll] of variables. shift is an int, or an integer variable without dimensions that
// may be anything the function computes.
func (v *Var) Roll(axis int, shift any) *Var {
	const name = "roll"
	v.notNil(name)
	axis = array.Axis(name, axis, len(v.shape))
	switch s := shift.(type) {
	case int:
		o := operation{name: name}
		x := o.arg(v)
		o.plain(axis)
		o.plain(s)
		return o.one(func(ts []*weft.Tensor) *weft.Tensor { return x(ts).Roll(axis, s) }, axis, s)
	case *Var:
		s.notNil(name)
		if !isWhole(s) {
			array.Failf(name, "shift", "is %s, want an integer without dimensions%s", s, s.where())
		}
		o := operation{name: name}
		x, by := o.arg(v), o.arg(s)
		o.plain(axis)
		return o.one(func(ts []*weft.Tensor) *weft.Tensor {
			t := x(ts)
			n := t.Dim(axis)
			if n == 0 {
				return t.Clone()
			}
			return t.IndexSelect(axis, steps(n).Sub(by(ts).To(weft.Int64).Mod(n)).Mod(n))
		}, axis)
	}
	array.Failf(name, "shift", "is %T, want an int or a *sym.Var", shift)
	return nil
}

// Split is [weft.Tensor.Split] of variables. Each of sizes is an int or an integer variable without
// dimensions; an []int stands for its numbers. Variables have a size for each part, because the number
// of parts is fixed.
func (v *Var) Split(axis int, sizes ...any) []*Var {
	const name = "split"
	v.notNil(name)
	axis = array.Axis(name, axis, len(v.shape))
	o := sizing{operation: operation{name: name}}
	x := o.arg(v)
	o.plain(axis)
	ls := o.lengths("sizes", sizes)
	if len(o.lens) == 0 {
		ns := known(ls)
		return o.operation.several(func(ts []*weft.Tensor) []*weft.Tensor { return x(ts).Split(axis, ns...) }, axis, ns)
	}
	if len(ls) == 1 {
		array.Failf(name, "sizes", "is one variable, %s, with which the number of parts is not known: give a size for each part%s", o.lens[0], o.lens[0].where())
	}
	return o.several(func(args []*Var) (types []ir.Type) {
		for _, n := range known(ls) {
			s := slices.Clone(args[0].shape)
			s[axis] = n
			types = append(types, ir.Type{DType: args[0].dtype, Shape: s})
		}
		return types
	}, func(c *sized) []*weft.Tensor { return x(c.args).Split(axis, c.ints(ls)...) })
}

// BinCount is [weft.Tensor.BinCount] of variables. minSize is an int or an integer variable without
// dimensions. The greatest element is computed before the rest of the function, because the shape
// depends on it.
func (v *Var) BinCount(weights *Var, minSize any) *Var {
	const name = "bincount"
	v.notNil(name)
	if !v.dtype.Integer() {
		array.Failf(name, "", "takes integers, got %s%s", v, v.where())
	}
	if weights != nil && !weights.dtype.Float() {
		array.Failf(name, "weights", "are %s, want floats%s", weights, weights.where())
	}
	if n, ok := minSize.(int); ok && n < 0 {
		array.Failf(name, "minSize", "%d is negative", n)
	}
	flat := v.To(weft.Int64).Reshape(-1)
	size := Cat([]*Var{Const(weft.FromSlice([]int64{-1})), flat}, 0).Max().Add(1).Maximum(minSize)
	size = Where(flat.Lt(0).Any(), -1, size)
	o := sizing{operation: operation{name: name}}
	x, w := o.arg(flat), o.optional(weights)
	shaped := o.arg(v)
	l := o.length("minSize", size)
	return o.one(func(args []*Var) ir.Type {
		if weights != nil {
			return ir.Type{DType: weights.dtype, Shape: known([]length{l})}
		}
		return ir.Type{DType: weft.Int64, Shape: known([]length{l})}
	}, func(c *sized) *weft.Tensor {
		n, t := c.int(l), x(c.args)
		if n < 0 {
			array.Failf(name, "", "takes integers that are not negative")
		}
		array.CheckShape(name, []int{n}, weft.Int64)
		if weights == nil {
			return call(op.BinCount, op.Count(n), []*weft.Tensor{t})[0]
		}
		ws := w(c.args)
		if !array.Equal(sizes(ws), sizes(shaped(c.args))) {
			array.Failf(name, "weights", "have shape %s, want %s", array.ShapeString(sizes(ws)), array.ShapeString(sizes(shaped(c.args))))
		}
		return weft.ZerosOf(ws.DType(), n).IndexAdd(0, t, ws.Reshape(-1))
	})
}

// Unique is [weft.Tensor.Unique] of variables. The number of values is computed before the rest of the
// function, because shapes depend on it.
func (v *Var) Unique() (values, inverse, counts *Var) {
	const name = "unique"
	defer array.Named(name).End()
	v.notNil(name)
	sorted, places := v.Reshape(-1).Sort(0)
	o := operation{name: name}
	x, p := o.arg(sorted), o.arg(places)
	r := o.several(func(ts []*weft.Tensor) []*weft.Tensor {
		return call(op.Runs, nil, []*weft.Tensor{x(ts), p(ts)})
	})
	starts := r[0].NonZero()
	shape := make([]any, len(v.shape))
	for i := range shape {
		shape[i] = v.Len(i)
	}
	ends := Cat([]*Var{starts.Slice(weft.Range(1, weft.End)), sorted.Len(0).Reshape(1)}, 0)
	return sorted.IndexSelect(0, starts), r[1].Reshape(shape...), ends.Slice(Range(0, starts.Len(0))).Sub(starts)
}

// Histogram is [weft.Tensor.Histogram] of variables. Min and Max must be given, since a variable has no
// elements to find them from. Edges and Weights are not taken: [Var.SearchSorted] and [Var.BinCount] count
// by edges that are variables.
func (v *Var) Histogram(opts weft.HistogramOpts) (counts, edges *Var) {
	const name = "histogram"
	v.notNil(name)
	switch {
	case opts.Min == nil || opts.Max == nil:
		array.Failf(name, "opts", "has no Min or Max, which variables need")
	case opts.Edges != nil || opts.Weights != nil:
		array.Failf(name, "opts", "has Edges or Weights: use SearchSorted and BinCount")
	}
	o := operation{name: name}
	x := o.arg(v)
	o.plain(opts)
	r := o.several(func(ts []*weft.Tensor) []*weft.Tensor {
		a, b := x(ts).Histogram(opts)
		return []*weft.Tensor{a, b}
	}, array.Or(opts.Bins, 10))
	return r[0], r[1]
}
