package transforms

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/cpu/resample"
	"weft/nn"
)

// Resize resizes pictures.
type Resize struct {
	// Size is height and width. One number is that of the shorter edge: the other one keeps its proportion.
	Size []int
	// MaxSize is the most that the longer edge may be, for a Size of one number; nil means any.
	MaxSize *int
	// Interpolation is ModeNearest, ModeNearestExact, ModeLinear or ModeCubic; nil means ModeLinear.
	Interpolation *nn.InterpolateMode
	// Antialias lets all pixels count where the result is smaller; nil means true.
	Antialias *bool
}

// Apply implements [Transform].
func (t Resize) Apply(x *weft.Tensor, _ *weft.Generator) *weft.Tensor {
	const name = "resize"
	defer array.Named(name).End()
	h, w := picture(name, x)
	oh, ow := size(name, "Size", t.Size)
	most := array.Or(t.MaxSize, math.MaxInt32)
	if most <= oh || t.MaxSize != nil && len(t.Size) == 2 {
		array.Failf(name, "MaxSize", "is %d for a Size of %v, want more than a Size of one number", most, t.Size)
	}
	if len(t.Size) == 1 && min(h, w) > 0 {
		short, long := oh, int(float64(oh)*float64(max(h, w))/float64(min(h, w)))
		if long > most {
			short, long = max(int(float64(most)*float64(short)/float64(long)), 1), most
		}
		if oh, ow = short, long; h > w {
			oh, ow = long, short
		}
	}
	return resized(name, x, oh, ow, t.Interpolation, t.Antialias)
}

// resized resizes x, the width first. Of uint8 it computes in whole numbers and rounds to the nearest after
// each axis, as Pillow and torchvision do.
func resized(name string, x *weft.Tensor, h, w int, mode *nn.InterpolateMode, antialias *bool) *weft.Tensor {
	m := array.Or(mode, nn.ModeLinear)
	if m < nn.ModeNearest || m > nn.ModeCubic {
		array.Failf(name, "Interpolation", "is %d, want ModeNearest, ModeNearestExact, ModeLinear or ModeCubic", m)
	}
	oldH, oldW := picture(name, x)
	if oldH == 0 || oldW == 0 {
		array.Failf(name, "x", "has shape %s: there are no pixels", array.ShapeString(x.Shape()))
	}
	if h == oldH && w == oldW {
		return x
	}
	if m == nn.ModeLinear || m == nn.ModeCubic {
		return resampled(name, x, h, w, resample.Curve{Cubic: m == nn.ModeCubic, Antialias: array.Or(antialias, true)})
	}
	y := asFloat(x)
	if w != oldW {
		y = nn.Interpolate{Size: []int{w}, Mode: m}.Forward(y)
	}
	if h != oldH {
		y = nn.Interpolate{Size: []int{h}, Mode: m}.Forward(y.Transpose(-1, -2)).Transpose(-1, -2)
	}
	return y.To(x.DType())
}

// Crop returns the part of pictures that begins at a row and a column, a view. It panics with
// *weft.Error if that part is not inside.
func Crop(x *weft.Tensor, top, left, height, width int) *weft.Tensor {
	const name = "crop"
	h, w := picture(name, x)
	if top < 0 || left < 0 || height < 0 || width < 0 || top > h-height || left > w-width {
		array.Failf(name, "top", "is %d, left %d, height %d, width %d, of a picture of %d times %d pixels", top, left, height, width, h, w)
	}
	return x.Slice(weft.Ellipsis, weft.Range(top, top+height), weft.Range(left, left+width))
}

// CenterCrop cuts the middle out of pictures. Smaller ones are surrounded by 0.
type CenterCrop struct {
	Size []int // height and width, or one number for both
}

// Apply implements [Transform].
func (t CenterCrop) Apply(x *weft.Tensor, _ *weft.Generator) *weft.Tensor {
	const name = "center_crop"
	h, w := picture(name, x)
	oh, ow := size(name, "Size", t.Size)
	if oh > h || ow > w {
		dh, dw := max(oh-h, 0), max(ow-w, 0)
		x = surrounded(name, x, []int{dw / 2, dh / 2, (dw + 1) / 2, (dh + 1) / 2}, nil, nn.PadConstant)
		h, w = picture(name, x)
	}
	half := func(n int) int { return int(math.RoundToEven(float64(n) / 2)) }
	return Crop(x, half(h-oh), half(w-ow), oh, ow)
}

// Pad surrounds pictures.
type Pad struct {
	// Padding is the number of pixels: left, top, right and bottom; or left and right, top and bottom; or
	// one for all.
	Padding []int
	Fill    []float64  // what PadConstant puts there, one number or one for each channel; nil means 0
	Mode    nn.PadMode // PadConstant, PadReflect or PadReplicate
}

// Apply implements [Transform].
func (t Pad) Apply(x *weft.Tensor, _ *weft.Generator) *weft.Tensor {
	const name = "pad"
	picture(name, x)
	return surrounded(name, x, sides(name, t.Padding), t.Fill, t.Mode)
}

// sides returns the padding left, top, right and bottom.
func sides(name string, p []int) []int {
	for _, n := range p {
		if n < 0 || n > math.MaxInt32 {
			array.Failf(name, "Padding", "has %d, want 0 or more", n)
		}
	}
	switch len(p) {
	case 1:
		return []int{p[0], p[0], p[0], p[0]}
	case 2:
		return []int{p[0], p[1], p[0], p[1]}
	case 4:
		return p
	}
	array.Failf(name, "Padding", "has %d numbers, want 1, 2 or 4", len(p))
	return nil
}

// surrounded pads x left, top, right and bottom.
func surrounded(name string, x *weft.Tensor, p []int, fill []float64, mode nn.PadMode) *weft.Tensor {
	defer array.Named(name).End()
	pad := nn.Pad{Pads: []int{p[0], p[2], p[1], p[3]}, Mode: mode}
	if mode == nn.PadCircular {
		array.Failf(name, "Mode", "is PadCircular, want PadConstant, PadReflect or PadReplicate")
	}
	if len(fill) <= 1 {
		if len(fill) == 1 {
			pad.Value = fill[0]
		}
		return pad.Forward(x)
	}
	perChannel(name, "Fill", fill, x)
	axis := x.Rank() - 3
	parts := x.Split(axis, ones(len(fill))...)
	for i := range parts {
		pad.Value = fill[i]
		parts[i] = pad.Forward(parts[i])
	}
	return weft.Cat(parts, axis)
}

func ones(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// RandomCrop cuts a part of a size out of pictures, at a random place.
type RandomCrop struct {
	Size    []int // height and width, or one number for both
	Padding []int // surrounds the picture first, as in [Pad]; nil means none
	// PadIfNeeded surrounds pictures that are smaller than Size; without it they are refused.
	PadIfNeeded bool
	Fill        []float64 // as in [Pad]
	Mode        nn.PadMode
}

// Apply implements [Transform].
func (t RandomCrop) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "random_crop"
	h, w := picture(name, x)
	oh, ow := size(name, "Size", t.Size)
	p := []int{0, 0, 0, 0}
	if t.Padding != nil {
		copy(p, sides(name, t.Padding))
	}
	if t.PadIfNeeded {
		dh, dw := max(oh-h-p[1]-p[3], 0), max(ow-w-p[0]-p[2], 0)
		p[0], p[1], p[2], p[3] = p[0]+dw, p[1]+dh, p[2]+dw, p[3]+dh
	}
	if p[0]+p[1]+p[2]+p[3] > 0 {
		x = surrounded(name, x, p, t.Fill, t.Mode)
		h, w = picture(name, x)
	}
	if oh > h || ow > w {
		array.Failf(name, "Size", "is %d times %d pixels, the picture with its padding %d times %d", oh, ow, h, w)
	}
	return Crop(x, below(g, h-oh+1), below(g, w-ow+1), oh, ow)
}

// RandomResizedCrop cuts a random part out of pictures, of random size and proportion, and resizes it
// (Szegedy et al., Going deeper with convolutions, 2015).
type RandomResizedCrop struct {
	Size          []int       // height and width, or one number for both
	Scale         *[2]float64 // the part of the area, least and most; nil means 0.08 to 1
	Ratio         *[2]float64 // width by height, least and most; nil means 3/4 to 4/3
	Interpolation *nn.InterpolateMode
	Antialias     *bool // as in [Resize]
}

// Apply implements [Transform].
func (t RandomResizedCrop) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "random_resized_crop"
	defer array.Named(name).End()
	h, w := picture(name, x)
	oh, ow := size(name, "Size", t.Size)
	small, large := between(name, "Scale", t.Scale, [2]float64{0.08, 1}, 0, math.Inf(1))
	narrow, wide := between(name, "Ratio", t.Ratio, [2]float64{3. / 4, 4. / 3}, math.SmallestNonzeroFloat64, math.Inf(1))
	for range 10 {
		ch, cw := patch(h, w, small, large, narrow, wide, g)
		if 0 < ch && ch <= h && 0 < cw && cw <= w {
			return resized(name, Crop(x, below(g, h-ch+1), below(g, w-cw+1), ch, cw), oh, ow, t.Interpolation, t.Antialias)
		}
	}
	ch, cw := h, w // the largest part in the middle
	switch ratio := float64(w) / float64(h); {
	case ratio < narrow:
		ch = int(math.RoundToEven(float64(w) / narrow))
	case ratio > wide:
		cw = int(math.RoundToEven(float64(h) * wide))
	}
	return resized(name, Crop(x, (h-ch)/2, (w-cw)/2, ch, cw), oh, ow, t.Interpolation, t.Antialias)
}

// patch draws height and width of a part of a picture: a part of its area, and a proportion of width by
// height whose logarithm is uniform. It may be too large.
func patch(h, w int, small, large, narrow, wide float64, g *weft.Generator) (ph, pw int) {
	area := uniform(g, small, large) * float64(h) * float64(w)
	ratio := math.Exp(uniform(g, math.Log(narrow), math.Log(wide)))
	round := func(x float64) int { return int(math.RoundToEven(min(math.Sqrt(x), math.MaxInt32))) }
	return round(area / ratio), round(area * ratio)
}

// RandomHorizontalFlip mirrors pictures left to right with probability P.
type RandomHorizontalFlip struct {
	P *float64 // nil means 0.5
}

// Apply implements [Transform].
func (t RandomHorizontalFlip) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	return flipped("random_horizontal_flip", x, -1, t.P, g)
}

// RandomVerticalFlip mirrors pictures upside down with probability P.
type RandomVerticalFlip struct {
	P *float64 // nil means 0.5
}

// Apply implements [Transform].
func (t RandomVerticalFlip) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	return flipped("random_vertical_flip", x, -2, t.P, g)
}

func flipped(name string, x *weft.Tensor, axis int, p *float64, g *weft.Generator) *weft.Tensor {
	picture(name, x)
	if !happens(name, p, 0.5, g) {
		return x
	}
	return x.Flip(axis)
}
