package optim

import (
	"iter"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// ScalerOpts are the options of a [Scaler].
type ScalerOpts struct {
	Init     *float64 // the scale at first; default 65536
	Growth   *float64 // what it is multiplied by after Interval steps; default 2
	Backoff  *float64 // what it is multiplied by after a step that was left out; default 0.5
	Interval *int     // how many steps in a row let it grow; default 2000
}

// A Scaler scales the loss of mixed precision ([weft.Autocast]) up, so that gradients in float16 do not become
// 0, and leaves steps out where gradients became infinite or NaN. It is torch.amp.GradScaler, with its values:
//
//	scaler := optim.NewScaler()
//	scaler.Scale(loss).Backward()
//	scaler.Unscale(opt, nn.Params(net))           // to clip; else Step does it
//	optim.ClipNorm(nn.Params(net), 1)
//	scaler.Step(opt, nn.Params(net))
//	scaler.Update()
//
// Scale and Backward may be part of a compiled function, which takes the scale of each call. The other methods
// decide by elements of gradients: call them after it.
type Scaler struct {
	scale             core.HostVariable
	o                 ScalerOpts
	tracker           int64 // steps in a row that were taken
	infinite, stepped map[Optimizer]bool
}

// NewScaler returns a scaler. It panics with *weft.Error unless the scale is above 0, growth above 1,
// backoff between 0 and 1 and the interval 1 or more.
func NewScaler(opts ...ScalerOpts) *Scaler {
	const name = "scaler"
	o := array.Options(name, opts)
	o = ScalerOpts{new(array.Or(o.Init, 65536)), new(array.Or(o.Growth, 2)), new(array.Or(o.Backoff, 0.5)), new(array.Or(o.Interval, 2000))}
	switch {
	case !(*o.Init > 0) || *o.Init > math.MaxFloat32:
		array.Failf(name, "Init", "is %v, want a number above 0 in float32", *o.Init)
	case !(*o.Growth > 1):
		array.Failf(name, "Growth", "is %v, want more than 1", *o.Growth)
	case !(*o.Backoff > 0 && *o.Backoff < 1):
		array.Failf(name, "Backoff", "is %v, want a number between 0 and 1", *o.Backoff)
	case *o.Interval < 1:
		array.Failf(name, "Interval", "is %d, want 1 or more", *o.Interval)
	}
	s := &Scaler{o: o, infinite: map[Optimizer]bool{}, stepped: map[Optimizer]bool{}}
	s.scale.Value = float64(float32(*o.Init))
	return s
}

func (s *Scaler) made(opName string) {
	if s == nil || s.infinite == nil {
		array.Failf(opName, "", "the Scaler is nil or zero (NewScaler makes one)")
	}
}

// Value is the scale.
func (s *Scaler) Value() float64 {
	s.made("value")
	return s.scale.Value
}

// Scale returns the loss times the scale.
func (s *Scaler) Scale(loss *weft.Tensor) *weft.Tensor {
	const name = "scale"
	s.made(name)
	if (*core.Tensor)(loss).NotNil(name); !loss.DType().Float() {
		array.Failf(name, "loss", "holds %s, want floats", loss.DType())
	}
	return (*weft.Tensor)(core.Apply(op.Mul, nil, operand(loss), core.Live(s.scale.Number())))
}

// Unscale divides the gradients of params, which opt optimizes, by the scale and reports that all were finite.
// It panics with *weft.Error when called twice for opt before [Scaler.Update], and for gradients in float16.
func (s *Scaler) Unscale(opt Optimizer, params iter.Seq2[string, *weft.Tensor]) (finite bool) {
	const name = "unscale"
	s.made(name)
	core.RefuseHost(name, "decides by whether gradients are finite (compile Scale and Backward, and call Unscale, Step and Update after the function), which")
	if opt == nil {
		array.Failf(name, "opt", "is nil")
	}
	if _, done := s.infinite[opt]; done {
		array.Failf(name, "opt", "was unscaled before, since the last Update")
	}
	forGrads(name, params, func(grads []*weft.Tensor) {
		for _, g := range grads {
			if g.DType() == weft.Float16 {
				array.Failf(name, "params", "have a gradient in float16, which scaling may have made infinite: keep parameters in float32")
			}
		}
	})
	norm := ClipNorm(params, math.Inf(1), ClipNormOpts{Power: new(math.Inf(1))})
	s.infinite[opt] = math.IsNaN(norm) || math.IsInf(norm, 0)
	inverse := float64(float32(1 / s.scale.Value))
	forGrads(name, params, func(grads []*weft.Tensor) {
		rewriteGrads(scaled, grads, func(*weft.Tensor) core.Operand { return core.Num(inverse) })
	})
	return !s.infinite[opt]
}

// Step unscales the gradients unless that was done, and takes a step of opt unless one was infinite or NaN. It
// reports that. It panics with *weft.Error when called twice for opt before [Scaler.Update].
func (s *Scaler) Step(opt Optimizer, params iter.Seq2[string, *weft.Tensor]) (taken bool) {
	const name = "step"
	s.made(name)
	if opt == nil {
		array.Failf(name, "opt", "is nil")
	}
	if s.stepped[opt] {
		array.Failf(name, "opt", "has taken a step since the last Update")
	}
	if _, done := s.infinite[opt]; !done {
		s.Unscale(opt, params)
	}
	s.stepped[opt] = true
	if s.infinite[opt] {
		return false
	}
	opt.Step()
	return true
}

// Update sets the scale for the next pass: lower if gradients of an optimizer were not finite, higher after
// Interval passes in a row in which all were. It panics with *weft.Error if nothing was unscaled before.
func (s *Scaler) Update() {
	const name = "update"
	s.made(name)
	core.RefuseHost(name, "decides by whether gradients were finite (call it after the compiled function), which")
	if len(s.infinite) == 0 {
		array.Failf(name, "", "nothing was unscaled since the last Update")
	}
	found := false
	for _, inf := range s.infinite {
		found = found || inf
	}
	if s.tracker++; found {
		s.scale.Value, s.tracker = float64(float32(s.scale.Value**s.o.Backoff)), 0
	} else if s.tracker == int64(*s.o.Interval) {
		if grown := float64(float32(s.scale.Value * *s.o.Growth)); !math.IsInf(grown, 0) {
			s.scale.Value = grown
		}
		s.tracker = 0
	}
	clear(s.infinite)
	clear(s.stepped)
}

// State returns the scale and the number of steps since it changed, for checkpoints.
func (s *Scaler) State() map[string]*weft.Tensor {
	s.made("state")
	return map[string]*weft.Tensor{"scale": weft.Scalar(s.scale.Value), "growth_tracker": weft.Scalar(s.tracker)}
}

// LoadState goes on from such a state. An error, a *[StateError], leaves s as it was.
func (s *Scaler) LoadState(state map[string]*weft.Tensor) error {
	s.made("loadstate")
	r := reader{state: state, used: map[string]bool{}}
	scale, tracker := r.number("scale"), r.count("growth_tracker")
	if err := r.finish(); err != nil {
		return err
	}
	if !(scale > 0) || scale > math.MaxFloat32 {
		return &StateError{"scale", "is not a number above 0"}
	}
	s.scale.Value, s.tracker = scale, tracker
	return nil
}

// String returns the scale and the options.
func (s *Scaler) String() string {
	return array.Describe("optim.Scaler", "Scale", s.scale.Value, "Growth", s.o.Growth, "Backoff", s.o.Backoff, "Interval", s.o.Interval)
}
