package sym

import (
	"context"
	"sync"

	"weft"
	"weft/internal/core"
	"weft/internal/rewrite"
)

// Constants of a function. An array whose elements are all equal is a number of the graph, which
// the rules of package rewrite know. What is computed from constants alone is computed once.

// foldMost is the size up to which a folded result may be larger than the constants that it is
// computed from. Beyond it memory is worth more than the computation.
const foldMost = 1024

// A folding is an operation of constants alone, as far as it is computed.
type folding struct {
	leaves int // elements of the constants that it is computed from
	stable folded
	exact  folded // for functions of mode [Exact]
}

// A folded is an operation of constants computed by the rules of a level.
type folded struct {
	once   sync.Once
	values []*weft.Tensor // nil: it failed, which a call reports
}

// fold prepares an operation to be computed once. It has an effect if all arguments are
// constants, or are computed from constants. Requires that the operation does the same in each
// call and has no effects.
func (a *apply) fold() {
	leaves := 0
	for _, x := range a.args {
		switch {
		case x.role == constant:
			leaves += x.kept.Size()
		case x.from != nil && x.from.folding != nil:
			leaves += x.from.folding.leaves
		default:
			return
		}
	}
	if len(a.args) > 0 {
		a.folding = &folding{leaves: leaves}
	}
}

// constant returns the elements of v, by exact rules or by stable ones, if they are known before a
// call, else nil.
func (v *Var) constant(exact bool) *weft.Tensor {
	if v.role == constant {
		return v.kept
	}
	if v.from == nil || v.from.folding == nil {
		return nil
	}
	f := v.from.folding
	size := 0
	for _, o := range v.from.outs {
		n := 1
		for _, s := range o.shape {
			if s == Any {
				return nil
			}
			n *= s
		}
		size += n
	}
	if size > max(f.leaves, foldMost) {
		return nil
	}
	known, level := &f.stable, rewrite.Stable
	if exact {
		known, level = &f.exact, rewrite.Exact
	}
	known.once.Do(func() {
		done := make(chan struct{})
		go func() { // a goroutine traces one function at a time
			defer close(done)
			known.values, _ = compute(v.from.outs, level)
		}()
		<-done
	})
	if known.values == nil {
		return nil
	}
	return known.values[v.out]
}

// compute computes variables that have no inputs, as a call of a function would.
func compute(vars []*Var, level rewrite.Level) ([]*weft.Tensor, error) {
	var line uintptr
	f := core.NewFunc(func([]*core.Tensor) []*core.Tensor {
		r := newReplay(vars, &line)
		r.unfolded = true
		out := r.all(vars)
		for i := range out {
			out[i] = out[i].Detach().Clone()
		}
		return core.Inner(out)
	}, core.Options{Name: "constant", Line: &line, Level: level, Private: true})
	out, err := f.Call(context.Background(), nil)
	return core.Outer[weft.Tensor](out), err
}

// choose makes r fold constants by rules that a function applies too. Where rules are excluded,
// nothing is folded.
func (r *replay) choose(c *choice) {
	r.exact = c.mode == Exact
	r.unfolded = r.unfolded || len(c.excluding) > 0
}

// number returns v as a number of the graph, nil if v is not a constant of equal elements.
func (r *replay) number(v *Var) *weft.Tensor {
	if r.unfolded && v.role != constant {
		return nil
	}
	if t := v.constant(r.exact); t != nil {
		if c, ok := asConstant(t); ok {
			return c
		}
	}
	return nil
}

// asConstant is [core.Constant].
func asConstant(t *weft.Tensor) (*weft.Tensor, bool) {
	c, number := core.Constant((*core.Tensor)(t))
	return (*weft.Tensor)(c), number
}
