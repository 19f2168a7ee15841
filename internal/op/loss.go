package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// CrossEntropy is the loss of a classification.
var CrossEntropy *Def

func init() {
	CrossEntropy = define(Def{Name: "cross_entropy", Class: Composite, Arity: 2, ONNX: "SoftmaxCrossEntropyLoss",
		Doc: "The mean over rows of logsumexp(row) - row[target]: the negative log-likelihood of integer targets under softmax of the logits [N C].",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			l, hit := crossEntropyParts(x[0], x[1])
			// The greatest logit is taken off first, from the target's too: added back
			// at the end it would take the digits of the loss with it.
			d := sub(l, withKeep(Max, l, []int{1}))
			picked := withKeep(Sum, where(hit, d, num(d, 0)), []int{1})
			lse := apply(Log, withKeep(Sum, apply(Exp, d), []int{1}))
			return Apply(Mean, nil, sub(lse, picked))
		}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				l, hit := crossEntropyParts(v.X[0], v.X[1])
				n := float64(max(l.Shape[0], 1))
				e := apply(Exp, sub(l, withKeep(Max, l, []int{1})))
				p := div(e, withKeep(Sum, e, []int{1}))
				one := where(hit, num(p, 1), num(p, 0))
				return mul(sub(p, one), div(reshape(v.DY, []int{1, 1}), num(p, n)))
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{6, 5}, {6}}, DTypes: []array.DType{array.Float64, array.Int64}, Max: 5}}}})
}

// crossEntropyParts are the logits and where a class is the target.
func crossEntropyParts(l, target *node) (logits, hit *node) {
	if len(l.Shape) != 2 {
		array.Failf("cross_entropy", "logits", "have shape %s, want [N C]: a row of scores of C classes for each example", array.ShapeString(l.Shape))
	}
	if !l.DType.Float() {
		array.Failf("cross_entropy", "logits", "have elements of type %s, want floats", l.DType)
	}
	if target.DType.Category() != array.CatInt {
		array.Failf("cross_entropy", "target", "has elements of type %s, want integers: the class of each row", target.DType)
	}
	if len(target.Shape) != 1 || target.Shape[0] != l.Shape[0] {
		array.Failf("cross_entropy", "target", "has shape %s, want [%d]: the class of each row of the logits", array.ShapeString(target.Shape), l.Shape[0])
	}
	t := reshape(Convert(target, array.Int64), []int{l.Shape[0], 1})
	return l, apply(Eq, Apply(Iota, Axis(1), l), t)
}
