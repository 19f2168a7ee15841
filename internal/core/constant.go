package core

import (
	"bytes"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// fixed is [Constant] in a trace.
func (tr *Trace) fixed(t *Tensor) (value *Tensor, number bool) {
	if t.v.Store.Abstract || t.Size() == 0 {
		return t, false
	}
	var v array.View
	tr.Aside(func() { v = ToHost((&Tensor{v: t.v}).Contiguous()) })
	defer Leave(&v)
	b, size := rawBytes(&v), v.DType.Size()
	if bytes.Equal(b[size:], b[:len(b)-size]) {
		first := len(tr.G.Nodes)
		x := tr.Result(op.Apply(op.Expand, op.Shape(t.v.Shape), tr.element(&v)))
		tr.mark(first, "constant")
		return &Tensor{v: x}, true
	}
	for _, c := range tr.constants {
		if c.v.DType == t.v.DType && array.Equal(c.v.Shape, t.v.Shape) && bytes.Equal(rawBytes(&c.v), b) {
			return c, false
		}
	}
	tr.constants = append(tr.constants, &Tensor{v: v})
	return &Tensor{v: v}, false
}

// element is the first element of a view on the host as a constant.
func (tr *Trace) element(v *array.View) *ir.Node {
	number := func(d array.DType, f float64, i int64) *ir.Node {
		x := ir.Value{Int: i}
		if d.Float() {
			x = ir.Value{Float: f}
		}
		return tr.G.Node(ir.Const, x, d, nil, false)
	}
	if d := v.DType.Part(); v.DType.Complex() {
		z := ComplexElement(v, v.Offset)
		return op.Apply(op.Complex, nil, number(d, real(z), 0), number(d, imag(z), 0))
	}
	if v.DType.Float() {
		return number(v.DType, FloatElement(v, v.Offset), 0)
	}
	return number(v.DType, 0, IntElement(v, v.Offset))
}
