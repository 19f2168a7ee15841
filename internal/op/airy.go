package op

import (
	"weft/internal/loop"
	"weft/internal/vmath"
)

// Airy's functions of real numbers (DLMF chapter 9) and their derivatives.
var AiryAi, AiryAip, AiryBi, AiryBip *Def

func init() {
	for _, f := range []struct {
		def       **Def
		name, doc string
		expr      func(b *loop.Builder, x loop.Value) loop.Value
	}{
		{&AiryAi, "airy_ai", "Airy's function Ai.", vmath.AiryAi}, {&AiryAip, "airy_aip", "The derivative of Airy's function Ai.", vmath.AiryAip},
		{&AiryBi, "airy_bi", "Airy's function Bi.", vmath.AiryBi}, {&AiryBip, "airy_bip", "The derivative of Airy's function Bi.", vmath.AiryBip},
	} {
		*f.def = wideSpecial(f.name, 120, f.doc, Conformance{Domains: [][2]float64{{-4, 3}}},
			func(s stream, x []val) val { return f.expr(s.bld, x[0]) }, func(v *VJP) {
				v.Set(0, func() *node {
					switch f.def {
					case &AiryAi:
						return mul(v.DY, apply(AiryAip, v.X[0]))
					case &AiryBi:
						return mul(v.DY, apply(AiryBip, v.X[0]))
					case &AiryAip:
						return mul(v.DY, mul(v.X[0], apply(AiryAi, v.X[0])))
					}
					return mul(v.DY, mul(v.X[0], apply(AiryBi, v.X[0])))
				})
			})
	}
}
