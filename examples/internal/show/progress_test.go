package show

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// scripted returns a display whose clock stands still until the test moves it.
func scripted(terminal bool, unit string, epochs, steps int) (p *Progress, out *strings.Builder, sleep func(time.Duration)) {
	out = new(strings.Builder)
	p = NewProgress(out, terminal, unit, epochs, steps)
	clock := time.Unix(0, 0)
	p.Now = func() time.Time { return clock }
	return p, out, func(d time.Duration) { clock = clock.Add(d) }
}

func TestProgressPlain(t *testing.T) {
	p, out, sleep := scripted(false, "images", 2, 100)
	p.StartEpoch(1, 0)
	for range 100 {
		sleep(time.Second / 10)
		p.Step(0.5, 48, 64)
	}
	sleep(time.Minute) // an evaluation, which the rate must not count
	p.EndEpoch(0.9175)
	p.StartEpoch(2, 98) // as after a resume
	sleep(time.Second)
	p.Step(0.25, 64, 64)
	p.Interrupt()
	want := `epoch 1/2   50/100  loss 0.5000  acc 75.00 %  640 images/s
epoch 1/2  100/100  loss 0.5000  acc 75.00 %  640 images/s
epoch 1/2  loss 0.5000  acc 75.00 %  640 images/s  test acc 91.75 %
epoch 2/2   99/100  loss 0.2500  acc 100.00 %  64 images/s
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if total := p.Total(); total.Count != 6464 || total.Time != 11*time.Second || total.Rate() != 588 {
		t.Errorf("total %+v, rate %d; want 6464 images in 11 s, 588 a second", total, total.Rate())
	}
}

func TestProgressTerminal(t *testing.T) {
	p, out, sleep := scripted(true, "words", 10, 1000)
	p.StartEpoch(10, 0)
	for range 1000 {
		sleep(25 * time.Millisecond)
		p.Step(2.5, 64, 640)
	}
	p.EndEpoch(0.5)
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 2 || lines[1] != "" {
		t.Fatalf("an epoch takes %d lines, not one", len(lines)-1)
	}
	frames := strings.Split(lines[0], "\r")
	if frames[0] != "" || len(frames) != 1+250+1 {
		t.Errorf("%d frames, want one each 100 ms and the last", len(frames)-1)
	}
	if want := "epoch 10/10  ███████░░░░░░░  500/1000  loss 2.5000  acc 10.00 %  25,600 words/s"; frames[125] != want {
		t.Errorf("half-way %q\nwant %q", frames[125], want)
	}
	for i, f := range frames[1:] {
		// A frame that leaves part of its predecessor standing, or that wraps
		// at the usual width, garbles the line.
		width := utf8.RuneCountInString(f)
		if width > 80 || i > 0 && width < utf8.RuneCountInString(strings.TrimRight(frames[i], " ")) {
			t.Fatalf("frame %d is %d wide: %q after %q", i, width, f, frames[i])
		}
	}
}

func TestProgressNothingToShow(t *testing.T) {
	p, out, _ := scripted(true, "images", 1, 10)
	p.StartEpoch(1, 0)
	p.Interrupt()
	if out.Len() != 0 {
		t.Errorf("an interrupt before the first step printed %q", out)
	}
	p.Step(1, 0, 1)
	p.Interrupt()
	if got := out.String(); !strings.HasSuffix(got, "\n") || !strings.Contains(got, "1/10") || !strings.Contains(got, " 0 images/s") {
		t.Errorf("an interrupt after a step that took no time printed %q", got)
	}
}

func TestIsTerminalFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if IsTerminal(f) {
		t.Error("a file on disk passes for a terminal")
	}
}
