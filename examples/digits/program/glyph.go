package program

import (
	"fmt"
	"math"
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// faces are the Go fonts whose digits differ. The two small-caps faces carry
// the digits of the regular and the italic one, so they would add nothing.
var faces = [][]byte{
	goregular.TTF, goitalic.TTF, gomedium.TTF, gomediumitalic.TTF, gobold.TTF,
	gobolditalic.TTF, gomono.TTF, gomonoitalic.TTF, gomonobold.TTF, gomonobolditalic.TTF,
}

const (
	fieldSize   = 64                               // samples along one side of a field
	fieldReach  = 2.0                              // a field covers [-fieldReach, fieldReach] in both axes
	fieldPitch  = 2 * fieldReach / (fieldSize - 1) // distance of two samples
	curvePieces = 8                                // chords a quadratic curve is cut into
)

// A field is the signed distance from a glyph's outline, positive inside,
// sampled on a square grid. Its unit is half the height of the digits: the
// glyph's bounding box is centred on the origin and spans about [-1, 1]
// vertically, y pointing down.
//
// Distances rather than coverage make one lookup serve every distortion of the
// renderer: a wider stroke is an added constant, a soft edge a gentler slope,
// and any warp of the plane a lookup somewhere else.
type field [fieldSize * fieldSize]float32

// at returns the distance at (x, y), interpolated between the four samples
// around it. Outside the field's square the nearest edge sample answers; it
// lies far enough from any outline to be well outside.
func (f *field) at(x, y float64) float64 {
	u := clamp((x+fieldReach)*(1/fieldPitch), 0, fieldSize-1.001)
	v := clamp((y+fieldReach)*(1/fieldPitch), 0, fieldSize-1.001)
	i, j := int(u), int(v)
	u -= float64(i)
	v -= float64(j)
	s := f[j*fieldSize+i:]
	a, b := float64(s[0]), float64(s[1])
	c, d := float64(s[fieldSize]), float64(s[fieldSize+1])
	top := a + float64((b-a)*u)
	bottom := c + float64((d-c)*u)
	return top + float64((bottom-top)*v)
}

// segment is a straight piece of an outline, from (x0, y0) to (x1, y1).
type segment struct{ x0, y0, x1, y1 float64 }

// glyphFields returns the fields of every digit of every face: field
// face*10+digit. They are computed once, in parallel.
var glyphFields = sync.OnceValue(func() []field {
	fonts := make([]*sfnt.Font, len(faces))
	for i, ttf := range faces {
		f, err := sfnt.Parse(ttf)
		if err != nil {
			panic(fmt.Sprintf("digits: face %d of the Go fonts: %v", i, err))
		}
		fonts[i] = f
	}
	fields := make([]field, 10*len(faces))
	parallel(len(fields), 1, func(lo, hi int) {
		var buf sfnt.Buffer
		for k := lo; k < hi; k++ {
			lines, err := outline(fonts[k/10], &buf, rune('0'+k%10))
			if err != nil {
				panic(fmt.Sprintf("digits: glyph %d of face %d of the Go fonts: %v", k%10, k/10, err))
			}
			fields[k].fill(lines)
		}
	})
	return fields
})

// outline returns a glyph's outline as closed chains of segments in the unit
// of a field.
func outline(f *sfnt.Font, buf *sfnt.Buffer, r rune) ([]segment, error) {
	index, err := f.GlyphIndex(buf, r)
	if err != nil {
		return nil, err
	}
	// At this size one pixel is one font unit, so the coordinates are exact.
	ops, err := f.LoadGlyph(buf, index, fixed.I(int(f.UnitsPerEm())), nil)
	if err != nil {
		return nil, err
	}
	box := ops.Bounds()
	cx := float64(float64(box.Min.X+box.Max.X) / 2)
	cy := float64(float64(box.Min.Y+box.Max.Y) / 2)
	scale := 2 / float64(box.Max.Y-box.Min.Y)
	point := func(p fixed.Point26_6) (x, y float64) {
		return float64((float64(p.X) - cx) * scale), float64((float64(p.Y) - cy) * scale)
	}

	var lines []segment
	var x, y, startX, startY float64
	lineTo := func(nx, ny float64) {
		if nx != x || ny != y {
			lines = append(lines, segment{x, y, nx, ny})
		}
		x, y = nx, ny
	}
	for _, op := range ops {
		switch op.Op {
		case sfnt.SegmentOpMoveTo:
			lineTo(startX, startY)
			x, y = point(op.Args[0])
			startX, startY = x, y
		case sfnt.SegmentOpLineTo:
			lineTo(point(op.Args[0]))
		case sfnt.SegmentOpQuadTo:
			x0, y0 := x, y
			x1, y1 := point(op.Args[0])
			x2, y2 := point(op.Args[1])
			for k := 1; k <= curvePieces; k++ {
				t := float64(k) / curvePieces
				lineTo(bezier(x0, x1, x2, t), bezier(y0, y1, y2, t))
			}
		default:
			return nil, fmt.Errorf("unexpected outline operation %d in a TrueType face", op.Op)
		}
	}
	lineTo(startX, startY)
	return lines, nil
}

// bezier returns the point at t of the quadratic curve with control values a,
// b and c.
func bezier(a, b, c, t float64) float64 {
	p := a + float64((b-a)*t)
	q := b + float64((c-b)*t)
	return p + float64((q-p)*t)
}

// fill samples the signed distance from a closed outline. Inside is where the
// winding number is not zero, as TrueType says.
func (f *field) fill(lines []segment) {
	for j := range fieldSize {
		y := float64(float64(j)*fieldPitch) - fieldReach
		for i := range fieldSize {
			x := float64(float64(i)*fieldPitch) - fieldReach
			nearest, winding := math.Inf(1), 0
			for _, s := range lines {
				dx, dy := s.x1-s.x0, s.y1-s.y0
				px, py := x-s.x0, y-s.y0
				t := (float64(px*dx) + float64(py*dy)) / (float64(dx*dx) + float64(dy*dy))
				t = clamp(t, 0, 1)
				ex, ey := px-float64(t*dx), py-float64(t*dy)
				nearest = min(nearest, float64(ex*ex)+float64(ey*ey))
				// The crossing lies to the right of the sample where the
				// sample lies left of an upward or right of a downward line.
				side := float64(dx*py) - float64(dy*px)
				if s.y0 <= y && y < s.y1 && side > 0 {
					winding++
				} else if s.y1 <= y && y < s.y0 && side < 0 {
					winding--
				}
			}
			d := math.Sqrt(nearest)
			if winding == 0 {
				d = -d
			}
			f[j*fieldSize+i] = float32(d)
		}
	}
}

func clamp(v, lo, hi float64) float64 { return min(max(v, lo), hi) }
