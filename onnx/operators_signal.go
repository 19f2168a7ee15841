package onnx

import (
	"math"

	"weft"
	"weft/fft"
)

// Signals: Fourier transforms and windows.
var signalOperators = []operator{
	{name: "BlackmanWindow", run: windowFunction(0.42, -0.5, 0.08), reads: []int{0}},
	{name: "DFT", run: dft, reads: []int{1, 2}},
	{name: "HammingWindow", run: windowFunction(25.0/46, -21.0/46, 0), reads: []int{0}},
	{name: "HannWindow", run: windowFunction(0.5, -0.5, 0), reads: []int{0}},
	{name: "MelWeightMatrix", run: melWeightMatrix, reads: []int{0, 1, 2, 3, 4}},
	{name: "STFT", run: stft, reads: []int{1, 3}},
}

// outputType is the element type that an attribute asks for, by default float32.
func (c *call) outputType() weft.DType {
	n := c.attrInt("output_datatype", int(Float))
	e := ElementType(n)
	if n < 0 || n > math.MaxUint8 || !e.known() || elementOf(e.DType()) != e || e.DType().Complex() || e.DType() == weft.Bool {
		c.fail("attribute %q is %d, which is not a type of numbers that is computed with", "output_datatype", n)
	}
	return e.DType()
}

// windowFunction is a + b*cos(t) + d*cos(2t), where t goes once round in size steps, or in one less.
func windowFunction(a, b, d float64) func(c *call) []Value {
	return func(c *call) []Value {
		size, t := c.int(0), c.outputType()
		steps := size
		if !c.attrBool("periodic", true) {
			steps--
		}
		if size < 0 {
			c.fail("the size is %d", size)
		}
		c.hostTable(size)
		list := make([]float64, size)
		for i := range list {
			angle := 2 * math.Pi * float64(i) / float64(max(steps, 1))
			list[i] = a + b*math.Cos(angle) + d*math.Cos(2*angle)
		}
		return tensors(weft.FromSlice(list).To(t))
	}
}

// dft transforms along an axis. The last axis has the real and imaginary parts. The inverse of one side is
// real.
func dft(c *call) []Value {
	x := c.tensor(0)
	if x.Rank() < 2 {
		c.fail("the signal has %d axes: want at least 2", x.Rank())
	}
	axis := -2
	if c.opset() < 20 {
		axis = c.attrInt("axis", 1)
	} else if c.has(2) {
		axis = c.int(2)
	}
	if axis = c.axis(axis, x.Rank()); axis == x.Rank()-1 {
		c.fail("axis %d is that of real and imaginary parts", axis)
	}
	inverse, oneSided := c.attrBool("inverse", false), c.attrBool("onesided", false)
	length := x.Dim(axis)
	if inverse && oneSided {
		length = 2 * (length - 1)
	}
	if c.has(1) {
		length = c.int(1)
	}
	return tensors(c.fourier(x, axis, length, inverse, oneSided).To(x.DType()))
}

// fourier is the discrete Fourier transform of the first length elements of x along an axis.
func (c *call) fourier(x *weft.Tensor, axis, length int, inverse, oneSided bool) *weft.Tensor {
	last := x.Rank() - 1
	parts := x.Dim(last)
	if parts != 1 && parts != 2 || length < 1 {
		c.fail("a signal %v is not transformed to %d elements", x.Shape(), length)
	}
	c.hostTable(length)
	spans := make([]weft.Span, x.Rank())
	for i := range spans {
		spans[i] = weft.All
	}
	part := func(i int) *weft.Tensor {
		spans[last] = weft.Index(i)
		return wide(x).Slice(spans...)
	}
	z, o := part(0), fft.Opts{N: length, Axis: &axis}
	if parts == 2 {
		z = weft.Complex(z, part(1))
	}
	switch {
	case inverse && oneSided:
		return fft.IRFFT(z, o).Unsqueeze(-1)
	case inverse:
		z = fft.IFFT(z, o)
	case oneSided && parts == 1:
		z = fft.RFFT(z, o)
	default:
		z = fft.FFT(z, o)
		if oneSided {
			half := make([]weft.Span, axis+1)
			for i := range half {
				half[i] = weft.All
			}
			half[axis] = weft.Range(0, length/2+1)
			z = z.Slice(half...)
		}
	}
	return weft.Stack([]*weft.Tensor{z.Real(), z.Imag()}, -1)
}

// stft transforms frames of a signal [batch, length, parts], each times the window.
func stft(c *call) []Value {
	x, step, window := c.tensor(0), c.int(1), c.optional(2)
	if x.Rank() == 2 {
		x = x.Unsqueeze(-1)
	}
	if x.Rank() != 3 || step < 1 {
		c.fail("frames %d apart are not taken from a signal %v", step, x.Shape())
	}
	length := x.Dim(1)
	if window != nil {
		if window.Rank() != 1 {
			c.fail("the window has %d axes: want 1", window.Rank())
		}
		length = window.Dim(0)
	}
	if c.has(3) {
		length = c.int(3)
	}
	if length < 1 || length > x.Dim(1) || window != nil && window.Dim(0) != length {
		c.fail("frames of %d elements do not fit in the signal %v and the window", length, x.Shape())
	}
	frames := 1 + (x.Dim(1)-length)/step
	c.hostTable(frames, length)
	at := make([]int64, 0, frames*length)
	for i := range frames {
		for j := range length {
			at = append(at, int64(i*step+j))
		}
	}
	y := x.IndexSelect(1, x.Device().From(at)).Reshape(x.Dim(0), frames, length, x.Dim(2))
	if window != nil {
		y = y.Mul(window.Unsqueeze(-1))
	}
	return tensors(c.fourier(y, 2, length, false, c.attrBool("onesided", true)).To(x.DType()))
}

// melWeightMatrix has a triangle over the bins of a spectrum for each mel band.
func melWeightMatrix(c *call) []Value {
	bands, length, rate, low, high := c.int(0), c.int(1), c.int(2), c.float(3), c.float(4)
	t := c.outputType()
	if bands < 1 || length < 1 || rate < 1 || low < 0 || high < low {
		c.fail("%d bands from %v to %v Hz of a transform of %d elements at %d Hz do not exist", bands, low, high, length, rate)
	}
	bins := length/2 + 1
	c.hostTable(bins, bands)
	mel := func(hertz float64) float64 { return 2595 * math.Log10(1+hertz/700) }
	step := (mel(high) - mel(low)) / float64(bands+2)
	edge := make([]int, bands+2)
	for i := range edge {
		hertz := 700 * (math.Pow(10, (float64(i)*step+mel(low))/2595) - 1)
		if edge[i] = int(float64(length+1) * hertz / float64(rate)); edge[i] >= bins {
			c.fail("band %d ends at bin %d of %d", i, edge[i], bins)
		}
	}
	list := make([]float64, bins*bands)
	for i := range bands {
		left, centre, right := edge[i], edge[i+1], edge[i+2]
		if left == centre {
			list[centre*bands+i] = 1
		}
		for j := left; j <= centre && left < centre; j++ {
			list[j*bands+i] = float64(j-left) / float64(centre-left)
		}
		for j := centre; j < right; j++ {
			list[j*bands+i] = float64(right-j) / float64(right-centre)
		}
	}
	return tensors(weft.FromSlice(list, bins, bands).To(t))
}
