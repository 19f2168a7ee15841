package ptxsim

import (
	"math/bits"
)

func firstLane(m uint32) int { return bits.TrailingZeros32(m) }

// address returns the register and the space of a symbol that stands for its address.
func (b *builder) address(x *inst, o operand) (int, *variable) {
	v := b.k.vars[o.name]
	if v == nil {
		v = b.m.vars[o.name]
	}
	if v == nil {
		fail(x.line, "%s is not declared", o.name)
	}
	if !v.dynamic {
		return b.constant(v.offset), v
	}
	if len(b.k.dynamic) == 0 {
		r := b.newRegister(b64).index
		b.k.constants = append(b.k.constants, fixedRegister{r, 0})
		b.k.dynamic = append(b.k.dynamic, r)
	}
	return b.k.dynamic[0], v
}

// An access is a load, a store or an atomic operation on memory.
type access struct {
	space  spaceKind
	base   int // register
	offset uint64
	size   int // bytes of an element
	count  int // elements
	write  bool
	atomic bool // volatile, relaxed or atomic
}

// place reads an address operand.
func (b *builder) place(x *inst, o operand, space spaceKind) access {
	if o.kind != opAddr {
		fail(x.line, "%s needs an address in brackets", x.name)
	}
	a := access{space: space, offset: uint64(o.offset)}
	if o.base == nil {
		return a
	}
	if o.base.kind == opSymbol {
		var v *variable
		a.base, v = b.address(x, *o.base)
		if v.space != space {
			fail(x.line, "%s lies in another space", o.base.name)
		}
		return a
	}
	t := o.base.typ
	if t.bits != 64 && (t.bits != 32 || space == inGlobal) || t.float() {
		fail(x.line, "%s of type %s is no address", o.base.name, t)
	}
	x.reads = append(x.reads, int32(o.base.reg))
	a.base = o.base.reg
	return a
}

// find returns the page of the bytes of an access in a lane, and the offset in it. Last is the page
// that the lane before used.
func (w *warp) find(a *access, lane int, addr uint64, last *page, lastAt uint64) (*page, uint64) {
	n := a.size * a.count
	if addr&uint64(n-1) != 0 {
		w.fault(lane, addr, "misaligned access of %d bytes", n)
	}
	if off := addr - lastAt; last != nil && off+uint64(n) <= uint64(len(last.data)) && off < pageBytes {
		return last, lastAt
	}
	r := &w.b.shared
	if a.space == inGlobal {
		r = w.b.l.c.find(addr)
	}
	switch {
	case r == nil:
		w.fault(lane, addr, "no memory is there")
	case r.freed:
		w.fault(lane, addr, "the memory was freed")
	case addr-r.base >= uint64(r.size) || addr-r.base+uint64(n) > uint64(r.size):
		w.fault(lane, addr, "%d bytes reach beyond the memory of %d at %#x", n, r.size, r.base)
	}
	off := int(addr - r.base)
	return r.at(off), r.base + uint64(off&^(pageBytes-1))
}

// each calls f for the memory of each lane, after it checked that the lane may use it.
func (w *warp) each(a *access, m uint32, f func(lane int, p *page, o int)) {
	var p *page
	var at uint64
	n := a.size * a.count
	act := &w.b.l.act
	thread := uint32(w.first)
	if a.space == inShared {
		act = &w.b.l.actS
	} else {
		thread += uint32(w.b.index) * uint32(w.b.threads)
	}
	act.atomic, act.warp = a.atomic, w.epoch
	base := &w.r[a.base]
	for i := range base {
		if m>>i&1 == 0 {
			continue
		}
		addr := base[i] + a.offset
		p, at = w.find(a, i, addr, p, at)
		o := int(addr - at)
		if !a.write && !p.written(o, n) {
			w.fault(i, addr, "a read of memory that was never written")
		}
		if w.b.l.races {
			act.thread = thread + uint32(i)
			race := ""
			if a.write {
				race = p.write(act, o, n)
			} else {
				race = p.read(act, o, n)
			}
			if race != "" {
				w.fault(i, addr, "a race with %s", race)
			}
		}
		f(i, p, o)
	}
}

// accessMods reads the modifiers of ld and st up to the type.
func (x *inst) accessMods() (space spaceKind, count int, t typ, atomic bool) {
	switch x.take("weak", "volatile", "relaxed", "acquire", "release") {
	case "volatile":
		atomic = true
	case "relaxed", "acquire", "release":
		x.need("cta", "gpu", "sys")
		atomic = true
	}
	space = map[string]spaceKind{"param": inParam, "global": inGlobal, "shared": inShared, "const": inConst}[x.need("param", "global", "shared", "const")]
	if space == inGlobal {
		if x.name == "ld" {
			x.take("ca", "cg", "cs", "lu", "cv")
			x.take("nc")
		} else {
			x.take("wb", "cg", "cs", "wt")
		}
		x.take("L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate")
	}
	count = map[string]int{"": 1, "v2": 2, "v4": 4}[x.take("v2", "v4")]
	t = x.takeType("b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64")
	if count*t.bytes() > 16 {
		fail(x.line, "%s of %d bytes", x.name, count*t.bytes())
	}
	return space, count, t, atomic
}

// vector returns the operands of a load or store of count elements.
func (x *inst) vector(o operand, count int) []operand {
	if count == 1 {
		return []operand{o}
	}
	if o.kind != opList || len(o.list) != count {
		fail(x.line, "%s needs %d registers in braces", x.name, count)
	}
	return o.list
}

func compileLoad(b *builder, x *inst) step {
	space, count, t, atomic := x.accessMods()
	x.count(2)
	a := b.place(x, x.ops[1], space)
	a.size, a.count, a.atomic = t.bytes(), count, atomic
	dst := make([]int, count)
	extend := uint64(0) // bits above the element that a negative one sets
	for i, o := range x.vector(x.ops[0], count) {
		if o.kind == opSink {
			dst[i] = -1
			continue
		}
		dst[i] = b.dstOf(x, o, t, t.fitsWide)
		if t.class == 's' {
			extend = o.typ.ones() &^ t.ones()
		}
	}
	sign := uint64(1) << (t.bits - 1)
	size := a.size
	put := func(w *warp, lane int, data []byte, o int) {
		for j, d := range dst {
			if d < 0 {
				continue
			}
			v := load(data, o+j*size, size)
			if v&sign != 0 {
				v |= extend
			}
			w.r[d][lane] = v
		}
	}
	switch space {
	case inGlobal, inShared:
		return func(w *warp, m uint32) {
			w.each(&a, m, func(lane int, p *page, o int) { put(w, lane, p.data, o) })
		}
	}
	return func(w *warp, m uint32) {
		data := w.b.l.args
		if space == inConst {
			data = w.b.k.m.consts
		}
		n := uint64(size * count)
		base := &w.r[a.base]
		for i := range base {
			if m>>i&1 == 0 {
				continue
			}
			addr := base[i] + a.offset
			if addr%n != 0 {
				w.fault(i, addr, "misaligned access of %d bytes", n)
			}
			if addr > uint64(len(data)) || addr+n > uint64(len(data)) {
				w.fault(i, addr, "beyond the %d bytes of parameters or constants", len(data))
			}
			put(w, i, data, int(addr))
		}
	}
}

func compileStore(b *builder, x *inst) step {
	space, count, t, atomic := x.accessMods()
	if space != inGlobal && space != inShared {
		fail(x.line, "st to memory that kernels only read")
	}
	x.count(2)
	a := b.place(x, x.ops[0], space)
	a.size, a.count, a.write, a.atomic = t.bytes(), count, true, atomic
	src := make([]int, count)
	for i, o := range x.vector(x.ops[1], count) {
		src[i] = b.srcOf(x, o, t, t.fitsWide)
	}
	size := a.size
	return func(w *warp, m uint32) {
		w.each(&a, m, func(lane int, p *page, o int) {
			for j, s := range src {
				store(p.data, o+j*size, size, w.r[s][lane])
			}
			p.mark(o, size*count)
		})
	}
}

// compileAtom compiles atom and red. Sums of floats are refused: their order depends on time.
func compileAtom(b *builder, x *inst) step {
	x.take("relaxed", "acquire", "release", "acq_rel")
	x.take("cta", "gpu", "sys")
	space := map[string]spaceKind{"global": inGlobal, "shared": inShared}[x.need("global", "shared")]
	ops := []string{"and", "or", "xor", "add", "inc", "dec", "min", "max"}
	if x.name == "atom" {
		ops = append(ops, "cas", "exch")
	}
	op := x.need(ops...)
	types := map[string][]string{"add": {"u32", "s32", "u64"}, "inc": {"u32"}, "dec": {"u32"},
		"min": {"u32", "s32", "u64", "s64"}, "max": {"u32", "s32", "u64", "s64"}}[op]
	if types == nil {
		types = []string{"b32", "b64"}
	}
	t := x.takeType(types...)
	first := 0
	d := -1
	if x.name == "atom" {
		first = 1
	}
	n := first + 2
	if op == "cas" {
		n++
	}
	x.count(n)
	if first == 1 && x.ops[0].kind != opSink {
		d = b.dst(x, 0, t)
	}
	a := b.place(x, x.ops[first], space)
	a.size, a.count, a.write, a.atomic = t.bytes(), 1, true, true
	u := b.src(x, first+1, t)
	v := 0
	if op == "cas" {
		v = b.src(x, first+2, t)
	}
	f := atomicEval(op, t)
	return func(w *warp, m uint32) {
		old := &w.scratch[0]
		w.each(&a, m, func(lane int, p *page, o int) {
			if !p.written(o, a.size) {
				w.fault(lane, w.r[a.base][lane]+a.offset, "a read of memory that was never written")
			}
			old[lane] = load(p.data, o, a.size)
			store(p.data, o, a.size, f(old[lane], w.r[u][lane], w.r[v][lane]))
		})
		if d < 0 {
			return
		}
		for i := range old {
			if m>>i&1 != 0 {
				w.r[d][i] = old[i]
			}
		}
	}
}

// atomicEval returns what an atomic operation makes of the old value and its operands.
func atomicEval(op string, t typ) eval {
	less := func(a, b uint64) bool {
		if t.class == 's' {
			return t.sign(a) < t.sign(b)
		}
		return a < b
	}
	return map[string]eval{
		"and":  func(a, b, _ uint64) uint64 { return a & b },
		"or":   func(a, b, _ uint64) uint64 { return a | b },
		"xor":  func(a, b, _ uint64) uint64 { return a ^ b },
		"exch": func(_, b, _ uint64) uint64 { return b },
		"add":  func(a, b, _ uint64) uint64 { return (a + b) & t.ones() },
		"cas": func(a, b, c uint64) uint64 {
			if a == b {
				return c
			}
			return a
		},
		"inc": func(a, b, _ uint64) uint64 {
			if a >= b {
				return 0
			}
			return a + 1
		},
		"dec": func(a, b, _ uint64) uint64 {
			if a == 0 || a > b {
				return b
			}
			return a - 1
		},
		"min": func(a, b, _ uint64) uint64 {
			if less(b, a) {
				return b
			}
			return a
		},
		"max": func(a, b, _ uint64) uint64 {
			if less(a, b) {
				return b
			}
			return a
		},
	}[op]
}
