package kernel

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// An overridden body has the gradient of WithVJP.
type overridden struct {
	op.Body
	name string
	grad op.Body
	// wrt are the parameters, as the graph sees them, that grad has a result for.
	wrt []int
}

// AppendKey implements [ir.Attrs].
func (b overridden) AppendKey(k []byte) []byte {
	return b.grad.AppendKey(append(b.Body.AppendKey(k), "vjp"...))
}

// VJP implements [op.Adjoint].
func (b overridden) VJP(v *op.VJP) {
	dys := v.DYs
	if v.Node.Results == nil {
		dys = []*ir.Node{v.DY}
	}
	args := append([]*ir.Node(nil), v.X...)
	for i, dy := range dys {
		if dy == nil {
			dy = v.Node.Graph.Number(0, b.Results()[i], false)
		}
		args = append(args, dy)
	}
	gs := op.ApplyAll(op.Kernel, b.grad, args...)
	for j, i := range b.wrt {
		v.Set(i, func() *ir.Node { return gs[j] })
	}
}

// gradient returns body with the gradient of WithVJP, if f has one.
func (f *Func) gradient(of op.Body, as []argument, results []array.DType) op.Body {
	if f.vjp == nil {
		return of
	}
	name, gname := f.f.Name(), f.vjp.f.Name()
	params := f.vjp.taken
	if len(params) != len(as)+len(results) {
		array.Failf(name, "WithVJP", "%s takes %d arguments, want the %d of %s and the gradient of each result", gname, len(params), len(as), name)
	}
	var dtypes []array.DType
	for _, a := range as {
		dtypes = append(dtypes, a.dtype)
	}
	for i, d := range append(dtypes, results...) {
		if p := params[i]; p.DType != array.Invalid && p.DType != d {
			array.Failf(name, "WithVJP", "parameter %s of %s is %s, want %s", p.Name, gname, p.Type, d)
		}
	}
	in, err := f.vjp.f.Instantiate(append(dtypes, results...))
	if err != nil {
		fail(gname, err)
	}
	b := overridden{Body: of, name: name, grad: in}
	var want []array.DType
	k := 0
	for _, a := range as {
		if a.dtype.Float() || a.dtype.Complex() {
			want = append(want, a.dtype)
			b.wrt = append(b.wrt, k)
		}
		k++
		if a.dtype.Complex() {
			b.wrt = append(b.wrt, k)
			k++
		}
	}
	got := in.Returns()
	same := len(got) == len(want)
	for i := range got {
		same = same && got[i] == want[i]
	}
	if !same {
		array.Failf(name, "WithVJP", "%s returns %v, want a gradient of each float argument, %v", gname, got, want)
	}
	return b
}
