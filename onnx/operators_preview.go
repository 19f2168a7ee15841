package onnx

import (
	"math"

	"weft"
	"weft/nn"
)

// Operators of ai.onnx.preview.
var previewOperators = []operator{
	{name: "FlexAttention", run: flexAttention},
}

// flexAttention is attention whose scores and probabilities go through subgraphs.
func flexAttention(c *call) []Value {
	q, k, v := c.tensor(0), c.tensor(1), c.tensor(2)
	if q.Rank() != 4 || k.Rank() != 4 || v.Rank() != 4 {
		c.fail("queries, keys and values have %d, %d and %d axes: want 4", q.Rank(), k.Rank(), v.Rank())
	}
	heads, of := q.Dim(1), k.Dim(1)
	if of == 0 || heads%of != 0 || v.Dim(1) != of {
		c.fail("%d heads of queries cannot share %d of keys and %d of values", heads, of, v.Dim(1))
	}
	scale := c.attrFloat("scale", 0)
	if !c.given("scale") {
		scale = 1 / math.Sqrt(float64(max(q.Dim(3), 1)))
	}
	d, wide := v.DType(), weft.Float32
	if q.DType() == weft.Float64 {
		wide = weft.Float64
	}
	if e := ElementType(c.attrInt("softmax_precision", 0)); c.given("softmax_precision") {
		if wide = e.DType(); !e.known() || !wide.Float() {
			c.fail("attribute %q is %v: want a type of floats", "softmax_precision", e)
		}
	}
	if !c.given("score_mod") && !c.given("prob_mod") && q.DType() == wide && d == wide {
		return tensors(nn.ScaledDotProductAttention(q, k, v, nn.AttentionOpts{Scale: &scale, Grouped: heads != of}))
	}
	if heads != of {
		k, v = k.RepeatInterleave(1, heads/of), v.RepeatInterleave(1, heads/of)
	}
	scores := q.Mul(scale).MatMul(k.Transpose(2, 3)).To(wide)
	probabilities := c.modified("score_mod", scores).Softmax(3)
	probabilities = c.modified("prob_mod", probabilities)
	return tensors(probabilities.MatMul(v.To(wide)).To(d))
}

// modified is x as the subgraph of an attribute makes it, if it is given.
func (c *call) modified(name string, x *weft.Tensor) *weft.Tensor {
	if !c.given(name) {
		return x
	}
	out := c.subgraph(c.attrGraph(name), TensorOf(x))
	if len(out) != 1 || out[0].kind != TensorKind || !same(out[0].tensor.Shape(), x.Shape()) {
		c.fail("the graph %q gives %v: want one tensor of the shape %v", name, out, x.Shape())
	}
	return out[0].tensor.To(x.DType())
}
