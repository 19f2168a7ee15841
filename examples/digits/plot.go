package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// A Report is what digits.png shows of a training run.
type Report struct {
	Title         string
	Losses        []float64    // training loss of each step, natural logarithm units (nats)
	First         int          // number of steps taken before Losses[0]; not 0 after a resume
	StepsPerEpoch int          // more than 0
	Epochs        []EpochStats // evaluations on the test set, in order
	Mistakes      []Mistake    // pictures of the test set that were taken for another digit
	TestSize      int          // pictures in the test set
}

// EpochStats is the evaluation of the network on the test set at some step.
type EpochStats struct {
	Step     int     // steps taken before it
	Loss     float64 // mean cross-entropy, nats
	Accuracy float64 // share of right answers, 0 to 1
}

// A Mistake is a picture that was taken for another digit.
type Mistake struct {
	Image            []uint8 // side*side grey values
	Label, Predicted uint8
}

// Mistakes returns the pictures of a set whose prediction differs from their
// label. It holds one prediction a picture.
func Mistakes(s Set, predicted []uint8) []Mistake {
	var wrong []Mistake
	for i, p := range predicted {
		if p != s.Labels[i] {
			wrong = append(wrong, Mistake{s.Image(i), s.Labels[i], p})
		}
	}
	return wrong
}

const (
	plotWidth, plotHeight = 1280, 640
	gridColumns, gridRows = 8, 5
	pictureScale          = 2 // screen pixels to one pixel of a digit
	smoothing             = 0.96
)

var (
	background = color.RGBA{0xfc, 0xfc, 0xfa, 0xff}
	textColor  = color.RGBA{0x22, 0x2b, 0x35, 0xff}
	dimColor   = color.RGBA{0x7b, 0x86, 0x92, 0xff}
	gridColor  = color.RGBA{0xe4, 0xe7, 0xea, 0xff}
	stepColor  = color.RGBA{0xb9, 0xd3, 0xea, 0xff} // the loss of single steps
	lineColor  = color.RGBA{0x1f, 0x6a, 0xb0, 0xff} // and smoothed
	testColor  = color.RGBA{0xd2, 0x5f, 0x1e, 0xff}
	truthColor = color.RGBA{0x2b, 0x7d, 0x46, 0xff}
)

// WriteReport draws a report as a PNG file. The file appears whole or not at
// all: it is written beside its place and renamed.
func WriteReport(path string, r Report) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".digits-*.png")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = png.Encode(f, DrawReport(r))
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

// DrawReport draws a report: the loss curve on the left, the mistaken digits
// on the right.
func DrawReport(r Report) *image.RGBA {
	c := newCanvas(plotWidth, plotHeight)
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
	c.text(r.Title, 40, 48, left, c.title, textColor)
	r.drawCurve(c, image.Rect(92, 128, 700, 572))
	r.drawMistakes(c, image.Rect(760, 134, 1240, 606))
	return c.img
}

// drawCurve draws the loss over the steps into box, the loss on a logarithmic
// axis.
func (r *Report) drawCurve(c *canvas, box image.Rectangle) {
	c.text("Loss", float64(box.Min.X), 94, left, c.heading, textColor)
	x := axis{lo: float64(r.First), hi: float64(r.First + max(len(r.Losses), 1)), from: box.Min.X, to: box.Max.X}
	y := r.lossAxis(box)

	for _, v := range y.decades() {
		c.rule(gridColor, box.Min.X, int(y.at(v)), box.Dx(), 1)
		c.text(strconv.FormatFloat(v, 'g', -1, 64), float64(box.Min.X)-10, y.at(v)+5, right, c.small, dimColor)
	}
	firstEpoch := (r.First + r.StepsPerEpoch - 1) / r.StepsPerEpoch
	lastEpoch := int(x.hi) / r.StepsPerEpoch
	stride := 1 + (lastEpoch-firstEpoch)/12 // at most a dozen labels
	for e := firstEpoch; e <= lastEpoch; e += stride {
		px := x.at(float64(e * r.StepsPerEpoch))
		c.rule(gridColor, int(px), box.Min.Y, 1, box.Dy())
		c.text(strconv.Itoa(e), px, float64(box.Max.Y)+22, centre, c.small, dimColor)
	}
	c.text("epoch", float64(box.Min.X+box.Max.X)/2, float64(box.Max.Y)+46, centre, c.small, dimColor)

	steps := make([]point, len(r.Losses))
	means := make([]point, len(r.Losses))
	// A running mean that starts from nothing is divided by the weight it has
	// seen so far, or its first values would lean towards zero.
	mean, weight := 0.0, 0.0
	for i, v := range r.Losses {
		px := x.at(float64(r.First + i + 1))
		steps[i] = point{px, y.at(v)}
		if finite(v) {
			mean = smoothing*mean + (1-smoothing)*v
			weight = smoothing*weight + (1 - smoothing)
		}
		means[i] = point{px, y.at(mean / weight)}
	}
	c.line(stepColor, 1, steps...)
	c.line(lineColor, 2.5, means...)
	for _, e := range r.Epochs {
		p := point{x.at(float64(e.Step)), y.at(e.Loss)}
		if float64(e.Step) < x.lo || !finite(p.y) {
			continue
		}
		c.dot(testColor, 5, p)
		c.note(fmt.Sprintf("%.2f %%", 100*e.Accuracy), p.x, p.y-14, testColor)
	}
	c.rule(dimColor, box.Min.X-1, box.Min.Y, 2, box.Dy())
	c.rule(dimColor, box.Min.X-1, box.Max.Y, box.Dx()+1, 2)
	c.legend(float64(box.Min.X)+70, 94)
}

// lossAxis returns an axis that holds every loss, upwards in box.
func (r *Report) lossAxis(box image.Rectangle) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	widen := func(v float64) {
		if finite(v) && v > 0 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	for _, v := range r.Losses {
		widen(v)
	}
	for _, e := range r.Epochs {
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

// drawMistakes draws a grid of mistaken digits, each with its label and what
// it was taken for.
func (r *Report) drawMistakes(c *canvas, box image.Rectangle) {
	heading := fmt.Sprintf("%s of %s test digits mistaken", thousands(len(r.Mistakes)), thousands(r.TestSize))
	if more := len(r.Mistakes) - gridColumns*gridRows; more > 0 {
		heading += fmt.Sprintf(", %d shown", gridColumns*gridRows)
	}
	c.text(heading, float64(box.Min.X), 94, left, c.heading, textColor)
	if len(r.Mistakes) > 0 {
		x := float64(box.Min.X)
		x += c.text("label", x, 114, left, c.small, truthColor)
		x += c.text(" → ", x, 114, left, c.small, dimColor)
		c.text("prediction", x, 114, left, c.small, testColor)
	}
	cellWidth := box.Dx() / gridColumns
	cellHeight := box.Dy() / gridRows
	const size = side * pictureScale
	for i, m := range r.Mistakes[:min(len(r.Mistakes), gridColumns*gridRows)] {
		x := box.Min.X + i%gridColumns*cellWidth
		y := box.Min.Y + i/gridColumns*cellHeight
		for dy := range size {
			for dx := range size {
				grey := m.Image[dy/pictureScale*side+dx/pictureScale]
				c.img.SetRGBA(x+dx, y+dy, color.RGBA{grey, grey, grey, 0xff})
			}
		}
		baseline := float64(y + size + 18)
		middle := float64(x) + size/2
		c.text(strconv.Itoa(int(m.Label)), middle-13, baseline, centre, c.small, truthColor)
		c.text("→", middle, baseline, centre, c.small, dimColor)
		c.text(strconv.Itoa(int(m.Predicted)), middle+13, baseline, centre, c.small, testColor)
	}
}

// legend draws the key of the curve on one line.
func (c *canvas) legend(x, y float64) {
	entry := func(name string, mark func(x float64)) {
		mark(x)
		x += 34
		x += c.text(name, x, y, left, c.small, dimColor) + 22
	}
	dash := func(ink color.RGBA, width float64) func(float64) {
		return func(x float64) { c.line(ink, width, point{x, y - 5}, point{x + 26, y - 5}) }
	}
	entry("one step", dash(stepColor, 1.5))
	entry("running mean", dash(lineColor, 2.5))
	entry("test set, with accuracy", func(x float64) { c.dot(testColor, 5, point{x + 20, y - 5}) })
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
	v = clamp(v, lo, hi)
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

// thousands formats n >= 0 with commas: 20,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
