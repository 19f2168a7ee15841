package core

import (
	"cmp"
	"slices"
	"sync"

	"weft/internal/array"
)

// A Run is the state that results inherit from their operands: the scope that gives temporaries
// back, the stream that they are computed on, and whether results wait. Leaves and their gradients carry none.
type Run struct {
	Lazy   bool
	Scope  *Scope
	Stream *Stream
}

// MergeRuns is the run of a result: a nested scope wins over those around it, and the stream of the
// first operand that has one.
func MergeRuns(opName string, ops []Operand) *Run {
	var r *Run
	for i := range ops {
		t := ops[i].T
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

func (r *Run) merge(opName string, s *Run) *Run {
	scope := r.Scope
	switch {
	case scope == nil || s.Scope.within(scope):
		scope = s.Scope
	case s.Scope == nil || scope.within(s.Scope):
	default:
		array.Failf(opName, "", "operands belong to two scopes, and neither scope is inside the other (Scope.Nest makes a scope inside another)")
	}
	stream := cmp.Or(r.Stream, s.Stream)
	for _, x := range []*Run{r, s} {
		if scope == x.Scope && stream == x.Stream && (x.Lazy || !r.Lazy && !s.Lazy) {
			return x
		}
	}
	return &Run{Lazy: r.Lazy || s.Lazy, Scope: scope, Stream: stream}
}

// A Scope owns the memory of a weft.Scope.
type Scope struct {
	parent *Scope
	run    *Run
	mu     sync.Mutex
	owned  []*array.Storage // in the order in which they were made
	closed bool
}

// NewScope does what weft.NewScope says.
func NewScope() *Scope {
	s := &Scope{}
	s.run = &Run{Scope: s}
	return s
}

// Nest does what weft.Scope.Nest says.
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

// Track does what weft.Scope.Track says.
func (s *Scope) Track(t *Tensor) *Tensor {
	s.notNil("track")
	t.Check("track")
	r := s.run
	if t.run != nil {
		r = r.merge("track", t.run)
	}
	return &Tensor{v: t.v, hist: t.hist, run: r, view: true}
}

// Keep does what weft.Scope.Keep says.
func (s *Scope) Keep(t *Tensor) *Tensor {
	s.notNil("keep")
	t.NotNil("keep")
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

// Close does what weft.Scope.Close says.
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
		Free(st)
	}
	s.owned = nil
}

// Track gives t's memory, just made, to its scope.
func (t *Tensor) Track() {
	if t.run == nil || t.run.Scope == nil {
		return
	}
	s := t.run.Scope
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		array.Failf("scope", "", "a tensor of a closed scope was used: close it after the last use")
	}
	s.owned = append(s.owned, t.v.Store)
}

// Release does what weft.Tensor.Release says.
func (t *Tensor) Release() {
	t.NotNil("release")
	if t.v.Store.Lent() {
		failLent("release")
	}
	if t.view {
		gone := &array.Storage{Device: t.v.Store.Device}
		gone.Release()
		t.v.Store = gone
		return
	}
	if tr := TracingViews(&t.v); tr != nil && tr.given(&t.v) {
		failHost("release", "gives back the memory of an argument or of a captured tensor")
	}
	Free(t.v.Store)
}

func failLent(opName string) {
	array.Failf(opName, "", "a function that Borrow gave the memory to has not returned")
}
