package loop

import "slices"

// A rewriter rewrites a program instruction by instruction, and keeps its structure and arguments.
type rewriter struct {
	p    *Program
	b    *Builder
	vals []Value   // by value of p: its value in the new program
	outs [][]Value // by loop or if of p: the results
	how  rewriting
}

// A rewriting says how parts of a program are rewritten.
type rewriting interface {
	ins(v Value) Value                     // adds an instruction without blocks of its own
	carry(r *Region, i int, x Value) Value // x as result i of an if or as a loop carries it
	behind(v Value)                        // sees to a reduction behind its pass
}

func newRewriter(p *Program) rewriter {
	w := rewriter{p: p, b: NewBuilder(p.Name, p.Axes, p.Lane), vals: make([]Value, len(p.Ins)), outs: make([][]Value, len(p.Ins))}
	q := w.b.Program()
	q.Bufs, q.Tables, q.Wide, q.Scalars = p.Bufs, p.Tables, p.Wide, slices.Clone(p.Scalars)
	return w
}

func (w *rewriter) rewrite(how rewriting) {
	w.how = how
	w.block(w.p.Body)
}

func (w *rewriter) block(block []Value) {
	for _, v := range block {
		in := &w.p.Ins[v]
		w.b.Line = w.p.Line(v)
		switch r := w.p.Region(in); in.Op {
		case OpPass:
			w.b.Pass(func() { w.block(r.Body) })
			for _, x := range r.Body {
				if w.p.Ins[x].Op == OpReduce {
					w.how.behind(x)
				}
			}
		case OpIf:
			var els func() []Value
			if len(r.Else)+len(r.ElseNext) > 0 {
				els = func() []Value { return w.branch(r, r.Else, r.ElseNext) }
			}
			w.outs[v] = w.b.If(w.vals[r.Cond], func() []Value { return w.branch(r, r.Body, r.Next) }, els)
		case OpLoop:
			w.outs[v] = w.loop(r)
		case OpOut:
			w.vals[v] = w.outs[in.A][in.Imm]
		default:
			w.vals[v] = w.how.ins(v)
		}
	}
}

// branch rewrites a block, and returns the values that it yields.
func (w *rewriter) branch(r *Region, block, next []Value) []Value {
	w.block(block)
	return w.carried(r, next)
}

func (w *rewriter) carried(r *Region, of []Value) (out []Value) {
	for i, x := range of {
		out = append(out, w.how.carry(r, i, x))
	}
	return out
}

func (w *rewriter) loop(r *Region) []Value {
	enter := func(params []Value) {
		for i, q := range r.Params {
			w.vals[q] = params[i]
		}
	}
	body := func([]Value) []Value { return w.branch(r, r.Body, r.Next) }
	if r.Cond == NoValue {
		return w.b.For(r.Axis, w.carried(r, r.Init), func(params []Value) []Value {
			enter(params)
			return body(params)
		})
	}
	out := w.b.While(w.carried(r, r.Init), func(params []Value) Value {
		enter(params)
		w.block(r.Head)
		return w.vals[r.Cond]
	}, body)
	q := w.b.Program()
	q.Region(&q.Ins[len(q.Ins)-1-len(out)]).Axis = r.Axis
	return out
}
