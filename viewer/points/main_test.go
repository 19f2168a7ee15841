package main

import (
	"context"
	"math"
	"testing"
	"time"

	"weft"
)

// A step writes into one part of the points, and after a part's turn its points are where
// they were.
func TestMove(t *testing.T) {
	points := Cloud(1000)
	start := points.Clone()
	d := weft.Track(points)
	to := weft.Zeros(1000, 6)
	if _, err := d.Flush(to.Sink()); err != nil {
		t.Fatal(err)
	}
	for step := range 1000 {
		Move(points, step)
		n, err := d.Flush(to.Sink())
		if err != nil || n == 0 || n > 2*10*24 {
			t.Fatalf("step %d: %d bytes of %d, %v", step, n, d.Bytes(), err)
		}
		if got := weft.Digest(to); got != weft.Digest(points) {
			t.Fatalf("step %d: the copy has other bytes", step)
		}
	}
	place := weft.Range(0, 3)
	if far := points.Slice(weft.All, place).Sub(start.Slice(weft.All, place)).Abs().Max().Item(); !(far < 1e-5) {
		t.Errorf("a point is %v from where it was", far)
	}
	if r := start.Slice(weft.All, place).Norm(2, 1).Sub(1).Abs().Max().Item(); !(r < 1e-5) || math.IsNaN(r) {
		t.Errorf("a point is %v off the sphere", r)
	}
}

func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := run(ctx, "localhost:0", 2000); err != nil {
		t.Fatal(err)
	}
}
