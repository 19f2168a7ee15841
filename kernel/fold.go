package kernel

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// A folding is the body of a loop that combines elements along the third axis of its
// arguments, as many as the last argument says.
type folding struct {
	*reduction
	params []op.Param
}

// AppendKey implements [ir.Attrs].
func (b folding) AppendKey(k []byte) []byte {
	k = append(k, "fold"...)
	for _, p := range b.params {
		k = ir.Int(ir.Int(k, int(p.Seen)), int(p.DType))
	}
	if k = ir.Flag(k, b.mapped != nil); b.mapped != nil {
		k = b.mapped.AppendKey(k)
	}
	return b.combine.AppendKey(k)
}

// Name implements [op.Body].
func (b folding) Name() string { return b.name }

// Params implements [op.Body].
func (b folding) Params() []op.Param { return b.params }

// Results implements [op.Body].
func (b folding) Results() []array.DType { return b.combine.Results() }

// Cost implements [op.Body].
func (b folding) Cost() int {
	c := b.combine.Cost()
	if b.mapped != nil {
		c += b.mapped.Cost()
	}
	return foldRows * (c + 1)
}

// Partials implements [op.Body]: the gradient is that of the tree.
func (b folding) Partials(results, args []bool) op.Body { return nil }

// EmitKernel implements [op.Body].
func (b folding) EmitKernel(e *op.Emit) []loop.Value {
	kb := e.B
	last := len(b.params) - 1
	element := func(i loop.Value) []loop.Value {
		x := make([]loop.Value, last)
		for j, p := range b.params[:last] {
			if p.Seen == op.ByElement {
				x[j] = e.X[j]
				continue
			}
			w := e.Window(j)
			x[j] = kb.LoadAt(w.Buf, kb.Mul(i, w.Strides[2]))
		}
		if b.mapped == nil {
			return x
		}
		return b.mapped.EmitKernel(&op.Emit{B: kb, Node: e.Node, X: x})
	}
	init := append([]loop.Value{kb.Int(loop.I64, 1)}, element(kb.Int(loop.I64, 0))...)
	out := kb.While(init, func(v []loop.Value) loop.Value {
		return kb.Lt(v[0], e.X[last])
	}, func(v []loop.Value) []loop.Value {
		both := append(append([]loop.Value(nil), v[1:]...), element(v[0])...)
		return append([]loop.Value{kb.Add(v[0], kb.Int(loop.I64, 1))}, b.combine.EmitKernel(&op.Emit{B: kb, Node: e.Node, X: both})...)
	})
	return out[1:]
}
