package interp

import (
	"math/bits"
	"unsafe"
)

// ifCode is a compiled OpIf.
type ifCode struct {
	cond      opd
	body, els []instr
	mask      opd // the lanes of a branch, where cond alone does not tell
	results   []merge
	hasElse   bool // there is something to run
}

// merge is a result of an if.
type merge struct {
	d, next, els opd
	size         int32
}

// ifStep runs each branch on its lanes, if there are any.
func ifStep(m *machine, in *instr) {
	f := in.cf
	outer := m.mask
	c := vec[uint8](m, f.cond)
	var yes, no int
	if len(c) == 1 { // uniform, or a tile of one lane
		yes, no = int(c[0]), 1-int(c[0])
	} else {
		total := m.n
		t := c
		if outer != nil {
			total = count(outer)
			t = vec[uint8](m, f.mask)
			and(t, c, outer)
		}
		yes = count(t)
		no = total - yes
		if yes < m.n {
			m.mask = t
		}
	}
	if yes > 0 {
		m.exec(f.body)
		if m.stop {
			return
		}
	}
	if no > 0 && f.hasElse {
		m.mask = outer
		if len(c) > 1 && no < m.n {
			t := vec[uint8](m, f.mask)
			notB(t, c)
			if outer != nil {
				and(t, t, outer)
			}
			m.mask = t
		}
		m.exec(f.els)
		if m.stop {
			return
		}
	}
	m.mask = outer
	// A branch that did not run has computed nothing that may be looked at.
	for i := range f.results {
		r := &f.results[i]
		switch {
		case no == 0:
			m.move(r.d, r.next, r.size)
		case yes == 0:
			m.move(r.d, r.els, r.size)
		case r.size == 1:
			selectVec(vec[uint8](m, r.d), c, vec[uint8](m, r.next), vec[uint8](m, r.els))
		case r.size == 2:
			selectVec(vec[uint16](m, r.d), c, vec[uint16](m, r.next), vec[uint16](m, r.els))
		case r.size == 4:
			selectVec(vec[uint32](m, r.d), c, vec[uint32](m, r.next), vec[uint32](m, r.els))
		default:
			selectVec(vec[uint64](m, r.d), c, vec[uint64](m, r.next), vec[uint64](m, r.els))
		}
	}
}

// move copies the lanes of a register; size is that of a lane.
func (m *machine) move(d, a opd, size int32) {
	switch size {
	case 1:
		copyVec(vec[uint8](m, d), vec[uint8](m, a))
	case 2:
		copyVec(vec[uint16](m, d), vec[uint16](m, a))
	case 4:
		copyVec(vec[uint32](m, d), vec[uint32](m, a))
	default:
		copyVec(vec[uint64](m, d), vec[uint64](m, a))
	}
}

// moveActive copies the lanes whose mask is not 0.
func (m *machine) moveActive(d, a opd, size int32) {
	switch size {
	case 1:
		blend(vec[uint8](m, d), vec[uint8](m, a), m.mask)
	case 2:
		blend(vec[uint16](m, d), vec[uint16](m, a), m.mask)
	case 4:
		blend(vec[uint32](m, d), vec[uint32](m, a), m.mask)
	default:
		blend(vec[uint64](m, d), vec[uint64](m, a), m.mask)
	}
}

// count returns how many truth values are true.
func count(mask []uint8) int {
	n, i := 0, 0
	for ; i+8 <= len(mask); i += 8 {
		n += bits.OnesCount64(*(*uint64)(unsafe.Pointer(&mask[i])))
	}
	for ; i < len(mask); i++ {
		n += int(mask[i])
	}
	return n
}

// loopCode is a compiled OpLoop.
type loopCode struct {
	axis int // -1 if none
	conditional,
	fuel bool
	head, body []instr
	cond       opd
	carried    []carry
	temps      []temp // next values that must be set aside

	// For a conditional loop.
	mask  opd
	from  opd     // by lane: its index in the tile when the loop began
	ids   opd     // the register of [machine.ids] after lanes have been compacted
	live  []spare // registers from outside that are read inside
	heads []spare // registers of the head that the body reads
	saved int     // index in machine.saved of the pointers of live, heads and the params
}

// carry is a loop-carried value.
type carry struct {
	param, init, next opd
	size              int32
	spare             opd
}

type temp struct {
	d, a opd
	size int32
}

// spare is a register whose lanes are compacted when other lanes leave, and the register whose
// memory holds them then.
type spare struct {
	reg, spare opd
	size       int32
}

// fewest is the least number of lanes that are compacted: below it, that does not pay.
const fewest = 64

func loopStep(m *machine, in *instr) {
	l := in.loop
	for i := range l.carried {
		c := &l.carried[i]
		m.move(c.param, c.init, c.size)
	}
	outer, ids, n := m.mask, m.ids, m.n
	for k := 0; ; k++ {
		if l.axis >= 0 {
			if k >= m.ext[l.axis] {
				break
			}
			m.idx[l.axis] = k
		}
		if l.conditional {
			m.exec(l.head)
			if m.stop {
				return
			}
			c := vec[uint8](m, l.cond)
			if len(c) == 1 { // uniform, or one lane left
				if c[0] == 0 {
					break
				}
			} else {
				left := m.narrow(l, c)
				if left == 0 {
					break
				}
				if left <= m.n/2 && m.n >= fewest {
					m.compact(l, left, n)
				}
			}
		}
		if l.fuel && !m.burn() {
			return
		}
		m.exec(l.body)
		if m.stop {
			return
		}
		m.carry(l)
	}
	if m.n != n {
		m.writeBack(l, n)
		m.spread(l)
	}
	m.mask, m.ids, m.n = outer, ids, n
}

// narrow clears the mask of the lanes whose condition fails and returns the number of lanes that are
// left.
func (m *machine) narrow(l *loopCode, c []uint8) int {
	t := vec[uint8](m, l.mask)
	if m.mask == nil {
		copy(t, c)
	} else {
		and(t, c, m.mask)
	}
	left := count(t)
	m.mask = t
	if left == m.n {
		m.mask = nil
	}
	return left
}

// carry sets the params to the next values.
func (m *machine) carry(l *loopCode) {
	for i := range l.temps {
		t := &l.temps[i]
		m.move(t.d, t.a, t.size)
	}
	for i := range l.carried {
		c := &l.carried[i]
		if c.next == c.param {
			continue
		}
		if m.mask == nil || !l.conditional || c.param.uniform() {
			m.move(c.param, c.next, c.size)
		} else {
			m.moveActive(c.param, c.next, c.size)
		}
	}
}

// compact moves the lanes that are left to the front and makes them the tile. n
// is the number of lanes with which the loop began.
func (m *machine) compact(l *loopCode, left, n int) {
	first := m.n == n
	from := unsafe.Slice((*int32)(m.reg[l.from]), n)
	ids := unsafe.Slice((*int32)(m.reg[l.ids]), n)
	if first {
		for i := range from {
			from[i] = int32(i)
		}
		if m.ids == nil {
			copy(ids, from)
		} else {
			copy(ids, m.ids)
		}
		m.spare(l)
	} else {
		m.writeBack(l, n)
	}
	var lanes [Tile]int32
	k := 0
	for i, x := range m.mask {
		lanes[k] = int32(i)
		k += int(x)
		if k == left {
			break
		}
	}
	which := lanes[:left]
	gather(from, from, which)
	gather(ids, ids, which)
	for i := range l.carried {
		c := &l.carried[i]
		m.gather(c.param, m.own[c.spare], which, c.size)
	}
	for i := range l.live {
		r := &l.live[i]
		m.gather(r.reg, m.own[r.spare], which, r.size)
	}
	for i := range l.heads {
		r := &l.heads[i]
		m.gather(r.reg, m.own[r.reg], which, r.size)
	}
	m.n, m.ids, m.mask = left, ids[:left], nil
}

// gather moves lanes of a register to the front, and the register to memory of
// its own.
func (m *machine) gather(reg opd, to unsafe.Pointer, which []int32, size int32) {
	at := m.reg[reg]
	switch size {
	case 1:
		gather(unsafe.Slice((*uint8)(to), m.n), unsafe.Slice((*uint8)(at), m.n), which)
	case 2:
		gather(unsafe.Slice((*uint16)(to), m.n), unsafe.Slice((*uint16)(at), m.n), which)
	case 4:
		gather(unsafe.Slice((*uint32)(to), m.n), unsafe.Slice((*uint32)(at), m.n), which)
	default:
		gather(unsafe.Slice((*uint64)(to), m.n), unsafe.Slice((*uint64)(at), m.n), which)
	}
	m.reg[reg] = to
}

// gather may run in place because which ascends.
func gather[T any](d, a []T, which []int32) {
	d = d[:len(which)]
	for i := range d {
		d[i] = a[which[i]]
	}
}

// spare saves the pointers of the registers that will be compacted.
func (m *machine) spare(l *loopCode) {
	s := m.saved[l.saved:]
	for i := range l.carried {
		s[i] = m.reg[l.carried[i].param]
	}
	s = s[len(l.carried):]
	for i := range l.live {
		s[i] = m.reg[l.live[i].reg]
	}
}

// spread restores the pointers that [machine.spare] saved.
func (m *machine) spread(l *loopCode) {
	s := m.saved[l.saved:]
	for i := range l.carried {
		m.reg[l.carried[i].param], s[i] = s[i], nil
	}
	s = s[len(l.carried):]
	for i := range l.live {
		m.reg[l.live[i].reg], s[i] = s[i], nil
	}
}

// writeBack stores the params of the current lanes at their indices in the tile of n lanes with
// which the loop began.
func (m *machine) writeBack(l *loopCode, n int) {
	from := unsafe.Slice((*int32)(m.reg[l.from]), m.n)
	for i := range l.carried {
		c := &l.carried[i]
		at, to := m.reg[c.param], m.saved[l.saved+i]
		switch c.size {
		case 1:
			scatter(unsafe.Slice((*uint8)(to), n), unsafe.Slice((*uint8)(at), m.n), from)
		case 2:
			scatter(unsafe.Slice((*uint16)(to), n), unsafe.Slice((*uint16)(at), m.n), from)
		case 4:
			scatter(unsafe.Slice((*uint32)(to), n), unsafe.Slice((*uint32)(at), m.n), from)
		default:
			scatter(unsafe.Slice((*uint64)(to), n), unsafe.Slice((*uint64)(at), m.n), from)
		}
	}
}

func scatter[T any](d, a []T, where []int32) {
	for i, w := range where {
		d[w] = a[i]
	}
}
