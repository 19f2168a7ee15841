package op

import (
	"sync"

	"weft/internal/array"
	"weft/internal/ir"
)

// Cumulative operations (scans): element i depends on elements 0 to i along an axis.
var CumSum, CumProd, CumMax, CumMin, ScanSum, scanProd, recurrence *Def

// A Scan is the axis of a scan, and whether it starts at the end.
type Scan struct {
	Axis    int
	Reverse bool
}

func (a Scan) AppendKey(k []byte) []byte { return ir.Flag(ir.Int(k, a.Axis), a.Reverse) }

// back returns the scan of the same axis in the other direction.
func (a Scan) back() Scan {
	a.Reverse = !a.Reverse
	return a
}

// before shifts x by one along the direction of a scan: element i moves to where the scan comes
// next. fill becomes the first element.
func (a Scan) before(x *node, fill float64) *node {
	n := x.Shape[a.Axis]
	if n == 0 {
		return x
	}
	from, to := 0, 1
	if a.Reverse {
		from, to = 1, 0
	}
	w := AllOf(x.Shape)
	w.Start[a.Axis], w.Count[a.Axis] = to, n-1
	return Apply(Place, Placement{x.Shape, w, fill}, Narrow(x, a.Axis, from, n-1))
}

// ScanTreeAccs is the most accumulators of a [ScanTree].
const ScanTreeAccs = 3

// ScanTree is the scan of a [Combination] along the last axis of its arguments, one argument per
// accumulator, all with elements of 4 or 8 bytes. Groups of numbers.ScanTreeWidth neighbours are
// combined in order. The scan over the results of groups is found in the same way and is combined
// with the scan inside each group. Elements behind the last group follow one by one.
//
// It is not in the op table and has no gradient: whoever puts it into a graph provides one.
var ScanTree = unlisted(Def{Name: "scan_tree", Class: Routine, Arity: -1,
	Doc: "Running results of a function of the user along the last axis.",
	Typing: Typing{InferAll: func(c *Call) []ir.Type {
		var types []ir.Type
		for _, x := range c.Args {
			types = append(types, ir.Type{DType: x.DType, Shape: x.Shape})
		}
		return types
	}},
	ByRoutine: ByRoutine{Routine: ir.RoutineScanTree, Contiguous: true}})

// A Combination is the attribute of a [ScanTree]: a body that takes the accumulators of the left
// side, then the accumulators of the right side, and returns the combined accumulators.
type Combination struct {
	Body
	Made sync.Map // what devices made of it, by device
}

func init() {
	samples := []Sample{{Shapes: [][]int{{7}}}, {Shapes: [][]int{{5, 3}}}, {Shapes: [][]int{{3, 70}}, Attrs: Axis(1)},
		{Shapes: [][]int{{2, 9, 3}}, Attrs: Axis(1)}, {Shapes: [][]int{{0, 3}}}, {Shapes: [][]int{{3, 0}}}}
	raw := []Sample{{Shapes: [][]int{{7}}}, {Shapes: [][]int{{5, 3}}, Attrs: Scan{Reverse: true}}, {Shapes: [][]int{{9, 70}}, Attrs: Scan{Axis: 1, Reverse: true}}, {Shapes: [][]int{{2, 9, 3}}, Attrs: Scan{Axis: 1}}}
	// wide checks that elements are of a type in which running results are computed.
	wide := func(c *Call) (array.DType, []int) {
		x := c.Args[0]
		axis, ok := c.Attrs.(Axis)
		if !ok {
			axis = Axis(c.Attrs.(Scan).Axis)
		}
		c.inRank(int(axis), len(x.Shape))
		if d := x.DType; !(d.Float() || d.Integer()) || d.Size() < 4 || d.Integer() && d.Size() < 8 {
			c.Failf("", "is not defined for %s", d)
		}
		return x.DType, x.Shape
	}
	ScanSum = define(Def{Name: "scan_sum", Class: Routine, Arity: 1, Attrs: Scan{},
		Doc: "The primitive of cumsum: of integers each element plus the result before it, of floats in blocks of 64 bytes and groups of 16, whose order scan.go gives.",
		Typing: Typing{Wide: true,
			Infer: wide},
		ByRoutine: ByRoutine{Routine: ir.RoutineScanSum, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return Apply(ScanSum, v.Node.Attrs.(Scan).back(), v.DY) })
		}},
		Conformance: Conformance{Samples: raw}})
	scanProd = define(Def{Name: "scan_prod", Class: Routine, Arity: 1, Attrs: Axis(0),
		Doc: "The primitive of cumprod: the product before times each element; the products of float32 are kept in float64, and each is rounded.",
		Typing: Typing{Wide: true,
			Infer: wide},
		ByRoutine: ByRoutine{Routine: ir.RoutineScanProd, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			// What follows an element is dy plus the next element times what follows that:
			// no quotient, so that zeros do no harm.
			v.Set(0, func() *node {
				a := Scan{Axis: int(v.Node.Attrs.(Axis))}
				return mul(a.before(v.Y, 1), Apply(recurrence, a.back(), v.DY, v.X[0]))
			})
		}},
		Conformance: Conformance{Samples: samples}})
	recurrence = define(Def{Name: "recurrence", Class: Routine, Arity: 2, Attrs: Scan{},
		Doc: "y[i] = x[i] + a[i]*y[i-1] along an axis, the second argument being a; in reverse x[i] + a[i+1]*y[i+1]. The product is rounded; of float32, y is kept in float64, and each is rounded.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				c.floats(2, 2)
				c.sameShape("a", c.Args[1].Shape, c.Args[0].Shape)
				return wide(c)
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineRecurrence, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			a := v.Node.Attrs.(Scan)
			back := func() *node { return Apply(recurrence, a.back(), v.DY, v.X[1]) }
			v.Set(0, back)
			v.Set(1, func() *node {
				if a.Reverse {
					return mul(v.Y, a.back().before(back(), 0))
				}
				return mul(back(), a.before(v.Y, 0))
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7}, {7}}}, {Shapes: [][]int{{5, 3}, {5, 3}}, Attrs: Scan{Reverse: true}}, {Shapes: [][]int{{2, 9}, {2, 9}}, Attrs: Scan{Axis: 1}}}}})
	for _, r := range []struct {
		def       **Def
		name, doc string
		onnx      string
		scan      func(x *node, axis int) *node
	}{
		{&CumSum, "cumsum", "The sums of each element and all before it along an axis; floats are added in blocks.", "CumSum",
			func(x *node, axis int) *node { return Apply(ScanSum, Scan{Axis: axis}, x) }},
		{&CumProd, "cumprod", "The products of each element and all before it along an axis, multiplied in that order, float32 in float64.", "",
			func(x *node, axis int) *node { return Apply(scanProd, Axis(axis), x) }},
	} {
		*r.def = define(Def{Name: r.name, Class: Composite, Arity: 1, Attrs: Axis(0), ONNX: r.onnx, Doc: r.doc,
			Composed: Composed{Compose: func(x []*node, a ir.Attrs) *node {
				(&Call{Def: *r.def, Args: x}).inRank(int(a.(Axis)), len(x[0].Shape))
				return r.scan(Convert(x[0], accumulator(x[0], Reduction{})), int(a.(Axis)))
			}},
			Typing:      Typing{Wide: true},
			Conformance: Conformance{Samples: samples}})
	}
	for _, r := range []struct {
		def        **Def
		name, what string
		routine    ir.RoutineID
	}{{&CumMax, "cummax", "greatest", ir.RoutineCumMax}, {&CumMin, "cummin", "least", ir.RoutineCumMin}} {
		*r.def = define(Def{Name: r.name, Class: Routine, Arity: 1, Attrs: Axis(0),
			Doc: "The " + r.what + " of each element and all before it along an axis, and its place, int64: the last of equal ones. A NaN stays.",
			Typing: Typing{Results: 2,
				InferAll: func(c *Call) []ir.Type {
					x := c.Args[0]
					c.inRank(int(c.Attrs.(Axis)), len(x.Shape))
					if x.DType.Category() > array.CatFloat {
						c.Failf("", "is not defined for %s, which has no order", x.DType)
					}
					return []ir.Type{{DType: x.DType, Shape: x.Shape}, {DType: array.Int64, Shape: x.Shape}}
				}},
			ByRoutine: ByRoutine{Routine: r.routine, Contiguous: true},
			Derivative: Derivative{VJP: func(v *VJP) {
				v.Set(0, func() *node {
					return Apply(scatterSum, Target{int(v.Node.Attrs.(Axis)), v.X[0].Shape}, v.DYs[0], v.Ys[1])
				})
			}},
			Conformance: Conformance{Samples: samples}})
	}
}
