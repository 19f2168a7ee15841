package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
)

// count returns how many pixels of a rectangle have a colour.
func count(m image.Image, b image.Rectangle, c color.Color) int {
	n := 0
	want := color.NRGBAModel.Convert(c)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.NRGBAModel.Convert(m.At(x, y)) == want {
				n++
			}
		}
	}
	return n
}

// single returns a figure of one size with axes whose limits are known, and where they lie.
func single(prepare func(ax *Axes)) (*image.RGBA, *panel) {
	f := NewFigure(FigureOpts{Width: new(500), Height: new(400)})
	ax := f.Axes(0, 0)
	prepare(ax)
	r := &placed{raster: newRaster(f.width, f.height)}
	f.draw(r)
	p := &panel{box: box{r.clipped.x0 + 8, r.clipped.y0 + 8, r.clipped.x1 - 8, r.clipped.y1 - 8}}
	p.x, p.y = span(nil, ax.XLog, ax.XLim, 0), span(nil, ax.YLog, ax.YLim, 0)
	p.x.from, p.x.to, p.y.from, p.y.to = p.box.x0, p.box.x1, p.box.y1, p.box.y0
	return r.image, p
}

// placed notes the box of the axes.
type placed struct {
	*raster
	clipped box
}

func (p *placed) clip(b box, f func()) { p.clipped = b; p.raster.clip(b, f) }

// TestDrawingIsWhereTheAxesSay looks for what is drawn at the pixels that its numbers have, and nowhere else:
// lines, dots, bars, pictures, areas and rules on linear, logarithmic and falling axes.
func TestDrawingIsWhereTheAxesSay(t *testing.T) {
	for name, limits := range map[string]struct {
		x, y       [2]float64
		xlog, ylog bool
	}{
		"linear": {x: [2]float64{0, 10}, y: [2]float64{-5, 5}}, "logarithmic": {[2]float64{1, 1000}, [2]float64{0.01, 100}, true, true},
		"falling": {x: [2]float64{10, 0}, y: [2]float64{5, -5}},
	} {
		// from a part of an axis to its number
		number := func(part float64, l [2]float64, log bool) float64 {
			if log {
				return l[0] * math.Pow(l[1]/l[0], part)
			}
			return l[0] + part*(l[1]-l[0])
		}
		var xs, ys []float64
		for _, part := range []float64{0.2, 0.5, 0.8} {
			xs, ys = append(xs, number(part, limits.x, limits.xlog)), append(ys, number(1-part, limits.y, limits.ylog))
		}
		red := color.NRGBA{0xff, 0, 0, 0xff}
		square := image.NewNRGBA(image.Rect(0, 0, 2, 2))
		square.SetNRGBA(0, 0, red)
		for kind, draw := range map[string]func(ax *Axes){
			"plot":    func(ax *Axes) { ax.Plot(xs, ys, LineOpts{Color: red}) },
			"scatter": func(ax *Axes) { ax.Scatter(xs[1:2], ys[1:2], ScatterOpts{Color: red}) },
			"fill": func(ax *Axes) {
				ax.FillBetween(xs, []float64{ys[1], ys[1], ys[1]}, []float64{ys[2], ys[2], ys[2]}, BarOpts{Color: red})
			},
			"rules": func(ax *Axes) {
				ax.AxHLine(ys[1], LineOpts{Color: red, Width: new(3.0)})
				ax.AxVLine(xs[1], LineOpts{Color: red, Width: new(3.0)})
			},
			"imshow": func(ax *Axes) { ax.Imshow(square, ImshowOpts{Extent: &[4]float64{xs[0], xs[2], ys[0], ys[2]}}) },
		} {
			m, p := single(func(ax *Axes) {
				ax.XLim, ax.YLim, ax.XLog, ax.YLog = &limits.x, &limits.y, limits.xlog, limits.ylog
				draw(ax)
			})
			at := func(i, j int, dx, dy int) int {
				q := p.at(xs[i], ys[j])
				x, y := int(q.x)+dx, int(q.y)+dy
				return count(m, image.Rect(x-2, y-2, x+2, y+2), red)
			}
			all := count(m, m.Bounds(), red)
			w, h := int(p.box.x1-p.box.x0), int(p.box.y1-p.box.y0)
			var found []int
			var least, most int
			switch kind {
			case "plot": // 0.6 of the way in each direction
				found, least, most = []int{at(0, 0, 0, 0), at(1, 1, 0, 0), at(2, 2, 0, 0)}, w/2, 3*(w+h)/2
			case "scatter":
				found, least, most = []int{at(1, 1, 0, 0)}, 20, 60
			case "fill": // 0.6 of the width, 0.3 of the height
				found, least, most = []int{at(1, 1, 0, 4), at(0, 2, 4, -4), at(2, 2, -4, -4)}, w*h/6, w*h/5
			case "rules": // 3 pixels wide, less at their edges
				found, least, most = []int{at(1, 1, 0, 0), at(0, 1, 0, 0), at(1, 0, 0, 0)}, w, 3*(w+h)
			case "imshow": // its upper left quarter is red, that is the end of y
				found, least, most = []int{at(0, 2, 4, -4)}, w*h/12, w*h/10
				if limits.xlog {
					least, most = w*h/13, w*h/9
				}
			}
			if name == "falling" && (kind == "fill" || kind == "imshow") {
				found = nil // the offsets point outwards
			}
			if all < least || all > most || slices.Contains(found, 0) {
				t.Errorf("%s, %s: %d pixels, want %d to %d; near the numbers %v", name, kind, all, least, most, found)
			}
		}
	}
}

// TestHistogramCounts compares the heights of bars with counts by hand.
func TestHistogramCounts(t *testing.T) {
	ax := NewFigure().Axes(0, 0)
	ax.Hist([]float64{0, 0.5, 1, 1.5, 2, 4, math.NaN(), math.Inf(1)}, 4)
	ax.Hist(weft.Ones(3), 2)
	ax.Hist([]int{}, 3)
	got := ax.artists[0].(*bars).rectangles
	if want := [][4]float64{{0, 0, 1, 2}, {1, 0, 2, 2}, {2, 0, 3, 1}, {3, 0, 4, 1}}; !slices.Equal(got, want) {
		t.Errorf("bars %v, want %v", got, want)
	}
	if got := ax.artists[1].(*bars).rectangles; !slices.Equal(got, [][4]float64{{0.5, 0, 1, 0}, {1, 0, 1.5, 3}}) {
		t.Errorf("bars of equal numbers %v", got)
	}
	if got := ax.artists[2].(*bars).rectangles; len(got) != 0 {
		t.Errorf("bars of nothing %v", got)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		a    axis
		n    int
		want string
	}{
		{axis{lo: 0, hi: 10}, 5, "0 2 4 6 8 10"},
		{axis{lo: 10, hi: 0}, 5, "0 2 4 6 8 10"},
		{axis{lo: -0.03, hi: 0.07}, 5, "-0.02 0 0.02 0.04 0.06"},
		{axis{lo: 0, hi: 11.5}, 5, "0.0 2.5 5.0 7.5 10.0"},
		{axis{lo: 0, hi: 11.5, whole: true}, 5, "0 5 10"},
		{axis{lo: 0, hi: 2, whole: true}, 9, "0 1 2"},
		{axis{lo: 2e6, hi: 4e6}, 2, "2e+06 3e+06 4e+06"},
		{axis{lo: 0.01, hi: 1, log: true}, 6, "0.01 0.02 0.05 0.1 0.2 0.5 1"},
		{axis{lo: 1e-6, hi: 1e6, log: true}, 4, "1e-06 0.001 1 1000 1e+06"},
		{axis{lo: 3, hi: 4, log: true}, 5, "3.0 3.2 3.4 3.6 3.8 4.0"},
		{axis{lo: -math.MaxFloat64, hi: math.MaxFloat64}, 5, ""},
	} {
		var got []string
		for _, x := range c.a.ticks(c.n) {
			got = append(got, x.text)
		}
		want := strings.Fields(strings.Replace(c.want, "0.0 2.5", "0 2.5", 1))
		if !slices.Equal(got, want) {
			t.Errorf("ticks of %+v: %q, want %q", c.a, got, want)
		}
	}
}

// odd draws everything that numbers can be.
func odd() *Figure {
	f := NewFigure(FigureOpts{Title: "<odd> & \"quoted\"", Rows: new(3), Columns: new(4), Width: new(900), Height: new(700)})
	nan, inf := math.NaN(), math.Inf(1)
	f.Axes(0, 0).Title = "empty"
	f.Axes(0, 1).Plot(nil, []float64{nan, inf, -inf})
	ax := f.Axes(0, 2)
	ax.YLog, ax.XLog = true, true
	ax.Plot([]float64{-1, 0, 1, 10}, []float64{1, 2, 0, 4}, LineOpts{Dashed: true, Marker: true, Label: "some name"})
	ax.Bar(nil, []float64{0, 1, 100})
	f.Axes(0, 3).Plot([]float64{1, 1, 1}, []float64{2, 2, 2})
	f.Axes(1, 0).Plot(nil, []float64{-math.MaxFloat64, math.MaxFloat64})
	f.Axes(1, 1).Plot([]float64{0, 1e300}, []float64{1e-300, 2e-300})
	f.Axes(1, 2).Imshow(weft.FromSlice([]float64{nan, 1, 1, 1}, 2, 2))
	ax = f.Axes(1, 3)
	ax.XLim, ax.YLim, ax.YLabel, ax.XLabel = &[2]float64{nan, 1}, &[2]float64{3, 3}, "up", "along"
	ax.Scatter(weft.Randn(300), weft.Randn(300))
	ax.Text(nan, 0, "nowhere")
	ax.Text(0, 0, "", TextOpts{Veil: true})
	ax = f.Axes(2, 0)
	ax.Title = strings.Repeat("long ", 30)
	for range 20 {
		ax.Plot(nil, []int{1, 2}, LineOpts{Label: strings.Repeat("wide ", 4)})
	}
	f.Axes(2, 1).Hidden = true
	f.Axes(2, 1).FillBetween(nil, []float64{1, nan, 2}, []float64{2, 2, 3})
	many := make([]float64, 30000)
	for i := range many {
		many[i] = math.Sin(float64(i))
	}
	many[7] = nan
	f.Axes(2, 2).Plot(nil, many)
	f.Axes(2, 3).Bar(nil, []float64{-1, nan, inf, 2})
	return f
}

// TestOddNumbersAreDrawn: whatever there is, a figure comes, and paper around it.
func TestOddNumbersAreDrawn(t *testing.T) {
	f := odd()
	m := f.Image()
	for _, p := range []image.Point{{0, 0}, {899, 0}, {0, 699}, {899, 699}, {450, 50}} {
		if color.NRGBAModel.Convert(m.At(p.X, p.Y)) != background {
			t.Errorf("something is drawn at %v", p)
		}
	}
	if n := count(m, m.Bounds(), Blue); n < 2000 {
		t.Errorf("%d pixels of lines", n)
	}
	tiny := NewFigure(FigureOpts{Width: new(16), Height: new(16), Rows: new(5), Columns: new(5)})
	tiny.Axes(4, 4).Plot(nil, []int{1, 2})
	tiny.Image()
}

// TestThinnedLineCoversTheSame compares the pixels of a thinned line with the pixels of the line itself.
func TestThinnedLineCoversTheSame(t *testing.T) {
	var points []point
	for i := range 20000 {
		points = append(points, point{float64(i) / 100, 50 + 30*math.Sin(float64(i)/7)*math.Cos(float64(i)/3000)})
	}
	few := thinned(points, box{0, 0, 200, 100})
	if len(few) > 1000 || len(few) < 400 {
		t.Errorf("%d points are left", len(few))
	}
	a, b := newRaster(200, 100), newRaster(200, 100)
	a.line(points, 1, false, cycle[0])
	b.line(few, 1, false, cycle[0])
	differ := 0
	for i := range a.image.Pix {
		if d := int(a.image.Pix[i]) - int(b.image.Pix[i]); d > 150 || d < -150 {
			differ++
		}
	}
	if differ > 200 { // of 80,000 bytes
		t.Errorf("%d bytes differ", differ)
	}
}

// TestSVGIsWellFormed parses the file and counts what must be in it.
func TestSVGIsWellFormed(t *testing.T) {
	var b bytes.Buffer
	if err := odd().WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	elements, texts := map[string]int{}, ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			elements[x.Name.Local]++
		case xml.CharData:
			texts += string(x)
		}
	}
	if elements["svg"] != 1 || elements["image"] != 1 || elements["path"] < 50 || elements["text"] < 40 || elements["g"] != 11 || !strings.Contains(texts, `<odd> & "quoted"`) {
		t.Errorf("the file has %v", elements)
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Error("the file has numbers that are not finite")
	}
}

func TestSaveFig(t *testing.T) {
	dir := t.TempDir()
	f := NewFigure(FigureOpts{Rows: new(1), Columns: new(2)})
	f.Axes(0, 1).Plot(nil, []float32{1, 2})
	for _, name := range []string{"a.png", "a.png", "b.SVG"} { // the second replaces the first one's file
		if err := f.SaveFig(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(filepath.Join(dir, "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if m, err := png.Decode(file); err != nil || m.Bounds() != image.Rect(0, 0, 1280, 480) {
		t.Errorf("%v, error %v", m.Bounds(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("the folder holds %v", files)
	}
	if f.SaveFig(filepath.Join(dir, "a.gif")) == nil || f.SaveFig(filepath.Join(dir, "missing", "a.png")) == nil || f.WritePNG(nil) == nil || f.WriteSVG(nil) == nil {
		t.Error("a figure is written where it cannot be")
	}
}

// TestRefuses names the function, the argument and what is wrong.
func TestRefuses(t *testing.T) {
	ax := NewFigure().Axes(0, 0)
	for want, f := range map[string]func(){
		"figure: Width: is 3":               func() { NewFigure(FigureOpts{Width: new(3)}) },
		"figure: Rows: is 0":                func() { NewFigure(FigureOpts{Rows: new(0)}) },
		"axes: row: 0, column 1":            func() { NewFigure().Axes(0, 1) },
		"figure: image of a figure that is": func() { new(Figure).Image() },
		"plot: y: is string":                func() { ax.Plot(nil, "x") },
		"plot: x: has 1 numbers, y 2":       func() { ax.Plot([]int{1}, []int{1, 2}) },
		"plot: y: has shape [2 2]":          func() { ax.Plot(nil, weft.Ones(2, 2)) },
		"plot: Width: is 0":                 func() { ax.Plot(nil, []int{1}, LineOpts{Width: new(0.0)}) },
		"plot: Width: is +Inf, want a fin":  func() { ax.Plot(nil, []int{1}, LineOpts{Width: new(math.Inf(1))}) },
		"bar: height: is string":            func() { ax.Bar(nil, "x") },
		"bar: x: has 1 numbers, height 2":   func() { ax.Bar([]int{1}, []int{1, 2}) },
		"fillbetween: low: is string":       func() { ax.FillBetween(nil, "x", []int{1}) },
		"fillbetween: high: is string":      func() { ax.FillBetween(nil, []int{1}, "x") },
		"hist: bins: is 0":                  func() { ax.Hist([]int{1}, 0) },
		"hist: Width: is not":               func() { ax.Hist([]int{1}, 1, BarOpts{Width: new(1.0)}) },
		"fillbetween: high: has 1 numbers":  func() { ax.FillBetween(nil, []int{1, 2}, []int{1}) },
		"imshow: m: is int":                 func() { ax.Imshow(1) },
		"imshow: m: has shape [2]":          func() { ax.Imshow(weft.Ones(2)) },
		"imshow: m: has 0 x 2 pixels":       func() { ax.Imshow(weft.Ones(2, 0)) },
		"imshow: Extent: is":                func() { ax.Imshow(weft.Ones(2, 1), ImshowOpts{Extent: &[4]float64{math.NaN()}}) },
		"text: Align: is 7":                 func() { ax.Text(0, 0, "x", TextOpts{Align: 7}) },
		"plot: the Axes are nil":            func() { (*Axes)(nil).Plot(nil, []int{1}) },
		"hist: the Axes are nil":            func() { (*Axes)(nil).Hist([]int{1}, 1) },
		"axhline: the Axes are nil":         func() { (*Axes)(nil).AxHLine(1) },
		"imshow: the Axes are nil":          func() { (*Axes)(nil).Imshow(weft.Ones(1, 1)) },
		"text: the Axes are nil":            func() { (*Axes)(nil).Text(0, 0, "x") },
		"cycle: i: is -1":                   func() { Cycle(-1) },
	} {
		if err := weft.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if n := len(ax.artists); n != 0 {
		t.Errorf("%d refused drawings are drawn", n)
	}
}

// TestHistogramOfHugeNumbers counts numbers whose difference is above the greatest number, or whose halves of a
// bin are lost to rounding.
func TestHistogramOfHugeNumbers(t *testing.T) {
	for _, x := range [][]float64{{-1.7e308, 1.7e308, 1.6e308}, {1e17, 1e17}, {-math.MaxFloat64, math.MaxFloat64}, {math.MaxFloat64}} {
		ax := NewFigure().Axes(0, 0)
		ax.Hist(x, 3)
		total := 0.0
		for _, r := range ax.artists[0].(*bars).rectangles {
			if total += r[3]; !(r[0] < r[2]) || !finite(r[0]) || !finite(r[2]) {
				t.Errorf("%v: a bar from %v to %v", x, r[0], r[2])
			}
		}
		if total != float64(len(x)) {
			t.Errorf("%v: bars hold %v numbers", x, total)
		}
	}
}

// TestDashesOfFarPoints draws a dashed line whose points lie far outside: the part in sight has dashes, and drawing
// ends.
func TestDashesOfFarPoints(t *testing.T) {
	r := newRaster(64, 64)
	ink := color.NRGBA{A: 0xff}
	r.line([]point{{32, -1e12}, {32, 1e12}, {1e19, 1e19}, {-1e30, 1e30}}, 4, true, ink)
	var in, out int
	for y := range 64 {
		if r.image.RGBAAt(32, y).R == 0 {
			in++
		}
		if r.image.RGBAAt(10, y).R == 0 {
			out++
		}
	}
	if in < 20 || in > 60 || out != 0 {
		t.Errorf("%d pixels of the line are drawn, and %d beside it", in, out)
	}
}

// TestManyPointsAreBounded draws far more points than pixels: the file stays small, and the picture shows what a
// few of them show.
func TestManyPointsAreBounded(t *testing.T) {
	const n = 1 << 19
	x, y, noise, circling := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		circling[i] = math.Sin(40 * float64(i) / n)
		x[i] = float64(i) / n
		y[i] = math.Mod(float64(i)*0.6180339887498949, 1) // even over [0, 1]
		noise[i] = math.NaN()
	}
	for name, draw := range map[string]func(a *Axes){
		"dots":       func(a *Axes) { a.Scatter(x, y) },
		"marks":      func(a *Axes) { a.Plot(x, y, LineOpts{Marker: true}) },
		"zoomed":     func(a *Axes) { a.XLim = &[2]float64{0.5, 0.501}; a.Plot(x, y) },
		"path":       func(a *Axes) { a.Plot(circling, x) },
		"area":       func(a *Axes) { a.FillBetween(x, y, x) },
		"not finite": func(a *Axes) { a.Plot(noise, y); a.Scatter(x, noise) },
	} {
		f := NewFigure()
		draw(f.Axes(0, 0))
		var b bytes.Buffer
		if err := f.WriteSVG(&b); err != nil || b.Len() > 40<<20 {
			t.Errorf("%s: a file of %d bytes, %v", name, b.Len(), err)
		}
	}
	// Of each square of half a radius one dot is there: pixels near its points are inked as by all.
	b := box{0, 0, 100, 100}
	all, few := newRaster(100, 100), newRaster(100, 100)
	var points []point
	for i := range 40000 {
		points = append(points, point{100 * math.Mod(float64(i)*0.6180339887498949, 1), 20 + 30*math.Mod(float64(i)*0.4142135623730951, 1)})
	}
	var circles [][]point
	for _, p := range points {
		circles = append(circles, circle(p, 3.5))
	}
	all.fill(circles, cycle[0])
	drawDots(few, b, points, 3.5, cycle[0])
	differ := 0
	for i := range all.image.Pix {
		if d := int(all.image.Pix[i]) - int(few.image.Pix[i]); d > 128 || d < -128 {
			differ++
		}
	}
	if differ > 400 {
		t.Errorf("%d bytes of %d differ", differ, len(all.image.Pix))
	}
}
