package nn

import (
	"math"

	"weft"
	"weft/internal/array"
)

// Bilinear is x Weight y plus Bias: output k is the sum of x[i]*Weight[k, i, j]*y[j].
type Bilinear struct {
	Weight *weft.Tensor // [out, in of x, in of y]
	Bias   *weft.Tensor // [out], nil for none
}

// NewBilinear returns a layer of float32 parameters, drawn between -1/sqrt(inX) and 1/sqrt(inX) unless opts
// say otherwise.
func NewBilinear(inX, inY, out int, opts ...Opts) *Bilinear {
	defer array.Named("bilinear").End()
	o := array.Options("bilinear", opts)
	bound := 1 / math.Sqrt(float64(max(inX, 1)))
	if o.Weight == nil {
		o.Weight = Uniform(-bound, bound)
	}
	if o.Bias == nil {
		o.Bias = Uniform(-bound, bound)
	}
	w := o.weight(out, inX, inY)
	return &Bilinear{Weight: w, Bias: o.bias(out, w)}
}

// Forward maps x [..., inX] and y [..., inY], with the same axes before, to [..., out]. It panics with
// *weft.Error if shapes do not fit.
func (b *Bilinear) Forward(x, y *weft.Tensor) *weft.Tensor {
	return CallAll(b, []*weft.Tensor{x, y}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{b.forward(in[0], in[1])}
	})[0]
}

func (b *Bilinear) forward(x, y *weft.Tensor) *weft.Tensor {
	const name = "bilinear"
	defer array.Named(name).End()
	if b == nil || b.Weight == nil {
		failNil(name, "NewBilinear")
	}
	floats(name, "x", x)
	floats(name, "y", y)
	w := b.Weight
	if w.Rank() != 3 {
		array.Failf(name, "Weight", "has shape %s, want [out inX inY]", array.ShapeString(sizes(w)))
	}
	lead := sizes(x)[:max(x.Rank()-1, 0)]
	if x.Rank() < 1 || x.Dim(-1) != w.Dim(1) {
		array.Failf(name, "x", "has shape %s, want [... %d]", array.ShapeString(sizes(x)), w.Dim(1))
	}
	if y.Rank() != x.Rank() || y.Dim(-1) != w.Dim(2) || !array.Equal(sizes(y)[:y.Rank()-1], lead) {
		array.Failf(name, "y", "has shape %s, want %s with %d at the end", array.ShapeString(sizes(y)), array.ShapeString(sizes(x)), w.Dim(2))
	}
	out, n := w.Dim(0), array.Size(lead)
	p := x.Reshape(n, w.Dim(1)).MatMul(w.Transpose(0, 1).Reshape(w.Dim(1), out*w.Dim(2))).Reshape(n, out, w.Dim(2))
	z := p.MatMul(y.Reshape(n, w.Dim(2), 1)).Reshape(append(append([]int{}, lead...), out)...)
	if b.Bias != nil {
		z = z.Add(b.Bias)
	}
	return own(z)
}
