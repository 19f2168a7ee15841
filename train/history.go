package train

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weft"
)

// A Value is a number with a name.
type Value struct {
	Name   string
	Number float64
}

// Values are numbers with names, in order.
type Values []Value

// Get returns the number of a name, and NaN if there is none.
func (v Values) Get(name string) float64 {
	for _, x := range v {
		if x.Name == name {
			return x.Number
		}
	}
	return math.NaN()
}

// String is such as "loss 0.25  accuracy 0.9".
func (v Values) String() string {
	var s []string
	for _, x := range v {
		s = append(s, fmt.Sprintf("%s %.4g", x.Name, x.Number))
	}
	return strings.Join(s, "  ")
}

// A History is what was recorded of a training. Several goroutines may read it while none trains.
type History struct {
	Losses []float64 // of each step
	Epochs []Epoch
}

// An Epoch is what was recorded of an epoch.
type Epoch struct {
	Epoch int // from 1
	Step  int // steps taken at its end
	// Values are the means over the epoch of "loss" and other values of an [Outcome], and the metrics. The
	// values of validation follow with "val_" before their names, then "seconds", the time of training.
	Values Values
}

func (h *History) steps() int { return len(h.Losses) }

// sums are sums over batches.
type sums struct {
	names  []string // of the sums, "loss" first
	sums   []float64
	weight float64 // of all batches
	last   int     // examples of the latest batch
}

func (s *sums) reset() { *s = sums{} }

// add takes the outcome of a batch, and returns its values, the loss first.
func (s *sums) add(out Outcome, metrics []*Metric) Values {
	s.last = 1
	if t := out.Output; t != nil && t.Rank() > 0 {
		s.last = t.Dim(0)
	} else if t := out.Target; t != nil && t.Rank() > 0 {
		s.last = t.Dim(0)
	}
	values := Values{{"loss", out.Loss.Item()}}
	for _, name := range slices.Sorted(maps.Keys(out.Values)) {
		values = append(values, Value{name, out.Values[name].Item()})
	}
	s.weight += float64(s.last)
	for _, v := range values {
		i := slices.Index(s.names, v.Name)
		if i < 0 {
			i = len(s.names)
			s.names, s.sums = append(s.names, v.Name), append(s.sums, 0)
		}
		s.sums[i] += float64(v.Number * float64(s.last))
	}
	if out.Output != nil {
		for _, m := range metrics {
			m.Update(out.Output, out.Target)
		}
	}
	return values
}

// means are the means of all values, and the metrics.
func (s *sums) means(metrics []*Metric) Values {
	if len(s.names) == 0 {
		s.names, s.sums = []string{"loss"}, []float64{0}
	}
	var v Values
	for i, name := range s.names {
		v = append(v, Value{name, s.sums[i] / s.weight})
	}
	for _, m := range metrics {
		v = append(v, Value{m.Name(), m.Value()})
	}
	return v
}

// A progressState is how far a run has come, as a part of a checkpoint.
type progressState struct {
	history History
	sums    sums      // of the epoch so far
	seconds float64   // of the epoch so far
	pending bool      // its batches are over, and it is not recorded yet
	group   []float64 // losses of the batches of the step in progress
}

// State implements [checkpoint.Part]: the columns of a table of epochs, losses and sums.
func (r *progressState) State() map[string]*weft.Tensor {
	pending := 0.0
	if r.pending {
		pending = 1
	}
	s := map[string]*weft.Tensor{
		"losses": weft.FromSlice(slices.Clone(r.history.Losses)),
		"epoch":  weft.FromSlice([]float64{r.sums.weight, r.seconds, pending}),
	}
	for i, name := range r.sums.names {
		s[fmt.Sprintf("sum.%03d.%s", i, name)] = weft.FromSlice([]float64{r.sums.sums[i]})
	}
	columns := map[string][]float64{"epoch": nil, "step": nil}
	order := []string{"epoch", "step"}
	for k, e := range r.history.Epochs {
		columns["epoch"], columns["step"] = append(columns["epoch"], float64(e.Epoch)), append(columns["step"], float64(e.Step))
		for _, v := range e.Values {
			if columns["."+v.Name] == nil {
				order = append(order, "."+v.Name)
			}
			for len(columns["."+v.Name]) < k {
				columns["."+v.Name] = append(columns["."+v.Name], math.NaN())
			}
			columns["."+v.Name] = append(columns["."+v.Name], v.Number)
		}
	}
	for i, name := range order {
		for len(columns[name]) < len(r.history.Epochs) {
			columns[name] = append(columns[name], math.NaN())
		}
		s[fmt.Sprintf("epochs.%03d.%s", i, name)] = weft.FromSlice(columns[name])
	}
	return s
}

// LoadState implements [checkpoint.Part].
func (r *progressState) LoadState(state map[string]*weft.Tensor) error {
	var loaded progressState
	for _, name := range slices.Sorted(maps.Keys(state)) {
		t := state[name]
		if t == nil || t.DType() != weft.Float64 || t.Rank() != 1 {
			return fmt.Errorf("train: state %q is not numbers", name)
		}
		x := weft.Data[float64](t)
		kind, rest, _ := strings.Cut(name, ".")
		_, column, _ := strings.Cut(rest, ".")
		switch {
		case name == "losses":
			loaded.history.Losses = x
		case name == "epoch" && len(x) == 3:
			loaded.sums.weight, loaded.seconds, loaded.pending = x[0], x[1], x[2] != 0
		case kind == "sum" && len(x) == 1:
			loaded.sums.names, loaded.sums.sums = append(loaded.sums.names, column), append(loaded.sums.sums, x[0])
		case kind == "epochs":
			if column == "epoch" {
				loaded.history.Epochs = make([]Epoch, len(x))
			}
			if len(x) != len(loaded.history.Epochs) {
				return fmt.Errorf("train: state %q has %d epochs, want %d", name, len(x), len(loaded.history.Epochs))
			}
			for k := range loaded.history.Epochs {
				switch e := &loaded.history.Epochs[k]; column {
				case "epoch":
					e.Epoch = int(x[k])
				case "step":
					e.Step = int(x[k])
				default:
					e.Values = append(e.Values, Value{strings.TrimPrefix(column, "."), x[k]})
				}
			}
		default:
			return fmt.Errorf("train: state %q is unknown", name)
		}
	}
	*r = loaded
	return nil
}
