package main

import (
	"errors"
	"math"
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
	m := measure(func() { calls++ }, 5*time.Millisecond)
	if len(m.Samples) < minSamples || calls != 1+m.Inner*len(m.Samples) {
		t.Errorf("%d samples of %d runs, but %d calls", len(m.Samples), m.Inner, calls)
	}
	slow := measure(func() { time.Sleep(2 * time.Millisecond) }, 0)
	if slow.Inner != 1 || len(slow.Samples) != minSamples || slow.Median < 2e6 {
		t.Errorf("sleeping 2 ms measured as %+v", slow)
	}
}

// A worker keeps a row's case, closes it for the next row, and outlives a case
// that fails or panics.
func TestWorker(t *testing.T) {
	made, closed, checked := 0, 0, 0
	cases["test"] = func(p Params) (*Case, error) {
		made++
		return &Case{
			Run:   func() {},
			Check: func() []float64 { checked++; return []float64{float64(p.N)} },
			Close: func() { closed++ },
		}, nil
	}
	cases["test error"] = func(Params) (*Case, error) { return nil, errors.New("refused") }
	cases["test panic"] = func(Params) (*Case, error) { panic("broken") }
	defer func() {
		for _, name := range []string{"test", "test error", "test panic"} {
			delete(cases, name)
		}
	}()
	var w worker
	run := func(name string, n int) error {
		_, err := w.guarded(request{Op: "run", Case: name, Form: formRun, N: n})
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

func TestCopy(t *testing.T) {
	c, err := cases["copy"](Params{N: 100, DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Check(), Summary(Uniform[float64](100, 1, -1, 1)); !slices.Equal(got, want) {
		t.Errorf("check of the copy %v, of its source %v", got, want)
	}
	if b := copyBandwidth(1<<13, 1); !(b > 0) || math.IsInf(b, 0) {
		t.Errorf("bandwidth %v", b)
	}
}

// The values are those of scrambled(4, 1) in bench/peers/inputs.py.
func TestScrambled(t *testing.T) {
	want := []uint32{3071041, 4562152, 11053172, 1173045}
	if got := Scrambled(4, 1); !slices.Equal(got, want) {
		t.Errorf("Scrambled = %v, want %v", got, want)
	}
}

// Each case runs, in all its formulations, and its check says something. Cases
// whose size is not free are too large for a test.
func TestCases(t *testing.T) {
	for name, n := range map[string]int{
		"gelu(x)": 100, "softmax 4096x1000": 2, "layer norm 4096x1024": 2, "sum axis 0": 8, "argmax axis 1": 8,
		"transpose copy": 8, "broadcast add": 8, "gather rows of 128": 8, "scatter-add rows of 128": 8, "mask select": 99,
		"where": 99, "max pool 64x112^2 3x3 by 2": 1, "matmul": 8, "matmul 60x500x10": 60, "conv 6x14^2 to 16 5x5": 1,
		"conv 6x14^2 to 16 5x5 and back": 1, "scalar chain": 10, "mlp step": 2, "logistic step": 4, "lenet step": 2,
	} {
		c, err := cases[name](Params{N: n, DType: "float32", Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		c.Run()
		for _, form := range also[name] {
			c.Also[form]()
		}
		if s := c.Check(); len(s) == 0 || slices.ContainsFunc(s, math.IsNaN) {
			t.Errorf("%s: check %v", name, s)
		}
	}
}
