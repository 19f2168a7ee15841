package saved

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// A graph is nodes in an order in which arguments come first, and which of them are results.
type graph struct {
	Nodes []node `json:"nodes"`
	Outs  []int  `json:"outs"`
}

// A node is an operation by name, with its attributes and the numbers of its arguments. Element types
// and shapes of values are not part of a file: they are inferred. Leaves have theirs.
type node struct {
	Op    string  `json:"op"`
	Args  []int   `json:"args,omitempty"`
	Attrs []token `json:"attrs,omitempty"` // the name of the type and its fields; none if there are none
	DType string  `json:"dtype,omitempty"` // of numbers
	Weak  bool    `json:"weak,omitempty"`  // of numbers

	line string // of the user, while a graph is made
}

// maxDepth bounds how deep loops and branches nest.
const maxDepth = 64

// Known reports whether files can hold attributes of the type of a.
func Known(a ir.Attrs) bool { return a == nil || kindsByType[reflect.TypeOf(a)] != nil }

// Unknown lists what keeps the graph of outs out of a file, with the lines of the user: functions in Go,
// and operations whose attributes files cannot hold.
func Unknown(outs []*ir.Node, line func(n *ir.Node) string) (list []string) {
	add := func(s string) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for id, need := range ir.Reach(outs) {
		if !need {
			continue
		}
		n := outs[0].Graph.Nodes[id]
		at := line(n)
		inner := func(f *op.Function) {
			if f != nil {
				for _, s := range Unknown(f.Nodes(), func(*ir.Node) string { return "" }) {
					add(s + at)
				}
			}
		}
		switch a := n.Attrs.(type) {
		case op.Looping:
			inner(a.Body)
			continue
		case op.Branches:
			inner(a.Then)
			inner(a.Else)
			continue
		case op.Owned:
			inner(a.Back)
			continue
		}
		switch {
		case Known(n.Attrs):
		case n.Op == op.Host:
			name := "a function in Go"
			if s, ok := n.Attrs.(fmt.Stringer); ok {
				name = s.String()
			}
			add(name + at)
		default:
			add(n.Op.OpName() + " with parameters of type " + fmt.Sprintf("%T", n.Attrs) + at)
		}
	}
	return list
}

// describe lists what outs are computed of. line gives the line of the user of a node.
func describe(outs []*ir.Node, line func(n *ir.Node) string) *graph {
	g := &graph{Outs: []int{}}
	number := map[*ir.Node]int{}
	for id, need := range ir.Reach(outs) {
		if !need {
			continue
		}
		n := outs[0].Graph.Nodes[id]
		x := node{Op: n.Op.OpName()}
		if line != nil {
			x.line = line(n)
		}
		if d := op.Of(n); d != nil && op.Named(d.Name) != d {
			array.Failf("save", "", "the operation %s is made by this program alone and cannot be saved%s", d.Name, x.line)
		}
		for _, a := range n.Args {
			x.Args = append(x.Args, number[a])
		}
		switch n.Op {
		case ir.Const:
			x.DType, x.Weak = n.DType.String(), n.Weak
			if v := n.Value(); n.DType.Float() {
				x.Attrs = []token{{kind: tokenFloat, float: v.Float}}
			} else {
				x.Attrs = []token{{int: v.Int}}
			}
		case ir.Scalar, ir.Between:
			x.DType, x.Weak = n.DType.String(), n.Weak
			fallthrough
		default:
			if err := array.Try(func() { x.Attrs = attrTokens(n.Attrs) }); err != nil {
				e := *err.(*array.Error)
				e.Msg += x.line
				panic(&e)
			}
		}
		number[n] = len(g.Nodes)
		g.Nodes = append(g.Nodes, x)
	}
	for _, o := range outs {
		g.Outs = append(g.Outs, number[o])
	}
	return g
}

func attrTokens(a ir.Attrs) []token {
	if a == nil {
		return nil
	}
	var e encoder
	e.attrs(a)
	return e.out
}

func describeFunction(f *op.Function) *function {
	if f == nil {
		return nil
	}
	s := &function{Body: describe(f.Nodes(), nil), Args: []argType{}}
	for _, t := range f.Args {
		a := argType{DType: t.DType.String(), Shape: []token{}}
		for _, n := range t.Shape {
			a.Shape = append(a.Shape, token{int: int64(n)})
		}
		s.Args = append(s.Args, a)
	}
	return s
}

// An env is what expressions of lengths are evaluated in.
type env struct {
	lengths []int
	nodes   []*ir.Node // that are built
	depth   int
	sized   func(x *Expr) int64 // gives what stands for an expression; nil: its value
}

// number is what attributes have in the place of an expression.
func (e *env) number(x *Expr) int64 {
	if e.sized != nil {
		return e.sized(x)
	}
	return e.eval(x)
}

// eval is an expression for the lengths.
func (e *env) eval(x *Expr) int64 {
	v := x.Scale
	for _, a := range x.Factors {
		v = product(v, int64(e.atom(a)))
	}
	if x.And != nil {
		v = total(v, e.eval(x.And))
	}
	v = total(v, x.Offset)
	if x.Over > 1 {
		q := v / x.Over
		if v%x.Over != 0 && v < 0 {
			q--
		}
		v = q
	}
	if x.Mod > 1 {
		if v %= x.Mod; v < 0 {
			v += x.Mod
		}
	}
	if x.Least != nil {
		v = max(v, e.eval(x.Least))
	}
	if x.Most != nil {
		v = min(v, e.eval(x.Most))
	}
	return v
}

func total(a, b int64) int64 {
	s := a + b
	if b != 0 && (s > a) != (b > 0) {
		malformed("a size overflows")
	}
	return s
}

func product(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	if hi != 0 || lo > math.MaxInt64 || a == math.MinInt64 || b == math.MinInt64 {
		malformed("a size overflows")
	}
	if (a < 0) != (b < 0) {
		return -int64(lo)
	}
	return int64(lo)
}

// atom is a length, or a size of the value of a node.
func (e *env) atom(a Atom) int {
	if a.Node < 0 {
		if a.Axis < 0 || a.Axis >= len(e.lengths) {
			malformed("it has no length %d", a.Axis)
		}
		return e.lengths[a.Axis]
	}
	if a.Node >= len(e.nodes) || e.nodes[a.Node] == nil || a.Axis < 0 || a.Axis >= len(e.nodes[a.Node].Shape) {
		malformed("a size is of axis %d of value %d, which is not there", a.Axis, a.Node)
	}
	return e.nodes[a.Node].Shape[a.Axis]
}

// build adds the graph to another one. leaf gives the node of a leaf, an input or a number of the
// caller, and refuses others. It panics with *array.Error where the graph is not one that operations
// give.
func (g *graph) build(to *ir.Graph, e *env, leaf func(o ir.Op, attrs ir.Attrs, d array.DType, weak bool) *ir.Node) []*ir.Node {
	e.nodes = make([]*ir.Node, 0, len(g.Nodes))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		args := make([]*ir.Node, len(n.Args))
		for k, a := range n.Args {
			if a < 0 || a >= i {
				malformed("operation %d, %s, is given a value that is not computed before it", i, n.Op)
			}
			args[k] = e.nodes[a]
		}
		e.nodes = append(e.nodes, n.build(to, e, args, leaf))
	}
	outs := make([]*ir.Node, len(g.Outs))
	for i, o := range g.Outs {
		if o < 0 || o >= len(e.nodes) || e.nodes[o].Results != nil {
			malformed("result %d is not a value", i)
		}
		outs[i] = e.nodes[o]
	}
	return outs
}

func (n *node) build(to *ir.Graph, e *env, args []*ir.Node, leaf func(o ir.Op, attrs ir.Attrs, d array.DType, weak bool) *ir.Node) *ir.Node {
	d := decoder{in: n.Attrs, env: e}
	dt := dtypeOf(n.DType)
	if n.Op == ir.Const.OpName() {
		if len(args) > 0 || dt == array.Invalid || dt.Complex() {
			malformed("a constant has the type %q", n.DType)
		}
		v := ir.Value{}
		if dt.Float() {
			v.Float = d.next(tokenFloat).float
		} else if v.Int = d.next(tokenInt).int; !holds(dt, v.Int) {
			malformed("the constant %d is not one of type %s", v.Int, dt)
		}
		return to.Node(ir.Const, v, dt, nil, n.Weak)
	}
	var a ir.Attrs
	if len(n.Attrs) > 0 {
		a = d.attrs()
	}
	if len(d.in) > 0 {
		malformed("%s has more parameters than it takes", n.Op)
	}
	switch o := leafOf(n.Op); o {
	case nil:
	case ir.Result:
		i, ok := a.(ir.Arg)
		if !ok || len(args) != 1 || i < 0 || int(i) >= len(args[0].Results) {
			malformed("a result is none of an operation with several")
		}
		return to.Result(args[0], int(i))
	default:
		if len(args) > 0 {
			malformed("%s has arguments", n.Op)
		}
		return leaf(o, a, dt, n.Weak)
	}
	def := op.Named(n.Op)
	if def == nil {
		array.Failf("loadprogram", "", "the file has the operation %q, which this version does not know: a later version wrote it", n.Op)
	}
	for _, x := range args {
		if x.Results != nil {
			malformed("%s is given all results of an operation at once", n.Op)
		}
	}
	return apply(to, def, a, args)
}

// holds reports whether i is an integer of type d; one of uint64 is given by its bits.
func holds(d array.DType, i int64) bool {
	if d == array.Bool {
		return i == 0 || i == 1
	}
	lo, hi := d.Limits()
	return d == array.Uint64 || lo <= i && i <= hi
}

func leafOf(name string) ir.Op {
	for _, o := range []ir.Op{ir.Input, ir.Scalar, ir.Between, ir.Result} {
		if o.OpName() == name {
			return o
		}
	}
	return nil
}

// apply adds an operation, whose types and shapes are inferred. It refuses what package op would make
// other operations of: a graph holds what that left.
func apply(to *ir.Graph, d *op.Def, a ir.Attrs, args []*ir.Node) *ir.Node {
	if d.Class == op.Composite {
		malformed("%s is made of other operations", d.Name)
	}
	if d.Arity >= 0 && len(args) != d.Arity || len(args) == 0 {
		malformed("%s has %d arguments", d.Name, len(args))
	}
	if d.Attrs != nil && a != nil && reflect.TypeOf(a) != reflect.TypeOf(d.Attrs) {
		malformed("%s has parameters of type %T", d.Name, a)
	}
	n := op.Apply(d, a, args...)
	if n.Op == ir.Result {
		n = n.Args[0]
	}
	if n.Op != d || !slices.Equal(n.Args, args) {
		malformed("%s of %s is not what an operation leaves in a graph", d.Name, typesOf(args))
	}
	inside(n)
	return n
}

func typesOf(args []*ir.Node) string {
	s := ""
	for i, x := range args {
		if i > 0 {
			s += ", "
		}
		s += array.TypeString(x.DType, x.Shape)
	}
	return s
}

// inside refuses windows that do not lie in the memory of what they are windows on, and other numbers
// that the code of an operation relies on and its inference does not look at.
func inside(n *ir.Node) {
	d := op.Of(n)
	whole := func(x *ir.Node) array.View {
		return array.View{DType: x.DType, Shape: x.Shape, Strides: array.RowMajor(x.Shape)}
	}
	within := func(v array.View, of *ir.Node) {
		if slices.Contains(v.Shape, 0) {
			return
		}
		size := of.Size() * of.DType.Size() / v.DType.Size()
		reach := 0
		for i, s := range v.Strides {
			if v.Shape[i] > 1 {
				reach += int(product(int64(v.Shape[i]-1), int64(max(s, -s))))
			}
			if reach > size {
				malformed("%s reaches beyond the end of its memory", d.Name)
			}
		}
		if lo, hi := v.Span(); lo < 0 || hi > size {
			malformed("%s reaches beyond the end of its memory", d.Name)
		}
	}
	switch {
	case d.Class == op.Pointwise:
		shape := n.Shape
		if n.Results != nil {
			shape = n.Results[0].Shape
		}
		for i, x := range n.Args {
			if op.SeenBy(n, i) == op.ByElement && !array.BroadcastsTo(x.Shape, shape) {
				malformed("%s of %s has the shape %s", d.Name, typesOf(n.Args), array.ShapeString(shape))
			}
		}
	case d.Class == op.View && d.View != nil:
		within(d.View(whole(n.Args[0]), n), n.Args[0])
	case d.Class == op.Concat:
		parts, _, _ := op.Parts(n, whole(n))
		for _, p := range parts {
			within(p, n)
		}
	}
	if strings.HasPrefix(d.Name, randomPrefix) {
		drawn(n)
	}
}

// randomPrefix begins the names of operations that make elements of random words.
const randomPrefix = "random "

// drawn refuses draws of other numbers than they take: a block, a seed, the number of a draw, and
// parameters.
func drawn(n *ir.Node) {
	d := op.Of(n)
	params := array.Float64
	if a, ok := n.Attrs.(op.Element); ok {
		if a.DType != array.Float32 && a.DType.Size() != 8 || a.At < 0 || a.At > 3 || a.DType.Size() == 8 && a.At > 1 {
			malformed("%s gives element %d of type %s", d.Name, a.At, a.DType)
		}
		want := 3
		if params = array.Int64; a.DType == array.Int64 {
			want = 5 // the least number, and how many there are
		}
		if len(n.Args) != want {
			malformed("%s takes %d numbers, got %s", d.Name, want, typesOf(n.Args))
		}
	}
	for i, x := range n.Args {
		if want := params; i < 3 && x.DType != array.Int64 || i >= 3 && x.DType != want {
			malformed("%s of %s", d.Name, typesOf(n.Args))
		}
	}
}

// build makes the function where an environment is that of the graph that runs it.
func (f *function) build(e *env) *op.Function {
	if e.depth >= maxDepth {
		malformed("loops and branches nest more than %d deep", maxDepth)
	}
	if f.Body == nil || len(f.Body.Outs) == 0 {
		malformed("a function has no results")
	}
	types, outs := f.buildIn(e, &env{lengths: e.lengths, depth: e.depth + 1})
	return op.NewFunction(types, outs)
}

// buildIn makes the graph of the function in an environment of its own.
func (f *function) buildIn(e, inner *env) ([]ir.Type, []*ir.Node) {
	types := make([]ir.Type, len(f.Args))
	for i, a := range f.Args {
		types[i] = ir.Type{DType: dtypeOf(a.DType), Shape: sizes(a.Shape, e)}
		array.CheckShape("loadprogram", types[i].Shape, types[i].DType)
	}
	g := ir.New()
	return types, f.Body.build(g, inner, func(o ir.Op, a ir.Attrs, _ array.DType, _ bool) *ir.Node {
		i, ok := a.(ir.Arg)
		if o != ir.Input || !ok || i < 0 || int(i) >= len(types) {
			malformed("a function reads what is not its argument")
		}
		return g.Input(int(i), types[i].DType, types[i].Shape)
	})
}

// sizes are the sizes that tokens give.
func sizes(shape []token, e *env) []int {
	out := make([]int, len(shape))
	d := decoder{in: shape, env: e}
	for i := range out {
		n := d.next(tokenInt).int
		if n < 0 {
			malformed("a size is %d", n)
		}
		out[i] = int(n)
	}
	return out
}

// guard runs f and returns as an error what it panics with: an *array.Error, or a fault of the
// run-time library that numbers of a malformed file led to.
func guard(f func()) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *array.Error:
			err = x
		case runtime.Error:
			err = array.Errorf("loadprogram", "", "the file is malformed: %v", x)
		default:
			if s, ok := x.(string); ok { // of internal packages
				err = array.Errorf("loadprogram", "", "the file is malformed: %s", s)
				return
			}
			panic(fmt.Sprint(x))
		}
	}()
	f()
	return nil
}
