package gokernel

import (
	"go/ast"
	"go/token"
	"go/types"

	"weft/internal/loop"
	"weft/internal/op"
)

// A lowerer writes a function into a loop program.
type lowerer struct {
	*Func
	b          *loop.Builder
	e          *op.Emit
	inst       *Instance
	trial      bool // finding out what the instance needs
	fr         *frame
	pos        token.Pos // of what is being lowered
	file       string    // that the function is in
	calls      int       // depth of calls
	nested     int       // depth of ifs
	conditions int       // around what is lowered, of unknown value
	steps      int       // what was lowered
	wrote      int       // instructions
	duals      duals

	nodeCosts map[nodeOf]int      // see cost
	effects   map[nodeOf][]effect // see effectsOf

	regions int      // loops and ifs written so far
	found   [][2]int // slots of regions that are to carry tangents

	xs        []loop.Value // of inputs, on trial
	windows   map[int]op.Access
	symbols   map[loop.Value]Symbol
	facts     map[loop.Value]fact
	boundless map[int]bool // Near parameters of whose offsets no bounds are known

	sliced bool              // the read is of a slice with constant bounds
	loops  int               // loops around what is being lowered
	read   map[int]int       // by parameter of a whole array: how often it was read so far
	looped map[int]token.Pos // by such a parameter: a read in a loop
	places *variable         // where the reads stand by which the last derivation differentiates; nil: by none
}

// A nodeOf is a node as a function sees it: functions of one source share trees, not types.
type nodeOf struct {
	f *Func
	n ast.Node
}

// A frame is a call that is being lowered.
type frame struct {
	fn      *types.Func
	env     binding
	vars    map[types.Object]*variable
	defs    []types.Object // in the order in which they were declared
	results []*variable
	gone    *variable // whether the function has returned
	loops   []*around
}

// An around is a statement that break leaves or continue goes on with.
type around struct {
	stmt   ast.Stmt
	broken *variable // whether break left it
	next   *variable // whether continue skips the rest of the body; nil for a switch
}

// Bounds of what a kernel may grow to.
const (
	maxSteps     = 1 << 18 // expressions and statements lowered
	maxWrote     = 1 << 16 // instructions, a function of package math counting as few
	maxIns       = 1 << 18 // instructions of the loop program: a second of compiling
	maxCalls     = 100     // calls within each other
	maxCallsMade = 1 << 20 // calls that a function makes for an element, loops counted once
	// maxInPlace bounds a function with the functions that it calls, in instructions as count
	// has them, loops counted once. The body of a function stands in place of each call.
	maxInPlace = 1 << 16
	// Ifs of the loop program within each other: what looks at all of a program takes time and
	// memory with the square of it.
	maxNested = 1000
)

func (l *lowerer) spend(n int) {
	limit := maxWrote
	if l.wrote += n; l.trial && len(l.b.Program().Ins) > maxIns {
		limit = maxIns
	} else if l.wrote <= maxWrote {
		return
	}
	l.src.refuse(l.pos, "kernel %s grows beyond %d instructions in %s, with calls in place and loops unrolled", l.name, limit, l.fr.fn.Name())
}

func (l *lowerer) step(n ast.Node) {
	l.pos = pos(n)
	if at := l.src.fset.PositionFor(l.pos, false); at.Filename == l.file {
		l.b.Line = at.Line // what is called in other files has the line of the call
	}
	if l.steps++; l.steps > maxSteps {
		l.src.refuse(l.pos, "kernel %s grows too large in %s, with calls in place and loops unrolled", l.name, l.fr.fn.Name())
	}
}

func (l *lowerer) typeOf(x ast.Expr) *ty { return l.src.typeOf(l.info.TypeOf(x), l.fr.env, pos(x)) }

// pos returns the position of a node; for a binary expression that of its operator. The Pos of
// a + b + c descends to a, so calling it at every operator of a chain is quadratic.
func pos(n ast.Node) token.Pos {
	if x, ok := n.(*ast.BinaryExpr); ok {
		return x.OpPos
	}
	return n.Pos()
}

// run lowers the function called with the arguments of the kernel.
func (l *lowerer) run() []loop.Value {
	sig := l.obj.Signature()
	l.read = map[int]int{}
	l.declarePlaces()
	var args []*value
	k := 0
	for v := range sig.Params().Variables() {
		args = append(args, l.argument(k, l.src.typeOf(v.Type(), l.inst.env, v.Pos())))
		k++
	}
	results := l.invoke(l.obj, l.inst.env, args)
	if len(l.inst.wrt) > 0 {
		return l.placesBehind(l.derivatives(results))
	}
	var out []loop.Value
	for _, r := range results {
		out = l.result(r, out)
	}
	return out
}

// result appends the loop values of a result.
func (l *lowerer) result(v *value, to []loop.Value) []loop.Value {
	if v.t.scalar() {
		return append(to, l.reach(v.n.v, v.t.t))
	}
	for _, p := range v.parts {
		to = l.result(p, to)
	}
	return to
}

// reach is v where it is in reach: constants may stand in a block that has ended.
func (l *lowerer) reach(v loop.Value, t loop.Type) loop.Value {
	if v == loop.NoValue {
		return l.zero(t)
	}
	if bits, ok := l.known(v); ok {
		return l.b.ConstBits(t, bits)
	}
	return v
}
