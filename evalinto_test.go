package weft

import (
	"errors"
	"math"
	"slices"
	"testing"

	"weft/internal/jit"
)

// Results written into memory that exists: into new memory, over an argument, and where the
// two overlap in other ways. What is expected is computed in Go from copies.
func TestEvalInto(t *testing.T) {
	onBackends(t, func(t *testing.T) {
		const n = 5000
		line := func() *Tensor { return Arange(n).To(Float32).Mul(0.001).Sub(2) }
		formulas := map[string]func(a, b float32) float32{
			"a":          func(a, b float32) float32 { return a },
			"2*a-b":      func(a, b float32) float32 { return float32(2*a) - b },
			"abs(b)+0*a": func(a, b float32) float32 { return float32(math.Abs(float64(b))) },
			"a*b + 1":    func(a, b float32) float32 { return float32(a*b) + 1 },
		}
		m := n / 2
		for text, want := range formulas {
			f, err := ParseExpr(text)
			if err != nil {
				t.Fatal(err)
			}
			places := map[string]func(x *Tensor) (dst, a, b *Tensor){
				"new memory": func(x *Tensor) (*Tensor, *Tensor, *Tensor) {
					return Zeros(m), x.Slice(Range(0, m)), x.Slice(Range(m, 2*m))
				},
				"its argument": func(x *Tensor) (*Tensor, *Tensor, *Tensor) {
					a := x.Slice(Range(0, m))
					return a, a, x.Slice(Range(m, 2*m))
				},
				"shifted up": func(x *Tensor) (*Tensor, *Tensor, *Tensor) {
					return x.Slice(Range(1, m+1)), x.Slice(Range(0, m)), x.Slice(Range(0, m))
				},
				"shifted down": func(x *Tensor) (*Tensor, *Tensor, *Tensor) {
					return x.Slice(Range(0, m)), x.Slice(Range(1, m+1)), x.Slice(Range(7, m+7))
				},
				"backwards": func(x *Tensor) (*Tensor, *Tensor, *Tensor) {
					a := x.Slice(Range(0, m))
					return a, a.Slice(Range(End, Begin, -1)), a
				},
				"strided": func(x *Tensor) (*Tensor, *Tensor, *Tensor) {
					return x.Slice(Range(0, 2*m, 2)), x.Slice(Range(0, m)), x.Slice(Range(1, 2*m, 2))
				},
				"one for all": func(x *Tensor) (*Tensor, *Tensor, *Tensor) {
					a := x.Slice(Range(0, m))
					return a, a, x.Slice(Range(3, 4))
				},
			}
			for name, place := range places {
				x := line()
				dst, a, b := place(x)
				as, bs := Data[float32](a.Expand(m)), Data[float32](b.Expand(m))
				args := Vars{"a": a, "b": b}
				if err := f.EvalInto(dst, args); err != nil {
					t.Errorf("%s into %s: %v", text, name, err)
					continue
				}
				got := Data[float32](dst)
				for i := range got {
					if w := want(as[i], bs[i]); got[i] != w {
						t.Errorf("%s into %s: element %d is %v, want %v", text, name, i, got[i], w)
						break
					}
				}
			}
		}
		// Rows that are read again after they were written, were there no copy.
		x := line().Slice(Range(0, 4096)).Reshape(64, 64)
		want := Data[float32](x.Clone().Sub(x.Max(1).Reshape(64, 1)))
		f, err := ParseExpr("x-max_keep(x,1)")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.EvalInto(x, x); err != nil || !slices.Equal(Data[float32](x), want) {
			t.Errorf("rows minus their greatest, in place: %v", err)
		}
	})
}

func TestEvalIntoRefused(t *testing.T) {
	f, _ := ParseExpr("2*x")
	x := Arange(6).To(Float32)
	w := Ones(6).RequireGrad()
	gone := Ones(6)
	gone.Release()
	for name, err := range map[string]error{
		"nil":                 f.EvalInto(nil, x),
		"zero":                f.EvalInto(&Tensor{}, x),
		"released":            f.EvalInto(gone, x),
		"released argument":   f.EvalInto(Zeros(6), gone),
		"shape":               f.EvalInto(Zeros(5), x),
		"no broadcasting":     f.EvalInto(Zeros(2, 6), x),
		"type":                f.EvalInto(ZerosOf(Float64, 6), x),
		"expanded":            f.EvalInto(Zeros(1).Expand(6), x),
		"leaf":                f.EvalInto(w, x),
		"on the tape":         f.EvalInto(w.Mul(2), x),
		"argument with grad":  f.EvalInto(Zeros(6), w),
		"argument of a graph": f.EvalInto(Zeros(6), w.Mul(3)),
		"no argument":         f.EvalInto(Zeros(6)),
	} {
		if e := (*Error)(nil); !errors.As(err, &e) {
			t.Errorf("%s: error %v, want an *Error", name, err)
		}
	}
	if err := f.EvalInto(w.Detach(), w.Detach()); err != nil || !slices.Equal(Data[float32](w.Detach()), []float32{2, 2, 2, 2, 2, 2}) {
		t.Errorf("without gradients: %v", err)
	}
	// What the tape saved is noticed.
	y := w.Mul(w).Sum()
	if err := f.EvalInto(w.Detach(), w.Detach()); err != nil {
		t.Fatal(err)
	}
	if Try(func() { y.Backward() }) == nil {
		t.Error("a gradient of what was written over")
	}
}

func TestEvalIntoMarks(t *testing.T) {
	f, _ := ParseExpr("x+1")
	x := Zeros(1000)
	d := Track(x)
	defer d.Stop()
	if _, err := d.Flush(discardAt{}); err != nil {
		t.Fatal(err)
	}
	part := x.Slice(Range(100, 200))
	if err := f.EvalInto(part, part); err != nil {
		t.Fatal(err)
	}
	if got := d.Pending(); len(got) != 1 || got[0] != (ByteRange{400, 800}) {
		t.Errorf("pending %v, want bytes 400 to 800", got)
	}
}

type discardAt struct{}

func (discardAt) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

// What waits and reads the memory is computed before.
func TestEvalIntoLazy(t *testing.T) {
	f, _ := ParseExpr("0*x+7")
	x := Ones(4096)
	later := x.Lazy().Add(1).Mul(3)
	if err := f.EvalInto(x, x); err != nil {
		t.Fatal(err)
	}
	if got := later.Sum().Item(); got != 6*4096 {
		t.Errorf("the sum of what waited is %v, want %v", got, 6*4096)
	}
}

// Into memory that is there nothing is allocated.
func TestEvalIntoAllocates(t *testing.T) {
	if jit.Chosen().ISA == jit.Portable {
		t.Skip("SKIPPED: the interpreter allocates in each run")
	}
	f, _ := ParseExpr("2*a+exp(b)")
	s, _ := ParseExpr("sum(a,1)")
	a, b := Rand(40, 50), Rand(40, 50)
	dst, sums := Zeros(40, 50), Zeros(40)
	for name, call := range map[string]func() error{
		"elementwise":  func() error { return f.EvalInto(dst, a, b) },
		"in place":     func() error { return f.EvalInto(a, a, b) },
		"sums of rows": func() error { return s.EvalInto(sums, b) },
	} {
		if err := call(); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { call() }); n > 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}
