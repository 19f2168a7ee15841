package transforms

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// RandAugment applies some transforms, drawn from a fixed list of fourteen, all of one magnitude (Cubuk et
// al., RandAugment, 2020). It is defined for pictures of uint8; floats are taken too.
type RandAugment struct {
	NumOps        *int               // how many are applied; nil means 2
	Magnitude     *int               // from 0 to Bins-1; nil means 9
	Bins          *int               // the number of magnitudes, 2 or more; nil means 31
	Interpolation nn.InterpolateMode // ModeNearest or ModeLinear
	Fill          []float64          // what is outside of the picture; nil means 0
}

// Apply implements [Transform].
func (t RandAugment) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "rand_augment"
	defer array.Named(name).End()
	h, w := picture(name, x)
	bins, ops, at := array.Or(t.Bins, 31), array.Or(t.NumOps, 2), array.Or(t.Magnitude, 9)
	checkBins(name, bins)
	if ops < 0 {
		array.Failf(name, "NumOps", "is %d, want 0 or more", ops)
	}
	if at < 0 || at >= bins {
		array.Failf(name, "Magnitude", "is %d, want 0 to %d", at, bins-1)
	}
	part := float64(at) / float64(bins-1)
	most := usual(h, w)
	for range ops {
		x = most.change(x, g, below(g, changes), part, AffineOpts{Interpolation: t.Interpolation, Fill: t.Fill})
	}
	return x
}

// usual are the strengths of RandAugment and AutoAugment for a picture.
func usual(h, w int) strengths {
	const far = 150.0 / 331
	return strengths{shear: 0.3, moveX: far * float64(w), moveY: far * float64(h), turn: 30, color: 0.9, bits: 4}
}

// TrivialAugmentWide applies one transform of a fixed list of fourteen, of random magnitude (Müller and
// Hutter, TrivialAugment, 2021). It is defined for pictures of uint8; floats are taken too.
type TrivialAugmentWide struct {
	Bins          *int               // the number of magnitudes, 2 or more; nil means 31
	Interpolation nn.InterpolateMode // ModeNearest or ModeLinear
	Fill          []float64          // what is outside of the picture; nil means 0
}

// Apply implements [Transform].
func (t TrivialAugmentWide) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "trivial_augment_wide"
	defer array.Named(name).End()
	picture(name, x)
	bins := array.Or(t.Bins, 31)
	checkBins(name, bins)
	part := float64(below(g, bins)) / float64(bins-1)
	most := strengths{shear: 0.99, moveX: 32, moveY: 32, turn: 135, color: 0.99, bits: 6}
	return most.change(x, g, below(g, changes), part, AffineOpts{Interpolation: t.Interpolation, Fill: t.Fill})
}

func checkBins(name string, bins int) {
	if bins < 2 {
		array.Failf(name, "Bins", "is %d, want 2 or more", bins)
	}
}

// strengths are the magnitudes of changes at their most.
type strengths struct {
	shear        float64 // the tangent of the angle
	moveX, moveY float64 // pixels
	turn         float64 // degrees
	color        float64 // the factor, apart from 1
	bits         float64 // that are cut off
	cut          float64 // bits that are cut off in any case
}

// The changes that the transforms of this file draw from.
const (
	keep = iota
	shearX
	shearY
	translateX
	translateY
	turn
	brightness
	saturation
	contrast
	sharpness
	posterize
	solarize
	autoContrast
	equalize
	changes // their number, without the one that AutoAugment alone has
	invert  = changes
)

// change applies change k at a part of its strength, to a random side if it has two.
func (s strengths) change(x *weft.Tensor, g *weft.Generator, k int, part float64, o AffineOpts) *weft.Tensor {
	signed := func(most float64) float64 {
		if unit(g) <= 0.5 {
			return -part * most
		}
		return part * most
	}
	degrees := func(tangent float64) float64 { return math.Atan(tangent) * 180 / math.Pi }
	switch k {
	case shearX:
		o.Shear, o.Center = [2]float64{degrees(signed(s.shear)), 0}, &[2]float64{}
		return Affine(x, o)
	case shearY:
		o.Shear, o.Center = [2]float64{0, degrees(signed(s.shear))}, &[2]float64{}
		return Affine(x, o)
	case translateX:
		o.Translate[0] = math.Trunc(signed(s.moveX))
		return Affine(x, o)
	case translateY:
		o.Translate[1] = math.Trunc(signed(s.moveY))
		return Affine(x, o)
	case turn:
		return Rotate(x, signed(s.turn), RotateOpts{Interpolation: o.Interpolation, Fill: o.Fill})
	case brightness:
		return AdjustBrightness(x, 1+signed(s.color))
	case saturation:
		return AdjustSaturation(x, 1+signed(s.color))
	case contrast:
		return AdjustContrast(x, 1+signed(s.color))
	case sharpness:
		return AdjustSharpness(x, 1+signed(s.color))
	case posterize:
		return Posterize(x, 8-int(s.cut)-int(math.RoundToEven(part*s.bits)))
	case solarize:
		return Solarize(x, bound(x)*(1-part))
	case autoContrast:
		return AutoContrast(x)
	case equalize:
		return Equalize(x)
	case invert:
		return Invert(x)
	}
	return x
}
