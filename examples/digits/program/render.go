package program

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// side is the width and height of a picture in pixels.
const side = 28

// A Set is a labelled set of pictures.
type Set struct {
	Images []uint8 // n*side*side grey values, row by row, 0 black to 255 white
	Labels []uint8 // n digits, 0 to 9
}

// Len returns the number of pictures.
func (s Set) Len() int { return len(s.Labels) }

// Image returns the pixels of picture i; they alias the set's.
func (s Set) Image(i int) []uint8 {
	return s.Images[i*side*side : (i+1)*side*side : (i+1)*side*side]
}

// Render draws n pictures. Picture i shows digit i%10, so the labels are
// balanced, and depends on seed and i alone: a longer set begins with the
// shorter one, and the bytes are the same however many threads draw it.
//
// They are also the same on every machine. Only operations whose rounding
// IEEE 754 fixes are used, and no product may contract with a sum: a conversion
// around the product forbids it. math.Sin, math.Exp and rand.NormFloat64 would
// each break that.
func Render(seed uint64, n int) Set {
	return render(seed, n, parallel)
}

func render(seed uint64, n int, split func(n, grain int, body func(lo, hi int))) Set {
	s := Set{Images: make([]uint8, n*side*side), Labels: make([]uint8, n)}
	fields := glyphFields()
	split(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			digit := i % 10
			s.Labels[i] = uint8(digit)
			draw := newSource(seed, i)
			face := draw.below(len(faces))
			drawDigit(s.Image(i), &fields[face*10+digit], draw)
		}
	})
	return s
}

// drawDigit draws one distorted picture of a glyph into img.
func drawDigit(img []uint8, glyph *field, draw *source) {
	p := drawPose(draw)
	covers := drawCovers(draw)

	paper := draw.between(0, 40)          // grey of the background
	ink := paper + draw.between(110, 200) // and of the stroke
	shadeX := draw.between(-1, 1)         // slope of the background, grey levels a pixel
	shadeY := draw.between(-1, 1)
	noise := draw.between(4, 16) // standard deviation of the noise

	for r := range side {
		y := float64(r) - (side-1)/2.0
		for c := range side {
			x := float64(c) - (side-1)/2.0
			a := p.coverage(glyph, x, y)
			for k := range covers {
				a = covers[k].apply(a, x, y)
			}
			v := paper + float64((ink-paper)*a) + float64(shadeX*x) + float64(shadeY*y)
			v += float64(noise * draw.bell())
			img[r*side+c] = uint8(clamp(v+0.5, 0, 255))
		}
	}
}

// A pose says where and how a glyph lies in the picture: an affine map with a
// slight bend, the change of its stroke and the softness of its edge.
type pose struct {
	xx, xy, yx, yy float64 // picture to glyph, linear part
	cx, cy         float64 // the glyph's centre in the picture, pixels
	bendX, bendY   float64 // quadratic part of the map, in the glyph's unit
	unit           float64 // pixels to one unit of the glyph
	grow           float64 // added to the stroke on each side, pixels
	soft           float64 // width of the edge's ramp, pixels
}

func drawPose(draw *source) pose {
	// The tangent of the half angle gives sine and cosine by division alone;
	// 0.13 is a rotation of 15 degrees.
	t := draw.between(-0.13, 0.13)
	cos := (1 - float64(t*t)) / (1 + float64(t*t))
	sin := 2 * t / (1 + float64(t*t))
	shear := draw.between(-0.28, 0.28)
	width := draw.between(7.4, 10.6) // pixels to one unit, across
	height := draw.between(8, 11)

	// Undo the rotation, then the shear, then the scale.
	p := pose{
		xx: (cos + float64(shear*sin)) / width,
		xy: (sin - float64(shear*cos)) / width,
		yx: -sin / height,
		yy: cos / height,
	}
	p.cx, p.cy = draw.between(-2.3, 2.3), draw.between(-2.3, 2.3)
	p.bendX, p.bendY = draw.between(-0.12, 0.12), draw.between(-0.12, 0.12)
	p.unit = (width + height) / 2
	p.grow = draw.between(-0.3, 0.8)
	p.soft = draw.between(1, 2.6)
	return p
}

// coverage returns how much of the pixel at (x, y), measured from the middle
// of the picture, lies under the stroke: 0 to 1.
func (p *pose) coverage(glyph *field, x, y float64) float64 {
	x -= p.cx
	y -= p.cy
	u := float64(p.xx*x) + float64(p.xy*y)
	v := float64(p.yx*x) + float64(p.yy*y)
	u, v = u+float64(p.bendX*float64(v*v)), v+float64(p.bendY*float64(u*u))
	d := float64(glyph.at(u, v)*p.unit) + p.grow
	return clamp(0.5+d/p.soft, 0, 1)
}

// A cover hides part of the glyph: a bar across the picture, or a patch where
// length is short. It has the grey of the stroke or of the background.
type cover struct {
	cx, cy        float64 // its centre, pixels from the middle of the picture
	cos, sin      float64 // its direction
	length, width float64 // half extents, pixels
	ink           bool    // as the stroke; otherwise as the background
}

// drawCovers returns a bar for one picture in three and a patch for one in
// three, chosen independently.
func drawCovers(draw *source) []cover {
	covers := make([]cover, 0, 2)
	if draw.below(3) == 0 {
		c := drawCover(draw)
		c.length, c.width = 2*side, draw.between(0.3, 0.8)
		c.ink = draw.below(2) == 0
		covers = append(covers, c)
	}
	if draw.below(3) == 0 {
		c := drawCover(draw)
		c.length, c.width = draw.between(1, 2), draw.between(1, 2)
		c.ink = draw.below(2) == 0
		covers = append(covers, c)
	}
	return covers
}

// drawCover places a cover anywhere in the middle of the picture, in any
// direction.
func drawCover(draw *source) cover {
	t := draw.between(-1, 1)
	return cover{
		cx:  draw.between(-9, 9),
		cy:  draw.between(-9, 9),
		cos: (1 - float64(t*t)) / (1 + float64(t*t)),
		sin: 2 * t / (1 + float64(t*t)),
	}
}

// apply returns coverage a at (x, y) with the cover laid over it.
func (c *cover) apply(a, x, y float64) float64 {
	x -= c.cx
	y -= c.cy
	along := float64(c.cos*x) + float64(c.sin*y)
	across := float64(c.cos*y) - float64(c.sin*x)
	hide := float64(clamp(c.length+0.5-max(along, -along), 0, 1) * clamp(c.width+0.5-max(across, -across), 0, 1))
	if c.ink {
		return max(a, hide)
	}
	return min(a, 1-hide)
}

// A source is one picture's stream of random numbers. It takes whole words
// from the generator and makes its own distributions, so that the numbers are
// fixed by the definition of PCG-DXSM alone.
type source struct{ pcg *rand.PCG }

// newSource returns picture i's stream.
func newSource(seed uint64, i int) *source {
	return &source{rand.NewPCG(seed, (uint64(i)+1)*0x9e3779b97f4a7c15)}
}

// between returns a number distributed evenly over [lo, hi).
func (s *source) between(lo, hi float64) float64 {
	u := float64(s.pcg.Uint64()>>11) / (1 << 53)
	return lo + float64((hi-lo)*u)
}

// below returns one of 0 to n-1 with equal chance (up to 2^-32).
func (s *source) below(n int) int {
	return int(s.pcg.Uint64() >> 32 * uint64(n) >> 32)
}

// bell returns a number with mean 0 and standard deviation 1, close to
// normally distributed: the scaled sum of four 16-bit numbers.
func (s *source) bell() float64 {
	w := s.pcg.Uint64()
	sum := w&0xffff + w>>16&0xffff + w>>32&0xffff + w>>48
	const mean, deviation = 2 * 0xffff, 37837.23 // sqrt(4 * (2^32-1) / 12)
	return (float64(sum) - mean) / deviation
}

// parallel runs body over [0, n) in pieces of at most grain on GOMAXPROCS
// goroutines and returns when all are done.
func parallel(n, grain int, body func(lo, hi int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				lo := int(next.Add(int64(grain))) - grain
				if lo >= n {
					return
				}
				body(lo, min(lo+grain, n))
			}
		})
	}
	wg.Wait()
}
