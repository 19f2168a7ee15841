package profile

import (
	"time"
)

// Steps of a device that works late begin after they were issued. A call of such a device marks the points
// between its steps on the stream, and the recorder asks for the times between marks later, when
// somebody reads them or many are waiting.

// A Mark is a point in the work of a stream.
type Mark interface {
	// Since returns the time from an earlier mark of the same device to this one. It waits for both.
	Since(Mark) (time.Duration, error)
}

// A Stream is where the steps of a call run late.
type Stream interface {
	// Mark returns the point behind the work issued so far.
	Mark() Mark
	// Number tells streams of a device apart.
	Number() int
}

// maxLate is the number of spans that wait for their times. Each holds two marks.
const maxLate = 1 << 12

// A lateSpan is a step, or a whole call if step is nil, between two marks.
type lateSpan struct {
	op       Operation
	step     *Step
	pc       uintptr // of the call
	stream   streamKey
	from, to Mark
	issued   time.Duration // how long issuing took, which stands for a time that the device cannot tell
}

type streamKey struct {
	device uint8
	number int
}

// A timeBase is a mark of a stream and when it was passed.
type timeBase struct {
	mark Mark
	at   time.Duration
}

// On makes the call's steps run late on a stream. It comes before the first step.
func (c *Call) On(s Stream) {
	c.stream, c.key = s, streamKey{c.op.Device, s.Number()}
	if c.r.Events {
		if _, known := c.r.bases.Load(c.key); !known {
			m := s.Mark()
			if _, err := m.Since(m); err == nil {
				c.r.bases.LoadOrStore(c.key, timeBase{m, c.r.now()})
			}
		}
	}
	c.first = s.Mark()
	c.last = c.first
}

// mark ends the step in hand on the stream, and returns its span.
func (c *Call) mark(s *Step, issued time.Duration) lateSpan {
	from := c.last
	c.last = c.stream.Mark()
	return lateSpan{c.op, s, c.pc, c.key, from, c.last, issued}
}

// wait keeps a span until its time is asked for; the lock is held.
func (r *Recorder) wait(s lateSpan) { r.late = append(r.late, s) }

// settle adds the times of late spans.
func (r *Recorder) settle() {
	r.mu.Lock()
	late := r.late
	r.late = nil
	r.mu.Unlock()
	for _, s := range late {
		took, err := s.to.Since(s.from)
		if err != nil {
			took = s.issued
		}
		start := time.Duration(-1)
		if b, ok := r.bases.Load(s.stream); ok && err == nil {
			if d, err := s.from.Since(b.(timeBase).mark); err == nil {
				start = b.(timeBase).at + d
			}
		}
		r.mu.Lock()
		if s.step == nil {
			total(r.ops, s.op).Time += took
		} else {
			total(r.steps, s.step).Time += took
			if s.pc != 0 && s.step.Lines == nil {
				total(r.lines, s.pc).Time += took
			}
			if start >= 0 {
				r.event(Event{Kind: Late, Device: s.op.Device, Name: s.step.Name, Track: int64(s.stream.number), Start: start, Time: took})
			}
		}
		r.mu.Unlock()
	}
}

// settleMany is settle where many spans wait. Most of them are passed, so that it waits little.
func (r *Recorder) settleMany() {
	r.mu.Lock()
	many := len(r.late) >= maxLate
	r.mu.Unlock()
	if many {
		r.settle()
	}
}
