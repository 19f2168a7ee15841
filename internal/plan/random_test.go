package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// randomGraph returns outputs of a graph with many paths between its nodes:
// elementwise operations, reductions that are broadcast back, products and windows
// over a square, its rows, its columns and one number, with their gradients now
// and then; and the inputs' signatures.
func randomGraph(seed uint64, steps int) ([]*ir.Node, []Sig) {
	r := rand.New(rand.NewPCG(seed, 5))
	g := ir.New()
	n := 1 + r.IntN(6)
	var sigs []Sig
	var pool []*ir.Node
	for i, s := range [][]int{{n, n}, {n, n}, {n, n}, {n}, {n, 1}, {1, n}, {}} {
		pool = append(pool, g.Input(i, array.Float32, s))
		sigs = append(sigs, Sig{array.Float32, s, array.RowMajor(s)})
	}
	wrt := append([]*ir.Node(nil), pool...)
	near := 1 + r.IntN(20) // how far back arguments lie, mostly
	any := func() *ir.Node {
		if r.IntN(6) == 0 {
			return pool[r.IntN(len(pool))]
		}
		return pool[len(pool)-1-r.IntN(min(near, len(pool)))]
	}
	square := func() *ir.Node {
		x := any()
		return op.Apply(op.Expand, op.Shape{n, n}, x)
	}
	for range steps {
		var y *ir.Node
		switch r.IntN(16) {
		default:
			y = apply([]*op.Def{op.Add, op.Mul, op.Sub}[r.IntN(3)], any(), any())
		case 6, 7:
			y = apply([]*op.Def{op.Exp, op.Relu, op.Square, op.Tanh}[r.IntN(4)], any())
		case 8:
			y = apply(op.Mul, any(), g.Scalar(r.IntN(40), array.Float32, false))
		case 9, 10, 11:
			y = axes([]*op.Def{op.Sum, op.Max, op.Mean, op.Var}[r.IntN(4)], true, square(), r.IntN(2))
		case 12:
			y = op.Apply(op.Softmax, op.Reduction{Axes: []int{r.IntN(2)}}, square())
		case 13, 14:
			y = apply(op.MatMul, square(), square())
		case 15:
			y = op.Transpose(square(), 0, 1)
		}
		pool = append(pool, y)
	}
	outs := []*ir.Node{pool[len(pool)-1]}
	for range r.IntN(4) {
		outs = append(outs, pool[r.IntN(len(pool))])
	}
	if r.IntN(2) == 0 {
		last := outs[0]
		for _, d := range op.Gradient(outs[:1], []*ir.Node{apply(op.Square, last)}, wrt) {
			if d != nil {
				outs = append(outs, d)
			}
		}
	}
	return outs, sigs
}

// check demands of a plan that every step reads what is there: an input, or what an
// earlier step wrote, and that a step is not over a slot's last use.
func check(p *Plan) error {
	written := make([]bool, len(p.Slots))
	for i := range p.Inputs {
		written[i] = true
	}
	use := func(at int, o Operand, write bool) error {
		if !write && array.Size(o.Shape) > 0 && !written[o.Slot] {
			return fmt.Errorf("step %d reads slot %d, which no step before writes", at, o.Slot)
		}
		if write && o.Slot < p.Inputs {
			return fmt.Errorf("step %d writes input %d", at, o.Slot)
		}
		if p.Slots[o.Slot].Last < at {
			return fmt.Errorf("step %d uses slot %d after step %d, its last use", at, o.Slot, p.Slots[o.Slot].Last)
		}
		return nil
	}
	for at, s := range p.Steps {
		var all []Operand
		var writes []bool
		if s.Kernel == nil {
			for _, o := range append(s.Args, s.Outs[0]) {
				all, writes = append(all, o), append(writes, len(all) == len(s.Args))
			}
		}
		run := func() error {
			for i, o := range all {
				if err := use(at, o, writes[i]); err != nil {
					return err
				}
			}
			for i, o := range all {
				written[o.Slot] = written[o.Slot] || writes[i]
			}
			return nil
		}
		if err := run(); err != nil {
			return err
		}
		for _, k := range []*Kernel{s.Kernel, s.Epilogue} {
			if k == nil {
				continue
			}
			all, writes = nil, nil
			for i, o := range k.Binds {
				all, writes = append(all, o), append(writes, k.Prog.Bufs[i].Write)
			}
			if err := run(); err != nil {
				return err
			}
		}
	}
	for i, o := range p.Outs {
		if array.Size(o.Shape) > 0 && !written[o.Slot] {
			return fmt.Errorf("no step writes output %d", i)
		}
	}
	return nil
}

// The steps of any graph come in an order in which they can run, and its kernels
// keep within their bounds.
func TestStepOrderOfRandomGraphs(t *testing.T) {
	seeds := 2000
	if testing.Short() {
		seeds = 300
	}
	for seed := range uint64(seeds) {
		steps := 2 + int(seed%120)
		if seed%50 == 0 {
			steps = 1000
		}
		outs, sigs := randomGraph(seed, steps)
		p := Build(outs, sigs, nil, OnCPU)
		if err := check(p); err != nil {
			t.Fatalf("seed %d: %v\n%s%s", seed, err, outs[0].Graph, p)
		}
	}
}
