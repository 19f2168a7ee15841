package models

import (
	"weft"
	"weft/internal/array"
	"weft/nn"
)

// MobileNetOpts are the options of [NewMobileNetV1] and [NewMobileNetV2].
type MobileNetOpts struct {
	Classes  *int     // nil means 1000, and 1001 of MobileNetV1, whose first class is the background
	Channels *int     // of the pictures; nil means 3
	Width    *float64 // a factor of all channels, above 0; nil means 1
	// Dropout is that before the last layer; nil means 0.2, and 0.001 of MobileNetV1.
	Dropout   *float64
	Weight    nn.Init         // draws all matrices and filters; nil means as torchvision and transformers do
	Generator *weft.Generator // what they, and dropout, are drawn from; nil is the default generator
}

// width returns the factor of channels.
func (o *MobileNetOpts) width(name string) float64 {
	w := array.Or(o.Width, 1)
	if !(w > 0 && w < 1<<16) {
		array.Failf(name, "Width", "is %v, want a number above 0", w)
	}
	return w
}

// MobileNetV1 is depthwise convolutions of 3x3, each with a 1x1 convolution behind it (Howard et al.,
// MobileNets, 2017), with transformers' names. As in TensorFlow, where it was trained, convolutions of
// stride 2 pad pictures of an even size at the end alone.
type MobileNetV1 struct {
	Stem       *MobileNetLayer   `nn:"mobilenet_v1.conv_stem"`
	Layers     []*MobileNetLayer `nn:"mobilenet_v1.layer"`
	Dropout    *nn.Dropout
	Classifier *nn.Linear
}

// MobileNetLayer is a convolution, a normalisation and relu6.
type MobileNetLayer struct {
	Convolution   *nn.Conv2d
	Normalization *nn.BatchNorm2d
}

// NewMobileNetV1 returns a network of 27 convolutions with at least 8 channels each. It panics with
// *weft.Error if a number is out of range.
func NewMobileNetV1(opts ...MobileNetOpts) *MobileNetV1 {
	const name = "mobilenet_v1"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	width, drop := o.width(name), m.probability("Dropout", array.Or(o.Dropout, 0.001))
	channels, classes := m.count("Channels", o.Channels, 3), m.count("Classes", o.Classes, 1001)
	layer := func(in, out, size, stride, groups int) *MobileNetLayer {
		c := m.conv(in, out, size, stride, groups)
		c.Padding = [2]int{}
		return &MobileNetLayer{c, nn.NewBatchNorm2d(out, nn.BatchNormOpts{Eps: new(1e-3)})}
	}
	depth := 32
	scaled := func() int { return max(int(float64(depth)*width), 8) }
	in := scaled()
	net := &MobileNetV1{Stem: layer(channels, in, 3, 2, 1)}
	for i, stride := range []int{1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1} {
		if stride == 2 || i == 0 {
			depth *= 2
		}
		net.Layers = append(net.Layers, layer(in, in, 3, stride, in), layer(in, scaled(), 1, 1, 1))
		in = scaled()
	}
	net.Dropout, net.Classifier = m.drop(drop), m.linear(in, classes)
	return net
}

// Forward maps [batch, in, h, w] to [batch, out, h/stride, w/stride], rounded up.
func (l *MobileNetLayer) Forward(x *weft.Tensor) *weft.Tensor {
	return nn.Call(l, x, (*MobileNetLayer).forward)
}

func (l *MobileNetLayer) forward(x *weft.Tensor) *weft.Tensor {
	whole("mobilenet_v1", "NewMobileNetV1", l != nil && l.Convolution != nil && l.Convolution.Weight != nil && l.Convolution.Weight.Rank() == 4)
	c := *l.Convolution
	if x == nil || x.Rank() != 4 {
		array.Failf("mobilenet_v1", "x", "is not [batch channels height width]")
	}
	if size := c.Weight.Dim(2); size > 1 {
		var pads [2]int
		for i := range pads {
			pads[i] = max(size-c.Stride[i], 0)
			if rest := x.Dim(2+i) % c.Stride[i]; rest != 0 {
				pads[i] = max(size-rest, 0)
			}
		}
		if pads[0]%2 == 0 && pads[1]%2 == 0 {
			c.Padding = [2]int{pads[0] / 2, pads[1] / 2}
		} else {
			x = nn.Pad{Pads: []int{pads[1] / 2, pads[1] - pads[1]/2, pads[0] / 2, pads[0] - pads[0]/2}}.Forward(x)
		}
	}
	x = nn.Call(l.Convolution, x, func(_ *nn.Conv2d, x *weft.Tensor) *weft.Tensor {
		return x.Conv2d(c.Weight, c.Bias, weft.ConvOpts{Stride: &c.Stride, Padding: c.Padding, Dilation: &c.Dilation, Groups: &c.Groups})
	})
	return nn.Relu6{}.Forward(l.Normalization.Forward(x))
}

// Features maps [batch, channels, height, width] to what the last layer sees, [batch, features].
func (n *MobileNetV1) Features(x *weft.Tensor) *weft.Tensor {
	defer array.Named("mobilenet_v1").End()
	whole("mobilenet_v1", "NewMobileNetV1", n != nil && n.Stem != nil)
	pictures("mobilenet_v1", "NewMobileNetV1", x, n.Stem.Convolution)
	x = n.Stem.Forward(x)
	for _, l := range n.Layers {
		x = l.Forward(x)
	}
	return toOne(x)
}

// Forward maps [batch, channels, height, width] to scores [batch, classes].
func (n *MobileNetV1) Forward(x *weft.Tensor) *weft.Tensor {
	return nn.Call(n, x, (*MobileNetV1).forward)
}

func (n *MobileNetV1) forward(x *weft.Tensor) *weft.Tensor {
	x = n.Features(x)
	return n.Classifier.Forward(n.Dropout.Forward(x))
}

// MobileNetV2 is inverted residuals, which are narrow between blocks and wide in their depthwise
// convolutions (Sandler et al., MobileNetV2, 2018), with torchvision's names.
type MobileNetV2 struct {
	Layers     nn.Sequential `nn:"features"`
	Classifier nn.Sequential
}

// InvertedResidual adds convolutions to its input where that has the shape of the result: of 1x1 to
// more channels, of 3x3 in each channel, and of 1x1 to fewer.
type InvertedResidual struct {
	Conv nn.Sequential

	add bool
}

// NewMobileNetV2 returns a network of 17 blocks whose channels are multiples of 8. It panics with
// *weft.Error if a number is out of range.
func NewMobileNetV2(opts ...MobileNetOpts) *MobileNetV2 {
	const name = "mobilenet_v2"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	width, drop := o.width(name), m.probability("Dropout", array.Or(o.Dropout, 0.2))
	channels, classes := m.count("Channels", o.Channels, 3), m.count("Classes", o.Classes, 1000)
	in := divisible(32 * width)
	net := &MobileNetV2{Layers: nn.Sequential{m.convNormRelu6(channels, in, 3, 2, 1)}}
	for _, s := range []struct{ expand, channels, blocks, stride int }{
		{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
	} {
		out := divisible(float64(s.channels) * width)
		for i := range s.blocks {
			stride := 1
			if i == 0 {
				stride = s.stride
			}
			net.Layers = append(net.Layers, m.invertedResidual(in, out, stride, s.expand))
			in = out
		}
	}
	last := divisible(1280 * max(width, 1))
	net.Layers = append(net.Layers, m.convNormRelu6(in, last, 1, 1, 1))
	net.Classifier = nn.Sequential{m.drop(drop), m.narrow(last, classes)}
	return net
}

// divisible returns the multiple of 8 nearest to x, but at least 8 and nine tenths of x.
func divisible(x float64) int {
	n := max(int(x+4)/8*8, 8)
	if float64(n) < 0.9*x {
		n += 8
	}
	return n
}

func (m maker) convNormRelu6(in, out, size, stride, groups int) nn.Sequential {
	return nn.Sequential{m.conv(in, out, size, stride, groups), nn.NewBatchNorm2d(out), nn.Relu6{}}
}

func (m maker) invertedResidual(in, out, stride, expand int) *InvertedResidual {
	inner, b := in*expand, &InvertedResidual{add: stride == 1 && in == out}
	if expand != 1 {
		b.Conv = append(b.Conv, m.convNormRelu6(in, inner, 1, 1, 1))
	}
	b.Conv = append(b.Conv, m.convNormRelu6(inner, inner, 3, stride, inner), m.conv(inner, out, 1, 1, 1), nn.NewBatchNorm2d(out))
	return b
}

// Forward maps [batch, in, h, w] to [batch, out, h/stride, w/stride].
func (b *InvertedResidual) Forward(x *weft.Tensor) *weft.Tensor {
	return nn.Call(b, x, (*InvertedResidual).forward)
}

func (b *InvertedResidual) forward(x *weft.Tensor) *weft.Tensor {
	whole("mobilenet_v2", "NewMobileNetV2", b != nil)
	y := b.Conv.Forward(x)
	if b.add {
		return x.Add(y)
	}
	return y
}

// Features maps [batch, channels, height, width] to what the last layer sees, [batch, features].
func (n *MobileNetV2) Features(x *weft.Tensor) *weft.Tensor {
	defer array.Named("mobilenet_v2").End()
	whole("mobilenet_v2", "NewMobileNetV2", n != nil)
	pictures("mobilenet_v2", "NewMobileNetV2", x, firstConv(n.Layers))
	return toOne(n.Layers.Forward(x))
}

// Forward maps [batch, channels, height, width] to scores [batch, classes].
func (n *MobileNetV2) Forward(x *weft.Tensor) *weft.Tensor {
	return nn.Call(n, x, (*MobileNetV2).forward)
}

func (n *MobileNetV2) forward(x *weft.Tensor) *weft.Tensor {
	x = n.Features(x)
	return n.Classifier.Forward(x)
}
