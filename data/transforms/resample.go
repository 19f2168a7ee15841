package transforms

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu/resample"
)

// Resizing is a product with a matrix that has few weights besides 0, in a band. Pictures of float32 and
// uint8 in memory of the CPU have a routine for it. Where gradients are recorded, in traces, for other types
// and devices the result is made of blocks: products with the part of the band that they need. Both have
// the same bits.

// resampled resizes x to h times w pixels.
func resampled(name string, x *weft.Tensor, h, w int, c resample.Curve) *weft.Tensor {
	shape := x.Shape()
	n := len(shape)
	oldH, oldW := shape[n-2], shape[n-1]
	result := append(shape[:n-2:n-2], h, w)
	array.CheckShape(name, result, x.DType())
	var across, down *resample.Band
	if w != oldW {
		across = c.New(oldW, w)
	}
	if h != oldH {
		down = c.New(oldH, h)
	}
	if here(x) && x.Size() > 0 {
		y := core.Empty(name, (*core.Tensor)(x).View().Store.Device, x.DType(), result)
		written(y, x, func(dst, src *array.View) { resample.Resize(core.InstructionSet(y), dst, src, across, down) })
		return (*weft.Tensor)(y)
	}
	y := x
	if across != nil {
		y = banded(y, 0, across)
	}
	if down != nil {
		y = banded(y, 1, down)
	}
	return y
}

// here reports whether the elements of x are float32 or uint8 in memory of the CPU, and nothing is recorded.
func here(x *weft.Tensor) bool {
	d := x.DType()
	return (d == weft.Float32 || d == weft.Uint8) && core.TracingHere() == nil && !x.RequiresGrad() && core.OnHost((*core.Tensor)(x))
}

// written calls f with the elements of y, which it sets, and of x.
func written(y *core.Tensor, x *weft.Tensor, f func(dst, src *array.View)) {
	if strides := x.Strides(); strides[len(strides)-1] != 1 {
		x = x.Contiguous() // planes of points are faster than columns of them
	}
	src := core.ToHost((*core.Tensor)(x))
	defer core.Leave(&src)
	core.Written(y, func(dst *array.View) { f(dst, &src) })
}

// resampleBlock is how many pixels a block has.
const resampleBlock = 32

// banded resizes axis 0, the width, or 1, the height, by products.
func banded(x *weft.Tensor, axis int, b *resample.Band) *weft.Tensor {
	of, n := x.Rank()-1-axis, len(b.First)
	weights, bits, d := b.Weights, 0, x.DType()
	if d == weft.Uint8 { // sums of whole numbers are exact in float64
		whole, shift := b.Whole()
		weights, bits, d = make([]float64, len(whole)), shift, weft.Float64
		for i, v := range whole {
			weights[i] = float64(v)
		}
	}
	y := x.To(d)
	var blocks []*weft.Tensor
	for first := 0; first < n; first += resampleBlock {
		count := min(resampleBlock, n-first)
		lo, hi := b.First[first], b.First[first+count-1]+b.Taps
		part := make([]float64, count*(hi-lo))
		for i := range count {
			copy(part[i*(hi-lo)+b.First[first+i]-lo:], weights[(first+i)*b.Taps:][:b.Taps])
		}
		m := x.Device().From(part).To(d).Reshape(count, hi-lo)
		if axis == 0 {
			blocks = append(blocks, y.Slice(weft.Ellipsis, weft.Range(lo, hi)).MatMul(m.T()))
		} else {
			blocks = append(blocks, m.MatMul(y.Slice(weft.Ellipsis, weft.Range(lo, hi), weft.All)))
		}
	}
	y = weft.Cat(blocks, of)
	if x.DType() == weft.Uint8 {
		y = weft.Expr("clamp(floor(y*scale + 0.5), 0, 255)", weft.Vars{"y": y, "scale": math.Ldexp(1, -bits)})
	}
	return y.To(x.DType())
}
