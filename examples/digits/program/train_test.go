package program

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/train"
)

// TestResume interrupts a run at some steps: resumed it ends with the same weights and history as an unbroken
// one.
func TestResume(t *testing.T) {
	training, test := Render(1, 640), Render(2, 500)
	const epochs = 2
	whole := newRun(weft.CPU, epochs, batchSize, 7, training, test, train.Opts{})
	if _, err := whole.Fit(t.Context(), epochs, whole.loader, whole.test); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, stop := range []int{1, 10, 13} {
		ctx, cancel := context.WithCancel(t.Context())
		interrupt := train.Callback{Step: func(s train.Step) error {
			if s.Step == stop {
				cancel()
			}
			return nil
		}}
		broken := newRun(weft.CPU, epochs, batchSize, 7, training, test, train.Opts{Dir: dir, Callbacks: []train.Callback{interrupt}})
		var i *train.Interrupted
		if _, err := broken.Fit(ctx, epochs, broken.loader, broken.test); !errors.As(err, &i) || i.Step != stop || i.Path != filepath.Join(dir, "last.ckpt") {
			t.Fatalf("step %d: %v", stop, err)
		}
		resumed := newRun(weft.CPU, epochs, batchSize, 7, training, test, train.Opts{Dir: dir, Resume: true})
		h, err := resumed.Fit(t.Context(), epochs, resumed.loader, resumed.test)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := resumed.digest(), whole.digest(); got != want {
			t.Errorf("stopped after %d steps: digest %s, want %s", stop, got, want)
		}
		if len(h.Epochs) != epochs || !slices.Equal(h.Losses, whole.History().Losses) {
			t.Errorf("stopped after %d steps: %d losses and %d epochs", stop, len(h.Losses), len(h.Epochs))
		}
	}
	other := newRun(weft.CPU, epochs, batchSize, 8, training, test, train.Opts{Dir: dir, Resume: true})
	if _, err := other.Fit(t.Context(), epochs, other.loader, other.test); err == nil || !strings.Contains(err.Error(), "another -seed") {
		t.Errorf("a checkpoint of another seed: error %v", err)
	}
}

// TestStepsAreLimited compares a run that stops after some steps, in an epoch or at its end, with the
// beginning of one that does not.
func TestStepsAreLimited(t *testing.T) {
	training, test := Render(1, 320), Render(2, 100)
	losses := func(limit int) []float64 {
		r := newRun(weft.CPU, 2, batchSize, 7, training, test, train.Opts{Callbacks: []train.Callback{stopAfter(limit)}})
		h, err := r.Fit(t.Context(), 2, r.loader, r.test)
		if err != nil {
			t.Fatal(err)
		}
		return h.Losses
	}
	whole := losses(0)
	for _, limit := range []int{1, 5, 7, 10, 11} {
		if got, want := losses(limit), whole[:min(limit, 10)]; !slices.Equal(got, want) {
			t.Errorf("losses of %d steps: %v, want %v", limit, got, want)
		}
	}
}
