// Package core is the engine behind package weft: what a tensor is and everything that computes on
// it. Package weft is its face, with the methods and documents that users see.
//
// The way of an operation, such as x.Tanh():
//
//   - [Apply] looks for the planned operation of these types, shapes and strides ([Lookup]), or
//     plans it once;
//   - inside a trace it becomes a node of the graph ([Trace]), on a lazy tensor it waits; else its
//     kernels run ([Planned.Compute]);
//   - if an operand needs a gradient, a [GradNode] is put on the tape, which [Walk] goes back over.
//
// A *weft.Tensor converts to a *Tensor and back. [AsOperand], [Inner] and [Outer] do it for
// arguments of any type and for slices. What packages beside the face need stands in packages.go.
package core
