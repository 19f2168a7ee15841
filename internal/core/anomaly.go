package core

import (
	"fmt"

	"weft/internal/array"
)

// Anomaly detection. Inside a scope recorded operations note where they were called, and backward passes look
// for NaN in each gradient.

// An anomalyScope is the state of a goroutine inside [DetectAnomaly].
type anomalyScope struct {
	layer *layerCall // the innermost layer that runs
	of    *GradNode  // the operation whose gradient is recorded, nil outside of one
}

// A layerCall is a layer that runs.
type layerCall struct {
	locate func(e *array.Error) *array.Error // puts the layer's path into an error that passes out of it
	outer  *layerCall
}

// A site is where a recorded operation was called.
type site struct {
	pc     uintptr
	layer  *layerCall
	partOf string // the operation whose gradient it is part of, "" if the user called it
}

// DetectAnomaly does what weft.DetectAnomaly says.
func DetectAnomaly(f func()) {
	a := ambientHere()
	if a.anomaly == nil {
		a.anomaly = &anomalyScope{}
	}
	inScope(a, f)
}

// DetectsAnomaly reports whether this goroutine is inside [DetectAnomaly].
func DetectsAnomaly() bool { return array.Scoped.On() && ambientHere().anomaly != nil }

// InLayer calls f, the forward pass of a layer that puts its path into errors by locate.
func InLayer(locate func(e *array.Error) *array.Error, f func()) {
	a := ambientHere()
	if a.anomaly == nil {
		f()
		return
	}
	a.anomaly = &anomalyScope{layer: &layerCall{locate, a.anomaly.layer}}
	inScope(a, f)
}

// NoteSite keeps where the operation of n, which was just recorded, was called.
func (n *GradNode) NoteSite() {
	a := ambientHere().anomaly
	if a == nil {
		return
	}
	s := &site{pc: callerHere(), layer: a.layer}
	if a.of != nil {
		s.partOf = a.of.opName()
		if from := a.of.madeAt(); from != nil {
			s.pc, s.layer = from.pc, from.layer
		}
	}
	n.own().site = s
}

// madeAt returns where the operation of n was called, nil if that was not noted.
func (n *GradNode) madeAt() *site {
	if n.part {
		return n.In[0].site
	}
	return n.site
}

// called says where the operation of n was called, as the end of a message.
func (n *GradNode) called() string {
	s := n.madeAt()
	switch {
	case s == nil:
		return ""
	case s.partOf != "":
		return fmt.Sprintf("; %s is part of the gradient of %s, which was called%s", n.opName(), s.partOf, At(s.pc))
	}
	return fmt.Sprintf("; %s was called%s", n.opName(), At(s.pc))
}

// fail panics with an error of a backward pass at n: with the line of n's operation and the path of its layer,
// where these were noted.
func (n *GradNode) fail(format string, args ...any) {
	e := array.Errorf("backward", "", "%s%s", fmt.Sprintf(format, args...), n.called())
	if s := n.madeAt(); s != nil {
		for l := s.layer; l != nil; l = l.outer {
			e = l.locate(e)
		}
	}
	panic(e)
}

// nanIn describes the NaN in a gradient, "" if it has none. Gradients of a trace have no elements.
func nanIn(t *Tensor) string {
	if t == nil || t.v.Store == nil || t.v.Store.Abstract {
		return ""
	}
	g := guard{fault: isNaN}
	count, first := g.count(&t.v)
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("NaN: %d of %d elements, the first at %v", count, t.Size(), first)
}

// checkSeed refuses a seed with NaN, which every gradient would have.
func (p *gradPass) checkSeed(name string, i int, seed *Tensor) *Tensor {
	if p.detect {
		if nan := nanIn(seed); nan != "" {
			array.Failf(name, "seeds", "number %d has %s", i, nan)
		}
	}
	return seed
}

// checkSum panics if what, a gradient that the pass has completed for n, has NaN.
func (p *gradPass) checkSum(n *GradNode, what string, dy *Tensor) {
	if !p.detect {
		return
	}
	nan := nanIn(dy)
	switch {
	case nan == "":
	case n.Leaf != nil:
		n.fail("%s for a leaf of shape %s gives %s", what, array.ShapeString(n.sizes()), nan)
	default:
		n.fail("%s for the result of %s gives %s", what, n.opName(), nan)
	}
}

// detecting is run, which panics if a result has NaN.
func (p *gradPass) detecting(n *GradNode, dys []*Tensor, ours bool) (gs []*Tensor) {
	if p.create && n.Back == nil { // what a Go function calls has lines of its own
		a := ambientHere()
		a.anomaly = &anomalyScope{of: n}
		inScope(a, func() { gs = p.run(n, dys, ours) })
	} else {
		gs = p.run(n, dys, ours)
	}
	for i, g := range gs {
		if nan := nanIn(g); nan != "" && n.In[i] != nil {
			hint := ""
			if n.madeAt() == nil && !n.isViewOp() {
				hint = " (call it inside DetectAnomaly to see its line)"
			}
			n.fail("%s backward gives %s, in the gradient of argument %d%s", n.opName(), nan, i, hint)
		}
	}
	return gs
}
