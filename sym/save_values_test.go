package sym_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"weft"
	"weft/sym"
)

// TestSavedSizesThatAreValues: a file computes sizes that are elements or counts of them, before the rest.
func TestSavedSizesThatAreValues(t *testing.T) {
	weft.Seed(8)
	x, k, i := sym.Vector("x", weft.Float64), sym.Scalar("k", weft.Int64), sym.Scalar("i", weft.Int64)
	kept := x.MaskSelect(x.Gt(0))
	data := sym.Shared("data", weft.Rand(23, 2).To(weft.Float64))
	w := sym.Shared("w", weft.ZerosOf(weft.Float64, 2))
	batch := data.Slice(sym.Range(i.Mul(5), i.Add(1).Mul(5)))
	cost := batch.Sub(w).Square().Mean()
	n := sym.Shared("n", weft.ScalarOf(weft.Int64, 2))
	steps := sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: k}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Mul(0.5)}}
	})
	for name, c := range map[string]struct {
		in   sym.Inputs
		out  sym.Outputs
		up   sym.Updates
		args [][]*weft.Tensor
	}{
		"a bound":                    {sym.In(x, k), sym.Out(x.Slice(sym.Range(0, k)), x.Slice(sym.Range(k, weft.End)).Sum()), nil, valued(0, 1, 3, 7, 9, 100, -2, -100)},
		"an inner bound":             {sym.In(x, k), sym.Out(x.Slice(sym.Range(1, k)).Mul(2).Mean(), x.Slice(sym.Range(k.Neg(), weft.End, 2))), nil, valued(2, 3, 8, 9, 50)},
		"a minibatch cut at the end": {sym.In(i), sym.Out(cost), sym.Updates{w: w.Sub(sym.Grad(cost, []*sym.Var{w})[0])}, numbered(0, 1, 4, 2, 4)},
		"zeros":                      {sym.In(k), sym.Out(sym.ZerosOf(weft.Float64, k, 3), sym.Arange(2, k.Mul(3), 2)), nil, numbered(2, 0, 1, 5, 30)},
		"a count":                    {sym.In(x), sym.Out(kept.Sum(), kept, x.NonZero().Add(1)), nil, [][]*weft.Tensor{{floats(1, -2, 3, 0, 5)}, {floats(-1, 2)}, {floats(-1)}, {floats(1, 2, 3)}}},
		"ones of a count":            {sym.In(x), sym.Out(kept.Add(sym.OnesOf(weft.Float64, kept.Len(0)))), nil, [][]*weft.Tensor{{floats(1, -2, 3, 0, 5)}, {floats(-1, 2, 3)}}},
		"steps":                      {sym.In(x, k), sym.Out(steps.H[0]), nil, valued(2, 1, 5, 9)},
		"a shared size":              {sym.In(), sym.Out(sym.Arange(n)), sym.Updates{n: n.Add(1)}, [][]*weft.Tensor{{}, {}, {}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := function(t, c.in, c.out, c.up)
			p := reload(t, f)
			for at, args := range c.args {
				if at == 2 {
					path := filepath.Join(t.TempDir(), "again.weft")
					if err := p.Save(path); err != nil {
						t.Fatal(err)
					}
					var err error
					if p, err = weft.LoadProgram(path); err != nil {
						t.Fatal(err)
					}
				}
				if sameCalls(t, f, p, args...); t.Failed() {
					t.Fatalf("arguments %v", args)
				}
			}
		})
	}
}

// valued are vectors of 9 elements with integers.
func valued(ks ...int) (calls [][]*weft.Tensor) {
	for i, k := range ks {
		calls = append(calls, []*weft.Tensor{weft.Rand(9 - i%2).To(weft.Float64), weft.ScalarOf(weft.Int64, k)})
	}
	return calls
}

func numbered(ks ...int) (calls [][]*weft.Tensor) {
	for _, k := range ks {
		calls = append(calls, []*weft.Tensor{weft.ScalarOf(weft.Int64, k)})
	}
	return calls
}

// valueGraph makes random graphs whose sizes follow from an input and from counts too.
type valueGraph struct {
	lengthGraph
	k *sym.Var
}

func (g *valueGraph) grow() {
	x := g.vector()
	var y *sym.Var
	switch g.IntN(7) {
	case 0:
		y = x.Slice(sym.Range(0, g.k))
	case 1:
		y = x.Slice(sym.Range(g.k.Neg(), weft.End))
	case 2:
		y = x.Slice(sym.Range(g.k.FloorDiv(2), g.k.Add(x.Len(0).FloorDiv(2))))
	case 3:
		y = g.vectors[g.IntN(2)] // of a result no file counts
		y = y.MaskSelect(y.Gt(0))
	case 4:
		y = sym.FullOf(weft.Float64, x.Sum(), g.k.Minimum(x.Len(0)))
	case 5:
		y = x.Slice(sym.Range(1, g.k.Mul(2), 3))
	default:
		g.lengthGraph.grow()
		return
	}
	g.vectors = append(g.vectors, y.Clamp(-9, 9))
}

// TestRandomGraphsOfValuesFromFiles compares random graphs whose sizes are values, with gradients: operation
// by operation, compiled, and loaded from a file.
func TestRandomGraphsOfValuesFromFiles(t *testing.T) {
	refused := 0
	const graphs = 12
	for seed := range graphs {
		x, y, k := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64), sym.Scalar("k", weft.Int64)
		g := &valueGraph{lengthGraph{rand.New(rand.NewPCG(uint64(seed), 43)), []*sym.Var{x, y}}, k}
		for range 2 + g.IntN(3) {
			g.grow()
		}
		out := g.vectors[len(g.vectors)-1]
		cost := sym.Cat([]*sym.Var{out, x, y}, 0).Sum()
		f := function(t, sym.In(x, y, k), sym.Out(append(sym.Grad(cost, []*sym.Var{x, y}), out)...), sym.IgnoreUnused)
		path := t.TempDir() + "/f.weft"
		if err := f.Save(path, weft.SaveOpts{Inputs: []string{"x[n]", "y[m]", "k"}}); err != nil {
			t.Logf("graph %d: %v", seed, err)
			refused++
			continue
		}
		p, err := weft.LoadProgram(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range [][3]int{{3, 8, 2}, {8, 3, 5}, {30, 44, 17}, {2, 50, 60}} {
			a, b, k := g.elements(n[0]), g.elements(n[1]), weft.ScalarOf(weft.Int64, n[2])
			loaded, err := p.Call(a, b, k)
			if err != nil {
				t.Fatalf("graph %d of %v: %v\n%s", seed, n, err, sym.DebugPrint(out))
			}
			eager := eagerly(t, f, a, b, k)
			for i, compiled := range results(t, f, a, b, k) {
				what := fmt.Sprintf("graph %d: result %d of %v", seed, i, n)
				same(t, what+" from the file", loaded[i].Add(0), compiled.Add(0))
				same(t, what+" compiled", compiled.Add(0), eager[i].Add(0))
			}
		}
		if t.Failed() {
			t.Fatalf("graph %d:\n%s", seed, sym.DebugPrint(out))
		}
	}
	if refused > graphs/3 {
		t.Errorf("%d of %d graphs were refused", refused, graphs)
	}
}
