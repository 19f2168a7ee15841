package show

import (
	"image"
	"image/color"
	"math"
	"slices"
	"testing"
)

// count returns how many pixels of a rectangle have a colour.
func count(m image.Image, box image.Rectangle, c color.RGBA) int {
	n := 0
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if m.At(x, y) == c {
				n++
			}
		}
	}
	return n
}

// On a logarithmic axis the made-up loss is a straight line from the upper left
// to the lower right; its pixels say whether axes and curve agree.
func TestCurveIsWhereTheAxesSay(t *testing.T) {
	r := Curve{StepsPerEpoch: 250}
	for i := range 1000 {
		r.Losses = append(r.Losses, 2.3*math.Pow(0.01, float64(i)/999))
	}
	box := image.Rect(100, 100, 700, 500)
	c := NewCanvas(1280, 640)
	r.Draw(c, box)
	y := r.lossAxis(box)
	// The running mean trails by about one time constant, 1/(1-smoothing) steps.
	for _, step := range []int{250, 500, 900} {
		x := box.Min.X + step*box.Dx()/1000
		v := 2.3 * math.Pow(0.01, float64(step-1/(1-smoothing))/1000)
		want := int(y.at(v))
		if n := count(c.Image, image.Rect(x, want-12, x+1, want+12), lineColor); n == 0 {
			t.Errorf("no curve near (%d, %d) at step %d", x, want, step)
		}
		if n := count(c.Image, image.Rect(x, box.Min.Y, x+1, want-12), lineColor) +
			count(c.Image, image.Rect(x, want+12, x+1, box.Max.Y), lineColor); n != 0 {
			t.Errorf("the curve is elsewhere too at step %d", step)
		}
	}
}

func TestAxis(t *testing.T) {
	a := axis{lo: 0.01, hi: 1, from: 500, to: 100, log: true}
	for v, want := range map[float64]float64{0.01: 500, 0.1: 300, 1: 100, 1e-9: 500, 0: 500, math.Inf(1): 100} {
		if got := a.at(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v lies at %v, want %v", v, got, want)
		}
	}
	if got := a.at(math.NaN()); !math.IsNaN(got) {
		t.Errorf("NaN lies at %v", got)
	}
	if got, want := a.decades(), []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}; !slices.Equal(got, want) {
		t.Errorf("grid lines at %v, want %v", got, want)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 20000: "20,000", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
