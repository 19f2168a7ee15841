package train

import (
	"maps"
	"reflect"

	"weft"
	"weft/data"
	"weft/internal/array"
	"weft/nn"
	"weft/optim"
)

// A stepper computes batches.
type stepper[B any] interface {
	// trains reports whether train may be called, as an error.
	trains() error
	// group is the number of batches of a step.
	group() int
	// train computes gradients of a batch, which weigh 1/group, and steps the optimizer if last is true.
	train(b B, group int, last bool) (Outcome, error)
	// finish steps the optimizer with the gradients that are there.
	finish() error
	evaluate(b B) (Outcome, error)
	predict(b B) (*weft.Tensor, error)
}

// A lossStep is a step of a model, a loss and an optimizer.
type lossStep struct {
	model    nn.Layer
	averaged nn.Layer
	loss     func(output, target *weft.Tensor) *weft.Tensor
	opt      optim.Optimizer
	schedule *optim.Scheduler // may be nil
	average  *optim.Average   // may be nil
	o        *Opts

	stepping, judging, mapping *program[func(x, y *weft.Tensor, group int, last bool) []*weft.Tensor]
}

// averageOf averages the tensors of a module in the tensors of its copy.
func averageOf(into, of any, decay float64) *optim.Average {
	return optim.NewAverage(maps.All(nn.State(into)), maps.All(nn.State(of)), optim.AverageOpts{Decay: new(decay)})
}

// compile makes the programs.
func (s *lossStep) compile() {
	metrics := len(s.o.Metrics) > 0
	s.stepping = newProgram(s.o.Eager, func(x, y *weft.Tensor, group int, last bool) []*weft.Tensor {
		out := s.model.Forward(x)
		loss := s.loss(out, y)
		if group == 1 {
			loss.Backward()
		} else {
			loss.Mul(1 / float64(group)).Backward()
		}
		if last {
			s.step()
		}
		if !metrics {
			return []*weft.Tensor{loss}
		}
		return []*weft.Tensor{loss, out}
	})
	s.judging = newProgram(s.o.Eager, func(x, y *weft.Tensor, _ int, _ bool) (r []*weft.Tensor) {
		weft.WithoutGrad(func() {
			out := s.averaged.Forward(x)
			r = []*weft.Tensor{s.loss(out, y)}
			if metrics {
				r = append(r, out)
			}
		})
		return r
	})
	s.mapping = newProgram(s.o.Eager, func(x, _ *weft.Tensor, _ int, _ bool) (r []*weft.Tensor) {
		weft.WithoutGrad(func() { r = []*weft.Tensor{s.averaged.Forward(x)} })
		return r
	})
}

// step changes the parameters by their gradients.
func (s *lossStep) step() {
	if s.o.ClipValue != nil {
		optim.ClipValue(nn.Params(s.model), *s.o.ClipValue)
	}
	if s.o.ClipNorm != nil {
		optim.ClipNorm(nn.Params(s.model), *s.o.ClipNorm)
	}
	s.opt.Step()
	if s.schedule != nil {
		s.schedule.Step()
	}
	if s.average != nil {
		s.average.Update()
	}
	s.opt.ZeroGrad()
}

func (s *lossStep) trains() error {
	if s.opt == nil {
		return array.Errorf("fit", "opt", "is nil: the trainer was made to evaluate")
	}
	return nil
}

func (s *lossStep) group() int { return array.Or(s.o.Accumulate, 1) }

func (s *lossStep) train(b data.Batch, group int, last bool) (Outcome, error) {
	return s.outcome(s.stepping, b, group, last)
}

func (s *lossStep) finish() error { return weft.Try(s.step) }

func (s *lossStep) evaluate(b data.Batch) (Outcome, error) {
	return s.outcome(s.judging, b, 1, true)
}

func (s *lossStep) predict(b data.Batch) (*weft.Tensor, error) {
	out, err := s.outcome(s.mapping, b, 1, true)
	return out.Loss, err
}

// outcome runs a program on a batch. Its results are the loss and, if there are metrics, the output.
func (s *lossStep) outcome(p *program[func(x, y *weft.Tensor, group int, last bool) []*weft.Tensor], b data.Batch, group int, last bool) (out Outcome, err error) {
	err = p.run(func(f func(x, y *weft.Tensor, group int, last bool) []*weft.Tensor, scope *weft.Scope) {
		x, y := b.X, b.Y
		if y == nil {
			y = x
		}
		for _, t := range nn.Params(s.model) {
			x, y = x.On(t.Device()), y.On(t.Device())
			break
		}
		out.Target = y
		if scope != nil {
			x, y = scope.Track(x), scope.Track(y)
		}
		r := f(x, y, group, last)
		out.Loss = kept(scope, r[0])
		if len(r) > 1 {
			out.Output = kept(scope, r[1])
		}
	})
	return out, err
}

// An ownStep is a step of the user.
type ownStep[B any] struct {
	stepping, judging *program[func(b B) Outcome]
}

func newOwnStep[B any](step, evaluate func(b B) Outcome, eager bool) *ownStep[B] {
	s := &ownStep[B]{stepping: newProgram(eager, step)}
	if evaluate != nil {
		s.judging = newProgram(eager, func(b B) (out Outcome) {
			weft.WithoutGrad(func() { out = evaluate(b) })
			return out
		})
	}
	return s
}

func (s *ownStep[B]) trains() error { return nil }

func (s *ownStep[B]) group() int { return 1 }

func (s *ownStep[B]) train(b B, _ int, _ bool) (Outcome, error) { return outcomeOf(s.stepping, b) }

func (s *ownStep[B]) finish() error { return nil }

func (s *ownStep[B]) evaluate(b B) (Outcome, error) {
	if s.judging == nil {
		return Outcome{}, array.Errorf("evaluate", "evaluate", "is nil: the trainer was made without a function that evaluates")
	}
	return outcomeOf(s.judging, b)
}

func (s *ownStep[B]) predict(b B) (*weft.Tensor, error) {
	out, err := s.evaluate(b)
	if err == nil && out.Output == nil {
		err = array.Errorf("predict", "evaluate", "returns an outcome without an Output")
	}
	return out.Output, err
}

func outcomeOf[B any](p *program[func(b B) Outcome], b B) (out Outcome, err error) {
	if d, ok := any(&b).(*data.Batch); ok && p.compiled != nil {
		d.Epoch, d.Index = 0, 0 // other numbers would compile anew
	}
	err = p.run(func(f func(b B) Outcome, _ *weft.Scope) { out = f(b) })
	if err == nil && (out.Loss == nil || out.Loss.Size() != 1) {
		err = array.Errorf("step", "Loss", "of the outcome is not a scalar")
	}
	return out, err
}

// kept moves a result out of a scope, which may be nil.
func kept(s *weft.Scope, t *weft.Tensor) *weft.Tensor {
	if s == nil {
		return t
	}
	return s.Keep(t)
}

// A program is a function, and itself compiled.
type program[F any] struct {
	f        F
	compiled *weft.Compiled[F] // nil: f runs itself
	called   F                 // of compiled
	traced   bool              // compiled was called without an error
}

func newProgram[F any](eager bool, f F) *program[F] {
	p := &program[F]{f: f}
	if !eager {
		p.compiled = weft.Compile(f)
		p.called = p.compiled.Func()
	}
	return p
}

// run calls use with the function to call. A function that cannot be traced is called itself, in a scope,
// from then on. An error in its first call is that of the eager one.
func (p *program[F]) run(use func(f F, scope *weft.Scope)) error {
	if p.compiled != nil {
		err := weft.Try(func() { use(p.called, nil) })
		if err == nil {
			p.traced = true
			return nil
		}
		if p.traced || p.compiled.Why() != "" { // a program was made: what failed is its run
			return err
		}
		p.compiled = nil
	}
	scope := weft.NewScope()
	defer scope.Close()
	return weft.Try(func() { use(p.f, scope) })
}

// generators returns the generators that exported fields of a model's layers hold, by path.
func generators(model any) map[string]*weft.Generator {
	found := map[string]*weft.Generator{}
	for path, layer := range nn.Modules(model) {
		v := reflect.Indirect(reflect.ValueOf(layer))
		if v.Kind() != reflect.Struct {
			continue
		}
		for i := range v.NumField() {
			if g, ok := fieldOf[*weft.Generator](v, i); ok && g != nil {
				name := v.Type().Field(i).Name
				if path != "" {
					name = path + "." + name
				}
				found[name] = g
			}
		}
	}
	return found
}

// fieldOf returns field i of a struct if it is exported and has type T.
func fieldOf[T any](v reflect.Value, i int) (x T, ok bool) {
	if !v.Type().Field(i).IsExported() {
		return x, false
	}
	x, ok = v.Field(i).Interface().(T)
	return x, ok
}
