package transforms

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// AffineOpts are the options of [Affine].
type AffineOpts struct {
	Angle         float64            // degrees, clockwise
	Translate     [2]float64         // pixels to the right and down
	Scale         *float64           // how many times as large, above 0; nil means 1
	Shear         [2]float64         // degrees along the width and the height
	Center        *[2]float64        // the pixel that stays, from the left and the top; nil means the middle
	Interpolation nn.InterpolateMode // ModeNearest or ModeLinear
	Fill          []float64          // what is outside, one number or one for each channel; nil means 0
}

// Affine turns, shears, resizes and moves pictures, in this order. Their size stays. It panics with
// *weft.Error if an option or x does not fit.
func Affine(x *weft.Tensor, opts ...AffineOpts) *weft.Tensor {
	const name = "affine"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	h, w := picture(name, x)
	scale := array.Or(o.Scale, 1)
	if !(scale > 0) || math.IsInf(scale, 1) {
		array.Failf(name, "Scale", "is %v, want more than 0", scale)
	}
	m := inverse(o.Angle, o.Translate, scale, o.Shear, middle(o.Center, h, w))
	return moved(name, x, m, h, w, o.Interpolation, o.Fill)
}

// RotateOpts are the options of [Rotate].
type RotateOpts struct {
	Expand        bool               // the result is large enough for the whole picture
	Center        *[2]float64        // the pixel that stays, from the left and the top; nil means the middle
	Interpolation nn.InterpolateMode // ModeNearest or ModeLinear
	Fill          []float64          // what is outside, one number or one for each channel; nil means 0
}

// Rotate turns pictures counterclockwise by some degrees. It panics with *weft.Error if an option or x
// does not fit.
func Rotate(x *weft.Tensor, degrees float64, opts ...RotateOpts) *weft.Tensor {
	const name = "rotate"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	h, w := picture(name, x)
	if math.IsNaN(degrees) || math.IsInf(degrees, 0) {
		array.Failf(name, "degrees", "is %v", degrees)
	}
	if degrees = math.Mod(degrees, 360); degrees < 0 {
		degrees += 360
	}
	if o.Center == nil {
		switch turns := degrees / 90; {
		case turns == 0:
			return x
		case turns == 2:
			return x.Flip(-1, -2)
		case turns == 1 && (o.Expand || h == w):
			return x.Transpose(-1, -2).Flip(-2)
		case turns == 3 && (o.Expand || h == w):
			return x.Transpose(-1, -2).Flip(-1)
		}
	}
	m := inverse(-degrees, [2]float64{}, 1, [2]float64{}, middle(o.Center, h, w))
	oh, ow := h, w
	if o.Expand {
		oh, ow = m.around(h, w)
	}
	return moved(name, x, m, oh, ow, o.Interpolation, o.Fill)
}

// middle returns a pixel relative to the middle of a picture.
func middle(center *[2]float64, h, w int) [2]float64 {
	if center == nil {
		return [2]float64{}
	}
	return [2]float64{center[0] - float64(w)/2, center[1] - float64(h)/2}
}

// A matrix maps places of a result to places of a picture, both relative to their middles: two rows.
type matrix [6]float64

// inverse returns the matrix that undoes a turn about a center, a shear, a scale and a move.
func inverse(degrees float64, move [2]float64, scale float64, shear, center [2]float64) matrix {
	angle, sx, sy := degrees*math.Pi/180, shear[0]*math.Pi/180, shear[1]*math.Pi/180
	a := math.Cos(angle-sy) / math.Cos(sy)
	b := -(float64(a*math.Tan(sx)) + math.Sin(angle))
	c := math.Sin(angle-sy) / math.Cos(sy)
	d := math.Cos(angle) - float64(c*math.Tan(sx))
	m := matrix{d / scale, -b / scale, 0, -c / scale, a / scale, 0}
	x, y := center[0]+move[0], center[1]+move[1]
	m[2] = center[0] - float64(m[0]*x) - float64(m[1]*y)
	m[5] = center[1] - float64(m[3]*x) - float64(m[4]*y)
	return m
}

// around returns the size of a result that holds all of a picture.
func (m matrix) around(h, w int) (oh, ow int) {
	extent := func(m []float64, half float64) int {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, x := range []float64{-float64(w) / 2, float64(w) / 2} {
			for _, y := range []float64{-float64(h) / 2, float64(h) / 2} {
				at := float64(m[0]*x) + float64(m[1]*y) + m[2]
				lo, hi = min(lo, at), max(hi, at)
			}
		}
		whole := func(x float64) float64 { return math.Trunc(float64(float32((x+half)*1e4))) * 1e-4 } // without what rounding adds
		return int(math.Ceil(whole(hi)) - math.Floor(whole(lo)))
	}
	return extent(m[3:], float64(h)/2), extent(m[:3], float64(w)/2)
}

// moved returns pictures of h times w pixels that lie in x where the matrix says.
func moved(name string, x *weft.Tensor, m matrix, h, w int, mode nn.InterpolateMode, fill []float64) *weft.Tensor {
	for _, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			array.Failf(name, "", "the angle, shear or translation is not finite or too large")
		}
	}
	array.CheckShape(name, []int{h, w, 2}, weft.Float64)
	d := asFloat(x).DType()
	along := func(n int) *weft.Tensor {
		return x.Device().Linspace(float64(1-n)/2, float64(n-1)/2, n).To(d)
	}
	place := func(m []float64, n int) *weft.Tensor {
		return weft.Expr("(a*x + b*y + c) / (n/2)", weft.Vars{"x": along(w), "y": along(h).Reshape(h, 1), "a": m[0], "b": m[1], "c": m[2], "n": max(n, 1)})
	}
	oldH, oldW := picture(name, x)
	return sampled(name, x, weft.Stack([]*weft.Tensor{place(m[:3], oldW), place(m[3:], oldH)}, 2), mode, fill)
}

// sampled returns pictures whose pixels lie in x at the places of a grid [height, width, 2], from -1 to 1.
func sampled(name string, x, grid *weft.Tensor, mode nn.InterpolateMode, fill []float64) *weft.Tensor {
	if mode != nn.ModeNearest && mode != nn.ModeLinear {
		array.Failf(name, "Interpolation", "is %d, want ModeNearest or ModeLinear", mode)
	}
	shape := x.Shape()
	n := len(shape)
	h, w := grid.Dim(0), grid.Dim(1)
	result := append(shape[:n-2:n-2], h, w)
	var over *weft.Tensor
	if fill != nil {
		over = perChannel(name, "Fill", fill, x)
	}
	if x.Size() == 0 {
		return x.Device().ZerosOf(x.DType(), result...)
	}
	f := asFloat(x)
	grid = grid.Unsqueeze(0)
	o := nn.GridSampleOpts{Mode: new(mode)}
	// All channels of a batch lie at the same places.
	y := nn.GridSample(f.Reshape(1, array.Size(shape[:n-2]), shape[n-2], shape[n-1]), grid, o).Reshape(result...)
	if over != nil {
		inside := nn.GridSample(x.Device().OnesOf(f.DType(), 1, 1, shape[n-2], shape[n-1]), grid, o).Reshape(h, w)
		if mode == nn.ModeNearest {
			y = weft.Where(inside.Lt(0.5), over, y)
		} else {
			y = weft.Expr("(y-over)*inside + over", weft.Vars{"y": y, "over": over, "inside": inside})
		}
	}
	if x.DType() == weft.Uint8 {
		y = y.Round()
	}
	return y.To(x.DType())
}

// RandomRotation turns pictures by an angle from -Degrees to Degrees.
type RandomRotation struct {
	Degrees float64
	RotateOpts
}

// Apply implements [Transform].
func (t RandomRotation) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "random_rotation"
	defer array.Named(name).End()
	degrees(name, "Degrees", t.Degrees)
	return Rotate(x, uniform(g, -t.Degrees, t.Degrees), t.RotateOpts)
}

// degrees refuses a range of angles that is negative or not finite.
func degrees(name, option string, d float64) {
	if !(d >= 0 && d <= 1e6) {
		array.Failf(name, option, "is %v, want 0 or more", d)
	}
}

// RandomAffine turns, shears, resizes and moves pictures at random.
type RandomAffine struct {
	Degrees       float64            // turns by -Degrees to Degrees
	Translate     [2]float64         // the most that it moves, as parts of width and height from 0 to 1
	Scale         *[2]float64        // how many times as large, least and most; nil means 1
	Shear         [2]float64         // the most degrees along width and height, to both sides
	Center        *[2]float64        // as in [AffineOpts]
	Interpolation nn.InterpolateMode // ModeNearest or ModeLinear
	Fill          []float64          // as in [AffineOpts]
}

// Apply implements [Transform].
func (t RandomAffine) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "random_affine"
	defer array.Named(name).End()
	h, w := picture(name, x)
	o := AffineOpts{Center: t.Center, Interpolation: t.Interpolation, Fill: t.Fill}
	degrees(name, "Degrees", t.Degrees)
	o.Angle = uniform(g, -t.Degrees, t.Degrees)
	for i, n := range []int{w, h} {
		if p := t.Translate[i]; !(p >= 0 && p <= 1) {
			array.Failf(name, "Translate", "has %v, want parts from 0 to 1", p)
		}
		degrees(name, "Shear", t.Shear[i])
		most := t.Translate[i] * float64(n)
		o.Translate[i] = math.RoundToEven(uniform(g, -most, most))
		o.Shear[i] = uniform(g, -t.Shear[i], t.Shear[i])
	}
	small, large := between(name, "Scale", t.Scale, [2]float64{1, 1}, math.SmallestNonzeroFloat64, math.Inf(1))
	o.Scale = new(uniform(g, small, large))
	return Affine(x, o)
}
