package weft

import (
	"weft/internal/array"
	"weft/internal/op"
)

// CrossEntropy is the mean over rows of the negative log-likelihood of integer
// targets [N] under the softmax of logits [N C]. It panics if a target is not in
// [0, C).
func CrossEntropy(logits, target *Tensor) *Tensor {
	logits.check("cross_entropy")
	target.check("cross_entropy")
	if logits.Rank() == 2 && target.Rank() == 1 && target.v.DType.Integer() {
		c, v := int64(logits.v.Shape[1]), toHost(target)
		for i := range target.v.Shape[0] {
			if x := intElement(&v, v.Offset+i*v.Strides[0]); x < 0 || x >= c {
				array.Failf("cross_entropy", "target", "%d of row %d is no class: want 0 to %d", x, i, c-1)
			}
		}
		keepAlive(target)
	}
	return withAttrs(op.CrossEntropy, nil, logits, target)
}
