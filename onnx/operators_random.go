package onnx

import (
	"math"

	"weft"
)

// generator is the one that a node draws from: weft's default one, or one of its own if it has a seed. Such a
// node draws the same numbers whenever it is interpreted.
func (c *call) generator() *weft.Generator {
	if seed := c.attrFloat("seed", 0); c.given("seed") {
		return weft.NewGenerator(uint64(math.Float32bits(float32(seed))))
	}
	return weft.DefaultGenerator()
}

// drawType is the type of attribute dtype, def if it is not given.
func (c *call) drawType(def weft.DType) weft.DType {
	if !c.given("dtype") {
		return def
	}
	e := ElementType(c.attrInt("dtype", 0))
	if !e.known() || e == String || elementOf(e.DType()) != e {
		c.fail("attribute %q is %v, which is not drawn", "dtype", e)
	}
	return e.DType()
}

// drawn is the type and the shape of what a node draws: of input 0 if there is one, or of attributes.
func (c *call) drawn() (weft.DType, []int) {
	if len(c.in) == 0 {
		c.need("shape")
		shape := c.attrInts("shape")
		d := c.drawType(weft.Float32)
		return d, c.size(shape, d)
	}
	x := c.tensor(0)
	d := x.DType()
	if !d.Float() {
		d = weft.Float32
	}
	return c.drawType(d), x.Shape()
}

func randomNormal(c *call) []Value {
	mean, scale := c.attrFloat("mean", 0), c.attrFloat("scale", 1)
	d, shape := c.drawn()
	if !d.Float() {
		c.fail("normal numbers are floats, not %v", d)
	}
	return tensors(c.generator().NormalOf(d, mean, scale, shape...))
}

func randomUniform(c *call) []Value {
	low, high := c.attrFloat("low", 0), c.attrFloat("high", 1)
	d, shape := c.drawn()
	if !d.Float() {
		c.fail("uniform numbers are floats, not %v", d)
	}
	return tensors(c.generator().UniformOf(d, low, high, shape...))
}

func bernoulli(c *call) []Value {
	p := c.tensor(0)
	return tensors(c.generator().Bernoulli(p).To(c.drawType(p.DType())))
}

// multinomial draws classes with the probabilities whose logarithms, but for a constant, are the rows of input 0.
func multinomial(c *call) []Value {
	x := c.tensor(0)
	n := c.attrInt("sample_size", 1)
	if x.Rank() != 2 || n < 1 {
		c.fail("%d samples of %v: want one or more of [batch, classes]", n, x.Shape())
	}
	return tensors(c.generator().Multinomial(x.Softmax(1), n).To(c.drawType(weft.Int32)))
}
