package kernel

import (
	"fmt"

	"weft"
	"weft/internal/array"
)

// A Border says what a stencil does where its neighbourhood reaches beyond the array. The
// ways that read some element instead have the names of SciPy's ndimage.
type Border uint8

const (
	// Constant leaves the border out: results there are StencilOpts.Cval, or what stood in
	// StencilOpts.Out.
	Constant Border = iota
	// Fill reads StencilOpts.Cval outside.
	Fill
	// Wrap reads the other side: a b c d | a b c d | a b c d.
	Wrap
	// Reflect turns around at the edge: d c b a | a b c d | d c b a.
	Reflect
	// Mirror turns around at the last element: d c b | a b c d | c b a.
	Mirror
	// Nearest repeats the last element: a a a | a b c d | d d d.
	Nearest
	// Valid has no results there: the result is smaller than the array.
	Valid
)

var borderNames = [...]string{"constant", "fill", "wrap", "reflect", "mirror", "nearest", "valid"}

// String returns the name in lower case.
func (b Border) String() string {
	if int(b) < len(borderNames) {
		return borderNames[b]
	}
	return fmt.Sprintf("Border(%d)", uint8(b))
}

// reads reports a border that reads elements of the array where it ends.
func (b Border) reads() bool { return b >= Wrap && b <= Nearest }

// source returns the index that is read for index i, which may lie outside, of an axis of
// n > 0 elements.
func (b Border) source(i, n int) int {
	around := func(i, period int) int {
		if i %= period; i < 0 {
			i += period
		}
		return i
	}
	switch {
	case b == Wrap:
		return around(i, n)
	case b == Reflect:
		if i = around(i, 2*n); i >= n {
			i = 2*n - 1 - i
		}
		return i
	case b == Mirror && n > 1:
		if i = around(i, 2*n-2); i >= n {
			i = 2*n - 2 - i
		}
		return i
	}
	return min(max(i, 0), n-1)
}

// An edge is how a stencil reads beyond an array.
type edge struct {
	name   string // of the kernel
	border Border
	user   func(i, n int) int // instead of border, if not nil
	fill   func(d array.DType) any
}

// A copy with its border has at most copiedTimes the elements of the array, or copiedLeast if
// that is more, so that offsets far outside of a small array take little memory.
const (
	copiedLeast = 1 << 22
	copiedTimes = 64
)

// check refuses a copy of x from lo to below hi that is much larger than x.
func (e edge) check(x *weft.Tensor, lo, hi []int) {
	limit := copiedLeast + copiedTimes*float64(x.Size())
	copied := 1.0
	for k := range lo {
		n := float64(hi[k] - lo[k])
		copied *= n
		if n > limit {
			copied = n
			break
		}
	}
	if copied > limit {
		array.Failf(e.name, "Border", "reads elements %v to %v of an array of shape %v: a copy with that border has %.3g elements, more than %.3g; give smaller offsets, a smaller Neighborhood, or Constant or Valid",
			lo, hi, x.Shape(), copied, limit)
	}
}

// part returns the elements of x from lo to below hi, an index of each axis, which may
// lie outside of shape: x, which is nowhere shorter, ends there.
func (e edge) part(x *weft.Tensor, shape, lo, hi []int) *weft.Tensor {
	inner := make([]weft.Span, x.Rank())
	var pads []int
	padded := false
	e.check(x, lo, hi)
	for k := range inner {
		n := shape[k]
		if lo[k] >= 0 && hi[k] <= n {
			inner[k] = weft.Range(lo[k], hi[k])
			pads = append(pads, 0, 0)
			continue
		}
		if e.user == nil && !e.border.reads() {
			inner[k] = weft.Range(min(max(lo[k], 0), n), max(min(hi[k], n), 0))
			pads = append(pads, max(-lo[k], 0), max(hi[k]-n, 0))
			padded = true
			continue
		}
		index := make([]int64, hi[k]-lo[k])
		for j := range index {
			i := lo[k] + j
			if e.user != nil && (i < 0 || i >= n) {
				if i = e.user(i, n); i < 0 || i >= n {
					array.Failf("stencil", "BorderFunc", "gave index %d for %d of an axis of %d elements", i, lo[k]+j, n)
				}
			} else if e.user == nil {
				i = e.border.source(i, n)
			}
			index[j] = int64(i)
		}
		x = x.IndexSelect(k, weft.FromSlice(index, len(index)).On(x.Device()))
		inner[k] = weft.All
		pads = append(pads, 0, 0)
	}
	x = x.Slice(inner...)
	if padded {
		x = pad(x, pads, e.fill(x.DType()))
	}
	return x
}
