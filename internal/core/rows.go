package core

import (
	"slices"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// A backward pass may compute several gradients of each result at once: its rows, the first axis
// of every gradient. op.Batch makes of each gradient's graph one operation for all rows.

// RowsSeq numbers these operations, so that their hashes spread over the plan cache.
var RowsSeq atomic.Uint64

// ofRows returns the gradient for rows as an operation. Its arguments are the saved values that it
// uses, the gradients of the results with a first axis of rows, and the numbers. Its attribute is
// the number of rows.
func (v *vjp) ofRows() *op.Def {
	if d := v.rows.Load(); d != nil {
		return d
	}
	first := len(v.used) - len(v.p.Outs) // of the inputs that are gradients
	compose := func(args []*ir.Node, a ir.Attrs) []*ir.Node {
		rows := int(a.(op.Count))
		g, inputs, k := args[0].Graph, make([]*ir.Node, len(v.used)), 0
		for i := range inputs {
			if v.isArg(i) {
				inputs[i] = args[k]
				k++
			}
		}
		outs := op.Batch(g, v.outs, rows, func(x *ir.Node) op.Batched {
			if x.Op == ir.Input {
				return op.Batched{Node: inputs[x.Arg()], Lead: x.Arg() >= first}
			}
			return op.Batched{Node: g.Node(x.Op, x.Attrs, x.DType, nil, x.Weak)} // numbers keep their order
		})
		res := make([]*ir.Node, len(outs))
		for i, x := range outs {
			res[i] = x.Raise(rows)
		}
		return res
	}
	d := &op.Def{Name: v.p.def.Name, Hash: Mix(0x70e5, RowsSeq.Add(1)), Class: op.Composite, Arity: -1, Composed: op.Composed{ComposeAll: compose}, Typing: op.Typing{Results: len(v.outs)}}
	v.rows.CompareAndSwap(nil, d)
	return v.rows.Load()
}

// isArg reports whether input i of the gradient's graph is an argument of ofRows.
func (v *vjp) isArg(i int) bool {
	k := len(v.p.Outs)
	first := len(v.used) - k
	return v.used[i] || i >= first && v.p.Outs[i-first].DType.Differentiable()
}

// runRows is run for gradients of the results that have a first axis of rows.
func (n *GradNode) runRows(rows int, dys []*Tensor, create bool) []*Tensor {
	saved := n.values(dys)
	if n.Back != nil {
		return n.backRows(saved, rows, dys, create)
	}
	v := n.vjp
	if v == nil {
		v = n.p.vjpFor(n.In)
	}
	if n.p.def.NonDifferentiable && create {
		array.Failf("backward", "", "%s has no second derivative", n.opName())
	}
	var r *Run
	for _, dy := range dys {
		if dy != nil {
			r = dy.run
		}
	}
	var ops []Operand
	for i := range v.used {
		if !v.isArg(i) {
			continue
		}
		if k := i - (len(v.used) - len(dys)); k >= 0 {
			ops = append(ops, Operand{T: dys[k]})
		} else {
			ops = append(ops, Operand{T: n.savedTensor(&saved[i], r, create)})
		}
	}
	if !create {
		for i := range ops {
			ops[i].T = ops[i].T.WithoutHistory()
		}
	}
	for _, x := range n.nums {
		ops = append(ops, Operand{Num: x})
	}
	out := make([]*Tensor, len(n.In))
	for i, t := range ApplyAll(v.ofRows(), op.Count(rows), ops...) {
		out[v.which[i]] = &Tensor{v: t.v, run: r, hist: t.hist}
	}
	return out
}

// savedTensor returns a saved value as a tensor, with its history if the pass is recorded.
func (n *GradNode) savedTensor(s *SavedValue, r *Run, create bool) *Tensor {
	t := &Tensor{v: s.V, run: r}
	from := s.From
	if s.Result {
		from = n
		if n.results != nil {
			from = n.results[s.Arg]
		}
	}
	if create && from != nil {
		t.hist = &History{Node: from}
	}
	return t
}

// backRows runs a gradient that is a Go function row by row.
func (n *GradNode) backRows(saved []SavedValue, rows int, dys []*Tensor, create bool) []*Tensor {
	each := make([][]*Tensor, len(n.In))
	row := make([]*Tensor, len(dys))
	for i := range rows {
		for k, dy := range dys {
			if dy != nil {
				row[k] = dy.AtAs("at", []int{i})
			}
		}
		for k, g := range n.Back(saved, row, create) {
			if g != nil && n.In[k] != nil {
				each[k] = append(each[k], g)
			}
		}
	}
	out := make([]*Tensor, len(n.In))
	for k, gs := range each {
		if len(gs) > 0 {
			out[k] = Stack(gs, 0)
		}
	}
	return out
}

// stepPutRows is stepPut for rows of gradients.
func (p *gradPass) stepPutRows(n *GradNode, dy partialGrad) {
	if !p.create {
		dy.t = dy.t.WithoutHistory()
	}
	if value := n.In[1]; value != nil {
		p.addGrad(value, partialGrad{t: p.applyViews(n, dy.t).Clone()})
	}
	if base := n.In[0]; base != nil {
		c := dy.t.Clone()
		p.applyViews(n, c).Assigned("assign", "x", Whole(0), (*Tensor).CopyFrom)
		p.addGrad(base, partialGrad{t: c})
	}
}

// applyViews applies n's chain of view ops to each row of t. It returns a view, or a copy where
// strides do not allow one.
func (p *gradPass) applyViews(n *GradNode, t *Tensor) *Tensor {
	for _, w := range n.put.chain {
		for _, m := range op.BatchViews(w.def, w.A, p.rows, t.v.Shape) {
			t = Window(m.Def, m.Attrs, t)
		}
	}
	return t
}

// seedRows checks rows of gradients of an output.
func (t *Tensor) seedRows(name string, rows int, seed *Tensor) *Tensor {
	seed.Check(name)
	if want := slices.Insert(slices.Clone(t.v.Shape), 0, rows); seed.v.DType != t.v.DType || !array.Equal(seed.v.Shape, want) {
		array.Failf(name, "seeds", "are %s, want %s", array.TypeString(seed.v.DType, seed.v.Shape), array.TypeString(t.v.DType, want))
	}
	return t.passRun(seed)
}
