package optest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

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
	used := map[*op.Def]int{}
	for seed := caps.First; seed < caps.First+uint64(caps.Graphs); seed++ {
		// Every second graph has its inputs and outputs in layouts of all kinds.
		layout := allContiguous
		if seed%2 == 1 {
			layout = func(i int) Layout { return Layout(seed/2+uint64(i)) % numLayouts }
		}
		g := RandomGraph(seed, used)
		g.addEpilogues(seed)
		g.addKernels(seed, used)
		g.addLists(seed, used)
		g.addPlaces(seed, used)
		if seed%16 == 0 { // their code is long
			g.addSpecials(seed)
		}
		s.fused(fmt.Sprintf("graph %d", seed), g, layout)
		if len(s.failed) > maxReports {
			break
		}
	}
	least, rare := caps.Graphs, ""
	for _, defs := range [][]*op.Def{graphPointwise(), graphReductions(), {op.Kernel, op.Slice, op.Pad, op.Cat, op.Diagonal, op.Expand, op.Linear, op.MatMul, op.MaxPool2d, op.AvgPool2d, op.Conv2d,
		op.IndexSelect, op.Gather, op.Lookup("index_add"), op.Lookup("scatter_sum")},
		{op.Iota}, {op.SegmentSum, op.SegmentMax, op.SegmentMin, op.SegmentProd, op.SegmentMean, op.SegmentLogSumExp, op.SegmentSoftmax, op.SegmentExpand}} {
		for _, d := range defs {
			if used[d] < least {
				least, rare = used[d], d.Name
			}
		}
	}
	if caps.Graphs >= 400 && least == 0 {
		t.Errorf("no graph has %s", rare)
	}
	t.Logf("%d graphs; the rarest operation, %s, %d times", caps.Graphs, rare, least)
}

// addEpilogues makes outputs of elementwise operations of each product and convolution, and of
// some other node.
func (g *Graph) addEpilogues(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 8))
	nodes := g.Outs[:0:0]
	if len(g.Outs) > 0 {
		nodes = g.Outs[0].Graph.Nodes
	}
	for _, y := range nodes {
		if d := op.Of(y); d == nil || d.Tiled == 0 {
			continue
		}
		defs := graphPointwise()
		x, d := nodes[r.IntN(len(nodes))], defs[r.IntN(len(defs))]
		array.Try(func() {
			z := op.Apply(op.Add, nil, y, x)
			if d.Arity == 1 {
				z = op.Apply(d, nil, z)
			}
			if z.Size() <= 1<<15 && z.DType.Supported() {
				g.Outs = append(g.Outs, z)
			}
		})
	}
}

// addSpecials makes an output of a function of package special on nodes of the graph.
func (g *Graph) addSpecials(seed uint64) {
	if len(g.Outs) == 0 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 12))
	nodes, defs := g.Outs[0].Graph.Nodes, op.Specials()
	for range 20 { // most arguments have shapes or types that do not fit
		d := defs[r.IntN(len(defs))]
		args := make([]*ir.Node, d.Arity)
		for i := range args {
			args[i] = nodes[r.IntN(len(nodes))]
		}
		err := array.Try(func() {
			y := op.Apply(d, nil, args...)
			z := op.Apply(op.Add, nil, op.Apply(op.Exp, nil, op.Apply(op.Neg, nil, op.Apply(op.Abs, nil, y))), args[0])
			if z.Size() > 1<<10 || !z.DType.Supported() {
				array.Failf("graph", "", "too large")
			}
			g.Outs = append(g.Outs, z)
		})
		if err == nil {
			return
		}
	}
}

// addKernels makes outputs of kernels on nodes of the graph, and of what reads their results:
// elementwise operations, reductions, windows and other kernels.
func (g *Graph) addKernels(seed uint64, used map[*op.Def]int) {
	if len(g.Outs) == 0 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 9))
	pool := slices.DeleteFunc(slices.Clone(g.Outs[0].Graph.Nodes), func(n *ir.Node) bool { return n.Results != nil || n.DType.Complex() })
	any := func() *ir.Node { return pool[len(pool)-1-r.IntN(min(len(pool), 6+r.IntN(20)))] }
	for range 1 + r.IntN(3) {
		d := array.Float32
		if r.IntN(3) == 0 {
			d = array.Float64
		}
		bodies := []op.Body{polarBody(d), powerBody(d, r.IntN(2)), escapeBody(d), lookBody(d)}
		b := bodies[r.IntN(len(bodies))]
		array.Try(func() {
			var args []*ir.Node
			for _, p := range b.Params() {
				args = append(args, op.Convert(any(), p.DType))
			}
			results := op.ApplyAll(op.Kernel, b, args...)
			if results[0].Size() > 1<<15 {
				return
			}
			used[op.Kernel]++
			pool = append(pool, results...)
			for range r.IntN(4) {
				x := results[r.IntN(len(results))]
				switch r.IntN(5) {
				case 0:
					x = op.Apply(op.Add, nil, x, any())
				case 1:
					x = op.Apply(op.Mul, nil, op.Convert(x, d), op.Convert(results[0], d))
				case 2:
					x = op.Apply(op.Softmax, op.Reduction{Axes: []int{-1}}, op.Convert(x, d))
				case 3:
					x = op.Apply(op.Max, op.Reduction{Axes: []int{r.IntN(2) - 1}, Keep: r.IntN(2) == 0}, x)
				case 4:
					if len(x.Shape) > 1 {
						x = op.Transpose(x, 0, 1)
					}
				}
				if x.Size() <= 1<<15 {
					pool = append(pool, x)
				}
			}
			for range 1 + r.IntN(2) {
				if x := any(); x.Op != ir.Const && x.DType.Supported() {
					g.Outs = append(g.Outs, x)
				}
			}
			if r.IntN(2) == 0 {
				g.Outs = append(g.Outs, results...)
			}
		})
	}
}

// addPlaces makes outputs that reduce elements which depend on their indices, over any axes.
func (g *Graph) addPlaces(seed uint64, used map[*op.Def]int) {
	if len(g.Outs) == 0 || seed%2 == 0 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 11))
	nodes := slices.DeleteFunc(slices.Clone(g.Outs[0].Graph.Nodes), func(n *ir.Node) bool {
		return n.Results != nil || n.DType.Complex() || n.Op == ir.Const || n.Size() == 0
	})
	if len(nodes) == 0 {
		return
	}
	for range 1 + r.IntN(2) {
		x := nodes[r.IntN(len(nodes))]
		array.Try(func() {
			shape := slices.Clone(x.Shape)
			for len(shape) < 1+r.IntN(4) {
				shape = slices.Insert(shape, 0, 1+r.IntN(6))
			}
			if array.Size(shape) > 1<<15 {
				return
			}
			x = op.Apply(op.Expand, op.Shape(shape), x)
			for range 1 + r.IntN(2) {
				at := op.Convert(op.Apply(op.Iota, op.Axis(r.IntN(len(shape))), x), array.Int64)
				switch r.IntN(3) {
				case 0:
					x = op.Apply(op.Add, nil, op.Convert(x, array.Float32), op.Convert(at, array.Float32))
				case 1:
					limit := op.Apply(op.Iota, op.Axis(r.IntN(len(shape))), x)
					x = op.Apply(op.Where, nil, op.Apply(op.Le, nil, at, limit), x, op.Apply(op.Neg, nil, op.Convert(x, array.Float32)))
				case 2:
					x = op.Apply(op.Mul, nil, at, op.Convert(x, array.Int64))
				}
				used[op.Iota]++
			}
			if r.IntN(4) == 0 {
				g.Outs = append(g.Outs, x)
			}
			var axes []int
			for a := range shape {
				if r.IntN(3) > 0 {
					axes = append(axes, a)
				}
			}
			if len(axes) == 0 {
				axes = []int{0}
			}
			d := []*op.Def{op.Sum, op.Max, op.Mean, op.Var, op.Any, op.LogSumExp}[r.IntN(6)]
			g.Outs = append(g.Outs, op.Apply(d, op.Reduction{Axes: axes, Keep: r.IntN(2) == 0}, x))
		})
	}
}

func allContiguous(int) Layout { return Contiguous }

// fused compares a graph planned as one, its inputs and then its outputs in each of the
// given layouts, with the same node by node.
func (s *suite) fused(name string, g *Graph, layouts ...func(i int) Layout) {
	if !s.have(g.Outs) {
		return
	}
	want := map[*ir.Node]*Array{}
	reach := ir.Reach(g.Outs)
	for i, n := range g.Outs[0].Graph.Nodes[:len(reach)] {
		if !reach[i] || n.Op == ir.Const || n.Results != nil {
			continue // of a node with several results each is computed by itself
		}
		if n.Op == ir.Input {
			want[n] = g.X[n.Arg()]
			continue
		}
		one, ins := alone(n, want)
		got, err := s.outputs(s.dev, []*ir.Node{one}, ins, allContiguous)
		if err != nil {
			s.errorf(name, "%s: node %s alone: %v\n%s", name, n, err, g)
			return
		}
		want[n] = got[0]
	}
	s.overInputs(name, g, want)
	devs := []device.Device{s.dev}
	if s.caps.Oracle != nil {
		devs = append(devs, s.caps.Oracle)
	}
	for _, layout := range layouts {
		for k, dev := range devs {
			got, err := s.outputs(dev, g.Outs, g.X, layout)
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
}

// overInputs compares a graph planned as one whose outputs are given the memory of inputs of
// their type with the same node by node.
func (s *suite) overInputs(name string, g *Graph, want map[*ir.Node]*Array) {
	s.mem.Reset()
	ins, outs := make([]array.View, len(g.X)), make([]array.View, len(g.Outs))
	for i, x := range g.X {
		ins[i] = s.mem.hold(x, []Layout{Contiguous, Contiguous, Strided}[i%3])
	}
	into, given := make([]int, len(outs)), make([]bool, len(ins))
	some := false
	for j, o := range g.Outs {
		into[j] = -1
		for i, x := range g.X {
			if !given[i] && x.DType == o.DType && array.Equal(x.Shape, o.Shape) {
				into[j], given[i], some = i, true, true
				break
			}
		}
		if into[j] < 0 {
			outs[j] = s.mem.room(o.DType, o.Shape, Contiguous)
		}
	}
	if !some {
		return
	}
	err := attempt(func() error {
		return compute(s.dev, plan.BuildInto(g.Outs, sigs(ins), nil, into, s.dev.Model()), ins, outs)
	})
	if err != nil {
		s.errorf(name, "%s, in place: %v\n%s", name, err, g)
		return
	}
	for j, o := range g.Outs {
		got := Read(outs[j])
		if k := same(want[o], got); k >= 0 {
			s.errorf(name, "%s, outputs in the memory of inputs %v: n%d %s, node by node %s\n%s", name, into, o.ID, got.at(k), want[o].at(k), g)
			return
		}
		if !untouched(outs[j]) {
			s.errorf(name, "%s, outputs in the memory of inputs %v: writes beside the elements of result %d\n%s", name, into, j, g)
		}
	}
}

// alone rebuilds a node in a graph of its own, with its arguments as inputs.
func alone(n *ir.Node, values map[*ir.Node]*Array) (*ir.Node, []*Array) {
	if n.Op == ir.Result {
		of, ins := alone(n.Args[0], values)
		return of.Graph.Result(of, n.Arg()), ins
	}
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
	if n.Results != nil {
		return g.Several(n.Op, n.Attrs, n.Results, args...), ins
	}
	return g.Node(n.Op, n.Attrs, n.DType, n.Shape, n.Weak, args...), ins
}

// outputs computes nodes of inputs; layout is that of an input, or of an output
// counted on from the inputs.
func (s *suite) outputs(dev device.Device, outs []*ir.Node, x []*Array, layout func(i int) Layout) ([]*Array, error) {
	s.mem.Reset()
	ins := make([]array.View, len(x))
	for i := range x {
		ins[i] = s.mem.hold(x[i], layout(i))
	}
	dst := make([]array.View, len(outs))
	for i, o := range outs {
		dst[i] = s.mem.room(o.DType, o.Shape, layout(len(x)+i))
	}
	in, to := sigs(ins), sigs(dst)
	same := func(a, b plan.Sig) bool {
		return a.DType == b.DType && array.Equal(a.Shape, b.Shape) && array.Equal(a.Strides, b.Strides)
	}
	last := &s.planned
	if last.plan == nil || last.on != dev || !slices.Equal(last.outs, outs) || !slices.EqualFunc(last.in, in, same) || !slices.EqualFunc(last.to, to, same) {
		last.plan = nil
		if err := attempt(func() error {
			last.plan = plan.Build(outs, in, to, dev.Model())
			return nil
		}); err != nil {
			return nil, err
		}
		last.on, last.outs, last.in, last.to = dev, slices.Clone(outs), in, to
	}
	var err error
	if dev == s.dev {
		err = s.run(last.plan, ins, dst)
	} else {
		err = compute(dev, last.plan, ins, dst)
	}
	if err != nil {
		return nil, err
	}
	res := make([]*Array, len(outs))
	for i := range dst {
		if res[i] = Read(dst[i]); !untouched(dst[i]) {
			return nil, fmt.Errorf("writes beside the elements of result %d", i)
		}
	}
	return res, nil
}

// RandomGraph returns a graph of a seed, over a few shapes that broadcast with each
// other: elementwise operations, reductions, windows, joins, products, pooling,
// convolutions and indexing. used counts the operations that it applies.
func RandomGraph(seed uint64, used map[*op.Def]int) *Graph {
	r := rand.New(rand.NewPCG(seed, 7))
	m := &maker{r: r, g: ir.New(), out: &Graph{}}
	rows, cols := 1+r.IntN(5), 1+r.IntN(9)
	if r.IntN(4) == 0 {
		rows = 60 + r.IntN(80)
	}
	if r.IntN(8) == 0 {
		cols = 60 + r.IntN(80)
	}
	shapes := [][]int{{rows, cols}, {rows, cols}, {rows, cols}, {cols}, {rows, 1}, {}}
	for range 2 + r.IntN(3) {
		m.pool = append(m.pool, m.input(Random(r, graphTypes[r.IntN(len(graphTypes))], shapes[r.IntN(len(shapes))], [2]float64{}, 0)))
	}
	for range 2 + r.IntN(12) {
		var d *op.Def
		var n *ir.Node
		err := attempt(func() error {
			d, n = m.step()
			return nil
		})
		if err != nil || n == nil || n.Size() > 1<<15 {
			continue // refused: shapes or types do not fit
		}
		m.pool = append(m.pool, n)
		used[d]++
	}
	for range 1 + r.IntN(3) {
		o := m.any()
		if o.Op != ir.Const {
			m.out.Outs = append(m.out.Outs, o)
		}
	}
	return m.out
}

var (
	graphTypes = []array.DType{array.Float32, array.Float32, array.Float32, array.Float64, array.Float16, array.BFloat16, array.Int32, array.Int64, array.Uint8, array.Int8, array.Int16, array.Uint16, array.Uint32, array.Uint64, array.Bool}

	graphPointwise = sync.OnceValue(func() (defs []*op.Def) {
		for _, d := range op.Table() {
			if elementwise(d) {
				defs = append(defs, d)
			}
		}
		return defs
	})
	graphReductions = sync.OnceValue(func() (defs []*op.Def) {
		for _, d := range op.Table() {
			if d.Over != op.NoAxes {
				defs = append(defs, d)
			}
		}
		return defs
	})
)

// A maker grows a random graph.
type maker struct {
	r    *rand.Rand
	g    *ir.Graph
	out  *Graph
	pool []*ir.Node
}

func (m *maker) input(x *Array) *ir.Node {
	m.out.X = append(m.out.X, x)
	return m.g.Input(len(m.out.X)-1, x.DType, x.Shape)
}

// any is a node of the pool, mostly a late one.
func (m *maker) any() *ir.Node {
	if m.r.IntN(3) == 0 {
		return m.pool[m.r.IntN(len(m.pool))]
	}
	return m.pool[len(m.pool)-1-m.r.IntN(min(3, len(m.pool)))]
}

// index is an input of positions in an axis of size n.
func (m *maker) index(n int, shape ...int) *ir.Node {
	return m.input(Random(m.r, array.Int64, shape, [2]float64{}, n))
}

// strided takes every second element along an axis, or all of them backwards.
func (m *maker) strided(x *ir.Node, axis int) *ir.Node {
	rank := len(x.Shape)
	start, step, count := make([]int, rank), make([]int, rank), slices.Clone(x.Shape)
	for i, n := range x.Shape {
		step[i] = 1
		if i == axis && n > 0 {
			start[i], step[i] = n-1, -1
			if m.r.IntN(2) == 0 {
				start[i], step[i], count[i] = 0, 2, (n+1)/2
			}
		}
	}
	return op.Apply(op.Slice, op.Window{Start: start, Step: step, Count: count}, x)
}

// step returns a new node and the operation that made it, nil if none fits. Misuse
// panics.
func (m *maker) step() (*op.Def, *ir.Node) {
	r, x := m.r, m.any()
	rank := len(x.Shape)
	axis := 0
	if rank > 0 {
		axis = r.IntN(rank)
	}
	matrix := rank == 2 && x.Shape[0] > 0 && x.Shape[1] > 0
	apply := func(d *op.Def, a ir.Attrs, args ...*ir.Node) (*op.Def, *ir.Node) { return d, op.Apply(d, a, args...) }
	switch k := r.IntN(32); {
	case k < 12:
		defs := graphPointwise()
		d := defs[r.IntN(len(defs))]
		args := []*ir.Node{x}
		for len(args) < d.Arity {
			if r.IntN(5) == 0 {
				args = append(args, m.g.Number(float64(r.IntN(5))-1, array.Int64, true))
			} else {
				args = append(args, m.any())
			}
		}
		var attrs ir.Attrs
		if k := r.IntN(4); d == op.PowInt {
			attrs = op.Power(k)
		}
		return apply(d, attrs, args...)
	case k < 18 && rank > 0:
		defs := graphReductions()
		return apply(defs[r.IntN(len(defs))], op.Reduction{Axes: []int{axis}, Keep: r.IntN(3) > 0}, x)
	case k == 18 && rank > 1:
		n := op.Transpose(x, 0, 1)
		if r.IntN(2) == 0 {
			n = op.Apply(op.Sum, op.Reduction{Axes: []int{1}}, n)
		}
		return op.Permute, n
	case k == 19 && rank > 0:
		return apply(op.Reshape, op.Shape{x.Size()}, x)
	case k == 20:
		return apply(op.Cast, op.To(graphTypes[r.IntN(len(graphTypes))]), x)
	case k == 21:
		return apply(op.Where, nil, x, m.any(), m.any())
	case k == 22 && rank > 0 && x.Shape[0] > 0:
		return op.Slice, op.Narrow(x, 0, 0, max(x.Shape[0]-r.IntN(2), 1))
	case k == 23 && rank > 0:
		return op.Slice, m.strided(x, axis)
	case k == 24 && rank > 0:
		pads := make([]int, 2*rank)
		for i := range pads {
			pads[i] = r.IntN(3)
		}
		return apply(op.Pad, op.Padding{Pads: pads, Value: 2}, x)
	case k == 25 && rank > 0:
		y := op.Convert(m.any(), x.DType)
		return apply(op.Cat, op.Axis(axis), x, y, x)
	case k == 26 && matrix:
		if r.IntN(2) == 0 {
			return apply(op.Diagonal, op.Offset(r.IntN(3)-1), x)
		}
		return apply(op.Expand, op.Shape(append([]int{2}, x.Shape...)), x)
	case k == 27 && matrix && x.DType.Float():
		y := op.Transpose(m.any(), 0, 1)
		if r.IntN(2) == 0 {
			b := op.Apply(op.Reshape, op.Shape{x.Size()}, x)
			return apply(op.Linear, nil, x, op.Transpose(y, 0, 1), op.Narrow(b, 0, 0, min(x.Size(), y.Shape[1])))
		}
		return apply(op.MatMul, nil, x, y)
	case k == 28 && matrix:
		d := op.MaxPool2d
		if r.IntN(2) == 0 {
			d = op.AvgPool2d
		}
		return apply(d, op.Pool{Window: [2]int{min(2, x.Shape[0]), min(2, x.Shape[1])}, Stride: [2]int{1 + r.IntN(2), 1 + r.IntN(2)}}, x)
	case k == 29 && matrix && x.DType.Float():
		w := op.Narrow(op.Narrow(x, 0, 0, min(2, x.Shape[0])), 1, 0, min(3, x.Shape[1]))
		four := func(y *ir.Node) *ir.Node {
			return op.Apply(op.Reshape, op.Shape(append([]int{1, 1}, y.Shape...)), y)
		}
		_, y := apply(op.Conv2d, op.Conv{Stride: [2]int{1, 1}, Pad: [2]int{r.IntN(2), r.IntN(2)}, Dilation: [2]int{1, 1}, Groups: 1}, four(x), four(w))
		return op.Conv2d, op.Apply(op.Reshape, op.Shape(y.Shape[2:]), y)
	case k == 30 && rank > 0 && x.Shape[axis] > 0:
		if r.IntN(2) == 0 {
			return apply(op.IndexSelect, op.Axis(axis), x, m.index(x.Shape[axis], x.Shape[axis]))
		}
		return apply(op.Lookup("index_add"), op.Target{Axis: axis, Shape: x.Shape}, x, m.index(x.Shape[axis], x.Shape[axis]))
	case k == 31 && rank > 0 && x.Shape[axis] > 0:
		if r.IntN(2) == 0 {
			return apply(op.Gather, op.Axis(axis), x, m.index(x.Shape[axis], x.Shape...))
		}
		return apply(op.Lookup("scatter_sum"), op.Target{Axis: axis, Shape: x.Shape}, x, m.index(x.Shape[axis], x.Shape...))
	}
	return nil, nil
}
