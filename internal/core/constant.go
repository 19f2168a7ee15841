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
	var whole *Tensor
	var v array.View
	tr.Aside(func() {
		whole = (&Tensor{v: t.v}).Contiguous()
		v = ToHost(whole)
	})
	defer Leave(&v)
	b, size := Bytes(&v), v.DType.Size()
	if bytes.Equal(b[size:], b[:len(b)-size]) {
		first := len(tr.G.Nodes)
		x := tr.Result(op.Apply(op.Expand, op.Shape(t.v.Shape), tr.element(&v)))
		tr.mark(first, "constant")
		return &Tensor{v: x}, true
	}
	for _, c := range tr.constants {
		if c.host.DType == t.v.DType && array.Equal(c.host.Shape, t.v.Shape) && bytes.Equal(Bytes(&c.host), b) {
			return c.tensor, false
		}
	}
	tr.constants = append(tr.constants, constant{&Tensor{v: whole.v}, v})
	return &Tensor{v: whole.v}, false
}

// A constant is a contiguous tensor and its elements on the host.
type constant struct {
	tensor *Tensor
	host   array.View
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
