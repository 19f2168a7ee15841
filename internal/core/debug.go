package core

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/plan"
	"weft/internal/rewrite"
)

// Debugging holds the checks that a call makes: see [DebugOpts].
type Debugging struct {
	Verify, NaN, Inf bool
	Big              float64 // 0: no limit
	Watch            func(op, line string, value *Tensor)
}

// Check panics with *array.Error unless the limit of magnitudes is a number from 0 on.
func (o *Debugging) Check() {
	if !(o.Big >= 0) {
		array.Failf("debug", "Big", "is %v: want a magnitude above 0, or 0 for no limit", o.Big)
	}
}

// A guard finds elements that a call should not make.
type guard struct {
	what  string // such as "NaN"
	fault func(x float64) bool
	made  map[*ir.Node]bool // nodes whose results have such elements
}

func isNaN(x float64) bool { return x != x }

// guards returns what the options look for.
func (o *Debugging) guards() (list []*guard) {
	add := func(what string, fault func(x float64) bool) {
		list = append(list, &guard{what, fault, map[*ir.Node]bool{}})
	}
	if o.NaN {
		add("NaN", isNaN)
	}
	if o.Inf {
		add("infinity", func(x float64) bool { return math.IsInf(x, 0) })
	}
	if o.Big > 0 {
		add(fmt.Sprintf("magnitudes above %g", o.Big), func(x float64) bool { return math.Abs(x) > o.Big })
	}
	return list
}

// given reports that an argument of n has elements of the kind: a node that made them, what the
// call is given, or a number.
func (g *guard) given(w *exec.Walker, n *ir.Node) bool {
	return slices.ContainsFunc(n.Args, func(a *ir.Node) bool {
		if len(a.Args) > 0 {
			return g.made[a] || a.Op == ir.Result && g.made[a.Args[0]]
		}
		v, err := w.Value(a)
		if err != nil {
			return false
		}
		k, _ := g.count(&v)
		return k > 0
	})
}

// debugged runs the program as the options ask.
func (e *Entry) debugged(o *Debugging, ctx context.Context, ins []*array.View, nums []exec.Number, outs []array.View) error {
	if o.Verify && e.verified.CompareAndSwap(false, true) {
		if err := e.verify(ins, nums); err != nil {
			return err
		}
	}
	guards := o.guards()
	if len(guards) == 0 && o.Watch == nil {
		return e.Code.Run(ctx, nil, ins, nums, outs)
	}
	if err := e.Code.Fits(nums); err != nil {
		return err
	}
	if len(e.Outs) == 0 {
		return nil
	}
	names := e.Names(e.From)
	w := &exec.Walker{Context: ctx, Device: device.Get(e.device), Ins: ins, Nums: nums}
	w.Each = func(n *ir.Node, values []array.View) error {
		for i := range values {
			if o.Watch != nil {
				o.Watch(names.Title(n), names.Note(n), &Tensor{v: values[i]})
			}
			for _, g := range guards {
				count, first := g.count(&values[i])
				if count == 0 {
					continue
				}
				if !g.made[n] && !g.given(w, n) {
					return e.fault(n, "%s gives %s: %d of %d elements, the first at %v", names.Title(n), g.what, count, values[i].Size(), first)
				}
				g.made[n] = true
			}
		}
		return nil
	}
	// All is computed before anything is written.
	final := e.Rewritten().Outs
	values := make([]array.View, len(final))
	for i, n := range final {
		v, err := w.Value(n)
		if err != nil {
			return err
		}
		values[i] = v
	}
	for i := range values {
		if at := e.into[i]; at >= 0 {
			outs[i] = *ins[at]
		} else {
			p := &e.Code.Plan.Outs[i]
			outs[i] = array.View{Store: e.Code.Stream().Alloc(max(values[i].Size()*p.DType.Size(), 1)), DType: p.DType, Shape: p.Shape, Strides: p.Strides}
		}
	}
	for i := range values { // of inputs that are results a copy, since they may be written before
		if v, ok := e.isInput(final[i], ins); ok {
			values[i] = copyOf(v)
		}
	}
	for i := range values {
		CopyViews(nil, &outs[i], &values[i])
	}
	return nil
}

// isInput returns the input that a node is.
func (e *Entry) isInput(n *ir.Node, ins []*array.View) (*array.View, bool) {
	if n.Op != ir.Input {
		return nil, false
	}
	return ins[n.Arg()], true
}

// fault is an error that names the user's line of a node of the rewritten graph.
func (e *Entry) fault(n *ir.Node, format string, args ...any) error {
	line := ""
	if n.ID < len(e.From) {
		line = At(e.From[n.ID].pc)
	}
	return &array.Error{Kind: array.Misuse, Op: "debug", Msg: fmt.Sprintf(format, args...) + line}
}

// count counts the elements of a view that are faults, and returns the index of the first.
func (g *guard) count(v *array.View) (count int, first []int) {
	if v.DType.Complex() {
		re, im := v.Part(0), v.Part(1)
		m, at := g.count(&re)
		n, first := g.count(&im)
		if m > 0 {
			first = at
		}
		return max(m, n), first
	}
	if !v.DType.Float() || v.Size() == 0 {
		return 0, nil
	}
	b, c := elements(v)
	n := v.DType.Size()
	for i := range v.Size() {
		if !g.fault(exec.Element(v.DType, b[i*n:])) {
			continue
		}
		if count++; count == 1 {
			first = IndexOf(i, v.Shape)
		}
	}
	KeepAlive(&Tensor{v: c})
	return count, first
}

// IndexOf returns the indices of element i of a shape, in row-major order.
func IndexOf(i int, shape []int) []int {
	index := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		index[a] = i % shape[a]
		i /= shape[a]
	}
	return index
}

// copyOf is a copy of a view in row-major order.
func copyOf(v *array.View) array.View { return copyWithStep(v, 1) }

// copyWithStep returns a copy of a view in new memory whose strides are step times the row-major
// ones. The gaps are not 0.
func copyWithStep(v *array.View, step int) array.View {
	out := array.View{DType: v.DType, Shape: v.Shape, Strides: array.RowMajor(v.Shape)}
	bytes := max(v.Size()*step*v.DType.Size(), 1)
	out.Store = device.Get(v.Store.Device).Default().Alloc(bytes)
	for a := range out.Strides {
		out.Strides[a] *= step
	}
	if step > 1 {
		check(device.Get(v.Store.Device).Default().Fill(device.Ref{Store: out.Store}, bytes, 0xa5, 1))
	}
	CopyViews(nil, &out, v)
	return out
}

// elements returns the bytes of a view's elements in row-major order, and the view on the host whose
// memory they are.
func elements(v *array.View) ([]byte, array.View) {
	c := copyOf(&FromView(*v).v)
	h := HostView(&Tensor{v: c})
	return Bytes(&h), h
}

// DebugRules returns the rules of a program that Verify checks; a test puts a wrong one among them.
var DebugRules = func(rules []*rewrite.Rule) []*rewrite.Rule { return rules }

// verify holds the compiler to account on copies of the inputs.
func (e *Entry) verify(ins []*array.View, nums []exec.Number) error {
	if len(e.Outs) == 0 {
		return nil
	}
	copies := func(step int) []*array.View {
		out := make([]*array.View, len(ins))
		for i, v := range ins {
			c := copyWithStep(v, step)
			out[i] = &c
		}
		return out
	}
	dev, oracle := device.Get(e.device), device.Device(nil)
	plain := cpu.New(jit.Portable)
	plain.Attach(e.device)
	oracle = plain
	// Every rewrite, before and after.
	given := copies(1)
	for i, v := range given {
		h := HostView(&Tensor{v: *v})
		given[i] = &h
	}
	w := &exec.Walker{Device: oracle, Ins: given, Nums: nums}
	var fault error
	rewrite.RunRules(e.Outs, DebugRules(e.options.rules()), func(r *rewrite.Rule, before, after *ir.Node) {
		if fault != nil || before.Results != nil || after.Results != nil {
			return
		}
		x, err := w.Value(before)
		if err != nil {
			return // it is refused anyway: an index out of range
		}
		y, err := w.Value(after)
		if err == nil {
			err = differ(&y, &x, r.Level)
		}
		if err != nil {
			names := e.Names(nil)
			fault = &array.Error{Kind: array.DeviceFailed, Op: "debug", Msg: fmt.Sprintf("rule %q, which is %s, changes what is computed: it makes %s of %s: %v", r.Name, r.Level,
				oneLine(graphtext.Formula([]*ir.Node{after}, names)), oneLine(graphtext.Formula([]*ir.Node{before}, names)), err)}
		}
	})
	if fault != nil {
		return fault
	}
	// The traced graph, one operation after the other in the interpreter.
	want := make([]array.View, len(e.Outs))
	w = &exec.Walker{Device: oracle, Ins: given, Nums: nums}
	for i, n := range e.Outs {
		v, err := w.Value(n)
		if err != nil {
			return nil // the call itself tells
		}
		want[i] = copyOf(&FromView(v).v)
	}
	check := func(what string, p *plan.Plan, d device.Device, ins []*array.View, outs []array.View) error {
		c, err := exec.Compile(p, d)
		if err == nil {
			err = c.Run(context.Context(nil), nil, ins, nums, outs)
		}
		for i := range outs {
			if err == nil {
				err = differ(&outs[i], &want[i], rewrite.LevelOf(e.options.rules()))
			}
		}
		if err != nil {
			return &array.Error{Kind: array.DeviceFailed, Op: "debug", Msg: what, Err: err}
		}
		return nil
	}
	// The program as it runs, each kernel beside the interpreter.
	if err := check("the compiled program computes something else than its operations do", e.Code.Plan, exec.Checked(dev, oracle), copiesWithStrides(ins), make([]array.View, len(want))); err != nil {
		return err
	}
	// Other strides of what is read, and results in memory of the caller's.
	final := e.Rewritten().Outs
	sigs, dst, outs := make([]plan.Sig, len(ins)), make([]plan.Sig, len(want)), make([]array.View, len(want))
	far := copies(2)
	for i, v := range far {
		sigs[i] = plan.SigOf(v)
	}
	for i := range want {
		outs[i] = copyWithStep(&want[i], 3)
		dst[i] = plan.SigOf(&outs[i])
		outs[i].Offset = 0
	}
	return check("with other strides the program computes something else", plan.Build(final, sigs, dst, dev.Model()), dev, far, outs)
}

// copiesWithStrides returns copies of views with the same strides.
func copiesWithStrides(ins []*array.View) []*array.View {
	out := make([]*array.View, len(ins))
	for i, v := range ins {
		lo, hi := v.Span()
		c := array.View{Store: device.Get(v.Store.Device).Default().Alloc(max((hi-lo)*v.DType.Size(), 1)), DType: v.DType, Offset: v.Offset - lo, Shape: v.Shape, Strides: v.Strides}
		CopyViews(nil, &c, v)
		out[i] = &c
	}
	return out
}

// oneLine returns the text of formulas on one line.
func oneLine(s string) string {
	s = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "), "out = ")
	if len(s) > 200 {
		s = s[:200] + "..."
	}
	return s
}

// differ returns an error where values are not what they should be: to the bit, but for the
// payloads of NaN, unless rules may round otherwise; then floats that are finite both times
// are compared, with some digits.
func differ(got, want *array.View, level rewrite.Level) error {
	if got.DType != want.DType || !array.Equal(got.Shape, want.Shape) {
		return fmt.Errorf("it is %s, not %s", array.TypeString(got.DType, got.Shape), array.TypeString(want.DType, want.Shape))
	}
	x, a := elements(got)
	y, b := elements(want)
	defer KeepAlive(&Tensor{v: a})
	defer KeepAlive(&Tensor{v: b})
	d := got.DType
	if d.Complex() {
		d = d.Part()
	}
	n := d.Size()
	for i := 0; i < len(x); i += n {
		if string(x[i:i+n]) == string(y[i:i+n]) {
			continue
		}
		f, g := exec.Element(d, x[i:]), exec.Element(d, y[i:])
		if d.Float() {
			if f != f && g != g {
				continue
			}
			if level > rewrite.Exact && (math.IsInf(f, 0) || math.IsInf(g, 0) || f != f || g != g || math.Abs(f-g) <= 1e-3*max(math.Abs(f), math.Abs(g), 1e-3)) {
				continue
			}
		} else if level > rewrite.Exact {
			continue // it may follow from the rounding of floats
		}
		return fmt.Errorf("element %v is %v, not %v", IndexOf(i/got.DType.Size(), got.Shape), f, g)
	}
	return nil
}
