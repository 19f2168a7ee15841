package fft

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// STFTOpts are the options of [STFT] and [ISTFT], with torch.stft's names and defaults.
type STFTOpts struct {
	NFFT       int          // samples of a frame, 1 or more
	HopLength  int          // samples from one frame to the next; 0 means NFFT/4
	WinLength  int          // samples that a window of ones has where Window is nil; 0 means NFFT
	Window     *weft.Tensor // [WinLength], put in the middle of a frame; nil means ones
	Center     *bool        // frames are around their samples: the signal is padded by NFFT/2 on both sides; nil means true
	PadMode    string       // how: "reflect", "constant", "replicate" or "circular"; empty means reflect
	Normalized bool         // multiply by 1/sqrt(NFFT)
	Onesided   *bool        // the first NFFT/2+1 frequencies only; nil means true for real signals
	Length     int          // of ISTFT's result; 0 means all that frames cover
}

// frames are options with their defaults.
type frames struct {
	STFTOpts
	window        *weft.Tensor // [NFFT], of real numbers
	center, sided bool
	hop, pad      int
}

// framesOf checks options but for the window.
func framesOf(opName string, o STFTOpts, complex bool) frames {
	f := frames{STFTOpts: o, center: array.Or(o.Center, true), sided: array.Or(o.Onesided, !complex), hop: o.HopLength}
	if o.NFFT < 1 || o.NFFT > math.MaxInt32 {
		array.Failf(opName, "NFFT", "is %d, want 1 or more samples in a frame", o.NFFT)
	}
	if f.hop == 0 {
		f.hop = max(o.NFFT/4, 1)
	}
	if f.hop < 1 {
		array.Failf(opName, "HopLength", "is %d, want 1 or more", o.HopLength)
	}
	if f.center {
		f.pad = o.NFFT / 2
	}
	return f
}

// weigh checks the window, or makes it: it has NFFT elements, which the caller has found to be needed. like
// has its type and its device.
func (f *frames) weigh(opName string, like *weft.Tensor) {
	n := f.WinLength
	if f.Window != nil {
		(*core.Tensor)(f.Window).CheckArgument(opName, "Window")
	}
	if n == 0 {
		n = f.NFFT
		if f.Window != nil && f.Window.Rank() == 1 {
			n = f.Window.Dim(0)
		}
	}
	if n < 1 || n > f.NFFT {
		array.Failf(opName, "WinLength", "is %d, want 1 to %d, the samples of a frame", n, f.NFFT)
	}
	f.window = f.Window
	if f.window == nil {
		f.window = constant(like, func(int) float64 { return 1 }, core.CheckHeap(opName, n, weft.Float64))
	} else {
		if !array.Equal(f.window.Shape(), []int{n}) {
			array.Failf(opName, "Window", "has shape %s, want [%d]", array.ShapeString(f.window.Shape()), n)
		}
		if f.window.DType().Complex() {
			array.Failf(opName, "Window", "has elements of type %s, want real numbers", f.window.DType())
		}
		f.window = f.window.To(like.DType().Part())
	}
	if left := (f.NFFT - n) / 2; n < f.NFFT {
		f.window = f.window.Pad(0, left, f.NFFT-n-left)
	}
}

// source is where sample i of the padded signal of n samples comes from, -1 for a zero.
func (f *frames) source(i, n int) int {
	i -= f.pad
	switch {
	case i >= 0 && i < n:
		return i
	case f.PadMode == "constant":
		return -1
	case f.PadMode == "replicate":
		return min(max(i, 0), n-1)
	case f.PadMode == "circular":
		return (i%n + n) % n
	case i < 0:
		return -i
	}
	return 2*(n-1) - i
}

// STFT returns the short-time Fourier transform of signals x [... samples]: [... frequencies frames], as
// torch.stft does with return_complex. It panics with *[weft.Error] for options out of range, and for
// signals that are shorter than a frame or than what reflection needs.
func STFT(x *weft.Tensor, o STFTOpts) *weft.Tensor {
	const name = "fft.stft"
	defer array.Named(name).End()
	x = numbers(name, "x", x)
	if x.Rank() < 1 {
		array.Failf(name, "x", "has shape [], want samples along the last axis")
	}
	f := framesOf(name, o, x.DType().Complex())
	if f.sided && x.DType().Complex() {
		array.Failf(name, "Onesided", "is true for complex signals, whose frequencies are all different")
	}
	n := x.Dim(-1)
	switch o.PadMode {
	case "", "reflect", "circular", "replicate", "constant":
	default:
		array.Failf(name, "PadMode", "is %q, want reflect, constant, replicate or circular", o.PadMode)
	}
	if reflects := o.PadMode == "" || o.PadMode == "reflect"; f.center && (reflects && f.pad >= n || n == 0 || o.PadMode == "circular" && f.pad > n) {
		array.Failf(name, "x", "has %s, too few to pad %d by mode %s", array.Count(n, "sample"), f.pad, o.PadMode)
	}
	if n+2*f.pad < o.NFFT {
		array.Failf(name, "x", "has %s, fewer than a frame of %d", array.Count(n, "sample"), o.NFFT)
	}
	f.weigh(name, x)
	count := (n+2*f.pad-o.NFFT)/f.hop + 1
	array.CheckShape(name, []int{count, o.NFFT}, weft.Int64)
	core.CheckHeap(name, count*o.NFFT, weft.Int64)
	zero := n // where zeros are
	if f.center && o.PadMode == "constant" {
		x = x.Pad(0, padLast(x, 0, 1)...)
	}
	at := make([]int64, 0, count*o.NFFT)
	for k := range count {
		for j := range o.NFFT {
			i := f.source(k*f.hop+j, n)
			if i < 0 {
				i = zero
			}
			at = append(at, int64(i))
		}
	}
	lead := x.Shape()[:x.Rank()-1]
	y := x.IndexSelect(-1, weft.FromSlice(at, len(at)).On(x.Device())).Reshape(append(append([]int{}, lead...), count, o.NFFT)...).Mul(f.window)
	norm := Backward
	if o.Normalized {
		norm = Ortho
	}
	if f.sided {
		y = RFFT(y, Opts{Norm: norm})
	} else {
		y = FFT(y, Opts{Norm: norm})
	}
	return y.Transpose(-1, -2)
}

// ISTFT returns the signals whose [STFT] with the same options is nearest to z [... frequencies frames], as
// torch.istft does: overlapping frames are added, and divided by the sum of the squares of windows. Where no
// window covers a sample the result is NaN. It panics with *[weft.Error] for options and shapes out of range.
func ISTFT(z *weft.Tensor, o STFTOpts) *weft.Tensor {
	const name = "fft.istft"
	defer array.Named(name).End()
	z = complexOf(name, z)
	f := framesOf(name, o, false)
	bins := o.NFFT
	if f.sided {
		bins = o.NFFT/2 + 1
	}
	if z.Rank() < 2 || z.Dim(-2) != bins || z.Dim(-1) == 0 {
		array.Failf(name, "z", "has shape %s, want [... %d frames]", array.ShapeString(z.Shape()), bins)
	}
	if last := z.Dim(-1) - 1; last > 0 && f.hop > math.MaxInt64/4/last {
		array.Failf(name, "HopLength", "is %d, more than %s of a result can be apart", o.HopLength, array.Count(last+1, "frame"))
	}
	f.weigh(name, z)
	norm := Backward
	if o.Normalized {
		norm = Ortho
	}
	y := z.Transpose(-1, -2)
	if f.sided {
		y = IRFFT(y, Opts{N: o.NFFT, Norm: norm})
	} else {
		y = IFFT(y, Opts{Norm: norm}).Real()
	}
	count := z.Dim(-1)
	total := o.NFFT + f.hop*(count-1)
	at := make([]int64, 0, count*o.NFFT)
	for k := range count {
		for j := range o.NFFT {
			at = append(at, int64(k*f.hop+j))
		}
	}
	places := weft.FromSlice(at, len(at)).On(z.Device())
	add := func(x *weft.Tensor) *weft.Tensor {
		lead := x.Shape()[:x.Rank()-2]
		zeros := weft.ZerosOf(x.DType(), append(append([]int{}, lead...), total)...).On(x.Device())
		return zeros.IndexAdd(-1, places, x.Reshape(append(append([]int{}, lead...), count*o.NFFT)...))
	}
	sum := add(y.Mul(f.window))
	weights := add(f.window.Square().Expand(count, o.NFFT))
	begin, end := f.pad, total-f.pad
	if o.Length < 0 {
		array.Failf(name, "Length", "is %d, want 0 or more", o.Length)
	}
	if o.Length > 0 {
		end = min(total, begin+min(o.Length, total))
	}
	if end <= begin {
		array.Failf(name, "z", "has %s, which leave no sample", array.Count(count, "frame"))
	}
	y = last(sum, begin, end).Div(last(weights, begin, end))
	if more := o.Length - (end - begin); o.Length > 0 && more > 0 {
		y = y.Pad(0, padLast(y, 0, more)...)
	}
	return y
}

// padLast are the paddings of the last axis.
func padLast(x *weft.Tensor, before, after int) []int {
	pads := make([]int, 2*x.Rank())
	pads[len(pads)-2], pads[len(pads)-1] = before, after
	return pads
}
