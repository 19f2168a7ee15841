package models

import (
	"weft"
	"weft/internal/array"
	"weft/nn"
)

// UNetOpts are the options of [NewUNet].
type UNetOpts struct {
	Classes   *int            // nil means 2
	Channels  *int            // of the pictures; nil means 3
	Width     *int            // channels of the first level; each level has twice the last one's; nil means 64
	Bilinear  bool            // enlarges by interpolation, not by transposed convolutions
	Weight    nn.Init         // draws all filters; nil means as PyTorch does by itself
	Generator *weft.Generator // what they are drawn from; nil is the default generator
}

// UNet labels each pixel of pictures: four levels down to a sixteenth of the height and width and up
// again, where each level sees what the same level saw on the way down (Ronneberger et al., U-Net,
// 2015). As in the usual version for PyTorch, whose names it has (milesial/Pytorch-UNet), convolutions
// are padded and normalised.
type UNet struct {
	Inc                        *DoubleConv
	Down1, Down2, Down3, Down4 *UNetDown
	Up1, Up2, Up3, Up4         *UNetUp
	Outc                       *UNetOut
}

// DoubleConv is two 3x3 convolutions with a normalisation and relu behind each.
type DoubleConv struct {
	Layers nn.Sequential `nn:"double_conv"`
}

// UNetDown is a pooling to half the height and width and a [DoubleConv].
type UNetDown struct {
	Layers nn.Sequential `nn:"maxpool_conv"`
}

// UNetUp enlarges its input to twice the height and width, puts what the way down had behind it, and
// is a [DoubleConv] of both.
type UNetUp struct {
	Up   nn.Layer
	Conv *DoubleConv
}

// UNetOut is a 1x1 convolution to classes.
type UNetOut struct{ Conv *nn.Conv2d }

// NewUNet returns a network. It panics with *weft.Error if a number is below 1.
func NewUNet(opts ...UNetOpts) *UNet {
	const name = "unet"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	w := m.count("Width", o.Width, 64)
	down := func(in, out int) *UNetDown {
		return &UNetDown{nn.Sequential{nn.MaxPool2d{Window: [2]int{2, 2}}, m.doubleConv(in, out, out)}}
	}
	up := func(in, out int) *UNetUp {
		if o.Bilinear {
			return &UNetUp{nn.Upsample{Scale: new(2.0), Bilinear: true, AlignCorners: true}, m.doubleConv(in, in/2, out)}
		}
		larger := nn.NewConvTranspose2d(in, in/2, 2, nn.ConvTranspose2dOpts{Opts: m.opts(nil), Stride: new(2)})
		return &UNetUp{larger, m.doubleConv(in, out, out)}
	}
	last := 1
	if o.Bilinear {
		last = 2
		if w%2 != 0 {
			array.Failf(name, "Width", "is %d, want an even number with Bilinear", w)
		}
	}
	channels, classes := m.count("Channels", o.Channels, 3), m.count("Classes", o.Classes, 2)
	return &UNet{
		Inc:   m.doubleConv(channels, w, w),
		Down1: down(w, 2*w), Down2: down(2*w, 4*w), Down3: down(4*w, 8*w), Down4: down(8*w, 16*w/last),
		Up1: up(16*w, 8*w/last), Up2: up(8*w, 4*w/last), Up3: up(4*w, 2*w/last), Up4: up(2*w, w),
		Outc: &UNetOut{nn.NewConv2d(w, classes, 1, nn.Conv2dOpts{Opts: m.opts(nil)})},
	}
}

func (m maker) doubleConv(in, inner, out int) *DoubleConv {
	conv := func(in, out int) *nn.Conv2d {
		o := m.opts(nil)
		o.NoBias = true
		return nn.NewConv2d(in, out, 3, nn.Conv2dOpts{Opts: o, Padding: 1})
	}
	return &DoubleConv{nn.Sequential{
		conv(in, inner), nn.NewBatchNorm2d(inner), nn.Relu{},
		conv(inner, out), nn.NewBatchNorm2d(out), nn.Relu{},
	}}
}

// Forward maps [batch, in, h, w] to [batch, out, h, w].
func (l *DoubleConv) Forward(x *weft.Tensor) *weft.Tensor {
	return nn.Call(l, x, (*DoubleConv).forward)
}

func (l *DoubleConv) forward(x *weft.Tensor) *weft.Tensor {
	whole("unet", "NewUNet", l != nil)
	return l.Layers.Forward(x)
}

// Forward maps [batch, in, h, w] to [batch, out, h/2, w/2].
func (l *UNetDown) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(l, x, (*UNetDown).forward) }

func (l *UNetDown) forward(x *weft.Tensor) *weft.Tensor {
	whole("unet", "NewUNet", l != nil)
	return l.Layers.Forward(x)
}

// Forward maps x, [batch, 2*in, h/2, w/2], and what the way down had, [batch, in, h, w], to [batch, out, h, w].
func (l *UNetUp) Forward(x, beside *weft.Tensor) *weft.Tensor {
	return called(l, []*weft.Tensor{x, beside}, func(in []*weft.Tensor) *weft.Tensor { return l.forward(in[0], in[1]) })
}

func (l *UNetUp) forward(x, beside *weft.Tensor) *weft.Tensor {
	whole("unet", "NewUNet", l != nil && l.Up != nil)
	if beside == nil || beside.Rank() != 4 {
		array.Failf("unet", "beside", "is not [batch channels height width]")
	}
	x = l.Up.Forward(x)
	if dy, dx := beside.Dim(2)-x.Dim(2), beside.Dim(3)-x.Dim(3); dy != 0 || dx != 0 {
		x = nn.Pad{Pads: []int{dx / 2, dx - dx/2, dy / 2, dy - dy/2}}.Forward(x)
	}
	return l.Conv.Forward(weft.Cat([]*weft.Tensor{beside, x}, 1))
}

// Levels maps [batch, channels, height, width] to what the five levels see on the way down, each of
// half the height and width of the one before. It panics with *weft.Error if pictures have fewer than
// 16 rows or columns.
func (u *UNet) Levels(x *weft.Tensor) []*weft.Tensor {
	const name = "unet"
	defer array.Named(name).End()
	whole(name, "NewUNet", u != nil && u.Inc != nil)
	pictures(name, "NewUNet", x, firstConv(u.Inc.Layers))
	if x.Dim(2) < 16 || x.Dim(3) < 16 {
		array.Failf(name, "x", "has shape %s, want 16 rows and columns or more", array.ShapeString(x.Shape()))
	}
	out := []*weft.Tensor{u.Inc.Forward(x)}
	for i, d := range []*UNetDown{u.Down1, u.Down2, u.Down3, u.Down4} {
		out = append(out, d.Forward(out[i]))
	}
	return out
}

// Forward maps [batch, channels, height, width] to scores of classes of each pixel, [batch, classes,
// height, width].
func (u *UNet) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(u, x, (*UNet).forward) }

func (u *UNet) forward(x *weft.Tensor) *weft.Tensor {
	levels := u.Levels(x)
	x = levels[4]
	for i, up := range []*UNetUp{u.Up1, u.Up2, u.Up3, u.Up4} {
		x = up.Forward(x, levels[3-i])
	}
	whole("unet", "NewUNet", u.Outc != nil)
	return u.Outc.Conv.Forward(x)
}
