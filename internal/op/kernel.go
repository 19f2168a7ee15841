package op

import (
	"fmt"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

// Kernel is what a [Body] computes for each element: the function of a user over loop
// values. It fuses as every elementwise operation does.
var Kernel *Def

// Seen says how an elementwise operation reads an argument.
type Seen uint8

const (
	ByElement Seen = iota // its value at the element; broadcast
	Near                  // at offsets from the element's own index, which may lie outside the argument's view; broadcast
	Whole                 // at indices from its first element; takes no part in broadcasting
	AlongAxis             // at its own index but along one axis, whose stride alone an [Access] has; for package plan
)

// A Param is an argument that a [Body] takes.
type Param struct {
	Name  string // for messages; may be empty
	Seen  Seen
	DType array.DType
	Rank  int // of an array that is seen whole; 0: any
}

// A Body is the attribute of a [Kernel] node: what one element of its results is. Complex
// numbers are two arguments and two results, their parts.
type Body interface {
	// Attrs gives the key: bodies with one key compute the same, whatever their types.
	ir.Attrs

	Name() string // for messages
	// Params are its arguments, with exactly these dtypes.
	Params() []Param
	// Results are the element types of its results, at least one.
	Results() []array.DType
	// Cost is a rough number of vector instructions an element.
	Cost() int
	// EmitKernel writes the instructions and returns a value a result, of the type in
	// which loop.TypeOf computes it. It may be called more than once and writes the same
	// each time.
	EmitKernel(e *Emit) []loop.Value
	// Partials returns a body of the same arguments whose results are the partial
	// derivatives of each result that is asked for by each argument that is asked for,
	// result by result, each of the argument's element type; nil if it has none.
	// Only floats seen by element are asked for.
	Partials(results, args []bool) Body
}

// An Adjoint is a [Body] with a gradient of its own, such as one that reads arguments
// near its element or whole; [VJP.Ys] and DYs are set also for one result. What is left to
// partial derivatives [ByPartials] sets.
type Adjoint interface {
	Body
	VJP(v *VJP)
}

// A Reader is a [Body] that has derivatives by what it reads of arguments seen whole.
type Reader interface {
	Body
	// Reads returns how often at most an element reads argument i, which is seen whole and
	// of floats, or why that is not known.
	Reads(i int) (int, error)
	// PartialsAt returns a body of the same arguments for the reads of argument i numbered
	// from from to below to, or nil if there is none. Its results are first the partial
	// derivatives of each result that is asked for by each of these reads, result by result, in
	// the argument's element type. Then comes, for each of these reads, the row-major index
	// in the argument as int64; if nothing is read, the index is the argument's size.
	PartialsAt(results []bool, i, from, to int) Body
}

// An Emit is what a [Def.ExprAll] writes an element with.
type Emit struct {
	B    *loop.Builder
	Node *ir.Node
	X    []loop.Value // of arguments that are seen by element; loop.NoValue for others
	// Window is how argument i, seen near or whole, is read: LoadAt from its buffer.
	Window func(i int) Access
}

// An Access is how an argument is read at computed indices: from buffer Buf, at the sum of index
// times stride over the axes, the first axis first. Strides are in elements. Strides and Extents
// have one I64 value per axis of the argument, the same for all elements.
type Access struct {
	Buf              int
	Strides, Extents []loop.Value
}

// SeenBy returns how node n reads its argument i.
func SeenBy(n *ir.Node, i int) Seen {
	if n.Op != Kernel {
		return ByElement
	}
	return n.Attrs.(Body).Params()[i].Seen
}

// CostOf returns the [Def.Cost] of a node, at least 1.
func CostOf(n *ir.Node) int {
	switch {
	case n.Op == Kernel:
		return max(n.Attrs.(Body).Cost(), 1)
	case n.Op == ir.Result:
		return CostOf(n.Args[0])
	}
	if d := Of(n); d != nil {
		return max(d.Cost, 1)
	}
	return 1
}

func init() {
	Kernel = define(Def{Name: "kernel", Class: Pointwise, Arity: -1,
		Doc: "What a function of the user gives for each element of arguments that broadcast; others it reads as whole arrays.",
		Elementwise: Elementwise{Rule: Keep,
			ExprAll: func(e *Emit) []loop.Value { return e.Node.Attrs.(Body).EmitKernel(e) }},
		Typing: Typing{InferAll: func(c *Call) []ir.Type {
			b, ok := c.Attrs.(Body)
			if !ok {
				c.Failf("", "has no body")
			}
			fail := func(arg, format string, args ...any) { array.Failf(b.Name(), arg, format, args...) }
			params, results := b.Params(), b.Results()
			if len(c.Args) != len(params) {
				fail("", "takes %d arguments, got %d", len(params), len(c.Args))
			}
			var shapes [][]int
			for i, x := range c.Args {
				p := params[i]
				if p.Name == "" {
					p.Name = fmt.Sprint("argument ", i)
				}
				if x.DType != p.DType {
					fail(p.Name, "has elements of type %s, want %s", x.DType, p.DType)
				}
				if p.Seen != Whole {
					shapes = append(shapes, x.Shape)
				} else if p.Rank > 0 && len(x.Shape) != p.Rank {
					fail(p.Name, "has %s, want %d", array.Count(len(x.Shape), "dimension"), p.Rank)
				}
			}
			shape := array.Broadcast(b.Name(), shapes...)
			types := make([]ir.Type, len(results))
			for i, d := range results {
				if d.Complex() || !d.Supported() {
					fail("", "result %d has elements of type %s", i, d)
				}
				types[i] = ir.Type{DType: d, Shape: shape}
			}
			return types
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			if v.Node.Results == nil {
				v.Ys, v.DYs = []*node{v.Y}, []*node{v.DY}
			}
			if a, ok := v.Node.Attrs.(Adjoint); ok {
				a.VJP(v)
				return
			}
			ByPartials(v)
		}}})
}

// maxFused is how many arrays that are read and results a kernel of the planner has at most.
const maxFused = 12

// ByPartials sets the gradients of the arguments of a [Kernel] that need one: the gradients of
// its results times the partial derivatives. It sets none if the body has no derivatives, and
// refuses arguments that are read near the element. For an argument that is read whole it adds
// the gradient of each read up at the index that was read.
func ByPartials(v *VJP) {
	b := v.Node.Attrs.(Body)
	results, args := make([]bool, len(v.DYs)), make([]bool, len(v.X))
	for i, dy := range v.DYs {
		results[i] = dy != nil && !isZero(dy)
	}
	some := false
	for i, p := range b.Params() {
		if args[i] = v.Need[i] && v.DX[i] == nil; !args[i] {
			continue
		}
		if r, ok := b.(Reader); ok && p.Seen == Whole {
			args[i] = false
			byReads(v, r, i, results)
			continue
		}
		some = true
		if p.Seen != ByElement {
			array.Failf(b.Name(), p.Name, "is read as an array: there is no gradient through it (Detach or WithoutGrad leaves it out)")
		}
	}
	if !some {
		return
	}
	// As many partials at once as fit into a kernel with the gradients they are multiplied with.
	wanted := 0
	for _, r := range results {
		if r {
			wanted++
		}
	}
	each := max((maxFused-len(args))/max(wanted, 1), 1)
	sums := make([]*node, len(args))
	for from := 0; from < len(args); {
		some := make([]bool, len(args))
		for n := 0; from < len(args) && n < each; from++ {
			if some[from] = args[from]; args[from] {
				n++
			}
		}
		if !slices.Contains(some, true) {
			break
		}
		d := b.Partials(results, some)
		if d == nil {
			return
		}
		partials := ApplyAll(Kernel, d, v.X...)
		k := 0
		for i, dy := range v.DYs {
			for j := range some {
				if !results[i] || !some[j] {
					continue
				}
				g := mul(dy, partials[k])
				k++
				if sums[j] != nil {
					g = add(sums[j], g)
				}
				sums[j] = g
			}
		}
	}
	for j, x := range v.X {
		if sums[j] != nil {
			v.Set(j, func() *node { return Convert(sums[j], x.DType) })
		}
	}
}

// byReads sets the gradient of argument i, which is seen whole: the partial derivatives by
// each read go to where it stands, read by read and in the order of elements.
func byReads(v *VJP, b Reader, i int, results []bool) {
	n, err := b.Reads(i)
	if err != nil {
		panic(&array.Error{Kind: array.Misuse, Op: b.Name(), Arg: b.Params()[i].Name, Msg: "has no gradient", Err: err})
	}
	wanted := 0
	for _, r := range results {
		if r {
			wanted++
		}
	}
	x := v.X[i]
	size, t := array.Size(x.Shape), x.DType
	if t.Half() {
		t = array.Float32 // in which it is added up, and rounded once
	}
	if wanted == 0 || n == 0 {
		return
	}
	sum := full(x.Graph, 0, t, []int{size + 1})
	each := max((maxFused-len(v.X))/(wanted+1), 1)
	for from := 0; from < n; from += each {
		to := min(from+each, n)
		d := b.PartialsAt(results, i, from, to)
		if d == nil {
			return
		}
		outs := ApplyAll(Kernel, d, v.X...)
		partials, places := outs[:wanted*(to-from)], outs[wanted*(to-from):]
		for r := range to - from {
			var g *node
			k := r
			for j, dy := range v.DYs {
				if !results[j] {
					continue
				}
				y := mul(dy, partials[k])
				k += to - from
				if g != nil {
					y = add(g, y)
				}
				g = y
			}
			flat := Shape{array.Size(g.Shape)}
			sum = Apply(indexAdd, Target{0, sum.Shape}, Apply(Reshape, flat, Convert(g, t)), Apply(Reshape, flat, places[r]), sum)
		}
	}
	v.Set(i, func() *node {
		return Convert(Apply(Reshape, Shape(x.Shape), Narrow(sum, 0, 0, size)), x.DType)
	})
}

// isZero reports a node that is zero whatever the arguments.
func isZero(n *node) bool {
	for n.Op == Expand || n.Op == Reshape {
		n = n.Args[0]
	}
	return n.Op == ir.Const && n.Value() == (ir.Value{})
}
