package program

import (
	"fmt"
	"image"
	"image/color"
	"strconv"

	"weft/examples/internal/show"
)

// A Report is what digits.png shows of a training run.
type Report struct {
	Title string
	show.Curve
	Mistakes []Mistake // pictures of the test set that were taken for another digit
	TestSize int       // pictures in the test set
}

// A Mistake is a picture that was taken for another digit.
type Mistake struct {
	Image            []uint8 // side*side grey values
	Label, Predicted uint8
}

// Mistakes returns the pictures of a set whose prediction differs from their
// label. It holds one prediction a picture.
func Mistakes(s Set, predicted []uint8) []Mistake {
	var wrong []Mistake
	for i, p := range predicted {
		if p != s.Labels[i] {
			wrong = append(wrong, Mistake{s.Image(i), s.Labels[i], p})
		}
	}
	return wrong
}

const (
	plotWidth, plotHeight = 1280, 640
	gridColumns, gridRows = 8, 5
	pictureScale          = 2 // screen pixels to one pixel of a digit
)

var truthColor = color.RGBA{0x2b, 0x7d, 0x46, 0xff}

// WriteReport draws a report as a PNG file, which appears whole or not at all.
func WriteReport(path string, r Report) error { return show.WritePNG(path, DrawReport(r)) }

// DrawReport draws a report: the loss curve on the left, the mistaken digits
// on the right.
func DrawReport(r Report) *image.RGBA {
	c := show.NewCanvas(plotWidth, plotHeight)
	c.Text(r.Title, 40, 48, show.Left, c.Title, show.TextColor)
	r.Curve.Draw(c, image.Rect(92, 128, 700, 572))
	r.drawMistakes(c, image.Rect(760, 134, 1240, 606))
	return c.Image
}

// drawMistakes draws a grid of mistaken digits, each with its label and what
// it was taken for.
func (r *Report) drawMistakes(c *show.Canvas, box image.Rectangle) {
	heading := fmt.Sprintf("%s of %s test digits mistaken", show.Thousands(len(r.Mistakes)), show.Thousands(r.TestSize))
	if more := len(r.Mistakes) - gridColumns*gridRows; more > 0 {
		heading += fmt.Sprintf(", %d shown", gridColumns*gridRows)
	}
	c.Text(heading, float64(box.Min.X), 94, show.Left, c.Heading, show.TextColor)
	if len(r.Mistakes) > 0 {
		x := float64(box.Min.X)
		x += c.Text("label", x, 114, show.Left, c.Small, truthColor)
		x += c.Text(" → ", x, 114, show.Left, c.Small, show.DimColor)
		c.Text("prediction", x, 114, show.Left, c.Small, show.TestColor)
	}
	cellWidth := box.Dx() / gridColumns
	cellHeight := box.Dy() / gridRows
	const size = side * pictureScale
	for i, m := range r.Mistakes[:min(len(r.Mistakes), gridColumns*gridRows)] {
		x := box.Min.X + i%gridColumns*cellWidth
		y := box.Min.Y + i/gridColumns*cellHeight
		for dy := range size {
			for dx := range size {
				grey := m.Image[dy/pictureScale*side+dx/pictureScale]
				c.Image.SetRGBA(x+dx, y+dy, color.RGBA{grey, grey, grey, 0xff})
			}
		}
		baseline := float64(y + size + 18)
		middle := float64(x) + size/2
		c.Text(strconv.Itoa(int(m.Label)), middle-13, baseline, show.Centre, c.Small, truthColor)
		c.Text("→", middle, baseline, show.Centre, c.Small, show.DimColor)
		c.Text(strconv.Itoa(int(m.Predicted)), middle+13, baseline, show.Centre, c.Small, show.TestColor)
	}
}
