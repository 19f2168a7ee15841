package transforms

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// MixUp mixes each picture of a batch with the one before it (Zhang et al., mixup, 2018).
type MixUp struct {
	// Alpha is the parameter, above 0, of the symmetric Beta distribution of the part that a picture
	// keeps; nil means 1.
	Alpha *float64
	// Classes is the number of classes, for labels that are integers.
	Classes int
}

// Apply mixes x [batch, channels, height, width], of floats, and the labels y: classes [batch], or
// probabilities [batch, classes]. The labels of the result are probabilities. It draws with g; nil is the
// default generator. It panics with *weft.Error if shapes, types or options do not fit.
func (t MixUp) Apply(x, y *weft.Tensor, g *weft.Generator) (pictures, labels *weft.Tensor) {
	const name = "mix_up"
	defer array.Named(name).End()
	y = probabilities(name, x, y, t.Classes)
	if !x.DType().Float() {
		array.Failf(name, "x", "is %s, want floats", x.DType())
	}
	keep := part(name, t.Alpha, g)
	return mixed(x, keep), mixed(y, keep)
}

// CutMix puts a part of the picture before it into each picture of a batch (Yun et al., CutMix, 2019).
type CutMix struct {
	Alpha   *float64 // as in [MixUp], for the part of the area
	Classes int      // as in [MixUp]
}

// Apply mixes x [batch, channels, height, width] and the labels y as [MixUp.Apply] does. Labels keep the
// part of the area that their pictures keep.
func (t CutMix) Apply(x, y *weft.Tensor, g *weft.Generator) (pictures, labels *weft.Tensor) {
	const name = "cut_mix"
	defer array.Named(name).End()
	y = probabilities(name, x, y, t.Classes)
	h, w := x.Dim(2), x.Dim(3)
	half := math.Sqrt(1-part(name, t.Alpha, g)) / 2
	if h == 0 || w == 0 {
		return x, mixed(y, 1)
	}
	column, row := below(g, w), below(g, h)
	dx, dy := int(half*float64(w)), int(half*float64(h))
	left, right, top, bottom := max(column-dx, 0), min(column+dx, w), max(row-dy, 0), min(row+dy, h)
	keep := 1 - float64((right-left)*(bottom-top))/float64(h*w)
	return covered(x, x.Roll(0, 1), top, left, bottom-top, right-left), mixed(y, keep)
}

// mixed returns a part of each row and the rest of the one before it.
func mixed(x *weft.Tensor, keep float64) *weft.Tensor {
	return weft.Expr("x*keep + before*rest", weft.Vars{"x": x, "before": x.Roll(0, 1), "keep": keep, "rest": 1 - keep})
}

// part draws what is kept.
func part(name string, alpha *float64, g *weft.Generator) float64 {
	a := array.Or(alpha, 1)
	if !(a > 0) || math.IsInf(a, 1) {
		array.Failf(name, "Alpha", "is %v, want more than 0", a)
	}
	return generator(g).BetaOf(weft.Float64, a, a).Item()
}

// probabilities returns labels as probabilities, and refuses what does not fit to x.
func probabilities(name string, x, y *weft.Tensor, classes int) *weft.Tensor {
	picture(name, x)
	if x.Rank() != 4 {
		array.Failf(name, "x", "has shape %s, want [batch channels height width]", array.ShapeString(x.Shape()))
	}
	if y == nil {
		array.Failf(name, "y", "is nil")
	}
	switch {
	case y.Rank() < 1 || y.Rank() > 2 || y.Dim(0) != x.Dim(0):
		array.Failf(name, "y", "has shape %s, want [%d] or [%d classes]", array.ShapeString(y.Shape()), x.Dim(0), x.Dim(0))
	case y.Rank() == 2 && !y.DType().Float():
		return y.To(weft.Float32)
	case y.Rank() == 2:
		return y
	case classes < 1:
		array.Failf(name, "Classes", "is %d, want 1 or more", classes)
	}
	return nn.OneHot(y, classes).To(weft.Float32)
}
