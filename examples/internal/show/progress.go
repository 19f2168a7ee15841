package show

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// A Progress shows how training goes: one line redrawn in place on a terminal,
// a plain line every few seconds elsewhere, so that a log file stays readable.
// Losses and accuracies are means over the epoch so far; the rate counts
// training alone, without evaluation. It serves one goroutine.
type Progress struct {
	w        io.Writer
	terminal bool
	unit     string           // what a network is trained on, such as "images"
	epochs   int              // in the whole run
	steps    int              // in one epoch
	Now      func() time.Time // the clock: time.Now

	epoch, step int       // the epoch, from 1, and the steps done in it
	seen        Tally     // of this epoch, or of its part since a resume
	total       Tally     // of the epochs before it
	started     time.Time // when seen began to count
	shown       time.Time // when the line was last written
	shownStep   int       // and after which step
	width       int       // characters the cursor's line holds, on a terminal
}

// A Tally counts what was trained on, and for how long.
type Tally struct {
	Unit         string // of what: "images"
	Count, Right int
	Loss         float64 // sum over all
	Time         time.Duration
}

const (
	redrawEvery = 100 * time.Millisecond // on a terminal
	lineEvery   = 5 * time.Second        // elsewhere
	barCells    = 14                     // keeps the line within 80 columns
)

// NewProgress returns a display on w of a run of epochs epochs of steps steps
// each. On a terminal it redraws one line. The unit is what is counted, as in
// "images", whose rate is shown as images a second.
func NewProgress(w io.Writer, terminal bool, unit string, epochs, steps int) *Progress {
	return &Progress{w: w, terminal: terminal, unit: unit, epochs: epochs, steps: steps, Now: time.Now}
}

// IsTerminal reports whether a line written to f can be redrawn in place.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// StartEpoch begins an epoch, counted from 1. done is how many of its steps were
// made before: 0, except after a resume.
func (p *Progress) StartEpoch(epoch, done int) {
	p.epoch, p.step, p.shownStep = epoch, done, done
	p.seen = Tally{Unit: p.unit}
	p.started = p.Now()
	p.shown = p.started
}

// Step records one step: the mean loss of its batch, of how many of the
// unit it was, and how many of them the network got right.
func (p *Progress) Step(loss float64, right, count int) {
	p.step++
	p.seen.Count += count
	p.seen.Right += right
	p.seen.Loss += loss * float64(count)
	p.seen.Time = p.Now().Sub(p.started)
	wait := lineEvery
	if p.terminal {
		wait = redrawEvery
	}
	if p.Now().Sub(p.shown) >= wait {
		p.show()
	}
}

// EndEpoch ends an epoch with the accuracy on the test set, 0 to 1, that
// followed its last step.
func (p *Progress) EndEpoch(testAccuracy float64) {
	p.write(fmt.Sprintf("epoch %d/%d  %v  test acc %.2f %%", p.epoch, p.epochs, p.seen, 100*testAccuracy))
	p.endLine()
	p.total = p.Total()
	p.seen = Tally{Unit: p.unit}
}

// Interrupt ends the line in the middle of an epoch, showing the last step.
func (p *Progress) Interrupt() {
	if p.step > p.shownStep {
		p.show()
	}
	p.endLine()
}

// Total returns what the run has trained on so far, the epoch in progress
// included.
func (p *Progress) Total() Tally {
	return Tally{
		Unit:  p.unit,
		Count: p.total.Count + p.seen.Count,
		Right: p.total.Right + p.seen.Right,
		Loss:  p.total.Loss + p.seen.Loss,
		Time:  p.total.Time + p.seen.Time,
	}
}

func (p *Progress) show() {
	bar := ""
	if p.terminal {
		cells := barCells * min(p.step, p.steps) / max(p.steps, 1)
		bar = strings.Repeat("█", cells) + strings.Repeat("░", barCells-cells) + " "
	}
	digits := len(fmt.Sprint(p.steps))
	p.write(fmt.Sprintf("epoch %d/%d  %s%*d/%d  %v", p.epoch, p.epochs, bar, digits, p.step, p.steps, p.seen))
	p.shown, p.shownStep = p.Now(), p.step
}

// write puts s on the line: over the text before it on a terminal, as a line
// of its own elsewhere.
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

// String gives the means of a tally: loss, accuracy and how many a second.
func (t Tally) String() string {
	n := float64(max(t.Count, 1))
	return fmt.Sprintf("loss %.4f  acc %5.2f %%  %s %s/s", t.Loss/n, 100*float64(t.Right)/n, Thousands(t.Rate()), t.Unit)
}

// Rate returns how many a second, 0 before any time has passed.
func (t Tally) Rate() int {
	if t.Time <= 0 {
		return 0
	}
	return int(math.Round(float64(t.Count) / t.Time.Seconds()))
}
