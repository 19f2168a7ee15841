package worker

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// The values are computed by hand from the definition: 104729 mod 2003 = 573 for
// seed 1, and each step adds 7919 mod 2003 = 1910.
func TestPattern(t *testing.T) {
	want := []float64{573. / 2003, (573 + 1910 - 2003.) / 2003, (573 + 2*1910 - 2*2003.) / 2003}
	if got := Pattern[float64](3, 1); !slices.Equal(got, want) {
		t.Errorf("Pattern = %v, want %v", got, want)
	}
	for _, v := range Uniform[float32](5000, 2, -4, 4) {
		if v < -4 || v >= 4 {
			t.Fatalf("Uniform gave %v outside [-4, 4)", v)
		}
	}
}

func TestSummary(t *testing.T) {
	got := Summary([]float32{1, 2, 3, -4})
	want := []float64{0.5, 7.5, 1, 3, -4}
	if !slices.Equal(got, want) {
		t.Errorf("Summary = %v, want %v", got, want)
	}
	if s := Summary([]float64{}); len(s) != 0 {
		t.Errorf("Summary of nothing = %v", s)
	}
}

func TestMeasure(t *testing.T) {
	calls := 0
	m := Measure(func() { calls++ }, 5*time.Millisecond)
	if len(m.Samples) < minSamples || calls != 1+m.Inner*len(m.Samples) {
		t.Errorf("%d samples of %d runs, but %d calls", len(m.Samples), m.Inner, calls)
	}
	slow := Measure(func() { time.Sleep(2 * time.Millisecond) }, 0)
	if slow.Inner != 1 || len(slow.Samples) != minSamples || slow.Median < 2e6 {
		t.Errorf("sleeping 2 ms measured as %+v", slow)
	}
}

// A worker keeps a row's case, closes it for the next row, and outlives a case
// that fails or panics.
func TestWorker(t *testing.T) {
	made, closed, checked := 0, 0, 0
	Cases["test"] = func(p Params) (*Case, error) {
		made++
		return &Case{
			Run:   func() {},
			Check: func() []float64 { checked++; return []float64{float64(p.N)} },
			Close: func() { closed++ },
		}, nil
	}
	Cases["test error"] = func(Params) (*Case, error) { return nil, errors.New("refused") }
	Cases["test panic"] = func(Params) (*Case, error) { panic("broken") }
	defer func() {
		for _, name := range []string{"test", "test error", "test panic"} {
			delete(Cases, name)
		}
	}()
	w := worker{lib: "test"}
	run := func(name string, n int) error {
		_, err := w.guarded(request{Op: "run", Case: name, Form: "test", N: n})
		return err
	}
	for _, n := range []int{7, 7, 8} {
		if err := run("test", n); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w.check, []float64{float64(n)}) {
			t.Errorf("check = %v, want %d", w.check, n)
		}
	}
	for name, want := range map[string]string{
		"test error": "refused", "test panic": "panic: broken", "none": `no case "none"`,
	} {
		if err := run(name, 1); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	if err := run("test", 9); err != nil {
		t.Fatal(err)
	}
	if made != 3 || closed != 2 || checked != 3 {
		t.Errorf("made %d, closed %d, checked %d; want 3, 2, 3", made, closed, checked)
	}
}

// The values come from scrambled(4, 1) in bench/peers/inputs.py.
func TestScrambled(t *testing.T) {
	want := []uint32{3071041, 4562152, 11053172, 1173045}
	if got := Scrambled(4, 1); !slices.Equal(got, want) {
		t.Errorf("Scrambled = %v, want %v", got, want)
	}
}
