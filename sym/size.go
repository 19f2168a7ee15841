package sym

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// Symbolic sizes. Shapes are numbers when a function is traced, so a size must be known before that.
// It is, if it follows from shapes of arguments by arithmetic. What does not is a source: an
// argument, a shared variable, or a value that the function computes. A call takes the values of
// sources first, and finds the trace for the sizes that follow (see sized.go).

// Len returns the size of an axis, int64, as a variable. It is a constant where the size is known.
func (v *Var) Len(axis int) *Var {
	const name = "len"
	v.notNil(name)
	axis = array.Axis(name, axis, len(v.shape))
	if n := v.shape[axis]; n != Any {
		return Const(weft.ScalarOf(weft.Int64, n))
	}
	a := &apply{name: name, args: []*Var{v}, pc: array.Caller()}
	a.run = func(_ *replay, ts []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{weft.ScalarOf(weft.Int64, ts[0].Dim(axis))}
	}
	a.size = func(r *replay) size { return size{n: r.value(a.args[0]).Dim(axis)} }
	a.again = func(args []*Var) []*Var { return []*Var{args[0].Len(axis)} }
	return a.make([]ir.Type{word})[0]
}

// A size is what is known of a variable that says a size: a number, or how that follows from sources.
type size struct {
	n  int
	of func(source func(*Var) int) int // unless nil: the number, from the values of sources
	// in is the number as a tensor, of sources that are tensors, for files; nil: it has no such form.
	in  func(source func(*Var) *weft.Tensor) *weft.Tensor
	why string // unless empty: it is not known before the function runs
	// chosen says that a trace for a file has the number n, noted that the file computes it already.
	chosen, noted bool
}

// derivedSize returns f of sizes. in is f of tensors, nil if it has no such form.
func derivedSize(f func(ns []int) int, in func(xs []*weft.Tensor) *weft.Tensor, of ...size) size {
	ns := make([]int, len(of))
	known, chosen := true, true
	for i, s := range of {
		if s.why != "" {
			return s
		}
		ns[i], known, chosen = s.n, known && s.of == nil, chosen && (s.of == nil || s.chosen)
	}
	if known {
		return size{n: f(ns)}
	}
	tensors := func(source func(*Var) *weft.Tensor) *weft.Tensor {
		xs := make([]*weft.Tensor, len(of))
		for i, s := range of {
			if xs[i] = weft.ScalarOf(weft.Int64, s.n); s.of != nil {
				xs[i] = s.in(source)
			}
		}
		return in(xs)
	}
	if in == nil || slices.ContainsFunc(of, func(s size) bool { return s.of != nil && s.in == nil }) {
		tensors = nil
	}
	n := 0
	if chosen {
		n = f(ns)
	}
	return size{n: n, chosen: chosen, in: tensors, of: func(source func(*Var) int) int {
		ns := make([]int, len(of))
		for i, s := range of {
			if ns[i] = s.n; s.of != nil {
				ns[i] = s.of(source)
			}
		}
		return f(ns)
	}}
}

// sizeOps are operations whose results are sizes if the arguments are.
var sizeOps = map[string]struct {
	args int
	of   func(x []int) int
	in   func(x []*weft.Tensor) *weft.Tensor
}{
	"add":      {2, func(x []int) int { return x[0] + x[1] }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Add(x[1]) }},
	"sub":      {2, func(x []int) int { return x[0] - x[1] }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Sub(x[1]) }},
	"rsub":     {2, func(x []int) int { return x[1] - x[0] }, func(x []*weft.Tensor) *weft.Tensor { return x[1].Sub(x[0]) }},
	"mul":      {2, func(x []int) int { return x[0] * x[1] }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Mul(x[1]) }},
	"neg":      {1, func(x []int) int { return -x[0] }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Neg() }},
	"abs":      {1, func(x []int) int { return max(x[0], -x[0]) }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Abs() }},
	"minimum":  {2, func(x []int) int { return min(x[0], x[1]) }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Minimum(x[1]) }},
	"maximum":  {2, func(x []int) int { return max(x[0], x[1]) }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Maximum(x[1]) }},
	"clamp":    {3, func(x []int) int { return min(max(x[0], x[1]), x[2]) }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Maximum(x[1]).Minimum(x[2]) }},
	"floordiv": {2, func(x []int) int { q, _ := floorDiv(x[0], x[1]); return q }, func(x []*weft.Tensor) *weft.Tensor { return x[0].FloorDiv(x[1]) }},
	"mod":      {2, func(x []int) int { _, m := floorDiv(x[0], x[1]); return m }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Mod(x[1]) }},
	"square":   {1, func(x []int) int { return x[0] * x[0] }, func(x []*weft.Tensor) *weft.Tensor { return x[0].Mul(x[0]) }},
	"to":       {1, func(x []int) int { return x[0] }, func(x []*weft.Tensor) *weft.Tensor { return x[0] }},
	"as":       {1, func(x []int) int { return x[0] }, func(x []*weft.Tensor) *weft.Tensor { return x[0] }},
}

// floorDiv returns the quotient, rounded down, and the remainder, as tensors have them.
func floorDiv(a, b int) (q, m int) {
	if b == 0 {
		array.Failf("floordiv", "", "a size is divided by 0")
	}
	q, m = a/b, a%b
	if m != 0 && (m < 0) != (b < 0) {
		q, m = q-1, m+b
	}
	return q, m
}

// isWhole reports that v is an integer without dimensions.
func isWhole(v *Var) bool { return len(v.shape) == 0 && v.dtype.Category() == array.CatInt }

// size returns what is known of v as a size.
func (r *replay) size(v *Var) size {
	if s, ok := r.sizes[v]; ok {
		return s
	}
	s := r.findSize(v)
	if r.sizes == nil {
		r.sizes = map[*Var]size{}
	}
	r.sizes[v] = s
	return s
}

func (r *replay) findSize(v *Var) size {
	switch {
	case r.tried:
		return size{n: int(v.tried().ItemInt())}
	case v.role == constant:
		return size{n: v.whole}
	case r.around != nil && !r.dependent(v):
		return r.around.size(v)
	case r.actual[v] != nil:
		return r.outer.size(r.actual[v])
	case v.from == nil:
		return r.source(v)
	}
	a := v.from
	if a.size != nil {
		return a.size(r)
	}
	f := sizeOps[a.name]
	if f.of == nil || v.dtype != weft.Int64 {
		return r.source(v)
	}
	of := make([]size, f.args)
	for i := range of {
		at, number := i, any(nil)
		if a.written != nil {
			at, number = a.written[i].at, a.written[i].value
		}
		n, ok := asWhole(number)
		switch {
		case ok:
			of[i].n = n
		case at < 0 || !isWhole(a.args[at]):
			return r.source(v)
		default:
			if of[i] = r.size(a.args[at]); of[i].why != "" {
				return r.source(v)
			}
		}
	}
	return derivedSize(f.of, f.in, of...)
}

// source returns v, which does not follow from shapes, as a size.
func (r *replay) source(v *Var) size {
	switch {
	case core.TracingHere() == nil:
		return size{n: int(r.value(v).ItemInt())}
	case r.outer != nil && r.inside == nil:
		return size{why: "depends on the step of a loop, or on the example of a Vmap"}
	case r.outer != nil:
		return r.outer.size(r.inside(v))
	case r.call == nil:
		return size{why: "depends on elements, which neither a saved function nor an operation with a gradient of its own knows"}
	}
	return size{of: func(source func(*Var) int) int { return source(v) },
		in: func(source func(*Var) *weft.Tensor) *weft.Tensor { return source(v).To(weft.Int64) }}
}

// asWhole returns a Go integer as an int.
func asWhole(x any) (int, bool) {
	switch x := x.(type) {
	case int:
		return x, true
	case int64:
		return int(x), true
	case int32:
		return int(x), true
	}
	return 0, false
}

// fix returns a size as a number on which the trace depends. opName and arg are in errors.
func (r *replay) fix(opName, arg string, s size) int { return r.fixUpTo(opName, arg, s, 0) }

// fixUpTo is fix of a size that is at most a number, 0 if it may be anything.
func (r *replay) fixUpTo(opName, arg string, s size, most int) int {
	if s.why != "" {
		array.Failf(opName, arg, "%s: a size must be known before the function runs", s.why)
	}
	if s.of == nil || s.noted {
		return s.n
	}
	if r.call.fixed != nil && opName == "ifelse" {
		array.Failf(opName, arg, "decides which side is traced, which a saved function does not know")
	}
	return r.call.fix(s, most)
}

// lengthOf is [replay.fix] of the size that v says.
func (r *replay) lengthOf(opName, arg string, v *Var) int {
	s := r.size(v)
	n := r.fix(opName, arg, s)
	if s.of != nil && r.call.fixed != nil {
		s.n, s.chosen, s.noted = n, true, true
		r.sizes[v] = s
	} else {
		r.sizes[v] = size{n: n}
	}
	return n
}

// A sizing is an operation with sizes: numbers, or variables, which are arguments behind the others.
type sizing struct {
	operation
	lens []*Var
}

// A length is a size that an operation takes: n, or its variable lens[at].
type length struct{ n, at int }

// firstLen is the number of the first size among written arguments while the others are not counted.
const firstLen = 1 << 20

// element notes a length that is a variable, which is noted as a size, as an argument that has elements
// too. It is nil for a number.
func (o *sizing) element(l length) func(ts []*weft.Tensor) *weft.Tensor {
	if l.at < 0 {
		return nil
	}
	n := len(o.written)
	x := o.arg(o.lens[l.at])
	o.written = o.written[:n]
	return x
}

// length notes a size, which is a Go int or an integer variable. what names it in errors.
func (o *sizing) length(what string, x any) length {
	switch x := x.(type) {
	case int:
		o.plain(x)
		return length{n: x, at: -1}
	case *Var:
		x.notNil(o.name)
		if !isWhole(x) {
			array.Failf(o.name, what, "is %s, want an integer without dimensions%s", x, x.where())
		}
		if x.role == constant {
			o.plain(x.whole)
			return length{n: x.whole, at: -1}
		}
		o.written = append(o.written, written{at: firstLen + len(o.lens)})
		o.lens = append(o.lens, x)
		return length{at: len(o.lens) - 1}
	}
	array.Failf(o.name, what, "is %T, want an int, a *sym.Var or, among several, an []int", x)
	return length{}
}

// lengths is length for several. An []int stands for its numbers.
func (o *sizing) lengths(what string, xs []any) (out []length) {
	for _, x := range xs {
		if ns, ok := x.([]int); ok {
			for _, n := range ns {
				out = append(out, o.length(what, n))
			}
			continue
		}
		out = append(out, o.length(what, x))
	}
	return out
}

// known returns the numbers among lengths, Any for others.
func known(ls []length) []int {
	out := make([]int, len(ls))
	for i, l := range ls {
		if out[i] = l.n; l.at >= 0 {
			out[i] = Any
		}
	}
	return out
}

// valueOf returns v as a number on which the trace depends. The function does not compute v then.
func valueOf(v *Var) *Var {
	o := sizing{operation: operation{name: "size"}}
	l := o.length("", v)
	return o.one(func([]*Var) ir.Type { return word }, func(c *sized) *weft.Tensor { return weft.ScalarOf(weft.Int64, c.int(l)) })
}

// A sized is an operation with sizes while it runs.
type sized struct {
	*replay
	name string
	args []*weft.Tensor
	lens []*Var
}

// size returns what is known of a length.
func (c *sized) size(l length) size {
	if l.at < 0 {
		return size{n: l.n}
	}
	return c.replay.size(c.lens[l.at])
}

// int returns a length as a number on which the trace depends.
func (c *sized) int(l length) int {
	if l.at < 0 {
		return l.n
	}
	return c.lengthOf(c.name, "", c.lens[l.at])
}

// ints is int for several.
func (c *sized) ints(ls []length) []int {
	out := make([]int, len(ls))
	for i, l := range ls {
		out[i] = c.int(l)
	}
	return out
}

// one makes the operation, which has one result of the type that is found for its arguments.
func (o *sizing) one(typ func(args []*Var) ir.Type, f func(c *sized) *weft.Tensor) *Var {
	return o.several(func(args []*Var) []ir.Type { return []ir.Type{typ(args)} },
		func(c *sized) []*weft.Tensor { return []*weft.Tensor{f(c)} })[0]
}

// several makes the operation; types finds the types of its results for its arguments.
func (o *sizing) several(types func(args []*Var) []ir.Type, f func(c *sized) []*weft.Tensor) []*Var {
	for i := range o.written {
		if w := &o.written[i]; w.at >= firstLen {
			w.at += len(o.args) - firstLen
		}
	}
	return o.over(slices.Concat(o.args, o.lens), types, f)
}

// over is the operation of arguments and sizes.
func (o *sizing) over(args []*Var, types func(args []*Var) []ir.Type, f func(c *sized) []*weft.Tensor) []*Var {
	n := len(o.args)
	a := &apply{name: o.name, args: args, lens: len(o.lens), sized: len(o.lens) > 0, written: o.written, random: o.random, pc: array.Caller()}
	a.run = func(r *replay, ts []*weft.Tensor) []*weft.Tensor { return f(&sized{r, o.name, ts[:n], args[n:]}) }
	a.again = func(args []*Var) []*Var { return o.over(args, types, f) }
	if len(o.lens)+len(o.random) == 0 {
		a.fold()
	}
	ts := types(args[:n])
	for _, t := range ts {
		array.CheckShape(o.name, lowest(t.Shape), t.DType)
	}
	return a.make(ts)
}

// lowest is a shape with 0 for sizes that are not known.
func lowest(shape []int) []int {
	out := slices.Clone(shape)
	for i, n := range out {
		if n == Any {
			out[i] = 0
		}
	}
	return out
}

// elements is the number of elements of a shape: an int, or a variable.
func elements(name string, shape []any) any {
	o := sizing{operation: operation{name: name}}
	ls := o.lengths("shape", shape)
	n, product := 1, (*Var)(nil)
	for _, l := range ls {
		switch {
		case l.at < 0:
			n *= l.n
		case product == nil:
			product = o.lens[l.at].To(weft.Int64)
		default:
			product = product.Mul(o.lens[l.at])
		}
	}
	if product == nil {
		return n
	}
	return product.Mul(n)
}

// knownSizes are the numbers of a shape, Any for variables.
func knownSizes(name string, shape []any) []int {
	o := sizing{operation: operation{name: name}}
	return known(o.lengths("shape", shape))
}
