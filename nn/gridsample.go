package nn

import (
	"slices"

	"weft"
	"weft/internal/array"
)

// GridSampleOpts are the options of [GridSample].
type GridSampleOpts struct {
	Mode *InterpolateMode // ModeNearest, ModeLinear or ModeCubic; nil means ModeLinear
	// Border is what lies outside: PadConstant is 0, PadReplicate the pixel at the border,
	// PadReflect the picture mirrored. PadConstant if not given.
	Border PadMode
	// AlignCorners lets -1 and 1 be the centres of the corner pixels, rather than their outer edges.
	AlignCorners bool
}

// GridSample reads pictures x [batch, channels, h, w] at the places of a grid [batch, oh, ow, 2]:
// horizontal and vertical, from -1 to 1. The result is [batch, channels, oh, ow] (Jaderberg et al.,
// Spatial transformer networks, 2015). Volumes x [batch, channels, d, h, w] take a grid
// [batch, od, oh, ow, 3], and ModeNearest or ModeLinear. It panics with *weft.Error if shapes or types do not fit.
func GridSample(x, grid *weft.Tensor, opts ...GridSampleOpts) *weft.Tensor {
	const name = "grid_sample"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	floats(name, "x", x)
	floats(name, "grid", grid)
	if x.Rank() == 5 {
		return sampleVolume(x, grid, o)
	}
	if x.Rank() != 4 || x.Dim(2) == 0 || x.Dim(3) == 0 {
		array.Failf(name, "x", "has shape %s, want [batch channels h w], h and w not 0", array.ShapeString(sizes(x)))
	}
	if grid.Rank() != 4 || grid.Dim(0) != x.Dim(0) || grid.Dim(3) != 2 || grid.DType() != x.DType() {
		array.Failf(name, "grid", "is %s, want %s [%d h w 2]", describe(grid), x.DType(), x.Dim(0))
	}
	if o.Border != PadConstant && o.Border != PadReflect && o.Border != PadReplicate {
		array.Failf(name, "Border", "is %d, want PadConstant, PadReflect or PadReplicate", o.Border)
	}
	mode := array.Or(o.Mode, ModeLinear)
	s := sampled{x: x, GridSampleOpts: o, h: x.Dim(2), w: x.Dim(3), oh: grid.Dim(1), ow: grid.Dim(2)}
	gx, gy := s.place(grid, 0, s.w), s.place(grid, 1, s.h)
	switch {
	case mode == ModeNearest:
		return s.at(s.inside(gx, s.w).Round(), s.inside(gy, s.h).Round())
	case mode == ModeCubic:
		x0, y0 := gx.Detach().Floor(), gy.Detach().Floor()
		var rows [4]*weft.Tensor
		for j := range rows {
			var taps [4]*weft.Tensor
			for i := range taps {
				taps[i] = s.at(s.inside(x0.Add(float64(i-1)), s.w), s.inside(y0.Add(float64(j-1)), s.h))
			}
			rows[j] = cubic(taps, gx.Sub(x0), -0.75)
		}
		return cubic(rows, gy.Sub(y0), -0.75)
	case mode != ModeLinear:
		array.Failf(name, "Mode", "is %d, want ModeNearest, ModeLinear or ModeCubic", mode)
	}
	gx, gy = s.inside(gx, s.w), s.inside(gy, s.h)
	x0, y0 := gx.Detach().Floor(), gy.Detach().Floor()
	x1, y1 := x0.Add(1), y0.Add(1)
	return weft.Expr("(a*(1-u) + b*u)*(1-v) + (c*(1-u) + d*u)*v", weft.Vars{"u": gx.Sub(x0), "v": gy.Sub(y0),
		"a": s.at(x0, y0), "b": s.at(x1, y0), "c": s.at(x0, y1), "d": s.at(x1, y1)})
}

// sampled is pictures that are read at places.
type sampled struct {
	GridSampleOpts
	x            *weft.Tensor
	h, w, oh, ow int
}

// place returns coordinate k of a grid, [batch, 1, oh, ow], in pixels of an axis of n.
func (s sampled) place(grid *weft.Tensor, k, n int) *weft.Tensor {
	g := grid.Slice(weft.Ellipsis, weft.Index(k)).Unsqueeze(1)
	if s.AlignCorners {
		return weft.Expr("(g+1)/2*m", weft.Vars{"g": g, "m": float64(n - 1)})
	}
	return weft.Expr("((g+1)*n - 1)/2", weft.Vars{"g": g, "n": float64(n)})
}

// inside moves coordinates outside an axis of n where the border asks for it.
func (s sampled) inside(g *weft.Tensor, n int) *weft.Tensor {
	if s.Border == PadConstant {
		return g
	}
	last := float64(n - 1)
	if s.Border == PadReflect {
		low, span := -0.5, float64(n)
		if s.AlignCorners {
			low, span = 0, last
		}
		if span == 0 {
			return g.Mul(0)
		}
		d := weft.Expr("where(g < low, low - g, g - low)", weft.Vars{"g": g, "low": low})
		flips := d.Detach().Div(span).Floor()
		g = weft.Expr("where(f % 2 == 0, d - f*span + low, span - (d - f*span) + low)", weft.Vars{"d": d, "f": flips, "span": span, "low": low})
	}
	return weft.Expr("where(g <= 0, 0, where(g >= last, last, g))", weft.Vars{"g": g, "last": last})
}

// at returns the pixels at whole coordinates [batch, 1, oh, ow], 0 outside.
func (s sampled) at(gx, gy *weft.Tensor) *weft.Tensor {
	n, c := s.x.Dim(0), s.x.Dim(1)
	gx, gy = gx.Detach(), gy.Detach()
	in := weft.Expr("(x >= 0) && (x < w) && (y >= 0) && (y < h)", weft.Vars{"x": gx, "y": gy, "w": float64(s.w), "h": float64(s.h)})
	whole := func(g *weft.Tensor, n int) *weft.Tensor {
		return weft.Where(in, g, 0.0).To(weft.Int64).Maximum(0).Minimum(n - 1)
	}
	index := whole(gy, s.h).Mul(s.w).Add(whole(gx, s.w)).Reshape(n, 1, s.oh*s.ow).Expand(n, c, s.oh*s.ow)
	y := s.x.Reshape(n, c, s.h*s.w).Gather(2, index).Reshape(n, c, s.oh, s.ow)
	return weft.Where(in, y, 0.0)
}

// AffineGrid returns the grid that [GridSample] takes for affine maps theta [batch, 2, 3] and
// results of a size [batch channels h w]: [batch, h, w, 2]. For theta [batch, 3, 4] and a size
// [batch channels d h w] it is [batch, d, h, w, 3]. It panics with *weft.Error if shapes do not fit.
func AffineGrid(theta *weft.Tensor, size []int, alignCorners bool) *weft.Tensor {
	const name = "affine_grid"
	defer array.Named(name).End()
	floats(name, "theta", theta)
	k := len(size) - 2
	if k != 2 && k != 3 || slices.Min(size) < 1 {
		array.Failf(name, "size", "is %v, want [N C H W] or [N C D H W] above 0", size)
	}
	if !array.Equal(sizes(theta), []int{size[0], k, k + 1}) {
		array.Failf(name, "theta", "has shape %s, want [%d %d %d]", array.ShapeString(sizes(theta)), size[0], k, k+1)
	}
	array.CheckShape(name, append(slices.Clone(size[2:]), size[0], k+1), weft.Float64)
	dev, shape := theta.Device(), size[2:]
	var parts []*weft.Tensor
	for i := k - 1; i >= 0; i-- { // horizontal first
		n := shape[i]
		scale := 2 / float64(n)
		if alignCorners {
			scale = 2 / float64(max(n-1, 1))
		}
		at := weft.Expr("(i - m)*s", weft.Vars{"i": dev.Arange(n).To(theta.DType()), "m": float64(n-1) / 2, "s": scale})
		parts = append(parts, at.Reshape(append([]int{n}, ones(k-1-i)...)...).Expand(shape...))
	}
	parts = append(parts, dev.OnesOf(theta.DType(), shape...))
	base := weft.Stack(parts, k).Reshape(array.Size(shape), k+1)
	return own(base.MatMul(theta.Transpose(1, 2)).Reshape(slices.Concat([]int{size[0]}, shape, []int{k})...))
}
