package weft

import (
	"context"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/tracing"
)

// The hooks by which package tracing compiles functions of other packages.
func init() {
	tracing.New = func(f func([]*Tensor) []*Tensor, o tracing.Options) tracing.Func[*Tensor] {
		var debug *debugging
		if d, ok := o.Debug.(*DebugOpts); ok && d != nil {
			debug = d.debugging()
		}
		return &tracedFunc{f, compiledFunc{name: o.Name, line: o.Line, level: o.Level, debug: debug, hold: o.Hold, private: o.Private}}
	}
	array.Calls = func() *[]string {
		if tr := tracingHere(); tr != nil {
			return &tr.calls
		}
		return nil
	}
	tracing.Active = func() bool { return tracingHere() != nil }
	tracing.Refuse = refuseHost
	tracing.Outside = func(f func()) {
		tr := tracingHere()
		if tr == nil {
			f()
			return
		}
		tr.aside(f)
	}
	tracing.Drawn = func(g *Generator) (seed, draw any) {
		tr := tracingHere()
		if tr == nil {
			s := g.Next()
			return int64(s.Seed), int64(s.Draw & low32)
		}
		a, b := tr.draws(drawing{from: g, count: 1, short: true})
		return liveNumber{a}, liveNumber{b}
	}
	tracing.Check = func(t *Tensor, opName, arg string, lo, hi int64, text string) *Tensor {
		return rangeCheck{Op: opName, Arg: arg, Min: lo, Max: hi, Text: text}.of(t)
	}
	tracing.Do = func(do, undo func()) {
		if tr := tracingHere(); tr != nil {
			tr.do(do, undo)
		} else {
			do()
		}
	}
	tracing.Live = func(read func() float64) any {
		tr := tracingHere()
		if tr == nil {
			return read()
		}
		at := tr.live(1, func(nums []exec.Number) { nums[0] = exec.Number{Float: read(), Kind: array.CatFloat} })
		n := exec.Number{Kind: array.CatFloat, Live: at}
		tr.aside(func() { n.Float = read() })
		return liveNumber{n}
	}
}

// low32 masks the number of a draw to the bits that kernels take.
const low32 = 1<<32 - 1

// A liveNumber is an operand that each call of a compiled function supplies.
type liveNumber struct{ exec.Number }

// A tracedFunc is a compiled function of another package.
type tracedFunc struct {
	f func(args []*Tensor) []*Tensor
	c compiledFunc
}

// replay runs the function. It records for gradients also inside WithoutGrad.
func (f *tracedFunc) replay(args []*Tensor) (ts []*Tensor) {
	recording(true, func() { ts = f.f(args) })
	return ts
}

// body is replay for a trace. Its rest says which results are nil.
func (f *tracedFunc) body(args []*Tensor) (ts []*Tensor, rest any, err error) {
	all := f.replay(args)
	given := make([]bool, len(all))
	for i, t := range all {
		if given[i] = t != nil; given[i] {
			ts = append(ts, t)
		}
	}
	return ts, given, nil
}

func (f *tracedFunc) Call(ctx context.Context, args []*Tensor) (ts []*Tensor, err error) {
	err = Try(func() {
		g := newSupplied(ctx)
		for _, t := range args {
			t.check("compile")
			if t.hist != nil && !t.IsLeaf() {
				t = t.Detach()
			}
			g.tensors = append(g.tensors, t)
		}
		if f.c.inline(g, func() { ts = f.replay(args) }) {
			return
		}
		e, results := f.c.run(g, f.body)
		g.free()
		given := e.rest.([]bool)
		if len(results) == len(given) {
			ts = results
			return
		}
		ts = make([]*Tensor, len(given))
		for i := range ts {
			if given[i] {
				ts[i], results = results[0], results[1:]
			}
		}
	})
	return ts, err
}

func (f *tracedFunc) Prepare(types []ir.Type) error {
	return Try(func() {
		g := supplied{}
		for _, t := range types {
			n := array.CheckShape("compile", t.Shape, t.DType)
			st := array.NewAbstract(n*t.DType.Size(), 0, nil, func() {})
			g.tensors = append(g.tensors, &Tensor{v: array.View{Store: st, DType: t.DType, Shape: t.Shape, Strides: array.RowMajor(t.Shape)}})
		}
		if f.c.find(&g) == nil {
			f.c.make(&g, f.body)
		}
	})
}

func (f *tracedFunc) Graph() []*ir.Node {
	if list := f.c.entries.Load(); list != nil {
		return (*list)[0].outs
	}
	return nil
}

func (f *tracedFunc) Why() string { return f.c.reasons() }
