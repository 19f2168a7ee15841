// Package profile takes down what runs: calls of plans, their steps, shares of workers,
// phases of compilation, and memory, each by the number of its device. One [Recorder] at a time is switched on for the whole
// process, since work is done by goroutines that know nothing of each other; while none is,
// everything here costs a load and a test.
//
// What is taken down comes from exec (calls and steps), par (workers), mem (memory) and
// package weft (phases and regions); package weft shows it.
package profile

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/array"
)

// A Step describes one step of a plan: a kernel or a routine. It is made once a plan.
type Step struct {
	Device  uint8  // that it runs on
	Name    string // the operations in it
	Shape   string // of what it computes
	Routine bool
	Bytes   int64 // that it reads and writes
	Flops   int64 // arithmetic operations

	// Lines are the places of the user's code that the step computes, one for each operation; nil
	// where the caller's line is meant.
	Lines []string

	// What tips look at.
	Double      bool // computes in float64
	Crossing    bool // copies between different axes
	Interpreted bool
}

// A Total is what many calls of something add up to.
type Total struct {
	Calls  int64
	Time   time.Duration
	Bytes  int64
	Flops  int64
	Memory int64 // bytes taken for results and temporaries
	Peak   int64 // the most memory of the device that was in use at the end of a call
}

// An Operation is the name of calls on one device.
type Operation struct {
	Device uint8
	Name   string
}

func (t *Total) add(d time.Duration, bytes, flops int64) {
	t.Calls++
	t.Time += d
	t.Bytes += bytes
	t.Flops += flops
}

// A Kind is what an Event is.
type Kind uint8

// Kinds of events.
const (
	Op     Kind = iota // a call of a plan, on the goroutine that made it
	Run                // a step of it, on the same goroutine
	Work               // the share of a worker in a step
	Late               // a step as a device that works late ran it
	Phase              // of compilation
	Region             // that the user named
	Map                // memory that a device asked of the system
	Memory             // bytes of a device in use and reserved, Value and More
)

// An Event is what happened, at Start for Time since the recorder was switched on. Track is
// the goroutine, of Work the worker, counted from 1, of Late the stream. Device is 0 for a Phase and a Region, which
// are the host's.
type Event struct {
	Kind        Kind
	Device      uint8
	Name        string
	Track       int64
	Start, Time time.Duration
	Value, More int64
}

// Options say what a Recorder does beyond adding up.
type Options struct {
	Events bool // keep events
	Labels bool // set pprof's labels
	Places bool // find the lines that call operations
}

// maxEvents bounds the events that are kept: some 80 MiB.
const maxEvents = 1 << 20

// A Recorder takes down what runs while it is switched on.
type Recorder struct {
	Options
	Start time.Time

	memory  [math.MaxUint8 + 1]memory // by device
	all     memory                    // the sum over devices
	current sync.Map                  // by goroutine: *Call; with Events or Labels alone
	bases   sync.Map                  // by streamKey: timeBase; with Events alone
	labels  sync.Map                  // by [2]string, operation and kernel: context.Context with the labels of pprof

	mu     sync.Mutex
	end    time.Duration
	ops    map[Operation]*Total
	steps  map[*Step]*Total
	phases map[string]*Total
	rules  map[string]*Total
	lines  map[uintptr]*Total // by program counter: steps that have no lines of their own
	events []Event
	late   []lateSpan
	lost   int
}

var on atomic.Pointer[Recorder]

// On returns the recorder that is switched on, nil if none is.
func On() *Recorder { return on.Load() }

// Begin switches a new recorder on. It returns nil if one is on already.
func Begin(o Options) *Recorder {
	r := &Recorder{Options: o, Start: time.Now(), ops: map[Operation]*Total{}, steps: map[*Step]*Total{}, phases: map[string]*Total{}, rules: map[string]*Total{}, lines: map[uintptr]*Total{}}
	array.Profiling.Enter()
	if !on.CompareAndSwap(nil, r) {
		array.Profiling.Leave()
		return nil
	}
	return r
}

// End switches the recorder off. What is under way then is not taken down. Doing so again
// does nothing.
func (r *Recorder) End() {
	r.settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	if on.CompareAndSwap(r, nil) {
		array.Profiling.Leave()
		r.end = r.now()
	}
}

// Elapsed is how long the recorder has been on, or was.
func (r *Recorder) Elapsed() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end > 0 {
		return r.end
	}
	return r.now()
}

func (r *Recorder) now() time.Duration { return time.Since(r.Start) }

// event keeps an event; the lock is held.
func (r *Recorder) event(e Event) {
	switch {
	case !r.Events || r.end > 0:
	case len(r.events) == maxEvents:
		r.lost++
	default:
		r.events = append(r.events, e)
	}
}

func total[K comparable](m map[K]*Total, k K) *Total {
	t := m[k]
	if t == nil {
		t = new(Total)
		m[k] = t
	}
	return t
}

// A Call is one run of a plan.
type Call struct {
	r            *Recorder
	op           Operation
	track        int64
	start        time.Duration
	step         *Step
	began        time.Duration
	bytes, flops int64
	memory       int64
	outer        *Call   // around it on the same goroutine
	pc           uintptr // the line that made it; with Places alone

	stream      Stream // of a device that works late, or nil
	key         streamKey
	first, last Mark // on the stream: where the call began, and its last step ended
}

// Begin begins a call of an operation on a device. It takes memory bytes for temporaries.
func (r *Recorder) Begin(device uint8, name string, memory int64) *Call {
	c := &Call{r: r, op: Operation{device, name}, memory: memory}
	if r.Events || r.Labels {
		c.track = goroutine()
		if o, ok := r.current.Load(c.track); ok {
			c.outer = o.(*Call)
		}
		r.current.Store(c.track, c)
	}
	if r.Places {
		c.pc = array.Caller()
	}
	c.start = r.now()
	return c
}

// Took adds memory that the call takes.
func (c *Call) Took(bytes int) { c.memory += int64(bytes) }

// Step begins a step of the call, which ends the one before. What runs in it is seen by
// itself if s is nil.
func (c *Call) Step(s *Step) {
	now := c.r.now()
	c.finish(now)
	c.step, c.began = s, now
	if c.r.Labels && s != nil {
		pprof.SetGoroutineLabels(c.r.labelled(c.op.Name, s.Name))
	}
}

// finish ends the step in hand.
func (c *Call) finish(now time.Duration) {
	s := c.step
	if s == nil {
		return
	}
	c.bytes += s.Bytes
	c.flops += s.Flops
	took := now - c.began
	var late lateSpan
	if c.stream != nil {
		late, took = c.mark(s, took), 0
	}
	c.r.mu.Lock()
	if c.stream != nil {
		c.r.wait(late)
	}
	total(c.r.steps, s).add(took, s.Bytes, s.Flops)
	if c.pc != 0 && s.Lines == nil {
		total(c.r.lines, c.pc).add(took, s.Bytes, s.Flops)
	}
	c.r.event(Event{Kind: Run, Device: c.op.Device, Name: s.Name, Track: c.track, Start: c.began, Time: now - c.began, Value: s.Bytes, More: s.Flops})
	c.r.mu.Unlock()
	c.step = nil
}

// End ends the call.
func (c *Call) End() {
	r := c.r
	now := r.now()
	c.finish(now)
	if c.track != 0 {
		if c.outer != nil {
			r.current.Store(c.track, c.outer)
		} else {
			r.current.Delete(c.track)
		}
	}
	if r.Labels {
		back := context.Background()
		if c.outer != nil && c.outer.step != nil {
			back = r.labelled(c.outer.op.Name, c.outer.step.Name)
		}
		pprof.SetGoroutineLabels(back)
	}
	if c.op.Name == "" {
		return // part of a call around it: the steps of a loop, work that runs late
	}
	took := now - c.start
	if c.stream != nil {
		defer r.settleMany() // without the lock
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.stream != nil {
		r.wait(lateSpan{c.op, nil, c.pc, c.key, c.first, c.last, took})
		took = 0
	}
	t := total(r.ops, c.op)
	t.add(took, c.bytes, c.flops)
	t.Memory += c.memory
	t.Peak = max(t.Peak, r.memory[c.op.Device].live.Load())
	r.event(Event{Kind: Op, Device: c.op.Device, Name: c.op.Name, Track: c.track, Start: c.start, Time: now - c.start, Value: c.memory})
}

// labelled is the labels of pprof while a kernel runs as part of an operation.
func (r *Recorder) labelled(op, kernel string) context.Context {
	key := [2]string{op, kernel}
	if c, ok := r.labels.Load(key); ok {
		return c.(context.Context)
	}
	c := pprof.WithLabels(context.Background(), pprof.Labels("op", op, "kernel", kernel))
	r.labels.Store(key, c)
	return c
}

// A Share is what workers do of the step that a goroutine is at.
type Share struct {
	r    *Recorder
	op   Operation
	step *Step
}

// Share returns what workers are to take down that help the calling goroutine, nil for
// nothing.
func (r *Recorder) Share() *Share {
	if !r.Events && !r.Labels {
		return nil
	}
	s := &Share{r: r}
	if c, ok := r.current.Load(goroutine()); ok {
		c := c.(*Call)
		s.op, s.step = c.op, c.step
	}
	return s
}

// Begin begins the share of a worker, and returns what ends it.
func (s *Share) Begin(worker int) (end func()) {
	name := "work"
	if s.step != nil {
		name = s.step.Name
		if s.r.Labels {
			pprof.SetGoroutineLabels(s.r.labelled(s.op.Name, s.step.Name))
		}
	}
	start := s.r.now()
	return func() {
		now := s.r.now()
		if s.r.Labels {
			pprof.SetGoroutineLabels(context.Background())
		}
		s.r.mu.Lock()
		defer s.r.mu.Unlock()
		s.r.event(Event{Kind: Work, Device: s.op.Device, Name: name, Track: int64(worker), Start: start, Time: now - start})
	}
}

// nothing ends what was not begun.
func nothing() {}

// InPhase begins a phase of compilation and returns what ends it.
func InPhase(name string) (end func()) {
	r := On()
	if r == nil {
		return nothing
	}
	return r.span(Phase, name)
}

// InRegion begins a region that the user names, and returns what ends it.
func (r *Recorder) InRegion(name string) (end func()) { return r.span(Region, name) }

func (r *Recorder) span(kind Kind, name string) func() {
	track := int64(0)
	if r.Events {
		track = goroutine()
	}
	start := r.now()
	return func() {
		now := r.now()
		r.mu.Lock()
		defer r.mu.Unlock()
		if kind == Phase {
			total(r.phases, name).add(now-start, 0, 0)
		}
		r.event(Event{Kind: kind, Name: name, Track: track, Start: start, Time: now - start})
	}
}

// Add adds to a phase what was measured elsewhere.
func (r *Recorder) Add(phase string, calls int64, d time.Duration) {
	r.added(r.phases, phase, calls, d)
}

// Rule adds to a rule of rewriting calls applications that took d in all.
func (r *Recorder) Rule(name string, calls int64, d time.Duration) { r.added(r.rules, name, calls, d) }

func (r *Recorder) added(to map[string]*Total, name string, calls int64, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := total(to, name)
	t.Calls += calls
	t.Time += d
}

// Rules returns what was taken down of rules of rewriting.
func (r *Recorder) Rules() map[string]Total {
	r.mu.Lock()
	defer r.mu.Unlock()
	return copied(r.rules)
}

// Lines returns what was taken down of lines of the user's code, by "file:line". A step that computes
// operations of several lines is shared out among them, equally for each operation.
func (r *Recorder) Lines() map[string]Total {
	r.settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]*Total{}
	for pc, t := range r.lines {
		total(out, array.ShortPlace(pc)).merge(t, 1, 1)
	}
	for s, t := range r.steps {
		count := map[string]int{}
		for _, l := range s.Lines {
			count[l]++
		}
		for l, n := range count {
			total(out, l).merge(t, n, len(s.Lines))
		}
	}
	return copied(out)
}

// merge adds n parts of the parts that u is divided into; calls are whole.
func (t *Total) merge(u *Total, n, parts int) {
	t.Calls += u.Calls
	t.Time += u.Time * time.Duration(n) / time.Duration(parts)
	t.Bytes += u.Bytes * int64(n) / int64(parts)
	t.Flops += u.Flops * int64(n) / int64(parts)
}

// Mapped takes down that a device asked the system for memory, from start on.
func (r *Recorder) Mapped(device uint8, start time.Time, bytes int64) {
	at, now := start.Sub(r.Start), r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	total(r.phases, mapping).add(now-at, bytes, 0)
	r.event(Event{Kind: Map, Device: device, Name: mapping, Start: max(at, 0), Time: now - max(at, 0), Value: bytes})
}

const mapping = "memory from the system"

// A memory is what is in use, in bytes.
type memory struct{ live, peak atomic.Int64 }

// raise makes the peak at least live.
func (m *memory) raise(live int64) {
	for p := m.peak.Load(); live > p && !m.peak.CompareAndSwap(p, live); p = m.peak.Load() {
	}
}

// Memory takes down how many bytes of a device are in use and reserved.
func (r *Recorder) Memory(device uint8, live, reserved int64) {
	m := &r.memory[device]
	old := m.live.Swap(live)
	m.raise(live)
	r.all.raise(r.all.live.Add(live - old))
	if !r.Events {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event(Event{Kind: Memory, Device: device, Name: "memory", Start: r.now(), Value: live, More: reserved})
}

// Peak returns the most bytes that were in use on all devices together, of those devices whose
// memory changed since the recorder was switched on.
func (r *Recorder) Peak() int64 { return r.all.peak.Load() }

// Peaks returns the most bytes that were in use by device, without devices that used none.
func (r *Recorder) Peaks() map[uint8]int64 {
	out := map[uint8]int64{}
	for i := range r.memory {
		if p := r.memory[i].peak.Load(); p > 0 {
			out[uint8(i)] = p
		}
	}
	return out
}

// Snapshot returns what was taken down so far. The events are not copied: they are only
// added to.
func (r *Recorder) Snapshot() (ops map[Operation]Total, steps map[*Step]Total, phases map[string]Total, events []Event, lost int) {
	r.settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	return copied(r.ops), copied(r.steps), copied(r.phases), r.events[:len(r.events):len(r.events)], r.lost
}

func copied[K comparable](m map[K]*Total) map[K]Total {
	out := make(map[K]Total, len(m))
	for k, t := range m {
		out[k] = *t
	}
	return out
}

// goroutine is the number of the calling goroutine, which Go tells in the first line of a
// stack trace alone.
func goroutine() int64 {
	var buf [64]byte
	s := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	if i := bytes.IndexByte(s, ' '); i > 0 {
		n, _ := strconv.ParseInt(string(s[:i]), 10, 64)
		return n
	}
	return 0
}
