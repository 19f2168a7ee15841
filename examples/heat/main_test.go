package main

import (
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"weft"
)

// A product of sines that is 0 on the faces keeps its form and loses the same share with
// every step: that of the second differences, 2-2cos, along each axis.
func TestModeDecays(t *testing.T) {
	n, steps := 65, 200
	if testing.Short() {
		n, steps = 20, 50
	}
	waves := [3]float64{1, 2, 3}
	u := make([]float64, n*n*n)
	sine := func(axis, i int) float64 { return math.Sin(waves[axis] * math.Pi * float64(i) / float64(n-1)) }
	for i := range u {
		u[i] = sine(0, i/n/n) * sine(1, i/n%n) * sine(2, i%n)
	}
	share := 1.0
	for _, w := range waves {
		share -= rate * (2 - 2*math.Cos(w*math.Pi/float64(n-1)))
	}
	left := math.Pow(share, float64(steps))
	for i, got := range weft.Data[float64](Step(weft.FromSlice(u, n, n, n), steps)) {
		face := false
		for _, k := range [3]int{i / n / n, i / n % n, i % n} {
			face = face || k == 0 || k == n-1
		}
		want := u[i] * left
		if face { // as it was: sin(pi) is not quite 0
			want = u[i]
		}
		if math.Abs(got-want) > 1e-13 {
			t.Fatalf("element %d is %v, want %v", i, got, want)
		}
	}
}

// Until heat reaches the faces none is lost, and it only spreads.
func TestBallSpreads(t *testing.T) {
	const n = 40
	u := Start(n)
	total := u.Sum().Item()
	if want := 4.0 / 3 * math.Pi * 1000; math.Abs(total-want) > 0.05*want {
		t.Errorf("the ball has %v, want about %v", total, want)
	}
	v := Step(u, 8)
	if got := v.Sum().Item(); math.Abs(got-total) > 1e-9*total {
		t.Errorf("%v of %v is left", got, total)
	}
	if lo, hi := v.Min().Item(), v.Max().Item(); lo < 0 || hi > 1 {
		t.Errorf("heat from %v to %v", lo, hi)
	}
}

func TestPictures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := run(dir, 16, 2, 3); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"heat-00.png", "heat-01.png"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		img, err := png.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		if r, g, b, _ := img.At(8, 8).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff {
			t.Errorf("%s: the middle is %d %d %d, want white", name, r>>8, g>>8, b>>8)
		}
		if r, g, b, _ := img.At(0, 0).RGBA(); r+g+b != 0 {
			t.Errorf("%s: the corner is %d %d %d, want black", name, r>>8, g>>8, b>>8)
		}
	}
}
