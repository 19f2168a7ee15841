package sym

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// IfElse gives what then makes if condition, a bool without dimensions, holds, else what els
// makes; the results are of the same types. Only one is computed: with all variables that
// the function makes when IfElse calls it, once. What was there before is computed anyway.
// [Where] chooses element by element, and computes both.
func IfElse(condition *Var, then, els func() []*Var) []*Var {
	const name = "ifelse"
	condition.notNil(name)
	if condition.dtype != weft.Bool || len(condition.shape) != 0 {
		array.Failf(name, "condition", "is %s, want a bool without dimensions%s", condition, condition.where())
	}
	if then == nil || els == nil {
		array.Failf(name, "", "a function is nil")
	}
	var b branch
	var params []*Var
	for i, f := range []func() []*Var{then, els} {
		from := ids.Load()
		outs := f()
		for k, v := range outs {
			if v == nil {
				array.Failf(name, "", "result %d is nil", k)
			}
			v.notNil(name)
		}
		b.sides[i] = newBody(name, nil, outs, func(v *Var, _ bool) bool { return v.id > from })
		for _, v := range b.sides[i].params {
			if !slices.Contains(params, v) {
				params = append(params, v)
			}
		}
	}
	one, two := b.sides[0].outs, b.sides[1].outs
	if len(one) != len(two) || len(one) == 0 {
		array.Failf(name, "", "the functions give %d and %d results: want as many, and one at least", len(one), len(two))
	}
	for i, v := range one {
		if w := two[i]; v.dtype != w.dtype || len(v.shape) != len(w.shape) {
			array.Failf(name, "", "result %d is %s or %s, which are of two types", i, v, w)
		}
	}
	b.params = params
	return b.make(append([]*Var{condition}, params...))
}

// A branch is IfElse as an operation of the condition and what its sides take from outside.
type branch struct {
	sides  [2]*body
	params []*Var
}

func (b *branch) make(args []*Var) []*Var {
	a := &apply{name: "ifelse", args: args, pc: array.Caller(), run: b.run, again: b.make, bodies: b.sides[:], random: slices.Concat(b.sides[0].random, b.sides[1].random)}
	line := a.pc
	return a.make(infer(a, func(ts []*weft.Tensor) []*weft.Tensor { return b.run(&replay{line: &line}, ts) }, append(b.sides[0].sizes(), b.sides[1].sizes()...)))
}

func (b *branch) run(r *replay, ts []*weft.Tensor) []*weft.Tensor {
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
		fs[k], drawn[k] = side.function(r, types, func(ts []*weft.Tensor) []*weft.Tensor { return pick(ts, at) },
			func(_, outs []*weft.Tensor) []*weft.Tensor { return outs })
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
