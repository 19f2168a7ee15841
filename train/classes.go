package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// An Averaging says how numbers of classes become one.
type Averaging int

const (
	// Binary is that of class 1 where outputs are decisions between two classes, and Macro where
	// outputs have an axis of classes.
	Binary Averaging = iota
	// Macro is the mean over the classes that occur as target or prediction.
	Macro
	// Micro counts all classes together.
	Micro
	// Weighted is the mean over classes weighed by their number of targets.
	Weighted
)

// ClassOpts are the options of metrics of classes.
type ClassOpts struct {
	Average     Averaging
	Threshold   float64 // outputs above are class 1, if outputs have no axis of classes: 0 is for logits, 0.5 for probabilities
	IgnoreIndex *int    // a target that is not counted, such as new(-100); nil for none
}

// AccuracyOpts are the options of [Accuracy].
type AccuracyOpts struct {
	// K is how many of the greatest outputs may be right: above 1 outputs have an axis of classes, and the
	// name is such as "top5". nil means 1.
	K           *int
	Threshold   float64 // as in ClassOpts
	IgnoreIndex *int    // as in ClassOpts
}

// Accuracy is the share of predictions that are the target, as "accuracy". Outputs are
//
//   - floats [N, classes, ...] with targets [N, ...], whose greatest is the prediction,
//   - floats of the targets' shape, which decide between class 0 and 1 by a threshold, or
//   - integers or bools of the targets' shape, which are predictions.
//
// It panics with *weft.Error if K is less than 1.
func Accuracy(opts ...AccuracyOpts) *Metric {
	o := array.Options("accuracy", opts)
	k := array.Or(o.K, 1)
	if k < 1 {
		array.Failf("accuracy", "K", "is %d, want 1 or more", k)
	}
	name := "accuracy"
	if k > 1 {
		name = fmt.Sprintf("top%d", k)
	}
	c := ClassOpts{Threshold: o.Threshold, IgnoreIndex: o.IgnoreIndex}
	return mean(name, func(output, target *weft.Tensor) (float64, int) {
		var right *weft.Tensor
		if k == 1 {
			right = c.predictions(name, output, target).Eq(target)
		} else {
			right = amongGreatest(name, output, target, k)
		}
		n := target.Size()
		if o.IgnoreIndex != nil {
			counted := target.Ne(*o.IgnoreIndex)
			n, right = int(sum(counted)), right.LogicalAnd(counted)
		}
		return sum(right), n
	}, same)
}

// amongGreatest reports, for each target, whether less than k outputs are greater. Of equal ones the first
// is the greatest, as ArgMax has it.
func amongGreatest(name string, output, target *weft.Tensor, k int) *weft.Tensor {
	requireClasses(name, output, target)
	classes := output.Dim(1)
	column := target.To(weft.Int64).Unsqueeze(1)
	own := output.Gather(1, column.Clamp(0, classes-1))
	shape := make([]int, output.Rank())
	for i := range shape {
		shape[i] = 1
	}
	shape[1] = classes
	index := weft.Arange(classes).On(output.Device()).Reshape(shape...)
	ahead := output.Gt(own).LogicalOr(output.Eq(own).LogicalAnd(index.Lt(column)))
	in := column.Ge(0).LogicalAnd(column.Lt(classes)).LogicalAnd(own.Eq(own))
	return ahead.To(weft.Int64).Sum(1).Lt(k).LogicalAnd(in.Squeeze(1))
}

func requireClasses(name string, output, target *weft.Tensor) {
	shape := output.Shape()
	if len(shape) < 2 || !slices.Equal(append(slices.Clone(shape[:1]), shape[2:]...), target.Shape()) {
		array.Failf(name, "target", "has shape %s, the output %s: want its shape, or its shape without the axis of classes, which is its second",
			array.ShapeString(target.Shape()), array.ShapeString(shape))
	}
}

// predictions returns classes in the shape of the target.
func (o *ClassOpts) predictions(name string, output, target *weft.Tensor) *weft.Tensor {
	floats := output.DType().Float()
	switch {
	case !slices.Equal(output.Shape(), target.Shape()):
		requireClasses(name, output, target)
		if output.Dim(1) == 0 {
			array.Failf(name, "output", "has no classes")
		}
		return output.ArgMax(1)
	case floats:
		return output.Gt(o.Threshold).To(weft.Int64)
	}
	return output.To(weft.Int64)
}

// Precision is the share of the predictions of a class that are right, as "precision". Metrics of classes
// take what [Accuracy] does. What is 0/0 is 0, as in scikit-learn.
func Precision(opts ...ClassOpts) *Metric {
	return classMetric("precision", opts, func(c *class) (float64, float64) { return c.right, c.predicted })
}

// Recall is the share of the targets of a class that are predicted, as "recall".
func Recall(opts ...ClassOpts) *Metric {
	return classMetric("recall", opts, func(c *class) (float64, float64) { return c.right, c.targets })
}

// F1 is the harmonic mean of [Precision] and [Recall] of a class, as "f1".
func F1(opts ...ClassOpts) *Metric { return classMetric("f1", opts, diceOf) }

// Dice is twice the intersection of targets and predictions of a class over the sum of their sizes, as
// "dice": [F1] under the name that it has for pixels.
func Dice(opts ...ClassOpts) *Metric { return classMetric("dice", opts, diceOf) }

func diceOf(c *class) (float64, float64) { return 2 * c.right, c.predicted + c.targets }

// IoU is the intersection of targets and predictions of a class over their union, as "iou": the Jaccard
// index.
func IoU(opts ...ClassOpts) *Metric {
	return classMetric("iou", opts, func(c *class) (float64, float64) { return c.right, c.predicted + c.targets - c.right })
}

// A class has counts of a class.
type class struct{ right, predicted, targets float64 }

// classMetric is a metric of a fraction of each class. Its state is a sorted list of targets, predictions
// and how often they came together.
func classMetric(name string, opts []ClassOpts, fraction func(c *class) (over, under float64)) *Metric {
	o := array.Options(name, opts)
	if o.Average < Binary || o.Average > Weighted {
		array.Failf(name, "Average", "is %d, want Binary, Macro, Micro or Weighted", o.Average)
	}
	m := &Metric{name: name, pairs: true, merge: mergePairs}
	m.of = func(output, target *weft.Tensor) []float64 {
		p := o.predictions(name, output, target)
		binary := output.DType().Float() && output.Rank() == target.Rank()
		pairs := countPairs(target, p, o.IgnoreIndex)
		if len(pairs) == 0 {
			return nil
		}
		if binary {
			return append([]float64{math.Inf(-1), 0, 1}, pairs...)
		}
		return pairs
	}
	m.value = func(state []float64) float64 {
		average := o.Average
		if state[0] == math.Inf(-1) { // the mark of decisions between two classes
			state = state[3:]
		} else if average == Binary {
			average = Macro
		}
		return averageClasses(state, average, fraction)
	}
	return m
}

// averageClasses computes a metric of pairs.
func averageClasses(pairs []float64, average Averaging, fraction func(c *class) (over, under float64)) float64 {
	classes := map[float64]*class{}
	at := func(k float64) *class {
		if classes[k] == nil {
			classes[k] = &class{}
		}
		return classes[k]
	}
	for ; len(pairs) > 0; pairs = pairs[3:] {
		t, p, n := at(pairs[0]), at(pairs[1]), pairs[2]
		t.targets += n
		p.predicted += n
		if t == p {
			t.right += n
		}
	}
	ratio := func(over, under float64) float64 {
		if under == 0 {
			return 0
		}
		return over / under
	}
	if average == Binary {
		return ratio(fraction(at(1)))
	}
	var s, weight, over, under float64
	keys := make([]float64, 0, len(classes))
	for k := range classes {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		c := classes[k]
		a, b := fraction(c)
		over, under = over+a, under+b
		w := 1.0
		if average == Weighted {
			w = c.targets
		}
		s, weight = s+float64(w*ratio(a, b)), weight+w
	}
	if average == Micro {
		return ratio(over, under)
	}
	return s / weight
}

// countPairs returns the sorted list of targets, predictions and their counts.
func countPairs(target, predicted *weft.Tensor, ignore *int) []float64 {
	ts := weft.Data[int64](target.To(weft.Int64).Flatten(0).On(weft.CPU))
	ps := weft.Data[int64](predicted.To(weft.Int64).Flatten(0).On(weft.CPU))
	counts := map[[2]int64]float64{}
	const small = 64
	var dense [small * small]float64 // most pairs, without hashing
	for i, t := range ts {
		switch p := ps[i]; {
		case ignore != nil && t == int64(*ignore):
		case t >= 0 && t < small && p >= 0 && p < small:
			dense[t*small+p]++
		default:
			counts[[2]int64{t, p}]++
		}
	}
	for k, n := range dense {
		if n > 0 {
			counts[[2]int64{int64(k / small), int64(k % small)}] = n
		}
	}
	pairs := make([][3]float64, 0, len(counts))
	for k, n := range counts {
		pairs = append(pairs, [3]float64{float64(k[0]), float64(k[1]), n})
	}
	slices.SortFunc(pairs, func(a, b [3]float64) int { return comparePairs(a[:], b[:]) })
	var out []float64
	for _, p := range pairs {
		out = append(out, p[:]...)
	}
	return out
}

func comparePairs(a, b []float64) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
}

// mergePairs adds the counts of two sorted lists of pairs.
func mergePairs(a, b []float64) []float64 {
	out := make([]float64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch comparePairs(a, b) {
		case -1:
			out, a = append(out, a[:3]...), a[3:]
		case 1:
			out, b = append(out, b[:3]...), b[3:]
		default:
			out = append(out, a[0], a[1], a[2]+b[2])
			a, b = a[3:], b[3:]
		}
	}
	return append(append(out, a...), b...)
}

// Matrix returns the confusion matrix of a metric of classes ([Precision], [Recall], [F1], [Dice], [IoU]):
// int64 [classes, classes], the number of examples by target and prediction, up to the greatest class that
// occurred. It panics with *weft.Error for another metric, or if a class is negative or above 16383.
func (m *Metric) Matrix() *weft.Tensor {
	m.made("matrix")
	if !m.pairs {
		array.Failf(m.name, "", "has no confusion matrix: metrics of classes have")
	}
	const limit = 1 << 14
	pairs := m.state
	if len(pairs) > 0 && math.IsInf(pairs[0], -1) {
		pairs = pairs[3:]
	}
	n := 0
	for i := 0; i < len(pairs); i += 3 {
		low, high := min(pairs[i], pairs[i+1]), max(pairs[i], pairs[i+1])
		if low < 0 || high >= limit {
			array.Failf(m.name, "", "has seen the classes %v and %v: a confusion matrix has 0 to %d", low, high, limit-1)
		}
		n = max(n, int(high)+1)
	}
	counts := make([]int64, n*n)
	for i := 0; i < len(pairs); i += 3 {
		counts[int(pairs[i])*n+int(pairs[i+1])] = int64(pairs[i+2])
	}
	return weft.FromSlice(counts, n, n)
}
