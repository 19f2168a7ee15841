package signal

import (
	"weft"
	"weft/fft"
	"weft/internal/array"
)

// AxisOpts name an axis.
type AxisOpts struct {
	Axis *int // nil means the last one
}

// Hilbert returns the analytic signal of real x along an axis: complex, x itself and its Hilbert transform as
// imaginary part, without negative frequencies. It panics with *[weft.Error] for complex x and axes out of
// range or without samples.
func Hilbert(x *weft.Tensor, opts ...AxisOpts) *weft.Tensor {
	const name = "signal.hilbert"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	x, axis := realSamples(name, x, o.Axis)
	x = x.MoveAxis(axis, -1)
	// Times -i the transform is that of the imaginary part. Its first number, and of an even length its last
	// one, are real and become imaginary, which IRFFT leaves out.
	y := fft.IRFFT(fft.RFFT(x).Mul(-1i), fft.Opts{N: x.Dim(-1)})
	return weft.Complex(x.To(y.DType()), y).MoveAxis(-1, axis)
}

// realSamples returns an argument as real numbers, and an axis that has samples.
func realSamples(name string, x *weft.Tensor, at *int) (*weft.Tensor, int) {
	x, axis := signalOf(name, "x", x, at)
	if x.DType().Complex() {
		array.Failf(name, "x", "has elements of type %s, want real numbers", x.DType())
	}
	if x.Dim(axis) == 0 {
		array.Failf(name, "x", "has shape %s, want samples along axis %d", array.ShapeString(x.Shape()), axis)
	}
	return x, axis
}

// Resample returns real x with num samples along an axis in the place of its own, by Fourier transforms, as
// if x were periodic. It panics with *[weft.Error] for complex x, num below 1, and axes out of range or
// without samples.
func Resample(x *weft.Tensor, num int, opts ...AxisOpts) *weft.Tensor {
	const name = "signal.resample"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	x, axis := realSamples(name, x, o.Axis)
	if num < 1 || num > 1<<40 {
		array.Failf(name, "num", "is %d, want 1 or more samples", num)
	}
	n := x.Dim(axis)
	least := min(n, num)
	z := fft.RFFT(x.MoveAxis(axis, -1))
	last := z.Rank() - 1
	z = part(z, last, 0, least/2+1)
	if least%2 == 0 && n != num {
		// The element of the highest frequency stands for two where it has a conjugate of its own.
		f := make([]float64, least/2+1)
		for i := range f {
			f[i] = 1
		}
		f[least/2] = 2
		if num > n {
			f[least/2] = 0.5
		}
		z = z.Mul(weft.FromSlice(f, len(f)).To(z.DType().Part()).On(x.Device()))
	}
	z = padded(z, last, 0, num/2+1-(least/2+1))
	return fft.IRFFT(z, fft.Opts{N: num}).Mul(float64(num)/float64(n)).MoveAxis(-1, axis)
}

// DetrendOpts are the options of [Detrend].
type DetrendOpts struct {
	Axis *int   // nil means the last one
	Type string // "linear", the default, takes away the line of least squares; "constant" the mean
}

// Detrend returns x without its trend along an axis. It panics with *[weft.Error] for unknown types, and axes
// out of range or without samples.
func Detrend(x *weft.Tensor, opts ...DetrendOpts) *weft.Tensor {
	const name = "signal.detrend"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	x, axis := signalOf(name, "x", x, o.Axis)
	if x.Dim(axis) == 0 {
		array.Failf(name, "x", "has shape %s, want samples along axis %d", array.ShapeString(x.Shape()), axis)
	}
	x = x.MoveAxis(axis, -1)
	y := x.Sub(x.Mean(-1).Unsqueeze(-1))
	switch o.Type {
	case "constant":
	case "", "linear":
		if n := x.Dim(-1); n > 1 {
			at := make([]float64, n)
			sum := 0.0
			for i := range at {
				at[i] = float64(i) - float64(n-1)/2
				sum += float64(at[i] * at[i])
			}
			t := weft.FromSlice(at, n).To(x.DType()).On(x.Device())
			y = y.Sub(y.Mul(t).Sum(-1).Div(sum).Unsqueeze(-1).Mul(t))
		}
	default:
		array.Failf(name, "Type", "is %q, want linear or constant", o.Type)
	}
	return y.MoveAxis(-1, axis)
}
