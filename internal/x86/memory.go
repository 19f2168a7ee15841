package x86

import (
	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// elementOps are the instructions for elements of one size in memory.
type elementOps struct {
	get, put   asm.Op // of a general register, or one for all
	low        asm.Op // of the lowest lane of a vector
	broadcast  asm.Op // one element for all lanes
	broadcastG asm.Op // the same from a general register
	vector     asm.Op // a vector under an opmask
	masked     asm.Op // a vector under a vector of masks, on AVX2
	gather     asm.Op // elements at offsets of 8 bytes
	gather32   asm.Op // and of 4 bytes
}

var elements = [9]elementOps{
	1: {get: asm.MOVZX8, put: asm.MOV8, low: asm.VPEXTRB, broadcast: asm.VPBROADCASTB, broadcastG: asm.VPBROADCASTB, vector: asm.VMOVDQU8},
	2: {get: asm.MOVZX16, put: asm.MOV16, low: asm.VPEXTRW, broadcast: asm.VPBROADCASTW, broadcastG: asm.VPBROADCASTW, vector: asm.VMOVDQU16},
	4: {asm.MOV32, asm.MOV32, asm.VMOVD, asm.VBROADCASTSS, asm.VPBROADCASTD, asm.VMOVUPS, asm.VMASKMOVPS, asm.VPGATHERQD, asm.VPGATHERDD},
	8: {asm.MOV, asm.MOV, asm.VMOVQ, asm.VBROADCASTSD, asm.VPBROADCASTQ, asm.VMOVUPD, asm.VMASKMOVPD, asm.VPGATHERQQ, asm.VPGATHERDQ},
}

// extends are the instructions that read elements of 1 and 2 bytes into lanes of more, by
// the sizes of both: of elements without sign and with one.
var extends = [2][3][9]asm.Op{
	{1: {2: asm.VPMOVZXBW, 4: asm.VPMOVZXBD, 8: asm.VPMOVZXBQ}, 2: {4: asm.VPMOVZXWD, 8: asm.VPMOVZXWQ}},
	{1: {2: asm.VPMOVSXBW, 4: asm.VPMOVSXBD, 8: asm.VPMOVSXBQ}, 2: {4: asm.VPMOVSXWD, 8: asm.VPMOVSXWQ}},
}

// cuts are the instructions of AVX-512 that write the low bytes of lanes, by the sizes of lanes
// and of elements.
var cuts = [9][3]asm.Op{2: {1: asm.VPMOVWB}, 4: {1: asm.VPMOVDB, 2: asm.VPMOVDW}, 8: {1: asm.VPMOVQB, 2: asm.VPMOVQW}}

// signed is 1 for elements that widen by their sign, else 0.
func signed(e array.DType) int {
	if e == array.Int8 || e == array.Int16 {
		return 1
	}
	return 0
}

// activeFor returns the mask of active lanes for register i of a value of type t, 0 for all lanes.
func (c *compiler) activeFor(t loop.Type, i int) vr {
	if c.masks == nil {
		return 0
	}
	return c.maskFor(c.active, t, i)
}

// touched is activeFor for accesses to memory: vectors that overrun a row need no mask.
func (c *compiler) touched(t loop.Type, i int) vr {
	if c.lay.overrun {
		return 0
	}
	return c.activeFor(t, i)
}

// bulk reports whether vectors can access the lanes of buffer b, which then has step Unit. AVX2 has
// no masks for elements of 1 and 2 bytes; in the epilogue storePieces and loadPieces serve.
func (c *compiler) bulk(b int) bool {
	x := &c.p.Bufs[b]
	return x.Steps[c.p.Lane] == loop.Unit && (x.DType.Size() >= 4 || c.isa == jit.AVX512 || c.masks == nil || c.lay.overrun || c.inEpilogue())
}

// inEpilogue reports whether the active lanes are the rest of a row. Requires masks.
func (c *compiler) inEpilogue() bool { return c.masks[0] == c.lay.restMask }

// lowerLoad lowers OpLoad and OpLoadAt.
func (c *compiler) lowerLoad(v loop.Value, in *loop.Ins) {
	if c.loadReused(v) {
		return
	}
	b := int(in.Imm)
	if in.Op == loop.OpLoadAt && c.withBase(b, in.A, func() {
		c.prefetch(b)
		c.lowerLoad(v, &loop.Ins{Op: loop.OpLoad, Type: in.Type, A: loop.NoValue, Imm: in.Imm})
	}) {
		return
	}
	switch {
	case c.lay.uni:
		c.set(v, c.loadOne(c.p.Bufs[b].DType, in.Type, c.oneAt(b, in.A)))
	case in.Op == loop.OpLoad && c.bulk(b):
		for i, d := range c.result(v) {
			c.loadUnit(b, in.Type, d, i)
		}
	case c.canDeinterleave(b, in.A):
		for i, d := range c.result(v) {
			c.loadDeinterleaved(b, d, i)
		}
	case c.canDeinterleaveSmall(b, in.A):
		for i, d := range c.result(v) {
			c.loadDeinterleavedSmall(b, d, i)
		}
	default:
		d := c.result(v)
		for s := range c.lay.k {
			if c.p.Bufs[b].DType.Size() < 4 {
				c.loadLanes(b, d[s], s, in.A)
			} else {
				c.gather(b, in.Type, d, s, in.A)
			}
		}
	}
}

const (
	// prefetchDistance is the number of bytes from an element that a loop reads to the line that
	// it prefetches.
	prefetchDistance = 1 << 10
	// prefetchMinWork is the least number of vector operations for each load at which a loop
	// prefetches.
	prefetchMinWork = 6
)

// worthPrefetching reports a loop that computes at least prefetchMinWork operations for each load.
// The instructions that wait for one trip then fill the reorder buffer, and the loads of the next
// trips begin late.
func (c *compiler) worthPrefetching(r *loop.Region) bool {
	reads, work := 0, 0
	for _, v := range r.Body {
		switch in := &c.p.Ins[v]; {
		case c.p.Region(in) != nil:
			return false
		case c.uniform[v]: // computed once for all lanes
		case in.Op == loop.OpLoadAt:
			reads++
		case in.Op.Pure() && in.Op != loop.OpConst:
			work++
		}
	}
	return reads > 0 && work >= prefetchMinWork*reads
}

// prefetch emits prefetches of buffer b, prefetchDistance bytes behind the next loads, in a loop
// that is worthPrefetching. Where trips go along the row, later trips read these lines; where they
// go across rows, the next vectors of the row do. A prefetch beyond the array does nothing.
func (c *compiler) prefetch(b int) {
	if !c.prefetching || c.disp != 0 || c.masks != nil || !c.bulk(b) {
		return
	}
	for n := 0; n < c.lay.k*c.lay.lanes*c.p.Bufs[b].DType.Size(); n += processor.Line {
		c.emit(asm.PREFETCHT0, 0, 0).at(0, c.at(b, 0).add(prefetchDistance+n))
	}
}

// lowerStore lowers OpStore and OpStoreAt.
func (c *compiler) lowerStore(in *loop.Ins) {
	b := int(in.Imm)
	if in.Op == loop.OpStoreAt && c.withBase(b, in.B, func() { c.lowerStore(&loop.Ins{Op: loop.OpStore, A: in.A, B: loop.NoValue, Imm: in.Imm}) }) {
		return
	}
	k := c.batch.pack(b)
	switch {
	case c.lay.uni:
		c.storeOne(c.p.Bufs[b].DType, c.oneAt(b, in.B), in.A)
	case k != nil && in.Op == loop.OpStore:
		c.storeRow(k, in.A)
	case in.Op == loop.OpStore && c.bulk(b):
		t := c.p.Ins[in.A].Type
		if c.storePacked(b, in.A) {
			return
		}
		for i := range c.count(t) {
			if e := c.p.Bufs[b].DType; e.Size() < 4 {
				c.storeSmall(e, c.at(b, i), in.A, i, c.touched(t, i))
			} else {
				c.storeUnit(b, t, c.get(in.A, i), i)
			}
		}
	case c.canDeinterleave(b, in.B):
		for i := range c.count(c.p.Ins[in.A].Type) {
			c.storeStrided(b, c.get(in.A, i), i)
		}
	default:
		for s := range c.lay.k {
			c.storeLanes(b, in.A, s, in.B)
		}
	}
}

// oneAt returns the address of the element that all lanes share, at an offset if off is one.
func (c *compiler) oneAt(b int, off loop.Value) lmem {
	m := lmem{base: c.ptr[b]}
	if off != loop.NoValue {
		m.index, m.scale = c.offsetOf(off), uint8(c.p.Bufs[b].DType.Size())
	}
	return m
}

// loadOne reads an element into all lanes of a new register, as type t.
func (c *compiler) loadOne(e array.DType, t loop.Type, m lmem) vr {
	switch {
	case e == array.Float16:
		h := c.narrow(c.newV())
		c.load(asm.VPBROADCASTW, h, m)
		return c.v1(asm.VCVTPH2PS, h)
	case e == array.BFloat16:
		return c.v1i(asm.VPSLLD, c.loadV(asm.VPBROADCASTW, m), 16)
	case e == array.Bool:
		return c.boolMask(c.loadG(asm.MOVZX8, m))
	case e.Size() == t.Size():
		return c.loadV(elements[t.Size()].broadcast, m)
	case signed(e) == 1:
		return c.broadcast(c.loadG([...]asm.Op{1: asm.MOVSX8, 2: asm.MOVSX16}[e.Size()], m), t.Size())
	}
	return c.broadcast(c.loadG(elements[e.Size()].get, m), t.Size())
}

// storeOne writes lane 0 of v.
func (c *compiler) storeOne(t array.DType, m lmem, v loop.Value) {
	r := c.get(v, 0)
	switch {
	case t == array.Float16:
		h := c.newV().x()
		c.op1i(asm.VCVTPS2PH, h, r.x(), 0)
		c.store(asm.VPEXTRW, m, h).with(0)
		return
	case t == array.BFloat16:
		c.store(asm.VPEXTRW, m, c.roundUpper(v, r).x()).with(1)
		return
	case t != array.Bool:
		if i := c.store(elements[t.Size()].low, m, r.x()); t.Size() < 4 {
			i.with(0)
		}
		return
	}
	g := c.newG()
	if c.isa == jit.AVX512 {
		c.op1(asm.KMOVW, g, r)
	} else {
		c.op1(asm.VMOVD, g, r.x())
	}
	c.updi(asm.AND, g, 1)
	c.store(asm.MOV8, m, g)
}

// at addresses register i of an element group of a buffer that moves by one
// element a lane.
func (c *compiler) at(b, i int) lmem {
	size := c.p.Bufs[b].DType.Size()
	// Registers of 4- and 8-byte elements hold a full vector; a smaller element
	// has a register a step.
	bytes := c.vb
	if size < 4 {
		bytes = c.lay.lanes * size
	}
	return lmem{base: c.ptr[b], index: c.lay.idx, scale: uint8(size), disp: c.disp + int32(i*bytes+c.lay.first*c.lay.lanes*size)}
}

func (c *compiler) loadUnit(b int, t loop.Type, d vr, i int) {
	m, k := c.at(b, i), c.touched(t, i)
	switch e := c.p.Bufs[b].DType; {
	case e.Size() < 4:
		c.loadSmall(e, d, m, k)
	case k == 0:
		c.load(asm.VMOVUPS, d, m)
	case c.isa == jit.AVX512:
		// Where all loads are masked the processor sees no stream: see foldOperands.
		if n := c.p.Axes[c.p.Lane].Extent; n > 0 && n < c.lay.lanes {
			c.emit(asm.PREFETCHT0, 0, 0).at(0, m.add(prefetchDistance))
		}
		c.load(elements[e.Size()].vector, d, m).mask(k).z()
	default:
		c.op2m(elements[e.Size()].masked, d, k, m)
	}
}

// loadSmall reads a step of elements of 1 or 2 bytes.
func (c *compiler) loadSmall(e array.DType, d vr, m lmem, k vr) {
	load, r := extends[signed(e)][e.Size()][c.lay.es], d
	switch {
	case e == array.Float16:
		load = asm.VCVTPH2PS
	case load == 0 && k == 0:
		load = asm.VMOVUPS
	case load == 0:
		load = elements[e.Size()].vector
	}
	if e == array.Bool {
		r = c.newV()
	}
	switch {
	case k == 0:
		c.load(load, r, m)
	case c.isa == jit.AVX512:
		c.load(load, r, m).mask(k).z()
	case e.Size() == c.lay.es:
		c.loadPieces(r, m, e.Size())
	default:
		x := c.newV()
		c.loadPieces(x, m, e.Size())
		c.op1(load, r, x.x())
	}
	switch e {
	case array.Bool:
		c.boolLanes(d, r)
	case array.BFloat16:
		c.op1i(asm.VPSLLD, d, d, 16)
	}
}

// boolLanes sets d to the lanes of r that are not 0, bools that were widened by zeros.
func (c *compiler) boolLanes(d, r vr) {
	if t := c.maskType(); c.isa == jit.AVX2 && c.lay.es > 1 {
		c.op2(gts[t], d, r, c.constReg(t, 0))
	} else {
		c.nonzero(d, r)
	}
}

// storeUnit writes register i of elements of 4 or 8 bytes.
func (c *compiler) storeUnit(b int, t loop.Type, r vr, i int) {
	m, k := c.at(b, i), c.touched(t, i)
	size := c.p.Bufs[b].DType.Size()
	switch {
	case k == 0 && c.streaming:
		c.store(asm.VMOVNTPS, m, r)
	case k == 0:
		c.store(asm.VMOVUPS, m, r)
	case c.isa == jit.AVX512:
		c.store(elements[size].vector, m, r).mask(k)
	case c.inEpilogue():
		c.storePieces(r, m, size, c.vb/size, i)
	default:
		c.emit(elements[size].masked, 0, 0, k, r).at(0, m)
	}
}

// sized returns the instruction that moves a number of bytes, and r as the register (XMM, YMM or
// ZMM) that has at least that many.
func (c *compiler) sized(r vr, bytes int) (asm.Op, vr) {
	switch {
	case bytes == 4:
		return asm.VMOVD, r.x()
	case bytes == 8:
		return asm.VMOVQ, r.x()
	case bytes == 16:
		return asm.VMOVUPS, r.x()
	case bytes == 32:
		return asm.VMOVUPS, r.y()
	}
	return asm.VMOVUPS, r
}

// storeSmall writes step s of v as elements of 1 or 2 bytes.
func (c *compiler) storeSmall(e array.DType, m lmem, v loop.Value, s int, k vr) {
	size, cut, r := e.Size(), cuts[c.lay.es][e.Size()], c.get(v, s)
	store, n := c.sized(c.newV(), c.lay.lanes*size)
	switch e {
	case array.Bool:
		mask := r
		r = c.newV()
		c.ones(c.maskType(), r, mask)
	case array.Float16:
		cut = asm.VCVTPS2PH
	case array.BFloat16:
		r = c.v1i(asm.VPSRLD, c.roundUpper(v, r), 16)
	}
	switch {
	case cut == 0:
		n = r
	case c.isa == jit.AVX512 && k != 0:
		if i := c.store(cut, m, r).mask(k); e == array.Float16 {
			i.with(0)
		}
		return
	case e == array.Float16:
		c.op1i(cut, n, r, 0)
	case c.isa == jit.AVX512:
		c.op1(cut, n, r)
	case c.lay.es == 8: // of truth values alone
		c.op2i(asm.VSHUFPS, n, r.x(), c.half(r, 1), 0x88)
		c.op2(asm.VPACKUSDW, n, n, n)
		c.op2(asm.VPACKUSWB, n, n, n)
	default:
		if e.Integer() {
			r = c.v2(asm.VPAND, r, c.constReg(c.maskType(), 1<<(8*size)-1))
		}
		pack := [...]asm.Op{2: asm.VPACKUSWB, 4: asm.VPACKUSDW}[c.lay.es]
		if c.op2(pack, n, r.x(), c.half(r, 1)); 4*size == c.lay.es {
			c.op2(asm.VPACKUSWB, n, n, n)
		}
	}
	switch {
	case k == 0 && store == asm.VMOVUPS && c.streaming && m.base != frameReg:
		c.store(asm.VMOVNTPS, m, n)
	case k == 0:
		c.store(store, m, n)
	case c.isa == jit.AVX512:
		c.store(elements[size].vector, m, n).mask(k)
	default:
		c.storePieces(n, m, size, c.lay.lanes, 0)
	}
}

// storePacked writes several steps of elements of 1 or 2 bytes in lanes of more as one
// register, on AVX-512 two of 2 bytes or all of truth values, and reports whether it did.
func (c *compiler) storePacked(b int, v loop.Value) bool {
	e, es := c.p.Bufs[b].DType, c.lay.es
	n := es / e.Size()
	if c.isa == jit.AVX512 && e == array.Bool {
		return c.storeMasks(b, v)
	}
	if c.masks != nil || e == array.Float16 || n < 2 || c.lay.k%min(n, 4) != 0 || c.isa == jit.AVX512 && (es != 4 || n != 2) {
		return false
	}
	store := asm.VMOVUPS
	if c.streaming {
		store = asm.VMOVNTPS
	}
	if c.isa == jit.AVX512 {
		var order [64]byte // of 2-byte words: one of each lane, first of lo and then of hi
		for i := range 32 {
			order[2*i] = byte(2 * i)
			if e == array.BFloat16 {
				order[2*i]++
			}
		}
		for i := 0; i < c.lay.k; i += 2 {
			lo, hi, d := c.get(v, i), c.get(v, i+1), c.newV()
			if e == array.BFloat16 {
				lo, hi = c.roundUpper(v, lo), c.roundUpper(v, hi)
			}
			c.mov(d, lo)
			c.op2(asm.VPERMT2W, d, c.listReg(order[:]), hi).rmw()
			c.store(store, c.at(b, i), d)
		}
		return true
	}
	if es == 8 { // truth values, the others having 4 bytes a lane
		c.store(store, c.at(b, 0), c.pack16(v))
		return true
	}
	pack := [...]asm.Op{2: asm.VPACKUSWB, 4: asm.VPACKUSDW}
	if e == array.Bool { // masks, which have a sign
		pack = [...]asm.Op{2: asm.VPACKSSWB, 4: asm.VPACKSSDW}
	}
	for i := 0; i < c.lay.k; i += n {
		var regs [4]vr
		for j := range n {
			r := c.get(v, i+j)
			switch {
			case e == array.BFloat16:
				r = c.v1i(asm.VPSRLD, c.roundUpper(v, r), 16)
			case e != array.Bool:
				r = c.v2(asm.VPAND, r, c.constReg(c.maskType(), 1<<(8*e.Size())-1))
			}
			regs[j] = r
		}
		for size := es; size > e.Size(); size /= 2 {
			for j := range size / e.Size() / 2 {
				regs[j] = c.v2(pack[size], regs[2*j], regs[2*j+1])
			}
		}
		// Halves of registers stayed where they were.
		d := c.newV()
		if n == 2 {
			c.op1i(asm.VPERMQ, d, regs[0], 0xD8)
		} else {
			c.op2(asm.VPERMD, d, c.listReg([]byte{0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0}), regs[0])
		}
		if e == array.Bool {
			d = c.v2(asm.VPAND, d, c.constReg(loop.I8, 1))
		}
		c.store(store, c.at(b, i), d)
	}
	return true
}

// storeMasks writes the truth values of steps whose masks make one register together.
func (c *compiler) storeMasks(b int, v loop.Value) bool {
	n := min(c.lay.k, c.vb/c.lay.lanes)
	if c.masks != nil || n < 2 || c.lay.k%n != 0 {
		return false
	}
	store := asm.VMOVUPS
	if c.streaming {
		store = asm.VMOVNTPS
	}
	for i := 0; i < c.lay.k; i += n {
		var masks [8]vr
		for j := range n {
			masks[j] = c.get(v, i+j)
		}
		lanes := c.lay.lanes
		for ; lanes < n*c.lay.lanes; lanes *= 2 {
			join := [...]asm.Op{8: asm.KUNPCKBW, 16: asm.KUNPCKWD, 32: asm.KUNPCKDQ}[lanes]
			for j := range n * c.lay.lanes / lanes / 2 {
				m := c.newM()
				c.op2(join, m, masks[2*j+1], masks[2*j])
				masks[j] = m
			}
		}
		d, one := c.newV(), c.constReg(loop.I8, 1)
		switch lanes {
		case 16:
			d, one = d.x(), one.x()
		case 32:
			d, one = d.y(), one.y()
		}
		c.op1(moves[loop.I8], d, one).mask(masks[0]).z()
		c.store(store, c.at(b, i), d)
	}
	return true
}

// pack16 returns the bytes of four steps of truth values in lanes of 8 bytes.
func (c *compiler) pack16(v loop.Value) vr {
	dwords := func(i int) vr { return c.v2i(asm.VSHUFPS, c.get(v, i), c.get(v, i+1), 0x88) }
	words := c.v2(asm.VPACKSSDW, dwords(0), dwords(2))
	bytes, d := c.v2(asm.VPACKSSWB, words, words), c.newV().x()
	c.op2(asm.VPUNPCKLWD, d, bytes.x(), c.half(bytes, 1))
	c.op2(asm.VPAND, d, d, c.constReg(loop.I8, 1).x())
	return d
}

// storePieces writes the rest of a row, on AVX2: of a register with some lanes, a half, a quarter
// and so on, as the bits of the number of lanes left say. The register is number part of its
// value, so its first lane is part*lanes behind the index. A masked store costs AMD processors
// some 30 ns.
func (c *compiler) storePieces(r vr, m lmem, size, lanes, part int) {
	if c.lay.knownRest > 0 {
		c.storeFirst(r, m, size, lanes, c.lay.knownRest-part*lanes)
		return
	}
	rest := c.newG()
	c.mov(rest, c.lay.rest)
	if part > 0 {
		c.updi(asm.SUB, rest, int64(part*lanes))
	}
	whole, done := c.asm.NewLabel(), c.asm.NewLabel()
	c.branchi(rest, asm.CondGE, int64(lanes), whole)
	c.branchi(rest, asm.CondLE, 0, done)
	at, x := c.newG(), c.newV()
	c.mov(at, m.index)
	c.mov(x, r&idMask)
	here := m
	here.index = at
	for n := lanes / 2; n > 0; n /= 2 {
		skip := c.asm.NewLabel()
		c.emit(asm.TEST, 0, rest).with(int64(n))
		c.jcc(asm.CondE, skip)
		switch bytes := n * size; {
		case bytes == 16:
			c.store(asm.VMOVUPS, here, x.x())
			c.op1i(asm.VEXTRACTI128, x.x(), x, 1)
		case bytes >= 4:
			op, _ := c.sized(x, bytes)
			c.store(op, here, x.x())
		default:
			c.store(elements[bytes].low, here, x.x()).with(0)
		}
		if bytes := n * size; n > 1 && bytes < 16 {
			c.op1i(asm.VPSRLDQ, x.x(), x.x(), int64(bytes))
		}
		c.updi(asm.ADD, at, int64(n))
		c.label(skip)
	}
	c.jmp(done)
	c.label(whole)
	op, x := c.sized(r, lanes*size)
	c.store(op, m, x)
	c.label(done)
}

// storeFirst writes the first lanes of a register: left of them, or all if left is larger.
func (c *compiler) storeFirst(r vr, m lmem, size, lanes, left int) {
	if left >= lanes {
		op, x := c.sized(r, lanes*size)
		c.store(op, m, x)
		return
	}
	x := r & idMask
	for n := lanes / 2; left > 0; n /= 2 {
		if left < n {
			continue
		}
		bytes := n * size
		if op, _ := c.sized(x, bytes); bytes >= 4 {
			c.store(op, m, x.x())
		} else {
			c.store(elements[bytes].low, m, x.x()).with(0)
		}
		if left -= n; left == 0 {
			return
		}
		m = m.add(bytes)
		next := c.newV()
		if bytes == 16 {
			c.op1i(asm.VEXTRACTI128, next.x(), x, 1)
		} else {
			c.op1i(asm.VPSRLDQ, next.x(), x.x(), int64(bytes))
		}
		x = next
	}
}

// loadPieces reads the rest of a row of elements of 1 or 2 bytes, on AVX2: pieces of 1, 2, 4 and more
// elements as the bits of their number say, the last piece first. Other lanes become zero.
func (c *compiler) loadPieces(d vr, m lmem, size int) {
	rest, lanes := c.lay.rest, c.lay.lanes
	if c.lay.knownRest > 0 {
		rest = c.newG()
		c.gconst(rest, int64(c.lay.knownRest))
	}
	whole, done := c.asm.NewLabel(), c.asm.NewLabel()
	c.branchi(rest, asm.CondGE, int64(lanes), whole)
	c.emit(pZero, fDef, d)
	at, x := c.newG(), d.x()
	c.mov(at, m.index)
	c.upd(asm.ADD, at, rest)
	here := m
	here.index = at
	for n := 1; n < lanes; n *= 2 {
		skip, bytes := c.asm.NewLabel(), n*size
		c.emit(asm.TEST, 0, rest).with(int64(n))
		c.jcc(asm.CondE, skip)
		c.updi(asm.SUB, at, int64(n))
		if n > 1 && bytes < 16 {
			c.op1i(asm.VPSLLDQ, x, x, int64(bytes))
		}
		if bytes == 16 {
			low := c.newV().x()
			c.load(asm.VMOVUPS, low, here)
			c.op2i(asm.VINSERTI128, d, low&idMask, x, 1)
		} else {
			insert := [...]asm.Op{1: asm.VPINSRB, 2: asm.VPINSRW, 4: asm.VPINSRD, 8: asm.VPINSRQ}[bytes]
			c.op2m(insert, x, x, here).with(0)
		}
		c.label(skip)
	}
	c.jmp(done)
	c.label(whole)
	op, x := c.sized(d, lanes*size)
	c.load(op, x, m)
	c.label(done)
}
