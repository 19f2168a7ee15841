package transforms

import (
	"math"

	"weft"
)

// Resizing with antialiasing is a product with a matrix that has few weights besides 0, in a band. So the
// result is made of blocks, each a product with the part of the band that it needs.

// resampleBlock is how many pixels a block has.
const resampleBlock = 32

// resampled resizes axis 0, the width, or 1, the height, to n pixels. All pixels under the curve of one
// count, which is as wide as the result has fewer pixels (Keys 1981 with a = -1/2, or a tent).
func resampled(x *weft.Tensor, axis, n int, cubic bool) *weft.Tensor {
	of := x.Rank() - 1 - axis
	old := x.Dim(of)
	step := float64(old) / float64(n)
	wide := max(step, 1)
	reach := wide
	if cubic {
		reach *= 2
	}
	under := func(i int) (centre float64, from, to int) {
		centre = step * (float64(i) + 0.5)
		return centre, max(int(centre-reach+0.5), 0), min(int(centre+reach+0.5), old)
	}
	var blocks []*weft.Tensor
	for first := 0; first < n; first += resampleBlock {
		count := min(resampleBlock, n-first)
		_, lo, _ := under(first)
		_, _, hi := under(first + count - 1)
		weights := make([]float64, count*(hi-lo))
		for i := range count {
			centre, from, to := under(first + i)
			row, sum := weights[i*(hi-lo):(i+1)*(hi-lo)], 0.0
			for j := from; j < to; j++ {
				row[j-lo] = curve((float64(j)-centre+0.5)/wide, cubic)
				sum += row[j-lo]
			}
			for j := range row {
				row[j] /= sum
			}
		}
		m := x.Device().From(weights).To(x.DType()).Reshape(count, hi-lo)
		if axis == 0 {
			blocks = append(blocks, x.Slice(weft.Ellipsis, weft.Range(lo, hi)).MatMul(m.T()))
		} else {
			blocks = append(blocks, m.MatMul(x.Slice(weft.Ellipsis, weft.Range(lo, hi), weft.All)))
		}
	}
	return weft.Cat(blocks, of)
}

// curve is the weight of a pixel at a distance.
func curve(d float64, cubic bool) float64 {
	d = math.Abs(d)
	switch {
	case !cubic:
		return max(1-d, 0)
	case d < 1:
		return float64((1.5*d-2.5)*d*d) + 1
	case d < 2:
		return -0.5 * (float64((float64((d-5)*d)+8)*d) - 4)
	}
	return 0
}
