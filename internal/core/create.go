package core

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/mem"
	"weft/internal/op"
)

// Unset is empty for what operations will write: in a trace it has no memory.
func Unset(opName string, number uint8, d array.DType, shape []int) *Tensor {
	tr := TracingHere()
	if tr == nil {
		return Empty(opName, number, d, shape)
	}
	if !d.Supported() {
		array.Failf(opName, "dtype", "%s is not supported", d)
	}
	s := append([]int{}, shape...)
	array.CheckShape(opName, s, d)
	if number != 0 {
		tr.place(number)
	}
	return &Tensor{v: tr.Fresh(d, s)}
}

// Empty returns a tensor on a device whose elements are not set.
func Empty(opName string, number uint8, d array.DType, shape []int) *Tensor {
	if !d.Supported() {
		array.Failf(opName, "dtype", "%s is not supported", d)
	}
	s := append([]int{}, shape...)
	n := array.CheckShape(opName, s, d)
	return &Tensor{v: array.View{Store: Alloc(number, n*d.Size()), DType: d, Shape: s, Strides: array.RowMajor(s)}}
}

// NumberOf is a 0-d tensor, on a device, of a Go number that the user gave: an
// integer must fit.
func NumberOf(opName string, number uint8, n exec.Number, d array.DType) *Tensor {
	if err := n.Check(opName, d); err != nil {
		panic(err)
	}
	if d.Complex() {
		return complexOf(number, complex(n.Real(d.Part()), 0), d)
	}
	return fullOf(number, n, d)
}

// Number is a 0-d tensor, on a device, of the Go number that the operand is.
func (o *Operand) Number(opName string, number uint8, d array.DType) *Tensor {
	if o.Num.Kind != array.CatComplex {
		return NumberOf(opName, number, o.Num, d)
	}
	if !d.Complex() {
		array.Failf(opName, "x", "%v is complex, %s is not: give its real part", complex(o.Num.Float, o.Imag), d)
	}
	return complexOf(number, complex(o.Num.Float, o.Imag), d)
}

// complexOf is a 0-d tensor of a complex number on a device.
func complexOf(number uint8, x complex128, d array.DType) *Tensor {
	if tr := TracingHere(); tr != nil {
		re, im := tr.G.Number(real(x), d.Part(), false), tr.G.Number(imag(x), d.Part(), false)
		return &Tensor{v: tr.Result(op.Apply(op.Complex, nil, re, im))}
	}
	t := &Tensor{v: array.View{Store: Alloc(number, d.Size()), DType: d, Shape: []int{}, Strides: []int{}}}
	for i, f := range [...]float64{real(x), imag(x)} {
		part := t.v.Part(i)
		bits := exec.Number{Float: f, Kind: array.CatFloat}.Bits(part.DType)
		check(device.Get(number).Default().Fill(device.Ref{Store: t.v.Store, Offset: part.Offset * part.DType.Size()}, 1, bits, part.DType.Size()))
	}
	return t
}

// fullOf is a 0-d tensor of a Go number on a device.
func fullOf(number uint8, n exec.Number, d array.DType) *Tensor {
	if tr := TracingHere(); tr != nil {
		return &Tensor{v: tr.Scalar(n, d)}
	}
	t := &Tensor{v: array.View{Store: Alloc(number, d.Size()), DType: d, Shape: []int{}, Strides: []int{}}}
	fill(device.Get(number).Default(), &t.v, n)
	return t
}

// maxInlineFill is the maximum number of bytes that the calling thread fills; a kernel fills more.
const maxInlineFill = 1 << 16

// fills reports that the operand, a Go number, is the same bits at each place of v, which lie in
// one row. It refuses a number that the type does not hold.
func (o *Operand) fills(opName string, v *array.View) bool {
	if o.Num.Kind == array.CatComplex || v.DType.Complex() || !v.Contiguous() || TracingViews(v) != nil {
		return false
	}
	if n := v.Size(); n == 0 || n*v.DType.Size() > maxInlineFill {
		return false
	}
	if err := o.Num.Check(opName, v.DType); err != nil {
		panic(err)
	}
	return true
}

// fill writes a number at each place of a row.
func fill(s device.Stream, v *array.View, n exec.Number) {
	size := v.DType.Size()
	check(s.Fill(device.Ref{Store: v.Store, Offset: v.Offset * size}, v.Size(), n.Bits(v.DType), size))
}

// Full returns a tensor of a shape and type on a device, filled with a Go number.
func Full(opName string, o Operand, number uint8, d array.DType, shape []int) *Tensor {
	t := Unset(opName, number, d, shape)
	switch {
	case t.Size() == 0:
	case o.fills(opName, &t.v):
		fill(device.Get(number).Default(), &t.v, o.Num)
	default:
		CopyViews(nil, &t.v, &o.Number(opName, number, d).v)
	}
	return t
}

// CheckHeap returns n. It panics with an [Error] of kind OutOfMemory if n elements of type d do
// not fit on the Go heap, because running out of it would end the process.
func CheckHeap(opName string, n int, d array.DType) int {
	if err := mem.CheckHeap(n * d.Size()); err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: opName, Msg: "the result does not fit in memory", Err: err})
	}
	return n
}
