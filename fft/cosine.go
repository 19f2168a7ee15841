package fft

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// CosineOpts are the options of cosine and sine transforms.
type CosineOpts struct {
	Type *int // 1 to 4; nil means 2
	N    int  // elements that are transformed, as Opts has it; 0 means the size of the axis
	Axis *int // nil means the last one
	Norm Norm // empty means Backward; Ortho also scales the first and last elements, so that the transform is orthogonal
}

// DCT returns the discrete cosine transform of real numbers along an axis, SciPy's dct. Type 2, the default,
// has y[k] = 2 * sum of x[j]*cos(pi*k*(2j+1)/2n); type 3 is its inverse but for a factor 2n. It panics with
// *[weft.Error] for complex or 0-d tensors, an axis, type or length out of range and an unknown norm.
func DCT(x *weft.Tensor, opts ...CosineOpts) *weft.Tensor { return cosine("fft.dct", x, opts, false) }

// IDCT returns the inverse of [DCT] of the same type: the transform of type 3 for type 2, and the other way
// round, with the factor 1/2n by default. It panics as DCT does.
func IDCT(x *weft.Tensor, opts ...CosineOpts) *weft.Tensor { return cosine("fft.idct", x, opts, true) }

// DST returns the discrete sine transform of real numbers along an axis, SciPy's dst. Type 2, the default,
// has y[k] = 2 * sum of x[j]*sin(pi*(k+1)*(2j+1)/2n). It panics as [DCT] does.
func DST(x *weft.Tensor, opts ...CosineOpts) *weft.Tensor { return sine("fft.dst", x, opts, false) }

// IDST returns the inverse of [DST] of the same type. It panics as [DCT] does.
func IDST(x *weft.Tensor, opts ...CosineOpts) *weft.Tensor { return sine("fft.idst", x, opts, true) }

// A trigonometric is a transform along an axis of x.
type trigonometric struct {
	x       *weft.Tensor
	n, kind int
	ortho   bool
	norm    op.FourierNorm
	factor  float64 // of norm
}

// prepared checks the arguments. more is what a period of type 1 has beside
// 2n elements.
func prepared(opName string, x *weft.Tensor, opts []CosineOpts, inverse bool, more int) (c trigonometric, axis int) {
	o := array.Options(opName, opts)
	x = realOnly(opName, x)
	axis = array.Axis(opName, array.Or(o.Axis, -1), x.Rank())
	n := Opts{N: o.N}.lengthOf(opName, x.Dim(axis))
	kind := array.Or(o.Type, 2)
	if kind < 1 || kind > 4 {
		array.Failf(opName, "Type", "is %d, want 1 to 4", kind)
	}
	period := 2 * n
	if kind == 1 {
		if period += more; period < 1 {
			array.Failf(opName, "N", "is %d, want 2 or more elements for type 1", n)
		}
	}
	c = trigonometric{n: n, kind: kind, ortho: o.Norm == Ortho, norm: normOf(opName, o.Norm, inverse), x: fit(x, axis, n)}
	c.factor = c.norm.Factor(period)
	if inverse && kind%4 > 1 {
		c.kind = 5 - kind
	}
	return c, axis
}

func cosine(opName string, x *weft.Tensor, opts []CosineOpts, inverse bool) *weft.Tensor {
	defer array.Named(opName).End()
	c, axis := prepared(opName, x, opts, inverse, -2)
	if c.middle() {
		return c.routine(axis, false)
	}
	c.x = c.x.MoveAxis(axis, -1)
	if root := math.Sqrt2; c.ortho && c.kind == 1 {
		c.x = c.scaled(c.x, root, root)
		return c.times(c.scaled(c.cosine(), 1/root, 1/root)).MoveAxis(-1, axis)
	}
	return c.times(c.cosine()).MoveAxis(-1, axis)
}

func sine(opName string, x *weft.Tensor, opts []CosineOpts, inverse bool) *weft.Tensor {
	defer array.Named(opName).End()
	c, axis := prepared(opName, x, opts, inverse, 2)
	if c.middle() {
		return c.routine(axis, true)
	}
	c.x = c.x.MoveAxis(axis, -1)
	return c.times(c.sine()).MoveAxis(-1, axis)
}

// middle reports types 2 and 3.
func (c *trigonometric) middle() bool { return c.kind == 2 || c.kind == 3 }

// routine is the whole transform of type 2 or 3.
func (c *trigonometric) routine(axis int, sine bool) *weft.Tensor {
	a := op.Cosine{Axis: axis, Third: c.kind == 3, Sine: sine, Norm: c.norm}
	if c.ortho {
		if a.First = math.Sqrt2; c.kind == 2 {
			a.First = 1 / math.Sqrt2
		}
	}
	return apply(op.DCT, a, c.x)
}

// constant returns numbers beside x, in the type of its parts.
func constant(x *weft.Tensor, f func(i int) float64, n int) *weft.Tensor {
	list := make([]float64, n)
	for i := range list {
		list[i] = f(i)
	}
	return weft.FromSlice(list, n).To(x.DType().Part()).On(x.Device())
}

// rootsOf returns the numbers exp(i pi f(k)) for k from 0 to before n.
func rootsOf(x *weft.Tensor, f func(k int) float64, n int) *weft.Tensor {
	return weft.Complex(constant(x, func(k int) float64 { return math.Cos(math.Pi * f(k)) }, n), constant(x, func(k int) float64 { return math.Sin(math.Pi * f(k)) }, n))
}

func (c *trigonometric) times(y *weft.Tensor) *weft.Tensor {
	if c.factor == 1 {
		return y
	}
	return y.Mul(c.factor)
}

// scaled multiplies the first and the last elements.
func (c *trigonometric) scaled(x *weft.Tensor, first, last float64) *weft.Tensor {
	return x.Mul(constant(x, func(i int) float64 {
		f := 1.0
		if i == 0 {
			f = first
		}
		if i == c.n-1 {
			f *= last
		}
		return f
	}, c.n))
}

// alternating changes the sign of every other element.
func (c *trigonometric) alternating(x *weft.Tensor) *weft.Tensor {
	return x.Mul(constant(x, func(i int) float64 { return float64(1 - 2*(i%2)) }, c.n))
}

// last is a part of the last axis.
func last(x *weft.Tensor, from, to int, step ...int) *weft.Tensor {
	return cut(x, x.Rank()-1, from, to, step...)
}

// join puts parts of the last axis one behind the other; those without elements count as well.
func join(xs ...*weft.Tensor) *weft.Tensor { return weft.Cat(xs, -1) }

// cosine is the transform without factors.
func (c *trigonometric) cosine() *weft.Tensor {
	x, n := c.x, c.n
	if c.kind == 1 {
		return RFFT(join(x, last(x, 1, n-1).Flip(-1))).Real()
	}
	return c.fourth()
}

// fourth is type 4, by a transform of twice the length.
func (c *trigonometric) fourth() *weft.Tensor {
	n := c.n
	z := complexOf("fft.dct", c.x)
	z = z.Mul(rootsOf(z, func(k int) float64 { return -float64(k) / float64(2*n) }, n))
	y := last(FFT(z, Opts{N: 2 * n}), 0, n)
	return y.Mul(rootsOf(y, func(k int) float64 { return -float64(2*k+1) / float64(4*n) }, n)).Real().Mul(2)
}

// sine is the transform without factors.
func (c *trigonometric) sine() *weft.Tensor {
	x, n := c.x, c.n
	d := *c
	if c.kind == 1 {
		zero := last(x, 0, 1).Mul(0)
		y := RFFT(join(zero, x, zero, x.Flip(-1).Neg()))
		return last(y.Imag(), 1, n+1).Neg()
	}
	d.x = x.Flip(-1)
	return c.alternating(d.cosine())
}
