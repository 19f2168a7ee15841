package show

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

// A Canvas is a picture with what drawing on it needs: three sizes of text and
// smooth lines. Coordinates are pixels, y pointing down.
type Canvas struct {
	Image                 *image.RGBA
	Title, Heading, Small font.Face
}

// A Point is a place on a canvas.
type Point struct{ X, Y float64 }

// Align says which part of a text lies at the given place.
type Align int

const (
	Left Align = iota
	Centre
	Right
)

// NewCanvas returns an empty canvas in the colour of the background.
func NewCanvas(width, height int) *Canvas {
	c := &Canvas{
		Image:   image.NewRGBA(image.Rect(0, 0, width, height)),
		Title:   newFace(gomedium.TTF, 24),
		Heading: newFace(gomedium.TTF, 17),
		Small:   newFace(goregular.TTF, 14),
	}
	draw.Draw(c.Image, c.Image.Bounds(), image.NewUniform(Background), image.Point{}, draw.Src)
	return c
}

// newFace returns a face of one of the Go fonts, its size in pixels an em.
func newFace(ttf []byte, size float64) font.Face {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(fmt.Sprintf("show: the Go fonts: %v", err))
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(fmt.Sprintf("show: the Go fonts: %v", err))
	}
	return face
}

// Text draws s with its baseline at y and returns its width.
func (c *Canvas) Text(s string, x, y float64, a Align, face font.Face, ink color.RGBA) float64 {
	d := font.Drawer{Dst: c.Image, Src: image.NewUniform(ink), Face: face}
	width := float64(d.MeasureString(s)) / 64
	switch a {
	case Centre:
		x -= width / 2
	case Right:
		x -= width
	}
	d.Dot = fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}
	d.DrawString(s)
	return width
}

// Note draws small text centred on x over a veil of the background, which
// keeps it legible on top of a curve.
func (c *Canvas) Note(s string, x, y float64, ink color.RGBA) {
	half := float64(font.MeasureString(c.Small, s))/128 + 3
	veil := image.Rect(int(x-half), int(y-13), int(x+half), int(y+4))
	// Alpha-premultiplied, as color.RGBA is.
	const share = 0.8
	b := Background
	draw.Draw(c.Image, veil, image.NewUniform(color.RGBA{
		uint8(share * float64(b.R)), uint8(share * float64(b.G)), uint8(share * float64(b.B)), share * 0xff,
	}), image.Point{}, draw.Over)
	c.Text(s, x, y, Centre, c.Small, ink)
}

// Rule fills a rectangle: a straight line along whole pixels.
func (c *Canvas) Rule(ink color.RGBA, x, y, width, height int) {
	draw.Draw(c.Image, image.Rect(x, y, x+width, y+height), image.NewUniform(ink), image.Point{}, draw.Src)
}

// Line draws a line through points. A point that is no number breaks it.
func (c *Canvas) Line(ink color.RGBA, width float64, points ...Point) {
	h := width / 2
	var s shape
	for i, p := range points {
		if !finite(p.X) || !finite(p.Y) {
			continue
		}
		// The rasterizer fills where the winding is not zero. Every piece
		// turns the same way round, so pieces that overlap never cancel.
		if i+1 < len(points) && finite(points[i+1].X) && finite(points[i+1].Y) {
			q := points[i+1]
			if length := math.Hypot(q.X-p.X, q.Y-p.Y); length > 0 {
				nx, ny := (p.Y-q.Y)/length*h, (q.X-p.X)/length*h
				s.polygon(Point{p.X + nx, p.Y + ny}, Point{p.X - nx, p.Y - ny},
					Point{q.X - nx, q.Y - ny}, Point{q.X + nx, q.Y + ny})
			}
		}
		if i > 0 && i+1 < len(points) && width > 1 {
			s.circle(h, p) // rounds the joint
		}
	}
	s.fill(c.Image, ink)
}

// Dot draws a filled circle with a thin rim of the background, which keeps it
// apart from a line below it.
func (c *Canvas) Dot(ink color.RGBA, radius float64, p Point) {
	var rim, disc shape
	rim.circle(radius+1.5, p)
	rim.fill(c.Image, Background)
	disc.circle(radius, p)
	disc.fill(c.Image, ink)
}

// A shape is a set of polygons that are filled together.
type shape struct{ polygons [][]Point }

func (s *shape) polygon(corners ...Point) { s.polygons = append(s.polygons, corners) }

// circle adds a polygon of 24 corners, the same way round as the pieces of a
// line.
func (s *shape) circle(radius float64, p Point) {
	corners := make([]Point, 24)
	for k := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(len(corners)))
		corners[k] = Point{p.X + radius*cos, p.Y + radius*sin}
	}
	s.polygon(corners...)
}

// fill draws the shape with smooth edges.
func (s *shape) fill(img draw.Image, ink color.RGBA) {
	// The rasterizer works over all of its rectangle, so it gets a tight one.
	var box image.Rectangle
	for _, corners := range s.polygons {
		for _, p := range corners {
			x, y := int(math.Floor(p.X)), int(math.Floor(p.Y))
			box = box.Union(image.Rect(x, y, x+2, y+2))
		}
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, corners := range s.polygons {
		for k, p := range corners {
			x, y := float32(p.X-float64(box.Min.X)), float32(p.Y-float64(box.Min.Y))
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
