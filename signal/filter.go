package signal

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// FilterOpts are the options of [LFilter] and [SOSFilt].
type FilterOpts struct {
	Axis *int // nil means the last one
	// Zi is the state from which the filter starts; nil means zeros. For LFilter it has the shape of x with
	// max(p, q)-1 elements along the axis. For SOSFilt an axis of the sections comes before the axes of x, and
	// the filtered axis has 2 elements. Other axes may have size 1: they are broadcast.
	Zi *weft.Tensor
}

// LFilter filters x along an axis with the coefficients b of the numerator, [p], and a of the denominator,
// [q], of a rational transfer function:
//
//	a[0]*y[n] = b[0]*x[n] + b[1]*x[n-1] + ... - a[1]*y[n-1] - a[2]*y[n-2] - ...
//
// y has the shape of x, and zf is the state behind its end, in the shape of the state [FilterOpts.Zi]: the
// next block of samples continues from it. The state is that of the transposed direct form II.
//
// High orders lose digits in this form: [SOSFilt] does not. Where a[0] is 0 results are not finite. It panics with
// *[weft.Error] for shapes that do not fit.
func LFilter(b, a, x *weft.Tensor, opts ...FilterOpts) (y, zf *weft.Tensor) {
	const name = "signal.lfilter"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	b, a = vectorOf(name, "b", b), vectorOf(name, "a", a)
	x, axis := signalOf(name, "x", x, o.Axis)
	m := max(b.Dim(0), a.Dim(0)) - 1
	lead := withoutAxis(x.Shape(), axis)
	args := []*weft.Tensor{x.MoveAxis(axis, -1), b, a}
	if o.Zi != nil {
		zi := numbers(name, "Zi", o.Zi)
		want := shapeOf(x.Shape())
		want[axis] = m
		checkState(name, zi, want, axis)
		args = append(args, zi.MoveAxis(axis, -1))
	}
	args = meet(args...)
	x, b, a = args[0], args[1], args[2]
	first := part(a, 0, 0, 1)
	b, a = b.Div(first), part(a, 0, 1, a.Dim(0)).Div(first)
	state := x.Device().ZerosOf(x.DType(), m)
	if o.Zi != nil {
		state = args[3]
	}
	out := apply(op.LFilter, x, b.Expand(shapeOf(lead, b.Dim(0))...), a.Expand(shapeOf(lead, a.Dim(0))...), state.Expand(shapeOf(lead, m)...))
	return out[0].MoveAxis(-1, axis), out[1].MoveAxis(-1, axis)
}

// withoutAxis is a shape without an axis.
func withoutAxis(shape []int, axis int) []int {
	return append(append([]int{}, shape[:axis]...), shape[axis+1:]...)
}

// checkState refuses states of a shape that is not broadcast to want; axis has its full size.
func checkState(name string, zi *weft.Tensor, want []int, axis int) {
	s := zi.Shape()
	fits := len(s) == len(want)
	for i := 0; fits && i < len(s); i++ {
		fits = s[i] == want[i] || s[i] == 1 && i != axis
	}
	if !fits {
		array.Failf(name, "Zi", "has shape %s, want %s", array.ShapeString(s), array.ShapeString(want))
	}
}

// sectionsOf checks second-order sections, [s 6], and returns them.
func sectionsOf(name string, sos *weft.Tensor) *weft.Tensor {
	sos = numbers(name, "sos", sos)
	if sos.Rank() != 2 || sos.Dim(1) != 6 || sos.Dim(0) == 0 {
		array.Failf(name, "sos", "has shape %s, want [sections 6]", array.ShapeString(sos.Shape()))
	}
	return sos
}

// normal divides sections by their coefficients a0, and leaves these out: [s 5].
func normal(sos *weft.Tensor) *weft.Tensor {
	rest := weft.Cat([]*weft.Tensor{part(sos, 1, 0, 3), part(sos, 1, 4, 6)}, 1)
	return rest.Div(part(sos, 1, 3, 4))
}

// SOSFilt filters x along an axis with sections of second order, [sections 6], one behind the other. A
// section has the coefficients b0 b1 b2 a0 a1 a2 of [LFilter]. y has the shape of x, and zf is the states
// behind its end: [sections] and the axes of x, the filtered one having 2.
//
// It panics with *[weft.Error] for shapes that do not fit.
func SOSFilt(sos, x *weft.Tensor, opts ...FilterOpts) (y, zf *weft.Tensor) {
	const name = "signal.sosfilt"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	sos = sectionsOf(name, sos)
	x, axis := signalOf(name, "x", x, o.Axis)
	n := sos.Dim(0)
	lead := withoutAxis(x.Shape(), axis)
	args := []*weft.Tensor{x.MoveAxis(axis, -1), sos}
	if o.Zi != nil {
		zi := numbers(name, "Zi", o.Zi)
		want := shapeOf([]int{n}, x.Shape()...)
		want[axis+1] = 2
		checkState(name, zi, want, axis+1)
		args = append(args, zi.MoveAxis(axis+1, -1).MoveAxis(0, -2))
	}
	args = meet(args...)
	x, sos = args[0], normal(args[1])
	state := x.Device().ZerosOf(x.DType(), n, 2)
	if o.Zi != nil {
		state = args[2]
	}
	out := apply(op.SOSFilt, x, sos.Expand(shapeOf(lead, n, 5)...), state.Expand(shapeOf(lead, n, 2)...))
	return out[0].MoveAxis(-1, axis), out[1].MoveAxis(-2, 0).MoveAxis(-1, axis+1)
}

// LFilterZi returns the state of [LFilter], [max(p, q)-1], in which a signal of ones has the result of one
// that was always 1. Times the first sample it starts a filter without a transient. It panics with
// *[weft.Error] for shapes that do not fit.
func LFilterZi(b, a *weft.Tensor) *weft.Tensor {
	const name = "signal.lfilter_zi"
	defer array.Named(name).End()
	c := meet(vectorOf(name, "b", b), vectorOf(name, "a", a))
	n := max(c[0].Dim(0), c[1].Dim(0))
	first := part(c[1], 0, 0, 1)
	b = padded(c[0].Div(first), 0, 0, n-c[0].Dim(0))
	a = padded(c[1].Div(first), 0, 0, n-c[1].Dim(0))
	if n == 1 {
		return part(b, 0, 0, 0)
	}
	d := part(b, 0, 1, n).Sub(part(a, 0, 1, n).Mul(part(b, 0, 0, 1)))
	zero := d.Sum().Div(a.Sum())
	return part(a, 0, 0, n-1).CumSum(0).Mul(zero).Sub(padded(part(d, 0, 0, n-2).CumSum(0), 0, 1, 0))
}

// SOSFiltZi returns the states of [SOSFilt], [sections 2], in which a signal of ones has the result of one
// that was always 1. It panics with *[weft.Error] for shapes that do not fit.
func SOSFiltZi(sos *weft.Tensor) *weft.Tensor {
	const name = "signal.sosfilt_zi"
	defer array.Named(name).End()
	c := normal(sectionsOf(name, sos))
	at := func(i int) *weft.Tensor { return part(c, 1, i, i+1) }
	below := at(3).Add(at(4)).Add(1)
	d := at(1).Sub(at(3).Mul(at(0)))
	zero := d.Add(at(2)).Sub(at(4).Mul(at(0))).Div(below)
	zi := weft.Cat([]*weft.Tensor{zero, at(3).Add(1).Mul(zero).Sub(d)}, 1)
	// The signal of a section is the gain of those before it.
	gain := at(0).Add(at(1)).Add(at(2)).Div(below)
	n := c.Dim(0)
	return zi.Mul(weft.Cat([]*weft.Tensor{part(gain, 0, 0, 1).Mul(0).Add(1), part(gain, 0, 0, n-1).CumProd(0)}, 0))
}
