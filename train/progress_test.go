package train

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// scripted returns a display whose clock stands still until the test moves it.
func scripted(terminal bool, unit string) (p *Progress, out *strings.Builder, sleep func(time.Duration)) {
	out = new(strings.Builder)
	p = NewProgress(out, ProgressOpts{Unit: unit})
	p.terminal = terminal
	clock := time.Unix(0, 0)
	p.now = func() time.Time { return clock }
	return p, out, func(d time.Duration) { clock = clock.Add(d) }
}

func TestProgressPlain(t *testing.T) {
	p, out, sleep := scripted(false, "images")
	p.StartEpoch(1, 2, 0, 100)
	for range 100 {
		sleep(time.Second / 10)
		p.Step(64, func() Values { return Values{{"loss", 0.5}, {"accuracy", 0.75}} })
	}
	sleep(time.Minute) // an evaluation, which the rate must not count
	p.EndEpoch(Values{{"loss", 0.5}, {"val_accuracy", 0.91754}})
	p.StartEpoch(2, 2, 90, 100) // as after a resume
	sleep(10 * time.Second)
	p.Step(64, nil)
	p.Interrupt()
	p.StartEpoch(3, 3, 0, -1) // of a stream
	sleep(10 * time.Second)
	p.Step(64, nil)
	want := `epoch 1/2   50/100  loss 0.5  accuracy 0.75  640 images/s  eta 0:05
epoch 1/2  100/100  loss 0.5  accuracy 0.75  640 images/s  eta 0:00
epoch 1/2  loss 0.5  val_accuracy 0.9175  640 images/s
epoch 2/2   91/100  6 images/s  eta 1:30
epoch 3/3  batch 1  6 images/s
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if count, d := p.Total(); count != 6528 || d != 30*time.Second {
		t.Errorf("%d images in %v in all, want 6528 in 30 s", count, d)
	}
}

func TestProgressTerminal(t *testing.T) {
	p, out, sleep := scripted(true, "")
	p.StartEpoch(10, 10, 0, 1000)
	for range 1000 {
		sleep(25 * time.Millisecond)
		p.Step(640, func() Values { return Values{{"loss", 2.5}} })
	}
	p.EndEpoch(nil)
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 2 || lines[1] != "" {
		t.Fatalf("an epoch takes %d lines, not one", len(lines)-1)
	}
	frames := strings.Split(lines[0], "\r")
	if frames[0] != "" || len(frames) != 1+250+1 {
		t.Errorf("%d frames, want one each 100 ms and the last", len(frames)-1)
	}
	if want := "epoch 10/10  ███████░░░░░░░  500/1000  loss 2.5  25,600 examples/s  eta 0:13"; strings.TrimRight(frames[125], " ") != want && frames[125] != want {
		t.Errorf("half-way %q\nwant %q", frames[125], want)
	}
	for i, f := range frames[1:] {
		// A frame that leaves part of its predecessor standing garbles the line.
		if i > 0 && utf8.RuneCountInString(f) < utf8.RuneCountInString(strings.TrimRight(frames[i], " ")) {
			t.Fatalf("frame %d is %q after %q", i, f, frames[i])
		}
	}
}

func TestProgressNothingToShow(t *testing.T) {
	p, out, _ := scripted(true, "images")
	p.Interrupt()
	p.StartEpoch(1, 1, 0, 10)
	p.Interrupt()
	if out.Len() != 0 {
		t.Errorf("an interrupt before the first step printed %q", out)
	}
	p.Step(1, nil)
	p.Interrupt()
	if got := out.String(); !strings.HasSuffix(got, "\n") || !strings.Contains(got, "1/10") || !strings.Contains(got, " 0 images/s") {
		t.Errorf("an interrupt after a step that took no time printed %q", got)
	}
}

func TestProgressOnAFileIsPlain(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if NewProgress(f).terminal {
		t.Error("a file on disk passes for a terminal")
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 20000: "20,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
