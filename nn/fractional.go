package nn

import (
	"weft"
	"weft/internal/array"
)

// FractionalMaxPool takes maxima over windows that begin at places drawn for each picture and channel, so that any
// size of the result is possible (Graham, Fractional max-pooling, 2014). It is
// torch.nn.FractionalMaxPool2d or 3d, by the length of Window, without their indices.
type FractionalMaxPool struct {
	Window []int     // two or three sizes
	Size   []int     // of the result; nil for Ratio
	Ratio  []float64 // of the result's size to x's, above 0 and below 1
	// Samples are what the places follow from, [batch, channels, axes] from 0 to below 1, as PyTorch takes them
	// (of pictures horizontal first); nil: drawn in each call.
	Samples   *weft.Tensor
	Generator *weft.Generator // of the draws; nil is the default generator
}

// Forward maps [batch, channels, h, w] or [batch, channels, d, h, w] to the same with other sizes. It
// panics with *weft.Error if numbers are out of range.
func (p FractionalMaxPool) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(p, x, FractionalMaxPool.forward)
}

func (p FractionalMaxPool) forward(x *weft.Tensor) *weft.Tensor {
	const name = "fractional_max_pool"
	defer array.Named(name).End()
	n := len(p.Window)
	floats(name, "x", x)
	if n != 2 && n != 3 {
		array.Failf(name, "Window", "is %v, want two or three sizes", p.Window)
	}
	if x.Rank() != n+2 {
		array.Failf(name, "x", "has shape %s, want %d axes", array.ShapeString(sizes(x)), n+2)
	}
	out := p.sizes(sizes(x)[2:])
	lead := []int{x.Dim(0), x.Dim(1), n}
	u := p.Samples
	if u == nil {
		g := source(p.Generator)
		u = g.On(x.Device()).RandOf(x.DType(), lead...)
	}
	if !array.Equal(sizes(u), lead) || u.DType() != x.DType() {
		array.Failf(name, "Samples", "is %s, want %s", describe(u), array.TypeString(x.DType(), lead))
	}
	for axis := range n {
		k := axis
		if n == 2 {
			k = 1 - axis // horizontal first
		}
		sample := u.Detach().Slice(weft.All, weft.All, weft.Range(k, k+1))
		x = windowMaxima(x, axis+2, p.Window[axis], fractionalStarts(sample, x.Dim(axis+2), out[axis], p.Window[axis]))
	}
	return x
}

// sizes returns the sizes of the result.
func (p FractionalMaxPool) sizes(in []int) []int {
	const name = "fractional_max_pool"
	n := len(in)
	out := p.Size
	switch {
	case (p.Size == nil) == (p.Ratio == nil):
		array.Failf(name, "Size", "and Ratio: one of them is given")
	case p.Size == nil && len(p.Ratio) != n:
		array.Failf(name, "Ratio", "is %v, want %d numbers", p.Ratio, n)
	case p.Size == nil:
		for i, r := range p.Ratio {
			if !(r > 0 && r < 1) {
				array.Failf(name, "Ratio", "is %v, want numbers above 0 and below 1", p.Ratio)
			}
			out = append(out, int(float64(in[i])*r))
		}
	}
	if len(out) != n {
		array.Failf(name, "Size", "is %v, want %d sizes", out, n)
	}
	for i := range out {
		if p.Window[i] < 1 || p.Window[i] > in[i] {
			array.Failf(name, "Window", "is %v, want 1 to %v", p.Window, in)
		}
		if out[i] < 1 || out[i] > in[i]-p.Window[i]+1 {
			array.Failf(name, "Size", "of the result is %v, want 1 to %d along axis %d", out, in[i]-p.Window[i]+1, i)
		}
	}
	return out
}

// fractionalStarts returns where windows begin along an axis of n, [batch, channels, out] int64, as PyTorch
// computes it: the last one ends at the end.
func fractionalStarts(u *weft.Tensor, n, out, window int) *weft.Tensor {
	last := n - window
	i := u.Device().Arange(out).To(u.DType())
	if out == 1 {
		return i.Add(u.Mul(0)).Add(last).To(weft.Int64)
	}
	alpha := float64(last) / float64(out-1)
	return weft.Expr("where(i >= last, end, floor((i+u)*a) - floor(u*a))",
		weft.Vars{"i": i, "u": u, "a": alpha, "last": float64(out - 1), "end": float64(last)}).To(weft.Int64)
}

// windowMaxima returns maxima over windows along an axis that begin at starts, [batch, channels, out].
func windowMaxima(x *weft.Tensor, axis, window int, starts *weft.Tensor) (y *weft.Tensor) {
	shape := x.Shape()
	shape[axis] = starts.Dim(2)
	at := ones(x.Rank())
	at[0], at[1], at[axis] = shape[0], shape[1], shape[axis]
	index := starts.Reshape(at...)
	for k := range window {
		part := x.Gather(axis, index.Add(k).Expand(shape...))
		if y == nil {
			y = part
		} else {
			y = y.Maximum(part)
		}
	}
	return y
}
