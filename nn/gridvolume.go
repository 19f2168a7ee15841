package nn

import (
	"weft"
	"weft/internal/array"
)

// sampleVolume is [GridSample] of volumes.
func sampleVolume(x, grid *weft.Tensor, o GridSampleOpts) *weft.Tensor {
	const name = "grid_sample"
	if x.Size() == 0 && (x.Dim(2) == 0 || x.Dim(3) == 0 || x.Dim(4) == 0) {
		array.Failf(name, "x", "has shape %s, want [batch channels d h w], d, h and w not 0", array.ShapeString(sizes(x)))
	}
	if grid.Rank() != 5 || grid.Dim(0) != x.Dim(0) || grid.Dim(4) != 3 || grid.DType() != x.DType() {
		array.Failf(name, "grid", "is %s, want %s [%d d h w 3]", describe(grid), x.DType(), x.Dim(0))
	}
	if o.Border != PadConstant && o.Border != PadReflect && o.Border != PadReplicate {
		array.Failf(name, "Border", "is %d, want PadConstant, PadReflect or PadReplicate", o.Border)
	}
	mode := array.Or(o.Mode, ModeLinear)
	if mode != ModeNearest && mode != ModeLinear {
		array.Failf(name, "Mode", "is %d, want ModeNearest or ModeLinear for volumes", mode)
	}
	s := sampled{x: x, GridSampleOpts: o}
	// Horizontal, vertical and deep, as the grid has them.
	var at, low, part [3]*weft.Tensor
	for k := range at {
		n := x.Dim(4 - k)
		at[k] = s.inside(s.place(grid, k, n), n)
		low[k] = at[k].Detach().Floor()
		part[k] = at[k].Sub(low[k])
	}
	if mode == ModeNearest {
		return s.voxels([3]*weft.Tensor{at[0].Round(), at[1].Round(), at[2].Round()})
	}
	var sum *weft.Tensor
	for corner := range 8 {
		var place [3]*weft.Tensor
		var weight *weft.Tensor
		for k := range place {
			w := part[k]
			if place[k] = low[k]; corner>>k&1 == 1 {
				place[k] = low[k].Add(1)
			} else {
				w = w.RSub(1)
			}
			if weight == nil {
				weight = w
			} else {
				weight = weight.Mul(w)
			}
		}
		term := s.voxels(place).Mul(weight)
		if sum == nil {
			sum = term
		} else {
			sum = sum.Add(term)
		}
	}
	return sum
}

// voxels returns the elements at whole coordinates [batch, 1, od, oh, ow], 0 outside.
func (s sampled) voxels(at [3]*weft.Tensor) *weft.Tensor {
	n, c := s.x.Dim(0), s.x.Dim(1)
	var index, in *weft.Tensor
	for k := 2; k >= 0; k-- {
		g, size := at[k].Detach(), s.x.Dim(4-k)
		here := weft.Expr("(g >= 0) && (g < n)", weft.Vars{"g": g, "n": float64(size)})
		whole := weft.Where(here, g, 0.0).To(weft.Int64).Maximum(0).Minimum(size - 1)
		if index == nil {
			index, in = whole, here
			continue
		}
		index, in = index.Mul(size).Add(whole), in.LogicalAnd(here)
	}
	out := sizes(index)[2:]
	m := array.Size(out)
	index = index.Reshape(n, 1, m).Expand(n, c, m)
	y := s.x.Flatten(2).Gather(2, index).Reshape(n, c, out[0], out[1], out[2])
	return weft.Where(in, y, 0.0)
}
