package ptxsim

import (
	"math/bits"

	cudart "weft/internal/cudart/driver"
)

const allLanes = ^uint32(0)

// A block is a block of threads that runs.
type block struct {
	k       *kernel
	l       *launch
	index   int
	blocks  int
	threads int
	shared  region
	run     uint32 // tells the runs of blocks apart in the cells of shared memory
	epoch   uint16 // barriers that were passed
	warps   []warp
}

// A part is an entry of the stack of a warp: lanes that run from pc until they reach rejoin.
type part struct {
	pc, rejoin int32
	mask       uint32
}

// A warp is 32 threads.
type warp struct {
	b       *block
	first   int // number of its first thread
	lanes   uint32
	exited  uint32
	stack   []part
	waiting bool
	epoch   uint16 // barriers of the warp that it passed
	barrier int32
	steps   int
	in      *ins
	r       [][32]uint64
	written []uint32
	p       []uint32
	pwrote  []uint32
	scratch [3][32]uint64
}

// newBlock allocates what the blocks of a launch use in turn.
func newBlock(l *launch) *block {
	k := l.k
	b := &block{k: k, l: l, blocks: l.blocks, threads: l.threads}
	b.shared.size = k.shared + l.shared
	for first := 0; first < l.threads; first += 32 {
		w := warp{b: b, first: first, lanes: allLanes}
		if n := l.threads - first; n < 32 {
			w.lanes = 1<<n - 1
		}
		w.r = make([][32]uint64, k.registers)
		w.written = make([]uint32, k.registers)
		w.p, w.pwrote = make([]uint32, k.preds), make([]uint32, k.preds)
		for _, c := range k.constants {
			for i := range 32 {
				w.r[c.reg][i] = c.bits
			}
		}
		for _, reg := range k.dynamic {
			for i := range 32 {
				w.r[reg][i] += uint64(roundUp(k.shared, 16))
			}
		}
		b.warps = append(b.warps, w)
	}
	return b
}

// start makes a block begin anew.
func (b *block) start(index int) {
	b.index = index
	b.epoch = 0
	b.l.act.epoch, b.l.actS.epoch = 0, 0
	b.l.c.blockRuns++
	b.run = b.l.c.blockRuns
	b.shared.reset()
	for i := range b.warps {
		w := &b.warps[i]
		w.b = b
		w.exited = ^w.lanes
		w.waiting, w.steps, w.epoch = false, 0, 0
		w.stack = append(w.stack[:0], part{0, int32(len(b.k.code)), w.lanes})
		clear(w.written)
		clear(w.pwrote)
		for _, c := range b.k.constants {
			w.written[c.reg] = allLanes
		}
		for _, s := range b.k.specials {
			w.written[s.reg] = allLanes
			s.id.fill(&w.r[s.reg], w)
		}
	}
}

// execute runs a block to its end. Warps take turns of random length.
func (b *block) execute() {
	rnd := b.l.c.rnd
	ready := make([]int, 0, len(b.warps))
	for {
		ready = ready[:0]
		for i := range b.warps {
			if w := &b.warps[i]; !w.waiting && len(w.stack) > 0 {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			if !b.passBarrier() {
				return
			}
			continue
		}
		rnd.Shuffle(len(ready), func(i, j int) { ready[i], ready[j] = ready[j], ready[i] })
		for _, i := range ready {
			b.warps[i].run(64 + rnd.IntN(2048))
		}
	}
}

// passBarrier lets the warps go on that wait for each other. It returns false where the block is done.
func (b *block) passBarrier() bool {
	var at *warp
	for i := range b.warps {
		if b.warps[i].waiting {
			at = &b.warps[i]
		}
	}
	if at == nil {
		return false
	}
	for i := range b.warps {
		w := &b.warps[i]
		if !w.waiting {
			at.fault(bits.TrailingZeros32(at.lanes), 0, "a barrier that thread %d left before", w.first)
		}
		if w.barrier != at.barrier {
			at.fault(bits.TrailingZeros32(at.lanes), 0, "barrier %d, while thread %d waits at barrier %d", at.barrier, w.first, w.barrier)
		}
		w.waiting = false
	}
	b.epoch = (b.epoch + 1) & epochMask
	b.l.act.epoch, b.l.actS.epoch = b.epoch, b.epoch
	return true
}

// run executes up to n instructions of a warp.
func (w *warp) run(n int) {
	code := w.b.k.code
	w.b.l.step(w, n)
	for ; n > 0; n-- {
		top := &w.stack[len(w.stack)-1]
		if top.pc == top.rejoin || top.mask&^w.exited == 0 {
			if w.stack = w.stack[:len(w.stack)-1]; len(w.stack) == 0 {
				return
			}
			continue
		}
		top.mask &^= w.exited
		in := &code[top.pc]
		w.in = in
		m := top.mask
		for _, p := range in.predReads {
			if m&^w.pwrote[p] != 0 && (in.guard < 0 || p == in.guard || w.guarded(in, m)&^w.pwrote[p] != 0) {
				w.fault(bits.TrailingZeros32(m&^w.pwrote[p]), 0, "a predicate is read that was never written")
			}
		}
		if in.guard >= 0 {
			m = w.guarded(in, m)
		}
		if in.kind == plain {
			top.pc++
			if m == 0 {
				continue
			}
			for _, r := range in.reads {
				if m&^w.written[r] != 0 {
					w.fault(bits.TrailingZeros32(m&^w.written[r]), 0, "a register is read that was never written")
				}
			}
			in.exec(w, m)
			for _, r := range in.writes {
				w.written[r] |= m
			}
			continue
		}
		if w.flow(in, top, m) {
			return
		}
	}
}

func (w *warp) guarded(in *ins, m uint32) uint32 {
	if in.not {
		return m &^ w.p[in.guard]
	}
	return m & w.p[in.guard]
}

// flow executes an instruction that changes the flow of control in the lanes of m. It returns true
// where the warp has to wait.
func (w *warp) flow(in *ins, top *part, m uint32) bool {
	switch in.kind {
	case branch:
		w.branch(in, top, m)
	case leave:
		w.exited |= m
		top.pc++
	case barrier:
		top.pc++
		if m == 0 {
			return false
		}
		if m != w.lanes {
			w.fault(bits.TrailingZeros32(m), 0, "a barrier in divergent code: lanes %#x of %#x", m, w.lanes)
		}
		w.waiting, w.barrier = true, in.id
		return true
	}
	return false
}

// branch makes the lanes of taken jump; the others go on behind the branch.
func (w *warp) branch(in *ins, top *part, taken uint32) {
	other := top.mask &^ taken
	switch {
	case taken == 0:
		top.pc++
		return
	case other == 0:
		top.pc = in.target
		return
	}
	if in.uniform {
		w.fault(bits.TrailingZeros32(taken), 0, "bra.uni parts the lanes %#x and %#x", taken, other)
	}
	next := top.pc + 1
	if top.rejoin == in.rejoin {
		w.stack = w.stack[:len(w.stack)-1]
		if len(w.stack) == 0 { // they meet at the end only
			w.stack = append(w.stack, part{in.rejoin, in.rejoin, 0})
		}
	} else {
		top.pc = in.rejoin
	}
	w.stack = append(w.stack, part{next, in.rejoin, other}, part{in.target, in.rejoin, taken})
}

// fault stops the launch.
func (w *warp) fault(lane int, a uint64, format string, args ...any) {
	f := w.b.l.fault(format, args...)
	f.Line = int(w.in.line)
	if f.Line > 0 && f.Line <= len(w.b.k.m.lines) {
		f.Text = w.b.k.m.lines[f.Line-1]
	}
	f.Block, f.Thread, f.Addr = w.b.index, w.first+lane, cudart.Addr(a)
	panic(f)
}
