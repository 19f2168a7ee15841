package sym

import (
	"weft"
)

// A replay computes variables of a graph with tensors: abstract ones while a function is
// compiled.
type replay struct {
	values map[*Var]*weft.Tensor
	leaf   map[*Var]bool   // gradients are asked for
	record map[*apply]bool // derivatives that are differentiated again
	line   *uintptr        // that of the operation that is being computed

	unfolded bool // what is computed from constants is computed here
	exact    bool // constants are folded by exact rules alone

	// Of sizes (see size.go).
	sizes  map[*Var]size
	call   *supply           // what the call gives; nil: nothing
	tried  bool              // of test values
	outer  *replay           // of the operation whose body this computes
	actual map[*Var]*Var     // arguments of that operation, by variables of the body
	inside func(v *Var) *Var // unless nil: v, which the body computes, computed outside

	// Of a replay with other values for some variables: what does not depend on those comes
	// from the replay around it.
	around  *replay
	depends map[*Var]bool
}

// newReplay prepares to compute roots.
func newReplay(roots []*Var, line *uintptr) *replay {
	r := &replay{values: map[*Var]*weft.Tensor{}, leaf: map[*Var]bool{}, record: map[*apply]bool{}, line: line}
	for _, v := range order(roots) {
		if v.from == nil || !v.from.derivative {
			continue
		}
		for _, x := range v.from.args[v.from.wrt:] {
			r.leaf[x] = true
			if x.role == constant || x.from != nil && x.from.folding != nil {
				r.unfolded = true // what leads to a constant that gradients are asked for stays
			}
		}
		// What it is computed from is differentiated again.
		for _, x := range order(v.from.args) {
			if x.from != nil && x.from.derivative {
				r.record[x.from] = true
			}
		}
	}
	return r
}

// value returns the tensor of a variable.
func (r *replay) value(v *Var) *weft.Tensor {
	if t, ok := r.values[v]; ok {
		return t
	}
	if r.around != nil && !r.dependent(v) {
		return r.around.value(v)
	}
	if v.role == constant || !r.unfolded {
		if t := v.constant(r.exact); t != nil {
			t, _ = asConstant(t)
			r.values[v] = r.asLeaf(v, t.Detach())
			return r.values[v]
		}
	}
	if v.from == nil {
		r.values[v] = r.asLeaf(v, v.tensor().Detach())
		return r.values[v]
	}
	a := v.from
	var outs []*weft.Tensor
	if a.eval != nil {
		outs = a.eval(r)
	} else {
		args := make([]*weft.Tensor, len(a.args))
		for i, x := range a.args[:len(a.args)-a.lens] {
			args[i] = r.value(x)
		}
		*r.line = a.pc
		outs = a.run(r, args)
	}
	for i, o := range a.outs {
		r.values[o] = r.asLeaf(o, outs[i])
	}
	return r.values[v]
}

// asLeaf makes t one that gradients reach, if v's are asked for.
func (r *replay) asLeaf(v *Var, t *weft.Tensor) *weft.Tensor {
	if !r.wanted(v) || !t.DType().Differentiable() || t.RequiresGrad() {
		return t
	}
	return t.Detach().RequireGrad()
}

func (r *replay) wanted(v *Var) bool {
	for ; r != nil; r = r.around {
		if r.leaf[v] {
			return true
		}
	}
	return false
}

// recorded reports that a derivative is differentiated again.
func (r *replay) recorded(a *apply) bool {
	for ; r != nil; r = r.around {
		if r.record[a] {
			return true
		}
	}
	return false
}

// with returns a replay inside r in which some variables have other values.
func (r *replay) with(values map[*Var]*weft.Tensor) *replay {
	in := &replay{values: values, line: r.line, around: r, depends: map[*Var]bool{}, unfolded: r.unfolded, exact: r.exact,
		call: r.call, tried: r.tried, outer: r.outer, actual: r.actual, inside: r.inside}
	for v := range values {
		in.depends[v] = true
	}
	return in
}

// dependent reports that v is computed from variables that have other values here.
func (r *replay) dependent(v *Var) bool {
	if d, ok := r.depends[v]; ok {
		return d
	}
	for _, x := range order([]*Var{v}) {
		if _, ok := r.depends[x]; ok {
			continue
		}
		d := false
		if x.from != nil {
			for _, y := range x.from.args {
				d = d || r.depends[y]
			}
		}
		r.depends[x] = d
	}
	return r.depends[v]
}

// order lists variables and all that they are computed from, each behind its arguments.
func order(roots []*Var) []*Var {
	var out []*Var
	seen := map[*Var]bool{}
	type frame struct {
		v    *Var
		next int
	}
	var stack []frame
	push := func(v *Var) {
		if !seen[v] {
			seen[v] = true
			stack = append(stack, frame{v: v})
		}
	}
	for _, root := range roots {
		push(root)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.v.from == nil || f.next == len(f.v.from.args) {
				out = append(out, f.v)
				stack = stack[:len(stack)-1]
				continue
			}
			f.next++
			push(f.v.from.args[f.next-1])
		}
	}
	return out
}
