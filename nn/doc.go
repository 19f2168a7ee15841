// Package nn has what networks are made of: layers, losses and initialisers, and
// the functions that treat any struct as a module.
//
// # Modules
//
// A module is any value; there is no base type and nothing is registered. Its
// parameters are the tensors marked with [Param] that are reachable through
// exported fields, pointers, interfaces, slices, arrays and maps, in the order of
// fields, indices and sorted keys. A parameter in an unexported field would never be
// trained; it is reported. Caches there are the module's own affair. The name of a parameter is its path, such as
// "Conv.Weight" or "Layers.0.W". A tensor that several paths lead to is one
// parameter, under the first of its names. Tensors that are not marked are
// [Buffers].
//
//	type Net struct {
//		Conv *nn.Conv2d
//		FC   *nn.Linear
//	}
//
//	func (n *Net) Forward(x *weft.Tensor) *weft.Tensor {
//		return n.FC.Forward(n.Conv.Forward(x).Relu().Flatten(1))
//	}
//
// [State] and [LoadState] take the tensors of a module out and put them back,
// [Train] and [Eval] switch layers, such as [Dropout], that behave differently in
// training.
//
// # Shapes
//
// A batch is the first axis. Matrices of weights are [in, out], so that a layer
// is x.MatMul(W); filters are [out, in, height, width] and pictures [batch,
// channels, height, width], as in PyTorch.
package nn
