package plot

import (
	"bufio"
	"fmt"
	"image"
	"image/png"
	"io"
	"path/filepath"
	"strings"

	"weft/internal/array"
	"weft/internal/atomicfile"
)

// FigureOpts are the options of a [Figure].
type FigureOpts struct {
	Title         string
	Width, Height *int // pixels, 16 to 16384; nil means 640 and 480 for each axes
	Rows, Columns *int // of axes, 1 to 64; nil means 1
}

// A Figure is a picture of axes in rows and columns.
type Figure struct {
	title         string
	width, height int
	columns       int
	axes          []*Axes
}

// NewFigure returns a figure of empty axes. It panics with *weft.Error if a size is out of range.
func NewFigure(opts ...FigureOpts) *Figure {
	o := array.Options("figure", opts)
	within := func(name string, x *int, otherwise, lo, hi int) int {
		n := array.Or(x, otherwise)
		if n < lo || n > hi {
			array.Failf("figure", name, "is %d, want %d to %d", n, lo, hi)
		}
		return n
	}
	rows, columns := within("Rows", o.Rows, 1, 1, 64), within("Columns", o.Columns, 1, 1, 64)
	const smallest, greatest = 16, 1 << 14
	f := &Figure{
		title: o.Title, columns: columns,
		width:  within("Width", o.Width, min(640*columns, greatest), smallest, greatest),
		height: within("Height", o.Height, min(480*rows, greatest), smallest, greatest),
	}
	for range rows * columns {
		f.axes = append(f.axes, &Axes{})
	}
	return f
}

// Axes returns the axes of a row and a column, counted from 0. It panics with *weft.Error if there are none.
func (f *Figure) Axes(row, column int) *Axes {
	f.made("axes")
	if rows := len(f.axes) / f.columns; row < 0 || row >= rows || column < 0 || column >= f.columns {
		array.Failf("axes", "row", "%d, column %d: the figure has %d rows and %d columns", row, column, rows, f.columns)
	}
	return f.axes[row*f.columns+column]
}

// Image draws the figure.
func (f *Figure) Image() *image.RGBA {
	f.made("image")
	r := newRaster(f.width, f.height)
	f.draw(r)
	return r.image
}

// WritePNG writes the figure as a PNG file.
func (f *Figure) WritePNG(w io.Writer) error {
	if w == nil {
		return array.Errorf("writepng", "w", "is nil")
	}
	return png.Encode(w, f.Image())
}

// WriteSVG writes the figure as an SVG file, whose text is text in the Go fonts, or a sans-serif one where
// they are missing.
func (f *Figure) WriteSVG(w io.Writer) error {
	if w == nil {
		return array.Errorf("writesvg", "w", "is nil")
	}
	f.made("writesvg")
	out := bufio.NewWriter(w)
	s := newVector(out, f.width, f.height)
	f.draw(s)
	s.end()
	return out.Flush()
}

// SaveFig writes the figure to a file whose name ends in ".png" or ".svg". The file appears whole or not at
// all.
func (f *Figure) SaveFig(path string) error {
	f.made("savefig")
	write := f.WritePNG
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case ".png":
	case ".svg":
		write = f.WriteSVG
	default:
		return array.Errorf("savefig", "path", "ends in %q, want .png or .svg", ending)
	}
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

func (f *Figure) made(method string) {
	if f == nil || len(f.axes) == 0 {
		array.Failf("figure", "", "%s of a figure that is nil or was not made by NewFigure", method)
	}
}

// draw draws the title and all axes.
func (f *Figure) draw(c canvas) {
	top := 0.0
	if f.title != "" {
		c.text(f.title, 24, 36, mark{size: titleSize, bold: true, ink: textColor})
		top = 48
	}
	rows := len(f.axes) / f.columns
	w, h := float64(f.width)/float64(f.columns), (float64(f.height)-top)/float64(rows)
	for i, a := range f.axes {
		x, y := float64(i%f.columns)*w, top+float64(i/f.columns)*h
		a.draw(c, box{x, y, x + w, y + h})
	}
}

// A box is a rectangle of the picture.
type box struct{ x0, y0, x1, y1 float64 }

// A point is a place in the picture: pixels, y pointing down.
type point struct{ x, y float64 }

// String returns the title, the size and the number of axes.
func (f *Figure) String() string {
	return array.Describe("plot.Figure", "Title", f.title, "Width", f.width, "Height", f.height, "Axes", len(f.axes))
}
