package weft

import (
	"math"

	"weft/internal/array"
	"weft/internal/core"
)

// where returns t, floats, if all elements of ok are true. Otherwise it panics with text. In a
// compiled function each call checks.
func (t *Tensor) where(opName, arg, text string, ok *Tensor) *Tensor {
	all := ok.All()
	if core.TracingViews(all.v()) == nil {
		if !all.bool() {
			array.Failf(opName, arg, "%s", text)
		}
		return t
	}
	r := core.RangeCheck{Op: opName, Arg: arg, Min: 1, Max: 1, Text: text + "%.0d"}
	return Where((*Tensor)(r.Of(all.To(Int64).c())), t, math.NaN())
}
