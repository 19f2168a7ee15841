package train

import (
	"fmt"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// A Metric is a number computed from the outputs of a model and their targets, batch by batch. Before the
// first batch it is NaN. It serves one goroutine; metrics of several goroutines are merged. As a part of a
// checkpoint it is what it has seen.
type Metric struct {
	name  string
	of    func(output, target *weft.Tensor) []float64 // what is kept of a batch
	merge func(a, b []float64) []float64
	value func(state []float64) float64
	state []float64 // nil before the first batch
	pairs bool      // the state is counts of pairs of classes
}

// NewMetric returns a metric of one's own. of computes numbers of a batch, always the same count, which are
// added over batches; value computes the metric of their sums. NewMetric panics with *weft.Error if a
// function is nil or the name is empty.
//
//	train.NewMetric("positive", func(output, _ *weft.Tensor) []float64 {
//		return []float64{output.Gt(0).To(weft.Float64).Sum().Item(), float64(output.Size())}
//	}, func(s []float64) float64 { return s[0] / s[1] })
func NewMetric(name string, of func(output, target *weft.Tensor) []float64, value func(sums []float64) float64) *Metric {
	if name == "" {
		array.Failf("metric", "name", "is empty")
	}
	array.Given("metric", "of", of != nil)
	array.Given("metric", "value", value != nil)
	return &Metric{name: name, of: of, merge: addTo, value: value}
}

// Name is the name under which Fit records the metric.
func (m *Metric) Name() string {
	m.made("name")
	return m.name
}

// Update takes a batch: outputs and targets, whose shapes the function that made the metric describes. It
// panics with *weft.Error if they do not fit.
func (m *Metric) Update(output, target *weft.Tensor) {
	m.made("update")
	array.Given(m.name, "output", output != nil)
	array.Given(m.name, "target", target != nil)
	weft.WithoutGrad(func() { m.add(m.of(output, target)) })
}

// Value is the metric over the batches so far, NaN without an example.
func (m *Metric) Value() float64 {
	m.made("value")
	if m.state == nil {
		return math.NaN()
	}
	return m.value(m.state)
}

// Reset forgets all batches.
func (m *Metric) Reset() {
	m.made("reset")
	m.state = nil
}

// Merge adds what another metric of the same kind and options has seen. It panics with *weft.Error if their
// names differ.
func (m *Metric) Merge(other *Metric) {
	m.made("merge")
	other.made("merge")
	if m.name != other.name {
		array.Failf(m.name, "other", "is %s: want a metric of the same kind", other.name)
	}
	m.add(other.state)
}

func (m *Metric) add(state []float64) {
	switch {
	case state == nil:
	case m.state == nil:
		m.state = slices.Clone(state)
	default:
		m.state = m.merge(m.state, state)
	}
}

// State implements [checkpoint.Part].
func (m *Metric) State() map[string]*weft.Tensor {
	m.made("state")
	return map[string]*weft.Tensor{"state": weft.FromSlice(slices.Clone(m.state))}
}

// LoadState implements [checkpoint.Part].
func (m *Metric) LoadState(state map[string]*weft.Tensor) error {
	m.made("loadstate")
	t := state["state"]
	if len(state) != 1 || t == nil || t.DType() != weft.Float64 || t.Rank() != 1 {
		return fmt.Errorf("train: no metric has this state")
	}
	if m.state = nil; t.Size() > 0 {
		m.state = weft.Data[float64](t)
	}
	return nil
}

func (m *Metric) made(method string) {
	if m == nil || m.of == nil {
		array.Failf("metric", "", "%s of a metric that is nil or was not made by a function of this package", method)
	}
}

// addTo adds the numbers of b to a.
func addTo(a, b []float64) []float64 {
	if len(a) != len(b) {
		array.Failf("metric", "of", "returned %d numbers, and %d before", len(b), len(a))
	}
	for i, x := range b {
		a[i] += x
	}
	return a
}

func appendTo(a, b []float64) []float64 { return append(a, b...) }

// sum is the sum of all elements, as float64.
func sum(t *weft.Tensor) float64 { return t.To(weft.Float64).Sum().Item() }

// mean returns a metric of a sum and a count, nothing of an empty batch.
func mean(name string, of func(output, target *weft.Tensor) (sum float64, count int), value func(mean float64) float64) *Metric {
	return NewMetric(name, func(output, target *weft.Tensor) []float64 {
		s, n := of(output, target)
		if n == 0 {
			return nil
		}
		return []float64{s, float64(n)}
	}, func(s []float64) float64 { return value(s[0] / s[1]) })
}

func same(x float64) float64 { return x }

// Perplexity is e to the mean cross-entropy of logits [N, classes, ...] and targets [N, ...] over all
// targets but those that opts ignores, as "perplexity".
func Perplexity(opts ...nn.CrossEntropyOpts) *Metric {
	const name = "perplexity"
	o := array.Options(name, opts)
	o.Reduction = nn.Sum
	return mean(name, func(output, target *weft.Tensor) (float64, int) {
		n := target.Size()
		if o.IgnoreIndex != nil {
			n = int(sum(target.Ne(*o.IgnoreIndex)))
		}
		if n == 0 {
			return 0, 0
		}
		return sum(nn.CrossEntropy(output, target, o)), n
	}, math.Exp)
}

// MSE is the mean squared difference of outputs and targets of the same shape, over all elements, as
// "mse".
func MSE() *Metric {
	return differences("mse", func(d *weft.Tensor) *weft.Tensor { return d.Square() }, same)
}

// RMSE is the root of [MSE], as "rmse".
func RMSE() *Metric {
	return differences("rmse", func(d *weft.Tensor) *weft.Tensor { return d.Square() }, math.Sqrt)
}

// MAE is the mean magnitude of the difference of outputs and targets of the same shape, as "mae".
func MAE() *Metric {
	return differences("mae", func(d *weft.Tensor) *weft.Tensor { return d.Abs() }, same)
}

func differences(name string, f func(d *weft.Tensor) *weft.Tensor, value func(mean float64) float64) *Metric {
	return mean(name, func(output, target *weft.Tensor) (float64, int) {
		requireSame(name, output, target)
		return sum(f(output.To(weft.Float64).Sub(target.To(weft.Float64)))), target.Size()
	}, value)
}

// R2 is the coefficient of determination of outputs and targets of the same shape, as "r2": 1 minus the sum
// of squared differences over the sum of squared deviations of targets from their mean, over all elements.
// If all targets are equal it is 1 for outputs without an error, and 0 for others. It is NaN for less than
// two elements.
func R2() *Metric {
	const name = "r2"
	m := NewMetric(name, func(output, target *weft.Tensor) []float64 {
		requireSame(name, output, target)
		n := target.Size()
		if n == 0 {
			return nil
		}
		y := target.To(weft.Float64)
		mean := y.Sum().Item() / float64(n)
		return []float64{float64(n), mean, y.Sub(mean).Square().Sum().Item(), output.To(weft.Float64).Sub(y).Square().Sum().Item()}
	}, func(s []float64) float64 {
		switch {
		case s[0] < 2:
			return math.NaN()
		case s[2] == 0 && s[3] == 0:
			return 1
		case s[2] == 0:
			return 0
		}
		return 1 - s[3]/s[2]
	})
	// Means and squared deviations of two sets give means and deviations of both (Chan, Golub, LeVeque, 1979).
	m.merge = func(a, b []float64) []float64 {
		n, d := a[0]+b[0], b[1]-a[1]
		a[1] += float64(d * b[0] / n)
		a[2] += b[2] + float64(float64(d*d)*float64(a[0]*b[0])/n)
		a[0], a[3] = n, a[3]+b[3]
		return a
	}
	return m
}

func requireSame(name string, output, target *weft.Tensor) {
	if !slices.Equal(output.Shape(), target.Shape()) {
		array.Failf(name, "target", "has shape %s, the output %s", array.ShapeString(target.Shape()), array.ShapeString(output.Shape()))
	}
}

// String returns the name and the value.
func (m *Metric) String() string {
	return array.Describe("train.Metric", "Name", m.name, "Value", m.Value())
}
