package transforms

import (
	"weft"
	"weft/internal/array"
	"weft/nn"
)

// An AutoAugmentPolicy is a list of pairs of changes that were found to help on a data set (Cubuk et al.,
// AutoAugment, 2019).
type AutoAugmentPolicy int

// The policies of [AutoAugment].
const (
	PolicyImageNet AutoAugmentPolicy = iota
	PolicyCIFAR10
	PolicySVHN
)

// A step of a policy is a change, its probability in tenths, and its magnitude in ninths of the strongest.
type step struct{ change, tenths, level int }

// policies are torchvision's, which testdata/policies.txt lists.
var policies = [...][][2]step{
	{
		{{posterize, 4, 8}, {turn, 6, 9}},
		{{solarize, 6, 5}, {autoContrast, 6, 0}},
		{{equalize, 8, 0}, {equalize, 6, 0}},
		{{posterize, 6, 7}, {posterize, 6, 6}},
		{{equalize, 4, 0}, {solarize, 2, 4}},
		{{equalize, 4, 0}, {turn, 8, 8}},
		{{solarize, 6, 3}, {equalize, 6, 0}},
		{{posterize, 8, 5}, {equalize, 10, 0}},
		{{turn, 2, 3}, {solarize, 6, 8}},
		{{equalize, 6, 0}, {posterize, 4, 6}},
		{{turn, 8, 8}, {saturation, 4, 0}},
		{{turn, 4, 9}, {equalize, 6, 0}},
		{{equalize, 0, 0}, {equalize, 8, 0}},
		{{invert, 6, 0}, {equalize, 10, 0}},
		{{saturation, 6, 4}, {contrast, 10, 8}},
		{{turn, 8, 8}, {saturation, 10, 2}},
		{{saturation, 8, 8}, {solarize, 8, 7}},
		{{sharpness, 4, 7}, {invert, 6, 0}},
		{{shearX, 6, 5}, {equalize, 10, 0}},
		{{saturation, 4, 0}, {equalize, 6, 0}},
		{{equalize, 4, 0}, {solarize, 2, 4}},
		{{solarize, 6, 5}, {autoContrast, 6, 0}},
		{{invert, 6, 0}, {equalize, 10, 0}},
		{{saturation, 6, 4}, {contrast, 10, 8}},
		{{equalize, 8, 0}, {equalize, 6, 0}},
	},
	{
		{{invert, 1, 0}, {contrast, 2, 6}},
		{{turn, 7, 2}, {translateX, 3, 9}},
		{{sharpness, 8, 1}, {sharpness, 9, 3}},
		{{shearY, 5, 8}, {translateY, 7, 9}},
		{{autoContrast, 5, 0}, {equalize, 9, 0}},
		{{shearY, 2, 7}, {posterize, 3, 7}},
		{{saturation, 4, 3}, {brightness, 6, 7}},
		{{sharpness, 3, 9}, {brightness, 7, 9}},
		{{equalize, 6, 0}, {equalize, 5, 0}},
		{{contrast, 6, 7}, {sharpness, 6, 5}},
		{{saturation, 7, 7}, {translateX, 5, 8}},
		{{equalize, 3, 0}, {autoContrast, 4, 0}},
		{{translateY, 4, 3}, {sharpness, 2, 6}},
		{{brightness, 9, 6}, {saturation, 2, 8}},
		{{solarize, 5, 2}, {invert, 0, 0}},
		{{equalize, 2, 0}, {autoContrast, 6, 0}},
		{{equalize, 2, 0}, {equalize, 6, 0}},
		{{saturation, 9, 9}, {equalize, 6, 0}},
		{{autoContrast, 8, 0}, {solarize, 2, 8}},
		{{brightness, 1, 3}, {saturation, 7, 0}},
		{{solarize, 4, 5}, {autoContrast, 9, 0}},
		{{translateY, 9, 9}, {translateY, 7, 9}},
		{{autoContrast, 9, 0}, {solarize, 8, 3}},
		{{equalize, 8, 0}, {invert, 1, 0}},
		{{translateY, 7, 9}, {autoContrast, 9, 0}},
	},
	{
		{{shearX, 9, 4}, {invert, 2, 0}},
		{{shearY, 9, 8}, {invert, 7, 0}},
		{{equalize, 6, 0}, {solarize, 6, 6}},
		{{invert, 9, 0}, {equalize, 6, 0}},
		{{equalize, 6, 0}, {turn, 9, 3}},
		{{shearX, 9, 4}, {autoContrast, 8, 0}},
		{{shearY, 9, 8}, {invert, 4, 0}},
		{{shearY, 9, 5}, {solarize, 2, 6}},
		{{invert, 9, 0}, {autoContrast, 8, 0}},
		{{equalize, 6, 0}, {turn, 9, 3}},
		{{shearX, 9, 4}, {solarize, 3, 3}},
		{{shearY, 8, 8}, {invert, 7, 0}},
		{{equalize, 9, 0}, {translateY, 6, 6}},
		{{invert, 9, 0}, {equalize, 6, 0}},
		{{contrast, 3, 3}, {turn, 8, 4}},
		{{invert, 8, 0}, {translateY, 0, 2}},
		{{shearY, 7, 6}, {solarize, 4, 8}},
		{{invert, 6, 0}, {turn, 8, 4}},
		{{shearY, 3, 7}, {translateX, 9, 3}},
		{{shearX, 1, 6}, {invert, 6, 0}},
		{{solarize, 7, 2}, {translateY, 6, 7}},
		{{shearY, 8, 4}, {invert, 8, 0}},
		{{shearX, 7, 9}, {translateY, 8, 3}},
		{{shearY, 8, 5}, {autoContrast, 7, 0}},
		{{shearX, 7, 2}, {invert, 1, 0}},
	},
}

// AutoAugment applies a pair of changes that it draws from a policy. It is defined for pictures of uint8;
// floats are taken too.
type AutoAugment struct {
	Policy        AutoAugmentPolicy
	Interpolation nn.InterpolateMode // ModeNearest or ModeLinear
	Fill          []float64          // what is outside of the picture; nil means 0
}

// Apply implements [Transform].
func (t AutoAugment) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "auto_augment"
	defer array.Named(name).End()
	h, w := picture(name, x)
	if t.Policy < 0 || int(t.Policy) >= len(policies) {
		array.Failf(name, "Policy", "is %d, want PolicyImageNet, PolicyCIFAR10 or PolicySVHN", t.Policy)
	}
	pairs := policies[t.Policy]
	for _, s := range pairs[below(g, len(pairs))] {
		if unit(g) < float64(s.tenths)/10 {
			x = usual(h, w).change(x, g, s.change, float64(s.level)/9, AffineOpts{Interpolation: t.Interpolation, Fill: t.Fill})
		}
	}
	return x
}

// AugMix mixes a picture with several versions of it, each made by a chain of random changes (Hendrycks et
// al., AugMix, 2020). Weights are Dirichlet numbers, the same for all pictures of a batch. It is defined for
// pictures of uint8; floats are taken too.
type AugMix struct {
	Severity      *int                // the strongest change, from 1 to 10; nil means 3
	Width         *int                // the number of chains, 1 or more; nil means 3
	Depth         *int                // the changes of a chain, 1 or more; nil means 1 to 3 at random
	Alpha         *float64            // the concentration of the weights, above 0; nil means 1
	WithoutColors bool                // leaves brightness, contrast, saturation and sharpness alone
	Interpolation *nn.InterpolateMode // ModeNearest or ModeLinear; nil means ModeLinear
	Fill          []float64           // what is outside of the picture; nil means 0
}

// mixable are the changes of AugMix; changes of colours come last.
var mixable = [...]int{shearX, shearY, translateX, translateY, turn, posterize, solarize, autoContrast, equalize,
	brightness, saturation, contrast, sharpness}

// Apply implements [Transform].
func (t AugMix) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "aug_mix"
	defer array.Named(name).End()
	h, w := picture(name, x)
	severity, width, alpha := array.Or(t.Severity, 3), array.Or(t.Width, 3), array.Or(t.Alpha, 1)
	for _, o := range []struct {
		name    string
		v, most int
	}{{"Severity", severity, 10}, {"Width", width, 1 << 10}, {"Depth", array.Or(t.Depth, 1), 1 << 10}} {
		if o.v < 1 || o.v > o.most {
			array.Failf(name, o.name, "is %d, want 1 to %d", o.v, o.most)
		}
	}
	if !(alpha > 0 && alpha < 1e6) {
		array.Failf(name, "Alpha", "is %v, want more than 0", alpha)
	}
	list := mixable[:]
	if t.WithoutColors {
		list = list[:len(list)-4]
	}
	g = generator(g)
	weights := func(n int) []float64 {
		return weft.Data[float64](g.DirichletOf(weft.Float64, weft.FullOf(weft.Float64, alpha, n)))
	}
	parts, chains := weights(2), weights(width)
	most := strengths{shear: 0.3, moveX: float64(w) / 3, moveY: float64(h) / 3, turn: 30, color: 0.9, bits: 4, cut: 4}
	o := AffineOpts{Interpolation: array.Or(t.Interpolation, nn.ModeLinear), Fill: t.Fill}
	mix := asFloat(x).Mul(parts[0])
	for _, weight := range chains {
		y, depth := x, 0
		if t.Depth != nil {
			depth = *t.Depth
		} else {
			depth = 1 + below(g, 3)
		}
		for range depth {
			y = most.change(y, g, list[below(g, len(list))], float64(below(g, severity))/9, o)
		}
		mix = weft.Expr("m + w*y", weft.Vars{"m": mix, "w": weight * parts[1], "y": asFloat(y)})
	}
	return mix.To(x.DType())
}
