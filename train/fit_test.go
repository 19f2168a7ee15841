package train_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/nn"
	"weft/optim"
	"weft/train"
)

// A job is a small training with everything that a checkpoint holds: dropout with a generator of its own
// and with the default one, running means, a schedule, averaged weights, a loader that shuffles.
type job struct {
	net                nn.Sequential
	loader, validation *data.Loader
	t                  *train.Trainer
}

func newJob(o train.Opts) *job {
	weft.Seed(3)
	g := weft.NewGenerator(1)
	opts := nn.Opts{Generator: g}
	j := &job{net: nn.Sequential{
		nn.NewLinear(4, 8, opts), nn.NewBatchNorm1d(8), nn.Tanh{}, &nn.Dropout{P: 0.2, Generator: g}, &nn.Dropout{P: 0.1},
		nn.NewLinear(8, 3, opts),
	}}
	draw := weft.NewGenerator(99)
	x := draw.Randn(50, 4)
	y := x.Slice(weft.All, weft.Range(0, 3)).ArgMax(1)
	j.loader = data.NewLoader(data.Tensors(x, y), data.LoaderOpts{Batch: new(8), Shuffle: true, Seed: 5})
	j.validation = data.NewLoader(data.Tensors(x.Mul(0.9), y), data.LoaderOpts{Batch: new(16)})
	if o.Metrics == nil {
		o.Metrics = []*train.Metric{train.Accuracy(), train.F1()}
	}
	opt := optim.NewAdam(nn.Params(j.net), optim.AdamOpts{LR: new(0.02)})
	j.t = train.New(j.net, train.Loss(nn.CrossEntropy), opt, o)
	return j
}

// fit trains for epochs, and returns what bits the run ended with: weights, losses and values but times.
func (j *job) fit(ctx context.Context, epochs int) (string, error) {
	h, err := j.t.Fit(ctx, epochs, j.loader, j.validation)
	text := fmt.Sprint(h.Losses)
	for _, m := range []any{j.net, j.t.Model()} {
		text += " " + weft.DigestNamed(nn.Params(m)) + " " + weft.DigestNamed(nn.Buffers(m))
	}
	for _, e := range h.Epochs {
		text += fmt.Sprint("\n", e.Epoch, e.Step)
		for _, v := range e.Values {
			if v.Name != "seconds" {
				text += fmt.Sprint(" ", v)
			}
		}
	}
	return text, err
}

// stopAt returns a callback that ends a context after some steps.
func stopAt(step int, cancel func()) train.Callback {
	return train.Callback{Step: func(s train.Step) error {
		if s.Step == step {
			cancel()
		}
		return nil
	}}
}

// TestFitResumesWithEqualBits interrupts trainings at different steps: inside epochs, at their ends, at the
// last one. Resumed in another trainer each ends as an unbroken one, compiled or not.
func TestFitResumesWithEqualBits(t *testing.T) {
	for name, o := range map[string]train.Opts{
		"compiled":   {Schedule: optim.Cosine{Steps: 30}, EMA: new(0.9), ClipNorm: new(1.0)},
		"eager":      {Eager: true, ClipValue: new(0.1)},
		"accumulate": {Accumulate: new(3), Schedule: optim.Linear{Steps: 12, From: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			const epochs = 3
			whole, err := newJob(o).fit(t.Context(), epochs)
			if err != nil {
				t.Fatal(err)
			}
			steps := []int{1, 6, 7, 8, 13, 20, 21}
			if o.Accumulate != nil {
				steps = []int{1, 3, 4, 9}
			}
			if testing.Short() {
				steps = steps[1:2]
			}
			for _, stop := range steps {
				dir := t.TempDir()
				ctx, cancel := context.WithCancel(t.Context())
				first := o
				first.Dir, first.Callbacks = dir, []train.Callback{stopAt(stop, cancel)}
				_, err := newJob(first).fit(ctx, epochs)
				var i *train.Interrupted
				if !errors.As(err, &i) || !errors.Is(err, context.Canceled) || i.Step != stop || i.Path != filepath.Join(dir, "last.ckpt") {
					t.Fatalf("step %d: error %v", stop, err)
				}
				second := o
				second.Dir, second.Resume = dir, true
				j := newJob(second)
				weft.Seed(4) // the checkpoint has the right one
				got, err := j.fit(t.Context(), epochs)
				if err != nil {
					t.Fatal(err)
				}
				if got != whole {
					t.Errorf("interrupted after step %d the run ends with\n%s\nwant\n%s", stop, got, whole)
				}
			}
		})
	}
}

// TestFitIsThePlainLoop compares Fit with a loop written by hand: the same bits, compiled or not.
func TestFitIsThePlainLoop(t *testing.T) {
	j := newJob(train.Opts{})
	opt := optim.NewAdam(nn.Params(j.net), optim.AdamOpts{LR: new(0.02)})
	var losses []float64
	for range 2 {
		for b, err := range j.loader.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			loss := nn.CrossEntropy(j.net.Forward(b.X), b.Y)
			opt.ZeroGrad()
			loss.Backward()
			opt.Step()
			losses = append(losses, loss.Item())
		}
	}
	want := weft.DigestNamed(nn.Params(j.net))
	for _, eager := range []bool{false, true} {
		j := newJob(train.Opts{Eager: eager})
		h, err := j.t.Fit(t.Context(), 2, j.loader, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := weft.DigestNamed(nn.Params(j.net)); got != want || !slices.Equal(h.Losses, losses) {
			t.Errorf("eager %v: digest %s, want %s; losses %v, want %v", eager, got, want, h.Losses, losses)
		}
	}
}

// TestStepsAreCompiled counts how often Forward runs: once for each program, of full and of short batches,
// in training and in evaluation; and with Eager for each batch.
func TestStepsAreCompiled(t *testing.T) {
	for _, eager := range []bool{false, true} {
		calls := 0
		net := nn.Sequential{nn.NewLinear(4, 3), nn.Func(func(x *weft.Tensor) *weft.Tensor { calls++; return x })}
		j := newJob(train.Opts{})
		tr := train.New(net, train.Loss(nn.CrossEntropy), optim.NewSGD(nn.Params(net)), train.Opts{Eager: eager})
		if _, err := tr.Fit(t.Context(), 3, j.loader, j.validation); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: 4, true: 3 * (7 + 4)}[eager || os.Getenv("WEFT_COMPILE") == "off"]; calls != want {
			t.Errorf("eager %v: forward ran %d times, want %d", eager, calls, want)
		}
	}
}

// TestClipping compares a step with one by hand, whose gradients are limited.
func TestClipping(t *testing.T) {
	x := weft.NewGenerator(1).Randn(8, 3)
	y := x.Sum(1).Unsqueeze(1).Mul(5)
	step := func(o *train.Opts) string {
		net := nn.NewLinear(3, 1, nn.Opts{Generator: weft.NewGenerator(2)})
		opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1)})
		if o != nil {
			loader := data.NewLoader(data.Tensors(x, y), data.LoaderOpts{Batch: new(8)})
			if _, err := train.New(net, train.Loss(nn.MSE), opt, *o).Fit(t.Context(), 1, loader, nil); err != nil {
				t.Fatal(err)
			}
			return weft.DigestNamed(nn.Params(net))
		}
		nn.MSE(net.Forward(x), y).Backward()
		optim.ClipValue(nn.Params(net), 2)
		optim.ClipNorm(nn.Params(net), 0.5)
		opt.Step()
		return weft.DigestNamed(nn.Params(net))
	}
	want := step(nil)
	for _, eager := range []bool{false, true} {
		if got := step(&train.Opts{ClipValue: new(2.0), ClipNorm: new(0.5), Eager: eager}); got != want {
			t.Errorf("eager %v: the step differs from the one by hand", eager)
		}
		if step(&train.Opts{ClipNorm: new(0.5), Eager: eager}) == want || step(&train.Opts{ClipValue: new(2.0), Eager: eager}) == want {
			t.Errorf("eager %v: one of both limits does nothing", eager)
		}
	}
}

// TestEvaluationIsNotTraining: dropout is off in Evaluate and Predict, and on again in the epoch that follows.
func TestEvaluationIsNotTraining(t *testing.T) {
	drop := &nn.Dropout{P: 0.5, Generator: weft.NewGenerator(1)}
	net := nn.Sequential{nn.NewLinear(2, 2), drop}
	x := weft.NewGenerator(2).Randn(10, 2)
	loader := data.NewLoader(data.Tensors(x, x), data.LoaderOpts{Batch: new(4)})
	draws := func() uint64 { return drop.Generator.State().Draw }
	tr := train.New(net, train.Loss(nn.MSE), optim.NewSGD(nn.Params(net)))
	for epochs := 1; epochs <= 2; epochs++ {
		before := draws()
		if _, err := tr.Fit(t.Context(), epochs, loader, loader); err != nil {
			t.Fatal(err)
		}
		if n := draws() - before; n != 3 {
			t.Errorf("%d draws in 3 steps of epoch %d", n, epochs)
		}
		want := net[0].Forward(x)
		got, err := tr.Predict(t.Context(), loader)
		if err != nil || weft.Digest(got) != weft.Digest(want.Detach()) {
			t.Errorf("predicted %v, want %v; error %v", got, want, err)
		}
	}
}

// TestAccumulatedStream steps with what is left at the end of an epoch whose length is not known.
func TestAccumulatedStream(t *testing.T) {
	net := nn.NewLinear(1, 1, nn.Opts{Weight: nn.Constant(0), Bias: nn.Constant(0)})
	open := func(int) iter.Seq2[data.Example, error] {
		return func(yield func(data.Example, error) bool) {
			for range 5 {
				if !yield(data.Example{X: weft.Ones(1), Y: weft.Ones(1)}, nil) {
					return
				}
			}
		}
	}
	collate := func(items []data.Example) (b data.Batch, err error) {
		e, err := data.Collate[data.Example](items)
		return data.Batch{X: e.X, Y: e.Y}, err
	}
	loader := data.NewStreamLoader(open, collate, data.LoaderOpts{Batch: new(1)})
	opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1)})
	h, err := train.New(net, train.Loss(nn.MSE), opt, train.Opts{Accumulate: new(2), Schedule: optim.Exponential{Gamma: 1}}).Fit(t.Context(), 1, loader, nil)
	if err != nil || len(h.Losses) != 3 {
		t.Fatalf("%d steps of 5 batches by two, error %v", len(h.Losses), err)
	}
	// A step of two takes 2*0.1*(1-y) for weight and bias each, so that 1-y falls by 0.4 of itself; half of it
	// is the last one.
	if y := net.Forward(weft.Ones(1, 1)).Item(); math.Abs(1-y-0.6*0.6*0.8) > 1e-6 {
		t.Errorf("the output is %v, want %v", y, 1-0.6*0.6*0.8)
	}
}

// TestAccumulatedBatches take the steps of batches three times as large, but for rounding.
func TestAccumulatedBatches(t *testing.T) {
	x := weft.NewGenerator(1).Randn(20, 3)
	y := x.Sum(1).Unsqueeze(1)
	run := func(batch int, o train.Opts, load func(batch int) *data.Loader) *train.History {
		net := nn.NewLinear(3, 1, nn.Opts{Generator: weft.NewGenerator(2)})
		tr := train.New(net, train.Loss(nn.MSE), optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1)}), o)
		h, err := tr.Fit(t.Context(), 2, load(batch), nil)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	known := func(batch int) *data.Loader {
		return data.NewLoader(data.Tensors(x, y), data.LoaderOpts{Batch: new(batch)})
	}
	want := run(8, train.Opts{}, known)
	if len(want.Losses) != 6 {
		t.Fatalf("%d steps", len(want.Losses))
	}
	for _, eager := range []bool{false, true} {
		got := run(4, train.Opts{Accumulate: new(2), Eager: eager}, known)
		if len(got.Losses) != len(want.Losses) {
			t.Fatalf("%d steps, want %d", len(got.Losses), len(want.Losses))
		}
		for i, x := range got.Losses {
			if math.Abs(x-want.Losses[i]) > 1e-5 {
				t.Errorf("eager %v: losses %v, want %v", eager, got.Losses, want.Losses)
				break
			}
		}
	}
}

// TestEarlyStop ends when validation makes no progress, towards the least or the greatest value, and restores
// the best weights from memory or a file.
func TestEarlyStop(t *testing.T) {
	for i, dir := range []string{"", t.TempDir(), ""} {
		greatest := i == 2
		var digests []string
		var j *job
		values := []float64{5, 6, 4, 6, 3, 3.5, 2.95, 9}
		n := 0
		fake := train.NewMetric("fake", func(_, _ *weft.Tensor) []float64 { return []float64{0} }, func([]float64) float64 {
			if greatest {
				return -values[n%len(values)]
			}
			return values[n%len(values)]
		})
		j = newJob(train.Opts{
			Dir: dir, Metrics: []*train.Metric{fake}, Monitor: "val_fake", Greatest: greatest, EarlyStop: &train.EarlyStop{Patience: 3, MinDelta: 0.1},
			Callbacks: []train.Callback{{Epoch: func(train.Epoch) error {
				n++
				digests = append(digests, weft.DigestNamed(nn.Params(j.net)))
				return nil
			}}},
		})
		if _, err := j.fit(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
		if len(digests) != 8 {
			t.Fatalf("%d epochs, want 8: three behind the best, which is the fifth", len(digests))
		}
		if got := weft.DigestNamed(nn.Params(j.net)); got != digests[4] || got == digests[7] {
			t.Errorf("the weights are not those of the best epoch: %s of %v", got, digests)
		}
	}
}

// TestResumeCountsOn counts epochs without progress and the seconds of an epoch through an interruption.
func TestResumeCountsOn(t *testing.T) {
	n := 0.0
	rising := func() *train.Metric {
		return train.NewMetric("rising", func(_, _ *weft.Tensor) []float64 { return []float64{0} }, func([]float64) float64 { n++; return n })
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const pause = 50 * time.Millisecond
	o := train.Opts{Eager: true, Dir: t.TempDir(), Metrics: []*train.Metric{rising()}, Monitor: "val_rising", EarlyStop: &train.EarlyStop{Patience: 3},
		Callbacks: []train.Callback{stopAt(16, func() { time.Sleep(pause); cancel() })}}
	if _, err := newJob(o).fit(ctx, 9); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	o.Resume, o.Callbacks, o.Metrics = true, nil, []*train.Metric{rising()}
	j := newJob(o)
	if _, err := j.fit(t.Context(), 9); err != nil {
		t.Fatal(err)
	}
	epochs := j.t.History().Epochs
	if len(epochs) != 4 {
		t.Fatalf("%d epochs, want 4: three behind the best, which is the first", len(epochs))
	}
	if s := epochs[2].Values.Get("seconds"); s < pause.Seconds() {
		t.Errorf("the interrupted epoch took %v s, and paused for %v", s, pause)
	}
}

// TestSaveEvery saves at every fifth step: a run that fails after step 12 goes on at step 11.
func TestSaveEvery(t *testing.T) {
	broken := errors.New("broken")
	first := 0
	o := train.Opts{Eager: true, Dir: t.TempDir(), SaveEvery: 5, Callbacks: []train.Callback{{Step: func(s train.Step) error {
		if s.Step == 12 {
			return broken
		}
		return nil
	}}}}
	if _, err := newJob(o).fit(t.Context(), 2); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	o.Resume, o.Callbacks = true, []train.Callback{{Step: func(s train.Step) error {
		if first == 0 {
			first = s.Step
		}
		return nil
	}}}
	if _, err := newJob(o).fit(t.Context(), 2); err != nil || first != 11 {
		t.Errorf("the run goes on at step %d, want 11; error %v", first, err)
	}
}

// TestEarlyStopWithoutBest trains to losses of NaN where an earlier run has left a best.ckpt: no epoch is
// the best, so the weights stay.
func TestEarlyStopWithoutBest(t *testing.T) {
	o := train.Opts{Dir: t.TempDir(), EarlyStop: &train.EarlyStop{Patience: 1}}
	if _, err := newJob(o).fit(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	j := newJob(o)
	weft.WithoutGrad(func() { j.net[0].(*nn.Linear).Weight.Fill(math.NaN()) })
	if _, err := j.fit(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if w := j.net[0].(*nn.Linear).Weight; !math.IsNaN(w.Sum().Item()) {
		t.Error("the run has the weights of another run")
	}
}

// TestStopByCallback ends a training inside an epoch and at its end, which is validated, and goes on.
func TestStopByCallback(t *testing.T) {
	for _, stop := range []int{3, 7, 9} {
		limit := stop
		j := newJob(train.Opts{Callbacks: []train.Callback{{Step: func(s train.Step) error {
			if s.Step == limit {
				return train.ErrStop
			}
			return nil
		}}}})
		if _, err := j.fit(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		h := j.t.History()
		if last := h.Epochs[len(h.Epochs)-1]; len(h.Losses) != stop || last.Step != stop || last.Epoch != (stop+6)/7 || math.IsNaN(last.Values.Get("val_accuracy")) {
			t.Errorf("stopped at step %d: %d losses, last epoch %v", stop, len(h.Losses), last)
		}
		limit = 0
		if _, err := j.fit(t.Context(), 3); err != nil || len(h.Losses) != 21 {
			t.Errorf("after step %d the training goes on for %d steps in all, want 21; error %v", stop, len(h.Losses), err)
		}
		for i, e := range h.Epochs[1:] {
			if e.Step <= h.Epochs[i].Step {
				t.Errorf("after step %d there is an epoch without a step: %v", stop, h.Epochs)
			}
		}
	}
}

// A pair is a batch of one's own.
type pair struct{ A, B *weft.Tensor }

// TestOwnStep trains two networks with two optimizers by a step of one's own, over batches of another type.
func TestOwnStep(t *testing.T) {
	for _, eager := range []bool{false, true} {
		g := weft.NewGenerator(1)
		o := nn.Opts{Generator: g}
		game := &struct{ F, G *nn.Linear }{nn.NewLinear(2, 2, o), nn.NewLinear(2, 2, o)}
		optF, optG := optim.NewSGD(nn.Params(game.F), optim.SGDOpts{LR: new(0.1)}), optim.NewSGD(nn.Params(game.G), optim.SGDOpts{LR: new(0.1)})
		judge := func(b pair) train.Outcome {
			there := game.F.Forward(b.A)
			back := game.G.Forward(there)
			f, g := nn.MSE(there, b.B), nn.MSE(back, b.A)
			return train.Outcome{Loss: f.Add(g), Values: map[string]*weft.Tensor{"f": f, "g": g}, Output: back, Target: b.A}
		}
		tr := train.NewOf(game, func(b pair) train.Outcome {
			out := judge(b)
			out.Loss.Backward()
			optF.Step()
			optG.Step()
			optF.ZeroGrad()
			optG.ZeroGrad()
			return out
		}, judge, train.Opts{Eager: eager, Metrics: []*train.Metric{train.MAE()}, Parts: checkpoint.Parts{"f": optF, "g": optG}})
		items := make([]pair, 30)
		for i := range items {
			a := g.Randn(2)
			items[i] = pair{a, a.Mul(2)}
		}
		loader := data.NewLoaderOf(data.Items(items), data.Collate[pair, pair], data.LoaderOpts{Batch: new(7), Shuffle: true})
		h, err := tr.Fit(t.Context(), 20, loader, loader)
		if err != nil {
			t.Fatal(err)
		}
		first, last := h.Epochs[0].Values, h.Epochs[19].Values
		for _, name := range []string{"loss", "f", "g", "mae", "val_loss", "val_f", "val_g", "val_mae"} {
			if !(last.Get(name) < first.Get(name)/2) {
				t.Errorf("eager %v: %s went from %v to %v", eager, name, first.Get(name), last.Get(name))
			}
		}
		if out, err := tr.Predict(t.Context(), loader); err != nil || !slices.Equal(out.Shape(), []int{30, 2}) {
			t.Errorf("predicted %v, error %v", out, err)
		}
	}
}

// TestStepThatCannotBeTraced runs eagerly: it reads elements.
func TestStepThatCannotBeTraced(t *testing.T) {
	calls := 0
	net := nn.Sequential{nn.NewLinear(4, 3), nn.Func(func(x *weft.Tensor) *weft.Tensor {
		if calls++; x.Sum().Item() > 1e9 {
			return x.Neg()
		}
		return x
	})}
	j := newJob(train.Opts{})
	tr := train.New(net, train.Loss(nn.CrossEntropy), optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1)}))
	if _, err := tr.Fit(t.Context(), 1, j.loader, j.validation); err != nil {
		t.Fatal(err)
	}
	if calls < 7+4 || calls > 7+4+2 {
		t.Errorf("forward ran %d times in 7 steps, 4 batches of validation and 2 traces", calls)
	}
}

// TestFitErrors come with their place, and leave a run that can go on.
func TestFitErrors(t *testing.T) {
	mine := errors.New("mine")
	j := newJob(train.Opts{Callbacks: []train.Callback{{Epoch: func(train.Epoch) error { return mine }}}})
	if _, err := j.fit(t.Context(), 1); !errors.Is(err, mine) {
		t.Errorf("error %v, want that of the callback", err)
	}
	j = newJob(train.Opts{Monitor: "speed"})
	if _, err := j.fit(t.Context(), 1); err == nil || !strings.Contains(err.Error(), `"speed"`) {
		t.Errorf("error %v, want one about the value to monitor", err)
	}
	bad := data.NewLoader(data.Tensors(weft.Zeros(4, 5), weft.ZerosOf(weft.Int64, 4)), data.LoaderOpts{Batch: new(2)})
	var e *weft.Error
	if _, err := newJob(train.Opts{}).t.Fit(t.Context(), 1, bad, nil); !errors.As(err, &e) || !strings.Contains(err.Error(), "epoch 1, batch 0") {
		t.Errorf("error %v, want one of the wrong width with its batch", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "last.ckpt"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := newJob(train.Opts{Dir: dir, Resume: true}).fit(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "resuming") {
		t.Errorf("error %v, want one about the checkpoint", err)
	}
	if _, err := train.New(nn.Sequential{}, train.Loss(nn.MSE), nil).Fit(t.Context(), 1, j.loader, nil); err == nil {
		t.Error("a trainer without an optimizer trains")
	}
}
