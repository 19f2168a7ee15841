package sym

import (
	"maps"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// GradOpts are the options of [Grad].
type GradOpts struct {
	// Constant are variables through which no gradient flows.
	Constant []*Var
	// Known are gradients that are given, by variable; what these variables are computed from
	// gets its gradient through them. With them the cost may be nil.
	Known map[*Var]*Var
	// Disconnected allows variables that the cost is not computed from: their gradient is 0.
	Disconnected bool
}

// Grad returns the gradients of cost, which has no dimensions, with respect to variables: each
// of the type of its variable. A variable may be an input, shared, or computed. It panics
// with *[weft.Error] if cost is not computed from one of them, unless Disconnected is set.
func Grad(cost *Var, wrt []*Var, opts ...GradOpts) []*Var {
	const name = "grad"
	o := array.Options(name, opts)
	if cost == nil && len(o.Known) == 0 {
		array.Failf(name, "cost", "is nil, and no gradients are known")
	}
	var ends []*Var
	if cost != nil {
		cost.notNil(name)
		if len(cost.shape) != 0 {
			array.Failf(name, "cost", "%s has %d dimensions, want none: reduce it with Sum or Mean%s", cost, len(cost.shape), cost.where())
		}
		if !cost.dtype.Differentiable() {
			array.Failf(name, "cost", "%s holds no floats%s", cost, cost.where())
		}
		ends = append(ends, cost)
	}
	known := sorted(o.Known)
	for _, k := range known {
		g := o.Known[k]
		k.notNil(name)
		g.notNil(name)
		if k.dtype != g.dtype || len(k.shape) != len(g.shape) {
			array.Failf(name, "Known", "the gradient of %s is %s", k, g)
		}
	}
	checkWrt(name, append(ends, known...), wrt, o.Constant, o.Disconnected)

	// The arguments are the cost, variables with known gradients, those gradients, constants,
	// and the variables that gradients are asked for.
	args := append(slices.Clone(ends), known...)
	for _, k := range known {
		args = append(args, o.Known[k])
	}
	args = append(args, o.Constant...)
	args = append(args, wrt...)
	first := len(args) - len(wrt)
	a := &apply{name: name, args: args, pc: array.Caller(), derivative: true, wrt: first}
	nc, nk := len(ends), len(known)
	a.again = func(args []*Var) []*Var {
		o := GradOpts{Disconnected: true, Constant: args[nc+2*nk : first], Known: map[*Var]*Var{}}
		for i, k := range args[nc : nc+nk] {
			o.Known[k] = args[nc+nk+i]
		}
		var cost *Var
		if nc > 0 {
			cost = args[0]
		}
		return Grad(cost, args[first:], o)
	}
	a.eval = func(r *replay) []*weft.Tensor {
		xs := make([]*weft.Tensor, len(wrt))
		for i, w := range wrt {
			xs[i] = r.value(w)
		}
		in := r
		if len(o.Constant)+len(known) > 0 {
			cut := map[*Var]*weft.Tensor{}
			for _, v := range o.Constant {
				cut[v] = r.value(v).Detach()
			}
			for _, v := range known {
				cut[v] = r.value(v).Detach()
			}
			for i, w := range wrt { // they are what they are: nothing is computed twice
				if cut[w] == nil {
					cut[w] = xs[i]
				}
			}
			in = r.with(cut)
		}
		var outs, seeds []*weft.Tensor
		if cost != nil {
			outs, seeds = append(outs, in.value(cost)), append(seeds, nil)
		}
		for _, k := range known { // each by its own way, cut at the others
			others := maps.Clone(in.values)
			delete(others, k)
			outs, seeds = append(outs, r.with(others).value(k)), append(seeds, r.value(o.Known[k]))
		}
		*r.line = a.pc
		return gradients(outs, seeds, xs, r.recorded(a))
	}
	types := make([]ir.Type, len(wrt))
	for i, w := range wrt {
		types[i] = ir.Type{DType: w.dtype, Shape: w.shape}
	}
	return a.make(types)
}

// gradients returns the gradients of xs as tensors, zeros where no path leads to outs.
func gradients(outs, seeds, xs []*weft.Tensor, create bool) []*weft.Tensor {
	var from []*weft.Tensor
	var with []*weft.Tensor
	for i, y := range outs {
		if y.RequiresGrad() {
			from, with = append(from, y), append(with, seeds[i])
		}
	}
	grads := make([]*weft.Tensor, len(xs))
	if len(from) > 0 {
		grads = weft.GradAll(from, xs, weft.GradOpts{Create: create, Retain: true, AllowUnused: true, Seeds: with})
	}
	for i, g := range grads {
		if g == nil {
			grads[i] = weft.ZerosLike(xs[i])
		}
	}
	return grads
}

// checkWrt refuses variables that have no gradient.
func checkWrt(name string, ends, wrt, constants []*Var, disconnected bool) {
	cut := map[*Var]bool{}
	for _, c := range constants {
		c.notNil(name)
		cut[c] = true
	}
	reach := map[*Var]bool{}
	todo := slices.Clone(ends)
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reach[v] || cut[v] {
			continue
		}
		reach[v] = true
		if v.from == nil {
			continue
		}
		for _, x := range v.from.args {
			if !v.from.apart {
				todo = append(todo, x)
			}
		}
	}
	for _, w := range wrt {
		w.notNil(name)
		switch {
		case !w.dtype.Differentiable():
			array.Failf(name, "wrt", "%s holds no floats%s", w, w.where())
		case !reach[w] && !disconnected:
			array.Failf(name, "wrt", "%s%s plays no part in the computation of the cost: Disconnected in GradOpts makes its gradient 0", w, w.where())
		}
	}
}

// derived makes a derivative of variables y with respect to x, with others: eval gives it.
func derived(name string, y, x, others []*Var, types []ir.Type, eval func(r *replay, create bool) []*weft.Tensor, again func(y, x, others []*Var) []*Var) []*Var {
	checkWrt(name, y, x, nil, false)
	args := append(append(slices.Clone(y), others...), x...)
	first := len(args) - len(x)
	a := &apply{name: name, args: args, pc: array.Caller(), derivative: true, wrt: first}
	a.again = func(args []*Var) []*Var { return again(args[:len(y)], args[first:], args[len(y):first]) }
	a.eval = func(r *replay) []*weft.Tensor {
		for _, v := range args {
			r.value(v)
		}
		*r.line = a.pc
		return eval(r, r.recorded(a))
	}
	return a.make(types)
}

// sameTypes checks that vs agree with what in element types and numbers of dimensions.
func sameTypes(name, arg string, vs, what []*Var) {
	if len(vs) != len(what) {
		array.Failf(name, arg, "are %d for %d variables", len(vs), len(what))
	}
	for i, v := range vs {
		v.notNil(name)
		what[i].notNil(name)
		if v.dtype != what[i].dtype || len(v.shape) != len(what[i].shape) {
			array.Failf(name, arg, "number %d is %s, want the type of %s", i, v, what[i])
		}
	}
}

// Lop returns the products of vectors with Jacobians: for each x the sum over y of v times the
// derivative of y by x. v has the types of y.
func Lop(y, x, v []*Var) []*Var {
	sameTypes("lop", "v", v, y)
	types := typesOf(x)
	eval := func(r *replay, create bool) []*weft.Tensor {
		return gradients(r.all(y), r.all(v), r.all(x), create)
	}
	return derived("lop", y, x, v, types, eval, func(y, x, v []*Var) []*Var { return Lop(y, x, v) })
}

// Rop returns the products of Jacobians with vectors: for each y the sum over x of the
// derivative of y by x times v. v has the types of x.
func Rop(y, x, v []*Var) []*Var {
	sameTypes("rop", "v", v, x)
	eval := func(r *replay, create bool) []*weft.Tensor {
		out := make([]*weft.Tensor, len(y))
		for i, t := range r.all(y) {
			// The gradient for a gradient u is linear in u.
			u := weft.ZerosLike(t).RequireGrad()
			gs := gradients([]*weft.Tensor{t}, []*weft.Tensor{u}, r.all(x), true)
			out[i] = gradients(gs, r.all(v), []*weft.Tensor{u}, create)[0]
		}
		return out
	}
	return derived("rop", y, x, v, typesOf(y), eval, func(y, x, v []*Var) []*Var { return Rop(y, x, v) })
}

// Jacobian returns the derivatives of each element of y by each element of each x, in the
// shape of y followed by that of x. All rows are computed at once.
func Jacobian(y *Var, x ...*Var) []*Var {
	y.notNil("jacobian")
	types := typesOf(x)
	for i := range types {
		types[i].Shape = append(slices.Clone(y.shape), types[i].Shape...)
	}
	eval := func(r *replay, create bool) []*weft.Tensor {
		return core.Outer[weft.Tensor](core.JacobianOf((*core.Tensor)(r.value(y)), core.Inner(r.all(x)), create))
	}
	return derived("jacobian", []*Var{y}, x, nil, types, eval, func(y, x, _ []*Var) []*Var { return Jacobian(y[0], x...) })
}

// Hessian returns the second derivatives of cost, which has no dimensions, by each two
// elements of each x, in the shape of x twice.
func Hessian(cost *Var, x ...*Var) []*Var {
	out := make([]*Var, len(x))
	for i, g := range Grad(cost, x) {
		if !connected(g, x[i]) {
			array.Failf("hessian", "wrt", "the gradient by %s does not depend on it", x[i])
		}
		out[i] = Jacobian(g, x[i])[0]
	}
	return out
}

// connected reports that y is computed from x.
func connected(y, x *Var) bool { return slices.Contains(order([]*Var{y}), x) }

// HessianVector returns, for each x, the product of the Hessian of cost with v, which has
// the types of x: without the Hessian.
func HessianVector(cost *Var, x, v []*Var) []*Var {
	sameTypes("hessianvector", "v", v, x)
	return Lop(Grad(cost, x), x, v) // the Hessian is symmetric
}

func typesOf(vs []*Var) []ir.Type {
	out := make([]ir.Type, len(vs))
	for i, v := range vs {
		v.exists("sym")
		out[i] = ir.Type{DType: v.dtype, Shape: slices.Clone(v.shape)}
	}
	return out
}

func (r *replay) all(vs []*Var) []*weft.Tensor {
	out := make([]*weft.Tensor, len(vs))
	for i, v := range vs {
		out[i] = r.value(v)
	}
	return out
}
