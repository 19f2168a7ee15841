package models

import (
	"weft"
	"weft/internal/array"
	"weft/nn"
)

// A maker draws the weights of a model.
type maker struct {
	name string          // of the model, in errors
	init nn.Init         // of all weights; nil means that each layer has its own
	g    *weft.Generator // nil is the default generator
}

// opts are the options of a layer whose weights the publication draws by init, nil for the default.
func (m maker) opts(init nn.Init) nn.Opts {
	if m.init != nil {
		init = m.init
	}
	return nn.Opts{Weight: init, Generator: m.g}
}

// count returns an option that counts something, at least 1.
func (m maker) count(option string, n *int, def int) int {
	k := array.Or(n, def)
	if k < 1 {
		array.Failf(m.name, option, "is %d, want 1 or more", k)
	}
	return k
}

// fanOut keeps the variance of gradients through relu, as torchvision draws convolutions.
var fanOut = nn.Kaiming(nn.KaimingOpts{FanOut: true})

// conv is a convolution without a bias that keeps the size of pictures but for the stride.
func (m maker) conv(in, out, size, stride, groups int) *nn.Conv2d {
	o := m.opts(fanOut)
	o.NoBias = true
	return nn.NewConv2d(in, out, size, nn.Conv2dOpts{Opts: o, Stride: &stride, Padding: size / 2, Groups: &groups})
}

// linear is a linear layer whose weights are drawn as PyTorch does by itself.
func (m maker) linear(in, out int) *nn.Linear { return nn.NewLinear(in, out, m.opts(nil)) }

// narrow is a linear layer with weights of deviation 0.01 and no bias in the beginning.
func (m maker) narrow(in, out int) *nn.Linear {
	o := m.opts(nn.Normal(0, 0.01))
	o.Bias = nn.Constant(0)
	return nn.NewLinear(in, out, o)
}

// probability returns p, an option, if it is a probability.
func (m maker) probability(option string, p float64) float64 {
	if !(p >= 0 && p <= 1) {
		array.Failf(m.name, option, "%v is not a probability: want 0 to 1", p)
	}
	return p
}

// dropout is a dropout by the option Dropout. It panics with *weft.Error if that is not a probability.
func (m maker) dropout(p *float64, def float64) *nn.Dropout { return m.dropoutOf("Dropout", p, def) }

// dropoutOf is [maker.dropout] by an option of that name.
func (m maker) dropoutOf(option string, p *float64, def float64) *nn.Dropout {
	return m.drop(m.probability(option, array.Or(p, def)))
}

// drop is a dropout with a probability.
func (m maker) drop(p float64) *nn.Dropout { return &nn.Dropout{P: p, Generator: m.g} }

// toSize pools pictures to n rows and columns of means.
func toSize(x *weft.Tensor, n int) *weft.Tensor {
	return nn.AdaptiveAvgPool2d{Size: [2]*int{&n, &n}}.Forward(x)
}

// toOne pools pictures to one number a channel, [batch, channels].
func toOne(x *weft.Tensor) *weft.Tensor { return toSize(x, 1).Flatten(1) }

// whole reports an error unless a model, or a part of one, has what a function made.
func whole(name, maker string, ok bool) {
	if !ok {
		array.Failf(name, "", "the model lacks layers: %s makes one", maker)
	}
}

// rowsOf returns the number of rows of an embedding, 0 if it has none.
func rowsOf(e *nn.Embedding) int {
	if e == nil || e.Weight == nil || e.Weight.Rank() != 2 {
		return 0
	}
	return e.Weight.Dim(0)
}

// firstConv returns the convolution that layers begin with, nil if they do not begin with one.
func firstConv(layers nn.Sequential) *nn.Conv2d {
	if len(layers) == 0 {
		return nil
	}
	switch l := layers[0].(type) {
	case *nn.Conv2d:
		return l
	case nn.Sequential:
		return firstConv(l)
	}
	return nil
}

// pictures checks that x is [batch, channels, height, width] with the channels of a convolution, which
// a function made.
func pictures(name, maker string, x *weft.Tensor, first *nn.Conv2d) {
	whole(name, maker, first != nil && first.Weight != nil && first.Weight.Rank() == 4)
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	channels := first.Weight.Dim(1) * first.Groups
	if s := x.Shape(); len(s) != 4 || s[1] != channels || !x.DType().Float() {
		array.Failf(name, "x", "is %s, want floats [batch %d height width]", array.TypeString(x.DType(), s), channels)
	}
}

// called is f(in) as a call of a layer: hooks, nn.Summary and the paths in errors know it.
func called(layer any, in []*weft.Tensor, f func(in []*weft.Tensor) *weft.Tensor) *weft.Tensor {
	return nn.CallAll(layer, in, func(in []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(in)} })[0]
}
