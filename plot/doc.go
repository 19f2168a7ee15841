// Package plot draws lines, points, bars, histograms and pictures into PNG and SVG files, with Matplotlib's
// names:
//
//	f := plot.NewFigure(plot.FigureOpts{Title: "a run"})
//	ax := f.Axes(0, 0)
//	ax.Plot(nil, losses, plot.LineOpts{Label: "loss"})
//	ax.YLog, ax.XLabel = true, "step"
//	err := f.SaveFig("loss.png")
//
// Numbers are slices of Go's numbers, or tensors. What is NaN or infinite, or not positive on a logarithmic axis, is
// left out, and breaks lines. A figure serves one goroutine; figures are drawn when they are saved, so
// axes may change until then.
package plot
