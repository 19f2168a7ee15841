package plot

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"
)

// A vectorImage is a picture as an SVG file. Errors of w stay in it.
type vectorImage struct {
	w     *bufio.Writer
	clips int
}

func newVector(w *bufio.Writer, width, height int) *vectorImage {
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Go, sans-serif">`+"\n", width, height, width, height)
	v := &vectorImage{w: w}
	fillBox(v, box{0, 0, float64(width), float64(height)}, background)
	return v
}

func (v *vectorImage) end() { fmt.Fprintln(v.w, "</svg>") }

// ink are the attributes of a colour.
func ink(attribute string, c color.NRGBA) string {
	s := fmt.Sprintf(`%s="#%02x%02x%02x"`, attribute, c.R, c.G, c.B)
	if c.A != 0xff {
		s += fmt.Sprintf(` %s-opacity="%.3g"`, attribute, float64(c.A)/0xff)
	}
	return s
}

// place is a coordinate with two digits.
func place(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(min(max(x, -1e6), 1e6), 'f', 2, 64), "0"), ".")
}

// path is what moves along points.
func path(points []point) string {
	var b strings.Builder
	letter := byte('M')
	for _, p := range points {
		if !finite(p.x) || !finite(p.y) {
			letter = 'M'
			continue
		}
		b.WriteByte(letter)
		b.WriteString(place(p.x) + " " + place(p.y))
		letter = 'L'
	}
	return b.String()
}

func (v *vectorImage) line(points []point, width float64, dashed bool, c color.NRGBA) {
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="7 5"`
	}
	fmt.Fprintf(v.w, `<path d="%s" fill="none" %s stroke-width="%s" stroke-linejoin="round"%s/>`+"\n", path(points), ink("stroke", c), place(width), dash)
}

func (v *vectorImage) fill(polygons [][]point, c color.NRGBA) {
	v.w.WriteString(`<path d="`)
	for _, p := range polygons {
		v.w.WriteString(path(p) + "Z")
	}
	fmt.Fprintf(v.w, `" %s/>`+"\n", ink("fill", c))
}

func (v *vectorImage) text(s string, x, y float64, m mark) {
	if s == "" {
		return
	}
	extra := ""
	if m.bold {
		extra += ` font-weight="500"`
	}
	if m.align != Left {
		extra += fmt.Sprintf(` text-anchor="%s"`, []string{Center: "middle", Right: "end"}[m.align])
	}
	if m.upwards {
		x += m.size / 2
		extra += fmt.Sprintf(` transform="rotate(-90 %s %s)"`, place(x), place(y))
	}
	fmt.Fprintf(v.w, `<text x="%s" y="%s" font-size="%s" %s%s>`, place(x), place(y), place(m.size), ink("fill", m.ink), extra)
	// Errors of the writer stay in it.
	_ = xml.EscapeText(v.w, []byte(s))
	v.w.WriteString("</text>\n")
}

func (v *vectorImage) picture(m image.Image, b box) {
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		panic("plot: a picture: " + err.Error()) // its size was checked
	}
	w, h := b.x1-b.x0, b.y1-b.y0
	sx, sy := 1.0, 1.0
	if w < 0 {
		sx, w = -1, -w
	}
	if h < 0 {
		sy, h = -1, -h
	}
	fmt.Fprintf(v.w, `<image transform="translate(%s %s) scale(%g %g)" width="%s" height="%s" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`+"\n",
		place(b.x0), place(b.y0), sx, sy, place(w), place(h), base64.StdEncoding.EncodeToString(file.Bytes()))
}

func (v *vectorImage) clip(b box, f func()) {
	v.clips++
	fmt.Fprintf(v.w, `<clipPath id="c%d"><path d="%sZ"/></clipPath><g clip-path="url(#c%d)">`+"\n", v.clips, path(corners(b)), v.clips)
	f()
	v.w.WriteString("</g>\n")
}
