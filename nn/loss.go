package nn

import (
	"weft"
	"weft/internal/array"
)

// CrossEntropy is the mean over the rows of logits [batch, classes] of the
// negative log-likelihood of the target classes [batch], integers from 0 to
// classes-1, under the softmax of the row. It panics with *weft.Error if shapes
// do not match or a target is no class.
func CrossEntropy(logits, target *weft.Tensor) *weft.Tensor { return weft.CrossEntropy(logits, target) }

// MSE is the mean of the squared differences of two tensors of the same shape. It
// panics with *weft.Error if the shapes differ: broadcasting a target is
// mostly a mistake.
func MSE(x, target *weft.Tensor) *weft.Tensor {
	switch {
	case x == nil:
		array.Failf("mse", "x", "is nil")
	case target == nil:
		array.Failf("mse", "target", "is nil")
	case !array.Equal(x.Shape(), target.Shape()):
		array.Failf("mse", "target", "has shape %s, the prediction %s", array.ShapeString(target.Shape()), array.ShapeString(x.Shape()))
	}
	return x.Sub(target).Square().Mean()
}
