package sym_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"weft"
	"weft/sym"
)

// A sizeGraph makes random graphs of vectors whose lengths are symbolic. Elements are small integers, so
// that results have the same bits in any order of evaluation.
type sizeGraph struct {
	*rand.Rand
	vectors, numbers []*sym.Var // float64 vectors; int64 without dimensions
	depth            int
}

func (g *sizeGraph) vector() *sym.Var { return g.vectors[g.IntN(len(g.vectors))] }
func (g *sizeGraph) number() *sym.Var { return g.numbers[g.IntN(len(g.numbers))] }

// length is a size from 0 to 4: an int, or a variable.
func (g *sizeGraph) length() any {
	if g.IntN(4) == 0 {
		return g.IntN(5)
	}
	return g.number().Mod(5)
}

// pair gives two vectors the same length.
func (g *sizeGraph) pair() (a, b *sym.Var) {
	a, b = g.vector(), g.vector()
	n := a.Len(0).Minimum(b.Len(0))
	return a.Slice(sym.Range(0, n)), b.Slice(sym.Range(n.Neg(), weft.End)).Narrow(0, 0, b.Len(0).Minimum(n))
}

// grow adds a number and a vector.
func (g *sizeGraph) grow() {
	var n *sym.Var
	switch g.IntN(6) {
	case 0:
		n = g.vector().Len(0)
	case 1:
		n = g.number().Add(g.number())
	case 2:
		n = g.number().Mul(2).Sub(g.IntN(5))
	case 3:
		n = g.number().FloorDiv(1 + g.IntN(3)).Maximum(g.number())
	case 4:
		n = g.vector().CountNonZero()
	default:
		n = g.vector().Gt(1).Sum().To(weft.Int64)
	}
	g.numbers = append(g.numbers, n.Clamp(-20, 20))
	g.vectors = append(g.vectors, g.grown().Clamp(-9, 9))
}

func (g *sizeGraph) grown() *sym.Var {
	x := g.vector()
	switch g.IntN(14) {
	case 0:
		a, b := g.pair()
		return a.Mul(b)
	case 1:
		a, b := g.pair()
		return a.Sub(b)
	case 2:
		return x.Slice(sym.Range(g.number(), g.number(), []int{1, 2, -1}[g.IntN(3)]))
	case 3:
		return x.Narrow(0, x.Lt(0).Sum(), x.Ge(0).Sum())
	case 4:
		return sym.Cat([]*sym.Var{x.Slice(weft.Range(0, 4)), sym.FullOf(weft.Float64, x.Sum(), g.length())}, 0)
	case 5:
		return sym.Arange(g.number(), g.number(), 1+g.IntN(3)).To(weft.Float64).Slice(weft.Range(0, 6))
	case 6:
		return x.Slice(weft.Range(0, 3)).Tile(g.length())
	case 7:
		return x.Slice(weft.Range(0, 3)).RepeatInterleave(0, g.length())
	case 8:
		k := g.length()
		return x.Expand(k, x.Len(0)).Sum(0).Add(sym.Zeros(k).Sum().To(weft.Float64))
	case 9:
		return x.MaskSelect(x.Gt(g.IntN(3) - 1))
	case 10:
		return x.Reshape(x.Len(0), 1).Mul(sym.OnesOf(weft.Float64, 1, g.length())).Sum(1)
	case 11:
		g.depth++
		a, b := g.vector(), g.vector()
		c := g.vector().Sum().Gt(0)
		if g.IntN(2) == 0 {
			c = g.number().Gt(1)
		}
		k := g.number()
		return sym.IfElse(c, func() []*sym.Var { return []*sym.Var{a.Slice(sym.Range(0, k))} }, func() []*sym.Var { return []*sym.Var{b.Add(1)} })[0]
	case 12:
		start := g.vector()
		r := sym.Scan(sym.ScanOpts{Initial: []any{start}, Steps: g.length()}, func(s sym.Step) sym.Next {
			return sym.Next{H: []*sym.Var{s.H[0].Add(start).Clamp(-9, 9)}, Out: []*sym.Var{s.H[0].Sum()}}
		})
		return sym.Cat([]*sym.Var{r.Out[0], r.Last[0]}, 0)
	default:
		r := sym.Scan(sym.ScanOpts{Initial: []any{x.Sum().Clamp(1, 9)}, Steps: g.length(), Trim: true}, func(s sym.Step) sym.Next {
			h := s.H[0].Mul(2)
			return sym.Next{H: []*sym.Var{h}, Until: h.Gt(9)}
		})
		return r.H[0]
	}
}

// TestRandomGraphsOfSizes compares random graphs of symbolic sizes, compiled, with the same computed
// operation by operation, over lengths of their arguments, with gradients.
func TestRandomGraphsOfSizes(t *testing.T) {
	graphs := 12
	if s := os.Getenv("WEFT_PROGRAMS"); s != "" {
		graphs, _ = strconv.Atoi(s)
	}
	for seed := range graphs {
		g := &sizeGraph{Rand: rand.New(rand.NewPCG(uint64(seed), 29))}
		x, y, n := sym.Vector("x", weft.Float64), sym.New("y", weft.Float64, 4), sym.Scalar("n", weft.Int64)
		w := sym.Shared("w", floats(), sym.Any)
		g.vectors, g.numbers = []*sym.Var{x, y, w}, []*sym.Var{n, x.Len(0), w.Len(0)}
		for range 3 + g.IntN(5) {
			g.grow()
		}
		out := g.vectors[len(g.vectors)-1]
		cost := sym.Cat([]*sym.Var{out, x, y, w}, 0).Sum()
		outs := append([]*sym.Var{out}, sym.Grad(cost, []*sym.Var{x, y, w})...)
		f := function(t, sym.In(x, y, n), sym.Out(append(outs, g.numbers...)...), sym.IgnoreUnused)
		for _, size := range []int{0, 1, 2, 5} {
			for _, n := range []int{g.IntN(4) - 1, 5} {
				w.SetValue(weft.Arange(g.IntN(4)).To(weft.Float64).Sub(1))
				x := weft.FullOf(weft.Float64, 0, size)
				for i := range size {
					x.At(i).Assign(g.IntN(7) - 3)
				}
				y := floats(3, -1, 0, 2)
				want := eagerly(t, f, x, y, n)
				for i, got := range results(t, f, x, y, n) {
					same(t, fmt.Sprintf("graph %d: result %d of %v, %v and %d", seed, i, x, w, n), got.Add(0), want[i].Add(0))
				}
				for i, got := range results(t, f, x, y, n) { // by the program that there is now
					same(t, fmt.Sprintf("graph %d: result %d again of %v, %v and %d", seed, i, x, w, n), got.Add(0), want[i].Add(0)) // rules may give -0 for 0
				}
			}
		}
		if t.Failed() {
			t.Fatalf("graph %d:\n%s", seed, sym.DebugPrint(out))
		}
	}
}
