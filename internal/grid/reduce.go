package grid

import (
	"math"

	"weft/internal/loop"
	"weft/internal/numbers"
)

// A reduction is an OpReduce while its pass is emitted.
//
// A thread holds the virtual lanes whose numbers are its own modulo [Warp], one chain for each. A
// warp computes a block of [numbers.Block] elements. The values of finished rounds of blocks form
// the tree of a binary counter: lane l of a warp holds the value of 1<<l rounds in a register.
type reduction struct {
	v      loop.Value
	t      loop.Type
	kind   loop.Reduction
	chains int   // virtual lanes of a thread
	acc    []Reg // by chain
	parts  Reg   // of a kept row of several warps: address of the thread's parts
	result Reg
	tree   Reg
}

func newReduction(v loop.Value, in *loop.Ins) *reduction {
	r := &reduction{v: v, t: in.Type, kind: loop.Reduction(in.Imm), chains: 1}
	if r.ordered() {
		r.chains = numbers.VirtualBytes / r.t.Size() / Warp
	}
	return r
}

// ordered reports whether the order shows in the result. Integers and truth values combine in any
// order.
func (r *reduction) ordered() bool { return r.t.Float() }

// serial reports sums and products, whose elements combine one by one. Minima and maxima of
// neighbouring parts of a chain can be combined later: the last one of equals stays.
func (r *reduction) serial() bool {
	return r.ordered() && (r.kind == loop.Sum || r.kind == loop.Prod)
}

// identity returns what the chains of a reduction begin with.
func (e *emitter) identity(r *reduction) Reg {
	if r.t == loop.B {
		bit := uint64(0)
		if r.kind == loop.And {
			bit = 1
		}
		return e.Const(loop.B, bit)
	}
	if r.t.Float() {
		x := [...]float64{loop.Sum: 0, loop.Prod: 1, loop.Min: math.Inf(1), loop.Max: math.Inf(-1)}[r.kind]
		if r.t == loop.F32 {
			return e.F32(float32(x))
		}
		return e.F64(x)
	}
	most := int64(1)<<(8*r.t.Size()-1) - 1
	x := [...]int64{loop.Sum: 0, loop.Prod: 1, loop.Min: most, loop.Max: -most - 1, loop.MinU: -1, loop.MaxU: 0}[r.kind]
	if r.t == loop.I64 {
		return e.I64(x)
	}
	return e.I32(int32(x))
}

// combine returns x op y.
func (e *emitter) combine(r *reduction, x, y Reg) Reg {
	op := [...]loop.Op{loop.Sum: loop.OpAdd, loop.Prod: loop.OpMul, loop.Min: loop.OpMin, loop.Max: loop.OpMax,
		loop.And: loop.OpAnd, loop.Or: loop.OpOr, loop.MinU: loop.OpMinU, loop.MaxU: loop.OpMaxU}[r.kind]
	if narrow(r.t) {
		return e.narrow(op, r.t, x, y)
	}
	return e.Do(op, r.t, 0, x, y)
}

// take emits an OpReduce: the elements of all slots go to their chains, in ascending order.
func (e *emitter) take(v loop.Value, in *loop.Ins) {
	r := e.reds[v]
	for _, s := range e.slots {
		x := e.get(in.A, s)
		if len(r.acc) == 0 { // of a kept row: lanes that don't exist add the identity
			e.share(r.parts, s*Warp*word(r.t).Size(), e.where(e.pred[s], x, e.identity(r)), NoReg)
			continue
		}
		acc := r.acc[s%len(r.acc)]
		e.Set(acc, e.where(e.pred[s], e.combine(r, acc, x), acc))
	}
}

// where returns x where c holds, else y; c may be NoReg.
func (e *emitter) where(c, x, y Reg) Reg {
	if c == NoReg {
		return x
	}
	return e.Select(c, x, y)
}

// reduce emits the pass of reductions over n lanes. Round emits what the row's warps do with one
// block of elements each, from the lane base on.
func (e *emitter) reduce(reds []*reduction, n Reg, round func(base Reg)) {
	t := e.Type(n)
	blocks := e.Copy(e.I32(0)) // rounds in the tree
	tree := false
	for _, r := range reds {
		r.result = e.Copy(e.identity(r))
		if r.ordered() {
			tree = true
			r.tree = e.Copy(e.identity(r))
		}
	}
	base := e.Copy(e.Const(t, 0))
	e.While(true, func() Reg { return e.Lt(base, n) }, func() {
		if tree {
			e.If(e.Lt(e.Const(t, 0), base), true, func() { e.push(reds, blocks) }, nil)
		}
		for _, r := range reds {
			r.acc = nil
			for range r.chains {
				r.acc = append(r.acc, e.Copy(e.identity(r)))
			}
		}
		round(base)
		e.fold(reds, base, n)
		e.Update(base, loop.OpAdd, base, e.Const(t, uint64(e.rowWarps*numbers.Block)))
	})
	if tree {
		e.finish(reds, blocks)
	}
	for _, r := range reds {
		e.vals[r.v] = []Reg{r.result}
	}
}

// fold emits the end of a round: it combines the chains of a warp, and then the row's warps. Lanes
// and warps that have no right neighbour keep their value.
func (e *emitter) fold(reds []*reduction, base, n Reg) {
	values := make([]Reg, len(reds))
	for i, r := range reds {
		values[i] = e.foldLanes(r)
	}
	if e.rowWarps > 1 {
		first := e.Eq(e.inWarp, e.I32(0))
		for i, x := range values {
			at := e.Add(e.parity, e.Wide(e.Mul(e.warp, e.I32(8))))
			e.share(at, 8*blockWarps*i, x, first)
		}
		e.Barrier()
		t := e.Type(n)
		slot := e.And(e.inWarp, e.I32(blockWarps-1))
		at := e.Add(e.parity, e.Wide(e.Mul(slot, e.I32(8))))
		start := e.Add(base, e.Mul(e.as(t, slot), e.Const(t, numbers.Block))) // of the warp's block
		left := e.Sub(n, start)
		for i, r := range reds {
			x := e.unshare(registerType(r.t), at, 8*blockWarps*i)
			values[i] = e.foldWarp(r, x, blockWarps, left)
		}
		e.swap()
	}
	for i, r := range reds {
		x := e.toLanes(r, values[i])
		if !r.ordered() {
			x = e.combine(r, r.result, x)
		}
		e.Set(r.result, x)
	}
}

// foldLanes combines the chains of a warp, into the first lane; truth values into all lanes.
func (e *emitter) foldLanes(r *reduction) Reg {
	x := r.acc[0]
	if len(r.acc) > 1 {
		x = e.combine(r, x, r.acc[1])
	}
	return e.foldWarp(r, x, Warp, NoReg)
}

// toLanes returns what foldWarp has in the first lane, in all lanes.
func (e *emitter) toLanes(r *reduction, x Reg) Reg {
	if r.t == loop.B {
		return x
	}
	return e.FromLane(x, e.I32(0))
}

// foldWarp combines the values of the first n lanes into the first lane; truth values into all
// lanes. Left, if not NoReg, is by lane the number of elements from its block on. Blocks are then
// combined as an aligned tree of neighbours, else lanes in halves.
func (e *emitter) foldWarp(r *reduction, x Reg, n int, left Reg) Reg {
	switch {
	case r.kind == loop.And:
		return e.All(x)
	case r.kind == loop.Or:
		return e.Any(x)
	case left == NoReg:
		for d := n / 2; d > 0; d /= 2 {
			x = e.combine(r, x, e.Down(x, d))
		}
		return x
	}
	t := e.Type(left)
	for d := 1; d < n; d *= 2 {
		there := e.Lt(e.Const(t, uint64(d*numbers.Block)), left)
		x = e.Select(there, e.combine(r, x, e.Down(x, d)), x)
	}
	return x
}

// push puts the results of a round into the trees.
func (e *emitter) push(reds []*reduction, blocks Reg) {
	level := e.Copy(e.I32(0))
	one := e.I32(1)
	e.While(true, func() Reg { return e.Eq(e.And(e.Do(loop.OpShrU, loop.I32, 0, blocks, level), one), one) }, func() {
		for _, r := range reds {
			if r.ordered() {
				e.Set(r.result, e.combine(r, e.FromLane(r.tree, level), r.result))
			}
		}
		e.Update(level, loop.OpAdd, level, one)
	})
	here := e.Eq(e.inWarp, level)
	for _, r := range reds {
		if r.ordered() {
			e.Set(r.tree, e.Select(here, r.result, r.tree))
		}
	}
	e.Update(blocks, loop.OpAdd, blocks, one)
}

// finish combines the trees with the results of the last round.
func (e *emitter) finish(reds []*reduction, blocks Reg) {
	e.While(true, func() Reg { return e.Do(loop.OpNe, loop.B, 0, blocks, e.I32(0)) }, func() {
		level := e.Do(loop.OpTzCnt, loop.I32, 0, blocks)
		for _, r := range reds {
			if r.ordered() {
				e.Set(r.result, e.combine(r, e.FromLane(r.tree, level), r.result))
			}
		}
		e.Set(blocks, e.And(blocks, e.Sub(blocks, e.I32(1))))
	})
}
