package train

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"weft/internal/array"
)

// A Progress shows how training goes: one line redrawn in place on a terminal, a plain line every few
// seconds elsewhere, so that a log file stays readable. The rate counts training alone, without
// validation, and the time to go (eta) is that of the epoch. Opts.Progress takes one; a loop of one's own
// calls its methods. It serves one goroutine.
type Progress struct {
	w        io.Writer
	o        ProgressOpts
	terminal bool
	now      func() time.Time // the clock

	epoch, epochs int // from 1
	step, steps   int // batches done in the epoch, and its batches, -1 if that is not known
	begun         int // batches done before seen began to count
	seen          tally
	total         tally         // of the epochs before
	values        func() Values // of the latest step
	started       time.Time     // when seen began to count
	shown         time.Time     // when the line was last written
	shownStep     int           // and after which step
	width         int           // characters that the cursor's line holds, on a terminal
}

// ProgressOpts are the options of a [Progress].
type ProgressOpts struct {
	Unit string // what is counted; "" is "examples"
	// Plain writes lines on a terminal too.
	Plain bool
}

// A tally counts what was trained on, and for how long.
type tally struct {
	count int
	time  time.Duration
}

const (
	redrawEvery = 100 * time.Millisecond // on a terminal
	lineEvery   = 5 * time.Second        // elsewhere
	barCells    = 14
)

// NewProgress returns a display on w, such as os.Stdout. If that is a terminal it redraws one line. It
// panics with *weft.Error if w is nil.
func NewProgress(w io.Writer, opts ...ProgressOpts) *Progress {
	o := array.Options("progress", opts)
	if w == nil {
		array.Failf("progress", "w", "is nil")
	}
	if o.Unit == "" {
		o.Unit = "examples"
	}
	p := &Progress{w: w, o: o, now: time.Now}
	if f, ok := w.(*os.File); ok && !o.Plain {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	return p
}

// StartEpoch begins an epoch, counted from 1, of epochs. done is how many of its batches were trained on
// before: 0, except after a resume. steps is the number of its batches, -1 if that is not known.
func (p *Progress) StartEpoch(epoch, epochs, done, steps int) {
	p.made()
	p.total.count, p.total.time = p.Total()
	p.epoch, p.epochs, p.step, p.steps, p.begun, p.shownStep = epoch, epochs, done, steps, done, done
	p.seen, p.values = tally{}, nil
	p.started = p.now()
	p.shown = p.started
}

// Step records a batch of count examples. values, which may be nil, is called when the line is written.
func (p *Progress) Step(count int, values func() Values) {
	p.made()
	p.step++
	p.seen.count += count
	p.seen.time = p.now().Sub(p.started)
	p.values = values
	wait := lineEvery
	if p.terminal {
		wait = redrawEvery
	}
	if p.now().Sub(p.shown) >= wait {
		p.show()
	}
}

// EndEpoch ends an epoch with its values.
func (p *Progress) EndEpoch(values Values) {
	p.made()
	p.write(fmt.Sprintf("epoch %d/%d  %v  %s", p.epoch, p.epochs, values, p.rate()))
	p.shownStep = p.step
	p.endLine()
}

// Interrupt ends the line in the middle of an epoch, showing the last step.
func (p *Progress) Interrupt() {
	p.made()
	if p.step > p.shownStep {
		p.show()
	}
	p.endLine()
}

// Total returns the examples trained on so far, and the time that they took.
func (p *Progress) Total() (count int, d time.Duration) {
	p.made()
	return p.total.count + p.seen.count, p.total.time + p.seen.time
}

func (p *Progress) show() {
	s := fmt.Sprintf("epoch %d/%d  ", p.epoch, p.epochs)
	if p.terminal && p.steps >= 0 {
		cells := barCells * min(p.step, p.steps) / max(p.steps, 1)
		s += strings.Repeat("█", cells) + strings.Repeat("░", barCells-cells) + " "
	}
	if p.steps >= 0 {
		s += fmt.Sprintf("%*d/%d", len(fmt.Sprint(p.steps)), p.step, p.steps)
	} else {
		s += fmt.Sprintf("batch %d", p.step)
	}
	if p.values != nil {
		s += fmt.Sprintf("  %v", p.values())
	}
	s += "  " + p.rate()
	if n := p.step - p.begun; p.steps >= p.step && n > 0 {
		left := time.Duration(float64(p.seen.time) / float64(n) * float64(p.steps-p.step)).Round(time.Second)
		s += fmt.Sprintf("  eta %d:%02d", int(left.Minutes()), int(left.Seconds())%60)
	}
	p.write(s)
	p.shown, p.shownStep = p.now(), p.step
}

// rate is how many a second, 0 before any time has passed.
func (p *Progress) rate() string {
	r := 0.0
	if p.seen.time > 0 {
		r = math.Round(float64(p.seen.count) / p.seen.time.Seconds())
	}
	return thousands(int(r)) + " " + p.o.Unit + "/s"
}

// write puts s on the line: over the text before it on a terminal, as a line of its own elsewhere.
func (p *Progress) write(s string) {
	if !p.terminal {
		fmt.Fprintln(p.w, s)
		return
	}
	// Spaces wipe what a longer text left behind.
	width := utf8.RuneCountInString(s)
	fmt.Fprintf(p.w, "\r%s%s", s, strings.Repeat(" ", max(p.width-width, 0)))
	p.width = width
}

// endLine moves a terminal's cursor off a line that holds text.
func (p *Progress) endLine() {
	if p.width > 0 {
		fmt.Fprintln(p.w)
		p.width = 0
	}
}

func (p *Progress) made() {
	if p == nil || p.w == nil {
		array.Failf("progress", "", "the Progress is nil or was not made by NewProgress")
	}
}

// thousands formats n >= 0 with commas: 20,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// String returns how far the training is.
func (p *Progress) String() string {
	return array.Describe("train.Progress", "Epoch", p.epoch, "Epochs", p.epochs, "Step", p.step, "Steps", p.steps)
}
