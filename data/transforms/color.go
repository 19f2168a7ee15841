package transforms

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// colors returns the axis of the channels, and refuses what is neither gray nor red, green and blue.
func colors(name string, x *weft.Tensor) (axis, channels int) {
	picture(name, x)
	axis = x.Rank() - 3
	if channels = x.Dim(axis); channels != 1 && channels != 3 {
		array.Failf(name, "x", "has %d channels, want 1 or 3", channels)
	}
	return axis, channels
}

// factor refuses a factor that is negative or not a number.
func factor(name string, f float64) {
	if !(f >= 0) || math.IsInf(f, 1) {
		array.Failf(name, "by", "is %v, want 0 or more", f)
	}
}

// luminance returns red, green and blue as one channel of floats.
func luminance(x *weft.Tensor, axis int) *weft.Tensor {
	rgb := asFloat(x).Split(axis, 1, 1, 1)
	return weft.Expr("0.2989*r + 0.587*g + 0.114*b", rgb[0], rgb[1], rgb[2])
}

// wholeLuminance is luminance, rounded down for uint8.
func wholeLuminance(x *weft.Tensor, axis int) *weft.Tensor {
	y := luminance(x, axis)
	if x.DType() == weft.Uint8 {
		return y.Floor()
	}
	return y
}

// largeFactor is the factor above which float64 computes: in float16 and float32 products may be infinite,
// and their differences NaN.
const largeFactor = 1e4

// forFactor returns x as floats whose products with the factor that it returns are finite. Where such a
// product is not 0, it is far beyond full intensity, so that a larger factor changes nothing.
func forFactor(x *weft.Tensor, factor float64) (*weft.Tensor, float64) {
	if factor <= largeFactor {
		return asFloat(x), factor
	}
	return x.To(weft.Float64), min(factor, 1e300)
}

// blended returns x with other instead of a part of 1-factor, in the type of x.
func blended(x, other *weft.Tensor, factor float64) *weft.Tensor {
	text := "clamp(x*f + y*rest, 0, most)"
	if factor > largeFactor { // so that y does not vanish beside the products
		text = "clamp(y + (x-y)*f, 0, most)"
	}
	f, by := forFactor(x, factor)
	y := weft.Expr(text, weft.Vars{"x": f, "y": other.To(f.DType()), "f": by, "rest": 1 - by, "most": bound(x)})
	return y.To(x.DType())
}

// AdjustBrightness multiplies intensities by a factor: 0 is black, 1 leaves them. It panics with
// *weft.Error if the factor is negative or x is not gray or red, green and blue.
func AdjustBrightness(x *weft.Tensor, by float64) *weft.Tensor {
	const name = "adjust_brightness"
	defer array.Named(name).End()
	colors(name, x)
	factor(name, by)
	f, by := forFactor(x, by)
	return weft.Expr("clamp(x*f, 0, most)", weft.Vars{"x": f, "f": by, "most": bound(x)}).To(x.DType())
}

// AdjustContrast multiplies the distances from the mean luminance by a factor: 0 is gray, 1 leaves them.
// It panics as [AdjustBrightness] does.
func AdjustContrast(x *weft.Tensor, by float64) *weft.Tensor {
	const name = "adjust_contrast"
	defer array.Named(name).End()
	axis, channels := colors(name, x)
	factor(name, by)
	gray := asFloat(x)
	if channels == 3 {
		gray = wholeLuminance(x, axis)
	}
	return blended(x, gray.MeanKeep(axis, axis+1, axis+2), by)
}

// AdjustSaturation multiplies the distances from gray by a factor: 0 is gray, 1 leaves them. A gray
// picture stays. It panics as [AdjustBrightness] does.
func AdjustSaturation(x *weft.Tensor, by float64) *weft.Tensor {
	const name = "adjust_saturation"
	defer array.Named(name).End()
	axis, channels := colors(name, x)
	factor(name, by)
	if channels == 1 {
		return x
	}
	return blended(x, wholeLuminance(x, axis), by)
}

// AdjustHue turns colours on the wheel of red, green and blue, by a part of it from -0.5 to 0.5. A gray
// picture stays. It panics with *weft.Error if the part is not in that interval, or x is not gray or red,
// green and blue.
func AdjustHue(x *weft.Tensor, by float64) *weft.Tensor {
	const name = "adjust_hue"
	defer array.Named(name).End()
	axis, channels := colors(name, x)
	if !(by >= -0.5 && by <= 0.5) {
		array.Failf(name, "by", "is %v, want -0.5 to 0.5", by)
	}
	if channels == 1 {
		return x
	}
	d := x.DType()
	rgb := ToDtype{DType: weft.Float32, Scale: true}.Apply(x, nil).Split(axis, 1, 1, 1)
	r, g, b := rgb[0], rgb[1], rgb[2]
	v := weft.Expr("max(max(r, g), b)", r, g, b)
	span := weft.Expr("v - min(min(r, g), b)", v, r, g, b)
	// The hue in sixths of the wheel, from 0 to below 6.
	h := weft.Expr("(where(v == r, g-b, where(v == g, 2*c + b - r, 4*c + r - g)) / where(c == 0, 1, c) / 6 + by) % 1 * 6",
		weft.Vars{"v": v, "r": r, "g": g, "b": b, "c": span, "by": by})
	// Each channel falls from v to v-span and rises again, at its own place of the wheel.
	at := x.Device().From([]float32{5, 3, 1}).Reshape(3, 1, 1)
	y := weft.Expr("v - c*clamp(min((h+at) % 6, 4 - (h+at) % 6), 0, 1)", weft.Vars{"v": v, "c": span, "h": h, "at": at})
	return ToDtype{DType: d, Scale: true}.Apply(y, nil)
}

// AdjustGamma raises intensities from 0 to 1 to a power and multiplies them by a gain. It panics with
// *weft.Error if gamma or the gain is negative or not finite, or x is not a picture.
func AdjustGamma(x *weft.Tensor, gamma, gain float64) *weft.Tensor {
	const name = "adjust_gamma"
	defer array.Named(name).End()
	picture(name, x)
	for i, v := range []float64{gamma, gain} {
		if !(v >= 0) || math.IsInf(v, 1) {
			array.Failf(name, []string{"gamma", "gain"}[i], "is %v, want 0 or more", v)
		}
	}
	y := x
	if x.DType() == weft.Uint8 {
		y = ToDtype{DType: weft.Float32, Scale: true}.Apply(x, nil)
	}
	if y = y.Pow(gamma); gain != 1 {
		d := y.DType()
		y, gain = forFactor(y, gain)
		y = y.Mul(gain).Clamp(0, 1).To(d)
	}
	return ToDtype{DType: x.DType(), Scale: true}.Apply(y, nil)
}

// AdjustSharpness multiplies the distances from a blurred picture by a factor: 0 blurs, 1 leaves it. The
// outermost pixels stay. It panics as [AdjustBrightness] does.
func AdjustSharpness(x *weft.Tensor, by float64) *weft.Tensor {
	const name = "adjust_sharpness"
	defer array.Named(name).End()
	colors(name, x)
	factor(name, by)
	h, w := picture(name, x)
	if h <= 2 || w <= 2 || x.Size() == 0 {
		return x
	}
	const corner, middle = 1. / 13, 5. / 13
	f, by := forFactor(x, by)
	taps := x.Device().From([]float64{corner, corner, corner, corner, middle, corner, corner, corner, corner}).To(f.DType()).Reshape(1, 1, 3, 3)
	blurred := filtered(f, taps)
	if x.DType() == weft.Uint8 {
		blurred = blurred.Round()
	}
	inside := f.Slice(weft.Ellipsis, weft.Range(1, h-1), weft.Range(1, w-1))
	inside = weft.Expr("x + (y-x)*rest", weft.Vars{"x": inside, "y": blurred, "rest": 1 - by})
	axis := x.Rank() - 2
	rows := f.Split(axis, 1, h-2, 1)
	sides := rows[1].Split(axis+1, 1, w-2, 1)
	y := weft.Cat([]*weft.Tensor{rows[0], weft.Cat([]*weft.Tensor{sides[0], inside, sides[2]}, axis+1), rows[2]}, axis)
	return y.Clamp(0, bound(x)).To(x.DType())
}

// filtered slides taps [1, 1, h, w] over each channel, without padding.
func filtered(x, taps *weft.Tensor) *weft.Tensor {
	shape := x.Shape()
	n := len(shape)
	y := x.Reshape(array.Size(shape[:n-2]), 1, shape[n-2], shape[n-1]).Conv2d(taps, nil)
	return y.Reshape(append(shape[:n-2:n-2], y.Dim(2), y.Dim(3))...)
}

// Invert turns intensities round: black is white. It panics with *weft.Error if x is not a picture.
func Invert(x *weft.Tensor) *weft.Tensor {
	const name = "invert"
	defer array.Named(name).End()
	picture(name, x)
	if x.DType() == weft.Uint8 {
		return x.BitNot()
	}
	return x.RSub(1)
}

// Solarize inverts the intensities from a threshold on. It panics with *weft.Error if the threshold is
// more than the largest intensity, 255 for uint8 and 1 for floats.
func Solarize(x *weft.Tensor, threshold float64) *weft.Tensor {
	const name = "solarize"
	defer array.Named(name).End()
	picture(name, x)
	if !(threshold <= bound(x)) {
		array.Failf(name, "threshold", "is %v, want at most %v", threshold, bound(x))
	}
	return weft.Where(asFloat(x).Ge(threshold), Invert(x), x)
}

// Posterize keeps some of the 8 bits of each intensity. It panics with *weft.Error if they are not 0 to 8.
func Posterize(x *weft.Tensor, bits int) *weft.Tensor {
	const name = "posterize"
	defer array.Named(name).End()
	picture(name, x)
	if bits < 0 || bits > 8 {
		array.Failf(name, "bits", "is %d, want 0 to 8", bits)
	}
	if x.DType() == weft.Uint8 {
		return x.BitAnd(0xff &^ (0xff >> bits))
	}
	levels := float64(int(1) << bits)
	return weft.Expr("clamp(floor(x*n), 0, n-1) * (1/n)", weft.Vars{"x": x, "n": levels})
}

// AutoContrast stretches each channel so that its intensities go from 0 to the largest. It panics with
// *weft.Error if x is not gray or red, green and blue.
func AutoContrast(x *weft.Tensor) *weft.Tensor {
	const name = "auto_contrast"
	defer array.Named(name).End()
	axis, _ := colors(name, x)
	if x.Size() == 0 {
		return x
	}
	f := asFloat(x)
	lo, hi := f.MinKeep(axis+1, axis+2), f.MaxKeep(axis+1, axis+2)
	y := weft.Expr("where(lo == hi, x, clamp((x-lo) / where(lo == hi, 1, (hi-lo)*(1/most)), 0, most))", weft.Vars{"x": f, "lo": lo, "hi": hi, "most": bound(x)})
	return y.To(x.DType())
}

// Equalize changes the intensities of each channel so that all occur about equally often. Floats are
// rounded down to 256 of them. It panics with *weft.Error if x is not a picture.
func Equalize(x *weft.Tensor) *weft.Tensor {
	const name = "equalize"
	defer array.Named(name).End()
	h, w := picture(name, x)
	if x.Size() == 0 {
		return x
	}
	whole := ToDtype{DType: weft.Uint8, Scale: true}.Apply(x.Detach(), nil)
	n := array.Size(x.Shape()[:x.Rank()-2])
	places := whole.To(weft.Int64).Reshape(n, h*w)
	counts := x.Device().ZerosOf(weft.Int64, n, 256).ScatterAdd(1, places, x.Device().OnesOf(weft.Int64).Expand(n, h*w))
	below := counts.CumSum(1)
	most := places.MaxKeep(1)
	step := counts.Gather(1, most).RSub(h * w).FloorDiv(255)
	table := below.Slice(weft.All, weft.Range(0, 255)).Add(step.FloorDiv(2)).FloorDiv(step.Maximum(1)).Clamp(0, 255)
	y := table.Pad(0, 0, 0, 1, 0).Gather(1, places)
	y = weft.Where(step.Ne(0), y, places).To(weft.Uint8).Reshape(x.Shape()...)
	return ToDtype{DType: x.DType(), Scale: true}.Apply(y, nil)
}

// Grayscale turns red, green and blue into luminance.
type Grayscale struct {
	Channels *int // 1, or 3 that are equal; nil means 1
}

// Apply implements [Transform].
func (t Grayscale) Apply(x *weft.Tensor, _ *weft.Generator) *weft.Tensor {
	const name = "grayscale"
	defer array.Named(name).End()
	axis, channels := colors(name, x)
	want := array.Or(t.Channels, 1)
	if want != 1 && want != 3 {
		array.Failf(name, "Channels", "is %d, want 1 or 3", want)
	}
	if channels == 3 {
		x = luminance(x, axis).To(x.DType())
	}
	if want == 1 {
		return x
	}
	shape := x.Shape()
	shape[axis] = want
	return x.Expand(shape...)
}

// RandomGrayscale turns pictures gray with probability P. The number of channels stays.
type RandomGrayscale struct {
	P *float64 // nil means 0.1
}

// Apply implements [Transform].
func (t RandomGrayscale) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "random_grayscale"
	_, channels := colors(name, x)
	if !happens(name, t.P, 0.1, g) {
		return x
	}
	return Grayscale{Channels: new(channels)}.Apply(x, g)
}

// ColorJitter changes brightness, contrast, saturation and hue at random, in random order. Factors are
// uniform from 1 minus a number, at least 0, to 1 plus that number. The hue turns by at most Hue.
type ColorJitter struct {
	Brightness, Contrast, Saturation float64 // 0 or more
	Hue                              float64 // 0 to 0.5
}

// Apply implements [Transform].
func (t ColorJitter) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "color_jitter"
	defer array.Named(name).End()
	colors(name, x)
	if !(t.Hue >= 0 && t.Hue <= 0.5) {
		array.Failf(name, "Hue", "is %v, want 0 to 0.5", t.Hue)
	}
	var changes []func(x *weft.Tensor) *weft.Tensor
	for _, c := range []struct {
		name   string
		by     float64
		middle float64
		adjust func(x *weft.Tensor, by float64) *weft.Tensor
	}{
		{"Brightness", t.Brightness, 1, AdjustBrightness},
		{"Contrast", t.Contrast, 1, AdjustContrast},
		{"Saturation", t.Saturation, 1, AdjustSaturation},
		{"Hue", t.Hue, 0, AdjustHue},
	} {
		if !(c.by >= 0) || math.IsInf(c.by, 1) {
			array.Failf(name, c.name, "is %v, want 0 or more", c.by)
		}
		if c.by == 0 {
			continue
		}
		by := uniform(g, max(c.middle-c.by, c.middle-1), c.middle+c.by)
		changes = append(changes, func(x *weft.Tensor) *weft.Tensor { return c.adjust(x, by) })
	}
	for _, change := range shuffled(changes, g) {
		x = change(x)
	}
	return x
}

// GaussianBlur blurs pictures by a Gaussian curve. The picture is mirrored at its borders.
type GaussianBlur struct {
	KernelSize []int       // pixels that count, along the width and the height, odd; one number for both
	Sigma      *[2]float64 // the least and the most deviation, which is drawn; nil means 0.1 to 2
}

// Apply implements [Transform].
func (t GaussianBlur) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "gaussian_blur"
	defer array.Named(name).End()
	picture(name, x)
	kw, kh := size(name, "KernelSize", t.KernelSize)
	if kw%2 == 0 || kh%2 == 0 {
		array.Failf(name, "KernelSize", "is %v, want odd numbers", t.KernelSize)
	}
	lo, hi := between(name, "Sigma", t.Sigma, [2]float64{0.1, 2}, math.SmallestNonzeroFloat64, math.Inf(1))
	sigma := uniform(g, lo, hi)
	if x.Size() == 0 {
		return x
	}
	y := blurred(asFloat(x), kw, kh, sigma, sigma)
	if x.DType() == weft.Uint8 {
		y = y.Round()
	}
	return y.To(x.DType())
}

// blurred returns pictures of floats blurred by Gaussian curves along the width and the height.
func blurred(x *weft.Tensor, kw, kh int, sigmaW, sigmaH float64) *weft.Tensor {
	if kw > 1 || kh > 1 {
		x = nn.Pad{Pads: []int{kw / 2, kw / 2, kh / 2, kh / 2}, Mode: nn.PadReflect}.Forward(x)
	}
	x = filtered(x, gaussian(x, kw, sigmaW).Reshape(1, 1, 1, kw))
	return filtered(x, gaussian(x, kh, sigmaH).Reshape(1, 1, kh, 1))
}

// gaussian returns n numbers of a Gaussian curve, whose sum is 1, in the type of x.
func gaussian(x *weft.Tensor, n int, sigma float64) *weft.Tensor {
	curve, sum := make([]float64, n), 0.0
	for i := range curve {
		d := (float64(i) - float64(n-1)/2) / sigma
		curve[i] = math.Exp(-d * d / 2)
		sum += curve[i]
	}
	for i := range curve {
		curve[i] /= sum
	}
	return x.Device().From(curve).To(x.DType())
}

// RandomErasing covers a random part of pictures with probability P (Zhong et al., Random erasing data
// augmentation, 2020).
type RandomErasing struct {
	P     *float64    // nil means 0.5
	Scale *[2]float64 // the part of the area, least and most; nil means 0.02 to 0.33
	Ratio *[2]float64 // height by width, least and most; nil means 0.3 to 3.3
	Value []float64   // what covers, one number or one for each channel; nil means 0
	Noise bool        // covers with standard normal numbers, floats alone
}

// Apply implements [Transform].
func (t RandomErasing) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "random_erasing"
	defer array.Named(name).End()
	h, w := picture(name, x)
	if t.Noise && (!x.DType().Float() || t.Value != nil) {
		array.Failf(name, "Noise", "goes with floats and without Value, got %s and %v", x.DType(), t.Value)
	}
	small, large := between(name, "Scale", t.Scale, [2]float64{0.02, 0.33}, 0, 1)
	low, high := between(name, "Ratio", t.Ratio, [2]float64{0.3, 3.3}, math.SmallestNonzeroFloat64, math.Inf(1))
	value := t.Value
	if value == nil {
		value = []float64{0}
	}
	over := perChannel(name, "Value", value, x)
	if !happens(name, t.P, 0.5, g) {
		return x
	}
	for range 10 {
		ew, eh := patch(w, h, small, large, low, high, g)
		if eh >= h || ew >= w {
			continue
		}
		top, left := below(g, h-eh+1), below(g, w-ew+1)
		if t.Noise {
			over = generator(g).On(x.Device()).RandnOf(x.DType(), x.Shape()...)
		}
		return covered(x, over.To(x.DType()), top, left, eh, ew)
	}
	return x
}

// covered returns x with other elements in a part of the pictures.
func covered(x, other *weft.Tensor, top, left, height, width int) *weft.Tensor {
	n := x.Rank()
	row, column := x.Device().Arange(x.Dim(n-2)).Reshape(-1, 1), x.Device().Arange(x.Dim(n-1))
	return weft.Expr("where((i >= top) && (i < bottom) && (j >= left) && (j < right), other, x)", weft.Vars{
		"i": row, "j": column, "top": top, "bottom": top + height, "left": left, "right": left + width, "other": other, "x": x})
}
