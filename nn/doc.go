// Package nn has what networks are made of: layers, losses and initialisers, and
// the functions that treat any struct as a module.
//
// # Modules
//
// A module is any value; there is no base type and nothing is registered. Its
// parameters are the tensors marked with [Param] that are reachable through
// exported fields, pointers, interfaces, slices, arrays and maps, in the order of
// fields, indices and sorted keys. A parameter in an unexported field would never be
// trained; it is reported. Caches there are the module's own affair. Tensors that are not
// marked are [Buffers].
//
// # Goroutines
//
// Several goroutines may compute with one layer at once: Forward reads parameters. They must not
// while another goroutine writes parameters or buffers: an optimizer step, the loading of a state,
// or Forward of a batch normalisation in training, which writes running statistics. Compiled
// functions wait for one another where that is so (see weft.Compiled).
//
// # Names
//
// The name of a parameter is its path in the case of PyTorch's names: "conv1.weight" is
// the Weight in the field Conv1, "layers.0.running_mean" the RunningMean of the first of
// Layers. So a state dict of PyTorch loads as it is, and a state that is saved here loads
// there, where fields are named as the attributes there; a tag `nn:"name"` names one
// otherwise, and `nn:""` leaves it out of the path. A tensor that several paths lead to
// is one parameter, under the first of its names.
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
// # Options
//
// The last argument of a function that makes a layer is its options; without them it is the
// layer of PyTorch. A field whose default is not 0 is a pointer, and nil stands for the
// default: nn.Conv2dOpts{Stride: new(2)}. Fields of the layers that such functions make hold
// the numbers themselves.
//
// # Shapes
//
// As in PyTorch: a batch is the first axis, matrices of weights are [out, in], filters
// [out, in, height, width] and pictures [batch, channels, height, width].
package nn
