package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Complex returns the complex numbers of real and imaginary parts, floats that
// broadcast: complex128 if a part is float64, else complex64. NumPy: re + 1j*im.
func Complex(re, im *Tensor) *Tensor {
	defer array.Named("complex").End()
	part := func(opName string, t *Tensor) *Tensor {
		t.c().Check("complex")
		if t.v().DType.Complex() {
			array.Failf("complex", opName, "is %s, want real numbers", t.v().DType)
		}
		return t
	}
	re, im = part("re", re), part("im", im)
	d := Float32
	if re.v().DType == Float64 || im.v().DType == Float64 {
		d = Float64
	}
	shape := array.Broadcast("complex", re.v().Shape, im.v().Shape)
	return (*Tensor)(core.Apply(op.Complex, nil, core.Operand{T: re.To(d).Expand(shape...).c()}, core.Operand{T: im.To(d).Expand(shape...).c()}))
}

// Polar returns the complex numbers of lengths and angles in radians, real numbers that
// broadcast. PyTorch: torch.polar.
func Polar(abs, angle *Tensor) *Tensor {
	return (*Tensor)(core.Apply(op.Polar, nil, core.TensorOperand("polar", abs.c()), core.TensorOperand("polar", angle.c())))
}

// Real returns a view of the real parts: writes show in t. Of real numbers it is t.
func (t *Tensor) Real() *Tensor {
	t.c().Check("real")
	if !t.v().DType.Complex() {
		return t
	}
	return (*Tensor)(core.Window(op.Real, nil, t.c()))
}

// Imag returns a view of the imaginary parts: writes show in t. t must be complex.
func (t *Tensor) Imag() *Tensor {
	t.c().Check("imag")
	if !t.v().DType.Complex() {
		array.Failf("imag", "", "takes complex numbers, got %s", t.v().DType)
	}
	return (*Tensor)(core.Window(op.Imag, nil, t.c()))
}

// Conj returns the complex conjugates, in t's shape and type; real numbers are as they are.
func (t *Tensor) Conj() *Tensor { return unary(op.Conj, t) }

// Angle returns the angles of complex numbers from the positive real axis in radians,
// from -pi to pi, floats. Of a real number it is 0, or pi if that is negative.
func (t *Tensor) Angle() *Tensor { return unary(op.Angle, t) }
