package transforms

import (
	"math"

	"weft"
	"weft/internal/array"
)

// Truncate cuts sequences [length, ...] off behind a length.
type Truncate struct {
	Length int // 0 or more
}

// Apply implements [Transform].
func (t Truncate) Apply(x *weft.Tensor, _ *weft.Generator) *weft.Tensor {
	const name = "truncate"
	sequence(name, x, t.Length)
	if x.Dim(0) <= t.Length {
		return x
	}
	return x.Slice(weft.Range(0, t.Length))
}

// PadTo fills sequences [length, ...] up behind their end. Longer ones stay.
type PadTo struct {
	Length int     // 0 or more
	Value  float64 // what they are filled with
}

// Apply implements [Transform].
func (t PadTo) Apply(x *weft.Tensor, _ *weft.Generator) *weft.Tensor {
	const name = "pad_to"
	defer array.Named(name).End()
	sequence(name, x, t.Length)
	if x.Dim(0) >= t.Length {
		return x
	}
	pads := make([]int, 2*x.Rank())
	pads[1] = t.Length - x.Dim(0)
	return x.Pad(t.Value, pads...)
}

func sequence(name string, x *weft.Tensor, length int) {
	if x == nil || x.Rank() == 0 {
		array.Failf(name, "x", "is nil or has no axis")
	}
	if length < 0 || length > math.MaxInt32 {
		array.Failf(name, "Length", "is %d, want 0 or more", length)
	}
}
