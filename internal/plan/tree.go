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
	for s := 1; s < nb; s *= radix {
		n := (nb + s - 1) / s
		full, last := n/radix, n <= radix
		if full > 0 {
			e.combine(x, t, final, group{0, full, radix, s, last})
		}
		if n%radix > 1 {
			e.combine(x, t, final, group{full * radix * s, 1, n % radix, s, last})
		}
	}
}

// A group is a number of groups of parts from the part first on: size parts that are s apart. The last
// one gives the result.
type group struct {
	first, groups, size, s int
	last                   bool
}

// combine emits the kernel that combines groups of parts.
func (e *emitter) combine(x *ir.Node, t, final Operand, g group) {
	first, groups, size, s := g.first, g.groups, g.size, g.s
	b, inner, kind := e.b, e.c.perRow, op.Combines(x)
	shape := append([]int{groups}, inner...)
	part := Operand{t.Slot, t.Offset + first*t.Strides[0], t.DType, shape, append([]int{t.Strides[0] * size * s}, t.Strides[1:]...)}
	dst := part
	if g.last {
		dst = final
		dst.Shape, dst.Strides = shape, append([]int{0}, final.Strides...)
	}
	k := newKernel(b, "tree", shape, -1, -1)
	// One group of any size runs one program, so that another number of parts compiles
	// nothing. What is not there is the first part again, which is read and not taken.
	bufs := make([]int, radix)
	for i, at := range g.at() {
		bufs[i] = len(k.acc)
		x := part
		x.Offset += (at - first) * t.Strides[0]
		k.acc = append(k.acc, &access{o: x, strides: x.Strides, buf: -1})
	}
	d := k.operand(dst, true)
	k.build(func(kb *loop.Builder) {
		some := groups == 1
		count := loop.NoValue
		if some {
			count = k.word(d, 'n', 0, size)
		}
		kb.Pass(func() {
			v := make([]loop.Value, len(bufs))
			for i, n := range bufs {
				v[i] = kb.Load(k.buf(n))
			}
			for s := 1; len(v) > 1; s, v = 2*s, v[:len(v)/2] {
				for i := range len(v) / 2 {
					x := v[2*i]
					v[i] = combine(kb, kind, x, v[2*i+1])
					if some && (2*i+1)*s > 1 { // there are at least two
						v[i] = kb.Select(kb.Lt(kb.Int(loop.I64, int64((2*i+1)*s)), count), v[i], x)
					}
				}
			}
			kb.Store(k.buf(d), v[0])
		})
	})
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
