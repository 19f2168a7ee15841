package main

import (
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"weft"
)

// What is known of points: points of the cardioid and of the disc beside it never leave,
// 0.25 included; points beyond the circle of radius 2 leave at once; real ones by hand.
func TestKnownPoints(t *testing.T) {
	const rows, cols, most = 101, 131, 300
	re, im := weft.Linspace(-2.2, 1, cols), weft.Linspace(-1.5, 1.5, rows)
	got := weft.Data[int32](kernels.Func("Escape").Map(re, im.Unsqueeze(1), most))
	res, ims := weft.Data[float32](re), weft.Data[float32](im)
	known := 0
	for i, b := range ims {
		for j, a := range res {
			x, y := float64(a), float64(b)
			q := (x-0.25)*(x-0.25) + y*y
			switch n := got[i*cols+j]; {
			case q*(q+x-0.25) < 0.2499*y*y || (x+1)*(x+1)+y*y < 0.0624:
				if known++; n != most {
					t.Errorf("%v%+vi left after %d steps", x, y, n)
				}
			case x*x+y*y > 4.0001:
				if known++; n != 0 {
					t.Errorf("%v%+vi left after %d steps, want 0", x, y, n)
				}
			}
		}
	}
	if known < rows*cols/5 {
		t.Errorf("%d points are known", known)
	}
	// c = 1 goes 1, 2, 5; c = 0.5 goes 0.5, 0.75, 1.06, 1.63, 3.15; -2 and 0.25 stay.
	points := weft.FromSlice([]float32{0, 1, 0.5, -2, 0.25, -1, 3})
	want := []int32{most, 2, 4, most, most, most, 0}
	for i, n := range weft.Data[int32](kernels.Func("Escape").Map(points, 0, most)) {
		if n != want[i] {
			t.Errorf("point %d leaves after %d steps, want %d", i, n, want[i])
		}
	}
}

// The area of the set is 1.5066; points that leave late are counted in.
func TestArea(t *testing.T) {
	width, steps := 1200, 1000
	if testing.Short() {
		width, steps = 400, 300
	}
	counts := Count(width, width*3/4, steps)
	area := counts.Eq(steps).To(weft.Float64).Mean().Item() * 3.2 * 2.4
	if math.Abs(area-1.5066) > 0.02 {
		t.Errorf("the area is %v", area)
	}
}

// Compiled and called as Go the function is the same but for points whose last bits a Go
// compiler that contracts products and sums rounds otherwise.
func TestPlainGo(t *testing.T) {
	const width, height, most = 150, 100, 100
	got := weft.Data[int32](Count(width, height, most))
	res, ims := weft.Data[float32](weft.Linspace(-2.2, 1, width)), weft.Data[float32](weft.Linspace(1.2, -1.2, height))
	differ := 0
	for i, y := range ims {
		for j, x := range res {
			if got[i*width+j] != Escape(x, y, most) {
				differ++
			}
		}
	}
	if differ > width*height/100 {
		t.Errorf("%d of %d points differ", differ, width*height)
	}
}

func TestPicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.png")
	if err := run(file, 120, 90, 50); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	counts := weft.Data[int32](Count(120, 90, 50))
	for i, n := range counts {
		r, g, b, a := img.At(i%120, i/120).RGBA()
		wr, wg, wb := Colour(n, 50)
		if r>>8 != uint32(wr) || g>>8 != uint32(wg) || b>>8 != uint32(wb) || a != 0xffff {
			t.Fatalf("pixel %d is %d %d %d %d, want %d %d %d", i, r>>8, g>>8, b>>8, a>>8, wr, wg, wb)
		}
	}
}
