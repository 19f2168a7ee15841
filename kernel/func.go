package kernel

import (
	"math"
	"sync"
	"sync/atomic"

	"weft"
	"weft/half"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/gokernel"
	"weft/internal/ir"
	"weft/internal/op"
)

func (s *Source) check(opName string) {
	if s == nil || s.s == nil {
		array.Failf(opName, "", "the kernel.Source is nil (Parse makes one)")
	}
}

// fail panics with a fault in the source as a misuse of the kernel, so that [weft.Try]
// returns it.
func fail(name string, err error) {
	panic(&array.Error{Kind: array.Misuse, Op: name, Msg: "does not compile", Err: err})
}

// A Func is a Go function that runs over arrays. It is safe for concurrent use.
type Func struct {
	f    *gokernel.Func
	vjp  *Func // of WithVJP
	made *made
	// taken are the parameters that arguments are given for.
	taken []gokernel.Param
}

func newFunc(f *gokernel.Func, vjp *Func) *Func {
	out := &Func{f: f, vjp: vjp, made: &made{}}
	for _, p := range f.Params() {
		if p.Role != gokernel.Element {
			out.taken = append(out.taken, p)
		}
	}
	return out
}

// maxMade bounds the runners that a function keeps: a stencil has one for each shape.
const maxMade = 1024

// made is what was made of a function so far, by the element types of its arguments and
// the way it runs.
type made struct {
	mu sync.Mutex
	m  map[string]*runner
}

// A runner runs a function of certain element types in a certain way.
type runner struct {
	def    *op.Def
	random bool // takes seed and draw behind its arguments
}

// runners counts them: plans are told apart by a hash of what they are for.
var runners atomic.Uint64

func newRunner(name string, compose func(args []*ir.Node) []*ir.Node, vjp func(v *op.VJP)) *runner {
	return &runner{def: &op.Def{Name: name, Hash: runners.Add(1) * 0x9e3779b97f4a7c15, Class: op.Composite, Arity: -1,
		Composed:   op.Composed{ComposeAll: func(args []*ir.Node, _ ir.Attrs) []*ir.Node { return compose(args) }},
		Derivative: op.Derivative{VJP: vjp}}}
}

func (m *made) get(key []byte, make func() *runner) *runner {
	if r := m.find(key); r != nil {
		return r
	}
	return m.add(key, make())
}

// find returns what was made, or nil.
func (m *made) find(key []byte) *runner {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[string(key)]
}

// add keeps r, unless another has come before, and returns what is kept.
func (m *made) add(key []byte, r *runner) *runner {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.m[string(key)]; old != nil {
		return old
	}
	if m.m == nil || len(m.m) == maxMade {
		m.m = map[string]*runner{}
	}
	m.m[string(key)] = r
	return r
}

// key appends the element types of args.
func key(to []byte, args []argument) []byte {
	for i := range args {
		to = append(to, byte(args[i].dtype))
	}
	return append(to, 0)
}

// Name returns the name of the function.
func (f *Func) Name() string {
	f.check()
	return f.f.Name()
}

// Params returns the names of the parameters that arguments are given for.
func (f *Func) Params() []string {
	f.check()
	var names []string
	for _, p := range f.taken {
		names = append(names, p.Name)
	}
	return names
}

// Results returns how many results there are.
func (f *Func) Results() int {
	f.check()
	return len(f.f.Results())
}

// IsStencil reports a function whose first argument is a neighbourhood.
func (f *Func) IsStencil() bool {
	f.check()
	params := f.taken
	return len(params) > 0 && params[0].Role == gokernel.Near
}

func (f *Func) check() {
	if f == nil || f.f == nil {
		array.Failf("kernel", "", "the kernel.Func is nil (Source.Func gives one)")
	}
}

// WithVJP returns f with a gradient of its own: grad takes the arguments of f and then the
// gradient of each result of f, and returns the gradient of each argument of f that is a
// float or complex, in their order. Without it gradients come from the derivatives of what
// f computes.
func (f *Func) WithVJP(grad *Func) *Func {
	f.check()
	grad.check()
	return newFunc(f.f, grad)
}

// An argument is one that a kernel is called with.
type argument struct {
	p     *gokernel.Param
	t     *weft.Tensor // nil for a Go number
	x     any
	dtype array.DType
}

func (a *argument) any() any {
	if a.t != nil {
		return a.t
	}
	return a.x
}

// arguments checks args against the parameters, finds the element types of those that
// are open, and appends them.
func (f *Func) arguments(out []argument, args []any) []argument {
	params := f.taken
	name := f.f.Name()
	if len(args) != len(params) {
		array.Failf(name, "", "takes %s, got %d", array.Count(len(params), "argument"), len(args))
	}
	var room [4]array.DType
	open := room[:0] // by type parameter, Invalid before an argument says it
	for i := range params {
		p := &params[i]
		a := argument{p: p, x: args[i], dtype: p.DType}
		for len(open) <= p.TypeParam {
			open = append(open, array.Invalid)
		}
		t, isTensor := args[i].(*weft.Tensor)
		switch {
		case isTensor:
			a.t = t
			if d := t.DType(); a.dtype == array.Invalid {
				a.dtype = d
				if o := open[p.TypeParam]; o != array.Invalid {
					d = array.Promote(d, o)
				}
				open[p.TypeParam] = d
			} else if d != a.dtype {
				array.Failf(name, p.Name, "is %s, got a tensor of %s (Tensor.To converts)", p.Type, d)
			}
		case p.Role != gokernel.Scalar:
			array.Failf(name, p.Name, "is %s: it takes a tensor, got %T", p.Type, args[i])
		case integral(p.DType) && !whole(args[i]):
			array.Failf(name, p.Name, "is %s, got %v", p.Type, args[i])
		case numberDType(args[i]) == array.Invalid:
			array.Failf(name, p.Name, "takes a tensor or a Go number, got %T", args[i])
		}
		if a.t != nil && p.Role != gokernel.Scalar && t.Rank() != p.Rank {
			array.Failf(name, p.Name, "is %s, got a tensor of shape %v", p.Type, t.Shape())
		}
		out = append(out, a)
	}
	for i := range out {
		a := &out[i]
		if a.dtype != array.Invalid {
			continue
		}
		if d := open[a.p.TypeParam]; d != array.Invalid {
			a.dtype = d
			continue
		}
		a.dtype = numberDType(a.x)
		open[a.p.TypeParam] = a.dtype
	}
	return out
}

// deviceOf returns the device of the first argument that is a tensor with axes. Without one it is
// that of the first element of out, else the CPU.
func deviceOf(args []argument, out []*weft.Tensor) weft.Device {
	for i := range args {
		if t := args[i].t; t != nil && t.Rank() > 0 {
			return t.Device()
		}
	}
	if len(out) > 0 {
		return out[0].Device()
	}
	return weft.CPU
}

// instance returns the function for the element types of args.
func (f *Func) instance(args []argument) *gokernel.Instance {
	dtypes := make([]array.DType, len(args))
	for i, a := range args {
		dtypes[i] = a.dtype
	}
	in, err := f.f.Instantiate(dtypes)
	if err != nil {
		fail(f.f.Name(), err)
	}
	return in
}

func integral(d array.DType) bool { return d.Integer() || d == array.Bool }

// whole reports a Go number that an integer can be.
func whole(x any) bool {
	switch x := x.(type) {
	case float64:
		return x == math.Trunc(x)
	case float32:
		return whole(float64(x))
	case complex64, complex128:
		return false
	}
	return true
}

// numberDType returns the element type of a Go number, Invalid for what is none.
func numberDType(x any) array.DType {
	switch x.(type) {
	case bool:
		return array.Bool
	case int, int64:
		return array.Int64
	case int8:
		return array.Int8
	case int16:
		return array.Int16
	case int32:
		return array.Int32
	case uint, uint64:
		return array.Uint64
	case uint8:
		return array.Uint8
	case uint16:
		return array.Uint16
	case uint32:
		return array.Uint32
	case float32:
		return array.Float32
	case float64:
		return array.Float64
	case half.Float16:
		return array.Float16
	case half.BFloat16:
		return array.BFloat16
	case complex64:
		return array.Complex64
	case complex128:
		return array.Complex128
	}
	return array.Invalid
}

// parts appends x in the type of an argument, a complex number as its two parts.
func parts(to []*ir.Node, x *ir.Node, d array.DType) []*ir.Node {
	x = op.Convert(x, d)
	if !d.Complex() {
		return append(to, x)
	}
	return append(to, op.Apply(op.Real, nil, x), op.Apply(op.Imag, nil, x))
}

// joined puts the parts of complex results together.
func joined(ys []*ir.Node, results []array.DType) []*ir.Node {
	out := make([]*ir.Node, len(results))
	k := 0
	for i, d := range results {
		if d.Complex() {
			out[i] = op.Apply(op.Complex, nil, ys[k], ys[k+1])
			k += 2
			continue
		}
		out[i] = ys[k]
		k++
	}
	return out
}

// run computes the results, into dst if there are any.
func (r *runner) run(dst []*weft.Tensor, args []any) []*weft.Tensor {
	return core.Outer[weft.Tensor](core.Call(r.def, nil, core.Inner(dst), r.operands(args)...))
}

// operands are the arguments of a call, tensors and Go numbers.
func (r *runner) operands(args []any) []core.Operand {
	ops := make([]core.Operand, len(args))
	for i, x := range args {
		ops[i] = core.AsOperand[weft.Tensor](r.def.Name, "", x)
	}
	return ops
}

// state makes the next draw of a generator.
func state(g *weft.Generator) (seed, draw core.Operand) {
	if g == nil {
		g = weft.DefaultGenerator()
	}
	return (*core.Generator)(g).Draw()
}

// String returns the name, the parameters and the number of results.
func (f *Func) String() string {
	return array.Describe("kernel.Func", "Name", f.Name(), "Params", f.Params(), "Results", f.Results())
}
