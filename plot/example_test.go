package plot_test

import (
	"fmt"
	"os"
	"path/filepath"

	"weft"
	"weft/plot"
)

func Example() {
	f := plot.NewFigure(plot.FigureOpts{Title: "waves", Columns: new(2)})
	x := weft.Linspace(0, 10, 200)
	ax := f.Axes(0, 0)
	ax.Title, ax.XLabel = "Two of them", "x"
	ax.Plot(x, x.Sin(), plot.LineOpts{Label: "sin"})
	ax.Plot(x, x.Cos(), plot.LineOpts{Label: "cos", Dashed: true})
	ax = f.Axes(0, 1)
	ax.Title = "Their product"
	ax.Imshow(x.Sin().Unsqueeze(0).Mul(x.Cos().Unsqueeze(1)))

	dir, err := os.MkdirTemp("", "plot")
	if err != nil {
		fmt.Println(err)
	}
	defer os.RemoveAll(dir)
	fmt.Println(f.SaveFig(filepath.Join(dir, "waves.png")), f.Image().Bounds())
	// Output:
	// <nil> (0,0)-(1280,480)
}

func ExampleAxes_Hist() {
	f := plot.NewFigure(plot.FigureOpts{Width: new(400), Height: new(300)})
	ax := f.Axes(0, 0)
	ax.Hist(weft.NewGenerator(1).Randn(1000), 20)
	ax.AxVLine(0, plot.LineOpts{Dashed: true})
	ax.Text(0, 0, "mean", plot.TextOpts{Align: plot.Center, DY: 40})
	fmt.Println(f.Image().Bounds())
	// Output:
	// (0,0)-(400,300)
}
