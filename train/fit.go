package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/nn"
)

// ErrStop is returned by a callback to end a training without an error: Fit ends the epoch there,
// validates, saves and returns nil.
var ErrStop = errors.New("train: a callback ends the training")

// An Interrupted is the error of a training whose context ended. The step in progress was finished. Several
// goroutines may read it.
type Interrupted struct {
	Epoch int    // epochs that are over
	Step  int    // steps taken
	Path  string // where the run is saved, "" without Opts.Dir
	Err   error  // the cause of the context
}

// Error tells where the run stands.
func (e *Interrupted) Error() string {
	s := fmt.Sprintf("train: interrupted after step %d, in epoch %d", e.Step, e.Epoch+1)
	if e.Path != "" {
		s += ", saved in " + e.Path
	}
	return fmt.Sprintf("%s: %v", s, e.Err)
}

// Unwrap returns Err.
func (e *Interrupted) Unwrap() error { return e.Err }

// A fitting is a call of Fit.
type fitting[B any] struct {
	*TrainerOf[B]
	epochs             int
	loader, validation *data.LoaderOf[B]
	callbacks          []Callback
	begun              int    // callbacks whose Begin was called without an error
	unlock             func() // of the folder; nil before begin locked it
	ended              bool   // no further epoch
}

// Fit trains until loader has handed out epochs epochs, those before a Resume counted. After each epoch it
// evaluates on validation, which may be nil, from its first batch of epoch 0. It returns what was recorded,
// also beside an error: an [*Interrupted] when ctx ends, or the error of a batch, a step or a callback.
// The layers of the model are in training mode while it trains and out of it afterwards ([nn.Eval]). It
// panics with *weft.Error if ctx or loader is nil or epochs is negative.
func (t *TrainerOf[B]) Fit(ctx context.Context, epochs int, loader, validation *data.LoaderOf[B]) (h *History, err error) {
	t.made("fit")
	array.Given("fit", "ctx", ctx != nil)
	array.Given("fit", "loader", loader != nil)
	if epochs < 0 {
		array.Failf("fit", "epochs", "is %d, want 0 or more", epochs)
	}
	h = &t.run.history
	if err := t.steps.trains(); err != nil {
		return h, err
	}
	f := &fitting[B]{TrainerOf: t, epochs: epochs, loader: loader, validation: validation, callbacks: slices.Clone(t.o.Callbacks)}
	returned := false
	defer func() {
		if !returned { // a panic, which goes on
			f.end(errPanic)
		}
	}()
	if err = f.begin(); err == nil {
		defer nn.Eval(t.model)
		err = f.train(ctx)
		if err == nil && t.o.EarlyStop != nil {
			err = f.restore()
		}
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = f.interrupted(ctx)
		}
	}
	returned = true
	return h, f.end(err)
}

// errPanic is what callbacks are told of a panic.
var errPanic = errors.New("train: a panic ended the training")

// begin restores the run and opens the logs.
func (f *fitting[B]) begin() error {
	o := &f.o
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o777); err != nil {
			return fmt.Errorf("train: %w", err)
		}
		unlock, err := atomicfile.Lock(filepath.Join(o.Dir, "run.lock"))
		if errors.Is(err, atomicfile.ErrLocked) {
			return fmt.Errorf("train: another training runs in the folder %s: give each its own", o.Dir)
		}
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		f.unlock = unlock
		if o.Resume {
			_, err := checkpoint.Load(f.lastPath(), f.all())
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("train: resuming: %w", err)
			}
		}
		f.callbacks = append([]Callback{tables(o.Dir), TensorBoard(o.Dir)}, f.callbacks...)
	}
	f.ended = f.stop.stops()
	r := &Run{Model: f.model, Epochs: f.epochs, Steps: f.loader.Len(), History: &f.run.history}
	for i := range f.callbacks {
		if begin := f.callbacks[i].Begin; begin != nil {
			if err := begin(r); err != nil {
				return err
			}
		}
		f.begun++
	}
	return nil
}

// end tells all callbacks that have begun, whatever others return, and gives the folder free. It returns err,
// or the first error of a callback.
func (f *fitting[B]) end(err error) error {
	if f.unlock != nil {
		defer f.unlock()
	}
	if p := f.o.Progress; p != nil {
		p.Interrupt()
	}
	first := err
	for i := range f.callbacks[:f.begun] {
		if end := f.callbacks[i].End; end != nil {
			if e := end(err); first == nil {
				first = e
			}
		}
	}
	return first
}

// interrupted saves the run, if there is a folder, and returns an [*Interrupted].
func (f *fitting[B]) interrupted(ctx context.Context) error {
	i := &Interrupted{Epoch: f.loader.Epoch(), Step: f.run.history.steps(), Err: context.Cause(ctx)}
	if f.run.pending {
		i.Epoch--
	}
	if f.o.Dir == "" {
		return i
	}
	if err := f.save(); err != nil {
		return errors.Join(i, err)
	}
	i.Path = f.lastPath()
	return i
}

// train runs the epochs that are left.
func (f *fitting[B]) train(ctx context.Context) error {
	for {
		if f.run.pending { // the batches of an epoch are over, and it is not recorded
			if err := f.endEpoch(ctx); err != nil {
				return err
			}
			continue
		}
		if f.ended || f.loader.Epoch() >= f.epochs {
			return nil
		}
		if err := f.epoch(ctx); err != nil {
			return err
		}
	}
}

// epoch trains on the batches that are left of an epoch.
func (f *fitting[B]) epoch(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	nn.Train(f.model)
	r := &f.run
	if f.loader.Next() == 0 {
		r.sums.reset()
		for _, m := range f.metrics {
			m.Reset()
		}
	}
	steps := f.loader.Len()
	if p := f.o.Progress; p != nil {
		p.StartEpoch(f.loader.Epoch()+1, f.epochs, f.loader.Next(), steps)
	}
	started, before := time.Now(), r.seconds
	from := ctx
	if f.steps.group() > 1 {
		from = context.WithoutCancel(ctx) // all batches of a step are read
	}
	g := groups{size: f.steps.group(), length: steps}
	for b, err := range f.loader.Batches(from) {
		if err != nil {
			return fmt.Errorf("train: epoch %d, batch %d: %w", f.loader.Epoch()+1, f.loader.Next(), err)
		}
		size, last := g.next(f.loader.Next())
		err = f.batch(b, size, last)
		r.seconds = before + time.Since(started).Seconds()
		if errors.Is(err, ErrStop) {
			if f.ended = true; f.over(steps) {
				f.loader.Seek(f.loader.Epoch()+1, 0)
			}
			break
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); last && err != nil && !f.over(steps) {
			return err
		}
	}
	if len(r.group) > 0 { // of a stream, whose length was not known
		if err := f.steps.finish(); err != nil {
			return fmt.Errorf("train: the end of epoch %d: %w", f.loader.Epoch(), err)
		}
		if err := f.stepped(Values{{"loss", 0}}); errors.Is(err, ErrStop) {
			f.ended = true
		} else if err != nil {
			return err
		}
	}
	r.pending = true
	return nil
}

// over reports whether the batch before the position was the last of its epoch.
func (f *fitting[B]) over(steps int) bool { return steps >= 0 && f.loader.Next() >= steps }

// batch trains on a batch.
func (f *fitting[B]) batch(b B, group int, last bool) error {
	failed := func(err error) error {
		return fmt.Errorf("train: epoch %d, batch %d: %w", f.loader.Epoch()+1, f.loader.Next()-1, err)
	}
	out, err := f.steps.train(b, group, last)
	if err != nil {
		return failed(err)
	}
	r := &f.run
	var values Values
	if err := weft.Try(func() { values = r.sums.add(out, f.metrics) }); err != nil {
		return failed(err)
	}
	if p := f.o.Progress; p != nil {
		p.Step(r.sums.last, func() Values { return r.sums.means(f.metrics) })
	}
	r.group = append(r.group, values[0].Number)
	if !last {
		return nil
	}
	return f.stepped(values)
}

// stepped records a step of the optimizer, whose last batch had some values.
func (f *fitting[B]) stepped(values Values) error {
	r := &f.run
	loss := 0.0
	for _, x := range r.group {
		loss += float64(x / float64(len(r.group)))
	}
	r.group = r.group[:0]
	values[0].Number = loss
	r.history.Losses = append(r.history.Losses, loss)
	s := Step{Step: r.history.steps(), Epoch: f.loader.Epoch() + 1, Values: values}
	err := f.call(func(c *Callback) error {
		if c.Step == nil {
			return nil
		}
		return c.Step(s)
	})
	if n := f.o.SaveEvery; err == nil && n > 0 && s.Step%n == 0 {
		err = f.save()
	}
	return err
}

// groups tells which batches share a step.
type groups struct {
	size   int
	length int // of the epoch, -1 if it is not known
}

// next returns, of the batch before a position, the number of batches in its group and whether it is the
// last of them. The last group of an epoch has what is left. Where the length is not known its size is that
// of others, and it has no last batch.
func (g groups) next(position int) (size int, last bool) {
	size = g.size
	if g.length >= 0 {
		first := (position - 1) / g.size * g.size
		size = min(size, g.length-first)
	}
	return size, position%g.size == 0 || position == g.length
}

// endEpoch validates and records the epoch.
func (f *fitting[B]) endEpoch(ctx context.Context) error {
	r := &f.run
	e := Epoch{Epoch: f.loader.Epoch(), Step: r.history.steps(), Values: r.sums.means(f.metrics)}
	if f.loader.Next() > 0 {
		e.Epoch++ // it was stopped within
	}
	if f.validation != nil {
		v, err := f.Evaluate(ctx, f.validation)
		if err != nil {
			return err
		}
		for _, x := range v {
			e.Values = append(e.Values, Value{"val_" + x.Name, x.Number})
		}
	}
	e.Values = append(e.Values, Value{"seconds", r.seconds})
	r.seconds = 0
	r.history.Epochs = append(r.history.Epochs, e)
	r.pending = false
	best, stop, err := f.stop.take(e.Values, f.validation != nil)
	if err != nil {
		return err
	}
	f.ended = f.ended || stop
	if best {
		if err := f.keep(e); err != nil {
			return err
		}
	}
	if p := f.o.Progress; p != nil {
		p.EndEpoch(e.Values[:len(e.Values)-1])
	}
	err = f.call(func(c *Callback) error {
		if c.Epoch == nil {
			return nil
		}
		return c.Epoch(e)
	})
	if errors.Is(err, ErrStop) {
		f.ended, err = true, nil
	}
	if err == nil && f.o.Dir != "" {
		err = f.save()
	}
	return err
}

// call tells callbacks in order, up to the first error.
func (f *fitting[B]) call(tell func(c *Callback) error) error {
	for i := range f.callbacks {
		if err := tell(&f.callbacks[i]); err != nil {
			return err
		}
	}
	return nil
}

// Evaluate returns the mean loss and the metrics over the batches of epoch 0 of a loader, whose position it
// leaves as it was. The layers of the model are out of training mode afterwards. The error is that of a
// batch or of ctx. It panics with *weft.Error if ctx or loader is nil.
func (t *TrainerOf[B]) Evaluate(ctx context.Context, loader *data.LoaderOf[B]) (v Values, err error) {
	t.made("evaluate")
	for _, m := range t.o.Metrics {
		m.Reset()
	}
	var s sums
	err = t.over(ctx, "evaluate", loader, func(b B) error {
		out, err := t.steps.evaluate(b)
		if err != nil {
			return err
		}
		return weft.Try(func() { s.add(out, t.o.Metrics) })
	})
	if err != nil {
		return nil, err
	}
	return s.means(t.o.Metrics), nil
}

// Predict returns the outputs of the model for the batches of epoch 0 of a loader, joined along the first
// axis, whose position it leaves as it was; nil if there is no batch. Otherwise it is as Evaluate.
func (t *TrainerOf[B]) Predict(ctx context.Context, loader *data.LoaderOf[B]) (*weft.Tensor, error) {
	var parts []*weft.Tensor
	err := t.over(ctx, "predict", loader, func(b B) error {
		out, err := t.steps.predict(b)
		parts = append(parts, out)
		return err
	})
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	var all *weft.Tensor
	err = weft.Try(func() { all = weft.Cat(parts, 0) })
	return all, err
}

// over calls f with the batches of epoch 0 of a loader.
func (t *TrainerOf[B]) over(ctx context.Context, op string, loader *data.LoaderOf[B], f func(b B) error) error {
	t.made(op)
	array.Given(op, "ctx", ctx != nil)
	array.Given(op, "loader", loader != nil)
	epoch, batch := loader.Epoch(), loader.Next()
	defer func() { loader.Seek(epoch, batch) }()
	loader.Seek(0, 0)
	nn.Eval(t.averaged)
	for b, err := range loader.Batches(ctx) {
		if err == nil {
			err = f(b)
		}
		if err != nil {
			return fmt.Errorf("train: %s: batch %d: %w", op, loader.Next(), err)
		}
	}
	return nil
}
