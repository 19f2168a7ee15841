package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
)

// Discrete Fourier transforms along an axis. Transforms of real numbers have half of the results: the
// other half is its conjugate.
//
// A transform is linear, so its gradient is its conjugate transpose: the transform with exponents of the
// other sign.
var FFT, RFFT, IRFFT *Def

// A Fourier is the axis of a transform, and its form.
type Fourier struct {
	Axis    int
	Inverse bool // FFT: exponents have a positive sign
	N       int  // IRFFT: elements of the result along the axis
	Norm    FourierNorm
	More    []int // FFT: axes along which the result is transformed in turn
}

// A FourierNorm is the factor of a transform of n elements.
type FourierNorm uint8

const (
	NoNorm   FourierNorm = iota // 1
	ByLength                    // 1/n
	ByRoot                      // 1/sqrt(n)
)

// Factor is the factor of a transform of n elements.
func (m FourierNorm) Factor(n int) float64 {
	switch m {
	case ByLength:
		return 1 / float64(n)
	case ByRoot:
		return 1 / math.Sqrt(float64(n))
	}
	return 1
}

func (a Fourier) AppendKey(k []byte) []byte {
	return ir.Ints(ir.Int(ir.Int(ir.Flag(ir.Int(k, a.Axis), a.Inverse), a.N), int(a.Norm)), a.More)
}

// complexOnly checks that the argument is complex and has the axis.
func (c *Call) complexOnly() (x *ir.Node, a Fourier) {
	x, a = c.Args[0], c.Attrs.(Fourier)
	c.inRank(a.Axis, len(x.Shape))
	for _, axis := range a.More {
		c.inRank(axis, len(x.Shape))
	}
	if !x.DType.Complex() {
		c.Failf("x", "has elements of type %s, want complex numbers", x.DType)
	}
	return x, a
}

// resized is a shape with another size of an axis.
func resized(shape []int, axis, n int) []int {
	out := append([]int(nil), shape...)
	out[axis] = n
	return out
}

// inner multiplies the elements of a half of a transform that stand for two by a factor: all but the
// first and, of an even length n, the last.
func inner(z *node, axis, n int, factor float64) *node {
	i := Apply(Iota, Axis(axis), realOf(z))
	alone := apply(Eq, i, num(i, 0))
	if n%2 == 0 {
		alone = apply(LogicalOr, alone, apply(Eq, i, num(i, float64(n/2))))
	}
	f := func(x *node) *node { return where(alone, x, scale(x, factor)) }
	return join2(f(realOf(z)), f(imagOf(z)))
}

func init() {
	c64 := []array.DType{array.Complex64}
	FFT = define(Def{Name: "fft", Class: Routine, Arity: 1, Attrs: Fourier{},
		Doc: "The discrete Fourier transform of complex numbers along an axis, or several in turn, or the sum with exponents of positive sign, times a factor. Errors grow with the logarithm of the length.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, _ := c.complexOnly()
			return x.DType, x.Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineFFT, Complex: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			a := v.Node.Attrs.(Fourier)
			a.Inverse = !a.Inverse
			v.Set(0, func() *node { return Apply(FFT, a, v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{12}}, DTypes: c64}, {Shapes: [][]int{{2, 7}}, DTypes: c64, Attrs: Fourier{Axis: 1, Inverse: true, Norm: ByLength}},
			{Shapes: [][]int{{5, 3}}, DTypes: []array.DType{array.Complex128}, Attrs: Fourier{Norm: ByRoot}}, {Shapes: [][]int{{0, 3}}, DTypes: c64, Attrs: Fourier{Axis: 1}},
			{Shapes: [][]int{{3, 4, 18}}, DTypes: c64, Attrs: Fourier{Axis: 2, More: []int{1, 0}, Norm: ByRoot}}}}})
	RFFT = define(Def{Name: "rfft", Class: Routine, Arity: 1, Attrs: Fourier{},
		Doc: "The first half of the discrete Fourier transform of real numbers along an axis, n/2+1 complex numbers, times a factor.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				c.floats(1, 1)
				x, a := c.Args[0], c.Attrs.(Fourier)
				c.inRank(a.Axis, len(x.Shape))
				return x.DType.WithParts(), resized(x.Shape, a.Axis, x.Shape[a.Axis]/2+1)
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineRFFT},
		Derivative: Derivative{VJP: func(v *VJP) {
			a := v.Node.Attrs.(Fourier)
			a.N = v.X[0].Shape[a.Axis]
			v.Set(0, func() *node { return Apply(IRFFT, a, inner(v.DY, a.Axis, a.N, 0.5)) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{12}}}, {Shapes: [][]int{{2, 7}}, Attrs: Fourier{Axis: 1, Norm: ByRoot}}, {Shapes: [][]int{{5, 3}}}, {Shapes: [][]int{{0, 3}}, Attrs: Fourier{Axis: 1}}}}})
	IRFFT = define(Def{Name: "irfft", Class: Routine, Arity: 1, Attrs: Fourier{},
		Doc: "The N real numbers along an axis whose inverse transform has the argument's N/2+1 complex numbers as its first half, times a factor. Imaginary parts of the first number and, for an even N, the last do not count.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, a := c.complexOnly()
			if a.N < 0 || x.Shape[a.Axis] != a.N/2+1 {
				c.Failf("x", "has %d elements along the axis, want %d for a result of %d", x.Shape[a.Axis], a.N/2+1, a.N)
			}
			return x.DType.Part(), resized(x.Shape, a.Axis, a.N)
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineIRFFT, Complex: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			a := v.Node.Attrs.(Fourier)
			v.Set(0, func() *node {
				n := a.N
				b := a
				b.N = 0
				return inner(Apply(RFFT, b, v.DY), a.Axis, n, 2)
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7}}, DTypes: c64, Attrs: Fourier{N: 12}}, {Shapes: [][]int{{2, 4}}, DTypes: c64, Attrs: Fourier{Axis: 1, N: 7, Norm: ByLength}},
			{Shapes: [][]int{{3, 2}}, DTypes: []array.DType{array.Complex128}, Attrs: Fourier{N: 5}}}}})
}
