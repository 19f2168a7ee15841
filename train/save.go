package train

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"

	"weft"
	"weft/checkpoint"
	"weft/internal/array"
	"weft/nn"
)

func (f *fitting[B]) lastPath() string { return filepath.Join(f.o.Dir, "last.ckpt") }
func (f *fitting[B]) bestPath() string { return filepath.Join(f.o.Dir, "best.ckpt") }

// all are the parts of a run.
func (f *fitting[B]) all() checkpoint.Parts {
	parts := maps.Clone(f.parts)
	parts["loader"] = f.loader
	return parts
}

// save writes the run.
func (f *fitting[B]) save() error {
	if err := checkpoint.Save(f.lastPath(), f.all(), nil); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// keep keeps the weights of the best epoch: in a file, or in memory if something may restore them.
func (f *fitting[B]) keep(e Epoch) error {
	switch {
	case f.o.Dir != "":
		meta := map[string]string{"epoch": fmt.Sprint(e.Epoch), f.stop.name: fmt.Sprint(f.stop.best)}
		if err := checkpoint.Save(f.bestPath(), f.bestParts(), meta); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	case f.o.EarlyStop != nil:
		f.stop.weights = map[string]*weft.Tensor{}
		for name, x := range nn.State(f.averaged) {
			f.stop.weights[name] = x.Detach().Clone()
		}
	}
	return nil
}

// bestParts is what best.ckpt holds: the weights that evaluations use.
func (f *fitting[B]) bestParts() checkpoint.Parts {
	return checkpoint.Parts{"model": checkpoint.Module(f.averaged)}
}

// restore gives the model the weights of the best epoch, if there is one.
func (f *fitting[B]) restore() error {
	if !f.stop.found() { // a best.ckpt that is there is of another run
		return nil
	}
	if f.o.Dir != "" {
		_, err := checkpoint.Load(f.bestPath(), f.bestParts())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("train: restoring the best epoch: %w", err)
		}
		return nil
	}
	return nn.LoadState(f.averaged, f.stop.weights, true)
}

// A monitor follows the value that says which epoch is best.
type monitor struct {
	o       *Opts
	name    string // of the value, known when an epoch was taken
	best    float64
	bad     int // epochs without progress since the best
	weights map[string]*weft.Tensor
}

func newMonitor(o *Opts) monitor {
	m := monitor{o: o, best: math.Inf(1)}
	if o.Greatest {
		m.best = math.Inf(-1)
	}
	return m
}

// take takes the values of an epoch, and reports whether it is the best so far and whether training is to
// stop. NaN is never best.
func (m *monitor) take(v Values, validated bool) (best, stop bool, err error) {
	m.name = m.o.Monitor
	if m.name == "" {
		m.name = "loss"
		if validated {
			m.name = "val_loss"
		}
	}
	x, found := 0.0, false
	for _, value := range v {
		if value.Name == m.name {
			x, found = value.Number, true
		}
	}
	if !found {
		return false, false, array.Errorf("fit", "Monitor", "is %q, which an epoch does not have: it has %v", m.name, v)
	}
	by := 0.0
	if m.o.EarlyStop != nil {
		by = m.o.EarlyStop.MinDelta
	}
	if m.o.Greatest {
		best = x > m.best+by
	} else {
		best = x < m.best-by
	}
	if best {
		m.best, m.bad = x, 0
		return true, false, nil
	}
	m.bad++
	return false, m.stops(), nil
}

// found reports whether an epoch was the best so far.
func (m *monitor) found() bool { return m.best != newMonitor(m.o).best }

// stops reports whether there was no progress for too long.
func (m *monitor) stops() bool {
	return m.o.EarlyStop != nil && m.bad >= max(m.o.EarlyStop.Patience, 1)
}

// State implements [checkpoint.Part].
func (m *monitor) State() map[string]*weft.Tensor {
	return map[string]*weft.Tensor{"best": weft.FromSlice([]float64{m.best, float64(m.bad)})}
}

// LoadState implements [checkpoint.Part].
func (m *monitor) LoadState(state map[string]*weft.Tensor) error {
	t := state["best"]
	if t == nil || t.DType() != weft.Float64 || t.Size() != 2 {
		return errors.New(`train: state "best" is missing`)
	}
	x := weft.Data[float64](t)
	m.best, m.bad = x[0], int(x[1])
	return nil
}
