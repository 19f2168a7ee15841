package ndimage

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// LabelOpts are the options of [Label].
type LabelOpts struct {
	// Structure has 3 elements along each axis: the neighbours that an element is connected to, symmetric around
	// the centre. GenerateBinaryStructure(rank, 1) if nil.
	Structure *weft.Tensor
}

// Label numbers the connected objects of x, the elements that are not 0, from 1 on in the order of their first
// elements. It returns the numbers as Int32, 0 outside of objects, and how many objects there are.
//
// It reads the count, so that it is refused in compiled functions. It panics with *[weft.Error] for a structure that does not
// have 3 elements along each axis or is not symmetric, and for more than 2^31-1 elements.
func Label(x *weft.Tensor, opts ...LabelOpts) (labels *weft.Tensor, count int) {
	const name = "ndimage.label"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	on := input(name, x).Ne(0).Contiguous()
	if x.Size() > math.MaxInt32 {
		array.Failf(name, "x", "has %d elements, more than 2^31-1", x.Size())
	}
	s := o.Structure
	if s == nil {
		s = GenerateBinaryStructure(x.Rank(), 1)
	}
	before := earlier(name, "Structure", s, x.Rank(), true)
	switch {
	case x.Size() == 0:
		return weft.ZerosLike(x).To(weft.Int32), 0
	case x.Rank() == 0:
		return on.To(weft.Int32), int(on.To(weft.Int32).ItemInt())
	}
	shape := x.Shape()
	var code []int
	for _, d := range before {
		code = append(code, d...)
	}
	t := newTask("label", []ir.Type{{DType: weft.Int32, Shape: shape}, {DType: weft.Int32, Shape: []int{}}}, func(args, out []array.View) {
		core.Slice[int32](&out[1])[0] = labelled(shape, before, core.Slice[bool](&args[0]), core.Slice[int32](&out[0]))
	}, code)
	out := t.apply(on)
	return out[0], int(out[1].ItemInt())
}

// earlier returns the offsets of a structure's true elements that come before the centre in row-major order. It
// demands 3 elements along each axis, and symmetry if symmetric is set.
func earlier(name, arg string, s *weft.Tensor, rank int, symmetric bool) (out [][]int) {
	(*core.Tensor)(s).CheckArgument(name, arg)
	shape := s.Shape()
	for _, n := range shape {
		if n != 3 {
			array.Failf(name, arg, "has shape %s, want 3 elements along each axis", array.ShapeString(shape))
		}
	}
	if len(shape) != rank {
		array.Failf(name, arg, "has shape %s for an input with %d axes", array.ShapeString(shape), rank)
	}
	on := truths(s)
	for k, yes := range on {
		if symmetric && yes != on[len(on)-1-k] {
			array.Failf(name, arg, "is not symmetric")
		}
		if yes && k < len(on)/2 {
			d := unravel(shape, k)
			for i := range d {
				d[i]--
			}
			out = append(out, d)
		}
	}
	return out
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// FindObjects returns the smallest box of each label from 1 to the greatest, as spans for [weft.Tensor.Slice]: nil
// for a label that does not occur. Labels are integers of at most 2^24. It is refused in compiled functions.
func FindObjects(labels *weft.Tensor) [][]weft.Span {
	const name = "ndimage.find_objects"
	defer array.Named(name).End()
	(*core.Tensor)(labels).CheckArgument(name, "labels")
	if !labels.DType().Integer() {
		array.Failf(name, "labels", "is %s, want integers", labels.DType())
	}
	shape, data := labels.Shape(), weft.Data[int64](labels.To(weft.Int64).Contiguous())
	most := int64(0)
	for _, v := range data {
		most = max(most, v)
	}
	if most > 1<<24 {
		array.Failf(name, "labels", "has label %d, more than 2^24", most)
	}
	type box struct{ lo, hi []int }
	boxes := make([]*box, most)
	at := make([]int, len(shape))
	for _, v := range data {
		if v > 0 {
			b := boxes[v-1]
			if b == nil {
				b = &box{slices.Clone(at), slices.Clone(at)}
				boxes[v-1] = b
			}
			for i, p := range at {
				b.lo[i], b.hi[i] = min(b.lo[i], p), max(b.hi[i], p)
			}
		}
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < shape[i] {
				break
			}
			at[i] = 0
		}
	}
	out := make([][]weft.Span, most)
	for k, b := range boxes {
		if b != nil {
			out[k] = make([]weft.Span, len(shape))
			for i := range shape {
				out[k][i] = weft.Range(b.lo[i], b.hi[i]+1)
			}
		}
	}
	return out
}
