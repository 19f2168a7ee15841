package weft

import (
	"slices"
	"sync"

	"weft/internal/array"
)

// A run is the state that results inherit from their operands: the scope that gives temporaries
// back, and whether results wait. Leaves and their gradients carry none.
type run struct {
	lazy  bool
	scope *Scope
}

// mergeRuns is the run of a result: a nested scope wins over those around it.
func mergeRuns(opName string, ops []operand) *run {
	var r *run
	for i := range ops {
		t := ops[i].t
		if t == nil || t.run == nil || t.run == r {
			continue
		}
		if r == nil {
			r = t.run
			continue
		}
		r = r.merge(opName, t.run)
	}
	return r
}

func (r *run) merge(opName string, s *run) *run {
	scope := r.scope
	switch {
	case scope == nil || s.scope.within(scope):
		scope = s.scope
	case s.scope == nil || scope.within(s.scope):
	default:
		array.Failf(opName, "", "operands belong to two scopes, and neither scope is inside the other (Scope.Nest makes a scope inside another)")
	}
	for _, x := range []*run{r, s} {
		if scope == x.scope && (x.lazy || !r.lazy && !s.lazy) {
			return x
		}
	}
	return &run{lazy: true, scope: scope}
}

// A Scope collects the memory of temporaries, to give it back at once. Using one
// is optional: what no scope owns is given back when it is unreachable.
//
// A scope is safe for use from several goroutines; Close is called once, when no
// work on its tensors is left. What still runs then keeps its memory until it is over.
type Scope struct {
	parent *Scope
	run    *run
	mu     sync.Mutex
	owned  []*array.Storage // in the order in which they were made
	closed bool
}

// NewScope returns an open scope.
func NewScope() *Scope {
	s := &Scope{}
	s.run = &run{scope: s}
	return s
}

// Nest returns a scope inside s: results of tensors of both belong to it.
func (s *Scope) Nest() *Scope {
	s.notNil("nest")
	n := NewScope()
	n.parent = s
	return n
}

// notNil refuses a nil scope, and the zero Scope, which nothing can belong to.
func (s *Scope) notNil(opName string) {
	if s == nil || s.run == nil {
		array.Failf(opName, "", "the scope is nil or the zero Scope (NewScope makes one)")
	}
}

func (s *Scope) within(o *Scope) bool {
	for p := s; p != nil; p = p.parent {
		if p == o {
			return true
		}
	}
	return false
}

// Track returns t as a tensor of the scope: results computed from it are given
// back by [Scope.Close]. t itself is not.
func (s *Scope) Track(t *Tensor) *Tensor {
	s.notNil("track")
	t.check("track")
	r := s.run
	if t.run != nil {
		r = r.merge("track", t.run)
	}
	return &Tensor{v: t.v, hist: t.hist, run: r, view: true}
}

// Keep moves t out of the scope: its memory stays when the scope closes.
func (s *Scope) Keep(t *Tensor) *Tensor {
	s.notNil("keep")
	t.notNil("keep")
	if !t.v.Store.Abstract {
		t.v.Store.Ready() // what it is computed from may not stay
	}
	s.disown(t.v.Store)
	return &Tensor{v: t.v, hist: t.hist, view: t.view}
}

// disown takes memory out of the scope: from the end, where what was made last is.
func (s *Scope) disown(st *array.Storage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.owned) - 1; i >= 0; i-- {
		if s.owned[i] == st {
			s.owned = slices.Delete(s.owned, i, i+1)
			return
		}
	}
}

// Close gives back the memory of all results computed from tracked tensors. Using
// one of them afterwards panics.
func (s *Scope) Close() {
	s.notNil("close")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.owned {
		if st.Lent() {
			failLent("close")
		}
	}
	s.closed = true
	// The last first, so that the next results lie where these did.
	for _, st := range slices.Backward(s.owned) {
		free(st)
	}
	s.owned = nil
}

// track gives t's memory, just made, to its scope.
func (t *Tensor) track() {
	if t.run == nil || t.run.scope == nil {
		return
	}
	s := t.run.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		array.Failf("scope", "", "a tensor of a closed scope was used: close it after the last use")
	}
	s.owned = append(s.owned, t.v.Store)
}

// Release gives t's memory back now. Using t, or a view of it, afterwards panics with an [*Error].
// A view ([Tensor.Reshape], [Tensor.At], [Tensor.Detach] ...) gives back itself alone: what it was
// taken of stays as it is; where Reshape had to copy, its result is not a view. It panics while a
// function that [Borrow] gave the memory to has not returned. Operations and calls that read the
// memory meanwhile finish as if it were not released: it is given back after the last of them. They
// may run on other goroutines, or around the function that releases it. Release is never necessary:
// what nothing refers to any more is given back by the collector.
func (t *Tensor) Release() {
	t.notNil("release")
	if t.v.Store.Lent() {
		failLent("release")
	}
	if t.view {
		gone := &array.Storage{Device: t.v.Store.Device}
		gone.Release()
		t.v.Store = gone
		return
	}
	if tr := tracingViews(&t.v); tr != nil && tr.given(&t.v) {
		failHost("release", "gives back the memory of an argument or of a captured tensor")
	}
	free(t.v.Store)
}

func failLent(opName string) {
	array.Failf(opName, "", "a function that Borrow gave the memory to has not returned")
}
