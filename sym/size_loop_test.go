package sym_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// TestScanOfVariableSteps: powers of 2 by a loop whose number of steps is an argument, and their
// gradient.
func TestScanOfVariableSteps(t *testing.T) {
	x, n := sym.Scalar("x", weft.Float64), sym.Scalar("n", weft.Int64)
	r := sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: n}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Mul(2)}, Out: []*sym.Var{s.H[0].Mul(x)}}
	})
	cost := r.Last[0].Add(r.Out[0].Sum())
	f := function(t, sym.In(x, n), sym.Out(r.Last[0], r.H[0], r.Out[0], sym.Grad(cost, []*sym.Var{x})[0]))
	for _, n := range []int{0, 1, 2, 5, 2} {
		powers, out, slope := []float64{}, []float64{}, 1.0
		p := 1.0
		for range n {
			out, slope = append(out, p*9), slope+2*3*p
			p *= 2
			powers = append(powers, 3*p)
		}
		slope += p - 1
		want := []*weft.Tensor{weft.ScalarOf(weft.Float64, 3*p), weft.FromSlice(powers), weft.FromSlice(out), weft.ScalarOf(weft.Float64, slope)}
		for i, got := range results(t, f, 3.0, n) {
			same(t, fmt.Sprintf("result %d of %d steps", i, n), got, want[i])
		}
		for i, got := range eagerly(t, f, 3.0, n) {
			same(t, fmt.Sprintf("uncompiled result %d of %d steps", i, n), got, want[i])
		}
	}
	if _, err := f.Call(3.0, -1); err == nil {
		t.Error("-1 steps are no error")
	}
}

// TestScanTrim: a loop with Until keeps the steps that it takes.
func TestScanTrim(t *testing.T) {
	x, limit := sym.Scalar("x", weft.Float64), sym.Scalar("limit", weft.Float64)
	u := sym.NewRandomStreams(7)
	r := sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: 20, Trim: true}, func(s sym.Step) sym.Next {
		h := s.H[0].Mul(2)
		return sym.Next{H: []*sym.Var{h}, Out: []*sym.Var{u.Uniform(weft.Float64, 0, 1).Mul(0).Add(h)}, Until: h.Gt(limit)}
	})
	f := function(t, sym.In(x, limit), sym.Out(r.H[0], r.Out[0], r.Count, r.Last[0], sym.Grad(r.H[0].Sum(), []*sym.Var{x})[0]))
	for _, limit := range []float64{0, 2, 9, 1e9} {
		want, slope := []float64{}, 0.0
		for p := 2.0; ; p *= 2 {
			want, slope = append(want, p), slope+p
			if p > limit || len(want) == 20 {
				break
			}
		}
		for _, out := range [][]*weft.Tensor{results(t, f, 1.0, limit), eagerly(t, f, 1.0, limit)} {
			what := fmt.Sprint("limit ", limit)
			same(t, what, out[0], weft.FromSlice(want))
			same(t, what+" kept", out[1], weft.FromSlice(want))
			same(t, what+" count", out[2], weft.ScalarOf(weft.Int64, len(want)))
			same(t, what+" last", out[3], weft.ScalarOf(weft.Float64, want[len(want)-1]))
			same(t, what+" gradient", out[4], weft.ScalarOf(weft.Float64, slope))
		}
	}
}

// TestScanTrimDraws: a step draws the same where the count is found and where the loop runs.
func TestScanTrimDraws(t *testing.T) {
	u := sym.NewRandomStreams(3)
	r := sym.Scan(sym.ScanOpts{Steps: 50, Trim: true}, func(sym.Step) sym.Next {
		x := u.Uniform(weft.Float64, 0, 1)
		return sym.Next{Out: []*sym.Var{x}, Until: x.Gt(0.8)}
	})
	f := function(t, sym.In(), sym.Out(r.Out[0]))
	lengths := map[int]bool{}
	for range 8 {
		x := weft.Data[float64](results(t, f)[0])
		lengths[len(x)] = true
		for i, v := range x {
			if (v > 0.8) != (i == len(x)-1) && len(x) < 50 {
				t.Errorf("draws %v end at another step than the first above 0.8", x)
			}
		}
	}
	if len(lengths) < 2 {
		t.Error("all calls took the same number of steps")
	}
}

// TestSizesInsideLoops: sizes from outside in the step of a loop, and starts that are its elements.
func TestSizesInsideLoops(t *testing.T) {
	x, b := sym.Vector("x", weft.Float64), sym.Scalar("b", weft.Int64)
	blocks := x.Len(0).FloorDiv(b)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{sym.Arange(blocks)}, Initial: []any{sym.ZerosOf(weft.Float64, b)}}, func(s sym.Step) sym.Next {
		part := x.Narrow(0, s.X[0].Mul(b), b)
		again := x.Slice(sym.Range(s.X[0].Mul(b), s.X[0].Add(1).Mul(b)))
		ones := sym.OnesOf(weft.Float64, s.H[0].Len(0))
		return sym.Next{H: []*sym.Var{s.H[0].Add(part.Mul(ones))}, Out: []*sym.Var{part.Sum(), again.Sum()}}
	})
	f := function(t, sym.In(x, b), sym.Out(r.Last[0], r.Out[0], r.Out[1], sym.Grad(r.Last[0].Square().Sum(), []*sym.Var{x})[0]))
	for _, n := range []int{0, 1, 2, 5, 12} {
		for _, b := range []int{1, 2, 5} {
			k := n / b * b
			x := weft.Arange(n).To(weft.Float64)
			rows := x.Slice(weft.Range(0, k)).Reshape(-1, b)
			if k == 0 {
				rows = weft.ZerosOf(weft.Float64, 0, b)
			}
			slope := weft.Cat([]*weft.Tensor{rows.Sum(0).Mul(2).Tile(n / b), weft.ZerosOf(weft.Float64, n-k)}, 0)
			want := []*weft.Tensor{rows.Sum(0), rows.Sum(1), rows.Sum(1), slope}
			for i, got := range results(t, f, x, b) {
				same(t, fmt.Sprintf("result %d of %d by %d", i, n, b), got, want[i])
			}
			for i, got := range eagerly(t, f, x, b) {
				same(t, fmt.Sprintf("uncompiled result %d of %d by %d", i, n, b), got, want[i])
			}
		}
	}
}

// TestSizeOfStepIsRefused: a size that depends on the step of a loop is an error that says so.
func TestSizeOfStepIsRefused(t *testing.T) {
	x := sym.Vector("x", weft.Float64)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{sym.Arange(x.Len(0))}}, func(s sym.Step) sym.Next {
		return sym.Next{Out: []*sym.Var{sym.Zeros(s.X[0]).Sum()}}
	})
	f := function(t, sym.In(x), sym.Out(r.Out[0]))
	_, err := f.Call(weft.Zeros(3).To(weft.Float64))
	misuse(t, "zeros of a step", err, "zeros", "step of a loop")
	parts := func(end func(i *sym.Var) *sym.Var) error {
		r := sym.Scan(sym.ScanOpts{Sequences: []any{sym.Arange(x.Len(0))}}, func(s sym.Step) sym.Next {
			return sym.Next{Out: []*sym.Var{x.Slice(sym.Range(s.X[0], end(s.X[0]))).Sum()}}
		})
		_, err := function(t, sym.In(x), sym.Out(r.Out[0])).Call(floats(1, 2, 3))
		if err == nil {
			err = tensortest.Wait() // a device that works late tells of places late
		}
		return err
	}
	misuse(t, "a part whose length is a step", parts(func(i *sym.Var) *sym.Var { return i.Mul(2) }), "slice", "step of a loop")
	misuse(t, "a part that is not inside the axis", parts(func(i *sym.Var) *sym.Var { return i.Add(2) }), "index", "size 3")
}

// TestIfElseOfLengths: sides of different lengths, with conditions of inputs and of elements.
func TestIfElseOfLengths(t *testing.T) {
	x, c, n := sym.Vector("x", weft.Float64), sym.Scalar("c", weft.Bool), sym.Scalar("n", weft.Int64)
	double := func() []*sym.Var { return []*sym.Var{sym.Cat([]*sym.Var{x, x}, 0)} }
	some := func() []*sym.Var { return []*sym.Var{x.Mul(3).Narrow(0, 0, n)} }
	y := sym.IfElse(c, double, some)[0]
	z := sym.IfElse(x.Sum().Gt(3), double, some)[0]
	f := function(t, sym.In(x, c, n), sym.Out(y, z, sym.Grad(y.Sum().Add(z.Sum()), []*sym.Var{x})[0]))
	for _, size := range []int{0, 1, 2, 5} {
		for _, n := range []int{0, 1, size} {
			if n > size {
				continue
			}
			for _, c := range []bool{false, true} {
				x := weft.Arange(size).To(weft.Float64)
				side := func(c bool) (*weft.Tensor, *weft.Tensor) {
					if c {
						return weft.Cat([]*weft.Tensor{x, x}, 0), weft.FullOf(weft.Float64, 2, size)
					}
					return x.Mul(3).Slice(weft.Range(0, n)), weft.Cat([]*weft.Tensor{weft.FullOf(weft.Float64, 3, n), weft.ZerosOf(weft.Float64, size-n)}, 0)
				}
				y, dy := side(c)
				z, dz := side(x.Sum().Item() > 3)
				want := []*weft.Tensor{y, z, dy.Add(dz)}
				for i, got := range results(t, f, x, c, n) {
					same(t, fmt.Sprintf("result %d of %v, %v, %d", i, x, c, n), got, want[i])
				}
				for i, got := range eagerly(t, f, x, c, n) {
					same(t, fmt.Sprintf("uncompiled result %d of %v, %v, %d", i, x, c, n), got, want[i])
				}
			}
		}
	}
}

// TestPartsOfSteps: parts whose bounds depend on the step and whose length does not, in forms that must be
// multiplied out to see that.
func TestPartsOfSteps(t *testing.T) {
	x, b := sym.Vector("x", weft.Float64), sym.Scalar("b", weft.Int64)
	for name, c := range map[string]struct {
		lo, hi func(i *sym.Var) *sym.Var
		at     func(i, b int) (lo, hi int)
	}{
		"scaled":   {func(i *sym.Var) *sym.Var { return i.Mul(2).Add(1) }, func(i *sym.Var) *sym.Var { return i.Add(i).Add(4) }, func(i, b int) (int, int) { return 2*i + 1, 2*i + 4 }},
		"by b":     {func(i *sym.Var) *sym.Var { return b.Mul(i) }, func(i *sym.Var) *sym.Var { return i.Mul(b).Add(b.Mul(b)) }, func(i, b int) (int, int) { return i * b, i*b + b*b }},
		"squares":  {func(i *sym.Var) *sym.Var { return i.Add(b).Mul(i.Sub(b)).Add(b.Mul(b)) }, func(i *sym.Var) *sym.Var { return i.Mul(i).RSub(2).Neg().Add(4) }, func(i, b int) (int, int) { return i * i, i*i + 2 }},
		"negative": {func(i *sym.Var) *sym.Var { return i.Neg().Sub(b) }, func(i *sym.Var) *sym.Var { return i.RSub(0) }, func(i, b int) (int, int) { return 40 - i - b, 40 - i }},
		"empty":    {func(i *sym.Var) *sym.Var { return i }, func(i *sym.Var) *sym.Var { return i.Sub(b) }, func(i, b int) (int, int) { return 0, 0 }},
	} {
		r := sym.Scan(sym.ScanOpts{Sequences: []any{sym.Arange(4)}}, func(s sym.Step) sym.Next {
			return sym.Next{Out: []*sym.Var{x.Slice(sym.Range(c.lo(s.X[0]), c.hi(s.X[0]))).Sum()}}
		})
		f := function(t, sym.In(x, b), sym.Out(r.Out[0]), sym.IgnoreUnused)
		for _, b := range []int{1, 2, 3} {
			want := make([]float64, 4)
			for i := range want {
				lo, hi := c.at(i, b)
				for k := lo; k < hi; k++ {
					want[i] += float64(k)
				}
			}
			same(t, fmt.Sprintf("%s by %d", name, b), results(t, f, weft.Arange(40).To(weft.Float64), b)[0], floats(want...))
		}
	}
}
