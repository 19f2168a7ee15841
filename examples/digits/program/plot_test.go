package program

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"weft/examples/internal/show"
)

// trained returns a report of a made-up run: the loss falls from 2.3 to 0.023
// in even steps of its logarithm.
func trained(steps, perEpoch, mistakes int) Report {
	r := Report{Title: "digits", Curve: show.Curve{StepsPerEpoch: perEpoch}, TestSize: 4000}
	for i := range steps {
		r.Losses = append(r.Losses, 2.3*math.Pow(0.01, float64(i)/float64(max(steps-1, 1))))
	}
	for step := perEpoch; step <= steps; step += perEpoch {
		r.Epochs = append(r.Epochs, show.Evaluation{Step: step, Loss: 0.05, Accuracy: 0.98})
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

// lineColor is the colour of package show's curves.
var lineColor = color.RGBA{0x1f, 0x6a, 0xb0, 0xff}

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
		"test points": {curveArea, show.TestColor, 4 * 60},
		"axes":        {curveArea, show.DimColor, 1000},
		"title":       {image.Rect(30, 20, 200, 60), show.TextColor, 50},
		"labels":      {mistakeArea, truthColor, 12},
		"predictions": {mistakeArea, show.TestColor, 12},
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

// Whatever a run leaves behind can be drawn: nothing at all, one step, a
// diverged loss, a resumed tail, more mistakes than cells.
func TestDrawReportOddRuns(t *testing.T) {
	diverged := trained(100, 50, 0)
	diverged.Losses[40], diverged.Losses[60], diverged.Epochs[0].Loss = math.NaN(), math.Inf(1), math.NaN()
	resumed := trained(100, 50, 0)
	resumed.First, resumed.Epochs = 1234, []show.Evaluation{{Step: 50, Loss: 0.1, Accuracy: 0.9}, {Step: 1250, Loss: 0.1, Accuracy: 0.97}}
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
		if got := count(m, curveArea, show.TestColor) > 60; got != c.dot {
			t.Errorf("%s: test points are drawn: %v", name, got)
		}
		// All else is drawn on paper that reaches the picture's edges.
		for _, p := range []image.Point{{0, 0}, {plotWidth - 1, 0}, {plotWidth - 1, plotHeight - 1}, {740, 300}} {
			if m.RGBAAt(p.X, p.Y) != show.Background {
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
