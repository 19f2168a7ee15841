package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
)

// DCT is the cosine or sine transform of type 2 or 3 along an axis.
var DCT *Def

// A Cosine is the axis of a cosine or sine transform, and its form.
type Cosine struct {
	Axis  int
	Third bool        // type 3, which is the transpose of type 2 but for First
	Sine  bool        // the sine transform
	First float64     // factor of the coefficient of frequency 0, for sines of the last one; 0 means 1
	Norm  FourierNorm // of 2n elements
}

func (a Cosine) AppendKey(k []byte) []byte {
	return ir.Int(ir.Float(ir.Flag(ir.Flag(ir.Int(k, a.Axis), a.Third), a.Sine), a.First), int(a.Norm))
}

// transposed is the form of the transposed matrix. Coefficient 0 has the factor 2 in type 2 and 1 in type 3.
func (a Cosine) transposed() Cosine {
	if a.First == 0 {
		a.First = 1
	}
	if a.First *= 2; a.Third {
		a.First /= 4
	}
	a.Third = !a.Third
	return a
}

func init() {
	DCT = define(Def{Name: "dct", Class: Routine, Arity: 1, Attrs: Cosine{},
		Doc: "The discrete cosine transform of real numbers along an axis, or the sine transform, of type 2 or 3, times a factor.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				c.floats(1, 1)
				c.inRank(c.Attrs.(Cosine).Axis, len(c.Args[0].Shape))
				return c.Args[0].DType, c.Args[0].Shape
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineDCT},
		Derivative: Derivative{VJP: func(v *VJP) {
			a := v.Node.Attrs.(Cosine)
			v.Set(0, func() *node { return Apply(DCT, a.transposed(), v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{12}}}, {Shapes: [][]int{{2, 7}}, Attrs: Cosine{Axis: 1, Third: true, Norm: ByLength}},
			{Shapes: [][]int{{5, 3}}, Attrs: Cosine{Sine: true, Norm: ByRoot, First: math.Sqrt2 / 2}}, {Shapes: [][]int{{3, 4}}, Attrs: Cosine{Axis: 1, Third: true, Sine: true, First: math.Sqrt2}},
			{Shapes: [][]int{{0, 3}}, Attrs: Cosine{Axis: 1}}}}})
}
