package sym

import (
	"weft"
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Variables made of sizes.

// Zeros returns float32 zeros. A size is an int or an integer
// variable without dimensions, and an []int stands for several.
func Zeros(shape ...any) *Var { return filled("zeros", weft.Float32, 0, shape) }

// ZerosOf is [Zeros] of an element type.
func ZerosOf(d weft.DType, shape ...any) *Var { return filled("zeros", d, 0, shape) }

// Ones returns float32 ones. A size is an int or an integer
// variable without dimensions, and an []int stands for several.
func Ones(shape ...any) *Var { return filled("ones", weft.Float32, 1, shape) }

// OnesOf is [Ones] of an element type.
func OnesOf(d weft.DType, shape ...any) *Var { return filled("ones", d, 1, shape) }

// FullOf returns a variable of an element type whose elements are all x, a Go number or a variable
// without dimensions. A size is an int or an integer
// variable without dimensions, and an []int stands for several.
func FullOf(d weft.DType, x any, shape ...any) *Var { return filled("full", d, x, shape) }

// Full is [FullOf] in the type of x: of a Go number the one that [weft.Full] takes.
func Full(x any, shape ...any) *Var {
	if v, ok := x.(*Var); ok {
		v.notNil("full")
		return filled("full", v.dtype, x, shape)
	}
	return filled("full", weft.Full(x).DType(), x, shape)
}

func filled(name string, d weft.DType, x any, shape []any) *Var {
	if !d.Supported() {
		array.Failf(name, "dtype", "%s is not supported", d)
	}
	o := sizing{operation: operation{name: name}}
	if v, ok := x.(*Var); ok {
		v.notNil(name)
		if len(v.shape) != 0 {
			array.Failf(name, "x", "is %s, want no dimensions%s", v, v.where())
		}
	} else {
		weft.FullOf(d, x) // which checks the number
	}
	of := o.any(x)
	ls := o.lengths("shape", shape)
	typ := func([]*Var) ir.Type { return ir.Type{DType: d, Shape: known(ls)} }
	return o.one(typ, func(c *sized) *weft.Tensor {
		s := c.ints(ls)
		defer array.Named(name).End()
		if t, ok := of(c.args).(*weft.Tensor); ok {
			return t.To(d).Expand(s...)
		}
		return weft.FullOf(d, x, s...)
	})
}

// Eye returns the float32 matrix with ones on its diagonal. n is an int or an integer variable
// without dimensions.
func Eye(n any) *Var { return EyeOf(weft.Float32, n) }

// EyeOf is [Eye] of an element type.
func EyeOf(d weft.DType, n any) *Var {
	const name = "eye"
	if !d.Supported() {
		array.Failf(name, "dtype", "%s is not supported", d)
	}
	o := sizing{operation: operation{name: name}}
	l := o.length("n", n)
	typ := func([]*Var) ir.Type {
		s := known([]length{l})[0]
		return ir.Type{DType: d, Shape: []int{s, s}}
	}
	return o.one(typ, func(c *sized) *weft.Tensor {
		x := steps(c.int(l))
		return x.Unsqueeze(1).Eq(x).To(d)
	})
}

// Arange returns int64 numbers: start, start+step, ... before stop. One argument is stop, two are
// start and stop. Each is an int or an integer variable without dimensions.
func Arange(args ...any) *Var {
	const name = "arange"
	switch len(args) {
	case 1:
		args = []any{0, args[0], 1}
	case 2:
		args = []any{args[0], args[1], 1}
	case 3:
	default:
		array.Failf(name, "", "takes 1 to 3 numbers, got %d", len(args))
	}
	o := sizing{operation: operation{name: name}}
	ls := o.lengths("", args)
	if len(ls) != 3 {
		array.Failf(name, "", "takes 1 to 3 numbers, got lists of %d", len(ls))
	}
	if ls[2].at < 0 && ls[2].n == 0 {
		array.Failf(name, "step", "is 0")
	}
	first, by := o.element(ls[0]), o.element(ls[2])
	typ := func([]*Var) ir.Type {
		n := Any
		if len(o.lens) == 0 {
			n = span(ls[0].n, ls[1].n, ls[2].n)
		}
		return ir.Type{DType: weft.Int64, Shape: []int{n}}
	}
	return o.one(typ, func(c *sized) *weft.Tensor {
		n := c.fix(name, "", derivedSize(func(ns []int) int { return span(ns[0], ns[1], ns[2]) }, spanOf, c.size(ls[0]), c.size(ls[1]), c.size(ls[2])))
		number := func(l length, of func(ts []*weft.Tensor) *weft.Tensor) any {
			if of == nil {
				return l.n
			}
			return of(c.args).To(weft.Int64)
		}
		return steps(n).Mul(number(ls[2], by)).Add(number(ls[0], first))
	})
}

// span counts start, start+step, ... before stop.
func span(start, stop, step int) int {
	if step == 0 {
		array.Failf("arange", "step", "is 0")
	}
	q, _ := floorDiv(stop-start+step-sign(step), step)
	return max(q, 0)
}

// spanOf is span of tensors.
func spanOf(x []*weft.Tensor) *weft.Tensor {
	start, stop, step := x[0], x[1], x[2]
	return stop.Sub(start).Add(step).Sub(step.Sign()).FloorDiv(step).Maximum(0)
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// Reshape is [weft.Tensor.Reshape] of variables. A size is an int or an integer variable without
// dimensions.
func (v *Var) Reshape(shape ...any) *Var {
	return v.resized("reshape", "shape", shape, func(t *weft.Tensor, s []int) *weft.Tensor { return t.Reshape(s...) },
		func(_, s []int) []int {
			for i, n := range s {
				if n < 0 {
					s[i] = Any
				}
			}
			return s
		})
}

// Expand is [weft.Tensor.Expand] of variables. A size is an int or an integer variable without
// dimensions.
func (v *Var) Expand(shape ...any) *Var {
	return v.resized("expand", "shape", shape, func(t *weft.Tensor, s []int) *weft.Tensor { return t.Expand(s...) },
		func(of, s []int) []int {
			for i, n := range s {
				if k := i - (len(s) - len(of)); k >= 0 && n == Any && of[k] > 1 {
					s[i] = of[k]
				}
			}
			return s
		})
}

// Tile is [weft.Tensor.Tile] of variables. A number is an int or an integer variable without
// dimensions.
func (v *Var) Tile(reps ...any) *Var {
	return v.resized("tile", "reps", reps, func(t *weft.Tensor, s []int) *weft.Tensor { return t.Tile(s...) }, tiled)
}

// Repeat is [weft.Tensor.Repeat] of variables. A number is an int or an integer variable without
// dimensions.
func (v *Var) Repeat(reps ...any) *Var {
	return v.resized("repeat", "reps", reps, func(t *weft.Tensor, s []int) *weft.Tensor { return t.Repeat(s...) }, tiled)
}

// tiled is the shape of a tile, as far as it is known.
func tiled(of, reps []int) []int {
	n := max(len(of), len(reps))
	out := make([]int, n)
	for i := range out {
		a, b := 1, 1
		if k := i - (n - len(of)); k >= 0 {
			a = of[k]
		}
		if k := i - (n - len(reps)); k >= 0 {
			b = reps[k]
		}
		if out[i] = a * b; a == Any || b == Any {
			out[i] = Any
		}
	}
	return out
}

// resized makes an operation of v and numbers. typ gives the shape of the result for the shape of v
// and the numbers, as far as they are known.
func (v *Var) resized(name, what string, numbers []any, f func(t *weft.Tensor, ns []int) *weft.Tensor, typ func(of, ns []int) []int) *Var {
	v.notNil(name)
	o := sizing{operation: operation{name: name}}
	x := o.arg(v)
	ls := o.lengths(what, numbers)
	if len(o.lens) == 0 {
		ns := known(ls)
		return o.operation.one(func(ts []*weft.Tensor) *weft.Tensor { return f(x(ts), ns) }, ns)
	}
	return o.one(func(args []*Var) ir.Type {
		return ir.Type{DType: args[0].dtype, Shape: typ(args[0].shape, known(ls))}
	}, func(c *sized) *weft.Tensor { return f(x(c.args), c.ints(ls)) })
}

// RepeatInterleave is [weft.Tensor.RepeatInterleave] of variables. counts is an int, an []int, an
// integer variable without dimensions for all elements, or a vector with a number for each.
func (v *Var) RepeatInterleave(axis int, counts any) *Var {
	const name = "repeatinterleave"
	v.notNil(name)
	axis = array.Axis(name, axis, len(v.shape))
	c, ok := counts.(*Var)
	if !ok {
		if t, ok := counts.(*weft.Tensor); ok {
			c = asVar(name, t)
		}
	}
	if c == nil {
		o := operation{name: name}
		x := o.arg(v)
		o.plain(axis)
		o.plain(counts)
		return o.one(func(ts []*weft.Tensor) *weft.Tensor { return x(ts).RepeatInterleave(axis, counts) })
	}
	c.notNil(name)
	if c.dtype.Category() != array.CatInt || len(c.shape) > 1 {
		array.Failf(name, "counts", "is %s, want integers of one dimension or none%s", c, c.where())
	}
	if len(c.shape) == 1 {
		if n, k := v.shape[axis], c.shape[0]; n >= 0 && k >= 0 && k != n && k != 1 {
			array.Failf(name, "counts", "has %d numbers, axis %d has %d%s", k, axis, n, c.where())
		}
		each := c.To(weft.Int64).Expand(v.Len(axis))
		ends := each.CumSum(0)
		return v.IndexSelect(axis, ends.SearchSorted(Arange(each.Sum()), weft.SearchOpts{Right: true}))
	}
	o := sizing{operation: operation{name: name}}
	x := o.arg(v)
	o.plain(axis)
	l := o.length("counts", c)
	return o.one(func(args []*Var) ir.Type {
		reps := []int{Any}
		reps[0] = known([]length{l})[0]
		s := append([]int{}, args[0].shape...)
		s[axis] = tiled(s[axis:axis+1], reps)[0]
		return ir.Type{DType: args[0].dtype, Shape: s}
	}, func(s *sized) *weft.Tensor { return x(s.args).RepeatInterleave(axis, s.int(l)) })
}

// NonZero is [weft.Tensor.NonZero] of variables. The number of elements is computed before the rest
// of the function, because shapes depend on it.
func (v *Var) NonZero() *Var {
	const name = "nonzero"
	v.notNil(name)
	m := v
	if v.dtype != weft.Bool {
		m = v.Ne(0)
	}
	return counted(name, op.NonZero, weft.Int64, m.Reshape(-1), m)
}

// MaskSelect is [weft.Tensor.MaskSelect] of variables. The number of elements is computed before the
// rest of the function, because shapes depend on it.
func (v *Var) MaskSelect(mask *Var) *Var {
	const name = "maskselect"
	v.notNil(name)
	mask.notNil(name)
	if mask.dtype != weft.Bool {
		array.Failf(name, "mask", "is %s, want a bool%s", mask, mask.where())
	}
	for i := 1; i <= min(len(v.shape), len(mask.shape)); i++ {
		if a, b := v.shape[len(v.shape)-i], mask.shape[len(mask.shape)-i]; a != b && min(a, b) != Any && a != 1 && b != 1 {
			array.Failf(name, "mask", "%s does not broadcast with %s%s", mask, v, mask.where())
		}
	}
	m := mask.LogicalAnd(OnesLike(v).To(weft.Bool)) // of the shape to which both broadcast
	return counted(name, op.MaskSelect, v.dtype, v, m)
}

// counted makes an operation of x and m, or of x alone if that is m, with one result for each true
// element of m.
func counted(name string, d *op.Def, dtype weft.DType, x, m *Var) *Var {
	o := sizing{operation: operation{name: name}}
	args := o.list([]*Var{x, m})
	l := o.length("", m.CountNonZero())
	return o.one(func([]*Var) ir.Type { return ir.Type{DType: dtype, Shape: known([]length{l})} }, func(c *sized) *weft.Tensor {
		ts := args(c.args)
		if d.Arity == 1 {
			ts = ts[:1]
		} else {
			ts = []*weft.Tensor{ts[0].ExpandAs(ts[1]), ts[1]}
		}
		return call(d, op.Count(c.int(l)), ts)[0]
	})
}
