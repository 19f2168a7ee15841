package gokernel

import (
	"go/ast"
	"go/token"
	"slices"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/op"
)

// An InputKind says what an input of the emitted code is.
type InputKind uint8

const (
	Argument InputKind = iota // a part of an argument
	Index                     // the element's index along Axis, int64
	Extent                    // the length of the result along Axis, int64
	DimOf                     // the length along Axis of the whole array that Near parameter Param reads, int64
	Flat                      // the element's number in row-major order, int64
	Seed                      // of random numbers, int64
	Draw                      // the number of the launch, int64, below 2^32
)

// An Input is one input of the emitted code.
type Input struct {
	Kind  InputKind
	Param int   // of Argument and DimOf
	Part  int   // 1 is the imaginary part
	Axis  int   // of Index, Extent and DimOf
	Role  Role  // of Argument
	At    []int // of a Near parameter of an instance that is [Instance.Split]: the offset at which it is read
	DType array.DType
}

// Inputs says what the arguments of the operation are: the parts of all arguments first,
// then what else the function asks for, in no order of its own.
func (i *Instance) Inputs() []Input { return i.inputs }

// Seen says how the operation reads the input.
func (in Input) Seen() op.Seen {
	switch {
	case in.Kind != Argument || in.Role == Scalar || in.At != nil:
		return op.ByElement
	case in.Role == Near:
		return op.Near
	}
	return op.Whole
}

// Offsets say where a Near parameter is read.
type Offsets struct {
	Param    int
	Constant bool // all offsets are constants
	// Open reports an offset that is not constant and not of a slice with constant bounds.
	Open bool
	At   [][]int // the constant ones, each once, in the order in which they are read
	// Low and High bound all offsets, by axis; nil if they are not known.
	Low, High []int
}

// Loads says where each Near parameter is read, in order of parameters.
func (i *Instance) Loads() []Offsets { return i.loads }

// Split returns the instance in which a Near parameter is one input for each offset that it
// is read at, seen by element ([Input.At]); nil if an offset is no constant.
func (i *Instance) Split() *Instance {
	for _, o := range i.loads {
		if !o.Constant {
			return nil
		}
	}
	c := i.again()
	c.split = true
	c.try()
	return c
}

// Within returns the instance whose Near parameters are read inside a neighbourhood alone:
// offsets that are not sure to lie from low to high, by axis, are moved to its border.
func (i *Instance) Within(low, high []int) *Instance {
	c := i.again()
	c.low, c.high = slices.Clone(low), slices.Clone(high)
	c.try()
	return c
}

// Checked returns the instance whose indices of arrays are compared with the lengths of the arrays where
// they are read. One that lies outside reads 0. No number that the kernel is given, and no array without
// elements, leads it out of memory.
func (i *Instance) Checked() *Instance {
	c := i.again()
	c.checked = true
	c.try()
	return c
}

// again is the instance before its trial.
func (i *Instance) again() *Instance {
	c := *i
	c.inputs, c.loads, c.proofs = nil, nil, nil
	return &c
}

// An outside is an array that the kernel reads, or a row of one.
type outside struct {
	param int
	input int // of its first part; -1 if it is split
	t     *ty
	lead  []index // the indices that are given: of a row
}

// rank is the number of axes of the whole array.
func (a *outside) rank() int { return len(a.lead) + a.t.rank }

// An index is one index of a read.
type index struct {
	v   loop.Value
	pos token.Pos
}

// declare lists the inputs that arguments are.
func (i *Instance) declare() {
	n := 0
	for k, p := range i.f.params {
		if p.Role == Element {
			continue
		}
		d := i.args[n]
		n++
		if p.Role == Near {
			i.loads = append(i.loads, Offsets{Param: k, Constant: true})
			if i.split {
				continue
			}
		}
		parts := 1
		if d.Complex() {
			d, parts = d.Part(), 2
		}
		for part := range parts {
			i.inputs = append(i.inputs, Input{Kind: Argument, Param: k, Part: part, Role: p.Role, DType: d})
		}
	}
}

// argument is parameter k of the kernel.
func (l *lowerer) argument(k int, t *ty) *value {
	if t.kind == kElem {
		return l.zeroValue(t)
	}
	at := slices.IndexFunc(l.inst.inputs, func(in Input) bool { return in.Kind == Argument && in.Param == k })
	switch {
	case t.kind == kOuter:
		return &value{t: t, at: &outside{param: k, input: at, t: t}}
	case t.kind == kComplex:
		return l.pair(t, l.number(at), l.number(at+1))
	case t.kind == kFloat:
		return &value{t: t, n: l.number(at)}
	}
	return l.scalar(t, l.input(at))
}

// input is the value of an input.
func (l *lowerer) input(i int) loop.Value {
	if !l.trial {
		return l.e.X[i]
	}
	for len(l.xs) <= i {
		l.xs = append(l.xs, loop.NoValue)
	}
	if l.xs[i] == loop.NoValue {
		l.xs[i] = l.b.Scalar(l.b.ScalarArg(loop.TypeOf(l.inst.inputs[i].DType)))
	}
	return l.xs[i]
}

// ask is the number of an input that the function asks for beside its arguments.
func (l *lowerer) ask(in Input) int {
	k := slices.IndexFunc(l.inst.inputs, func(o Input) bool {
		return o.Kind == in.Kind && o.Param == in.Param && o.Part == in.Part && o.Axis == in.Axis && slices.Equal(o.At, in.At) && (o.At == nil) == (in.At == nil)
	})
	if k >= 0 {
		return k
	}
	if !l.trial {
		panic("kernel: an input that the trial did not find")
	}
	l.inst.inputs = append(l.inst.inputs, in)
	return len(l.inst.inputs) - 1
}

// asked is the value of an int64 that the function asks for.
func (l *lowerer) asked(kind InputKind, param, axis int) loop.Value {
	v := l.input(l.ask(Input{Kind: kind, Param: param, Axis: axis, DType: array.Int64}))
	l.symbols[v] = Symbol{kind, param, axis}
	return v
}

// window is how input i is read.
func (l *lowerer) window(i, rank int) op.Access {
	if !l.trial {
		w := l.e.Window(i)
		for axis, n := range w.Extents {
			l.symbols[n] = Symbol{DimOf, l.inst.inputs[i].Param, axis}
		}
		return w
	}
	if l.windows == nil {
		l.windows = map[int]op.Access{}
	}
	w, ok := l.windows[i]
	if !ok {
		in := l.inst.inputs[i]
		w.Buf = l.b.Buf(in.DType, false, loop.Any)
		for axis := range rank {
			w.Strides = append(w.Strides, l.b.Scalar(l.b.ScalarArg(loop.I64)))
			n := l.b.Scalar(l.b.ScalarArg(loop.I64))
			w.Extents = append(w.Extents, n)
			l.symbols[n] = Symbol{DimOf, in.Param, axis}
		}
		l.windows[i] = w
	}
	return w
}

// method is a call of a method of package kernel.
func (l *lowerer) method(x *ast.CallExpr, name string) *value {
	sel := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	recv := l.expr(sel.X)
	var args []*value
	for _, a := range x.Args {
		args = append(args, l.expr(a))
	}
	l.pos = x.Pos()
	if recv.t.kind == kElem {
		return l.elemMethod(sel, name, args)
	}
	a := recv.at
	given := make([]index, len(args))
	for k, v := range args {
		given[k] = index{v.n.v, x.Args[k].Pos()}
	}
	switch name {
	case "Dim":
		return l.dim(a, args[0].n.v)
	case "Row":
		return l.row(a, given[0])
	case "Slice":
		return l.slice(a, given)
	}
	return l.read1(a, given)
}

// read1 reads one element at indices that follow the given ones of a row.
func (l *lowerer) read1(a *outside, at []index) *value {
	var all []index
	for _, i := range append(slices.Clip(a.lead), at...) {
		i.v = l.reach(i.v, loop.I64)
		all = append(all, i)
	}
	if a.t.role != Near {
		return l.whole(a, all)
	}
	offset := make([]loop.Value, len(all))
	for k, i := range all {
		offset[k] = i.v
	}
	return l.near(a, offset)
}

// dim is the length of an axis of an array; 0 of an axis that it does not have.
func (l *lowerer) dim(a *outside, axis loop.Value) *value {
	of := func(k int) loop.Value {
		if a.t.role == Near {
			return l.asked(DimOf, a.param, len(a.lead)+k)
		}
		return l.window(a.input, a.rank()).Extents[len(a.lead)+k]
	}
	if k, ok := l.knownInt(axis); ok {
		if k < 0 || k >= int64(a.t.rank) {
			l.src.refuse(l.pos, "axis %d of an array of %d dimensions", k, a.t.rank)
		}
		return l.scalar(tInt64, of(int(k)))
	}
	v := l.zero(loop.I64)
	for k := range a.t.rank {
		v = l.choose(l.bin(loop.OpEq, axis, l.int(loop.I64, int64(k))), of(k), v)
	}
	return l.scalar(tInt64, v)
}

// near reads a neighbour.
func (l *lowerer) near(a *outside, offset []loop.Value) *value {
	o := &l.inst.loads[slices.IndexFunc(l.inst.loads, func(o Offsets) bool { return o.Param == a.param })]
	at := make([]int, len(offset))
	constant := true
	for k, v := range offset {
		c, ok := l.knownInt(v)
		at[k] = int(c)
		constant = constant && ok
	}
	if l.trial {
		l.noteOffset(o, at, constant, offset)
	}
	if constant && l.inst.split {
		part := func(p int, t *ty) num {
			return l.number(l.ask(Input{Kind: Argument, Param: a.param, Part: p, Role: Near, At: at, DType: t.dtype()}))
		}
		if a.t.elem.kind == kComplex {
			return l.pair(a.t.elem, part(0, a.t.elem.parts[0]), part(1, a.t.elem.parts[1]))
		}
		return &value{t: a.t.elem, n: part(0, a.t.elem)}
	}
	if l.inst.low != nil && !constant {
		for k, v := range offset {
			low, high, ok := l.constantRange(v)
			if !ok || low < l.inst.low[k] || high > l.inst.high[k] {
				v = l.bin(loop.OpMax, v, l.int(loop.I64, int64(l.inst.low[k])))
				offset[k] = l.bin(loop.OpMin, v, l.int(loop.I64, int64(l.inst.high[k])))
			}
		}
	}
	return l.readAt(a, offset, -1)
}

// noteOffset records where a Near parameter is read.
func (l *lowerer) noteOffset(o *Offsets, at []int, constant bool, offset []loop.Value) {
	low, high, known := slices.Clone(at), slices.Clone(at), true
	if !constant {
		o.Constant = false
		o.Open = o.Open || !l.sliced
		for k, v := range offset {
			var ok bool
			low[k], high[k], ok = l.constantRange(v)
			known = known && ok
		}
	} else if !slices.ContainsFunc(o.At, func(b []int) bool { return slices.Equal(at, b) }) {
		o.At = append(o.At, at)
	}
	switch {
	case !known:
		l.boundless[o.Param] = true
		o.Low, o.High = nil, nil
	case l.boundless[o.Param]:
	case o.Low == nil:
		o.Low, o.High = low, high
	default:
		for k := range low {
			o.Low[k], o.High[k] = min(o.Low[k], low[k]), max(o.High[k], high[k])
		}
	}
}

// readAt is the element at the sum of index times stride; no is the number of the read, -1 if
// it has none.
func (l *lowerer) readAt(a *outside, index []loop.Value, no int) *value {
	part := func(p int, t *ty) *value {
		w := l.window(a.input+p, a.rank())
		off := l.zero(loop.I64)
		for k, i := range index {
			off = l.bin(loop.OpAdd, off, l.bin(loop.OpMul, i, w.Strides[k]))
		}
		l.spend(1)
		v := l.b.LoadAt(w.Buf, off)
		if t.kind == kFloat && no >= 0 {
			return &value{t: t, n: l.seed(v, byRead(a.input+p, no))}
		}
		return l.scalar(t, v)
	}
	if a.t.elem.kind == kComplex {
		re, im := part(0, a.t.elem.parts[0]), part(1, a.t.elem.parts[1])
		return l.pair(a.t.elem, re.n, im.n)
	}
	return part(0, a.t.elem)
}

// whole reads an element of a whole array. Clamped and wrapped arrays have one at least, unless indices
// are checked.
func (l *lowerer) whole(a *outside, index []index) *value {
	w := l.window(a.input, a.rank())
	zero := l.zero(loop.I64)
	one := l.int(loop.I64, 1)
	inside := l.flag(true)
	at := make([]loop.Value, len(index))
	for k, x := range index {
		i, n := x.v, w.Extents[k]
		switch a.t.role {
		case Array:
			if l.trial && !l.inst.checked {
				l.prove(a.param, k, i, x.pos)
			}
			at[k] = i
		case Clamped:
			at[k] = l.bin(loop.OpMin, l.bin(loop.OpMax, i, zero), l.bin(loop.OpSub, n, one))
		case Wrapped:
			r := l.bin(loop.OpRem, i, n)
			at[k] = l.choose(l.bin(loop.OpLt, r, zero), l.bin(loop.OpAdd, r, n), r)
		case Zeroed:
			at[k] = i
		}
		if a.t.role == Zeroed || l.inst.checked {
			inside = l.and(inside, l.bin(loop.OpLtU, at[k], n))
		}
	}
	no := l.nextRead(a, index[0].pos)
	l.notePlace(a, no, at, inside)
	if a.t.role != Zeroed && !l.inst.checked {
		return l.readAt(a, at, no)
	}
	// Masked: there may be no element at all.
	out := &variable{t: a.t.elem, val: l.zeroValue(a.t.elem)}
	l.branch(inside, []*variable{out}, costly, func() { out.val = l.readAt(a, at, no) }, func() {})
	return out.val
}

// draws are the methods that count a call.
var draws = map[string]bool{"Rand": true, "Rand64": true, "Randn": true, "Randn64": true}

// elemMethod is a method of the element.
func (l *lowerer) elemMethod(sel *ast.SelectorExpr, name string, args []*value) *value {
	if !draws[name] {
		k, ok := l.knownInt(args[0].n.v)
		if !ok {
			l.src.refuse(l.pos, "the axis of an element's %s is a constant", name)
		} else if k < 0 || k >= maxAxes {
			l.src.refuse(l.pos, "axis %d; arrays have %d at most", k, maxAxes)
		}
		kind := Index
		if name == "Dim" {
			kind = Extent
		}
		return l.scalar(tInt64, l.asked(kind, 0, int(k)))
	}
	id, ok := ast.Unparen(sel.X).(*ast.Ident)
	if !ok {
		l.src.refuse(l.pos, "random numbers are drawn from a parameter of type kernel.Elem")
	}
	e := l.variable(id)
	n := e.val.parts[0].n.v
	dist, t := op.Uniform, tFloat32
	if name == "Randn" || name == "Randn64" {
		dist = op.Normal
	}
	if name == "Rand64" || name == "Randn64" {
		t = tFloat64
	}
	// The number of the call is the high half of that of the draw.
	flat, seed, draw := l.asked(Flat, 0, 0), l.asked(Seed, 0, 0), l.asked(Draw, 0, 0)
	draw = l.bin(loop.OpAdd, draw, l.bin(loop.OpShl, n, l.int(loop.I64, 32)))
	e.val = e.val.with(0, l.scalar(tInt64, l.bin(loop.OpAdd, n, l.int(loop.I64, 1))))
	l.spend(100)
	return l.scalar(t, dist.Value(l.b, t.dtype(), flat, seed, draw))
}

// maxAxes is the greatest number of dimensions that an index is asked for.
const maxAxes = 64
