package loopgen

import (
	"slices"

	"weft/internal/array"
	"weft/internal/loop"
)

// bufInfo is what the generator knows of a buffer.
type bufInfo struct {
	number     int // in the program
	dtype      array.DType
	steps      []loop.Step
	write      bool
	slack      int    // a LoadAt may go this many elements further
	inPass     bool   // written inside passes, else outside
	scattered  bool   // only for StoreAt
	descending bool   // StoreAt turns the lanes round
	shift      uint64 // StoreAt adds this
	parts      int    // of what its elements belong to, 2 for complex numbers; 0 if the buffer is alone
	part       int    // the number of the part that this buffer is
	offsets    bool   // says where items begin
	sure       bool   // written in every lane
}

// moves reports whether all axes on which the buffer moves are being walked.
func (g *generator) moves(b *bufInfo) bool {
	for a, s := range b.steps {
		if s != loop.Zero && !g.walked[a] {
			return false
		}
	}
	return true
}

// choose returns a buffer of type t that fits, or nil if there is none. While more buffers are
// allowed, it may return nil so that the caller makes a new one.
func (g *generator) choose(t loop.Type, fits func(*bufInfo) bool) *bufInfo {
	var fit []*bufInfo
	for i := range g.bufs {
		b := &g.bufs[i]
		if loop.TypeOf(b.dtype) == t && g.moves(b) && fits(b) {
			fit = append(fit, b)
		}
	}
	if len(fit) == 0 || !g.full() && g.chance(2) {
		return nil
	}
	return pick(g.r, fit...)
}

func (g *generator) full() bool { return len(g.bufs) >= loop.MaxBufs }

// newBuffer lays out a buffer with the given steps in memory of its own. With apart, no two indices
// share an element.
func (g *generator) newBuffer(info bufInfo, apart bool) *bufInfo {
	r := g.r
	size := info.dtype.Size()
	strides := make([]int, len(info.steps))
	order := r.Perm(len(info.steps))
	fixed := info.steps[g.lane].Elements()
	if i := slices.Index(order, g.lane); i > 0 && fixed != 0 {
		// An axis with a step of a fixed number of elements is innermost.
		order[0], order[i] = order[i], order[0]
	}
	// The extra bytes of a stride that is no multiple of the element.
	odd := 0
	if r.IntN(8) == 0 && !(info.write && g.l.Streamed) {
		odd = r.IntN(size + 1)
	}
	next := size
	if info.scattered {
		next *= info.slack
	}
	lo, hi := 0, 0 // of the first byte of an element
	for _, a := range order {
		n := g.c.Extents[a]
		switch step := info.steps[a]; {
		case step == loop.Zero:
			continue
		case step != loop.Any:
			strides[a] = fixed * size
		default:
			if apart {
				strides[a] = next + pick(r, 0, 0, 0, size, 3*size)
			} else {
				strides[a] = pick(r, next, next, 0, size, 2*size, next+size)
			}
			strides[a] += odd
			if r.IntN(4) == 0 {
				strides[a] = -strides[a]
			}
		}
		last := strides[a] * max(n-1, 0)
		lo, hi = lo+min(last, 0), hi+max(last, 0)
		next = max(next, abs(strides[a])*max(n, 1))
	}
	before := 0
	if info.slack > 0 && r.IntN(3) == 0 {
		before = r.IntN(info.slack)
	}
	total := hi - lo + size
	if info.slack > 0 {
		total += (info.slack - 1) * size
	}
	if info.slack == 0 && !info.scattered && fixed > 1 && r.IntN(3) > 0 {
		// Room for what lies between the elements: for other parts.
		info.parts, info.part = fixed, r.IntN(fixed)
		total += (fixed - 1) * size
		lo -= info.part * size
	}
	for a, s := range info.steps {
		if s != loop.Zero && g.c.Extents[a] == 0 || a < g.lane && g.c.Extents[a] == 0 {
			total, lo, before = 0, 0, 0 // never touched
			break
		}
	}
	m := Memory{DType: info.dtype, Write: info.write, Data: make([]byte, total)}
	for i := range m.Data {
		m.Data[i] = byte(i*37 + 11)
	}
	g.c.Memory = append(g.c.Memory, m)
	g.c.Buffers = append(g.c.Buffers, Buffer{Memory: len(g.c.Memory) - 1, Offset: -lo + before*size, Strides: strides})
	info.shift = uint64(-int64(before))
	info.number = g.b.Buf(info.dtype, info.write, info.steps...)
	g.bufs = append(g.bufs, info)
	return &g.bufs[len(g.bufs)-1]
}

func abs(x int) int { return max(x, -x) }

// steps draws how a buffer moves: on axes that are being walked, always if all is
// set.
func (g *generator) steps(all bool) []loop.Step {
	s := make([]loop.Step, len(g.axes))
	for a := range s {
		switch {
		case !g.walked[a]:
		case a == g.lane:
			s[a] = pick(g.r, loop.Unit, loop.Unit, loop.Any)
			if by := pick(g.r, loop.By2, loop.Back, loop.By3, loop.By4); g.chance(3) && g.l.has(Item{Step: by}) {
				s[a] = by
			}
			if !all && g.chance(5) {
				s[a] = loop.Zero
			}
		case all && a < g.lane || g.r.IntN(3) > 0:
			s[a] = loop.Any
		}
	}
	if g.ragged && s[g.lane] != loop.Zero {
		s[0] = loop.Zero // items lie one behind the other
	}
	return s
}

// load draws an OpLoad; without room for a buffer it is a constant.
func (g *generator) load(t loop.Type) loop.Value {
	if m := g.inMemory(t); m != t {
		return g.b.Cvt(t, g.load(m))
	}
	b := g.choose(t, func(b *bufInfo) bool { return !b.scattered && !(b.write && g.unsettled(b)) })
	if b == nil && g.full() {
		return g.constant(t)
	}
	if b == nil {
		b = g.alias(t)
	}
	if b == nil {
		b = g.sibling(func(b *bufInfo) bool { return loop.TypeOf(b.dtype) == t && !b.write })
	}
	if b == nil {
		b = g.newBuffer(bufInfo{dtype: g.dtype(t), steps: g.steps(false)}, g.chance(2))
	}
	return g.b.Load(b.number)
}

// alias makes a buffer that reads what another one writes, or returns nil.
func (g *generator) alias(t loop.Type) *bufInfo {
	if !g.chance(4) || g.l.Streamed {
		return nil
	}
	for i := range g.bufs {
		b := g.bufs[i]
		if b.write && !g.unsettled(&b) && !b.scattered && loop.TypeOf(b.dtype) == t && g.moves(&b) {
			g.c.Buffers = append(g.c.Buffers, g.c.Buffers[b.number])
			b.number = g.b.Buf(b.dtype, false, b.steps...)
			b.write = false
			// What is written is never read further on, nor other parts of it.
			b.slack, b.parts = 0, 0
			g.bufs = append(g.bufs, b)
			return &g.bufs[len(g.bufs)-1]
		}
	}
	return nil
}

// unsettled reports whether the content of a written buffer is undefined: vectors may have written
// elements of items that the program has not reached yet (see loop.Axis.Offsets).
func (g *generator) unsettled(b *bufInfo) bool { return g.ragged && b.inPass && !b.sure }

// sibling makes a buffer for the next part (such as the imaginary part) of the memory of a buffer
// that fits, or returns nil. No two written buffers have the same part.
func (g *generator) sibling(fits func(*bufInfo) bool) *bufInfo {
	for i := range g.bufs {
		b := g.bufs[i]
		memory := g.c.Buffers[b.number]
		if b.parts == 0 || len(g.c.Memory[memory.Memory].Data) == 0 || !fits(&b) || !g.moves(&b) || !g.chance(2) {
			continue
		}
		part := (b.part + 1) % b.parts
		shift := (part - b.part) * b.dtype.Size()
		taken := slices.ContainsFunc(g.c.Buffers, func(o Buffer) bool {
			return o.Memory == memory.Memory && o.Offset == memory.Offset+shift
		})
		if taken {
			continue
		}
		b.part = part
		memory.Offset += shift
		before := b.number
		g.c.Buffers = append(g.c.Buffers, memory)
		b.number = g.b.Buf(b.dtype, b.write, b.steps...)
		g.bufs = append(g.bufs, b)
		if b.write && part > 0 {
			g.b.Program().Bufs[b.number].Pair = before + 1
		}
		return &g.bufs[len(g.bufs)-1]
	}
	return nil
}

// loadAt draws an OpLoadAt whose offset is clamped, or which stands in an if that
// checks it.
func (g *generator) loadAt(t loop.Type) loop.Value {
	if m := g.inMemory(t); m != t {
		return g.b.Cvt(t, g.loadAt(m))
	}
	b := g.choose(t, func(b *bufInfo) bool { return b.slack > 0 })
	if b == nil && g.full() {
		return g.constant(t)
	}
	if b == nil {
		steps := g.steps(false)
		if g.chance(2) {
			clear(steps)
		}
		b = g.newBuffer(bufInfo{dtype: g.dtype(t), steps: steps, slack: 1 + g.r.IntN(40)}, false)
	}
	number, i := b.number, g.offsetType()
	lo := g.b.Int(i, int64(b.shift))
	hi := g.b.Int(i, int64(b.shift)+int64(b.slack)-1)
	if at := int64(g.r.IntN(b.slack)); g.chance(4) { // the same for all lanes, and known
		return g.b.LoadAt(number, g.b.Add(lo, g.b.Int(i, at)))
	}
	if at := uint64(g.r.IntN(b.slack)); len(g.c.Scalars) < 8 && g.chance(4) {
		g.c.Scalars = append(g.c.Scalars, (b.shift+at)&(1<<(8*i.Size()-1)<<1-1))
		return g.b.LoadAt(number, g.b.Scalar(g.b.ScalarArg(i)))
	}
	x := g.varying(g.any(i))
	if g.chance(2) {
		x = g.b.Rem(x, g.b.Int(i, int64(b.slack)+3))
	}
	if g.b.InPass() && g.depth < 4 && g.chance(3) {
		inside := g.b.And(g.b.Le(lo, x), g.b.Le(x, hi))
		return g.b.If(inside,
			func() []loop.Value { return []loop.Value{g.b.LoadAt(number, x)} },
			func() (out []loop.Value) {
				g.scope(func() { out = []loop.Value{g.any(t)} })
				return out
			})[0]
	}
	return g.b.LoadAt(number, g.b.Min(g.b.Max(x, lo), hi))
}

// offsetType draws the type of an offset.
func (g *generator) offsetType() loop.Type {
	if slices.Contains(g.types, loop.I32) && g.chance(3) {
		return loop.I32
	}
	return loop.I64
}

// store draws a store of a value of type t.
func (g *generator) store(t loop.Type) { g.storeValue(g.any(t)) }

// storeStreamed stores a value of a pass in the one buffer that passes write, if it is of this
// type or there is none yet.
func (g *generator) storeStreamed(t loop.Type, x loop.Value) {
	i := slices.IndexFunc(g.bufs, func(b bufInfo) bool { return b.write && b.inPass })
	if i < 0 && !g.full() {
		steps := g.steps(true)
		steps[g.lane] = loop.Unit
		g.newBuffer(bufInfo{dtype: g.dtype(t), steps: steps, write: true, inPass: true, sure: g.depth == 0}, true)
		i = len(g.bufs) - 1
	}
	if i >= 0 && loop.TypeOf(g.bufs[i].dtype) == t {
		g.b.Store(g.bufs[i].number, x)
	}
}

// storeValue stores a value where no other lane or row stores.
func (g *generator) storeValue(x loop.Value) {
	if m := g.inMemory(g.b.Type(x)); m != g.b.Type(x) {
		x = g.b.Cvt(m, x)
	}
	t := g.b.Type(x)
	if g.l.Streamed && g.walked[g.lane] {
		g.storeStreamed(t, x)
		return
	}
	scatter := g.chance(5) && g.l.has(Item{Op: loop.OpStoreAt})
	b := g.choose(t, func(b *bufInfo) bool {
		return b.write && b.scattered == scatter && b.inPass == g.walked[g.lane]
	})
	if b == nil && g.full() {
		return
	}
	if b == nil && !scatter {
		b = g.sibling(func(b *bufInfo) bool { return loop.TypeOf(b.dtype) == t && b.write && b.inPass == g.walked[g.lane] })
	}
	if b == nil {
		info := bufInfo{dtype: g.dtype(t), steps: g.steps(true), write: true, inPass: g.walked[g.lane], scattered: scatter}
		if scatter {
			info.descending = g.chance(2)
			info.slack = 1
			if g.walked[g.lane] && g.chance(2) {
				info.steps[g.lane] = loop.Zero
				info.slack = max(g.c.Extents[g.lane], 1)
				if g.ragged {
					info.steps[0] = loop.Any
				}
			}
		}
		b = g.newBuffer(info, true)
		b.slack = 0
	}
	b.sure = b.sure || g.depth == 0
	if !scatter {
		g.b.Store(b.number, x)
		return
	}
	off := g.b.Int(loop.I64, int64(b.shift))
	if b.steps[g.lane] == loop.Zero && g.walked[g.lane] {
		start := int64(g.c.Starts[g.lane])
		i := g.b.Index(g.lane)
		if b.descending {
			last := start + int64(max(g.c.Extents[g.lane], 1)) - 1
			off = g.b.Add(off, g.b.Sub(g.b.Int(loop.I64, last), i))
		} else {
			off = g.b.Add(off, g.b.Sub(i, g.b.Int(loop.I64, start)))
		}
	}
	g.b.StoreAt(b.number, x, g.b.Cvt(g.offsetType(), off))
}

// finish fills the memory. Elements of every buffer are drawn where its indices
// lead; bytes between elements keep a pattern.
func (g *generator) finish() {
	done := make([][]bool, len(g.c.Memory))
	for i, b := range g.c.Buffers {
		m := &g.c.Memory[b.Memory]
		info := g.bufs[i]
		seen := done[b.Memory]
		if info.offsets || len(m.Data) == 0 || seen != nil && !info.write {
			continue
		}
		if seen == nil {
			seen = make([]bool, len(m.Data))
			done[b.Memory] = seen
		}
		size := m.DType.Size()
		fill := func(at int) {
			if !seen[at] {
				seen[at] = true
				m.Elements = append(m.Elements, at)
				put(g.r, m.DType, m.Data[at:at+size])
			}
		}
		if !info.write {
			// Elements of input may overlap; draw them where the memory allows.
			for at := 0; at+size <= len(m.Data); at += size {
				put(g.r, m.DType, m.Data[at:at+size])
			}
			if m.DType == array.Bool {
				for i := range m.Data {
					m.Data[i] &= 1
				}
			}
			continue
		}
		g.visit(b, func(at int) {
			if info.scattered {
				lo := at + int(int64(info.shift))*size
				for k := range info.lanes(g) {
					fill(lo + k*size)
				}
				return
			}
			fill(at)
		})
	}
}

// lanes returns how many elements a StoreAt reaches from an address.
func (b *bufInfo) lanes(g *generator) int {
	if b.inPass && b.steps[g.lane] == loop.Zero {
		return max(g.c.Extents[g.lane], 1)
	}
	return 1
}

// visit calls f with the offset of each element of a buffer.
func (g *generator) visit(b Buffer, f func(at int)) {
	idx := make([]int, len(g.axes))
	for a, n := range g.c.Extents {
		if n == 0 && b.Strides[a] != 0 {
			return
		}
	}
	for {
		at := b.Offset
		for a, i := range idx {
			at += i * b.Strides[a]
		}
		f(at)
		a := len(idx) - 1
		for ; a >= 0; a-- {
			if b.Strides[a] != 0 {
				idx[a]++
				if idx[a] < g.c.Extents[a] {
					break
				}
				idx[a] = 0
			}
		}
		if a < 0 {
			return
		}
	}
}
