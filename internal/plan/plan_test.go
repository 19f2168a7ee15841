package plan

import (
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/op"
)

func init() { Verify = true }

// kernels plans a graph over contiguous float32 inputs of the given shapes.
func kernels(build func(x []*ir.Node) []*ir.Node, shapes ...[]int) *Plan {
	g := ir.New()
	var in []*ir.Node
	var sigs []Sig
	for i, s := range shapes {
		in = append(in, g.Input(i, array.Float32, s))
		sigs = append(sigs, Sig{array.Float32, s, array.RowMajor(s)})
	}
	return Build(build(in), sigs, nil, OnCPU)
}

func one(f func(x []*ir.Node) *ir.Node) func(x []*ir.Node) []*ir.Node {
	return func(x []*ir.Node) []*ir.Node { return []*ir.Node{f(x)} }
}

func apply(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }

func axes(d *op.Def, keep bool, x *ir.Node, a ...int) *ir.Node {
	return op.Apply(d, op.Reduction{Axes: a, Keep: keep}, x)
}

func passes(k *Kernel) (n int) {
	for _, v := range k.Prog.Body {
		if k.Prog.Ins[v].Op == loop.OpPass {
			n++
		}
	}
	return n
}

func layerNorm(x []*ir.Node) *ir.Node {
	d := apply(op.Sub, x[0], axes(op.Mean, true, x[0], 1))
	v := axes(op.Mean, true, apply(op.Square, d), 1)
	eps := v.Graph.Number(1e-5, array.Float32, false)
	return apply(op.Add, apply(op.Mul, apply(op.Mul, d, apply(op.Rsqrt, apply(op.Add, v, eps))), x[1]), x[2])
}

// What becomes one kernel, and with how many passes over a row.
func TestFusion(t *testing.T) {
	sq, row := []int{64, 100}, []int{100}
	for name, c := range map[string]struct {
		build  func(x []*ir.Node) []*ir.Node
		shapes [][]int
		passes []int // by kernel
	}{
		"chain": {one(func(x []*ir.Node) *ir.Node {
			return apply(op.Exp, apply(op.Add, apply(op.Mul, x[0], x[1]), x[0]))
		}), [][]int{sq, sq}, []int{1}},
		"broadcast row": {one(func(x []*ir.Node) *ir.Node { return apply(op.Relu, apply(op.Add, x[0], x[1])) }), [][]int{sq, row}, []int{1}},
		"softmax": {one(func(x []*ir.Node) *ir.Node {
			return op.Apply(op.Softmax, op.Reduction{Axes: []int{1}}, x[0])
		}), [][]int{sq}, []int{3}},
		"layer norm": {one(layerNorm), [][]int{sq, row, row}, []int{3}},
		"variance":   {one(func(x []*ir.Node) *ir.Node { return axes(op.Var, false, x[0], 1) }), [][]int{sq}, []int{2}},
		"sum of a product": {one(func(x []*ir.Node) *ir.Node {
			return axes(op.Sum, false, apply(op.Mul, x[0], x[1]), 1)
		}), [][]int{sq, sq}, []int{1}},
		// The gradient of a bias, with the gradient it is summed from; then the tree.
		"column": {func(x []*ir.Node) []*ir.Node {
			g := apply(op.Mul, x[0], x[1])
			return []*ir.Node{g, axes(op.Sum, false, g, 0)}
		}, [][]int{sq, sq}, []int{1, 1}},
		"two results share a pass": {func(x []*ir.Node) []*ir.Node {
			return []*ir.Node{apply(op.Add, x[0], x[1]), apply(op.Mul, x[0], x[1])}
		}, [][]int{sq, sq}, []int{1}},
		// The smaller array is computed once, not for every row.
		"two shapes": {one(func(x []*ir.Node) *ir.Node { return apply(op.Add, x[0], apply(op.Exp, x[1])) }), [][]int{sq, row}, []int{1, 1}},
		// A reduction that others broadcast back across both axes cannot be one.
		"row then column": {one(func(x []*ir.Node) *ir.Node {
			return axes(op.Sum, true, apply(op.Sub, x[0], axes(op.Max, true, x[0], 1)), 0)
		}), [][]int{sq}, nil},
	} {
		p := kernels(c.build, c.shapes...)
		if c.passes == nil {
			if len(p.Steps) < 2 {
				t.Errorf("%s: one kernel cannot be right\n%s", name, p)
			}
			continue
		}
		if len(p.Steps) != len(c.passes) {
			t.Errorf("%s: %d kernels, want %d\n%s", name, len(p.Steps), len(c.passes), p)
			continue
		}
		for i, s := range p.Steps {
			if got := passes(s.Kernel); got != c.passes[i] {
				t.Errorf("%s: kernel %d has %d passes, want %d\n%s", name, i, got, c.passes[i], p)
			}
		}
	}
}

// A node joins a cluster only if nothing in between depends on the cluster.
func TestFusionMakesNoCycle(t *testing.T) {
	p := kernels(one(func(x []*ir.Node) *ir.Node {
		a := apply(op.Exp, x[0])
		m := apply(op.MatMul, a, x[1]) // a routine between
		return apply(op.Add, a, m)
	}), []int{8, 8}, []int{8, 8})
	if got := kinds(p); got != "kernel routine+epilogue" {
		t.Errorf("steps %s\n%s", got, p)
	}
}

// kinds names the steps of a plan.
func kinds(p *Plan) string {
	var order []string
	for _, s := range p.Steps {
		switch {
		case s.Kernel != nil:
			order = append(order, "kernel")
		case s.Epilogue != nil:
			order = append(order, "routine+epilogue")
		default:
			order = append(order, "routine")
		}
	}
	return strings.Join(order, " ")
}

// A sum of many arrays is split where a kernel would have too many buffers.
func TestManyBuffers(t *testing.T) {
	const n = 40
	shapes := make([][]int, n)
	for i := range shapes {
		shapes[i] = []int{33}
	}
	p := kernels(one(func(x []*ir.Node) *ir.Node {
		s := x[0]
		for _, y := range x[1:] {
			s = apply(op.Add, s, y)
		}
		return s
	}), shapes...)
	if len(p.Steps) < 3 {
		t.Errorf("%d kernels read %d arrays", len(p.Steps), n)
	}
	for _, s := range p.Steps {
		if b := len(s.Kernel.Binds); b > loop.MaxBufs {
			t.Errorf("a kernel has %d buffers", b)
		}
	}
}

// Neighbouring axes that all operands walk evenly become one.
func TestAxesCollapse(t *testing.T) {
	p := kernels(one(func(x []*ir.Node) *ir.Node { return apply(op.Add, x[0], x[1]) }), []int{4, 5, 6, 7}, []int{4, 5, 6, 7})
	if e := p.Steps[0].Kernel.Extents; len(e) != 1 || e[0] != 840 {
		t.Errorf("contiguous operands: extents %v", e)
	}
	p = kernels(one(func(x []*ir.Node) *ir.Node { return apply(op.Add, x[0], x[1]) }), []int{4, 5, 6, 7}, []int{6, 7})
	if e := p.Steps[0].Kernel.Extents; len(e) != 2 || e[0] != 20 || e[1] != 42 {
		t.Errorf("a broadcast operand: extents %v", e)
	}
}

// Lanes up to four elements apart, either way, have steps of their own; the parts of complex numbers
// that are computed together are stored together.
func TestStridesOfLanes(t *testing.T) {
	for by, want := range map[int]loop.Step{1: loop.Unit, 2: loop.By2, 3: loop.By3, 4: loop.By4, 5: loop.Any, -1: loop.Back, -2: loop.Back2, -3: loop.Back3, -4: loop.Back4, -5: loop.Any} {
		g := ir.New()
		x := g.Input(0, array.Float32, []int{50})
		p := Build([]*ir.Node{apply(op.Exp, x)}, []Sig{{array.Float32, x.Shape, []int{by}}}, nil, OnCPU)
		if s := p.Steps[0].Kernel.Prog.Bufs[0].Steps; len(s) != 1 || s[0] != want {
			t.Errorf("lanes %d elements apart: steps %v, want %v", by, s, want)
		}
	}
	p := kernels(one(func(x []*ir.Node) *ir.Node {
		return apply(op.Complex, apply(op.Add, x[0], x[1]), apply(op.Mul, x[2], x[3]))
	}), []int{50}, []int{50}, []int{50}, []int{50})
	if len(p.Steps) != 1 {
		t.Fatalf("%d steps\n%s", len(p.Steps), p)
	}
	pairs := 0
	for _, b := range p.Steps[0].Kernel.Prog.Bufs {
		if b.Pair > 0 {
			pairs++
		}
	}
	if pairs != 1 {
		t.Errorf("%d pairs\n%s", pairs, p.Steps[0].Kernel.Prog)
	}
}

// Long rows of a reduction are cut into parts, whose number follows from the
// length alone.
func TestLongReductionHasParts(t *testing.T) {
	p := kernels(one(func(x []*ir.Node) *ir.Node { return axes(op.Sum, false, x[0]) }), []int{1 << 20})
	if e := p.Steps[0].Kernel.Extents; len(e) != 2 || e[0] != 32 || e[1] != numbers.PartLen {
		t.Errorf("extents %v\n%s", e, p)
	}
	if len(p.Steps) != 1+2 {
		t.Errorf("%d steps, want one over 32 parts and two of the tree", len(p.Steps))
	}
}

// A product that is there for sums of columns alone is computed by their kernel, not stored
// by that of the rows which reads the same array.
func TestColumnsBesideRows(t *testing.T) {
	sq := []int{64, 100}
	p := kernels(func(x []*ir.Node) []*ir.Node {
		centred := apply(op.Sub, x[0], axes(op.Mean, true, x[0], 1))
		scaled := apply(op.Mul, apply(op.Add, x[0], x[1]), x[1])
		return []*ir.Node{centred, axes(op.Sum, false, scaled, 0)}
	}, sq, sq)
	for i, want := range []int{2, 3} { // what is read and written
		if got := len(p.Steps[i].Kernel.Binds); got != want {
			t.Errorf("kernel %d has %d arrays, want %d:\n%s", i, got, want, p)
		}
	}
}

// An output may be written over an input only where each element is read and written in its
// own place.
func TestInPlace(t *testing.T) {
	square := []int{3, 3}
	for name, c := range map[string]struct {
		f    func(x []*ir.Node) *ir.Node
		want bool
	}{
		"product": {func(x []*ir.Node) *ir.Node { return apply(op.Mul, x[0], x[1]) }, true},
		"reshape": {func(x []*ir.Node) *ir.Node { return op.Apply(op.Reshape, op.Shape{9}, apply(op.Exp, x[0])) }, true},
		"flip": {func(x []*ir.Node) *ir.Node {
			return op.Apply(op.Slice, op.Window{Start: []int{2, 0}, Step: []int{-1, 1}, Count: []int{3, 3}}, x[0])
		}, false},
		"transpose": {func(x []*ir.Node) *ir.Node { return op.Apply(op.Permute, op.Order{1, 0}, x[0]) }, false},
		"sum with the transpose": {func(x []*ir.Node) *ir.Node {
			return apply(op.Add, x[0], op.Apply(op.Permute, op.Order{1, 0}, x[0]))
		}, false},
		"row": {func(x []*ir.Node) *ir.Node { return axes(op.Sum, true, x[0], 1) }, false},
	} {
		if p := kernels(one(c.f), square, square); p.InPlace != c.want {
			t.Errorf("%s: in place %v\n%s", name, p.InPlace, p)
		}
	}
}

// Parts of a concatenation are computed in their places. Copied are parts that other nodes read,
// parts that stand there twice, and parts with less than a cache line in a row.
func TestConcatenatedInPlace(t *testing.T) {
	for name, c := range map[string]struct {
		width  int
		build  func(x, y *ir.Node) []*ir.Node
		copies int
	}{
		"two parts": {16, func(x, y *ir.Node) []*ir.Node {
			return []*ir.Node{op.Apply(op.Cat, op.Axis(1), apply(op.Tanh, x), apply(op.Mul, x, y))}
		}, 0},
		"an input": {16, func(x, y *ir.Node) []*ir.Node { return []*ir.Node{op.Apply(op.Cat, op.Axis(1), apply(op.Tanh, x), y)} }, 1},
		"twice": {16, func(x, y *ir.Node) []*ir.Node {
			a := apply(op.Tanh, x)
			return []*ir.Node{op.Apply(op.Cat, op.Axis(1), a, a)}
		}, 2},
		"narrow": {15, func(x, y *ir.Node) []*ir.Node {
			return []*ir.Node{op.Apply(op.Cat, op.Axis(1), apply(op.Tanh, x), apply(op.Mul, x, y))}
		}, 2},
	} {
		g := ir.New()
		shape := []int{20, c.width}
		x, y := g.Input(0, array.Float32, shape), g.Input(1, array.Float32, shape)
		sig := Sig{array.Float32, shape, array.RowMajor(shape)}
		p := Build(c.build(x, y), []Sig{sig, sig}, nil, OnCPU)
		copies := 0
		for _, s := range p.Steps {
			if s.Kernel != nil && s.Kernel.Prog.Name == "copy" || s.Node != nil && s.Node.Op == op.Copy {
				copies++
			}
		}
		if copies != c.copies {
			t.Errorf("%s: %d copies, want %d\n%s", name, copies, c.copies, p)
		}
	}
}
