package plot

import (
	"image/color"
	"math"
)

// A panel is axes where they are drawn.
type panel struct {
	box  box
	x, y axis
}

func (p *panel) at(x, y float64) point { return point{p.x.at(x), p.y.at(y)} }

// The distances of a panel, in pixels.
const (
	border    = 24.0 // around axes
	headline  = 30.0 // for a title or a legend
	lineSpace = 20.0 // between lines of a legend
	tickSpace = 24.0 // for the numbers of the horizontal axis
	nameSpace = 24.0 // for the name of an axis
)

// draw draws axes into a part of the picture.
func (a *Axes) draw(c canvas, around box) {
	var xs, ys []float64
	down := false
	margins := [2]float64{0, 0.05}
	for _, artist := range a.artists {
		artist.limits(func(v ...float64) { xs = append(xs, v...) }, func(v ...float64) { ys = append(ys, v...) })
		switch m := artist.(type) {
		case *picture:
			margins, down = [2]float64{}, down || m.extent[2] > m.extent[3]
		case *dots:
			margins[0] = 0.03
		case *line:
			if m.marked {
				margins[0] = 0.03
			}
		case *bars:
			margins[0] = 0.02
		}
	}
	p := &panel{box: around}
	p.x, p.y = span(xs, a.XLog, a.XLim, margins[0]), span(ys, a.YLog, a.YLim, margins[1])
	if a.YLim == nil && a.onFloor() && !a.YLog && p.y.lo < 0 {
		p.y.lo = 0 // bars stand on the axis
	}
	p.x.whole, p.y.whole = whole(xs) || down, down
	if down && a.YLim == nil {
		p.y.lo, p.y.hi = p.y.hi, p.y.lo
	}
	entries := a.entries()
	p.layout(a, entries)
	if w, h := p.box.x1-p.box.x0, p.box.y1-p.box.y0; !(w > 4 && h > 4) {
		return // there is no room
	}
	p.x.from, p.x.to, p.y.from, p.y.to = p.box.x0, p.box.x1, p.box.y1, p.box.y0
	if !a.Hidden {
		p.grid(c, a)
		fillBox(c, box{p.box.x0 - 1, p.box.y0, p.box.x0 + 1, p.box.y1}, dimColor)
		fillBox(c, box{p.box.x0 - 1, p.box.y1, p.box.x1, p.box.y1 + 2}, dimColor)
	}
	c.clip(box{p.box.x0 - outside, p.box.y0 - outside, p.box.x1 + outside, p.box.y1 + outside}, func() {
		for _, artist := range a.artists {
			if _, text := artist.(*label); !text {
				artist.draw(c, p)
			}
		}
	})
	for _, artist := range a.artists { // text may stand over the edge
		if _, text := artist.(*label); text {
			artist.draw(c, p)
		}
	}
	p.head(c, a, around, entries)
}

// whole reports that all finite numbers are integers: ticks between them would say nothing.
func whole(values []float64) bool {
	for _, v := range values {
		if finite(v) && v != math.Trunc(v) {
			return false
		}
	}
	return len(values) > 0
}

// onFloor reports whether all numbers are heights of bars from 0.
func (a *Axes) onFloor() bool {
	bare := false
	for _, artist := range a.artists {
		b, ok := artist.(*bars)
		if !ok {
			continue
		}
		bare = true
		for _, r := range b.rectangles {
			if r[3] < 0 {
				return false
			}
		}
	}
	return bare
}

// layout leaves room for what stands around a panel.
func (p *panel) layout(a *Axes, entries []entry) {
	b := &p.box
	b.x0, b.y0, b.x1, b.y1 = b.x0+border, b.y0+border/2, b.x1-border, b.y1-border/2
	b.y0 += a.headHeight(b.x1-b.x0, entries)
	if a.Hidden {
		return
	}
	b.y1 -= tickSpace
	if a.XLabel != "" {
		b.y1 -= nameSpace
	}
	b.x0 += p.yTextWidth() + 12
	if a.YLabel != "" {
		b.x0 += nameSpace
	}
}

func (p *panel) yTicks() []tick { return p.y.ticksIn(p.box.y1-p.box.y0, 60) }

// yTextWidth is the width of the widest number beside the vertical axis.
func (p *panel) yTextWidth() float64 {
	widest := 0.0
	for _, t := range p.yTicks() {
		widest = max(widest, measure(t.text, mark{size: smallSize}))
	}
	return widest
}

// grid draws grid lines, numbers and the names of axes.
func (p *panel) grid(c canvas, a *Axes) {
	b := p.box
	small := mark{size: smallSize, ink: dimColor}
	for _, t := range p.yTicks() {
		y := p.y.at(t.v)
		fillBox(c, box{b.x0, math.Floor(y), b.x1, math.Floor(y) + 1}, gridColor)
		c.text(t.text, b.x0-9, y+5, small.aligned(Right))
	}
	for _, t := range p.x.ticksIn(b.x1-b.x0, 90) {
		x := p.x.at(t.v)
		fillBox(c, box{math.Floor(x), b.y0, math.Floor(x) + 1, b.y1}, gridColor)
		c.text(t.text, x, b.y1+21, small.aligned(Center))
	}
	c.text(a.XLabel, (b.x0+b.x1)/2, b.y1+tickSpace+20, small.aligned(Center))
	if a.YLabel != "" {
		up := small.aligned(Center)
		up.upwards = true
		c.text(a.YLabel, b.x0-p.yTextWidth()-20, (b.y0+b.y1)/2, up)
	}
}

// An entry is a line of the legend.
type entry struct {
	artist artist
	name   string
	width  float64
}

const keyWidth, entryGap = 34.0, 22.0

func (a *Axes) entries() (out []entry) {
	for _, artist := range a.artists {
		if name, _ := artist.legend(); name != "" {
			out = append(out, entry{artist, name, keyWidth + measure(name, mark{size: smallSize})})
		}
	}
	return out
}

// rows splits entries into lines of the legend; the first one has room beside the title.
func (a *Axes) rows(width float64, entries []entry) (rows [][]entry, beside bool) {
	title := 0.0
	if a.Title != "" {
		title = measure(a.Title, mark{size: headingSize, bold: true}) + entryGap
	}
	total := -entryGap
	for _, e := range entries {
		total += e.width + entryGap
	}
	if title+total <= width {
		return [][]entry{entries}, true
	}
	used := math.Inf(1)
	for _, e := range entries {
		if used+e.width > width {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += e.width + entryGap
	}
	return rows, false
}

// headHeight is the room above a panel.
func (a *Axes) headHeight(width float64, entries []entry) float64 {
	if a.Title == "" && len(entries) == 0 {
		return 8
	}
	rows, beside := a.rows(width, entries)
	if beside {
		return headline
	}
	h := lineSpace*float64(len(rows)) + 10
	if a.Title != "" {
		h += headline - 10
	}
	return h
}

// head draws title and legend.
func (p *panel) head(c canvas, a *Axes, around box, entries []entry) {
	left, right := p.box.x0, around.x1-border
	y := around.y0 + border/2 + 18
	c.text(a.Title, left, y, mark{size: headingSize, bold: true, ink: textColor})
	// layout counted from the border, and the numbers of the vertical axis took room since.
	rows, beside := a.rows(right-around.x0-border, entries)
	if !beside && a.Title != "" {
		y += lineSpace
	}
	for _, row := range rows {
		x := left
		if beside {
			x = right
			for i, e := range row {
				x -= e.width
				if i > 0 {
					x -= entryGap
				}
			}
		}
		for _, e := range row {
			e.artist.key(c, x, y-5)
			c.text(e.name, x+keyWidth, y, mark{size: smallSize, ink: dimColor})
			x += e.width + entryGap
		}
		y += lineSpace
	}
}

// fillBox fills a rectangle.
func fillBox(c canvas, b box, ink color.NRGBA) { c.fill([][]point{corners(b)}, ink) }
