package models

import (
	"weft"
	"weft/internal/array"
	"weft/nn"
)

// AlexNetOpts are the options of [NewAlexNet].
type AlexNetOpts struct {
	Classes   *int            // nil means 1000
	Channels  *int            // of the pictures; nil means 3
	Width     *int            // channels of the first convolution, 64 if nil; the others have 3 to 6 times its number
	Hidden    *int            // width of the two hidden layers of the classifier; nil means 4096
	Dropout   *float64        // in the classifier; nil means 0.5
	Weight    nn.Init         // draws all matrices and filters; nil means as torchvision does
	Generator *weft.Generator // what they, and dropout, are drawn from; nil is the default generator
}

// AlexNet is five convolutions and three linear layers (Krizhevsky, One weird trick for parallelizing
// convolutional neural networks, 2014), with torchvision's names. Pictures are 63x63 or larger.
type AlexNet struct {
	Layers     nn.Sequential `nn:"features"`
	Classifier nn.Sequential
}

// NewAlexNet returns a network. It panics with *weft.Error if a number is below 1.
func NewAlexNet(opts ...AlexNetOpts) *AlexNet {
	const name = "alexnet"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	w, hidden := m.count("Width", o.Width, 64), m.count("Hidden", o.Hidden, 4096)
	channels, classes := m.count("Channels", o.Channels, 3), m.count("Classes", o.Classes, 1000)
	drop := m.probability("Dropout", array.Or(o.Dropout, 0.5))
	conv := func(in, out, size, stride, padding int) *nn.Conv2d {
		return nn.NewConv2d(in, out, size, nn.Conv2dOpts{Opts: m.opts(nil), Stride: &stride, Padding: padding})
	}
	pool := nn.MaxPool2d{Window: [2]int{3, 3}, Stride: &[2]int{2, 2}}
	return &AlexNet{
		Layers: nn.Sequential{
			conv(channels, w, 11, 4, 2), nn.Relu{}, pool,
			conv(w, 3*w, 5, 1, 2), nn.Relu{}, pool,
			conv(3*w, 6*w, 3, 1, 1), nn.Relu{},
			conv(6*w, 4*w, 3, 1, 1), nn.Relu{},
			conv(4*w, 4*w, 3, 1, 1), nn.Relu{}, pool,
		},
		Classifier: nn.Sequential{
			m.drop(drop), m.linear(4*w*36, hidden), nn.Relu{},
			m.drop(drop), m.linear(hidden, hidden), nn.Relu{},
			m.linear(hidden, classes),
		},
	}
}

// Features maps [batch, channels, height, width] to what the classifier sees, [batch, features].
func (n *AlexNet) Features(x *weft.Tensor) *weft.Tensor {
	defer array.Named("alexnet").End()
	whole("alexnet", "NewAlexNet", n != nil)
	pictures("alexnet", "NewAlexNet", x, firstConv(n.Layers))
	return toSize(n.Layers.Forward(x), 6).Flatten(1)
}

// Forward maps [batch, channels, height, width] to scores [batch, classes].
func (n *AlexNet) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(n, x, (*AlexNet).forward) }

func (n *AlexNet) forward(x *weft.Tensor) *weft.Tensor {
	x = n.Features(x)
	return n.Classifier.Forward(x)
}
