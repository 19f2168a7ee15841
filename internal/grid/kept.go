package grid

import (
	"slices"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// Rows of [Kept] variants stay in registers between passes. Each warp of a row computes
// keptSlots*Warp neighbouring lanes, its segment, in all passes. So a thread finds again what it
// has loaded or stored itself, and memory sees each element once.
//
// A chain of a sum goes through all segments of a block of numbers.Block lanes, in ascending order.
// Threads therefore write what they add to shared memory, and the first warp of the block adds it.

const (
	// keptSlots is the number of lanes of a thread, a power of two. It is less in short rows, where
	// one warp computes a row.
	keptSlots = 16
	// keptWords is the largest number of registers of 4 bytes that a slot keeps between two passes.
	// keptWordsWide is that of blocks of more than 256 threads: 1024 have 64 registers each.
	keptWords, keptWordsWide = 3, 1
	// keptShared is the largest shared memory of a block in bytes. Two such blocks fit a
	// multiprocessor of compute capability 9.0.
	keptShared = 96 << 10
	// sumRows is the most rows of virtual lanes whose elements a warp loads together.
	sumRows = 16
)

// keptLanes has the most lanes of a row, by level. Above 4096 the blocks have 512 and 1024 threads.
var keptLanes = [...]int{64, 128, 256, 512, 1024, 1536, 2048, 2560, 3072, 3584, 4096, 8192, 16384}

// keptLevel returns the lowest level for rows of a number of lanes, len(keptLanes) if there is none.
func keptLevel(lanes int) int {
	level, _ := slices.BinarySearch(keptLanes[:], lanes)
	return level
}

// keptShape returns the lanes of a thread and the warps of a row.
func keptShape(level int) (slots, warps int) {
	slots = min(keptLanes[level]/Warp, keptSlots)
	return slots, keptLanes[level] / (slots * Warp)
}

// reuse says which elements of a row the passes find again.
type reuse struct {
	from  []loop.Value // by load: the value that it finds again, an earlier load or what was stored; else NoValue
	dead  []bool       // by store: a later pass overwrites all of it before anything reads memory
	words int          // registers of 4 bytes of a slot that stay between two passes, at most
}

// reuses returns what the passes of a program find again, nil if that is nothing. Any two buffers may
// share memory: a store makes what was known of other buffers stale.
func reuses(p *loop.Program) *reuse {
	r := &reuse{from: make([]loop.Value, len(p.Ins)), dead: make([]bool, len(p.Ins))}
	for i := range r.from {
		r.from[i] = loop.NoValue
	}
	known := make([]loop.Value, len(p.Bufs))  // by buffer: the value of its elements
	stored := make([]loop.Value, len(p.Bufs)) // by buffer: a store that nothing has read yet
	clear := func(of []loop.Value) {
		for i := range of {
			of[i] = loop.NoValue
		}
	}
	clear(known)
	clear(stored)
	born, last := make([]int, len(p.Ins)), make([]int, len(p.Ins)) // by value: passes
	found := false
	pass := func(number int, body []loop.Value) {
		for _, v := range body {
			in := &p.Ins[v]
			b := int(in.Imm)
			lanes := in.Op >= loop.OpLoad && in.Op <= loop.OpStoreAt && p.Bufs[b].Steps[p.Lane] != loop.Zero
			switch {
			case in.Op == loop.OpLoad && lanes && known[b] != loop.NoValue:
				r.from[v] = known[b]
				last[known[b]] = number
				found = true
			case in.Op == loop.OpLoad && lanes:
				known[b], born[v] = v, number
				clear(stored)
			case in.Op == loop.OpLoad || in.Op == loop.OpLoadAt:
				clear(stored)
			case in.Op == loop.OpStore && lanes:
				if s := stored[b]; s != loop.NoValue {
					r.dead[s] = true
				}
				clear(known)
				stored[b] = v
				if keeps(p, b) {
					known[b], born[in.A] = in.A, number
				}
			case in.Op == loop.OpStore || in.Op == loop.OpStoreAt:
				clear(known)
				clear(stored)
			}
		}
	}
	passes := 0
	for _, v := range p.Body {
		if in := &p.Ins[v]; in.Op == loop.OpPass {
			pass(passes, p.Region(in).Body)
			passes++
			continue
		}
		clear(stored)
		if stores(p, []loop.Value{v}) {
			clear(known)
		}
	}
	if !found {
		return nil
	}
	for n := 1; n < passes; n++ {
		words := 0
		for v := range p.Ins {
			if born[v] < n && n <= last[v] {
				words += max(p.Ins[v].Type.Size(), 4) / 4
			}
		}
		r.words = max(r.words, words)
	}
	return r
}

// keeps reports whether a load of what was stored gives the value itself, but for the rounding of
// halves.
func keeps(p *loop.Program, buf int) bool { return p.TypeOf(buf) == loop.TypeOf(p.Bufs[buf].DType) }

// again emits a load that finds the value x again.
func (e *emitter) again(v, x loop.Value, buf int) {
	d := e.p.Bufs[buf].DType
	if d != array.Float16 && d != array.BFloat16 || e.p.Rounded(d, x) {
		e.vals[v] = e.vals[x]
		return
	}
	e.each(v, func(s int) Reg { return e.Do(loop.OpRound, loop.F32, uint64(d), e.get(x, s)) })
}

// legalKept reports whether rows of a program can be kept in registers. Passes have no branches and few
// instructions, because a thread has a copy of them for each of its lanes.
func legalKept(p *loop.Program, level int) bool {
	if level >= len(keptLanes) || p.Ragged() >= 0 || leads(p) {
		return false
	}
	ok := true
	p.Walk(p.Body, func(_ loop.Value, in *loop.Ins) {
		r := p.Region(in)
		switch in.Op {
		case loop.OpLoop:
			ok = ok && !p.Fuel(r)
		case loop.OpPass:
			ok = ok && brief(p, r.Body)
		}
	})
	if !ok {
		return false
	}
	words := keptWords
	if _, warps := keptShape(level); warps*Warp > 256 {
		words = keptWordsWide
	}
	r := reuses(p)
	return r != nil && r.words <= words && newGather(p, level).bytes <= keptShared
}

// A gather is how the warps of a kept row combine what they have of reductions, their parts. A team
// is the warps of one block of [numbers.Block] lanes.
type gather struct {
	slots, warps, team int
	at                 []int // by value: where the parts of a reduction lie in shared memory
	results            []int // by value: where its results lie, 8 bytes for each team
	bytes              int
}

func newGather(p *loop.Program, level int) *gather {
	slots, warps := keptShape(level)
	g := &gather{slots: slots, warps: warps, team: min(warps, numbers.Block/(slots*Warp))}
	if warps == 1 {
		return g
	}
	g.at, g.results = make([]int, len(p.Ins)), make([]int, len(p.Ins))
	each := func(f func(pass, v loop.Value, in *loop.Ins)) {
		for _, pass := range p.Body {
			if p.Ins[pass].Op != loop.OpPass {
				continue
			}
			for _, v := range p.Region(&p.Ins[pass]).Body {
				if in := &p.Ins[v]; in.Op == loop.OpReduce {
					f(pass, v, in)
				}
			}
		}
	}
	// Results of all passes have places of their own: threads read them while others write parts of
	// the next pass.
	results := 0
	each(func(_, v loop.Value, _ *loop.Ins) {
		g.results[v] = results
		results += 8 * warps / g.team
	})
	results = (results + 15) &^ 15
	last, at := loop.NoValue, 0
	each(func(pass, v loop.Value, in *loop.Ins) {
		if pass != last {
			last, at = pass, results
		}
		g.at[v] = at
		at += g.parts(newReduction(v, in)) * warps * Warp * word(in.Type).Size()
		g.bytes = max(g.bytes, at)
	})
	return g
}

// parts returns the number of parts of a reduction that a thread has. Of a sum it is what each slot
// adds, of others what each virtual lane has.
func (g *gather) parts(r *reduction) int {
	if r.serial() {
		return g.slots
	}
	return r.chains
}

// keptPass emits a pass of a kept row.
func (e *emitter) keptPass(r *loop.Region) {
	e.orderPass(r.Body)
	var reds []*reduction
	e.reds = map[loop.Value]*reduction{}
	for _, v := range r.Body {
		in := &e.p.Ins[v]
		if in.Op != loop.OpReduce {
			continue
		}
		x := newReduction(v, in)
		if e.rowWarps > 1 {
			x.parts = e.partsAt(x)
		}
		if x.parts == NoReg || !x.serial() {
			for range x.chains {
				x.acc = append(x.acc, e.Copy(e.identity(x)))
			}
		}
		reds = append(reds, x)
		e.reds[v] = x
	}
	n := e.extent[e.p.Lane]
	refs := append([][]ref(nil), e.refs...)
	e.whole(e.gather.slots)
	e.lane = make([]Reg, e.k)
	first := e.Add(e.Mul(e.warpInRow(), e.I32(int32(e.k*Warp))), e.inWarp)
	for s := range e.lane {
		e.lane[s] = e.Add(first, e.I32(int32(s*Warp)))
		if e.kind&Whole == 0 {
			e.pred[s] = e.Lt(e.lane[s], n)
		}
	}
	e.laneAddresses(r.Body, Warp)
	e.block(r.Body)
	copy(e.refs, refs)
	e.lane = nil
	e.whole(1)
	e.touch(r.Body)
	if e.rowWarps > 1 && len(reds) > 0 {
		e.gatherParts(reds)
		return
	}
	for _, x := range reds {
		e.vals[x.v] = []Reg{e.toLanes(x, e.foldLanes(x))}
	}
}

// partsAt returns the address of the parts of a thread in shared memory. Part i lies Warp*i elements
// behind it.
func (e *emitter) partsAt(r *reduction) Reg {
	i := e.Add(e.Mul(e.warp, e.I32(int32(e.gather.parts(r)*Warp))), e.inWarp)
	return e.Add(e.Mul(e.Wide(i), e.I64(int64(word(r.t).Size()))), e.I64(int64(e.gather.at[r.v])))
}

// gatherParts combines the parts of reductions. The first warp of each team combines its
// team's parts. All threads combine the results of the teams.
func (e *emitter) gatherParts(reds []*reduction) {
	g := e.gather
	for _, r := range reds {
		for i, x := range r.acc {
			e.share(r.parts, i*Warp*word(r.t).Size(), x, NoReg)
		}
	}
	e.Barrier()
	team := e.QuoU(e.warp, e.I32(int32(g.team)))
	e.If(e.Eq(e.Mul(team, e.I32(int32(g.team))), e.warp), true, func() {
		at, first := e.Wide(e.Mul(team, e.I32(8))), e.Eq(e.inWarp, e.I32(0))
		for _, r := range reds {
			e.share(at, g.results[r.v], e.teamResult(r), first)
		}
	}, nil)
	e.Barrier()
	e.seen = accesses{}
	zero := e.I64(0)
	for _, r := range reds {
		x := make([]Reg, g.warps/g.team)
		for i := range x {
			x[i] = e.unshare(registerType(r.t), zero, g.results[r.v]+8*i)
		}
		// A team without lanes has the identity, which changes no value that it is combined with.
		for ; len(x) > 1; x = x[:len(x)/2] {
			for i := range len(x) / 2 {
				x[i] = e.combine(r, x[2*i], x[2*i+1])
			}
		}
		e.vals[r.v] = x
	}
}

// teamResult returns, in the first lane of a team's first warp, what the team has of a reduction. The
// virtual lanes of the parts lie side by side, so a chain steps over all of them.
func (e *emitter) teamResult(r *reduction) Reg {
	g, size := e.gather, word(r.t).Size()
	r.acc = nil
	for range r.chains {
		r.acc = append(r.acc, e.Copy(e.identity(r)))
	}
	rows := g.team * g.parts(r) / r.chains
	batch := rows
	if r.serial() {
		for batch = sumRows; rows%batch != 0; {
			batch /= 2
		}
	}
	at := e.Copy(r.parts)
	add := func() {
		x := make([]Reg, batch*r.chains)
		for i := range x {
			x[i] = e.unshare(registerType(r.t), at, i*Warp*size)
		}
		for i, x := range x {
			acc := r.acc[i%r.chains]
			e.Set(acc, e.combine(r, acc, x))
		}
	}
	if rows == batch {
		add()
		return e.foldLanes(r)
	}
	left := e.Copy(e.I32(int32(rows / batch)))
	zero := e.I32(0)
	e.While(true, func() Reg { return e.Lt(zero, left) }, func() {
		add()
		e.Update(at, loop.OpAdd, at, e.I64(int64(batch*r.chains*Warp*size)))
		e.Update(left, loop.OpSub, left, e.I32(1))
	})
	return e.foldLanes(r)
}
