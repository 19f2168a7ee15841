package weft

import (
	"context"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/tracing"
)

// The hooks by which package tracing compiles functions of other packages.
func init() {
	tracing.New = func(f func([]*Tensor) []*Tensor, o tracing.Options) tracing.Func[*Tensor] {
		var debug *core.Debugging
		if d, ok := o.Debug.(*DebugOpts); ok && d != nil {
			debug = d.debugging()
		}
		return &tracedFunc{f, core.CompiledFunc{Name: o.Name, Line: o.Line, Level: o.Level, Debug: debug, Hold: o.Hold, Private: o.Private}}
	}
	array.Calls = func() *[]string {
		if tr := core.TracingHere(); tr != nil {
			return &tr.Calls
		}
		return nil
	}
	tracing.Active = func() bool { return core.TracingHere() != nil }
	tracing.Refuse = core.RefuseHost
	tracing.Outside = func(f func()) {
		tr := core.TracingHere()
		if tr == nil {
			f()
			return
		}
		tr.Aside(f)
	}
	tracing.Drawn = func(g *Generator) (seed, draw any) {
		tr := core.TracingHere()
		if tr == nil {
			s := g.Next()
			return int64(s.Seed), int64(s.Draw & core.Low32)
		}
		a, b := tr.Draws(core.Drawing{From: g.c(), Count: 1, Short: true})
		return core.Operand{Num: a}, core.Operand{Num: b}
	}
	tracing.Check = func(t *Tensor, opName, arg string, lo, hi int64, text string) *Tensor {
		return (*Tensor)(core.RangeCheck{Op: opName, Arg: arg, Min: lo, Max: hi, Text: text}.Of(t.c()))
	}
	tracing.Do = func(do, undo func()) {
		if tr := core.TracingHere(); tr != nil {
			tr.Do(do, undo)
		} else {
			do()
		}
	}
}

// A tracedFunc is a compiled function of another package.
type tracedFunc struct {
	f func(args []*Tensor) []*Tensor
	c core.CompiledFunc
}

// replay runs the function. It records for gradients also inside WithoutGrad.
func (f *tracedFunc) replay(args []*Tensor) (ts []*Tensor) {
	core.Recording(true, func() { ts = f.f(args) })
	return ts
}

// body is replay for a trace. Its rest says which results are nil.
func (f *tracedFunc) body(args []*core.Tensor) (ts []*core.Tensor, rest any, err error) {
	all := f.replay(core.Outer[Tensor](args))
	given := make([]bool, len(all))
	for i, t := range all {
		if given[i] = t != nil; given[i] {
			ts = append(ts, t.c())
		}
	}
	return ts, given, nil
}

func (f *tracedFunc) Call(ctx context.Context, args []*Tensor) (ts []*Tensor, err error) {
	err = Try(func() {
		g := newSupplied(ctx)
		for _, t := range args {
			t.c().Check("compile")
			if t.c().Hist() != nil && !t.IsLeaf() {
				t = t.Detach()
			}
			g.Tensors = append(g.Tensors, t.c())
		}
		if f.c.Inline(g, func() { ts = f.replay(args) }) {
			return
		}
		e, results := f.c.Run(g, f.body)
		g.Free()
		given := e.Rest.([]bool)
		if len(results) == len(given) {
			ts = core.Outer[Tensor](results)
			return
		}
		ts = make([]*Tensor, len(given))
		for i := range ts {
			if given[i] {
				ts[i], results = (*Tensor)(results[0]), results[1:]
			}
		}
	})
	return ts, err
}

func (f *tracedFunc) Prepare(types []ir.Type) error {
	return Try(func() {
		g := core.Supplied{}
		for _, t := range types {
			n := array.CheckShape("compile", t.Shape, t.DType)
			st := array.NewAbstract(n*t.DType.Size(), 0, nil, func() {})
			g.Tensors = append(g.Tensors, made(array.View{Store: st, DType: t.DType, Shape: t.Shape, Strides: array.RowMajor(t.Shape)}).c())
		}
		if f.c.Find(&g) == nil {
			f.c.Make(&g, f.body)
		}
	})
}

func (f *tracedFunc) Graph() []*ir.Node {
	if list := f.c.Entries.Load(); list != nil {
		return (*list)[0].Outs
	}
	return nil
}

func (f *tracedFunc) Why() string { return f.c.Reasons() }
