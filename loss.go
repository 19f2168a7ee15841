package weft

import (
	"weft/internal/core"
	"weft/internal/op"
)

// CrossEntropy is the mean over rows of the negative log-likelihood of integer
// targets [N] under the softmax of logits [N C]. It panics if a target is not in
// [0, C).
func CrossEntropy(logits, target *Tensor) *Tensor {
	logits.c().Check("cross_entropy")
	target.c().Check("cross_entropy")
	if logits.Rank() == 2 && target.Rank() == 1 && target.v().DType.Integer() {
		last := int64(logits.v().Shape[1]) - 1
		target = (*Tensor)(core.RangeCheck{Op: "cross_entropy", Arg: "target", Max: last, Text: "%d of row %d is not a class: want 0 to %d", Rows: true}.Of(target.c()))
	}
	return (*Tensor)(core.WithAttrs(op.CrossEntropy, nil, logits.c(), target.c()))
}
