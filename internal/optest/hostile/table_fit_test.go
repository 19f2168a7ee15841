package hostile

import (
	"context"
	"image/color"
	"reflect"

	"weft"
	"weft/data"
	"weft/nn"
	"weft/optim"
	"weft/plot"
	"weft/train"
	"weft/train/live"
)

// The exports of packages train, train/live and plot.

var fitFunctions = []row[any]{
	{"plot.Cycle", plot.Cycle},
	{"plot.NewFigure", plot.NewFigure},
	{"train.AUC", train.AUC},
	{"train.Accuracy", train.Accuracy},
	{"train.AveragePrecision", train.AveragePrecision},
	{"train.Dice", train.Dice},
	{"train.F1", train.F1},
	{"train.IoU", train.IoU},
	{"train.Loss", func() error { return weft.Try(func() { train.Loss[int](nil) }) }},
	{"train.MAE", train.MAE},
	{"train.MSE", train.MSE},
	{"train.New", trainer},
	{"train.NewEvents", events},
	{"train.NewMetric", metric},
	{"train.NewOf", func() error { return weft.Try(func() { train.NewOf[int](nil, nil, nil) }) }},
	{"train.NewProgress", train.NewProgress},
	{"train.Perplexity", train.Perplexity},
	{"train.Precision", train.Precision},
	{"train.R2", train.R2},
	{"train.RMSE", train.RMSE},
	{"train.Recall", train.Recall},
	{"train.TensorBoard", func(dir string) { train.TensorBoard(dir) }},
	{"train/live.NewPage", func() { live.NewPage() }},
	{"train/live.Serve", served},
}

var fitTypes = []row[reflect.Type]{
	{"plot.Align", reflect.TypeFor[plot.Align]()},
	{"plot.Axes", reflect.TypeFor[plot.Axes]()},
	{"plot.BarOpts", reflect.TypeFor[plot.BarOpts]()},
	{"plot.Figure", reflect.TypeFor[plot.Figure]()},
	{"plot.FigureOpts", reflect.TypeFor[plot.FigureOpts]()},
	{"plot.ImshowOpts", reflect.TypeFor[plot.ImshowOpts]()},
	{"plot.LineOpts", reflect.TypeFor[plot.LineOpts]()},
	{"plot.ScatterOpts", reflect.TypeFor[plot.ScatterOpts]()},
	{"plot.TextOpts", reflect.TypeFor[plot.TextOpts]()},
	{"train.AccuracyOpts", reflect.TypeFor[train.AccuracyOpts]()},
	{"train.Averaging", reflect.TypeFor[train.Averaging]()},
	{"train.Callback", reflect.TypeFor[train.Callback]()},
	{"train.ClassOpts", reflect.TypeFor[train.ClassOpts]()},
	{"train.EarlyStop", reflect.TypeFor[train.EarlyStop]()},
	{"train.Epoch", reflect.TypeFor[train.Epoch]()},
	{"train.Events", reflect.TypeFor[train.Events]()},
	{"train.History", reflect.TypeFor[train.History]()},
	{"train.Interrupted", reflect.TypeFor[train.Interrupted]()},
	{"train.Metric", reflect.TypeFor[train.Metric]()},
	{"train.Opts", reflect.TypeFor[train.Opts]()},
	{"train.Outcome", reflect.TypeFor[train.Outcome]()},
	{"train.Progress", reflect.TypeFor[train.Progress]()},
	{"train.ProgressOpts", reflect.TypeFor[train.ProgressOpts]()},
	{"train.Run", reflect.TypeFor[train.Run]()},
	{"train.Step", reflect.TypeFor[train.Step]()},
	{"train.Trainer", reflect.TypeFor[train.Trainer]()},
	{"train.TrainerOf", reflect.TypeFor[train.TrainerOf[data.Batch]]()},
	{"train.Value", reflect.TypeFor[train.Value]()},
	{"train.Values", reflect.TypeFor[train.Values]()},
	{"train/live.Page", reflect.TypeFor[live.Page]()},
}

// metric makes a metric of a batch's first numbers and takes two batches.
func metric(name string, n int, x, y *weft.Tensor) (v float64, err error) {
	err = weft.Try(func() {
		m := train.NewMetric(name, func(output, _ *weft.Tensor) []float64 {
			return weft.Data[float64](output.To(weft.Float64).Flatten(0))[:min(max(n, 0), output.Size())]
		}, func(s []float64) float64 { return float64(len(s)) })
		m.Update(x, x)
		m.Update(y, y)
		v = m.Value()
	})
	return v, err
}

// trainer trains a linear layer for an epoch with some options.
func trainer(batch, accumulate, save int, clip, ema float64, x *weft.Tensor) error {
	return weft.Try(func() {
		net := nn.NewLinear(3, 2, nn.Opts{Generator: weft.NewGenerator(1)})
		opt := optim.NewSGD(nn.Params(net))
		o := train.Opts{Accumulate: &accumulate, ClipNorm: &clip, EMA: &ema, SaveEvery: save, Metrics: []*train.Metric{train.MSE()}}
		t := train.New(net, train.Loss(nn.MSE), opt, o)
		loader := data.NewLoader(data.Tensors(x, nil), data.LoaderOpts{Batch: &batch, Prefetch: new(0)})
		if _, err := t.Evaluate(context.Background(), loader); err != nil {
			return
		}
		t.Fit(context.Background(), 1, loader, loader)
	})
}

// served serves a page for a moment.
func served(address string) error {
	p, err := live.Serve("localhost:" + address)
	if err == nil {
		p.Close()
	}
	return err
}

// events creates a file of events and closes it.
func events(dir string) error {
	e, err := train.NewEvents(dir)
	if err == nil {
		err = e.Close()
	}
	return err
}

// metrics are metrics that a call may get, with numbers seen.
var metrics = []func() *train.Metric{
	func() *train.Metric { return train.Accuracy() }, func() *train.Metric { return train.Accuracy(train.AccuracyOpts{K: new(2)}) },
	func() *train.Metric { return train.F1() }, func() *train.Metric { return train.IoU(train.ClassOpts{Average: train.Micro}) },
	train.AUC, train.AveragePrecision, train.MSE, train.R2, func() *train.Metric { return train.Perplexity() },
	func() *train.Metric { return nil }, func() *train.Metric { return &train.Metric{} },
}

// fittedMakers make what methods of these packages are called with.
func init() {
	makers[typ[*train.Metric]()] = func(g *gen) any {
		m := pick(g, metrics...)()
		if g.chance(2) {
			weft.Try(func() { m.Update(g.tensor(), g.tensor()) })
		}
		return m
	}
	makers[typ[*plot.Figure]()] = func(g *gen) any {
		if g.chance(8) {
			return pick(g, nil, &plot.Figure{})
		}
		f := plot.NewFigure(plot.FigureOpts{Width: new(80), Height: new(60)})
		weft.Try(func() { f.Axes(0, 0).Plot(nil, g.anything()) })
		return f
	}
	makers[typ[color.Color]()] = func(g *gen) any { return pick[any](g, nil, plot.Blue, color.Gray{Y: 9}, color.NRGBA64{}) }
	makers[typ[*plot.Axes]()] = func(g *gen) any {
		if g.chance(8) {
			return (*plot.Axes)(nil)
		}
		return plot.NewFigure(plot.FigureOpts{Width: new(80), Height: new(60)}).Axes(0, 0)
	}
	makers[typ[*train.History]()] = func(g *gen) any {
		if g.chance(8) {
			return (*train.History)(nil)
		}
		h := &train.History{}
		for range g.r.IntN(5) {
			h.Losses = append(h.Losses, g.float())
			h.Epochs = append(h.Epochs, train.Epoch{Epoch: g.integer(), Step: g.integer(), Values: train.Values{{Name: g.text(), Number: g.float()}}})
		}
		return h
	}
	makers[typ[*train.Progress]()] = func(g *gen) any {
		return pick(g, nil, &train.Progress{}, train.NewProgress(&g.written))
	}
	makers[typ[func() train.Values]()] = func(g *gen) any {
		return pick(g, nil, func() train.Values { return train.Values{{Name: "x", Number: 1}} }, func() train.Values { return nil })
	}
	makers[typ[*train.Events]()] = func(*gen) any { return (*train.Events)(nil) }
	makers[typ[*live.Page]()] = func(g *gen) any { return pick(g, nil, &live.Page{}, live.NewPage()) }
	makers[typ[*train.Trainer]()] = func(g *gen) any {
		net := nn.NewLinear(3, 2)
		return pick(g, nil, &train.Trainer{}, train.New(net, train.Loss(nn.MSE), optim.NewSGD(nn.Params(net)), train.Opts{Metrics: []*train.Metric{train.MAE()}}))
	}
}
