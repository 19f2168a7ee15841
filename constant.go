package weft

import (
	"bytes"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// fixed is eager.Constant: t as a value that no call changes.
func (tr *trace) fixed(t *Tensor) (value *Tensor, number bool) {
	if t.v.Store.Abstract || t.Size() == 0 {
		return t, false
	}
	var v array.View
	tr.aside(func() { v = toHost((&Tensor{v: t.v}).Contiguous()) })
	defer leave(&v)
	b, size := rawBytes(&v), v.DType.Size()
	if bytes.Equal(b[size:], b[:len(b)-size]) {
		first := len(tr.g.Nodes)
		x := tr.result(op.Apply(op.Expand, op.Shape(t.v.Shape), tr.element(&v)))
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
func (tr *trace) element(v *array.View) *ir.Node {
	number := func(d DType, f float64, i int64) *ir.Node {
		x := ir.Value{Int: i}
		if d.Float() {
			x = ir.Value{Float: f}
		}
		return tr.g.Node(ir.Const, x, d, nil, false)
	}
	if d := v.DType.Part(); v.DType.Complex() {
		z := complexElement(v, v.Offset)
		return op.Apply(op.Complex, nil, number(d, real(z), 0), number(d, imag(z), 0))
	}
	if v.DType.Float() {
		return number(v.DType, floatElement(v, v.Offset), 0)
	}
	return number(v.DType, 0, intElement(v, v.Offset))
}
