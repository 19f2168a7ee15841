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

// toOne is average pooling to one number a channel, [batch, channels].
func toOne(x *weft.Tensor) *weft.Tensor {
	return nn.AdaptiveAvgPool2d{Size: [2]*int{new(1), new(1)}}.Forward(x).Flatten(1)
}

// pictures checks that x is [batch, channels, height, width].
func pictures(name string, x *weft.Tensor, channels int) {
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	if s := x.Shape(); len(s) != 4 || s[1] != channels || !x.DType().Float() {
		array.Failf(name, "x", "is %s, want floats [batch %d height width]", array.TypeString(x.DType(), s), channels)
	}
}
