package rewrite_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/optest"
	"weft/internal/rewrite"
)

// fn makes a function of arguments of the types of some nodes.
func fn(like []*node, f func(x []*node) []*node) *op.Function {
	g := ir.New()
	var in []*node
	var types []ir.Type
	for i, n := range like {
		in = append(in, g.Input(i, n.DType, n.Shape))
		types = append(types, ir.Type{DType: n.DType, Shape: n.Shape})
	}
	return op.NewFunction(types, f(in))
}

// loopOf is a loop over sequences, carries and constants.
func loopOf(seqs, carries, consts []*node, body func(s, c, k []*node) []*node) []*node {
	var like []*node
	for _, s := range seqs {
		like = append(like, ir.New().Input(0, s.DType, s.Shape[1:]))
	}
	like = append(append(like, carries...), consts...)
	f := fn(like, func(x []*node) []*node {
		n := len(seqs) + len(carries)
		return body(x[:len(seqs)], x[len(seqs):n], x[n:])
	})
	args := append(append(append([]*node{}, seqs...), carries...), consts...)
	return op.ApplyAll(op.Loop, op.Looping{Body: f, Steps: steps(seqs), Seqs: len(seqs), Carries: len(carries)}, args...)
}

// steps is the number of steps of loops over sequences, 5 for none.
func steps(seqs []*node) int {
	if len(seqs) == 0 {
		return 5
	}
	return seqs[0].Shape[0]
}

// backwards is a loop, its results given, from the last step on.
func backwards(res []*node) []*node {
	n := res[0].Args[0]
	a := n.Attrs.(op.Looping)
	a.Reverse = true
	return op.ApplyAll(op.Loop, a, n.Args...)
}

func branchOf(cond *node, args []*node, then, els func(x []*node) []*node) []*node {
	return op.ApplyAll(op.Branch, op.Branches{Then: fn(args, then), Else: fn(args, els)}, append([]*node{cond}, args...)...)
}

func matmul(x, y *node) *node { return apply(op.MatMul, x, y) }

func sin(x *node) *node { return apply(op.Sin, x) }

func only(x ...*node) []*node { return x }

var controlRows = []row{
	{"functions of loops and branches", "f32[5,4] f32[4]", func(x []*node) *node {
		return loopOf(x[:1], x[1:], nil, func(s, c, _ []*node) []*node {
			return only(add(c[0], mul(s[0], add(num(s[0], 1), num(s[0], 2)))))
		})[0]
	}, func(x []*node) *node {
		return loopOf(x[:1], x[1:], nil, func(s, c, _ []*node) []*node { return only(add(c[0], mul(s[0], num(s[0], 3)))) })[0]
	}},
	{"functions of loops and branches", "bool[] f32[4]", func(x []*node) *node {
		return branchOf(x[0], x[1:], func(x []*node) []*node { return only(add(x[0], add(num(x[0], 1), num(x[0], 2)))) }, func(x []*node) []*node { return x })[0]
	}, func(x []*node) *node {
		return branchOf(x[0], x[1:], func(x []*node) []*node { return only(add(x[0], num(x[0], 3))) }, func(x []*node) []*node { return x })[0]
	}},
	{"gradients of its own", "f32[4]", func(x []*node) *node {
		y := op.Apply(op.Stop, nil, sin(x[0]))
		return neg(y.Graph.Node(op.Own, op.Owned{X: 1, Why: "has none"}, y.DType, y.Shape, false, y, x[0]))
	}, func(x []*node) *node { return neg(sin(x[0])) }},
	{"unread argument of a loop", "f32[5,4] f32[5,2] f32[4] f32[4]", func(x []*node) *node {
		return loopOf(x[:2], x[2:3], x[3:], func(s, c, _ []*node) []*node { return only(add(c[0], s[0])) })[0]
	}, func(x []*node) *node {
		return loopOf(x[:1], x[2:3], nil, func(s, c, _ []*node) []*node { return only(add(c[0], s[0])) })[0]
	}},
	{"the same in each step", "f32[5,4] f32[4] f32[4]", func(x []*node) *node {
		return loopOf(x[:1], x[1:2], x[2:], func(s, c, k []*node) []*node { return only(add(mul(c[0], sin(k[0])), s[0])) })[0]
	}, func(x []*node) *node {
		return loopOf(x[:1], x[1:2], only(sin(x[2])), func(s, c, k []*node) []*node { return only(add(mul(c[0], k[0]), s[0])) })[0]
	}},
	{"products of all steps", "f32[5,3,4] f32[3,6] f32[4,6]", func(x []*node) *node {
		return loopOf(x[:1], x[1:2], x[2:], func(s, c, k []*node) []*node { return only(sin(add(c[0], matmul(sin(s[0]), k[0])))) })[0]
	}, func(x []*node) *node {
		p := op.Apply(op.Reshape, op.Shape{5, 3, 6}, matmul(op.Apply(op.Reshape, op.Shape{15, 4}, sin(x[0])), x[2]))
		return loopOf(only(p), x[1:2], nil, func(s, c, _ []*node) []*node { return only(sin(add(c[0], s[0]))) })[0]
	}},
	{"products of all steps", "f64[5,4] f64[6] f64[6,4]", func(x []*node) *node {
		return loopOf(x[:1], x[1:2], x[2:], func(s, c, k []*node) []*node { return only(sin(add(c[0], matmul(k[0], s[0])))) })[0]
	}, func(x []*node) *node {
		rows := op.Apply(op.Reshape, op.Shape{5, 4}, op.Apply(op.Reshape, op.Shape{5, 4, 1}, x[0]))
		p := op.Apply(op.Reshape, op.Shape{5, 6, 1}, matmul(rows, op.Transpose(x[2], 0, 1)))
		return loopOf(only(p), x[1:2], nil, func(s, c, _ []*node) []*node { return only(sin(add(c[0], op.Apply(op.Reshape, op.Shape{6}, s[0])))) })[0]
	}},
	{"products after all steps", "f32[5,3,4] f32[3,4] f32[4,6]", func(x []*node) *node {
		return loopOf(x[:1], x[1:2], x[2:], func(s, c, k []*node) []*node {
			h := sin(add(c[0], s[0]))
			return only(h, matmul(h, k[0]))
		})[2]
	}, func(x []*node) *node {
		h := loopOf(x[:1], x[1:2], nil, func(s, c, k []*node) []*node {
			h := sin(add(c[0], s[0]))
			return only(h, h)
		})[2]
		return op.Apply(op.Reshape, op.Shape{5, 3, 6}, matmul(op.Apply(op.Reshape, op.Shape{15, 4}, h), x[2]))
	}},
	{"unread results of a loop", "f32[5,4] f32[4] f32[4] f32[4]", func(x []*node) *node { // the second reads itself and the third
		return loopOf(x[:1], x[1:], nil, func(s, c, _ []*node) []*node {
			return only(add(c[0], s[0]), mul(c[1], c[2]), sin(c[2]), neg(c[1]))
		})[0]
	}, func(x []*node) *node {
		return loopOf(x[:1], x[1:2], nil, func(s, c, _ []*node) []*node { return only(add(c[0], s[0])) })[0]
	}},
	{"unread results of a loop", "f32[5,4] f32[4] f32[4] f32[4]", func(x []*node) *node {
		return loopOf(x[:1], x[1:], nil, func(s, c, _ []*node) []*node {
			return only(add(c[0], s[0]), mul(c[1], c[2]), sin(c[2]), neg(c[0]), neg(c[1]))
		})[7]
	}, func(x []*node) *node {
		return loopOf(nil, x[2:], nil, func(s, c, _ []*node) []*node { return only(mul(c[0], c[1]), sin(c[1]), neg(c[0])) })[4]
	}},
	{"loops over the same steps", "f32[5,4] f32[4]", func(x []*node) *node {
		one := loopOf(x[:1], x[1:], nil, func(s, c, _ []*node) []*node { return only(add(c[0], sin(s[0]))) })
		two := loopOf(x[:1], x[1:], nil, func(s, c, _ []*node) []*node { return only(mul(c[0], sin(s[0])), neg(c[0])) })
		return add(one[0], op.Apply(op.Sum, op.Reduction{Axes: []int{0}}, two[2]))
	}, func(x []*node) *node {
		r := loopOf(x[:1], only(x[1], x[1]), nil, func(s, c, _ []*node) []*node {
			return only(add(c[0], sin(s[0])), mul(c[1], sin(s[0])), neg(c[1]))
		})
		return add(r[0], op.Apply(op.Sum, op.Reduction{Axes: []int{0}}, r[4]))
	}},
	{"known condition", "f32[4]", func(x []*node) *node {
		yes := x[0].Graph.Node(ir.Const, ir.Value{Int: 1}, array.Bool, nil, false)
		return branchOf(yes, x, func(x []*node) []*node { return only(sin(x[0])) }, func(x []*node) []*node { return x })[0]
	}, func(x []*node) *node { return sin(x[0]) }},
	{"equal sides", "bool[] f32[4]", func(x []*node) *node {
		r := branchOf(x[0], x[1:], func(x []*node) []*node { return only(sin(x[0]), neg(x[0])) }, func(x []*node) []*node { return only(sin(x[0]), x[0]) })
		return add(r[0], r[1])
	}, func(x []*node) *node {
		r := branchOf(x[0], x[1:], func(x []*node) []*node { return only(neg(x[0])) }, func(x []*node) []*node { return x })
		return add(sin(x[1]), r[0])
	}},
	{"unread argument of a branch", "bool[] f32[4] f32[4]", func(x []*node) *node {
		return branchOf(x[0], x[1:], func(x []*node) []*node { return only(neg(x[1])) }, func(x []*node) []*node { return only(sin(x[1])) })[0]
	}, func(x []*node) *node {
		return branchOf(x[0], x[2:], func(x []*node) []*node { return only(neg(x[0])) }, func(x []*node) []*node { return only(sin(x[0])) })[0]
	}},
	{"branch on what is known", "bool[] f32[4]", func(x []*node) *node {
		choose := func(x []*node) []*node { return only(op.Apply(op.Where, nil, x[0], x[1], neg(x[1]))) }
		return branchOf(x[0], x, choose, func(x []*node) []*node { return only(sin(choose(x)[0])) })[0]
	}, func(x []*node) *node {
		choose := func(b int64, x []*node) *node {
			return op.Apply(op.Where, nil, x[1].Graph.Node(ir.Const, ir.Value{Int: b}, array.Bool, nil, false), x[1], neg(x[1]))
		}
		return branchOf(x[0], x, func(x []*node) []*node { return only(choose(1, x)) }, func(x []*node) []*node { return only(sin(choose(0, x))) })[0]
	}},
	{"branches on one condition", "bool[] f32[4] f32[4]", func(x []*node) *node {
		r := branchOf(x[0], x[1:2], func(x []*node) []*node { return only(neg(x[0])) }, func(x []*node) []*node { return only(sin(x[0])) })
		return branchOf(x[0], only(x[2], r[0]), func(x []*node) []*node { return only(mul(x[0], x[1])) }, func(x []*node) []*node { return only(add(x[0], x[1])) })[0]
	}, func(x []*node) *node {
		return branchOf(x[0], x[1:], func(x []*node) []*node { return only(mul(x[1], neg(x[0]))) }, func(x []*node) []*node { return only(add(x[1], sin(x[0]))) })[0]
	}},
}

func init() { rows = append(rows, controlRows...) }

// A form that overflows is mended inside a loop and a branch, in loops within them and in their
// gradients, as it is outside.
func TestStableInside(t *testing.T) {
	g := ir.New()
	x, h, c := g.Input(0, array.Float64, []int{3, 2}), g.Input(1, array.Float64, []int{2}), g.Input(2, array.Bool, nil)
	soft := func(x *node) *node { return apply(op.Log, add(num(x, 1), apply(op.Exp, x))) }
	loop := loopOf(only(x), only(h), nil, func(s, c, _ []*node) []*node { return only(add(c[0], soft(s[0]))) })[0]
	side := branchOf(c, only(h), func(x []*node) []*node { return only(soft(x[0])) }, func(x []*node) []*node { return x })[0]
	nested := loopOf(only(x), only(h), nil, func(s, c, _ []*node) []*node {
		three := op.Apply(op.Expand, op.Shape{3, 2}, s[0])
		return only(loopOf(only(three), only(c[0]), nil, func(s, c, _ []*node) []*node { return only(add(c[0], soft(s[0]))) })[0])
	})[0]
	ones := op.Apply(op.Expand, op.Shape{2}, g.Number(1, array.Float64, false))
	grads := op.Gradient([]*node{loop, side, nested}, []*node{ones, ones, ones}, []*node{x, h})
	outs := []*node{loop, side, nested, grads[0], grads[1]}
	in := []*optest.Array{optest.New(array.Float64, []int{3, 2}), optest.New(array.Float64, []int{2}), optest.New(array.Bool, nil)}
	for i := range in[0].F {
		in[0].F[i] = 1000
	}
	in[1].F[0], in[1].F[1], in[2].I[0] = 1000, 800, 1
	want := [][]float64{{4000, 3800}, {1000, 800}, {10000, 9800}, {4, 4, 4, 4, 4, 4}, {3, 3}}
	for _, level := range []rewrite.Level{rewrite.Exact, rewrite.Stable, rewrite.Fast} {
		got := compute(t, rewrite.Run(outs, level).Outs, in)
		for k, w := range want {
			for i := range w {
				if y := got[k].F[i]; (math.Abs(y-w[i]) <= 1e-9) == (level == rewrite.Exact) {
					t.Errorf("%s: result %d is %v, the value is %v", level, k, y, w[i])
				}
			}
		}
	}
}

// What is computed before and after a loop has the bits that it had within, whatever the size.
func TestProductsOfSteps(t *testing.T) {
	for _, d := range []array.DType{array.Float32, array.Float64} {
		for i, s := range [][4]int{{2, 1, 1, 1}, {7, 3, 20, 33}, {40, 1, 300, 5}, {3, 65, 17, 64}} {
			g := ir.New()
			x, h, w, v := g.Input(0, d, []int{s[0], s[1], s[2]}), g.Input(1, d, []int{s[1], s[3]}), g.Input(2, d, []int{s[2], s[3]}), g.Input(3, d, []int{s[3], s[2]})
			r := loopOf(only(x), only(h), only(w, v), func(s, c, k []*node) []*node {
				h := sin(add(matmul(sin(s[0]), k[0]), c[0]))
				return only(h, matmul(h, k[1]))
			})
			dy := op.Gradient(only(r[0], r[2]), only(h, x), only(x, w, v, h))
			outs := append(only(r[0], r[2]), dy...)
			res := rewrite.Run(outs, rewrite.Exact)
			count := map[string]int{}
			for _, u := range res.Report.Rules {
				count[u.Name] = u.Count
			}
			if count["products of all steps"] == 0 || count["products after all steps"] < 2 {
				t.Errorf("%v: %v", s, count)
			}
			rnd := rand.New(rand.NewPCG(uint64(i), 7))
			in := values(rnd, []*node{x, h, w, v}, i == 1)
			before, after := compute(t, outs, in), compute(t, res.Outs, in)
			for k := range outs {
				if d := optest.Same(before[k], after[k]); d != "" {
					t.Errorf("%v: result %d: %s", s, k, d)
				}
			}
		}
	}
}

// Loops and branches of random bodies are the same before and after.
func TestControlRandom(t *testing.T) {
	n := 150
	if testing.Short() {
		n = 40
	}
	fired := map[string]int{}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 5))
		g := ir.New()
		steps := 1 + r.IntN(5)
		x, h, k, c := g.Input(0, array.Float32, []int{steps, 3, 3}), g.Input(1, array.Float32, []int{3, 3}), g.Input(2, array.Float32, []int{3, 3}), g.Input(3, array.Bool, nil)
		// grown is a few operations on what there is.
		var grown func(pool []*node, cond *node, deep int) []*node
		grown = func(pool []*node, cond *node, deep int) []*node {
			pool = append([]*node{}, pool...)
			if seed%5 == 0 {
				pool[0] = op.Apply(op.Stop, nil, pool[0])
			}
			any := func() *node { return pool[r.IntN(len(pool))] }
			for range 2 + r.IntN(6) {
				switch r.IntN(9) {
				case 0, 1:
					pool = append(pool, matmul(any(), any()))
				case 2:
					pool = append(pool, sin(any()))
				case 3:
					pool = append(pool, add(any(), any()))
				case 4:
					pool = append(pool, mul(any(), any()))
				case 5:
					pool = append(pool, op.Transpose(any(), 0, 1))
				case 6:
					pool = append(pool, add(any(), op.Apply(op.Expand, op.Shape{3, 3}, num(any(), 2))))
				case 7, 8:
					if deep == 0 {
						continue
					}
					if cond != nil {
						args := only(any(), any(), op.Apply(op.Cast, op.To(array.Float32), cond))
						pool = append(pool, branchOf(cond, args[:2], func(x []*node) []*node { return grown(x, nil, deep-1)[:1] }, func(x []*node) []*node { return grown(x, nil, deep-1)[:1] })...)
						continue
					}
					seq := op.Apply(op.Expand, op.Shape{steps, 3, 3}, any())
					pool = append(pool, loopOf(only(seq), only(any()), only(any()), func(s, c, k []*node) []*node {
						return grown(append(append(s, c...), k...), nil, deep-1)
					})[0])
				}
			}
			last := pool[len(pool)-1]
			return only(last, any())
		}
		res := loopOf(only(x), only(h), only(k, c), func(s, c, k []*node) []*node {
			return grown(append(append(s, c...), k[0]), k[1], 2)
		})
		if seed%2 == 1 {
			res = backwards(res)
		}
		if seed%4 < 2 { // another one, which computes something alike, of the same direction or the other, perhaps of results of the first
			first := h
			if seed%3 == 0 {
				first = res[0]
			}
			more := loopOf(only(x), only(first), only(k, c), func(s, c, k []*node) []*node {
				r := grown(append(append(s, c...), k[0]), nil, 0)
				return only(add(r[0], sin(s[0])), mul(sin(s[0]), r[1]))
			})
			again := loopOf(only(x), only(k), nil, func(s, c, k []*node) []*node { return only(add(c[0], sin(s[0])), sin(s[0])) })
			if seed%2 == 1 {
				more, again = backwards(more), backwards(again)
			}
			res = append(append(res, more...), again...)
		}
		outs := append(only(res...), branchOf(c, only(h, k), func(x []*node) []*node { return grown(x, nil, 1) }, func(x []*node) []*node { return grown(x, nil, 1) })...)
		in := values(r, []*node{x, h, k, c}, seed%3 == 0)
		before := compute(t, outs, in)
		rw := rewrite.Run(outs, rewrite.Exact)
		for _, u := range rw.Report.Rules {
			fired[u.Name] += u.Count
		}
		after := compute(t, rw.Outs, in)
		for i := range outs {
			if d := optest.Same(before[i], after[i]); d != "" {
				t.Fatalf("%d: result %d: %s\n%s\n%s", seed, i, d, fmt.Sprint(outs[0].Graph), rw.Report.String())
			}
		}
	}
	for _, w := range controlRows {
		// The condition of a branch is never a constant here, nor twice the same.
		if fired[w.rule] == 0 && w.rule != "known condition" && w.rule != "branch on what is known" && w.rule != "branches on one condition" {
			t.Errorf("no graph met the rule %q", w.rule)
		}
	}
}

// What is taken out of a loop is taken out at once, however much it is.
func TestLargeBodies(t *testing.T) {
	for name, f := range map[string]func(k, s *node) *node{
		"the same in each step": func(k, _ *node) *node { return sin(k) },
		"products of all steps": func(k, s *node) *node { return matmul(s, k) },
	} {
		var made [2]float64
		for i, n := range []int{100, 1000} {
			g := ir.New()
			in := []*node{g.Input(0, array.Float32, []int{3, 2, 2}), g.Input(1, array.Float32, []int{2, 2}), g.Input(2, array.Float32, []int{2, 2})}
			res := loopOf(in[:1], in[1:2], in[2:], func(s, c, k []*node) []*node {
				y := c[0]
				for j := range n {
					x := op.Apply(op.Add, nil, k[0], num(k[0], float64(j)))
					y = add(mul(y, f(x, s[0])), c[0])
				}
				return only(y)
			})
			allocs := testing.AllocsPerRun(1, func() { rewrite.Run(res[:1], rewrite.Exact) })
			made[i] = allocs / float64(n)
		}
		t.Logf("%s: %.0f and %.0f allocations a node", name, made[0], made[1])
		if made[1] > 2*made[0] {
			t.Errorf("%s: %.0f allocations a node of a small body, %.0f of a large one", name, made[0], made[1])
		}
	}
}
