package nn

import (
	"reflect"
	"strings"

	"weft"
	"weft/internal/core"
	"weft/internal/jit"
)

// A recorder notes the calls of layers on one goroutine, in the order in which they begin.
type recorder struct {
	byID   map[visit]string
	byType map[reflect.Type][]pathOf
	taken  map[string]bool // paths of layers without an identity that were called
	module visit           // the identity of the module, whose call is the first
	macs   func() int64    // multiply-adds so far
	calls  []*layerCall
	open   []*layerCall // that run now, outermost first
}

// A layerCall is one call of a layer.
type layerCall struct {
	path    string
	typ     string
	id      visit
	place   bool // of the layer at a place of a list, whose own call may be inside
	start   int64
	macs    int64 // with what is inside
	inside  int64 // of calls inside
	calls   []*layerCall
	out     []*weft.Tensor
	skipped bool
}

// record runs f, a call of m on tensors without memory like in, and returns the calls of its layers. The
// first is m's own.
func record(m any, in []*weft.Tensor, f func(in []*weft.Tensor) []*weft.Tensor) []*layerCall {
	r := &recorder{taken: map[string]bool{}}
	r.byID, r.byType = paths(m)
	r.module, _ = identity(m)
	core.DryRun(core.Inner(in), func(ts []*core.Tensor, macs func() int64) {
		r.macs = macs
		here := jit.Goroutine()
		outer, nested := recorders.byGoroutine.Load(here)
		recorders.byGoroutine.Store(here, r)
		recorders.running.Add(1)
		watched.Add(1)
		defer func() {
			recorders.running.Add(-1)
			watched.Add(-1)
			if recorders.byGoroutine.Delete(here); nested {
				recorders.byGoroutine.Store(here, outer)
			}
		}()
		r.enter(&layerCall{typ: typeName(m), id: r.module})
		args := core.Outer[weft.Tensor](ts)
		r.leave(f(args))
	})
	return r.calls
}

func typeName(layer any) string { return strings.TrimPrefix(reflect.TypeOf(layer).String(), "*") }

// begin is told that a layer is called.
func (r *recorder) begin(layer any, id visit) {
	c := &layerCall{typ: typeName(layer), id: id}
	place, ok := layer.(*Layer)
	switch {
	case ok:
		c.place, c.path, c.typ = true, r.byID[id], typeName(*place)
	case id != visit{} && r.byID[id] != "":
		c.path = r.byID[id]
	case id != visit{}:
		c.path = r.open[len(r.open)-1].path // a copy with a weight that the layer around it computes
	default:
		c.path = r.pathOfValue(layer)
	}
	r.enter(c)
}

// pathOfValue returns the path of a layer without an identity: the place in the list that calls it, or
// the first that was not called among the fields that equal it.
func (r *recorder) pathOfValue(layer any) string {
	around := r.open[len(r.open)-1]
	if around.place {
		return around.path
	}
	last := ""
	for _, p := range r.byType[reflect.TypeOf(layer)] {
		inside := around.path == "" || strings.HasPrefix(p.path, around.path+".")
		if !inside || !reflect.DeepEqual(p.layer, layer) {
			continue
		}
		if last = p.path; !r.taken[last] {
			break
		}
	}
	r.taken[last] = true
	return last
}

func (r *recorder) enter(c *layerCall) {
	c.start = r.macs()
	r.calls, r.open = append(r.calls, c), append(r.open, c)
}

// leave is told what the innermost layer that runs returned.
func (r *recorder) leave(out []*weft.Tensor) {
	c := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	c.out, c.macs = out, r.macs()-c.start
	if len(r.open) == 0 {
		return
	}
	around := r.open[len(r.open)-1]
	around.calls = append(around.calls, c)
	around.inside += c.macs
	// A place whose layer told of the same call, and a module that did, are that layer.
	c.skipped = c.place && len(c.calls) == 1 && c.calls[0].path == c.path
	if len(r.open) == 1 && c.id == r.module && c.id != (visit{}) && len(around.calls) == 1 {
		c.skipped, around.inside = true, c.inside
	}
}
