package optest

import (
	"math/rand/v2"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// addLists makes outputs of operations on items of lists. Rows come from nodes of the graph or
// from arrays of their own. The operations are reductions of items, values of items spread over
// their rows, elementwise operations on both, what else may share a kernel with them, and
// gradients.
func (g *Graph) addLists(seed uint64, used map[*op.Def]int) {
	if len(g.Outs) == 0 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 10))
	graph := g.Outs[0].Graph
	input := func(x *Array) *ir.Node {
		g.X = append(g.X, x)
		return graph.Input(len(g.X)-1, x.DType, x.Shape)
	}
	pool := slices.DeleteFunc(slices.Clone(graph.Nodes), func(n *ir.Node) bool {
		return n.Results != nil || n.DType.Complex() || len(n.Shape) == 0 || n.Shape[0] == 0 || n.Op == ir.Const
	})
	var x *ir.Node
	if r.IntN(2) == 0 && len(pool) > 0 {
		x = pool[r.IntN(len(pool))]
	} else {
		shape := [][]int{{1 + r.IntN(300)}, {9000 + r.IntN(300)}, {1 + r.IntN(70), 1 + r.IntN(20)}, {1 + r.IntN(20), 3, 1 + r.IntN(40)}, {1 + r.IntN(90), 1}}[r.IntN(5)]
		x = input(Random(r, []array.DType{array.Float32, array.Float64, array.Float32, array.Int32, array.Float16}[r.IntN(5)], shape, [2]float64{}, 0))
	}
	if r.IntN(3) == 0 { // rows of a table, wide enough to be read where they are
		d := []array.DType{array.Float32, array.Float64, array.Float16}[r.IntN(3)]
		table := input(Random(r, d, []int{1 + r.IntN(40), 32 + r.IntN(40)}, [2]float64{}, 0))
		places := input(Random(r, array.Int64, []int{1 + r.IntN(90)}, [2]float64{}, table.Shape[0]))
		x = op.Apply(op.IndexSelect, op.Axis(0), table, places)
		used[op.IndexSelect]++
	}
	rows := x.Shape[0]
	offsets := func(items int) *ir.Node {
		o := Random(r, array.Int64, []int{items + 1}, [2]float64{}, rows+1)
		slices.Sort(o.I)
		if r.IntN(4) > 0 { // no row is left out
			o.I[0], o.I[items] = 0, int64(rows)
		}
		return input(o)
	}
	items := 1 + r.IntN(min(2*rows, 200))
	if r.IntN(6) == 0 {
		items = rows // values of items and of rows have one shape
	}
	off := offsets(items)
	elements, values := []*ir.Node{x}, []*ir.Node{}
	pick := func(of []*ir.Node) *ir.Node { return of[len(of)-1-r.IntN(min(len(of), 4))] }
	apply := func(d *op.Def, a ir.Attrs, args ...*ir.Node) *ir.Node {
		n := op.Apply(d, a, args...)
		used[d]++
		return n
	}
	pointwise := func(of []*ir.Node) *ir.Node {
		defs := graphPointwise()
		d := defs[r.IntN(len(defs))]
		var args []*ir.Node
		for range d.Arity {
			if y := pick(of); len(args) > 0 && r.IntN(4) == 0 {
				args = append(args, graph.Number(float64(r.IntN(5)), array.Int64, true))
			} else {
				args = append(args, y)
			}
		}
		var attrs ir.Attrs
		if d == op.PowInt {
			attrs = op.Power(r.IntN(4))
		}
		return apply(d, attrs, args...)
	}
	reductions := []*op.Def{op.SegmentSum, op.SegmentMax, op.SegmentMin, op.SegmentProd, op.SegmentMean, op.SegmentLogSumExp, op.SegmentArgMax}
	shape := slices.Clone(x.Shape)
	for range 3 + r.IntN(10) {
		array.Try(func() {
			var n *ir.Node
			switch k := r.IntN(20); {
			case k < 5:
				n = apply(reductions[r.IntN(len(reductions))], nil, pick(elements), off)
				values = append(values, n)
				return
			case k < 9 && len(values) > 0:
				n = apply(op.SegmentExpand, op.Rows(rows), pick(values), off)
			case k < 11 && len(values) > 0:
				if n = pointwise(values); array.Equal(n.Shape, values[0].Shape) {
					values = append(values, n)
				}
				return
			case k == 11:
				n = apply(op.SegmentSoftmax, nil, op.Convert(pick(elements), array.Float32), off)
			case k == 12:
				n = op.Convert(op.Apply(op.Iota, op.Axis(r.IntN(len(shape))), pick(elements)), array.Float32)
			case k == 13: // a value of each item from outside
				v := slices.Clone(shape)
				v[0] = items
				values = append(values, input(Random(r, array.Float32, v, [2]float64{}, 0)))
				return
			case k == 14: // another list of the same rows
				n = op.Apply(op.Softmax, op.Reduction{Axes: []int{r.IntN(len(shape))}}, op.Convert(pick(elements), array.Float32))
				if r.IntN(2) == 0 {
					off = offsets(items)
				}
			case k == 15 && len(shape) == 1:
				n = op.ApplyAll(op.Kernel, escapeBody(array.Float32), op.Convert(pick(elements), array.Float32), op.Convert(pick(elements), array.Float32))[0]
			default:
				n = pointwise(elements)
			}
			if array.Equal(n.Shape, shape) {
				elements = append(elements, n)
			}
		})
	}
	out := func(n *ir.Node) {
		if n.Op != ir.Const && n.DType.Supported() {
			g.Outs = append(g.Outs, n)
		}
	}
	for range 1 + r.IntN(3) {
		out(pick(elements))
		if len(values) > 0 && r.IntN(2) == 0 {
			out(pick(values))
		}
	}
	if y := g.Outs[len(g.Outs)-1]; r.IntN(3) == 0 && y.DType.Float() && x.DType.Float() {
		array.Try(func() {
			// Half of the square's.
			if d := op.Gradient([]*ir.Node{y}, []*ir.Node{y}, []*ir.Node{x})[0]; d != nil && d.Op != ir.Const && d.Size() <= 1<<15 {
				g.Outs = append(g.Outs, d)
			}
		})
	}
}
