package sym_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weft"
	"weft/sym"
)

// TestSavedSizesOfLengths: a file computes sizes that follow from lengths as its function does, for short,
// long and equal lengths.
func TestSavedSizesOfLengths(t *testing.T) {
	ones := func(n ...any) *sym.Var { return sym.OnesOf(weft.Float64, n...) }
	for name, f := range map[string]func(x, y *sym.Var) *sym.Var{
		"a range by 3": func(x, y *sym.Var) *sym.Var { return sym.Arange(1, x.Len(0).Mul(2), 3) },
		"a sum":        func(x, y *sym.Var) *sym.Var { return ones(x.Len(0).Mul(2).Add(y.Len(0).Mul(3)).Add(1)) },
		"a product": func(x, y *sym.Var) *sym.Var {
			return x.Unsqueeze(1).Mul(y).Reshape(x.Len(0).Mul(y.Len(0)))
		},
		"at most 4":   func(x, y *sym.Var) *sym.Var { return ones(x.Len(0).Minimum(4)) },
		"at least 12": func(x, y *sym.Var) *sym.Var { return ones(x.Len(0).Maximum(12)) },
		"the lesser":  func(x, y *sym.Var) *sym.Var { return ones(x.Len(0).Minimum(y.Len(0))) },
		"half":        func(x, y *sym.Var) *sym.Var { return x.Slice(sym.Range(x.Len(0).FloorDiv(2), weft.End)) },
		"an element":  func(x, y *sym.Var) *sym.Var { return x.Mul(y.Len(0).Mod(5)) },
		"tiles":       func(x, y *sym.Var) *sym.Var { return x.Tile(y.Len(0)) },
	} {
		x, y := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64)
		fn := function(t, sym.In(x, y), sym.Out(f(x, y)), sym.IgnoreUnused)
		p := reload(t, fn, weft.SaveOpts{Inputs: []string{"x[n]", "y[m]"}})
		for _, n := range []int{0, 1, 2, 3, 5, 14} {
			for _, m := range []int{0, 1, 3, 4, 15} {
				if sameCalls(t, fn, p, weft.Arange(n).To(weft.Float64), weft.Arange(m).To(weft.Float64)); t.Failed() {
					t.Fatalf("%s of lengths %d and %d", name, n, m)
				}
			}
		}
	}
}

// TestSaveRefusesSizes: what no expression was found for is refused, and is no number of the example.
func TestSaveRefusesSizes(t *testing.T) {
	x, y := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64)
	for _, n := range []*sym.Var{x.Len(0).Square().Mod(7), x.Len(0).Sub(y.Len(0)).Abs()} {
		f := function(t, sym.In(x, y), sym.Out(sym.Zeros(n)), sym.IgnoreUnused)
		misuse(t, "a size", f.Save(t.TempDir()+"/f.weft", weft.SaveOpts{Inputs: []string{"x[n]", "y[m]"}}), "depends on free lengths in no way")
	}
	z := x.MaskSelect(x.Gt(0))
	f := function(t, sym.In(x), sym.Out(z.MaskSelect(z.Gt(1))))
	misuse(t, "a count of what is counted", f.Save(t.TempDir()+"/f.weft"), "elements", "save_sizes_test.go:")
	k := sym.Scalar("k", weft.Int64)
	f = function(t, sym.In(x, k), sym.Out(sym.IfElse(k.Gt(0), func() []*sym.Var { return []*sym.Var{x} }, func() []*sym.Var { return []*sym.Var{x.Slice(sym.Range(0, k))} })[0]))
	misuse(t, "a condition that decides a shape", f.Save(t.TempDir()+"/f.weft"), "ifelse", "save_sizes_test.go:")
	f = function(t, sym.In(x, k), sym.Out(x.Slice(sym.Range(k, 0, -1))))
	misuse(t, "a slice backwards", f.Save(t.TempDir()+"/f.weft"), "no file holds")
}

// A lengthGraph makes random graphs whose sizes follow from lengths of arguments.
type lengthGraph struct {
	*rand.Rand
	vectors []*sym.Var // int64 elements as float64
}

func (g *lengthGraph) vector() *sym.Var { return g.vectors[g.IntN(len(g.vectors))] }

// number is a size that follows from lengths.
func (g *lengthGraph) number() *sym.Var {
	n := g.vector().Len(0)
	switch g.IntN(5) {
	case 0:
		return n.Add(1 + g.IntN(3))
	case 1:
		return n.Add(1).FloorDiv(2)
	case 2:
		return n.Mul(2)
	case 3:
		return n.Add(g.vector().Len(0))
	}
	return n
}

func (g *lengthGraph) grow() {
	x := g.vector()
	n := x.Len(0)
	var y *sym.Var
	switch g.IntN(8) {
	case 0:
		y = x.Mul(sym.Arange(0, n, 1)).Sub(n)
	case 1:
		y = x.Add(sym.OnesOf(weft.Float64, n))
	case 2:
		y = sym.Cat([]*sym.Var{x, g.vector()}, 0)
	case 3:
		y = x.Slice(sym.Range(n.FloorDiv(2), weft.End))
	case 4:
		y = x.Unsqueeze(1).Mul(sym.OnesOf(weft.Float64, n, g.number())).Sum(0)
	case 5:
		y = x.Expand(2, n).Reshape(n.Mul(2))
	case 6:
		y = sym.FullOf(weft.Float64, x.Sum(), g.number())
	default:
		y = sym.Arange(g.number()).To(weft.Float64).Add(x.Sum())
	}
	g.vectors = append(g.vectors, y.Clamp(-9, 9))
}

// TestRandomGraphsFromFiles compares random graphs of sizes, with gradients: operation by operation,
// compiled, and loaded from a file, for lengths that the file's writer has not tried.
func TestRandomGraphsFromFiles(t *testing.T) {
	refused := 0
	const graphs = 20
	for seed := range graphs {
		g := &lengthGraph{Rand: rand.New(rand.NewPCG(uint64(seed), 41))}
		x, y := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64)
		g.vectors = []*sym.Var{x, y}
		for range 2 + g.IntN(3) {
			g.grow()
		}
		out := g.vectors[len(g.vectors)-1]
		cost := sym.Cat([]*sym.Var{out, x, y}, 0).Sum()
		f := function(t, sym.In(x, y), sym.Out(append(sym.Grad(cost, []*sym.Var{x, y}), out)...))
		path := t.TempDir() + "/f.weft"
		if err := f.Save(path, weft.SaveOpts{Inputs: []string{"x[n]", "y[m]"}}); err != nil {
			t.Logf("graph %d: %v", seed, err)
			refused++
			continue
		}
		p, err := weft.LoadProgram(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range [][2]int{{2, 8}, {8, 3}, {1, 1}, {0, 2}, {33, 20}} {
			a, b := g.elements(n[0]), g.elements(n[1])
			loaded, err := p.Call(a, b)
			if err != nil {
				t.Fatalf("graph %d of %d and %d: %v\n%s", seed, n[0], n[1], err, sym.DebugPrint(out))
			}
			eager := eagerly(t, f, a, b)
			for i, compiled := range results(t, f, a, b) {
				what := fmt.Sprintf("graph %d: result %d of lengths %d and %d", seed, i, n[0], n[1])
				same(t, what+" from the file", loaded[i], compiled)
				same(t, what+" compiled", compiled.Add(0), eager[i].Add(0)) // rules may give -0 for 0
			}
		}
		if t.Failed() {
			t.Fatalf("graph %d:\n%s", seed, sym.DebugPrint(out))
		}
	}
	if refused > graphs/5 {
		t.Errorf("%d of %d graphs were refused", refused, graphs)
	}
}

// elements are small integers.
func (g *lengthGraph) elements(n int) *weft.Tensor {
	x := weft.FullOf(weft.Float64, 0, n)
	for i := range n {
		x.At(i).Assign(g.IntN(7) - 3)
	}
	return x
}
