package train

import (
	"math"
	"slices"
	"strings"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/internal/array"
	"weft/nn"
	"weft/optim"
)

// Opts are the options of a [Trainer].
type Opts struct {
	// Metrics are computed from outputs and targets in training and validation. They hold what the latest
	// evaluation has seen: training has copies of its own.
	Metrics  []*Metric
	Progress *Progress // shows how Fit goes; nil shows nothing

	// Schedule gives the learning rate of each step of the optimizer. It begins with the rate that the
	// optimizer has when the trainer is made.
	Schedule   optim.Schedule
	Accumulate *int     // batches whose gradients are added for one step, 1 or more; nil means 1
	ClipNorm   *float64 // limit of the norm of all gradients, see [optim.ClipNorm]; nil for none
	ClipValue  *float64 // limit of the elements of gradients, see [optim.ClipValue]; nil for none
	// EMA is the decay, in [0, 1), of an exponential moving average of parameters and buffers. Validation,
	// Evaluate, Predict and best.ckpt use the averages. nil for none.
	EMA *float64
	// Eager runs steps operation by operation. By default they are compiled: Go code in Forward and in the
	// loss that is not an operation runs only when a step is traced. A step that cannot be traced, because
	// it reads elements on the host, runs eagerly too.
	Eager bool

	// Dir is the folder for checkpoints and logs, made if it is missing; "" for none. Fit refuses a folder in
	// which another Fit runs, in this process or another.
	Dir       string
	Resume    bool // go on from last.ckpt of Dir if that is there
	SaveEvery int  // steps after which last.ckpt is written, beside the end of each epoch; 0 for none
	// Parts are saved and restored with the run, such as a generator that the dataset draws from. Generators
	// that fields of the model hold, and the default one, are saved without being listed.
	Parts checkpoint.Parts

	// Monitor is the value that says which epoch is best. "" is "val_loss", or "loss" without validation.
	Monitor   string
	Greatest  bool       // the best value is the greatest, as of "val_accuracy"
	EarlyStop *EarlyStop // ends training without progress; nil for all epochs

	Callbacks []Callback // called in this order, behind the trainer's own
}

// An EarlyStop ends a training whose monitored value makes no progress. Fit then, and when all epochs
// are over, restores the weights of the best epoch.
type EarlyStop struct {
	Patience int     // epochs without progress in a row at which training ends, as in Keras; 0 ends at the first
	MinDelta float64 // what a value must be better by than the best, 0 or more, to be progress
}

// A Trainer trains a model on batches of inputs and targets.
type Trainer = TrainerOf[data.Batch]

// A TrainerOf trains on batches of type B. It serves one goroutine.
type TrainerOf[B any] struct {
	model    any
	averaged any // the model with averaged weights, or model
	o        Opts
	steps    stepper[B]
	parts    checkpoint.Parts // all but the loader
	metrics  []*Metric        // of the epoch so far
	stop     monitor
	run      progressState
}

// An Outcome is what a step computed of a batch.
type Outcome struct {
	Loss *weft.Tensor // a scalar, the mean over the batch
	// Values are other scalars to record, by name: their means over an epoch are.
	Values map[string]*weft.Tensor
	// Output and Target are what metrics take. Their first axis is the batch, whose size weighs Loss and
	// Values. Without an Output batches weigh the same.
	Output, Target *weft.Tensor
}

// New returns a trainer of a model that maps inputs X to outputs, with loss(output, Y), a scalar. Of
// batches without Y the target is X. Batches move to the device of the model's parameters. A model for
// Evaluate and Predict alone needs no optimizer: opt may be nil. New panics with *weft.Error if model or
// loss is nil, or an option is out of range.
func New(model nn.Layer, loss func(output, target *weft.Tensor) *weft.Tensor, opt optim.Optimizer, opts ...Opts) *Trainer {
	o := array.Options("trainer", opts)
	array.Given("trainer", "model", model != nil)
	array.Given("trainer", "loss", loss != nil)
	t := newTrainer[data.Batch](model, o)
	s := &lossStep{model: model, averaged: model, loss: loss, opt: opt, o: &t.o}
	if opt != nil {
		t.parts["optim"] = opt
		if o.Schedule != nil {
			s.schedule = optim.NewScheduler(opt, o.Schedule)
			t.parts["schedule"] = s.schedule
		}
	}
	if o.EMA != nil {
		s.averaged = nn.Copy(model)
		s.average = averageOf(s.averaged, model, *o.EMA)
		t.averaged = s.averaged
		t.parts["ema"], t.parts["averaged"] = s.average, checkpoint.Module(s.averaged)
	}
	s.compile()
	t.steps = s
	return t
}

// Loss makes a loss for [New] of one of package nn with its options, such as
// train.Loss(nn.CrossEntropy).
func Loss[O any](f func(output, target *weft.Tensor, opts ...O) *weft.Tensor, opts ...O) func(output, target *weft.Tensor) *weft.Tensor {
	array.Given("loss", "f", f != nil)
	opts = slices.Clone(opts)
	return func(output, target *weft.Tensor) *weft.Tensor { return f(output, target, opts...) }
}

// NewOf returns a trainer with a step of one's own, for batches of any type, several optimizers or
// several losses. step computes gradients and steps the optimizers; evaluate computes the outcome alone,
// for validation and Predict, and may be nil. Both are compiled unless Opts.Eager is set: B must then be
// a type that [weft.Compile] takes, and its numbers are constants of the program. (Epoch and Index of a
// [data.Batch] are 0 there.) model is the module that is saved, such as a struct of two networks. The
// optimizers are saved if they are among Opts.Parts. NewOf panics with *weft.Error if model or step is nil,
// or if an option is out of range or one that step replaces: Schedule, Accumulate, ClipNorm, ClipValue, EMA.
func NewOf[B any](model any, step, evaluate func(b B) Outcome, opts ...Opts) *TrainerOf[B] {
	o := array.Options("trainer", opts)
	array.Given("trainer", "model", model != nil)
	array.Given("trainer", "step", step != nil)
	if o.Schedule != nil || o.Accumulate != nil || o.ClipNorm != nil || o.ClipValue != nil || o.EMA != nil {
		array.Failf("trainer", "Schedule", "is for New, and so are Accumulate, ClipNorm, ClipValue and EMA: call them in step")
	}
	t := newTrainer[B](model, o)
	t.steps = newOwnStep(step, evaluate, o.Eager)
	return t
}

func newTrainer[B any](model any, o Opts) *TrainerOf[B] {
	const op = "trainer"
	o.check()
	t := &TrainerOf[B]{model: model, averaged: model, o: o, parts: checkpoint.Parts{}}
	t.stop = newMonitor(&t.o)
	t.parts["model"] = checkpoint.Module(model)
	t.parts["random"] = checkpoint.Generator(weft.DefaultGenerator())
	for name, g := range generators(model) {
		t.parts["random."+name] = checkpoint.Generator(g)
	}
	t.parts["run"] = &t.run
	t.parts["best"] = &t.stop
	seen := map[string]bool{"loss": true}
	for i, m := range o.Metrics {
		if m == nil {
			array.Failf(op, "Metrics", "has a nil at %d", i)
		}
		name := m.Name()
		if name == "" || seen[name] {
			array.Failf(op, "Metrics", "has two named %q, or one without a name", name)
		}
		seen[name] = true
		own := *m
		own.state = nil
		t.metrics = append(t.metrics, &own)
		t.parts["metric."+name] = &own
	}
	for name, p := range o.Parts {
		if t.parts[name] != nil || slices.Contains([]string{"optim", "loader", "schedule", "ema", "averaged"}, name) {
			array.Failf(op, "Parts", "has %q, a name that the trainer uses", name)
		}
		if p == nil || name == "" || strings.ContainsAny(name, "/,") {
			array.Failf(op, "Parts", "has %q, which is nil or no name of a part", name)
		}
		t.parts[name] = p
	}
	return t
}

// check refuses options out of range.
func (o *Opts) check() {
	const op = "trainer"
	if n := array.Or(o.Accumulate, 1); n < 1 {
		array.Failf(op, "Accumulate", "is %d, want 1 or more", n)
	}
	for name, x := range map[string]*float64{"ClipNorm": o.ClipNorm, "ClipValue": o.ClipValue} {
		if x != nil && !(*x >= 0) {
			array.Failf(op, name, "is %v, want 0 or more", *x)
		}
	}
	if x := o.EMA; x != nil && !(*x >= 0 && *x < 1) {
		array.Failf(op, "EMA", "is %v, want at least 0 and less than 1", *x)
	}
	if o.SaveEvery < 0 {
		array.Failf(op, "SaveEvery", "is %d, want 0 or more", o.SaveEvery)
	}
	if o.Dir == "" && (o.Resume || o.SaveEvery > 0) {
		array.Failf(op, "Dir", "is empty: Resume and SaveEvery need a folder")
	}
	if e := o.EarlyStop; e != nil && (e.Patience < 0 || !(e.MinDelta >= 0) || math.IsInf(e.MinDelta, 1)) {
		array.Failf(op, "EarlyStop", "has Patience %d and MinDelta %v, want 0 or more", e.Patience, e.MinDelta)
	}
}

// Model returns the model that Evaluate and Predict use: with Opts.EMA a copy with averaged weights,
// otherwise the model itself.
func (t *TrainerOf[B]) Model() any {
	t.made("model")
	return t.averaged
}

// History returns what was recorded so far. It is the trainer's own: copy what is kept.
func (t *TrainerOf[B]) History() *History {
	t.made("history")
	return &t.run.history
}

func (t *TrainerOf[B]) made(method string) {
	if t == nil || t.steps == nil {
		array.Failf("trainer", "", "%s of a trainer that is nil or was not made by New or NewOf", method)
	}
}
