package grid

import (
	"crypto/sha256"
	"fmt"

	"weft/internal/loop"
)

// An emitter lowers a program.
//
// The thread computes several lanes at a time, its slots, in lockstep: an instruction is written
// once for each slot. Branches in which the lanes of a warp part are written for one slot after the
// other. Outside of them all threads of a warp run together. Those without a lane run along, with
// memory accesses switched off by a predicate. A value that is uniform is the same in them too.
type emitter struct {
	*Builder
	p        *loop.Program
	kind     Variant // without Long
	count    loop.Type
	open     []bool // by value: nothing reads the sign of a NaN
	same     []bool // by value: the same in all lanes of a row
	uniform  []bool // by value: the same in all lanes of a warp
	prologue []Ins
	args     map[[2]int]Reg

	vals      [][]Reg   // by value: registers by slot, one if they share it
	outs      [][][]Reg // by loop or if: registers of its results
	refs      [][]ref   // by buffer: addresses by slot, one if they share it
	index     []Reg     // by axis: the index in the axes being walked
	extent    []Reg     // by axis
	lane      []Reg     // by slot: the index along the lane axis
	pred      []Reg     // by slot: whether the lane exists, NoReg if it does
	k         int       // number of slots
	slots     []int     // those that take part
	divergent bool      // lanes of a warp may have parted

	thread, inWarp, warp Reg // numbers of the thread in its block and warp, and of its warp
	rowWarps             int // warps that compute a row
	width, first, inRows Reg // of ShortRows, I32: lanes of a row, the row's first lane, the lane in the row
	row                  Reg // of ShortRows, B: the row exists
	cancelled            Reg // B: the launch has been cancelled; NoReg if no loop burns fuel
	live                 Reg // B: what NoReg stands for as a predicate behind a loop that may have been left
	cancel, watched      Reg // address of the word that cancels, and whether there is one
	parity               Reg // I64: where in shared memory values are exchanged next
	exchange             int // bytes of one exchange
	seen                 accesses
	reds                 map[loop.Value]*reduction // of the pass at hand
	reuse                *reuse                    // of Kept
	gather               *gather                   // of Kept
}

// Lower maps a program that [loop.Verify] accepts to a kernel. Requires that the variant is
// [Legal]. The kernel's name depends on the content of the program and the variant.
func Lower(p *loop.Program, v Variant) (*Kernel, error) {
	if !Legal(p, v) {
		return nil, fmt.Errorf("grid: %s: a program that is not laid out as %s", p.Name, v)
	}
	key := sha256.Sum256([]byte(p.Key()))
	b := NewBuilder(fmt.Sprintf("k%x_%s", key[:8], v), v.threads())
	b.K.Tables, b.K.Args = p.Tables, argCancel(p)+8
	n := len(p.Ins)
	e := &emitter{
		Builder: b, p: p, kind: v.kind(), count: loop.I32, args: map[[2]int]Reg{},
		vals: make([][]Reg, n), outs: make([][][]Reg, n), refs: make([][]ref, len(p.Bufs)),
		index: make([]Reg, len(p.Axes)), extent: make([]Reg, len(p.Axes)), same: p.Uniform(p.Lane, true),
		open: openSigns(p),
	}
	if v.long() {
		e.count = loop.I64
	}
	e.uniform = e.same
	if e.flat() || e.kind == ShortRows {
		e.uniform = p.Uniform(0, true)
		if p.Ragged() >= 0 { // loops over it end at different times
			e.uniform = make([]bool, n)
		}
	}
	e.whole(1)
	e.begin()
	switch {
	case e.flat():
		e.flatLanes()
	case e.kind == ShortRows:
		e.shortRows()
	default:
		e.rows()
	}
	b.K.Body = append(e.prologue, b.K.Body...)
	return b.K, nil
}

func (e *emitter) flat() bool { return e.kind == Flat || e.kind == FlatVector || e.kind == FlatWide }

// whole begins code for k slots that all take part and whose lanes exist.
func (e *emitter) whole(k int) {
	e.k, e.slots = k, make([]int, k)
	for s := range e.slots {
		e.slots[s] = s
	}
	e.pred = make([]Reg, k)
}

// begin emits what threads do first.
func (e *emitter) begin() {
	e.thread = e.Thread()
	e.inWarp = e.And(e.thread, e.I32(Warp-1))
	e.warp = e.Do(loop.OpShrU, loop.I32, 0, e.thread, e.I32(5))
	for a := range e.p.Axes {
		e.extent[a] = e.arg(e.count, argWord(e.p, e.p.ExtentWord(a)))
	}
	if e.burns(e.p.Body) {
		e.cancelled = e.Copy(e.Const(loop.B, 0))
		e.cancel = e.arg(loop.I64, argCancel(e.p))
		e.watched = e.Do(loop.OpNe, loop.B, 0, e.cancel, e.I64(0))
	}
}

// arg returns an argument, read once when the kernel begins.
func (e *emitter) arg(t loop.Type, offset int) Reg {
	key := [2]int{int(t), offset}
	r, ok := e.args[key]
	if !ok {
		r = e.Var(t)
		e.prologue = append(e.prologue, Ins{Op: Arg, Dst: r, Imm: int64(offset)})
		e.args[key] = r
	}
	return r
}

// number returns a constant of the type of counters.
func (e *emitter) number(n int) Reg { return e.Const(e.count, uint64(n)) }

// counter returns an I32 as a counter.
func (e *emitter) counter(x Reg) Reg {
	if e.count == loop.I64 {
		return e.Wide(x)
	}
	return x
}

// flatLanes walks lanes of all rows. The trips of a warp are the same in its threads, and its first
// thread has a lane in each of them.
func (e *emitter) flatLanes() {
	p, k := e.p, e.kind.lanes(e.p)
	perRow := e.extent[p.Lane]
	if k > 1 {
		perRow = e.QuoU(perRow, e.number(k))
	}
	total := perRow
	for a := range p.Lane {
		total = e.Mul(total, e.extent[a])
	}
	threads := e.number(blockThreads)
	base := e.Copy(e.Add(e.Mul(e.counter(e.Block()), threads), e.counter(e.Sub(e.thread, e.inWarp))))
	by := e.Mul(e.counter(e.Blocks()), threads)
	e.While(true, func() Reg { return e.Lt(base, total) }, func() {
		i := e.Add(base, e.counter(e.inWarp))
		e.whole(1)
		act := e.Lt(i, total)
		e.pred[0] = act
		if p.Lane > 0 {
			row := e.QuoU(i, perRow)
			i = e.Sub(i, e.Mul(row, perRow))
			e.split(row)
		}
		e.lane = []Reg{i}
		if k > 1 {
			i = e.Mul(i, e.number(k))
			e.lane = make([]Reg, k)
			for s := range e.lane {
				e.lane[s] = e.Add(i, e.number(s))
			}
		}
		e.rowAddresses(act)
		e.body(func(r *loop.Region) {
			e.whole(k)
			for s := range e.pred {
				e.pred[s] = act
			}
			e.laneAddresses(r.Body, 1)
			e.block(r.Body)
		})
		e.Update(base, loop.OpAdd, base, by)
	})
}

// split sets the indices of the outer axes from the number of a row.
func (e *emitter) split(row Reg) {
	for a := e.p.Lane - 1; a > 0; a-- {
		q := e.QuoU(row, e.extent[a])
		e.index[a] = e.Sub(row, e.Mul(q, e.extent[a]))
		row = q
	}
	e.index[0] = row
}

// body emits the instructions of the row. Pass emits a pass.
func (e *emitter) body(pass func(r *loop.Region)) {
	for _, v := range e.p.Body {
		in := &e.p.Ins[v]
		if in.Op == loop.OpPass {
			pass(e.p.Region(in))
		} else {
			e.ins(v)
		}
		if e.rowWarps > 1 && e.burns([]loop.Value{v}) {
			e.leaveRow()
			e.pred, e.live = []Reg{NoReg}, NoReg
		}
	}
}

// leave ends the threads of a warp, all together, if one of them has seen that the launch is
// cancelled.
func (e *emitter) leave() {
	if e.cancelled != NoReg {
		e.If(e.Any(e.cancelled), true, e.Return, nil)
	}
}

func (e *emitter) block(block []loop.Value) {
	pred, live := e.pred, e.live
	for _, v := range block {
		e.ins(v)
	}
	e.pred, e.live = pred, live
}

// get returns the register that holds a value in a slot.
func (e *emitter) get(v loop.Value, s int) Reg {
	r := e.vals[v]
	if len(r) == 1 {
		return r[0]
	}
	return r[s]
}

// define says where a value is in a slot.
func (e *emitter) define(v loop.Value, s int, r Reg) { e.vals[v] = e.put(e.vals[v], s, r) }

// put sets the register of a slot.
func (e *emitter) put(regs []Reg, s int, r Reg) []Reg {
	if len(regs) != e.k {
		regs = make([]Reg, e.k)
	}
	regs[s] = r
	return regs
}

// takesPart reports whether code is being written for a slot.
func (e *emitter) takesPart(s int) bool { return s >= e.slots[0] && s < e.slots[0]+len(e.slots) }

// shared reports whether slots may share a register for a value that has this property.
func (e *emitter) shared(same bool) bool { return same && len(e.slots) == e.k }

// each sets a value to what f returns, once if all slots share it.
func (e *emitter) each(v loop.Value, f func(s int) Reg) {
	if e.shared(e.same[v]) {
		e.vals[v] = []Reg{f(e.slots[0])}
		return
	}
	for _, s := range e.slots {
		e.define(v, s, f(s))
	}
}

// ins emits an instruction, which is not a pass.
func (e *emitter) ins(v loop.Value) {
	in := &e.p.Ins[v]
	row := e.inRow()
	if row {
		e.order(v)
	}
	switch in.Op {
	case loop.OpIndex:
		e.each(v, func(s int) Reg { return e.logical(int(in.Imm), s) })
	case loop.OpLoad, loop.OpLoadAt:
		e.load(v, in)
	case loop.OpStore, loop.OpStoreAt:
		if e.reuse != nil && e.reuse.dead[v] {
			return
		}
		if row {
			pred := e.pred
			e.pred = []Reg{e.leads()}
			e.store(in)
			e.pred = pred
			break
		}
		e.store(in)
	case loop.OpLoop, loop.OpIf:
		if row && stores(e.p, []loop.Value{v}) {
			e.lead(v, in)
			return
		}
		e.region(v, in)
	case loop.OpOut:
		e.vals[v] = e.outs[in.A][in.Imm]
	case loop.OpReduce:
		e.take(v, in)
	case loop.OpNeg:
		if in.Type.Float() && e.open[v] {
			e.each(v, func(s int) Reg { return e.Do(in.Op, in.Type, OpenSign, e.get(in.A, s)) })
			return
		}
		e.each(v, func(s int) Reg { return e.compute(in, s) })
	default:
		e.each(v, func(s int) Reg { return e.compute(in, s) })
	}
}

// openSigns reports by value that only sums, products and quotients read it: they show of a NaN that
// it is one.
func openSigns(p *loop.Program) []bool {
	open := make([]bool, len(p.Ins))
	for v := range open {
		open[v] = true
	}
	shown := func(values []loop.Value) {
		for _, v := range values {
			if v != loop.NoValue {
				open[v] = false
			}
		}
	}
	for i := range p.Ins {
		switch in := &p.Ins[i]; in.Op {
		case loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpDiv, loop.OpFma:
		default:
			o := in.Operands()
			shown(o[:])
		}
	}
	for _, r := range p.Regions {
		shown(r.Reads(nil))
	}
	return open
}

// logical returns the index along an axis as the program sees it.
func (e *emitter) logical(axis, s int) Reg {
	i := e.index[axis]
	if axis == e.p.Lane {
		i = e.lane[s]
	}
	return e.Add(e.Wide(i), e.arg(loop.I64, argWord(e.p, e.p.StartWord(axis))))
}
