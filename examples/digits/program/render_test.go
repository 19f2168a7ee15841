package program

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"testing"
)

// renderedDigest is the SHA-256 of Render(1, 1000): the images, then the
// labels. Every machine must draw these bytes; whoever changes the pictures on
// purpose measures the accuracies in the package comment again.
const renderedDigest = "8fbdc7026126a9ad1c1f1f5c42c6ca2ba5e385f76d543eeea868931910f54dab"

func serial(n, _ int, body func(lo, hi int)) { body(0, n) }

func TestRenderDigest(t *testing.T) {
	s := Render(1, 1000)
	if got := fmt.Sprintf("%x", sha256.Sum256(append(s.Images, s.Labels...))); got != renderedDigest {
		t.Errorf("Render(1, 1000) has digest %s, want %s", got, renderedDigest)
	}
}

func TestRenderIsIndependentOfOrder(t *testing.T) {
	want := render(7, 600, serial)
	if got := Render(7, 600); !bytes.Equal(got.Images, want.Images) || !bytes.Equal(got.Labels, want.Labels) {
		t.Error("the parallel set differs from the serial one")
	}
	if got := Render(7, 333); !bytes.Equal(got.Images, want.Images[:333*side*side]) {
		t.Error("a shorter set is not the beginning of a longer one")
	}
	backwards := func(n, _ int, body func(lo, hi int)) {
		for i := n - 1; i >= 0; i-- {
			body(i, i+1)
		}
	}
	if got := render(7, 600, backwards); !bytes.Equal(got.Images, want.Images) {
		t.Error("pictures depend on the order they are drawn in")
	}
	if got := Render(8, 600); bytes.Equal(got.Image(0), want.Image(0)) {
		t.Error("another seed draws the same first picture")
	}
	if got := Render(7, 0); got.Len() != 0 || len(got.Images) != 0 {
		t.Error("an empty set is not empty")
	}
}

func TestRenderIsBalancedAndVaried(t *testing.T) {
	const n = 2000
	s := Render(3, n)
	var count [10]int
	seen := map[string]int{}
	for i, l := range s.Labels {
		count[l]++
		img := s.Image(i)
		if j, ok := seen[string(img)]; ok {
			t.Fatalf("pictures %d and %d are the same", j, i)
		}
		seen[string(img)] = i
		// The faintest stroke is 110 above its background.
		if contrast := int(slices.Max(img)) - int(slices.Min(img)); contrast < 80 {
			t.Errorf("picture %d, a %d, has a contrast of %d only", i, l, contrast)
		}
	}
	for d, c := range count {
		if c != n/10 {
			t.Errorf("digit %d occurs %d times in %d", d, c, n)
		}
	}
}

// The random numbers are checked against what their distributions must give:
// a face is equally likely for each digit, and numbers of neighbouring
// pictures are not related.
func TestSourceIsRandom(t *testing.T) {
	const n = 20000
	var faceCount [10]float64
	var sum, square, lagged, last float64
	var bellSum, bellSquare float64
	for i := range n {
		draw := newSource(1, i)
		faceCount[draw.below(10)]++
		u := draw.between(-1, 1)
		if u < -1 || u >= 1 {
			t.Fatalf("between(-1, 1) gave %v", u)
		}
		sum += u
		square += u * u
		lagged += u * last
		last = u
		b := draw.bell()
		bellSum += b
		bellSquare += b * b
	}
	chi := 0.0
	for _, c := range faceCount {
		chi += (c - n/10) * (c - n/10) / (n / 10)
	}
	if chi > 27.9 { // the 0.999 quantile with 9 degrees of freedom
		t.Errorf("below(10) is uneven: %v", faceCount)
	}
	deviations := func(name string, got, want, sigma float64) {
		if math.Abs(got-want) > 4*sigma {
			t.Errorf("%s is %v, want %v within %v", name, got, want, 4*sigma)
		}
	}
	root := math.Sqrt(n)
	deviations("mean of between", sum/n, 0, math.Sqrt(1.0/3)/root)
	deviations("mean square of between", square/n, 1.0/3, math.Sqrt(4.0/45)/root)
	deviations("product of neighbours", lagged/n, 0, 1.0/3/root)
	deviations("mean of bell", bellSum/n, 0, 1/root)
	deviations("mean square of bell", bellSquare/n, 1, math.Sqrt(1.7)/root)
}

// Fields are checked where the outline of a digit is known: a 1 is solid at its
// stem, a 0 is hollow beside its middle, and no distance changes faster than
// the place it belongs to.
func TestGlyphFields(t *testing.T) {
	fields := glyphFields()
	if len(fields) != 10*len(faces) {
		t.Fatalf("%d fields", len(fields))
	}
	for k := range fields {
		f := &fields[k]
		if far := f.at(-fieldReach, -fieldReach); far > -0.8 {
			t.Errorf("face %d digit %d: %v at the corner", k/10, k%10, far)
		}
		if outside := f.at(50, -50); outside != f.at(fieldReach, -fieldReach) {
			t.Errorf("face %d digit %d: %v beyond the corner", k/10, k%10, outside)
		}
		inside := 0
		for j := range fieldSize {
			for i := 1; i < fieldSize; i++ {
				a, b := f[j*fieldSize+i-1], f[j*fieldSize+i]
				if math.Abs(float64(a-b)) > fieldPitch*1.0001 {
					t.Fatalf("face %d digit %d: distance jumps from %v to %v", k/10, k%10, a, b)
				}
				if b > 0 {
					inside++
				}
			}
		}
		// A digit 2 units high and about 1.3 wide is filled between a tenth
		// and two thirds.
		area := float64(inside) * fieldPitch * fieldPitch
		if area < 0.25 || area > 1.75 {
			t.Errorf("face %d digit %d covers %v square units", k/10, k%10, area)
		}
	}
	const regular = 0
	zero, seven := &fields[regular*10], &fields[regular*10+7]
	for _, p := range []struct {
		f      *field
		x, y   float64
		inside bool
		what   string
	}{
		{zero, -0.55, 0, true, "left side of 0"},
		{zero, 0.55, 0, true, "right side of 0"},
		{zero, 0.12, -0.55, false, "hollow of 0"},
		{zero, -0.9, 0, false, "beside 0"},
		{seven, 0, -0.93, true, "top of 7"},
		{seven, -0.4, 0.5, false, "below the top of 7"},
	} {
		if d := p.f.at(p.x, p.y); d > 0 != p.inside {
			t.Errorf("%s: distance %v at (%v, %v)", p.what, d, p.x, p.y)
		}
	}
}

// A square's distances are known in closed form.
func TestFieldOfSquare(t *testing.T) {
	var f field
	f.fill([]segment{{-1, -1, 1, -1}, {1, -1, 1, 1}, {1, 1, -1, 1}, {-1, 1, -1, -1}})
	for _, p := range [][3]float64{
		{0, 0, 1}, {0.5, 0, 0.5}, {0, -0.75, 0.25}, {1.5, 0, -0.5}, {0.25, 1.75, -0.75}, {1.6, -1.8, -1},
	} {
		// Interpolation errs by a fraction of the pitch where the distance bends.
		if d := f.at(p[0], p[1]); math.Abs(d-p[2]) > fieldPitch/2 {
			t.Errorf("distance %v at (%v, %v), want %v", d, p[0], p[1], p[2])
		}
	}
	// A hole, wound the other way, is outside.
	f.fill([]segment{
		{-1, -1, 1, -1}, {1, -1, 1, 1}, {1, 1, -1, 1}, {-1, 1, -1, -1},
		{-.5, -.5, -.5, .5}, {-.5, .5, .5, .5}, {.5, .5, .5, -.5}, {.5, -.5, -.5, -.5},
	})
	if d := f.at(0, 0); math.Abs(d+0.5) > fieldPitch {
		t.Errorf("distance %v in the middle of the hole, want -0.5", d)
	}
}

// Coverage must turn where the pose's map, inverted here, puts the edge of a
// shape, and the map must have the scale and the rotation that it promises.
func TestPoseInvertsItsMap(t *testing.T) {
	var disc field // a disc of radius 1 about the origin
	for j := range fieldSize {
		for i := range fieldSize {
			x, y := float64(i)*fieldPitch-fieldReach, float64(j)*fieldPitch-fieldReach
			disc[j*fieldSize+i] = float32(1 - math.Hypot(x, y))
		}
	}
	for i := range 200 {
		p := drawPose(newSource(5, i))
		p.bendX, p.bendY, p.grow, p.soft = 0, 0, 0, 1e-9
		det := p.xx*p.yy - p.xy*p.yx
		// Walk from the centre along each axis of the glyph: just inside the
		// disc is covered, just outside is not.
		for _, u := range [][2]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			dx := (p.yy*u[0] - p.xy*u[1]) / det
			dy := (p.xx*u[1] - p.yx*u[0]) / det
			if p.coverage(&disc, p.cx+0.95*dx, p.cy+0.95*dy) != 1 || p.coverage(&disc, p.cx+1.05*dx, p.cy+1.05*dy) != 0 {
				t.Fatalf("pose %d: the disc's edge is not at (%v, %v) from its centre", i, dx, dy)
			}
		}
		// Shear and rotation keep areas, so the scales alone show in it.
		if area := 1 / det; area < 7.4*8 || area > 10.6*11 {
			t.Fatalf("pose %d: a square of the glyph covers %v square pixels", i, area)
		}
		if angle := math.Atan2(-p.yx, p.yy); math.Abs(angle) > 15*math.Pi/180 {
			t.Fatalf("pose %d turns by %v radians", i, angle)
		}
	}
}

func TestCover(t *testing.T) {
	bar := cover{cos: 0.6, sin: 0.8, length: 100, width: 1}
	for _, ink := range []bool{false, true} {
		bar.ink = ink
		hidden := 0.0
		if ink {
			hidden = 1
		}
		for _, p := range [][3]float64{{0, 0, 1}, {6, 8, 1}, {-6, -8, 1}, {8, -6, 0}, {0.8 * 2, -0.6 * 2, 0}} {
			want := 0.25
			if p[2] == 1 {
				want = hidden
			}
			if got := bar.apply(0.25, p[0], p[1]); got != want {
				t.Errorf("ink %v: %v at (%v, %v), want %v", ink, got, p[0], p[1], want)
			}
		}
	}
}

func TestParallel(t *testing.T) {
	for _, n := range []int{0, 1, 7, 64, 1000} {
		hits := make([]int, n)
		parallel(n, 7, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				hits[i]++
			}
		})
		if i := slices.IndexFunc(hits, func(h int) bool { return h != 1 }); i >= 0 {
			t.Errorf("n=%d: element %d visited %d times", n, i, hits[i])
		}
	}
}

func BenchmarkRender(b *testing.B) {
	glyphFields()
	for b.Loop() {
		Render(1, 1000)
	}
}
