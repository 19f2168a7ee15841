package train

import (
	"math"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/plot"
)

// smoothing is the weight of what was before in the running mean of losses.
const smoothing = 0.96

// DrawLoss draws the loss of each step into axes, with its running mean and, as dots, the loss of
// validation, on a logarithmic axis if all are positive.
func (h *History) DrawLoss(ax *plot.Axes) {
	if h == nil {
		array.Failf("drawloss", "", "the History is nil")
	}
	array.Given("drawloss", "ax", ax != nil)
	steps := make([]float64, len(h.Losses))
	means := make([]float64, len(h.Losses))
	// A running mean that starts from nothing is divided by the weight it has seen so far, or its first values
	// would lean towards zero.
	mean, weight := 0.0, 0.0
	lo, hi := math.Inf(1), math.Inf(-1)
	see := func(v float64) bool {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
		lo, hi = min(lo, v), max(hi, v)
		return true
	}
	for i, v := range h.Losses {
		steps[i] = float64(i + 1)
		if see(v) {
			mean = float64(smoothing*mean) + float64((1-smoothing)*v)
			weight = float64(smoothing*weight) + (1 - smoothing)
		}
		means[i] = mean / weight
	}
	var at, values []float64
	for _, e := range h.Epochs {
		if v := e.Values.Get("val_loss"); see(v) {
			at, values = append(at, float64(e.Step)), append(values, v)
		}
	}
	ax.XLabel = "step"
	if ax.YLog = lo > 0; ax.YLog && lo < hi*1e-5 {
		// Single steps reach almost zero late in training, where the curve has nothing more to say.
		ax.YLim = &[2]float64{hi * 1e-5, hi * 1.3}
	}
	ax.Plot(steps, h.Losses, plot.LineOpts{Label: "one step", Color: plot.Light, Width: new(1.0)})
	ax.Plot(steps, means, plot.LineOpts{Label: "running mean", Color: plot.Blue, Width: new(2.5)})
	if len(at) > 0 {
		ax.Scatter(at, values, plot.ScatterOpts{Label: "validation", Color: plot.Orange, Size: new(5.0)})
	}
}

// Figure draws the history: the loss of each step, and beside it the metrics of each epoch, if there are
// some, dashed in training.
func (h *History) Figure() *plot.Figure {
	if h == nil {
		array.Failf("figure", "", "the History is nil")
	}
	var names []string
	for _, e := range h.Epochs {
		for _, v := range e.Values {
			name := strings.TrimPrefix(v.Name, "val_")
			if name != "loss" && name != "seconds" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	columns := 1
	if len(names) > 0 {
		columns = 2
	}
	f := plot.NewFigure(plot.FigureOpts{Columns: new(columns)})
	ax := f.Axes(0, 0)
	ax.Title = "Loss"
	h.DrawLoss(ax)
	if columns == 1 {
		return f
	}
	ax = f.Axes(0, 1)
	ax.Title, ax.XLabel = "Metrics", "epoch"
	for i, name := range names {
		ink := plot.Cycle(i)
		var at, trained, validated []float64
		seen := false
		for _, e := range h.Epochs {
			v := e.Values.Get("val_" + name)
			seen = seen || !math.IsNaN(v)
			at, trained, validated = append(at, float64(e.Epoch)), append(trained, e.Values.Get(name)), append(validated, v)
		}
		label := name
		if seen {
			ax.Plot(at, validated, plot.LineOpts{Label: name, Color: ink, Marker: true})
			label = name + ", training"
		}
		ax.Plot(at, trained, plot.LineOpts{Label: label, Color: ink, Dashed: seen, Marker: !seen})
	}
	return f
}
