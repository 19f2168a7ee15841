package weft

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/cache"
	"weft/internal/core"
	"weft/internal/exec"
	"weft/internal/formula"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/op"
)

// Vars gives the names of a formula their values: a *[Tensor] or a Go number, or for a name that
// the formula calls as a function, as f in f(x), a *kernel.Func of package kernel.
type Vars map[string]any

// AlignLeading returns the names with their tensors aligned by [AlignLeading], so that a formula
// broadcasts them as MATLAB does. What the formula reduces keeps that alignment where axes stay:
// sum_keep, not sum.
func (v Vars) AlignLeading() Vars {
	out := maps.Clone(v)
	names := slices.Sorted(maps.Keys(v))
	names = slices.DeleteFunc(names, func(name string) bool { t, ok := v[name].(*Tensor); return !ok || t == nil })
	ts := make([]*Tensor, len(names))
	for i, name := range names {
		ts[i] = v[name].(*Tensor)
	}
	for i, t := range AlignLeading(ts...) {
		out[names[i]] = t
	}
	return out
}

// A Formula is a formula that was read once and can be evaluated many times,
// from several goroutines. Its language is described at [Expr].
type Formula struct {
	f    *formula.Formula
	hash uint64

	plain atomic.Pointer[variant] // without numbers among the arguments
	other atomic.Pointer[variant] // the first of the variants with numbers
	mu    sync.Mutex              // held to add to other
}

// A variant is a formula with one choice of names that stand for numbers.
type variant struct {
	*formula.Variant
	next *variant
}

// maxVariants bounds the variants of a formula; a new one is not kept beyond.
const maxVariants = 32

// Expr computes a formula over named arrays as one fused operation:
//
//	z := weft.Expr("exp(-x*x)*sin(x) + log1p(abs(x))", weft.Vars{"x": x})
//	w := weft.Expr("2*a + 3*b", a, b)
//
// The values of the names are given by [Vars], which may hold more names than
// the formula has, or one by one in the order in which the names first appear in
// the text. A value is a *[Tensor] or a Go number; a complex number stands for a 0-d array of
// complex64, of complex128 beside arrays of float64 or complex128 and without arrays. Arrays
// broadcast and promote as in methods; the result is differentiable.
//
// The language is that of Go's expressions:
//
//   - a + b, a - b, a * b, a % b (the sign of b), -a. a / b is true division:
//     integers give floats. Powers are written pow(a, 2).
//   - a & b, a | b, a ^ b, a &^ b, ^a on the bits of integers and bool, a << b, a >> b
//     on the bits of integers, as [Tensor.BitAnd] and so on.
//   - a == b, !=, <, <=, >, >=, which give bool, and a && b, a || b, !a on each
//     element. Comparisons do not chain: a < b && b < c.
//   - numbers: 2, 0x10, 1e-3; true, false, pi and e, which cannot be other
//     names. They take the category of the arrays they meet: 2*a has the type of a, 0.5*a that of a if a is of
//     floats, else float32. What is computed from numbers alone, as 1/3 or 2*lr,
//     is computed in int64 and float64. A formula without arrays gives float64.
//   - elementwise functions under the names of the methods: exp, log1p, abs,
//     pow(x, y), atan2(y, x), minimum(x, y), maximum(x, y), clamp(x, lo, hi),
//     floordiv(x, y), where(c, x, y), isnan, relu, gelu, ...
//   - elementwise functions of package special under SciPy's names: entr, kl_div, comb, gammainc, ...
//   - isclose(x, y) and nan_to_num(x), with the defaults of the methods.
//   - reductions over all elements, or over constant axes that follow: sum(x),
//     sum(x, 1), mean(x, 0, 2), also prod, var, std, sample_var, sample_std, all,
//     any, logsumexp, argmin, argmax. max(x) and min(x) reduce all; of two
//     arguments, max(x, 0), they are maximum and minimum, and over axes they are
//     amax(x, 1) and amin(x, 1). With _keep at the end of
//     the name reduced axes stay with size 1: x - mean_keep(x, 1).
//   - softmax(x, axis), log_softmax(x, axis), dot(a, b), which is the matrix
//     product, and conversions such as float64(x).
//   - kernels of package kernel by the names that [Vars] gives them, where the language
//     has no function of that name: f(x, y), which is part of the fused operation.
//
// Formulas are cached by their text. Expr panics with *[Error], whose message
// points at the column, if the text is not a formula, a name has no value or shapes
// and types do not fit; use [ParseExpr] for formulas that users type.
func Expr(text string, args ...any) *Tensor {
	f, ok := formulas.Lookup(text)
	if !ok {
		var err error
		if f, err = parseExpr(text, functionsOf(args)); err != nil {
			if len(args) == 1 {
				vars, _ := args[0].(Vars)
				formula.CheckCalls(text, vars)
			}
			panic(err)
		}
	}
	return f.eval(args)
}

// ParseExpr reads a formula; the error is an *[Error] that points at the column. A formula
// that calls functions of [Vars] is given to [Expr].
func ParseExpr(text string) (*Formula, error) { return parseExpr(text, nil) }

// parseExpr reads a formula that may call functions of the user.
func parseExpr(text string, funcs map[string]*formula.Func) (*Formula, error) {
	key := text
	if len(funcs) > 0 {
		key += "\x00" + keyOf(funcs)
	}
	return formulas.Get(key, func() (*Formula, error) {
		parsed, err := formula.Parse(text, funcs)
		if err != nil {
			return nil, err
		}
		return &Formula{f: parsed, hash: maphash.String(formulaSeed, key)}, nil
	})
}

// functionsOf returns the functions among the values of names, nil if there are none.
func functionsOf(args []any) (funcs map[string]*formula.Func) {
	if len(args) != 1 {
		return nil
	}
	vars, _ := args[0].(Vars)
	for name, x := range vars {
		x, ok := x.(interface{ ExprFunc() any })
		if !ok {
			continue
		}
		f, ok := x.ExprFunc().(*formula.Func)
		if !ok || f == nil || f.Compose == nil {
			array.Failf("expr", name, "is not a function that a formula can call")
		}
		if funcs == nil {
			funcs = map[string]*formula.Func{}
		}
		funcs[name] = f
	}
	return funcs
}

// keyOf tells functions apart by their names and by what they compute.
func keyOf(funcs map[string]*formula.Func) string {
	var k []byte
	for _, name := range slices.Sorted(maps.Keys(funcs)) {
		k = append(ir.Int(k, len(name)), name...)
		if a := funcs[name].Attrs; a != nil {
			k = fmt.Appendf(k, "%T", a)
			n := len(k)
			k = a.AppendKey(k)
			k = ir.Int(k, len(k)-n)
		}
	}
	return string(k)
}

// Eval computes the formula from a [Vars], or from values in the order of
// [Formula.Names]. Errors are *[Error].
func (f *Formula) Eval(args ...any) (t *Tensor, err error) {
	err = Try(func() { t = f.eval(args) })
	return t, err
}

// EvalInto computes the formula as [Formula.Eval] does and writes the result into dst, which
// must have its shape and element type, so that nothing is allocated where dst is contiguous
// and overlaps no argument, or is one that an elementwise formula reads place by place:
//
//	err := step.EvalInto(x, x, v) // x = step(x, v)
//
// Arguments may overlap dst in any other way too; the result is then computed aside and copied.
// A tracked dst is marked. No gradient is recorded: an argument or a dst that requires one is
// refused outside [WithoutGrad]. Errors are *[Error].
func (f *Formula) EvalInto(dst *Tensor, args ...any) error {
	return Try(func() { f.evalInto(dst, args) })
}

func (f *Formula) evalInto(dst *Tensor, args []any) {
	const name = "evalinto"
	var few [8]core.Operand
	v, ops := f.bind(args, few[:0])
	dst.c().Writable(name)
	p := core.Lookup(v.Def, nil, ops)
	d, recorded := dst.v(), core.GradOn()
	switch {
	case p.DType != d.DType || !array.Equal(p.Shape, d.Shape):
		array.Failf(name, "dst", "is %s, the result %s", array.TypeString(d.DType, d.Shape), array.TypeString(p.DType, p.Shape))
	case p.Device != d.Store.Device:
		array.Failf(name, "dst", "is on %s, the result on %s", dst.Device(), Device{p.Device})
	case recorded && dst.RequiresGrad():
		array.Failf(name, "dst", "requires a gradient, which a result written into it would not have: call inside WithoutGrad")
	}
	direct := d.Contiguous()
	for i := range ops {
		t := ops[i].T
		if t == nil {
			continue
		}
		if recorded && t.RequiresGrad() {
			array.Failf(name, "", "argument %d requires a gradient, which is not recorded where the result is written into memory that exists: use Eval, or call inside WithoutGrad", i)
		}
		t.Check(name)
		direct = direct && (!t.View().Overlaps(d) || t.View().Same(d) && p.Compiled().Plan.InPlace)
	}
	if array.Size(p.Shape) == 0 {
		return
	}
	w := core.OpenWrite(d)
	defer func() { // also of what was done in part
		dst.c().Wrote()
		w.Done()
	}()
	var res array.View
	tracing := core.TracingOf(ops) != nil || core.TracingViews(d) != nil
	if direct && !tracing {
		res = *d
	}
	p.Compute(ops, unsafe.Slice(&res, 1))
	if !res.Same(d) {
		core.CopyInto(dst.c(), made(res).c())
		if !tracing && !slices.ContainsFunc(ops, func(o core.Operand) bool { return o.T != nil && o.T.View().Store == res.Store }) {
			core.Free(res.Store)
		}
	}
}

// Names returns the names that need values, in order of first appearance.
func (f *Formula) Names() []string {
	f.notNil()
	return append([]string(nil), f.f.Names...)
}

// String returns the text of the formula.
func (f *Formula) String() string {
	f.notNil()
	return f.f.Text
}

func (f *Formula) notNil() {
	if f == nil || f.f == nil {
		array.Failf("expr", "", "the formula is nil or the zero Formula (ParseExpr makes one)")
	}
}

// maxFormulas bounds the formulas that are kept by their text.
const maxFormulas = 1 << 12

var formulas = cache.NewKeyed[string, *Formula](maxFormulas)

// formulaSeed is for the hashes that plans of formulas are found by.
var formulaSeed = maphash.MakeSeed()

// variant returns the formula for numbers in the place of the names in mask.
func (f *Formula) variant(mask uint64) *variant {
	if mask == 0 {
		if v := f.plain.Load(); v != nil {
			return v
		}
	}
	for v := f.other.Load(); v != nil; v = v.next {
		if v.Mask == mask {
			return v
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	v := &variant{Variant: f.f.Variant(mask)}
	v.Def.Hash = f.hash + mask
	if mask == 0 {
		if old := f.plain.Load(); old != nil {
			return old
		}
		f.plain.Store(v)
		return v
	}
	n := 0
	for o := f.other.Load(); o != nil; o = o.next {
		if o.Mask == mask {
			return o
		}
		n++
	}
	if n < maxVariants {
		v.next = f.other.Load()
		f.other.Store(v)
	}
	return v
}

// eval binds the arguments and runs the formula.
func (f *Formula) eval(args []any) *Tensor {
	var few [8]core.Operand
	v, ops := f.bind(args, few[:0])
	return (*Tensor)(core.Apply(v.Def, nil, ops...))
}

// bind appends the operands of the formula to ops: tensors, then numbers.
func (f *Formula) bind(args []any, ops []core.Operand) (*variant, []core.Operand) {
	f.notNil()
	names := f.f.Names
	vars, named := Vars(nil), false
	if len(args) == 1 {
		vars, named = args[0].(Vars)
	}
	if !named && len(args) != len(names) {
		f.miscounted(args)
	}
	for _, c := range f.f.Constants {
		if _, taken := vars[c]; taken {
			array.Failf("expr", "", "%s is a constant in %q and cannot be given a value: choose another name", c, f.f.Text)
		}
	}
	mask, complexes := uint64(0), false
	for i, name := range names {
		var x any
		if named {
			var ok bool
			if x, ok = vars[name]; !ok {
				f.unknown(i, vars)
			}
		} else {
			x = args[i]
		}
		if t, ok := x.(*Tensor); ok {
			if t == nil {
				panic(f.f.Errorf(i, "%s is a nil tensor", name))
			}
			t.c().NotNil("expr")
			ops = append(ops, core.Operand{T: t.c()})
			continue
		}
		switch x := x.(type) {
		case complex128:
			ops = append(ops, core.Operand{Num: exec.Number{Float: real(x), Kind: array.CatComplex}, Imag: imag(x)})
			complexes = true
			continue
		case complex64:
			ops = append(ops, core.Operand{Num: exec.Number{Float: float64(real(x)), Kind: array.CatComplex}, Imag: float64(imag(x))})
			complexes = true
			continue
		}
		mask |= 1 << i
	}
	if complexes {
		complexTensors(ops)
	}
	v := f.variant(mask)
	if len(v.Numbers) == 0 {
		return v, ops
	}
	var few [8]exec.Number
	values := few[:0]
	for i, name := range names {
		if mask>>i&1 == 0 {
			values = append(values, exec.Number{})
			continue
		}
		x := any(nil)
		if named {
			x = vars[name]
		} else {
			x = args[i]
		}
		values = append(values, f.number(i, x))
	}
	for i := range v.Numbers {
		ops = append(ops, core.Operand{Num: v.Number(i, values)})
	}
	return v, ops
}

// complexTensors makes 0-d tensors of the complex numbers among ops: complex64 where the arrays
// have at most 32 bits a part, else, and without arrays, complex128.
func complexTensors(ops []core.Operand) {
	d, arrays := Complex64, false
	for i := range ops {
		if t := ops[i].T; t != nil {
			arrays = true
			if t.View().DType == Float64 || t.View().DType == Complex128 {
				d = Complex128
			}
		}
	}
	if !arrays {
		d = Complex128
	}
	device := core.DeviceOf("expr", ops)
	for i := range ops {
		if o := &ops[i]; o.T == nil {
			o.T = o.Number("expr", device, d)
			o.Num = exec.Number{}
		}
	}
}

// number is the value of name i, which is no tensor.
func (f *Formula) number(i int, x any) exec.Number {
	switch x.(type) {
	case float64, int, float32, bool, int64, int32, int16, int8, uint8, uint16, uint32, uint64, uint, half.Float16, half.BFloat16:
		n := core.AsOperand[Tensor]("expr", "", x).Num
		if n.Big { // numbers are computed with as int64
			panic(f.f.Errorf(i, "%s is %v, which an int64 does not hold: give a tensor of uint64", f.f.Names[i], x))
		}
		return n
	}
	panic(f.f.Errorf(i, "%s is %T: want a *Tensor or a Go number", f.f.Names[i], x))
}

func (f *Formula) miscounted(args []any) {
	want := fmt.Sprintf("%d values, for %v in this order", len(f.f.Names), f.f.Names)
	switch len(f.f.Names) {
	case 0:
		want = "no values"
	case 1:
		want = "1 value, for " + f.f.Names[0]
	}
	array.Failf("expr", "", "%q takes %s, got %d", f.f.Text, want, len(args))
}

func (f *Formula) unknown(i int, vars Vars) {
	name := f.f.Names[i]
	var known []string
	for k := range vars {
		known = append(known, k)
	}
	hint := ""
	if w := formula.Nearest(name, known); w != "" {
		hint = ": did you mean " + w + "?"
	} else if w := formula.Nearest(name, formula.Functions()); w == name {
		hint = ": it is a function and needs arguments"
	} else if len(known) > 0 {
		slices.Sort(known)
		hint = ": values are given for " + strings.Join(known, ", ")
	}
	panic(f.f.Errorf(i, "%s has no value%s", name, hint))
}

// Explain returns what Eval runs for these arguments: the graph as formulas and as a tree,
// in which operations such as softmax are taken apart, then the plan: its kernels in
// the loop language and their machine code as assembly text. It fails as Eval
// does.
func (f *Formula) Explain(args ...any) (s string, err error) {
	err = Try(func() {
		v, ops := f.bind(args, nil)
		p := core.Lookup(v.Def, nil, ops)
		var names graphtext.Names
		names.Inputs, names.Scalars = v.Labels()
		s = p.Explain(names)
	})
	return s, err
}

// Work returns what evaluating the formula once for these arguments takes at
// least: arithmetic operations, where each elementwise operation or function
// counts as one per element, and bytes of arguments read and of the result
// written. It fails as Eval does.
func (f *Formula) Work(args ...any) (operations, bytes int64, err error) {
	err = Try(func() {
		v, ops := f.bind(args, nil)
		p := core.Lookup(v.Def, nil, ops)
		g := ir.New()
		out := op.Apply(v.Def, p.A, p.Inputs(g)...)
		bytes = int64(out.Size() * out.DType.Size())
		for id, need := range ir.Reach([]*ir.Node{out}) {
			if !need {
				continue
			}
			n := g.Nodes[id]
			if n.Op == ir.Input {
				bytes += int64(n.Size() * n.DType.Size())
				continue
			}
			operations += op.Arithmetic(n)
		}
	})
	return operations, bytes, err
}
