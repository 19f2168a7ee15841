package gokernel

import (
	"crypto/sha256"
	"go/types"
	"maps"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// An Instance is a function with its type parameters settled. It is the body of an
// [op.Kernel] whose arguments are [Instance.Inputs] and whose results are parts of results.
type Instance struct {
	f       *Func
	env     binding
	args    []array.DType
	results []*ty
	split   bool  // Near parameters are one input an offset
	checked bool  // indices of arrays are compared with their lengths where they are read, not proven
	low     []int // where Near parameters are read; nil: anywhere
	high    []int
	wrt     []partials // what is differentiated, the last derivation last

	// What the trial found.
	inputs []Input
	loads  []Offsets
	proofs []Obligation
	reads  map[int]reading // by parameter, of arrays
	cost   int
	active map[[2]int]bool // slots of regions that carry tangents, see packing
}

// Instantiate determines the type parameters from the element types of the arguments, one for
// each parameter that is not a kernel.Elem. A type parameter that several arguments determine is
// their common type; float16 and bfloat16 count as float32. [Instance.Args] returns the types to
// which the arguments must be converted.
func (f *Func) Instantiate(args []array.DType) (*Instance, error) {
	var few [16]byte
	k := few[:0]
	for _, d := range args {
		k = append(k, byte(d))
	}
	f.mu.Lock()
	i := f.made[string(k)]
	f.mu.Unlock()
	if i != nil {
		return i, nil
	}
	i, err := f.instantiate(args)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made == nil {
		f.made = map[string]*Instance{}
	}
	f.made[string(k)] = i
	return i, nil
}

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
			s.refuse(f.decl.Name.Pos(), "kernel %s takes %s, got %d", f.name, array.Count(n, "argument"), len(args))
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

// Returns are the element types of what the function returns.
func (i *Instance) Returns() []array.DType {
	var d []array.DType
	for _, t := range i.results {
		d = append(d, t.dtype())
	}
	return d
}

// The methods that follow implement [op.Body].

// Name returns the name of the function.
func (i *Instance) Name() string { return i.f.name }

// Params are the inputs as the operation takes them.
func (i *Instance) Params() []op.Param {
	p := make([]op.Param, len(i.inputs))
	for k, in := range i.inputs {
		p[k] = op.Param{Seen: in.Seen(), DType: in.DType}
		if in.Kind == Argument {
			p[k].Name = i.f.params[in.Param].Name
		}
		if p[k].Seen == op.Whole {
			p[k].Rank = i.f.params[in.Param].Rank
		}
	}
	return p
}

// Results returns the element types of the parts of the results. A partial derivative has the
// element type of its input.
func (i *Instance) Results() []array.DType {
	if n := len(i.wrt); n > 0 {
		var d []array.DType
		for _, c := range i.columns(n) {
			d = append(d, i.inputs[inputOf(c.inputs[n-1])].DType)
		}
		for range i.placed() {
			d = append(d, array.Int64)
		}
		return d
	}
	return i.parts()
}

// parts are the element types of the parts of what the function returns.
func (i *Instance) parts() []array.DType {
	var d []array.DType
	for _, t := range i.results {
		if t.kind == kComplex {
			d = append(d, t.parts[0].dtype(), t.parts[1].dtype())
		} else {
			d = append(d, t.dtype())
		}
	}
	return d
}

// Cost is a rough number of instructions an element.
func (i *Instance) Cost() int { return i.cost }

// AppendKey implements ir.Attrs: the content of the source and what the instance settles.
func (i *Instance) AppendKey(k []byte) []byte {
	k = append(k, "kernel.Instance"...)
	k = append(k, i.f.src.hash[:]...)
	k = append(ir.Int(k, len(i.f.name)), i.f.name...)
	k = ir.Int(k, len(i.args))
	for _, d := range i.args {
		k = append(k, byte(d))
	}
	k = ir.Ints(ir.Ints(ir.Flag(k, i.split), i.low), i.high)
	k = ir.Int(k, len(i.wrt))
	for _, w := range i.wrt {
		k = ir.Ints(ir.Ints(k, w.results), w.inputs)
	}
	if i.checked {
		k = append(k, "checked"...)
	}
	return k
}

// EmitKernel writes the function where e.B stands.
func (i *Instance) EmitKernel(e *op.Emit) []loop.Value {
	defer func() { e.B.Line = 0 }()
	return i.lowerer(e).run()
}

func (i *Instance) lowerer(e *op.Emit) *lowerer {
	return &lowerer{Func: i.f, b: e.B, e: e, inst: i, pos: i.f.decl.Pos(), file: i.f.Pos().Filename, symbols: map[loop.Value]Symbol{}, facts: map[loop.Value]fact{}, duals: i.duals(), nodeCosts: map[nodeOf]int{}, effects: map[nodeOf][]effect{}}
}

// try lowers the function into a program that is thrown away, which finds its faults and
// what it reads.
func (i *Instance) try() {
	i.declare()
	i.trial()
}

// trial lowers until it is known which tangents loops and ifs carry.
func (i *Instance) trial() {
	for {
		b := loop.NewBuilder("trial", []loop.Axis{{Kind: loop.Parallel}}, 0)
		l := i.lowerer(&op.Emit{B: b})
		l.trial, l.boundless = true, map[int]bool{}
		func() {
			defer b.Finish()
			b.Pass(func() { l.run() })
		}()
		i.cost = l.wrote + 1
		i.reads = l.readings()
		if len(l.found) == 0 {
			i.written()
			return
		}
		i.active = maps.Clone(i.active)
		if i.active == nil {
			i.active = map[[2]int]bool{}
		}
		for _, slot := range l.found {
			i.active[slot] = true
		}
	}
}

// hashOf is a hash of files by content and name.
func hashOf(files []File) [sha256.Size]byte {
	h := sha256.New()
	for _, f := range files {
		h.Write(append(ir.Int(nil, len(f.Name)), f.Name...))
		h.Write(append(ir.Int(nil, len(f.Src)), f.Src...))
	}
	return [sha256.Size]byte(h.Sum(nil))
}
