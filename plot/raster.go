package plot

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// A canvas is what figures are drawn on.
type canvas interface {
	// line draws a line through points. A point that is not finite breaks it.
	line(points []point, width float64, dashed bool, ink color.NRGBA)
	// fill fills polygons, together: where they overlap they are filled once. All turn the same way round.
	fill(polygons [][]point, ink color.NRGBA)
	text(s string, x, y float64, m mark)
	picture(m image.Image, b box)
	// clip draws what f draws inside a box alone.
	clip(b box, f func())
}

// A mark is how a text looks.
type mark struct {
	size    float64 // pixels an em
	bold    bool
	ink     color.NRGBA
	align   Align
	upwards bool // turned by 90 degrees, around its middle
}

func (m mark) aligned(a Align) mark {
	m.align = a
	return m
}

// The sizes of texts.
const titleSize, headingSize, smallSize = 24.0, 17.0, 14.0

// A raster is a picture of pixels.
type raster struct {
	image  *image.RGBA
	clipTo image.Rectangle
}

func newRaster(width, height int) *raster {
	r := &raster{image: image.NewRGBA(image.Rect(0, 0, width, height))}
	r.clipTo = r.image.Bounds()
	draw.Draw(r.image, r.clipTo, image.NewUniform(background), image.Point{}, draw.Src)
	return r
}

func (r *raster) clip(b box, f func()) {
	before := r.clipTo
	defer func() { r.clipTo = before }()
	r.clipTo = before.Intersect(image.Rect(int(math.Floor(b.x0)), int(math.Floor(b.y0)), int(math.Ceil(b.x1)), int(math.Ceil(b.y1))))
	f()
}

// target is the part of the picture that may be drawn on.
func (r *raster) target() draw.Image { return r.image.SubImage(r.clipTo).(*image.RGBA) }

func (r *raster) line(points []point, width float64, dashed bool, ink color.NRGBA) {
	const dash, gap = 7.0, 5.0
	if dashed {
		eachDash(r.cut(points, width), dash, gap, func(piece []point) { r.fill(stroke(piece, width), ink) })
		return
	}
	// In pieces, because the rasterizer works over all of their rectangle.
	const most = 64
	for len(points) > most {
		r.fill(stroke(points[:most], width), ink)
		points = points[most-1:]
	}
	r.fill(stroke(points, width), ink)
}

// stroke returns polygons of a line, all the same way round, so that pieces that overlap never cancel.
func stroke(points []point, width float64) (polygons [][]point) {
	h := width / 2
	for i, p := range points {
		if !finite(p.x) || !finite(p.y) {
			continue
		}
		if i+1 < len(points) && finite(points[i+1].x) && finite(points[i+1].y) {
			q := points[i+1]
			if length := math.Hypot(q.x-p.x, q.y-p.y); length > 0 {
				nx, ny := (p.y-q.y)/length*h, (q.x-p.x)/length*h
				polygons = append(polygons, []point{{p.x + nx, p.y + ny}, {p.x - nx, p.y - ny}, {q.x - nx, q.y - ny}, {q.x + nx, q.y + ny}})
			}
		}
		if i > 0 && width > 1 {
			polygons = append(polygons, circle(p, h)) // rounds the joint
		}
	}
	return polygons
}

// cut shortens segments longer than any figure to what is in sight, where dashes begin anew. Otherwise they
// would have dashes without end, of data far outside the limits.
func (r *raster) cut(points []point, width float64) (out []point) {
	const longest = 1 << 15
	gap := point{math.NaN(), math.NaN()}
	for i, q := range points {
		if i > 0 {
			p := points[i-1]
			if math.Hypot(q.x-p.x, q.y-p.y) > longest {
				if from, to, ok := within(p, q, r.clipTo, width); ok {
					out = append(out, gap, from, to)
				}
				out = append(out, gap)
			}
		}
		out = append(out, q)
	}
	return out
}

// within returns the part of a segment that lies in a rectangle with a margin (Liang and Barsky, A new concept
// and method for line clipping, 1984).
func within(p, q point, r image.Rectangle, margin float64) (from, to point, ok bool) {
	first, last := 0.0, 1.0
	side := func(p, d, lo, hi float64) {
		a, b := (lo-margin-p)/d, (hi+margin-p)/d
		if d == 0 { // infinities of either sign, or NaN on an edge
			a, b = math.Copysign(math.Inf(1), lo-margin-p), math.Copysign(math.Inf(1), hi+margin-p)
		}
		first, last = max(first, min(a, b)), min(last, max(a, b))
	}
	dx, dy := q.x-p.x, q.y-p.y
	side(p.x, dx, float64(r.Min.X), float64(r.Max.X))
	side(p.y, dy, float64(r.Min.Y), float64(r.Max.Y))
	if !(first < last) || !finite(dx) || !finite(dy) {
		return p, q, false
	}
	return point{p.x + dx*first, p.y + dy*first}, point{p.x + dx*last, p.y + dy*last}, true
}

// eachDash cuts a line into pieces and calls f with each.
func eachDash(points []point, dash, gap float64, f func(piece []point)) {
	var piece []point
	on, left := true, dash
	end := func() {
		if len(piece) > 1 {
			f(piece)
		}
		piece = nil
	}
	for i, p := range points {
		if !finite(p.x) || !finite(p.y) {
			end()
			on, left = true, dash
			continue
		}
		if len(piece) == 0 && on {
			piece = []point{p}
		}
		if i+1 == len(points) || !finite(points[i+1].x) || !finite(points[i+1].y) {
			end()
			continue
		}
		q := points[i+1]
		length := math.Hypot(q.x-p.x, q.y-p.y)
		for at := 0.0; at < length; {
			step := min(left, length-at)
			at += step
			if left -= step; on {
				piece = append(piece, point{p.x + (q.x-p.x)*at/length, p.y + (q.y-p.y)*at/length})
			}
			if left > 1e-9 {
				continue
			}
			if on {
				end()
			} else {
				piece = []point{{p.x + (q.x-p.x)*at/length, p.y + (q.y-p.y)*at/length}}
			}
			if on = !on; on {
				left = dash
			} else {
				left = gap
			}
		}
	}
	end()
}

func (r *raster) fill(polygons [][]point, ink color.NRGBA) {
	// What is far outside is cut, and the rasterizer, which works over all of its rectangle, gets a tight one.
	b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, corners := range polygons {
		for _, p := range corners {
			b = box{min(b.x0, p.x), min(b.y0, p.y), max(b.x1, p.x), max(b.y1, p.y)}
		}
	}
	c := r.clipTo
	to := image.Rect(
		int(math.Floor(max(b.x0, float64(c.Min.X)))), int(math.Floor(max(b.y0, float64(c.Min.Y)))),
		int(math.Ceil(min(b.x1, float64(c.Max.X)))), int(math.Ceil(min(b.y1, float64(c.Max.Y)))))
	if !(b.x0 < float64(c.Max.X) && b.y0 < float64(c.Max.Y) && b.x1 > float64(c.Min.X) && b.y1 > float64(c.Min.Y)) || to.Empty() {
		return
	}
	z := vector.NewRasterizer(to.Dx(), to.Dy())
	// float32 holds places near the rectangle exactly enough; those further out are moved to it, which keeps
	// what is inside as it is for lines along an axis.
	near := func(v, lo, hi float64) float32 { return float32(min(max(v, lo-1e5), hi+1e5) - lo) }
	for _, corners := range polygons {
		for k, p := range corners {
			x, y := near(p.x, float64(to.Min.X), float64(to.Max.X)), near(p.y, float64(to.Min.Y), float64(to.Max.Y))
			if k == 0 {
				z.MoveTo(x, y)
			} else {
				z.LineTo(x, y)
			}
		}
		z.ClosePath()
	}
	z.Draw(r.image, to, image.NewUniform(ink), image.Point{})
}

func (r *raster) text(s string, x, y float64, m mark) {
	if s == "" {
		return
	}
	w := measure(s, m)
	x -= w * float64(m.align) / 2
	face := faceOf(m)
	if !m.upwards {
		d := font.Drawer{Dst: r.target(), Src: image.NewUniform(m.ink), Face: face, Dot: fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}}
		d.DrawString(s)
		return
	}
	x += w * float64(m.align) / 2 // along the text is up
	height, base := int(m.size*1.5), int(m.size*1.1)
	flat := image.NewAlpha(image.Rect(0, 0, int(math.Ceil(w))+2, height))
	d := font.Drawer{Dst: flat, Src: image.Opaque, Face: face, Dot: fixed.P(1, base)}
	d.DrawString(s)
	turned := image.NewAlpha(image.Rect(0, 0, height, flat.Rect.Dx()))
	for j := range flat.Rect.Dy() {
		for i := range flat.Rect.Dx() {
			turned.SetAlpha(j, flat.Rect.Dx()-1-i, flat.AlphaAt(i, j))
		}
	}
	at := image.Pt(int(x)-base+int(m.size/2), int(y+w*float64(m.align)/2)-flat.Rect.Dx())
	draw.DrawMask(r.target(), turned.Rect.Add(at), image.NewUniform(m.ink), image.Point{}, turned, image.Point{}, draw.Over)
}

// picture draws pixels with sharp edges.
func (r *raster) picture(m image.Image, b box) {
	size := m.Bounds()
	x0, y0, x1, y1 := int(math.Round(min(b.x0, b.x1))), int(math.Round(min(b.y0, b.y1))), int(math.Round(max(b.x0, b.x1))), int(math.Round(max(b.y0, b.y1)))
	to := image.Rect(x0, y0, x1, y1)
	for y := max(y0, r.clipTo.Min.Y); y < min(y1, r.clipTo.Max.Y); y++ {
		for x := max(x0, r.clipTo.Min.X); x < min(x1, r.clipTo.Max.X); x++ {
			i, j := (x-x0)*size.Dx()/to.Dx(), (y-y0)*size.Dy()/to.Dy()
			if b.x1 < b.x0 {
				i = size.Dx() - 1 - i
			}
			if b.y1 < b.y0 {
				j = size.Dy() - 1 - j
			}
			over(r.image, x, y, m.At(size.Min.X+i, size.Min.Y+j))
		}
	}
}

// over draws a colour, which may be transparent, over a pixel.
func over(m *image.RGBA, x, y int, c color.Color) {
	r, g, b, a := c.RGBA()
	if a == 0 {
		return
	}
	p := m.RGBAAt(x, y)
	mix := func(above uint32, below uint8) uint8 {
		return uint8((above + uint32(below)*0x101*(0xffff-a)/0xffff) >> 8)
	}
	m.SetRGBA(x, y, color.RGBA{mix(r, p.R), mix(g, p.G), mix(b, p.B), mix(a, p.A)})
}

var (
	facesMu sync.Mutex
	faces   = map[faceKey]font.Face{}
)

type faceKey struct {
	size float64
	bold bool
}

// faceOf returns a face of one of the Go fonts.
func faceOf(m mark) font.Face {
	facesMu.Lock()
	defer facesMu.Unlock()
	k := faceKey{m.size, m.bold}
	if faces[k] == nil {
		ttf := goregular.TTF
		if m.bold {
			ttf = gomedium.TTF
		}
		f, err := opentype.Parse(ttf)
		if err != nil {
			panic(fmt.Sprintf("plot: the Go fonts: %v", err))
		}
		if faces[k], err = opentype.NewFace(f, &opentype.FaceOptions{Size: m.size, DPI: 72, Hinting: font.HintingNone}); err != nil {
			panic(fmt.Sprintf("plot: the Go fonts: %v", err))
		}
	}
	return faces[k]
}

// measure returns the width of a text.
func measure(s string, m mark) float64 { return float64(font.MeasureString(faceOf(m), s)) / 64 }
