package optest

import (
	"fmt"
	"math/rand/v2"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// A Graph is a graph with values for its inputs.
type Graph struct {
	X    []*Array
	Outs []*ir.Node
}

// String shows the nodes.
func (g *Graph) String() string {
	s := g.Outs[0].Graph.String() + "outputs"
	for _, o := range g.Outs {
		s += fmt.Sprintf(" n%d", o.ID)
	}
	return s
}

// Fusion demands that graphs planned as one give the bits that they give node by
// node, on the device and on the oracle.
func Fusion(t T, dev device.Device, caps Caps) {
	t.Helper()
	s := newSuite(t, dev, caps)
	defer s.mem.Close()
	for seed := range uint64(caps.Graphs) {
		s.fused(fmt.Sprintf("graph %d", seed), RandomGraph(seed))
		if len(s.failed) > maxReports {
			break
		}
	}
	t.Logf("%d graphs", caps.Graphs)
}

// fused compares a graph planned as one with the same node by node.
func (s *suite) fused(name string, g *Graph) {
	if !s.have(g.Outs) {
		return
	}
	want := map[*ir.Node]*Array{}
	reach := ir.Reach(g.Outs)
	for i, n := range g.Outs[0].Graph.Nodes[:len(reach)] {
		if !reach[i] || n.Op == ir.Const {
			continue
		}
		if n.Op == ir.Input {
			want[n] = g.X[n.Attrs.Int]
			continue
		}
		one, ins := alone(n, want)
		got, err := s.outputs(s.dev, []*ir.Node{one}, ins)
		if err != nil {
			s.errorf(name, "%s: node %s alone: %v\n%s", name, n, err, g)
			return
		}
		want[n] = got[0]
	}
	devs := []device.Device{s.dev}
	if s.caps.Oracle != nil {
		devs = append(devs, s.caps.Oracle)
	}
	for k, dev := range devs {
		got, err := s.outputs(dev, g.Outs, g.X)
		if err != nil {
			s.errorf(name, "%s: %v\n%s", name, err, g)
			return
		}
		for i, o := range g.Outs {
			if j := same(want[o], got[i]); j >= 0 {
				s.errorf(name, "%s, fused (device %d): n%d %s, node by node %s\n%s", name, k, o.ID, got[i].at(j), want[o].at(j), g)
				return
			}
		}
	}
}

// alone rebuilds a node in a graph of its own, with its arguments as inputs.
func alone(n *ir.Node, values map[*ir.Node]*Array) (*ir.Node, []*Array) {
	g := ir.New()
	var ins []*Array
	args := make([]*ir.Node, len(n.Args))
	for i, a := range n.Args {
		if a.Op == ir.Const {
			args[i] = g.Node(ir.Const, a.Attrs, a.DType, a.Shape, a.Weak)
			continue
		}
		args[i] = g.Input(len(ins), a.DType, a.Shape)
		ins = append(ins, values[a])
	}
	return g.Node(n.Op, n.Attrs, n.DType, n.Shape, n.Weak, args...), ins
}

// outputs computes nodes on contiguous inputs.
func (s *suite) outputs(dev device.Device, outs []*ir.Node, x []*Array) ([]*Array, error) {
	s.mem.Reset()
	ins := make([]array.View, len(x))
	for i := range x {
		ins[i] = s.mem.hold(x[i], Contiguous)
	}
	dst := make([]array.View, len(outs))
	for i, o := range outs {
		dst[i] = s.mem.room(o.DType, o.Shape, Contiguous)
	}
	var p *plan.Plan
	err := attempt(func() error {
		p = plan.Build(outs, sigs(ins), nil)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if dev == s.dev {
		err = s.run(p, ins, dst)
	} else {
		err = compute(dev, p, ins, dst)
	}
	if err != nil {
		return nil, err
	}
	res := make([]*Array, len(outs))
	for i := range dst {
		res[i] = Read(dst[i])
	}
	return res, nil
}

// RandomGraph returns a graph of a seed: elementwise operations, reductions,
// softmaxes, windows and casts over a few shapes that broadcast with each other.
func RandomGraph(seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 7))
	g := ir.New()
	out := &Graph{}
	rows, cols := 1+r.IntN(5), 1+r.IntN(9)
	if r.IntN(4) == 0 {
		rows = 60 + r.IntN(80)
	}
	if r.IntN(8) == 0 {
		cols = 60 + r.IntN(80)
	}
	shapes := [][]int{{rows, cols}, {rows, cols}, {rows, cols}, {cols}, {rows, 1}, {}}
	types := []array.DType{array.Float32, array.Float32, array.Float32, array.Float64, array.Int32, array.Int64, array.Uint8, array.Bool}
	pool := []*ir.Node{}
	for i := range 2 + r.IntN(3) {
		d, s := types[r.IntN(len(types))], shapes[r.IntN(len(shapes))]
		out.X = append(out.X, Random(r, d, s, [2]float64{}, 0))
		pool = append(pool, g.Input(i, d, s))
	}
	any := func() *ir.Node {
		if r.IntN(3) == 0 {
			return pool[r.IntN(len(pool))]
		}
		return pool[len(pool)-1-r.IntN(min(3, len(pool)))]
	}
	var defs []*op.Def
	for _, d := range op.Table() {
		if elementwise(d) && d.Name != "pow" && d.Name != "mod" {
			defs = append(defs, d)
		}
	}
	reductions := []*op.Def{op.Sum, op.Min, op.Max, op.Mean, op.All, op.Any, op.ArgMax, op.LogSumExp, op.Softmax, op.Var}
	for range 2 + r.IntN(12) {
		x := any()
		var n *ir.Node
		err := attempt(func() error {
			switch k := r.IntN(20); {
			case k < 10:
				d := defs[r.IntN(len(defs))]
				args := []*ir.Node{x}
				for len(args) < d.Arity {
					if r.IntN(5) == 0 {
						args = append(args, g.Number(float64(r.IntN(5))-1, array.Int64, true))
					} else {
						args = append(args, any())
					}
				}
				n = op.Apply(d, ir.Attrs{Int: r.IntN(4)}, args...)
			case k < 15 && len(x.Shape) > 0:
				a := ir.Attrs{Ints: []int{r.IntN(len(x.Shape))}, Flag: r.IntN(3) > 0}
				n = op.Apply(reductions[r.IntN(len(reductions))], a, x)
			case k == 15 && len(x.Shape) > 1:
				n = op.Transpose(x, 0, 1)
				if r.IntN(2) == 0 {
					n = op.Apply(op.Sum, ir.Attrs{Ints: []int{1}}, n)
				}
			case k == 16 && len(x.Shape) > 0:
				n = op.Apply(op.Reshape, ir.Attrs{Ints: []int{x.Size()}}, x)
			case k == 17:
				n = op.Apply(op.Cast, ir.Attrs{DType: types[r.IntN(len(types))]}, x)
			case k == 18:
				n = op.Apply(op.Where, ir.Attrs{}, x, any(), any())
			case len(x.Shape) > 0:
				n = op.Narrow(x, 0, 0, max(x.Shape[0]-r.IntN(2), 1))
			}
			return nil
		})
		if err != nil || n == nil || n.Size() > 1<<15 {
			continue // refused: shapes or types do not fit
		}
		pool = append(pool, n)
	}
	for range 1 + r.IntN(3) {
		o := any()
		if o.Op != ir.Const {
			out.Outs = append(out.Outs, o)
		}
	}
	return out
}
