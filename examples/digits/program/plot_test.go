package program

import (
	"image"
	"image/color"
	"math"
	"testing"

	"weft/plot"
	"weft/train"
)

// madeUp returns a report of a made-up run: the loss falls from 2.3 to 0.023 in even steps of its logarithm.
func madeUp(steps, perEpoch, mistakes int) Report {
	h := &train.History{}
	for i := range steps {
		h.Losses = append(h.Losses, 2.3*math.Pow(0.01, float64(i)/float64(max(steps-1, 1))))
	}
	for step := perEpoch; step <= steps; step += perEpoch {
		h.Epochs = append(h.Epochs, train.Epoch{Epoch: step / perEpoch, Step: step, Values: train.Values{{Name: "val_loss", Number: 0.05}, {Name: "val_accuracy", Number: 0.98}}})
	}
	r := Report{Title: "digits", History: h, TestSize: 4000}
	s := Render(9, mistakes)
	for i := range mistakes {
		r.Mistakes = append(r.Mistakes, Mistake{s.Image(i), s.Labels[i], (s.Labels[i] + 1) % 10})
	}
	return r
}

// count returns how many pixels of a rectangle have a colour.
func count(m image.Image, box image.Rectangle, c color.Color) int {
	n := 0
	want := color.NRGBAModel.Convert(c)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if color.NRGBAModel.Convert(m.At(x, y)) == want {
				n++
			}
		}
	}
	return n
}

var curveArea, mistakeArea = image.Rect(24, 80, 640, 640), image.Rect(640, 80, 1280, 640)

// TestDrawReport draws what a run may leave: nothing at all, one step, a diverged loss, more mistakes than
// cells.
func TestDrawReport(t *testing.T) {
	diverged := madeUp(100, 50, 0)
	diverged.History.Losses[40], diverged.History.Losses[60] = math.NaN(), math.Inf(1)
	diverged.History.Epochs[0].Values[0].Number = math.NaN()
	for name, c := range map[string]struct {
		r                   Report
		curve, dot, mistake bool
	}{
		"empty":    {madeUp(0, 50, 0), false, false, false},
		"one step": {madeUp(1, 50, 1), false, false, true},
		"diverged": {diverged, true, true, false},
		"long":     {madeUp(3000, 10, 0), true, true, false},
		"crowded":  {madeUp(100, 50, 100), true, true, true},
	} {
		m := c.r.Draw().Image()
		if m.Bounds() != image.Rect(0, 0, 1280, 640) {
			t.Fatalf("size %v", m.Bounds())
		}
		if got := count(m, curveArea, plot.Blue) > 100; got != c.curve {
			t.Errorf("%s: a curve is drawn: %v", name, got)
		}
		if got := count(m, curveArea, plot.Orange) > 60; got != c.dot {
			t.Errorf("%s: test points are drawn: %v", name, got)
		}
		if got := count(m, mistakeArea, plot.Orange) > 0 && count(m, mistakeArea, plot.Green) > 0; got != c.mistake {
			t.Errorf("%s: mistakes are drawn: %v", name, got)
		}
	}
}

func TestMistakes(t *testing.T) {
	s := Render(1, 30)
	predicted := make([]int64, 30)
	for i, l := range s.Labels {
		predicted[i] = int64(l)
	}
	predicted[3], predicted[17] = 8, 1
	got := Mistakes(s, predicted)
	if len(got) != 2 || got[0].Label != 3 || got[0].Predicted != 8 || got[1].Label != 7 || got[1].Predicted != 1 ||
		&got[1].Image[0] != &s.Images[17*side*side] {
		t.Errorf("got %v", got)
	}
}
