package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// trained returns a report of a made-up run: the loss falls from 2.3 to 0.023
// in even steps of its logarithm.
func trained(steps, perEpoch, mistakes int) Report {
	r := Report{Title: "digits", StepsPerEpoch: perEpoch, TestSize: 4000}
	for i := range steps {
		r.Losses = append(r.Losses, 2.3*math.Pow(0.01, float64(i)/float64(max(steps-1, 1))))
	}
	for step := perEpoch; step <= steps; step += perEpoch {
		r.Epochs = append(r.Epochs, EpochStats{step, 0.05, 0.98})
	}
	s := Render(9, mistakes)
	for i := range mistakes {
		r.Mistakes = append(r.Mistakes, Mistake{s.Image(i), s.Labels[i], (s.Labels[i] + 1) % 10})
	}
	return r
}

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

var curveArea, mistakeArea = image.Rect(60, 110, 720, 600), image.Rect(750, 130, 1280, 640)

func TestWriteReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "digits.png")
	for range 2 { // the second call replaces the first one's file
		if err := WriteReport(path, trained(400, 100, 12)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v (%v), want digits.png alone", files, err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Bounds(), image.Rect(0, 0, plotWidth, plotHeight); got != want {
		t.Fatalf("size %v, want %v", got, want)
	}
	for name, want := range map[string]struct {
		box   image.Rectangle
		ink   color.RGBA
		least int
	}{
		"curve":       {curveArea, lineColor, 600},
		"test points": {curveArea, testColor, 4 * 60},
		"axes":        {curveArea, dimColor, 1000},
		"title":       {image.Rect(30, 20, 200, 60), textColor, 50},
		"labels":      {mistakeArea, truthColor, 12},
		"predictions": {mistakeArea, testColor, 12},
	} {
		if n := count(m, want.box, want.ink); n < want.least {
			t.Errorf("%s: %d pixels, want at least %d", name, n, want.least)
		}
	}
}

func TestWriteReportFails(t *testing.T) {
	if err := WriteReport(filepath.Join(t.TempDir(), "missing", "digits.png"), trained(10, 5, 1)); err == nil {
		t.Error("writing into a folder that is not there succeeded")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "digits.png"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteReport(filepath.Join(dir, "digits.png"), trained(10, 5, 1)); err == nil {
		t.Error("replacing a folder succeeded")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("a failed write left %v behind", files)
	}
}

// On a logarithmic axis the made-up loss is a straight line from the upper left
// to the lower right; its pixels say whether axes and curve agree.
func TestCurveIsWhereTheAxesSay(t *testing.T) {
	r := trained(1000, 250, 0)
	r.Epochs = nil
	box := image.Rect(100, 100, 700, 500)
	c := newCanvas(plotWidth, plotHeight)
	r.drawCurve(c, box)
	y := r.lossAxis(box)
	// The running mean trails by about one time constant, 1/(1-smoothing) steps.
	for _, step := range []int{250, 500, 900} {
		x := box.Min.X + step*box.Dx()/1000
		v := 2.3 * math.Pow(0.01, float64(step-1/(1-smoothing))/1000)
		want := int(y.at(v))
		if n := count(c.img, image.Rect(x, want-12, x+1, want+12), lineColor); n == 0 {
			t.Errorf("no curve near (%d, %d) at step %d", x, want, step)
		}
		if n := count(c.img, image.Rect(x, box.Min.Y, x+1, want-12), lineColor) +
			count(c.img, image.Rect(x, want+12, x+1, box.Max.Y), lineColor); n != 0 {
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

// Whatever a run leaves behind can be drawn: nothing at all, one step, a
// diverged loss, a resumed tail, more mistakes than cells.
func TestDrawReportOddRuns(t *testing.T) {
	diverged := trained(100, 50, 0)
	diverged.Losses[40], diverged.Losses[60], diverged.Epochs[0].Loss = math.NaN(), math.Inf(1), math.NaN()
	resumed := trained(100, 50, 0)
	resumed.First, resumed.Epochs = 1234, []EpochStats{{50, 0.1, 0.9}, {1250, 0.1, 0.97}}
	long := trained(3000, 10, 0)
	flat := trained(100, 50, 0)
	for i := range flat.Losses {
		flat.Losses[i] = 0.3
	}
	for name, c := range map[string]struct {
		r          Report
		curve, dot bool
	}{
		"empty":    {trained(0, 50, 0), false, false},
		"one step": {trained(1, 50, 1), false, false},
		"diverged": {diverged, true, true},
		"resumed":  {resumed, true, true},
		"long":     {long, true, true},
		"flat":     {flat, true, true},
		"crowded":  {trained(100, 50, 100), true, true},
	} {
		m := DrawReport(c.r)
		if got := count(m, curveArea, lineColor) > 100; got != c.curve {
			t.Errorf("%s: a curve is drawn: %v", name, got)
		}
		if got := count(m, curveArea, testColor) > 60; got != c.dot {
			t.Errorf("%s: test points are drawn: %v", name, got)
		}
		// All else is drawn on paper that reaches the picture's edges.
		for _, p := range []image.Point{{0, 0}, {plotWidth - 1, 0}, {plotWidth - 1, plotHeight - 1}, {740, 300}} {
			if m.RGBAAt(p.X, p.Y) != background {
				t.Errorf("%s: something is drawn at %v", name, p)
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	s := Render(1, 30)
	predicted := slices.Clone(s.Labels)
	predicted[3], predicted[17] = 8, 1
	got := Mistakes(s, predicted)
	if len(got) != 2 || got[0].Label != 3 || got[0].Predicted != 8 || got[1].Label != 7 || got[1].Predicted != 1 ||
		&got[1].Image[0] != &s.Images[17*side*side] {
		t.Errorf("got %v", got)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 20000: "20,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
