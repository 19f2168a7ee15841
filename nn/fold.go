package nn

import (
	"slices"

	"weft"
	"weft/internal/array"
)

// Unfold copies the windows of pictures into columns, as the im2col of a convolution.
type Unfold struct {
	Window   [2]int  // vertical, horizontal
	Stride   *[2]int // nil means 1
	Padding  [2]int  // zeros on both sides
	Dilation *[2]int // the distance of a window's elements; nil means 1
}

// Forward maps [batch, channels, h, w] to [batch, channels*window, windows]. It panics with
// *weft.Error if no window fits or a number is out of range.
func (u Unfold) Forward(x *weft.Tensor) *weft.Tensor { return Call(u, x, Unfold.forward) }

func (u Unfold) forward(x *weft.Tensor) *weft.Tensor {
	const name = "unfold"
	defer array.Named(name).End()
	if x == nil || x.Rank() != 4 {
		array.Failf(name, "x", "is %s, want [batch channels h w]", describe(x))
	}
	axes, _ := u.columns(name, [2]int{x.Dim(2), x.Dim(3)})
	padded := Pad{Pads: []int{u.Padding[1], u.Padding[1], u.Padding[0], u.Padding[0]}}.forward(x)
	parts, _, _ := gathered(name, padded, axes, 0)
	n, c, m, k := parts.Dim(0), parts.Dim(1), parts.Dim(2), parts.Dim(3)
	return own(parts.Transpose(2, 3).Reshape(n, c*k, m))
}

// columns returns the positions of windows in a padded picture of a size, and the padded size.
func (u Unfold) columns(name string, size [2]int) (axes [][][]int, padded [2]int) {
	stride, dilation := array.Or(u.Stride, [2]int{1, 1}), array.Or(u.Dilation, [2]int{1, 1})
	g := poolGeometry{name: name, window: u.Window[:], stride: stride[:], pad: u.Padding[:], dilation: dilation[:]}.filled()
	for i, n := range size {
		padded[i] = n + 2*u.Padding[i]
		long := (g.window[i]-1)*g.dilation[i] + 1
		if long > padded[i] {
			array.Failf(name, "Window", "of %d elements does not fit in %d with padding %d", long, n, u.Padding[i])
		}
		var axis [][]int
		for from := 0; from+long <= padded[i]; from += stride[i] {
			var at []int
			for j := range u.Window[i] {
				at = append(at, from+j*dilation[i])
			}
			axis = append(axis, at)
		}
		axes = append(axes, axis)
	}
	return axes, padded
}

// Fold adds columns, as [Unfold] makes them, to pictures of a size: the col2im of a convolution.
type Fold struct {
	Size     [2]int  // of the result, vertical and horizontal
	Window   [2]int  // vertical, horizontal
	Stride   *[2]int // nil means 1
	Padding  [2]int  // as much less of the result on all sides
	Dilation *[2]int // nil means 1
}

// Forward maps [batch, channels*window, windows] to [batch, channels, Size[0], Size[1]]. It panics
// with *weft.Error if shapes do not fit or a number is out of range.
func (f Fold) Forward(x *weft.Tensor) *weft.Tensor { return Call(f, x, Fold.forward) }

func (f Fold) forward(x *weft.Tensor) *weft.Tensor {
	const name = "fold"
	defer array.Named(name).End()
	floats(name, "x", x)
	if min(f.Size[0], f.Size[1]) < 1 || max(f.Size[0], f.Size[1]) > 1<<31 {
		array.Failf(name, "Size", "is %v, want sizes above 0", f.Size)
	}
	array.CheckShape(name, f.Size[:], weft.Float64)
	u := Unfold{Window: f.Window, Stride: f.Stride, Padding: f.Padding, Dilation: f.Dilation}
	axes, padded := u.columns(name, f.Size)
	m, k := len(axes[0])*len(axes[1]), array.Size(f.Window[:])
	if x.Rank() != 3 || x.Dim(1)%k != 0 || x.Dim(2) != m {
		array.Failf(name, "x", "has shape %s, want [batch, channels*%d, %d]", array.ShapeString(sizes(x)), k, m)
	}
	n, c := x.Dim(0), x.Dim(1)/k
	dev := x.Device()
	array.CheckShape(name, []int{n, c, padded[0], padded[1]}, x.DType())
	empty := dev.ZerosOf(x.DType(), n, c, padded[0]*padded[1])
	_, places, _ := gathered(name, dev.ZerosOf(weft.Bool, padded[0], padded[1]), axes, 0)
	y := empty.IndexAdd(2, places.Reshape(m*k), x.Reshape(n, c, k, m).Transpose(2, 3).Reshape(n, c, m*k)).Reshape(n, c, padded[0], padded[1])
	if f.Padding == [2]int{} {
		return own(y)
	}
	return y.Slice(weft.All, weft.All, weft.Range(f.Padding[0], f.Padding[0]+f.Size[0]), weft.Range(f.Padding[1], f.Padding[1]+f.Size[1])).Clone()
}

// PixelShuffle moves channels into rows and columns (Shi et al., Real-time single image and video
// super-resolution using an efficient sub-pixel convolutional neural network, 2016).
type PixelShuffle struct {
	Factor int // how many times as high and wide the result is
}

// Forward maps [..., channels*Factor*Factor, h, w] to [..., channels, h*Factor, w*Factor].
func (p PixelShuffle) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, PixelShuffle.forward) }

func (p PixelShuffle) forward(x *weft.Tensor) *weft.Tensor {
	const name = "pixel_shuffle"
	defer array.Named(name).End()
	f, lead, s := pixels(name, x, p.Factor)
	if s[0]%(f*f) != 0 {
		array.Failf(name, "x", "has %d channels, which %d does not divide", s[0], f*f)
	}
	n, c, h, w := array.Size(lead), s[0]/(f*f), s[1], s[2]
	y := x.Reshape(n, c, f, f, h, w).Permute(0, 1, 4, 2, 5, 3)
	return own(y.Clone().Reshape(append(lead, c, h*f, w*f)...))
}

// PixelUnshuffle moves rows and columns into channels: the opposite of [PixelShuffle].
type PixelUnshuffle struct {
	Factor int // by which height and width are divided
}

// Forward maps [..., channels, h*Factor, w*Factor] to [..., channels*Factor*Factor, h, w].
func (p PixelUnshuffle) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(p, x, PixelUnshuffle.forward)
}

func (p PixelUnshuffle) forward(x *weft.Tensor) *weft.Tensor {
	const name = "pixel_unshuffle"
	defer array.Named(name).End()
	f, lead, s := pixels(name, x, p.Factor)
	if s[1]%f != 0 || s[2]%f != 0 {
		array.Failf(name, "x", "has %d rows and %d columns, which %d does not divide", s[1], s[2], f)
	}
	n, c, h, w := array.Size(lead), s[0], s[1]/f, s[2]/f
	y := x.Reshape(n, c, h, f, w, f).Permute(0, 1, 3, 5, 2, 4)
	return own(y.Clone().Reshape(append(lead, c*f*f, h, w)...))
}

// pixels checks pictures and a factor, and returns the axes before the last three, and these.
func pixels(name string, x *weft.Tensor, factor int) (f int, lead, last []int) {
	if x == nil || x.Rank() < 3 {
		array.Failf(name, "x", "is %s, want [... channels h w]", describe(x))
	}
	if factor < 1 || factor > 1<<15 {
		array.Failf(name, "Factor", "is %d, want 1 to %d", factor, 1<<15)
	}
	s := sizes(x)
	return factor, slices.Clone(s[:len(s)-3]), s[len(s)-3:]
}

// ChannelShuffle deals the channels of groups out, so that neighbours are of different groups
// (Zhang et al., ShuffleNet, 2018).
type ChannelShuffle struct {
	Groups int
}

// Forward keeps the shape [batch, channels, ...]. It panics with *weft.Error unless Groups divides
// the channels.
func (c ChannelShuffle) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(c, x, ChannelShuffle.forward)
}

func (c ChannelShuffle) forward(x *weft.Tensor) *weft.Tensor {
	const name = "channel_shuffle"
	defer array.Named(name).End()
	if x == nil || x.Rank() < 2 {
		array.Failf(name, "x", "is %s, want [batch channels ...]", describe(x))
	}
	s := sizes(x)
	if c.Groups < 1 || s[1]%c.Groups != 0 {
		array.Failf(name, "Groups", "is %d, which does not divide %d channels", c.Groups, s[1])
	}
	return own(x.Reshape(s[0], c.Groups, s[1]/c.Groups, array.Size(s[2:])).Transpose(1, 2).Clone().Reshape(slices.Clone(s)...))
}
