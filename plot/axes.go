package plot

import (
	"image"
	"image/color"
	"math"
	"math/bits"
	"slices"

	"weft"
	"weft/internal/array"
)

// Axes are a rectangle with a horizontal and a vertical axis, and what is drawn in it. Its fields may be set
// at any time. It serves one goroutine.
type Axes struct {
	Title, XLabel, YLabel string
	XLog, YLog            bool        // logarithmic axes
	XLim, YLim            *[2]float64 // the ends of an axis, the second may be the smaller one; nil, or ends that no axis has, hold all data
	Hidden                bool        // no axes, ticks and grid: the drawing alone

	artists []artist
	colours int // taken from the cycle
}

// LineOpts are the options of a line.
type LineOpts struct {
	Label  string      // in the legend; "" for none
	Color  color.Color // nil takes the next one of the cycle
	Width  *float64    // pixels, more than 0; nil means 2
	Dashed bool
	Marker bool // dots at the points
}

// Plot draws a line through points. x is nil for 0, 1, 2 and so on. It panics with *weft.Error if the
// numbers differ in length or are not numbers.
func (a *Axes) Plot(x, y any, opts ...LineOpts) {
	o := array.Options("plot", opts)
	xs, ys := a.pairs("plot", x, "y", y)
	width := positive("plot", "Width", array.Or(o.Width, 2))
	a.add(&line{xs, ys, a.ink(o.Color), width, o.Dashed, o.Marker, o.Label})
}

// ScatterOpts are the options of points.
type ScatterOpts struct {
	Label string      // in the legend; "" for none
	Color color.Color // nil takes the next one of the cycle
	Size  *float64    // radius in pixels, more than 0; nil means 3.5
}

// Scatter draws a dot at each point. It panics as [Axes.Plot] does.
func (a *Axes) Scatter(x, y any, opts ...ScatterOpts) {
	o := array.Options("scatter", opts)
	xs, ys := a.pairs("scatter", x, "y", y)
	a.add(&dots{xs, ys, a.ink(o.Color), positive("scatter", "Size", array.Or(o.Size, 3.5)), o.Label})
}

// BarOpts are the options of bars and of areas.
type BarOpts struct {
	Label string      // in the legend; "" for none
	Color color.Color // nil takes the next one of the cycle
	Width *float64    // of a bar in units of x, more than 0; nil means 0.8. A histogram and an area have none
}

// Bar draws a bar from 0 to each height, x in its middle. It panics as [Axes.Plot] does.
func (a *Axes) Bar(x, height any, opts ...BarOpts) {
	o := array.Options("bar", opts)
	xs, ys := a.pairs("bar", x, "height", height)
	half := positive("bar", "Width", array.Or(o.Width, 0.8)) / 2
	b := &bars{ink: a.ink(o.Color), label: o.Label}
	for i, v := range xs {
		b.rectangles = append(b.rectangles, [4]float64{v - half, 0, v + half, ys[i]})
	}
	a.add(b)
}

// Hist draws how many of the finite numbers are in each of bins of the same width, from the least to the
// greatest, which the last bin holds too. It panics with *weft.Error if bins is less than 1.
func (a *Axes) Hist(x any, bins int, opts ...BarOpts) {
	a.made("hist")
	o := array.Options("hist", opts)
	if o.Width != nil {
		array.Failf("hist", "Width", "is not for histograms")
	}
	if bins < 1 || bins > 1<<20 {
		array.Failf("hist", "bins", "is %d, want 1 to %d", bins, 1<<20)
	}
	xs := slices.DeleteFunc(numbers("hist", "x", x), func(v float64) bool { return !finite(v) })
	b := &bars{ink: a.ink(o.Color), label: o.Label}
	if len(xs) > 0 {
		lo, hi := slices.Min(xs), slices.Max(xs)
		if lo == hi {
			d := 0.5
			if lo-d == lo || hi+d == hi { // as of 1e17
				d = math.Abs(lo) / 2
			}
			lo, hi = max(lo-d, -math.MaxFloat64), min(hi+d, math.MaxFloat64)
		}
		scale := 1.0
		if math.IsInf((hi-lo)*float64(bins), 0) { // a power of two, which costs no digit
			scale = math.Ldexp(1, -2-bits.Len(uint(bins)))
		}
		lo *= scale
		width := hi*scale - lo
		counts := make([]float64, bins)
		for _, v := range xs {
			counts[min(int((v*scale-lo)/width*float64(bins)), bins-1)]++
		}
		for i, n := range counts {
			at := func(i int) float64 { return (lo + width*float64(i)/float64(bins)) / scale }
			b.rectangles = append(b.rectangles, [4]float64{at(i), 0, at(i + 1), n})
		}
	}
	a.add(b)
}

// FillBetween fills the area between two lines. x is nil for 0, 1, 2 and so on. It panics as [Axes.Plot]
// does.
func (a *Axes) FillBetween(x, low, high any, opts ...BarOpts) {
	o := array.Options("fillbetween", opts)
	if o.Width != nil {
		array.Failf("fillbetween", "Width", "is not for areas")
	}
	xs, lows := a.pairs("fillbetween", x, "low", low)
	_, highs := a.pairs("fillbetween", x, "high", high)
	if len(lows) != len(highs) {
		array.Failf("fillbetween", "high", "has %d numbers, low %d", len(highs), len(lows))
	}
	ink := a.ink(o.Color)
	if o.Color == nil {
		ink.A = 0x50
	}
	a.add(&area{xs, lows, highs, ink, o.Label})
}

// AxHLine draws a thin horizontal line over the whole width.
func (a *Axes) AxHLine(y float64, opts ...LineOpts) { a.rule("axhline", y, false, opts) }

// AxVLine draws a thin vertical line over the whole height.
func (a *Axes) AxVLine(x float64, opts ...LineOpts) { a.rule("axvline", x, true, opts) }

func (a *Axes) rule(op string, at float64, vertical bool, opts []LineOpts) {
	a.made(op)
	o := array.Options(op, opts)
	ink := dimColor
	if o.Color != nil {
		ink = a.ink(o.Color)
	}
	a.add(&rule{at, vertical, ink, positive(op, "Width", array.Or(o.Width, 1.5)), o.Dashed, o.Label})
}

// ImshowOpts are the options of a picture.
type ImshowOpts struct {
	Min, Max *float64 // the numbers of the first and the last colour; nil means the least and the greatest
	Gray     bool     // black to white instead of viridis
	// Extent are the ends left, right, bottom, top in units of the axes. The vertical axis points down if bottom
	// is greater than top. nil means -0.5, width-0.5, height-0.5, -0.5: pixels whose middles are integers.
	Extent *[4]float64
}

// Imshow draws a picture: an image.Image, or the numbers of a tensor [H W] in colours. Its pixels keep
// sharp edges. It panics with *weft.Error for anything else, or if it is empty.
func (a *Axes) Imshow(m any, opts ...ImshowOpts) {
	a.made("imshow")
	o := array.Options("imshow", opts)
	p := &picture{}
	switch m := m.(type) {
	case image.Image:
		p.image = m
	case *weft.Tensor:
		p.image = colored(m, &o)
	default:
		array.Failf("imshow", "m", "is %T, want an image.Image or a *weft.Tensor [H W]", m)
	}
	size := p.image.Bounds().Size()
	if size.X == 0 || size.Y == 0 {
		array.Failf("imshow", "m", "has %d x %d pixels", size.X, size.Y)
	}
	p.extent = [4]float64{-0.5, float64(size.X) - 0.5, float64(size.Y) - 0.5, -0.5}
	if o.Extent != nil {
		p.extent = *o.Extent
		for _, v := range p.extent {
			if !finite(v) {
				array.Failf("imshow", "Extent", "is %v, want finite numbers", p.extent)
			}
		}
	}
	a.add(p)
}

// An Align says which part of a text lies at its place.
type Align int

const (
	Left Align = iota
	Center
	Right
)

// TextOpts are the options of a text.
type TextOpts struct {
	Color color.Color // nil means that of other text
	Align Align
	Bold  bool
	// Veil draws the background behind it, through which what is below shines a little.
	Veil bool
	// DY moves it down by pixels, or up if negative.
	DY float64
}

// Text draws a line of text with its baseline at a place in units of the axes.
func (a *Axes) Text(x, y float64, s string, opts ...TextOpts) {
	a.made("text")
	o := array.Options("text", opts)
	ink := textColor
	if o.Color != nil {
		ink = a.ink(o.Color)
	}
	if o.Align < Left || o.Align > Right {
		array.Failf("text", "Align", "is %d, want Left, Center or Right", o.Align)
	}
	if !finite(o.DY) {
		array.Failf("text", "DY", "is %v, want a finite number", o.DY)
	}
	a.add(&label{x, y, s, mark{size: smallSize, bold: o.Bold, ink: ink, align: o.Align}, o.Veil, o.DY})
}

func (a *Axes) add(x artist) { a.artists = append(a.artists, x) }

// ink is a colour, or the next one of the cycle.
func (a *Axes) ink(c color.Color) color.NRGBA {
	if c != nil {
		return color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	a.colours++
	return cycle[(a.colours-1)%len(cycle)]
}

func (a *Axes) made(op string) {
	if a == nil {
		array.Failf(op, "", "the Axes are nil: Figure.Axes returns some")
	}
}

// pairs returns x, or 0, 1, 2 and so on, and y, an argument of that name.
func (a *Axes) pairs(op string, x any, name string, y any) (xs, ys []float64) {
	a.made(op)
	ys = numbers(op, name, y)
	if x == nil {
		xs = make([]float64, len(ys))
		for i := range xs {
			xs[i] = float64(i)
		}
		return xs, ys
	}
	if xs = numbers(op, "x", x); len(xs) != len(ys) {
		array.Failf(op, "x", "has %d numbers, %s %d", len(xs), name, len(ys))
	}
	return xs, ys
}

// numbers returns a copy of numbers as float64.
func numbers(op, arg string, v any) []float64 {
	switch v := v.(type) {
	case []float64:
		return slices.Clone(v)
	case []float32:
		return wide(v)
	case []int:
		return wide(v)
	case []int64:
		return wide(v)
	case []int32:
		return wide(v)
	case []uint8:
		return wide(v)
	case *weft.Tensor:
		if v == nil {
			break
		}
		if v.Rank() > 1 {
			array.Failf(op, arg, "has shape %s, want one axis", array.ShapeString(v.Shape()))
		}
		return slices.Clone(weft.Data[float64](v.Detach().To(weft.Float64).Flatten(0).On(weft.CPU)))
	}
	array.Failf(op, arg, "is %T, want a slice of numbers or a tensor", v)
	return nil
}

func wide[T ~float32 | ~int | ~int64 | ~int32 | ~uint8](v []T) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func positive(op, name string, x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		array.Failf(op, name, "is %v, want a finite number above 0", x)
	}
	return x
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// String returns the texts, and how many things are drawn.
func (a *Axes) String() string {
	return array.Describe("plot.Axes", "Title", a.Title, "XLabel", a.XLabel, "YLabel", a.YLabel, "Drawn", len(a.artists))
}
