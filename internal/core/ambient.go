package core

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/jit"
)

// Ambient state. [WithoutGrad] changes how the operations of one goroutine behave until a function
// returns. Go has no goroutine-local storage, so a table maps goroutines inside such a function to
// their state. While the table is empty the mode array.Scoped is off, and no operation asks for its
// goroutine.

// An ambient is the ambient state of a goroutine. The zero value is the state outside every scope.
type ambient struct {
	noGrad  bool // results are not recorded for gradients
	kept    *kept
	region  *region // what the tape keeps is computed again
	cast    *autocast
	anomaly *anomalyScope // nil outside of [DetectAnomaly]
}

// kept are memories that the operation opName refuses writes into. In errors memory i is what, with i in
// the place of #.
type kept struct {
	opName, what string
	stores       []*array.Storage
	outer        *kept
}

// Keeping calls f, whose writes in place into ts on this goroutine panic with *array.Error before they
// change an element. In the error of the operation opName tensor i is what, with i in the place of #.
func Keeping(opName, what string, ts []*Tensor, f func()) {
	k := &kept{opName: opName, what: what}
	for _, t := range ts {
		k.stores = append(k.stores, t.v.Store)
	}
	a := ambientHere()
	k.outer = a.kept
	a.kept = k
	inScope(a, f)
}

// refuseKept panics for a write into memory that [Keeping] keeps.
func (t *Tensor) refuseKept() {
	for k := ambientHere().kept; k != nil; k = k.outer {
		if i := slices.Index(k.stores, t.v.Store); i >= 0 {
			array.Failf(k.opName, "", "a step writes in place into %s%s: Clone it first", strings.Replace(k.what, "#", strconv.Itoa(i), 1), Here())
		}
	}
}

// ambients is a hash table of the scopes of all goroutines. Readers take no lock: an entry never
// changes, and leaving a scope copies the front of its list.
var ambients [64]struct {
	mu    sync.Mutex
	first atomic.Pointer[ambientEntry]
}

// An ambientEntry is one scope of a goroutine; inner scopes come before outer ones.
type ambientEntry struct {
	goroutine uintptr
	is        ambient
	next      *ambientEntry
}

// ambientSlot returns the index of a goroutine's list.
func ambientSlot(goroutine uintptr) int {
	return int(Mix(0, uint64(goroutine)) % uint64(len(ambients)))
}

// ambientHere returns the state of this goroutine.
func ambientHere() ambient {
	if !array.Scoped.On() {
		return ambient{}
	}
	g := jit.Goroutine()
	for e := ambients[ambientSlot(g)].first.Load(); e != nil; e = e.next {
		if e.goroutine == g {
			return e.is
		}
	}
	return ambient{}
}

// inScope calls f with the state a on this goroutine. The state ends when f returns or panics.
func inScope(a ambient, f func()) {
	g := jit.Goroutine()
	list := &ambients[ambientSlot(g)]
	list.mu.Lock()
	list.first.Store(&ambientEntry{g, a, list.first.Load()})
	list.mu.Unlock()
	array.Scoped.Enter()
	defer func() {
		array.Scoped.Leave()
		list.mu.Lock()
		list.first.Store(list.first.Load().without(g))
		list.mu.Unlock()
	}()
	f()
}

// without returns the list without the innermost scope of a goroutine. Requires that it has one.
func (e *ambientEntry) without(goroutine uintptr) *ambientEntry {
	if e.goroutine == goroutine {
		return e.next
	}
	return &ambientEntry{e.goroutine, e.is, e.next.without(goroutine)}
}

// GradOn reports whether operations of this goroutine are recorded.
func GradOn() bool { return !array.Scoped.On() || !ambientHere().noGrad }

// Recording calls f with recording on or off.
func Recording(on bool, f func()) {
	a := ambientHere()
	if a.noGrad != on {
		f()
		return
	}
	a.noGrad = !on
	inScope(a, f)
}

// WithoutHistory returns t without its history, for computing with it unrecorded.
func (t *Tensor) WithoutHistory() *Tensor {
	if t.hist == nil {
		return t
	}
	return &Tensor{v: t.v, run: t.run, view: true}
}

// DetachHere returns t as an operation reads it. That is t.Detach() inside WithoutGrad in a trace
// whose graph is differentiated later: there, a tape without the operation does not keep
// gradients from t.
func (t *Tensor) DetachHere() *Tensor {
	if !array.Scoped.On() || !array.Tracing.On() || GradOn() || t.Node() == nil {
		return t
	}
	if tr := TracingViews(&t.v); tr == nil || !tr.Callee {
		return t
	}
	return t.Detach()
}
