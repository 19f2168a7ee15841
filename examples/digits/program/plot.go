package program

import (
	"fmt"
	"image"
	"image/color"
	"strconv"

	"weft/plot"
	"weft/train"
)

// A Report is what digits.png shows of a training run.
type Report struct {
	Title    string
	History  *train.History
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
func Mistakes(s Set, predicted []int64) []Mistake {
	var wrong []Mistake
	for i, p := range predicted {
		if p != int64(s.Labels[i]) {
			wrong = append(wrong, Mistake{s.Image(i), s.Labels[i], uint8(p)})
		}
	}
	return wrong
}

const gridColumns, gridRows = 8, 5

// Draw draws a report: the loss curve on the left, the mistaken digits on the
// right.
func (r *Report) Draw() *plot.Figure {
	f := plot.NewFigure(plot.FigureOpts{Title: r.Title, Columns: new(2), Width: new(1280), Height: new(640)})
	ax := f.Axes(0, 0)
	ax.Title = "Loss"
	r.History.DrawLoss(ax)
	for _, e := range r.History.Epochs {
		text := fmt.Sprintf("%.2f %%", 100*e.Values.Get("val_accuracy"))
		ax.Text(float64(e.Step), e.Values.Get("val_loss"), text, plot.TextOpts{Color: plot.Orange, Align: plot.Center, Veil: true, DY: -14})
	}
	r.drawMistakes(f.Axes(0, 1))
	return f
}

// drawMistakes draws a grid of mistaken digits, each with its label and what it
// was taken for. A cell is 1 wide and 1 high.
func (r *Report) drawMistakes(ax *plot.Axes) {
	ax.Hidden = true
	ax.XLim, ax.YLim = &[2]float64{0, gridColumns}, &[2]float64{gridRows, 0}
	ax.Title = fmt.Sprintf("%d of %d test digits mistaken", len(r.Mistakes), r.TestSize)
	if more := len(r.Mistakes) - gridColumns*gridRows; more > 0 {
		ax.Title += fmt.Sprintf(", %d shown", gridColumns*gridRows)
	}
	for i, m := range r.Mistakes[:min(len(r.Mistakes), gridColumns*gridRows)] {
		x, y := float64(i%gridColumns), float64(i/gridColumns)
		picture := &image.Gray{Pix: m.Image, Stride: side, Rect: image.Rect(0, 0, side, side)}
		ax.Imshow(picture, plot.ImshowOpts{Extent: &[4]float64{x + 0.05, x + 0.85, y + 0.62, y}})
		for _, part := range []struct {
			dx  float64
			s   string
			ink color.Color
		}{{0.25, strconv.Itoa(int(m.Label)), plot.Green}, {0.45, "→", plot.Dim}, {0.65, strconv.Itoa(int(m.Predicted)), plot.Orange}} {
			ax.Text(x+part.dx, y+0.82, part.s, plot.TextOpts{Color: part.ink, Align: plot.Center})
		}
	}
}
