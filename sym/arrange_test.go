package sym_test

import (
	"fmt"
	"strings"
	"testing"

	"weft"
	"weft/sym"
)

// ExampleVar_TopK has a number of results that is a variable, and parts that a variable bounds written.
func ExampleVar_TopK() {
	x, k := sym.Vector("x", weft.Float32), sym.Scalar("k", weft.Int64)
	best, _ := x.TopK(k, 0)
	f, err := sym.Function(sym.In(x, k), sym.Out(best, x.IndexPut(0, sym.Range(k, weft.End)), x.Roll(0, k)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := 1; n < 3; n++ {
		out, err := f.Call(weft.FromSlice([]float32{3, 9, 4, 7}), n)
		fmt.Println(out, err)
	}
	// Output:
	// [[9.] [3. 0. 0. 0.] [7. 3. 9. 4.]] <nil>
	// [[9. 7.] [3. 9. 0. 0.] [4. 7. 3. 9.]] <nil>
}

// Operations with numbers that are variables give what tensors give for the same numbers, and gradients too.
func TestNumbersThatAreVariables(t *testing.T) {
	type vars = []*sym.Var
	type tensors = []*weft.Tensor
	const end = weft.End
	r := weft.Range
	for _, c := range []struct {
		name string
		sym  func(x, n *sym.Var) vars
		want func(x *weft.Tensor, n int) tensors
	}{
		{"topk", func(x, n *sym.Var) vars { a, b := x.TopK(n, -1); return vars{a, b} },
			func(x *weft.Tensor, n int) tensors { a, b := x.TopK(n, -1); return tensors{a, b} }},
		{"topk of the least", func(x, n *sym.Var) vars {
			a, b := x.TopK(n.Add(1), 0, weft.TopKOpts{Smallest: true})
			return vars{a, b}
		},
			func(x *weft.Tensor, n int) tensors {
				a, b := x.TopK(n+1, 0, weft.TopKOpts{Smallest: true})
				return tensors{a, b}
			}},
		{"pad", func(x, n *sym.Var) vars { return vars{x.Pad(7, n, 1, []int{0, 2}), x.Pad(1, 0, n, n, n.Mul(2))} },
			func(x *weft.Tensor, n int) tensors { return tensors{x.Pad(7, n, 1, 0, 2), x.Pad(1, 0, n, n, 2*n)} }},
		{"roll", func(x, n *sym.Var) vars { return vars{x.Roll(0, n), x.Roll(1, n.Neg()), x.Roll(1, n.Mul(1000))} },
			func(x *weft.Tensor, n int) tensors { return tensors{x.Roll(0, n), x.Roll(1, -n), x.Roll(1, 1000*n)} }},
		{"roll by a value", func(x, n *sym.Var) vars { return vars{x.Roll(0, x.Gt(1.5).Sum().Add(n))} },
			func(x *weft.Tensor, n int) tensors { return tensors{x.Roll(0, int(x.Gt(1.5).Sum().ItemInt())+n)} }},
		{"split", func(x, n *sym.Var) vars { return x.Split(1, n, n.Neg().Add(4)) },
			func(x *weft.Tensor, n int) tensors { return x.Split(1, n, 4-n) }},
		{"repeat", func(x, n *sym.Var) vars { return vars{x.Repeat(n, 1), x.Tile(2, n)} },
			func(x *weft.Tensor, n int) tensors { return tensors{x.Repeat(n, 1), x.Tile(2, n)} }},
		{"put rows", func(x, n *sym.Var) vars {
			return vars{x.IndexPut(5, sym.Range(n, n.Add(1))), x.IndexPutAdd(2, sym.Range(weft.Begin, n)), x.IndexPut(x.Slice(sym.Range(0, n)).Mul(2), sym.Range(0, n))}
		}, func(x *weft.Tensor, n int) tensors {
			return tensors{x.IndexPut(5, r(n, n+1)), x.IndexPutAdd(2, r(weft.Begin, n)), x.IndexPut(x.Slice(r(0, n)).Mul(2), r(0, n))}
		}},
		{"put windows", func(x, n *sym.Var) vars {
			return vars{x.IndexPut(5, weft.Ellipsis, sym.Range(n.Neg(), end)), x.IndexPutAdd(1, sym.Range(n, end), sym.Range(0, n, 2)),
				x.IndexPut(8, -1, sym.Range(n, end)), x.IndexPut(x.Slice(r(0, 1), r(0, 1)), sym.Range(0, n), weft.NewAxis, r(end, weft.Begin, -2)), x.IndexPut(3, weft.All, sym.Range(n, weft.Begin, -1))}
		}, func(x *weft.Tensor, n int) tensors {
			return tensors{x.IndexPut(5, weft.Ellipsis, r(-n, end)), x.IndexPutAdd(1, r(n, end), r(0, n, 2)),
				x.IndexPut(8, -1, r(n, end)), x.IndexPut(x.Slice(r(0, 1), r(0, 1)), r(0, n), weft.NewAxis, r(end, weft.Begin, -2)), x.IndexPut(3, weft.All, r(n, weft.Begin, -1))}
		}},
		{"histogram", func(x, n *sym.Var) vars {
			a, b := x.Mul(n).Histogram(weft.HistogramOpts{Bins: new(4), Min: new(0.0), Max: new(9.0)})
			return vars{a, b}
		}, func(x *weft.Tensor, n int) tensors {
			a, b := x.Mul(n).Histogram(weft.HistogramOpts{Bins: new(4), Min: new(0.0), Max: new(9.0)})
			return tensors{a, b}
		}},
		{"bincount", func(x, n *sym.Var) vars {
			i := x.Mul(n).To(weft.Int32)
			return vars{i.BinCount(nil, 3), i.BinCount(x, n), i.Slice(r(0, 0)).BinCount(nil, 2)}
		}, func(x *weft.Tensor, n int) tensors {
			i := x.Mul(n).To(weft.Int32)
			return tensors{i.BinCount(nil, 3), i.BinCount(x, n), i.Slice(r(0, 0)).BinCount(nil, 2)}
		}},
		{"unique", func(x, n *sym.Var) vars {
			a, b, c := x.FloorDiv(n).Unique()
			d, e, f := x.Slice(r(0, 0)).Unique()
			return vars{a, b, c, d, e, f}
		}, func(x *weft.Tensor, n int) tensors {
			a, b, c := x.FloorDiv(n).Unique()
			d, e, f := x.Slice(r(0, 0)).Unique()
			return tensors{a, b, c, d, e, f}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, n := sym.Matrix("x", weft.Float32), sym.Scalar("n", weft.Int64)
			outs := c.sym(x, n)
			slope := sym.ZerosLike(x)
			for _, v := range outs {
				if v.DType() == weft.Float32 {
					slope = slope.Add(sym.Grad(v.Square().Sum(), []*sym.Var{x}, sym.GradOpts{Disconnected: true})[0])
				}
			}
			f, err := sym.Function(sym.In(x, n), sym.Out(append(outs, slope)...))
			if err != nil {
				t.Fatal(err)
			}
			for k := 1; k < 3; k++ {
				at := weft.FromSlice([]float32{3, 1, 2, 0.5, 1, 1, 4, 0, 2, 3, 0, 1}, 3, 4).RequireGrad()
				got, err := f.Call(at.Detach(), k)
				if err != nil {
					t.Fatal(err)
				}
				sum := weft.Scalar(0.0)
				for i, w := range c.want(at, k) {
					if weft.Digest(got[i]) != weft.Digest(w.Detach()) {
						t.Errorf("n is %d: result %d is\n%v, want\n%v", k, i, got[i], w)
					}
					if w.DType() == weft.Float32 && w.RequiresGrad() {
						sum = sum.Add(w.Square().Sum())
					}
				}
				want := weft.ZerosLike(at.Detach())
				if sum.RequiresGrad() {
					sum.Backward()
					want = at.Grad()
				}
				if g := got[len(got)-1]; !g.AllClose(want) {
					t.Errorf("n is %d: the gradient is\n%v, want\n%v", k, g, want)
				}
			}
		})
	}
}

// Bounds of what is written may depend on the step of a loop.
func TestPutInSteps(t *testing.T) {
	x, n := sym.Vector("x", weft.Float32), sym.Scalar("n", weft.Int64)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{sym.Arange(n)}, Initial: []any{x}}, func(s sym.Step) sym.Next {
		i := s.X[0].Mul(2)
		return sym.Next{H: []*sym.Var{s.H[0].IndexPut(s.H[0].Slice(sym.Range(i, i.Add(2))).Mul(i), sym.Range(i, i.Add(2))).Roll(0, s.X[0])}}
	})
	f, err := sym.Function(sym.In(x, n), sym.Out(r.Last[0]))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Call(weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}), 3)
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(got[0]); s != "[32. 20.  6.  0.  0.  6.]" {
		t.Error(s)
	}
}

// What cannot be is refused, when it is written or when it is called.
func TestMistakesWithNumbersThatAreVariables(t *testing.T) {
	x, n, y := sym.Matrix("x", weft.Float32), sym.Scalar("n", weft.Int64), sym.Scalar("y", weft.Float32)
	called := func(v *sym.Var, k int) func() {
		return func() {
			f, err := sym.Function(sym.In(x, n), sym.Out(v))
			if err == nil {
				_, err = f.Call(weft.Zeros(2, 3), k)
			}
			if err != nil {
				panic(err)
			}
		}
	}
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { x.TopK(y, 0) }, "topk: k: is"},
		{func() { x.TopK("k", 0) }, "topk: k: is string"},
		{func() { sym.Arange([]int{1, 2}, 3) }, "arange: takes 1 to 3 numbers, got lists of 4"},
		{func() { sym.Arange([]int{}) }, "arange: takes 1 to 3 numbers, got lists of 2"},
		{func() { sym.Const(weft.Zeros(2, 3)).RepeatInterleave(0, weft.From([]int{1, 2, 3})) }, "repeatinterleave: counts: has 3 numbers, axis 0 has 2"},
		{func() { x.Pad(0, n, n) }, "pad: pads: are 2, want two for each of 2 dimensions"},
		{func() { x.Roll(0, y) }, "roll: shift: is"},
		{func() { x.Roll(0, 1.5) }, "roll: shift: is float64"},
		{func() { x.Split(0, n) }, "split: sizes: is one variable"},
		{func() { x.IndexPut(0, sym.Range(0, n), []int{1}) }, "indexput: index: argument 1 is []int"},
		{func() { x.IndexPut(0, sym.Range(0, n), 1, 1) }, "indexput: index: is for 3 axes"},
		{func() { x.BinCount(nil, 0) }, "bincount: takes integers"},
		{func() { x.Histogram(weft.HistogramOpts{}) }, "histogram: opts: has no Min or Max"},
		{func() { x.Histogram(weft.HistogramOpts{Min: new(0.0), Max: new(1.0), Weights: weft.Zeros(2)}) }, "use SearchSorted and BinCount"},
		{called(func() *sym.Var { v, _ := x.TopK(n, 0); return v }(), 3), "topk"},
		{called(x.Pad(0, n, 0, 0, 0), -1), "pad"},
		{called(x.Split(0, n, 1)[0], 2), "split: sizes"},
		{called(n.BinCount(nil, 0).Add(x.Sum()), -1), "bincount: takes integers that are not negative"},
		{called(n.BinCount(x.Sum(), 0), -1), "bincount: takes integers that are not negative"},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
