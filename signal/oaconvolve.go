package signal

import (
	"math/bits"

	"weft"
	"weft/fft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// transforms reports that transforms are faster than sums, by [transformCost] and what products take: numbers of a
// Xeon with AVX-512, one thread, 28 November 2026. There both take the same time at 240 elements of float32.
func transforms(d weft.DType, n, m int) bool {
	each := 0.035 // nanoseconds of a product
	switch d {
	case weft.Float64:
		each = 0.07
	case weft.Complex64:
		each = 0.14
	case weft.Complex128:
		each = 0.28
	}
	return 4000+transformCost(d, n, m) < each*float64(n)*float64(m)
}

// transformCost is about how many nanoseconds a convolution by transforms takes, beside what every call does.
func transformCost(d weft.DType, n, m int) float64 {
	long, short := max(n, m), min(n, m)
	size, step, blocks := blocksOf(long, short)
	if blocks == 1 {
		size, step = long+short-1, long+short-1
	}
	each := 0.38 // nanoseconds of an element and a step of log2
	switch d {
	case weft.Float64, weft.Complex64:
		each *= 1.9
	case weft.Complex128:
		each *= 3.8
	}
	points := float64(long+short) * float64(size) / float64(step)
	return each * points * float64(10+bits.Len(uint(size)))
}

// blocksOf returns the length of the transforms of overlap-add, how many elements of the longer argument each takes,
// and how many there are: 1 where one transform of everything is as good.
func blocksOf(long, short int) (size, step, blocks int) {
	size = 1 << max(bits.Len(uint(8*short-1)), 12)
	if size*2 >= long+short-1 {
		return long + short - 1, long, 1
	}
	step = size - short + 1
	return size, step, (long + step - 1) / step
}

// evenLen returns a length from n on for which transforms of real numbers are fast: an even one.
func evenLen(n int) int { return 2 * fft.NextFastLen((n+1)/2) }

// A spectral is the attribute of a full convolution by transforms.
type spectral struct {
	sizes []int // of transforms along all axes
	step  int   // in one axis: how many elements of the first argument a transform takes; 0 for all
}

// AppendKey implements ir.Attrs.
func (s spectral) AppendKey(k []byte) []byte { return ir.Int(ir.Ints(k, s.sizes), s.step) }

// spectralDef convolves its two arguments, which are real or both complex, over all axes.
var spectralDef = &op.Def{Name: "signal.convolve", Hash: 0x510e527fade682d1, Class: op.Composite, Arity: 2, Attrs: spectral{},
	Composed: op.Composed{Compose: func(x []*ir.Node, a ir.Attrs) *ir.Node {
		if s := a.(spectral); s.step > 0 {
			return s.overlapAdded(x[0], x[1])
		}
		return a.(spectral).convolved(x[0], x[1])
	}}}

// pad puts zeros around an axis of a node.
func pad(x *ir.Node, axis, before, behind int) *ir.Node {
	p := op.Padding{Pads: make([]int, 2*len(x.Shape))}
	p.Pads[2*axis], p.Pads[2*axis+1] = before, behind
	return op.Apply(op.Pad, p, x)
}

// forward is the transform along the last axes, with zeros behind.
func (s spectral) forward(x *ir.Node) *ir.Node {
	lead := len(x.Shape) - len(s.sizes)
	for i, n := range s.sizes {
		x = pad(x, lead+i, 0, n-x.Shape[lead+i])
	}
	for i := len(x.Shape) - 1; i >= lead; i-- {
		d := op.FFT
		if !x.DType.Complex() {
			d = op.RFFT
		}
		x = op.Apply(d, op.Fourier{Axis: i}, x)
	}
	return x
}

// product transforms the product of two transforms back, along the last axes.
func (s spectral) product(x, y *ir.Node, complex bool) *ir.Node {
	z := op.Apply(op.Mul, nil, x, y)
	lead := len(z.Shape) - len(s.sizes)
	for i, n := range s.sizes {
		a := op.Fourier{Axis: lead + i, Norm: op.ByLength, Inverse: true}
		if i == len(s.sizes)-1 && !complex {
			a.N, a.Inverse = n, false
			z = op.Apply(op.IRFFT, a, z)
		} else {
			z = op.Apply(op.FFT, a, z)
		}
	}
	return z
}

func (s spectral) convolved(x, y *ir.Node) *ir.Node {
	z := s.product(s.forward(x), s.forward(y), x.DType.Complex())
	for i := range x.Shape {
		z = op.Narrow(z, i, 0, x.Shape[i]+y.Shape[i]-1)
	}
	return z
}

// overlapAdded transforms blocks of x, whose results overlap. Source: A. V. Oppenheim and R. W. Schafer,
// "Discrete-Time Signal Processing", 3rd ed., 8.7.3.
func (s spectral) overlapAdded(x, y *ir.Node) *ir.Node {
	n, size := x.Shape[0], s.sizes[0]
	blocks := (n + s.step - 1) / s.step
	rows := op.Apply(op.Reshape, op.Shape{blocks, s.step}, pad(x, 0, 0, blocks*s.step-n))
	z := s.product(s.forward(rows), s.forward(y), x.DType.Complex())
	line := func(z *ir.Node) *ir.Node { return op.Apply(op.Reshape, op.Shape{blocks * s.step}, z) }
	head := pad(line(op.Narrow(z, 1, 0, s.step)), 0, 0, s.step)
	tail := pad(line(pad(op.Narrow(z, 1, s.step, size-s.step), 1, 0, 2*s.step-size)), 0, s.step, 0)
	return op.Narrow(op.Apply(op.Add, nil, head, tail), 0, 0, n+y.Shape[0]-1)
}

// fftConvolved is the full convolution over all axes.
func fftConvolved(x, y *weft.Tensor) *weft.Tensor {
	s := spectral{sizes: make([]int, x.Rank())}
	for i := range s.sizes {
		s.sizes[i] = fft.NextFastLen(x.Dim(i) + y.Dim(i) - 1)
	}
	if last := len(s.sizes) - 1; !x.DType().Complex() {
		s.sizes[last] = evenLen(x.Dim(last) + y.Dim(last) - 1)
	}
	return s.apply(x, y)
}

func (s spectral) apply(x, y *weft.Tensor) *weft.Tensor {
	return (*weft.Tensor)(core.WithAttrs(spectralDef, s, core.Inner([]*weft.Tensor{x, y})...)).To(x.DType())
}

// overlapAdded is the full convolution along an axis, by transforms of blocks of the longer argument where that is less
// work.
func overlapAdded(x, y *weft.Tensor) *weft.Tensor {
	if x.Dim(0) < y.Dim(0) {
		x, y = y, x
	}
	size, step, blocks := blocksOf(x.Dim(0), y.Dim(0))
	if blocks == 1 {
		return fftConvolved(x, y)
	}
	return spectral{sizes: []int{size}, step: step}.apply(x, y)
}

// OAConvolve returns the convolution of two signals along one axis, [n] and [m], by Fourier transforms of blocks of the
// longer one. That is less work than one transform where the other is much shorter. A NaN or an infinity reaches the
// results of its block alone. It panics as [Convolve] does.
func OAConvolve(a, b *weft.Tensor, opts ...ConvolveOpts) *weft.Tensor {
	const name = "signal.oaconvolve"
	defer array.Named(name).End()
	c := meet(vectorOf(name, "a", a), vectorOf(name, "b", b))
	return inMode(name, overlapAdded(c[0], c[1]), a.Dim(0), b.Dim(0), array.Options(name, opts).Mode)
}
