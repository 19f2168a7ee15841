package optest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// TestBatchControl compares loops and branches that op.Batch makes for many examples, and
// their gradients, with the loop or branch of each example. Batched results agree bit for bit.
// What is differentiated afterwards agrees to rounding, since sums over examples have another
// order.
func TestBatchControl(t *testing.T) {
	for _, c := range batchControlCases() {
		t.Run(c.name, func(t *testing.T) {
			s := newSuite(t, oracle, Caps{Missing: missing})
			defer s.mem.Close()
			for mask := 1; mask < 1<<len(c.args); mask++ {
				for seed := range uint64(3) {
					b := c.draw(mask, seed)
					b.compare(t, s, c)
				}
			}
		})
	}
}

// A batchControlCase builds a graph with loops or branches.
type batchControlCase struct {
	name    string
	args    []ir.Type
	choices map[int][]int64 // of the elements of integer arguments
	build   func(x []*ir.Node) []*ir.Node
}

func batchControlCases() []batchControlCase {
	type node = ir.Node
	apply := func(d *op.Def, x ...*node) *node { return op.Apply(d, nil, x...) }
	named := func(name string, x ...*node) *node { return op.Apply(op.Lookup(name), nil, x...) }
	num := func(like *node, v float64) *node { return like.Graph.Number(v, like.DType, false) }
	step := func(x *node, i int) *node {
		return op.Apply(op.Reshape, op.Shape(x.Shape[1:]), op.Narrow(x, 0, i, 1))
	}
	// scan is a loop over sequences, carries and constants.
	scan := func(a op.Looping, seqs, carries, consts []*node, body func(s, c, k []*node) []*node) []*node {
		var types []ir.Type
		for _, s := range seqs {
			a.Steps = s.Shape[0]
			types = append(types, ir.Type{DType: s.DType, Shape: s.Shape[1:]})
		}
		args := append(append(append([]*node{}, seqs...), carries...), consts...)
		for _, x := range args[len(seqs):] {
			types = append(types, ir.Type{DType: x.DType, Shape: x.Shape})
		}
		a.Seqs, a.Carries = len(seqs), len(carries)
		n := a.Seqs + a.Carries
		a.Body = functionOf(types, func(x []*node) []*node { return body(x[:a.Seqs], x[a.Seqs:n], x[n:]) })
		return op.ApplyAll(op.Loop, a, args...)
	}
	choose := func(c *node, args []*node, then, els func(x []*node) []*node) []*node {
		var types []ir.Type
		for _, x := range args {
			types = append(types, ir.Type{DType: x.DType, Shape: x.Shape})
		}
		return op.ApplyAll(op.Branch, op.Branches{Then: functionOf(types, then), Else: functionOf(types, els)}, append([]*node{c}, args...)...)
	}
	f64, f32, i64, yes := array.Float64, array.Float32, array.Int64, array.Bool
	until := op.Looping{Until: true}
	return []batchControlCase{
		{"network", []ir.Type{{DType: f64, Shape: []int{5, 2, 3}}, {DType: f64, Shape: []int{2, 3}}, {DType: f64, Shape: []int{3, 3}}}, nil, func(x []*node) []*node {
			return scan(op.Looping{}, x[:1], x[1:2], x[2:], func(s, c, k []*node) []*node {
				h := named("tanh", apply(op.Add, s[0], apply(op.MatMul, c[0], k[0])))
				return []*node{h, apply(op.Sum, h)}
			})
		}},
		{"float32", []ir.Type{{DType: f32, Shape: []int{4, 1, 3}}, {DType: f32, Shape: []int{1, 3}}, {DType: f32, Shape: []int{3, 3}}}, nil, func(x []*node) []*node {
			return scan(op.Looping{Reverse: true}, x[:1], x[1:2], x[2:], func(s, c, k []*node) []*node {
				return []*node{named("tanh", apply(op.Add, s[0], apply(op.MatMul, c[0], k[0])))}
			})
		}},
		{"one carry of two", []ir.Type{{DType: f64, Shape: []int{4}}, {DType: f64, Shape: nil}, {DType: f64, Shape: []int{3}}, {DType: f64, Shape: nil}}, nil, func(x []*node) []*node {
			return scan(op.Looping{}, x[:1], x[1:3], x[3:], func(s, c, k []*node) []*node {
				h := apply(op.Add, apply(op.Mul, c[0], k[0]), s[0])
				return []*node{h, apply(op.Sin, apply(op.Mul, c[1], h)), apply(op.Mul, c[1], s[0]), h}
			})
		}},
		{"two past states", []ir.Type{{DType: f64, Shape: []int{6}}, {DType: f64, Shape: nil}, {DType: f64, Shape: nil}}, nil, func(x []*node) []*node {
			return scan(op.Looping{}, x[:1], x[1:], nil, func(s, c, _ []*node) []*node {
				return []*node{c[1], apply(op.Add, apply(op.Mul, c[0], s[0]), apply(op.Sin, c[1]))}
			})
		}},
		{"until", []ir.Type{{DType: f64, Shape: []int{6}}, {DType: f64, Shape: nil}, {DType: f64, Shape: nil}}, nil, func(x []*node) []*node {
			return scan(until, x[:1], x[1:2], x[2:], func(s, c, k []*node) []*node {
				h := apply(op.Add, c[0], apply(op.Mul, s[0], s[0]))
				return []*node{h, apply(op.Mul, h, apply(op.Sin, k[0])), apply(op.Gt, h, num(h, 5))}
			})
		}},
		// The roots fail behind the end of an example: its gradient would be spoilt.
		{"until, with roots", []ir.Type{{DType: f64, Shape: []int{8}}, {DType: f64, Shape: nil}, {DType: f64, Shape: []int{2}}}, nil, func(x []*node) []*node {
			h := apply(op.Add, apply(op.Abs, x[1]), num(x[1], 2))
			return scan(until, x[:1], []*node{h}, x[2:], func(s, c, k []*node) []*node {
				y := apply(op.Mul, apply(op.Sqrt, c[0]), k[0])
				h := apply(op.Sub, c[0], apply(op.Add, apply(op.Abs, s[0]), num(s[0], 0.5)))
				return []*node{h, y, apply(op.Le, h, num(h, 0.1))}
			})
		}},
		// Places behind the end of an example are out of range.
		{"until, with places", []ir.Type{{DType: f64, Shape: []int{4, 2}}, {DType: i64, Shape: nil}, {DType: f64, Shape: []int{2}}}, map[int][]int64{1: {0, 1, 2, 3}}, func(x []*node) []*node {
			return scan(op.Looping{Until: true, Steps: 9}, nil, x[1:], x[:1], func(_, c, k []*node) []*node {
				row := op.Apply(op.Reshape, op.Shape{2}, op.Apply(op.IndexSelect, op.Axis(0), k[0], op.Apply(op.Reshape, op.Shape{1}, c[0])))
				at := apply(op.Add, c[0], num(c[0], 1))
				return []*node{at, apply(op.Add, c[1], apply(op.Sin, row)), apply(op.Ge, at, num(at, 4))}
			})
		}},
		{"until, backwards", []ir.Type{{DType: f64, Shape: []int{4}}, {DType: f64, Shape: nil}}, nil, func(x []*node) []*node {
			return scan(op.Looping{Until: true, Reverse: true}, x[:1], x[1:], nil, func(s, c, _ []*node) []*node {
				h := apply(op.Add, c[0], s[0])
				return []*node{h, apply(op.Gt, h, num(h, 1e9))}
			})
		}},
		{"loop in a loop", []ir.Type{{DType: f64, Shape: []int{3, 4}}, {DType: f64, Shape: nil}, {DType: f64, Shape: nil}}, nil, func(x []*node) []*node {
			return scan(op.Looping{}, x[:1], x[1:2], x[2:], func(s, c, k []*node) []*node {
				in := scan(until, s, c, k, func(s, c, k []*node) []*node {
					h := apply(op.Sin, apply(op.Add, apply(op.Mul, c[0], k[0]), s[0]))
					return []*node{h, apply(op.Gt, h, num(h, 0.7))}
				})
				return []*node{in[0], apply(op.Sum, in[1])}
			})
		}},
		{"branch", []ir.Type{{DType: yes, Shape: nil}, {DType: f64, Shape: []int{3}}, {DType: f64, Shape: []int{3}}}, nil, func(x []*node) []*node {
			return choose(x[0], x[1:], func(x []*node) []*node { return []*node{apply(op.Mul, x[0], x[1]), x[1]} },
				func(x []*node) []*node { return []*node{named("tanh", apply(op.Add, x[0], x[1])), x[0]} })
		}},
		// A logarithm fails for examples that take the other side.
		{"branch, with logarithms", []ir.Type{{DType: f64, Shape: nil}, {DType: f64, Shape: nil}}, nil, func(x []*node) []*node {
			return choose(apply(op.Gt, x[0], num(x[0], 0)), x, func(x []*node) []*node { return []*node{apply(op.Mul, apply(op.Log, x[0]), x[1])} },
				func(x []*node) []*node { return []*node{apply(op.Mul, apply(op.Sqrt, apply(op.Neg, x[0])), x[1])} })
		}},
		{"branch, with places", []ir.Type{{DType: i64, Shape: nil}, {DType: f64, Shape: []int{4}}}, map[int][]int64{0: {-9, 0, 1, 3, 77}}, func(x []*node) []*node {
			ok := apply(op.LogicalAnd, apply(op.Ge, x[0], num(x[0], 0)), apply(op.Lt, x[0], num(x[0], 4)))
			return choose(ok, x, func(x []*node) []*node {
				return []*node{op.Apply(op.Reshape, op.Shape{}, op.Apply(op.IndexSelect, op.Axis(0), x[1], op.Apply(op.Reshape, op.Shape{1}, x[0])))}
			}, func(x []*node) []*node { return []*node{apply(op.Sum, x[1])} })
		}},
		{"branch in a loop", []ir.Type{{DType: f64, Shape: []int{5}}, {DType: f64, Shape: nil}, {DType: f64, Shape: nil}}, nil, func(x []*node) []*node {
			return scan(until, x[:1], x[1:2], x[2:], func(s, c, k []*node) []*node {
				h := choose(apply(op.Gt, s[0], num(s[0], 0)), []*node{s[0], c[0], k[0]},
					func(x []*node) []*node { return []*node{apply(op.Add, x[1], apply(op.Sqrt, x[0]))} },
					func(x []*node) []*node { return []*node{apply(op.Mul, x[1], apply(op.Mul, x[2], x[0]))} })[0]
				return []*node{h, apply(op.Gt, h, num(h, 3))}
			})
		}},
		{"no carries", []ir.Type{{DType: f64, Shape: []int{5, 2}}, {DType: f64, Shape: nil}}, nil, func(x []*node) []*node {
			return scan(op.Looping{}, x[:1], nil, x[1:], func(s, _, k []*node) []*node {
				return []*node{apply(op.Sum, apply(op.Mul, s[0], k[0])), s[0]}
			})
		}},
		{"steps by hand", []ir.Type{{DType: f64, Shape: []int{2, 3}}, {DType: f64, Shape: []int{3}}}, nil, func(x []*node) []*node {
			r := scan(op.Looping{}, x[:1], x[1:], nil, func(s, c, _ []*node) []*node { return []*node{apply(op.Sin, apply(op.Add, s[0], c[0]))} })
			return []*node{apply(op.Mul, step(r[1], 1), r[0])}
		}},
	}
}

// controlExamples is the number of examples of a batch.
const controlExamples = 4

// draw draws arguments for each example. Those in the set mask differ.
func (c *batchControlCase) draw(mask int, seed uint64) *batchCase {
	b := &batchCase{name: c.name, mask: mask}
	r := rand.New(rand.NewPCG(seed, 3))
	x := make([][]*Array, controlExamples)
	for e := range x {
		for k, a := range c.args {
			if e > 0 && mask>>k&1 == 0 {
				x[e] = append(x[e], x[0][k])
				continue
			}
			v := Random(r, a.DType, a.Shape, [2]float64{}, 2)
			if from := c.choices[k]; from != nil {
				for i := range v.I {
					v.I[i] = from[r.IntN(len(from))]
				}
			}
			x[e] = append(x[e], v)
		}
	}
	for k, a := range c.args {
		joined := x[0][k]
		if mask>>k&1 == 1 {
			joined = New(a.DType, append([]int{controlExamples}, a.Shape...))
			for e := range x {
				copy(joined.F[e*len(x[e][k].F):], x[e][k].F)
				copy(joined.I[e*len(x[e][k].I):], x[e][k].I)
			}
		}
		b.all = append(b.all, joined)
	}
	b.x = x
	return b
}

// batch returns outs for all examples, and the inputs.
func (b *batchCase) batch(outs []*ir.Node) (res, leaves []*ir.Node) {
	g := ir.New()
	leaves = inputs(g, b.all)
	for _, y := range op.Batch(g, outs, controlExamples, func(x *ir.Node) op.Batched {
		return op.Batched{Node: leaves[x.Arg()], Lead: b.mask>>x.Arg()&1 == 1}
	}) {
		res = append(res, y.Raise(controlExamples))
	}
	return res, leaves
}

// compare compares the graph for all examples, and its gradients, with the graph on each
// example alone.
func (b *batchCase) compare(t *testing.T, s *suite, c batchControlCase) {
	in := inputs(ir.New(), b.x[0])
	plain := c.build(in)
	one := withGradients(plain, in)
	many, _ := b.batch(one)
	if got := loopsOf(many); got > 2*loopsOf(one) && c.name != "until, backwards" {
		t.Errorf("%d loops and branches of %d", got, loopsOf(one))
	}
	var each [][]*Array
	for e := range b.x {
		y, err := s.outputs(s.dev, one, b.x[e], allContiguous)
		if err != nil {
			t.Fatal(err)
		}
		each = append(each, y)
	}
	got, err := s.outputs(s.dev, many, b.all, allContiguous)
	if err != nil {
		t.Fatalf("arguments %b: %v", b.mask, err)
	}
	for k, y := range got {
		for e := range b.x {
			if d := Same(example(y, e, each[e][k]), each[e][k]); d != "" {
				t.Fatalf("arguments %b, result %d of %d, example %d: %s", b.mask, k, len(plain), e, d)
			}
		}
	}
	// Gradients through it.
	batched, leaves := b.batch(plain)
	got, err = s.outputs(s.dev, withGradients(batched, leaves)[len(plain):], b.all, allContiguous)
	if err != nil {
		t.Fatalf("arguments %b: %v", b.mask, err)
	}
	for e := range each {
		each[e] = each[e][len(plain):]
	}
	at := 0
	for k, a := range c.args {
		if a.DType.Differentiable() {
			b.compareGradient(t, k, a, at, got[at], each)
			at++
		}
	}
}

// compareGradient compares y, gradient at of the batch and argument k, with the gradients of
// the examples. Where the argument is the same for all, their sum counts.
func (b *batchCase) compareGradient(t *testing.T, k int, a ir.Type, at int, y *Array, each [][]*Array) {
	for i := range y.F {
		want := 0.0
		if cells := array.Size(a.Shape); b.mask>>k&1 == 1 {
			want = each[i/cells][at].F[i%cells]
		} else {
			for e := range b.x {
				want += each[e][at].F[i]
			}
		}
		eps := 1e-11
		if a.DType == array.Float32 {
			eps = 1e-5
		}
		if d := y.F[i] - want; !(d*d <= eps*eps*(1+want*want)) && (y.F[i] == y.F[i] || want == want) {
			t.Fatalf("arguments %b, gradient of argument %d, element %d: %v, one by one %v", b.mask, k, i, y.F[i], want)
		}
	}
}

// withGradients adds the gradients of the sum of squares.
func withGradients(outs, in []*ir.Node) []*ir.Node {
	var y, wrt []*ir.Node
	for _, o := range outs {
		if o.DType.Differentiable() {
			y = append(y, o)
		}
	}
	for _, x := range in {
		if x.DType.Differentiable() {
			wrt = append(wrt, x)
		}
	}
	for i, d := range op.Gradient(y, y, wrt) {
		if d == nil {
			d = op.Apply(op.Expand, op.Shape(wrt[i].Shape), wrt[i].Graph.Number(0, wrt[i].DType, false))
		}
		outs = append(outs, d)
	}
	return outs
}

// loopsOf returns the number of loops and branches of a graph.
func loopsOf(outs []*ir.Node) (n int) {
	for id, need := range ir.Reach(outs) {
		if x := outs[0].Graph.Nodes[id]; need && (x.Op == op.Loop || x.Op == op.Branch) {
			n++
		}
	}
	return n
}

// example is one of those that x begins with an axis of.
func example(x *Array, e int, like *Array) *Array {
	y := New(like.DType, like.Shape)
	n := like.cells()
	if x.cells() < (e+1)*n {
		panic(fmt.Sprint("optest: no example ", e))
	}
	if len(x.F) > 0 {
		copy(y.F, x.F[e*n:(e+1)*n])
	}
	if len(x.I) > 0 {
		copy(y.I, x.I[e*n:(e+1)*n])
	}
	return y
}
