package grid

import "weft/internal/loop"

// shortRows walks rows of 1 to [Warp] lanes. The lanes of a row are neighbours, a power of two of
// them. Each lane holds one element, so it is one virtual lane of a reduction. Virtual lanes without
// an element hold the identity, which changes no value that they are combined with. The first lane of
// a warp has a row in each trip.
func (e *emitter) shortRows() {
	p := e.p
	e.rowWarps = 1
	n := e.extent[p.Lane]
	lanes := n
	if e.count == loop.I64 {
		lanes = e.Do(loop.OpCvt, loop.I32, 0, n)
	}
	one := e.I32(1)
	shift := e.Sub(e.I32(32), e.Do(loop.OpLzCnt, loop.I32, 0, e.Sub(lanes, one)))
	e.width = e.Do(loop.OpShl, loop.I32, 0, one, shift)
	e.inRows = e.And(e.inWarp, e.Sub(e.width, one))
	e.first = e.Sub(e.inWarp, e.inRows)
	rowsOf := func(threads Reg) Reg { return e.counter(e.Do(loop.OpShrU, loop.I32, 0, threads, shift)) }
	mine, perBlock := rowsOf(e.inWarp), rowsOf(e.I32(blockThreads))
	base := e.Copy(e.Add(e.Mul(e.counter(e.Block()), perBlock), rowsOf(e.Sub(e.thread, e.inWarp))))
	by := e.Mul(e.counter(e.Blocks()), perBlock)
	total := e.number(1)
	for a := range p.Lane {
		total = e.Mul(total, e.extent[a])
	}
	e.While(true, func() Reg { return e.Lt(base, total) }, func() {
		row := e.Add(base, mine)
		e.row = e.Lt(row, total)
		e.whole(1)
		e.pred[0] = e.row
		e.seen = accesses{}
		if p.Lane > 0 {
			e.split(row)
		}
		e.rowAddresses(e.row)
		e.body(func(r *loop.Region) { e.shortPass(r, lanes) })
		e.Update(base, loop.OpAdd, base, by)
	})
}

// shortPass emits a pass whose lanes all run at once.
func (e *emitter) shortPass(r *loop.Region, lanes Reg) {
	e.orderPass(r.Body)
	var reds []*reduction
	e.reds = map[loop.Value]*reduction{}
	for _, v := range r.Body {
		if in := &e.p.Ins[v]; in.Op == loop.OpReduce {
			x := newReduction(v, in)
			x.acc = []Reg{e.Copy(e.identity(x))}
			reds = append(reds, x)
			e.reds[v] = x
		}
	}
	refs := append([][]ref(nil), e.refs...)
	e.whole(1)
	e.lane = []Reg{e.counter(e.inRows)}
	e.pred[0] = e.And(e.row, e.Lt(e.inRows, lanes))
	e.laneAddresses(r.Body, 1)
	e.block(r.Body)
	copy(e.refs, refs)
	e.lane = nil
	e.whole(1)
	e.pred[0] = e.row
	e.touch(r.Body)
	for _, x := range reds {
		e.vals[x.v] = []Reg{e.foldShort(x)}
	}
}

// foldShort returns the result of a reduction, in all lanes of its row.
func (e *emitter) foldShort(r *reduction) Reg {
	x, truth := r.acc[0], r.t == loop.B
	if truth { // lanes exchange numbers
		x = e.Do(loop.OpCvt, loop.I32, 0, x)
		r = &reduction{t: loop.I32, kind: r.kind}
	}
	for d := Warp / 2; d > 0; d /= 2 {
		y := e.combine(r, x, e.Down(x, d))
		x = e.Select(e.Lt(e.I32(int32(d)), e.width), y, x)
	}
	x = e.FromLane(x, e.first)
	if truth {
		return e.Do(loop.OpNe, loop.B, 0, x, e.I32(0))
	}
	return x
}
