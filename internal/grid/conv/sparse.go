package conv

import (
	"weft/internal/numbers"
)

// sparse reports whether the CPU leaves out the terms in the padding, by the rule in package numbers.
// Then blocks of terms of the weights' gradient that are -0 count as +0. Nothing else depends on it.
func (c *Convolution) sparse() bool {
	rows := visitsOf(c.H, c.OH, c.KH, c.StrideH, c.PadH, c.DilationH)
	cols := visitsOf(c.W, c.OW, c.KW, c.StrideW, c.PadW, c.DilationW)
	in, _ := c.group()
	all, span := rows.all*cols.all, rows.span*cols.span
	pixels := float64(c.OH)*float64(c.OW) + float64(c.H)*float64(c.W)
	return all*(float64(c.O)*float64(in)) > numbers.SparseVisits && all > numbers.SparseRatio*(rows.inside*cols.inside) ||
		span > numbers.SparsePixels && span > numbers.SparseSpan*pixels
}

// visits counts what taps visit along an axis: all pairs of a result and a tap, the pairs inside
// the input, and the pixels from the first to the last, padding included.
type visits struct{ all, inside, span float64 }

func visitsOf(size, results, taps, stride, pad, dilation int) (v visits) {
	v.all = float64(results) * float64(taps)
	v.span = float64(results-1)*float64(stride) + float64((taps-1)*dilation) + 1
	before := func(pixel int) int { return min((max(0, pixel)+stride-1)/stride, results) } // results that read pixels before it
	for k := range taps {
		at := k*dilation - pad
		v.inside += float64(max(0, before(size-at)-before(-at)))
	}
	return v
}
