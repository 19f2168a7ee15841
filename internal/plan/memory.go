package plan

import (
	"math/bits"
	"slices"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// Memory: temporaries share one arena by when they are alive; an output can be the memory
// of an input; kernels that touch nothing of each other are launched together.

// maxConcurrent bounds the kernels, or products, that are launched together.
const maxConcurrent = 32

// intoInput lets output j be the memory of input into[j], -1 for none: the kernel that
// writes it does so in place if nothing reads the input afterwards, and otherwise what it
// wrote is copied there at the end.
func (b *planner) intoInput() {
	if b.into == nil {
		return
	}
	// Which steps touch a slot first and last, and what it becomes: one look at each step,
	// however many outputs there are.
	first, last, becomes := make([]int, len(b.p.Slots)), make([]int, len(b.p.Slots)), make([]int, len(b.p.Slots))
	for i := range becomes {
		first[i], last[i], becomes[i] = -1, -1, i
	}
	steps := len(b.p.Steps)
	for at := range b.p.Steps {
		b.operands(at, func(o *Operand, _ bool) {
			if last[o.Slot] = at; first[o.Slot] < 0 {
				first[o.Slot] = at
			}
		})
	}
	for j, i := range b.into {
		if i < 0 {
			continue
		}
		o := &b.p.Outs[j]
		own := o.Slot
		// Its memory can be the input's if all that reads the input comes before the first step
		// that writes the output, or is that step, which reads and writes each element in one place.
		at := first[own]
		if array.Equal(o.Strides, b.ins[i].Strides) && at >= 0 && (last[i] < at || last[i] == at && b.p.Steps[at].inPlace(i, own)) {
			becomes[own] = i
		} else {
			v := o.view()
			_, span := v.Span()
			t := b.temp(o.DType, []int{span})
			becomes[own] = t.Slot
			b.copy(Operand{Slot: i, DType: o.DType, Shape: o.Shape, Strides: b.ins[i].Strides}, t.with(v))
		}
		o.Slot, o.Strides = i, b.ins[i].Strides
	}
	for at := range b.p.Steps[:steps] {
		b.operands(at, func(o *Operand, _ bool) { o.Slot = becomes[o.Slot] })
	}
	for from, to := range becomes {
		if from != to {
			b.p.Slots[to].Last = max(b.p.Slots[to].Last, b.p.Slots[from].Last)
			b.p.Slots[from] = Slot{Last: -1}
		}
	}
}

// given reports the slot of an output that can be the memory of an input.
func (b *planner) given(slot int) bool {
	j := slot - b.p.Inputs
	return j >= 0 && j < len(b.into) && b.into[j] >= 0
}

// late reports a cluster that writes such an output.
func (b *planner) late(c *cluster) bool {
	if c == nil {
		return false
	}
	mine := func(n *ir.Node) bool {
		d := b.info(n).dst
		return d != nil && b.given(d.Slot)
	}
	return c.single != nil && mine(c.single) || slices.ContainsFunc(c.nodes, mine)
}

// forward moves products whose epilogues write into the memory of inputs to where nothing reads
// these any more, so that what they read need not be kept. Plain kernels stay at the end,
// where they are launched together.
func (b *planner) forward(order []*cluster) []*cluster {
	reads := func(c *cluster) []*ir.Node {
		if c.single != nil {
			return c.single.Args
		}
		return c.reads
	}
	// own are the inputs whose memory a cluster writes.
	own := func(c *cluster) (list []int) {
		for _, n := range c.nodes {
			if d := b.info(n).dst; d != nil && b.given(d.Slot) {
				list = append(list, b.into[d.Slot-b.p.Inputs])
			}
		}
		return list
	}
	// Who computes what, and who else reads an input last.
	place := map[*cluster]int{}
	last := make([]int, b.p.Inputs)
	for at, c := range order {
		place[c] = at
		mine := own(c)
		for _, a := range reads(c) {
			for isView(a) {
				a = a.Args[0]
			}
			if a.Op == ir.Input && !slices.Contains(mine, a.Arg()) {
				last[a.Arg()] = at
			}
		}
	}
	after := make([][]*cluster, len(order))
	for at, c := range order {
		to := at
		if c.head != nil && b.late(c) {
			to = 0
			for _, a := range reads(c) {
				for ; ; a = a.Args[0] {
					if d := b.in(a); d != nil {
						to = max(to, place[d])
					}
					if !isView(a) {
						break
					}
				}
			}
			for _, i := range own(c) {
				to = max(to, last[i])
			}
			to = min(to, at)
			place[c] = to
		}
		after[to] = append(after[to], c)
	}
	out := order[:0:0]
	for at, c := range order {
		// What stays here comes before what was moved behind it.
		for _, d := range after[at] {
			if d == c {
				out = append(out, c)
			}
		}
		for _, d := range after[at] {
			if d != c {
				out = append(out, d)
			}
		}
	}
	return out
}

// operands calls f with all that a step reads and writes.
func (s *Step) operands(f func(o *Operand, write bool)) {
	kernels := [...]*Kernel{s.Kernel, s.Epilogue, nil}
	if k := s.Kernel; k != nil && k.Ragged != nil {
		kernels[2] = k.Ragged.Outside
	}
	for _, k := range kernels {
		if k == nil {
			continue
		}
		for i := range k.Binds {
			f(&k.Binds[i], k.Prog.Bufs[i].Write)
		}
	}
	for i := range s.Args {
		f(&s.Args[i], false)
	}
	for i := range s.Outs {
		if s.Outs[i].Slot >= 0 {
			f(&s.Outs[i], true)
		}
	}
}

// operands calls f with all that step at reads and writes, and counts the look at it.
func (b *planner) operands(at int, f func(o *Operand, write bool)) {
	b.statVisits++
	b.p.Steps[at].operands(f)
}

// Written returns the inputs whose memory steps write.
func (p *Plan) Written() (inputs []int) {
	for i := range p.Steps {
		p.Steps[i].operands(func(o *Operand, write bool) {
			if write && o.Slot >= 0 && o.Slot < p.Inputs && !slices.Contains(inputs, o.Slot) {
				inputs = append(inputs, o.Slot)
			}
		})
	}
	return inputs
}

// inPlace reports that what a step writes into slot out may lie where slot in is, which
// it reads: it is elementwise, and each element is read where it is written.
func (s *Step) inPlace(in, out int) bool {
	k := s.Kernel
	if k == nil {
		if k = s.Epilogue; k == nil {
			return false
		}
		for _, o := range append(s.Args[:len(s.Args):len(s.Args)], s.Outs...) {
			if o.Slot == in || o.Slot == out {
				return false
			}
		}
	}
	p := k.Prog
	if p.Axes[p.Lane].Kind != loop.Parallel || len(p.Axes) != p.Lane+1 || len(k.Around) > 0 {
		return false
	}
	for i := range p.Ins {
		if op := p.Ins[i].Op; op == loop.OpLoadAt || op == loop.OpStoreAt {
			return false
		}
	}
	var at *Operand
	for i := range k.Binds {
		o := &k.Binds[i]
		if o.Slot != in && o.Slot != out {
			continue
		}
		if o.Slot == out && !p.Bufs[i].Write || o.Slot == in && p.Bufs[i].Write {
			return false
		}
		if at == nil {
			at = o
		}
		if o.DType.Size() != at.DType.Size() || o.Offset != at.Offset || !array.Equal(o.Shape, at.Shape) || !array.Equal(o.Strides, at.Strides) {
			return false
		}
	}
	return true
}

// arena gives temporaries their places: each the smallest gap that holds it when it is
// first written, or the place of one that is read there for the last time.
func (b *planner) arena() {
	p := b.p
	base := p.Inputs + len(p.Outs)
	if len(p.Slots) == base {
		return
	}
	first, place := make([]int, len(p.Slots)-base), make([]int, len(p.Slots)-base)
	for i := range first {
		first[i], place[i] = -1, i // place: the temporary whose bytes this one takes over, itself at first
	}
	h := holes{from: map[int]int{}, to: map[int]int{}}
	size := func(i int) int { return (max(p.Slots[i].Bytes, 1) + b.on.Line - 1) / b.on.Line * b.on.Line }
	live, dead := 0, []int(nil)
	for at := range p.Steps {
		s := &p.Steps[at]
		dead = dead[:0]
		b.operands(at, func(o *Operand, _ bool) {
			if i := o.Slot; i >= base && p.Slots[i].Last == at && !slices.Contains(dead, i) {
				dead = append(dead, i)
			}
		})
		b.operands(at, func(o *Operand, write bool) {
			i := o.Slot
			if i < base || first[i-base] >= 0 {
				return
			}
			first[i-base] = at
			n := size(i)
			live += n
			for k, d := range dead {
				if d != i && first[d-base] >= 0 && first[d-base] < at && size(d) == n && s.inPlace(d, i) {
					p.Slots[i].Offset = p.Slots[d].Offset
					place[i-base] = place[d-base]
					dead[k] = dead[len(dead)-1]
					dead = dead[:len(dead)-1]
					live -= n
					return
				}
			}
			p.Slots[i].Offset = h.take(n, &p.Arena)
		})
		p.Live = max(p.Live, live)
		for _, i := range dead {
			live -= size(i)
			h.give(p.Slots[i].Offset, size(i))
		}
	}
	b.statVisits += h.statVisits
	if len(first) <= maxPlaced && p.Arena > p.Live {
		b.placeLargestFirst(base, first, place, size)
	}
}

// maxPlaced bounds the temporaries that [planner.placeLargestFirst] compares in pairs.
const maxPlaced = 256

// A liveRange is the steps [from, to] during which a temporary occupies bytes of the arena, and
// their offset at.
type liveRange struct{ from, to, bytes, at int }

// placeLargestFirst assigns the temporaries' offsets again if the arena becomes smaller: the
// largest first, each at the lowest offset that is free during its live range. Offsets that were
// assigned in order of time leave gaps that nothing fits into later.
func (b *planner) placeLargestFirst(base int, first, place []int, size func(slot int) int) {
	p := b.p
	ranges := make([]liveRange, len(first))
	var order []int
	for i, at := range first {
		if at < 0 {
			continue
		}
		s := &ranges[place[i]]
		s.to = max(s.to, at, p.Slots[base+i].Last)
		if place[i] == i {
			s.from, s.bytes = at, size(base+i)
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return ranges[y].bytes - ranges[x].bytes })
	arena := 0
	var near []liveRange // placed ranges that overlap s in time, by offset
	for k, i := range order {
		s := &ranges[i]
		near = near[:0]
		for _, j := range order[:k] {
			if o := ranges[j]; o.from <= s.to && s.from <= o.to {
				near = append(near, o)
			}
		}
		slices.SortFunc(near, func(x, y liveRange) int { return x.at - y.at })
		for _, o := range near {
			if o.at >= s.at+s.bytes {
				break
			}
			s.at = max(s.at, o.at+o.bytes)
		}
		arena = max(arena, s.at+s.bytes)
	}
	if arena >= p.Arena {
		return
	}
	p.Arena = arena
	for i, at := range first {
		if at >= 0 {
			p.Slots[base+i].Offset = ranges[place[i]].at
		}
	}
}

// holes are the gaps of an arena, none next to another, by where they begin, where they end
// and how long they are, to the power of two. However many there are, a few are looked at.
type holes struct {
	from, to   map[int]int              // the end by the begin, and the reverse
	long       [bits.UintSize + 1][]int // begins, some of gaps that are gone or have another length now
	statVisits int
}

// maxHoles bounds the gaps among which the best is taken.
const maxHoles = 32

func (h *holes) add(lo, hi int) {
	h.from[lo], h.to[hi] = hi, lo
	c := bits.Len(uint(hi - lo))
	h.long[c] = append(h.long[c], lo)
}

// give makes a part of the arena a gap.
func (h *holes) give(at, bytes int) {
	lo, hi := at, at+bytes
	if end, ok := h.from[hi]; ok {
		delete(h.from, hi)
		hi = end
	}
	if begin, ok := h.to[lo]; ok {
		delete(h.to, lo)
		lo = begin
	}
	h.add(lo, hi)
}

// take returns where there is room, the smallest of the gaps, in an arena that grows if need be.
func (h *holes) take(bytes int, arena *int) int {
	for c := bits.Len(uint(bytes)); c < len(h.long); c++ {
		list := h.long[c]
		best, least := -1, 0
		for i, looks := len(list)-1, 0; i >= 0 && looks < maxHoles; i-- {
			h.statVisits++
			hi, ok := h.from[list[i]]
			if n := hi - list[i]; !ok || bits.Len(uint(n)) != c { // it is gone
				list = slices.Delete(list, i, i+1)
				if best > i {
					best--
				}
			} else if looks++; n >= bytes && (best < 0 || n < least) {
				best, least = i, n
			}
		}
		h.long[c] = list
		if best < 0 {
			continue
		}
		lo := list[best]
		hi := h.from[lo]
		h.long[c] = slices.Delete(list, best, best+1)
		delete(h.from, lo)
		delete(h.to, hi)
		if lo+bytes < hi {
			h.add(lo+bytes, hi)
		}
		return lo
	}
	at := *arena
	if lo, ok := h.to[at]; ok { // the last gap grows
		delete(h.from, lo)
		delete(h.to, at)
		at = lo
	}
	*arena = at + bytes
	return at
}

// A reach is memory that a step touches: a slot, or a part of the arena.
type reach struct {
	slot, lo, hi int
	write        bool
}

// beside finds two kernels that read the same array and go through much memory each. It keeps
// what the first reads last in its place until the second is done. The second would otherwise
// write there, and so have to wait for the first.
func (b *planner) beside() {
	p := b.p
	for at := 0; at+1 < len(p.Steps); at++ {
		k, l := p.Steps[at].Kernel, p.Steps[at+1].Kernel
		if k == nil || l == nil || k.Bytes() < int64(b.on.ReadTogether) || l.Bytes() < int64(b.on.ReadTogether) {
			continue
		}
		same, apart := false, true
		for i, x := range k.Binds {
			for j, y := range l.Binds {
				if x.Slot == y.Slot {
					write := k.Prog.Bufs[i].Write || l.Prog.Bufs[j].Write
					same, apart = same || !write && x.Offset == y.Offset, apart && !write
				}
			}
		}
		if !same || !apart {
			continue
		}
		for _, x := range k.Binds {
			if s := &p.Slots[x.Slot]; s.Last == at {
				s.Last = at + 1
			}
		}
	}
}

// findConcurrent finds the kernels, and the matrix products, that follow each other and touch
// nothing that another one of them writes. It sets [Step.Concurrent].
func (b *planner) findConcurrent() {
	p := b.p
	base := p.Inputs + len(p.Outs)
	touched := func(at int, to []reach) []reach {
		b.operands(at, func(o *Operand, write bool) {
			r := reach{slot: o.Slot, hi: 1, write: write}
			if o.Slot >= base {
				at := p.Slots[o.Slot].Offset
				r = reach{-1, at, at + max(p.Slots[o.Slot].Bytes, 1), write}
			}
			to = append(to, r)
		})
		return to
	}
	plain := func(s *Step) bool { return s.Kernel != nil && len(s.Kernel.Around) == 0 && s.Kernel.Ragged == nil }
	work := func(s *Step) int {
		k := s.Args[0].Shape
		return array.Size(s.Outs[0].Shape) * k[len(k)-1]
	}
	product := func(s *Step) bool { return s.Node != nil && s.Node.Op == op.MatMul2 && work(s) < b.on.WakeMulAdds }
	var group, one []reach
	for at := 0; at < len(p.Steps); {
		s := &p.Steps[at]
		s.Concurrent = 1
		like := plain
		if product(s) {
			like = product
		} else if !plain(s) {
			at++
			continue
		}
		group = touched(at, group[:0])
		for s.Concurrent < maxConcurrent && at+s.Concurrent < len(p.Steps) && like(&p.Steps[at+s.Concurrent]) {
			one = touched(at+s.Concurrent, one[:0])
			if slices.ContainsFunc(one, func(x reach) bool {
				return slices.ContainsFunc(group, func(y reach) bool {
					return (x.write || y.write) && x.slot == y.slot && x.lo < y.hi && y.lo < x.hi
				})
			}) {
				break
			}
			group = append(group, one...)
			s.Concurrent++
		}
		if s.Node != nil && s.Concurrent > 1 {
			all := 0
			for i := range s.Concurrent {
				all += work(&p.Steps[at+i])
			}
			if all < b.on.WakeMulAdds {
				s.Concurrent = 1
			}
		}
		at += s.Concurrent
	}
}

// BuildInto is [Build] where output j may be given the memory of input into[j], -1 for
// none, which has its type and shape and which no other input overlaps. Its slot is the
// input's then.
func BuildInto(outs []*ir.Node, ins, dst []Sig, into []int, on *device.Model) *Plan {
	return build(outs, ins, dst, into, on).p
}
