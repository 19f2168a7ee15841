package op

import (
	"hash/maphash"
	"sort"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

// A Class says how an operation is computed.
type Class uint8

const (
	Pointwise Class = iota // [Elementwise]: a value for each element of the broadcast arguments
	Reduce                 // Kind over a [Group] of axes, kept with size 1
	View                   // View: the result is a window on the argument
	Concat                 // [Parts]: the arguments are put into windows of the result
	Segment                // of the items of a list, whose offsets are the second argument: Kind over the rows of each, or [SegmentExpand]
	Routine                // a routine of the device: [ByRoutine]
	Composite              // [Composed]
	Control                // package exec runs the functions that its attribute has
)

// A Def defines an operation. Its groups hold what one class of operations needs.
type Def struct {
	Name  string
	Class Class
	Arity int // number of arguments; -1 for any
	Doc   string
	ONNX  string // the operator of that name in ONNX, if there is one
	Hash  uint64 // spreads operations over caches; define takes it from Name

	// Attrs are the default attributes; nil if the operation takes none. The attributes of a
	// node have the same type.
	Attrs ir.Attrs

	// Unkept says that no later call has this Def: caches of plans do not keep what it holds.
	Unkept bool

	// View returns the view that an operation of class View takes of its argument's view.
	View func(v array.View, n *ir.Node) array.View

	Elementwise
	Reducing
	Composed
	Typing
	ByRoutine
	Derivative
	Conformance

	// ours marks a Def of this package. Other packages may give theirs the same name.
	ours bool
}

// Elementwise says what an operation of class Pointwise computes for one element.
type Elementwise struct {
	Rule Rule
	// IntegerLimits says, by argument, on which side a Go integer may lie outside the type in
	// which the arguments meet: the nearest number of the type has the same result there.
	IntegerLimits [3]Side
	Expr          func(b *loop.Builder, n *ir.Node, x []loop.Value) loop.Value
	// ExprAll is the Expr of an operation with several results, or one that reads arguments
	// otherwise than by element.
	ExprAll func(e *Emit) []loop.Value
	// Cost is a rough number of vector instructions an element, which decides when to thread
	// and what to recompute; 0 means 1.
	Cost int
}

// A Rule gives the element types of a pointwise operation.
type Rule uint8

const (
	Arith   Rule = iota // arguments meet by promotion, which is the result
	NoBool              // as Arith, bool is refused
	Float               // as Arith; integers and bool become float32
	Compare             // arguments meet by promotion; bool
	Logic               // any arguments; each is made a truth value; bool
	Bits                // as Arith, floats are refused
	Ints                // as Bits, bool is refused
	Keep                // argument types stand (Def.Infer gives the result)
)

// Reducing says how an operation combines elements along axes.
type Reducing struct {
	Over Over           // how it takes the axes of a [Reduction]
	Kind loop.Reduction // of classes Reduce and Segment
}

// Over says which axes of its one argument an operation works over.
type Over uint8

const (
	NoAxes  Over = iota
	AnyAxes      // reduces any, all if none is given, as a [Reduction]
	OneAxis      // as AnyAxes, but one at most: all are flattened if none is given
	Along        // one, which stays
)

// Composed builds an operation of class Composite from others: one of the two is set.
type Composed struct {
	Compose func(args []*ir.Node, a ir.Attrs) *ir.Node
	// ComposeAll is the Compose of an operation with several results.
	ComposeAll func(args []*ir.Node, a ir.Attrs) []*ir.Node
}

// Typing gives the element types and shapes of results. A Pointwise operation needs none unless its
// Rule is Keep.
type Typing struct {
	// Infer checks the arguments and returns element type and shape.
	Infer func(c *Call) (array.DType, []int)
	// InferAll is the Infer of an operation that may have several results.
	InferAll func(c *Call) []ir.Type
	// Results is the number of results of an operation that has several.
	Results int
	// Wide asks that float16 and bfloat16 be converted to float32 and the results rounded back.
	// An operation that combines many elements, or rounds in several steps, rounds once so.
	Wide bool
}

// ByRoutine names what computes an operation of class Routine, and what the routine can do.
type ByRoutine struct {
	Routine ir.RoutineID
	// Formula, if not nil, computes the results with the same bits from other operations, where the
	// routine does not pay or the device has none.
	Formula func(args []*ir.Node, a ir.Attrs) []*ir.Node
	// AcceptsHalf marks a routine that, in a plan, reads float16 and bfloat16 in the place of
	// arguments that are conversions of them to float32, and converts what it packs.
	AcceptsHalf bool
	// MovesAnyType marks a routine that moves elements of any type, whatever they mean.
	MovesAnyType bool
	// Contiguous asks for contiguous arguments.
	Contiguous bool
	// Complex marks a routine that computes with complex elements: its operation takes them as it does
	// real ones.
	Complex bool
	// Tiled is not 0 for a routine whose device runs an epilogue (device.Epilogue) on each finished
	// piece of its result. Pieces see the result as a matrix: the last Tiled axes are its columns,
	// the axes before them its rows.
	Tiled int
}

// Derivative says what the gradient of an operation is.
type Derivative struct {
	// VJP adds to v the gradients of the arguments that need one. A Composite without VJP is
	// differentiated through its parts; any other Def without one has no gradient (its result is
	// piecewise constant or not a float).
	VJP func(v *VJP)
	// PiecewiseConstant marks an operation without VJP whose gradient is 0.
	PiecewiseConstant bool
	// ByResult says that the VJP is less work where some results have no gradient: it finds zeros there.
	ByResult bool
	// NonDifferentiable marks a VJP that is not itself differentiable.
	NonDifferentiable bool
}

// Conformance says what the conformance suite calls an operation with.
type Conformance struct {
	// Samples lists argument sets beyond those that the class implies.
	Samples []Sample
	// Domain is the range of random arguments; 0,0 means -3 to 3.
	Domain [2]float64
	// Domains, if not nil, are the ranges of arguments that differ in them, in place of Domain.
	Domains [][2]float64
	// Flat lists arguments by which the VJP, or its gradient, refuses a gradient.
	Flat []int
}

// DomainOf is the range of random elements of argument i.
func (c *Conformance) DomainOf(i int) [2]float64 {
	if c.Domains != nil {
		return c.Domains[i]
	}
	return c.Domain
}

// A Sample is one set of arguments for the conformance suite.
type Sample struct {
	Shapes [][]int
	DTypes []array.DType // nil: float
	Attrs  ir.Attrs
	Max    int // integer arguments are drawn from 0 to Max-1
	// Ascending sorts the last argument, which is int64 and drawn so, the others being floats
	// unless DTypes says otherwise: offsets of a list.
	Ascending bool
	// Inside says that integer arguments before ascending offsets are drawn from 0 to Max-1 as well: they
	// are indices.
	Inside bool
	// Fit, if not nil, changes the random elements of argument i in place, so that the operation takes
	// them: to a definite matrix, for example.
	Fit func(i int, shape []int, x []float64)
	// Symmetric says that the operation takes the matrices of the first argument to be symmetric, so
	// that its gradient is symmetric too.
	Symmetric bool
}

// OpName implements ir.Op.
func (d *Def) OpName() string { return d.Name }

var (
	table     = map[string]*Def{}
	named     = map[string]*Def{} // the table, and what is no part of it
	specials  []*Def
	byRoutine [ir.NumRoutines]*Def
	seed      = maphash.MakeSeed()
)

// define enters a Def into the table.
func define(d Def) *Def {
	if _, dup := table[d.Name]; dup {
		panic("op: " + d.Name + " is defined twice")
	}
	p := unlisted(d)
	table[d.Name] = p
	return p
}

// special enters a Def into the functions of package special, which formulas have too.
func special(d Def) *Def {
	p := unlisted(d)
	specials = append(specials, p)
	return p
}

// Specials returns the functions of package special, whose names formulas know.
func Specials() []*Def { return specials }

// unlisted finishes a Def that is no part of the table.
func unlisted(d Def) *Def {
	d.Hash = maphash.String(seed, d.Name)
	d.ours = true
	if named[d.Name] != nil {
		panic("op: two operations are named " + d.Name)
	}
	named[d.Name] = &d
	if r := d.Routine; r != ir.NoRoutine {
		if byRoutine[r] != nil {
			panic("op: " + d.Name + " and " + byRoutine[r].Name + " have one routine")
		}
		byRoutine[r] = &d
	}
	return &d
}

// OfRoutine returns the Def that a routine computes, nil if there is none.
func OfRoutine(id ir.RoutineID) *Def { return byRoutine[id] }

// Lookup returns the Def of that name, nil if there is none.
func Lookup(name string) *Def { return table[name] }

// Named is [Lookup], also of operations outside the table, which graphs have and users
// do not call.
func Named(name string) *Def { return named[name] }

// Table returns all operations in order of names.
func Table() []*Def {
	out := make([]*Def, 0, len(table))
	for _, d := range table {
		out = append(out, d)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Unlisted returns the routines outside the table that have samples, by name: functions of packages such as linalg,
// whose results tests compare in another way than with one reference.
func Unlisted() []*Def {
	var out []*Def
	for name, d := range named {
		if table[name] == nil && d.Class == Routine && len(d.Samples) > 0 {
			out = append(out, d)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Of returns the Def of a node, nil for leaves.
func Of(n *ir.Node) *Def {
	d, _ := n.Op.(*Def)
	return d
}
