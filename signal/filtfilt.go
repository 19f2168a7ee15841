package signal

import (
	"weft"
	"weft/internal/array"
)

// FiltFiltOpts are the options of [FiltFilt] and [SOSFiltFilt].
type FiltFiltOpts struct {
	Axis *int // nil means the last one
	// PadType says how the signal goes on beyond its ends: "odd", the default, "even", "constant" or "none".
	PadType string
	// PadLen is the number of samples there; nil means three times the length of the filter. Inside compiled
	// functions SOSFiltFilt needs it: the length depends on which coefficients are 0.
	PadLen *int
}

// FiltFilt filters x, [... n], forward and backward along an axis with the coefficients b, [p], and a, [q],
// of [LFilter], so that nothing is delayed and the gain is squared. The result has the shape of x. The signal goes on beyond its ends as [FiltFiltOpts] says, and the filter starts
// from [LFilterZi]. It panics with *[weft.Error] for shapes that do not fit, and signals that are not longer
// than the padding.
func FiltFilt(b, a, x *weft.Tensor, opts ...FiltFiltOpts) *weft.Tensor {
	const name = "signal.filtfilt"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	x, _ = signalOf(name, "x", x, o.Axis)
	c := meet(vectorOf(name, "b", b), vectorOf(name, "a", a), x) // before x is extended, which rounds
	b, a, x = c[0], c[1], c[2]
	return bothWays(name, x, o, 3*max(b.Dim(0), a.Dim(0)), func(x *weft.Tensor) *weft.Tensor {
		zi := LFilterZi(b, a).Mul(part(x, x.Rank()-1, 0, 1))
		y, _ := LFilter(b, a, x, FilterOpts{Zi: zi})
		return y
	})
}

// SOSFiltFilt is [FiltFilt] with the sections of [SOSFilt], [sections 6], such as [ZPK.SOS] makes. Where PadLen is not given it reads sos.
func SOSFiltFilt(sos, x *weft.Tensor, opts ...FiltFiltOpts) *weft.Tensor {
	const name = "signal.sosfiltfilt"
	defer array.Named(name).End()
	sos = sectionsOf(name, sos)
	o := array.Options(name, opts)
	x, _ = signalOf(name, "x", x, o.Axis)
	edge := 0
	if o.PadLen == nil && o.PadType != "none" {
		c, n := weft.Data[float64](sos.Real().Detach().To(weft.Float64).Contiguous()), sos.Dim(0)
		var b2, a2 int
		for i := range n {
			b2, a2 = b2+one(c[6*i+2] == 0), a2+one(c[6*i+5] == 0)
		}
		edge = 3 * (2*n + 1 - min(b2, a2))
	}
	met := meet(sos, x)
	sos, x = met[0], met[1]
	return bothWays(name, x, o, edge, func(x *weft.Tensor) *weft.Tensor {
		zi := SOSFiltZi(sos)
		shape := shapeOf([]int{sos.Dim(0)}, x.Shape()...)
		for i := 1; i < len(shape); i++ {
			shape[i] = 1
		}
		shape[len(shape)-1] = 2
		y, _ := SOSFilt(sos, x, FilterOpts{Zi: zi.Reshape(shape...).Mul(part(x, x.Rank()-1, 0, 1))})
		return y
	})
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bothWays runs a filter of the last axis over x, forward and backward.
func bothWays(name string, x *weft.Tensor, o FiltFiltOpts, edge int, filter func(x *weft.Tensor) *weft.Tensor) *weft.Tensor {
	x, axis := signalOf(name, "x", x, o.Axis)
	x = x.MoveAxis(axis, -1)
	switch o.PadType {
	case "", "odd", "even", "constant":
	case "none":
		edge = 0
	default:
		array.Failf(name, "PadType", "is %q, want odd, even, constant or none", o.PadType)
	}
	if o.PadType != "none" {
		edge = array.Or(o.PadLen, edge)
	}
	last, n := x.Rank()-1, x.Dim(-1)
	if edge < 0 {
		array.Failf(name, "PadLen", "is %d, want 0 or more", edge)
	}
	if n <= edge {
		array.Failf(name, "x", "has %s, want more than the padding of %d", array.Count(n, "sample"), edge)
	}
	y := filter(extended(x, o.PadType, edge)).Flip(last)
	y = filter(y).Flip(last)
	return part(y, last, edge, edge+n).MoveAxis(-1, axis)
}

// extended continues the last axis by n samples on both sides.
func extended(x *weft.Tensor, padType string, n int) *weft.Tensor {
	if n == 0 {
		return x
	}
	last, size := x.Rank()-1, x.Dim(-1)
	first, end := part(x, last, 0, 1), part(x, last, size-1, size)
	before, behind := part(x, last, 1, n+1).Flip(last), part(x, last, size-1-n, size-1).Flip(last)
	switch padType {
	case "", "odd":
		before, behind = first.Mul(2).Sub(before), end.Mul(2).Sub(behind)
	case "constant":
		before, behind = first.ExpandAs(before), end.ExpandAs(behind)
	}
	return weft.Cat([]*weft.Tensor{before, x, behind}, last)
}
