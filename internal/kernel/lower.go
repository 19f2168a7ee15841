package kernel

import (
	"go/ast"
	"go/token"
	"go/types"

	"weft/internal/array"
	"weft/internal/loop"
)

// A lowerer writes a function into a loop program.
type lowerer struct {
	*Func
	b     *loop.Builder
	e     *Emit
	inst  *Instance
	trial bool // finding out what the instance needs
	fr    *frame
	pos   token.Pos // of what is being lowered
	calls int       // depth of calls
	steps int       // what was lowered
	wrote int       // instructions
	duals duals
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
	maxSteps = 1 << 18 // expressions and statements lowered
	maxWrote = 1 << 16 // instructions
	maxCalls = 100     // calls within each other
)

func (l *lowerer) spend(n int) {
	if l.wrote += n; l.wrote > maxWrote {
		l.src.refuse(l.pos, "kernel %s grows beyond %d instructions in %s, with calls in place and loops unrolled", l.name, maxWrote, l.fr.fn.Name())
	}
}

func (l *lowerer) step(n ast.Node) {
	l.pos = n.Pos()
	if l.steps++; l.steps > maxSteps {
		l.src.refuse(l.pos, "kernel %s grows too large in %s, with calls in place and loops unrolled", l.name, l.fr.fn.Name())
	}
}

func (l *lowerer) typeOf(x ast.Expr) *ty { return l.src.typeOf(l.info.TypeOf(x), l.fr.env, x.Pos()) }

// An Instance is a function with its type parameters settled.
type Instance struct {
	f       *Func
	env     binding
	args    []array.DType
	results []*ty
	inputs  []Input
	loads   []Offsets
	wrt     [][]int
	cost    int
}

// Instantiate settles the type parameters by the element types of the arguments, one for
// each parameter but those of type kernel.Elem. A type parameter that several arguments
// give is the type in which these meet; float16 and bfloat16 count as float32. What the
// arguments are to be converted to, [Instance.Args] says.
func (f *Func) Instantiate(args []array.DType) (*Instance, error) { return f.instantiate(args) }

func (f *Func) instantiate(args []array.DType) (i *Instance, err error) {
	defer catch(&err)
	s := f.src
	i = &Instance{f: f, env: binding{}}
	tparams := f.obj.Signature().TypeParams()
	if tparams.Len() > 0 {
		met := make([]array.DType, tparams.Len())
		n := 0
		for _, p := range f.params {
			if p.Role == Element {
				continue
			}
			if n >= len(args) {
				s.refuse(f.decl.Name.Pos(), "kernel %s takes more than %d arguments", f.name, len(args))
			}
			if p.TypeParam >= 0 {
				if m := &met[p.TypeParam]; *m == array.Invalid {
					*m = args[n]
				} else {
					*m = array.Promote(*m, args[n])
				}
			}
			n++
		}
		if n != len(args) {
			s.refuse(f.decl.Name.Pos(), "kernel %s takes %d arguments, got %d", f.name, n, len(args))
		}
		for k, d := range met {
			tp := tparams.At(k)
			if d == array.Invalid {
				s.refuse(tp.Obj().Pos(), "no argument gives type parameter %s", tp.Obj().Name())
			}
			t, ok := goType(d)
			if !ok {
				s.refuse(tp.Obj().Pos(), "type parameter %s cannot be %s", tp.Obj().Name(), d)
			}
			i.env[tp] = t
		}
		for k := range met {
			tp := tparams.At(k)
			if c, ok := tp.Constraint().Underlying().(*types.Interface); !ok || !satisfies(i.env[tp], c) {
				s.refuse(tp.Obj().Pos(), "type parameter %s is %s, which %s does not allow", tp.Obj().Name(), i.env[tp], plain(tp.Constraint()))
			}
		}
	}
	for v := range f.obj.Signature().Params().Variables() {
		switch t := s.typeOf(v.Type(), i.env, v.Pos()); {
		case t.kind == kElem:
		case t.kind == kOuter:
			i.args = append(i.args, t.elem.dtype())
		default:
			i.args = append(i.args, t.dtype())
		}
	}
	for v := range f.obj.Signature().Results().Variables() {
		i.results = append(i.results, s.typeOf(v.Type(), i.env, v.Pos()))
	}
	i.try()
	return i, nil
}

// satisfies reports that a type belongs to a constraint.
func satisfies(t types.Type, c *types.Interface) bool {
	return types.Satisfies(t, c)
}

// Args returns the element types that the arguments are to have.
func (i *Instance) Args() []array.DType { return i.args }

// Results returns the element types of the results.
func (i *Instance) Results() []array.DType {
	var d []array.DType
	for _, t := range i.results {
		d = append(d, t.dtype())
	}
	return d
}

// Cost is a rough number of instructions an element, loops counted a few times.
func (i *Instance) Cost() int { return i.cost }

// Emit writes the function where e.B stands, inside a pass. It returns a value for each
// result, of a complex one two.
func (i *Instance) Emit(e *Emit) []loop.Value {
	l := i.lowerer(e)
	return l.run()
}

func (i *Instance) lowerer(e *Emit) *lowerer {
	return &lowerer{Func: i.f, b: e.B, e: e, inst: i, pos: i.f.decl.Pos()}
}

// try lowers the function into a program that is thrown away, which finds its faults and
// what it reads.
func (i *Instance) try() {
	b := loop.NewBuilder("trial", []loop.Axis{{Kind: loop.Parallel}}, 0)
	defer b.Finish()
	l := i.lowerer(&Emit{B: b})
	l.trial = true
	i.declare()
	b.Pass(func() { l.run() })
	i.cost = l.wrote + 1
}

// run lowers the function called with the arguments of the kernel.
func (l *lowerer) run() []loop.Value {
	sig := l.obj.Signature()
	var args []*value
	k := 0
	for v := range sig.Params().Variables() {
		args = append(args, l.argument(k, l.src.typeOf(v.Type(), l.inst.env, v.Pos())))
		k++
	}
	var out []loop.Value
	for _, r := range l.invoke(l.obj, l.inst.env, args) {
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
