package nn

import (
	"slices"

	"weft"
	"weft/internal/array"
)

// A PadMode is what [Pad] and convolutions put around an array.
type PadMode int

const (
	PadConstant  PadMode = iota // a number, 0 in convolutions
	PadReflect                  // the elements inside, mirrored at the outermost one
	PadReplicate                // the outermost element
	PadCircular                 // the elements of the other end
)

// Pad surrounds the last axes of an array: ConstantPad, ZeroPad, ReflectionPad, ReplicationPad and
// CircularPad of PyTorch, in 1 to 3 axes and more.
type Pad struct {
	// Pads are elements before and after the last axis, then the one before it, and so on, as in
	// PyTorch. Negative numbers cut elements off, for PadConstant alone.
	Pads  []int
	Mode  PadMode
	Value float64 // of PadConstant
}

// Forward maps [..., n] to [..., Pads[0]+n+Pads[1]], and so on. It panics with *weft.Error if x has
// too few axes, a mirrored part is not smaller than the axis or a circular one is larger.
func (p Pad) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, Pad.forward) }

func (p Pad) forward(x *weft.Tensor) *weft.Tensor {
	const name = "pad"
	defer array.Named(name).End()
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	r := x.Rank()
	if len(p.Pads)%2 != 0 || len(p.Pads) > 2*r {
		array.Failf(name, "Pads", "are %d, want two for each of up to %d axes", len(p.Pads), r)
	}
	if p.Mode < PadConstant || p.Mode > PadCircular {
		array.Failf(name, "Mode", "is %d, want PadConstant, PadReflect, PadReplicate or PadCircular", p.Mode)
	}
	if p.Mode == PadConstant {
		return p.constant(x)
	}
	y := x
	for i := 0; i < len(p.Pads); i += 2 {
		axis, before, after := r-1-i/2, p.Pads[i], p.Pads[i+1]
		n := x.Dim(axis)
		most := map[PadMode]int{PadReflect: n - 1, PadCircular: n, PadReplicate: 1 << 31}[p.Mode]
		if n == 0 {
			most = 0
		}
		if min(before, after) < 0 || max(before, after) > most {
			array.Failf(name, "Pads", "are %d and %d around %d elements, want 0 to %d", before, after, n, most)
		}
		if before+after > 0 {
			y = y.IndexSelect(axis, x.Device().From(p.places(n, before, after)))
		}
	}
	if y == x {
		return x.Clone()
	}
	return y
}

// constant pads with a number, and cuts where pads are negative.
func (p Pad) constant(x *weft.Tensor) *weft.Tensor {
	r := x.Rank()
	pads, spans, cut := make([]int, 2*r), slices.Repeat([]weft.Span{weft.All}, r), false
	for i := 0; i < len(p.Pads); i += 2 {
		axis, before, after := r-1-i/2, p.Pads[i], p.Pads[i+1]
		n := x.Dim(axis)
		if before < -n || after < -n || before+after < -n {
			array.Failf("pad", "Pads", "are %d and %d around %d elements: they cut off more", before, after, n)
		}
		if before < 0 || after < 0 {
			spans[axis], cut = weft.Range(max(-before, 0), n-max(-after, 0)), true
		}
		pads[2*axis], pads[2*axis+1] = max(before, 0), max(after, 0)
	}
	if cut {
		x = x.Slice(spans...)
	}
	return x.Pad(p.Value, pads...)
}

// places are the elements of an axis of n that a padded one shows.
func (p Pad) places(n, before, after int) []int64 {
	at := make([]int64, 0, before+n+after)
	for i := -before; i < n+after; i++ {
		j := min(max(i, 0), n-1)
		switch {
		case p.Mode == PadCircular:
			j = (i + n) % n
		case p.Mode == PadReflect && i < 0:
			j = -i
		case p.Mode == PadReflect && i >= n:
			j = 2*(n-1) - i
		}
		at = append(at, int64(j))
	}
	return at
}

// convPads pads x as a convolution asks, where its own zeros do not do it, and returns the padding
// that is left to it. taps, stride, pad and dilation have one number for each of the last axes.
func convPads(name string, x *weft.Tensor, taps, stride, pad, dilation []int, same bool, mode PadMode) (y *weft.Tensor, left []int) {
	if !same && mode == PadConstant {
		return x, pad
	}
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	if x.Rank() < len(taps) {
		array.Failf(name, "x", "has shape %s, want [N channels ...]", array.ShapeString(sizes(x)))
	}
	if mode < PadConstant || mode > PadCircular {
		array.Failf(name, "PadMode", "is %d, want PadConstant, PadReflect, PadReplicate or PadCircular", mode)
	}
	n := len(taps)
	pads, even := make([]int, 2*n), mode == PadConstant
	left = make([]int, n)
	for i := range taps {
		before, after := pad[i], pad[i]
		if same {
			if stride[i] != 1 {
				array.Failf(name, "Same", "needs stride 1, got %d", stride[i])
			}
			total := (taps[i] - 1) * dilation[i]
			before, after = total/2, total-total/2
		}
		even = even && before == after
		left[i] = before
		pads[2*(n-1-i)], pads[2*(n-1-i)+1] = before, after
	}
	if even {
		return x, left
	}
	return Pad{Pads: pads, Mode: mode}.forward(x), make([]int, n)
}
