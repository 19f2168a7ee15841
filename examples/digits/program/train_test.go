package program

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"weft"
	"weft/examples/internal/show"
)

// A run that was interrupted, at any of these steps, and resumed ends with the
// same weights as an unbroken one.
func TestResume(t *testing.T) {
	train, test := Render(1, 640), Render(2, 500)
	const epochs = 2
	whole := newTrainer(weft.CPU, epochs, 7, train, test)
	if err := whole.train(context.Background(), show.NewProgress(io.Discard, false, "images", epochs, whole.steps())); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.ckpt")
	for _, stop := range []int{1, 7, 10, 13, 19} {
		ctx, cancel := context.WithCancel(context.Background())
		broken := newTrainer(weft.CPU, epochs, 7, train, test)
		p := show.NewProgress(io.Discard, false, "images", epochs, broken.steps())
		// The display's clock is asked at every step: it stops the run.
		asked := p.Now
		p.Now = func() time.Time {
			if len(broken.curve.losses) >= stop {
				cancel()
			}
			return asked()
		}
		if err := broken.train(ctx, p); !errors.Is(err, context.Canceled) {
			t.Fatalf("step %d: %v", stop, err)
		}
		if n := len(broken.curve.losses); n < stop || n == epochs*broken.steps() {
			t.Fatalf("stopped after %d steps, want %d", n, stop)
		}
		if err := broken.save(path); err != nil {
			t.Fatal(err)
		}
		resumed := newTrainer(weft.CPU, epochs, 7, train, test)
		if err := resumed.load(path); err != nil {
			t.Fatal(err)
		}
		if err := resumed.train(context.Background(), show.NewProgress(io.Discard, false, "images", epochs, resumed.steps())); err != nil {
			t.Fatal(err)
		}
		if got, want := resumed.digest(), whole.digest(); got != want {
			t.Errorf("stopped after %d steps: digest %s, want %s", stop, got, want)
		}
		if len(resumed.curve.losses) != len(whole.curve.losses) || len(resumed.curve.epochs) != epochs {
			t.Errorf("stopped after %d steps: the curve has %d losses and %d epochs", stop, len(resumed.curve.losses), len(resumed.curve.epochs))
		}
	}
	other := newTrainer(weft.CPU, epochs, 8, train, test)
	if err := other.load(path); err == nil {
		t.Error("a checkpoint of another seed was loaded")
	}
}

// TestStepsAreLimited compares a run that stops after some steps, in an epoch or at its end, with
// the beginning of one that does not.
func TestStepsAreLimited(t *testing.T) {
	train, test := Render(1, 320), Render(2, 100)
	losses := func(limit int) []float64 {
		r := newTrainer(weft.CPU, 2, 7, train, test)
		r.limit = limit
		if err := r.train(context.Background(), show.NewProgress(io.Discard, false, "images", 2, r.steps())); err != nil {
			t.Fatal(err)
		}
		return r.curve.losses
	}
	whole := losses(0)
	for _, limit := range []int{1, 5, 7, 10, 11} {
		if got, want := losses(limit), whole[:min(limit, 10)]; !slices.Equal(got, want) {
			t.Errorf("losses of %d steps: %v, want %v", limit, got, want)
		}
	}
}
