package sym

import (
	"slices"

	"weft"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A body is variables computed of others, as a function that an operation runs: the step of
// a loop, a side of a branch.
type body struct {
	name   string
	params []*Var // the variables that it is a function of: given ones, then those from outside
	given  int
	outs   []*Var
	random []*weft.Generator // by which it draws
}

// newBody finds what outs need from outside, beside given: all that is not inside, which says
// whether a variable, whose arguments it is told of, is computed by the body.
func newBody(name string, given, outs []*Var, inside func(v *Var, dependent bool) bool) *body {
	b := &body{name: name, params: slices.Clone(given), given: len(given), outs: outs}
	all := order(outs)
	within := map[*Var]bool{}
	for _, v := range given {
		within[v] = true
	}
	// What gradients inside are asked for is differentiated inside, although it is given.
	asked := map[*Var]bool{}
	for _, v := range all {
		if v.from != nil && v.from.derivative {
			for _, w := range v.from.args[v.from.wrt:] {
				asked[w] = true
			}
		}
	}
	for _, v := range all {
		if v.from == nil || within[v] {
			continue
		}
		dependent := slices.ContainsFunc(v.from.args, func(x *Var) bool { return within[x] || asked[x] })
		within[v] = inside(v, dependent)
		if within[v] {
			b.random = append(b.random, v.from.random...)
		}
	}
	seen := map[*Var]bool{}
	outside := func(v *Var) {
		if !within[v] && !seen[v] {
			seen[v] = true
			b.params = append(b.params, v)
		}
	}
	for _, v := range all {
		if within[v] && v.from != nil && !slices.Contains(given, v) {
			for _, x := range v.from.args {
				outside(x)
			}
		}
	}
	for _, v := range outs {
		outside(v)
	}
	return b
}

// sizes are those that variables of the body have, as hints for [infer].
func (b *body) sizes() (out []any) {
	for _, v := range order(b.outs) {
		for _, n := range v.shape {
			if n != Any && !slices.Contains(out, any(n)) {
				out = append(out, n)
			}
		}
	}
	return out
}

// function is the body for arguments of these types: params finds those that it is a function
// of, and results says what there is beside its results.
func (b *body) function(r *replay, types []ir.Type, params func(ts []*weft.Tensor) []*weft.Tensor, results func(ts, outs []*weft.Tensor) []*weft.Tensor) (*op.Function, []core.Drawing) {
	line := r.line
	if line == nil {
		line = new(uintptr)
	}
	defer func(pc uintptr) { *line = pc }(*line)
	return core.FunctionOf(b.name, line, types, func(args []*core.Tensor) []*core.Tensor {
		ts := core.Outer[weft.Tensor](args)
		in := newReplay(b.outs, line)
		in.unfolded, in.exact = in.unfolded || r.unfolded, r.exact
		given := params(ts)
		for i, v := range b.params {
			t := given[i]
			if i >= b.given && !r.wanted(v) {
				if c := in.number(v); c != nil {
					t = c // a constant, whose value the rules inside know
				}
			}
			in.values[v] = in.asLeaf(v, t)
		}
		return core.Inner(results(ts, in.all(b.outs)))
	})
}

// draws are the seed and the numbers of the draws that n runs of a function make.
func draws(d core.Drawing, n int) (seed, numbers *weft.Tensor) {
	s, x := core.Draws(d, n)
	return (*weft.Tensor)(s), (*weft.Tensor)(x)
}

// word is the type of seeds and numbers of draws.
var word = ir.Type{DType: weft.Int64, Shape: []int{}}

func typeOf(t *weft.Tensor) ir.Type { return ir.Type{DType: t.DType(), Shape: t.Shape()} }
