package main

import (
	"math"
	"testing"

	"weft"
	"weft/examples/internal/late"
	"weft/train"
)

// A short training puts the points on the ring, with its moments, and not all in one place.
func TestGame(t *testing.T) {
	p := NewGame(1, weft.CPU)
	before, _ := Coverage(p.Fake(2000))
	if _, err := p.Train(t.Context(), 4, train.Opts{}); err != nil {
		t.Fatal(err)
	}
	points := p.Fake(4000)
	near, shares := Coverage(points)
	t.Logf("on the ring %.3f, %.3f before; of each Gaussian %.3f", near, before, shares)
	if before > 0.6 || near < 0.85 {
		t.Errorf("on the ring %.3f of the points, %.3f before training", near, before)
	}
	for k, s := range shares {
		if s < 0.03 {
			t.Errorf("Gaussian %d has %.3f of the points, want about %.3f", k, s, 1.0/modes)
		}
	}
	// Both coordinates have mean 0 and, with radius 1, variance 1/2 + spread^2.
	xy := weft.Data[float32](points)
	for axis := range 2 {
		mean, square := 0.0, 0.0
		for i := axis; i < len(xy); i += 2 {
			mean += float64(xy[i]) / 4000
			square += float64(xy[i]) * float64(xy[i]) / 4000
		}
		want := 0.5 + spread*spread
		t.Logf("coordinate %d: mean %.3f, variance %.3f", axis, mean, square-mean*mean)
		if math.Abs(mean) > 0.2 || math.Abs(square-mean*mean-want) > 0.15 {
			t.Errorf("coordinate %d: mean %.3f, variance %.3f, want 0 and %.3f", axis, mean, square-mean*mean, want)
		}
	}
}

// What is measured by is right: real points are near in even shares, the centre is not.
func TestCoverage(t *testing.T) {
	near, shares := Coverage(Real(8000, weft.NewGenerator(3)))
	if near < 0.99 {
		t.Errorf("%.3f of the real points are near", near)
	}
	for k, s := range shares {
		if math.Abs(s-1.0/modes) > 0.02 {
			t.Errorf("Gaussian %d has %.3f of the real points", k, s)
		}
	}
	if near, _ := Coverage(weft.Zeros(10, 2)); near != 0 {
		t.Errorf("%.3f of points in the centre are near", near)
	}
}

// A second device trains to the bits of the CPU.
func TestTrainingOnDevice(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		p := NewGame(1, dev)
		stop := train.Callback{Step: func(s train.Step) error {
			if s.Step == 3 {
				return train.ErrStop
			}
			return nil
		}}
		if _, err := p.Train(t.Context(), 1, train.Opts{Callbacks: []train.Callback{stop}}); err != nil {
			t.Fatal(err)
		}
		return weft.Digest(p.Fake(10).On(weft.CPU))
	})
}
