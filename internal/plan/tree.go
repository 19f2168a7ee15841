package plan

import (
	"math"

	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// radix is the number of neighbouring parts that one kernel of the tree combines:
// three levels of pairs.
const radix = 8

// tree combines parts, neighbours first: a kernel takes in groups of radix parts s
// apart, and the last writes the result.
func (e *emitter) tree(x *ir.Node, t, final Operand, nb int) {
	b := e.b
	inner := e.c.perRow
	kind := op.Combines(x)
	combineGroups := func(first, groups, size, s int, last bool) {
		shape := append([]int{groups}, inner...)
		part := Operand{t.Slot, t.Offset + first*t.Strides[0], t.DType, shape, append([]int{t.Strides[0] * size * s}, t.Strides[1:]...)}
		dst := part
		if last {
			dst = final
			dst.Shape, dst.Strides = shape, append([]int{0}, final.Strides...)
		}
		k := newKernel(b, "tree", shape, -1, -1)
		bufs := make([]int, size)
		for i := range bufs {
			bufs[i] = k.operand(part, false)
			part.Offset += s * t.Strides[0]
		}
		d := k.operand(dst, true)
		k.build(func(kb *loop.Builder) {
			kb.Pass(func() {
				v := make([]loop.Value, size)
				for i, n := range bufs {
					v[i] = kb.Load(k.buf(n))
				}
				for ; len(v) > 1; v = v[:(len(v)+1)/2] {
					for i := range len(v) / 2 {
						v[i] = combine(kb, kind, v[2*i], v[2*i+1])
					}
					if len(v)%2 == 1 {
						v[len(v)/2] = v[len(v)-1]
					}
				}
				kb.Store(k.buf(d), v[0])
			})
		})
	}
	for s := 1; s < nb; s *= radix {
		n := (nb + s - 1) / s
		full, last := n/radix, n <= radix
		if full > 0 {
			combineGroups(0, full, radix, s, last)
		}
		if n%radix > 1 {
			combineGroups(full*radix*s, 1, n%radix, s, last)
		}
	}
}

func combine(kb *loop.Builder, kind loop.Reduction, x, y loop.Value) loop.Value {
	switch kind {
	case loop.Sum:
		return kb.Add(x, y)
	case loop.Prod:
		return kb.Mul(x, y)
	case loop.Min:
		return kb.Min(x, y)
	case loop.Max:
		return kb.Max(x, y)
	case loop.MinU:
		return kb.MinU(x, y)
	case loop.MaxU:
		return kb.MaxU(x, y)
	case loop.And:
		return kb.And(x, y)
	}
	return kb.Or(x, y)
}

func identity(kb *loop.Builder, kind loop.Reduction, t loop.Type) loop.Value {
	switch kind {
	case loop.Sum, loop.Or, loop.MaxU:
		return kb.Number(t, 0)
	case loop.Prod, loop.And:
		return kb.Number(t, 1)
	case loop.MinU:
		return kb.Int(t, -1)
	}
	least := int64(-1) << (8*t.Size() - 1)
	switch {
	case t.Int() && kind == loop.Max:
		return kb.Int(t, least)
	case t.Int():
		return kb.Int(t, ^least)
	case kind == loop.Max:
		return kb.Float(t, math.Inf(-1))
	}
	return kb.Float(t, math.Inf(1))
}
