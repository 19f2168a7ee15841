package models

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// VGGOpts are the options of VGG networks.
type VGGOpts struct {
	Classes   *int            // nil means 1000
	Channels  *int            // of the pictures; nil means 3
	Width     *int            // channels of the first stage, 64 if nil; the others have 2 to 8 times its number
	Hidden    *int            // width of the two hidden layers of the classifier; nil means 4096
	BatchNorm bool            // normalises after each convolution: torchvision's vgg16_bn and the like
	Dropout   *float64        // in the classifier; nil means 0.5
	Weight    nn.Init         // draws all matrices and filters; nil means as torchvision does
	Generator *weft.Generator // what they, and dropout, are drawn from; nil is the default generator
}

// VGG is 3x3 convolutions in five stages, each with a pooling behind it, and three linear layers
// (Simonyan and Zisserman, Very deep convolutional networks for large-scale image recognition, 2015),
// with torchvision's names. Pictures are 32x32 or larger.
type VGG struct {
	Layers     nn.Sequential `nn:"features"`
	Classifier nn.Sequential
}

// NewVGG11 returns configuration A: stages of 1, 1, 2, 2 and 2 convolutions.
func NewVGG11(opts ...VGGOpts) *VGG { return NewVGG([5]int{1, 1, 2, 2, 2}, opts...) }

// NewVGG13 returns configuration B: stages of 2, 2, 2, 2 and 2 convolutions.
func NewVGG13(opts ...VGGOpts) *VGG { return NewVGG([5]int{2, 2, 2, 2, 2}, opts...) }

// NewVGG16 returns configuration D: stages of 2, 2, 3, 3 and 3 convolutions.
func NewVGG16(opts ...VGGOpts) *VGG { return NewVGG([5]int{2, 2, 3, 3, 3}, opts...) }

// NewVGG19 returns configuration E: stages of 2, 2, 4, 4 and 4 convolutions.
func NewVGG19(opts ...VGGOpts) *VGG { return NewVGG([5]int{2, 2, 4, 4, 4}, opts...) }

// NewVGG returns a network with stages of these numbers of convolutions. It panics with *weft.Error if
// a number is below 1.
func NewVGG(stages [5]int, opts ...VGGOpts) *VGG {
	const name = "vgg"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	w, hidden := m.count("Width", o.Width, 64), m.count("Hidden", o.Hidden, 4096)
	in, classes := m.count("Channels", o.Channels, 3), m.count("Classes", o.Classes, 1000)
	drop := m.probability("Dropout", array.Or(o.Dropout, 0.5))
	if slices.Min(stages[:]) < 1 {
		array.Failf(name, "stages", "are %v, want 1 or more convolutions in each", stages)
	}
	v := &VGG{}
	for i, n := range stages {
		out := w << min(i, 3)
		for range n {
			c := m.opts(fanOut)
			c.Bias = nn.Constant(0)
			v.Layers = append(v.Layers, nn.NewConv2d(in, out, 3, nn.Conv2dOpts{Opts: c, Padding: 1}))
			if o.BatchNorm {
				v.Layers = append(v.Layers, nn.NewBatchNorm2d(out))
			}
			v.Layers = append(v.Layers, nn.Relu{})
			in = out
		}
		v.Layers = append(v.Layers, nn.MaxPool2d{Window: [2]int{2, 2}})
	}
	v.Classifier = nn.Sequential{
		m.narrow(in*49, hidden), nn.Relu{}, m.drop(drop),
		m.narrow(hidden, hidden), nn.Relu{}, m.drop(drop),
		m.narrow(hidden, classes),
	}
	return v
}

// Features maps [batch, channels, height, width] to what the classifier sees, [batch, features].
func (v *VGG) Features(x *weft.Tensor) *weft.Tensor {
	defer array.Named("vgg").End()
	whole("vgg", "NewVGG", v != nil)
	pictures("vgg", "NewVGG", x, firstConv(v.Layers))
	return toSize(v.Layers.Forward(x), 7).Flatten(1)
}

// Forward maps [batch, channels, height, width] to scores [batch, classes].
func (v *VGG) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(v, x, (*VGG).forward) }

func (v *VGG) forward(x *weft.Tensor) *weft.Tensor {
	x = v.Features(x)
	return v.Classifier.Forward(x)
}
