package train_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/train"
)

// metricsByName are the metrics under the names of testdata/metrics.json.
var metricsByName = map[string]func() *train.Metric{
	"accuracy":   func() *train.Metric { return train.Accuracy() },
	"top2":       func() *train.Metric { return train.Accuracy(train.AccuracyOpts{K: new(2)}) },
	"top3":       func() *train.Metric { return train.Accuracy(train.AccuracyOpts{K: new(3)}) },
	"perplexity": func() *train.Metric { return train.Perplexity() },
	"auc":        train.AUC, "average_precision": train.AveragePrecision,
	"mse": train.MSE, "rmse": train.RMSE, "mae": train.MAE, "r2": train.R2,
}

func init() {
	of := map[string]func(...train.ClassOpts) *train.Metric{"precision": train.Precision, "recall": train.Recall, "f1": train.F1, "iou": train.IoU}
	averages := map[string]train.Averaging{"": train.Binary, " macro": train.Macro, " micro": train.Micro, " weighted": train.Weighted}
	for name, f := range of {
		for suffix, a := range averages {
			metricsByName[name+suffix] = func() *train.Metric { return f(train.ClassOpts{Average: a}) }
		}
	}
}

// A metricCase is a case of testdata/metrics.json, which testdata/metrics.py wrote with scikit-learn.
type metricCase struct {
	Name             string
	Outputs, Targets []float64
	Shape            []int
	Want             map[string]float64
	Opts             struct{ Matrix []int64 }
}

// TestMetricsMatchScikitLearn compares metrics at once, batch by batch with empty batches between, and merged
// from two halves.
func TestMetricsMatchScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []metricCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		x, y := weft.FromSlice(c.Outputs, c.Shape...), weft.FromSlice(c.Targets)
		if len(c.Shape) > 1 {
			y = y.To(weft.Int64)
		}
		part := func(from, to int) (x2, y2 *weft.Tensor) {
			return x.Slice(weft.Range(from, to)), y.Slice(weft.Range(from, to))
		}
		n := y.Dim(0)
		for name, want := range c.Want {
			whole, batches, half, other := metricsByName[name](), metricsByName[name](), metricsByName[name](), metricsByName[name]()
			whole.Update(x, y)
			for i := 0; i < n; i += 7 {
				batches.Update(part(i, i))
				batches.Update(part(i, min(i+7, n)))
			}
			half.Update(part(0, n/3))
			other.Update(part(n/3, n))
			half.Merge(other)
			half.Merge(metricsByName[name]())
			loaded := metricsByName[name]()
			if err := loaded.LoadState(half.State()); err != nil {
				t.Error(err)
			}
			for how, m := range map[string]*train.Metric{"at once": whole, "in batches": batches, "merged": half, "loaded": loaded} {
				if got := m.Value(); !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
					t.Errorf("%s: %s %s is %v, want %v", c.Name, name, how, got, want)
				}
			}
			if c.Name == "classes" && strings.HasPrefix(name, "f1") && !slices.Equal(weft.Data[int64](half.Matrix().Flatten(0)), c.Opts.Matrix) {
				t.Errorf("%s: confusion matrix\n%v\nwant %v", name, half.Matrix(), c.Opts.Matrix)
			}
		}
	}
}

// TestMetricsOfEdges has cases that are known by hand: ties, NaN, what is ignored, one class, nothing.
func TestMetricsOfEdges(t *testing.T) {
	nan := math.NaN()
	logits := weft.FromSlice([]float32{0, 0, 0, 5, 1, 1, 1, 2, 3}, 3, 3)
	ints := func(x ...int64) *weft.Tensor { return weft.FromSlice(x) }
	floats := func(x ...float64) *weft.Tensor { return weft.FromSlice(x) }
	for name, c := range map[string]struct {
		m    *train.Metric
		x, y *weft.Tensor
		want float64
	}{
		"the first of equal ones":       {train.Accuracy(), logits, ints(0, 0, 2), 1},
		"top 2, ties in order":          {train.Accuracy(train.AccuracyOpts{K: new(2)}), logits, ints(1, 2, 0), 1.0 / 3},
		"top 9 of 3":                    {train.Accuracy(train.AccuracyOpts{K: new(9)}), logits, ints(2, 2, 0), 1},
		"top 2, no class":               {train.Accuracy(train.AccuracyOpts{K: new(2)}), logits, ints(-1, 3, 2), 1.0 / 3},
		"ignored":                       {train.Accuracy(train.AccuracyOpts{IgnoreIndex: new(-100)}), logits, ints(-100, 1, 2), 0.5},
		"all ignored":                   {train.Accuracy(train.AccuracyOpts{IgnoreIndex: new(7)}), logits, ints(7, 7, 7), nan},
		"predictions as integers":       {train.Accuracy(), ints(4, 5, 6), ints(4, 6, 6), 2.0 / 3},
		"threshold":                     {train.Accuracy(train.AccuracyOpts{Threshold: 0.5}), floats(0.4, 0.6), floats(0, 1), 1},
		"threshold 0":                   {train.Accuracy(), floats(0.4, 0.6), floats(0, 1), 0.5},
		"pixels":                        {train.Accuracy(), weft.FromSlice([]float32{1, 0, 0, 1, 0, 1, 1, 0}, 1, 2, 2, 2), ints(0, 1, 1, 1).Reshape(1, 2, 2), 0.75},
		"nothing predicted":             {train.Precision(), floats(-1, -2), ints(1, 0), 0},
		"nothing there":                 {train.Recall(), floats(1, -2), ints(0, 0), 0},
		"dice is f1":                    {train.Dice(), floats(1, 1, -1), ints(1, 0, 1), 0.5},
		"iou of two of three":           {train.IoU(train.ClassOpts{IgnoreIndex: new(9)}), ints(0, 1, 1, 5), ints(0, 1, 0, 9), 0.5},
		"class beyond the dense counts": {train.F1(), ints(100, 1<<40), ints(100, 1<<40), 1},
		"auc of one class":              {train.AUC(), floats(1, 2), ints(1, 1), nan},
		"auc of ties":                   {train.AUC(), floats(1, 1), ints(1, 0), 0.5},
		"auc of NaN":                    {train.AUC(), floats(1, nan), ints(1, 0), nan},
		"auc of two logits":             {train.AUC(), weft.FromSlice([]float32{1, 3, 2, 1}, 2, 2), ints(1, 0), 1},
		"precision without positives":   {train.AveragePrecision(), floats(1, 2), ints(0, 0), nan},
		"r2 of one":                     {train.R2(), floats(1), floats(1), nan},
		"perplexity of guesses":         {train.Perplexity(nn.CrossEntropyOpts{IgnoreIndex: new(-1)}), weft.Zeros(4, 8), ints(0, 7, -1, 3), 8},
		"nan error":                     {train.MSE(), floats(nan, 1), floats(1, 1), nan},
		"nothing":                       {train.F1(), weft.Zeros(0, 3), ints(), nan},
	} {
		c.m.Update(c.x, c.y)
		if got := c.m.Value(); !(math.Abs(got-c.want) < 1e-6 || math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if c.m.Reset(); !math.IsNaN(c.m.Value()) {
			t.Errorf("%s: %v after Reset", name, c.m.Value())
		}
	}
}

// TestMetricsRefuse names the metric and what does not fit.
func TestMetricsRefuse(t *testing.T) {
	ints := weft.FromSlice([]int64{0, 1})
	for want, f := range map[string]func(){
		"accuracy: K: is 0":                  func() { train.Accuracy(train.AccuracyOpts{K: new(0)}) },
		"accuracy: target: has shape [2]":    func() { train.Accuracy().Update(weft.Zeros(3, 4), ints) },
		"top2: target: has shape [2]":        func() { train.Accuracy(train.AccuracyOpts{K: new(2)}).Update(weft.Zeros(2), ints) },
		"accuracy: output: has no classes":   func() { train.Accuracy().Update(weft.Zeros(2, 0), ints) },
		"f1: Average: is 9":                  func() { train.F1(train.ClassOpts{Average: 9}) },
		"auc: target: has 2 at 1":            func() { train.AUC().Update(weft.Zeros(2), ints.Mul(2)) },
		"mse: target: has shape [2]":         func() { train.MSE().Update(weft.Zeros(2, 1), ints) },
		"mae: output: is nil":                func() { train.MAE().Update(nil, ints) },
		"mse: other: is mae":                 func() { train.MSE().Merge(train.MAE()) },
		"mse: has no confusion matrix":       func() { train.MSE().Matrix() },
		"metric: value of a metric that is":  func() { new(train.Metric).Value() },
		"metric: of: returned 2 numbers":     func() { m := uneven(); m.Update(ints, ints); m.Update(ints, ints) },
		"f1: has seen the classes -1 and 0:": func() { m := train.F1(); m.Update(ints, ints.Sub(1)); m.Matrix() },
	} {
		if err := weft.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// uneven is a metric of one number and then two.
func uneven() *train.Metric {
	n := 0
	return train.NewMetric("uneven", func(_, _ *weft.Tensor) []float64 { n++; return make([]float64, n) }, func([]float64) float64 { return 0 })
}
