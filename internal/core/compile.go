package core

import (
	"context"

	"weft/internal/array"
	"weft/internal/ir"
)

// Functions of tensors that packages beside the face compile.

// A Func is a compiled Go function of tensors. It is safe for concurrent use.
//
// A call, or [Func.Prepare], runs the function once on abstract tensors, which have types and shapes
// and no memory. Operations, backward passes, writes, draws and updates of optimizers are recorded
// in one graph instead of computed. Captured tensors are inputs by reference, and are written
// back if the function writes into them. The graph is rewritten up to [Options.Level], planned and
// compiled. Programs are kept (see [Evict]), one for each set of types, shapes, strides and sharing of
// memory of the arguments. A second run of the function, for other shapes, must do the same with
// the tensors that it captures. What it does to Go values happens once a trace.
type Func struct {
	CompiledFunc
	f func(args []*Tensor) []*Tensor
}

// NewFunc returns f without programs. f returns nil where there is no result.
func NewFunc(f func(args []*Tensor) []*Tensor, o Options) *Func {
	return &Func{CompiledFunc{Options: o}, f}
}

// recording runs f. It records for gradients also inside WithoutGrad.
func recording(f func(args []*Tensor) []*Tensor, args []*Tensor) (ts []*Tensor) {
	Recording(true, func() { ts = f(args) })
	return ts
}

func (f *Func) body(args []*Tensor) ([]*Tensor, any, error) {
	return recording(f.f, args), nil, nil
}

// Call runs the program for the arguments. It returns new tensors, or arguments and captured tensors
// that the function returns as they are. A ctx that is not nil ends the call. The error is an
// *array.Error.
func (f *Func) Call(ctx context.Context, args []*Tensor) (ts []*Tensor, err error) {
	return f.CallAs(ctx, args, nil, f.f)
}

// CallAs is Call of one of a family of functions, which static tells apart. nil is the function
// itself. body is what the member of the family does. Requires: static is comparable.
func (f *Func) CallAs(ctx context.Context, args []*Tensor, static any, body func(args []*Tensor) []*Tensor) (ts []*Tensor, err error) {
	err = array.Try(func() {
		g := newSupplied(ctx)
		if static != nil {
			g.Statics = append(g.Statics, static)
		}
		for _, t := range args {
			t.Check("compile")
			if n := t.Node(); n != nil && n.Leaf == nil {
				t = t.Detach()
			}
			g.Tensors = append(g.Tensors, t)
		}
		if f.inline(g, func() { ts = recording(body, args) }) {
			return
		}
		_, ts = f.run(g, func(args []*Tensor) ([]*Tensor, any, error) { return recording(body, args), nil, nil })
		g.Free()
	})
	return ts, err
}

// CallWith is [Func.CallAs] of a body that returns more than tensors, or an error. rest is what the body returned beside
// the tensors when it was traced for such arguments. A body that returns an error leaves no program. Gradients are
// recorded as around the call.
func (f *Func) CallWith(ctx context.Context, args []*Tensor, static any, body func(args []*Tensor) (ts []*Tensor, rest any, err error)) (ts []*Tensor, rest any, err error) {
	failed := array.Try(func() {
		g := newSupplied(ctx)
		g.Statics = append(g.Statics, static)
		for _, t := range args {
			g.Add(t)
		}
		if f.inline(g, func() { ts, rest, err = body(args) }) {
			return
		}
		var e *Entry
		e, ts = f.run(g, body)
		rest, err = e.rest, e.Err
		g.Free()
	})
	if failed != nil {
		err = failed
	}
	return ts, rest, err
}

// Prepare makes the program for arguments in row-major order of these types without running it.
func (f *Func) Prepare(types []ir.Type) error {
	return array.Try(func() {
		g := Supplied{Tensors: abstract(types)}
		if f.find(&g) == nil {
			f.create(&g, f.body)
		}
	})
}

// Graph returns the outputs of the latest program's graph as it was traced: results that are
// computed, then gradients left in leaves, then what is written into captured tensors. It is nil
// before there is a program.
func (f *Func) Graph() []*ir.Node {
	if list := f.Entries.Load(); list != nil {
		return (*list)[0].Outs
	}
	return nil
}
