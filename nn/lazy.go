package nn

import (
	"fmt"
	"reflect"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Lazy is a layer that its first Forward makes, where sizes are easier computed than written. It is
// torch.nn.LazyLinear and the like:
//
//	net := nn.Sequential{
//		nn.NewConv2d(3, 8, 5), nn.Relu{}, nn.Flatten{},
//		&nn.Lazy{Make: func(x *weft.Tensor) nn.Layer { return nn.NewLinear(x.Dim(1), 10) }},
//	}
//	net.Forward(weft.Zeros(1, 3, 32, 32)) // before Params, optimizers, LoadState and compiled functions
//
// The layer is made on the device of x. [State] has the names of the layer itself. Until it is made,
// [Params], [State] and what asks for them panic with *weft.Error, and so does a Forward in a compiled
// function. Goroutines must not share the first Forward.
type Lazy struct {
	Layer Layer                      `nn:""` // nil before the first Forward
	Make  func(x *weft.Tensor) Layer // returns the layer for arguments like x; it reads the sizes of x alone

	eval bool
}

var lazyType = reflect.TypeFor[Lazy]()

// Forward is the layer's.
func (l *Lazy) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, (*Lazy).forward) }

func (l *Lazy) forward(x *weft.Tensor) *weft.Tensor {
	l.notNil()
	if l.Layer == nil {
		l.Layer = l.made(x)
	}
	return l.Layer.Forward(x)
}

func (l *Lazy) made(x *weft.Tensor) Layer {
	const name = "lazy"
	defer array.Named(name).End()
	if l.Make == nil {
		array.Failf(name, "Make", "is nil: want a function that makes a layer for x")
	}
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	if core.TracingHere() != nil {
		array.Failf(name, "Layer", "is not made yet: call Forward once outside of compiled functions, Vmap and Summary")
	}
	layer := l.Make(x)
	if layer == nil {
		array.Failf(name, "Make", "returned nil for x of shape %s", array.ShapeString(sizes(x)))
	}
	layer = On(layer, x.Device())
	if l.eval {
		Eval(layer)
	}
	return layer
}

// SetTraining implements [Trainer], also for the layer that is not made yet.
func (l *Lazy) SetTraining(on bool) {
	l.notNil()
	l.eval = !on
}

func (l *Lazy) notNil() {
	if l == nil {
		array.Failf("lazy", "", "the layer is nil")
	}
}

// refuseUnmade panics where a value is a [Lazy] without its layer.
func refuseUnmade(path string, v reflect.Value) {
	if v.Type() == lazyType && v.Field(0).IsNil() {
		if path == "" {
			path = "the module"
		}
		array.Failf("params", "m", "%s is a Lazy layer that is not made yet: call the module's Forward once before its parameters are asked for", path)
	}
}

// String returns the type of the layer, once it is made.
func (l *Lazy) String() string {
	if l.Layer == nil {
		return "nn.Lazy(not made)"
	}
	return array.Describe("nn.Lazy", "Layer", fmt.Sprintf("%T", l.Layer))
}
