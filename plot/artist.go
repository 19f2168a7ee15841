package plot

import (
	"image"
	"image/color"
	"math"
	"slices"
)

// An artist is something that axes hold.
type artist interface {
	// limits calls x and y with coordinates that the axes are to hold.
	limits(x, y func(v ...float64))
	draw(c canvas, p *panel)
	// legend returns its name in the legend, "" for none, and its colour.
	legend() (name string, ink color.NRGBA)
	// key draws its sample into the legend, 26 pixels wide, around a height.
	key(c canvas, x, y float64)
}

// A line joins points.
type line struct {
	x, y           []float64
	ink            color.NRGBA
	width          float64
	dashed, marked bool
	label          string
}

func (l *line) limits(x, y func(...float64)) { x(l.x...); y(l.y...) }

func (l *line) draw(c canvas, p *panel) {
	points := make([]point, len(l.x))
	for i := range points {
		points[i] = p.at(l.x[i], l.y[i])
	}
	c.line(thinned(points, p.box), l.width, l.dashed, l.ink)
	if l.marked {
		drawDots(c, p.box, points, l.width+2, l.ink)
	}
}

func (l *line) legend() (string, color.NRGBA) { return l.label, l.ink }

func (l *line) key(c canvas, x, y float64) {
	c.line([]point{{x, y}, {x + 26, y}}, l.width, l.dashed, l.ink)
	if l.marked {
		dot(c, point{x + 13, y}, l.width+2, l.ink)
	}
}

// outside is how far beyond the axes something is still drawn, in pixels.
const outside = 8

// thinned keeps the first, least, greatest and last of the points in a row that share a column of pixels, where
// there are many more points than columns. All columns on one side of the box count as one.
func thinned(points []point, b box) []point {
	if float64(len(points)) < 8*(b.x1-b.x0) {
		return points
	}
	const margin = 16 // more than outside and the width of most lines
	column := func(p point) float64 { return math.Floor(min(max(p.x, b.x0-margin), b.x1+margin)) }
	whole := func(p point) bool { return finite(p.x) && finite(p.y) }
	var out []point
	for i := 0; i < len(points); {
		first := points[i]
		if !whole(first) { // a gap, however long
			out = append(out, first)
			for i < len(points) && !whole(points[i]) {
				i++
			}
			continue
		}
		least, greatest, last := first, first, first
		for k := column(first); i < len(points) && whole(points[i]) && column(points[i]) == k; i++ {
			last = points[i]
			if last.y < least.y {
				least = last
			}
			if last.y > greatest.y {
				greatest = last
			}
		}
		for _, p := range []point{first, least, greatest, last} {
			if n := len(out); n == 0 || out[n-1] != p {
				out = append(out, p)
			}
		}
	}
	return out
}

// dot draws a filled circle with a thin rim of the background, which keeps it apart from a line below it.
func dot(c canvas, p point, radius float64, ink color.NRGBA) {
	if finite(p.x) && finite(p.y) {
		c.fill([][]point{circle(p, radius+1.5)}, background)
		c.fill([][]point{circle(p, radius)}, ink)
	}
}

// circle returns a polygon of 24 corners.
func circle(p point, radius float64) []point {
	corners := make([]point, 24)
	for k := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(len(corners)))
		corners[k] = point{p.x + radius*cos, p.y + radius*sin}
	}
	return corners
}

// dots are points on their own.
type dots struct {
	x, y   []float64
	ink    color.NRGBA
	radius float64
	label  string
}

func (d *dots) limits(x, y func(...float64)) { x(d.x...); y(d.y...) }

func (d *dots) draw(c canvas, p *panel) {
	points := make([]point, len(d.x))
	for i := range points {
		points[i] = p.at(d.x[i], d.y[i])
	}
	drawDots(c, p.box, points, d.radius, d.ink)
}

// drawDots draws dots at points in sight. Of many only one in a square of half a radius is drawn, on which
// others lie, so that a picture and its file do not grow with the number of points.
func drawDots(c canvas, b box, points []point, radius float64, ink color.NRGBA) {
	const rims, many = 200, 20000
	if len(points) <= rims { // more of them would wipe each other out
		for _, q := range points {
			dot(c, q, radius, ink)
		}
		return
	}
	margin, side := radius+outside, max(radius/2, 0.5)
	columns := int((b.x1-b.x0+2*margin)/side) + 1
	rows := int((b.y1-b.y0+2*margin)/side) + 1
	var taken []bool
	if len(points) > many {
		taken = make([]bool, columns*rows)
	}
	var all [][]point
	for _, q := range points {
		if !(q.x > b.x0-margin && q.x < b.x1+margin && q.y > b.y0-margin && q.y < b.y1+margin) {
			continue
		}
		if taken != nil {
			at := int((q.y-b.y0+margin)/side)*columns + int((q.x-b.x0+margin)/side)
			if taken[at] {
				continue
			}
			taken[at] = true
		}
		all = append(all, circle(q, radius))
	}
	if len(all) > 0 {
		c.fill(all, ink)
	}
}

func (d *dots) legend() (string, color.NRGBA) { return d.label, d.ink }

func (d *dots) key(c canvas, x, y float64) { dot(c, point{x + 20, y}, d.radius, d.ink) }

// bars are rectangles: left, bottom, right, top.
type bars struct {
	rectangles [][4]float64
	ink        color.NRGBA
	label      string
}

func (b *bars) limits(x, y func(...float64)) {
	for _, r := range b.rectangles {
		x(r[0], r[2])
		y(r[1], r[3])
	}
}

func (b *bars) draw(c canvas, p *panel) {
	var all [][]point
	for _, r := range b.rectangles {
		lo, hi := p.at(r[0], r[1]), p.at(r[2], r[3])
		if !finite(lo.y) { // 0 on a logarithmic axis
			lo.y = p.box.y1
		}
		if !finite(lo.x) || !finite(hi.x) || !finite(hi.y) {
			continue
		}
		gap := 0.5 * math.Copysign(1, hi.x-lo.x)
		if math.Abs(hi.x-lo.x) < 3 {
			gap = 0
		}
		all = append(all, corners(box{lo.x + gap, lo.y, hi.x - gap, hi.y}))
	}
	if len(all) > 0 {
		c.fill(all, b.ink)
	}
}

// corners are the corners of a box, the same way round however its ends lie.
func corners(b box) []point {
	b = box{min(b.x0, b.x1), min(b.y0, b.y1), max(b.x0, b.x1), max(b.y0, b.y1)}
	return []point{{b.x0, b.y0}, {b.x1, b.y0}, {b.x1, b.y1}, {b.x0, b.y1}}
}

func (b *bars) legend() (string, color.NRGBA) { return b.label, b.ink }

func (b *bars) key(c canvas, x, y float64) {
	fillBox(c, box{x + 8, y - 6, x + 26, y + 6}, b.ink)
}

// An area lies between two lines.
type area struct {
	x, low, high []float64
	ink          color.NRGBA
	label        string
}

func (a *area) limits(x, y func(...float64)) { x(a.x...); y(a.low...); y(a.high...) }

func (a *area) draw(c canvas, p *panel) {
	var up, down []point
	flush := func() {
		if len(up) > 1 {
			up, down = thinned(up, p.box), thinned(down, p.box)
			slices.Reverse(down)
			c.fill([][]point{append(up, down...)}, a.ink)
		}
		up, down = nil, nil
	}
	for i, x := range a.x {
		u, d := p.at(x, a.high[i]), p.at(x, a.low[i])
		if !finite(u.x) || !finite(u.y) || !finite(d.y) {
			flush()
			continue
		}
		up, down = append(up, u), append(down, d)
	}
	flush()
}

func (a *area) legend() (string, color.NRGBA) { return a.label, a.ink }

func (a *area) key(c canvas, x, y float64) { (&bars{ink: a.ink}).key(c, x, y) }

// A rule is a line over the whole axes.
type rule struct {
	at       float64
	vertical bool
	ink      color.NRGBA
	width    float64
	dashed   bool
	label    string
}

func (r *rule) limits(x, y func(...float64)) {
	if r.vertical {
		x(r.at)
	} else {
		y(r.at)
	}
}

func (r *rule) draw(c canvas, p *panel) {
	from, to := point{p.box.x0, p.y.at(r.at)}, point{p.box.x1, p.y.at(r.at)}
	if r.vertical {
		from, to = point{p.x.at(r.at), p.box.y0}, point{p.x.at(r.at), p.box.y1}
	}
	c.line([]point{from, to}, r.width, r.dashed, r.ink)
}

func (r *rule) legend() (string, color.NRGBA) { return r.label, r.ink }

func (r *rule) key(c canvas, x, y float64) {
	c.line([]point{{x, y}, {x + 26, y}}, r.width, r.dashed, r.ink)
}

// A picture lies between the ends left, right, bottom, top.
type picture struct {
	image  image.Image
	extent [4]float64
}

func (m *picture) limits(x, y func(...float64)) { x(m.extent[:2]...); y(m.extent[2:]...) }

func (m *picture) draw(c canvas, p *panel) {
	a, b := p.at(m.extent[0], m.extent[3]), p.at(m.extent[1], m.extent[2])
	if finite(a.x) && finite(a.y) && finite(b.x) && finite(b.y) {
		c.picture(m.image, box{a.x, a.y, b.x, b.y})
	}
}

func (m *picture) legend() (name string, ink color.NRGBA) { return "", ink }

func (m *picture) key(canvas, float64, float64) {}

// A label is a line of text.
type label struct {
	x, y  float64
	text  string
	mark  mark
	veil  bool
	moved float64
}

func (l *label) limits(x, y func(...float64)) { x(l.x); y(l.y) }

func (l *label) draw(c canvas, p *panel) {
	q := p.at(l.x, l.y)
	b := p.box
	if l.text == "" || !(q.x >= b.x0-8 && q.x <= b.x1+8 && q.y >= b.y0-8 && q.y <= b.y1+8) {
		return
	}
	q.y += l.moved
	if l.veil {
		w := measure(l.text, l.mark)
		left := q.x - w*float64(l.mark.align)/2 - 3
		ink := background
		ink.A = 0xcc
		fillBox(c, box{left, q.y - 13, left + w + 6, q.y + 4}, ink)
	}
	c.text(l.text, q.x, q.y, l.mark)
}

func (l *label) legend() (name string, ink color.NRGBA) { return "", ink }

func (l *label) key(canvas, float64, float64) {}
