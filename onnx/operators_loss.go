package onnx

import "weft/nn"

// Losses.
var lossOperators = []operator{
	{name: "NegativeLogLikelihoodLoss", run: negativeLogLikelihood},
	{name: "SoftmaxCrossEntropyLoss", run: softmaxCrossEntropy},
}

// lossOptions are the attributes and the weights of a loss of classes.
func (c *call) lossOptions() nn.CrossEntropyOpts {
	o := nn.CrossEntropyOpts{Weight: c.optional(2)}
	if ignored := c.attrInt("ignore_index", 0); c.given("ignore_index") {
		o.IgnoreIndex = &ignored
	}
	switch r := c.attrString("reduction", "mean"); r {
	case "mean":
		o.Reduction = nn.Mean
	case "sum":
		o.Reduction = nn.Sum
	case "none":
		o.Reduction = nn.None
	default:
		c.fail("attribute %q is %q: want none, sum or mean", "reduction", r)
	}
	return o
}

func negativeLogLikelihood(c *call) []Value {
	x := c.tensor(0)
	return tensors(nn.NLL(x, c.tensor(1), c.lossOptions()).To(x.DType()))
}

func softmaxCrossEntropy(c *call) []Value {
	x := c.tensor(0)
	y := nn.CrossEntropy(x, c.tensor(1), c.lossOptions()).To(x.DType())
	if !c.wants(1) {
		return tensors(y)
	}
	return tensors(y, x.LogSoftmax(1))
}
