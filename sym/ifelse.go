package sym

import (
	"slices"
	"sync"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// IfElse gives what then makes if condition, a bool without dimensions, holds, else what els
// makes; the results are of the same element types and numbers of dimensions. Where their lengths
// differ, the condition is computed before the rest of the function.
//
// Only one is computed: with all variables that
// the function makes when IfElse calls it, once, and with those made before that nothing else in the
// compiled function needs. So are their gradients. [Where] chooses element by element, and computes both.
func IfElse(condition *Var, then, els func() []*Var) []*Var {
	const name = "ifelse"
	condition.notNil(name)
	if condition.dtype != weft.Bool || len(condition.shape) != 0 {
		array.Failf(name, "condition", "is %s, want a bool without dimensions%s", condition, condition.where())
	}
	if then == nil || els == nil {
		array.Failf(name, "", "a function is nil")
	}
	var sides [2]*body
	for i, f := range []func() []*Var{then, els} {
		from := ids.Load()
		outs := f()
		for k, v := range outs {
			if v == nil {
				array.Failf(name, "", "result %d is nil", k)
			}
			v.notNil(name)
		}
		outs = lazy(outs, func(v *Var) bool { return v.id > from })
		sides[i] = newBody(name, nil, outs, func(v *Var, _ bool) bool { return v.id > from })
	}
	one, two := sides[0].outs, sides[1].outs
	if len(one) != len(two) || len(one) == 0 {
		array.Failf(name, "", "the functions give %d and %d results: want as many, and one at least", len(one), len(two))
	}
	for i, v := range one {
		if w := two[i]; v.dtype != w.dtype || len(v.shape) != len(w.shape) {
			array.Failf(name, "", "result %d is %s or %s, which are of two types", i, v, w)
		}
	}
	return newBranch(condition, sides)
}

// newBranch makes the operation that computes one of two sides, whose results are of the same types.
func newBranch(condition *Var, sides [2]*body) []*Var {
	b := branch{sides: sides}
	for _, side := range sides {
		for _, v := range side.params {
			if !slices.Contains(b.params, v) {
				b.params = append(b.params, v)
			}
		}
		for _, v := range side.lens {
			if !slices.Contains(b.lens, v) {
				b.lens = append(b.lens, v)
			}
		}
	}
	if slices.ContainsFunc(b.types(), func(t ir.Type) bool { return slices.Contains(t.Shape, Any) }) {
		b.lens = append(b.lens, condition)
	}
	return b.make(slices.Concat([]*Var{condition}, b.params, b.lens))
}

// A branch is IfElse as an operation of the condition and what its sides take from outside.
type branch struct {
	sides  [2]*body
	params []*Var
	lens   []*Var // what the sides need as sizes, and the condition where it may decide lengths
}

func (b *branch) make(args []*Var) []*Var {
	a := &apply{name: "ifelse", branch: b, args: args, lens: len(b.lens), sized: len(b.lens) > 0 || b.sides[0].sized || b.sides[1].sized, pc: array.Caller(), again: b.make, bodies: b.sides[:], random: slices.Concat(b.sides[0].random, b.sides[1].random)}
	var made sync.Map
	inside := func(side *body) func(v *Var) *Var {
		return func(v *Var) *Var {
			w, ok := made.Load(v)
			if !ok {
				with := map[*Var]*Var{}
				for i, x := range b.outside(side, args) {
					if y := slices.Concat(side.params, side.lens)[i]; x != y {
						with[y] = x
					}
				}
				w, _ = made.LoadOrStore(v, Replace([]*Var{v}, with)[0])
			}
			return w.(*Var)
		}
	}
	a.run = func(r *replay, ts []*weft.Tensor) []*weft.Tensor { return b.run(r, args, ts, inside) }
	return a.make(b.types())
}

// types gives the types of the results. What differs between the sides is not known.
func (b *branch) types() []ir.Type {
	types := typesOf(b.sides[0].outs)
	for i, v := range b.sides[1].outs {
		for d, n := range v.shape {
			if types[i].Shape[d] != n {
				types[i].Shape[d] = Any
			}
		}
	}
	return types
}

// outside returns the arguments for what a side needs from outside.
func (b *branch) outside(side *body, args []*Var) []*Var {
	out := make([]*Var, 0, len(side.params)+len(side.lens))
	for _, v := range side.params {
		out = append(out, args[1+slices.Index(b.params, v)])
	}
	for _, v := range side.lens {
		out = append(out, args[1+len(b.params)+slices.Index(b.lens, v)])
	}
	return out
}

// run is the operation. inside gives variables that a side computes, computed outside.
func (b *branch) run(r *replay, args []*Var, ts []*weft.Tensor, inside func(side *body) func(v *Var) *Var) []*weft.Tensor {
	ts = ts[:1+len(b.params)]
	if len(b.lens) > 0 && core.TracingHere() == nil {
		return b.chosen(r, args, ts, inside)
	}
	types := make([]ir.Type, len(b.params))
	for i, t := range ts[1:] {
		types[i] = typeOf(t)
	}
	var fs [2]*op.Function
	var drawn [2][]core.Drawing
	for k, side := range b.sides {
		at := make([]int, len(side.params))
		for i, v := range side.params {
			at[i] = slices.Index(b.params, v)
		}
		fs[k], drawn[k] = side.function(r, types, b.outside(side, args), inside(side), func(ts []*weft.Tensor) []*weft.Tensor { return pick(ts, at) },
			func(_, outs []*weft.Tensor) []*weft.Tensor { return outs })
	}
	if !slices.EqualFunc(fs[0].Results, fs[1].Results, func(x, y ir.Type) bool { return array.Equal(x.Shape, y.Shape) }) {
		return b.chosen(r, args, ts, inside)
	}
	// Seeds and numbers of draws are arguments behind the others.
	n := len(types)
	for _, list := range drawn {
		for _, d := range list {
			seed, numbers := draws(d, 1)
			types, ts = append(types, word, word), append(ts, seed, numbers.Reshape())
		}
	}
	for k := range fs {
		var at []int
		for i := range fs[k].Args {
			if i >= n && k == 1 {
				i += 2 * len(drawn[0])
			}
			at = append(at, i)
		}
		fs[k] = fs[k].WithArgs(types, at)
	}
	return call(op.Branch, op.Branches{Then: fs[0], Else: fs[1]}, ts)
}

// chosen computes the side that the condition chooses, on whose value the trace then depends.
func (b *branch) chosen(r *replay, args []*Var, ts []*weft.Tensor, inside func(side *body) func(v *Var) *Var) []*weft.Tensor {
	side := b.sides[1]
	if r.lengthOf("ifelse", "condition", args[0]) != 0 {
		side = b.sides[0]
	}
	in := newReplay(side.outs, r.line)
	in.unfolded, in.exact = in.unfolded || r.unfolded, r.exact
	side.enter(in, r, b.outside(side, args), inside(side))
	for _, v := range side.params {
		in.values[v] = in.asLeaf(v, ts[1+slices.Index(b.params, v)])
	}
	return in.all(side.outs)
}
