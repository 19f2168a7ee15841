package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// A canvas is a picture with what drawing on it needs: three sizes of text and
// smooth lines. Coordinates are pixels, y pointing down.
type canvas struct {
	img                   *image.RGBA
	title, heading, small font.Face
}

type point struct{ x, y float64 }

// align says which part of a text lies at the given place.
type align int

const (
	left align = iota
	centre
	right
)

func newCanvas(width, height int) *canvas {
	return &canvas{
		img:     image.NewRGBA(image.Rect(0, 0, width, height)),
		title:   newFace(gomedium.TTF, 24),
		heading: newFace(gomedium.TTF, 17),
		small:   newFace(goregular.TTF, 14),
	}
}

// newFace returns a face of one of the Go fonts, its size in pixels an em.
func newFace(ttf []byte, size float64) font.Face {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(fmt.Sprintf("digits: the Go fonts: %v", err))
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(fmt.Sprintf("digits: the Go fonts: %v", err))
	}
	return face
}

// text draws s with its baseline at y and returns its width.
func (c *canvas) text(s string, x, y float64, a align, face font.Face, ink color.RGBA) float64 {
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(ink), Face: face}
	width := float64(d.MeasureString(s)) / 64
	switch a {
	case centre:
		x -= width / 2
	case right:
		x -= width
	}
	d.Dot = fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}
	d.DrawString(s)
	return width
}

// note draws small text centred on x over a veil of the background, which
// keeps it legible on top of a curve.
func (c *canvas) note(s string, x, y float64, ink color.RGBA) {
	half := float64(font.MeasureString(c.small, s))/128 + 3
	veil := image.Rect(int(x-half), int(y-13), int(x+half), int(y+4))
	// Alpha-premultiplied, as color.RGBA is.
	const share = 0.8
	b := background
	draw.Draw(c.img, veil, image.NewUniform(color.RGBA{
		uint8(share * float64(b.R)), uint8(share * float64(b.G)), uint8(share * float64(b.B)), share * 0xff,
	}), image.Point{}, draw.Over)
	c.text(s, x, y, centre, c.small, ink)
}

// rule fills a rectangle: a straight line along whole pixels.
func (c *canvas) rule(ink color.RGBA, x, y, width, height int) {
	draw.Draw(c.img, image.Rect(x, y, x+width, y+height), image.NewUniform(ink), image.Point{}, draw.Src)
}

// line draws a line through points. A point that is no number breaks it.
func (c *canvas) line(ink color.RGBA, width float64, points ...point) {
	h := width / 2
	var s shape
	for i, p := range points {
		if !finite(p.x) || !finite(p.y) {
			continue
		}
		// The rasterizer fills where the winding is not zero. Every piece
		// turns the same way round, so pieces that overlap never cancel.
		if i+1 < len(points) && finite(points[i+1].x) && finite(points[i+1].y) {
			q := points[i+1]
			if length := math.Hypot(q.x-p.x, q.y-p.y); length > 0 {
				nx, ny := (p.y-q.y)/length*h, (q.x-p.x)/length*h
				s.polygon(point{p.x + nx, p.y + ny}, point{p.x - nx, p.y - ny},
					point{q.x - nx, q.y - ny}, point{q.x + nx, q.y + ny})
			}
		}
		if i > 0 && i+1 < len(points) && width > 1 {
			s.circle(h, p) // rounds the joint
		}
	}
	s.fill(c.img, ink)
}

// dot draws a filled circle with a thin rim of the background, which keeps it
// apart from a line below it.
func (c *canvas) dot(ink color.RGBA, radius float64, p point) {
	var rim, disc shape
	rim.circle(radius+1.5, p)
	rim.fill(c.img, background)
	disc.circle(radius, p)
	disc.fill(c.img, ink)
}

// A shape is a set of polygons that are filled together.
type shape struct{ polygons [][]point }

func (s *shape) polygon(corners ...point) { s.polygons = append(s.polygons, corners) }

// circle adds a polygon of 24 corners, the same way round as the pieces of a
// line.
func (s *shape) circle(radius float64, p point) {
	corners := make([]point, 24)
	for k := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(len(corners)))
		corners[k] = point{p.x + radius*cos, p.y + radius*sin}
	}
	s.polygon(corners...)
}

// fill draws the shape with smooth edges.
func (s *shape) fill(img draw.Image, ink color.RGBA) {
	// The rasterizer works over all of its rectangle, so it gets a tight one.
	var box image.Rectangle
	for _, corners := range s.polygons {
		for _, p := range corners {
			x, y := int(math.Floor(p.x)), int(math.Floor(p.y))
			box = box.Union(image.Rect(x, y, x+2, y+2))
		}
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, corners := range s.polygons {
		for k, p := range corners {
			x, y := float32(p.x-float64(box.Min.X)), float32(p.y-float64(box.Min.Y))
			if k == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(img, box, image.NewUniform(ink), image.Point{})
}
