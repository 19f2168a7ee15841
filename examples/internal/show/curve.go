package show

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// A Curve is how the loss went in a training.
type Curve struct {
	Losses        []float64    // training loss of each step, natural logarithm units (nats)
	First         int          // number of steps taken before Losses[0]; not 0 after a resume
	StepsPerEpoch int          // more than 0
	Epochs        []Evaluation // on the test set, in order
}

// An Evaluation is that of a model on the test set at some step.
type Evaluation struct {
	Step     int     // steps taken before it
	Loss     float64 // mean cross-entropy, nats
	Accuracy float64 // share of right answers, 0 to 1
}

// smoothing is the weight of what was before in the running mean.
const smoothing = 0.96

// The colours of pictures.
var (
	Background = color.RGBA{0xfc, 0xfc, 0xfa, 0xff}
	TextColor  = color.RGBA{0x22, 0x2b, 0x35, 0xff}
	DimColor   = color.RGBA{0x7b, 0x86, 0x92, 0xff}
	TestColor  = color.RGBA{0xd2, 0x5f, 0x1e, 0xff}
	gridColor  = color.RGBA{0xe4, 0xe7, 0xea, 0xff}
	stepColor  = color.RGBA{0xb9, 0xd3, 0xea, 0xff} // the loss of single steps
	lineColor  = color.RGBA{0x1f, 0x6a, 0xb0, 0xff} // and smoothed
)

// WritePNG writes a picture as a PNG file. The file appears whole or not at
// all: it is written beside its place and renamed.
func WritePNG(path string, m image.Image) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".picture-*.png")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = png.Encode(f, m)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Draw draws the loss over the steps into box, the loss on a logarithmic
// axis.
func (k *Curve) Draw(c *Canvas, box image.Rectangle) {
	headline := float64(box.Min.Y) - 34
	c.Text("Loss", float64(box.Min.X), headline, Left, c.Heading, TextColor)
	x := axis{lo: float64(k.First), hi: float64(k.First + max(len(k.Losses), 1)), from: box.Min.X, to: box.Max.X}
	y := k.lossAxis(box)

	for _, v := range y.decades() {
		c.Rule(gridColor, box.Min.X, int(y.at(v)), box.Dx(), 1)
		c.Text(strconv.FormatFloat(v, 'g', -1, 64), float64(box.Min.X)-10, y.at(v)+5, Right, c.Small, DimColor)
	}
	firstEpoch := (k.First + k.StepsPerEpoch - 1) / k.StepsPerEpoch
	lastEpoch := int(x.hi) / k.StepsPerEpoch
	stride := 1 + (lastEpoch-firstEpoch)/12 // at most a dozen labels
	for e := firstEpoch; e <= lastEpoch; e += stride {
		px := x.at(float64(e * k.StepsPerEpoch))
		c.Rule(gridColor, int(px), box.Min.Y, 1, box.Dy())
		c.Text(strconv.Itoa(e), px, float64(box.Max.Y)+22, Centre, c.Small, DimColor)
	}
	c.Text("epoch", float64(box.Min.X+box.Max.X)/2, float64(box.Max.Y)+46, Centre, c.Small, DimColor)

	steps := make([]Point, len(k.Losses))
	means := make([]Point, len(k.Losses))
	// A running mean that starts from nothing is divided by the weight it has
	// seen so far, or its first values would lean towards zero.
	mean, weight := 0.0, 0.0
	for i, v := range k.Losses {
		px := x.at(float64(k.First + i + 1))
		steps[i] = Point{px, y.at(v)}
		if finite(v) {
			mean = smoothing*mean + (1-smoothing)*v
			weight = smoothing*weight + (1 - smoothing)
		}
		means[i] = Point{px, y.at(mean / weight)}
	}
	c.Line(stepColor, 1, steps...)
	c.Line(lineColor, 2.5, means...)
	for _, e := range k.Epochs {
		p := Point{x.at(float64(e.Step)), y.at(e.Loss)}
		if float64(e.Step) < x.lo || !finite(p.Y) {
			continue
		}
		c.Dot(TestColor, 5, p)
		c.Note(fmt.Sprintf("%.2f %%", 100*e.Accuracy), p.X, p.Y-14, TestColor)
	}
	c.Rule(DimColor, box.Min.X-1, box.Min.Y, 2, box.Dy())
	c.Rule(DimColor, box.Min.X-1, box.Max.Y, box.Dx()+1, 2)
	c.legend(float64(box.Min.X)+70, headline)
}

// lossAxis returns an axis that holds every loss, upwards in box.
func (k *Curve) lossAxis(box image.Rectangle) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	widen := func(v float64) {
		if finite(v) && v > 0 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	for _, v := range k.Losses {
		widen(v)
	}
	for _, e := range k.Epochs {
		widen(e.Loss)
	}
	if lo > hi {
		lo, hi = 0.1, 1
	}
	// Single steps reach almost zero late in training; below a thousandth the
	// curve has nothing more to say.
	// A flat one gets a whole decade, so that some grid line falls into it.
	lo = min(max(lo, 1e-3, hi*1e-5), hi/10)
	return axis{lo: lo / 1.3, hi: hi * 1.3, from: box.Max.Y, to: box.Min.Y, log: true}
}

// legend draws the key of the curve on one line.
func (c *Canvas) legend(x, y float64) {
	entry := func(name string, mark func(x float64)) {
		mark(x)
		x += 34
		x += c.Text(name, x, y, Left, c.Small, DimColor) + 22
	}
	dash := func(ink color.RGBA, width float64) func(float64) {
		return func(x float64) { c.Line(ink, width, Point{x, y - 5}, Point{x + 26, y - 5}) }
	}
	entry("one step", dash(stepColor, 1.5))
	entry("running mean", dash(lineColor, 2.5))
	entry("test set, with accuracy", func(x float64) { c.Dot(TestColor, 5, Point{x + 20, y - 5}) })
}

// An axis maps values in [lo, hi] to pixels in [from, to].
type axis struct {
	lo, hi   float64
	from, to int
	log      bool
}

// at returns the pixel of a value; one outside the axis is drawn at its end, a
// value that is no number nowhere (NaN).
func (a axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	v = min(max(v, lo), hi)
	if a.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	return float64(a.from) + (v-lo)/(hi-lo)*float64(a.to-a.from)
}

// decades returns the values with a grid line on a logarithmic axis: 1, 2 and
// 5 times each power of ten.
func (a axis) decades() []float64 {
	var ticks []float64
	for e := math.Floor(math.Log10(a.lo)); e <= math.Log10(a.hi); e++ {
		for _, m := range []float64{1, 2, 5} {
			// Parsed rather than computed, so that 0.001 prints as such.
			v, _ := strconv.ParseFloat(fmt.Sprintf("%ge%g", m, e), 64)
			if v >= a.lo && v <= a.hi {
				ticks = append(ticks, v)
			}
		}
	}
	return ticks
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Thousands formats n >= 0 with commas: 20,000.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
