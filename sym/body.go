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
	lens   []*Var            // what it needs from outside as sizes
	sized  bool              // it has operations with sizes
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
			n := len(v.from.args) - v.from.lens
			b.sized = b.sized || v.from.sized
			for _, x := range v.from.args[:n] {
				outside(x)
			}
			for _, x := range v.from.args[n:] {
				if !within[x] && !slices.Contains(b.lens, x) {
					b.lens = append(b.lens, x)
				}
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

// enter prepares the replay in, of the body, for sizes. outside are the arguments that the operation has for
// what the body needs from outside: params, then lens. inside gives variables that the body computes,
// computed outside; nil: that is not possible.
func (b *body) enter(in, r *replay, outside []*Var, inside func(v *Var) *Var) {
	in.call, in.outer, in.inside, in.actual = r.call, r, inside, map[*Var]*Var{}
	for i, v := range slices.Concat(b.params[b.given:], b.lens) {
		in.actual[v] = outside[i]
	}
}

// measure finds the sizes of outside arguments before the body is traced: a trace inside another must not
// compute what belongs to the outer one.
func (b *body) measure(r *replay, outside []*Var) {
	if !b.sized {
		return
	}
	for _, v := range outside {
		if isWhole(v) || v.dtype == weft.Bool && len(v.shape) == 0 {
			r.size(v)
		}
	}
}

// function is the body for arguments of these types: params finds those that it is a function
// of, and results says what there is beside its results.
// outside and inside are as in [body.enter].
func (b *body) function(r *replay, types []ir.Type, outside []*Var, inside func(v *Var) *Var, params func(ts []*weft.Tensor) []*weft.Tensor, results func(ts, outs []*weft.Tensor) []*weft.Tensor) (*op.Function, []core.Drawing) {
	line := r.line
	if line == nil {
		line = new(uintptr)
	}
	defer func(pc uintptr) { *line = pc }(*line)
	b.measure(r, outside)
	return core.FunctionOf(b.name, line, types, func(args []*core.Tensor) []*core.Tensor {
		ts := core.Outer[weft.Tensor](args)
		in := newReplay(b.outs, line)
		in.unfolded, in.exact = in.unfolded || r.unfolded, r.exact
		b.enter(in, r, outside, inside)
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
