package plan

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

// Memory: temporaries share one arena by when they are alive; an output can be the memory
// of an input; kernels that touch nothing of each other are launched together.

// arenaAlign is the alignment of temporaries: a cache line.
const arenaAlign = 64

// groupMost bounds the kernels that are launched together.
const groupMost = 32

// intoInput lets output j be the memory of input into[j], -1 for none: the kernel that
// writes it does so in place if nothing reads the input afterwards, and otherwise what it
// wrote is copied there at the end.
func (b *planner) intoInput(into []int) {
	for j, i := range into {
		if i < 0 {
			continue
		}
		o := &b.p.Outs[j]
		own := o.Slot
		if array.Equal(o.Strides, b.ins[i].Strides) && b.replaces(own, i) {
			b.rename(own, i)
		} else {
			t := b.temp(o.DType, o.Shape)
			b.rename(own, t.Slot)
			b.copy(Operand{Slot: i, DType: o.DType, Shape: o.Shape, Strides: b.ins[i].Strides}, t)
		}
		o.Slot, o.Strides = i, b.ins[i].Strides
	}
}

// given reports the slot of an output that can be the memory of an input.
func (b *planner) given(slot int) bool {
	j := slot - b.p.Inputs
	return j >= 0 && j < len(b.into) && b.into[j] >= 0
}

// late is 1 for a cluster that writes such an output, else 0.
func (b *planner) late(c *cluster) int {
	if c == nil {
		return 0
	}
	nodes := c.nodes
	if c.single != nil {
		nodes = append(nodes[:len(nodes):len(nodes)], c.single)
	}
	for _, n := range nodes {
		if d := b.spot(n).dst; d != nil && b.given(d.Slot) {
			return 1
		}
	}
	return 0
}

// forward moves products whose tails write into the memory of inputs to where nothing reads
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
			if d := b.spot(n).dst; d != nil && b.given(d.Slot) {
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
			for isMove(a) {
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
		if c.head != nil && b.late(c) == 1 {
			to = 0
			for _, a := range reads(c) {
				for ; ; a = a.Args[0] {
					if d := b.in(a); d != nil {
						to = max(to, place[d])
					}
					if !isMove(a) {
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

// replaces reports that slot out can have the memory of input in: all that reads the input
// comes before the first step that writes out, or is that step, which reads and writes
// each element in one place.
func (b *planner) replaces(out, in int) bool {
	first := -1
	for at := range b.p.Steps {
		s := &b.p.Steps[at]
		reads, writes := s.touches(in), s.touches(out)
		if first < 0 && writes {
			first = at
			if reads && !s.inPlace(in, out) {
				return false
			}
			continue
		}
		if first >= 0 && reads {
			return false
		}
	}
	return first >= 0
}

// touches reports that a step reads or writes a slot.
func (s *Step) touches(slot int) bool {
	found := false
	s.operands(func(o *Operand, _ bool) { found = found || o.Slot == slot })
	return found
}

// operands calls f with all that a step reads and writes.
func (s *Step) operands(f func(o *Operand, write bool)) {
	kernels := [...]*Kernel{s.Kernel, s.Tail, nil}
	if k := s.Kernel; k != nil && k.List != nil {
		kernels[2] = k.List.Outside
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

// inPlace reports that what a step writes into slot out may lie where slot in is, which
// it reads: it is elementwise, and each element is read where it is written.
func (s *Step) inPlace(in, out int) bool {
	k := s.Kernel
	if k == nil {
		if k = s.Tail; k == nil {
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

// rename puts one slot in the place of another.
func (b *planner) rename(from, to int) {
	for at := range b.p.Steps {
		b.p.Steps[at].operands(func(o *Operand, _ bool) {
			if o.Slot == from {
				o.Slot = to
			}
		})
	}
	b.p.Slots[to].Last = max(b.p.Slots[to].Last, b.p.Slots[from].Last)
	b.p.Slots[from] = Slot{Last: -1}
}

// arena gives temporaries their places: each the smallest gap that holds it when it is
// first written, or the place of one that is read there for the last time.
func (b *planner) arena() {
	p := b.p
	base := p.Inputs + len(p.Outs)
	if len(p.Slots) == base {
		return
	}
	first := make([]int, len(p.Slots)-base)
	for i := range first {
		first[i] = -1
	}
	type hole struct{ at, bytes int }
	var holes []hole // ascending, none next to another
	give := func(at, bytes int) {
		i, _ := slices.BinarySearchFunc(holes, at, func(h hole, at int) int { return h.at - at })
		holes = slices.Insert(holes, i, hole{at, bytes})
		if i+1 < len(holes) && at+bytes == holes[i+1].at {
			holes[i].bytes += holes[i+1].bytes
			holes = slices.Delete(holes, i+1, i+2)
		}
		if i > 0 && holes[i-1].at+holes[i-1].bytes == at {
			holes[i-1].bytes += holes[i].bytes
			holes = slices.Delete(holes, i, i+1)
		}
	}
	take := func(bytes int) int {
		best := -1
		for i, h := range holes {
			if h.bytes >= bytes && (best < 0 || h.bytes < holes[best].bytes) {
				best = i
			}
		}
		if best < 0 {
			at := p.Arena
			if n := len(holes); n > 0 && holes[n-1].at+holes[n-1].bytes == at { // the last gap grows
				at = holes[n-1].at
				holes = holes[:n-1]
			}
			p.Arena = at + bytes
			return at
		}
		h := &holes[best]
		at := h.at
		if h.at, h.bytes = h.at+bytes, h.bytes-bytes; h.bytes == 0 {
			holes = slices.Delete(holes, best, best+1)
		}
		return at
	}
	size := func(i int) int { return (max(p.Slots[i].Bytes, 1) + arenaAlign - 1) / arenaAlign * arenaAlign }
	live, dead := 0, []int(nil)
	for at := range p.Steps {
		s := &p.Steps[at]
		dead = dead[:0]
		s.operands(func(o *Operand, _ bool) {
			if i := o.Slot; i >= base && p.Slots[i].Last == at && !slices.Contains(dead, i) {
				dead = append(dead, i)
			}
		})
		s.operands(func(o *Operand, write bool) {
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
					dead[k] = dead[len(dead)-1]
					dead = dead[:len(dead)-1]
					live -= n
					return
				}
			}
			p.Slots[i].Offset = take(n)
		})
		p.Live = max(p.Live, live)
		for _, i := range dead {
			live -= size(i)
			give(p.Slots[i].Offset, size(i))
		}
	}
}

// A reach is memory that a step touches: a slot, or a part of the arena.
type reach struct {
	slot, lo, hi int
	write        bool
}

// groups finds the kernels that follow each other and touch nothing that another one of
// them writes.
func (b *planner) groups() {
	p := b.p
	base := p.Inputs + len(p.Outs)
	touched := func(s *Step, to []reach) []reach {
		s.operands(func(o *Operand, write bool) {
			r := reach{slot: o.Slot, hi: 1, write: write}
			if o.Slot >= base {
				at := p.Slots[o.Slot].Offset
				r = reach{-1, at, at + max(p.Slots[o.Slot].Bytes, 1), write}
			}
			to = append(to, r)
		})
		return to
	}
	plain := func(s *Step) bool { return s.Kernel != nil && len(s.Kernel.Around) == 0 && s.Kernel.List == nil }
	var group, one []reach
	for at := 0; at < len(p.Steps); {
		s := &p.Steps[at]
		s.Group = 1
		if !plain(s) {
			at++
			continue
		}
		group = touched(s, group[:0])
		for s.Group < groupMost && at+s.Group < len(p.Steps) && plain(&p.Steps[at+s.Group]) {
			one = touched(&p.Steps[at+s.Group], one[:0])
			if slices.ContainsFunc(one, func(x reach) bool {
				return slices.ContainsFunc(group, func(y reach) bool {
					return (x.write || y.write) && x.slot == y.slot && x.lo < y.hi && y.lo < x.hi
				})
			}) {
				break
			}
			group = append(group, one...)
			s.Group++
		}
		at += s.Group
	}
}

// BuildInto is [Build] where output j may be given the memory of input into[j], -1 for
// none, which has its type and shape and which no other input overlaps. Its slot is the
// input's then.
func BuildInto(outs []*ir.Node, ins, dst []Sig, into []int) *Plan {
	return build(outs, ins, dst, into).p
}
