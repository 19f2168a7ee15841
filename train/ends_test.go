package train_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft/train"
)

// TestCallbacksEnd: a callback that has begun ends once, whatever others do: return errors, or panic. The run's
// folder has no lock afterwards.
func TestCallbacksEnd(t *testing.T) {
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		callback train.Callback
		begun    int
		want     error
	}{
		"no error":        {train.Callback{}, 2, nil},
		"begin":           {train.Callback{Begin: func(*train.Run) error { return mine }}, 1, mine},
		"step":            {train.Callback{Step: func(train.Step) error { return mine }}, 2, mine},
		"epoch":           {train.Callback{Epoch: func(train.Epoch) error { return mine }}, 2, mine},
		"end":             {train.Callback{End: func(error) error { return mine }}, 2, mine},
		"panic":           {train.Callback{Step: func(train.Step) error { panic("mine") }}, 2, nil},
		"panic of a part": {train.Callback{Epoch: func(train.Epoch) error { panic("mine") }}, 2, nil},
	} {
		var told []error
		end := train.Callback{End: func(err error) error { told = append(told, err); return nil }}
		dir := t.TempDir()
		panicked := func() (panicked bool) {
			defer func() { panicked = recover() != nil }()
			if _, err := newJob(train.Opts{Dir: dir, Callbacks: []train.Callback{end, c.callback, end}}).fit(t.Context(), 1); !errors.Is(err, c.want) {
				t.Errorf("%s: error %v, want %v", name, err, c.want)
			}
			return false
		}()
		if panicked != strings.HasPrefix(name, "panic") {
			t.Errorf("%s: a panic: %v", name, panicked)
		}
		if len(told) != c.begun {
			t.Errorf("%s: %d callbacks ended, want %d", name, len(told), c.begun)
		}
		for _, err := range told {
			if (err != nil) != (panicked || c.want != nil && name != "end") {
				t.Errorf("%s: a callback ended with %v", name, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "run.lock")); !os.IsNotExist(err) {
			t.Errorf("%s: the folder is still locked: %v", name, err)
		}
		// The events that were recorded are in the file, so it was closed.
		if n := len(readEvents(t, dir)); name != "begin" && n < 2 {
			t.Errorf("%s: %d events are written", name, n)
		}
	}
}

// TestFolderOfOneTraining refuses a second training in a folder while one runs, which would mix their files.
func TestFolderOfOneTraining(t *testing.T) {
	dir := t.TempDir()
	tries := 0
	second := train.Callback{Epoch: func(train.Epoch) error {
		tries++
		before, err := os.ReadFile(filepath.Join(dir, "log.csv"))
		if err != nil {
			return err
		}
		_, err = newJob(train.Opts{Dir: dir, Resume: true}).fit(t.Context(), 1)
		if err == nil || !strings.Contains(err.Error(), "another training runs in the folder") {
			t.Errorf("error %v of a second training", err)
		}
		if after, err := os.ReadFile(filepath.Join(dir, "log.csv")); err != nil || string(after) != string(before) {
			t.Errorf("the second training changed the table: %v", err)
		}
		return nil
	}}
	if _, err := newJob(train.Opts{Dir: dir, Callbacks: []train.Callback{second}}).fit(t.Context(), 2); err != nil || tries != 2 {
		t.Fatalf("%v after %d tries", err, tries)
	}
	if _, err := newJob(train.Opts{Dir: dir, Resume: true}).fit(t.Context(), 3); err != nil {
		t.Errorf("a training behind the first: %v", err)
	}
}
