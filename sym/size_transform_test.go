package sym_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/sym"
)

// TestSizesUnderReplacement: sizes follow what replaces variables that they come from.
func TestSizesUnderReplacement(t *testing.T) {
	x, y := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64)
	n, m := sym.Scalar("n", weft.Int64), sym.Scalar("m", weft.Int64)
	z := sym.Zeros(x.Len(0), n)
	side := func(k *sym.Var) func() []*sym.Var {
		return func() []*sym.Var { return []*sym.Var{x.Slice(sym.Range(0, k.Add(x.Gt(0).Sum())))} }
	}
	part := sym.IfElse(n.Gt(1), side(n), side(n.Mul(0)))[0]
	f := function(t, sym.In(y, m), sym.Out(z, part), sym.Givens{x: sym.Cat([]*sym.Var{y, y}, 0), n: m.Add(1)})
	for _, m := range []int{0, 1, 2} {
		for _, size := range []int{0, 1, 3, 3} {
			y := weft.Arange(size).To(weft.Float64)
			both := weft.Cat([]*weft.Tensor{y, y}, 0)
			k := 2 * max(size-1, 0)
			if m > 0 {
				k += m + 1
			}
			for _, out := range [][]*weft.Tensor{results(t, f, y, m), eagerly(t, f, y, m)} {
				what := fmt.Sprintf("m %d, size %d", m, size)
				same(t, what, out[0], weft.Zeros(2*size, m+1))
				same(t, "part, "+what, out[1], both.Slice(weft.Range(0, k)))
			}
		}
	}
	before := traces(f)
	results(t, f, weft.Arange(3).To(weft.Float64), 1)
	if n := traces(f); n != before {
		t.Errorf("a call of known sizes traced:\n%s", f.Why())
	}
	w := sym.Replace([]*sym.Var{z}, map[*sym.Var]*sym.Var{n: sym.Const(weft.ScalarOf(weft.Int64, 4))})[0]
	same(t, "a constant size", results(t, function(t, sym.In(x), sym.Out(w)), floats(1, 2))[0], weft.Zeros(2, 4))
}

// TestCopyOfOpenShared: a copy has other open variables.
func TestCopyOfOpenShared(t *testing.T) {
	a, b := sym.Shared("a", floats(1), sym.Any), sym.Shared("b", floats(5, 6), sym.Any)
	f := function(t, sym.In(), sym.Out(a.Sum()), sym.Updates{a: sym.Cat([]*sym.Var{a, a}, 0)})
	g, err := f.Copy(sym.CopyOpts{Swap: map[*sym.Var]*sym.Var{a: b}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the sum of b", results(t, g)[0], weft.ScalarOf(weft.Float64, 11.0))
	same(t, "a", a.Tensor(), floats(1))
	same(t, "b", b.Tensor(), floats(5, 6, 5, 6))
}

// TestSizesInFunctions: sizes inside functions of graphs, mapped functions and derivatives.
func TestSizesInFunctions(t *testing.T) {
	x, n := sym.Vector("x", weft.Float64), sym.Scalar("n", weft.Int64)
	square := func(_, _, dy []*sym.Var) []*sym.Var { return []*sym.Var{dy[0].Mul(2)} }
	plain := sym.OpFromGraph([]*sym.Var{x, n}, []*sym.Var{x.Slice(sym.Range(0, n))})
	own := sym.OpFromGraph([]*sym.Var{x}, []*sym.Var{x.Add(sym.OnesOf(weft.Float64, x.Len(0)))}, sym.GraphOpts{Name: "own", Gradient: square})
	y := plain(x.Mul(2), n)[0]
	z := own(x)[0]
	rows := sym.Vmap(func(v ...*sym.Var) *sym.Var {
		return x.Narrow(0, v[0], 2).Add(sym.ZerosOf(weft.Float64, x.Len(0).Sub(2)).Sum())
	})(sym.Arange(x.Len(0).Sub(1)))
	jacobian := sym.Jacobian(x.Square().Slice(sym.Range(1, n)), x)[0]
	f := function(t, sym.In(x, n), sym.Out(y, sym.Grad(z.Sum(), []*sym.Var{x})[0], rows, jacobian))
	for _, n := range []int{1, 2, 3} {
		out := results(t, f, floats(1, 2, 3), n)
		same(t, "a function of a graph", out[0], floats(2, 4, 6).Slice(weft.Range(0, n)))
		same(t, "a gradient of its own", out[1], floats(2, 2, 2))
		same(t, "mapped", out[2], floats(1, 2, 2, 3).Reshape(2, 2))
		same(t, "a Jacobian", out[3], floats(2, 4, 6).Diag(0).Slice(weft.Range(1, n)))
	}
	refused := sym.OpFromGraph([]*sym.Var{x, n}, []*sym.Var{x.Slice(sym.Range(0, n))}, sym.GraphOpts{Name: "refused", Gradient: func(_, _, _ []*sym.Var) []*sym.Var { return []*sym.Var{nil, nil} }})
	misuse(t, "a source inside an operation with a gradient of its own", weft.Try(func() { refused(x, n) }), "gradient of its own")
	err := weft.Try(func() { // when it is made, if there are test values, else when it is called
		perExample := sym.Vmap(func(v ...*sym.Var) *sym.Var { return sym.Zeros(v[0]).Sum() })(sym.Arange(3))
		if _, err := function(t, sym.In(), sym.Out(perExample)).Call(); err != nil {
			panic(err)
		}
	})
	misuse(t, "a size of an example", err, "zeros", "example of a Vmap")
}

// TestSizesUnderGradients compares gradients with differences.
func TestSizesUnderGradients(t *testing.T) {
	w := floats(0.5, -1, 2, 3, 1, 0.25)
	for name, f := range map[string]func(x []*sym.Var) *sym.Var{
		"slice":  func(x []*sym.Var) *sym.Var { return x[0].Slice(sym.Range(x[0].Gt(0).Sum().Sub(2), weft.End, 2)) },
		"narrow": func(x []*sym.Var) *sym.Var { return x[0].Exp().Narrow(0, x[0].ArgMin(), 3) },
		"reshape": func(x []*sym.Var) *sym.Var {
			return x[0].Reshape(2, x[0].Len(0).FloorDiv(2)).MatMul(sym.OnesOf(weft.Float64, x[0].Len(0).FloorDiv(2)))
		},
		"expand": func(x []*sym.Var) *sym.Var { return x[0].Expand(x[0].Gt(0).Sum(), x[0].Len(0)).Square() },
		"tile":   func(x []*sym.Var) *sym.Var { return x[0].Square().Tile(x[0].Gt(0).Sum()) },
		"each":   func(x []*sym.Var) *sym.Var { return x[0].Square().RepeatInterleave(0, x[0].Gt(0).To(weft.Int64)) },
		"mask":   func(x []*sym.Var) *sym.Var { return x[0].Square().MaskSelect(x[0].Gt(0)) },
		"full":   func(x []*sym.Var) *sym.Var { return sym.FullOf(weft.Float64, x[0].Sum().Square(), x[0].Gt(0).Sum()) },
		"scan": func(x []*sym.Var) *sym.Var {
			return sym.Scan(sym.ScanOpts{Initial: []any{x[0]}, Steps: x[0].Gt(0).Sum()}, func(s sym.Step) sym.Next {
				return sym.Next{H: []*sym.Var{s.H[0].Mul(x[0]).Tanh()}}
			}).H[0]
		},
		"trimmed scan": func(x []*sym.Var) *sym.Var {
			return sym.Scan(sym.ScanOpts{Initial: []any{x[0]}, Steps: 9, Trim: true}, func(s sym.Step) sym.Next {
				h := s.H[0].Mul(x[0].Mul(0.5))
				return sym.Next{H: []*sym.Var{h}, Until: h.Square().Sum().Lt(1)}
			}).H[0]
		},
	} {
		if err := sym.VerifyGrad(f, []*weft.Tensor{w}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSizesWithTestValues: what sizes are for test values, and errors where they do not fit.
func TestSizesWithTestValues(t *testing.T) {
	x, n := sym.Vector("x", weft.Float64), sym.Scalar("n", weft.Int64)
	x.SetTestValue(floats(1, 2, 3))
	n.SetTestValue(2)
	same(t, "a slice", x.Slice(sym.Range(0, n)).TestValue(), floats(1, 2))
	same(t, "a size of a size", sym.Zeros(x.Slice(sym.Range(n, weft.End)).Len(0), n).TestValue(), weft.Zeros(1, 2))
	r := sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: n}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Add(sym.OnesOf(weft.Float64, x.Len(0)))}}
	})
	same(t, "a loop", r.Last[0].TestValue(), floats(3, 4, 5))
	longer := func() []*sym.Var { return []*sym.Var{sym.Cat([]*sym.Var{x, x}, 0)} }
	same(t, "a branch", sym.IfElse(n.Gt(1), longer, func() []*sym.Var { return []*sym.Var{x} })[0].TestValue(), floats(1, 2, 3, 1, 2, 3))
	misuse(t, "a part that is not there", weft.Try(func() { x.Narrow(0, n, 2) }), "narrow", "start", "2 elements")
}

// TestSizesWithDebug: a debugged function gives the same, and names lines.
func TestSizesWithDebug(t *testing.T) {
	x, n := sym.Vector("x", weft.Float64), sym.Scalar("n", weft.Int64)
	f := function(t, sym.In(x, n), sym.Out(x.Slice(sym.Range(n, weft.End)).Log(), x.MaskSelect(x.Gt(1))))
	d := f.Debug(weft.DebugOpts{Verify: true, NaN: true})
	for _, n := range []int{0, 1, 2} {
		want := results(t, f, floats(1, 2, 3), n)
		for i, got := range results(t, d, floats(1, 2, 3), n) {
			same(t, fmt.Sprint("result ", i), got, want[i])
		}
	}
	_, err := d.Call(floats(-1, 2), 0)
	misuse(t, "a NaN", err, "log", "size_transform_test.go")
}

// TestSizesInTrace: a function called while another is traced has sizes that follow from shapes, and
// refuses others.
func TestSizesInTrace(t *testing.T) {
	x, n := sym.Vector("x", weft.Float64), sym.Scalar("n", weft.Int64)
	f := function(t, sym.In(x), sym.Out(x.Slice(sym.Range(x.Len(0).FloorDiv(2), weft.End))))
	outer := weft.Compile(func(x *weft.Tensor) (*weft.Tensor, error) {
		out, err := f.Call(x)
		if err != nil {
			return nil, err
		}
		return out[0].Add(1), nil
	})
	out, err := outer.Call(floats(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "a slice", out, floats(3, 4))
	g := function(t, sym.In(x, n), sym.Out(x.Slice(sym.Range(0, n))))
	inner := weft.Compile(func(x *weft.Tensor, n *weft.Tensor) (*weft.Tensor, error) {
		out, err := g.Call(x, n)
		if err != nil {
			return nil, err
		}
		return out[0], nil
	})
	_, err = inner.Call(floats(1, 2), weft.ScalarOf(weft.Int64, 1))
	misuse(t, "a size that is an element", err, "inside a compiled function")
}
